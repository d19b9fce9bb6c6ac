//! CSV and JSON lines: which types their values have, and which are refused.
#![cfg(all(feature = "csv", feature = "json"))]

#[path = "arrays/mod.rs"]
#[allow(dead_code, reason = "only the random numbers are used")]
mod arrays;

use std::io::Write;

use arrays::Rng;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use pilaster_arrow::arrow_array::RecordBatch;
use pilaster_arrow::input::{Input, InputFile, InputOptions, open};
use pilaster_arrow::schema::parse;

fn file(bytes: impl Into<Vec<u8>>, name: &str, options: InputOptions) -> Result<InputFile, String> {
    open(Input::from(bytes.into()).with_name(name), options).map_err(|e| e.to_string())
}

/// The batches of a file, or the first error.
fn batches(bytes: impl Into<Vec<u8>>, name: &str, options: InputOptions) -> Result<Vec<RecordBatch>, String> {
    let mut file = file(bytes, name, options)?;
    let reader = file.reader().map_err(|e| e.to_string())?;
    reader.collect::<Result<_, _>>().map_err(|e| e.to_string())
}

fn json(text: &str) -> Result<Vec<RecordBatch>, String> {
    batches(text, "a.jsonl", InputOptions::default())
}

fn given(schema: &str) -> InputOptions {
    InputOptions { schema: Some(parse(schema).unwrap()), ..InputOptions::default() }
}

#[test]
fn numbers_of_json_are_not_rounded() {
    for (number, why) in [
        ("1e+400", "too large"),
        ("-1e+400", "too large"),
        ("1e-400", "too small"),
        ("9007199254740993.0", "more digits"),
        ("12345678901234567890.12", "more digits"),
    ] {
        let text = format!("{{\"a\":1.5}}\n{{\"a\":{number}}}\n");
        let e = json(&text).unwrap_err();
        assert!(e.starts_with("a.jsonl: object 2: ") && e.contains(why) && e.contains(number), "{e}");
        assert!(e.contains("give its column a type"), "{e}");
        // Which helps.
        let kept = batches(text, "a.jsonl", given("a: utf8")).unwrap();
        assert!(format!("{kept:?}").contains(number), "{kept:?}");
    }
    let zero = json("{\"a\":-0}\n{\"a\":1}\n").unwrap();
    assert!(format!("{zero:?}").contains("-0.0"), "{zero:?}");
    assert!(json("{\"a\":0.10000000000000001}\n{\"a\":5e-324}\n{\"a\":0e-999}\n").is_ok());
}

#[test]
fn what_is_no_object_is_named() {
    for (text, what) in [
        ("[{\"a\":1}]", "object 1: the file has an array around its objects"),
        ("{\"a\":1}\nnull\n", "object 2: a line is null"),
        ("true", "object 1: a line is a boolean"),
        ("12", "object 1: a line is a number"),
        ("\"x\"", "object 1: a line is a string"),
    ] {
        let e = json(text).unwrap_err();
        assert!(e.contains(what) && e.contains("one object in each line"), "{e}");
    }
}

#[test]
fn two_fields_of_one_name_are_found_whatever_type_is_given() {
    let fields = Fields::from(vec![Field::new("x", DataType::Int64, true)]);
    let item = Field::new("item", DataType::Struct(fields.clone()), true);
    let list = Field::new("b", DataType::List(item.into()), true);
    let schema = Schema::new(vec![Field::new("a", DataType::Struct(fields), true), list]);
    let given = || InputOptions { schema: Some(schema.clone()), ..InputOptions::default() };
    for text in ["{\"a\":{\"x\":1,\"x\":2}}", "{\"b\":[{\"x\":1},{\"x\":1,\"x\":2}]}", "{\"a\":1,\"a\":2}"] {
        let e = batches(text, "a.jsonl", given()).unwrap_err();
        assert!(e.contains("object 1: two fields of an object have the same name"), "{e}");
    }
    let nested = "{\"a\":{\"x\":1},\"b\":[{\"x\":1},{\"x\":2}]}";
    assert!(batches(nested, "a.jsonl", given()).is_ok());
}

#[test]
fn texts_of_digits_are_no_counts() {
    let read = |ty: &str, value: &str| {
        let text = format!("{{\"at\":null}}\n{value}\n");
        batches(text, "a.jsonl", given(&format!("at: {ty}, l: List(Struct(\"at\": {ty}))")))
    };
    for ty in ["Timestamp(s)", "Timestamp(ns, \"+00:00\")", "Date64"] {
        for value in ["{\"at\":20240229}", "{\"l\":[{\"at\":-5}]}", "{\"at\":\"2024-02-29T00:00:00\"}"] {
            assert!(read(ty, value).is_ok(), "{ty}: {value}");
        }
        for value in ["{\"at\":\"20240229\"}", "{\"l\":[{\"at\":\"-5\"}]}", "{\"at\":\"+1\"}"] {
            let e = read(ty, value).unwrap_err();
            assert!(e.starts_with("a.jsonl: object 2: ") && e.contains("without quotes"), "{ty}: {e}");
        }
    }
}

#[test]
fn fields_that_a_given_struct_lacks_are_refused() {
    let read =
        |text: &str| batches(text, "a.jsonl", given("s: Struct(\"a\": Int64, \"l\": List(Struct(\"b\": Int64)))"));
    // Other columns are inferred.
    let found = read("{\"s\":{\"a\":1}}\n{\"s\":{\"l\":[{\"b\":2},{}]},\"t\":3}\n").unwrap();
    assert_eq!(found[0].schema().field(1), &Field::new("t", DataType::Int64, true));
    for (more, name) in [("{\"a\":1,\"c\":2}", "c"), ("{\"l\":[{\"b\":2},{\"a\":null}]}", "a"), ("{\"\":{}}", "")] {
        let e = read(&format!("{{\"s\":{{\"a\":1}}}}\n{{\"s\":{more}}}\n")).unwrap_err();
        assert!(e.starts_with("a.jsonl: object 2: ") && e.contains(&format!("the field {name:?}")), "{e}");
    }
}

#[test]
fn batches_of_json_are_bounded_without_lines() {
    let text = format!("{{\"a\":\"{}\"}} ", "x".repeat(1 << 10)).repeat(20 << 10);
    let all = json(&text).unwrap();
    assert_eq!(all.iter().map(RecordBatch::num_rows).sum::<usize>(), 20 << 10);
    let most = all.iter().map(RecordBatch::get_array_memory_size).max().unwrap();
    assert!(all.len() > 1 && most < 20 << 20, "{} batches of up to {most} bytes", all.len());
}

#[test]
fn damage_of_gzip_is_an_error() {
    let csv: String = (0..5000).map(|k| format!("{k},x{k}\n")).collect();
    let json: String = (0..5000).map(|k| format!("{{\"a\":{k},\"b\":\"x{k}\"}}\n")).collect();
    let mut rng = Rng(5);
    for (text, name) in [(csv, "a.csv.gz"), (json, "a.jsonl.gz")] {
        let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        compressed.write_all(text.as_bytes()).unwrap();
        let whole = compressed.finish().unwrap();
        let read = |bytes: Vec<u8>| batches(bytes, name, InputOptions::default());
        assert_eq!(read(whole.clone()).map(|batches| batches[0].num_columns()), Ok(2));
        // The checksum.
        let mut damaged = whole.clone();
        let at = whole.len() - 8;
        damaged[at] ^= 1;
        let e = read(damaged).unwrap_err();
        assert!(e.starts_with(&format!("{name}: ")) && e.contains("checksum"), "{e}");
        for _ in 0..60 {
            let at = rng.below(whole.len() as u64 - 10) as usize;
            assert!(read(whole[..10 + at].to_vec()).is_err(), "cut at {at}");
            let mut damaged = whole.clone();
            damaged[10 + at] ^= 1 << rng.below(8);
            assert!(read(damaged).is_err(), "damaged at {at}");
        }
    }
}

/// A random text that looks like a value.
fn value(rng: &mut Rng, times: bool) -> String {
    const TEXTS: [&str; 34] = [
        "",
        "1",
        "-0",
        "0",
        "007",
        "1.5",
        "-1e3",
        "1e400",
        "1e-400",
        "9007199254740993",
        "9007199254740993.0",
        "18446744073709551615",
        "-9223372036854775808",
        "9223372036854775808",
        "NaN",
        "inf",
        "-Infinity",
        "true",
        "FALSE",
        "0.10000000000000001",
        "2024-02-29",
        "1600-01-01",
        "2262-04-11",
        "2262-04-12",
        "0001-01-01",
        "9999-12-31",
        "2024-02-29T01:02:03",
        "2024-02-29 01:02:03.123456789",
        "1677-09-21T00:12:43.1",
        "2016-12-31T23:59:60",
        "2024-02-29T01:02:03Z",
        "1600-01-01T00:00:00.5+02:00",
        "2024-02-29 010203",
        "x",
    ];
    if rng.below(4) > 0 {
        let texts = if times { &TEXTS[20..] } else { &TEXTS[..] };
        return texts[rng.below(texts.len() as u64) as usize].to_owned();
    }
    let digits =
        |rng: &mut Rng, most: u64| (0..=rng.below(most)).map(|_| rng.below(10).to_string()).collect::<String>();
    match rng.below(3) {
        0 => digits(rng, 25),
        1 => format!("-{}.{}e{}", rng.below(10), digits(rng, 20), rng.below(320)),
        _ => format!(
            "{}-0{}-1{}T0{}:30:5{}.{}",
            1000 + rng.below(9000),
            1 + rng.below(9),
            rng.below(9),
            rng.below(9),
            rng.below(9),
            digits(rng, 11)
        ),
    }
}

#[test]
fn every_inferred_type_reads_every_row() {
    let (mut rng, mut seen) = (Rng(21), Vec::new());
    for _ in 0..1500 {
        let times = rng.below(2) == 0;
        let kinds: Vec<String> = (0..1 + rng.below(3)).map(|_| value(&mut rng, times)).collect();
        let rows: Vec<&String> =
            (0..1 + rng.below(5)).map(|_| &kinds[rng.below(kinds.len() as u64) as usize]).collect();
        let csv = format!("a,b\n{}", rows.iter().map(|text| format!("{text},1\n")).collect::<String>());
        let read = batches(csv, "a.csv", InputOptions::default()).unwrap_or_else(|e| panic!("{rows:?}: {e}"));
        assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), rows.len());
        let ty = read[0].column(0).data_type().clone();
        if !seen.contains(&ty) {
            seen.push(ty);
        }
        let text: String = rows.iter().map(|text| format!("{{\"a\":\"{text}\"}}\n")).collect();
        let read = json(&text).unwrap_or_else(|e| panic!("{rows:?}: {e}"));
        assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), rows.len());
        // A number that no type holds is refused before any row is read.
        let is_number = |text: &&String| serde_json::from_str::<serde_json::Number>(text).is_ok();
        let text: String =
            rows.iter().filter(|text| is_number(text)).map(|text| format!("{{\"a\":{text}}}\n")).collect();
        if let Ok(mut file) = file(text, "a.jsonl", InputOptions::default()) {
            assert!(file.reader().unwrap().all(|batch| batch.is_ok()), "{rows:?}");
        }
    }
    for ty in [
        DataType::Int64,
        DataType::UInt64,
        DataType::Float64,
        DataType::Date32,
        DataType::Timestamp(TimeUnit::Nanosecond, None),
        DataType::Timestamp(TimeUnit::Second, Some("+00:00".into())),
        DataType::Utf8,
    ] {
        assert!(seen.contains(&ty), "{ty}");
    }
}
