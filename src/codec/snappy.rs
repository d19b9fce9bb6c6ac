//! Snappy blocks: the raw form, which begins with the length of the output, not the framing format
//! (DataSeries section 4).
//!
//! The low two bits of a tag are its kind: literals, or a match with a distance of 11, 16 or 32 bits.
//!
//! ```
//! use pilaster::codec::HashTable;
//! use pilaster::unstable::codec::snappy;
//!
//! let mut table = HashTable::<256>::new();
//! let mut block = [0; snappy::max_len(20)];
//! let len = snappy::encode(&[7; 20], &mut block, &mut table)?;
//! assert_eq!(block[..len], [20, 0, 7, 18 << 2 | 2, 1, 0]);
//!
//! let mut bytes = [0; 20];
//! assert_eq!(snappy::decode(&block[..len], &mut bytes)?, 20);
//! assert_eq!(bytes, [7; 20]);
//! # Ok::<(), pilaster::Error>(())
//! ```

// A log is decoded at 0.87 of the speed without the inline attributes of this file (bench `codec`).

use super::greedy::{self, HashTable, Put, Wire};
use super::lz::{Output, SLACK, fast_match, no_room, put, rest_of};
use crate::bytes::{FAST, LittleEndian, Reader, little, low8, saturated};
use crate::error::{Error, Kind, Result, What};

/// Maximum length of a match of one tag.
const LONGEST: usize = 64;

/// Reads the length of the output that the block states.
fn stated_len(r: &mut Reader<'_, LittleEndian>) -> Result<u32> {
    let (mut len, mut shift) = (0u32, 0u32);
    while shift < u32::BITS {
        let byte = r.u8(What::SNAPPY_LENGTH)?;
        let bits = u32::from(byte & 0x7f);
        if bits.leading_zeros() < shift {
            break;
        }
        len |= bits << shift;
        if byte < 0x80 {
            return Ok(len);
        }
        shift = shift.wrapping_add(7);
    }
    Err(Error::needing(Kind::Invalid, What::SNAPPY_LENGTH, 0, len.into()))
}

/// Decodes a block. Returns the number of bytes written, which is the length that the block states.
///
/// `dst` may be longer than the output; its bytes after the output stay as they are.
///
/// # Errors
/// [`Kind::NoRoom`] if the stated length exceeds `dst.len()` (`need`: the stated length), [`Kind::Truncated`]
/// if the block ends before that length, [`Kind::Trailing`] if bytes follow the last tag, [`Kind::Invalid`]
/// for a distance beyond the output so far, or an output beyond the stated length.
pub fn decode(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    decode_by::<FAST>(src, dst)
}

pub(super) fn decode_by<const FAST: bool>(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let mut r = Reader::new(src);
    let stated = stated_len(&mut r)?;
    let Some(dst) = usize::try_from(stated).ok().and_then(|len| dst.get_mut(..len)) else {
        return Err(no_room(0, stated as usize));
    };
    let mut out = Output::new(dst);
    while out.at < out.bytes.len() {
        if FAST {
            fast(&mut r, &mut out);
        }
        step(&mut r, &mut out).map_err(|e| match e.kind() {
            // The output is limited to the stated length.
            Kind::NoRoom => Error::needing(Kind::Invalid, What::SNAPPY_LENGTH, 0, stated.into()),
            _ => e,
        })?;
    }
    r.end(What::SNAPPY_TAG)?;
    Ok(out.at)
}

/// Decodes one tag.
#[inline(never)]
fn step(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>) -> Result<()> {
    let tag = r.u8(What::SNAPPY_TAG)?;
    let high = usize::from(tag >> 2);
    let at = r.at();
    let (distance, len) = match tag & 3 {
        0 => {
            let len = match high {
                60..=63 => number(r, high.wrapping_sub(59))?,
                _ => high,
            };
            return out.take(r, len.saturating_add(1), What::SNAPPY_LITERALS);
        }
        1 => near(tag, r.u8(What::SNAPPY_DISTANCE)?),
        2 => (r.u16(What::SNAPPY_DISTANCE)?.into(), high.wrapping_add(1)),
        // No output is as long as a distance that does not fit `usize`.
        _ => (saturated(r.u32(What::SNAPPY_DISTANCE)?.into()), high.wrapping_add(1)),
    };
    out.repeat(distance, len, What::SNAPPY_DISTANCE, at)
}

/// Returns distance and length of a match with a distance of 11 bits.
#[inline(always)]
fn near(tag: u8, low: u8) -> (usize, usize) {
    (usize::from(tag >> 5) << 8 | usize::from(low), usize::from(tag >> 2 & 7).wrapping_add(4))
}

/// Reads a little-endian number of one to four bytes.
fn number(r: &mut Reader<'_, LittleEndian>, bytes: usize) -> Result<usize> {
    Ok(saturated(little(r.take(bytes, What::SNAPPY_LITERALS)?)))
}

/// Decodes tags far from the ends of both buffers, except long literals and distances of 32 bits.
#[inline(always)]
fn fast(r: &mut Reader<'_, LittleEndian>, out: &mut Output<'_>) {
    let mut src = r.rest();
    let mut at = out.at;
    let bytes = &mut *out.bytes;
    let mut tags = || {
        // A tag and 60 literals, copied by 16.
        let mut window = src.first_chunk::<65>()?;
        if at.wrapping_add(SLACK) > bytes.len() {
            return None;
        }
        let mut tag = usize::from(window[0]);
        if tag & 3 == 0 {
            let high = tag >> 2;
            if high >= 60 {
                return None;
            }
            let literals = window.get(1..)?;
            put::<16>(bytes, at, literals)?;
            if high >= 16 {
                put::<16>(bytes, at.wrapping_add(16), literals.get(16..)?)?;
                if high >= 32 {
                    put::<16>(bytes, at.wrapping_add(32), literals.get(32..)?)?;
                    put::<16>(bytes, at.wrapping_add(48), literals.get(48..)?)?;
                }
            }
            at = at.wrapping_add(high).wrapping_add(1);
            src = src.get(high.wrapping_add(2)..)?;
            // Usually a match follows literals.
            window = src.first_chunk::<65>()?;
            tag = usize::from(window[0]);
            if at.wrapping_add(SLACK) > bytes.len() {
                return None;
            }
        }
        if tag & 3 == 0 {
            return Some(());
        }
        if tag & 3 == 3 {
            return None;
        }
        // The kind of match is unpredictable, so there is no branch on it.
        let next = usize::from(u16::from_le_bytes([window[1], window[2]]));
        let short = tag & 3 == 1;
        let (near, near_len) = near(window[0], window[1]);
        let distance = if short { near } else { next };
        let len = if short { near_len } else { (tag >> 2).wrapping_add(1) };
        fast_match(bytes, at, distance, len)?;
        at = at.wrapping_add(len);
        src = src.get(2usize.wrapping_add((!short).into())..)?;
        Some(())
    };
    while tags().is_some() {}
    out.at = at;
    *r = rest_of(r, src);
}

/// Returns the maximum encoded length of `n` bytes.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    n.saturating_add(n / 60).saturating_add(10)
}

/// Encodes a block. Returns its length in bytes.
///
/// A `dst` of [`max_len`] bytes always suffices. A shorter `dst` works if the block fits.
///
/// # Errors
/// [`Kind::NoRoom`] if the block does not fit (`need`: a sufficient length), [`Kind::Overflow`] for an input
/// of 4 GiB or more.
pub fn encode<const N: usize>(src: &[u8], dst: &mut [u8], table: &mut HashTable<N>) -> Result<usize> {
    if u32::try_from(src.len()).is_err() {
        return Err(Error::needing(Kind::Overflow, What::SNAPPY_LENGTH, 0, src.len() as u64));
    }
    let mut wire = Block(Put::new(dst));
    match wire.stated_len(src.len()).and_then(|()| greedy::encode(src, table, &mut wire)) {
        Some(()) => Ok(wire.0.at),
        None => Err(no_room(max_len(src.len()), 0)),
    }
}

struct Block<'o>(Put<'o>);

impl Wire for Block<'_> {
    const WINDOW: usize = 65_535;
    const LAST_START: usize = 8;
    const LAST_END: usize = 0;

    #[inline]
    fn sequence(&mut self, src: &[u8], literals: usize, at: usize, distance: usize, mut len: usize) -> Option<()> {
        self.run(src, literals, at)?;
        while len > 0 {
            let n = len.min(LONGEST);
            if distance < 1 << 11 && (4..12).contains(&n) {
                self.0.array([low8(distance >> 8 << 5 | n.wrapping_sub(4) << 2 | 1), low8(distance)])?;
            } else {
                self.0.array([low8(n.wrapping_sub(1) << 2 | 2), low8(distance), low8(distance >> 8)])?;
            }
            len = len.wrapping_sub(n);
        }
        Some(())
    }

    fn end(&mut self, src: &[u8], literals: usize) -> Option<()> {
        self.run(src, literals, src.len())
    }
}

impl Block<'_> {
    fn stated_len(&mut self, mut len: usize) -> Option<()> {
        while len >= 0x80 {
            self.0.byte(low8(len | 0x80))?;
            len >>= 7;
        }
        self.0.byte(low8(len))
    }

    #[inline]
    fn run(&mut self, src: &[u8], from: usize, to: usize) -> Option<()> {
        if from == to {
            return Some(());
        }
        let n = to.wrapping_sub(from).wrapping_sub(1);
        match n {
            0..60 => self.0.byte(low8(n << 2))?,
            60..0x100 => self.0.array([60 << 2, low8(n)])?,
            0x100..0x1_0000 => self.0.array([61 << 2, low8(n), low8(n >> 8)])?,
            0x1_0000..0x100_0000 => self.0.array([62 << 2, low8(n), low8(n >> 8), low8(n >> 16)])?,
            _ => self.0.array([63 << 2, low8(n), low8(n >> 8), low8(n >> 16), low8(n >> 24)])?,
        }
        self.0.slice(src, from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;
    use std::vec;
    use std::vec::Vec;

    const DECODE: [check::Plain; 2] = [decode_by::<true>, decode_by::<false>];

    fn both(block: &[u8], bytes: &[u8]) {
        check::both(DECODE, block, bytes);
    }

    #[test]
    fn known_blocks() {
        both(&[0], b"");
        both(b"\x05\x10hello", b"hello");
        // 11 bits, 16 bits, 32 bits; no sample file has the last (section 4).
        both(&[7, 8, 1, 2, 3, 1, 3], &[1, 2, 3, 1, 2, 3, 1]);
        both(&[4, 8, 1, 2, 3, 2, 2, 0], &[1, 2, 3, 2]);
        both(&[9, 8, 1, 2, 3, 5 << 2 | 3, 3, 0, 0, 0], &[1, 2, 3, 1, 2, 3, 1, 2, 3]);
    }

    #[test]
    fn long_literals_in_every_form() {
        for n in [59usize, 60, 61, 256, 257, 258, 65_536, 65_537] {
            let bytes = check::noise(n);
            for form in 0..4usize {
                let most = [60, 256, 65_536, 1 << 24][form];
                if n > most {
                    continue;
                }
                let mut block = Vec::new();
                let mut stated = n;
                while stated >= 0x80 {
                    block.push(stated as u8 | 0x80);
                    stated >>= 7;
                }
                block.push(stated as u8);
                block.push(if form == 0 { (n as u8 - 1) << 2 } else { (59 + form as u8) << 2 });
                block.extend(&(n as u32 - 1).to_le_bytes()[..form]);
                block.extend(&bytes);
                both(&block, &bytes);
                assert_eq!(snap::raw::Decoder::new().decompress_vec(&block).unwrap(), bytes);
            }
        }
    }

    #[test]
    fn a_distance_of_32_bits() {
        let bytes = check::noise(70_000);
        let mut block = vec![0xf4, 0xa2, 0x04, 62 << 2, 0x6f, 0x11, 0x01];
        block.extend(&bytes);
        block.extend([3 << 2 | 3, 0x70, 0x11, 0x01, 0]);
        let expected = [&bytes[..], &bytes[..4]].concat();
        both(&block, &expected);
        assert_eq!(snap::raw::Decoder::new().decompress_vec(&block).unwrap(), expected);
    }

    #[test]
    fn errors_say_what_and_where() {
        let fails = |block: &[u8], room: usize| check::refused(DECODE, block, room);
        assert_eq!(fails(&[], 9), (Kind::Truncated, What::SNAPPY_LENGTH, 0, 1));
        assert_eq!(fails(&[0x80], 9), (Kind::Truncated, What::SNAPPY_LENGTH, 1, 1));
        assert_eq!(fails(&[0xff, 0xff, 0xff, 0xff, 0x1f], 9).0, Kind::Invalid);
        assert_eq!(fails(&[0xff, 0xff, 0xff, 0xff, 0xff, 0], 9).0, Kind::Invalid);
        assert_eq!(fails(&[0xff, 0xff, 0xff, 0xff, 0x0f], 9), (Kind::NoRoom, What::DESTINATION, 0, u32::MAX));
        assert_eq!(fails(&[10, 0, 1], 9), (Kind::NoRoom, What::DESTINATION, 0, 10));
        assert_eq!(fails(&[2, 0, 1], 9), (Kind::Truncated, What::SNAPPY_TAG, 3, 1));
        assert_eq!(fails(&[2, 4, 1], 9), (Kind::Truncated, What::SNAPPY_LITERALS, 2, 2));
        assert_eq!(fails(&[2, 60 << 2], 9), (Kind::Truncated, What::SNAPPY_LITERALS, 2, 1));
        assert_eq!(fails(&[1, 0, 1, 0], 9), (Kind::Trailing, What::SNAPPY_TAG, 3, 1));
        assert_eq!(fails(&[5, 0, 1, 1, 2], 9), (Kind::Invalid, What::SNAPPY_DISTANCE, 4, 2));
        assert_eq!(fails(&[5, 0, 1, 1, 0], 9), (Kind::Invalid, What::SNAPPY_DISTANCE, 4, 0));
        assert_eq!(fails(&[4, 0, 1, 1, 1], 9), (Kind::Invalid, What::SNAPPY_LENGTH, 0, 4), "beyond its length");
        assert_eq!(fails(&[1, 4, 1, 2], 9), (Kind::Invalid, What::SNAPPY_LENGTH, 0, 1));
    }
}
