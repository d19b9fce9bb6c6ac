//! Bins, and the table of states that chooses among them.

use bytemuck::{Pod, Zeroable};

use super::VARIABLES;
use super::meta::wrong;
use super::stream::Stream;
use crate::bytes::{Scratch, len32};
use crate::error::Result;

/// Maximum number of states of a table, as a power of two.
const MAX_LOG: u32 = 14;

/// The bins of a variable, as they are in the chunk: counted and checked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bins<'a> {
    /// Positioned at the first bin.
    stream: Stream<'a>,
    pub(super) count: u32,
    /// Number of states of the table, as a power of two.
    pub(super) log: u32,
    /// Number of bits of a latent; 0 if the chunk does not have this variable.
    pub(super) bits: u32,
    /// Number of bits of the widest offset.
    pub(super) widest: u32,
}

/// A bin, and a state of the table.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct State {
    /// The lower bound of the bin.
    pub(super) lower: u64,
    /// For a bin: its weight, counted up while the table is built. For a state: the index of its bin while the table is
    /// built; then the next state before the bits that are read are added, at most 14 bits, and the number of these
    /// bits in the upper half. In one field, because it is loaded for every number, while the processor waits for it.
    step: u32,
    /// Number of bits of the offset.
    pub(super) offset: u32,
}

impl State {
    /// Returns the next state, before the bits that are read are added, and the number of bits to read.
    pub(super) const fn step(&self) -> (u32, u32) {
        (self.step & 0xffff, self.step >> 16)
    }
}

impl<'a> Bins<'a> {
    /// Skips the bins of a variable of `bits` bits and checks them. The lower bound of each must be in
    /// `least..=most`.
    pub(super) fn parse(&mut self, stream: &mut Stream<'a>, bits: u32, least: u64, most: u64) -> Result<()> {
        let log = stream.small(4);
        let count = stream.small(15);
        if log > MAX_LOG || count > 1 << log || count == 1 && log > 0 {
            return Err(wrong(stream, count.into()));
        }
        *self = Bins { stream: *stream, count, log, bits, widest: 0 };
        let mut sum = 0u64;
        for _ in 0..count {
            let bin = self.bin(stream);
            sum = sum.saturating_add(bin.step.into());
            self.widest = self.widest.max(bin.offset);
            if bin.offset > bits || !(least..=most).contains(&bin.lower) || !stream.is_inside() {
                return Err(wrong(stream, bin.lower));
            }
        }
        // Without bins there is one state, which is not used, and no weight.
        if sum != if count == 0 && log == 0 { 0 } else { 1 << log } {
            return Err(wrong(stream, sum));
        }
        Ok(())
    }

    /// Reads a bin: its weight, its lower bound, and the number of bits of its offsets.
    fn bin(&self, stream: &mut Stream<'a>) -> State {
        let step = stream.small(self.log).wrapping_add(1);
        let lower = stream.take(self.bits);
        // The field is as wide as the number `bits` in binary.
        let offset = stream.small(u32::BITS.wrapping_sub(self.bits.leading_zeros()));
        State { lower, step, offset }
    }

    /// Returns the size in bytes of the table and of the memory to build it.
    pub(super) fn need(&self) -> u64 {
        Scratch::cost::<State>(1 << self.log).saturating_add(Scratch::cost::<State>(self.count.into()))
    }

    /// Builds the table of states.
    fn table<'s>(&self, s: &mut Scratch<'s>) -> Result<&'s [State]> {
        let table = s.take::<State>(1usize << self.log)?;
        table.fill(State::zeroed());
        let mut t = s.scope();
        let bins = t.take::<State>(self.count as usize)?;
        let (size, mut stream) = (1u32 << self.log, self.stream);
        // Bins are assigned to states in steps of an odd number, so that each state gets one.
        let stride = (size.saturating_mul(3) / 5) | 1;
        let mut state = 0u32;
        for (k, to) in bins.iter_mut().enumerate() {
            *to = self.bin(&mut stream);
            for _ in 0..to.step {
                if let Some(state) = table.get_mut(state as usize) {
                    state.step = len32(k);
                }
                state = state.wrapping_add(stride) & size.wrapping_sub(1);
            }
        }
        for state in table.iter_mut() {
            let Some(bin) = bins.get_mut(state.step as usize) else { continue };
            let (count, bits) = (bin.step, bin.step.leading_zeros().saturating_sub(size.leading_zeros()));
            let next = (count << bits).saturating_sub(size);
            *state = State { step: bits << 16 | next, ..*bin };
            bin.step = count.saturating_add(1);
        }
        Ok(table)
    }
}

/// The tables of a chunk, for all of its pages.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'s> {
    pub(super) of: [&'s [State]; VARIABLES],
}

impl<'s> Tables<'s> {
    pub(super) fn new(bins: &[Bins<'_>; VARIABLES], s: &mut Scratch<'s>) -> Result<Self> {
        let mut of = [&[][..]; VARIABLES];
        for (table, bins) in of.iter_mut().zip(bins) {
            if bins.bits > 0 {
                *table = bins.table(s)?;
            }
        }
        Ok(Tables { of })
    }
}
