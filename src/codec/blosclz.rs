//! Blosclz streams, as Blosc 1 writes them: a relative of FastLZ.
//!
//! A control byte below 32 begins a run of literals, any other a match: near with a distance of 13 bits, or
//! far with another 16 bits of distance. The first and the last instruction are literals; there is no end
//! marker.
//!
//! ```
//! use pilaster::codec::HashTable;
//! use pilaster::unstable::codec::blosclz;
//!
//! let mut table = HashTable::<256>::new();
//! let mut stream = [0; blosclz::max_len(20)];
//! let len = blosclz::encode(&[7; 20], &mut stream, &mut table)?;
//! assert_eq!(stream[..len], [32, 7, 0xe0, 9, 0, 0, 7]);
//!
//! let mut bytes = [0; 20];
//! assert_eq!(blosclz::decode(&stream[..len], &mut bytes)?, 20);
//! assert_eq!(bytes, [7; 20]);
//! # Ok::<(), pilaster::Error>(())
//! ```

// A log is decoded at 0.58 of the speed without the inline attributes of this file (bench `codec`).

use super::greedy::{self, HashTable, Put, Wire};
use super::lz::{Output, SLACK, chunk, fast_match, no_room, put, rest_of};
use crate::bytes::{FAST, LittleEndian, Reader, len32, low8};
use crate::error::{Error, Kind, Result, What};

/// Maximum number of literals per control byte.
const RUN: usize = 32;
/// Minimum length of a match.
const SHORTEST: usize = 3;
/// Minimum distance of a far match. As a near distance it would be all ones, which is the marker of far
/// matches.
const FAR: usize = 8192;
/// Minimum length of a far match. Shorter ones do not pay, because it takes at least four bytes and ends a
/// run.
const SHORTEST_FAR: usize = 7;
/// Writers set this bit in the first control byte; readers ignore its upper three bits.
const MARK: u8 = 32;

/// Decodes a stream. Returns the number of bytes written.
///
/// `dst` may be longer than the output; the bytes after the output are then arbitrary. An empty stream has an
/// empty output.
///
/// # Errors
/// [`Kind::Truncated`] if the stream ends inside an instruction or with a match,
/// [`Kind::Invalid`] for a distance beyond the output so far, [`Kind::NoRoom`] if the output is longer than
/// `dst` (`need`: a lower bound of its length).
pub fn decode(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    decode_by::<FAST>(src, dst)
}

pub(super) fn decode_by<const FAST: bool>(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let mut r = Reader::new(src);
    let mut out = Output::new(dst);
    if src.is_empty() {
        return Ok(0);
    }
    let control = r.u8(What::BLOSCLZ_CONTROL)? & 31;
    literals(&mut r, &mut out, control)?;
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
    let control = r.u8(What::BLOSCLZ_CONTROL)?;
    if usize::from(control) < RUN {
        return literals(r, out, control);
    }
    let at = r.at();
    let (distance, len) = matched(r, control)?;
    if r.rest().is_empty() {
        return Err(Error::needing(Kind::Truncated, What::BLOSCLZ_CONTROL, r.at(), 1));
    }
    out.repeat(distance, len, What::BLOSCLZ_DISTANCE, at)
}

/// Reads the match whose control byte is known. Returns distance and length.
fn matched(r: &mut Reader<'_, LittleEndian>, control: u8) -> Result<(usize, usize)> {
    let mut len = usize::from(control >> 5).wrapping_sub(1).wrapping_add(SHORTEST);
    if control >> 5 == 7 {
        loop {
            let more = r.u8(What::BLOSCLZ_LENGTH)?;
            len = len.saturating_add(more.into());
            if more != 255 {
                break;
            }
        }
    }
    let mut distance = near(control, r.u8(What::BLOSCLZ_DISTANCE)?);
    if distance == FAR {
        let [high, low] = *r.array(What::BLOSCLZ_DISTANCE)?;
        distance = far(high, low);
    }
    Ok((distance, len))
}

/// Returns the byte that the output consists of, `len` times, if the stream has the form that encoders give it then: a match
/// between literals.
#[cfg(feature = "bcolz")]
pub(crate) fn constant(src: &[u8], len: usize) -> Option<u8> {
    let mut r = Reader::new(src);
    let count = |control: u8| usize::from(control).wrapping_add(1);
    let control = r.u8(What::BLOSCLZ_CONTROL).ok()? & 31;
    let first = r.take(count(control), What::BLOSCLZ_LITERALS).ok()?;
    let control = r.u8(What::BLOSCLZ_CONTROL).ok().filter(|control| usize::from(*control) >= RUN)?;
    let (distance, run) = matched(&mut r, control).ok()?;
    let control = r.u8(What::BLOSCLZ_CONTROL).ok().filter(|control| usize::from(*control) < RUN)?;
    let whole = count(control) == r.rest().len() && (1..=first.len()).contains(&distance);
    super::lz::constant((first, run, r.rest()), len).filter(|_| whole)
}

fn literals(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>, control: u8) -> Result<()> {
    out.take(r, usize::from(control).wrapping_add(1), What::BLOSCLZ_LITERALS)
}

/// Returns the distance of a near match, or [`FAR`] for a far match.
#[inline(always)]
fn near(control: u8, low: u8) -> usize {
    (usize::from(control & 31) << 8 | usize::from(low)).wrapping_add(1)
}

#[inline(always)]
fn far(high: u8, low: u8) -> usize {
    usize::from(u16::from_be_bytes([high, low])).wrapping_add(FAR)
}

/// Decodes instructions far from the ends of both buffers.
#[inline(always)]
fn fast(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>) {
    let mut src = r.rest();
    let Some((bytes, mut position)) = out.fast() else { return };
    let mut instruction = || {
        // The longest instruction is a control byte and its literals. A match is shorter, so it is not the
        // last instruction.
        let window = src.first_chunk::<{ 1 + RUN }>()?;
        let at = position as usize;
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
            position = len32(at.wrapping_add(usize::from(control)).wrapping_add(1));
            src = src.get(usize::from(control).wrapping_add(2)..)?;
            return Some(());
        }
        let mut len = usize::from(control >> 5).wrapping_add(2);
        let (mut low, mut used) = (window[1], 2usize);
        if control >> 5 == 7 {
            if low == 255 {
                return None;
            }
            len = len.wrapping_add(low.into());
            (low, used) = (window[2], 3);
        }
        let mut distance = near(control, low);
        if distance == FAR {
            let [high, low] = *window.get(used..)?.first_chunk()?;
            distance = far(high, low);
            used = used.wrapping_add(2);
        }
        fast_match(bytes, at, distance, len)?;
        position = len32(at.wrapping_add(len));
        src = src.get(used..)?;
        Some(())
    };
    while instruction().is_some() {}
    out.at = position as usize;
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
/// [`Kind::NoRoom`] if the stream does not fit (`need`: a sufficient length).
pub fn encode<const N: usize>(src: &[u8], dst: &mut [u8], table: &mut HashTable<N>) -> Result<usize> {
    let mut wire = Stream { out: Put::new(dst), literals: 0 };
    let Some(()) = greedy::encode(src, table, &mut wire) else { return Err(no_room(max_len(src.len()), 0)) };
    let len = wire.out.at;
    if let Some(first) = dst.first_mut().filter(|_| len > 0) {
        *first |= MARK;
    }
    Ok(len)
}

struct Stream<'o> {
    out: Put<'o>,
    /// Start of the literals that are not written yet.
    literals: usize,
}

impl Wire for Stream<'_> {
    const WINDOW: usize = 65_535;
    const LAST_START: usize = 8;
    const LAST_END: usize = 1;
    // Four bytes are hashed, and five must be equal. In numbers with many zeros the lookup then always finds
    // the same neighbour, as in the original encoder, and no branch depends on the age of an entry.
    const HASHED: u32 = 4;

    #[inline(always)]
    fn same(now: u64, before: u64) -> bool {
        (now ^ before) << 24 == 0
    }

    #[inline]
    fn sequence(&mut self, src: &[u8], _: usize, at: usize, distance: usize, len: usize) -> Option<()> {
        if distance >= FAR && len < SHORTEST_FAR {
            return Some(());
        }
        let code = len.wrapping_sub(SHORTEST - 1);
        if FAST && code < 7 && distance < FAR && self.short(src, at, distance, code).is_some() {
            self.literals = at.wrapping_add(len);
            return Some(());
        }
        self.runs(src, at)?;
        self.literals = at.wrapping_add(len);
        let near = distance.min(FAR).wrapping_sub(1);
        if code < 7 {
            self.out.byte(low8(code << 5 | near >> 8))?;
        } else {
            self.out.byte(low8(7 << 5 | near >> 8))?;
            let mut rest = code.wrapping_sub(7);
            while rest >= 255 {
                self.out.byte(255)?;
                rest = rest.wrapping_sub(255);
            }
            self.out.byte(low8(rest))?;
        }
        self.out.byte(low8(near))?;
        match distance.checked_sub(FAR) {
            Some(far) => self.out.array([low8(far >> 8), low8(far)]),
            None => Some(()),
        }
    }

    fn end(&mut self, src: &[u8], _: usize) -> Option<()> {
        self.runs(src, src.len())
    }
}

impl Stream<'_> {
    /// Writes a run of at most 16 literals, or none, and a near match with one control byte, far from the
    /// ends of both buffers: three stores in one window.
    #[inline(always)]
    fn short(&mut self, src: &[u8], at: usize, distance: usize, code: usize) -> Option<()> {
        let run = at.wrapping_sub(self.literals);
        if run > 16 {
            return None;
        }
        let from = chunk::<16>(src, self.literals)?;
        let window = self.out.window::<20>()?;
        let near = distance.wrapping_sub(1);
        let mut used = 0usize;
        if run > 0 {
            window[0] = low8(run.wrapping_sub(1));
            *window.get_mut(1..)?.first_chunk_mut()? = *from;
            used = run.wrapping_add(1);
        }
        *window.get_mut(used..)?.first_chunk_mut()? = [low8(code << 5 | near >> 8), low8(near)];
        self.out.at = self.out.at.wrapping_add(used).wrapping_add(2);
        Some(())
    }

    /// Writes the literals before `to`.
    #[inline]
    fn runs(&mut self, src: &[u8], to: usize) -> Option<()> {
        let literals = src.get(self.literals..to)?;
        // Fails early if the literals alone are too long, so that nothing is copied.
        self.out.room(literals.len())?;
        let mut rest = literals;
        while let Some((run, more)) = rest.split_first_chunk::<RUN>() {
            self.out.byte(low8(RUN - 1))?;
            self.out.array(*run)?;
            rest = more;
        }
        if !rest.is_empty() {
            self.out.byte(low8(rest.len().wrapping_sub(1)))?;
            self.out.slice(src, to.wrapping_sub(rest.len()), to)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;
    use std::vec::Vec;

    const DECODE: [check::Plain; 2] = [decode_by::<true>, decode_by::<false>];

    fn encoded(src: &[u8]) -> Vec<u8> {
        check::encoded(max_len(src.len()), |dst| encode(src, dst, &mut HashTable::<4096>::new()))
    }

    #[test]
    fn known_streams() {
        let long: Vec<u8> = (0..32).chain(core::iter::repeat_n(31, 9 + 255 + 3)).chain([8]).collect();
        let table: [(&[u8], &[u8]); 5] = [
            (&[], b""),
            (b"\x24hello", b"hello"),
            // The upper bits of the first control byte have no meaning.
            (b"\xe4hello", b"hello"),
            // Three bytes at distance 1; then nine at distance 4, with a length byte; literals end the
            // stream.
            (&[32, b'a', 0x20, 0, 0xe0, 0, 3, 0, b'b'], b"aaaaaaaaaaaaab"),
            (&[&[31], &long[..32], &[0xe0, 255, 3, 0, 0, 8]].concat(), &long),
        ];
        for (stream, bytes) in table {
            check::both(DECODE, stream, bytes);
        }
    }

    #[test]
    fn distances_near_and_far() {
        for distance in [8191, 8192, 8193, 65_535, 65_536, 8192 + 65_535] {
            let mut bytes = check::noise(distance);
            let mut stream: Vec<u8> = bytes.chunks(32).flat_map(|run| [&[run.len() as u8 - 1], run].concat()).collect();
            match distance.checked_sub(8192) {
                None => stream.extend([0xff, 1, 0xfe]),
                Some(far) => stream.extend([&[0xff, 1, 0xff][..], &(far as u16).to_be_bytes()].concat()),
            }
            stream.extend([0, 77]);
            bytes.extend_from_within(..10);
            bytes.push(77);
            check::both(DECODE, &stream, &bytes);
        }
        // The encoder uses these distances.
        for distance in [8191, 8192, 65_535] {
            let mut twice = check::noise(distance);
            twice.extend_from_within(..);
            let stream = encoded(&twice);
            assert!(stream.len() < distance + distance / 32 + 500, "{distance}: {}", stream.len());
            check::decodes(decode, &stream, &twice);
        }
    }

    #[cfg(feature = "bcolz")]
    #[test]
    fn streams_of_one_byte_are_found() {
        check::constants(constant, decode, encoded);
        // The last byte differs; a distance before the start; bytes after the last literals; one byte less and more; no match.
        let stream = [0x21, 5, 5, 0x60, 0, 1, 5, 5];
        assert_eq!(constant(&stream, 9), Some(5));
        for (at, byte) in [(7, 4), (4, 2), (5, 0), (3, 0x40), (3, 0x80), (3, 1), (5, 0x20)] {
            let mut stream = stream;
            stream[at] = byte;
            assert_eq!(constant(&stream, 9), None, "{at}");
        }
    }

    #[test]
    fn errors_say_what_and_where() {
        let fails = |stream: &[u8], room: usize| check::refused(DECODE, stream, room);
        assert_eq!(fails(&[35, 1], 9), (Kind::Truncated, What::BLOSCLZ_LITERALS, 1, 4));
        assert_eq!(fails(&[32, 1, 0x20], 9), (Kind::Truncated, What::BLOSCLZ_DISTANCE, 3, 1));
        assert_eq!(fails(&[32, 1, 0xe0, 255], 9), (Kind::Truncated, What::BLOSCLZ_LENGTH, 4, 1));
        assert_eq!(fails(&[32, 1, 0x3f, 255, 0], 9), (Kind::Truncated, What::BLOSCLZ_DISTANCE, 4, 2));
        assert_eq!(fails(&[32, 1, 0x20, 0], 9), (Kind::Truncated, What::BLOSCLZ_CONTROL, 4, 1), "ends with a match");
        assert_eq!(fails(&[32, 1, 0x20, 1, 0, 0], 9), (Kind::Invalid, What::BLOSCLZ_DISTANCE, 3, 2));
        assert_eq!(fails(&[34, 1, 1, 1], 2), (Kind::NoRoom, What::DESTINATION, 0, 3));
        assert_eq!(fails(&[32, 1, 0x20, 0, 0, 0], 3), (Kind::NoRoom, What::DESTINATION, 0, 4));
    }
}
