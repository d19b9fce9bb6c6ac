//! The prefix codes of a block: canonical, highest bit first, at most 20 bits.

use super::SYMBOLS;
use super::bits::Bits;
use crate::bytes::{FAST, Scratch, low8};
use crate::error::{Error, Kind, Result, What};

/// Maximum length of a code in bits.
const LONGEST: usize = 20;
const LONGEST_BITS: u32 = 20;
/// Number of bits that the table decodes at once. The table is for 64-bit hosts only.
const TABLE_BITS: u32 = 10;

/// Returns the size in bytes of the scratch memory for one code.
pub(super) const fn memory_len(fast: bool) -> usize {
    let table = if fast { 1usize << TABLE_BITS } else { 0 };
    SYMBOLS.wrapping_add(table).wrapping_mul(2).wrapping_add(1)
}

/// The codes of one length.
#[derive(Clone, Copy, Default)]
struct Length {
    /// Codes up to this length, padded to 20 bits, are below this limit.
    limit: u32,
    /// Added to a code, gives the index of its symbol; wrapping.
    shift: u32,
    /// Number of codes of this length; later, the index of the next symbol.
    next: u32,
}

#[derive(Default)]
pub(super) struct Code<'w> {
    /// The [`entry`] for the next [`TABLE_BITS`] bits; 0 for a longer code.
    table: &'w mut [u16],
    /// The symbols in the order of their codes.
    symbols: &'w mut [u16],
    lengths: [Length; LONGEST + 1],
}

/// Returns a symbol with the length of its code in the low 5 bits.
const fn entry(symbol: u16, len: u8) -> u16 {
    symbol << 5 | len as u16
}

impl<'w> Code<'w> {
    /// Takes the memory for the code from `scratch`.
    pub(super) fn lend<const FAST: bool>(&mut self, scratch: &mut Scratch<'w>) -> Result<()> {
        if FAST {
            self.table = scratch.take(1 << TABLE_BITS)?;
        }
        self.symbols = scratch.take(SYMBOLS)?;
        Ok(())
    }

    /// Reads the code: the first length, then increments and decrements from symbol to symbol.
    pub(super) fn read(&mut self, bits: &mut Bits<'_>, symbols: usize) -> Result<()> {
        let at = bits.at();
        let wrong = |need: u32| Error::needing(Kind::Invalid, What::BZIP2_CODE, at, need.into());
        self.lengths = Default::default();
        let mut lens = [0u8; SYMBOLS];
        let mut len = bits.take(5, What::BZIP2_CODE);
        for to in lens.iter_mut().take(symbols) {
            loop {
                let Some(length) = self.lengths.get_mut(len as usize).filter(|_| len != 0) else {
                    return Err(wrong(len));
                };
                if bits.take(1, What::BZIP2_CODE) == 0 {
                    length.next = length.next.wrapping_add(1);
                    *to = low8(len as usize);
                    break;
                }
                let down = bits.take(1, What::BZIP2_CODE);
                len = if down == 1 { len.wrapping_sub(1) } else { len.wrapping_add(1) };
            }
        }
        self.build(&lens).ok_or_else(|| wrong(0))
    }

    /// Builds the code. `None` if a length has more codes than are possible.
    fn build(&mut self, lens: &[u8; SYMBOLS]) -> Option<()> {
        // The first code of a length, and the index of its symbol.
        let (mut code, mut place) = (0u32, 0u32);
        for (len, length) in (0u32..).zip(&mut self.lengths) {
            let count = core::mem::replace(&mut length.next, place);
            code <<= 1;
            length.shift = place.wrapping_sub(code);
            code = code.wrapping_add(count);
            place = place.wrapping_add(count);
            if code > 1 << (len & 31) {
                return None;
            }
            length.limit = code << LONGEST_BITS.wrapping_sub(len);
        }
        if FAST {
            self.table.fill(0);
        }
        for (symbol, len) in (0u16..).zip(lens) {
            if *len == 0 {
                continue;
            }
            let length = self.lengths.get_mut(usize::from(*len))?;
            *self.symbols.get_mut(length.next as usize)? = symbol;
            let code = length.next.wrapping_sub(length.shift);
            length.next = length.next.wrapping_add(1);
            if FAST && let Some(more) = TABLE_BITS.checked_sub((*len).into()).filter(|_| !self.table.is_empty()) {
                let first = (code << more) as usize;
                self.table.get_mut(first..first.wrapping_add(1 << more))?.fill(entry(symbol, *len));
            }
        }
        Some(())
    }

    /// Reads the next symbol.
    pub(super) fn symbol(&self, bits: &mut Bits<'_>) -> Result<u16> {
        let ahead = bits.peek(LONGEST_BITS);
        let mut found = 0;
        if FAST && let Some(entry) = self.table.get((ahead >> LONGEST_BITS.wrapping_sub(TABLE_BITS)) as usize) {
            found = *entry;
        }
        if found == 0 {
            found = self.by_limits(ahead);
        }
        if found == 0 {
            return Err(Error::needing(Kind::Invalid, What::BZIP2_SYMBOL, bits.at(), ahead.into()));
        }
        bits.skip(u32::from(found & 31), What::BZIP2_SYMBOL);
        Ok(found >> 5)
    }

    /// Returns the [`entry`] of the code at the start of 20 bits, or 0 for an invalid code.
    fn by_limits(&self, ahead: u32) -> u16 {
        for (len, length) in (0u8..).zip(&self.lengths) {
            if ahead < length.limit {
                let place = length.shift.wrapping_add(ahead >> LONGEST_BITS.wrapping_sub(len.into()));
                return self.symbols.get(place as usize).map_or(0, |symbol| entry(*symbol, len));
            }
        }
        0
    }
}
