//! The match finder of the heapless LZ encoders: greedy, one candidate per hash.

// LZ4 encodes a log at 0.68 of the speed without the inline attributes of this file (bench `codec`).

use super::lz::{chunk, put};
use crate::bytes::{FAST, STRICT, low16, low32};

/// The memory of a heapless encoder: the last position of each hash. Two bytes for each of its `N` slots.
///
/// `N` is a power of two from 256 (512 bytes) to 65,536. More slots find more matches; 4,096 suffice for most
/// data. The caller owns the table, which may be a `static`. Its previous contents do not affect the output.
///
/// ```
/// use pilaster::codec::HashTable;
///
/// static SMALL: HashTable<256> = HashTable::new();
/// assert_eq!(size_of_val(&SMALL), 512);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(any(feature = "dataseries", feature = "bcolz"), derive(bytemuck::TransparentWrapper))]
#[repr(transparent)]
pub struct HashTable<const N: usize> {
    // Positions modulo 2^16. The formats reach no farther back, so no more bits are needed, and an outdated
    // slot is only a candidate that fails.
    slots: [u16; N],
}

impl<const N: usize> HashTable<N> {
    /// Creates an empty table.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(N.is_power_of_two() && N >= 256 && N <= 65_536, "256 to 65,536 slots, a power of two") }
        HashTable { slots: [0; N] }
    }

    /// Takes a table from a scratch buffer.
    ///
    /// ```
    /// use pilaster::bytes::Scratch;
    /// use pilaster::codec::HashTable;
    /// use pilaster::dataseries::Mode;
    /// use pilaster::dataseries::write::{Compress, Lz4};
    ///
    /// let (mut memory, mut out) = ([0xa5; 1024], [0; 64]);
    /// let table: &mut HashTable<256> = HashTable::take(&mut Scratch::new(&mut memory))?;
    /// let mut lz4 = Lz4::new(table, &mut out);
    /// let (mode, bytes) = lz4.compress(&[7; 100], b"").fixed;
    /// assert_eq!((mode, bytes.len()), (Mode::Lz4, 11));
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the buffer is too small (`need`: the required size in
    /// bytes).
    #[cfg(any(feature = "dataseries", feature = "bcolz"))]
    pub fn take<'s>(scratch: &mut crate::bytes::Scratch<'s>) -> crate::error::Result<&'s mut Self> {
        use crate::error::{Error, Kind, What};
        let slots = scratch.take::<u16>(N)?;
        // `take` returned `N` slots.
        let slots = slots.first_chunk_mut().ok_or_else(|| Error::new(Kind::NoRoom, What::SCRATCH, 0))?;
        Ok(bytemuck::TransparentWrapper::wrap_mut(slots))
    }

    /// Sets all slots, as if another input had filled them.
    #[cfg(test)]
    pub(super) fn slots_for_test(&mut self, value: u16) {
        self.slots.fill(value);
    }

    /// Stores that the first `hashed` bytes of `word` are at `at`. Returns the distance, modulo 2^16, to the
    /// position that the slot had before. Targets without 64-bit words hash four bytes.
    #[inline(always)]
    fn note(&mut self, word: u64, at: usize, hashed: u32) -> usize {
        let hash = if FAST {
            low32(
                (word << (64u32.wrapping_sub(8u32.wrapping_mul(hashed)) & 63)).wrapping_mul(0x9e37_79b1_85eb_ca87)
                    >> 32,
            )
        } else {
            low32(word).wrapping_mul(0x9e37_79b1)
        };
        let hash = hash >> (32u32.wrapping_sub(N.trailing_zeros()) & 31);
        let now = low16(at);
        match self.slots.get_mut(hash as usize & N.wrapping_sub(1)) {
            Some(slot) => now.wrapping_sub(core::mem::replace(slot, now)).into(),
            None => 0,
        }
    }
}

impl<const N: usize> Default for HashTable<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// The form in which a format writes matches and literals. `None`: the destination is full.
pub(super) trait Wire {
    /// Maximum distance.
    const WINDOW: usize;
    /// Number of bytes at the end of the input where no match begins; at least 8.
    const LAST_START: usize;
    /// Number of bytes at the end of the input that belong to no match.
    const LAST_END: usize;
    /// Number of bytes hashed per position. Five instead of four: a match of only four bytes seldom pays for
    /// the next match, which it hides.
    const HASHED: u32 = 5;

    /// Returns whether two words begin with enough equal bytes for a match, at least [`MIN`].
    #[inline(always)]
    fn same(now: u64, before: u64) -> bool {
        low32(now) == low32(before)
    }

    /// Writes bytes `literals..at` of `src`, then a match.
    fn sequence(&mut self, src: &[u8], literals: usize, at: usize, distance: usize, len: usize) -> Option<()>;
    /// Writes the last bytes, starting at `literals`.
    fn end(&mut self, src: &[u8], literals: usize) -> Option<()>;
}

/// Minimum length of a match that is searched for.
const MIN: usize = 4;
/// Without matches, the step grows by one byte after every 2^`PATIENCE` positions that were tried.
const PATIENCE: u32 = 5;

/// Splits `src` into sequences for `wire`.
pub(super) fn encode<W: Wire, const N: usize>(src: &[u8], table: &mut HashTable<N>, wire: &mut W) -> Option<()> {
    encode_by(src, table, wire, 1)
}

/// Like [`encode`], but steps without matches begin at `stride` bytes, at least 1. Only the first step after
/// a match is always one byte, because a match seldom comes alone.
pub(super) fn encode_by<W: Wire, const N: usize>(
    src: &[u8],
    table: &mut HashTable<N>,
    wire: &mut W,
    stride: usize,
) -> Option<()> {
    table.slots.fill(0);
    let starts = src.len().saturating_sub(W::LAST_START);
    let ends = src.len().saturating_sub(W::LAST_END);
    let hurry = (stride.wrapping_sub(1) << PATIENCE).wrapping_add(1);
    let (mut literals, mut at, mut step, mut misses) = (0usize, 1usize, 1usize, hurry);
    // Position 0 is in the table already: an empty slot is 0.
    while at < starts {
        let now = word(src, at)?;
        let distance = table.note(now, at, W::HASHED);
        let from = at.wrapping_sub(distance);
        // Neither before the input nor the position itself; a 16-bit distance is always inside a window of
        // 65,535.
        let reached = W::WINDOW >= 0xffff || distance <= W::WINDOW;
        let before = if from < at && reached { word(src, from)? } else { !now };
        if !W::same(now, before) {
            at = at.wrapping_add(step);
            misses = misses.wrapping_add(1);
            step = (misses >> PATIENCE).wrapping_add(1);
            continue;
        }
        let differ = now ^ before;
        // The words that were loaded end no later than a match may.
        const { assert!(W::LAST_START >= W::LAST_END + 7) }
        let len = if FAST && differ != 0 {
            // Counts equal bytes with branches instead of `trailing_zeros`. Match lengths recur, so the
            // branches are predicted and the next step need not wait.
            let (mut len, mut rest) = (MIN, differ >> 32 | 1 << 32);
            while rest & 0xff == 0 {
                len = len.wrapping_add(1);
                rest >>= 8;
            }
            len
        } else {
            let have = if FAST { 8 } else { MIN };
            let common = if STRICT { common_behind } else { common };
            common(src, at.wrapping_add(have), distance, ends).wrapping_add(have)
        };
        // Makes up for steps of more than a byte; on small targets it is hardly worth its code size.
        let back = if FAST { common_back(src, literals, at, distance) } else { 0 };
        let start = at.wrapping_sub(back);
        wire.sequence(src, literals, start, distance, len.wrapping_add(back))?;
        at = at.wrapping_add(len);
        literals = at;
        (step, misses) = (1, hurry);
        // One position inside the match, from which the next match can be found.
        let inside = at.wrapping_sub(2);
        if inside < starts {
            table.note(word(src, inside)?, inside, W::HASHED);
        }
    }
    wire.end(src, literals)
}

/// Returns the eight bytes at `at`.
#[inline(always)]
pub(super) fn word(src: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*chunk(src, at)?))
}

/// Returns how many bytes starting at `at`, and before `end`, equal the bytes `distance` back.
#[inline]
pub(super) fn common(src: &[u8], at: usize, distance: usize, end: usize) -> usize {
    let (Some(new), Some(old)) = (src.get(at..end), src.get(at.wrapping_sub(distance)..)) else { return 0 };
    let mut len = 0usize;
    let (mut rest, mut old_rest) = (new, old);
    if FAST {
        // Most matches end in the first word.
        if let (Some((a, more)), Some((b, old_more))) = (rest.split_first_chunk(), old_rest.split_first_chunk()) {
            let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
            if differ != 0 {
                return differ.trailing_zeros() as usize >> 3;
            }
            len = 8;
            (rest, old_rest) = (more, old_more);
        }
        while let (Some((a, more)), Some((b, old_more))) =
            (rest.split_first_chunk::<32>(), old_rest.split_first_chunk::<32>())
            && a == b
        {
            len = len.wrapping_add(32);
            (rest, old_rest) = (more, old_more);
        }
        while let (Some((a, more)), Some((b, old_more))) = (rest.split_first_chunk(), old_rest.split_first_chunk()) {
            let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
            if differ != 0 {
                return len.wrapping_add(differ.trailing_zeros() as usize >> 3);
            }
            len = len.wrapping_add(8);
            (rest, old_rest) = (more, old_more);
        }
    } else {
        // The word that differs is compared byte by byte below.
        let words = rest.as_chunks::<4>().0.iter().zip(old_rest.as_chunks::<4>().0);
        len = words.take_while(|(a, b)| a == b).count() << 2;
        (rest, old_rest) = (rest.get(len..).unwrap_or_default(), old_rest.get(len..).unwrap_or_default());
    }
    len.wrapping_add(rest.iter().zip(old_rest).take_while(|(a, b)| a == b).count())
}

/// [`common`] after at least three bytes that are known to be equal, so that it can begin at a word boundary.
/// For targets with slow unaligned loads: compares words if both positions have the same alignment.
#[inline(always)]
fn common_behind(src: &[u8], at: usize, distance: usize, end: usize) -> usize {
    let mut from = at;
    if distance & 3 == 0
        && let Ok(words) = bytemuck::try_cast_slice::<u8, u32>(src.get(..end & !3).unwrap_or_default())
        && let (Some(new), Some(old)) = (words.get(at >> 2..), words.get(at.wrapping_sub(distance) >> 2..))
    {
        let equal = new.iter().zip(old).take_while(|(a, b)| a == b).count();
        from = (at >> 2).wrapping_add(equal) << 2;
    }
    let (Some(new), Some(old)) = (src.get(from..end), src.get(from.wrapping_sub(distance)..)) else { return 0 };
    let rest = new.iter().zip(old).take_while(|(a, b)| a == b).count();
    from.wrapping_add(rest).wrapping_sub(at)
}

/// Returns how many bytes before `at`, but not before `first`, equal the bytes `distance` back.
#[inline]
fn common_back(src: &[u8], first: usize, at: usize, distance: usize) -> usize {
    // Most matches begin right after another one, or the bytes before both differ.
    let before = at.wrapping_sub(1);
    if first == at || src.get(before) != src.get(before.wrapping_sub(distance)) {
        return 0;
    }
    let mut start = at;
    while start > first {
        let before = start.wrapping_sub(1);
        match (src.get(before), src.get(before.wrapping_sub(distance))) {
            (Some(new), Some(old)) if new == old => start = before,
            _ => break,
        }
    }
    at.wrapping_sub(start)
}

/// The destination of an encoder. Its functions return `None` if it is full.
pub(super) struct Put<'o> {
    bytes: &'o mut [u8],
    /// Number of bytes written.
    pub at: usize,
}

impl<'o> Put<'o> {
    pub(super) const fn new(bytes: &'o mut [u8]) -> Self {
        Put { bytes, at: 0 }
    }

    /// Returns the next `N` bytes. The caller writes some of them and advances `at`.
    #[inline(always)]
    pub(super) fn window<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        if !FAST {
            return self.bytes.get_mut(self.at..)?.first_chunk_mut();
        }
        let at = self.at & usize::MAX >> 1;
        self.bytes.get_mut(at..at.wrapping_add(N))?.first_chunk_mut()
    }

    /// Returns `None` if fewer than `len` bytes are free.
    #[inline]
    pub(super) fn room(&self, len: usize) -> Option<()> {
        (len <= self.bytes.len().wrapping_sub(self.at)).then_some(())
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self, bytes: [u8; N]) -> Option<()> {
        put::<N>(self.bytes, self.at, &bytes)?;
        self.at = self.at.wrapping_add(N);
        Some(())
    }

    #[inline]
    pub(super) fn byte(&mut self, byte: u8) -> Option<()> {
        self.array([byte])
    }

    /// Returns the whole destination, and the number of bytes written, so that a loop can hold that number in a register.
    #[cfg(any(feature = "zstd-encode", all(feature = "deflate", feature = "alloc")))]
    pub(super) const fn parts(&mut self) -> (&mut [u8], &mut usize) {
        (self.bytes, &mut self.at)
    }

    /// Replaces a byte that was written.
    #[cfg(feature = "zstd-encode")]
    pub(super) fn set(&mut self, at: usize, byte: u8) -> Option<()> {
        *self.bytes.get_mut(at)? = byte;
        Some(())
    }

    /// Replaces bytes that were written.
    #[cfg(feature = "zstd-encode")]
    pub(super) fn set_all(&mut self, at: usize, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(at..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(())
    }

    /// Writes zeros.
    #[cfg(feature = "zstd-encode")]
    pub(super) fn zeros(&mut self, len: usize) -> Option<()> {
        self.bytes.get_mut(self.at..)?.get_mut(..len)?.fill(0);
        self.at = self.at.wrapping_add(len);
        Some(())
    }

    /// Returns what was written.
    #[cfg(feature = "zstd-encode")]
    pub(super) fn written(&self) -> &[u8] {
        self.bytes.get(..self.at).unwrap_or_default()
    }

    /// Writes bytes `from..to` of `src`.
    #[inline]
    pub(super) fn slice(&mut self, src: &[u8], from: usize, to: usize) -> Option<()> {
        let len = to.checked_sub(from)?;
        // Most runs are short: one copy of fixed size, whose excess is overwritten.
        if FAST && len <= 16 && src.get(from..).and_then(|src| put::<16>(self.bytes, self.at, src)).is_some() {
            self.at = self.at.wrapping_add(len);
            return Some(());
        }
        // On small targets the call is expensive, and many runs are empty.
        if !FAST && len == 0 { Some(()) } else { self.exactly(src.get(from..to)?) }
    }

    #[inline(never)]
    pub(super) fn exactly(&mut self, from: &[u8]) -> Option<()> {
        let to = self.bytes.get_mut(self.at..)?.get_mut(..from.len())?;
        to.copy_from_slice(from);
        self.at = self.at.wrapping_add(from.len());
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes_find_the_same_length() {
        let mut memory = [0u32; 24];
        let bytes = bytemuck::bytes_of_mut(&mut memory);
        let mut lengths = 0;
        for (begin, period, wrong) in
            (0..4).flat_map(|begin| (1..=16).flat_map(move |period| (20..96).map(move |wrong| (begin, period, wrong))))
        {
            (0..).zip(&mut *bytes).for_each(|(n, byte)| *byte = (n % period) as u8);
            bytes[wrong] ^= 0x80;
            let src = &bytes[begin..];
            for distance in (1..=16).filter(|distance| distance % period == 0) {
                // After `distance` bytes and the four that begin the match, as far as they are equal.
                for at in distance + 4..(wrong - begin).min(distance + 9) {
                    let len = common(src, at, distance, src.len());
                    assert_eq!(common_behind(src, at, distance, src.len()), len, "{at} of {wrong}, {distance} back");
                    assert_eq!(len, wrong - begin - at);
                    lengths += 1;
                }
            }
        }
        assert!(lengths > 20_000, "{lengths}");
    }
}
