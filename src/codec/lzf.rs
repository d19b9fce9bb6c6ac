//! LZF as LibLZF writes it: the raw stream, without block headers (DataSeries section 4).
//!
//! A control byte below 32 begins a run of literals; any other begins a match, with a distance of 13 bits.
//! The stream has no end marker.
//!
//! ```
//! use pilaster::codec::HashTable;
//! use pilaster::unstable::codec::lzf;
//!
//! let mut table = HashTable::<256>::new();
//! let mut stream = [0; lzf::max_len(20)];
//! let len = lzf::encode(&[7; 20], &mut stream, &mut table)?;
//! assert_eq!(stream[..len], [0, 7, 0xe0, 10, 0]);
//!
//! let mut bytes = [0; 20];
//! assert_eq!(lzf::decode(&stream[..len], &mut bytes)?, 20);
//! assert_eq!(bytes, [7; 20]);
//! # Ok::<(), pilaster::Error>(())
//! ```

// A log is decoded at 0.68 of the speed without the inline attributes of this file (bench `codec`).

use super::greedy::{self, HashTable, Put, Wire};
use super::lz::{Output, SLACK, fast_match, no_room, put, rest_of};
use crate::bytes::{FAST, LittleEndian, Reader, low8};
use crate::error::{Result, What};

/// Maximum number of literals per control byte.
const RUN: usize = 32;
/// Maximum and minimum length of a match of one control byte.
const LONGEST: usize = 264;
const SHORTEST: usize = 3;

/// Decodes a stream. Returns the number of bytes written.
///
/// `dst` may be longer than the output; the bytes after the output are then arbitrary.
///
/// # Errors
/// [`Kind::Truncated`](crate::error::Kind::Truncated) if the stream ends inside an instruction,
/// `Invalid` for a distance beyond the output so far, `NoRoom` if the output is longer than `dst` (`need`: a
/// lower bound of its length).
pub fn decode(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    decode_by::<FAST>(src, dst)
}

pub(super) fn decode_by<const FAST: bool>(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let mut r = Reader::new(src);
    let mut out = Output::new(dst);
    loop {
        if FAST {
            fast(&mut r, &mut out);
        }
        if r.rest().is_empty() {
            return Ok(out.at);
        }
        step(&mut r, &mut out)?;
    }
}

/// Decodes one instruction.
#[inline(never)]
fn step(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>) -> Result<()> {
    let control = r.u8(What::LZF_CONTROL)?;
    if usize::from(control) < RUN {
        return out.take(r, usize::from(control).wrapping_add(1), What::LZF_LITERALS);
    }
    let at = r.at();
    let mut len = usize::from(control >> 5).wrapping_add(2);
    if control >> 5 == 7 {
        len = len.wrapping_add(r.u8(What::LZF_DISTANCE)?.into());
    }
    let low = r.u8(What::LZF_DISTANCE)?;
    out.repeat(distance(control, low), len, What::LZF_DISTANCE, at)
}

#[inline(always)]
fn distance(control: u8, low: u8) -> usize {
    (usize::from(control & 31) << 8 | usize::from(low)).wrapping_add(1)
}

/// Decodes instructions far from the ends of both buffers.
#[inline(always)]
fn fast(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>) {
    let mut src = r.rest();
    let mut at = out.at;
    let bytes = &mut *out.bytes;
    let mut instruction = || {
        // The longest instruction: a control byte and its literals.
        let window = src.first_chunk::<{ 1 + RUN }>()?;
        if at.wrapping_add(SLACK) > bytes.len() {
            return None;
        }
        let control = window[0];
        if usize::from(control) < RUN {
            let literals = window.get(1..)?;
            put::<16>(bytes, at, literals)?;
            if control >= 16 {
                put::<16>(bytes, at.wrapping_add(16), literals.get(16..)?)?;
            }
            at = at.wrapping_add(usize::from(control)).wrapping_add(1);
            src = src.get(usize::from(control).wrapping_add(2)..)?;
            return Some(());
        }
        let mut len = usize::from(control >> 5).wrapping_add(2);
        let (mut low, mut used) = (window[1], 2usize);
        if control >> 5 == 7 {
            len = len.wrapping_add(low.into());
            (low, used) = (window[2], 3);
        }
        fast_match(bytes, at, distance(control, low), len)?;
        at = at.wrapping_add(len);
        src = src.get(used..)?;
        Some(())
    };
    while instruction().is_some() {}
    out.at = at;
    *r = rest_of(r, src);
}

/// Returns the maximum encoded length of `n` bytes.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    n.saturating_add(n.div_ceil(RUN))
}

/// Encodes a stream. Returns its length in bytes.
///
/// A `dst` of [`max_len`] bytes always suffices. A shorter `dst` works if the stream fits.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the stream does not fit (`need`: a sufficient length).
pub fn encode<const N: usize>(src: &[u8], dst: &mut [u8], table: &mut HashTable<N>) -> Result<usize> {
    let mut wire = Stream(Put::new(dst));
    match greedy::encode(src, table, &mut wire) {
        Some(()) => Ok(wire.0.at),
        None => Err(no_room(max_len(src.len()), 0)),
    }
}

struct Stream<'o>(Put<'o>);

impl Wire for Stream<'_> {
    const WINDOW: usize = 8192;
    const LAST_START: usize = 8;
    const LAST_END: usize = 0;

    #[inline]
    fn sequence(&mut self, src: &[u8], literals: usize, at: usize, distance: usize, mut len: usize) -> Option<()> {
        self.runs(src, literals, at)?;
        let distance = distance.wrapping_sub(1);
        while len > 0 {
            let mut n = len.min(LONGEST);
            // The remaining bytes must be long enough for a match.
            if n < len && len.wrapping_sub(n) < SHORTEST {
                n = n.wrapping_sub(SHORTEST);
            }
            let (high, code) = (distance >> 8, n.wrapping_sub(2));
            if code < 7 {
                self.0.array([low8(code << 5 | high), low8(distance)])?;
            } else {
                self.0.array([low8(7 << 5 | high), low8(code.wrapping_sub(7)), low8(distance)])?;
            }
            len = len.wrapping_sub(n);
        }
        Some(())
    }

    fn end(&mut self, src: &[u8], literals: usize) -> Option<()> {
        self.runs(src, literals, src.len())
    }
}

impl Stream<'_> {
    #[inline]
    fn runs(&mut self, src: &[u8], mut from: usize, to: usize) -> Option<()> {
        while from < to {
            let n = to.wrapping_sub(from).min(RUN);
            let next = from.wrapping_add(n);
            self.0.byte(low8(n.wrapping_sub(1)))?;
            self.0.slice(src, from, next)?;
            from = next;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;
    use crate::error::Kind;
    use std::vec::Vec;

    const DECODE: [check::Plain; 2] = [decode_by::<true>, decode_by::<false>];

    fn encoded(src: &[u8]) -> Vec<u8> {
        check::encoded(max_len(src.len()), |dst| encode(src, dst, &mut HashTable::<4096>::new()))
    }

    #[test]
    fn known_streams() {
        let long: Vec<u8> = (0..32).chain(core::iter::repeat_n(31, 264)).collect();
        let table: [(&[u8], &[u8]); 4] = [
            (&[], b""),
            (b"\x04hello", b"hello"),
            // Three bytes at distance 1; then nine at distance 4, with the length byte before the distance
            // byte.
            (&[0, b'a', 0x20, 0, 0xe0, 0, 3], b"aaaaaaaaaaaaa"),
            (&[&[31], &long[..32], &[0xe0, 255, 0]].concat(), &long),
        ];
        for (stream, bytes) in table {
            check::both(DECODE, stream, bytes);
        }
    }

    #[test]
    fn the_farthest_distance() {
        let mut bytes = check::noise(8192);
        let mut stream: Vec<u8> = bytes.chunks(32).flat_map(|run| [&[31], run].concat()).collect();
        stream.extend([0x3f, 0xff]);
        bytes.extend_from_within(..3);
        check::both(DECODE, &stream, &bytes);
        // The encoder uses this distance.
        let mut twice = check::noise(8192);
        twice.extend_from_within(..);
        assert!(encoded(&twice).len() < 8192 + 8192 / 32 + 200);
    }

    #[test]
    fn errors_say_what_and_where() {
        let fails = |stream: &[u8], room: usize| check::refused(DECODE, stream, room);
        assert_eq!(fails(&[3, 1], 9), (Kind::Truncated, What::LZF_LITERALS, 1, 4));
        assert_eq!(fails(&[0, 1, 0x20], 9), (Kind::Truncated, What::LZF_DISTANCE, 3, 1));
        assert_eq!(fails(&[0, 1, 0xe0, 0], 9), (Kind::Truncated, What::LZF_DISTANCE, 4, 1));
        assert_eq!(fails(&[0, 1, 0x20, 1], 9), (Kind::Invalid, What::LZF_DISTANCE, 3, 2));
        assert_eq!(fails(&[0x20, 0], 9), (Kind::Invalid, What::LZF_DISTANCE, 1, 1));
        assert_eq!(fails(&[2, 1, 1, 1], 2), (Kind::NoRoom, What::DESTINATION, 0, 3));
        assert_eq!(fails(&[0, 1, 0x20, 0], 3), (Kind::NoRoom, What::DESTINATION, 0, 4));
    }
}
