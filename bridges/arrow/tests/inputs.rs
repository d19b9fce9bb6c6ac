//! Parquet, IPC, CSV and JSON lines as inputs.
#![cfg(all(feature = "ipc", feature = "parquet", feature = "csv", feature = "json"))]

mod arrays;
mod show;

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrays::Rng;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Memory, Part, Table, Value};
use pilaster_arrow::input::{FileKind, Input, InputFile, InputOptions, open};
use pilaster_arrow::schema::parse;
use pilaster_arrow::write::{self, Compression, Kind};
use pilaster_arrow::{Batches, Filter, Source};

fn rows_of<T: Table>(table: &mut T) -> Vec<Vec<String>> {
    let (mut outer, mut columns) = (Memory::default(), Vec::new());
    while let Some(part) = table.next_part(&mut outer.scratch()).unwrap() {
        columns.resize(part.width(), Vec::new());
        for (k, rows) in columns.iter_mut().enumerate() {
            let column = part.column(k).unwrap();
            rows.extend(show::column(&column, 0..column.rows()));
        }
    }
    columns
}

/// A table of 5 batches of 100 rows: the row number, and a column of each type.
fn random(types: &[DataType], rng: &mut Rng) -> Vec<RecordBatch> {
    let mut fields = vec![Field::new("row", DataType::Int64, false)];
    fields.extend(types.iter().enumerate().map(|(k, ty)| Field::new(format!("c{k}"), ty.clone(), true)));
    let schema = Arc::new(Schema::new(fields));
    let batch = |b: i64| {
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(b * 100..b * 100 + 100))];
        arrays.extend(types.iter().map(|ty| arrays::array(ty, 100, true, rng)));
        RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap()
    };
    (0..5).map(batch).collect()
}

fn reader(batches: &[RecordBatch]) -> impl arrow_array::RecordBatchReader + use<> {
    RecordBatchIterator::new(batches.iter().cloned().map(Ok).collect::<Vec<_>>(), batches[0].schema())
}

fn expected(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let column = |k: usize| batches.iter().flat_map(move |batch| (0..100).map(move |i| show::row(batch.column(k), i)));
    (0..batches[0].num_columns()).map(|k| column(k).collect()).collect()
}

fn files(kind: FileKind, batches: &[RecordBatch]) -> Vec<u8> {
    match kind {
        FileKind::Parquet => write::all(reader(batches), Vec::new(), Kind::Parquet, Compression::Snappy).unwrap(),
        FileKind::IpcFile => write::all(reader(batches), Vec::new(), Kind::IpcFile, Compression::Lz4).unwrap(),
        _ => write::all(reader(batches), Vec::new(), Kind::IpcStream, Compression::None).unwrap(),
    }
}

fn opened(input: impl Into<Input>, name: &str) -> Batches<InputFile> {
    let options = InputOptions { batch_rows: 70, ..InputOptions::default() };
    Batches::from_source(open(input.into().with_name(name), options).unwrap()).unwrap()
}

/// Whether a file of a kind has a type: Parquet lacks some, and files have one dictionary per column.
fn has(kind: FileKind, ty: &DataType) -> bool {
    let text = format!("{ty:?}");
    if let DataType::Dictionary(_, values) = ty
        && matches!(**values, DataType::Dictionary(..))
    {
        return false;
    }
    let lacks: &[&str] = match kind {
        // Seconds and dates of 64 bits are stored as other types, which have tests of their own.
        FileKind::Parquet => &[
            "RunEndEncoded",
            "ListView",
            "Struct([])",
            "Null",
            "Dictionary",
            "Decimal64(18, -2)",
            "Timestamp(s",
            "Timestamp(Second",
            "Time32(s",
            "Time32(Second",
            "Date64",
        ],
        FileKind::IpcFile => &["Dictionary"],
        _ => &[],
    };
    lacks.iter().all(|lack| !text.contains(lack))
}

#[test]
fn files_have_the_rows_that_were_written() {
    let mut rng = Rng(11);
    for kind in [FileKind::Parquet, FileKind::IpcFile, FileKind::IpcStream] {
        let types: Vec<_> = arrays::types().into_iter().filter(|ty| has(kind, ty)).collect();
        assert!(types.len() > 45, "{kind}");
        for types in types.chunks(9) {
            let batches = random(types, &mut rng);
            let bytes = files(kind, &batches);
            assert_eq!(FileKind::detect(&bytes, ""), Some(kind));
            let mut table = opened(bytes.clone(), "");
            assert_eq!(table.source().kind(), kind);
            let whole = expected(&batches);
            assert_eq!(rows_of(&mut table), whole, "{kind}: {types:?}");
            // Again, from something that is read in pieces.
            let input = Input::seekable(Cursor::new(bytes)).unwrap();
            let mut table = opened(input, "");
            assert_eq!(rows_of(&mut table), whole);
            table.restart().unwrap();
            assert!(table.choose(Some(&[1, 0])));
            let chosen = rows_of(&mut table);
            assert_eq!(chosen[..2], whole[..2]);
            assert!(chosen[2..].iter().all(Vec::is_empty));
        }
    }
}

#[test]
fn every_type_is_written_to_parquet_or_refused() {
    let mut rng = Rng(12);
    let (mut written, mut refused) = (0, Vec::new());
    for ty in arrays::types().into_iter().chain([0, 1].map(|scale| DataType::Decimal32(1, scale))) {
        let batches = random(std::slice::from_ref(&ty), &mut rng);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            write::all(reader(&batches), Vec::new(), Kind::Parquet, Compression::None)
        }));
        match done.unwrap_or_else(|_| panic!("{ty}")) {
            Ok(bytes) => {
                let found = rows_of(&mut opened(bytes, ""));
                let dates = matches!(ty, DataType::Date64) || format!("{ty:?}").contains("Second");
                assert!(dates || found == expected(&batches), "{ty}");
                written += 1;
            }
            Err(e) => {
                arrays::is_named(&e, "c0", &ty);
                refused.push(ty);
            }
        }
    }
    println!("{written} types; refused are {refused:?}");
    assert!(written > 79 && refused.len() < 5, "{written} types; refused are {refused:?}");
}

#[test]
fn any_row_of_a_file_is_found() {
    let batches = random(&[DataType::Utf8], &mut Rng(1));
    for kind in [FileKind::Parquet, FileKind::IpcFile, FileKind::IpcStream] {
        let mut table = opened(files(kind, &batches), "");
        let known = (kind != FileKind::IpcStream).then_some(500);
        assert_eq!(table.source().rows(), known, "{kind}");
        for row in [0u64, 1, 99, 100, 250, 499, 500, 9999] {
            table.restart().unwrap();
            let skipped = table.skip(row).unwrap();
            assert!(skipped <= row && (skipped + 100 > row.min(500) || known.is_none()), "{kind}: {skipped} of {row}");
            let found = rows_of(&mut table);
            assert_eq!(found.first().map_or(0, Vec::len) as u64, 500 - skipped, "{kind}");
            if let Some(first) = found.first().and_then(|rows| rows.first()) {
                assert_eq!(*first, skipped.to_string());
            }
        }
        // In the middle, then with other columns.
        table.restart().unwrap();
        let rows = table.next_part(&mut Scratch::new(&mut [])).unwrap().map(|part| part.rows()).unwrap();
        table.choose(Some(&[0]));
        let rest = rows_of(&mut table);
        assert_eq!((rest[0][0].clone(), rest[1].len()), (rows.to_string(), 0), "{kind}");
    }
}

#[test]
fn row_groups_that_filters_exclude_are_not_read() {
    use ::parquet::arrow::ArrowWriter;
    use ::parquet::file::properties::WriterProperties;
    let batches = random(&[DataType::Utf8, DataType::Decimal128(9, 2)], &mut Rng(2));
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(100)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    let bytes = writer.into_inner().unwrap();
    let filter = |column: &str, may_match: fn(&pilaster::column::Zone<'_>) -> bool| InputOptions {
        filters: vec![Filter { column: column.to_owned(), may_match: Box::new(may_match) }],
        ..InputOptions::default()
    };
    let above = |zone: &pilaster::column::Zone<'_>| {
        zone.max.get().and_then(|max| max.compare(&Value::Int(250))).is_none_or(|order| order.is_gt())
    };
    let mut table = Batches::from_source(open(bytes.clone().into(), filter("row", above)).unwrap()).unwrap();
    assert_eq!(table.source().rows(), Some(300));
    assert_eq!(table.skip(150).unwrap(), 150);
    assert_eq!(rows_of(&mut table)[0][0], "350");
    let all = |zone: &pilaster::column::Zone<'_>| {
        assert!(zone.min.get().is_some() && zone.max.get().is_some() && zone.nulls.get().is_some(), "{zone:?}");
        zone.rows == (0..100)
    };
    for column in ["row", "c0", "c1"] {
        assert_eq!(open(bytes.clone().into(), filter(column, all)).unwrap().rows(), Some(500), "{column}");
    }
    // Of two columns at once.
    let mut file = open(bytes.clone().into(), InputOptions::default()).unwrap();
    let mut groups = 0;
    let mut some = |zones: &[pilaster::column::Zone<'_>]| {
        groups += 1;
        assert_eq!(zones.len(), 2);
        Ok(above(&zones[1]) && zones[0].min.get().is_some_and(|min| matches!(min, Value::Text(_))))
    };
    file.retain(&[1, 0], &mut some).unwrap();
    assert_eq!((file.rows(), groups), (Some(300), 5));
    assert!(file.retain(&[3], &mut |_| Ok(true)).unwrap_err().to_string().contains("column 3 of 3"));
    let e = open(bytes.into(), filter("none", all)).unwrap_err();
    assert!(e.to_string().contains("\"none\""), "{e}");
}

fn csv(text: &str, options: InputOptions) -> Result<Batches<InputFile>, String> {
    let input = Input::from(text.as_bytes().to_vec()).with_name("a.csv");
    Batches::from_source(open(input, options).map_err(|e| e.to_string())?).map_err(|e| e.to_string())
}

#[test]
fn csv_has_types_missing_values_and_quotes() {
    let text = "id,code,price,on,at,ok,text,none\n\
        1,007,1.5,2024-02-29,2024-02-29T01:02:03.5Z,true,\"a, \"\"b\"\"\nc\",\n\
        -2,12,,1969-12-31,,FALSE,,\n\
        ,,3,,2024-02-29T01:02:03+01:00,,Zürich,\n";
    let mut table = csv(text, InputOptions { batch_rows: 2, ..InputOptions::default() }).unwrap();
    let types: Vec<_> = table.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    let stamp = DataType::Timestamp(TimeUnit::Millisecond, Some("+00:00".into()));
    use DataType::{Boolean, Date32, Float64, Int64, Null, Utf8};
    assert_eq!(types, [Int64, Utf8, Float64, Date32, stamp, Boolean, Utf8, Null]);
    let ids = table.to_vec::<Option<i64>>("id");
    assert_eq!(ids, Ok(vec![Some(1), Some(-2), None]), "{:?}", table.failed());
    let texts = |table: &mut Batches<InputFile>, name: &str| table.to_vec::<Option<String>>(name).unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(texts(&mut table, "code"), [text("007"), text("12"), None]);
    assert_eq!(table.to_vec::<Option<f64>>("price").unwrap(), [Some(1.5), None, Some(3.0)]);
    assert_eq!(table.to_vec::<Option<i32>>("on").unwrap(), [Some(19782), Some(-1), None]);
    assert_eq!(table.to_vec::<Option<i64>>("at").unwrap(), [Some(1709168523500), None, Some(1709164923000)]);
    assert_eq!(texts(&mut table, "text"), [text("a, \"b\"\nc"), None, text("Zürich")]);
    assert!(!table.source().seeks());
    // One column in the middle of the rows.
    table.restart().unwrap();
    assert!(table.next_part(&mut Scratch::new(&mut [])).unwrap().is_some());
    table.choose(Some(&[2]));
    assert_eq!(rows_of(&mut table)[2].len(), 1);
}

#[test]
fn csv_obeys_its_options() {
    let options = InputOptions {
        header: false,
        delimiter: Some(b';'),
        missing: vec!["NA".to_owned(), "-".to_owned()],
        schema: Some(parse("column_2: decimal(10,2)").unwrap()),
        ..InputOptions::default()
    };
    let mut table = csv("1;2.50\nNA;-\n", options).unwrap();
    assert_eq!(table.to_vec::<Option<i64>>("column_1").unwrap(), [Some(1), None]);
    assert_eq!(table.to_vec::<Option<i64>>("column_2").unwrap(), [Some(250), None]);
    let named = |schema: &str| InputOptions { schema: Some(parse(schema).unwrap()), ..InputOptions::default() };
    let e = csv("a,b\n1,2\n", named("c: int32")).unwrap_err();
    assert_eq!(e, "a.csv: no column \"c\", for which a type is given");
    let mut table = csv("a,b\n1,x\n", named("b: int32")).unwrap();
    assert!(table.next_part(&mut Scratch::new(&mut [])).is_err());
    let e = table.failed().unwrap().to_string();
    assert!(e.contains("line 2, column \"b\": \"x\" is not read as Int32"), "{e}");
    // Rows of another length.
    let e = csv("a,b\n1,2\n3\n", InputOptions::default()).unwrap_err();
    assert!(e.starts_with("a.csv: ") && e.contains("line 3"), "{e}");
    let tabs = Input::from(b"\xef\xbb\xbfa\tb\n1\t2\n".to_vec()).with_name("A.TSV");
    let mut table = Batches::from_source(open(tabs, InputOptions::default()).unwrap()).unwrap();
    assert_eq!(table.to_vec::<i64>("a").unwrap(), [1]);
    assert_eq!(table.to_vec::<i64>("b").unwrap(), [2]);
    // No rows; no columns.
    assert_eq!(rows_of(&mut csv("a,b\n", InputOptions::default()).unwrap()), [Vec::<String>::new(), vec![]]);
    assert!(rows_of(&mut csv("", InputOptions::default()).unwrap()).is_empty());
}

#[test]
fn json_lines_have_types_and_nested_values() {
    let text = br#"{"id": 1, "name": "Bern", "on": "2024-02-29", "list": [1, 2], "in": {"x": 1.5, "y": null}}
        {"name": "Rome", "id": 18446744073709551615, "list": [], "in": {"z": "007"}}
        {"id": null, "extra": true, "in": null}"#;
    let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    compressed.write_all(text).unwrap();
    for (bytes, name) in [(text.to_vec(), "a.jsonl"), (compressed.finish().unwrap(), "a.ndjson.gz")] {
        let mut table = opened(bytes, name);
        let fields: Vec<_> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(fields, ["id", "name", "on", "list", "in", "extra"]);
        assert_eq!(table.to_vec::<Option<u64>>("id").unwrap(), [Some(1), Some(u64::MAX), None]);
        assert_eq!(table.to_vec::<Option<i32>>("on").unwrap(), [Some(19782), None, None]);
        assert_eq!(table.to_vec::<Option<f64>>("in.x").unwrap(), [Some(1.5), None, None]);
        assert_eq!(table.to_vec::<Option<String>>("in.z").unwrap()[1].as_deref(), Some("007"));
        table.restart().unwrap();
        assert_eq!(rows_of(&mut table)[3], ["(1,2)", "()", "-"]);
    }
}

/// The rows of CSV in one column each, or the error.
fn csv_rows(text: &str, options: InputOptions) -> Result<Vec<Vec<String>>, String> {
    let mut table = csv(text, options)?;
    let mut memory = Memory::default();
    let mut rows: Vec<Vec<String>> = Vec::new();
    loop {
        match table.next_part(&mut memory.scratch()) {
            Ok(Some(part)) => {
                rows.resize(part.width(), Vec::new());
                for (k, rows) in rows.iter_mut().enumerate() {
                    rows.extend(show::column(&part.column(k).unwrap(), 0..part.rows()));
                }
            }
            Ok(None) => return Ok(rows),
            Err(_) => return Err(table.failed().unwrap().to_string()),
        }
    }
}

#[test]
fn csv_tells_empty_texts_from_missing_values() {
    let plain = InputOptions::default;
    let rows = csv_rows("t,n\n\"\",\"\"\n,\nx,1\n", plain()).unwrap();
    assert_eq!(rows, [["[]", "-", "[78]"], ["-", "-", "1"]]);
    // A blank line is the missing value of a single column, and no row of others.
    assert_eq!(csv_rows("t\n\n\"\"\n\nx\n", plain()).unwrap(), [["-", "[]", "-", "[78]"]]);
    assert_eq!(csv_rows("n\n1\n\n2\n", plain()).unwrap(), [["1", "-", "2"]]);
    assert_eq!(csv_rows("a,b\n\n1,2\n\n", plain()).unwrap(), [["1"], ["2"]]);
    let missing = InputOptions { missing: vec!["NA".to_owned()], ..plain() };
    assert_eq!(csv_rows("t,u\nNA,\"NA\"\n", missing).unwrap(), [["-"], ["[4e, 41]"]]);
    // Only empty texts.
    assert_eq!(csv_rows("t,u\n\"\",\n", plain()).unwrap(), [["[]"], ["-"]]);
    let e = csv_rows("a,b\n1,\"2\n3,4\n", plain()).unwrap_err();
    assert_eq!(e, "a.csv: line 2: the quote is not closed");
}

#[test]
fn given_types_are_exact() {
    let typed = |schema: &str| InputOptions { schema: Some(parse(schema).unwrap()), ..InputOptions::default() };
    for (ty, value, other) in [
        ("decimal(10,2)", "2.50", "2.505"),
        ("int8", "127", "128"),
        ("int32", "3", "1.5"),
        ("Date32", "2024-02-29", "2024-02-29T01:02:03"),
        ("timestamp[s]", "2024-02-29T01:02:03", "2024-02-29T01:02:03.5"),
        ("bool", "true", "yes"),
    ] {
        let schema = format!("x: {ty}");
        assert!(csv_rows(&format!("x\n{value}\n"), typed(&schema)).is_ok(), "{ty}");
        let e = csv_rows(&format!("x\n{value}\n{other}\n"), typed(&schema)).unwrap_err();
        assert!(e.contains("line 3, column \"x\"") && e.contains(other), "{ty}: {e}");
        for quoted in [false, true] {
            let other = if quoted { format!("\"{other}\"") } else { other.to_owned() };
            let text = format!("{{\"x\":null}}\n{{\"x\":{other}}}\n");
            let Ok(mut file) = json(&text, typed(&schema)) else { continue };
            let e = file.reader().unwrap().find_map(Result::err).unwrap().to_string();
            assert!(e.contains("object 2, column \"x\""), "{ty}: {e}");
        }
    }
    let e = csv_rows("x\n1\n", typed("x: List(Int8)")).unwrap_err();
    assert!(e.contains("CSV is not read as List"), "{e}");
}

#[test]
fn given_types_resolve_conflicts_of_json() {
    let schema = Some(parse("a: utf8, n: List(Int16)").unwrap());
    let text = "{\"a\":1.50,\"n\":[1,\"2\"]}\n{\"a\":\"x\"}\n{\"a\":true}\n{\"a\":null,\"b\":2}\n";
    let files = json(text, InputOptions { schema, ..InputOptions::default() }).unwrap();
    let mut table = Batches::from_source(files).unwrap();
    let texts = table.to_vec::<Option<String>>("a").unwrap();
    assert_eq!(texts.iter().map(Option::as_deref).collect::<Vec<_>>(), [Some("1.50"), Some("x"), Some("true"), None]);
    table.restart().unwrap();
    assert_eq!(rows_of(&mut table)[1], ["(1,2)", "-", "-", "-"]);
    let schema = Some(parse("n: List(Int16)").unwrap());
    let mut files = json("{\"n\":[1]}\n{\"n\":[2,3.5]}", InputOptions { schema, ..InputOptions::default() }).unwrap();
    let e = files.reader().unwrap().find_map(Result::err).unwrap().to_string();
    assert!(e.contains("object 2, column \"n\": \"3.5\""), "{e}");
}

#[test]
fn objects_may_have_many_fields() {
    let names: Vec<usize> = (0..20_000).collect();
    let object = |names: &mut dyn Iterator<Item = &usize>| {
        let fields: Vec<_> = names.map(|name| format!("\"f{name}\":1")).collect();
        format!("{{{}}}\n", fields.join(","))
    };
    let text = object(&mut names.iter()) + &object(&mut names.iter().rev());
    // Each name is found without a search among all others.
    assert_eq!(json(&text, InputOptions::default()).unwrap().schema().fields().len(), 20_000);
}

fn json(text: &str, options: InputOptions) -> Result<InputFile, String> {
    open(Input::from(text.as_bytes().to_vec()).with_name("a.jsonl"), options).map_err(|e| e.to_string())
}

#[test]
fn json_lines_say_which_value_does_not_fit() {
    let plain = |text: &str| json(text, InputOptions::default());
    // The second value would replace the first.
    for twice in
        ["{\"a\":1,\"a\":2}\n", "{\"a\":1,\"b\":2}\n{\"b\":1,\"a\":2,\"b\":3}\n", "{\"a\":{\"b\":1,\"c\":2,\"b\":1}}\n"]
    {
        let e = plain(twice).unwrap_err();
        assert!(e.contains("two fields of an object have the same name"), "{e}");
    }
    assert!(plain("{\"a\":1,\"b\":2}\n{\"b\":1,\"a\":2}\n{\"c\":1,\"b\":2,\"a\":1}\n").is_ok());
    let e = plain("{\"a\": 1}\n{\"a\": \"x\"}\n").unwrap_err();
    assert!(e.starts_with("a.jsonl: object 2: ") && e.contains("string"), "{e}");
    assert!(plain("{\"a\": 1}\n[1]\n").unwrap_err().contains("object 2"));
    assert!(plain("[1]").unwrap_err().contains("object 1"));
    assert!(plain("{\"a\": 1").unwrap_err().contains("EOF"));
    assert!(plain("{\"a\": 0.5}\n{\"a\": 9007199254740993}").unwrap_err().contains("\"a\""));
    let deep = "[".repeat(100);
    assert!(plain(&format!("{{\"a\": {deep}")).unwrap_err().contains("object 1"));
    assert_eq!(plain("").unwrap().schema().fields().len(), 0);
    // A type that is given also names columns without values.
    let schema = Some(parse("b: timestamp[ms], a: float32").unwrap());
    let files = json("{\"a\": 1}", InputOptions { schema, ..InputOptions::default() }).unwrap();
    let mut table = Batches::from_source(files).unwrap();
    assert_eq!(table.to_vec::<f32>("a").unwrap(), [1.0]);
    assert_eq!(table.to_vec::<Option<i64>>("b").unwrap(), [None]);
}

#[test]
fn unknown_inputs_are_errors() {
    let e = open(Input::from(b"hello".to_vec()).with_name("x.dat"), InputOptions::default()).unwrap_err().to_string();
    assert!(e.starts_with("x.dat: neither Parquet"), "{e}");
    let kind = Some(FileKind::Csv);
    let files = open(Input::from(b"hello\n1\n".to_vec()), InputOptions { kind, ..InputOptions::default() }).unwrap();
    assert_eq!((files.kind(), files.rows(), files.schema().fields().len()), (FileKind::Csv, None, 1));
}

/// Arrow's readers trust some numbers of a file. Their panics are errors here.
#[test]
fn nothing_in_a_damaged_file_panics() {
    let types = [DataType::Utf8, DataType::Utf8View, DataType::Boolean, DataType::Decimal128(9, 2)];
    let batches = random(&types, &mut Rng(4));
    let (mut rng, mut values) = (Rng(9), 0);
    for kind in [FileKind::Parquet, FileKind::IpcFile] {
        let whole = files(kind, &batches[..1]);
        for _ in 0..300 {
            let mut damaged = whole.clone();
            for _ in 0..1 + rng.below(3) {
                // Most of the metadata is at the end.
                let tail = if rng.below(2) == 0 { 600 } else { whole.len() as u64 };
                let at = damaged.len() - 1 - rng.below(tail) as usize;
                damaged[at] = rng.next() as u8;
            }
            let options = InputOptions { kind: Some(kind), ..InputOptions::default() };
            let Ok(mut source) = open(damaged.into(), options) else { continue };
            if let Ok(reader) = source.reader() {
                reader.take(20).for_each(drop);
            }
            let Ok(mut table) = Batches::from_source(source) else { continue };
            let mut memory = Memory::default();
            while let Ok(Some(part)) = table.next_part(&mut memory.scratch()) {
                for k in 0..part.width() {
                    let column = part.column(k).unwrap();
                    let rows = 0..column.rows().min(10);
                    let mut memory = vec![0; usize::try_from(column.need(rows.clone()).unwrap()).unwrap()];
                    let Ok(batch) = column.read(rows, &mut Scratch::new(&mut memory)) else { continue };
                    (0..batch.len).for_each(|i| drop(batch.value(i)));
                    values += batch.len;
                }
            }
        }
    }
    // Most of the damage leaves rows that are read.
    assert!(values > 1000, "{values}");
}
