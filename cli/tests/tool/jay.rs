//! The command line on Jay files: every expectation, every verdict, tolerance, conversions.

use std::fs;

use serde_json::Value;

use crate::common::{self, Golden};
use crate::{bad, digest, good, place, run, target};

fn path(name: &str) -> String {
    format!("../tests/golden/jay/{name}.jay")
}

fn sound() -> impl Iterator<Item = Golden> {
    common::of("jay").into_iter().filter(|golden| golden.expected["expect"].is_null())
}

/// Returns a dump. Checks and removes the digests of columns whose values are all present.
fn dump(args: &[&str], path: &str) -> Value {
    let mut dump = crate::dump(&[args, &[path]].concat());
    for column in dump["columns"].as_array_mut().unwrap() {
        let Some(expected) = column["values"].as_array().map(|values| digest(values)) else { continue };
        assert_eq!(column.as_object_mut().unwrap().remove("sha256"), Some(expected.into()), "{path}");
    }
    dump
}

#[test]
fn dump_equals_every_expectation() {
    for golden in sound() {
        let got = dump(&["--json"], golden.path.to_str().unwrap());
        assert_eq!(got["columns"], golden.expected["columns"], "{}", golden.name);
        assert_eq!((&got["nrows"], &got["format"]), (&golden.expected["nrows"], &"jay".into()), "{}", golden.name);
        let facts = &golden.expected["facts"];
        for key in ["meta_size", "data_section_bytes", "nkeys", "key"] {
            assert_eq!(got["facts"][key], facts[key], "{}: {key}", golden.name);
        }
        let layouts = got["facts"]["layout"].as_array().unwrap();
        // The expectations omit some of many columns. Early files have a tag without statistics.
        for (got, expected) in layouts.iter().zip(facts["layout"].as_array().unwrap()).filter(|(_, e)| e.is_object()) {
            let mut expected = expected.clone();
            if expected["stats"].is_null() {
                expected.as_object_mut().unwrap().remove("stats_type");
            }
            assert_eq!(*got, expected, "{}", golden.name);
        }
    }
}

#[test]
fn damaged_files_get_their_verdict() {
    let mut refused = 0;
    for golden in common::of("jay").iter().filter(|golden| golden.expected["expect"] == "error") {
        let path = golden.path.to_str().unwrap();
        bad(1, &["dump", path]);
        bad(1, &["verify", path]);
        refused += 1;
    }
    assert!(refused >= 17, "{refused}");
    assert!(good(&["verify", &path("keyed_2")]).contains(": ok, 20 rows in 3 columns, "));
}

#[test]
fn tolerance_shows_what_is_left() {
    let output = run(&["cat", "--tolerant", &path("invalid/buffer_past_eof")]);
    let (out, err) = (str::from_utf8(&output.stdout).unwrap(), str::from_utf8(&output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!((out.lines().count(), err.lines().count()), (4, 1), "{out}{err}");
    assert!(err.contains("column 0 ") && err.contains("jay buffer at offset"), "{err}");
    let hint = bad(1, &["cat", &path("invalid/buffer_past_eof")]);
    assert!(hint.contains("--tolerant"), "{hint}");
    assert!(
        bad(2, &["cat", "--tolerant", "--type", "int", "../tests/golden/filo/bin_int_readme.filo"]).contains("for Jay")
    );
}

#[test]
fn info_shows_types_keys_statistics_and_buffers() {
    let info = good(&["info", "-v", &path("keyed_2")]);
    assert!(info.contains("key       a, b\n") && info.contains("rows      20\n"), "{info}");
    let info = good(&["info", "-v", &path("stats_n7")]);
    let line = info.lines().find(|line| line.starts_with("int8_nulls ")).unwrap();
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!(words, ["int8_nulls", "int8", "new", "1", "-127", "127", "data", "7@32"]);
    let info = good(&["info", "-v", &path("arr_nested")]);
    assert!(
        info.contains("arr32(arr32(int32))") && info.contains("[validity 8@40 offsets 24@48 [data 24@72]]"),
        "{info}"
    );
}

#[test]
fn rows_as_text() {
    assert_eq!(
        good(&["head", "-n", "2", "--columns", "v,b", &path("keyed_2")]),
        "v,b\n0,k00\n0,k01\n".replace("0,k00\n0,k01", &rows(&path("keyed_2"), 2))
    );
    assert_eq!(good(&["cat", &path("arr_int32")]).lines().count(), 5);
}

/// Returns the first rows of `v` and `b` in the dump.
fn rows(path: &str, count: usize) -> String {
    let dump = dump(&[], path);
    let column = |name: &str| {
        let all = dump["columns"].as_array().unwrap();
        all.iter().find(|column| column["name"] == name).unwrap()["values"].clone()
    };
    let (v, b) = (column("v"), column("b"));
    let row = |i: usize| format!("{},{}", v[i].as_str().unwrap(), b[i].as_str().unwrap());
    (0..count).map(row).collect::<Vec<_>>().join("\n")
}

/// Returns the name and the digest of the values of each column.
fn values(path: &str) -> Vec<(Value, Value)> {
    let dump = crate::dump(&[path]);
    let columns = dump["columns"].as_array().or_else(|| dump["tables"][0]["columns"].as_array()).unwrap();
    columns.iter().map(|column| (column["name"].clone(), column["sha256"].clone())).collect()
}

#[test]
fn jay_to_jay_keeps_everything() {
    let target = &target("jay_to_jay.jay");
    for golden in sound().step_by(3) {
        let path = golden.path.to_str().unwrap();
        good(&["convert", path, target]);
        assert_eq!(values(target), values(path), "{}", golden.name);
    }
    let info = |args: &[&str], name: &str| {
        good(&[&["convert"], args, &[&path(name), target]].concat());
        good(&["info", "-v", target])
    };
    assert!(info(&[], "keyed_2").contains("key       a, b\n"));
    assert!(!info(&["--columns", "v"], "keyed_2").contains("key "));
    assert!(info(&["--layout", "old"], "keyed_2").contains("  old  "));
    assert!(
        bad(1, &["convert", "--layout", "old", &path("arr_int32"), target]).contains("column a: jay cannot store list")
    );
    assert!(bad(1, &["convert", "--keys", "1", &path("view_slice"), target]).contains("jay key"));
}

#[test]
fn between_the_formats_and_back() {
    let place = place("jay_between");
    let file = |name: &str| place.join(name).to_str().unwrap().to_owned();
    // From Jay to DataSeries and back; DataSeries stores strings as bytes.
    let (ds, back) = (file("x.ds"), file("back.jay"));
    let source = path("str_many");
    good(&["convert", "--table", "T", &source, &ds]);
    assert!(good(&["verify", &ds]).contains(": ok, 5000 rows"));
    assert!(bad(1, &["convert", &ds, &back]).contains(": jay cannot store bytes (--bytes-as-text"));
    good(&["convert", "--bytes-as-text", &ds, &back]);
    let texts = |path: &str| good(&["cat", "--format-out", "csv", path]);
    assert_eq!(texts(&back), texts(&source));
    good(&["verify", &back]);
    // A column from Jay to Filo and back.
    let (vector, back) = (file("v.filo"), file("v.jay"));
    assert!(bad(2, &["convert", &path("keyed_2"), &vector]).contains("choose it with --columns"));
    good(&["convert", "--columns", "v", &path("keyed_2"), &vector]);
    good(&["convert", "--type", "int", &vector, &back]);
    let digest = |path: &str| values(path).into_iter().find(|(name, _)| name == "v").unwrap().1;
    assert_eq!(digest(&back), digest(&path("keyed_2")));
    // Filo has no times in nanoseconds.
    let times = path("time64_n9");
    let line = bad(1, &["convert", "--columns", "nonull", &times, &vector]);
    assert!(line.contains("column nonull: filo cannot store timestamp[ns] (--stored-times"), "{line}");
    good(&["convert", "--columns", "nonull", "--stored-times", &times, &vector]);
    assert!(good(&["verify", "--type", "long", &vector]).contains("ok, 9 rows"));
    assert!(bad(2, &["convert", "--format-out", "vortex", &times, &vector]).contains("vortex cannot be written yet"));
    assert_eq!(fs::read_dir(&place).unwrap().count(), 4, "nothing half written is left");
}

#[test]
fn recover_keeps_the_sound_columns() {
    let target = &target("jay_recover.jay");
    let output = run(&["recover", &path("invalid/buffer_past_eof"), target]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("column 0 "));
    assert!(good(&["verify", target]).contains(": ok, 3 rows in 1 columns"));
    // A string with an invalid offset is missing; the others remain.
    run(&["recover", &path("invalid/str_offset_out_of_range"), target]);
    assert_eq!(good(&["cat", target]).lines().count(), 4);
    assert!(bad(1, &["recover", &path("invalid/truncated"), target]).contains("jay end signature"));
}
