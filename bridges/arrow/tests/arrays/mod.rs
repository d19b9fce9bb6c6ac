//! Random arrays of every type of Arrow.

use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, FixedSizeBinaryBuilder, StringViewBuilder};
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit, UnionFields, UnionMode};

/// A generator of numbers, the same in every run.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
}

fn field(ty: DataType) -> FieldRef {
    Arc::new(Field::new("item", ty, true))
}

fn dictionary(key: DataType, value: DataType) -> DataType {
    DataType::Dictionary(Box::new(key), Box::new(value))
}

fn runs(ends: DataType, value: DataType) -> DataType {
    DataType::RunEndEncoded(Arc::new(Field::new("run_ends", ends, false)), Arc::new(Field::new("values", value, true)))
}

fn structure(types: impl IntoIterator<Item = DataType>) -> DataType {
    let fields = types.into_iter().enumerate().map(|(k, ty)| Field::new(format!("f{k}"), ty, true));
    DataType::Struct(fields.collect())
}

fn map(value: DataType) -> DataType {
    let pair = vec![Field::new("keys", DataType::Utf8, false), Field::new("values", value, true)];
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(pair.into()), false)), false)
}

/// The types that a column can have, in the order of Arrow's integration tests.
pub fn types() -> Vec<DataType> {
    use DataType::*;
    const UNITS: [TimeUnit; 4] = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
    let mut types = vec![Null, Boolean, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64];
    types.extend([Float16, Float32, Float64, Utf8, LargeUtf8, Utf8View, Binary, LargeBinary, BinaryView]);
    types.extend([FixedSizeBinary(1), FixedSizeBinary(7)]);
    types.extend([Decimal32(2, 0), Decimal32(9, 3), Decimal64(5, 2), Decimal64(18, -2), Decimal128(4, 1)]);
    types.extend([Decimal128(18, 2), Decimal128(38, 10), Decimal256(9, 2), Decimal256(30, 2), Decimal256(76, 20)]);
    types.extend([Date32, Date64, Time32(UNITS[0]), Time32(UNITS[1]), Time64(UNITS[2]), Time64(UNITS[3])]);
    types.extend(UNITS.map(|unit| Timestamp(unit, None)));
    types.extend(UNITS.map(|unit| Timestamp(unit, Some("Europe/Rome".into()))));
    types.extend([List(field(Int32)), LargeList(field(Utf8)), ListView(field(Int32)), LargeListView(field(Utf8))]);
    types.extend([FixedSizeList(field(Int16), 3), structure([Int32, Utf8]), structure([]), map(Int32)]);
    types.extend([List(field(List(field(structure([Boolean, Utf8View]))))), map(LargeList(field(Float64)))]);
    types.extend([structure([FixedSizeList(field(structure([Int8])), 2), List(field(map(Date32)))])]);
    let keys = [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64];
    types.extend(keys.map(|key| dictionary(key, Utf8)));
    let values = [LargeBinary, Utf8View, Int64, Boolean, Decimal128(6, 2), FixedSizeBinary(3), Null];
    types.extend(values.map(|value| dictionary(Int16, value)));
    types.extend([dictionary(Int32, List(field(Int32))), dictionary(Int32, structure([Int32, Utf8]))]);
    types.push(dictionary(Int8, dictionary(UInt8, Utf8)));
    types.extend([runs(Int16, Utf8), runs(Int32, Int32), runs(Int64, Float64), runs(Int32, Boolean)]);
    types.extend([runs(Int32, structure([Int32])), runs(Int32, dictionary(Int8, Utf8)), runs(Int32, Utf8View)]);
    types.extend([runs(Int32, FixedSizeList(field(Int16), 2)), dictionary(Int8, runs(Int16, Int64))]);
    types.extend([List(field(dictionary(Int8, Utf8))), structure([runs(Int32, Int8), dictionary(Int8, Binary)])]);
    types
}

/// The types that no column can have.
#[allow(dead_code, reason = "not every test uses it")]
pub fn refused() -> Vec<DataType> {
    use DataType::*;
    let union = |mode| {
        let fields = [(0, field(Int32)), (1, Arc::new(Field::new("b", Utf8, true)))];
        Union(fields.into_iter().collect::<UnionFields>(), mode)
    };
    vec![
        Duration(TimeUnit::Second),
        Duration(TimeUnit::Nanosecond),
        Interval(IntervalUnit::YearMonth),
        Interval(IntervalUnit::DayTime),
        Interval(IntervalUnit::MonthDayNano),
        union(UnionMode::Sparse),
        union(UnionMode::Dense),
        List(field(Duration(TimeUnit::Second))),
        structure([Int32, union(UnionMode::Dense)]),
        dictionary(Int8, Interval(IntervalUnit::YearMonth)),
        runs(Int32, Duration(TimeUnit::Second)),
    ]
}

/// Which of `rows` rows have a value.
fn valid(rows: usize, nulls: bool, rng: &mut Rng) -> Option<NullBuffer> {
    nulls.then(|| (0..rows).map(|_| rng.below(4) > 0).collect::<Vec<bool>>().into())
}

fn offsets<O: OffsetSizeTrait>(rows: usize, rng: &mut Rng) -> (OffsetBuffer<O>, usize) {
    let lens: Vec<usize> = (0..rows).map(|_| rng.below(4) as usize).collect();
    let total = lens.iter().sum();
    (OffsetBuffer::from_lengths(lens), total)
}

fn text(rng: &mut Rng) -> String {
    const WORDS: [&str; 6] = ["", "a", "Zürich", "a text that no view contains", "Bern", "twelve bytes"];
    WORDS[rng.below(6) as usize].to_owned()
}

fn digits(precision: u8, rng: &mut Rng) -> i256 {
    let most = (0..precision).fold(i256::ONE, |n, _| n.wrapping_mul(i256::from_i128(10)));
    let any = i256::from_parts(u128::from(rng.next()) << 64 | u128::from(rng.next()), i128::from(rng.next() as i64));
    match rng.below(4) {
        0 => most.wrapping_sub(i256::ONE),
        1 => i256::ONE.wrapping_sub(most),
        _ => any.wrapping_rem(most),
    }
}

fn list_views<O: OffsetSizeTrait>(item: &FieldRef, rows: usize, nulls: bool, rng: &mut Rng) -> ArrayRef {
    let values = array(item.data_type(), 20, nulls, rng);
    let sizes: Vec<usize> = (0..rows).map(|_| rng.below(4) as usize).collect();
    let starts: Vec<O> = sizes.iter().map(|_| O::usize_as(rng.below(16) as usize)).collect();
    let sizes: Vec<O> = sizes.into_iter().map(O::usize_as).collect();
    let valid = valid(rows, nulls, rng);
    Arc::new(GenericListViewArray::<O>::new(Arc::clone(item), starts.into(), sizes.into(), values, valid))
}

fn run_array<R: RunEndIndexType>(values: &DataType, rows: usize, nulls: bool, rng: &mut Rng) -> ArrayRef
where
    R::Native: TryFrom<usize>,
{
    let (mut ends, mut end) = (Vec::new(), 0);
    while end < rows {
        end = (end + 1 + rng.below(5) as usize).min(rows);
        ends.push(R::Native::try_from(end).ok().unwrap());
    }
    let values = array(values, ends.len(), nulls, rng);
    let ends = PrimitiveArray::<R>::new(ScalarBuffer::from(ends), None);
    Arc::new(RunArray::<R>::try_new(&ends, &values).unwrap())
}

fn coded<K: ArrowDictionaryKeyType>(value: &DataType, rows: usize, nulls: bool, rng: &mut Rng) -> ArrayRef
where
    K::Native: TryFrom<u64>,
{
    let values = array(value, 9, nulls, rng);
    let valid = valid(rows, nulls, rng);
    let keys = (0..rows).map(|_| K::Native::try_from(rng.below(9)).ok().unwrap()).collect::<Vec<_>>();
    Arc::new(DictionaryArray::new(PrimitiveArray::<K>::new(keys.into(), valid), values))
}

/// Random numbers of a type: small ones, or what the closure makes.
macro_rules! numbers {
    ($kind:ty, $of:expr, $make:expr) => {{
        let (ty, rows, nulls, rng): (&DataType, usize, bool, &mut Rng) = $of;
        let valid = valid(rows, nulls, rng);
        let values: Vec<_> = (0..rows).map(|_| $make(&mut *rng)).collect();
        Arc::new(PrimitiveArray::<$kind>::new(values.into(), valid).with_data_type(ty.clone()))
    }};
    ($kind:ty, $of:expr) => {
        numbers!($kind, $of, |rng: &mut Rng| (rng.next() as i8).max(-100) as _)
    };
}

/// Dates, times and decimals.
fn times(ty: &DataType, rows: usize, nulls: bool, rng: &mut Rng) -> ArrayRef {
    let of = (ty, rows, nulls, rng);
    match ty {
        DataType::Date32 => numbers!(Date32Type, of),
        DataType::Date64 => numbers!(Date64Type, of, |rng: &mut Rng| rng.below(9999) as i64 * 86_400_000),
        DataType::Time32(TimeUnit::Second) => numbers!(Time32SecondType, of, |rng: &mut Rng| rng.below(86_400) as i32),
        DataType::Time32(_) => numbers!(Time32MillisecondType, of, |rng: &mut Rng| rng.below(86_400_000) as i32),
        DataType::Time64(TimeUnit::Microsecond) => {
            numbers!(Time64MicrosecondType, of, |rng: &mut Rng| rng.below(86_400_000_000) as i64)
        }
        DataType::Time64(_) => numbers!(Time64NanosecondType, of, |rng: &mut Rng| rng.below(86_400_000_000_000) as i64),
        DataType::Timestamp(TimeUnit::Second, _) => numbers!(TimestampSecondType, of),
        DataType::Timestamp(TimeUnit::Millisecond, _) => numbers!(TimestampMillisecondType, of),
        DataType::Timestamp(TimeUnit::Microsecond, _) => numbers!(TimestampMicrosecondType, of),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => numbers!(TimestampNanosecondType, of),
        DataType::Decimal32(p, _) => numbers!(Decimal32Type, of, |rng: &mut Rng| digits(*p, rng).as_i128() as i32),
        DataType::Decimal64(p, _) => numbers!(Decimal64Type, of, |rng: &mut Rng| digits(*p, rng).as_i128() as i64),
        DataType::Decimal128(p, _) => numbers!(Decimal128Type, of, |rng: &mut Rng| digits(*p, rng).as_i128()),
        DataType::Decimal256(p, _) => numbers!(Decimal256Type, of, |rng: &mut Rng| digits(*p, rng)),
        other => panic!("no array of {other}"),
    }
}

/// A random array.
pub fn array(ty: &DataType, rows: usize, nulls: bool, rng: &mut Rng) -> ArrayRef {
    macro_rules! coded {
        ($value:expr, $key:expr, $($name:ident $kind:ty),*) => {
            match $key {
                $(DataType::$name => coded::<$kind>($value, rows, nulls, rng),)*
                other => panic!("no key {other}"),
            }
        };
    }
    match ty {
        DataType::Null => Arc::new(NullArray::new(rows)),
        DataType::Boolean => {
            let values: Vec<bool> = (0..rows).map(|_| rng.below(2) > 0).collect();
            Arc::new(BooleanArray::new(values.into(), valid(rows, nulls, rng)))
        }
        DataType::Int8 => numbers!(Int8Type, (ty, rows, nulls, rng)),
        DataType::Int16 => numbers!(Int16Type, (ty, rows, nulls, rng)),
        DataType::Int32 => numbers!(Int32Type, (ty, rows, nulls, rng)),
        DataType::Int64 => numbers!(Int64Type, (ty, rows, nulls, rng)),
        DataType::UInt8 => numbers!(UInt8Type, (ty, rows, nulls, rng), |rng: &mut Rng| rng.next() as u8),
        DataType::UInt16 => numbers!(UInt16Type, (ty, rows, nulls, rng), |rng: &mut Rng| rng.next() as u16),
        DataType::UInt32 => numbers!(UInt32Type, (ty, rows, nulls, rng), |rng: &mut Rng| rng.next() as u32),
        DataType::UInt64 => numbers!(UInt64Type, (ty, rows, nulls, rng), |rng: &mut Rng| rng.next() >> 1),
        DataType::Float16 => {
            numbers!(Float16Type, (ty, rows, nulls, rng), |rng: &mut Rng| {
                <Float16Type as ArrowPrimitiveType>::Native::from_f32(rng.below(99) as f32 / 4.0)
            })
        }
        DataType::Float32 => {
            numbers!(Float32Type, (ty, rows, nulls, rng), |rng: &mut Rng| rng.below(999) as f32 / -8.0)
        }
        DataType::Float64 => {
            numbers!(Float64Type, (ty, rows, nulls, rng), |rng: &mut Rng| rng.below(9999) as f64 / 10.0)
        }
        DataType::Dictionary(key, value) => {
            coded!(value, key.as_ref(), Int8 Int8Type, Int16 Int16Type, Int32 Int32Type,
            Int64 Int64Type, UInt8 UInt8Type, UInt16 UInt16Type, UInt32 UInt32Type, UInt64 UInt64Type)
        }
        DataType::RunEndEncoded(ends, value) => match ends.data_type() {
            DataType::Int16 => run_array::<Int16Type>(value.data_type(), rows, nulls, rng),
            DataType::Int32 => run_array::<Int32Type>(value.data_type(), rows, nulls, rng),
            _ => run_array::<Int64Type>(value.data_type(), rows, nulls, rng),
        },
        ty if ty.is_nested() => nested(ty, rows, nulls, rng),
        ty if ty.is_temporal() || ty.is_decimal() => times(ty, rows, nulls, rng),
        ty => texts(ty, rows, nulls, rng),
    }
}

fn texts(ty: &DataType, rows: usize, nulls: bool, rng: &mut Rng) -> ArrayRef {
    let values: Vec<Option<String>> = (0..rows).map(|_| (!nulls || rng.below(4) > 0).then(|| text(rng))).collect();
    let bytes = || values.iter().map(|text| text.as_ref().map(String::as_bytes));
    match ty {
        DataType::Utf8 => Arc::new(StringArray::from_iter(&values)),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from_iter(&values)),
        DataType::Binary => Arc::new(BinaryArray::from_iter(bytes())),
        DataType::LargeBinary => Arc::new(LargeBinaryArray::from_iter(bytes())),
        // Blocks of one text make several buffers.
        DataType::Utf8View => {
            let mut builder = StringViewBuilder::new().with_fixed_block_size(30);
            values.iter().for_each(|text| builder.append_option(text.as_ref()));
            Arc::new(builder.finish())
        }
        DataType::BinaryView => {
            let mut builder = BinaryViewBuilder::new().with_fixed_block_size(30);
            bytes().for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
        DataType::FixedSizeBinary(size) => {
            let mut builder = FixedSizeBinaryBuilder::new(*size);
            for text in &values {
                match text {
                    Some(_) => builder.append_value(vec![1 + rng.below(250) as u8; *size as usize]).unwrap(),
                    None => builder.append_null(),
                }
            }
            Arc::new(builder.finish())
        }
        other => panic!("no array of {other}"),
    }
}

fn nested(ty: &DataType, rows: usize, nulls: bool, rng: &mut Rng) -> ArrayRef {
    match ty {
        DataType::List(item) => {
            let (offsets, total) = offsets::<i32>(rows, rng);
            let values = array(item.data_type(), total, nulls, rng);
            Arc::new(ListArray::new(Arc::clone(item), offsets, values, valid(rows, nulls, rng)))
        }
        DataType::LargeList(item) => {
            let (offsets, total) = offsets::<i64>(rows, rng);
            let values = array(item.data_type(), total, nulls, rng);
            Arc::new(LargeListArray::new(Arc::clone(item), offsets, values, valid(rows, nulls, rng)))
        }
        DataType::ListView(item) => list_views::<i32>(item, rows, nulls, rng),
        DataType::LargeListView(item) => list_views::<i64>(item, rows, nulls, rng),
        DataType::FixedSizeList(item, size) => {
            let values = array(item.data_type(), rows * *size as usize, nulls, rng);
            Arc::new(FixedSizeListArray::new(Arc::clone(item), *size, values, valid(rows, nulls, rng)))
        }
        DataType::Struct(fields) => Arc::new(structs(fields, rows, valid(rows, nulls, rng), nulls, rng)),
        DataType::Map(entries, _) => {
            let (offsets, total) = offsets::<i32>(rows, rng);
            let DataType::Struct(fields) = entries.data_type() else { panic!("a map has entries") };
            let keys: ArrayRef = array(fields[0].data_type(), total, false, rng);
            let values = array(fields[1].data_type(), total, nulls, rng);
            let pairs = StructArray::new(fields.clone(), vec![keys, values], None);
            Arc::new(MapArray::new(Arc::clone(entries), offsets, pairs, valid(rows, nulls, rng), false))
        }
        other => panic!("no array of {other}"),
    }
}

fn structs(fields: &Fields, rows: usize, valid: Option<NullBuffer>, nulls: bool, rng: &mut Rng) -> StructArray {
    let arrays = fields.iter().map(|field| array(field.data_type(), rows, nulls, rng)).collect();
    StructArray::try_new_with_length(fields.clone(), arrays, valid, rows).unwrap()
}

/// An error of Parquet names the column, a type in it, and what helps.
#[allow(dead_code, reason = "not every test uses it")]
pub fn is_named(e: &pilaster_arrow::Error, column: &str, ty: &DataType) {
    let text = e.to_string();
    let found = text.strip_prefix(&format!("column {column:?}: Parquet has no "));
    let found =
        found.and_then(|text| text.strip_suffix(", which Arrow files have")).unwrap_or_else(|| panic!("{text}"));
    assert!(ty.to_string().contains(found), "{ty}: {text}");
}
