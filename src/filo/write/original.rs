//! Chooses the encoding that the original program would choose (section 11).

use super::cells::lossy;
use super::choose::Plan;
use super::dictionary::{Bounds, Dictionary};
use super::mask::Mask;
use super::rows::{Plain, Rows, Strings};
use super::stats::{Present, Slant, Stats, are_equal};
use super::texts::check_rows;
use super::utf8::MAX_SLOT_TEXT;
use super::width::{differences, flat, packed};
use crate::bytes::Scratch;
use crate::encoding::bitpack::Packing;
use crate::encoding::bitpack::pack::fits;
use crate::encoding::min_max::{MinMax, whole};
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{MAX_EMPTY_ROWS, UTF8_MAX_LEN};
use crate::filo::{Element, Encoding};

/// The options with which the original program would write a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Original {
    /// The family of builders.
    pub builder: BuilderFamily,
    /// The hint of the caller.
    pub hint: Hint,
}

/// The two families of builders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BuilderFamily {
    /// The default of the element type: new for ints and UTF8, old for all others.
    #[default]
    Default,
    /// FlatBuffer kinds; not for UTF8.
    Old,
    /// BinaryVectors; for ints, longs, doubles and UTF8.
    New,
}

/// A hint of the caller of the original about the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Hint {
    /// No hint.
    #[default]
    Auto,
    /// Neither dictionary nor differences.
    Simple,
    /// A dictionary, if at all possible.
    Dictionary,
    /// Differences. Equal to [`Auto`](Hint::Auto) for numbers.
    Diff,
}

/// Writes `rows` in the encoding that the original program chooses, for consumers that rely on it: with the same header
/// and width and, for BinaryVectors, the same bytes. Returns the length of the chunk.
///
/// The original loses some values (section 13, items 2 to 5, 9): a NaN or the sign of a zero in a column that it treats
/// as constant or as whole numbers, empty strings in a UTF8 dictionary, instants more than 2^63 - 1 milliseconds apart.
/// This writer returns an error with the row instead. [`encode_auto`](super::encode_auto) writes such columns, too.
///
/// One choice differs: if slope times number of rows is 2^31 or more, a column is written as a vector of plain numbers.
/// The original writes a [`DeltaDelta`](Encoding::DeltaDelta), from which it reads wrong values (section 13, item 1).
///
/// Strings that may get a dictionary take [`scratch_len`](super::scratch_len) bytes of `scratch`.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::error::Kind;
/// use pilaster::filo::write::{Plain, Rows};
/// use pilaster::unstable::filo::original::{BuilderFamily, Hint, Original, encode_like_original};
///
/// let (mut dst, mut none) = ([0; 128], Scratch::new(&mut []));
/// let rows = Rows::all(Plain::Int(&[1, 2, -5, 101]));
/// let len = encode_like_original(&rows, Original::default(), &mut dst, &mut none)?;
/// assert_eq!(dst[..len], [6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101]);
///
/// let old = Original { builder: BuilderFamily::Old, hint: Hint::Simple };
/// let zeros = Rows::all(Plain::Double(&[1.0, 0.0, -0.0]));
/// let lost = encode_like_original(&zeros, old, &mut dst, &mut none).unwrap_err();
/// assert_eq!((lost.kind(), lost.at()), (Kind::Lossy, 2));
/// # Ok::<(), pilaster::Error>(())
/// ```
///
/// # Errors
/// [`Kind::WrongType`] if the element type has no such builder, [`Kind::Lossy`] for values that the original loses,
/// [`Kind::NoRoom`], [`Kind::Overflow`] and [`Kind::Misuse`] as in [`encode`](super::encode).
pub fn encode_like_original(
    rows: &Rows<'_>,
    original: Original,
    dst: &mut [u8],
    scratch: &mut Scratch<'_>,
) -> Result<usize> {
    plan(rows, original, &mut scratch.scope())?.write(rows, dst)
}

/// Returns the encoding that [`encode_like_original`] writes.
///
/// # Errors
/// Errors of [`encode_like_original`], except `NoRoom` for the destination. Strings that the choice does not need are not examined.
pub fn choose_like_original(rows: &Rows<'_>, original: Original, scratch: &mut Scratch<'_>) -> Result<Encoding> {
    Ok(plan(rows, original, &mut scratch.scope())?.encoding)
}

fn plan<'a>(rows: &Rows<'a>, original: Original, scratch: &mut Scratch<'a>) -> Result<Plan<'a>> {
    let element = rows.values.element();
    let new = match (original.builder, element) {
        (BuilderFamily::Default, _) => matches!(element, Element::Int | Element::Utf8 | Element::Blob),
        (BuilderFamily::New, Element::Int | Element::Long | Element::Double | Element::Utf8 | Element::Blob) => true,
        (BuilderFamily::New, _) | (BuilderFamily::Old, Element::Utf8 | Element::Blob) => {
            return Err(Error::new(Kind::WrongType, What::FILO_ELEMENT, 0));
        }
        (BuilderFamily::Old, _) => false,
    };
    if let Plain::Utf8(strings) | Plain::Blob(strings) = rows.values {
        check_rows(rows, &Mask::new(rows)?)?;
        return utf8(rows, strings, original.hint, scratch);
    }
    if let Plain::String(strings) = rows.values {
        return old_strings(strings, &Mask::new(rows)?, original.hint, scratch);
    }
    let stats = Stats::of(rows)?;
    if !new && stats.first.is_none() {
        return all_missing(&stats.mask);
    }
    let encoding = if new { new_numbers(rows, &stats)? } else { old_numbers(rows, &stats, original.hint)? };
    Ok(Plan::for_rows(encoding, &stats))
}

/// Returns the plan of the old builders for rows without a value.
fn all_missing<'a>(mask: &Mask<'_>) -> Result<Plan<'a>> {
    // With more rows, the original writes a mask that it cannot read (section 13, item 9).
    match mask.rows() > MAX_EMPTY_ROWS as usize {
        true => Err(lossy(What::FILO_MASK_TYPE, MAX_EMPTY_ROWS as usize)),
        false => Ok(Plan::of(Encoding::Empty)),
    }
}

fn old_numbers(rows: &Rows<'_>, stats: &Stats<'_>, hint: Hint) -> Result<Encoding> {
    let mask = &stats.mask;
    Ok(match (stats.present, rows.values) {
        (Present::Integers(range), Plain::Timestamp(values)) => {
            in_reach(values, mask, range)?;
            Encoding::Diff(differences(range.distance()))
        }
        (Present::Integers(range), _) if range.is_point() => Encoding::Const(flat(range)),
        (Present::Integers(range), _) => {
            let may = matches!(hint, Hint::Auto | Hint::Diff);
            match may && differences_pay(range, stats.element == Element::Long) {
                true => Encoding::Diff(differences(range.distance())),
                false => Encoding::Simple(flat(range)),
            }
        }
        (Present::DateTimes { millis, zones }, Plain::DateTime { millis: values, .. }) => {
            in_reach(values, mask, millis)?;
            let several = !zones.is_point();
            let zones = several.then(|| differences(MinMax::<i64>::from(zones).distance()));
            Encoding::DiffDateTime { millis: differences(millis.distance()), zones }
        }
        (_, Plain::Float(values)) => {
            let wide = |row| values.get(row).map_or(0.0, |value| f64::from(*value));
            match constant(mask, wide, Nan::Differs)? {
                true => Encoding::Const(Packing::U32),
                false => Encoding::Simple(Packing::U32),
            }
        }
        (Present::Doubles { whole, .. }, Plain::Double(values)) => {
            if constant(mask, at(values), Nan::Differs)? {
                return Ok(Encoding::Const(Packing::W64));
            }
            match mask.nulls() {
                true => Encoding::Simple(Packing::W64),
                false => ints(mask, at(values), whole)?.map_or(Encoding::Simple(Packing::W64), Encoding::Packed),
            }
        }
        (Present::Opaque { equal: true }, _) => Encoding::Const(Packing::W64),
        _ => Encoding::Simple(Packing::W64),
    })
}

/// Returns whether differences fit a smaller class of widths (rule 2 of the old builders).
fn differences_pay(MinMax { min, max }: MinMax<i64>, long: bool) -> bool {
    let distance = MinMax { min, max }.distance();
    // A larger distance wraps around in the width of the element. The original then uses no differences.
    let limit = if long { i64::MAX.cast_unsigned() } else { i32::MAX as u64 };
    let saves = |class: Packing| {
        let bits = class.bits();
        let held = |value: i64| fits(class, value.cast_unsigned());
        let beyond = if min >= 0 { max >> bits != 0 } else { !(held(min) && held(max)) };
        beyond && distance >> bits == 0
    };
    distance <= limit && (saves(Packing::I8) || saves(Packing::I16) || long && saves(Packing::I32))
}

fn new_numbers(rows: &Rows<'_>, stats: &Stats<'_>) -> Result<Encoding> {
    let mask = &stats.mask;
    let full = !mask.nulls();
    let dense = |packing| if full { Encoding::Packed(packing) } else { Encoding::Masked(packing) };
    let some = stats.first.is_some();
    Ok(match (stats.present, rows.values) {
        (Present::Integers(range), _) if some && full && range.is_point() => Encoding::Repeated,
        (Present::Integers(_), Plain::Long(_)) if !some => dense(Packing::I8),
        (Present::Integers(range), Plain::Long(values)) => {
            let line = stats.slant.and_then(|slant| delta_delta(values, slant, range));
            line.map_or_else(|| dense(packed(range).unwrap_or(Packing::W64)), Encoding::DeltaDelta)
        }
        (Present::Integers(range), _) => dense(packed(range).unwrap_or(Packing::I32)),
        (Present::Doubles { whole, .. }, Plain::Double(values)) => {
            if full && constant(mask, at(values), Nan::Ignored)? {
                return Ok(Encoding::Repeated);
            }
            dense(ints(mask, at(values), whole)?.unwrap_or(Packing::W64))
        }
        _ => dense(Packing::W64),
    })
}

/// Returns the width of the residuals, or `None` if the original does not use a line for the values.
fn delta_delta(values: &[i64], slant: Slant, MinMax { min, max }: MinMax<i64>) -> Option<Packing> {
    let step = values.len().checked_div(5).filter(|step| *step > 0)?;
    let mut sample = values.iter().step_by(step).take(5);
    let mut before = *sample.next()?;
    let rising = sample.all(|value| *value > core::mem::replace(&mut before, *value));
    let within = (values.first(), values.last()) == (Some(&min), Some(&max));
    (rising && within && slant.is_read_by_original(values.len())).then_some(())?;
    packed(slant.distances.into())
}

/// How the original treats a NaN among other doubles that are all equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nan {
    /// As another value. The old builders treat NaN as the largest number.
    Differs,
    /// It ignores a NaN (section 13, item 3).
    Ignored,
}

/// Returns whether the original treats floats as constant. It compares numbers, starting with the largest finite one,
/// so infinities are never constant. Returns [`Kind::Lossy`] if the values differ in their bits.
fn constant(mask: &Mask<'_>, value: impl Fn(usize) -> f64, nan: Nan) -> Result<bool> {
    let present = || (0..mask.rows()).filter(|row| mask.get(*row));
    let numbers = || present().map(&value).filter(|value| nan == Nan::Differs || !value.is_nan());
    let Some(first) = numbers().next() else { return Ok(false) };
    // A NaN does not equal itself.
    if !first.is_finite() || numbers().any(|value| value != first) {
        return Ok(false);
    }
    let stored = present().next().map(&value).map(f64::to_bits);
    match present().find(|row| Some(value(*row).to_bits()) != stored) {
        Some(row) => Err(lossy(What::FILO_VALUE, row)),
        None => Ok(true),
    }
}

/// Returns the width as ints if the original treats all doubles as whole numbers. This includes a negative zero, which
/// is [`Kind::Lossy`].
fn ints(mask: &Mask<'_>, value: impl Fn(usize) -> f64, found: Option<MinMax<i32>>) -> Result<Option<Packing>> {
    if let Some(range) = found {
        return Ok(packed(range.into()));
    }
    let mut negative_zero = None;
    for row in (0..mask.rows()).filter(|row| mask.get(*row)) {
        if whole(value(row)).is_none() {
            if value(row) != 0.0 {
                return Ok(None);
            }
            negative_zero = negative_zero.or(Some(row));
        }
    }
    negative_zero.map_or(Ok(None), |row| Err(lossy(What::FILO_DATA, row)))
}

fn at(values: &[f64]) -> impl Fn(usize) -> f64 {
    |row| values.get(row).copied().unwrap_or_default()
}

/// Returns an error if a value is so far above the minimum that the original's difference wraps around (section 13,
/// item 5).
fn in_reach(values: &[i64], mask: &Mask<'_>, range: MinMax<i64>) -> Result<()> {
    if i64::try_from(range.distance()).is_ok() {
        return Ok(());
    }
    let far = |(row, value): &(usize, &i64)| {
        i64::try_from(MinMax { min: range.min, max: **value }.distance()).is_err() && mask.get(*row)
    };
    let row = values.iter().enumerate().find(far).map_or(0, |(row, _)| row);
    Err(lossy(What::FILO_DATA, row))
}

fn old_strings<'a>(strings: Strings<'a>, mask: &Mask<'_>, hint: Hint, scratch: &mut Scratch<'a>) -> Result<Plan<'a>> {
    let Some(first) = mask.first() else { return all_missing(mask) };
    if are_equal(strings, mask, first)? {
        return Ok(Plan::of(Encoding::ConstString));
    }
    let entries = match hint {
        Hint::Simple | Hint::Diff => return Ok(Plan::of(Encoding::SimpleString)),
        Hint::Auto => mask.rows() / 2,
        Hint::Dictionary => usize::MAX,
    };
    let bounds = Bounds { entries, sample: mask.rows(), ..Bounds::NONE };
    let Some(dictionary) = Dictionary::find(strings, mask, Element::String, bounds, scratch)? else {
        return Ok(Plan::of(Encoding::SimpleString));
    };
    // The original chooses a width that fits one more code than there are strings (section 8.7).
    let packing = flat(MinMax { min: 0, max: (dictionary.len() as i64).saturating_add(1) });
    Ok(Plan::with(dictionary, packing))
}

/// Chooses the encoding of UTF8 vectors (rule 4 of the new vectors).
fn utf8<'a>(rows: &Rows<'a>, strings: Strings<'a>, hint: Hint, scratch: &mut Scratch<'a>) -> Result<Plan<'a>> {
    let mask = Mask::new(rows)?;
    if hint == Hint::Simple {
        return Ok(Plan::of(Encoding::Utf8));
    }
    let few = few_in_sample(strings, &mask, hint)?;
    let found =
        few.map(|bounds| Dictionary::find(strings, &mask, rows.values.element(), bounds, scratch)).transpose()?;
    let Some(dictionary) = found.flatten() else {
        return Ok(Plan::of(if slots_pay(strings, &mask)? { Encoding::FixedMaxUtf8 } else { Encoding::Utf8 }));
    };
    // The original's dictionary treats empty strings as missing (section 13, item 2).
    if let Some(row) = first_empty(strings, &mask)? {
        return Err(lossy(What::FILO_STRING, row));
    }
    match dictionary.len() {
        1 if !mask.nulls() => Ok(Plan::of(Encoding::Repeated)),
        _ => Ok(Plan::with(dictionary, dictionary.packing())),
    }
}

/// Returns the maximum number of different strings in the first rows with which the original builds a dictionary, or
/// `None` if it never does.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the original cuts products of doubles to ints; rows are below 2^31"
)]
fn few_in_sample(strings: Strings<'_>, mask: &Mask<'_>, hint: Hint) -> Result<Option<Bounds>> {
    let factor = if hint == Hint::Dictionary { 1.1 } else { 0.6 };
    let sample = (mask.rows() as f64 * 0.3) as usize;
    let limit = (sample as f64 * factor) as usize;
    if mask.rows() == 0 {
        return Ok(Some(Bounds::NONE));
    }
    let rows = mask.prefix(sample.saturating_add(1));
    // The entry of missing rows is counted. Empty strings have no entry.
    let most = limit.saturating_sub(1).saturating_add(first_empty(strings, &rows)?.map_or(0, |_| 1));
    Ok((limit > 0).then_some(Bounds { entries: most, sample: rows.rows(), ..Bounds::NONE }))
}

fn first_empty(strings: Strings<'_>, mask: &Mask<'_>) -> Result<Option<usize>> {
    for row in 0..mask.rows() {
        if mask.get(row) && strings.get(row)?.is_empty() {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// Returns whether slots of the size of the longest string are shorter than the original's estimate of the variable
/// form.
fn slots_pay(strings: Strings<'_>, mask: &Mask<'_>) -> Result<bool> {
    /// The original counts the long form starting at about this row.
    const FAR_ROW: usize = 16_383;
    let (mut longest, mut variable) = (0, mask.rows().saturating_mul(4));
    for row in (0..mask.rows()).filter(|row| mask.get(*row)) {
        let len = strings.get(row)?.len();
        let long = len > UTF8_MAX_LEN as usize || row > FAR_ROW;
        variable = variable.saturating_add(len).saturating_add(if long { 4 } else { 0 });
        longest = longest.max(len);
    }
    let slots = longest.saturating_add(1).saturating_mul(mask.rows()).saturating_add(1);
    Ok(slots < variable && longest <= MAX_SLOT_TEXT)
}
