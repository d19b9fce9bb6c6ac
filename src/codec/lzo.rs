//! LZO1X streams: raw, with their end marker and without a header (DataSeries section 4).
//!
//! The meaning of an instruction depends on the number of literals before it. The decoder is implemented
//! here. The encoder is [`lzokay`] and needs a heap for its dictionary of 444 KiB.
//!
//! ```
//! use pilaster::unstable::codec::lzo;
//!
//! // Literals only: 17 plus their number, the bytes, the end marker.
//! let stream = b"\x16hello\x11\0\0";
//! let mut bytes = [0; 5];
//! assert_eq!(lzo::decode(stream, &mut bytes)?, 5);
//! assert_eq!(bytes, *b"hello");
//! # Ok::<(), pilaster::Error>(())
//! ```

// Records are decoded at 0.72 of the speed without the inline attributes of this file (bench `codec`).

use super::lz::{Output, SLACK, fast_match, put, rest_of};
use crate::bytes::{FAST, LittleEndian, Reader};
use crate::error::{Error, Kind, Result, What};

/// Decodes a stream. Returns the number of bytes written.
///
/// `dst` may be longer than the output; the bytes after the output are then arbitrary.
///
/// # Errors
/// [`Kind::Truncated`] if the stream ends before its end marker, [`Kind::Trailing`] if bytes follow the
/// marker, [`Kind::Invalid`] for a distance beyond the output so far or a marker with another length,
/// [`Kind::NoRoom`] if the output is longer than `dst` (`need`: a lower bound of its length).
pub fn decode(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    decode_by::<FAST>(src, dst)
}

fn decode_by<const FAST: bool>(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let mut r = Reader::new(src);
    let mut out = Output::new(dst);
    let mut before = match src.first() {
        // Only the first instruction can be a run of literals if it is above 17.
        Some(first @ 18..) => {
            r.u8(What::LZO_INSTRUCTION)?;
            let n = usize::from(*first).wrapping_sub(17);
            out.take(&mut r, n, What::LZO_LITERALS)?;
            n.min(AFTER_RUN)
        }
        _ => 0,
    };
    loop {
        if FAST {
            before = fast(&mut r, &mut out, before);
        }
        match step(&mut r, &mut out, before)? {
            Some(literals) => before = literals,
            None => {
                r.end(What::LZO_END)?;
                return Ok(out.at);
            }
        }
    }
}

/// The literals before an instruction: 0 to 3 belong to a match, 4 represents a run of literals.
const AFTER_RUN: usize = 4;

/// The end marker.
#[cfg(feature = "alloc")]
const END: [u8; 3] = [17, 0, 0];

/// Executes one instruction. Returns the number of literals before the next one (`AFTER_RUN` after a literal
/// run), or `None` after the end marker.
#[cfg_attr(not(pilaster_small), inline(never))]
fn step(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>, before: usize) -> Result<Option<usize>> {
    let at = r.at();
    let code = r.u8(What::LZO_INSTRUCTION)?;
    let c = usize::from(code);
    if c < 16 && before == 0 {
        let n = if c == 0 { extended(r, 18)? } else { c.wrapping_add(3) };
        out.take(r, n, What::LZO_LITERALS)?;
        return Ok(Some(AFTER_RUN));
    }
    let (distance, len, literals) = match c {
        16..64 => {
            let (mask, base) = if c < 32 { (7, 9) } else { (31, 33) };
            let len = if c & mask == 0 { extended(r, base)? } else { (c & mask).wrapping_add(2) };
            let word = r.u16(What::LZO_DISTANCE)?;
            if c & 0xf8 == 16 && word < 4 {
                // Distance 16,384 is the end marker; its length and literals are fixed.
                let e = || Error::needing(Kind::Invalid, What::LZO_END, at, code.into());
                return if c == 17 && word == 0 { Ok(None) } else { Err(e()) };
            }
            (far(c, word.into()), len, usize::from(word & 3))
        }
        _ => {
            let high = r.u8(What::LZO_DISTANCE)?;
            let (distance, len) = near(c, high, before);
            (distance, len, c & 3)
        }
    };
    out.repeat(distance, len, What::LZO_DISTANCE, at)?;
    out.take(r, literals, What::LZO_LITERALS)?;
    Ok(Some(literals))
}

/// Returns the distance of an instruction from 16 to 63 with its two bytes.
#[inline(always)]
const fn far(c: usize, word: usize) -> usize {
    if c < 32 { 16_384usize.wrapping_add((c & 8) << 11).wrapping_add(word >> 2) } else { (word >> 2).wrapping_add(1) }
}

/// Returns distance and length of an instruction with one byte: 64 or more, or below 16 after literals.
#[inline(always)]
fn near(c: usize, high: u8, before: usize) -> (usize, usize) {
    let high = usize::from(high);
    match c {
        128.. => ((high << 3).wrapping_add(c >> 2 & 7).wrapping_add(1), (c >> 5 & 3).wrapping_add(5)),
        64.. => ((high << 3).wrapping_add(c >> 2 & 7).wrapping_add(1), (c >> 5 & 1).wrapping_add(3)),
        _ if before == AFTER_RUN => ((high << 2).wrapping_add(c >> 2).wrapping_add(2049), 3),
        _ => ((high << 2).wrapping_add(c >> 2).wrapping_add(1), 2),
    }
}

/// Reads the extension bytes of a length. Each zero byte adds 255; the first non-zero byte is added and ends
/// the length.
fn extended(r: &mut Reader<'_, LittleEndian>, base: usize) -> Result<usize> {
    let mut len = base;
    loop {
        match r.u8(What::LZO_LENGTH)? {
            0 => len = len.saturating_add(255),
            last => return Ok(len.saturating_add(last.into())),
        }
    }
}

/// Executes instructions far from the ends of both buffers, without extended lengths.
#[inline(always)]
fn fast(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>, mut before: usize) -> usize {
    let mut src = r.rest();
    let mut at = out.at;
    let bytes = &mut *out.bytes;
    let mut instruction = || {
        // A run of at most 18 literals, copied by 16.
        let window = src.first_chunk::<33>()?;
        if at.wrapping_add(SLACK) > bytes.len() {
            return None;
        }
        let c = usize::from(window[0]);
        if c < 16 && before == 0 {
            if c == 0 {
                return None;
            }
            let literals = window.get(1..)?;
            put::<16>(bytes, at, literals)?;
            put::<16>(bytes, at.wrapping_add(16), literals.get(16..)?)?;
            at = at.wrapping_add(c).wrapping_add(3);
            src = src.get(c.wrapping_add(4)..)?;
            before = AFTER_RUN;
            return Some(());
        }
        let (distance, len, literals, used) = if (16..64).contains(&c) {
            let mask = if c < 32 { 7 } else { 31 };
            let word = usize::from(u16::from_le_bytes([window[1], window[2]]));
            if c & mask == 0 || (c < 24 && word < 4) {
                return None;
            }
            (far(c, word), (c & mask).wrapping_add(2), word & 3, 3usize)
        } else {
            let (distance, len) = near(c, window[1], before);
            (distance, len, c & 3, 2)
        };
        fast_match(bytes, at, distance, len)?;
        at = at.wrapping_add(len);
        put::<4>(bytes, at, window.get(used..)?)?;
        at = at.wrapping_add(literals);
        src = src.get(used.wrapping_add(literals)..)?;
        before = literals;
        Some(())
    };
    while instruction().is_some() {}
    out.at = at;
    *r = rest_of(r, src);
    before
}

/// Returns the maximum encoded length of `n` bytes.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    n.saturating_add(n / 16).saturating_add(67)
}

/// Encodes a stream. Returns its length in bytes.
///
/// A `dst` of [`max_len`] bytes always suffices. A shorter `dst` works if the stream fits.
///
/// # Errors
/// [`Kind::NoRoom`] if the stream does not fit (`need`: a sufficient length).
#[cfg(feature = "alloc")]
pub fn encode(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    // For an empty input, lzokay writes an invalid stream.
    if let ([], Some(to)) = (src, dst.first_chunk_mut()) {
        *to = END;
        return Ok(END.len());
    }
    let mut dictionary = lzokay::compress::Dict::new();
    lzokay::compress::compress_no_alloc(src, dst, &mut dictionary)
        .map_err(|_| super::lz::no_room(max_len(src.len()), 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;
    use std::vec;
    use std::vec::Vec;

    const DECODE: [check::Plain; 2] = [decode_by::<true>, decode_by::<false>];

    fn both(stream: &[u8], bytes: &[u8]) {
        check::both(DECODE, stream, bytes);
    }

    #[test]
    fn known_streams() {
        both(&[17, 0, 0], b"");
        both(b"\x16hello\x11\0\0", b"hello");
        // One literal, then each kind of match at distance 1.
        both(&[18, b'a', 0x40, 0, 17, 0, 0], b"aaaa");
        both(&[18, b'a', 0x80, 0, 17, 0, 0], b"aaaaaa");
        both(&[18, b'a', 0x21, 0, 0, 17, 0, 0], b"aaaa");
        both(&[18, b'a', 0x20, 1, 0, 0, 17, 0, 0], &[b'a'; 35]);
        // Below 16 after one to three literals: two bytes, and a literal.
        both(&[20, 1, 2, 3, 9, 0, 7, 17, 0, 0], &[1, 2, 3, 1, 2, 7]);
        both(&[20, 1, 2, 3, 8, 0, 17, 0, 0], &[1, 2, 3, 1, 2]);
        // After no literals: a run of literals; a match may have none.
        both(&[18, 1, 0x40, 0, 1, 9, 8, 7, 6, 17, 0, 0], &[1, 1, 1, 1, 9, 8, 7, 6]);
    }

    #[test]
    fn runs_and_far_matches() {
        for n in [4usize, 18, 19, 238, 239, 273, 274, 275, 528, 529, 2_100, 20_000, 49_152] {
            // No sample file has a run of 274 literals (section 4).
            let mut stream = Vec::new();
            if n <= 18 {
                stream.push((n - 3) as u8);
            } else {
                stream.push(0);
                stream.extend(vec![0; (n - 19) / 255]);
                stream.push(((n - 19) % 255 + 1) as u8);
            }
            let mut bytes = check::noise(n);
            stream.extend(&bytes);
            // After a run: three bytes at distance 2,049 or more.
            if n >= 2_100 {
                stream.extend([0, 0]);
                bytes.extend_from_within(n - 2049..n - 2046);
            }
            // Distances of 16,384 or more, up to the maximum.
            if n >= 20_000 {
                stream.extend([0x12, 4, 0]);
                let len = bytes.len();
                bytes.extend_from_within(len - 16_385..len - 16_381);
            }
            if n >= 49_152 {
                stream.extend([0x18, 1, 0xfc, 0xff]);
                let len = bytes.len();
                bytes.extend_from_within(len - 49_151..len - 49_141);
            }
            stream.extend([17, 0, 0]);
            assert_eq!(lzo::decompress(&stream, bytes.len()).unwrap(), bytes, "the rival, {n}");
            both(&stream, &bytes);
        }
    }

    #[test]
    fn errors_say_what_and_where() {
        let fails = |stream: &[u8], room: usize| check::refused(DECODE, stream, room);
        assert_eq!(fails(&[], 9), (Kind::Truncated, What::LZO_INSTRUCTION, 0, 1));
        assert_eq!(fails(&[20, 1, 2], 9), (Kind::Truncated, What::LZO_LITERALS, 1, 3));
        assert_eq!(fails(&[18, 1], 9), (Kind::Truncated, What::LZO_INSTRUCTION, 2, 1));
        assert_eq!(fails(&[0, 0, 0], 9), (Kind::Truncated, What::LZO_LENGTH, 3, 1));
        assert_eq!(fails(&[18, 1, 0x40], 9), (Kind::Truncated, What::LZO_DISTANCE, 3, 1));
        assert_eq!(fails(&[18, 1, 0x41, 0], 9), (Kind::Truncated, What::LZO_LITERALS, 4, 1));
        assert_eq!(fails(&[18, 1, 17, 0], 9), (Kind::Truncated, What::LZO_DISTANCE, 3, 2));
        assert_eq!(fails(&[18, 1, 0x40, 1], 9), (Kind::Invalid, What::LZO_DISTANCE, 2, 9));
        assert_eq!(fails(&[18, 1, 18, 0, 0], 9), (Kind::Invalid, What::LZO_END, 2, 18));
        assert_eq!(fails(&[18, 1, 17, 1, 0], 9), (Kind::Invalid, What::LZO_END, 2, 17));
        assert_eq!(fails(&[17, 0, 0, 9], 9), (Kind::Trailing, What::LZO_END, 3, 1));
        assert_eq!(fails(b"\x16hello\x11\0\0", 4), (Kind::NoRoom, What::DESTINATION, 0, 5));
        assert_eq!(fails(&[18, 1, 0x40, 0, 17, 0, 0], 3), (Kind::NoRoom, What::DESTINATION, 0, 4));
        assert_eq!(fails(&[18, 1, 0x43, 0, 1, 2, 3], 6), (Kind::NoRoom, What::DESTINATION, 0, 7));
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn round_trips_and_rivals() {
        for bytes in check::samples() {
            let stream = check::encoded(max_len(bytes.len()), |dst| encode(&bytes, dst));
            both(&stream, &bytes);
            assert_eq!(lzo::decompress(&stream, bytes.len()).unwrap(), bytes, "the rival reads ours");
        }
        let bytes = check::text(300);
        let stream = check::encoded(max_len(300), |dst| encode(&bytes, dst));
        check::every_room(&stream, max_len(300), |dst| encode(&bytes, dst));
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn damage() {
        for bytes in [check::text(300), check::noise(60), vec![5; 600]] {
            let stream = check::encoded(max_len(bytes.len()), |dst| encode(&bytes, dst));
            check::damage(decode_by::<true>, decode_by::<false>, &stream);
        }
    }
}
