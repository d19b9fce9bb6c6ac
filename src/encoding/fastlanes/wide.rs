//! Rows of 128 bytes as words of 64 bits, whatever the type of the values, and the kernel that unpacks bytes.
//!
//! Masks remove the bits that come from another lane.

use super::{row_start, small};
use crate::simd::{Kernel, Lanes};

/// A row of values or of packed words.
pub(super) type Row = [u8; 128];

/// Bits of a byte, and rows of values per block.
const BITS: usize = 8;

/// Unpacks blocks to bytes. Vectors have no shifts of bytes.
pub(super) struct Unpack<'p, 'v> {
    /// `width` rows for each block.
    pub packed: &'p [Row],
    pub width: usize,
    pub values: &'v mut [Row],
}

impl Kernel for Unpack<'_, '_> {
    type Output = Option<()>;

    /// Row by row in all blocks, because masks and shifts are computed for each row.
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> Option<()> {
        let lanes = |count: usize| small::lanes(1, BITS as u32).wrapping_mul(small::low(count as u32));
        let mask = lanes(self.width);
        let (mut k, mut shift) = (0, 0);
        for r in 0..BITS {
            let end = shift + self.width;
            let (mut from, mut to) = (k, row_start(r) / 128);
            // The bits of a value that are in the first word.
            let below = lanes(BITS - shift) & mask;
            while let Some(values) = self.values.get_mut(to) {
                if end > BITS {
                    let rows = [self.packed.get(from)?, self.packed.get(from + 1)?];
                    two(values, rows, shift as u32, [below, mask ^ below]);
                } else {
                    one(values, self.packed.get(from)?, shift as u32, mask);
                }
                (from, to) = (from + self.width, to + BITS);
            }
            k += usize::from(end >= BITS);
            shift = end & (BITS - 1);
        }
        Some(())
    }
}

/// Returns four words of a row, `i` of four groups. In arrays of four, the compiler makes vectors of all lanes: it would unroll a
/// loop over the lanes first, and then not find the vectors.
#[inline(always)]
pub(super) fn load(row: &Row, i: usize) -> [u64; 4] {
    let groups = row.as_chunks().0.as_chunks().0;
    groups.get(i).map_or([0; 4], |words| words.map(u64::from_le_bytes))
}

/// Sets four words of a row.
#[inline(always)]
pub(super) fn store(row: &mut Row, i: usize, words: [u64; 4]) {
    if let Some(to) = row.as_chunks_mut().0.as_chunks_mut().0.get_mut(i) {
        *to = words.map(u64::to_le_bytes);
    }
}

/// Unpacks values that are inside one word.
#[inline(always)]
fn one(values: &mut Row, row: &Row, shift: u32, mask: u64) {
    for i in 0..4 {
        store(values, i, load(row, i).map(|word| word >> (shift & 63) & mask));
    }
}

/// Unpacks values that continue in the next word.
#[inline(always)]
fn two(values: &mut Row, [low, high]: [&Row; 2], shift: u32, [below, above]: [u64; 2]) {
    let up = BITS as u32 - shift;
    for i in 0..4 {
        let (mut made, high) = (load(low, i).map(|word| word >> (shift & 63) & below), load(high, i));
        for l in 0..4 {
            made[l] |= high[l] << (up & 63) & above;
        }
        store(values, i, made);
    }
}
