//! The sequences of a block, for encoding (RFC 8878, section 3.1.1.3.2).

use super::fse::{DESCRIPTION_LEN, Norm, Table};
use crate::bytes::{len32, low8, low32};
use crate::codec::bit_writer::Bits;
use crate::codec::greedy::Put;
use crate::codec::zstd::fse::{Codes, LITERALS, MATCHES, SYMBOLS};
use crate::simd::{self, Kernel, Lanes};

/// A sequence in one word: the offset value, the number of literals, and the length of the match above the
/// minimum.
#[derive(Clone, Copy)]
pub(super) struct Sequence(u64);

/// Number of bits of an offset value, and of a number of literals, which is at most the length of a block.
const OFFSET_BITS: u32 = 28;
const LITERAL_BITS: u32 = 18;
/// Minimum length of a match.
const MIN: usize = 3;

impl Sequence {
    #[inline(always)]
    const fn new(offset: u32, literals: usize, len: usize) -> Self {
        let (literals, len) = (literals as u64, len.wrapping_sub(MIN) as u64);
        Sequence(offset as u64 | literals << OFFSET_BITS | len << OFFSET_BITS.wrapping_add(LITERAL_BITS))
    }

    #[inline(always)]
    const fn offset(self) -> u32 {
        low32(self.0 & ((1 << OFFSET_BITS) - 1))
    }

    #[inline(always)]
    const fn literals(self) -> u32 {
        low32(self.0 >> OFFSET_BITS & ((1 << LITERAL_BITS) - 1))
    }

    #[inline(always)]
    const fn len(self) -> u32 {
        low32(self.0 >> OFFSET_BITS.wrapping_add(LITERAL_BITS))
    }

    /// Returns the codes of the literals, the offset and the match.
    #[inline(always)]
    fn codes(self) -> [u8; 3] {
        let (literals, len) = (self.literals(), self.len());
        let l = match LITERAL_CODES.get(literals as usize) {
            Some(code) => *code,
            None => low8(literals.ilog2().wrapping_add(19) as usize),
        };
        let m = match MATCH_CODES.get(len as usize) {
            Some(code) => *code,
            None => low8(len.ilog2().wrapping_add(36) as usize),
        };
        [l, low8(self.offset().max(1).ilog2() as usize), m]
    }
}

/// The codes of small numbers.
const LITERAL_CODES: [u8; 64] = codes(&LITERALS);
const MATCH_CODES: [u8; 128] = codes(&MATCHES);

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed when compiled")]
const fn codes<const N: usize>(extra: &[u8]) -> [u8; N] {
    let mut codes = [0; N];
    let (mut code, mut end, mut value) = (0u8, 1usize << extra[0], 0);
    while value < N {
        if value == end {
            code += 1;
            end += 1 << extra[code as usize];
        }
        codes[value] = code;
        value += 1;
    }
    codes
}

/// The literals and sequences of a block, and the recent distances.
pub(super) struct Store<'s> {
    literals: Put<'s>,
    items: &'s mut [u64],
    count: usize,
    pub repeats: [u32; 3],
}

impl<'s> Store<'s> {
    /// Creates an empty store. `literals` is longer than a block, so that copies may write past their end.
    pub(super) const fn new(literals: &'s mut [u8], items: &'s mut [u64]) -> Self {
        Store { literals: Put::new(literals), items, count: 0, repeats: [1, 4, 8] }
    }

    /// Begins a block.
    pub(super) const fn clear(&mut self) {
        self.literals.at = 0;
        self.count = 0;
    }

    /// Appends bytes `literals..at` of `src` and a match.
    #[inline(always)]
    pub(super) fn push(&mut self, src: &[u8], literals: usize, at: usize, distance: u32, len: usize) -> Option<()> {
        self.literals.slice(src, literals, at)?;
        let run = at.wrapping_sub(literals);
        let offset = self.offset(distance, run == 0);
        *self.items.get_mut(self.count)? = Sequence::new(offset, run, len).0;
        self.count = self.count.wrapping_add(1);
        Some(())
    }

    /// Appends the literals after the last match, bytes `literals..end` of `src`. A block without matches is not copied.
    #[inline]
    pub(super) fn finish(&mut self, src: &[u8], literals: usize, end: usize) -> Option<()> {
        if self.count == 0 { Some(()) } else { self.literals.slice(src, literals, end) }
    }

    /// Returns the literals of `block`, which the store has split.
    pub(super) fn literals<'b>(&'b self, block: &'b [u8]) -> &'b [u8] {
        if self.count == 0 { block } else { self.literals.written() }
    }

    /// Returns the value that stands for the distance (RFC 8878, section 3.1.1.5), which becomes recent.
    #[inline(always)]
    fn offset(&mut self, distance: u32, no_literals: bool) -> u32 {
        let [a, b, c] = self.repeats;
        if distance == a && !no_literals {
            return 1;
        }
        let value: u32 = match () {
            () if distance == b => 2,
            () if distance == c => 3,
            () if no_literals && distance == a.wrapping_sub(1) => 4,
            () => {
                self.repeats = [distance, a, b];
                return distance.wrapping_add(3);
            }
        };
        self.repeats = if value == 2 { [b, a, c] } else { [distance, a, b] };
        // Without literals, the first distance cannot be meant, and the others are one value lower.
        if no_literals { value.wrapping_sub(1) } else { value }
    }
}

/// The contents of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Predefined,
    Described,
}

/// The table of one of the three codes, which the next block can use again.
struct Coder<'s> {
    codes: Codes,
    table: &'s mut Table,
    norm: Norm,
    holds: Holds,
}

impl<'s> Coder<'s> {
    fn new(codes: Codes, table: &'s mut Table) -> Self {
        Coder { codes, table, norm: Norm::predefined(codes), holds: Holds::Nothing }
    }

    /// Sets the table to the cheapest one for symbols with these counts, and writes its description. Returns
    /// its mode (RFC 8878, section 3.1.1.3.2.1).
    fn choose(&mut self, counts: &[u32; SYMBOLS], out: &mut Put<'_>) -> Option<u8> {
        let mut present = (0u8..).zip(counts).filter(|(_, count)| **count > 0).map(|(symbol, _)| symbol);
        if let (Some(symbol), None) = (present.next(), present.next()) {
            self.table.single();
            self.holds = Holds::Nothing;
            out.byte(symbol)?;
            return Some(1);
        }
        let predefined = Norm::predefined(self.codes);
        let norm = Norm::of(counts, self.codes.most_log());
        let mut room = [0; DESCRIPTION_LEN];
        let mut described = Put::new(&mut room);
        norm.describe(&mut described)?;
        let description = described.at;
        let fresh = norm.cost(counts).unwrap_or(u64::MAX).saturating_add((description as u64) << 3);
        let fixed = predefined.cost(counts).unwrap_or(u64::MAX);
        let again = match self.holds {
            Holds::Described => self.norm.cost(counts).unwrap_or(u64::MAX),
            _ => u64::MAX,
        };
        if again <= fresh.min(fixed) && again < u64::MAX {
            return Some(3);
        }
        if fixed <= fresh {
            if self.holds != Holds::Predefined {
                self.norm = predefined;
                self.table.build(&predefined);
                self.holds = Holds::Predefined;
            }
            return Some(0);
        }
        self.norm = norm;
        self.table.build(&norm);
        self.holds = Holds::Described;
        out.exactly(room.get(..description)?)?;
        Some(2)
    }
}

/// The three tables.
pub(super) struct Sequences<'s> {
    literals: Coder<'s>,
    offsets: Coder<'s>,
    matches: Coder<'s>,
}

impl<'s> Sequences<'s> {
    pub(super) fn new([literals, offsets, matches]: &'s mut [Table; 3]) -> Self {
        Sequences {
            literals: Coder::new(Codes::Literals, literals),
            offsets: Coder::new(Codes::Offsets, offsets),
            matches: Coder::new(Codes::Matches, matches),
        }
    }

    /// Forgets the tables, because the decoder does not get them.
    pub(super) const fn clear(&mut self) {
        self.literals.holds = Holds::Nothing;
        self.offsets.holds = Holds::Nothing;
        self.matches.holds = Holds::Nothing;
    }

    /// Writes the section.
    pub(super) fn write(&mut self, store: &Store<'_>, out: &mut Put<'_>) -> Option<()> {
        let items = store.items.get(..store.count)?;
        let count = len32(items.len());
        match count {
            0..128 => out.byte(low8(count as usize))?,
            128..0x7f00 => out.array([low8((count >> 8) as usize) | 128, low8(count as usize)])?,
            _ => {
                let [low, high, ..] = count.wrapping_sub(0x7f00).to_le_bytes();
                out.array([255, low, high])?;
            }
        }
        if count == 0 {
            return Some(());
        }
        let mut counts = [[0u32; SYMBOLS]; 3];
        for item in items {
            for (counts, code) in counts.iter_mut().zip(Sequence(*item).codes()) {
                if let Some(count) = counts.get_mut(usize::from(code)) {
                    *count = count.wrapping_add(1);
                }
            }
        }
        let modes_at = out.at;
        out.byte(0)?;
        let [l, o, m] = &counts;
        let l = self.literals.choose(l, out)?;
        let o = self.offsets.choose(o, out)?;
        let m = self.matches.choose(m, out)?;
        out.set(modes_at, l << 6 | o << 4 | m << 2)?;
        self.stream(items, out)
    }

    /// Writes the stream, which begins with the last sequence.
    fn stream(&self, items: &[u64], out: &mut Put<'_>) -> Option<()> {
        let tables = [&*self.literals.table, &*self.offsets.table, &*self.matches.table];
        simd::run(Stream { tables, items, out })
    }
}

/// Writes the stream: with BMI2, which shifts by any register and masks in one instruction, frames at level 1 take 0.91 to 0.94 of the
/// instructions.
struct Stream<'s, 'o, 'p> {
    tables: [&'s Table; 3],
    items: &'s [u64],
    out: &'o mut Put<'p>,
}

impl Kernel for Stream<'_, '_, '_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> Option<()> {
        let [l, o, m] = self.tables;
        let (last, rest) = self.items.split_last()?;
        let mut bits = Bits::new(self.out);
        let last = Sequence(*last);
        let codes = last.codes();
        let (mut l_state, mut o_state, mut m_state) = (l.begin(codes[0]), o.begin(codes[1]), m.begin(codes[2]));
        extras(last, codes, &mut bits)?;
        for item in rest.iter().rev() {
            let sequence = Sequence(*item);
            let codes = sequence.codes();
            o.encode(&mut o_state, codes[1], &mut bits);
            m.encode(&mut m_state, codes[2], &mut bits);
            l.encode(&mut l_state, codes[0], &mut bits);
            extras(sequence, codes, &mut bits)?;
        }
        m.end(m_state, &mut bits);
        o.end(o_state, &mut bits);
        l.end(l_state, &mut bits);
        bits.mark()
    }
}

/// Appends the extra bits of a sequence, after at most 26 bits since the last flush, and flushes.
#[inline(always)]
fn extras(sequence: Sequence, [l, o, m]: [u8; 3], bits: &mut Bits<'_>) -> Option<()> {
    let l = LITERALS.get(usize::from(l)).copied().unwrap_or(0).into();
    let m = MATCHES.get(usize::from(m)).copied().unwrap_or(0).into();
    let o = u32::from(o);
    bits.add(lowest(sequence.literals(), l), l);
    if l.wrapping_add(m).wrapping_add(o) > 56 - 26 {
        bits.flush()?;
    }
    bits.add(lowest(sequence.len(), m), m);
    bits.add(lowest(sequence.offset(), o), o);
    bits.flush()
}

#[inline(always)]
fn lowest(value: u32, n: u32) -> u64 {
    (value & !(u32::MAX << (n & 31))).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_at_the_ends_of_the_tables() {
        let codes = |literals, len| {
            let [l, _, m] = Sequence::new(1, literals, len).codes();
            (l, m)
        };
        assert_eq!([codes(0, 3), codes(15, 34), codes(16, 35), codes(17, 36)], [(0, 0), (15, 31), (16, 32), (16, 32)]);
        assert_eq!([codes(63, 130), codes(64, 131), codes(127, 258)], [(24, 42), (25, 43), (25, 43)]);
        assert_eq!([codes(128, 259), codes(131_071, 131_074)], [(26, 44), (35, 52)]);
    }

    #[test]
    fn recent_distances() {
        let (mut literals, mut items) = ([0; 32], [0; 16]);
        let mut store = Store::new(&mut literals, &mut items);
        // Distance, whether there are no literals, the value, and the recent distances afterwards: the steps of the
        // decoder's test.
        let steps = [
            (1, false, 1, [1, 4, 8]),
            (4, false, 2, [4, 1, 8]),
            (8, false, 3, [8, 4, 1]),
            (10, true, 13, [10, 8, 4]),
            (8, true, 1, [8, 10, 4]),
            (4, true, 2, [4, 8, 10]),
            (3, true, 3, [3, 4, 8]),
        ];
        for (distance, no_literals, value, kept) in steps {
            assert_eq!(store.offset(distance, no_literals), value);
            assert_eq!(store.repeats, kept);
        }
    }
}
