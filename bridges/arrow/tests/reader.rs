//! Columns, rows, batches, filters, dictionaries and metadata of a reader, and the files that are written from one.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::DataType;
use pilaster::any::{File, Format, Hints};
use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Borrowed, Once, Prim, Ranges, Spans, Type, Unit, Validity, Value, Values, VarBytes};
use pilaster_arrow::{Buffer, Filter, ReadOptions, read};

fn golden(name: &str) -> Buffer {
    let path = format!("{}/../../tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    Buffer::from_vec(std::fs::read(path).unwrap())
}

fn with<R>(
    bytes: &Buffer,
    format: Format,
    options: ReadOptions<'_>,
    test: impl FnOnce(&mut dyn Iterator<Item = RecordBatch>) -> R,
) -> R {
    let mut memory = vec![0; 1 << 20];
    let file = File::open(bytes, format, &Hints::default(), &mut Scratch::new(&mut memory)).unwrap();
    let mut batches = read(file.table(None).unwrap(), options).unwrap().map(Result::unwrap);
    test(&mut batches)
}

#[test]
fn columns_and_rows_are_chosen() {
    let columns = [
        ("a", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1, 2, 3, 4, 5]))),
        ("b", Borrowed::new(Type::Prim(Prim::I64), Values::I64(&[6, 7, 8, 9, 10]))),
    ];
    let options = ReadOptions {
        columns: Some(vec!["b".into(), "a".into()]),
        rows: Some(1..4),
        batch_rows: 2,
        metadata: [("from".to_owned(), "test".to_owned())].into(),
        ..ReadOptions::default()
    };
    let reader = read(Once::new(&columns[..]), options).unwrap();
    assert_eq!(reader.schema().metadata()["from"], "test");
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(batches[0].column(0).as_primitive::<Int64Type>().values(), &[7, 8]);
    assert_eq!(batches[1].column(1).as_primitive::<Int32Type>().values(), &[4]);
    let unknown = ReadOptions { columns: Some(vec!["c".into()]), ..ReadOptions::default() };
    let e = read(Once::new(&columns[..]), unknown).unwrap_err();
    assert!(e.to_string().contains("\"c\""), "{e}");
}

#[test]
fn a_part_is_bounded() {
    let chunk = golden("bcolz/chunks/bitshuf_n6216_ts1_bs0.blosc");
    let limits = pilaster::limits::Limits { max_decoded: 16, ..Default::default() };
    let hints = Hints { dtype: Some("|S1"), ..Hints::default() };
    let file = File::open(&chunk, Format::Bcolz, &hints, &mut Scratch::new(&mut [])).unwrap();
    let read = read(file.table(None).unwrap(), ReadOptions { limits, ..ReadOptions::default() });
    let e = read.map(|_| ()).unwrap_err();
    assert!(matches!(e, pilaster_arrow::Error::File(e) if e.kind() == pilaster::error::Kind::Limit), "{e}");
}

#[test]
fn no_columns_have_rows() {
    let columns = [("a", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1, 2, 3])))];
    let options = ReadOptions { columns: Some(vec![]), ..ReadOptions::default() };
    let batches: Vec<_> = read(Once::new(&columns[..]), options).unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|batch| (batch.num_columns(), batch.num_rows())).collect::<Vec<_>>(), [(0, 3)]);
}

/// A text is stored in other ways in these files, and has one type.
#[test]
fn texts_have_offsets_however_they_are_stored() {
    for (name, format) in [("jay/alltypes_n5.jay", Format::Jay), ("vortex/def_one_row_a.vortex", Format::Vortex)] {
        let options = ReadOptions { offsets: true, flat: true, ..ReadOptions::default() };
        with(&golden(name), format, options, |batches| {
            let types = batches.flat_map(|batch| batch.columns().to_vec()).map(|array| array.data_type().clone());
            let texts: Vec<_> = types.filter(|ty| ty.is_string()).collect();
            assert!(!texts.is_empty() && texts.iter().all(|ty| *ty == DataType::Utf8), "{name}: {texts:?}");
        });
    }
}

/// Texts of dictionaries and others are views, and equal to those with offsets.
#[test]
fn texts_are_views_however_they_are_stored() {
    let files = [
        ("jay/alltypes_n5.jay", Format::Jay),
        ("vortex/def_one_row_a.vortex", Format::Vortex),
        ("vortex/enc_dict_a.vortex", Format::Vortex),
        ("vortex/def_strings_a.vortex", Format::Vortex),
    ];
    let mut count = 0;
    for (name, format) in files.into_iter().filter(|(name, _)| exists(name)) {
        let read = |views| {
            let options = ReadOptions { offsets: true, flat: true, views, batch_rows: 100, ..ReadOptions::default() };
            with(&golden(name), format, options, |batches| batches.collect::<Vec<_>>())
        };
        let texts = |batches: Vec<RecordBatch>| -> Vec<_> {
            let arrays = batches.into_iter().flat_map(|batch| batch.columns().to_vec());
            arrays.filter(|array| array.data_type().is_string()).collect()
        };
        let (views, offsets) = (texts(read(true)), texts(read(false)));
        let shown = |arrays: &[arrow_array::ArrayRef]| -> Vec<Option<String>> {
            let texts = |array: &arrow_array::ArrayRef| -> Vec<Option<String>> {
                let own = |text: Option<&str>| text.map(str::to_owned);
                match array.data_type() {
                    DataType::Utf8View => array.as_string_view().iter().map(own).collect(),
                    _ => array.as_string::<i32>().iter().map(own).collect(),
                }
            };
            arrays.iter().flat_map(texts).collect()
        };
        assert!(views.iter().all(|array| *array.data_type() == DataType::Utf8View), "{name}");
        let mut sorted = (shown(&views), shown(&offsets));
        // Batches end at other rows, so that columns alternate otherwise.
        sorted.0.sort();
        sorted.1.sort();
        assert_eq!(sorted.0, sorted.1, "{name}");
        count += sorted.0.len();
    }
    assert!(count > 200, "{count}");
}

/// Whether there is such a golden file.
fn exists(name: &str) -> bool {
    std::fs::exists(format!("{}/../../tests/golden/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn the_memory_of_a_reader_serves_the_next_one() {
    let bytes = golden("vortex/lay_chunked_zones_a.vortex");
    let mut memory = vec![0; 1 << 20];
    let file = File::open(&bytes, Format::Vortex, &Hints::default(), &mut Scratch::new(&mut memory)).unwrap();
    let rows = |rows, columns: &[&str], spare| {
        let columns = Some(columns.iter().map(|name| (*name).to_owned()).collect());
        let options = ReadOptions { rows: Some(rows), columns, batch_rows: 10, spare, ..ReadOptions::default() };
        let mut reader = read(file.table(None).unwrap(), options).unwrap();
        let found: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        (found, reader.into_spare())
    };
    let mut spare = pilaster_arrow::Spare::default();
    // Forwards, backwards, and with other columns.
    for (start, columns) in [(0, ["a", "b"]), (100, ["a", "b"]), (200, ["a", "b"]), (30, ["a", "b"]), (90, ["b", "a"])]
    {
        let found;
        (found, spare) = rows(start..start + 50, &columns, spare);
        let (expected, _) = rows(start..start + 50, &columns, pilaster_arrow::Spare::default());
        assert_eq!(found, expected, "{start}");
    }
}

#[test]
fn zones_are_left_out() {
    let bytes = golden("vortex/lay_chunked_zones_a.vortex");
    let above = |zone: &pilaster::column::Zone<'_>| {
        zone.max.get().and_then(|max| max.compare(&Value::Int(2000))).is_none_or(|order| order.is_gt())
    };
    let all: usize =
        with(&bytes, Format::Vortex, ReadOptions::default(), |batches| batches.map(|batch| batch.num_rows()).sum());
    let filters = vec![Filter { column: "a".into(), may_match: Box::new(above) }];
    let kept: usize = with(&bytes, Format::Vortex, ReadOptions { filters, ..ReadOptions::default() }, |batches| {
        batches.map(|batch| batch.num_rows()).sum()
    });
    assert_eq!((all, kept), (250, 250 - 192));
}

#[test]
fn dictionaries_stay_unless_flat() {
    let bytes = golden("vortex/enc_dict_a.vortex");
    let types = |flat| {
        with(&bytes, Format::Vortex, ReadOptions { flat, ..ReadOptions::default() }, |batches| {
            let batch = batches.next().unwrap();
            batch.columns().iter().filter(|array| matches!(array.data_type(), DataType::Dictionary(..))).count()
        })
    };
    assert!(types(false) > 0);
    assert_eq!(types(true), 0);
}

#[test]
fn units_that_arrow_lacks_are_in_the_metadata() {
    let columns = [
        ("w", Borrowed::new(Type::Date(Unit::Week), Values::I64(&[1]))),
        ("p", Borrowed::new(Type::Timestamp(Unit::Pico), Values::I64(&[5])).with_zone("Europe/Rome")),
        ("s", Borrowed::new(Type::Timestamp(Unit::Second), Values::I64(&[5])).with_zone("Europe/Rome")),
    ];
    let mut reader = read(Once::new(&columns[..]), ReadOptions::default()).unwrap();
    let schema = reader.schema();
    assert_eq!(schema.field(0).metadata()["pilaster.unit"], "date64[W]");
    assert_eq!(schema.field(1).metadata()["pilaster.zone"], "Europe/Rome");
    let zoned = DataType::Timestamp(arrow_schema::TimeUnit::Second, Some("Europe/Rome".into()));
    assert_eq!(schema.field(2).data_type(), &zoned);
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(batch.column(1).as_primitive::<Int64Type>().values(), &[5]);
}

#[test]
fn lists_in_any_order_are_views_or_gathered() {
    let items = [("item", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1, 2, 3, 4])))];
    let spans = [[2, 2], [0, 1]];
    for (ranges, expected) in [
        (Ranges::Each(&spans[..]), vec![vec![3, 4], vec![1]]),
        (Ranges::Off32(&[1, 3, 4]), vec![vec![2, 3], vec![4]]),
        (Ranges::Off64(&[0, 0, 2]), vec![vec![], vec![1, 2]]),
    ] {
        let columns = [("l", Borrowed::new(Type::List, Values::Nested(ranges)).with_children(&items))];
        let batch = read(Once::new(&columns[..]), ReadOptions::default()).unwrap().next().unwrap().unwrap();
        let list = batch.column(0);
        let row = |i: usize| match list.data_type() {
            DataType::List(_) => list.as_list::<i32>().value(i),
            DataType::LargeList(_) => list.as_list::<i64>().value(i),
            _ => list.as_list_view::<i32>().value(i),
        };
        let rows: Vec<_> = (0..2).map(|i| row(i).as_primitive::<Int32Type>().values().to_vec()).collect();
        assert_eq!(rows, expected);
    }
}

#[test]
fn errors_name_the_column_and_end_the_batches() {
    let texts = pilaster::column::VarBytes { data: b"a\xff", spans: pilaster::column::Spans::Off32(&[0, 1, 2]) };
    let columns = [("t", Borrowed::new(Type::Utf8, Values::Utf8(texts)))];
    let mut reader = read(Once::new(&columns[..]), ReadOptions::default()).unwrap();
    let e = reader.next().unwrap().unwrap_err();
    assert!(e.to_string().contains("column \"t\""), "{e}");
    assert!(reader.next().is_none());
}

#[cfg(all(feature = "ipc", feature = "parquet"))]
#[test]
fn written_files_have_the_same_batches() {
    use pilaster_arrow::write::{self, Compression, Kind};
    let bytes = golden("jay/alltypes_n5.jay");
    let mut memory = vec![0; 1 << 20];
    let file = File::open(&bytes, Format::Jay, &Hints::default(), &mut Scratch::new(&mut memory)).unwrap();
    let batches = || read(file.table(None).unwrap(), ReadOptions::default()).unwrap();
    let expected = batches().next().unwrap().unwrap();
    for kind in Compression::ALL {
        let stream = write::all(batches(), Vec::new(), Kind::IpcStream, kind);
        assert_eq!(
            stream.is_ok(),
            matches!(kind, Compression::None | Compression::Lz4) || kind == Compression::Zstd && cfg!(feature = "zstd")
        );
        if let Ok(stream) = stream {
            let mut read = arrow_ipc::reader::StreamReader::try_new(&stream[..], None).unwrap();
            assert_eq!(read.next().unwrap().unwrap(), expected);
            let file = write::all(batches(), Vec::new(), Kind::IpcFile, kind).unwrap();
            let mut read = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(file), None).unwrap();
            assert_eq!(read.next().unwrap().unwrap(), expected);
        }
        let parquet = write::all(batches(), Vec::new(), Kind::Parquet, kind);
        assert_eq!(parquet.is_ok(), kind != Compression::Zstd || cfg!(feature = "zstd"));
        if let Ok(parquet) = parquet {
            let options =
                parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(bytes::Bytes::from(parquet), 100);
            let read = options.unwrap().next().unwrap().unwrap();
            assert_eq!(read.columns(), expected.columns());
        }
    }
}

#[test]
fn texts_are_copied_once_and_batch_by_batch() {
    let (rows, len) = (10_000u32, 10u32);
    let data = vec![b'x'; (rows * len) as usize];
    // Texts from the second one on cannot be taken as they are, and all together are more than the limit.
    let offsets: Vec<u32> = (0..=rows).map(|row| row * len).collect();
    let texts = pilaster::column::VarBytes { data: &data, spans: pilaster::column::Spans::Off32(&offsets) };
    let columns = [("t", Borrowed::new(Type::Utf8, Values::Utf8(texts)))];
    let limits = pilaster::limits::Limits { max_decoded: 64 << 10, ..Default::default() };
    let all = Buffer::from_vec(data.clone());
    let options =
        ReadOptions { bytes: Some(all), rows: Some(1..u64::MAX), batch_rows: 10, limits, ..ReadOptions::default() };
    let mut reader = read(Once::new(&columns[..]), options).unwrap();
    let mut batches = 0;
    for batch in &mut reader {
        assert!(batch.unwrap().column(0).get_buffer_memory_size() < 1000);
        batches += 1;
    }
    // The texts, and their offsets.
    let expected = u64::from(rows * len);
    assert_eq!(batches, 1000);
    assert!((expected - 10..expected * 2).contains(&reader.copied_bytes()), "{} bytes", reader.copied_bytes());
}

#[test]
fn batches_of_long_texts_have_fewer_rows() {
    let (rows, len) = (1000u32, 100u32);
    let data: Vec<u8> = (0..rows * len).map(|at| b'a' + (at / len % 26) as u8).collect();
    let spans: Vec<_> = (0..rows).map(|row| [row * len, len]).collect();
    let texts = VarBytes { data: &data, spans: Spans::Each(&spans) };
    for (ty, values) in [(Type::Utf8, Values::Utf8(texts)), (Type::Bytes, Values::Bytes(texts))] {
        let columns = [("t", Borrowed::new(ty, values))];
        let limits = pilaster::limits::Limits { max_decoded: 10_000, ..Default::default() };
        let options = ReadOptions { offsets: true, limits, ..ReadOptions::default() };
        let batches: Vec<_> = read(Once::new(&columns[..]), options).unwrap().map(Result::unwrap).collect();
        assert!((10..40).contains(&batches.len()), "{} batches", batches.len());
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1000);
        let bytes = |batch: &RecordBatch| -> Vec<u8> {
            let column = batch.column(0);
            match column.data_type() {
                DataType::Utf8 => column.as_string::<i32>().iter().flatten().flat_map(str::bytes).collect(),
                _ => column.as_binary::<i32>().iter().flatten().flatten().copied().collect(),
            }
        };
        assert!(batches.iter().flat_map(bytes).eq(data.iter().copied()));
    }
}

#[test]
fn texts_of_later_batches_stay_in_the_file() {
    // Five offsets, the texts, and the bits of the rows that are present.
    let bytes = b"--annecarlbob\x0d--".as_chunks::<4>().0.iter().map(|bytes| u32::from_ne_bytes(*bytes));
    let file = Buffer::from_vec([2, 6, 6, 10, 13].into_iter().chain(bytes).collect::<Vec<u32>>());
    let texts = VarBytes { data: &file[20..], spans: Spans::Off32(&file.typed_data()[..5]) };
    for missing in [false, true] {
        let column = Borrowed::new(Type::Utf8, Values::Utf8(texts));
        let bits = Validity::Bits(Bits::new(&file[33..34], 0, 4).unwrap());
        let columns = [("t", if missing { column.with_validity(bits) } else { column })];
        for batch_rows in 1..5 {
            let options = ReadOptions { bytes: Some(file.clone()), batch_rows, ..ReadOptions::default() };
            let mut reader = read(Once::new(&columns[..]), options).unwrap();
            let batches: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
            let texts = batches.iter().flat_map(|batch| batch.column(0).as_string::<i32>());
            let expected = [Some("anne"), (!missing).then_some(""), Some("carl"), Some("bob")];
            assert!(texts.eq(expected), "{batches:?}");
            assert_eq!(reader.copied_bytes(), 0, "{missing} {batch_rows}");
            // The offsets count from the first text of a batch. One row is read first, which shows that offsets of all rows take memory.
            assert_eq!(reader.compacted_bytes(), 4 * (2 + 4 + batches.len() as u64), "{missing} {batch_rows}");
            assert_eq!(batches.len(), 4usize.div_ceil(batch_rows));
        }
    }
}

/// With `common`, decimals have 128 bits, and lists offsets; the values are the same.
#[test]
fn common_types_have_the_same_values() {
    for (name, column, common) in [
        ("enc_constant_a", "dec", "Decimal128(12, 3)"),
        ("enc_decimal_byte_parts_a", "d12n", "Decimal128(12, 3)"),
        ("enc_list_a", "lvn", "List(non-null Int16)"),
    ] {
        let bytes = std::fs::read(format!("../../tests/golden/vortex/{name}.vortex")).unwrap();
        let mut memory = vec![0; 1 << 16];
        let hints = Hints::default();
        let file = File::open(&bytes, Format::Vortex, &hints, &mut Scratch::new(&mut memory)).unwrap();
        let columns = Some(vec![column.to_owned()]);
        let rows = |common| {
            let options = ReadOptions { columns: columns.clone(), common, ..ReadOptions::default() };
            read(file.table(None).unwrap(), options).unwrap().map(Result::unwrap).collect::<Vec<_>>()
        };
        let (narrow, wide) = (rows(false), rows(true));
        assert_eq!(wide[0].schema().field(0).data_type().to_string(), common);
        assert_ne!(narrow[0].schema(), wide[0].schema());
        for (narrow, wide) in narrow.iter().zip(&wide) {
            let cast = arrow_cast::cast(narrow.column(0), wide.column(0).data_type()).unwrap();
            assert_eq!(cast.as_ref(), wide.column(0).as_ref(), "{name}");
        }
    }
}
