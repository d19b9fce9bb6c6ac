//! The tool on bcolz: datasets, which are directories, and chunks.
#![cfg(feature = "cli")]

mod common;

use std::process::{Command, Output};

use common::Golden;
use serde_json::Value;

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pilaster")).args(args).output().unwrap()
}

fn good(args: &[&str]) -> String {
    let output = run(args);
    let line = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && line.is_empty(), "{args:?}: {line}");
    String::from_utf8(output.stdout).unwrap()
}

fn bad(status: i32, args: &[&str]) -> String {
    let output = run(args);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(status), &b""[..]), "{line}");
    assert!(line.starts_with("pilaster: ") && line.lines().count() == 1, "{line:?}");
    line
}

/// Every third: each call is a process.
fn goldens(chunks: bool) -> Vec<Golden> {
    let all = common::of("bcolz").into_iter().filter(|golden| golden.path.is_file() == chunks);
    let all: Vec<_> = if chunks { all.step_by(3).collect() } else { all.collect() };
    assert!(all.len() > 40);
    all
}

/// What the expectation says, `dump` says too.
fn covers(dump: &Value, expected: &Value, keys: &[&str]) {
    for key in keys.iter().filter(|key| !expected[*key].is_null()) {
        assert_eq!(dump[*key], expected[*key], "{key} of {}", expected["name"]);
    }
}

#[test]
fn dump_agrees_with_every_golden_dataset() {
    for golden in goldens(false) {
        let path = golden.path.to_str().unwrap();
        let dump: Value =
            serde_json::from_str(&good(&["dump", "--json", path])).unwrap_or_else(|e| panic!("{path}: {e}"));
        println!("{path}");
        covers(&dump, &golden.expected, &["file", "format", "nrows"]);
        covers(&dump["facts"], &golden.expected["facts"], &["kind", "attrs", "files"]);
        let columns = |value: &Value| value["columns"].as_array().unwrap().clone();
        assert_eq!(columns(&dump).len(), columns(&golden.expected).len());
        for (dump, expected) in columns(&dump).iter().zip(&columns(&golden.expected)) {
            let keys = ["name", "type", "dtype", "shape", "nullable", "values", "sha256", "head", "tail"];
            covers(dump, expected, &keys);
            for (dump, expected) in dump["fields"].as_array().into_iter().zip(expected["fields"].as_array()) {
                assert_eq!(dump.len(), expected.len());
                dump.iter().zip(expected).for_each(|(dump, expected)| covers(dump, expected, &keys));
            }
        }
    }
}

#[test]
fn dump_agrees_with_golden_chunks() {
    for golden in goldens(true) {
        let path = golden.path.to_str().unwrap();
        if golden.expected["expect"] == "error" {
            for command in ["dump", "verify"] {
                bad(1, &[command, path]);
            }
            continue;
        }
        let dump: Value = serde_json::from_str(&good(&["dump", path])).unwrap();
        covers(&dump, &golden.expected, &["format", "kind", "nbytes", "sha256"]);
        let keys = ["codec", "memcpyed", "typesize", "nbytes", "blocksize", "ctbytes"];
        covers(&dump["header"], &golden.expected["header"], &keys);
        assert!(good(&["info", path]).contains("format    bcolz\n"));
        assert!(good(&["verify", path]).contains(": ok, "));
    }
    let line = bad(2, &["cat", "tests/golden/bcolz/chunks/blosclz_far.blosc"]);
    assert!(line.contains("does not say what its items are"), "{line}");
}

#[test]
fn info_and_verify_and_rows() {
    for golden in goldens(false) {
        let path = golden.path.to_str().unwrap();
        let info = good(&["info", path]);
        assert!(info.contains(&format!("rows      {}\n", golden.expected["nrows"])), "{info}");
        let verify = good(&["verify", path]);
        assert!(verify.contains(&format!("ok, {} rows", golden.expected["nrows"])), "{verify}");
        let rows = good(&["cat", "--json-lines", path]);
        assert_eq!(rows.lines().count() as u64, golden.expected["nrows"].as_u64().unwrap(), "{path}");
    }
    let rows = good(&["head", "-n", "2", "--columns", "m,f", "--to=jsonl", "tests/golden/bcolz/ctable_multi"]);
    assert_eq!(rows, "{\"m\":[1002,1002,1003],\"f\":-0.4}\n{\"m\":[1000,998,998],\"f\":-0.5}\n");
}

#[test]
fn calls_that_make_no_sense() {
    let path = "tests/golden/bcolz/ctable_basic";
    assert!(bad(2, &["cat", "--type", "int", path]).contains("not for bcolz"));
    assert!(bad(2, &["verify", "--no-index", path]).contains("not for bcolz"));
    assert!(bad(2, &["cat", "--table", "x", path]).contains("--table"));
    assert!(bad(2, &["cat", "--columns", "nope", path]).contains("there is no column \"nope\""));
    assert!(bad(1, &["convert", path, path, "--to", "bcolz"]).contains("exist"));
    assert!(bad(2, &["convert", "--codec", "lzma", path, "never.bcolz"]).contains("--codec is one of blosclz"));
    assert!(bad(2, &["convert", "--clevel", "10", path, "never.bcolz"]).contains("0 to 9"));
    assert!(bad(2, &["convert", "--shuffle", "words", path, "never.bcolz"]).contains("none, bytes or bits"));
    let line = bad(1, &["convert", "tests/golden/bcolz/struct", "never.bcolz"]);
    assert!(line.contains("holds no struct") && line.contains("--records"), "{line}");
    assert!(!std::path::Path::new("never.bcolz").exists());
}

/// A table of bcolz becomes a Jay file with the same rows.
#[test]
fn convert_to_another_format() {
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("bcolz_to.jay");
    let target = target.to_str().unwrap();
    let source = "tests/golden/bcolz/ctable_changed";
    assert!(good(&["convert", source, target]).contains("bytes of jay"));
    assert_eq!(good(&["cat", "--json-lines", target]), good(&["cat", "--json-lines", source]));
}

fn target(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path.to_str().unwrap().to_owned()
}

/// Rows of Jay become a dataset; missing values only if that is asked for; and appended, they are there twice.
#[test]
fn convert_from_another_format_and_append() {
    let (jay, bcolz) = (target("bcolz_from.jay"), target("bcolz_from.bcolz"));
    let _ = std::fs::remove_file(&jay);
    good(&["convert", "tests/golden/bcolz/ctable_changed", &jay]);
    good(&["convert", "--codec", "zstd", "--clevel", "9", "--shuffle", "bits", "--chunklen", "10", &jay, &bcolz]);
    let rows = good(&["cat", "--json-lines", &jay]);
    assert_eq!(good(&["cat", "--json-lines", &bcolz]), rows);
    let info = good(&["info", &bcolz]);
    assert!(info.contains("zstd 9 bits") && info.contains("format    bcolz ctable"), "{info}");
    good(&["convert", "--append", &jay, &bcolz]);
    assert_eq!(good(&["cat", "--json-lines", &bcolz]), [&rows[..], &rows].concat());
    assert!(good(&["verify", &bcolz]).contains(": ok, "));
    let line = bad(1, &["convert", "--append", "tests/golden/bcolz/ctable_multi", &bcolz]);
    assert!(line.contains("dtype"), "{line}");

    for nulls in ["arrow_bool_packed", "arrow_fixed_validity", "arrow_str32_validity"] {
        let (from, to) = (format!("tests/golden/jay/{nulls}.jay"), target("bcolz_missing.bcolz"));
        let line = bad(1, &["convert", &from, &to]);
        assert!(line.contains("no missing values") && line.contains("--fill-missing"), "{line}");
        assert!(!std::path::Path::new(&to).exists());
        good(&["convert", "--fill-missing", &from, &to]);
        let count = |path: &str| good(&["cat", "--json-lines", path]).lines().count();
        assert_eq!(count(&to), count(&from));
    }
    let records = target("bcolz_records.bcolz");
    good(&["convert", "--records", "tests/golden/bcolz/struct", &records]);
    let rows = |path: &str| good(&["cat", "--json-lines", path]);
    assert_eq!(rows(&records), rows("tests/golden/bcolz/struct"));
}

/// What is damaged is an error that names the file; asked for, it is read around.
#[test]
fn damage_is_said_and_read_around() {
    let dir = target("bcolz_damaged.bcolz");
    good(&["convert", "--chunklen", "20", "tests/golden/bcolz/ctable_changed", &dir]);
    let sound = good(&["cat", "--json-lines", &dir]);
    std::fs::remove_file(std::path::Path::new(&dir).join("c/data/__1.blp")).unwrap();
    for command in ["cat", "dump", "verify", "info"] {
        let output = run(&[command, &dir]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("c/data/__1.blp"));
    }
    for command in ["dump", "verify", "info", "cat"] {
        let output = run(&[command, "--tolerant", &dir]);
        let line = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && line.lines().count() == 1, "{command}: {line}");
        assert!(line.contains("column c, rows 20..40") && line.contains("c/data/__1.blp"), "{line}");
    }
    let rows = String::from_utf8(run(&["cat", "--json-lines", "--tolerant", &dir]).stdout).unwrap();
    for (row, (read, sound)) in rows.lines().zip(sound.lines()).enumerate() {
        let lost = (20..40).contains(&row);
        assert_eq!(read == sound, !lost);
        assert_eq!(read.contains("\"c\":null"), lost, "{read}");
    }
    let clean = target("bcolz_clean.bcolz");
    let output = run(&["recover", &dir, &clean]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("35 of 55 rows in 3 columns"), "{output:?}");
    let kept: Vec<_> = sound.lines().enumerate().filter(|(row, _)| !(20..40).contains(row)).map(|(_, l)| l).collect();
    assert_eq!(good(&["cat", "--json-lines", &clean]).lines().collect::<Vec<_>>(), kept);
}
