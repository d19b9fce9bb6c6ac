//! Decoding of FSST codes.

use super::ESCAPE;
use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

/// Minimum number of codes for which building the tables pays.
const MANY: usize = 256;

/// The length of a symbol, as a type of these values only: the compiler can then prove that eight symbols end
/// inside [`WINDOW`]. Four bytes each, so that the loaded value is added without a conversion.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Length {
    One = 1,
    Two,
    Three,
    Four,
    Five,
    Six,
    Seven,
    Eight,
    /// The code has no symbol: more than eight symbols together, so that the sum of lengths shows it.
    None = 65,
}

impl Length {
    const fn of(len: u8) -> Self {
        match len {
            1 => Length::One,
            2 => Length::Two,
            3 => Length::Three,
            4 => Length::Four,
            5 => Length::Five,
            6 => Length::Six,
            7 => Length::Seven,
            8 => Length::Eight,
            _ => Length::None,
        }
    }
}

/// Bytes of output per step: space for seven of the longest [`Length`] and one store.
const WINDOW: usize = 512;

/// A symbol table, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Symbols<'a> {
    /// 8 bytes each, padded with zeros.
    symbols: &'a [[u8; 8]],
    lengths: &'a [u8],
}

impl<'a> Symbols<'a> {
    /// Creates a table of the symbols in `symbols`, 8 bytes each, with the length of each.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if a length is not 1 to 8 (`at`: its index), [`Kind::Truncated`] if `symbols` has
    /// fewer symbols than there are lengths, [`Kind::OutOfRange`] if there are more than 255.
    pub fn new(symbols: &'a [u8], lengths: &'a [u8]) -> Result<Self> {
        let (symbols, _) = symbols.as_chunks::<8>();
        if lengths.len() > usize::from(ESCAPE) {
            return Err(Error::needing(Kind::OutOfRange, What::FSST_SYMBOL, lengths.len() as u64, 255));
        }
        let Some(symbols) = symbols.get(..lengths.len()) else {
            let need = lengths.len().saturating_mul(8) as u64;
            return Err(Error::needing(Kind::Truncated, What::FSST_SYMBOL, 0, need));
        };
        if let Some((i, len)) = lengths.iter().enumerate().find(|(_, len)| !(1..=8).contains(*len)) {
            return Err(Error::needing(Kind::Invalid, What::FSST_SYMBOL, i as u64, (*len).into()));
        }
        Ok(Symbols { symbols, lengths })
    }

    /// Returns the symbol of a code and its length.
    fn symbol(&self, code: u8) -> Option<(&'a [u8; 8], usize)> {
        let symbol = self.symbols.get(usize::from(code))?;
        Some((symbol, usize::from(*self.lengths.get(usize::from(code))?)))
    }

    /// Decodes `codes` to the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// With [`What::FSST`]; `at` is the index of the code. [`Kind::Invalid`] for a code without symbol,
    /// [`Kind::Truncated`] if the last code is an escape, [`Kind::NoRoom`] if `out` is too short.
    pub fn decode(&self, codes: &[u8], out: &mut [u8]) -> Result<usize> {
        let wide = FAST && codes.len() >= MANY;
        let (taken, written) = if wide { self.fast(codes, out) } else { (0, 0) };
        self.exact(codes, taken, out, written)
    }

    /// Returns the number of bytes that `codes` decode to.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), except for [`Kind::NoRoom`].
    pub fn decoded_len(&self, codes: &[u8]) -> Result<u64> {
        let (mut all, mut len) = (codes.iter().enumerate(), 0u64);
        while let Some((at, code)) = all.next() {
            let more = if *code == ESCAPE {
                all.next().map(|_| 1).ok_or_else(|| Error::needing(Kind::Truncated, What::FSST, at as u64, 1))?
            } else {
                let symbol = self.symbol(*code);
                symbol.ok_or_else(|| Error::needing(Kind::Invalid, What::FSST, at as u64, (*code).into()))?.1 as u64
            };
            len = len.saturating_add(more);
        }
        Ok(len)
    }

    /// Decodes eight codes at a time while `out` has space for [`WINDOW`] bytes. Returns the numbers of codes
    /// read and bytes written. Stops before a code without symbol.
    fn fast(&self, codes: &[u8], out: &mut [u8]) -> (usize, usize) {
        // The tables have an entry for every code, so that neither lookups nor stores are bounds-checked.
        let (mut symbols, mut lengths) = ([[0; 8]; 256], [Length::None; 256]);
        for ((to, length), (symbol, len)) in
            symbols.iter_mut().zip(&mut lengths).zip(self.symbols.iter().zip(self.lengths))
        {
            (*to, *length) = (*symbol, Length::of(*len));
        }
        let (mut rest, mut to, mut total) = (codes, out, 0usize);
        while let Some((eight, after)) = rest.split_first_chunk::<8>() {
            let Some(window) = to.first_chunk_mut::<WINDOW>() else { break };
            // One load for eight codes, because the two tables and the output keep the load and store units
            // busy.
            let word = u64::from_le_bytes(*eight);
            let mut store = |count: u32| -> usize {
                let (mut codes, mut len) = (word, 0usize);
                for _ in 0..count {
                    let code = (codes & 0xff) as usize;
                    let (Some(symbol), Some(length)) = (symbols.get(code), lengths.get(code)) else { break };
                    // Stores all eight bytes of a symbol; its length decides where the next one goes.
                    let Some(to) = window.get_mut(len..).and_then(<[u8]>::first_chunk_mut::<8>) else { break };
                    *to = *symbol;
                    len = len.wrapping_add(*length as usize);
                    codes >>= 8;
                }
                len
            };
            // A byte of the complement is zero where the code is an escape.
            let zero = !word;
            let escapes = zero.wrapping_sub(0x0101_0101_0101_0101) & !zero & 0x8080_8080_8080_8080;
            let (left, written) = if escapes == 0 {
                let len = store(8);
                if len > 64 {
                    break;
                }
                (after, len)
            } else {
                let count = escapes.trailing_zeros() >> 3;
                let len = store(count);
                if len > 64 {
                    break;
                }
                let Some(([_, literal], left)) = rest.get(count as usize..).and_then(<[u8]>::split_first_chunk) else {
                    break;
                };
                if let Some(to) = window.get_mut(len) {
                    *to = *literal;
                }
                (left, len.wrapping_add(1))
            };
            total = total.wrapping_add(written);
            (rest, to) = (left, core::mem::take(&mut to).get_mut(written..).unwrap_or_default());
        }
        (codes.len().wrapping_sub(rest.len()), total)
    }

    /// Decodes code by code, up to the last byte of `out`.
    fn exact(&self, codes: &[u8], taken: usize, out: &mut [u8], written: usize) -> Result<usize> {
        let (mut at, mut written) = (taken, written);
        while let Some(code) = codes.get(at) {
            let literal;
            let bytes = if *code == ESCAPE {
                at = at.saturating_add(1);
                let Some(byte) = codes.get(at) else {
                    return Err(Error::needing(Kind::Truncated, What::FSST, at as u64, 1));
                };
                literal = [*byte];
                &literal[..]
            } else {
                let symbol = self.symbol(*code).and_then(|(symbol, len)| symbol.get(..len));
                symbol.ok_or_else(|| Error::needing(Kind::Invalid, What::FSST, at as u64, (*code).into()))?
            };
            let end = written.saturating_add(bytes.len());
            let no_room = || Error::needing(Kind::NoRoom, What::FSST, at as u64, end as u64);
            let to = out.get_mut(written..end).ok_or_else(no_room)?;
            for (to, byte) in to.iter_mut().zip(bytes) {
                *to = *byte;
            }
            written = end;
            at = at.saturating_add(1);
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn naive(table: &Symbols<'_>, codes: &[u8]) -> Option<Vec<u8>> {
        let (mut out, mut codes) = (Vec::new(), codes.iter());
        while let Some(code) = codes.next() {
            match code {
                255 => out.push(*codes.next()?),
                code => {
                    let (symbol, len) = table.symbol(*code)?;
                    out.extend(&symbol[..len]);
                }
            }
        }
        Some(out)
    }

    #[test]
    fn both_bodies_like_the_naive_one() {
        let symbols: Vec<u8> = (0..200u8).flat_map(|i| [i; 8]).collect();
        let lengths: Vec<u8> = (0..200u8).map(|i| i % 8 + 1).collect();
        let table = Symbols::new(&symbols, &lengths).unwrap();
        let (mut state, mut fast) = (7u32, 0);
        for round in 0..2000 {
            let codes: Vec<u8> = (0..if round % 40 == 0 { round } else { round % 70 })
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if state >> 28 == 0 { 255 } else { (state >> 16) as u8 % if round % 9 == 0 { 201 } else { 200 } }
                })
                .collect();
            let expected = naive(&table, &codes);
            for slack in [0, 1, 63, 512, 700] {
                let mut out = std::vec![0xaa; expected.as_ref().map_or(9000, Vec::len) + slack];
                let len = table.decode(&codes, &mut out);
                let small = table.exact(&codes, 0, &mut out.clone(), 0);
                let mut other = std::vec![0x55; out.len()];
                let (taken, written) = table.fast(&codes, &mut other);
                assert_eq!(table.exact(&codes, taken, &mut other, written), small);
                assert_eq!(&other[..small.unwrap_or(0)], &out[..small.unwrap_or(0)]);
                fast += taken;
                assert_eq!(len.is_ok(), expected.is_some());
                assert_eq!(len, small);
                if let (Ok(len), Some(expected)) = (len, &expected) {
                    assert_eq!(&out[..len], &expected[..]);
                    if len > 0 {
                        assert_eq!(table.decode(&codes, &mut out[..len - 1]).unwrap_err().kind(), Kind::NoRoom);
                    }
                }
            }
        }
        assert!(fast > 100_000, "{fast}");
    }

    #[test]
    fn bad_tables_and_codes() {
        assert_eq!(Symbols::new(&[0; 16], &[1, 9]).unwrap_err().at(), 1);
        assert_eq!(Symbols::new(&[0; 16], &[1, 0]).unwrap_err().kind(), Kind::Invalid);
        assert_eq!(Symbols::new(&[0; 15], &[1, 2]).unwrap_err().need(), 16);
        assert!(Symbols::new(&[0; 2048], &[1; 256]).is_err());
        let table = Symbols::new(&[b'a'; 8], &[1]).unwrap();
        assert_eq!(table.decode(&[0, 1], &mut [0; 9]).unwrap_err().at(), 1);
        assert_eq!(table.decode(&[0, 255], &mut [0; 9]).unwrap_err().kind(), Kind::Truncated);
    }
}
