//! Decodes the numbers of a page, batch by batch.

use super::delta::Undo;
use super::stream::Stream;
use super::table::{State, Tables};
use super::{BATCH, Chunk, LOOKBACKS, MAX_NUMBERS, PRIMARY, VARIABLES};
use crate::bytes::{Scratch, low16, low32, saturated};
use crate::error::{Error, Kind, Result, What};

/// Number of states that alternate.
const TURNS: usize = 4;

/// A page that is being read. After an error, it is of no further use.
#[derive(Debug)]
pub struct Page<'c, 's> {
    chunk: &'c Chunk<'c>,
    stream: Stream<'c>,
    len: u64,
    /// Numbers left to read.
    left: usize,
    variables: [Variable<'s>; VARIABLES],
}

/// One of the latents that a number consists of.
#[derive(Debug, Default)]
struct Variable<'s> {
    /// Empty if the chunk does not have this variable.
    table: &'s [State],
    bits: u32,
    /// Number of bits of the widest offset.
    widest: u32,
    state: [u32; TURNS],
    undo: Undo<'s>,
    /// Number of latents by which reading is ahead of the output.
    ahead: usize,
    latents: &'s mut [u64],
}

impl Variable<'_> {
    /// Returns the number of latents to read for a batch when `left` numbers are left.
    fn count(&self, left: usize) -> usize {
        left.saturating_sub(self.ahead).min(BATCH)
    }

    /// Reads the next latents, as deltas: first the states that choose their bins, then the offsets into the bins.
    fn read(&mut self, count: usize, from: &mut Stream<'_>) {
        // A copy, so that the position stays in a register.
        let mut stream = *from;
        let (table, mask) = (self.table, super::mask(self.bits));
        let latents = self.latents.get_mut(..count).unwrap_or_default();
        let mut chosen = [0u16; BATCH];
        if table.len() > 1 {
            choose(table, &mut self.state, chosen.get_mut(..count).unwrap_or_default(), &mut stream);
        }
        let states = chosen.iter().map(|state| table.get(usize::from(*state)).copied().unwrap_or_default());
        if self.widest > Stream::PEEK {
            for (latent, state) in latents.iter_mut().zip(states) {
                *latent = state.lower.wrapping_add(stream.take(state.offset)) & mask;
            }
        } else if self.widest > 0 {
            for (latent, state) in latents.iter_mut().zip(states) {
                *latent = state.lower.wrapping_add(stream.peek() & low_bits(state.offset)) & mask;
                stream.skip(state.offset);
            }
        } else {
            for (latent, state) in latents.iter_mut().zip(states) {
                *latent = state.lower;
            }
        }
        *from = stream;
    }
}

/// Stores the states that choose the next bins.
// Not inlined, so that all states are in registers: pages with offsets decode in 0.88 of the time.
#[inline(never)]
fn choose(table: &[State], states: &mut [u32; TURNS], chosen: &mut [u16], stream: &mut Stream<'_>) {
    let (mut all, mut from) = (*states, *stream);
    let (fours, rest) = chosen.as_chunks_mut::<TURNS>();
    for four in fours {
        turn(table, &mut all, four, &mut from);
    }
    turn(table, &mut all, rest, &mut from);
    (*states, *stream) = (all, from);
}

/// Stores states, at most four, and moves them on.
#[inline(always)]
fn turn(table: &[State], states: &mut [u32; TURNS], chosen: &mut [u16], stream: &mut Stream<'_>) {
    // Four states take at most 14 bits each.
    let mut word = stream.peek();
    for (to, at) in chosen.iter_mut().zip(states) {
        // No state leads out of its table.
        let Some(state) = table.get(*at as usize) else { return };
        let (next, bits) = state.step();
        *to = low16(*at as usize);
        *at = next.wrapping_add(low32(word & low_bits(bits)));
        word = word.wrapping_shr(bits);
        stream.skip(bits);
    }
}

/// Returns a mask of the lowest `bits` bits, at most 63.
const fn low_bits(bits: u32) -> u64 {
    !u64::MAX.wrapping_shl(bits)
}

impl<'c, 's> Page<'c, 's> {
    /// Opens a page of `numbers` numbers that takes all of `bytes`.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if `bytes` ends early, [`Kind::Invalid`] with the offset in `bytes`,
    /// [`Kind::Limit`] for more than [`MAX_NUMBERS`], [`Kind::NoRoom`] if the scratch buffer is too small.
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
        // The state of the primary latents needs no lookbacks.
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
            (variable.table, variable.bits, variable.widest) = (table, bins.bits, bins.widest);
        }
        page.aligned()?;
        if numbers == 0 {
            page.end()?;
        }
        Ok(page)
    }

    /// Decodes the next batch and returns the bits of its numbers: [`BATCH`] of them, fewer in the last
    /// batch, none after it.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the page ends early, [`Kind::Invalid`] with the offset in the page.
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

    /// Skips to a whole byte.
    fn aligned(&mut self) -> Result<()> {
        if !self.stream.is_inside() {
            return Err(self.short());
        }
        if self.stream.align() { Ok(()) } else { Err(self.wrong()) }
    }

    /// Checks that nothing follows the last number.
    fn end(&mut self) -> Result<()> {
        self.aligned()?;
        if self.stream.bytes_begun() == self.len { Ok(()) } else { Err(self.wrong()) }
    }

    #[cold]
    fn wrong(&self) -> Error {
        Error::needing(Kind::Invalid, What::PCO_PAGE, self.stream.bytes_begun(), self.len)
    }
}
