//! Decoding of FSST codes.

use super::ESCAPE;
use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

/// Minimum number of codes for which building the tables pays.
const MANY: usize = 256;

/// Bytes of output per step. Lengths are bytes, so the compiler proves that eight of the largest end inside, and checks no store:
/// the whole takes 8 % fewer instructions.
const WINDOW: usize = 2048;

/// The length of a code without symbol: more than eight symbols together, so that the sum of lengths shows it.
const NO_SYMBOL: u8 = 65;

/// Symbols and lengths of all codes, so that lookups are not bounds-checked. The escape has length 0.
struct Tables {
    symbols: [[u8; 8]; 256],
    lengths: [u8; 256],
}

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

    /// Decodes eight codes at a time. Returns the numbers of codes read and bytes written. Stops before a code without symbol, and
    /// near the end of `codes` or `out`.
    fn fast(&self, codes: &[u8], out: &mut [u8]) -> (usize, usize) {
        let tables = self.tables();
        let (mut rest, mut to, mut total) = (codes, out, 0usize);
        while let Some(window) = to.first_chunk_mut() {
            let Some((left, written)) = tables.step(rest, window) else { break };
            total = total.wrapping_add(written);
            (rest, to) = (left, core::mem::take(&mut to).get_mut(written..).unwrap_or_default());
        }
        // Steps near the end of `out` decode to other memory.
        let mut window = [0; WINDOW];
        while let Some((left, written)) = tables.step(rest, &mut window) {
            let (Some(bytes), Some((now, later))) =
                (window.get(..written), core::mem::take(&mut to).split_at_mut_checked(written))
            else {
                break;
            };
            now.copy_from_slice(bytes);
            total = total.wrapping_add(written);
            (rest, to) = (left, later);
        }
        (codes.len().wrapping_sub(rest.len()), total)
    }

    fn tables(&self) -> Tables {
        let mut tables = Tables { symbols: [[0; 8]; 256], lengths: [NO_SYMBOL; 256] };
        for ((to, length), (symbol, len)) in
            tables.symbols.iter_mut().zip(&mut tables.lengths).zip(self.symbols.iter().zip(self.lengths))
        {
            (*to, *length) = (*symbol, *len);
        }
        if let Some(escape) = tables.lengths.last_mut() {
            *escape = 0;
        }
        tables
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

impl Tables {
    /// Decodes eight codes, or those before the first escape and the literal after it. Returns the remaining codes and the number of
    /// bytes written, or `None` if there are fewer codes or one has no symbol.
    #[inline(always)]
    fn step<'c>(&self, codes: &'c [u8], window: &mut [u8; WINDOW]) -> Option<(&'c [u8], usize)> {
        let (eight, after) = codes.split_first_chunk::<8>()?;
        let word = u64::from_le_bytes(*eight);
        // A byte of the complement is zero where the code is an escape.
        let zero = !word;
        let escapes = zero.wrapping_sub(0x0101_0101_0101_0101) & !zero & 0x8080_8080_8080_8080;
        if escapes == 0 {
            let len = self.write(word, window)?;
            return Some((after, len));
        }
        // The bits of the codes before the escape. The codes after it become escapes, too, because a loop up to the escape would
        // be left by a mispredicted branch.
        let bits = escapes.trailing_zeros() & 56;
        let len = self.write(word | u64::MAX << bits, window)?;
        let ([_, literal], after) = codes.get((bits >> 3) as usize..)?.split_first_chunk()?;
        *window.get_mut(len)? = *literal;
        Some((after, len.wrapping_add(1)))
    }

    /// Writes the symbols of eight codes. Returns the sum of their lengths, or `None` if a code has no symbol.
    #[inline(always)]
    fn write(&self, codes: u64, window: &mut [u8; WINDOW]) -> Option<usize> {
        let (mut codes, mut len) = (codes, 0usize);
        for _ in 0..8 {
            let code = (codes & 0xff) as usize;
            // Stores all eight bytes of a symbol; its length decides where the next one goes.
            *window.get_mut(len..)?.first_chunk_mut::<8>()? = *self.symbols.get(code)?;
            len = len.wrapping_add(usize::from(*self.lengths.get(code)?));
            codes >>= 8;
        }
        (len <= 64).then_some(len)
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
            for slack in [0, 1, 63, 512, 700, 3000] {
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
