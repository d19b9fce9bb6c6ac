//! LZ4 blocks: raw, without a preceding size and without frames (DataSeries section 4).
//!
//! A block is a series of sequences: a token with two lengths, literals, a distance of two bytes. The last
//! sequence ends after its literals.
//!
//! ```
//! use pilaster::codec::HashTable;
//! use pilaster::unstable::codec::lz4;
//!
//! let mut table = HashTable::<256>::new();
//! let mut block = [0; lz4::max_len(40)];
//! let len = lz4::encode(&[7; 40], &mut block, &mut table)?;
//! assert_eq!(block[..len], [0x1f, 7, 1, 0, 15, 0x50, 7, 7, 7, 7, 7]);
//!
//! let mut bytes = [0; 40];
//! assert_eq!(lz4::decode(&block[..len], &mut bytes)?, 40);
//! assert_eq!(bytes, [7; 40]);
//! # Ok::<(), pilaster::Error>(())
//! ```

// See `lz` for the effect of the inline attributes.

#[cfg(feature = "alloc")]
mod hc;

#[cfg(feature = "alloc")]
pub use hc::encode_hc;

use super::greedy::{self, HashTable, Put, Wire};
use super::lz::{Output, SLACK, chunk, fast_match, no_room, put, rest_of};
use crate::bytes::{FAST, LittleEndian, Reader, len32, low8};
use crate::error::{Result, What};

/// Minimum length of a match.
const MIN: usize = 4;
/// The last five bytes are literals, and the last match begins at least twelve bytes before the end, because
/// fast decoders of other libraries rely on that.
const LAST_END: usize = 5;
const LAST_START: usize = 12;

/// Decodes a block. Returns the number of bytes written.
///
/// `dst` may be longer than the output; the bytes after the output are then arbitrary.
///
/// # Errors
/// [`Kind::Truncated`](crate::error::Kind::Truncated) if the block ends early, `Invalid` for a distance
/// beyond the output so far, `NoRoom` if the output is longer than `dst` (`need`: a lower bound of its
/// length).
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
        if !step(&mut r, &mut out)? {
            return Ok(out.at);
        }
    }
}

/// Decodes one sequence. Returns false at the end of the block.
#[cfg_attr(not(pilaster_small), inline(never))]
fn step(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>) -> Result<bool> {
    let token = r.u8(What::LZ4_TOKEN)?;
    let literals = length(r, token >> 4)?;
    out.take(r, literals, What::LZ4_LITERALS)?;
    if r.rest().is_empty() {
        return Ok(false);
    }
    let at = r.at();
    let distance = r.u16(What::LZ4_DISTANCE)?;
    let len = length(r, token & 15)?.saturating_add(MIN);
    out.repeat(distance.into(), len, What::LZ4_DISTANCE, at)?;
    Ok(true)
}

/// Reads a length whose first four bits are known. After 15 follow extension bytes, up to the first below
/// 255.
fn length(r: &mut Reader<'_, LittleEndian>, nibble: u8) -> Result<usize> {
    let mut len = usize::from(nibble);
    if nibble == 15 {
        loop {
            let more = r.u8(What::LZ4_LENGTH)?;
            len = len.saturating_add(more.into());
            if more != 255 {
                break;
            }
        }
    }
    Ok(len)
}

/// Returns the byte that the output consists of, `len` times, if the block has the form that encoders give it then: a match
/// between literals.
#[cfg(feature = "bcolz")]
pub(crate) fn constant(src: &[u8], len: usize) -> Option<u8> {
    let mut r = Reader::new(src);
    let token = r.u8(What::LZ4_TOKEN).ok()?;
    let literals = length(&mut r, token >> 4).ok()?;
    let first = r.take(literals, What::LZ4_LITERALS).ok()?;
    let distance = usize::from(r.u16(What::LZ4_DISTANCE).ok()?);
    let run = length(&mut r, token & 15).ok()?.saturating_add(MIN);
    let token = r.u8(What::LZ4_TOKEN).ok()?;
    let last = length(&mut r, token >> 4).ok()?;
    let whole = last == r.rest().len() && (1..=first.len()).contains(&distance);
    super::lz::constant((first, run, r.rest()), len).filter(|_| whole)
}

/// Decodes sequences far from the ends of both buffers, with at most one extension byte per length.
#[inline(always)]
fn fast(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>) {
    let mut src = r.rest();
    let Some((bytes, mut position)) = out.fast() else { return };
    let mut sequence = || {
        // Token, 14 literals, distance, one byte of length; literals are copied by 16.
        let mut window = src.first_chunk::<20>()?;
        let (mut rest, mut to) = (src, position as usize);
        if to.wrapping_add(SLACK) > bytes.len() {
            return None;
        }
        let token = usize::from(window[0]);
        let mut literals = token >> 4;
        if literals < 15 {
            put::<16>(bytes, to, window.get(1..)?)?;
        } else {
            let run = long_run(src, bytes, to)?;
            // Continues as if a token without literals preceded the distance.
            (rest, to, literals) = (src.get(run.wrapping_add(1)..)?, to.wrapping_add(run), 0);
            window = rest.first_chunk()?;
        }
        let behind = window.get(literals.wrapping_add(1)..)?;
        let distance = usize::from(u16::from_le_bytes(*behind.first_chunk()?));
        let mut len = (token & 15).wrapping_add(MIN);
        // The next token depends on this sum only.
        rest = rest.get(3..)?.get(literals..)?;
        if token & 15 == 15 {
            let more = *behind.get(2)?;
            if more == 255 {
                return None;
            }
            len = len.wrapping_add(more.into());
            rest = rest.get(1..)?;
        }
        to = to.wrapping_add(literals);
        fast_match(bytes, to, distance, len)?;
        (src, position) = (rest, len32(to.wrapping_add(len)));
        Some(())
    };
    while sequence().is_some() {}
    out.at = position as usize;
    *r = rest_of(r, src);
}

/// Copies the 15 or more literals of the first sequence of `src`. Returns their number.
#[inline(always)]
fn long_run(src: &[u8], bytes: &mut [u8], at: usize) -> Option<usize> {
    let [_, more, from @ ..] = src else { return None };
    if *more == 255 {
        return None;
    }
    let run = usize::from(*more).wrapping_add(15);
    // Most runs are short: one copy of fixed size.
    put::<SHORT>(bytes, at, from)?;
    if run > SHORT {
        bytes.get_mut(at..)?.get_mut(..run)?.copy_from_slice(from.get(..run)?);
    }
    Some(run)
}

/// Number of literals in one copy of fixed size.
const SHORT: usize = 64;

/// Returns the maximum encoded length of `n` bytes.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    n.saturating_add(n / 255).saturating_add(16)
}

/// Encodes a block. Returns its length in bytes.
///
/// A `dst` of [`max_len`] bytes always suffices. A shorter `dst` works if the block fits.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the block does not fit (`need`: a sufficient length).
pub fn encode<const N: usize>(src: &[u8], dst: &mut [u8], table: &mut HashTable<N>) -> Result<usize> {
    encode_fast(src, dst, table, 1)
}

/// Like [`encode`], but while no match is found, only every `acceleration`-th position is tried: faster, with
/// larger blocks. An acceleration of 1 equals [`encode`]; 0 counts as 1.
///
/// # Errors
/// Errors of [`encode`].
#[inline]
pub fn encode_fast<const N: usize>(
    src: &[u8],
    dst: &mut [u8],
    table: &mut HashTable<N>,
    acceleration: u8,
) -> Result<usize> {
    let mut wire = Block(Put::new(dst));
    match greedy::encode_by(src, table, &mut wire, acceleration.max(1).into()) {
        Some(()) => Ok(wire.0.at),
        None => Err(no_room(max_len(src.len()), 0)),
    }
}

struct Block<'o>(Put<'o>);

impl Wire for Block<'_> {
    const WINDOW: usize = 65_535;
    const LAST_START: usize = LAST_START;
    const LAST_END: usize = LAST_END;

    #[inline]
    fn sequence(&mut self, src: &[u8], literals: usize, at: usize, distance: usize, len: usize) -> Option<()> {
        let (run, len) = (at.wrapping_sub(literals), len.wrapping_sub(MIN));
        if FAST && run < 15 && len < 15 && self.short(src, literals, run, distance, len).is_some() {
            return Some(());
        }
        self.0.byte(low8(run.min(15) << 4 | len.min(15)))?;
        self.more(run)?;
        self.0.slice(src, literals, at)?;
        self.0.array([low8(distance), low8(distance >> 8)])?;
        self.more(len)
    }

    fn end(&mut self, src: &[u8], literals: usize) -> Option<()> {
        let run = src.len().wrapping_sub(literals);
        self.0.byte(low8(run.min(15) << 4))?;
        self.more(run)?;
        self.0.exactly(src.get(literals..)?)
    }
}

impl Block<'_> {
    /// Writes a sequence of at most 14 literals, far from the ends of both buffers: three stores in one
    /// window.
    #[inline(always)]
    fn short(&mut self, src: &[u8], literals: usize, run: usize, distance: usize, len: usize) -> Option<()> {
        let from = chunk::<16>(src, literals)?;
        let window = self.0.window::<20>()?;
        window[0] = low8(run << 4 | len);
        *window.get_mut(1..)?.first_chunk_mut()? = *from;
        *window.get_mut(run.wrapping_add(1)..)?.first_chunk_mut()? = [low8(distance), low8(distance >> 8)];
        self.0.at = self.0.at.wrapping_add(run).wrapping_add(3);
        Some(())
    }

    /// Writes the extension bytes of a length.
    #[inline]
    fn more(&mut self, len: usize) -> Option<()> {
        let Some(mut rest) = len.checked_sub(15) else { return Some(()) };
        while rest >= 255 {
            self.0.byte(255)?;
            rest = rest.wrapping_sub(255);
        }
        self.0.byte(low8(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;
    use crate::error::Kind;
    use std::vec;
    use std::vec::Vec;

    const DECODE: [check::Plain; 2] = [decode_by::<true>, decode_by::<false>];

    fn encoded(src: &[u8]) -> Vec<u8> {
        check::encoded(max_len(src.len()), |dst| encode(src, dst, &mut HashTable::<4096>::new()))
    }

    #[test]
    fn known_blocks() {
        let table: [(&[u8], &[u8]); 4] = [
            (&[0], b""),
            (b"\x50hello", b"hello"),
            // One literal, then 4 + 1 bytes at distance 1; then a last token.
            (&[0x11, b'a', 1, 0, 0], b"aaaaaa"),
            // The distance of a match may be as long as the output.
            (&[0x30, 1, 2, 3, 3, 0, 0x10, 9], &[1, 2, 3, 1, 2, 3, 1, 9]),
        ];
        for (block, bytes) in table {
            check::both(DECODE, block, bytes);
        }
    }

    #[test]
    fn long_runs_of_literals() {
        // No sample file has a run of 270 literals (section 4), so these blocks are built here.
        for n in [14usize, 15, 16, 269, 270, 271, 524, 525, 526, 1000] {
            let bytes: Vec<u8> = (0..n).map(|i| (i * 7) as u8).collect();
            let mut block = vec![(n.min(15) as u8) << 4];
            if n >= 15 {
                block.extend(vec![255; (n - 15) / 255]);
                block.push(((n - 15) % 255) as u8);
            }
            block.extend(&bytes);
            check::both(DECODE, &block, &bytes);
            assert_eq!(lz4_flex::block::decompress(&block, n).unwrap(), bytes);
        }
    }

    #[cfg(feature = "bcolz")]
    #[test]
    fn blocks_of_one_byte_are_found() {
        check::constants(constant, decode, encoded);
        // The last byte differs; a distance before the start; bytes after the last literals; one byte less and more.
        let block = [0x11, 5, 1, 0, 0x20, 5, 5];
        assert_eq!(constant(&block, 8), Some(5));
        for (at, byte) in [(6, 4), (2, 2), (2, 0), (4, 0x10), (0, 0x10), (0, 0x12)] {
            let mut block = block;
            block[at] = byte;
            assert_eq!(constant(&block, 8), None, "{at}");
        }
    }

    #[test]
    fn errors_say_what_and_where() {
        let fails = |block: &[u8], room: usize| check::refused(DECODE, block, room);
        assert_eq!(fails(&[], 9), (Kind::Truncated, What::LZ4_TOKEN, 0, 1));
        assert_eq!(fails(&[0x20, 1], 9), (Kind::Truncated, What::LZ4_LITERALS, 1, 2));
        assert_eq!(fails(&[0xf0, 255], 9), (Kind::Truncated, What::LZ4_LENGTH, 2, 1));
        assert_eq!(fails(&[0x10, 1, 1], 9), (Kind::Truncated, What::LZ4_DISTANCE, 2, 2));
        assert_eq!(fails(&[0x10, 1, 1, 0], 9), (Kind::Truncated, What::LZ4_TOKEN, 4, 1), "ends with a match");
        assert_eq!(fails(&[0x10, 1, 2, 0, 0], 9), (Kind::Invalid, What::LZ4_DISTANCE, 2, 2));
        assert_eq!(fails(&[0x10, 1, 0, 0, 0], 9), (Kind::Invalid, What::LZ4_DISTANCE, 2, 0));
        assert_eq!(fails(&[0x30, 1, 2, 3], 2), (Kind::NoRoom, What::DESTINATION, 0, 3));
        assert_eq!(fails(&[0x11, 1, 1, 0, 0], 5), (Kind::NoRoom, What::DESTINATION, 0, 6));
    }

    #[test]
    fn a_used_table_changes_nothing() {
        let bytes = check::text(3000);
        let mut old = HashTable::<256>::new();
        old.slots_for_test(0x1234);
        let [used, new] =
            [old, HashTable::new()].map(|mut table| check::encoded(9999, |dst| encode(&bytes, dst, &mut table)));
        assert_eq!(used, new);
        check::decodes(decode, &used, &bytes);
    }

    #[test]
    fn every_acceleration() {
        for bytes in check::samples() {
            let plain = encoded(&bytes);
            for acceleration in [0, 1, 2, 5, 9, 255] {
                let block = check::encoded(max_len(bytes.len()), |dst| {
                    encode_fast(&bytes, dst, &mut HashTable::<4096>::new(), acceleration)
                });
                check::decodes(decode, &block, &bytes);
                if acceleration < 2 {
                    assert!(block == plain, "{acceleration} is none");
                }
            }
        }
        let bytes = check::text(3000);
        let [slow, fast] = [1, 9].map(|acceleration| {
            check::encoded(max_len(3000), |dst| encode_fast(&bytes, dst, &mut HashTable::<4096>::new(), acceleration))
                .len()
        });
        assert!(slow < fast, "{slow} {fast}");
    }
}
