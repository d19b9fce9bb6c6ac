//! Jay files written: the same rows and facts come back, in both layouts, and what cannot be written is refused.

use pilaster::bytes::{Bits, Scratch, WriteError};
use pilaster::column::{Batch, Build, Column, Once, Part, Prim, Type, Unit, Validity, Value, Values, convert};
use pilaster::error::{Kind, What};
use pilaster::filo::{self, Element, Vector};
use pilaster::jay::write::{Builder, Sentinels, WriteOptions, storage};
use pilaster::jay::{File, Layout, ReadOptions, SType, Stats};

use crate::common;
use crate::compare::expect;
use crate::harness;

fn open(bytes: &[u8]) -> File<'_> {
    File::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut [0; 1 << 14])).unwrap()
}

fn rewritten(file: File<'_>, options: &WriteOptions) -> Result<Vec<u8>, WriteError<core::convert::Infallible>> {
    let mut builder = Builder::new(Vec::new(), options)?;
    convert(&mut Once::new(file), &mut builder, &mut Scratch::new(&mut [0; 4000]))?;
    builder.finish()
}

/// Every golden is read and written again: values, types, counts, keys and statistics are the same.
#[test]
fn goldens_come_back() {
    let mut count = 0;
    for golden in common::of("jay").iter().filter(|golden| golden.expected["expect"].is_null()) {
        let bytes = golden.bytes();
        let before = open(&bytes);
        for layout in [Layout::New, Layout::Old] {
            let keys = before.meta().keys();
            let options = WriteOptions { layout, keys, ..WriteOptions::DEFAULT };
            let has_arrays = (0..before.width()).any(|k| before.column(k).unwrap().ty() == Type::List);
            let written = rewritten(before, &options);
            if has_arrays && layout == Layout::Old {
                let Err(WriteError::Format(e)) = written else { panic!("arrays in the old layout") };
                assert_eq!((e.kind(), e.what()), (Kind::WrongType, What::JAY_TYPE));
                continue;
            }
            let written = written.unwrap();
            assert!(written.len().is_multiple_of(8));
            let after = open(&written);
            after.verify(&mut Scratch::new(&mut [0; 1 << 14])).unwrap_or_else(|e| panic!("{}: {e}", golden.name));
            let shape = |file: &File<'_>| (file.rows(), file.width(), file.meta().keys());
            assert_eq!(shape(&after), shape(&before));
            for k in 0..before.width() {
                same_column(&before, &after, k, &golden.name);
                let expected = if after.column(k).unwrap().ty() == Type::Null { Layout::Old } else { layout };
                assert_eq!(after.meta().field(k).unwrap().layout(), expected);
            }
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}

fn same_column(before: &File<'_>, after: &File<'_>, k: usize, name: &str) {
    let (a, b) = (before.column(k).unwrap(), after.column(k).unwrap());
    assert_eq!((before.name(k), a.ty(), a.field().null_count()), (after.name(k), b.ty(), b.field().null_count()));
    let wide = matches!(a.field().stype(), SType::Str64 | SType::Arr64);
    assert!(wide || a.field().stype() == b.field().stype(), "{name}");
    let all = |column| expect::values(column, 0..before.rows(), harness::walk::ROOMS[2], false).unwrap();
    assert_eq!(all(&a), all(&b), "{name}: column {k}");
    if let Some(stats) = a.field().stats().unwrap() {
        assert_eq!(format!("{stats:?}"), format!("{:?}", b.field().stats().unwrap().unwrap()), "{name}: column {k}");
    }
}

/// What our own writer writes of its own files is the same file again.
#[test]
fn the_second_writing_changes_nothing() {
    for name in ["alltypes_n5", "arr_nested", "arrow_fixed_validity", "mixed_n5000", "wide_500", "void_n5"] {
        let bytes = std::fs::read(format!("tests/golden/jay/{name}.jay")).unwrap();
        let once = rewritten(open(&bytes), &WriteOptions::DEFAULT).unwrap();
        let twice = rewritten(open(&once), &WriteOptions::DEFAULT).unwrap();
        assert!(once == twice, "{name}");
    }
}

/// Our writer writes the same bytes before the metadata as the original.
#[test]
fn the_data_section_is_that_of_the_original() {
    for name in ["int32_n1025", "float64_n1025", "str32_n1025", "alltypes_n5", "arr_int32", "arr_str", "keyed_2"] {
        let bytes = std::fs::read(format!("tests/golden/jay/{name}.jay")).unwrap();
        let before = open(&bytes);
        let written = rewritten(before, &WriteOptions::DEFAULT).unwrap();
        let data = |bytes: &[u8]| {
            let file = open(bytes);
            bytes[..file.tail().meta.at as usize].to_vec()
        };
        // The original keeps str64 where it was asked for; the rest is the same.
        let has_wide = (0..before.width()).any(|k| before.column(k).unwrap().field().stype() == SType::Str64);
        assert!(has_wide || data(&bytes) == data(&written), "{name}");
    }
}

fn ints(values: &[i32]) -> Vec<u8> {
    let mut chunk = vec![0; 1 << 14];
    let rows = filo::write::Rows::all(filo::write::Plain::Int(values));
    let len = filo::write::encode_auto(&rows, &mut chunk, &mut Scratch::new(&mut [])).unwrap();
    chunk.truncate(len);
    chunk
}

fn write_ints(values: &[i32], options: &WriteOptions) -> Result<Vec<u8>, WriteError<core::convert::Infallible>> {
    let chunk = ints(values);
    let mut builder = Builder::new(Vec::new(), options)?;
    let mut table = Once::new(Vector::open(&chunk, Element::Int).unwrap());
    convert(&mut table, &mut builder, &mut Scratch::new(&mut [0; 4000]))?;
    builder.finish()
}

fn refusal<T>(done: Result<T, WriteError<core::convert::Infallible>>) -> (Kind, What, u64) {
    match done {
        Err(WriteError::Format(e)) => (e.kind(), e.what(), e.at()),
        Err(WriteError::Sink(never)) => match never {},
        Ok(_) => panic!("it is taken"),
    }
}

#[test]
fn a_value_that_would_read_as_missing_is_refused() {
    let mut values = vec![1; 2000];
    values[1500] = i32::MIN;
    let e = refusal(write_ints(&values, &WriteOptions::DEFAULT));
    assert_eq!(e, (Kind::Lossy, What::JAY_SENTINEL, 1500));
}

/// The least integers of each type, top level and in arrays, by each way.
#[test]
fn sentinels_are_errors_missing_or_widened() {
    let with = |sentinels| WriteOptions { sentinels, ..WriteOptions::DEFAULT };
    let (prim, int) = (Type::Prim, |a, b| Ok(vec![a, Value::Null, b]));
    let cases: [(Type, Values<'static>, i128, Option<SType>); 6] = [
        (prim(Prim::I8), Values::I8(&[i8::MIN, 9, -1]), i8::MIN.into(), Some(SType::Int16)),
        (prim(Prim::I16), Values::I16(&[i16::MIN, 9, -1]), i16::MIN.into(), Some(SType::Int32)),
        (prim(Prim::I32), Values::I32(&[i32::MIN, 9, -1]), i32::MIN.into(), Some(SType::Int64)),
        (prim(Prim::I64), Values::I64(&[i64::MIN, 9, -1]), i64::MIN.into(), None),
        (Type::Date(Unit::Day), Values::I32(&[i32::MIN, 9, -1]), i32::MIN.into(), None),
        (Type::Timestamp(Unit::Nano), Values::I64(&[i64::MIN, 9, -1]), i64::MIN.into(), None),
    ];
    for (ty, values, least, wider) in cases {
        let refused = Err((Kind::Lossy, What::JAY_SENTINEL, 0));
        assert_eq!(fixed(ty, values, &with(Sentinels::Error)), refused, "{ty}");
        let missing = fixed(ty, values, &with(Sentinels::Missing));
        assert_eq!(missing, int(Value::Null, Value::Int(-1)), "{ty}");
        let widened = fixed(ty, values, &with(Sentinels::Widen));
        match wider {
            Some(_) => assert_eq!(widened, int(Value::Int(least), Value::Int(-1)), "{ty}"),
            None => assert_eq!(widened, refused, "{ty}"),
        }
    }
    // Only the columns that need it are widened.
    let mut values = vec![1; 2000];
    let stype = |bytes: &[u8]| open(bytes).meta().field(0).unwrap().stype();
    let narrow = write_ints(&values, &with(Sentinels::Widen)).unwrap();
    assert_eq!(stype(&narrow), SType::Int32);
    assert_eq!(narrow, write_ints(&values, &WriteOptions::DEFAULT).unwrap());
    values[1500] = i32::MIN;
    let wide = write_ints(&values, &with(Sentinels::Widen)).unwrap();
    assert_eq!(stype(&wide), SType::Int64);
    assert_eq!(open(&wide).column(0).unwrap().get(1500), Ok(Value::Int(i32::MIN.into())));
    assert_eq!(open(&wide).meta().field(0).unwrap().null_count(), 0);
    let missing = write_ints(&values, &with(Sentinels::Missing)).unwrap();
    assert_eq!(open(&missing).meta().field(0).unwrap().null_count(), 1);
}

#[test]
fn keys_must_ascend() {
    let keyed = WriteOptions { keys: 1, ..WriteOptions::DEFAULT };
    let written = write_ints(&[-3, 0, 1, 7], &keyed).unwrap();
    assert_eq!(open(&written).meta().keys(), 1);
    for values in [[1, 1, 2, 3], [1, 0, 2, 3]] {
        assert_eq!(refusal(write_ints(&values, &keyed)), (Kind::Invalid, What::JAY_KEY, 1));
    }
    let more = WriteOptions { keys: 2, ..WriteOptions::DEFAULT };
    assert_eq!(refusal(write_ints(&[1, 2], &more)).1, What::JAY_KEY);
}

#[test]
fn columns_arrive_in_any_order() {
    let (a, b) = (ints(&[1, 2, 3]), ints(&[4, 5, 6]));
    let mut writer = Builder::new(Vec::new(), &WriteOptions::DEFAULT).unwrap();
    for (k, name, chunk) in [(1, "second", &b), (0, "first", &a)] {
        let column = Vector::open(chunk, Element::Int).unwrap().column(0).unwrap();
        let mut memory = [0; 64];
        let batch = column.read(0..3, &mut Scratch::new(&mut memory)).unwrap();
        writer.batch(k, name, 0, &column, &batch).unwrap();
        writer.close().unwrap();
    }
    let bytes = writer.finish().unwrap();
    let mut memory = [0; 64];
    let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    assert_eq!((file.name(0), file.name(1)), (Ok("first"), Ok("second")));
    assert_eq!(file.column(0).unwrap().get(2), Ok(Value::Int(3)));
    assert_eq!(file.column(1).unwrap().field().stats(), Ok(Some(Stats::Int { min: 4, max: 6 })));
}

#[test]
fn misuse_is_an_error() {
    let chunk = ints(&[1, 2, 3]);
    let column = Vector::open(&chunk, Element::Int).unwrap().column(0).unwrap();
    let mut memory = [0; 64];
    let batch = column.read(0..3, &mut Scratch::new(&mut memory)).unwrap();
    let begun = || {
        let mut writer = Builder::new(Vec::new(), &WriteOptions::DEFAULT).unwrap();
        writer.batch(0, "a", 0, &column, &batch).unwrap();
        writer
    };
    assert_eq!(refusal(begun().finish()).0, Kind::Misuse);
    assert_eq!(refusal(begun().batch(1, "b", 3, &column, &batch)).0, Kind::Misuse);
    assert_eq!(refusal(begun().batch(0, "b", 3, &column, &batch)).0, Kind::Misuse);
    for name in ["", "a\nb", "\0"] {
        let mut writer = Builder::new(Vec::new(), &WriteOptions::DEFAULT).unwrap();
        assert_eq!(refusal(writer.batch(0, name, 0, &column, &batch)).1, What::JAY_NAME);
    }
    let mut writer = begun();
    writer.close().unwrap();
    assert_eq!(refusal(writer.close()).0, Kind::Misuse);
    writer.batch(1, "a", 0, &column, &batch).unwrap();
    writer.batch(1, "a", 3, &column, &batch).unwrap();
    assert_eq!(refusal(writer.close()).1, What::JAY_ROWS);
    let mut writer = begun();
    writer.close().unwrap();
    assert_eq!(refusal(writer.batch(0, "b", 0, &column, &batch)).0, Kind::Misuse);
    writer.batch(1, "a", 0, &column, &batch).unwrap();
    writer.close().unwrap();
    assert_eq!(refusal(writer.finish()), (Kind::Invalid, What::JAY_NAME, 1));
}

/// A column of one type that a test needs, with fixed rows.
#[derive(Clone, Copy, Debug)]
struct Fixed {
    ty: Type,
    values: Values<'static>,
    rows: usize,
}

impl Column for Fixed {
    fn ty(&self) -> Type {
        self.ty
    }

    fn nullable(&self) -> bool {
        true
    }

    fn rows(&self) -> u64 {
        self.rows as u64
    }

    fn need(&self, _: core::ops::Range<u64>) -> pilaster::Result<u64> {
        Ok(0)
    }

    fn read<'s>(&self, _: core::ops::Range<u64>, _: &mut Scratch<'s>) -> pilaster::Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        // Row 1 is missing.
        let validity = Validity::Bits(Bits::new(&[0b1111_1101], 0, self.rows)?);
        Ok(Batch { first: 0, len: self.rows, values: self.values, validity, of: *self })
    }
}

fn fixed(ty: Type, values: Values<'static>, options: &WriteOptions) -> Result<Vec<Value<'static>>, (Kind, What, u64)> {
    let column = Fixed { ty, values, rows: 3 };
    let mut writer = Builder::new(Vec::new(), options).unwrap();
    let batch = column.read(0..3, &mut Scratch::new(&mut [])).unwrap();
    for _ in 0..writer.passes(&column) {
        writer.batch(0, "x", 0, &column, &batch).map_err(|e| refusal(Err::<(), _>(e)))?;
        writer.close().unwrap();
    }
    let bytes = writer.finish().unwrap();
    let file = open(&bytes);
    file.verify(&mut Scratch::new(&mut [0; 256])).unwrap();
    let column = file.column(0).unwrap();
    let own = |value| match value {
        Value::Null => Value::Null,
        Value::Int(v) => Value::Int(v),
        Value::F32(v) => Value::F32(v),
        other => panic!("{other:?}"),
    };
    Ok((0..3).map(|row| own(column.get(row).unwrap())).collect())
}

#[test]
fn types_without_a_twin_are_widened_or_refused() {
    let int = |a, b| Ok(vec![Value::Int(a), Value::Null, Value::Int(b)]);
    let plain = &WriteOptions::DEFAULT;
    let prim = Type::Prim;
    assert_eq!(fixed(prim(Prim::U8), Values::U8(&[255, 9, 0]), plain), int(255, 0));
    assert_eq!(fixed(prim(Prim::U16), Values::U16(&[65535, 9, 0]), plain), int(65535, 0));
    assert_eq!(fixed(prim(Prim::U32), Values::U32(&[u32::MAX, 9, 0]), plain), int(u32::MAX.into(), 0));
    assert_eq!(fixed(prim(Prim::U64), Values::U64(&[1, u64::MAX, 1 << 62]), plain), int(1, 1 << 62));
    let lossy = Err((Kind::Lossy, What::JAY_TYPE, 2));
    assert_eq!(fixed(prim(Prim::U64), Values::U64(&[1, 2, 1 << 63]), plain), lossy);
    let halves = fixed(prim(Prim::F16), Values::F16(&[0x3c00, 0, 0xc000]), plain);
    assert_eq!(halves, Ok(vec![Value::F32(1.0), Value::Null, Value::F32(-2.0)]));
    // Times of other units only where they are asked for, and as far as they fit.
    let millis = Type::Timestamp(Unit::Milli);
    assert_eq!(fixed(millis, Values::I64(&[1, 2, -3]), plain), Err((Kind::WrongType, What::JAY_TYPE, 0)));
    let any = &WriteOptions { any_time: true, ..*plain };
    assert_eq!(fixed(millis, Values::I64(&[1, 2, -3]), any), int(1_000_000, -3_000_000));
    assert_eq!(fixed(millis, Values::I64(&[1, 2, i64::MAX]), any), lossy);
    for ty in
        [Type::Bytes, Type::Struct(2), Type::Map, Type::Decimal { precision: 9, scale: 2 }, Type::Time(Unit::Nano)]
    {
        assert_eq!(storage(ty, plain), None);
    }
    assert!(storage(Type::Bytes, &WriteOptions { bytes_as_text: true, ..*plain }).is_some());
}
