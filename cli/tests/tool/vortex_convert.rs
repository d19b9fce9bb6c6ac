//! `convert` from Vortex: every type to every other format that can store it, then read back.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{self, Golden};
use crate::{dump, place, run};

/// Goldens that together contain every type, with and without missing values, in flat, chunked and nested layouts.
const FILES: &[&str] = &[
    "def_allnull_a",
    "def_binary_a",
    "def_bools_a",
    "def_decimals_a",
    "def_multichunk_a",
    "def_nested_a",
    "def_prims_nonnull_a",
    "def_prims_nullable_b",
    "def_root_i64_a",
    "def_root_utf8_a",
    "def_strings_b",
    "def_temporal_a",
    "def_zero_rows_a",
    "enc_constant_a",
    "enc_datetimeparts_a",
    "enc_list_a",
    "enc_map_a",
    "enc_masked_chunked_a",
    "enc_struct_a",
    "lay_chunked_of_struct_a",
    "legacy_v0.36.0_a",
];

/// Returns prefixes of the names of types that a format cannot store. Such a column is an error that names it.
fn refused(target: &str) -> &'static [&'static str] {
    match target {
        "jay" => &["decimal", "struct", "map", "time", "date64", "bytes"],
        "ds" => &["decimal", "struct", "map", "list", "fixed_size_list", "null", "float16"],
        "bcolz" => &["decimal", "struct", "map", "list", "fixed_size_list", "null", "time32", "time64"],
        _ => &[],
    }
}

/// Columns of a supported type with values that a format cannot store: integers equal to a missing-value marker,
/// numbers above the signed 64-bit range, bytes that end with zeros, and missing values in lists.
const OUT_OF_RANGE: &[(&str, &str)] = &[
    ("jay", "int8"),
    ("jay", "int16"),
    ("jay", "int32"),
    ("jay", "int64"),
    ("jay", "uint64"),
    ("ds", "uint64"),
    ("bcolz", "bytes"),
    ("bcolz", "fixed_size_list"),
];

fn goldens() -> Vec<Golden> {
    let name = |golden: &Golden| golden.name.strip_prefix("vortex/").unwrap().to_owned();
    let chosen: Vec<_> = common::of("vortex").into_iter().filter(|golden| FILES.contains(&&*name(golden))).collect();
    assert_eq!(chosen.len(), FILES.len());
    chosen
}

/// Returns the error of `convert` for these columns, or `None` if it succeeds.
fn try_convert(columns: &[Value], path: &str, to: &Path, flags: &[&str]) -> Option<String> {
    let names: Vec<_> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    // Removes the result of an earlier attempt, because a dataset is never overwritten.
    let _ = fs::remove_dir_all(to);
    let output =
        run(&[&["convert", "--force", "--columns", &names.join(",")], flags, &[path, to.to_str().unwrap()]].concat());
    (!output.status.success()).then(|| String::from_utf8(output.stderr).unwrap())
}

/// Converts the columns that the format can store. Returns them, and the types of the other columns.
fn convert(source: &Value, path: &str, to: &Path, flags: &[&str]) -> (Vec<Value>, BTreeSet<String>) {
    let target = to.extension().unwrap().to_str().unwrap();
    let mut left = source["columns"].as_array().unwrap().clone();
    let mut without = BTreeSet::new();
    while let (false, Some(why)) = (left.is_empty(), try_convert(&left, path, to, flags)) {
        if why.contains(" cannot be stored") {
            // The format has the type, but not the range.
            let before = left.len();
            left.retain(|column| match try_convert(std::slice::from_ref(column), path, to, flags) {
                Some(why) => {
                    assert!(why.contains(" cannot be stored"), "{why}");
                    let ty = column["type"].as_str().unwrap();
                    assert!(
                        OUT_OF_RANGE.iter().any(|(to, start)| *to == target && ty.starts_with(start)),
                        "{path}: {why}"
                    );
                    false
                }
                None => true,
            });
            assert!(left.len() < before, "{path} to {target}: {why}");
            continue;
        }
        let is_named = |column: &Value| {
            let name = if column["name"] == "" { "v" } else { column["name"].as_str().unwrap() };
            why.contains(&format!("column {name}: "))
        };
        let k = left.iter().position(is_named).unwrap_or_else(|| panic!("{path} to {target}: {why}"));
        let ty = left.remove(k)["type"].as_str().unwrap().to_owned();
        // A format that can store the elements can store the list.
        let of = ty.trim_start_matches("list<");
        let starts = |start: &&str| ty.starts_with(*start) || of.starts_with(*start);
        assert!(refused(target).iter().any(starts) && why.contains("cannot store"), "{path} to {target}: {why}");
        without.insert(ty);
    }
    (left, without)
}

/// Returns the value that is read back from the other format.
fn held(value: &Value, ty: &str, there: &str, target: &str, missing: &Value) -> Value {
    match (target, ty, value) {
        // The effect of `--fill-missing`.
        ("bcolz", _, Value::Null) => missing.clone(),
        // NaN is a missing value in Jay.
        ("jay", "float32" | "float64", Value::String(bits)) if nan(bits) => Value::Null,
        // Widened to float32; NaN is a missing value here, too.
        ("jay", "float16", Value::String(bits)) => {
            let bits = u16::from_str_radix(bits.strip_prefix("bits:").unwrap(), 16).unwrap();
            let float = half::f16::from_bits(bits).to_f32();
            if float.is_nan() { Value::Null } else { format!("bits:{:08x}", float.to_bits()).into() }
        }
        // The only float of DataSeries is a double.
        ("ds", "float32", Value::String(bits)) => {
            let bits = u32::from_str_radix(bits.strip_prefix("bits:").unwrap(), 16).unwrap();
            format!("bits:{:016x}", f64::from(f32::from_bits(bits)).to_bits()).into()
        }
        // DataSeries does not distinguish bytes from text.
        ("ds", "bytes", Value::String(hex)) if there == "string" => {
            let hex = hex.strip_prefix("hex:").unwrap().as_bytes().chunks(2);
            let bytes = hex.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap());
            String::from_utf8(bytes.collect()).unwrap().into()
        }
        (_, _, Value::Array(items)) => {
            let ty = ty.split_once('<').map_or("", |(_, of)| of.trim_end_matches('>'));
            let ty = ty.split(',').next().unwrap_or_default();
            items.iter().map(|item| held(item, ty, "", target, missing)).collect()
        }
        _ => value.clone(),
    }
}

fn nan(bits: &str) -> bool {
    match bits.strip_prefix("bits:") {
        Some(bits) if bits.len() == 16 => f64::from_bits(u64::from_str_radix(bits, 16).unwrap()).is_nan(),
        Some(bits) => f32::from_bits(u32::from_str_radix(bits, 16).unwrap()).is_nan(),
        None => false,
    }
}

/// Converts every golden and compares the values that are read back. Returns the number of compared columns; checks the
/// types that were refused.
fn round(target: &str, flags: &[&str], columns: impl Fn(&Value) -> Value, missing: impl Fn(&str) -> Value) -> usize {
    let place = place(&format!("vortex_to_{target}"));
    let (mut compared, mut types, mut without) = (0, BTreeSet::new(), BTreeSet::new());
    for golden in goldens() {
        let path = golden.path.to_str().unwrap();
        let name = golden.path.file_stem().unwrap().to_str().unwrap();
        let source = dump(&[path]);
        let to = place.join(name).with_extension(target);
        let (left, refused) = convert(&source, path, &to, flags);
        without.extend(refused);
        if left.is_empty() {
            continue;
        }
        let there = columns(&dump(&[to.to_str().unwrap()]));
        let there = there.as_array().unwrap();
        assert_eq!(there.len(), left.len(), "{name}");
        for (ours, theirs) in left.iter().zip(there) {
            let ty = ours["type"].as_str().unwrap();
            assert!(ours["name"] == theirs["name"] || ours["name"] == "" && theirs["name"] == "v", "{name}");
            let there = theirs["type"].as_str().unwrap();
            let key = if ours["values"].is_array() { "values" } else { "head" };
            let [all, read] = [&ours[key], &theirs[key]].map(|values| values.as_array().unwrap());
            // The values of arrays with several dimensions are flattened.
            let flat: Vec<Value>;
            let all = if target == "bcolz" && ty.starts_with("fixed_size_list") {
                flat = all.iter().flat_map(|list| list.as_array().expect("a list").clone()).collect();
                &flat
            } else {
                all
            };
            assert_eq!(all.len(), read.len(), "{name}");
            for (row, (value, read)) in all.iter().zip(read).enumerate() {
                let expected = held(value, ty, there, target, &missing(ty));
                assert_eq!(*read, expected, "{name}, column {} ({ty}), row {row}", ours["name"]);
            }
            compared += 1;
            types.insert(ty.to_owned());
        }
    }
    println!("{target}: {compared} columns of {types:?}, not {without:?}");
    for start in refused(target) {
        assert!(without.iter().any(|ty| ty.starts_with(start)), "no {start} was refused");
    }
    compared
}

#[test]
fn jay() {
    let columns = |dump: &Value| dump["columns"].clone();
    assert!(round("jay", &[], columns, |_| Value::Null) > 60);
}

#[test]
fn dataseries() {
    let columns = |dump: &Value| dump["tables"][0]["columns"].clone();
    assert!(round("ds", &["--stored-times"], columns, |_| Value::Null) > 80);
}

#[test]
fn bcolz() {
    let columns = |dump: &Value| dump["columns"].clone();
    let filled = |ty: &str| match ty {
        "bool" => false.into(),
        "string" => "".into(),
        "bytes" => "hex:".into(),
        "float16" => "bits:7e00".into(),
        "float32" => "bits:7fc00000".into(),
        "float64" => "bits:7ff8000000000000".into(),
        ty if ty.starts_with("timestamp") || ty.starts_with("date") => Value::Null,
        _ => "0".into(),
    };
    assert!(round("bcolz", &["--any-time", "--fill-missing"], columns, filled) > 80);
}

/// Converts one column to a vector, which is read with `--type`.
#[test]
fn filo() {
    let place = place("vortex_to_filo");
    for (name, element) in [("def_root_i64_a", "long"), ("def_root_utf8_a", "utf8")] {
        let path = format!("../tests/golden/vortex/{name}.vortex");
        let to = place.join(name).with_extension("filo");
        let to = to.to_str().unwrap();
        assert!(run(&["convert", "--force", &path, to]).status.success());
        let (ours, theirs) = (dump(&[&path]), dump(&["--type", element, to]));
        assert_eq!(theirs["columns"][0]["values"], ours["columns"][0]["values"], "{name}");
    }
}
