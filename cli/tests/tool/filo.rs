//! The command line: `dump` against every golden expectation, exit status, error lines, text forms.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::common;
use crate::{bad, digest, failed, good, out, pilaster, run_on};

fn golden(name: &str) -> PathBuf {
    Path::new("../tests/golden/filo").join(name)
}

/// Every golden vector with its element type and expectation.
fn goldens() -> Vec<(String, String, Value)> {
    let of = |golden: common::Golden| {
        let element = golden.fact("element_type").to_owned();
        (golden.path.to_str().unwrap().to_owned(), element, golden.expected)
    };
    let all: Vec<_> = common::of("filo").into_iter().map(of).collect();
    assert_eq!(all.len(), 177);
    all
}

#[test]
fn dump_equals_every_golden_expectation() {
    for (path, element, mut expected) in goldens() {
        let mut dump = crate::dump(&["--type", &element, "--json", &path]);
        for own in ["producer", "notes"] {
            expected.as_object_mut().unwrap().remove(own);
        }
        let columns = expected["columns"].as_array_mut().unwrap();
        for (column, expected) in dump["columns"].as_array_mut().unwrap().iter_mut().zip(columns) {
            if let Some(values) = expected["values"].as_array() {
                let sha256 = column.as_object_mut().unwrap().remove("sha256");
                assert_eq!(sha256, Some(digest(values).into()), "{path}");
            }
        }
        assert_eq!(dump, expected, "{path}");
    }
}

#[test]
fn dump_has_the_keys_in_the_order_of_the_expectations() {
    for name in ["datetime_mixed_tz", "empty_double_70000"] {
        let text = fs::read_to_string(golden(&format!("{name}.expected.json"))).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        let element = expected["facts"]["element_type"].as_str().unwrap();
        let dump = good(&["dump", "--type", element, golden(&format!("{name}.filo")).to_str().unwrap()]);
        let keys = |text: &str| -> Vec<String> {
            let parts: Vec<&str> = text.split('"').collect();
            let is_key = |k: &usize| k % 2 == 1 && parts[k + 1].starts_with(": ");
            (0..parts.len()).filter(is_key).map(|k| parts[k].to_owned()).collect()
        };
        let expected: Vec<_> = keys(&text).into_iter().filter(|key| key != "producer" && key != "notes").collect();
        let known = |key: &String| expected.contains(key);
        assert_eq!(keys(&dump).into_iter().filter(known).collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn json_lines_have_every_row_of_every_golden() {
    for (path, element, expected) in goldens() {
        let lines = good(&["cat", "--json-lines", "--stored-times", "--type", &element, &path]);
        let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(Some(rows.len() as u64), expected["nrows"].as_u64(), "{path}");
        for column in expected["columns"].as_array().unwrap() {
            let (name, ty) = (column["name"].as_str().unwrap(), column["type"].as_str().unwrap());
            for (value, row) in column["values"].as_array().into_iter().flatten().zip(&rows) {
                assert_eq!(exact(&row[name], ty), one_nan(value), "{path}");
            }
        }
    }
}

/// Converts a value of a JSON line to the exact form of the expectations.
fn exact(value: &Value, ty: &str) -> Value {
    let number = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match ty {
        _ if value.is_null() => Value::Null,
        "int32" | "int64" => number().into(),
        "float32" => format!("bits:{:08x}", number().parse::<f32>().unwrap().to_bits()).into(),
        "float64" => format!("bits:{:016x}", number().parse::<f64>().unwrap().to_bits()).into(),
        "bytes" => format!("hex:{}", value.as_str().unwrap()).into(),
        _ => value.clone(),
    }
}

/// Replaces any NaN in an expected value by the one that text can represent.
fn one_nan(value: &Value) -> Value {
    let bits = value.as_str().and_then(|text| text.strip_prefix("bits:"));
    let nan = match bits.map(|bits| (bits.len(), u64::from_str_radix(bits, 16).unwrap())) {
        Some((16, bits)) if f64::from_bits(bits).is_nan() => format!("bits:{:016x}", f64::NAN.to_bits()),
        Some((8, bits)) if f32::from_bits(u32::try_from(bits).unwrap()).is_nan() => {
            format!("bits:{:08x}", f32::NAN.to_bits())
        }
        _ => return value.clone(),
    };
    nan.into()
}

#[test]
fn info_and_verify_accept_every_golden() {
    for (path, element, expected) in goldens() {
        let info = good(&["info", "-v", "--type", &element, &path]);
        let facts = &expected["facts"];
        for part in [
            format!("element   {element}\n"),
            format!("header    {} (", facts["header"].as_str().unwrap()),
            format!("size      {} bytes\n", facts["size_bytes"]),
        ] {
            assert!(info.contains(&part), "{part:?} in {info}");
        }
        for column in expected["columns"].as_array().unwrap() {
            let Some(values) = column["values"].as_array() else { continue };
            let missing = values.iter().filter(|value| value.is_null()).count().to_string();
            let name = column["name"].as_str().unwrap();
            let line = info.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
            assert_eq!(line.split_whitespace().last(), Some(&*missing), "{path}: {line}");
        }
        let verify = good(&["verify", "--type", &element, &path]);
        assert!(verify.contains(&format!("ok, {} rows", expected["nrows"])), "{verify}");
    }
}

#[test]
fn text_forms_match_their_samples() {
    let path = |name| golden(name).to_str().unwrap().to_owned();
    for (sample, args) in [
        ("words.csv", ["cat", "--type", "utf8", "--format-out=csv", &path("utf8_words.filo")]),
        ("words.jsonl", ["cat", "--type", "utf8", "--format-out=jsonl", &path("utf8_words.filo")]),
        ("doubles.csv", ["cat", "--type", "double", "--missing=NA", &path("simple_double_special.filo")]),
        ("doubles.jsonl", ["cat", "--type", "double", "--json-lines", &path("simple_double_special.filo")]),
        ("instants.csv", ["head", "--type", "datetime", "-n3", &path("datetime_mixed_tz.filo")]),
        ("missing.csv", ["head", "--type", "int", "--no-header", &path("simple_int_readme.filo")]),
        ("info.txt", ["info", "-v", "--type", "int", &path("bin_int_u4_na.filo")]),
    ] {
        let expected = fs::read_to_string(Path::new("tests/samples").join(sample)).unwrap();
        assert_eq!(good(&args), expected, "{sample}");
    }
}

#[test]
fn standard_input_is_a_dash() {
    let bytes = fs::read(golden("bin_int_readme.filo")).unwrap();
    let output = run_on(&["cat", "--type", "int", "-"], &bytes);
    assert_eq!((output.status.code(), out(&output)), (Some(0), "v\n1\n2\n-5\n101\n"));
    let line = failed(1, &run_on(&["verify", "--type", "int", "-"], &bytes[..3]));
    assert_eq!(line, "pilaster: -: filo header word at offset 0: truncated, 4 bytes needed");
}

#[test]
fn a_bad_call_is_status_2() {
    let path = golden("bin_int_readme.filo");
    let path = path.to_str().unwrap();
    let line = bad(2, &["cat", path]);
    assert!(line.contains(path) && line.contains("--type ELEMENT (types that fit: int, long, double)"), "{line}");
    assert!(bad(2, &["cat", "--type", "number", path]).contains("--type <ELEMENT>' [possible values: boolean, int, "));
    assert!(bad(2, &["frobnicate", path]).contains("unrecognized subcommand 'frobnicate'"));
    assert!(bad(2, &[]).contains("see pilaster --help"));
    let line = bad(2, &["cat"]);
    assert!(line.contains("not provided: <FILE>") && line.ends_with("; see pilaster cat --help"), "{line}");
}

#[test]
fn a_bad_input_is_status_1() {
    let path = golden("bin_int_readme.filo");
    let path = path.to_str().unwrap();
    let line = bad(1, &["dump", "--type", "float", path]);
    let found = "filo header word at offset 0: 0x00000806 does not fit the requested type";
    assert_eq!(line, format!("pilaster: {path}: {found} (types that fit: int, long, double)"));
    assert!(bad(1, &["cat", "--type", "int", "no/such/file"]).starts_with("pilaster: no/such/file: "));
    let line = bad(1, &["info", "Cargo.toml"]);
    let remedy = "a Filo vector has no magic number: if it is one, --type ELEMENT reads it)";
    assert!(line.contains("unknown format: magic number at offset 0") && line.ends_with(remedy), "{line}");
}

#[test]
fn an_explicit_format_is_believed() {
    // With `--format filo`, the Filo reader refuses the bytes.
    let output = run_on(&["info", "--format", "filo", "--type", "int", "-"], b"JAY1\0\0\0\0");
    assert!(failed(1, &output).contains("filo header word at offset 0"));
}

#[test]
fn every_golden_cut_short_ends_well() {
    for (path, element, _) in goldens() {
        let bytes = fs::read(&path).unwrap();
        let output = run_on(&["dump", "--type", &element, "-"], &bytes[..bytes.len() / 2]);
        match output.status.code() {
            Some(0) => drop(serde_json::from_str::<Value>(out(&output)).unwrap()),
            _ => drop(failed(1, &output)),
        }
    }
}

/// The Int 7, 2^31 - 1 times, in 12 bytes.
const SEVENS: [u8; 12] = [6, 6, 0, 0, 0xff, 0xff, 0xff, 0x7f, 7, 0, 0, 0];

#[test]
fn a_claim_of_two_billion_rows_streams() {
    let output = run_on(&["head", "-n", "3", "--type", "int", "-"], &SEVENS);
    assert_eq!((output.status.code(), out(&output)), (Some(0), "v\n7\n7\n7\n"));
    let output = run_on(&["verify", "--type", "int", "-"], &SEVENS);
    assert!(out(&output).contains("ok, 2147483647 rows"));
}

#[test]
fn a_broken_pipe_is_no_error() {
    let mut child = pilaster()
        .args(["cat", "--type", "int", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&SEVENS).unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    // If it did not stop at the closed pipe, it would write 4 GB.
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((line.as_str(), status.code(), said.as_str()), ("v\n", Some(0), ""));
}

#[test]
fn help_is_no_error() {
    assert!(good(&["--help"]).contains("Commands:"));
    assert!(good(&["cat", "--help"]).contains("An empty field is missing"));
    assert!(good(&["cat", "-h"]).contains("Usage: pilaster cat "));
    assert_eq!(good(&["--version"]), concat!("pilaster ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// Checks that the completions of every shell and the manual pages name the options of the parser.
#[test]
fn completions_and_manual_pages_know_the_options() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = good(&["completions", shell]);
        for word in ["verify", "format-out", "bytes-as-text"] {
            assert!(script.contains(word), "{word} is not in the completions for {shell}");
        }
    }
    let page = good(&["man"]);
    assert!(page.contains(".TH pilaster 1") && page.contains("Exit status") && page.contains("recover"), "{page}");
    for (command, option) in [("cat", "until"), ("convert", "codec"), ("recover", "types"), ("info", "dtype")] {
        let page = good(&["man", command]);
        assert!(page.contains(&format!(".TH pilaster-{command} 1")) && page.contains(option), "{page}");
    }
    assert!(bad(2, &["man", "frobnicate"]).contains("no command \"frobnicate\""));
}
