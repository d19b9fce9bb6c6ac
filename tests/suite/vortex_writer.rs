//! The writer of Vortex files: its calls, what it refuses, its budgets, and sinks that fail.

use core::cell::Cell;
use core::ops::Range;

use pilaster::bytes::{Bits, Scratch, Sink, WriteError};
use pilaster::column::{
    Batch, Borrowed, Build as _, Column, Memory, Part as _, Prim, Ranges, Spans, Table as _, Type, Validity, Value,
    Values, VarBytes,
};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::write::{Builder, Encodings, Profile, WriteOptions, Writer};
use pilaster::vortex::{Encoding, File};

type Named<'d> = (&'d str, Borrowed<'d>);
type Done = Result<Vec<u8>, WriteError<core::convert::Infallible>>;

const OPTIONS: WriteOptions = WriteOptions::DEFAULT;

/// The error of calls after another error.
const FAILED: (Kind, What, u64, u32) = (Kind::Misuse, What::VORTEX_FAILED, 0, 0);

fn longs(values: &[i64]) -> Borrowed<'_> {
    Borrowed::new(Type::Prim(Prim::I64), Values::I64(values))
}

fn texts<'d>(data: &'d str, offsets: &'d [u32]) -> Borrowed<'d> {
    Borrowed::new(Type::Utf8, Values::Utf8(VarBytes { data: data.as_bytes(), spans: Spans::Off32(offsets) }))
}

fn bits(bytes: &[u8], len: usize) -> Validity<'_> {
    Validity::Bits(Bits::new(bytes, 0, len).unwrap())
}

fn nested<'d>(ty: Type, ranges: Ranges<'d>, children: &'d [Named<'d>]) -> Borrowed<'d> {
    Borrowed::new(ty, Values::Nested(ranges)).with_children(children)
}

fn record<'d>(rows: usize, fields: &'d [Named<'d>]) -> Borrowed<'d> {
    nested(Type::Struct(fields.len() as u32), Ranges::Stride { first: 0, size: 1, count: rows }, fields)
}

/// The file with these rows.
fn written(columns: &[Named<'_>], options: &WriteOptions) -> Done {
    let mut file = Writer::new(Vec::new(), columns, options)?;
    file.push(columns)?;
    file.finish()
}

/// Kind, field, offset and size of the error.
fn refusal<T>(done: Result<T, WriteError<core::convert::Infallible>>) -> (Kind, What, u64, u32) {
    match done {
        Ok(_) => panic!("no error"),
        Err(WriteError::Sink(never)) => match never {},
        Err(WriteError::Format(e)) => (e.kind(), e.what(), e.at(), e.need()),
    }
}

fn verify(bytes: &[u8]) {
    let mut memory = Memory::with_len(1 << 24).unwrap();
    File::open(bytes).unwrap().verify(&mut memory.scratch()).unwrap();
}

#[test]
fn batches_of_any_length_are_written_in_order() {
    let all: Vec<i64> = (0..30_000).map(|i| i * 7 % 1000).collect();
    let mut file = Writer::new(Vec::new(), &[("n", longs(&[]))][..], &OPTIONS).unwrap();
    for batch in all.chunks(777) {
        file.push(&[("n", longs(batch))][..]).unwrap();
    }
    file.push(&[("n", longs(&[]))][..]).unwrap();
    assert_eq!(file.rows(), 30_000);
    let bytes = file.finish().unwrap();
    verify(&bytes);
    assert_eq!(File::open(&bytes).unwrap().table().unwrap().to_vec::<i64>("n").unwrap(), all);
    assert_eq!(bytes, written(&[("n", longs(&all))], &OPTIONS).unwrap(), "the length of batches makes no difference");
}

#[test]
fn a_later_batch_has_the_type_of_the_first() {
    let zoned =
        |zone| Borrowed::new(Type::Timestamp(pilaster::column::Unit::Second), Values::I64(&[1])).with_zone(zone);
    let (x, y) = ([("x", longs(&[1]))], [("y", longs(&[1]))]);
    let short = [("x", Borrowed::new(Type::Prim(Prim::I16), Values::I16(&[1])))];
    let missing = [("x", longs(&[1]).with_validity(Validity::None))];
    let one = Ranges::Off32(&[0, 1]);
    for (first, later, what) in [
        (longs(&[1]), Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1])), What::OF_INT32),
        (longs(&[1]), longs(&[1]).with_validity(Validity::All), What::OF_INT64),
        (zoned("UTC"), zoned("Europe/Rome"), What::OF_TIMESTAMPS),
        (record(1, &x), record(1, &y), What::OF_STRUCTS),
        (record(1, &x), record(1, &short), What::OF_STRUCTS),
        (record(1, &x), record(1, &missing), What::OF_STRUCTS),
        (nested(Type::List, one, &x), nested(Type::List, one, &short), What::OF_LISTS),
        (nested(Type::FixedList(1), one, &x), nested(Type::FixedList(1), one, &short), What::OF_LISTS),
        (nested(Type::FixedList(1), one, &x), nested(Type::FixedList(2), one, &x), What::OF_LISTS),
    ] {
        let mut file = Writer::new(Vec::new(), &[("a", first)][..], &OPTIONS).unwrap();
        file.push(&[("a", first)][..]).unwrap();
        assert_eq!(refusal(file.push(&[("a", later)][..])), (Kind::WrongType, what, 0, 0));
    }
    // Fewer nulls are no other type.
    let mut file = Writer::new(Vec::new(), &[("a", longs(&[]).with_validity(Validity::All))][..], &OPTIONS).unwrap();
    file.push(&[("a", longs(&[1]))][..]).unwrap();
    file.push(&[("a", longs(&[1]).with_validity(Validity::None))][..]).unwrap();
    let bytes = file.finish().unwrap();
    let values = File::open(&bytes).unwrap().table().unwrap().to_vec::<Option<i64>>("a").unwrap();
    assert_eq!(values, [Some(1), None]);
}

#[test]
fn a_time_zone_that_no_reader_finds_is_refused() {
    for (zone, found) in [("", true), ("UTC", true), ("+01:00", true), ("Z", false), ("UTC+1", false)] {
        let times = Borrowed::new(Type::Timestamp(pilaster::column::Unit::Second), Values::I64(&[1])).with_zone(zone);
        let file = Writer::new(Vec::new(), &[("a", times)][..], &OPTIONS).map(|_| ());
        assert_eq!(file.is_ok(), found, "{zone}");
        if !found {
            assert_eq!(refusal(file), (Kind::Invalid, What::VORTEX_TIME_ZONE, 0, zone.len() as u32));
        }
    }
}

#[test]
fn a_null_where_the_type_has_none_is_an_error() {
    /// A column that says that no row is missing, and lies.
    #[derive(Clone, Copy, Debug)]
    struct Liar<'d>(Borrowed<'d>);
    impl Column for Liar<'_> {
        fn ty(&self) -> Type {
            self.0.ty()
        }
        fn nullable(&self) -> bool {
            false
        }
        fn rows(&self) -> u64 {
            self.0.rows()
        }
        fn child(&self, k: usize) -> pilaster::Result<Self> {
            self.0.child(k).map(Liar)
        }
        fn child_name(&self, k: usize) -> pilaster::Result<&str> {
            self.0.child_name(k)
        }
        fn need(&self, _: Range<u64>) -> pilaster::Result<u64> {
            Ok(0)
        }
        fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> pilaster::Result<Batch<'s, Self>>
        where
            Self: 's,
        {
            let Batch { first, len, values, validity, of } = self.0.read(rows, scratch)?;
            Ok(Batch { first, len, values, validity, of: Liar(of) })
        }
    }
    let row_2 = bits(&[0b011], 3);
    let keys = [("key", longs(&[1, 2, 3]).with_validity(row_2)), ("value", longs(&[1, 2, 3]))];
    let field = [("x", longs(&[1, 2, 3]).with_validity(row_2))];
    let entries = [("entry", record(3, &keys))];
    // An item has the row of its list.
    for (column, row) in [
        (longs(&[1, 2, 3]).with_validity(row_2), 2),
        (record(3, &field), 2),
        (nested(Type::List, Ranges::Off32(&[0, 1, 3]), &field), 1),
        (nested(Type::FixedList(3), Ranges::Stride { first: 0, size: 3, count: 1 }, &field), 0),
        (nested(Type::Map, Ranges::Off32(&[0, 3]), &entries), 0),
    ] {
        let mut builder = Builder::new(Vec::new(), &OPTIONS).unwrap();
        let liar = Liar(column);
        let batch = liar.read(0..liar.rows(), &mut Scratch::new(&mut [])).unwrap();
        builder.open(liar.rows()).unwrap();
        assert_eq!(refusal(builder.batch(0, "a", 0, &liar, &batch)), (Kind::Lossy, What::OF_INT64, row, 0));
    }
    // Keys are never missing, whatever their column says.
    let map = nested(Type::Map, Ranges::Off32(&[0, 2, 3]), &entries);
    assert_eq!(refusal(written(&[("m", map)], &OPTIONS)), (Kind::Lossy, What::OF_INT64, 1, 0));
}

#[test]
fn values_below_a_missing_row_are_not_stored() {
    let valid = bits(&[0b101], 3);
    let file = |numbers: &[i64], words: Borrowed<'_>| {
        let fields = [("n", longs(numbers)), ("s", words.with_validity(Validity::All))];
        let pairs = [("item", longs(numbers))];
        let fixed = nested(Type::FixedList(1), Ranges::Stride { first: 0, size: 1, count: 3 }, &pairs);
        let columns = [("st", record(3, &fields).with_validity(valid)), ("fx", fixed.with_validity(valid))];
        let bytes = written(&columns, &OPTIONS).unwrap();
        verify(&bytes);
        bytes
    };
    // Texts below a missing row need not be valid, either.
    let other = VarBytes { data: b"a\xffb", spans: Spans::Off32(&[0, 1, 2, 3]) };
    let other = Borrowed::new(Type::Utf8, Values::Utf8(other));
    assert_eq!(file(&[1, 2, 3], texts("ab", &[0, 1, 1, 2])), file(&[1, 99, 3], other));
    // A child that is null there is not a null in a field that has none.
    let fields = [("n", longs(&[1, 2, 3]).with_validity(valid))];
    let of_nulls = [("st", record(3, &fields).with_validity(valid))];
    let table = written(&of_nulls, &OPTIONS).unwrap();
    let nulls = File::open(&table).unwrap().table().unwrap().to_vec::<Option<i64>>("st.n").unwrap();
    assert_eq!(nulls, [Some(1), None, Some(3)]);
}

#[test]
fn a_child_is_read_once_though_rows_are_missing() {
    thread_local! { static READS: Cell<usize> = const { Cell::new(0) }; }
    #[derive(Clone, Copy, Debug)]
    struct Counted<'d>(Borrowed<'d>);
    impl Column for Counted<'_> {
        fn ty(&self) -> Type {
            self.0.ty()
        }
        fn nullable(&self) -> bool {
            self.0.nullable()
        }
        fn rows(&self) -> u64 {
            self.0.rows()
        }
        fn child(&self, k: usize) -> pilaster::Result<Self> {
            self.0.child(k).map(Counted)
        }
        fn child_name(&self, k: usize) -> pilaster::Result<&str> {
            self.0.child_name(k)
        }
        fn need(&self, _: Range<u64>) -> pilaster::Result<u64> {
            Ok(0)
        }
        fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> pilaster::Result<Batch<'s, Self>>
        where
            Self: 's,
        {
            READS.set(READS.get() + 1);
            let Batch { first, len, values, validity, of } = self.0.read(rows, scratch)?;
            Ok(Batch { first, len, values, validity, of: Counted(of) })
        }
    }
    const ROWS: usize = 4000;
    let numbers: Vec<i64> = (0..ROWS as i64 * 2).collect();
    let half = [0b0101_0101; ROWS / 8];
    let field = [("x", longs(&numbers[..ROWS]))];
    let items = [("item", longs(&numbers))];
    let fixed = nested(Type::FixedList(2), Ranges::Stride { first: 0, size: 2, count: ROWS }, &items);
    for column in [record(ROWS, &field).with_validity(bits(&half, ROWS)), fixed.with_validity(bits(&half, ROWS))] {
        let column = Counted(column);
        let batch = column.read(0..ROWS as u64, &mut Scratch::new(&mut [])).unwrap();
        let mut builder = Builder::new(Vec::new(), &OPTIONS).unwrap();
        builder.open(ROWS as u64).unwrap();
        READS.set(0);
        builder.batch(0, "a", 0, &column, &batch).unwrap();
        assert_eq!(READS.get(), 1);
        builder.close().unwrap();
        let bytes = builder.finish().unwrap();
        verify(&bytes);
        let file = File::open(&bytes).unwrap();
        let read = file.part().unwrap().column(0).unwrap();
        assert!((0..ROWS as u64).all(|row| {
            let mut memory = [0; 1 << 12];
            let batch = read.read(row..row + 1, &mut Scratch::new(&mut memory)).unwrap();
            (batch.value(0) == Ok(Value::Null)) == (row % 2 == 1)
        }));
    }
}

#[test]
fn calls_of_the_builder_are_checked() {
    let (column, misuse) = (longs(&[1, 2, 3]), |k, need| (Kind::Misuse, What::COLUMN, k, need));
    let batch = column.read(0..3, &mut Scratch::new(&mut [])).unwrap();
    let begun = |rows: &[u64]| {
        let mut builder = Builder::new(Vec::new(), &OPTIONS).unwrap();
        for (i, rows) in rows.iter().enumerate() {
            if i > 0 {
                builder.batch(0, "a", 0, &column, &batch).unwrap();
                builder.close().unwrap();
            }
            builder.open(*rows).unwrap();
        }
        builder
    };
    // A column got fewer rows than were announced, or more.
    let mut builder = begun(&[4]);
    builder.batch(0, "a", 0, &column, &batch).unwrap();
    assert_eq!(refusal(builder.close()), (Kind::Misuse, What::VORTEX_COLUMN_ROWS, 0, 3));
    assert_eq!(refusal(begun(&[2]).batch(0, "a", 0, &column, &batch)), misuse(0, 0));
    // The first group has two columns, the second one only one of them, or three.
    let mut builder = begun(&[3]);
    builder.batch(0, "a", 0, &column, &batch).unwrap();
    builder.batch(1, "b", 0, &column, &batch).unwrap();
    builder.close().unwrap();
    builder.open(3).unwrap();
    builder.batch(0, "a", 0, &column, &batch).unwrap();
    assert_eq!(refusal(builder.close()), (Kind::Misuse, What::VORTEX_COLUMN_ROWS, 1, 0));
    let mut builder = begun(&[3, 3]);
    builder.batch(0, "a", 0, &column, &batch).unwrap();
    assert_eq!(refusal(builder.batch(2, "c", 0, &column, &batch)), misuse(2, 0));
    assert_eq!(refusal(builder.close()), FAILED);
    assert_eq!(refusal(builder.finish()), FAILED);
    // Rows that are not the next ones, or of a column with another name.
    assert_eq!(refusal(begun(&[6]).batch(0, "a", 1, &column, &batch)), misuse(0, 1));
    assert_eq!(refusal(begun(&[6]).batch(1, "a", 0, &column, &batch)), misuse(1, 0));
    let named = (Kind::Misuse, What::VORTEX_COLUMN_NAME, 0, 0);
    assert_eq!(refusal(begun(&[3, 3]).batch(0, "b", 0, &column, &batch)), named);
    // Groups that are not open, or not closed.
    let mut builder = Builder::new(Vec::new(), &OPTIONS).unwrap();
    assert_eq!(refusal(builder.batch(0, "a", 0, &column, &batch)), misuse(0, 0));
    assert_eq!(refusal(builder.close()), (Kind::Misuse, What::ROW, 0, 0));
    assert_eq!(refusal(begun(&[3]).open(3)), (Kind::Misuse, What::ROW, 0, 0));
    assert_eq!(refusal(begun(&[3, 3]).finish()), (Kind::Misuse, What::ROW, 3, 0));
}

#[test]
fn parts_that_do_not_fit_the_schema_are_refused() {
    let (a, b) = (longs(&[1, 2]), longs(&[3]));
    let new = || Writer::new(Vec::new(), &[("a", a), ("b", b)][..], &OPTIONS).unwrap();
    let misuse = |what, at, need| (Kind::Misuse, what, at, need);
    for (part, error, text) in [
        (&[("a", a)][..], misuse(What::VORTEX_WIDTH, 1, 2), "1 columns, and the file has 2"),
        (
            &[("a", a), ("c", a)],
            misuse(What::VORTEX_COLUMN_NAME, 1, 0),
            "column 1, counted from 0: no column of the file has its name",
        ),
        (
            &[("b", b), ("a", a)],
            misuse(What::VORTEX_COLUMN_NAME, 0, 2),
            "column 0, counted from 0: its name is that of column 1 of the file",
        ),
        (
            &[("a", a), ("b", b)],
            misuse(What::VORTEX_COLUMN_ROWS, 1, 1),
            "column 1, counted from 0: 1 rows, and others have another number of rows",
        ),
        (&[("a", a), ("b", texts("xy", &[0, 1, 2]))], (Kind::WrongType, What::OF_TEXT, 0, 0), "column of text"),
    ] {
        let mut file = new();
        let e = file.push(part).unwrap_err();
        assert!(e.to_string().starts_with(text), "{e}");
        assert_eq!(refusal(Err::<(), _>(e)), error);
        // Other columns may have more rows now: a file of these would be wrong.
        assert_eq!(refusal(file.push(&[("a", a), ("b", a)][..])), FAILED);
        let e = file.finish().unwrap_err();
        assert_eq!(e.to_string(), "an earlier call failed: the file cannot be finished");
        assert_eq!(refusal(Err::<(), _>(e)), FAILED);
    }
    let hours = Borrowed::new(Type::Timestamp(pilaster::column::Unit::Hour), Values::I64(&[1]));
    assert_eq!(refusal(written(&[("a", hours)], &OPTIONS)), (Kind::WrongType, What::OF_TIMESTAMPS, 0, 0));
}

#[test]
fn types_that_share_children_are_bounded() {
    let wide = (0..30).fold(longs(&[1]), |child, _| {
        let fields: &'static [Named<'static>] = Box::leak(Box::new([("a", child), ("b", child)]));
        record(1, fields)
    });
    let limit = |what, need| (Kind::Limit, what, 0, need);
    assert_eq!(refusal(written(&[("a", wide)], &OPTIONS)), limit(What::MAX_NODES, 1_000_000));
    let deep = (0..100).fold(longs(&[1]), |child, _| {
        let item: &'static [Named<'static>] = Box::leak(Box::new([("item", child)]));
        nested(Type::List, Ranges::Off32(&[0, 1]), item)
    });
    assert_eq!(refusal(written(&[("a", deep)], &OPTIONS)), limit(What::MAX_DEPTH, 64));
    // All columns share the budget.
    let few = WriteOptions { limits: Limits { max_nodes: 3, ..Limits::DEFAULT }, ..OPTIONS };
    let columns = ["a", "b", "c", "d"].map(|name| (name, longs(&[1])));
    assert!(written(&columns[..3], &few).is_ok());
    assert_eq!(refusal(written(&columns, &few)), limit(What::MAX_NODES, 3));
}

/// A sink that counts, and keeps the longest write.
#[derive(Default)]
struct Longest {
    most: usize,
    bytes: Vec<u8>,
}

impl Sink for &mut Longest {
    type Error = core::convert::Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.most = self.most.max(bytes.len());
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

#[test]
fn rows_of_many_bytes_end_a_block() {
    const ROWS: usize = 9000;
    let limits = Limits { max_decoded: 1 << 16, ..Limits::DEFAULT };
    // Bytes that no dictionary or symbol makes shorter, in spans that overlap: the rows have far more bytes
    // than the source.
    let mut state = 1u64;
    let data: Vec<u8> = core::iter::repeat_with(|| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 56) as u8
    })
    .take(ROWS + 400)
    .collect();
    let spans: Vec<[u32; 2]> = (0..ROWS as u32).map(|i| [i, 400]).collect();
    let bytes = Borrowed::new(Type::Bytes, Values::Bytes(VarBytes { data: &data, spans: Spans::Each(&spans) }));
    let items = [("item", Borrowed::new(Type::Prim(Prim::U8), Values::U8(&data)))];
    let lists = nested(Type::List, Ranges::Each(&spans), &items);
    for column in [bytes, lists] {
        for profile in [Profile::Edition2026, Profile::Wide] {
            let columns = [("n", longs(&[7; ROWS])), ("c", column)];
            let mut sink = Longest::default();
            let mut file =
                Writer::new(&mut sink, &columns[..], &WriteOptions { chunk_size: 1 << 15, limits, profile, ..OPTIONS })
                    .unwrap();
            file.push(&columns[..]).unwrap();
            file.finish().unwrap();
            // The rows of the block, what they are read in, and a block that was not full.
            assert!(sink.most < 3 << 16, "{}", sink.most);
            verify(&sink.bytes);
            let file = File::open(&sink.bytes).unwrap();
            let column = file.part().unwrap().named("c").unwrap();
            assert_eq!(column.rows(), ROWS as u64);
            if let Some(zones) = column.zones().unwrap() {
                assert_eq!((zones.len(), zones.rows(1)), (2, 8192..9000), "blocks end early, zones do not");
            }
            let mut memory = Memory::with_len(1 << 20).unwrap();
            for row in [0, 160, 161, 8191, 8192, 8999] {
                let mut scratch = memory.scratch();
                let batch = column.read(row..row + 1, &mut scratch).unwrap();
                let expected = &data[row as usize..][..400];
                match batch.value(0).unwrap() {
                    Value::Bytes(value) => assert_eq!(value, expected),
                    Value::Nested(items) => {
                        assert_eq!(batch.of.child(0).unwrap().to_vec::<u8>(items).unwrap(), expected)
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_row_above_the_budget_is_an_error() {
    let limits = Limits { max_decoded: 1000, ..Limits::DEFAULT };
    let options = WriteOptions { limits, ..OPTIONS };
    let limit = (Kind::Limit, What::MAX_DECODED, 0, 1000);
    let data = [b'x'; 2000];
    let same = |len| VarBytes { data: &data[..len], spans: Spans::Same { count: 100 } };
    let text = |len| Borrowed::new(Type::Utf8, Values::Utf8(same(len)));
    assert!(written(&[("a", text(992))], &options).is_ok());
    assert_eq!(refusal(written(&[("a", text(993))], &options)), limit);
    let items = [("item", text(100))];
    let list = |ends| nested(Type::List, Ranges::Off32(ends), &items);
    assert!(written(&[("a", list(&[0, 9, 9, 18]))], &options).is_ok());
    assert_eq!(refusal(written(&[("a", list(&[0, 9, 9, 19]))], &options)), limit);
}

#[test]
fn missing_lists_of_any_size_are_bounded() {
    let limit = (Kind::Limit, What::MAX_DECODED, 0, 1 << 31);
    let items = [("item", longs(&[1]))];
    for size in [1 << 28, u32::MAX] {
        let fixed = |ranges| nested(Type::FixedList(size), ranges, &items).with_validity(Validity::None);
        for ranges in [Ranges::Stride { first: 0, size: size.into(), count: 2 }, Ranges::Each(&[[0, 0]; 2])] {
            assert_eq!(refusal(written(&[("a", fixed(ranges))], &OPTIONS)), limit);
        }
        // The sizes multiply.
        let outer = [("list", fixed(Ranges::Stride { first: 0, size: size.into(), count: 1 }))];
        let outer = nested(Type::FixedList(size), Ranges::Each(&[[0, 0]]), &outer);
        assert_eq!(refusal(written(&[("a", outer.with_validity(Validity::None))], &OPTIONS)), limit);
    }
    // Small ones are stored, and a list of another length is an error.
    let four = [("item", longs(&[1, 2, 3, 4]))];
    let pair = |spans| nested(Type::FixedList(2), Ranges::Each(spans), &four).with_validity(bits(&[0b101], 3));
    let at = |at, len| [at, len];
    let [good, bad] = [2, 3].map(|len| [at(2, 2), at(9, 9), at(1, len)]);
    let bytes = written(&[("a", pair(&good))], &OPTIONS).unwrap();
    verify(&bytes);
    let invalid = (Kind::Invalid, What::CHILD, 1, 4);
    assert_eq!(refusal(written(&[("a", pair(&bad))], &OPTIONS)), invalid);
}

#[test]
fn dictionaries_have_a_limit_whatever_the_zones_are() {
    // Each value several times, and more values than one dictionary may have.
    let numbers: Vec<i64> = (0..400_000).map(|i| i / 2000 * 4001 + i % 400).map(|i| i * 0x0123_4567_8901).collect();
    for zone_rows in [1024, 1 << 20] {
        let bytes = written(&[("n", longs(&numbers))], &WriteOptions { zone_rows, ..OPTIONS }).unwrap();
        verify(&bytes);
        assert!(bytes.windows(11).any(|id| id == b"vortex.dict"));
        let read = File::open(&bytes).unwrap().table().unwrap().to_vec::<i64>("n").unwrap();
        assert!(read == numbers, "zones of {zone_rows} rows");
    }
}

#[test]
fn changes_of_validity_end_runs() {
    // Few runs of values, but every second row is missing: runs of rows are no way to store them.
    const ROWS: usize = 8192;
    let numbers: Vec<i64> = (0..ROWS as i64).map(|i| i / 512 * 77).collect();
    let valid = bits(&[0b0101_0101; ROWS / 8], ROWS);
    let encodings = Encodings::DEFAULT.without(Encoding::Rle);
    let options = WriteOptions { dictionaries: false, encodings, ..OPTIONS };
    let all = written(&[("n", longs(&numbers))], &options).unwrap();
    let half = written(&[("n", longs(&numbers).with_validity(valid))], &options).unwrap();
    verify(&half);
    let has = |bytes: &[u8], id: &[u8]| bytes.windows(id.len()).any(|found| found == id);
    assert!(has(&all, b"vortex.runend") && !has(&half, b"vortex.runend"));
}

#[test]
fn validity_of_a_struct_is_written_in_chunks() {
    const ROWS: usize = 40_000;
    let valid: Vec<u8> = (0..ROWS / 8).map(|i| (i * i / 7) as u8 | 1).collect();
    // A constant takes no space: a field is 0 where its struct is missing.
    let fields = [("n", longs(&[0; ROWS]))];
    let column = record(ROWS, &fields).with_validity(bits(&valid, ROWS));
    let (columns, options) = ([("st", column)], WriteOptions { chunk_size: 2048, ..OPTIONS });
    let mut sink = Longest::default();
    let mut file = Writer::new(&mut sink, &columns[..], &options).unwrap();
    file.push(&columns[..]).unwrap();
    file.finish().unwrap();
    // The bits of all rows take 5,000 bytes.
    assert!((2048..2500).contains(&sink.most), "{}", sink.most);
    let bytes = sink.bytes;
    verify(&bytes);
    let read = File::open(&bytes).unwrap().table().unwrap().to_vec::<Option<i64>>("st.n").unwrap();
    let has = |i: usize| valid[i / 8] >> (i % 8) & 1 == 1;
    assert!(read.iter().enumerate().all(|(i, value)| *value == has(i).then_some(0)));
    assert_eq!(read.len(), ROWS);
}

/// A sink that fails after a number of bytes, and must not be called again.
struct Full {
    left: usize,
    failed: bool,
}

impl Sink for Full {
    type Error = &'static str;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        assert!(!self.failed, "a sink that failed gets no more bytes");
        match self.left.checked_sub(bytes.len()) {
            Some(left) => self.left = left,
            None => {
                self.failed = true;
                return Err("full");
            }
        }
        Ok(())
    }
}

#[test]
fn a_sink_may_fail_at_every_byte() {
    const ROWS: usize = 300;
    let numbers: Vec<i64> = (0..ROWS as i64).map(|i| i % 100 * i).collect();
    let words = "one two three four five six seven eight ";
    let spans: Vec<[u32; 2]> = (0..ROWS as u32).map(|i| [i * i % 30, 3]).collect();
    let spans = VarBytes { data: words.as_bytes(), spans: Spans::Each(&spans) };
    let valid: Vec<u8> = (0..ROWS.div_ceil(8)).map(|i| i as u8).collect();
    let fields = [("s", Borrowed::new(Type::Utf8, Values::Utf8(spans)))];
    let columns = [("n", longs(&numbers)), ("st", record(ROWS, &fields).with_validity(bits(&valid, ROWS)))];
    // Several chunks.
    let limits = Limits { max_decoded: 1 << 11, ..Limits::DEFAULT };
    let (options, part) = (WriteOptions { chunk_size: 1, limits, ..OPTIONS }, &columns[..]);
    let run = |left| {
        let mut file = Writer::new(Full { left, failed: false }, part, &options)?;
        file.push(part)?;
        file.finish()
    };
    let len = written(part, &options).unwrap().len();
    assert!(run(len).is_ok());
    for left in 0..len {
        let e = run(left).map(|_| ()).unwrap_err();
        assert_eq!(e, WriteError::Sink("full"), "{left} of {len}");
    }
    // After the error the writer refuses to go on.
    let mut file = Writer::new(Full { left: 100, failed: false }, part, &options).unwrap();
    assert!(matches!(file.push(part), Err(WriteError::Sink(_))));
    assert!(matches!(file.push(part), Err(WriteError::Format(e)) if e.kind() == Kind::Misuse));
    assert!(matches!(file.finish(), Err(WriteError::Format(e)) if e.kind() == Kind::Misuse));
}
