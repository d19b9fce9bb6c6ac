//! Parquet files that are written: types, names, and row groups.
#![cfg(feature = "parquet")]

#[allow(dead_code, reason = "only its types are used")]
mod arrays;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pilaster_arrow::write::{Compression, Kind, Writer};

fn writer(schema: &SchemaRef) -> Result<Writer<Vec<u8>>, pilaster_arrow::Error> {
    Writer::new(Vec::new(), schema, Kind::Parquet, Compression::None)
}

fn opened(writer: Writer<Vec<u8>>) -> ParquetRecordBatchReaderBuilder<Bytes> {
    ParquetRecordBatchReaderBuilder::try_new(Bytes::from(writer.finish().unwrap())).unwrap()
}

/// Parquet has a type, or a column is refused by its name before anything is written.
#[test]
fn types_of_arrow_alone_are_written_to_parquet_or_refused() {
    let mut refused = Vec::new();
    let values = [
        DataType::Duration(TimeUnit::Second),
        DataType::Interval(IntervalUnit::DayTime),
        DataType::Float16,
        DataType::Date64,
        DataType::Decimal32(9, 2),
        DataType::Decimal64(18, 2),
        DataType::Decimal128(18, 2),
        DataType::Decimal128(38, 2),
        DataType::Decimal256(9, 2),
        DataType::Decimal256(76, 2),
    ];
    let dictionaries = values.map(|values| DataType::Dictionary(Box::new(DataType::Int16), Box::new(values)));
    for ty in arrays::refused().into_iter().chain(dictionaries) {
        let array = arrow_array::new_null_array(&ty, 3);
        let column = if ty.is_nested() { "a nested one" } else { "x" };
        let fields = vec![Field::new("row", DataType::Int64, false), Field::new(column, ty.clone(), true)];
        let rows: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![rows, array]).unwrap();
        match writer(&batch.schema()) {
            Ok(mut writer) => {
                writer.put(&batch).unwrap();
                let found: Vec<_> = opened(writer).build().unwrap().map(Result::unwrap).collect();
                assert_eq!((found[0].num_rows(), found[0].column(1).logical_null_count()), (3, 3), "{ty}");
            }
            Err(e) => {
                arrays::is_named(&e, column, &ty);
                refused.push(ty.to_string());
            }
        }
    }
    assert!(refused.iter().all(|ty| ["Union", "MonthDayNano"].iter().any(|part| ty.contains(part))), "{refused:?}");
    assert_eq!(refused.len(), 4, "{refused:?}");
}

/// Readers of Parquet refuse columns, or fields of a struct, with the same name.
#[test]
fn names_are_written_to_parquet_once() {
    let refused = |names: &[&str], fields: &[&str]| {
        let field = |name: &&str| Field::new(*name, DataType::Int32, true);
        let item = DataType::Struct(fields.iter().map(field).collect());
        let nested = DataType::List(Arc::new(Field::new("item", item, true)));
        let mut all: Vec<_> = names.iter().map(field).collect();
        all.push(Field::new("s", nested, true));
        writer(&Arc::new(Schema::new(all))).map(drop).map_err(|e| e.to_string())
    };
    assert!(refused(&["a", "b"], &["a", "s"]).is_ok());
    let e = |column: &str, name: &str| {
        let why = format!("readers of Parquet refuse two columns or fields of the name {name:?}");
        Err(format!("column {column:?} (Int32): {why}; rename one, or write an Arrow file"))
    };
    assert_eq!(refused(&["a", "b", "a"], &["x"]), e("a", "a"));
    assert_eq!(refused(&["a"], &["x", "y", "x"]), e("s", "x"));
}

/// The rows of each row group of a file, and its size in bytes without compression.
fn groups(builder: &ParquetRecordBatchReaderBuilder<Bytes>) -> Vec<(i64, i64)> {
    builder.metadata().row_groups().iter().map(|group| (group.num_rows(), group.total_byte_size())).collect()
}

/// Row groups have at most a million rows, however the batches are cut.
#[test]
fn row_groups_have_a_million_rows() {
    let rows: Vec<i32> = (0..2_300_001).collect();
    let batch = RecordBatch::try_from_iter([("a", Arc::new(Int32Array::from(rows.clone())) as ArrayRef)]).unwrap();
    for most in [70_000, rows.len()] {
        let mut writer = writer(&batch.schema()).unwrap();
        for first in (0..rows.len()).step_by(most) {
            writer.put(&batch.slice(first, most.min(rows.len() - first))).unwrap();
        }
        let builder = opened(writer);
        let counts: Vec<i64> = groups(&builder).into_iter().map(|(rows, _)| rows).collect();
        assert_eq!(counts, [1_000_000, 1_000_000, 300_001], "batches of {most} rows");
        let found = builder.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap);
        let found: Vec<i32> =
            found.flat_map(|batch| batch.column(0).as_primitive::<Int32Type>().values().to_vec()).collect();
        assert!(found == rows);
    }
}

/// Row groups of wide rows have fewer, so that they fit into memory.
#[test]
fn row_groups_of_wide_rows_are_short() {
    const WIDE: usize = 1 << 14;
    let text = |row: usize| row.to_string().repeat(WIDE / row.to_string().len());
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..1024).map(text)));
    let batch = RecordBatch::try_from_iter([("a", texts)]).unwrap();
    let mut writer = writer(&batch.schema()).unwrap();
    // 160 MiB.
    for first in 0..10 {
        let texts = (0..1024).map(|row| text(first * 1024 + row));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        writer.put(&RecordBatch::try_new(batch.schema(), vec![texts]).unwrap()).unwrap();
    }
    let groups = groups(&opened(writer));
    assert_eq!(groups.iter().map(|(rows, _)| rows).sum::<i64>(), 10_240);
    assert!(groups.len() > 1 && groups.iter().all(|(_, size)| *size < 100 << 20), "{groups:?}");
}
