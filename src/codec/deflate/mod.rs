//! Deflate in the frame of zlib: RFC 1951 inside RFC 1950.
//!
//! The decoder is implemented here. It writes directly to the destination, which is also its window, and
//! takes its tables from a scratch buffer. The encoder takes its tables from the heap.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::unstable::codec::deflate;
//!
//! // Header, one stored block of five bytes, Adler-32.
//! let stream = b"\x78\x01\x01\x05\0\xfa\xffhello\x06\x2c\x02\x15";
//! let (mut bytes, mut memory) = ([0; 5], [0; deflate::WORKSPACE_LEN]);
//! assert_eq!(deflate::decode(stream, &mut bytes, &mut Scratch::new(&mut memory))?, 5);
//! assert_eq!(bytes, *b"hello");
//! # Ok::<(), pilaster::Error>(())
//! ```

// See `bits` for the effect of the inline attributes.

mod bits;
mod code;
#[cfg(feature = "alloc")]
mod encode;

use bits::Bits;
use code::{Code, Entry, Kinds};

#[cfg(feature = "alloc")]
use super::greedy::Put;
use super::lz::{Output, SLACK, fast_match};
use crate::bytes::{FAST, Scratch, low8};
use crate::error::{Error, Kind, Result, What};
use crate::hash::adler32;

/// Number of symbols for literals, the end of a block and lengths; two of them are never used.
const LITERALS: usize = 288;
/// Number of symbols for distances; two of them are never used.
const DISTANCES: usize = 32;
/// Number of symbols of the code that encodes the lengths of the other codes.
const LENGTHS: usize = 19;
/// The order in which the lengths of that code are stored.
const ORDER: [u8; LENGTHS] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// The symbol of the end of a block.
const END: u16 = 256;

/// Number of bits of a code that a lookup decodes at once. The tables are for 64-bit hosts only.
const LITERAL_BITS: u32 = 11;
const DISTANCE_BITS: u32 = 9;

/// Scratch size in bytes that [`decode`] needs: 10.6 KiB on 64-bit hosts, less than 1 KiB elsewhere.
pub const WORKSPACE_LEN: usize = workspace_len(FAST);

const fn workspace_len(fast: bool) -> usize {
    let tables = if fast { (1usize << LITERAL_BITS).wrapping_add(1 << DISTANCE_BITS) } else { 0 };
    // Words and their alignment, two lists of symbols, the lengths of their codes.
    let symbols = LITERALS.wrapping_add(DISTANCES);
    tables.wrapping_mul(4).wrapping_add(3).wrapping_add(symbols.wrapping_mul(2)).wrapping_add(symbols)
}

/// Decodes a stream. Returns the number of bytes written.
///
/// `dst` may be longer than the output; the bytes after the output are then arbitrary. `scratch` must have
/// [`WORKSPACE_LEN`] free bytes, which are released at the end.
///
/// # Errors
/// [`Kind::Truncated`] if the stream ends early, [`Kind::Trailing`] if bytes follow its end,
/// [`Kind::Invalid`] if it violates RFC 1950 or 1951, [`Kind::Unsupported`] for a preset dictionary,
/// [`Kind::Checksum`] if the Adler-32 differs, [`Kind::NoRoom`] if the output is longer than `dst` (`need`: a
/// lower bound of its length) or the scratch buffer is too small.
pub fn decode(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    decode_by::<FAST>(src, dst, scratch)
}

/// Decodes the stream at the start of `src`, whatever follows it. Returns the number of bytes written and the
/// number of bytes read from `src`.
///
/// # Errors
/// Errors of [`decode`], except [`Kind::Trailing`].
pub fn decode_front(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<(usize, usize)> {
    let mut bits = Bits::new(src);
    let len = front_by::<FAST>(&mut bits, dst, scratch)?;
    Ok((len, src.len().wrapping_sub(bits.rest().len())))
}

fn decode_by<const FAST: bool>(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let mut bits = Bits::new(src);
    let len = front_by::<FAST>(&mut bits, dst, scratch)?;
    match bits.rest().len() {
        0 => Ok(len),
        rest => Err(Error::needing(Kind::Trailing, What::ZLIB_CHECKSUM, bits.at(), rest as u64)),
    }
}

fn front_by<const FAST: bool>(bits: &mut Bits<'_>, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let len = stream::<FAST>(bits, dst, scratch);
    // If the stream ends early, other errors only follow from that.
    bits.check()?;
    len
}

fn stream<const FAST: bool>(bits: &mut Bits<'_>, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    header(bits)?;
    let mut scratch = scratch.scope();
    let mut literals = Code::lend::<FAST>(Kinds::Literals, &mut scratch)?;
    let mut distances = Code::lend::<FAST>(Kinds::Distances, &mut scratch)?;
    let lengths = scratch.take::<u8>(LITERALS.wrapping_add(DISTANCES))?;
    let mut out = Output::new(dst);
    loop {
        let at = bits.at();
        let last = bits.take(1, What::DEFLATE_BLOCK) == 1;
        match bits.take(2, What::DEFLATE_BLOCK) {
            0 => stored(bits, &mut out)?,
            kind @ 1..=2 => {
                if kind == 1 {
                    fixed(lengths);
                } else {
                    dynamic(bits, lengths, &mut literals)?;
                }
                let (first, second) = lengths.split_at_checked(LITERALS).unwrap_or_default();
                literals.build::<FAST>(first, at)?;
                distances.build::<FAST>(second, at)?;
                symbols::<FAST>(bits, &mut out, &literals, &distances)?;
            }
            kind => return Err(Error::needing(Kind::Invalid, What::DEFLATE_BLOCK, at, kind.into())),
        }
        if last {
            break;
        }
    }
    let stored = bits.bytes(4, What::ZLIB_CHECKSUM)?;
    let at = bits.at().wrapping_sub(4);
    let stored = stored.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    let output = out.bytes.get(..out.at).unwrap_or_default();
    // A fuzzer would never get past the checksum.
    if adler32(output) != stored && !cfg!(fuzzing) {
        return Err(Error::needing(Kind::Checksum, What::ZLIB_CHECKSUM, at, stored.into()));
    }
    Ok(out.at)
}

/// Checks the header (RFC 1950, section 2.2): method 8, a window of at most 32 KiB, a check, no preset
/// dictionary.
fn header(bits: &mut Bits<'_>) -> Result<()> {
    let method = bits.take(8, What::ZLIB_HEADER);
    let both = method << 8 | bits.take(8, What::ZLIB_HEADER);
    let wrong = |kind| Err(Error::needing(kind, What::ZLIB_HEADER, 0, both.into()));
    if !both.is_multiple_of(31) || method & 15 != 8 || method >> 4 > 7 {
        return wrong(Kind::Invalid);
    }
    if both & 0x20 != 0 {
        return wrong(Kind::Unsupported);
    }
    Ok(())
}

/// Copies a stored block (RFC 1951, section 3.2.4).
fn stored(bits: &mut Bits<'_>, out: &mut Output<'_>) -> Result<()> {
    bits.align();
    let at = bits.at();
    let len = bits.take(16, What::DEFLATE_STORED);
    let inverse = bits.take(16, What::DEFLATE_STORED);
    if len ^ inverse != 0xffff {
        return Err(Error::needing(Kind::Invalid, What::DEFLATE_STORED, at, len.into()));
    }
    out.literals(bits.bytes(len as usize, What::DEFLATE_STORED)?)
}

/// Sets the lengths of the fixed codes (RFC 1951, section 3.2.6).
fn fixed(lengths: &mut [u8]) {
    for (symbol, len) in lengths.iter_mut().enumerate() {
        *len = match symbol {
            0..144 => 8,
            144..256 => 9,
            256..280 => 7,
            280..LITERALS => 8,
            _ => 5,
        };
    }
}

/// Reads the lengths of both codes, which are encoded with a third code (RFC 1951, section 3.2.7).
fn dynamic(bits: &mut Bits<'_>, lengths: &mut [u8], code: &mut Code<'_>) -> Result<()> {
    let at = bits.at();
    let wrong = |need: u32| Error::needing(Kind::Invalid, What::DEFLATE_CODE, at, need.into());
    let literals = bits.take(5, What::DEFLATE_CODE).wrapping_add(257);
    let distances = bits.take(5, What::DEFLATE_CODE).wrapping_add(1);
    let given = bits.take(4, What::DEFLATE_CODE).wrapping_add(4);
    if literals > 286 || distances > 30 {
        return Err(wrong(if literals > 286 { literals } else { distances }));
    }
    let mut small = [0; LENGTHS];
    for symbol in ORDER.iter().take(given as usize) {
        let len = bits.take(3, What::DEFLATE_CODE);
        if let Some(to) = small.get_mut(usize::from(*symbol)) {
            *to = low8(len as usize);
        }
    }
    code.build_of(Kinds::Lengths, &small, at)?;
    lengths.fill(0);
    // Both codes are one list: repeats continue from the first code into the second.
    let all = (literals as usize).wrapping_add(distances as usize);
    let (mut n, mut before) = (0usize, 0u8);
    while n < all {
        let symbol = code.symbol(bits, What::DEFLATE_CODE)?;
        let (len, times) = match symbol {
            0..16 => (low8(symbol.into()), 1),
            16 if n > 0 => (before, bits.take(2, What::DEFLATE_CODE).wrapping_add(3)),
            17 => (0, bits.take(3, What::DEFLATE_CODE).wrapping_add(3)),
            18 => (0, bits.take(7, What::DEFLATE_CODE).wrapping_add(11)),
            _ => return Err(wrong(symbol.into())),
        };
        for _ in 0..times {
            // The lengths of the distance code begin at `LITERALS`.
            let at = if n < literals as usize { n } else { n.wrapping_sub(literals as usize).wrapping_add(LITERALS) };
            match lengths.get_mut(at) {
                Some(to) if n < all => *to = len,
                _ => return Err(wrong(symbol.into())),
            }
            n = n.wrapping_add(1);
        }
        before = len;
    }
    match lengths.get(usize::from(END)) {
        Some(0) | None => Err(wrong(END.into())),
        Some(_) => Ok(()),
    }
}

/// Decodes the symbols of a block.
fn symbols<const FAST: bool>(
    bits: &mut Bits<'_>,
    out: &mut Output<'_>,
    literals: &Code<'_>,
    distances: &Code<'_>,
) -> Result<()> {
    loop {
        if FAST {
            fast(bits, out, literals, distances);
        }
        if !step(bits, out, literals, distances)? {
            return Ok(());
        }
    }
}

/// Decodes one literal or match. Returns false at the end of the block.
#[inline(never)]
fn step(bits: &mut Bits<'_>, out: &mut Output<'_>, literals: &Code<'_>, distances: &Code<'_>) -> Result<bool> {
    let at = bits.at();
    let symbol = literals.symbol(bits, What::DEFLATE_SYMBOL)?;
    if symbol < END {
        out.literals(&[low8(symbol.into())])?;
        return Ok(true);
    }
    if symbol == END {
        return Ok(false);
    }
    let Some((base, extra)) = code::length(symbol) else {
        return Err(Error::needing(Kind::Invalid, What::DEFLATE_SYMBOL, at, symbol.into()));
    };
    let len = usize::from(base).wrapping_add(bits.take(extra, What::DEFLATE_SYMBOL) as usize);
    let symbol = distances.symbol(bits, What::DEFLATE_DISTANCE)?;
    let Some((base, extra)) = code::distance(symbol) else {
        return Err(Error::needing(Kind::Invalid, What::DEFLATE_DISTANCE, at, symbol.into()));
    };
    let distance = usize::from(base).wrapping_add(bits.take(extra, What::DEFLATE_DISTANCE) as usize);
    out.repeat(distance, len, What::DEFLATE_DISTANCE, at)?;
    Ok(true)
}

/// Maximum length of a match.
const LONGEST: usize = 258;

/// Decodes symbols that are far from the ends of both buffers and whose codes are in the tables.
#[inline(always)]
fn fast(bits: &mut Bits<'_>, out: &mut Output<'_>, literals: &Code<'_>, distances: &Code<'_>) {
    let Some(literals) = literals.table::<{ 1 << LITERAL_BITS }>() else { return };
    let Some(distances) = distances.table::<{ 1 << DISTANCE_BITS }>() else { return };
    let (src, mut now) = (bits.src, bits.ready);
    let mut at = out.at;
    let bytes = &mut *out.bytes;
    let mut symbols = || {
        // 56 bits suffice for a literal of 11, then another one, or 11 + 5 for a length and 9 + 13 for a
        // distance.
        now.refill(src)?;
        if at.wrapping_add(LONGEST).wrapping_add(SLACK) > bytes.len() {
            return None;
        }
        let mut entry = Entry::look(literals, &now);
        if let Some(literal) = entry.literal() {
            *bytes.get_mut(at)? = literal;
            at = at.wrapping_add(1);
            now.skip(entry.bits());
            entry = Entry::look(literals, &now);
            if let Some(literal) = entry.literal() {
                *bytes.get_mut(at)? = literal;
                at = at.wrapping_add(1);
                now.skip(entry.bits());
                return Some(());
            }
        }
        if !entry.is_match() {
            return None;
        }
        let mut ahead = now;
        let len = entry.take(&mut ahead);
        let entry = Entry::look(distances, &ahead);
        if !entry.is_match() {
            return None;
        }
        let distance = entry.take(&mut ahead);
        fast_match(bytes, at, distance, len)?;
        at = at.wrapping_add(len);
        now = ahead;
        Some(())
    };
    while symbols().is_some() {}
    out.at = at;
    bits.ready = now;
}

/// Returns the maximum encoded length of `n` bytes.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    n.saturating_add(n / 10).saturating_add(128)
}

/// Encodes a stream. Returns its length in bytes. `level` is 0 (stored) to 10.
///
/// A `dst` of [`max_len`] bytes always suffices. A shorter `dst` works if the stream fits.
///
/// # Errors
/// [`Kind::NoRoom`] if the stream does not fit (`need`: a sufficient length).
#[cfg(feature = "alloc")]
pub fn encode(src: &[u8], dst: &mut [u8], level: u8) -> Result<usize> {
    let mut out = Put::new(dst);
    match encode::stream(src, level, &mut out) {
        Some(()) => Ok(out.at),
        None => Err(super::lz::no_room(max_len(src.len()), 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;
    use std::vec;
    use std::vec::Vec;

    fn decode_both<const FAST: bool>(src: &[u8], dst: &mut [u8]) -> Result<usize> {
        decode_by::<FAST>(src, dst, &mut Scratch::new(&mut vec![0xa5; workspace_len(FAST)]))
    }

    const DECODE: [check::Plain; 2] = [decode_both::<true>, decode_both::<false>];

    fn both(stream: &[u8], bytes: &[u8]) {
        check::both(DECODE, stream, bytes);
    }

    /// Frames the bits, given in the order of the stream, as a zlib stream of `bytes`.
    fn framed(bits: &str, bytes: &[u8]) -> Vec<u8> {
        let mut stream = vec![0x78, 0x01];
        let bits: Vec<u8> = bits.bytes().filter(|bit| *bit != b' ').map(|bit| bit - b'0').collect();
        stream.extend(bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |n, bit| n << 1 | bit)));
        stream.extend(adler32(bytes).to_be_bytes());
        stream
    }

    #[test]
    fn known_streams() {
        both(b"\x78\x01\x01\x05\0\xfa\xffhello\x06\x2c\x02\x15", b"hello");
        both(&framed("1 00 00000 0000000000000000 1111111111111111", b""), b"");
        // Fixed codes: 'a' is 0x30 + 97; length 3 is 0000001, distance 1 is 00000; the end 0000000.
        both(&framed("1 10 10010001 0000001 00000 0000000", b"aaaa"), b"aaaa");
        both(&framed("1 10 0000000", b""), b"");
        // Length 258 is symbol 285, 11000101.
        both(&framed("1 10 10010001 11000101 00000 0000000", &[b'a'; 259]), &[b'a'; 259]);
        // Two blocks: the second reaches back into the first.
        both(&framed("0 10 10010001 0000000 1 10 0000001 00000 0000000", b"aaaa"), b"aaaa");
    }

    #[test]
    fn errors_say_what_and_where() {
        let fails = |stream: &[u8], room: usize| check::refused(DECODE, stream, room);
        assert_eq!(fails(&[], 9), (Kind::Truncated, What::ZLIB_HEADER, 0, 1));
        assert_eq!(fails(&[0x78, 0x02], 9), (Kind::Invalid, What::ZLIB_HEADER, 0, 0x7802));
        assert_eq!(fails(&[0x77, 0x04], 9).0, Kind::Invalid, "method 7");
        assert_eq!(fails(&[0x88, 0x1c], 9).0, Kind::Invalid, "a window of 64 KiB");
        assert_eq!(fails(&[0x78, 0x20], 9), (Kind::Unsupported, What::ZLIB_HEADER, 0, 0x7820));
        assert_eq!(fails(&[0x78, 0x01], 9), (Kind::Truncated, What::DEFLATE_BLOCK, 2, 1));
        assert_eq!(fails(&framed("1 11", b""), 9), (Kind::Invalid, What::DEFLATE_BLOCK, 2, 3));
        let fixed = |bits: &str, room: usize| fails(&framed(bits, b"aaaa"), room);
        assert_eq!(fixed("1 10 10010001 0000001 00001 0000000", 9), (Kind::Invalid, What::DEFLATE_DISTANCE, 3, 2));
        assert_eq!(fixed("1 10 10010001 0000001 11110 0000000", 9), (Kind::Invalid, What::DEFLATE_DISTANCE, 3, 30));
        assert_eq!(fixed("1 10 11000110", 9), (Kind::Invalid, What::DEFLATE_SYMBOL, 2, 286));
        assert_eq!(fixed("1 10 10010001 0000001 00000 0000000", 3), (Kind::NoRoom, What::DESTINATION, 0, 4));
        assert_eq!(fails(b"\x78\x01\x01\x05\0\xfb\xffhello", 9), (Kind::Invalid, What::DEFLATE_STORED, 3, 5));
        assert_eq!(fails(b"\x78\x01\x01\x05\0\xfa\xffhell", 9), (Kind::Truncated, What::DEFLATE_STORED, 7, 5));
        let stream = b"\x78\x01\x01\x05\0\xfa\xffhello\x06\x2c\x02\x16";
        assert_eq!(fails(stream, 9), (Kind::Checksum, What::ZLIB_CHECKSUM, 12, 0x062c_0216));
        assert_eq!(fails(&stream[..14], 9), (Kind::Truncated, What::ZLIB_CHECKSUM, 12, 4));
        // The caller decides about bytes after a valid stream; a wrong checksum is reported first.
        assert_eq!(fails(&[&stream[..], &[0]].concat(), 9).0, Kind::Checksum);
        let stream = b"\x78\x01\x01\x05\0\xfa\xffhello\x06\x2c\x02\x15\0";
        assert_eq!(fails(stream, 9), (Kind::Trailing, What::ZLIB_CHECKSUM, 16, 1));
        let mut memory = vec![0; WORKSPACE_LEN];
        assert_eq!(decode_front(stream, &mut [0; 9], &mut Scratch::new(&mut memory)), Ok((5, 16)));
    }

    #[test]
    fn codes_that_cannot_be() {
        // Dynamic blocks; 257 + 0 literals, 1 + 0 distances, 4 + 0 lengths of codes: 16, 17, 18, 0.
        let fails = |bits: &str| {
            let e = decode_both::<true>(&framed(bits, b""), &mut [0; 9]).unwrap_err();
            assert_eq!(Err(e), decode_both::<false>(&framed(bits, b""), &mut [0; 9]));
            assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::DEFLATE_CODE), "{e}");
        };
        fails("1 01 00000 00000 0000 100 100 100 000 0000000000000000");
        fails("1 01 00000 00000 0000 100 000 000 000 0000000000000000");
        // Code 0 repeats the previous length, which does not exist; code 1 is 18.
        fails("1 01 00000 00000 0000 100 000 100 000 0 00 0000000000000000");
        // 18 twice: 138 + 119 zeros and one more, so the end of the block has no code.
        fails("1 01 00000 00000 0000 100 000 100 000 1 1111111 1 1011011 00000000000000");
        fails("1 01 00000 00000 0000 100 000 100 000 1 1111111 1 1111111 00000000000000");
        fails("1 01 01111 00000 0000 100 000 100 000 1 1111111 1 1111111 00000000000000");
        fails("1 01 00000 01111 0000 100 000 100 000 1 1111111 1 1111111 00000000000000");
    }

    #[test]
    fn too_little_scratch_says_how_much() {
        let stream = framed("1 10 10010001 0000000", b"a");
        let mut memory = vec![0; WORKSPACE_LEN];
        for room in 0..WORKSPACE_LEN {
            match decode(&stream, &mut [0; 9], &mut Scratch::new(&mut memory[..room])) {
                Ok(len) => assert_eq!(len, 1),
                Err(e) => assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::SCRATCH)),
            }
        }
        assert_eq!(decode(&stream, &mut [0; 9], &mut Scratch::new(&mut memory)), Ok(1));
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn round_trips_and_rivals() {
        for bytes in check::samples() {
            for level in [0, 1, 6, 9, 10, 200] {
                let stream = check::encoded(max_len(bytes.len()), |dst| encode(&bytes, dst, level));
                both(&stream, &bytes);
                assert_eq!(miniz_oxide::inflate::decompress_to_vec_zlib(&stream).unwrap(), bytes, "the rival reads it");
                if level != 9 && bytes.len() > 5000 {
                    break;
                }
            }
        }
        let bytes = check::text(300);
        check::every_room(&check::encoded(500, |dst| encode(&bytes, dst, 9)), max_len(300), |dst| {
            encode(&bytes, dst, 9)
        });
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn damage() {
        for (bytes, level) in [(check::text(300), 9), (check::noise(60), 9), (check::text(60), 0), (vec![5; 900], 9)] {
            let mut stream = check::encoded(max_len(bytes.len()), |dst| encode(&bytes, dst, level));
            check::damage(decode_both::<true>, decode_both::<false>, &stream);
            // Again with matching checksums, if the block still decodes.
            let end = stream.len() - 4;
            for at in 2..end {
                for bit in 0..8 {
                    stream[at] ^= 1 << bit;
                    let e = decode_both::<true>(&stream, &mut [0; 1000]);
                    assert_eq!(e, decode_both::<false>(&stream, &mut [0xff; 1000]));
                    let rival = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&stream, 1000);
                    assert_eq!(e.is_ok(), rival.is_ok(), "{e:?}");
                    stream[at] ^= 1 << bit;
                }
            }
        }
    }
}
