//! Converts rows to words, 64 at a time, and packs them.

use super::len::mask_bytes;
use super::mask::Mask;
use super::stats::{equal, runs};
use crate::bytes::{Bits, low32};
use crate::encoding::bitpack::Packing;
use crate::encoding::bitpack::pack::{self, BLOCK, Word};
use crate::encoding::linear::Line;
use crate::encoding::min_max::{low_int, whole as to_int};
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::QUARTER_MS;

/// The source of the words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// Booleans, already packed to words of 64.
    Bits(Bits<'a>),
    /// Numbers of 32 bits, without conversion.
    Narrow(&'a [u32]),
    /// Numbers of 64 bits, without conversion.
    Wide(&'a [u64]),
    /// Doubles, converted to the ints that they are equal to. Other doubles are errors, also -0.0.
    Whole(&'a [f64]),
    /// Doubles, known to be equal to ints.
    Ints(&'a [f64]),
    /// Differences of 32-bit numbers to a base.
    NarrowDiff(&'a [u32], u32),
    /// Differences of 64-bit numbers to a line.
    WideDiff(&'a [u64], Line),
    /// UTC offsets in milliseconds, converted to quarter hours minus a base.
    Quarters(&'a [i32], i32),
}

/// Words, and the rows that have a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells<'a> {
    pub source: Source<'a>,
    pub mask: Mask<'a>,
}

impl<'a> Cells<'a> {
    /// Returns the number of bytes that [`pack`](Self::pack) fills.
    pub const fn bytes(&self, packing: Packing) -> usize {
        match self.source {
            Source::Bits(_) => mask_bytes(self.mask.rows()),
            _ => packing.bytes(self.mask.rows()),
        }
    }

    /// Packs all rows into `to`. Missing rows become `missing`, truncated to the width.
    pub fn pack(&self, packing: Packing, missing: u64, to: &mut [u8]) -> Result<()> {
        let mask = &self.mask;
        match self.source {
            Source::Bits(bits) => {
                for (to, block) in to.as_chunks_mut::<8>().0.iter_mut().zip(mask.blocks()) {
                    *to = (bits.word(block.saturating_mul(BLOCK)) & mask.present(block)).to_le_bytes();
                }
                Ok(())
            }
            Source::Narrow(words) => drive(packing, mask, low32(missing), to, &|at, _, block: &mut [u32; BLOCK]| {
                load(words, at, block);
                None
            }),
            Source::Wide(words) => drive(packing, mask, missing, to, &|at, _, block: &mut [u64; BLOCK]| {
                load(words, at, block);
                None
            }),
            Source::NarrowDiff(words, base) => drive(packing, mask, low32(missing), to, &|at, _, block| {
                for (to, word) in block.iter_mut().zip(view(words, at, &mut [0; BLOCK])) {
                    *to = u32::wrapping_sub(*word, base);
                }
                None
            }),
            Source::WideDiff(words, line) => {
                let step = Line { base: 0, ..line };
                let steps: [u64; BLOCK] = core::array::from_fn(|i| step.at(i));
                drive(packing, mask, missing, to, &|at, _, block| {
                    let start = line.at(at);
                    for ((to, word), step) in block.iter_mut().zip(view(words, at, &mut [0; BLOCK])).zip(&steps) {
                        *to = u64::wrapping_sub(*word, start.wrapping_add(*step));
                    }
                    None
                })
            }
            Source::Whole(doubles) => drive(packing, mask, low32(missing), to, &|at, keep, block| {
                whole(view(doubles, at, &mut [0.0; BLOCK]), keep, block)
            }),
            Source::Ints(doubles) => drive(packing, mask, low32(missing), to, &|at, _, block: &mut [u32; BLOCK]| {
                for (word, value) in block.iter_mut().zip(view(doubles, at, &mut [0.0; BLOCK])) {
                    *word = low_int(*value).cast_unsigned();
                }
                None
            }),
            Source::Quarters(offsets, base) => drive(packing, mask, low32(missing), to, &|at, keep, block| {
                let mut values = [0; BLOCK];
                load(offsets, at, &mut values);
                quarters(&values, base, keep, block)
            }),
        }
    }

    /// Returns the first row with a value, or `None` if all are missing. Fails if two values have different bits.
    pub fn constant(&self) -> Result<Option<usize>> {
        let other = match self.source {
            Source::Narrow(words) => another(words, &self.mask),
            Source::Wide(words) => another(words, &self.mask),
            Source::Bits(bits) => {
                let first = self.mask.first().and_then(|row| bits.get(row)) == Some(true);
                (0..self.mask.rows()).find(|row| self.mask.get(*row) && bits.get(*row) != Some(first))
            }
            // Constant and repeated encodings use only the sources above.
            _ => None,
        };
        match other {
            Some(row) => Err(lossy(What::FILO_DATA, row)),
            None => Ok(self.mask.first()),
        }
    }

    /// Returns the cells of row `row` alone, or of a single zero if `row` is `None`.
    pub fn one(&self, row: Option<usize>) -> Cells<'a> {
        fn cell<T>(values: &[T], row: usize) -> &[T] {
            values.get(row..).and_then(|values| values.get(..1)).unwrap_or_default()
        }
        let source = match (self.source, row) {
            (Source::Bits(bits), Some(row)) => bits.slice(row, 1).map_or(Source::Wide(&[]), Source::Bits),
            (Source::Narrow(words), Some(row)) => Source::Narrow(cell(words, row)),
            (Source::Wide(words), Some(row)) => Source::Wide(cell(words, row)),
            _ => Source::Wide(&[]),
        };
        Cells { source, mask: Mask::all(1) }
    }
}

/// Fills a block with the words starting at row `at`. The second argument has one bit per row of the block, 1 = has a
/// value. Returns the index of the first value in the block that the source cannot convert.
type Load<'l, W> = &'l dyn Fn(usize, u64, &mut [W; BLOCK]) -> Option<usize>;

/// Packs all blocks: loads, checks and packs one block after another.
fn drive<W: Word>(packing: Packing, mask: &Mask<'_>, missing: W, to: &mut [u8], fill: Load<'_, W>) -> Result<()> {
    let per_block = packing.bytes(BLOCK);
    let mut rest = to;
    let mut words = [W::default(); BLOCK];
    for block in mask.blocks() {
        let at = block.saturating_mul(BLOCK);
        let keep = mask.present(block);
        let misfit = fill(at, keep, &mut words).or_else(|| {
            pack::select(&mut words, keep, W::default());
            pack::misfit(packing, &words)
        });
        if let Some(i) = misfit {
            return Err(lossy(What::FILO_DATA, at.saturating_add(i)));
        }
        // Rows after the last one are not stored, so their values do not matter.
        if missing != W::default() {
            pack::select(&mut words, keep, missing);
        }
        let len = per_block.min(rest.len());
        let Some((head, tail)) = rest.split_at_mut_checked(len) else { break };
        pack::pack(packing, &words, head);
        rest = tail;
    }
    Ok(())
}

/// Returns the values starting at row `at` in place; at the end, a copy padded with zeros.
fn view<'v, T: Copy + Default>(values: &'v [T], at: usize, copy: &'v mut [T; BLOCK]) -> &'v [T; BLOCK] {
    match values.get(at..).and_then(<[T]>::first_chunk) {
        Some(full) => full,
        None => {
            load(values, at, copy);
            copy
        }
    }
}

/// Copies the values starting at row `at`; pads with zeros after the last.
fn load<T: Copy + Default>(values: &[T], at: usize, block: &mut [T; BLOCK]) {
    let values = values.get(at..).unwrap_or_default();
    match values.first_chunk::<BLOCK>() {
        Some(full) => *block = *full,
        None => {
            *block = [T::default(); BLOCK];
            for (to, value) in block.iter_mut().zip(values) {
                *to = *value;
            }
        }
    }
}

/// Converts doubles to ints. Returns the index of the first double that is not an int.
fn whole(values: &[f64; BLOCK], keep: u64, block: &mut [u32; BLOCK]) -> Option<usize> {
    if keep != u64::MAX {
        let mut present = *values;
        pack::select(&mut present, keep, 0.0);
        return ints(&present, block);
    }
    ints(values, block)
}

fn ints(values: &[f64; BLOCK], block: &mut [u32; BLOCK]) -> Option<usize> {
    let mut wrong = 0;
    for (word, value) in block.iter_mut().zip(values) {
        *word = low_int(*value).cast_unsigned();
        // Converting back detects all other doubles by their bits.
        wrong |= f64::from(word.cast_signed()).to_bits() ^ value.to_bits();
    }
    if wrong == 0 {
        return None;
    }
    values.iter().position(|value| to_int(*value).is_none())
}

/// Converts milliseconds to quarter hours minus `base`. Returns the index of the first offset that is not a multiple of
/// a quarter of an hour.
fn quarters(offsets: &[i32; BLOCK], base: i32, keep: u64, block: &mut [u32; BLOCK]) -> Option<usize> {
    let mut wrong = 0;
    for (i, (word, offset)) in block.iter_mut().zip(offsets).enumerate() {
        *word = (offset / QUARTER_MS).wrapping_sub(base).cast_unsigned();
        wrong |= u64::from(offset % QUARTER_MS != 0) << i;
    }
    let wrong = wrong & keep;
    (wrong != 0).then_some(wrong.trailing_zeros() as usize)
}

/// Returns the first row whose value differs from the first value.
fn another<T: Copy + PartialEq>(values: &[T], mask: &Mask<'_>) -> Option<usize> {
    let first = values.get(mask.first()?).copied()?;
    if equal(values, mask, first) {
        return None;
    }
    values.iter().enumerate().position(|(row, value)| *value != first && mask.get(row))
}

/// Returns the minimum. Computed in eight lanes, because there is no vector instruction for 64-bit minima.
pub(super) fn least<T: Copy + Ord>(values: &[T], mask: &Mask<'_>) -> Option<T> {
    let first = values.get(mask.first()?).copied()?;
    let mut least = [first; 8];
    runs(values, mask, first, |run| {
        let (eights, rest) = run.as_chunks::<8>();
        for eight in eights {
            for (least, value) in least.iter_mut().zip(eight) {
                *least = (*value).min(*least);
            }
        }
        for (least, value) in least.iter_mut().zip(rest) {
            *least = (*value).min(*least);
        }
        true
    });
    least.into_iter().min()
}

#[cold]
pub(super) fn lossy(what: What, row: usize) -> Error {
    Error::new(Kind::Lossy, what, row as u64)
}
