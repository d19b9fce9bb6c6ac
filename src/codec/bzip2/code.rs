//! The prefix codes of a block: canonical, highest bit first, of up to 20 bits.

use super::SYMBOLS;
use super::bits::Bits;
use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};

/// The longest code.
const LONGEST: usize = 20;
const LONGEST_BITS: u32 = 20;
/// Bits that the table decodes at once. It is for 64-bit hosts only.
const TABLE_BITS: u32 = 10;

/// Bytes of scratch for one code.
pub(super) const fn memory_len(fast: bool) -> usize {
    let table = if fast { 1usize << TABLE_BITS } else { 0 };
    SYMBOLS.wrapping_add(table).wrapping_mul(2).wrapping_add(1)
}

#[derive(Default)]
pub(super) struct Code<'w> {
    /// For the next bits: the symbol, and in the low 5 bits how long its code is; 0 for a longer one.
    table: &'w mut [u16],
    /// The symbols in the order of their codes.
    symbols: &'w mut [u16],
    /// Codes up to a length, filled up to 20 bits, are below this.
    limits: [u32; LONGEST + 1],
    /// What, added to a code of a length, is its place among the symbols.
    places: [u32; LONGEST + 1],
}

impl<'w> Code<'w> {
    /// Takes the memory that it needs.
    pub(super) fn lend<const FAST: bool>(&mut self, scratch: &mut Scratch<'w>) -> Result<()> {
        self.table = scratch.take(if FAST { 1 << TABLE_BITS } else { 0 })?;
        self.symbols = scratch.take(SYMBOLS)?;
        Ok(())
    }

    /// Reads the code: the first length, then steps up and down from one symbol to the next.
    pub(super) fn read(&mut self, bits: &mut Bits<'_>, symbols: usize) -> Result<()> {
        let at = bits.at();
        let wrong = |need: u32| Error::new(Kind::Invalid, What::Bzip2Code, at).with_need(need.into());
        let mut lengths = [0u8; SYMBOLS];
        let mut counts = [0u32; LONGEST + 1];
        let mut len = bits.take(5, What::Bzip2Code)?;
        for to in lengths.iter_mut().take(symbols) {
            loop {
                let Some(count) = counts.get_mut(len as usize).filter(|_| len != 0) else { return Err(wrong(len)) };
                if bits.take(1, What::Bzip2Code)? == 0 {
                    *count = count.wrapping_add(1);
                    *to = low8(len);
                    break;
                }
                let down = bits.take(1, What::Bzip2Code)?;
                len = if down == 1 { len.wrapping_sub(1) } else { len.wrapping_add(1) };
            }
        }
        self.build(&lengths, &counts).ok_or_else(|| wrong(0))
    }

    /// `None` for more codes than there can be.
    fn build(&mut self, lengths: &[u8; SYMBOLS], counts: &[u32; LONGEST + 1]) -> Option<()> {
        // The first code of a length, and its place among the symbols.
        let (mut code, mut place) = (0u32, 0u32);
        let mut next = [0u32; LONGEST + 1];
        for (len, count) in (0u32..).zip(counts).skip(1) {
            code <<= 1;
            *self.places.get_mut(len as usize)? = place.wrapping_sub(code);
            *next.get_mut(len as usize)? = place;
            code = code.wrapping_add(*count);
            place = place.wrapping_add(*count);
            if code > 1 << (len & 31) {
                return None;
            }
            *self.limits.get_mut(len as usize)? = code << LONGEST_BITS.wrapping_sub(len);
        }
        self.table.fill(0);
        for (symbol, len) in (0u16..).zip(lengths) {
            if *len == 0 {
                continue;
            }
            let place = next.get_mut(usize::from(*len))?;
            *self.symbols.get_mut(*place as usize)? = symbol;
            let code = place.wrapping_sub(*self.places.get(usize::from(*len))?);
            *place = place.wrapping_add(1);
            if let Some(more) = TABLE_BITS.checked_sub((*len).into()).filter(|_| !self.table.is_empty()) {
                let first = (code << more) as usize;
                self.table.get_mut(first..first.wrapping_add(1 << more))?.fill(symbol << 5 | u16::from(*len));
            }
        }
        Some(())
    }

    /// Takes the next symbol.
    #[inline(always)]
    pub(super) fn symbol(&self, bits: &mut Bits<'_>) -> Result<u16> {
        let ahead = bits.peek(LONGEST_BITS);
        let entry = self.table.get((ahead >> LONGEST_BITS.wrapping_sub(TABLE_BITS)) as usize).copied().unwrap_or(0);
        if entry != 0 {
            bits.skip(u32::from(entry & 31), What::Bzip2Symbol)?;
            return Ok(entry >> 5);
        }
        self.symbol_by_limits(bits, ahead)
    }

    #[inline(never)]
    fn symbol_by_limits(&self, bits: &mut Bits<'_>, ahead: u32) -> Result<u16> {
        for (len, (limit, place)) in (0u32..).zip(self.limits.iter().zip(&self.places)).skip(1) {
            if ahead < *limit {
                bits.skip(len, What::Bzip2Symbol)?;
                let place = place.wrapping_add(ahead >> LONGEST_BITS.wrapping_sub(len));
                return Ok(self.symbols.get(place as usize).copied().unwrap_or_default());
            }
        }
        Err(Error::new(Kind::Invalid, What::Bzip2Symbol, bits.at()).with_need(ahead.into()))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a length of at most 20")]
const fn low8(len: u32) -> u8 {
    len as u8
}
