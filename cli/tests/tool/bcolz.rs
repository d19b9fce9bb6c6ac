//! The tool on bcolz: datasets, which are directories, and chunks.

use std::fs;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::common::{self, Golden};
use crate::{bad, dump, good, hex, place, run, target};

/// Every third golden, because each call is a process.
fn goldens(chunks: bool) -> Vec<Golden> {
    let all = common::of("bcolz").into_iter().filter(|golden| golden.path.is_file() == chunks);
    let all: Vec<_> = if chunks { all.step_by(3).collect() } else { all.collect() };
    assert!(all.len() > 40);
    all
}

/// Compares `dump` with the expectation, for keys that the expectation has.
fn covers(dump: &Value, expected: &Value, keys: &[&str]) {
    for key in keys.iter().filter(|key| !expected[*key].is_null()) {
        assert_eq!(dump[*key], expected[*key], "{key} of {}", expected["name"]);
    }
}

#[test]
fn dump_agrees_with_every_golden_dataset() {
    for golden in goldens(false) {
        let path = golden.path.to_str().unwrap();
        let dump = dump(&["--json", path]);
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
        let dump = dump(&[path]);
        covers(&dump, &golden.expected, &["format", "kind", "nbytes", "sha256"]);
        let keys = ["codec", "memcpyed", "typesize", "nbytes", "blocksize", "ctbytes"];
        covers(&dump["header"], &golden.expected["header"], &keys);
        assert!(good(&["info", "-v", path]).contains("format    bcolz\n"));
        assert!(good(&["verify", path]).contains(": ok, "));
        let bytes = good(&["cat", "--no-header", "--dtype", "uint8", path]);
        assert_eq!(bytes.lines().count() as u64, golden.expected["nbytes"].as_u64().unwrap());
        let digest = Sha256::digest(bytes.lines().map(|byte| byte.parse().unwrap()).collect::<Vec<u8>>());
        assert_eq!(golden.expected["sha256"], hex(&digest));
    }
}

/// A single chunk does not store its item type; `--dtype` gives it.
#[test]
fn rows_of_a_chunk() {
    let table = "../tests/golden/bcolz/ctable_basic";
    let column = |name: &str| good(&["cat", "--no-header", "--columns", name, table]);
    let info = good(&["info", "-v", table]);
    let columns: Vec<Vec<&str>> = info.lines().skip(6).map(|line| line.split_whitespace().collect()).collect();
    assert!(columns.len() == 4, "{info}");
    for (k, fields) in columns.iter().enumerate() {
        let (name, dtype) = (fields[0], fields[1]);
        let path = target(&format!("bcolz_{name}.blosc"));
        let codec = ["blosclz", "lz4hc", "zlib", "zstd"][k];
        assert!(good(&["convert", "--columns", name, "--codec", codec, table, &path]).contains("bytes of bcolz"));
        assert_eq!(good(&["cat", "--no-header", "--dtype", dtype, &path]), column(name), "{name} as {dtype}");
        let head: String = column(name).lines().take(3).map(|line| line.to_owned() + "\n").collect();
        assert_eq!(good(&["head", "-n3", "--no-header", "--dtype", dtype, &path]), head);
        assert!(good(&["verify", &path]).contains("ok, ") && good(&["info", "-v", &path]).contains("unpacked "));
        // Converted to another format, and to a dataset.
        for to in ["jay", "ds", "filo", "bcolz"] {
            // Jay cannot store the smallest int; DataSeries and Filo store bytes in other ways.
            if (name, to) == ("id", "jay") || (name == "sym" && to != "bcolz") {
                continue;
            }
            let to = target(&format!("bcolz_chunk_{name}.{to}"));
            good(&["convert", "--dtype", dtype, &path, &to]);
            let element = match (to.ends_with("filo"), dtype) {
                (false, _) => &[][..],
                (true, "int32") => &["--type", "int"],
                (true, "bool") => &["--type", "boolean"],
                (true, _) => &["--type", "double"],
            };
            // In Jay, NaN is a missing value.
            let wanted = if to.ends_with("jay") { column(name).replace("NaN\n", "\n") } else { column(name) };
            assert!(good(&[&["cat", "--no-header", &to], element].concat()) == wanted, "{dtype} in {to}");
        }
    }
    // Without a type, items are bytes. A type of another size is an error.
    let golden = "../tests/golden/bcolz/chunks/size_128_ts4.blosc";
    let rows = good(&["cat", "--no-header", golden]);
    assert!(rows.lines().count() == 32 && rows.lines().all(|row| row.len() == 8), "{rows}");
    let line = bad(1, &["cat", "../tests/golden/bcolz/chunks/size_130_ts4.blosc"]);
    assert!(line.contains("no whole items of |V4") && line.contains("--dtype"), "{line}");
    assert!(bad(2, &["cat", "--dtype", "complex64", golden]).contains("--dtype complex64"));
    assert!(bad(1, &["cat", "--dtype", "object", golden]).contains("--dtype"));
    assert!(bad(2, &["cat", "--dtype", "int8", table]).contains("--dtype is for single chunks"));
    assert!(
        bad(2, &["cat", "--dtype", "int8", "../tests/golden/jay/alltypes_n1.jay"])
            .contains("--dtype is for Blosc chunks")
    );
    assert!(bad(2, &["convert", table, "never.blosc"]).contains("one column"));
    let empty = target("bcolz_empty.blosc");
    good(&["convert", "../tests/golden/bcolz/bound_0", &empty]);
    assert_eq!(good(&["cat", "--no-header", "--dtype", "int32", &empty]), "");
}

#[test]
fn info_and_verify_and_rows() {
    for golden in goldens(false) {
        let path = golden.path.to_str().unwrap();
        let info = good(&["info", "-v", path]);
        assert!(info.contains(&format!("rows      {}\n", golden.expected["nrows"])), "{info}");
        let verify = good(&["verify", path]);
        assert!(verify.contains(&format!("ok, {} rows", golden.expected["nrows"])), "{verify}");
        let rows = good(&["cat", "--json-lines", path]);
        assert_eq!(rows.lines().count() as u64, golden.expected["nrows"].as_u64().unwrap(), "{path}");
    }
    let rows =
        good(&["head", "-n", "2", "--columns", "m,f", "--format-out=jsonl", "../tests/golden/bcolz/ctable_multi"]);
    assert_eq!(rows, "{\"m\":[1002,1002,1003],\"f\":-0.4}\n{\"m\":[1000,998,998],\"f\":-0.5}\n");
}

#[test]
fn calls_that_make_no_sense() {
    let (path, to) = ("../tests/golden/bcolz/ctable_basic", "never.bcolz");
    for (status, args, why) in [
        (2, &["cat", "--type", "int", path][..], "not for bcolz"),
        (2, &["verify", "--no-index", path], "not for bcolz"),
        (2, &["cat", "--table", "x", path], "--table"),
        (2, &["cat", "--columns", "nope", path], "there is no column \"nope\""),
        (2, &["convert", path, path, "--format-out", "bcolz"], "exist"),
        (2, &["convert", "--codec", "lzma", path, to], "--codec <NAME>' [possible values: blosclz, "),
        (2, &["convert", "--clevel", "10", path, to], "'10' for '--clevel <N>': 10 is not in 0..=9"),
        (2, &["convert", "--shuffle", "words", path, to], "[possible values: none, bytes, bits]"),
    ] {
        assert!(bad(status, args).contains(why), "{args:?}");
    }
    let line = bad(1, &["convert", "../tests/golden/bcolz/struct", to]);
    assert!(line.contains("cannot store struct") && line.contains("--records"), "{line}");
    assert!(!std::path::Path::new(to).exists());
}

/// Converts a table of bcolz to a Jay file, and compares the rows.
#[test]
fn convert_to_another_format() {
    let (source, to) = ("../tests/golden/bcolz/ctable_changed", target("bcolz_to.jay"));
    assert!(good(&["convert", source, &to]).contains("bytes of jay"));
    assert_eq!(good(&["cat", "--json-lines", &to]), good(&["cat", "--json-lines", source]));
    // A single array has no name; in other formats it gets the name of a Filo column.
    let jay = ["const", "multi_3d", "dtype_be_u2", "dtype_f2", "dtype_U4", "dtype_M8ns", "dflt_nan", "dtype_b1"];
    let series = ["dtype_f8", "dtype_be_i4", "dtype_b1", "dtype_be_u2", "void_V300", "object"];
    for (goldens, to) in [(&jay[..], "jay"), (&series, "ds")] {
        for golden in goldens {
            let (source, target) = (format!("../tests/golden/bcolz/{golden}"), target(&format!("bcolz_v.{to}")));
            good(&["convert", &source, &target]);
            let (rows, values) = (good(&["cat", &target]), good(&["cat", "--no-header", &source]));
            // In Jay, NaN is a missing value.
            let nan = |values: &str| values.replace("\"\"NaN\"\"", "null").replace("NaN\n", "\n");
            let values = if to == "jay" { nan(&values) } else { values };
            assert_eq!(rows.split_once('\n').unwrap(), ("v", &values[..]), "{golden} to {to}");
        }
    }
    for (golden, to, what) in [
        ("multi_2d", "ds", "column v: dataseries cannot store fixed_size_list(6)"),
        ("dtype_f2", "filo", "column v: filo cannot store float16"),
        ("struct", "jay", "column v: jay cannot store struct(3)"),
        ("dtype_M8D", "jay", "column v: jay cannot store timestamp[D] (--stored-times writes the stored integers)"),
    ] {
        let line = bad(1, &["convert", &format!("../tests/golden/bcolz/{golden}"), &format!("never.{to}")]);
        assert!(line.contains(what), "{line}");
    }
}

/// Converts Jay to a dataset. Missing values require `--fill-missing`. After `--append`, the rows occur twice.
#[test]
fn convert_from_another_format_and_append() {
    let (jay, bcolz) = (target("bcolz_from.jay"), target("bcolz_from.bcolz"));
    good(&["convert", "../tests/golden/bcolz/ctable_changed", &jay]);
    good(&["convert", "--codec", "zstd", "--clevel", "9", "--shuffle", "bits", "--chunklen", "10", &jay, &bcolz]);
    let rows = good(&["cat", "--json-lines", &jay]);
    assert_eq!(good(&["cat", "--json-lines", &bcolz]), rows);
    let info = good(&["info", "-v", &bcolz]);
    assert!(info.contains("zstd 9 bits") && info.contains("format    bcolz ctable"), "{info}");
    good(&["convert", "--append", &jay, &bcolz]);
    assert_eq!(good(&["cat", "--json-lines", &bcolz]), [&rows[..], &rows].concat());
    assert!(good(&["verify", &bcolz]).contains(": ok, "));
    let line = bad(1, &["convert", "--append", "../tests/golden/bcolz/ctable_multi", &bcolz]);
    assert!(line.contains("dtype"), "{line}");

    for nulls in ["arrow_bool_packed", "arrow_fixed_validity", "arrow_str32_validity"] {
        let (from, to) = (format!("../tests/golden/jay/{nulls}.jay"), target("bcolz_missing.bcolz"));
        let line = bad(1, &["convert", &from, &to]);
        assert!(line.contains("without missing values") && line.contains("--fill-missing"), "{line}");
        assert!(!std::path::Path::new(&to).exists());
        good(&["convert", "--fill-missing", &from, &to]);
        let count = |path: &str| good(&["cat", "--json-lines", path]).lines().count();
        assert_eq!(count(&to), count(&from));
    }
    let rows = |path: &str| good(&["cat", "--json-lines", path]);
    for golden in ["", "_nested", "_nested_offsets", "_offsets", "_aligned", "_titles"] {
        let (golden, records) = (format!("../tests/golden/bcolz/struct{golden}"), target("bcolz_records.bcolz"));
        good(&["convert", "--records", &golden, &records]);
        assert_eq!(rows(&records), rows(&golden));
        // Appended rows get the order of the fields of the existing dataset.
        good(&["convert", "--records", "--append", &golden, &records]);
        assert_eq!(rows(&records), rows(&golden).repeat(2));
    }
    let padded = target("bcolz_padded.bcolz");
    common::copy("../tests/golden/bcolz/struct_nested_offsets".as_ref(), padded.as_ref());
    good(&["convert", "--records", "--append", "../tests/golden/bcolz/struct_nested_offsets", &padded]);
    assert_eq!(rows(&padded), rows("../tests/golden/bcolz/struct_nested_offsets").repeat(2));
}

/// Damage is an error that names the file; with `--tolerant`, the rest is read.
#[test]
fn damage_is_said_and_read_around() {
    let dir = target("bcolz_damaged.bcolz");
    good(&["convert", "--chunklen", "20", "../tests/golden/bcolz/ctable_changed", &dir]);
    let sound = good(&["cat", "--json-lines", &dir]);
    std::fs::remove_file(std::path::Path::new(&dir).join("c/data/__1.blp")).unwrap();
    for command in [&["cat"][..], &["dump"], &["verify"], &["info", "-v"]] {
        let output = run(&[command, &[&dir]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("c/data/__1.blp"));
    }
    // No chunk of other columns is opened than of those that are chosen or compared.
    for command in
        [&["info"][..], &["cat", "--columns", "zz,a"], &["cat", "--columns", "a", "--where", "zz is not missing"]]
    {
        good(&[command, &[&dir]].concat());
    }
    let compared = run(&["cat", "--columns", "a", "--where", "c is not missing", &dir]);
    assert_eq!(compared.status.code(), Some(1), "{compared:?}");
    for command in [&["dump"][..], &["info", "-v"], &["info"], &["cat"]] {
        let output = run(&[command, &["--tolerant", &dir]].concat());
        let line = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && line.lines().count() == 1, "{command:?}: {line}");
        assert!(line.contains("column c, rows 20..40") && line.contains("c/data/__1.blp"), "{line}");
    }
    // What can be read around is no valid dataset. The original reader fails, too, at the missing file.
    let lacking = run(&["verify", "--tolerant", &dir]);
    let said = str::from_utf8(&lacking.stderr).unwrap();
    let (problem, verdict) = said.split_once('\n').unwrap();
    assert!(problem.contains("column c, rows 20..40: ") && problem.contains("c/data/__1.blp"), "{said}");
    let all =
        "of 55 rows in 3 columns, 20 values in 1 ranges of rows are missing or damaged, and 0 columns are left out";
    assert_eq!(verdict, format!("pilaster: {dir}: {all}\n"));
    assert_eq!((lacking.status.code(), &*lacking.stdout), (Some(1), &b""[..]));
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

/// Writes an array of one chunk, a plain copy of `items`.
fn array(name: &str, dtype: &str, typesize: u8, rows: u64, items: &[u8]) -> String {
    let dir = place(name);
    for sub in ["meta", "data"] {
        fs::create_dir(dir.join(sub)).unwrap();
    }
    fs::write(dir.join("meta/sizes"), format!("{{\"shape\": [{rows}], \"nbytes\": 0, \"cbytes\": 0}}")).unwrap();
    let params = "{\"clevel\": 5, \"shuffle\": 1, \"cname\": \"lz4\", \"quantize\": 0}";
    let storage = format!("{{\"dtype\": \"{dtype}\", \"cparams\": {params}, \"chunklen\": 2, \"dflt\": 0}}");
    fs::write(dir.join("meta/storage"), storage).unwrap();
    if !items.is_empty() {
        let len = items.len() as u32;
        let header = [&b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0\x02\x01\x12"[..], &[typesize]].concat();
        let sizes = [len, len, len + 16].map(u32::to_le_bytes).concat();
        fs::write(dir.join("data/__0.blp"), [&header[..], &sizes, items].concat()).unwrap();
    }
    dir.to_str().unwrap().to_owned()
}

/// Rows that are stated and have no chunk cost nothing: there are 10^12 of them.
#[test]
fn rows_without_chunks_cost_nothing() {
    let dir = array("endless", "int32", 4, 1_000_000_000_000, &[1, 0, 0, 0, 2, 0, 0, 0]);
    for (args, said) in [
        (&["info", "-v", "--tolerant", &dir][..], "            40  "),
        (&["info", "--tolerant", &dir], "rows      1000000000000\n"),
        (&["head", "-n", "3", "--tolerant", &dir], "\"\"\n1\n2\n\n"),
        (&["head", "--rows", "900000000000..900000000002", "--tolerant", &dir], "\"\"\n\n\n"),
        (&["recover", &dir, &target("endless_recovered")], ": 2 of 1000000000000 rows"),
    ] {
        let output = run(args);
        let (out, warned) = (str::from_utf8(&output.stdout).unwrap(), str::from_utf8(&output.stderr).unwrap());
        assert!(output.status.success() && out.contains(said), "{args:?}: {out}{warned}");
        assert!(warned.contains("rows 2..1000000000000: ") && warned.lines().count() == 1, "{args:?}: {warned}");
    }
    let output = run(&["verify", "--tolerant", &dir]);
    let warned = str::from_utf8(&output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && warned.contains("rows 2..1000000000000: "), "{warned}");
    let all = "of 1000000000000 rows in 1 columns, 999999999998 values in 1 ranges of rows are missing or damaged";
    assert!(warned.contains(all) && warned.lines().count() == 2, "{warned}");
}

/// With `--tolerant`, a column that cannot be opened is left out, and said; the dataset is not valid.
#[test]
fn a_column_that_is_left_out_is_no_valid_dataset() {
    let dir = target("bcolz_left_out.bcolz");
    good(&["convert", "../tests/golden/bcolz/ctable_changed", &dir]);
    assert!(good(&["verify", "--tolerant", &dir]).contains(": ok, 55 rows, 3 columns"));
    fs::write(std::path::Path::new(&dir).join("c/meta/storage"), "{").unwrap();
    assert!(run(&["cat", "--tolerant", &dir]).status.success());
    let output = run(&["verify", "--tolerant", &dir]);
    let said = str::from_utf8(&output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("c/meta/storage"), "{said}");
    assert!(
        said.ends_with("2 columns, 0 values in 0 ranges of rows are missing or damaged, and 1 columns are left out\n")
    );
}

/// A number that is no character is refused by every command, and `dump` prints no half of a document.
#[test]
fn a_text_that_cannot_be_read() {
    let dir = array("no_character", "<U1", 4, 2, &[b'a', 0, 0, 0, 0, 0, 0x11, 0]);
    for command in ["verify", "dump"] {
        let why = bad(1, &[command, &dir]);
        assert!(why.contains("data/__0.blp") && why.contains("1114112"), "{why}");
    }
    assert_eq!(run(&["cat", &dir]).status.code(), Some(1));
    let output = run(&["dump", "--tolerant", &dir]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["columns"][0]["values"], serde_json::json!(["a", null]));
}
