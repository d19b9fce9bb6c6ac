//! Decoding of OnPair codes.

use core::fmt;

use bytemuck::{Pod, Zeroable};

use super::LONGEST;
use crate::bytes::FAST;
use crate::error::{Error, Kind, Result, What};

/// A dictionary of tokens, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'a> {
    bytes: &'a [u8],
    /// Token `c` is from offset `c` to offset `c + 1`.
    offsets: &'a [u32],
}

impl<'a> Tokens<'a> {
    /// Creates a dictionary of the tokens in `bytes`, each from its offset to the next.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if a token does not have 1 to 16 bytes or ends after `bytes` (`at`: its index).
    pub fn new(bytes: &'a [u8], offsets: &'a [u32]) -> Result<Self> {
        if FAST && all_well(offsets, bytes.len()) {
            return Ok(Tokens { bytes, offsets });
        }
        for (i, pair) in offsets.windows(2).enumerate() {
            let &[from, to] = pair else { continue };
            let len = to.wrapping_sub(from);
            if !(1..=LONGEST).contains(&len) || to < from || to as usize > bytes.len() {
                return Err(Error::needing(Kind::Invalid, What::ONPAIR_TOKEN, i as u64, to.into()));
            }
        }
        Ok(Tokens { bytes, offsets })
    }

    /// Returns offset and length of a token.
    fn bounds(&self, code: u16) -> Option<(usize, usize)> {
        let from = *self.offsets.get(usize::from(code))?;
        let to = *self.offsets.get(usize::from(code).wrapping_add(1))?;
        Some((from as usize, to.wrapping_sub(from) as usize))
    }

    /// Decodes `codes` to the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// With [`What::ONPAIR`]; `at` is the index of the code. [`Kind::Invalid`] for a code without token,
    /// [`Kind::NoRoom`] if `out` is too short.
    pub fn decode(&self, codes: &[u16], out: &mut [u8]) -> Result<usize> {
        self.rest(codes, (0, 0), out)
    }

    /// Returns the length in bytes of the token of a code, or `None` if there is no such token.
    #[must_use]
    pub fn len_of(&self, code: u16) -> Option<usize> {
        self.bounds(code).map(|(_, len)| len)
    }

    /// Decodes the remaining codes; `done` is the number of codes read and of bytes written so far.
    fn rest(&self, codes: &[u16], done: (usize, usize), out: &mut [u8]) -> Result<usize> {
        let (taken, written) = if FAST { self.fast(codes, done, out) } else { done };
        self.exact(codes, taken, out, written)
    }

    /// Decodes eight codes at a time, with a copy of 16 bytes for each, while `out` has space for eight
    /// copies. Returns the numbers of codes read and bytes written in total.
    fn fast(&self, codes: &[u16], done: (usize, usize), out: &mut [u8]) -> (usize, usize) {
        let (mut taken, mut written) = done;
        for eight in codes.get(taken..).unwrap_or_default().as_chunks::<8>().0 {
            let Some(window) = out.get_mut(written..).and_then(<[u8]>::first_chunk_mut::<128>) else { break };
            let mut len = 0usize;
            for code in eight {
                let Some((at, n)) = self.bounds(*code) else { return (taken, written) };
                // A token near the end of the bytes is left to the exact loop.
                let Some(token) = self.bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) else {
                    return (taken, written);
                };
                let Some(to) = window.get_mut(len..).and_then(<[u8]>::first_chunk_mut::<16>) else {
                    return (taken, written);
                };
                *to = *token;
                len = len.wrapping_add(n);
            }
            taken = taken.wrapping_add(8);
            written = written.wrapping_add(len);
        }
        (taken, written)
    }

    /// Copies the tokens to rows of 16 bytes, so that a code takes one lookup. Pays if there are more codes
    /// than tokens. `None` if there are more than [`ROWS`] tokens, or none.
    #[allow(clippy::cast_possible_truncation, reason = "lengths, which are at most 16")]
    pub fn spread<'r>(&'r self, room: &'r mut Room) -> Option<Rows<'r>> {
        let last = u16::try_from(self.offsets.len().checked_sub(2)?).ok()?;
        if usize::from(last) >= ROWS {
            return None;
        }
        for (from, row) in self.offsets.iter().zip(&mut room.rows).take(usize::from(last).wrapping_add(1)) {
            let bytes = self.bytes.get(*from as usize..).unwrap_or_default();
            match bytes.first_chunk() {
                Some(token) => *row = *token,
                None => last_row(bytes, row),
            }
        }
        // A loop of its own, which the compiler vectorises.
        let places = self.offsets.iter().zip(self.offsets.get(1..).unwrap_or_default());
        for ((from, to), length) in places.zip(&mut room.lengths) {
            // At most 16, as `new` has checked.
            *length = to.wrapping_sub(*from) as u8;
        }
        Some(Rows { tokens: self, room, last })
    }

    fn exact(&self, codes: &[u16], taken: usize, out: &mut [u8], written: usize) -> Result<usize> {
        let mut written = written;
        for (i, code) in codes.iter().enumerate().skip(taken) {
            let token = self.bounds(*code).and_then(|(at, len)| self.bytes.get(at..at.saturating_add(len)));
            let token = token.ok_or_else(|| Error::needing(Kind::Invalid, What::ONPAIR, i as u64, (*code).into()))?;
            let end = written.saturating_add(token.len());
            let no_room = || Error::needing(Kind::NoRoom, What::ONPAIR, i as u64, end as u64);
            for (to, byte) in out.get_mut(written..end).ok_or_else(no_room)?.iter_mut().zip(token) {
                *to = *byte;
            }
            written = end;
        }
        Ok(written)
    }
}

/// Returns whether every token has 1 to 16 bytes and ends within `len` bytes. Without a branch, so that the
/// compiler vectorises the loop.
fn all_well(offsets: &[u32], len: usize) -> bool {
    let tokens = offsets.iter().zip(offsets.get(1..).unwrap_or_default());
    let well = tokens.fold(true, |well, (from, to)| well & (from < to) & (to.wrapping_sub(*from) <= LONGEST));
    // The offsets ascend, so the last one is the maximum.
    well && offsets.last().is_none_or(|end| *end as usize <= len)
}

/// Fills the row of a token near the end of the bytes. A separate function, because the compiler would make a
/// call of the copy of 16 bytes or fewer.
#[cold]
#[inline(never)]
fn last_row(bytes: &[u8], row: &mut [u8; 16]) {
    for (to, byte) in row.iter_mut().zip(bytes) {
        *to = *byte;
    }
}

/// Maximum number of tokens of [`Tokens::spread`]: codes of 12 bits, the default of OnPair.
pub const ROWS: usize = 1 << 12;

/// Memory for [`Tokens::spread`], 68 KiB with arbitrary contents. Aligned so that no row crosses cache lines.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Room {
    rows: [[u8; 16]; ROWS],
    lengths: [u8; ROWS],
}

/// Tokens in rows of 16 bytes, with arbitrary padding.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    tokens: &'a Tokens<'a>,
    room: &'a Room,
    last: u16,
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Room")
    }
}

impl fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rows").field(self.tokens).finish()
    }
}

impl Rows<'_> {
    /// Decodes `codes` to the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Errors of [`Tokens::decode`].
    pub fn decode(&self, codes: &[u16], out: &mut [u8]) -> Result<usize> {
        self.tokens.rest(codes, self.fast(codes, out), out)
    }

    /// Decodes 16 codes at a time, while all have tokens and `out` has space for any 16 lengths of one byte, so that stores are
    /// not checked. Returns the numbers of codes read and bytes written.
    ///
    /// The check of each code takes no time, because the loop waits for stores that cross cache lines. A check of many codes by
    /// vectors before this loop took 4 %.
    ///
    /// Not inlined, because the loop needs all registers.
    #[inline(never)]
    fn fast(&self, codes: &[u16], out: &mut [u8]) -> (usize, usize) {
        let (mut taken, mut written) = (0usize, 0usize);
        // Both slices have `count` items, so the compiler checks a code once.
        let count = usize::from(self.last).wrapping_add(1);
        let (Some(rows), Some(lengths)) = (self.room.rows.get(..count), self.room.lengths.get(..count)) else {
            return (0, 0);
        };
        for some in codes.as_chunks::<16>().0 {
            let Some(window) = out.get_mut(written..).and_then(<[u8]>::first_chunk_mut::<4096>) else { break };
            let mut len = 0usize;
            for code in some {
                let code = usize::from(*code);
                let to = window.get_mut(len..).and_then(<[u8]>::first_chunk_mut::<16>);
                let (Some(row), Some(length), Some(to)) = (rows.get(code), lengths.get(code), to) else {
                    return (taken, written);
                };
                *to = *row;
                len = len.wrapping_add(usize::from(*length));
            }
            taken = taken.wrapping_add(16);
            written = written.wrapping_add(len);
        }
        (taken, written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn both_bodies_like_the_naive_one() {
        let bytes: Vec<u8> = (0..2000u32).map(|i| (i * 7) as u8).collect();
        let mut offsets = std::vec![3u32];
        while offsets.last().unwrap() + 16 < 1900 {
            offsets.push(offsets.last().unwrap() + 1 + offsets.len() as u32 % 16);
        }
        let tokens = Tokens::new(&bytes, &offsets).unwrap();
        let count = offsets.len() - 1;
        // The previous contents of the memory must not show.
        let mut room = Room { rows: [[0xa5; 16]; ROWS], lengths: [0xa5; ROWS] };
        let rows = tokens.spread(&mut room).unwrap();
        let mut state = 5u32;
        for round in 0..1500usize {
            let codes: Vec<u16> = (0..if round % 25 == 0 { round } else { round % 50 })
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    ((state >> 12) as usize % (count + usize::from(round % 11 == 0))) as u16
                })
                .collect();
            let expected: Option<Vec<u8>> = codes
                .iter()
                .map(|c| {
                    let (from, to) = (*offsets.get(usize::from(*c))?, *offsets.get(usize::from(*c) + 1)?);
                    Some(&bytes[from as usize..to as usize])
                })
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.concat());
            for slack in [0, 5, 128] {
                let mut out = std::vec![0; expected.as_ref().map_or(26_000, Vec::len) + slack];
                let len = tokens.decode(&codes, &mut out);
                assert_eq!(len, tokens.exact(&codes, 0, &mut out.clone(), 0));
                let mut spread = out.clone();
                assert_eq!(len, rows.decode(&codes, &mut spread));
                assert!(len.is_err() || spread[..len.unwrap()] == out[..len.unwrap()]);
                assert_eq!(len.is_ok(), expected.is_some());
                if let (Ok(len), Some(expected)) = (len, &expected) {
                    assert_eq!(&out[..len], &expected[..]);
                    if len > 0 {
                        assert_eq!(tokens.decode(&codes, &mut out[..len - 1]).unwrap_err().kind(), Kind::NoRoom);
                    }
                }
            }
        }
    }

    #[test]
    fn bad_tokens_are_refused() {
        for offsets in [&[0u32, 17][..], &[0, 0], &[5, 4], &[0, 4, 21]] {
            assert_eq!(Tokens::new(&[0; 20], offsets).unwrap_err().kind(), Kind::Invalid, "{offsets:?}");
        }
        let none = Tokens::new(&[], &[]).unwrap();
        assert!(none.decode(&[0], &mut [0; 4]).is_err() && none.decode(&[], &mut []) == Ok(0));
    }
}
