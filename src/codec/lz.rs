//! Common parts of the LZ decoders: the output, and copies of earlier output.
//!
//! Every decoder has a *step*, which decodes one instruction exactly. Small targets have only the step;
//! 64-bit hosts have a *fast* loop before it. The fast loop decodes simple instructions far from the ends of
//! both buffers with copies of fixed size, which may write past the end of the output so far. All other
//! instructions, in particular invalid ones, are left to the step. So both variants have equal results.

// LZ4 decodes a log at 0.45 of the speed without the inline attributes of this file and of `lz4` (bench `codec`).

use crate::bytes::{FAST, LittleEndian, Reader};
use crate::error::{Error, Kind, Result, What};

/// The output so far, and the free space after it.
pub(super) struct Output<'o> {
    /// The whole destination. Its contents starting at `at` are arbitrary.
    pub bytes: &'o mut [u8],
    /// Length of the output so far.
    pub at: usize,
}

impl<'o> Output<'o> {
    pub(super) const fn new(bytes: &'o mut [u8]) -> Self {
        Output { bytes, at: 0 }
    }

    /// Returns the bytes within [`REACH`] and the position for a fast loop: with 32 bits, one comparison
    /// tells whether a range is inside. The bytes after them are left to the step.
    #[inline(always)]
    pub(super) fn fast(&mut self) -> Option<(&mut [u8], u32)> {
        let reach = self.bytes.len().min(REACH);
        Some((self.bytes.get_mut(..reach)?, u32::try_from(self.at).ok()?))
    }

    /// Appends bytes of the input.
    #[inline]
    pub(super) fn literals(&mut self, from: &[u8]) -> Result<()> {
        match self.bytes.get_mut(self.at..).and_then(|room| room.get_mut(..from.len())) {
            Some(to) => {
                to.copy_from_slice(from);
                self.at = self.at.wrapping_add(from.len());
                Ok(())
            }
            None => Err(no_room(self.at, from.len())),
        }
    }

    /// Appends the next `len` bytes of the input.
    #[cfg_attr(not(pilaster_small), inline)]
    pub(super) fn take(&mut self, r: &mut Reader<'_, LittleEndian>, len: usize, what: What) -> Result<()> {
        self.literals(r.take(len, what)?)
    }

    /// Appends `len` bytes from `distance` back. `what` is the field of the distance, which was read at `at`.
    #[inline]
    pub(super) fn repeat(&mut self, distance: usize, len: usize, what: What, at: u64) -> Result<()> {
        if distance.wrapping_sub(1) >= self.at {
            return Err(Error::needing(Kind::Invalid, what, at, distance as u64));
        }
        match self.at.checked_add(len) {
            Some(end) if end <= self.bytes.len() => {
                repeat(self.bytes, self.at, distance, len);
                self.at = end;
                Ok(())
            }
            _ => Err(no_room(self.at, len)),
        }
    }
}

/// Returns the byte of an output that consists of literals, a match that repeats some of them, and literals, if all of its `len` bytes
/// are equal.
#[cfg(feature = "bcolz")]
pub(super) fn constant((first, run, last): (&[u8], usize, &[u8]), len: usize) -> Option<u8> {
    let byte = *first.first()?;
    let sum = first.len().saturating_add(run).saturating_add(last.len());
    (sum == len && first.iter().chain(last).all(|other| *other == byte)).then_some(byte)
}

/// Creates the error of an output that is longer than the destination: it has at least `at + more` bytes.
#[cold]
pub(super) fn no_room(at: usize, more: usize) -> Error {
    Error::needing(Kind::NoRoom, What::DESTINATION, 0, (at as u64).saturating_add(more as u64))
}

/// Repeats `len` bytes from `distance` before `at`. The caller has checked both numbers.
///
/// If source and target overlap, the pattern doubles with each copy, so that a long run takes a few large
/// copies. Small targets use the byte loop.
#[inline(never)]
pub(super) fn repeat(bytes: &mut [u8], at: usize, distance: usize, len: usize) {
    let Some(first) = at.checked_sub(distance) else { return };
    let Some(room) = at.checked_add(len).and_then(|end| bytes.get_mut(first..end)) else { return };
    if !FAST {
        let mut from = 0usize;
        for to in distance..room.len() {
            let byte = room.get(from).copied().unwrap_or_default();
            if let Some(to) = room.get_mut(to) {
                *to = byte;
            }
            from = from.wrapping_add(1);
        }
        return;
    }
    if distance == 1 {
        let byte = room.first().copied().unwrap_or_default();
        room.fill(byte);
        return;
    }
    let mut have = distance;
    while let Some((pattern, rest)) = room.split_at_mut_checked(have) {
        let n = have.min(rest.len());
        let (Some(to), Some(from)) = (rest.get_mut(..n), pattern.get(..n)) else { return };
        if n == 0 {
            return;
        }
        to.copy_from_slice(from);
        have = have.wrapping_add(n);
    }
}

/// Number of free bytes that the fast loops need after `Output::at`: the maximum that [`wild`] writes after
/// the longest literals of an instruction.
pub(super) const SLACK: usize = 96;
/// Limit of the positions of a fast loop: the sum of a 32-bit position and a length never overflows.
pub(super) const REACH: usize = 1 << 31;
/// Maximum length of a match for [`wild`].
pub(super) const WILD: usize = 32;

/// Repeats `len <= WILD` bytes from `distance` back with copies of fixed size, which write up to `WILD`
/// bytes. `None`, with nothing written, if the match is invalid.
#[inline(always)]
pub(super) fn wild(bytes: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    let from = at.checked_sub(distance)?;
    if distance >= 16 {
        again::<16>(bytes, from, at)?;
        if len > 16 {
            again::<16>(bytes, from.wrapping_add(16), at.wrapping_add(16))?;
        }
        return Some(());
    }
    if distance < 8 {
        return pattern(bytes, at, distance, len);
    }
    if len <= 8 {
        return within(bytes, from, at, len);
    }
    for piece in [0usize, 8, 16, 24] {
        if piece < len {
            again::<8>(bytes, from.wrapping_add(piece), at.wrapping_add(piece))?;
        }
    }
    Some(())
}

/// Repeats `len <= 8` bytes from 8 to 15 back, without loading any byte after them. Rows of numbers repeat
/// parts of the row before, and a load of bytes that two stores have just written waits for both.
#[inline(always)]
fn within(bytes: &mut [u8], from: usize, at: usize, len: usize) -> Option<()> {
    let last = len.max(4).wrapping_sub(4);
    let [low, high] = [from, from.wrapping_add(last)]
        .map(|at| Some(u64::from(u32::from_le_bytes(*bytes.get(at..at.wrapping_add(4))?.first_chunk()?))));
    let both = low? | high? << (last.wrapping_mul(8) & 63);
    put::<8>(bytes, at, &both.to_le_bytes())
}

/// Repeats `len <= WILD` bytes from less than 8 back: writes a word of the pattern as often as required.
#[inline(always)]
fn pattern(bytes: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    let (times, step) = *PATTERNS.get(distance)?;
    if step == 0 {
        return None;
    }
    let word = u64::from_le_bytes(*bytes.get(at.checked_sub(distance)?..)?.first_chunk()?);
    let bits = distance.wrapping_mul(8) & 63;
    let word = (word & (1u64 << bits).wrapping_sub(1)).wrapping_mul(times).to_le_bytes();
    let (mut to, end) = (at, at.wrapping_add(len));
    while to < end {
        put::<8>(bytes, to, &word)?;
        to = to.wrapping_add(step);
    }
    Some(())
}

/// For each distance from 1 to 7: the factor that repeats the pattern throughout a word, and the number of
/// bytes that the complete patterns in the word take.
const PATTERNS: [(u64, usize); 8] = [
    (0, 0),
    (0x0101_0101_0101_0101, 8),
    (0x0001_0001_0001_0001, 8),
    (0x0001_0000_0100_0001, 6),
    (0x0000_0001_0000_0001, 8),
    (0x0000_0100_0000_0001, 5),
    (0x0001_0000_0000_0001, 6),
    (0x0100_0000_0000_0001, 7),
];

/// Repeats `len` bytes from less than 16 back with copies of fixed size, which write up to 7 bytes ahead. `None`, with nothing written,
/// if the match is invalid.
#[cfg(feature = "zstd")]
#[inline(always)]
pub(super) fn spread(bytes: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    if distance < 8 {
        return pattern(bytes, at, distance, len);
    }
    let from = at.checked_sub(distance)?;
    let mut done = 0usize;
    while done < len {
        again::<8>(bytes, from.wrapping_add(done), at.wrapping_add(done))?;
        done = done.wrapping_add(8);
    }
    Some(())
}

/// Writes the match of an instruction in a fast loop: with [`wild`] if possible, else with [`repeat`].
/// `None`, with nothing written, if the match is invalid or does not fit.
#[inline(always)]
pub(super) fn fast_match(bytes: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    if len <= WILD && wild(bytes, at, distance, len).is_some() {
        return Some(());
    }
    if distance.wrapping_sub(1) >= at || len > bytes.len().wrapping_sub(at) {
        return None;
    }
    repeat(bytes, at, distance, len);
    Some(())
}

/// Copies `N` bytes of the output so far to its end at `to`, with one load and one store.
#[inline(always)]
pub(super) fn again<const N: usize>(bytes: &mut [u8], from: usize, to: usize) -> Option<()> {
    // In this order, the compiler knows that the bytes at least `N` before `to` exist.
    bytes.get(to..to.wrapping_add(N))?;
    let piece = *bytes.get(..to)?.get(from..from.wrapping_add(N))?.first_chunk::<N>()?;
    put::<N>(bytes, to, &piece)
}

/// Copies `N` bytes within the output.
#[cfg(feature = "zstd")]
#[inline(always)]
pub(super) fn copy<const N: usize>(bytes: &mut [u8], from: usize, to: usize) -> Option<()> {
    let piece = *bytes.get(from..from.wrapping_add(N))?.first_chunk::<N>()?;
    put::<N>(bytes, to, &piece)
}

/// Returns `N` bytes at `at`. No slice is half as long as there are addresses: without the highest bit of `at`, its sum with `N` does not
/// overflow, and a single comparison is left. On small targets the mask takes more space than a second comparison.
#[inline(always)]
pub(super) fn chunk<const N: usize>(src: &[u8], at: usize) -> Option<&[u8; N]> {
    if !FAST {
        return src.get(at..)?.first_chunk();
    }
    let at = at & usize::MAX >> 1;
    src.get(at..at.wrapping_add(N))?.first_chunk()
}

/// Copies `N` bytes of the input to the output at `to`.
#[inline(always)]
pub(super) fn put<const N: usize>(bytes: &mut [u8], to: usize, from: &[u8]) -> Option<()> {
    *bytes.get_mut(to..to.wrapping_add(N))?.first_chunk_mut::<N>()? = *from.first_chunk::<N>()?;
    Some(())
}

/// Returns the cursor after the bytes that a fast loop has read.
#[inline(always)]
pub(super) fn rest_of<'a>(r: &Reader<'a, LittleEndian>, rest: &'a [u8]) -> Reader<'a, LittleEndian> {
    let used = r.rest().len().wrapping_sub(rest.len());
    Reader::new_at(rest, r.at().saturating_add(used as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn repeats_agree_with_the_byte_loop() {
        let start: Vec<u8> = (0..40u8).collect();
        for distance in 1..=40 {
            for len in 0..=100 {
                let mut expected = start.clone();
                for i in 0..len {
                    expected.push(expected[40 + i - distance]);
                }
                let mut bytes = start.clone();
                bytes.resize(40 + 200, 0xaa);
                repeat(&mut bytes, 40, distance, len);
                assert_eq!(bytes[..40 + len], expected, "{len} from {distance}");
                assert!(bytes[40 + len..].iter().all(|byte| *byte == 0xaa), "nothing behind its end");
                let mut bytes = start.clone();
                bytes.resize(40 + 200, 0xaa);
                assert_eq!(fast_match(&mut bytes, 40, distance, len), Some(()));
                assert_eq!(bytes[..40 + len], expected, "fast {len} from {distance}");
            }
        }
    }

    #[test]
    fn a_wrong_match_is_refused() {
        let mut bytes = vec![1; 50];
        for distance in [0, 11, 12, usize::MAX] {
            assert_eq!(fast_match(&mut bytes, 10, distance, 4), None, "{distance}");
            let mut out = Output { bytes: &mut bytes, at: 10 };
            let e = out.repeat(distance, 4, What::LZ4_DISTANCE, 3).unwrap_err();
            assert_eq!((e.kind(), e.at()), (Kind::Invalid, 3));
        }
        let mut out = Output { bytes: &mut bytes, at: 10 };
        assert_eq!(out.repeat(10, 41, What::LZ4_DISTANCE, 3).unwrap_err(), no_room(10, 41));
        assert_eq!(out.literals(&[0; 41]).unwrap_err(), no_room(10, 41));
        assert_eq!(fast_match(&mut bytes, 10, 10, 41), None);
    }
}
