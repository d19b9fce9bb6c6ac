//! Statistics for the choice of an encoding, computed in one scan of the rows.

use super::len::{delta_delta_len, fixed_max_len, mask_bytes, masked_len, packed_len, pad4};
use super::mask::Mask;
use super::utf8::{far, word};
use super::{Plain, Rows, Strings};
use crate::bytes::{Bits, FAST};
use crate::encoding::bitpack::Packing;
use crate::encoding::bitpack::pack::{self, BLOCK};
use crate::encoding::linear::Line;
use crate::encoding::min_max::{MinMax, add_whole, whole};
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{HEADER_LEN, QUARTER_MS};
use crate::filo::{Element, Encoding};

/// Statistics of rows. They determine the length of every encoding except dictionaries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stats<'a> {
    /// The element type.
    pub element: Element,
    /// Which rows have a value.
    pub mask: Mask<'a>,
    /// The first row that has a value.
    pub first: Option<usize>,
    /// Statistics of the values of valid rows, or of a zero if all rows are missing.
    pub present: Present,
    /// For longs without missing rows: the line, if the differences to it fit 32 bits.
    pub slant: Option<Slant>,
}

/// The line from the first value to the last, and the range of the differences to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slant {
    pub line: Line,
    pub distances: MinMax<i32>,
}

/// Statistics of the values of valid rows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Present {
    /// Booleans and floats: whether all have the same bits.
    Opaque { equal: bool },
    /// The range of ints, longs and timestamps. For ints it stops growing when it exceeds 16 bits, for longs without a
    /// line when it exceeds 32 bits, because no width depends on the further values.
    Integers(MinMax<i64>),
    /// Doubles: whether all have the same bits, and their range if all are equal to ints.
    Doubles { equal: bool, whole: Option<MinMax<i32>> },
    /// The ranges of instants and of their UTC offsets in quarters of an hour.
    DateTimes { millis: MinMax<i64>, zones: MinMax<i32> },
    /// Strings.
    Strings(Lengths),
}

/// Statistics of the lengths of strings, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// Whether all strings are equal.
    pub equal: bool,
    /// The maximum length.
    pub max: usize,
    /// The sum of all lengths.
    pub sum: usize,
    /// The sum of all lengths, each with a NUL and rounded up to a multiple of 4. Missing strings count as empty.
    pub padded: usize,
    /// The number of strings that need the long form in a UTF8 vector.
    pub long: usize,
}

impl<'a> Stats<'a> {
    /// Computes the statistics of all rows.
    ///
    /// # Errors
    /// [`Kind::Lossy`] with the row whose UTC offset is not a multiple of a quarter of an hour, [`Kind::Misuse`] if the
    /// number of offsets differs from the number of instants, and errors of [`Mask::new`] and [`Strings::get`].
    pub fn of(rows: &Rows<'a>) -> Result<Self> {
        let mask = Mask::new(rows)?;
        let first = mask.first();
        let mut slant = None;
        let present = match rows.values {
            Plain::Boolean(bits) => Present::Opaque { equal: equal_bits(bits, &mask) },
            Plain::Int(values) => Present::Integers(short_range(values, &mask, at(values, first)).into()),
            Plain::Long(values) => {
                let range;
                (range, slant) = longs(values, &mask, at(values, first));
                Present::Integers(range)
            }
            Plain::Timestamp(values) => Present::Integers(range(values, &mask, at(values, first))),
            Plain::Float(values) => {
                let bits: &[u32] = bytemuck::must_cast_slice(values);
                Present::Opaque { equal: equal(bits, &mask, at(bits, first)) }
            }
            Plain::Double(values) => doubles(values, &mask, at(values, first)),
            Plain::DateTime { millis, offsets } => {
                if offsets.len() != millis.len() {
                    return Err(Error::new(Kind::Misuse, What::FILO_ZONE, offsets.len() as u64));
                }
                let millis = range(millis, &mask, at(millis, first));
                Present::DateTimes { millis, zones: zones(offsets, &mask)? }
            }
            Plain::String(strings) | Plain::Utf8(strings) | Plain::Blob(strings) => {
                Present::Strings(lengths(strings, &mask, first)?)
            }
        };
        Ok(Stats { element: rows.values.element(), mask, first, present, slant })
    }

    /// Returns the exact length in bytes of the chunk in an encoding that can store the rows; `usize::MAX` for
    /// dictionaries, whose length [`Dictionary`](super::dictionary::Dictionary) computes.
    pub fn len(&self, encoding: Encoding) -> usize {
        let rows = self.mask.rows();
        let text = match self.present {
            Present::Strings(lengths) => lengths,
            _ => Lengths::NONE,
        };
        match encoding {
            Encoding::Empty => HEADER_LEN,
            Encoding::Simple(packing) => self.flat(40, self.data(packing, rows)),
            Encoding::Const(packing) => self.flat(40, self.data(packing, 1)),
            Encoding::Diff(packing) => self.flat(52, packing.bytes(rows)),
            Encoding::DiffDateTime { millis, zones } => {
                let zones = zones.map_or(0, |zones| pad4(zones.bytes(rows).saturating_add(4)));
                self.flat(68, zones.saturating_add(millis.bytes(rows)))
            }
            Encoding::SimpleString => self.flat(28, block_len(rows, text.padded)),
            Encoding::ConstString => self.flat(32, text.max.saturating_add(4 + 1)),
            Encoding::Packed(packing) => packed_len(packing, rows),
            Encoding::Masked(packing) => masked_len(packing, rows),
            Encoding::Repeated => {
                let value = match self.element {
                    Element::Int => 4,
                    Element::Utf8 | Element::Blob => text.max,
                    _ => 8,
                };
                value.saturating_add(HEADER_LEN + 4)
            }
            Encoding::DeltaDelta(packing) => delta_delta_len(packing, rows),
            Encoding::Utf8 => {
                let words = rows.saturating_add(text.long).saturating_mul(4);
                words.saturating_add(text.sum).saturating_add(HEADER_LEN + 4)
            }
            Encoding::FixedMaxUtf8 => fixed_max_len(rows, text.max),
            Encoding::DictString(_) | Encoding::DictUtf8(_) => usize::MAX,
        }
    }

    /// Returns the size in bytes of a FlatBuffer kind: header word, `fixed` bytes of the template, data, mask block.
    const fn flat(&self, fixed: usize, data: usize) -> usize {
        self.mask.flat().end(fixed.saturating_add(data)).saturating_add(HEADER_LEN)
    }

    /// Returns the size in bytes of the data of `rows` rows.
    const fn data(&self, packing: Packing, rows: usize) -> usize {
        match self.element {
            Element::Boolean => mask_bytes(rows),
            _ => packing.bytes(rows),
        }
    }
}

/// Returns the size in bytes of a string block (section 17): count, then per string offset, length and padded bytes.
const fn block_len(strings: usize, padded: usize) -> usize {
    strings.saturating_mul(8).saturating_add(padded).saturating_add(4)
}

impl Lengths {
    /// The lengths of no strings.
    pub const NONE: Lengths = Lengths { equal: true, max: 0, sum: 0, padded: 0, long: 0 };

    /// Adds a string of `len` bytes.
    #[inline]
    fn add(&mut self, len: usize) {
        self.max = self.max.max(len);
        self.sum = self.sum.saturating_add(len);
        self.padded = self.padded.saturating_add(pad4(len.saturating_add(1)));
    }
}

/// Returns the number of quarters of an hour in an offset, or `None` if it is not a whole number.
pub(super) const fn quarters(offset_ms: i32) -> Option<i32> {
    if offset_ms % QUARTER_MS == 0 { Some(offset_ms.wrapping_div(QUARTER_MS)) } else { None }
}

fn at<T: Copy + Default>(values: &[T], row: Option<usize>) -> T {
    row.and_then(|row| values.get(row)).copied().unwrap_or_default()
}

/// Passes the values in runs to `take`, with `filler` for missing rows, until it returns false. If the filler is a
/// value of a valid row, ranges and comparisons can ignore the mask.
pub(super) fn runs<T: Copy>(values: &[T], mask: &Mask<'_>, filler: T, mut take: impl FnMut(&[T]) -> bool) {
    if !mask.nulls() {
        // Short enough to remain in the first-level cache for a second pass.
        let _ = values.chunks(16 * BLOCK).all(take);
        return;
    }
    let mut staged = [filler; STAGED];
    let (runs, mut blocks) = (values.chunks(STAGED), mask.blocks());
    for run in runs {
        let Some(to) = staged.get_mut(..run.len()) else { return };
        to.copy_from_slice(run);
        for (values, block) in staged.as_chunks_mut::<BLOCK>().0.iter_mut().zip(&mut blocks) {
            pack::select(values, mask.present(block), filler);
        }
        if !take(staged.get(..run.len()).unwrap_or_default()) {
            return;
        }
    }
}

/// Number of values per run if some are missing.
const STAGED: usize = if FAST { 4 * BLOCK } else { BLOCK };

/// Returns the range of longs, and their line if no row is missing. One pass usually suffices for both: along a steep
/// line, minimum and maximum are near the ends; for a flat line, the residuals are the range.
fn longs(values: &[i64], mask: &Mask<'_>, first: i64) -> (MinMax<i64>, Option<Slant>) {
    let line = if mask.nulls() { None } else { Line::through(values) };
    let Some(line) = line else { return (wide_range(values, mask, first), None) };
    if line.slope == 0 {
        let range = wide_range(values, mask, first);
        let slant = Slant::of(line, range.min.checked_sub(first), range.max.checked_sub(first));
        // Otherwise wrapping differences may be small although the values are at both ends of the range of longs.
        if slant.is_some() || u32::try_from(range.distance()).is_ok() {
            return (range, slant);
        }
    }
    let Some(slant) = Slant::along(line, values) else { return (wide_range(values, mask, first), None) };
    let range = slant.range(values).unwrap_or_else(|| {
        let near = wide_range(values, mask, first);
        if u32::try_from(near.distance()).is_ok() { near } else { range(values, mask, first) }
    });
    (range, Some(slant))
}

impl Slant {
    fn of(line: Line, min: Option<i64>, max: Option<i64>) -> Option<Self> {
        let distances = MinMax { min: i32::try_from(min?).ok()?, max: i32::try_from(max?).ok()? };
        Some(Slant { line, distances })
    }

    /// Returns whether the reader of the original program, which multiplies slope and row in 32 bits, reads the values of
    /// this line (section 13, item 1).
    pub fn is_read_by_original(&self, rows: usize) -> bool {
        let end = u64::from(self.line.slope.unsigned_abs()).wrapping_mul(rows as u64);
        end <= i32::MAX as u64
    }

    /// Computes the differences of all values to a line. Returns `None` if one does not fit 32 bits.
    fn along(line: Line, values: &[i64]) -> Option<Self> {
        let mut extent = MinMax::of(0);
        for (i, run) in values.chunks(64 * BLOCK).enumerate() {
            let base = line.at(i.saturating_mul(64 * BLOCK)).cast_signed();
            let MinMax { min, max } = Line { base, ..line }.distances(run)?;
            extent.add(&[min, max]);
        }
        Some(Slant { line, distances: extent })
    }

    /// Returns the range of the values if only those near the ends must be examined: further inside, the line has risen
    /// or fallen by more than the range of all differences.
    fn range(self, values: &[i64]) -> Option<MinMax<i64>> {
        let (first, last) = (*values.first()?, *values.last()?);
        // `None` if a difference of 32 bits may wrap around at the end of the range of longs.
        first.min(last).checked_add(i32::MIN.into())?;
        first.max(last).checked_add(i32::MAX.into())?;
        let spread = MinMax::<i64>::from(self.distances).distance();
        let near = spread.checked_div(self.line.slope.unsigned_abs().into())?.saturating_add(1);
        let near = usize::try_from(near).ok().filter(|near| *near <= values.len() / 8)?;
        let mut extent = MinMax::of(first);
        extent.add(values.get(..near)?);
        extent.add(values.get(values.len().saturating_sub(near)..)?);
        Some(extent)
    }
}

/// Returns the range of all values up to the run in which it exceeds 32 bits.
fn wide_range(values: &[i64], mask: &Mask<'_>, first: i64) -> MinMax<i64> {
    let mut extent = MinMax::of(first);
    runs(values, mask, first, |run| {
        let flat = Line { base: first, slope: 0 };
        match flat.spread(run) {
            Some(MinMax { min, max }) => extent.add(&[first.wrapping_add(min), first.wrapping_add(max)]),
            None => extent.add(run),
        }
        extent.distance() <= u32::MAX.into()
    });
    extent
}

/// Returns the range of all values up to the run in which it exceeds 16 bits.
fn short_range(values: &[i32], mask: &Mask<'_>, first: i32) -> MinMax<i32> {
    let mut extent = MinMax::of(first);
    runs(values, mask, first, |run| {
        extent.add(run);
        MinMax::<i64>::from(extent).distance() <= u16::MAX.into()
    });
    extent
}

/// Returns the range of all values. `first` must be one of them.
pub(super) fn range<T: Copy + Ord>(values: &[T], mask: &Mask<'_>, first: T) -> MinMax<T> {
    let mut extent = MinMax::of(first);
    runs(values, mask, first, |run| {
        extent.add(run);
        true
    });
    extent
}

/// Returns whether all values equal `first`. Floats are passed as their bits.
pub(super) fn equal<T: Copy + PartialEq>(values: &[T], mask: &Mask<'_>, first: T) -> bool {
    let mut equal = true;
    runs(values, mask, first, |run| {
        equal = run.iter().fold(true, |equal, value| equal & (*value == first));
        equal
    });
    equal
}

fn equal_bits(bits: Bits<'_>, mask: &Mask<'_>) -> bool {
    let (mut zeros, mut ones) = (0u64, 0u64);
    for (word, block) in bits.words().zip(mask.blocks()) {
        let present = mask.present(block);
        ones |= word & present;
        zeros |= !word & present;
    }
    ones == 0 || zeros == 0
}

fn doubles(values: &[f64], mask: &Mask<'_>, first: f64) -> Present {
    let bits: &[u64] = bytemuck::must_cast_slice(values);
    let equal = equal(bits, mask, first.to_bits());
    let range = whole(first).and_then(|int| {
        let (mut extent, mut all) = (MinMax::of(int), true);
        runs(values, mask, first, |run| {
            all = add_whole(&mut extent, run);
            all
        });
        all.then_some(extent)
    });
    Present::Doubles { equal, whole: range }
}

fn zones(offsets: &[i32], mask: &Mask<'_>) -> Result<MinMax<i32>> {
    let mut extent = None;
    for (row, offset) in offsets.iter().enumerate().filter(|(row, _)| mask.get(*row)) {
        let zone = quarters(*offset).ok_or_else(|| Error::new(Kind::Lossy, What::FILO_ZONE, row as u64))?;
        extent.get_or_insert(MinMax::of(zone)).add(&[zone]);
    }
    Ok(extent.unwrap_or(MinMax::of(0)))
}

fn lengths(strings: Strings<'_>, mask: &Mask<'_>, first: Option<usize>) -> Result<Lengths> {
    let equal = first.map_or(Ok(true), |first| are_equal(strings, mask, first))?;
    let mut found = Lengths { equal, ..Lengths::NONE };
    match strings {
        // Without a comparison and a branch for each row.
        Strings::Slices(slices) if FAST && !mask.nulls() => slices.iter().for_each(|text| found.add(text.len())),
        // A missing row counts as an empty string.
        _ => (0..strings.len()).try_for_each(|row| {
            found.add(if mask.get(row) { strings.get(row)?.len() } else { 0 });
            Ok(())
        })?,
    }
    // The text starts after the count and the words.
    let start = strings.len().saturating_mul(4).saturating_add(4);
    if word(start.saturating_add(found.sum), found.max).1 {
        found.long = long_forms(strings, mask, start)?;
    }
    Ok(found)
}

/// Returns whether all valid strings equal the one of row `first`.
pub(super) fn are_equal(strings: Strings<'_>, mask: &Mask<'_>, first: usize) -> Result<bool> {
    let sample = strings.get(first)?;
    for row in first..strings.len() {
        if mask.get(row) && strings.get(row)? != sample {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the number of strings of a UTF8 vector that need the long form. The first string is at `offset`.
fn long_forms(strings: Strings<'_>, mask: &Mask<'_>, mut offset: usize) -> Result<usize> {
    let mut count = 0usize;
    let valid = || (0..strings.len()).filter(|row| mask.get(*row));
    for (before, row) in valid().enumerate() {
        if far(offset) {
            let rest = if mask.nulls() { valid().count() } else { strings.len() }.saturating_sub(before);
            return Ok(count.saturating_add(rest));
        }
        let len = strings.get(row)?.len();
        let (_, long) = word(offset, len);
        count = count.saturating_add(long.into());
        offset = offset.saturating_add(len).saturating_add(if long { 4 } else { 0 });
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::super::encode;
    use super::*;
    use crate::bytes::Scratch;
    use crate::column::Validity;
    use crate::filo::raw::UTF8_MAX_OFFSET;
    use std::vec::Vec;

    #[test]
    fn a_slant_gives_the_range_of_all_values() {
        let noise =
            |i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()).wrapping_shr(40).rem_euclid(1 << 20);
        for base in [0, -5_000_000, i64::MIN, i64::MAX - (1 << 31), i64::MAX - (1 << 20)] {
            for slope in [-70_000, -100, -1, 0, 1, 2, 100, 70_000, 1 << 30] {
                for width in [0, 1, 7, 1000, 1 << 20] {
                    let value = |i: i64| base.wrapping_add(slope * i).wrapping_add(noise(i) % (width + 1));
                    let values: Vec<i64> = (0..3000).map(value).collect();
                    let mask = Mask::all(values.len());
                    let (range, slant) = longs(&values, &mask, values[0]);
                    let exact = MinMax { min: *values.iter().min().unwrap(), max: *values.iter().max().unwrap() };
                    // Without a slant the range may end where it passes 32 bits.
                    let known = slant.is_some() || exact.distance() <= u32::MAX.into();
                    assert!(range == exact || !known, "{base} + {slope} i + 0..={width}");
                    if let Some(Slant { line, distances }) = slant {
                        assert_eq!(line.distances(&values), Some(distances), "{base} + {slope} i + 0..={width}");
                    }
                }
            }
        }
    }

    /// Strings that begin later than 1 MiB after the first have the long form: one near this offset, and strings beyond, some missing.
    #[test]
    fn the_length_of_utf8_is_the_written_one() {
        let first = UTF8_MAX_OFFSET as usize - 4 * 6 - 4 - 4;
        let text = std::vec![b'x'; first + 4];
        let bits = [0b1_1011, 0b1_1111];
        for len in first - 3..first + 4 {
            let strings = [&text[..len], b"near", b"missing", b"far", b"", b"last"];
            for bits in bits {
                let (bits, mut chunk) = ([bits | 0x20], std::vec![0; len + 100]);
                let validity = Validity::Bits(Bits::new(&bits, 0, 6).unwrap());
                let rows = Rows { values: Plain::Utf8(Strings::Slices(&strings)), validity };
                let written = encode(Encoding::Utf8, &rows, &mut chunk, &mut Scratch::new(&mut [])).unwrap();
                assert_eq!(Stats::of(&rows).unwrap().len(Encoding::Utf8), written, "{len}");
            }
        }
    }
}
