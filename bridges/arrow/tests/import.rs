//! Arrays of every type of Arrow as columns, and through every format that can be written.

mod arrays;
mod formats;
#[path = "harness/arrays.rs"]
mod harness;
mod show;
mod sizes;

use std::sync::Arc;

use arrays::Rng;
use arrow_array::{
    Array, ArrayRef, BinaryArray, Int32Array, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader,
    StructArray, new_empty_array,
};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pilaster::any::{File, Format, Hints};
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Memory, Part, Table};
use pilaster::vortex;
use pilaster_arrow::schema::VARIANT;
use pilaster_arrow::{Batches, Error, Kept, ReadOptions, convert, read};

fn schema(ty: &DataType, nullable: bool) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("x", ty.clone(), nullable || *ty == DataType::Null)]))
}

/// Three batches of a type; the second one is a slice.
fn batches(ty: &DataType, rows: usize, nulls: bool, rng: &mut Rng) -> Vec<ArrayRef> {
    let long = arrays::array(ty, rows + 5, nulls, rng);
    vec![arrays::array(ty, rows, nulls, rng), long.slice(3, rows), arrays::array(ty, 1, nulls, rng)]
}

fn kept(ty: &DataType, arrays: &[ArrayRef], nulls: bool) -> Kept {
    let schema = schema(ty, nulls);
    let batch = |array: &ArrayRef| RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(array)]).unwrap();
    Kept::new(Arc::clone(&schema), arrays.iter().map(batch).collect::<Vec<_>>())
}

fn shown(arrays: &[ArrayRef]) -> Vec<String> {
    arrays.iter().flat_map(|array| (0..array.len()).map(|i| show::row(array, i))).collect()
}

/// The rows of a table, read with exactly as much memory as the column says it needs, in steps of several sizes.
fn rows_of(table: &mut impl Table, step: u64) -> Vec<String> {
    let mut rows = Vec::new();
    let mut outer = Memory::default();
    while let Some(part) = table.next_part(&mut outer.scratch()).unwrap() {
        let column = part.column(0).unwrap();
        assert_eq!(column.rows(), part.rows());
        let mut at = 0;
        while at < part.rows() {
            let end = part.rows().min(at + step);
            let mut memory = vec![0xa5; column.need(at..end).unwrap() as usize];
            let batch = column.read(at..end, &mut Scratch::new(&mut memory)).unwrap();
            assert_eq!((batch.first, batch.len as u64), (at, end - at));
            at = end;
        }
        rows.extend(show::column(&column, 0..part.rows()));
    }
    rows
}

#[test]
fn columns_have_the_values_of_every_type() {
    let mut rng = Rng(7);
    for ty in arrays::types() {
        for (rows, nulls) in [(0, true), (1, false), (40, false), (300, true)] {
            let arrays = batches(&ty, rows, nulls, &mut rng);
            let mut table = Batches::from_source(kept(&ty, &arrays, nulls)).unwrap();
            let found = rows_of(&mut table, 1 + rows as u64 / 3);
            assert_eq!(found, shown(&arrays), "{ty}");
            // As batches again, also in small ones.
            for (batch_rows, flat) in [(1 << 16, true), (7, false)] {
                let table = Batches::from_source(kept(&ty, &arrays, nulls)).unwrap();
                let options = ReadOptions { batch_rows, flat, ..ReadOptions::default() };
                let found = read(table, options).unwrap().map(|batch| Arc::clone(batch.unwrap().column(0)));
                assert_eq!(shown(&found.collect::<Vec<_>>()), shown(&arrays), "{ty}");
            }
        }
    }
}

#[test]
fn values_stay_in_the_buffers_of_arrow() {
    let mut rng = Rng(5);
    use DataType::*;
    for ty in [Int64, Float32, Boolean, Utf8, LargeBinary, FixedSizeBinary(7), Decimal128(38, 1), Date32] {
        let array = arrays::array(&ty, 100, true, &mut rng);
        let mut table = Batches::from_source(kept(&ty, &[array], true)).unwrap();
        let mut none = Scratch::new(&mut []);
        let part = table.next_part(&mut none).unwrap().unwrap();
        let column = part.column(0).unwrap();
        assert_eq!(column.need(0..100), Ok(0), "{ty}");
        assert!(column.read(10..90, &mut Scratch::new(&mut [])).is_ok(), "{ty}");
    }
}

#[test]
fn types_without_a_column_are_refused_by_name() {
    for ty in arrays::refused() {
        let schema = schema(&ty, true);
        let e = Batches::from_source(Kept::new(Arc::clone(&schema), [])).unwrap_err();
        let text = e.to_string();
        assert!(text.starts_with("column \"x\": no format stores ") && text.contains("; "), "{ty}: {text}");
        // As arrays they exist.
        assert_eq!(new_empty_array(&ty).len(), 0);
    }
    let deep = (0..80).fold(DataType::Int8, |ty, _| DataType::List(Arc::new(Field::new("item", ty, true))));
    let e = Batches::from_source(Kept::new(schema(&deep, true), [])).unwrap_err();
    assert!(e.to_string().contains("levels"), "{e}");
}

#[test]
fn a_table_without_batches_tells_its_columns() {
    let schema = schema(&DataType::Int32, true);
    let mut table = Batches::from_source(Kept::new(schema, [])).unwrap();
    assert!(table.lists("x") && !table.lists("y"));
    for _ in 0..2 {
        let part = table.next_part(&mut Scratch::new(&mut [])).unwrap().map(|part| (part.rows(), part.width()));
        assert_eq!(part, Some((0, 1)));
        assert!(table.next_part(&mut Scratch::new(&mut [])).unwrap().is_none());
        table.restart().unwrap();
    }
}

#[test]
fn a_reader_is_read_once() {
    let batch = RecordBatch::try_from_iter([("x", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap();
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let mut table = Batches::new(reader).unwrap();
    table.restart().unwrap();
    assert_eq!(table.to_vec::<i32>("x").unwrap(), [1]);
    assert!(table.to_vec::<i32>("x").is_err());
    assert!(matches!(table.failed(), Some(Error::Once)), "{:?}", table.failed());
}

#[test]
fn a_batch_of_another_type_is_an_error() {
    let ints = kept(&DataType::Int32, &[Arc::new(Int32Array::from(vec![1]))], true);
    let mut source = Kept::new(schema(&DataType::Utf8, true), []);
    assert_eq!(pilaster_arrow::Source::rows(&source), Some(0));
    let (batches, _) = pilaster_arrow::Source::open(&mut ints.clone(), None, 0).unwrap();
    source = Kept::new(schema(&DataType::Utf8, true), batches.map(Result::unwrap));
    let mut table = Batches::from_source(source).unwrap();
    assert!(table.next_part(&mut Scratch::new(&mut [])).is_err());
    let e = table.failed().unwrap().to_string();
    assert_eq!(e, "column \"x\": a batch has Int32 instead of Utf8");
}

/// What a format does with a type: stores it, stores it as another type, if no row is missing, or not.
fn verdict(format: &str, ty: &DataType, rng: &mut Rng) -> String {
    let mut verdicts = Vec::new();
    for nulls in [true, false] {
        let arrays = batches(ty, 50, nulls, rng);
        match formats::through(format, kept(ty, &arrays, nulls)) {
            Ok(found) => {
                let canonical = |rows: &[String]| rows.iter().map(|row| show::canonical(row)).collect::<Vec<_>>();
                assert_eq!(canonical(&found.rows), canonical(&shown(&arrays)), "{ty} in {format}");
                let is_same = found.ty == formats::type_of(schema(ty, nulls).field(0));
                verdicts.push(if is_same { "yes".to_owned() } else { format!("as {}", found.ty) });
            }
            Err(e) => {
                assert!(e.contains("\"x\"") && e.contains("; "), "{ty} in {format}: {e}");
                verdicts.push(e);
            }
        }
    }
    let is_stored = |verdict: &str| verdict == "yes" || verdict.starts_with("as ");
    match (verdicts[0].as_str(), verdicts[1].as_str()) {
        (some, none) if is_stored(some) => {
            assert_eq!(some, none, "{ty} in {format}");
            some.to_owned()
        }
        (_, "yes") => "if none is missing".to_owned(),
        (_, none) if is_stored(none) => format!("{none} if none is missing"),
        (e, _) if ["type", "not supported"].iter().any(|why| e.contains(why)) => "no".to_owned(),
        (e, other) => panic!("{ty} in {format}: {e} / {other}"),
    }
}

#[test]
fn formats_store_every_type_or_the_readme_says_not() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap_or_default();
    let mut rng = Rng(3);
    let mut lines = Vec::new();
    for ty in arrays::types() {
        let cells: Vec<_> = formats::NAMES.iter().map(|format| verdict(format, &ty, &mut rng)).collect();
        lines.push(format!("| {} | {} |", formats::named(&ty), cells.join(" | ")));
    }
    lines.dedup();
    let absent: Vec<_> = lines.iter().filter(|line| !readme.contains(line.as_str())).cloned().collect();
    assert!(absent.is_empty(), "README.md lacks:\n{}", absent.join("\n"));
}

/// A reader that checks that the batch before is released.
struct OneAtATime {
    schema: SchemaRef,
    last: Option<Buffer>,
    left: usize,
}

impl Iterator for OneAtATime {
    type Item = Result<RecordBatch, arrow_schema::ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        assert!(self.last.as_ref().is_none_or(|last| last.strong_count() == 1), "the batch before is in memory");
        self.left = self.left.checked_sub(1)?;
        let array = Int32Array::from(vec![1; 1000]);
        self.last = Some(array.values().inner().clone());
        Some(RecordBatch::try_new(Arc::clone(&self.schema), vec![Arc::new(array)]))
    }
}

impl RecordBatchReader for OneAtATime {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[test]
fn one_batch_is_in_memory_at_a_time() {
    let reader = OneAtATime { schema: schema(&DataType::Int32, true), last: None, left: 20 };
    let mut table = Batches::new(reader).unwrap();
    let mut builder = pilaster::vortex::write::Builder::new(Vec::new(), &Default::default()).unwrap();
    convert(&mut table, &mut builder).unwrap();
    assert!(!builder.finish().unwrap().is_empty());
}

#[test]
fn random_tables_come_back_from_vortex() {
    let mut rng = Rng(21);
    let types = arrays::types();
    for round in 0..40 {
        let (columns, rows) = (1 + rng.below(6) as usize, rng.below(3000) as usize);
        let chosen: Vec<_> = (0..columns).map(|_| &types[rng.below(types.len() as u64) as usize]).collect();
        let fields: Vec<_> =
            chosen.iter().enumerate().map(|(k, ty)| Field::new(format!("c{k}"), (*ty).clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut batch = |rows: usize| {
            let arrays = chosen.iter().map(|ty| arrays::array(ty, rows, true, &mut rng)).collect();
            RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap()
        };
        let batches = [batch(rows), batch(3), batch(rows / 2)];
        let mut table = Batches::from_source(Kept::new(Arc::clone(&schema), batches.clone())).unwrap();
        let mut builder = pilaster::vortex::write::Builder::new(Vec::new(), &Default::default()).unwrap();
        convert(&mut table, &mut builder).unwrap();
        let bytes = builder.finish().unwrap();
        let file = pilaster::vortex::File::open(&bytes).unwrap();
        let mut found = vec![Vec::new(); columns];
        for batch in read(file.table().unwrap(), ReadOptions::default()).unwrap() {
            for (array, rows) in batch.unwrap().columns().iter().zip(&mut found) {
                rows.extend((0..array.len()).map(|i| show::row(array, i)));
            }
        }
        for (k, found) in found.iter().enumerate() {
            let arrays: Vec<_> = batches.iter().map(|batch| Arc::clone(batch.column(k))).collect();
            assert_eq!(*found, shown(&arrays), "round {round}: {}", chosen[k]);
        }
    }
}

#[test]
fn arrays_of_any_bytes_are_read_as_columns() {
    let mut rng = Rng(77);
    let (mut data, mut accepted, mut kinds) = (Vec::new(), 0, std::collections::HashSet::new());
    for round in 0..20_000u64 {
        data.clear();
        // Small bytes are more often texts and decimals that Arrow accepts.
        let most = [4, 16, 256][round as usize % 3];
        data.extend((0..700).map(|i| if i < 8 { rng.next() as u8 } else { rng.below(most) as u8 }));
        if let Some(ty) = harness::accepted(&data) {
            kinds.insert(std::mem::discriminant(&ty));
            accepted += usize::from(ty.is_nested());
        }
    }
    assert!(accepted > 500 && kinds.len() > 23, "{accepted} of {} kinds", kinds.len());
}

#[test]
fn the_body_takes_its_seeds() {
    let seeds = std::fs::read_dir("../../fuzz/corpus-seed/arrow_arrays").unwrap();
    let accepted = seeds.filter(|seed| {
        let seed = seed.as_ref().unwrap();
        harness::accepted(&std::fs::read(seed.path()).unwrap()).is_some()
    });
    let count = accepted.count();
    assert!(count > 500, "{count} seeds");
}

/// The key of a field's metadata with the name of its extension type.
const EXTENSION: &str = "ARROW:extension:name";

#[test]
fn the_extension_type_of_variants_comes_back_from_vortex() {
    let parts = |reversed: bool| -> StructArray {
        let metadata: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&[1, 0, 0]; 3]));
        let value: ArrayRef = Arc::new(BinaryArray::from_opt_vec(vec![Some(&[0x0c, 7][..]), Some(&[4]), None]));
        let fields = [("metadata", metadata, false), ("value", value, true)];
        let mut fields = fields
            .map(|(name, array, nullable)| (Arc::new(Field::new(name, array.data_type().clone(), nullable)), array));
        if reversed {
            fields.reverse();
        }
        let (fields, arrays): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        StructArray::new(fields.into(), arrays, Some(NullBuffer::from(vec![true, false, true])))
    };
    for reversed in [false, true] {
        for name in [VARIANT, "arrow.parquet.other"] {
            let array = parts(reversed);
            let metadata = [(EXTENSION.to_owned(), name.to_owned())].into();
            let field = Field::new("v", array.data_type().clone(), true).with_metadata(metadata);
            let schema = Arc::new(Schema::new(vec![field]));
            let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(array)]).unwrap();
            let mut table = Batches::from_source(Kept::new(schema, [batch])).unwrap();
            let mut builder = vortex::write::Builder::new(Vec::new(), &vortex::write::WriteOptions::DEFAULT).unwrap();
            convert(&mut table, &mut builder).unwrap();
            let bytes = builder.finish().unwrap();
            let file = vortex::File::open(&bytes).unwrap();
            assert_eq!(file.dtype().to_string() == "{v=variant?}", name == VARIANT, "{}", file.dtype());
            // Back in Arrow.
            let mut memory = vec![0; 1 << 16];
            let file = File::open(&bytes, Format::Vortex, &Hints::default(), &mut Scratch::new(&mut memory)).unwrap();
            let mut reader = read(file.table(None).unwrap(), ReadOptions::default()).unwrap();
            let schema = reader.schema();
            let found = schema.field(0).metadata().get(EXTENSION).map(String::as_str);
            assert_eq!(found, (name == VARIANT).then_some(VARIANT));
            let batch = reader.next().unwrap().unwrap();
            let rows: Vec<String> = (0..3).map(|i| show::row(batch.column(0), i)).collect();
            let order = |metadata: &str, value: &str| match reversed && name != VARIANT {
                true => format!("({value};{metadata})"),
                false => format!("({metadata};{value})"),
            };
            // A variant without bytes is null.
            let null = if name == VARIANT { "[00]" } else { "-" };
            assert_eq!(rows, [order("[01, 00, 00]", "[0c, 07]"), "-".to_owned(), order("[01, 00, 00]", null)]);
        }
    }
}

#[test]
fn large_batches_take_little_more_than_their_values() {
    for format in formats::NAMES {
        let (rows, types) = match format {
            "filo" => (1_100_000, vec![DataType::Int64]),
            _ => {
                (200_000, vec![DataType::Int64, DataType::Float64, DataType::Int32, DataType::Utf8, DataType::Boolean])
            }
        };
        let nulls = matches!(format, "vortex" | "jay" | "dataseries");
        let fields = types.iter().enumerate().map(|(k, ty)| Field::new(format!("c{k}"), ty.clone(), nulls));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut rng = Rng(3);
        let arrays = types.iter().map(|ty| match ty {
            // Longer than what a view contains, and all different.
            DataType::Utf8 => {
                let texts = (0..rows).map(|k| (!nulls || k % 5 > 0).then(|| format!("text {k} of {:x}", rng.next())));
                Arc::new(texts.collect::<arrow_array::StringArray>()) as ArrayRef
            }
            ty => arrays::array(ty, rows, nulls, &mut rng),
        });
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays.collect()).unwrap();
        let (_, batches) = formats::batches(format, Kept::new(schema, [batch])).unwrap();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), rows, "{format}");
        let (kept, values, buffers) = sizes::of(&batches);
        println!("{format}: {kept} bytes for {values} in {buffers} buffers");
        assert!(values > 8 << 20 && kept * 100 <= values * 115, "{format}: {kept} bytes for {values}");
    }
}

/// The first batch has no rows, and the number of the second one is kept.
#[test]
fn rows_without_columns_reach_formats_that_count_them() {
    let batch = |rows| {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap()
    };
    let table = || Batches::from_source(Kept::new(Arc::new(Schema::empty()), [batch(0), batch(5)])).unwrap();
    let mut jay = pilaster::jay::write::Builder::new(Vec::new(), &pilaster::jay::write::WriteOptions::DEFAULT).unwrap();
    convert(&mut table(), &mut jay).unwrap();
    let bytes = jay.finish().unwrap();
    let file = pilaster::jay::File::open(&bytes, &pilaster::jay::ReadOptions::DEFAULT, &mut Scratch::new(&mut []));
    assert_eq!(Part::rows(&file.unwrap()), 5);
    let mut vectors = pilaster::filo::Builder::new(|_, _: &str, _: pilaster::filo::Element, _: &[u8]| Ok(()));
    assert!(convert(&mut table(), &mut vectors).is_err());
}
