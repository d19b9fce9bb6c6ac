//! Arrow files with columns that not every format stores, and what a file says in the metadata of an Arrow schema.

use std::fs;
use std::sync::Arc;

use pilaster_arrow::arrow_array::types::Int32Type;
use pilaster_arrow::arrow_array::{
    Array, ArrayRef, DictionaryArray, DurationMillisecondArray, DurationSecondArray, Int32Array, Int64Array,
    IntervalYearMonthArray, RecordBatch, StringArray, UnionArray,
};
use pilaster_arrow::arrow_schema::{DataType, Field, SchemaRef, UnionFields};
use pilaster_arrow::input::{Input, InputOptions, open};
use pilaster_arrow::write::{Compression, Kind, Writer};
use pilaster_arrow::{Buffer, Source as _};

use crate::{bad, good, out, place, run, run_on};

fn write(path: &str, kind: Kind, batches: &[RecordBatch]) {
    let mut writer = Writer::new(Vec::new(), &batches[0].schema(), kind, Compression::None).unwrap();
    batches.iter().for_each(|batch| writer.put(batch).unwrap());
    fs::write(path, writer.finish().unwrap()).unwrap();
}

fn read(path: &str) -> (SchemaRef, Vec<RecordBatch>) {
    let mut file = open(Input::path(path).unwrap(), InputOptions::default()).unwrap();
    let batches = file.reader().unwrap().map(Result::unwrap).collect();
    (file.schema(), batches)
}

fn union() -> ArrayRef {
    let fields = UnionFields::try_new([0], [Field::new("n", DataType::Int32, true)]).unwrap();
    let ids = Buffer::from_vec(vec![0i8, 0]).into();
    let values = Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
    Arc::new(UnionArray::try_new(fields, ids, None, vec![values]).unwrap())
}

#[test]
fn a_column_that_no_format_stores_is_left_out_on_demand() {
    let place = place("arrow_refused");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let columns: [(&str, ArrayRef, &str); 2] = [
        ("months", Arc::new(IntervalYearMonthArray::from(vec![5, 6])), "cast it to int32"),
        ("either", union(), "store a column for each of its types"),
    ];
    for (name, array, remedy) in columns {
        let numbers = Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
        let ty = array.data_type().to_string();
        let batch = RecordBatch::try_from_iter([("n", numbers), (name, array)]).unwrap();
        write(&path("a.arrow"), Kind::IpcFile, std::slice::from_ref(&batch));
        let source = path("a.arrow");
        for command in [&["cat", &source][..], &["head", &source], &["convert", &source, &path("x.vortex")]] {
            let why = bad(1, command);
            assert!(why.contains(&format!("column \"{name}\"")) && why.contains(&ty), "{why}");
            assert!(why.contains(remedy) && why.contains("--columns leaves it out"), "{why}");
        }
        let info = good(&["info", &source]);
        assert!(info.contains("rows      2\n") && info.contains(&format!("{ty} of Arrow")), "{info}");
        good(&["verify", &source]);
        // The remedy helps, with conditions, too.
        assert_eq!(out(&run(&["cat", "--columns", "n", &source])), "n\n1\n2\n");
        for target in ["b.vortex", "b.jay", "b.parquet", "b.csv"] {
            good(&["convert", "--force", "--columns", "n", "--where", "n > 1", &source, &path(target)]);
            assert_eq!(out(&run(&["cat", &path(target)])), "n\n2\n", "{target}");
        }
        // Arrow keeps the column.
        good(&["convert", "--force", "--where", "n > 1", &source, &path("c.arrow")]);
        assert_eq!(read(&path("c.arrow")).1[0], batch.slice(1, 1));
    }
}

#[test]
fn durations_are_integers_in_text_and_on_demand_in_formats() {
    let place = place("arrow_durations");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let spans = Arc::new(DurationSecondArray::from(vec![Some(5), None, Some(-7)])) as ArrayRef;
    let numbers = Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("n", numbers), ("span", spans)]).unwrap();
    write(&path("a.arrow"), Kind::IpcFile, std::slice::from_ref(&batch));
    let (source, rows) = (path("a.arrow"), "n,span\n1,5\n2,\n3,-7\n");
    assert!(good(&["info", &source]).contains("Duration(s) of Arrow"));
    assert_eq!(good(&["cat", &source]), rows);
    assert_eq!(good(&["cat", "--columns", "n", "--where", "span < 0", &source]), "n\n3\n");
    good(&["convert", &source, &path("a.csv")]);
    assert_eq!(std::fs::read_to_string(path("a.csv")).unwrap(), rows);
    let why = bad(1, &["convert", &source, &path("a.vortex")]);
    let wanted =
        "column \"span\": no format stores Duration(s); store integers of its unit (--any-time does; --columns";
    assert!(why.contains(wanted), "{why}");
    for target in ["b.vortex", "b.jay", "b.ds", "b.bcolz"] {
        good(&["convert", "--any-time", "--where", "span is not missing", &source, &path(target)]);
        assert_eq!(good(&["cat", &path(target)]), "n,span\n1,5\n3,-7\n", "{target}");
    }
    // A column of another unit is another column.
    let milliseconds = Arc::new(DurationMillisecondArray::from(vec![5])) as ArrayRef;
    let numbers = Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("n", numbers), ("span", milliseconds)]).unwrap();
    write(&path("ms.arrow"), Kind::IpcFile, std::slice::from_ref(&batch));
    let why = String::from_utf8(run(&["cat", &source, &path("ms.arrow")]).stderr).unwrap();
    assert!(why.contains("span Duration(ms), and in") && why.contains("span Duration(s) ("), "{why}");
    // Arrow and Parquet keep the type.
    for target in ["c.arrow", "c.parquet"] {
        good(&["convert", "--where", "span < 0", &source, &path(target)]);
        assert!(good(&["info", &path(target)]).contains("Duration(s) of Arrow"), "{target}");
    }
}

#[test]
fn dictionaries_that_change_are_decoded_for_arrow_files() {
    let place = place("arrow_dictionaries");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let coded = |texts: &[&str]| Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>()) as ArrayRef;
    let same = coded(&["x", "y"]);
    let batch =
        |texts: &[&str]| RecordBatch::try_from_iter([("same", Arc::clone(&same)), ("other", coded(texts))]).unwrap();
    write(&path("a.arrows"), Kind::IpcStream, &[batch(&["a", "b"]), batch(&["c", "a"])]);
    good(&["convert", &path("a.arrows"), &path("b.arrow")]);
    let (schema, batches) = read(&path("b.arrow"));
    assert_eq!(schema.field(0).data_type(), same.data_type());
    assert_eq!(schema.field(1).data_type(), &DataType::Utf8);
    assert_eq!(batches[1].column(1).as_ref(), &StringArray::from(vec!["c", "a"]) as &dyn Array);
    good(&["convert", &path("b.arrow"), &path("c.arrows")]);
    assert_eq!(out(&run(&["cat", &path("c.arrows")])), "same,other\nx,a\ny,b\nx,c\ny,a\n");
}

#[test]
fn the_schema_has_what_the_file_says() {
    let place = place("arrow_metadata");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    for (source, expected) in [
        ("jay/keyed_1.jay", vec![("pilaster.format", "jay"), ("pilaster.keys", "1")]),
        ("dataseries/tiny.ds", vec![("pilaster.format", "dataseries"), ("pilaster.dataseries.type", "")]),
        ("bcolz/attrs", vec![("pilaster.format", "bcolz"), ("pilaster.bcolz.attrs", "")]),
        ("vortex/lay_user_metadata_a.vortex", vec![("pilaster.format", "vortex")]),
    ] {
        let source = format!("../tests/golden/{source}");
        for target in ["a.arrow", "a.parquet", "a.arrows"] {
            good(&["convert", "--force", &source, &path(target)]);
            let (schema, _) = read(&path(target));
            for (key, value) in &expected {
                let found = schema.metadata().get(*key).unwrap_or_else(|| panic!("{source} to {target}: {key}"));
                assert!(!found.is_empty() && (value.is_empty() || found == value), "{source}: {key} {found}");
            }
            if source.contains("user_metadata") {
                let user = schema.metadata().keys().filter(|key| key.starts_with("pilaster.vortex.metadata."));
                assert!(user.count() > 0, "{:?}", schema.metadata());
            }
            if source.contains("tiny") {
                let xml = &schema.metadata()["pilaster.dataseries.xml"];
                assert!(
                    xml.contains("<ExtentType") && xml.contains(&schema.metadata()["pilaster.dataseries.type"]),
                    "{xml}"
                );
                assert!(schema.metadata()["pilaster.dataseries.version"].contains('.'));
            }
        }
        let info = good(&["info", "--verbose", &path("a.parquet")]);
        assert!(info.contains("metadata  pilaster.format: "), "{info}");
    }
    // Without its key columns a table has no key.
    good(&["convert", "--force", "--columns", "v", "../tests/golden/jay/keyed_1.jay", &path("b.arrow")]);
    assert!(!read(&path("b.arrow")).0.metadata().contains_key("pilaster.keys"));
}

#[test]
fn only_text_is_compressed_as_a_whole() {
    let place = place("arrow_gzip");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let jay = "../tests/golden/jay/keyed_1.jay";
    for (name, meant) in [("x.parquet.gz", "x.parquet"), ("x.arrow.gz", "x.arrow"), ("x.jay.gz", "x.jay")] {
        let why = bad(2, &["convert", jay, &path(name)]);
        assert!(why.contains(&format!("{} ", path(meant))) || why.ends_with(&path(meant)), "{why}");
        assert!(why.contains(".csv.gz"), "{why}");
        assert!(!place.join(name).exists());
    }
    assert!(bad(2, &["convert", jay, &path("x.PQ.GZ")]).contains("--compression"));
    good(&["convert", jay, &path("x.csv.gz")]);
}

#[test]
fn wide_batches_of_other_types_are_converted() {
    let place = place("arrow_wide");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let numbers = Arc::new(Int64Array::from_iter_values(0..70_000)) as ArrayRef;
    let names: Vec<String> = (0..20).map(|k| format!("c{k}")).collect();
    let columns = names.iter().map(|name| (name.as_str(), Arc::clone(&numbers)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    write(&path("a.arrow"), Kind::IpcFile, std::slice::from_ref(&batch));
    for option in ["--stored-times", "--bytes-as-text"] {
        for target in ["b.parquet", "b.arrow"] {
            good(&["convert", "--force", option, &path("a.arrow"), &path(target)]);
            let batches = read(&path(target)).1;
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 70_000, "{option} {target}");
            assert_eq!(batches.last().unwrap().slice(0, 1).num_columns(), 20);
        }
    }
}

#[test]
fn an_error_of_the_source_names_the_source() {
    let place = place("arrow_cut");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let numbers = Arc::new(Int32Array::from_iter_values(0..100)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    write(&path("a.arrows"), Kind::IpcStream, &[batch.clone(), batch]);
    let mut bytes = fs::read(path("a.arrows")).unwrap();
    bytes.truncate(bytes.len() - 100);
    fs::write(path("a.arrows"), bytes).unwrap();
    for target in ["b.parquet", "b.arrow", "b.jay"] {
        let why = bad(1, &["convert", &path("a.arrows"), &path(target)]);
        assert!(why.starts_with(&format!("pilaster: {}: ", path("a.arrows"))), "{why}");
        assert!(why.contains("a message with a body of") && !why.contains("--columns"), "{why}");
        assert!(!place.join(target).exists());
    }
}

#[test]
fn text_stays_text_unless_a_format_is_named() {
    let place = place("own_goal");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let (csv, json) = ("a,b\n1,x\n2,\n", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":null}\n");
    for (name, format, text) in [("a.csv", "csv", csv), ("a.jsonl", "jsonl", json)] {
        fs::write(path(name), text).unwrap();
        good(&["convert", "--force", &path(name), &path("out")]);
        assert_eq!(fs::read_to_string(path("out")).unwrap(), text, "{name}");
        let piped = run_on(&["convert", "--format", format, "-", "-"], text.as_bytes());
        assert_eq!((piped.status.code(), out(&piped)), (Some(0), text), "{name}");
        // Detected by its name.
        assert_eq!(out(&run(&["convert", &path(name), "-"])), text, "{name}");
    }
    good(&["convert", &path("a.csv"), &path("a.parquet")]);
    let piped = run(&["convert", &path("a.parquet"), "-"]);
    assert!(piped.stdout.starts_with(b"PAR1"));
}

#[test]
fn whole_columns_are_written_from_text_and_streams() {
    let place = place("by_columns");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let rows: String = (0..66_000).map(|k| format!("{k},text {},{}.5,{}\n", k % 7, k % 100, k % 2 == 0)).collect();
    fs::write(path("a.csv"), format!("id,name,price,even\n{rows}")).unwrap();
    good(&["convert", "--where", "id < 500", &path("a.csv"), &path("a.jsonl")]);
    let coded = |texts: [&str; 2]| {
        let texts: DictionaryArray<Int32Type> = texts.into_iter().collect();
        let numbers = Int64Array::from(vec![1, 2]);
        let (name, id) = (Arc::new(texts) as ArrayRef, Arc::new(numbers) as ArrayRef);
        RecordBatch::try_from_iter([("name", name), ("id", id)]).unwrap()
    };
    // Another dictionary in each batch, which an Arrow file does not allow.
    write(&path("a.arrows"), Kind::IpcStream, &[coded(["x", "y"]), coded(["z", "x"])]);
    for source in ["a.csv", "a.jsonl", "a.arrows"] {
        for (target, columns, condition) in [
            ("a.jay", "name,id", "id < 65900"),
            ("a.jay", "id", "name != 'text 1'"),
            ("a.bcolz", "name,id", "id > 1 or name = 'x'"),
        ] {
            let chosen = ["--columns", columns, "--where", condition];
            let _ = fs::remove_dir_all(path("a.bcolz"));
            good(&[&["convert", "--force"], &chosen[..], &[&path(source), &path(target)]].concat());
            let found = out(&run(&["cat", &path(target)])).to_owned();
            let expected = run(&[&["cat"], &chosen[..], &[&path(source)]].concat());
            assert!(found == out(&expected) && found.lines().count() > 2, "{source} to {target}: {columns}");
        }
    }
    // An error names the source, not the file between.
    fs::write(path("bad.csv"), "id,name\n1,2\n3\n").unwrap();
    let e = bad(1, &["convert", &path("bad.csv"), &path("bad.jay")]);
    assert!(e.contains("bad.csv: line 3: 1 fields instead of 2"), "{e}");
    let schema = ["--schema", "id: int8"];
    let e = bad(1, &[&["convert"], &schema[..], &[&path("a.csv"), &path("bad.jay")]].concat());
    assert!(e.contains("a.csv: ") && e.contains("line 130, column \"id\"") && !e.contains("temporary"), "{e}");
    assert!(!place.join("bad.jay").exists());
}
