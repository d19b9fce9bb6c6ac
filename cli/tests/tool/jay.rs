//! The command line on Jay files: every expectation, every verdict, tolerance, conversions.

use std::fs;

use serde_json::Value;

use crate::common::{self, Golden};
use crate::{bad, digest, good, out, place, run, target};

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
    let (out, err) = (out(&output), str::from_utf8(&output.stderr).unwrap());
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
        good(&["convert", "--force", path, target]);
        assert_eq!(values(target), values(path), "{}", golden.name);
    }
    let info = |args: &[&str], name: &str| {
        good(&[&["convert", "--force"], args, &[&path(name), target]].concat());
        good(&["info", "-v", target])
    };
    assert!(info(&[], "keyed_2").contains("key       a, b\n"));
    assert!(!info(&["--columns", "v"], "keyed_2").contains("key "));
    assert!(info(&["--layout", "old"], "keyed_2").contains("  old  "));
    assert!(
        bad(1, &["convert", "--force", "--layout", "old", &path("arr_int32"), target])
            .contains("column a: jay cannot store list")
    );
    assert!(bad(1, &["convert", "--force", "--keys", "1", &path("view_slice"), target]).contains("jay key"));
}

#[test]
fn between_the_formats_and_back() {
    let place = place("jay_between");
    let file = |name: &str| place.join(name).to_str().unwrap().to_owned();
    // From Jay to DataSeries and back; DataSeries stores strings as bytes.
    let (ds, back) = (file("x.ds"), file("back.jay"));
    let source = path("str_many");
    good(&["convert", "--force", "--table", "T", &source, &ds]);
    assert!(good(&["verify", &ds]).contains(": ok, 5000 rows"));
    assert!(bad(1, &["convert", "--force", &ds, &back]).contains(": jay cannot store bytes (--bytes-as-text"));
    good(&["convert", "--force", "--bytes-as-text", &ds, &back]);
    let texts = |path: &str| good(&["cat", "--format-out", "csv", path]);
    assert_eq!(texts(&back), texts(&source));
    good(&["verify", &back]);
    // A column from Jay to Filo and back.
    let (vector, back) = (file("v.filo"), file("v.jay"));
    assert!(bad(2, &["convert", "--force", &path("keyed_2"), &vector]).contains("choose it with --columns"));
    good(&["convert", "--force", "--columns", "v", &path("keyed_2"), &vector]);
    good(&["convert", "--force", "--type", "int", &vector, &back]);
    let digest = |path: &str| values(path).into_iter().find(|(name, _)| name == "v").unwrap().1;
    assert_eq!(digest(&back), digest(&path("keyed_2")));
    // Filo has no times in nanoseconds.
    let times = path("time64_n9");
    let line = bad(1, &["convert", "--force", "--columns", "nonull", &times, &vector]);
    assert!(line.contains("column nonull: filo cannot store timestamp[ns] (--stored-times"), "{line}");
    good(&["convert", "--force", "--columns", "nonull", "--stored-times", &times, &vector]);
    assert!(good(&["verify", "--type", "long", &vector]).contains("ok, 9 rows"));
    assert_eq!(fs::read_dir(&place).unwrap().count(), 4, "nothing half written is left");
}

#[test]
fn recover_keeps_the_sound_columns() {
    let target = &target("jay_recover.jay");
    let said = |name: &str| good(&["recover", "--force", &path(name), target]).replace(target, "TARGET");
    assert_eq!(
        said("invalid/buffer_past_eof"),
        "lost: column A: jay buffer at offset 8: truncated, 352 bytes needed\n\
         TARGET: 3 rows in 1 columns, 232 bytes of jay; lost: 1 column\n"
    );
    assert!(good(&["verify", target]).contains(": ok, 3 rows in 1 columns"));
    // A string with an invalid offset is missing; the others remain.
    assert_eq!(
        said("invalid/str_offset_out_of_range"),
        "lost: 1 value of B: jay offsets at offset 32: invalid value 1000000 (0xf4240)\n\
         TARGET: 3 rows in 2 columns, 376 bytes of jay; lost: 1 value\n"
    );
    assert_eq!(good(&["cat", target]).lines().count(), 4);
    assert_eq!(
        said("invalid/name_invalid_utf8"),
        "damaged: column 0, which has no name: flatbuffer string at offset 324: not UTF-8\n\
         renamed: column \"\" is \"C0\"\nTARGET: 3 rows in 2 columns, 376 bytes of jay; damaged: 1 place\n"
    );
    assert_eq!(
        said("invalid/bad_tail"),
        "damaged: the file, no column: jay end signature at offset 336: invalid value 1480673841 (0x58414a31)\n\
         TARGET: 3 rows in 2 columns, 376 bytes of jay; damaged: 1 place\n"
    );
    let line = bad(1, &["recover", "--force", &path("invalid/truncated"), target]);
    assert!(line.contains("jay end signature") && line.contains("where they lie, is lost"), "{line}");
    let output = run(&["recover", "--force", &path("invalid/nrows_mismatch"), target]);
    assert!(out(&output).starts_with("lost: column A: ") && out(&output).lines().count() == 2, "{output:?}");
    let line = str::from_utf8(&output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && line.ends_with(": no column can be saved\n"), "{line}");
}

/// An intact file is written again as it was, with its key; every golden has a summary.
#[test]
fn recover_of_intact_files_loses_nothing() {
    let target = &target("jay_whole.jay");
    for golden in sound().step_by(3) {
        let path = golden.path.to_str().unwrap();
        let said = good(&["recover", "--force", path, target]);
        assert!(said.ends_with(" bytes of jay; nothing is lost\n") && said.lines().count() == 1, "{path}: {said}");
        assert_eq!(values(target), values(path), "{path}");
    }
    let keyed = path("keyed_2");
    good(&["recover", "--force", &keyed, target]);
    assert!(good(&["info", "-v", target]).contains("key       a, b\n"));
    // A text that is not UTF-8: the key is left out, because it may not hold for the new file.
    let mut bytes = fs::read(&keyed).unwrap();
    let at = bytes.windows(3).position(|text| text == b"k00").unwrap();
    bytes[at] = 0xff;
    let said = good(&["recover", "--force", &file("jay_text.jay", &bytes), target]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("lost: 1 value of b: jay string at offset ") && lines.len() == 3, "{said}");
    assert_eq!(lines[1], "left out: the key, which may not hold for the new file");
    assert!(lines[2].contains(": 20 rows in 3 columns, ") && lines[2].ends_with("; lost: 1 value, left out: 1 key"));
    assert!(!good(&["info", "-v", target]).contains("key "));
}

/// Elements of lists are counted, too; a wrong count of missing rows costs no value.
#[test]
fn recover_counts_elements_and_believes_no_count() {
    let target = &target("jay_elements.jay");
    let recovered = |bytes: &[u8]| good(&["recover", "--force", &file("jay_damaged.jay", bytes), target]);
    let mut bytes = fs::read(path("arr_str")).unwrap();
    assert_eq!(bytes[64], b'x');
    bytes[64] = 0xff;
    let said = recovered(&bytes);
    assert!(said.starts_with("lost: 1 value of a: jay string at offset "), "{said}");
    assert!(said.ends_with(" rows in 1 columns, 408 bytes of jay; lost: 1 value\n"), "{said}");
    let rows = |path: &str| good(&["cat", "--json-lines", path]);
    assert_eq!(rows(target), rows(&path("arr_str")).replacen(r#""x""#, "null", 1));

    let (whole, mut counts) = (fs::read(path("int32_n9")).unwrap(), 0);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        let verdict = run(&["verify", &file("jay_damaged.jay", &bytes)]);
        if str::from_utf8(&verdict.stderr).unwrap().contains(": jay null count at offset ") {
            counts += 1;
            let said = recovered(&bytes);
            // Columns may share the table with the position of their counts.
            assert!(said.starts_with("damaged: column ") && said.contains(" of jay; damaged: "), "{said}");
            assert!(!said.contains("lost"), "{said}");
            // The damage may be in a value, too, which then means missing.
            let read = run(&["cat", "--json-lines", "--tolerant", &file("jay_damaged.jay", &bytes)]);
            assert_eq!(rows(target), out(&read), "byte {at}");
        }
    }
    assert!(counts >= 2, "{counts}");
}

/// Writes `bytes` to a file called `name`, and returns its path.
fn file(name: &str, bytes: &[u8]) -> String {
    let path = target(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Follows the hints in the errors of `verify` and `recover` about a file. Returns how many there are.
fn hints_help(bytes: &[u8], what: &str) -> usize {
    let (path, to) = (file("jay_hints", bytes), target("jay_hints.jay"));
    let mut hints = 0;
    for call in [&["verify"][..], &["verify", "--format", "jay"]] {
        let line = bad(1, &[call, &[&path]].concat());
        let format: &[&str] = if line.contains("--format jay ") { &["--format", "jay"] } else { &call[1..] };
        if line.contains("--tolerant") {
            hints += 1;
            let output = run(&[&["cat", "--tolerant", &path], format].concat());
            assert!(output.status.success(), "{what}: {line}: {output:?}");
        }
        assert!(!line.contains("--format jay ") || line.contains("--tolerant"), "{what}: {line}");
    }
    let output = run(&["recover", &path, &to]);
    let line = str::from_utf8(&output.stderr).unwrap();
    if !output.status.success() && line.contains("--format jay ") {
        hints += 1;
        assert!(run(&["recover", "--format", "jay", &path, &to]).status.success(), "{what}: {line}");
    }
    for other in ["dataseries", "vortex"] {
        assert!(!line.contains(&format!("--format {other}")), "{what}: {line}");
    }
    hints
}

/// An option is suggested only if it helps.
#[test]
fn hints_lead_somewhere() {
    let whole = fs::read(path("keyed_1")).unwrap();
    let cut: usize = (1..whole.len()).step_by(17).map(|len| hints_help(&whole[..len], &format!("cut at {len}"))).sum();
    assert_eq!(cut, 0, "without its end, nothing can be read");
    for at in (0..8).chain(whole.len() - 8..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        // With the first signature, the format is unknown.
        assert_eq!(hints_help(&bytes, &format!("byte {at}")), if at < 8 { 3 } else { 2 }, "byte {at}");
    }
    let damaged = common::of("jay").into_iter().filter(|golden| golden.expected["expect"] == "error");
    let hints: Vec<usize> = damaged.map(|golden| hints_help(&fs::read(&golden.path).unwrap(), &golden.name)).collect();
    assert!(hints.contains(&0) && hints.contains(&2), "{hints:?}");
}

/// One of the signatures may be damaged: the rest is read with `--tolerant`, and by `recover`.
#[test]
fn a_damaged_signature_is_no_obstacle() {
    let (whole, to) = (fs::read(path("mixed_n5000")).unwrap(), target("jay_signature.jay"));
    let rows = good(&["cat", &path("mixed_n5000")]);
    let end = whole.len() - 8;
    for (range, name) in [(0..8, "jay signature"), (end..end + 8, "jay end signature")] {
        let mut bytes = whole.clone();
        bytes[range].fill(0xee);
        let path = file("jay_signature", &bytes);
        assert!(bad(1, &["cat", "--format", "jay", &path]).ends_with(" (--tolerant reads the readable part)"));
        assert_eq!(good(&["cat", "--format", "jay", "--tolerant", &path]), rows, "{name}");
        let verdict = run(&["verify", "--format", "jay", "--tolerant", &path]);
        assert_eq!(verdict.status.code(), Some(1));
        assert!(str::from_utf8(&verdict.stderr).unwrap().contains(name), "{verdict:?}");
        assert!(run(&["recover", "--force", "--format", "jay", &path, &to]).status.success());
        assert_eq!(good(&["cat", &to]), rows, "{name}");
    }
    // Without both, nothing says what the bytes are.
    let mut bytes = whole;
    bytes[..8].fill(0xee);
    bytes[end..].fill(0xee);
    let path = file("jay_signature", &bytes);
    for args in [&["cat", "--format", "jay", &path][..], &["recover", "--force", "--format", "jay", &path, &to]] {
        let line = bad(1, args);
        assert!(line.contains("jay signature at offset 0: ") && !line.contains("(--"), "{line}");
    }
    let line = bad(1, &["recover", "--force", &path, &to]);
    assert!(line.contains("no DataSeries types, no Jay and no Vortex metadata are found; --types "), "{line}");
}
