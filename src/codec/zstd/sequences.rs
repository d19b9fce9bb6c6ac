//! The sequences of a block (RFC 8878, section 3.1.1.3.2): literals followed by a match, repeatedly.
//!
//! The literals are first at the end of the block's space, and are moved from there to their final places. A
//! block consists of its literals and its matches. So if it fits, its output never overwrites literals that
//! are still to be moved, and they need no other memory.

// Records are decoded at 0.58 of the speed without the inline attributes of this folder (bench `codec`).

use super::bits::{Bits, size};
use super::fse::{self, Codes, Entry, Table};
use crate::bytes::{LittleEndian, Reader, len32, little, low32, saturated};
use crate::codec::lz::{self, no_room};
use crate::error::{Error, Kind, Result, What};
use crate::simd::{self, Kernel, Lanes};

/// The entries of the tables of a block, with their maximum lengths: one object, so that one register leads to all.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Entries {
    literals: [u64; 1 << Codes::Literals.most_log()],
    matches: [u64; 1 << Codes::Matches.most_log()],
    offsets: [u64; 1 << Codes::Offsets.most_log()],
}

impl Entries {
    /// Returns the entries of these states.
    #[inline(always)]
    fn at(&self, literals: usize, offsets: usize, matches: usize) -> States {
        States {
            literals: fse::at(&self.literals, literals),
            offsets: fse::at(&self.offsets, offsets),
            matches: fse::at(&self.matches, matches),
        }
    }
}

/// The tables of a block, kept for later blocks that use them again.
pub(super) struct Tables<'w> {
    entries: &'w mut Entries,
    literals: Table,
    offsets: Table,
    matches: Table,
}

impl<'w> Tables<'w> {
    /// Creates empty tables.
    pub(super) const fn new(entries: &'w mut Entries) -> Self {
        let (literals, offsets) = (Table::new(Codes::Literals), Table::new(Codes::Offsets));
        Tables { entries, literals, offsets, matches: Table::new(Codes::Matches) }
    }

    /// Clears all tables.
    pub(super) const fn clear(&mut self) {
        self.literals.clear();
        self.offsets.clear();
        self.matches.clear();
    }

    /// Sets the tables according to the modes of a block, from its next bytes.
    fn set(&mut self, modes: u8, r: &mut Reader<'_, LittleEndian>) -> Result<()> {
        self.literals.set(&mut self.entries.literals, modes >> 6, r)?;
        self.offsets.set(&mut self.entries.offsets, modes >> 4 & 3, r)?;
        self.matches.set(&mut self.entries.matches, modes >> 2 & 3, r)
    }

    /// Reads all tables, in the order of a dictionary.
    pub(super) fn read(&mut self, r: &mut Reader<'_, LittleEndian>) -> Result<()> {
        self.offsets.read(&mut self.entries.offsets, r)?;
        self.matches.read(&mut self.entries.matches, r)?;
        self.literals.read(&mut self.entries.literals, r)
    }
}

/// Number of free bytes that a fast copy needs after a match.
const AHEAD: u32 = len32(lz::WILD);

/// Maximum length of the copies of a fast loop. Calls of functions for longer ones would take the registers of the loop.
const LONG: usize = 1024;

/// Maximum number of bits of a sequence of the fast loop. They are in one word, whichever bit of a byte is the first.
const WORD: u32 = 56;

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
    tables.set(modes, r)?;
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
    while left > 0 {
        // No states follow the last sequence.
        let mut ahead = left.wrapping_sub(1);
        let odd = simd::run(Fast { states: &mut states, bits, tables, out, repeats, left: &mut ahead });
        let (sequence, distance) = match odd {
            Some(odd) => odd,
            None => {
                let sequence = states.step(bits, tables, ahead == 0);
                (sequence, distance(repeats, sequence))
            }
        };
        left = ahead.wrapping_add(odd.is_some().into());
        out.exact(sequence, distance, at)?;
    }
    Ok(())
}

/// The entries of the current states in the three tables.
#[derive(Clone, Copy)]
struct States {
    literals: Entry,
    offsets: Entry,
    matches: Entry,
}

impl States {
    /// Reads the initial states, at the start of the stream.
    fn begin(bits: &mut Bits<'_>, tables: &Tables<'_>) -> Self {
        let [literals, offsets, matches] =
            [&tables.literals, &tables.offsets, &tables.matches].map(|table| size(bits.take(table.log())));
        tables.entries.at(literals, offsets, matches)
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
            let [literals, matches, offsets] = [l, m, o].map(|e| size(e.next().wrapping_add(bits.take(e.bits()))));
            *self = tables.entries.at(literals, offsets, matches);
        }
        Sequence { literals, len, offset }
    }
}

/// A fast loop over the sequences of a stream: decodes a sequence whose bits are all in one word, and executes it with copies
/// of fixed size, so that the next sequence is decoded meanwhile. It calls no function, because the registers would have to be
/// saved: two loops over batches of 64 sequences, with calls, had 0.95 to 0.98 of the speed.
struct Fast<'f, 'b, 't, 'o> {
    states: &'f mut States,
    bits: &'f mut Bits<'b>,
    tables: &'f Tables<'t>,
    out: &'f mut Output<'o>,
    repeats: &'f mut [u32; 3],
    /// Number of sequences that are left, except the last of the block.
    left: &'f mut usize,
}

impl Kernel for Fast<'_, '_, '_, '_> {
    /// A sequence with its distance that is left to [`Output::exact`]; `None` if the next sequence is left to
    /// [`States::step`].
    type Output = Option<(Sequence, u32)>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let Fast { states, bits, tables, out, repeats, left } = self;
        if out.literals_end > lz::REACH {
            return None;
        }
        let frame = out.frame;
        // The last piece of a copy of literals reads up to 31 bytes after them.
        let end = out.literals_end.saturating_add(LONG_PIECE).min(out.bytes.len());
        let gap = out.literals.wrapping_sub(out.at).checked_sub(AHEAD as usize)?;
        let mut place = Place { at: len32(out.at.wrapping_sub(frame)), gap: len32(gap) };
        let bytes = out.bytes.get_mut(frame..end)?;
        let (src, mut next) = (bits.before()?, Next::new(bits, *states)?);
        let entries = &*tables.entries;
        let mut odd = None;
        let mut n = *left;
        while n > 0 {
            let Some((sequence, then)) = next.decode(lanes, src, entries) else { break };
            next = then;
            n = n.wrapping_sub(1);
            let distance = distance(repeats, sequence);
            if place.put(bytes, sequence, distance).is_none() {
                odd = Some((sequence, distance));
                break;
            }
        }
        *left = n;
        out.at = frame.wrapping_add(place.at as usize);
        out.literals = out.at.wrapping_add(place.gap as usize).wrapping_add(AHEAD as usize);
        *states = next.leave(bits);
        odd
    }
}

/// The next sequence of a stream.
#[derive(Clone, Copy)]
struct Next {
    /// Number of bits of the source before the next [`WORD`] bits.
    at: usize,
    states: States,
}

impl Next {
    /// Returns the next sequence of `bits`; `None` if less than [`WORD`] bits are before it.
    fn new(bits: &Bits<'_>, states: States) -> Option<Self> {
        Some(Next { at: bits.position()?.checked_sub(WORD as usize)?, states })
    }

    /// Moves `bits` to the next sequence.
    fn leave(self, bits: &mut Bits<'_>) -> States {
        bits.go(self.at.wrapping_add(WORD as usize));
        self.states
    }

    /// Decodes a sequence whose bits are all in one word, and returns it with the next one; `None` if they are not.
    #[inline(always)]
    fn decode<L: Lanes>(self, lanes: L, src: &[u8], entries: &Entries) -> Option<(Sequence, Self)> {
        let States { literals: l, offsets: o, matches: m } = self.states;
        let lengths = l.widths().and(m.widths());
        let all = lengths.and(o.widths());
        let width = all.all();
        // Past the end of `src`, which ends with the first word of the loop, if there are not enough bits: `at` is then a negative
        // number.
        let byte = self.at >> 3;
        let word = src.get(byte..byte.wrapping_add(8)).and_then(|src| src.first_chunk());
        let (Some(word), true) = (word, width <= WORD) else { return None };
        let word = u64::from_le_bytes(*word);
        // Starting at the lowest bits of the word: the states of offsets, matches and literals; the extra
        // bits of literals, matches and offsets.
        let start = low32(self.at as u64 | 56).wrapping_sub(width);
        let behind = start.wrapping_add(all.states());
        let at = self.at.wrapping_sub(width as usize);
        let offset = o.state(lanes, word >> (start & 63));
        let match_ = m.state(lanes, word >> (start.wrapping_add(o.widths().states()) & 63));
        let literal = l.state(lanes, word >> (behind.wrapping_sub(l.widths().states()) & 63));
        let mut word = word >> (behind & 63);
        let mut sequence = Sequence { literals: l.base(), len: m.base(), offset: 0 };
        if lengths.more() {
            sequence.literals = l.value(lanes, word);
            word >>= l.extra() & 63;
            sequence.len = m.value(lanes, word);
            word >>= m.extra() & 63;
        }
        sequence.offset = o.value(lanes, word);
        Some((sequence, Next { at, states: entries.at(literal, offset, match_) }))
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

/// The positions of an [`Output`] in its frame, within [`lz::REACH`].
struct Place {
    at: u32,
    /// Number of bytes between the output and the literals that are still to be moved, except [`AHEAD`].
    gap: u32,
}

impl Place {
    /// Executes a sequence with copies of fixed size, which may write ahead. `None`, with the positions
    /// unchanged, if it is invalid or near the end. `bytes` end [`LONG_PIECE`] bytes after the literals, or earlier.
    #[inline(always)]
    fn put(&mut self, bytes: &mut [u8], Sequence { literals, len, .. }: Sequence, distance: u32) -> Option<()> {
        let gap = self.gap.checked_sub(len)?;
        let [at, from, literals] = [self.at, self.gap, literals].map(|n| n as usize);
        let from = at.wrapping_add(from).wrapping_add(AHEAD as usize);
        let to = at.wrapping_add(literals);
        let back = to.checked_sub(distance as usize)?;
        let len = len as usize;
        // There are literals left to copy, by pieces.
        if from.wrapping_add(literals).wrapping_add(LONG_PIECE) <= bytes.len() {
            lz::copy::<PIECE>(bytes, from, at)?;
            // The gap is as long as a piece, so that no piece overwrites literals of the next one, and that up to here, all can
            // be copied again. After more pieces, only a distance of 0 is refused, which is invalid for `exact`, too.
            if literals > PIECE {
                if len > LONG || literals > LONG {
                    return None;
                }
                let mut done = PIECE;
                while done < literals {
                    lz::copy::<LONG_PIECE>(bytes, from.wrapping_add(done), at.wrapping_add(done))?;
                    done = done.wrapping_add(LONG_PIECE);
                }
            }
        } else if literals > 0 {
            return None;
        }
        let distance = distance as usize;
        if distance < PIECE {
            if len > LONG {
                return None;
            }
            // Pieces of 16 would wait for the stores of 8 before them: 0.6 of the speed for runs.
            if len <= lz::WILD {
                lz::wild(bytes, to, distance, len)?;
            } else {
                lz::spread(bytes, to, distance, len)?;
            }
        } else {
            lz::again::<PIECE>(bytes, back, to)?;
            if len > PIECE {
                if len > LONG {
                    return None;
                }
                let mut done = PIECE;
                while done < len {
                    lz::again::<PIECE>(bytes, back.wrapping_add(done), to.wrapping_add(done))?;
                    done = done.wrapping_add(PIECE);
                }
            }
        }
        self.at = len32(to.wrapping_add(len));
        self.gap = gap;
        Some(())
    }
}

impl Output<'_> {
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

/// Length of the first piece of literals, and of the pieces of a match.
const PIECE: usize = 16;
/// Length of the other pieces of literals.
const LONG_PIECE: usize = 32;

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
mod tests;
