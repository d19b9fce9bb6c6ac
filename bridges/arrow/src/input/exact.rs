//! Texts as values of a type: exactly, or an error that says why not.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::types as t;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeBinaryArray, LargeStringArray, ListArray,
    NullArray, PrimitiveArray, StringArray, StringViewArray, StructArray,
};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder, i256};
use arrow_cast::parse::Parser;
use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};

use super::forms::{self, Front, Number};
use super::times::{date, moment, time};
use super::{floats, shown};

/// Where texts come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// An empty text in quotes is a missing value of types other than text.
    Csv,
    /// A whole number may be the count of units of a timestamp.
    Json,
}

/// A value that does not have its type.
#[derive(Debug)]
pub(super) struct Wrong {
    pub row: usize,
    pub why: String,
}

/// Why a text is no value.
pub(super) type Why = String;

/// Returns whether [`typed`] makes values of a type.
pub(super) fn is_known(ty: &DataType) -> bool {
    match ty {
        DataType::Timestamp(_, Some(zone)) => zone.parse::<Tz>().is_ok(),
        DataType::List(item) => is_known(item.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| is_known(field.data_type())),
        DataType::Time32(unit) => matches!(unit, TimeUnit::Second | TimeUnit::Millisecond),
        DataType::Time64(unit) => matches!(unit, TimeUnit::Microsecond | TimeUnit::Nanosecond),
        DataType::Null
        | DataType::Boolean
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::FixedSizeBinary(_)
        | DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(_, None) => true,
        ty => ty.is_numeric(),
    }
}

/// Returns whether a whole number of JSON may be a value of a type of times.
#[cfg(feature = "json")]
pub(super) const fn counts(ty: &DataType) -> bool {
    matches!(ty, DataType::Timestamp(..) | DataType::Date64)
}

/// Returns the field with texts instead of values that are not nested: for a reader that keeps texts as they are.
pub(super) fn as_texts(field: &FieldRef) -> FieldRef {
    let ty = match field.data_type() {
        DataType::List(item) => DataType::List(as_texts(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(as_texts).collect::<Fields>()),
        _ => DataType::Utf8,
    };
    Arc::new(Field::clone(field).with_data_type(ty))
}

/// Converts texts, also within lists and structs, to a type.
pub(super) fn nested(array: &ArrayRef, ty: &DataType, from: From) -> Result<ArrayRef, Wrong> {
    match ty {
        DataType::List(item) => {
            let list = array.as_list::<i32>();
            // The row of an item is not its number.
            let at = |e: Wrong| Wrong { row: row_of(list, e.row), why: e.why };
            let values = nested(list.values(), item.data_type(), from).map_err(at)?;
            made(ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, list.nulls().cloned()))
        }
        DataType::Struct(fields) => {
            let parent = array.as_struct();
            let children = parent.columns().iter().zip(fields);
            let children = children.map(|(child, field)| nested(child, field.data_type(), from));
            let children = children.collect::<Result<Vec<_>, _>>()?;
            made(StructArray::try_new_with_length(fields.clone(), children, parent.nulls().cloned(), parent.len()))
        }
        ty => typed(array.as_string::<i32>(), ty, from),
    }
}

fn row_of(list: &ListArray, item: usize) -> usize {
    let ends = list.offsets().iter().skip(1);
    ends.take_while(|end| usize::try_from(**end).is_ok_and(|end| end <= item)).count()
}

pub(super) fn made<A: Array + 'static>(array: Result<A, arrow_schema::ArrowError>) -> Result<ArrayRef, Wrong> {
    array.map(|array| Arc::new(array) as ArrayRef).map_err(|e| Wrong { row: 0, why: e.to_string() })
}

/// Converts texts to a type that [`is_known`], and that is not nested.
pub(super) fn typed(texts: &StringArray, ty: &DataType, from: From) -> Result<ArrayRef, Wrong> {
    let column = Column { texts, ty, from };
    match ty {
        DataType::Utf8 => Ok(Arc::new(texts.clone())),
        DataType::LargeUtf8 => Ok(Arc::new(texts.iter().collect::<LargeStringArray>())),
        DataType::Utf8View => Ok(Arc::new(texts.iter().collect::<StringViewArray>())),
        DataType::Null => {
            column.each(|_, _| Err("a column of this type has no values".to_owned()))?;
            Ok(Arc::new(NullArray::new(texts.len())))
        }
        DataType::Boolean => column.booleans(),
        DataType::Binary => {
            let mut rows = vec![None; texts.len()];
            column.each(|row, text| put(&mut rows, row, Some(hex(text)?)))?;
            Ok(Arc::new(rows.iter().map(Option::as_deref).collect::<BinaryArray>()))
        }
        DataType::FixedSizeBinary(size) => column.fixed(*size),
        DataType::Int8 => column.ints::<t::Int8Type>(),
        DataType::Int16 => column.ints::<t::Int16Type>(),
        DataType::Int32 => column.ints::<t::Int32Type>(),
        DataType::Int64 => column.ints::<t::Int64Type>(),
        DataType::UInt8 => column.ints::<t::UInt8Type>(),
        DataType::UInt16 => column.ints::<t::UInt16Type>(),
        DataType::UInt32 => column.ints::<t::UInt32Type>(),
        DataType::UInt64 => column.ints::<t::UInt64Type>(),
        DataType::Float16 => {
            column.numbers::<t::Float16Type>(|text| floats::given(text, t::Float16Type::parse(text), 2048.0))
        }
        DataType::Float32 => {
            column.numbers::<t::Float32Type>(|text| floats::given(text, text.parse().ok(), 16_777_216.0))
        }
        DataType::Float64 => {
            let parse = |text: &str| floats::given(text, text.parse().ok(), 9_007_199_254_740_992.0);
            column.simple::<t::Float64Type>(|text| Number::new(text)?.float(), parse)
        }
        DataType::Decimal32(p, s) => column.numbers::<t::Decimal32Type>(|text| unscaled(text, *p, *s)),
        DataType::Decimal64(p, s) => column.numbers::<t::Decimal64Type>(|text| unscaled(text, *p, *s)),
        DataType::Decimal128(p, s) => column.numbers::<t::Decimal128Type>(|text| unscaled(text, *p, *s)),
        DataType::Decimal256(p, s) => column.numbers::<t::Decimal256Type>(|text| {
            i256::from_string(&digits(text, *p, *s)?).ok_or_else(|| "it is too large".to_owned())
        }),
        DataType::Date32 => column.simple::<t::Date32Type>(|text| forms::date(text.text()), date),
        DataType::Date64 => column.numbers::<t::Date64Type>(|text| match date(text) {
            Ok(days) if from == From::Csv || text.contains('-') => Ok(i64::from(days).saturating_mul(86_400_000)),
            _ => moment(text, (TimeUnit::Millisecond, None), from),
        }),
        DataType::Time32(TimeUnit::Second) => column.numbers::<t::Time32SecondType>(|text| time(text, 1_000_000_000)),
        DataType::Time32(_) => column.numbers::<t::Time32MillisecondType>(|text| time(text, 1_000_000)),
        DataType::Time64(TimeUnit::Microsecond) => column.numbers::<t::Time64MicrosecondType>(|text| time(text, 1000)),
        DataType::Time64(_) => column.numbers::<t::Time64NanosecondType>(|text| time(text, 1)),
        DataType::Timestamp(unit, zone) => column.timestamps(*unit, zone.as_deref()),
        ty => Err(Wrong { row: 0, why: format!("texts are not read as {ty}") }),
    }
}

/// The texts of a column, and their type.
struct Column<'c> {
    texts: &'c StringArray,
    ty: &'c DataType,
    from: From,
}

impl Column<'_> {
    /// Passes the number of each row that has a value with its text to `take`.
    fn each(&self, mut take: impl FnMut(usize, &str) -> Result<(), Why>) -> Result<(), Wrong> {
        for (row, text) in self.texts.iter().enumerate() {
            let text = text.filter(|text| self.from == From::Json || !text.is_empty());
            let Some(text) = text else { continue };
            take(row, text).map_err(|why| self.wrong(row, &why))?;
        }
        Ok(())
    }

    #[cold]
    fn wrong(&self, row: usize, why: &str) -> Wrong {
        Wrong { row, why: format!("{:?} is not read as {}: {why}", shown(self.texts.value(row)), self.ty) }
    }

    fn numbers<P: ArrowPrimitiveType>(
        &self,
        parse: impl Fn(&str) -> Result<P::Native, Why>,
    ) -> Result<ArrayRef, Wrong> {
        self.simple::<P>(|_| None, parse)
    }

    /// Converts texts by `simple`, else by `parse`.
    fn simple<P: ArrowPrimitiveType>(
        &self,
        simple: impl Fn(Front<'_>) -> Option<P::Native>,
        parse: impl Fn(&str) -> Result<P::Native, Why>,
    ) -> Result<ArrayRef, Wrong> {
        let rows = self.texts.len();
        let mut values = Vec::with_capacity(rows);
        let mut nulls = NullBufferBuilder::new(rows);
        let data = self.texts.value_data();
        let place = |at: i32| usize::try_from(at).unwrap_or_default();
        let offsets = self.texts.value_offsets();
        for (row, (start, end)) in offsets.iter().zip(offsets.iter().skip(1)).enumerate() {
            let is_empty = start == end && self.from == From::Csv;
            if is_empty || self.texts.is_null(row) {
                nulls.append_n_non_nulls(row.saturating_sub(nulls.len()));
                nulls.append_null();
                values.push(P::Native::default());
                continue;
            }
            let text = data.get(place(*start)..).unwrap_or_default();
            let text = Front::new(text, place(end.wrapping_sub(*start)));
            values.push(match simple(text) {
                Some(value) => value,
                None => parse(self.texts.value(row)).map_err(|why| self.wrong(row, &why))?,
            });
        }
        nulls.append_n_non_nulls(rows.saturating_sub(nulls.len()));
        let array = PrimitiveArray::<P>::try_new(values.into(), nulls.finish());
        made(array.map(|array| array.with_data_type(self.ty.clone())))
    }

    fn ints<P: ArrowPrimitiveType>(&self) -> Result<ArrayRef, Wrong>
    where
        P::Native: TryFrom<i64> + TryFrom<i128> + std::str::FromStr,
    {
        self.simple::<P>(|text| P::Native::try_from(Number::new(text)?.int()?).ok(), whole)
    }

    fn timestamps(&self, unit: TimeUnit, zone: Option<&str>) -> Result<ArrayRef, Wrong> {
        let zone = zone.map(str::parse::<Tz>).transpose();
        let zone = zone.map_err(|e| Wrong { row: 0, why: e.to_string() })?;
        let parse = |text: &str| moment(text, (unit, zone), self.from);
        match unit {
            TimeUnit::Second => self.numbers::<t::TimestampSecondType>(parse),
            TimeUnit::Millisecond => self.numbers::<t::TimestampMillisecondType>(parse),
            TimeUnit::Microsecond => self.numbers::<t::TimestampMicrosecondType>(parse),
            TimeUnit::Nanosecond => self.numbers::<t::TimestampNanosecondType>(parse),
        }
    }

    fn booleans(&self) -> Result<ArrayRef, Wrong> {
        let mut rows = vec![None; self.texts.len()];
        self.each(|row, text| match text {
            _ if text.eq_ignore_ascii_case("true") => put(&mut rows, row, Some(true)),
            _ if text.eq_ignore_ascii_case("false") => put(&mut rows, row, Some(false)),
            _ => Err("it is neither true nor false".to_owned()),
        })?;
        let mut bits = BooleanBufferBuilder::new(rows.len());
        let mut nulls = NullBufferBuilder::new(rows.len());
        for row in rows {
            bits.append(row == Some(true));
            nulls.append(row.is_some());
        }
        Ok(Arc::new(BooleanArray::new(bits.finish(), nulls.finish())))
    }

    fn fixed(&self, size: i32) -> Result<ArrayRef, Wrong> {
        let mut rows = vec![None; self.texts.len()];
        self.each(|row, text| {
            let bytes = hex(text)?;
            if i32::try_from(bytes.len()) != Ok(size) {
                return Err(format!("{} bytes, not {size}", bytes.len()));
            }
            put(&mut rows, row, Some(bytes))
        })?;
        made(FixedSizeBinaryArray::try_from_sparse_iter_with_size(rows.into_iter(), size))
    }
}

fn put<T>(rows: &mut [T], row: usize, value: T) -> Result<(), Why> {
    if let Some(at) = rows.get_mut(row) {
        *at = value;
    }
    Ok(())
}

/// Returns the bytes of hexadecimal digits, as bytes are printed.
fn hex(text: &str) -> Result<Vec<u8>, Why> {
    let wrong = || "it is no even number of hexadecimal digits".to_owned();
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(wrong)
}

fn whole<N: TryFrom<i128> + std::str::FromStr>(text: &str) -> Result<N, Why> {
    match text.parse() {
        Ok(number) => Ok(number),
        // 1.0 and 1e3 are whole numbers, too.
        Err(_) => unscaled(text, 38, 0),
    }
}

fn unscaled<N: TryFrom<i128>>(text: &str, precision: u8, scale: i8) -> Result<N, Why> {
    let number = digits(text, precision, scale)?.parse::<i128>().ok();
    number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| "it is out of the range".to_owned())
}

/// Returns the integer `number * 10^scale` in digits.
fn digits(text: &str, precision: u8, scale: i8) -> Result<String, Why> {
    let no_number = || "it is no number".to_owned();
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (int, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if (int.is_empty() && fraction.is_empty()) || !int.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return Err(no_number());
    }
    let exponent: i32 = exponent.parse().map_err(|_| no_number())?;
    let all = format!("{int}{fraction}");
    let significant = all.trim_start_matches('0');
    let short = significant.trim_end_matches('0');
    if short.is_empty() {
        return Ok("0".to_owned());
    }
    let zeros = significant.len().saturating_sub(short.len());
    // The number is `short * 10^power`.
    let power = i64::try_from(zeros).unwrap_or(i64::MAX).saturating_add(exponent.into());
    let power = power.saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX));
    let Ok(more) = usize::try_from(power.saturating_add(scale.into())) else {
        return Err(match scale {
            0 => "it is no whole number".to_owned(),
            1.. => format!("more than {scale} digits after the point"),
            _ => format!("it is no multiple of 1{}", "0".repeat(usize::from(scale.unsigned_abs()))),
        });
    };
    if short.len().saturating_add(more) > precision.into() {
        return Err(format!("more than {precision} digits"));
    }
    Ok(format!("{sign}{short}{}", "0".repeat(more)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, ty: &DataType, from: From) -> Result<String, String> {
        let texts = StringArray::from(vec![None, Some(text)]);
        let array = typed(&texts, ty, from).map_err(|e| {
            assert_eq!(e.row, 1);
            e.why
        })?;
        assert_eq!((array.data_type(), array.len(), array.is_null(0)), (ty, 2, true));
        let texts = arrow_cast::cast(&array, &DataType::Utf8).map_err(|e| e.to_string())?;
        Ok(texts.as_string::<i32>().value(1).to_owned())
    }

    fn csv(text: &str, ty: &DataType) -> Result<String, String> {
        one(text, ty, From::Csv)
    }

    #[test]
    fn values_are_exact_or_refused() {
        use DataType::{Boolean, Date32, Date64, Decimal32, Decimal64, Decimal256, Float32, Float64, Int8, UInt64};
        let stamp = |unit| DataType::Timestamp(unit, None);
        for (text, ty, expected) in [
            ("1.50", Decimal32(5, 1), "1.5"),
            ("-0.05", Decimal32(5, 2), "-0.05"),
            ("1e3", Decimal64(12, 2), "1000.00"),
            ("1200", Decimal64(12, -2), "1200"),
            ("-000.0", Decimal32(1, 0), "0"),
            (".5", Decimal256(40, 3), "0.500"),
            ("18446744073709551615", UInt64, "18446744073709551615"),
            ("-1.0", Int8, "-1"),
            ("-1e2", Int8, "-100"),
            ("0.5", Float32, "0.5"),
            ("-inf", Float64, "-inf"),
            ("16777218", Float32, "16777218.0"),
            ("+9007199254740994", Float64, "9007199254740994.0"),
            ("2050", DataType::Float16, "2050"),
            // Fractions are rounded to the nearest float.
            ("0.10000000001", Float32, "0.1"),
            ("-0", Float64, "-0.0"),
            ("TRUE", Boolean, "true"),
            ("2024-02-29", Date32, "2024-02-29"),
            ("2024-02-29", Date64, "2024-02-29T00:00:00"),
            ("01:02:03", DataType::Time32(TimeUnit::Second), "01:02:03"),
            ("2024-02-29T01:02:03.5", stamp(TimeUnit::Millisecond), "2024-02-29T01:02:03.500"),
            ("1969-12-31 23:59:59.5", stamp(TimeUnit::Millisecond), "1969-12-31T23:59:59.500"),
            ("6162", DataType::Binary, "ab"),
        ] {
            assert_eq!(csv(text, &ty).as_deref(), Ok(expected), "{text}");
        }
        for (text, ty, expected) in [
            ("1.55", Decimal32(5, 1), "more than 1 digits after the point"),
            ("1e-3", Decimal32(5, 1), "more than 1 digits after the point"),
            ("1234", Decimal32(4, 1), "more than 4 digits"),
            ("1250", Decimal64(12, -2), "no multiple of 100"),
            ("1,5", Decimal32(5, 1), "no number"),
            (".", Decimal32(5, 1), "no number"),
            ("1.5", Int8, "no whole number"),
            ("128", Int8, "out of the range"),
            ("-1", UInt64, "out of the range"),
            (" 1", Int8, "no number"),
            ("1e999", Float64, "too large"),
            ("1e39", Float32, "too large"),
            ("16777217", Float32, "a whole number that the type does not have"),
            ("-16777217.00", Float32, "a whole number that the type does not have"),
            ("9007199254740993", Float64, "a whole number that the type does not have"),
            ("2049", DataType::Float16, "a whole number that the type does not have"),
            ("1e-400", Float64, "too small"),
            ("1e-60", Float32, "too small"),
            ("0.00000001", DataType::Float16, "too small"),
            ("2016-12-31T23:59:60", stamp(TimeUnit::Second), "leap second"),
            ("2016-12-31T23:59:60.5", stamp(TimeUnit::Millisecond), "leap second"),
            ("12:00:60", DataType::Time32(TimeUnit::Second), "leap second"),
            ("yes", Boolean, "neither true nor false"),
            ("2024-02-29T01:02:03", Date32, "no date"),
            ("01:02:03.5", DataType::Time32(TimeUnit::Second), "more digits of a second"),
            ("3", DataType::Time32(TimeUnit::Second), "no time"),
            ("2024-02-29T01:02:03.5", stamp(TimeUnit::Second), "more digits of a second"),
            ("2024-02-29T01:02:03Z", stamp(TimeUnit::Second), "has a time zone"),
            ("1500-02-29T01:02:03", stamp(TimeUnit::Nanosecond), "no time"),
            ("1500-02-28T01:02:03", stamp(TimeUnit::Nanosecond), "out of the range"),
            ("20240229", stamp(TimeUnit::Second), "no time"),
            ("0f0", DataType::Binary, "hexadecimal"),
            ("00ff", DataType::FixedSizeBinary(3), "2 bytes, not 3"),
            ("x", DataType::Null, "no values"),
        ] {
            let e = csv(text, &ty);
            let is_right = |e: &String| e.contains(expected) && e.contains(&format!("{text:?} is not read as {ty}"));
            assert!(e.as_ref().is_err_and(is_right), "{text}: {e:?}");
        }
    }

    #[test]
    fn bytes_of_a_fixed_length() {
        let texts = StringArray::from(vec![Some("6162"), None]);
        let array = typed(&texts, &DataType::FixedSizeBinary(2), From::Csv);
        let is_right = |array: &ArrayRef| array.as_fixed_size_binary().value(0) == b"ab" && array.is_null(1);
        assert!(array.as_ref().is_ok_and(is_right), "{array:?}");
    }

    #[test]
    fn texts_of_csv_and_json_differ() {
        let seconds = DataType::Timestamp(TimeUnit::Second, None);
        assert_eq!(one("60", &seconds, From::Json).as_deref(), Ok("1970-01-01T00:01:00"));
        // A number of eight digits is a count, too.
        for (text, from, time) in [
            ("20240229", From::Csv, "2024-02-29T00:00:00"),
            ("20240229", From::Json, "1970-01-01T05:37:20.229"),
            ("-1", From::Json, "1969-12-31T23:59:59.999"),
            ("2024-02-29", From::Json, "2024-02-29T00:00:00"),
        ] {
            assert_eq!(one(text, &DataType::Date64, from).as_deref(), Ok(time), "{text}");
        }
        let empty = StringArray::from(vec![Some("")]);
        assert!(typed(&empty, &DataType::Int8, From::Csv).is_ok_and(|array| array.is_null(0)));
        assert!(typed(&empty, &DataType::Int8, From::Json).is_err());
        assert!(typed(&empty, &DataType::Utf8, From::Csv).is_ok_and(|array| array.is_valid(0)));
    }
}
