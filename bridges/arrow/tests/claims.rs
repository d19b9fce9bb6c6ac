//! Claims of files that their bytes do not keep.
#![cfg(all(feature = "ipc", feature = "parquet"))]

use std::sync::Arc;

use ::parquet::data_type::{Int96, Int96Type};
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaDataBuilder, ParquetMetaDataReader, ParquetMetaDataWriter,
};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::statistics::{Statistics, ValueStatistics};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use pilaster_arrow::input::{InputOptions, open, pipe};
use pilaster_arrow::write::{Compression, Kind, Writer};
use pilaster_arrow::{Batches, arrow_schema};

/// The first error of a file, when it is opened or read.
fn error(bytes: Vec<u8>) -> String {
    let mut file = match open(bytes.into(), InputOptions::default()) {
        Ok(file) => file,
        Err(e) => return e.to_string(),
    };
    match file.reader() {
        Ok(mut reader) => reader.find_map(Result::err).map_or_else(String::new, |e| e.to_string()),
        Err(e) => e.to_string(),
    }
}

/// A Parquet file of timestamps of 96 bits, given as days since 4713 BC and nanoseconds; also in a list.
fn old_times(times: &[(u32, u64)]) -> Vec<u8> {
    old_times_with(times, WriterProperties::builder().build())
}

fn old_times_with(times: &[(u32, u64)], properties: WriterProperties) -> Vec<u8> {
    let schema = "message m { required int64 n; optional int96 t; required group l (LIST) { repeated group list { required int96 element; } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let values: Vec<Int96> = times
        .iter()
        .map(|(day, nanos)| {
            let mut value = Int96::new();
            value.set_data(*nanos as u32, (*nanos >> 32) as u32, *day);
            value
        })
        .collect();
    let numbers: Vec<i64> = (0..times.len() as i64).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<::parquet::data_type::Int64Type>().write_batch(&numbers, None, None).unwrap();
    column.close().unwrap();
    let levels = vec![1i16; times.len()];
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int96Type>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let starts = vec![0i16; times.len()];
    column.typed::<Int96Type>().write_batch(&values, Some(&levels), Some(&starts)).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn old_timestamps_do_not_wrap() {
    // 1970-01-01, and 1677-09-22, the first whole day that 64 bits hold.
    let good = [(2_440_588, 1_500_000_000), (2_440_588 - 106_751, 0), (2_440_588 + 106_751, 0)];
    let file = open(old_times(&good).into(), InputOptions::default()).unwrap();
    let times = Batches::from_source(file).unwrap();
    assert_eq!(times.schema().field(1).data_type(), &DataType::Timestamp(arrow_schema::TimeUnit::Nanosecond, None));
    let mut times = times;
    use pilaster::column::Table as _;
    let days = 106_751 * 86_400_000_000_000i64;
    assert_eq!(times.to_vec::<Option<i64>>("t").unwrap(), [Some(1_500_000_000), Some(-days), Some(days)]);
    for day in [2_440_588 + 106_752, 2_440_588 - 106_753, 5_373_484, u32::MAX / 2] {
        let bytes = old_times(&[(2_440_588, 0), (day, 0)]);
        let e = error(bytes.clone());
        assert!(e.contains("\"t\"") && e.contains("row 1:") && e.contains("1677"), "{day}: {e}");
        // The other columns can be read, and the list names its rows.
        let mut file = open(bytes.clone().into(), InputOptions::default()).unwrap();
        use pilaster_arrow::Source as _;
        assert!(file.open(Some(&[0]), 0).unwrap().0.all(|batch| batch.is_ok()));
        let e = file.open(Some(&[2]), 0).unwrap().0.find_map(Result::err).unwrap().to_string();
        assert!(e.contains("\"l\"") && e.contains("2 rows from row 0"), "{e}");
    }
}

#[test]
fn old_timestamps_do_not_wrap_in_other_units() {
    use arrow_schema::{Field, Schema, TimeUnit};
    use pilaster::column::Table as _;
    let file = |unit: TimeUnit, times: &[(u32, u64)]| {
        let time = |name: &str, nullable| Field::new(name, DataType::Timestamp(unit, None), nullable);
        let list = DataType::List(Arc::new(time("element", false)));
        let fields = vec![Field::new("n", DataType::Int64, false), time("t", true), Field::new("l", list, false)];
        let mut properties = WriterProperties::builder().build();
        ::parquet::arrow::add_encoded_arrow_schema_to_metadata(&Schema::new(fields), &mut properties);
        old_times_with(times, properties)
    };
    // 9999-12-31, which nanoseconds lack, and the year 2,880,000.
    let (far, farther) = ((5_373_484, 500_000_000), (1_051_000_000, 0));
    for (unit, per_second) in [(TimeUnit::Microsecond, 1_000_000), (TimeUnit::Millisecond, 1000), (TimeUnit::Second, 1)]
    {
        let source = open(file(unit, &[far]).into(), InputOptions::default()).unwrap();
        let mut times = Batches::from_source(source).unwrap();
        assert_eq!(times.schema().field(1).data_type(), &DataType::Timestamp(unit, None));
        let expected = 253_402_214_400 * per_second + per_second / 2;
        assert_eq!(times.to_vec::<Option<i64>>("t").unwrap(), [Some(expected)], "{unit:?}");
        let e = error(file(unit, &[far, farther]));
        let wraps = unit == TimeUnit::Microsecond;
        assert_eq!(e.contains("\"t\"") && e.contains("row 1:") && e.contains("96 bits"), wraps, "{unit:?}: {e}");
    }
}

/// The Parquet file with other claims about its row groups, and about the columns in them.
fn with_claims(
    bytes: &[u8],
    rows: Option<i64>,
    change: impl Fn(ColumnChunkMetaData) -> ColumnChunkMetaData,
) -> Vec<u8> {
    let all = bytes::Bytes::from(bytes.to_vec());
    let known = ParquetMetaDataReader::new().parse_and_finish(&all).unwrap();
    let groups = known.row_groups().iter().cloned().map(|group| {
        let (chunks, stated) = (group.columns().iter().cloned().map(&change).collect(), group.num_rows());
        group.into_builder().set_num_rows(rows.unwrap_or(stated)).set_column_metadata(chunks).build().unwrap()
    });
    let metadata = ParquetMetaDataBuilder::new(known.file_metadata().clone()).set_row_groups(groups.collect()).build();
    let len = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let mut out = bytes[..bytes.len() - 8 - len].to_vec();
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

/// The Parquet file with another number of rows in its row groups, and as many values in their columns.
fn with_rows(bytes: &[u8], rows: i64, values: i64) -> Vec<u8> {
    with_claims(bytes, Some(rows), |chunk| chunk.into_builder().set_num_values(values).build().unwrap())
}

/// The bounds in the old fields, which old programs ordered as signed bytes.
fn deprecated(chunk: ColumnChunkMetaData) -> ColumnChunkMetaData {
    let Some(known) = chunk.statistics().cloned() else { return chunk };
    macro_rules! old {
        ($known:expr, $kind:ident) => {
            Statistics::$kind(
                ValueStatistics::new(
                    $known.min_opt().cloned(),
                    $known.max_opt().cloned(),
                    None,
                    $known.null_count_opt(),
                    true,
                )
                .with_backwards_compatible_min_max(true),
            )
        };
    }
    let old = match &known {
        Statistics::Boolean(known) => old!(known, Boolean),
        Statistics::Int32(known) => old!(known, Int32),
        Statistics::Int64(known) => old!(known, Int64),
        Statistics::Double(known) => old!(known, Double),
        Statistics::ByteArray(known) => old!(known, ByteArray),
        Statistics::FixedLenByteArray(known) => old!(known, FixedLenByteArray),
        other => panic!("{other}"),
    };
    chunk.into_builder().set_statistics(old).build().unwrap()
}

#[test]
fn bounds_without_a_known_order_rule_nothing_out() {
    use pilaster_arrow::Source as _;
    let texts = StringArray::from_iter_values(["a", "é"]);
    let decimals = arrow_array::Decimal128Array::from(vec![1, -2]).with_precision_and_scale(30, 2).unwrap();
    let columns: [(&str, ArrayRef, bool); 8] = [
        ("text", Arc::new(texts), false),
        ("unsigned", Arc::new(arrow_array::UInt32Array::from(vec![1, u32::MAX])), false),
        ("wide", Arc::new(arrow_array::UInt64Array::from(vec![1, u64::MAX])), false),
        ("decimal", Arc::new(decimals), false),
        ("int", Arc::new(Int64Array::from(vec![1, -2])), true),
        ("date", Arc::new(arrow_array::Date32Array::from(vec![1, -2])), true),
        ("float", Arc::new(arrow_array::Float64Array::from(vec![1.0, -2.0])), true),
        ("bool", Arc::new(arrow_array::BooleanArray::from(vec![true, false])), true),
    ];
    let batch = RecordBatch::try_from_iter(columns.iter().map(|(name, array, _)| (*name, Arc::clone(array)))).unwrap();
    let mut writer = Writer::new(Vec::new(), &batch.schema(), Kind::Parquet, Compression::None).unwrap();
    writer.put(&batch).unwrap();
    let new = writer.finish().unwrap();
    for (bytes, is_old) in [(with_claims(&new, None, deprecated), true), (new, false)] {
        for (k, (name, _, ordered)) in columns.iter().enumerate() {
            let mut file = open(bytes.clone().into(), InputOptions::default()).unwrap();
            let mut has_bounds = None;
            file.retain(&[k], &mut |zones| {
                assert_eq!(zones[0].nulls.get(), Some(&0), "{name}");
                has_bounds = Some((zones[0].min.get().is_some(), zones[0].max.get().is_some()));
                Ok(true)
            })
            .unwrap();
            let known = *ordered || !is_old;
            assert_eq!((has_bounds, file.rows()), (Some((known, known)), Some(2)), "{name}, old: {is_old}");
        }
    }
}

#[test]
fn rows_are_those_of_the_footer() {
    let numbers = Int64Array::from_iter_values(0..100);
    let batch = RecordBatch::try_from_iter([("n", Arc::new(numbers) as _)]).unwrap();
    let mut writer = Writer::new(Vec::new(), &batch.schema(), Kind::Parquet, Compression::None).unwrap();
    writer.put(&batch).unwrap();
    let bytes = writer.finish().unwrap();
    let plain = with_rows(&bytes, 100, 100);
    assert_eq!((error(bytes.clone()), error(plain.clone())), (String::new(), String::new()));
    // The number of rows of the file comes before the numbers of its groups: field 3 of the footer.
    let at = plain.windows(3).position(|bytes| bytes == [0x16, 0xc8, 1]).unwrap();
    let mut other = plain.clone();
    other[at + 1] = 0xc6;
    assert!(error(other).contains("the footer states 99 rows, and its row groups have 100"));
    for rows in [101, 99, 1_000_000_000_000] {
        let e = error(with_rows(&bytes, rows, 100));
        assert!(e.contains(&format!("row group 0: {rows} rows, and column \"n\" has 100")), "{e}");
    }
    for rows in [101, 1_000_000_000_000] {
        let e = error(with_rows(&bytes, rows, rows));
        assert!(e.contains(&format!("the columns have 100 rows, and the footer states {rows}")), "{e}");
    }
}

fn ipc(kind: Kind, compression: Compression) -> Vec<u8> {
    let texts = StringArray::from_iter_values((0..5000).map(|k| format!("text {}", k % 7)));
    let batch = RecordBatch::try_from_iter([("t", Arc::new(texts) as _)]).unwrap();
    let mut writer = Writer::new(Vec::new(), &batch.schema(), kind, compression).unwrap();
    writer.put(&batch).unwrap();
    writer.finish().unwrap()
}

/// The size of the decompressed texts of the batch.
const SIZE: u64 = 30_000;

#[test]
fn sizes_of_compressed_buffers_are_checked() {
    for kind in [Kind::IpcFile, Kind::IpcStream] {
        let mut codecs = vec![Compression::Lz4];
        codecs.extend(cfg!(feature = "zstd").then_some(Compression::Zstd));
        for codec in codecs {
            let whole = ipc(kind, codec);
            assert_eq!(error(whole.clone()), "");
            // The last offset of the texts is the same number, and lies before it.
            let is_size = |at: &usize| whole[*at..at + 8] == SIZE.to_le_bytes();
            let at = (0..whole.len() - 8).rev().find(is_size).unwrap();
            for claim in [1u64 << 46, i64::MAX as u64, SIZE + (1 << 32)] {
                let mut bytes = whole.clone();
                bytes[at..at + 8].copy_from_slice(&claim.to_le_bytes());
                let e = error(bytes.clone());
                assert!(e.contains("claims to have") || e.contains("claim to have"), "{e}");
                if kind == Kind::IpcStream {
                    let e = pipe(std::io::Cursor::new(bytes)).unwrap().find_map(Result::err).unwrap();
                    assert!(e.to_string().contains("claim"), "{e}");
                }
            }
        }
    }
}

#[test]
fn bodies_that_are_not_there_take_no_memory() {
    let whole = ipc(Kind::IpcStream, Compression::None);
    // The length of the body in the message of the batch.
    let body = (whole.len() as u64 - 8) & !7;
    let mut found = 0;
    for at in (0..whole.len() - 8).step_by(4) {
        let number = u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
        if number < 40_000 || number > body {
            continue;
        }
        found += 1;
        let mut bytes = whole.clone();
        bytes[at..at + 8].copy_from_slice(&(1u64 << 46).to_le_bytes());
        let e = error(bytes);
        assert!(e.contains("of which"), "{e}");
    }
    assert_eq!(found, 1);
}
