//! The sequences of a block (RFC 8878, section 3.1.1.3.2): literals followed by a match, repeatedly.
//!
//! The literals are first at the end of the block's space, and are moved from there to their final places. A
//! block consists of its literals and its matches. So if it fits, its output never overwrites literals that
//! are still to be moved, and they need no other memory.

// Records are decoded at 0.58 of the speed without the inline attributes of this folder (bench `codec`).

use core::mem::take;
use core::slice::{Iter, IterMut};

use super::bits::{Bits, READY};
use super::fse::{Codes, Entry, Table};
use crate::bytes::{LittleEndian, Reader, len32, little, low32, saturated};
use crate::codec::lz::{self, no_room};
use crate::error::{Error, Kind, Result, What};

/// The tables of a block, kept for later blocks that use them again.
pub(super) struct Tables<'w> {
    pub literals: Table<'w>,
    pub offsets: Table<'w>,
    pub matches: Table<'w>,
}

/// Number of entries of each table.
pub(super) const LITERALS: usize = 1 << Codes::Literals.most_log();
pub(super) const OFFSETS: usize = 1 << Codes::Offsets.most_log();
pub(super) const MATCHES: usize = 1 << Codes::Matches.most_log();

/// Number of free bytes that a fast copy needs after a match.
const AHEAD: u32 = len32(lz::WILD);

/// A sequence: a number of literals, and the length and offset of a match.
#[derive(Clone, Copy, Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
struct Sequence {
    literals: u32,
    len: u32,
    /// A value that represents a distance ([`distance`]).
    offset: u32,
}

/// The destination of a block.
pub(super) struct Output<'o> {
    /// The whole destination.
    pub bytes: &'o mut [u8],
    /// The bytes before the frame, for its matches only.
    pub history: &'o [u8],
    /// Start of the frame, and end of the output so far.
    pub frame: usize,
    pub at: usize,
    /// Start and end of the literals that are still to be moved.
    pub literals: usize,
    pub literals_end: usize,
    /// Limit of the end of the block.
    pub limit: usize,
}

/// Reads the number of sequences from the start of their section.
pub(super) fn count(r: &mut Reader<'_, LittleEndian>) -> Result<u32> {
    let head = u32::from(r.u8(What::ZSTD_SEQUENCES)?);
    let (count, bytes) = match head {
        0..128 => (head, 0),
        255 => (0x7f00, 2),
        _ => (head.wrapping_sub(128) << 8, 1),
    };
    let more = little(r.take(bytes, What::ZSTD_SEQUENCES)?);
    Ok(count.wrapping_add(low32(more)))
}

/// Decodes `count` sequences, which are the rest of `r`, a part of `src`; then the literals after them.
pub(super) fn decode<const FAST: bool>(
    src: &[u8],
    r: &mut Reader<'_, LittleEndian>,
    count: u32,
    tables: &mut Tables<'_>,
    repeats: &mut [u32; 3],
    out: &mut Output<'_>,
) -> Result<()> {
    let at = r.at();
    let modes = r.u8(What::ZSTD_SEQUENCES)?;
    if modes & 3 != 0 {
        return Err(Error::needing(Kind::Invalid, What::ZSTD_SEQUENCES, at, modes.into()));
    }
    tables.literals.set(modes >> 6, r)?;
    tables.offsets.set(modes >> 4 & 3, r)?;
    tables.matches.set(modes >> 2 & 3, r)?;
    let start = saturated(r.at());
    let mut bits = Bits::default();
    bits.begin(src, start, start.saturating_add(r.rest().len()), What::ZSTD_SEQUENCES)?;
    run::<FAST>(&mut bits, count, tables, repeats, out, at)?;
    bits.finish(What::ZSTD_SEQUENCES)?;
    out.rest(at)
}

/// Decodes the sequences of a stream of bits.
fn run<const FAST: bool>(
    bits: &mut Bits<'_>,
    count: u32,
    tables: &Tables<'_>,
    repeats: &mut [u32; 3],
    out: &mut Output<'_>,
    at: u64,
) -> Result<()> {
    bits.refill();
    let mut states = States::begin(bits, tables);
    let mut left = count as usize;
    if !FAST {
        while left > 0 {
            left = left.wrapping_sub(1);
            let sequence = states.step(bits, tables, left == 0);
            out.exact(sequence, distance(repeats, sequence), at)?;
        }
        return Ok(());
    }
    let mut batch = [Sequence::default(); BATCH];
    while left > 0 {
        let batch = batch.get_mut(..left.min(BATCH)).unwrap_or_default();
        left = left.wrapping_sub(batch.len());
        let mut slots = batch.iter_mut();
        // No states follow the last sequence.
        let mut last = if left == 0 { slots.next_back() } else { None };
        while let Some(slot) = states.fast(bits, tables, &mut slots).or_else(|| last.take()) {
            *slot = states.step(bits, tables, left == 0 && last.is_none());
        }
        let mut sequences = batch.iter();
        while let Some((sequence, distance)) = out.fast(&mut sequences, repeats) {
            out.exact(sequence, distance, at)?;
        }
    }
    Ok(())
}

/// Number of sequences decoded before they are executed. Two separate loops keep the state of each in
/// registers.
const BATCH: usize = 64;

/// The entries of the current states in the three tables.
struct States {
    literals: Entry,
    offsets: Entry,
    matches: Entry,
}

impl States {
    /// Reads the initial states, at the start of the stream.
    fn begin(bits: &mut Bits<'_>, tables: &Tables<'_>) -> Self {
        let literals = bits.take(tables.literals.log());
        let offsets = bits.take(tables.offsets.log());
        let matches = bits.take(tables.matches.log());
        Self::at(tables, literals, offsets, matches)
    }

    /// Returns the entries of these states.
    fn at(tables: &Tables<'_>, literals: u64, offsets: u64, matches: u64) -> Self {
        States {
            literals: Table::at(tables.literals.entries::<LITERALS>(), literals),
            offsets: Table::at(tables.offsets.entries::<OFFSETS>(), offsets),
            matches: Table::at(tables.matches.entries::<MATCHES>(), matches),
        }
    }

    /// Decodes the next sequence. No states follow the last one of the block.
    fn step(&mut self, bits: &mut Bits<'_>, tables: &Tables<'_>, last: bool) -> Sequence {
        let (l, o, m) = (self.literals, self.offsets, self.matches);
        // At most 31 and 16 bits; then at most 16, and 9, 9 and 8.
        bits.refill();
        let offset = o.base().wrapping_add(low32(bits.take(o.extra())));
        let len = m.base().wrapping_add(low32(bits.take(m.extra())));
        if o.extra() > SHORT || l.extra() > 0 && m.extra() > 0 {
            bits.refill();
        }
        let literals = l.base().wrapping_add(low32(bits.take(l.extra())));
        if !last {
            let literals = l.next().wrapping_add(bits.take(l.bits()));
            let matches = m.next().wrapping_add(bits.take(m.bits()));
            let offsets = o.next().wrapping_add(bits.take(o.bits()));
            *self = Self::at(tables, literals, offsets, matches);
        }
        Sequence { literals, len, offset }
    }

    /// Fills slots with sequences whose bits are all in one word. Returns the slot of the first sequence with
    /// more bits.
    #[inline(never)]
    fn fast<'s>(
        &mut self,
        bits: &mut Bits<'_>,
        tables: &Tables<'_>,
        slots: &mut IterMut<'s, Sequence>,
    ) -> Option<&'s mut Sequence> {
        let Some(mut at) = bits.position() else { return slots.next() };
        let literals = tables.literals.entries::<LITERALS>();
        let offsets = tables.offsets.entries::<OFFSETS>();
        let matches = tables.matches.entries::<MATCHES>();
        let src = bits.src;
        let (mut l, mut o, mut m) = (self.literals, self.offsets, self.matches);
        let (mut rest, mut wide) = (take(slots), None);
        for slot in rest.by_ref() {
            // The lowest byte counts all bits of the sequence, the next byte the bits of the states.
            let two = Entry::widths(&[o, m]);
            let all = Entry::widths(&[o, m, l]);
            let width = all & 0xff;
            let end = at.wrapping_add(7) >> 3;
            let word = src.get(..end).and_then(|src| src.last_chunk());
            let (Some(word), true) = (word, width <= READY) else {
                wide = Some(slot);
                break;
            };
            let word = u64::from_le_bytes(*word);
            // Starting at the lowest bits of the word: the states of offsets, matches and literals; the extra
            // bits of literals, matches and offsets.
            let start = low32(at.wrapping_sub(end.wrapping_mul(8)) as u64).wrapping_sub(all);
            at = at.wrapping_sub(width as usize);
            let offset = o.state(word >> (start & 63));
            let match_ = m.state(word >> (start.wrapping_add(o.bits()) & 63));
            let literal = l.state(word >> (start.wrapping_add(two >> 8) & 63));
            let mut word = word >> (start.wrapping_add(all >> 8) & 63);
            *slot = Sequence { literals: l.base(), len: m.base(), offset: 0 };
            if l.more(m) {
                slot.literals = l.value(word);
                word >>= l.extra() & 63;
                slot.len = m.value(word);
                word >>= m.extra() & 63;
            }
            slot.offset = o.value(word);
            (l, o, m) = (Table::at(literals, literal), Table::at(offsets, offset), Table::at(matches, match_));
        }
        *slots = rest;
        bits.go(at);
        *self = States { literals: l, offsets: o, matches: m };
        wide
    }
}

/// With at most this number of bits for the distance, and extra bits for only one of the lengths, all bits of
/// a sequence are available at once: 15 + 16 + 9 + 9 + 8 = 57.
const SHORT: u32 = 15;

/// Returns the distance that a value represents (RFC 8878, section 3.1.1.5). 1 to 3 are the last three
/// distances, or without literals the second, the third, and one less than the first.
#[inline(always)]
fn distance(recent: &mut [u32; 3], Sequence { literals, offset: value, .. }: Sequence) -> u32 {
    let no_literals = literals == 0;
    let [first, second, third] = *recent;
    if value > 3 {
        let distance = value.wrapping_sub(3);
        *recent = [distance, first, second];
        return distance;
    }
    match value.wrapping_add(u32::from(no_literals)) {
        0 | 1 => first,
        2 => {
            *recent = [second, first, third];
            second
        }
        3 => {
            *recent = [third, first, second];
            third
        }
        _ => {
            // 0 is not a distance, and is refused as such.
            let distance = first.wrapping_sub(1);
            *recent = [distance, first, second];
            distance
        }
    }
}

/// The positions of an [`Output`] within [`lz::REACH`].
struct Place {
    at: u32,
    literals: u32,
    frame: u32,
    end: u32,
}

impl Place {
    /// Executes a sequence with copies of fixed size, which may write ahead. `None`, with the positions
    /// unchanged, if it is invalid or near the end.
    #[inline(always)]
    fn put(&mut self, bytes: &mut [u8], Sequence { literals, len, .. }: Sequence, distance: u32) -> Option<()> {
        let Place { at, literals: from, frame, end } = *self;
        // The gap has the same length after the literals.
        if len.wrapping_add(AHEAD) > from.wrapping_sub(at) || literals > end.wrapping_sub(from) {
            return None;
        }
        let to = at.wrapping_add(literals);
        if distance.wrapping_sub(1) >= to.wrapping_sub(frame) {
            return None;
        }
        let (place, length) = (to as usize, len as usize);
        if lz::copy::<16>(bytes, from as usize, at as usize).is_none() {
            // Near the end of the destination, a sequence with literals is left to the exact path.
            if literals > 0 {
                return None;
            }
        } else if literals > 16 {
            lz::copy::<16>(bytes, (from as usize).wrapping_add(16), (at as usize).wrapping_add(16))?;
            if literals > 32 {
                move_within(bytes, from as usize, at as usize, literals as usize);
            }
        }
        if len > AHEAD || lz::wild(bytes, place, distance as usize, length).is_none() {
            lz::repeat(bytes, place, distance as usize, length);
        }
        self.at = to.wrapping_add(len);
        self.literals = from.wrapping_add(literals);
        Some(())
    }
}

impl Output<'_> {
    /// Executes sequences ([`Place::put`]). Returns the first one, with its distance, that is left to
    /// [`exact`](Self::exact).
    #[inline(never)]
    fn fast(&mut self, sequences: &mut Iter<'_, Sequence>, repeats: &mut [u32; 3]) -> Option<(Sequence, u32)> {
        let [at, literals, frame, end] = [self.at, self.literals, self.frame, self.literals_end].map(len32);
        let mut place = Place { at, literals, frame, end };
        let near = self.literals_end <= lz::REACH;
        let mut recent = *repeats;
        let (mut rest, mut odd) = (take(sequences), None);
        for sequence in rest.by_ref() {
            let distance = distance(&mut recent, *sequence);
            if !near || place.put(self.bytes, *sequence, distance).is_none() {
                odd = Some((*sequence, distance));
                break;
            }
        }
        *sequences = rest;
        if near {
            self.at = place.at as usize;
            self.literals = place.literals as usize;
        }
        *repeats = recent;
        odd
    }

    /// Executes a sequence without writing ahead. Its match may be in the history.
    #[cfg_attr(not(pilaster_small), inline(never))]
    fn exact(&mut self, sequence: Sequence, distance: u32, at: u64) -> Result<()> {
        let Sequence { literals, len, .. } = sequence;
        let [literals, len, distance] = [literals, len, distance].map(|n| n as usize);
        let wrong = |what, need: usize| Error::needing(Kind::Invalid, what, at, need as u64);
        if literals > self.literals_end.wrapping_sub(self.literals) {
            return Err(wrong(What::ZSTD_SEQUENCES, literals));
        }
        if len > self.literals.wrapping_sub(self.at) {
            return Err(self.too_long(len, at));
        }
        move_within(self.bytes, self.literals, self.at, literals);
        self.literals = self.literals.wrapping_add(literals);
        self.at = self.at.wrapping_add(literals);
        let here = self.at.wrapping_sub(self.frame);
        if distance.wrapping_sub(1) >= here.saturating_add(self.history.len()) {
            return Err(wrong(What::ZSTD_OFFSET, distance));
        }
        let mut len = len;
        if let Some(before) = distance.checked_sub(here).filter(|before| *before > 0) {
            // Number of bytes of the match that are before the frame.
            let n = before.min(len);
            let from = self.history.len().wrapping_sub(before);
            let piece = self.history.get(from..from.wrapping_add(n)).unwrap_or_default();
            if let Some(to) = self.bytes.get_mut(self.at..self.at.wrapping_add(n)) {
                to.iter_mut().zip(piece).for_each(|(to, byte)| *to = *byte);
            }
            self.at = self.at.wrapping_add(n);
            len = len.wrapping_sub(n);
        }
        lz::repeat(self.bytes, self.at, distance, len);
        self.at = self.at.wrapping_add(len);
        Ok(())
    }

    /// Moves the literals after the last match.
    fn rest(&mut self, at: u64) -> Result<()> {
        let len = self.literals_end.wrapping_sub(self.literals);
        if self.at.wrapping_add(len) > self.limit {
            return Err(self.too_long(0, at));
        }
        move_within(self.bytes, self.literals, self.at, len);
        self.at = self.at.wrapping_add(len);
        Ok(())
    }

    /// Creates the error of a block that a match of `len` bytes makes longer than its limit or the
    /// destination.
    #[cold]
    fn too_long(&self, len: usize, at: u64) -> Error {
        let rest = self.literals_end.wrapping_sub(self.literals);
        if self.limit == self.bytes.len() {
            return no_room(self.at, rest.saturating_add(len));
        }
        Error::needing(Kind::Invalid, What::ZSTD_BLOCK, at, rest.saturating_add(len) as u64)
    }
}

/// Moves `len` bytes toward the start.
#[inline(never)]
fn move_within(bytes: &mut [u8], from: usize, to: usize, len: usize) {
    let end = from.saturating_add(len);
    if let (Some(gap), Some(bytes)) = (from.checked_sub(to), bytes.get_mut(to..end))
        && gap <= bytes.len()
    {
        bytes.copy_within(gap.., 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests::noise;

    /// Returns the sequences of a stream, and the number of bits left after them.
    fn read<const FAST: bool>(src: &[u8], count: usize) -> (std::vec::Vec<Sequence>, i64) {
        let mut memory = [[0; LITERALS]; 3];
        let [literals, offsets, matches] = &mut memory;
        let mut tables = Tables {
            literals: Table::new(Codes::Literals, literals),
            offsets: Table::new(Codes::Offsets, &mut offsets[..OFFSETS]),
            matches: Table::new(Codes::Matches, matches),
        };
        for table in [&mut tables.literals, &mut tables.offsets, &mut tables.matches] {
            table.set(0, &mut Reader::new(&[])).unwrap();
        }
        let mut bits = Bits::default();
        bits.begin(src, 9, src.len(), What::ZSTD_SEQUENCES).unwrap();
        bits.refill();
        let mut states = States::begin(&mut bits, &tables);
        let mut sequences = std::vec![Sequence::default(); count];
        let mut slots = sequences.iter_mut();
        while let Some(slot) = if FAST { states.fast(&mut bits, &tables, &mut slots) } else { slots.next() } {
            *slot = states.step(&mut bits, &tables, false);
        }
        (sequences, bits.left())
    }

    #[test]
    fn sequences_of_one_word_agree_with_those_by_steps() {
        let noise = noise(20_000);
        for len in [10, 12, 17, 40, 300, 5000] {
            for src in noise.chunks_exact(len).take(40) {
                let src = [src, &[1]].concat();
                // Sequences with a third of the bits, and more sequences than there are bits for.
                for count in [len * 8 / 60, len * 2] {
                    assert_eq!(read::<true>(&src, count), read::<false>(&src, count), "{count} of {len}");
                }
            }
        }
    }

    #[test]
    fn distances_that_come_back() {
        let mut recent = [1, 4, 8];
        // Value, whether there are no literals, the distance, and the recent distances afterwards.
        let steps = [
            (1, false, 1, [1, 4, 8]),
            (2, false, 4, [4, 1, 8]),
            (3, false, 8, [8, 4, 1]),
            (13, true, 10, [10, 8, 4]),
            (1, true, 8, [8, 10, 4]),
            (2, true, 4, [4, 8, 10]),
            (3, true, 3, [3, 4, 8]),
            (3, true, 2, [2, 3, 4]),
            (3, true, 1, [1, 2, 3]),
            (3, true, 0, [0, 1, 2]),
        ];
        for (value, no_literals, expected, kept) in steps {
            let literals = u32::from(!no_literals);
            assert_eq!(distance(&mut recent, Sequence { literals, len: 3, offset: value }), expected);
            assert_eq!(recent, kept);
        }
    }
}
