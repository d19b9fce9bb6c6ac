//! The literals of a block, for encoding (RFC 8878, section 3.1.1.3.1).

use super::costs::entropy;
use super::fse::Table;
use super::huffman::Code;
use super::split::GAIN;
use crate::bytes::FAST;
use crate::codec::greedy::Put;
use crate::codec::zstd::huffman::SYMBOLS;

/// Sufficient length of the description of a code.
const DESCRIPTION_LEN: usize = 256;
/// Fewer literals are stored as they are: a code hardly pays for its description.
const FEW: usize = 32;
/// Number of literals from which there are four streams, which decode faster.
const MANY: usize = 256;

/// The kinds of a literals section.
const RAW: u64 = 0;
const REPEATED: u64 = 1;
const DESCRIBED: u64 = 2;
const AGAIN: u64 = 3;

/// The code of the previous blocks.
pub(super) struct Literals<'s> {
    code: &'s mut Code,
    holds: bool,
    /// For the description of a code.
    table: &'s mut Table,
}

impl<'s> Literals<'s> {
    pub(super) const fn new(code: &'s mut Code, table: &'s mut Table) -> Self {
        Literals { code, holds: false, table }
    }

    /// Forgets the code, because the decoder does not get it.
    pub(super) const fn clear(&mut self) {
        self.holds = false;
    }

    /// Writes the section in its shortest form, or without a code if `noise`.
    pub(super) fn write(&mut self, literals: &[u8], noise: bool, out: &mut Put<'_>) -> Option<()> {
        let len = literals.len();
        if len > FEW && !noise {
            let counts = counts(literals);
            if counts.iter().any(|count| *count as usize == len) {
                plain(REPEATED, len, literals.get(..1)?, out)?;
                return Some(());
            }
            let gain = (len >> GAIN).wrapping_add(2);
            let most = len.saturating_sub(gain);
            if bytes(entropy(&counts)) < most && self.coded(literals, &counts, most, out)? {
                return Some(());
            }
        }
        plain(RAW, len, literals, out)
    }

    /// Writes the section by a code, unless it takes more than `most` bytes. Returns whether it was written.
    fn coded(&mut self, literals: &[u8], counts: &[u32; SYMBOLS], most: usize, out: &mut Put<'_>) -> Option<bool> {
        let mut room = [0; DESCRIPTION_LEN];
        let mut described = Put::new(&mut room);
        let code = Code::of(counts);
        let fresh = code.describe(self.table, &mut described).and_then(|()| code.cost(counts));
        let description = described.at;
        let fresh = fresh.map_or(usize::MAX, |bits| bytes(bits).wrapping_add(description));
        let again = Some(()).filter(|()| self.holds).and_then(|()| self.code.cost(counts)).map_or(usize::MAX, bytes);
        let four = literals.len() >= MANY;
        let behind = if four { 10 } else { 1 };
        if fresh.min(again).saturating_add(behind) > most {
            return Some(false);
        }
        let start = out.at;
        let head = head(literals.len(), four);
        out.zeros(head)?;
        let kind = if again <= fresh {
            AGAIN
        } else {
            *self.code = code;
            self.holds = true;
            out.exactly(room.get(..description)?)?;
            DESCRIBED
        };
        self.streams(literals, four, out)?;
        let stored = out.at.wrapping_sub(start).wrapping_sub(head);
        let (format, width) = match (four, head) {
            (false, _) => (0, 10),
            (true, 3) => (1, 10),
            (true, 4) => (2, 14),
            (true, _) => (3, 18),
        };
        if stored >> width != 0 {
            return None;
        }
        let word = kind | format << 2 | (literals.len() as u64) << 4 | (stored as u64) << 4u32.wrapping_add(width);
        for (i, byte) in word.to_le_bytes().into_iter().take(head).enumerate() {
            out.set(start.wrapping_add(i), byte)?;
        }
        Some(true)
    }

    /// Writes one stream, or the lengths of four and these.
    fn streams(&self, literals: &[u8], four: bool, out: &mut Put<'_>) -> Option<()> {
        if !four {
            return self.code.stream(literals, out);
        }
        let mut length_at = out.at;
        out.zeros(6)?;
        let mut parts = literals.chunks(literals.len().div_ceil(4)).peekable();
        while let Some(part) = parts.next() {
            let start = out.at;
            self.code.stream(part, out)?;
            let [low, high] = u16::try_from(out.at.wrapping_sub(start)).ok()?.to_le_bytes();
            if parts.peek().is_some() {
                out.set(length_at, low)?;
                out.set(length_at.wrapping_add(1), high)?;
                length_at = length_at.wrapping_add(2);
            }
        }
        Some(())
    }
}

/// Returns the length of the header of `len` literals.
const fn head(len: usize, four: bool) -> usize {
    match len {
        _ if !four => 3,
        0..1024 => 3,
        1024..16_384 => 4,
        _ => 5,
    }
}

const fn bytes(bits: u64) -> usize {
    crate::codec::zstd::bits::size(bits.div_ceil(8))
}

/// Writes literals without a code: all of them, or the one that is repeated.
fn plain(kind: u64, len: usize, stored: &[u8], out: &mut Put<'_>) -> Option<()> {
    let n = len as u64;
    let (head, word) = match len {
        0..32 => (1, kind | n << 3),
        32..4096 => (2, kind | 1 << 2 | n << 4),
        _ => (3, kind | 3 << 2 | n << 4),
    };
    out.exactly(word.to_le_bytes().get(..head)?)?;
    out.exactly(stored)
}

/// Counts bytes.
pub(super) fn counts(bytes: &[u8]) -> [u32; SYMBOLS] {
    let mut counts = [0u32; SYMBOLS];
    let count = |counts: &mut [u32; SYMBOLS], byte: u8| {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count = count.wrapping_add(1);
        }
    };
    let mut rest = bytes;
    if FAST {
        // Equal bytes in a row would wait for each other.
        let mut more = [[0u32; SYMBOLS]; 3];
        let (quads, behind) = bytes.as_chunks::<4>();
        let [b, c, d] = &mut more;
        for quad in quads {
            count(&mut counts, quad[0]);
            count(b, quad[1]);
            count(c, quad[2]);
            count(d, quad[3]);
        }
        for other in &more {
            counts.iter_mut().zip(other).for_each(|(to, from)| *to = to.wrapping_add(*from));
        }
        rest = behind;
    }
    rest.iter().for_each(|byte| count(&mut counts, *byte));
    counts
}
