//! Kernels with one body for all words, for targets where code size matters more than speed. The lanes of a
//! row are adjacent in words of 64 bits; masks separate them.

use super::{BLOCK, ORDER, place, row_start};
use crate::encoding::cells::Cells;

/// Repeats `lane` in each lane of `bits` bits.
pub(super) const fn lanes(lane: u64, bits: u32) -> u64 {
    lane.wrapping_mul(match bits {
        8 => 0x0101_0101_0101_0101,
        16 => 0x0001_0001_0001_0001,
        32 => 0x0000_0001_0000_0001,
        _ => 1,
    })
}

/// Returns a mask of the lowest `bits` bits, at most 64.
pub(super) const fn low(bits: u32) -> u64 {
    match u64::MAX.checked_shr(64u32.saturating_sub(bits)) {
        Some(mask) => mask,
        None => 0,
    }
}

/// Returns where the bits of row `r` begin: the row of words, and the shift in each. `bits` is a power of
/// two.
const fn start(r: usize, width: u32, bits: u32) -> (usize, u32) {
    let first = (r as u64).wrapping_mul(width as u64);
    #[allow(clippy::cast_possible_truncation, reason = "rows and widths are at most 64")]
    const fn narrow(first: u64) -> u32 {
        first as u32
    }
    let first = narrow(first);
    ((first >> bits.trailing_zeros()) as usize, first & bits.wrapping_sub(1))
}

/// Decodes values starting at `first`, whole blocks row by row and parts of blocks value by value.
pub(super) fn run(packed: &[[u8; 128]], width: u32, mut first: usize, mut out: Cells<'_>) -> Option<()> {
    let bits = u32::try_from(out.width()).ok()?.wrapping_mul(8);
    let mut done = 0usize;
    while done < out.len() {
        let block = packed.get((first / BLOCK).checked_mul(width as usize)?..)?;
        let (skip, left) = (first % BLOCK, out.len().saturating_sub(done));
        let len = BLOCK.saturating_sub(skip).min(left);
        if len == BLOCK {
            unpack(block, width, bits, out.part(done, len))?;
        } else {
            for i in 0..len {
                out.put(done.saturating_add(i), &[get(block, width, bits, skip.saturating_add(i))?]);
            }
        }
        first = first.saturating_add(len);
        done = done.saturating_add(len);
    }
    Some(())
}

/// Decodes one block.
fn unpack(packed: &[[u8; 128]], width: u32, bits: u32, mut out: Cells<'_>) -> Option<()> {
    for r in 0..bits as usize {
        let (k, shift) = start(r, width, bits);
        let up = bits.wrapping_sub(shift);
        // Masks of the bits of a value in this word and in the next word.
        let below = lanes(low(width) & low(up), bits);
        let above = lanes(low(width) & !low(up), bits);
        let zero = [0; 128];
        let row = if width == 0 { &zero } else { packed.get(k)? };
        let next = if above == 0 { row } else { packed.get(k.wrapping_add(1))? };
        let mut made = [[0; 8]; 16];
        for ((to, word), next) in made.iter_mut().zip(row.as_chunks().0).zip(next.as_chunks().0) {
            let (word, next) = (u64::from_le_bytes(*word), u64::from_le_bytes(*next));
            *to = (word >> (shift & 63) & below | next << (up & 63) & above).to_le_bytes();
        }
        let row_len = super::lanes(out.width());
        out.part(row_start(r), row_len).load(made.as_flattened()).ok()?;
    }
    Some(())
}

/// Returns value `i` of a block.
fn get(packed: &[[u8; 128]], width: u32, bits: u32, i: usize) -> Option<u64> {
    if width == 0 {
        return Some(0);
    }
    let (r, lane) = place(i, bits as usize);
    let (k, shift) = start(r, width, bits);
    let at = lane.wrapping_mul(bits as usize);
    let word = |k: usize| {
        let words = packed.get(k)?.as_chunks().0;
        Some(u64::from_le_bytes(*words.get(at >> 6)?) >> (at & 63) & low(bits))
    };
    let mut value = word(k)? >> shift;
    if shift.wrapping_add(width) > bits {
        value |= word(k.wrapping_add(1))? << (bits.wrapping_sub(shift) & 63);
    }
    Some(value & low(width))
}

/// Packs values row by row, each truncated to `width` bits. The rest of the last block becomes zeros.
pub(super) fn pack(len: usize, value: &mut dyn FnMut(usize) -> u64, bits: u32, width: u32, rows: &mut [[u8; 128]]) {
    let blocks = rows.chunks_mut((width as usize).max(1));
    for (block, rows) in blocks.enumerate() {
        let first = block.wrapping_mul(BLOCK);
        let value = &mut |i| {
            let i = first.wrapping_add(i);
            if i < len { value(i) & low(width) } else { 0 }
        };
        for (k, row) in (0..width).zip(rows) {
            for (lane, to) in row.chunks_mut((bits >> 3).max(1) as usize).enumerate() {
                to.iter_mut().zip(word(value, bits, width, k, lane).to_le_bytes()).for_each(|(to, byte)| *to = byte);
            }
        }
    }
}

/// Returns the word of `bits` bits of a lane in row `k` of a packed block. `value` returns the value with an index below
/// 1024, which has at most `width` bits. The word may have bits above.
///
/// ```
/// use pilaster::unstable::encoding::fastlanes;
///
/// let values: Vec<u32> = (0..1024).collect();
/// let mut packed = [0; 1280];
/// fastlanes::pack(&values, 0, 10, &mut packed)?;
/// for (k, row) in (0..10).zip(packed.as_chunks::<128>().0) {
///     for (lane, word) in row.as_chunks().0.iter().enumerate() {
///         let packed = fastlanes::packed_word(&mut |i| u64::from(values[i]), 32, 10, k, lane);
///         assert_eq!(packed as u32, u32::from_le_bytes(*word));
///     }
/// }
/// # Ok::<(), pilaster::Error>(())
/// ```
pub fn word(value: &mut dyn FnMut(usize) -> u64, bits: u32, width: u32, k: u32, lane: usize) -> u64 {
    // The first value in this word, and how many of its bits are in the word before.
    let start = k.wrapping_mul(bits);
    let first = start.checked_div(width).unwrap_or(0);
    let before = start.wrapping_sub(first.wrapping_mul(width));
    let (mut word, mut r, mut end) = (0, first as usize, 0);
    while end < bits.wrapping_add(before) {
        let value = value(row_start(r).wrapping_add(lane));
        word |= if end == 0 { value >> (before & 63) } else { value << (end.wrapping_sub(before) & 63) };
        (r, end) = (r.wrapping_add(1), end.wrapping_add(width.max(1)));
    }
    word
}

/// Decodes one block from its deltas and the base of each lane.
pub(super) fn undelta(bases: &mut Cells<'_>, deltas: &mut Cells<'_>, out: &mut Cells<'_>) -> Option<()> {
    let size = deltas.width();
    let bits = u32::try_from(size).ok()?.wrapping_mul(8);
    if bits > 64 || bases.width() != size || out.width() != size || out.len() < BLOCK || deltas.len() < BLOCK {
        return None;
    }
    let sums = bases.bytes_mut().first_chunk_mut::<128>()?;
    // The lower bits of each lane are summed without overflow into the next lane; the highest bits are then
    // added without carry.
    let highest = lanes(low(bits) ^ low(bits.wrapping_sub(1)), bits);
    for r in 0..bits as usize {
        let row = deltas.bytes_mut().get_mut(row_start(r).checked_mul(size)?..)?.first_chunk_mut::<128>()?;
        for (sum, delta) in sums.as_chunks_mut().0.iter_mut().zip(row.as_chunks_mut().0) {
            let (a, b) = (u64::from_ne_bytes(*sum), u64::from_ne_bytes(*delta));
            *sum = ((a & !highest).wrapping_add(b & !highest) ^ (a ^ b) & highest).to_ne_bytes();
            *delta = *sum;
        }
    }
    // Transposition t(i), as in `delta`: eight rows of 128. Each run of the output is a column.
    for lane in 0..16u32 {
        for (q, from) in ORDER.iter().zip(0u32..) {
            let column = from << 4 | lane;
            let codes = [0u32, 1, 2, 3, 4, 5, 6, 7].map(|row| row << 7 | column);
            let first = (lane as usize) << 6 | *q << 3;
            if out.part(first, 8).gather(deltas, &codes).is_some() {
                return None;
            }
        }
    }
    Some(())
}
