//! The numbers of a page, batch by batch.

use super::delta::Undo;
use super::stream::Stream;
use super::table::{State, Tables};
use super::{BATCH, Chunk, LOOKBACKS, MAX_NUMBERS, PRIMARY, VARIABLES};
use crate::bytes::{Scratch, saturated};
use crate::error::{Error, Kind, Result, What};

/// States that take turns.
const TURNS: usize = 4;

/// A page while it is read. An error ends it.
#[derive(Debug)]
pub struct Page<'c, 's> {
    chunk: &'c Chunk<'c>,
    stream: Stream<'c>,
    len: u64,
    /// Numbers that are left.
    left: usize,
    variables: [Variable<'s>; VARIABLES],
}

/// One of the latents that a number is made of.
#[derive(Debug, Default)]
struct Variable<'s> {
    /// Empty if there is no such variable.
    table: &'s [State],
    bits: u32,
    state: [u32; TURNS],
    undo: Undo<'s>,
    /// How far it is ahead of what it gives.
    ahead: usize,
    latents: &'s mut [u64],
}

impl Variable<'_> {
    /// Latents that are read for a batch when so many numbers are left.
    fn count(&self, left: usize) -> usize {
        left.saturating_sub(self.ahead).min(BATCH)
    }

    /// Reads the next latents, as deltas: which bins, and then the offsets into them.
    fn read(&mut self, count: usize, stream: &mut Stream<'_>) {
        let mut offsets = [0u16; BATCH];
        let mask = super::mask(self.bits);
        if let [only] = self.table {
            self.latents.fill(only.lower);
            offsets.fill(only.offset);
        } else {
            let latents = self.latents.get_mut(..count).unwrap_or_default();
            for (latents, offsets) in latents.chunks_mut(TURNS).zip(offsets.chunks_mut(TURNS)) {
                // Four times 14 bits.
                let (mut word, mut taken) = (stream.peek(), 0u32);
                for ((latent, offset), at) in latents.iter_mut().zip(offsets).zip(&mut self.state) {
                    // No state leads out of its table.
                    let Some(state) = self.table.get(*at as usize) else { return };
                    (*latent, *offset) = (state.lower, state.offset);
                    let bits = u32::from(state.bits);
                    let low = u32::try_from(word & super::mask(bits)).unwrap_or(0);
                    *at = state.next.wrapping_add(low);
                    word >>= bits & 63;
                    taken = taken.wrapping_add(bits);
                }
                stream.skip(taken);
            }
        }
        for (latent, offset) in self.latents.iter_mut().zip(offsets).take(count) {
            *latent = latent.wrapping_add(stream.take(offset.into())) & mask;
        }
    }
}

impl<'c, 's> Page<'c, 's> {
    /// Opens a page of `numbers` numbers: all of `bytes`.
    ///
    /// # Errors
    /// [`Kind::Truncated`], [`Kind::Invalid`] with the offset in `bytes`, [`Kind::Limit`] for more than
    /// [`MAX_NUMBERS`], [`Kind::NoRoom`].
    pub fn new(
        chunk: &'c Chunk<'c>,
        tables: &Tables<'s>,
        bytes: &'c [u8],
        numbers: u64,
        s: &mut Scratch<'s>,
    ) -> Result<Self> {
        if numbers > MAX_NUMBERS {
            return Err(Error::needing(Kind::Limit, What::PCO_PAGE, 0, MAX_NUMBERS));
        }
        // A lookback for each latent that is read.
        let lead = chunk.delta.of(PRIMARY).state_len();
        let body = numbers.saturating_sub(lead as u64);
        let (stream, len) = (Stream::new(bytes), bytes.len() as u64);
        let left = saturated(numbers);
        let mut page = Page { chunk, stream, len, left, variables: Default::default() };
        let all = page.variables.iter_mut().zip(&chunk.bins).zip(&tables.of);
        for (k, ((variable, bins), table)) in all.enumerate() {
            if bins.bits == 0 {
                continue;
            }
            if bins.count == 0 && body > 0 {
                return Err(Error::needing(Kind::Invalid, What::PCO_PAGE, 0, body));
            }
            let delta = chunk.delta.of(k);
            variable.undo.start(delta, bins.bits, numbers, &mut page.stream, s)?;
            for state in &mut variable.state {
                *state = page.stream.small(bins.log);
            }
            variable.ahead = if k == LOOKBACKS { lead } else { delta.state_len() };
            variable.latents = s.take::<u64>(BATCH)?;
            (variable.table, variable.bits) = (table, bins.bits);
        }
        page.aligned()?;
        if numbers == 0 {
            page.end()?;
        }
        Ok(page)
    }

    /// The bits of the next numbers: [`BATCH`] of them, but for the last batch; none behind that.
    ///
    /// # Errors
    /// [`Kind::Truncated`], [`Kind::Invalid`].
    #[allow(clippy::should_implement_trait, reason = "it lends what it gives")]
    pub fn next(&mut self) -> Result<&[u64]> {
        let len = self.left.min(BATCH);
        if len == 0 {
            return Ok(&[]);
        }
        let [lookbacks, others @ ..] = &mut self.variables;
        if !lookbacks.table.is_empty() {
            lookbacks.read(lookbacks.count(self.left), &mut self.stream);
        }
        for variable in others.iter_mut().filter(|variable| !variable.table.is_empty()) {
            let count = variable.count(self.left);
            variable.read(count, &mut self.stream);
            let latents = variable.latents.get_mut(..len).unwrap_or_default();
            let at = self.stream.bytes_begun();
            variable
                .undo
                .apply(&self.chunk.delta, variable.bits, lookbacks.latents, count, latents)
                .map_err(|e| e.moved(at))?;
        }
        if !self.stream.is_inside() {
            return Err(self.short());
        }
        let [primary, secondary] = others;
        let numbers = primary.latents.get_mut(..len).unwrap_or_default();
        let at = self.stream.bytes_begun();
        self.chunk.mode.join(self.chunk.number, numbers, secondary.latents).map_err(|e| e.moved(at))?;
        self.left = self.left.saturating_sub(len);
        if self.left == 0 {
            self.end()?;
        }
        let [_, primary, _] = &self.variables;
        Ok(primary.latents.get(..len).unwrap_or_default())
    }

    #[cold]
    fn short(&self) -> Error {
        Error::needing(Kind::Truncated, What::PCO_PAGE, self.len, self.stream.bytes_begun())
    }

    /// Goes to a whole byte.
    fn aligned(&mut self) -> Result<()> {
        if !self.stream.is_inside() {
            return Err(self.short());
        }
        if self.stream.align() { Ok(()) } else { Err(self.wrong()) }
    }

    /// Nothing may follow the last number.
    fn end(&mut self) -> Result<()> {
        self.aligned()?;
        if self.stream.bytes_begun() == self.len { Ok(()) } else { Err(self.wrong()) }
    }

    #[cold]
    fn wrong(&self) -> Error {
        Error::needing(Kind::Invalid, What::PCO_PAGE, self.stream.bytes_begun(), self.len)
    }
}
