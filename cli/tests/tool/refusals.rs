//! What `convert` says of several columns that it refuses, of names, and what `--except` leaves out.

use super::{bad, good, place, run};

const TEMPORAL: &str = "../tests/golden/vortex/def_temporal_a.vortex";

#[test]
fn all_refused_columns_are_named_at_once() {
    let place = place("refusals");
    let target = place.join("a.ds").to_str().unwrap().to_owned();
    let line = bad(1, &["convert", TEMPORAL, &target]);
    let (first, others) = line.split_once("; it cannot store these either: ").unwrap();
    assert!(first.contains("dataseries cannot store ") && others.contains(", "), "{line}");
    let (_, names) = others.split_once("(--except ").unwrap();
    let names = names.split_once(" leaves").unwrap().0;
    good(&["convert", "--except", names, TEMPORAL, &target]);
}

#[test]
fn columns_are_left_out_by_their_names() {
    let file = "../tests/golden/jay/alltypes_n5.jay";
    let place = place("except");
    let header = |args: &[&str]| good(&[&["head", "-n0"], args].concat()).trim_end().to_owned();
    let all = header(&[file]);
    let without: Vec<&str> = all.split(',').filter(|name| !["int32", "str32"].contains(name)).collect();
    assert!(without.len() + 2 == all.split(',').count(), "{all}");
    assert_eq!(header(&["--except", "str32,int32", file]), without.join(","));
    for name in ["a.jay", "a.vortex", "a.csv"] {
        let target = place.join(name).to_str().unwrap().to_owned();
        let format: &[&str] = if name == "a.csv" { &["--format", "csv"] } else { &[] };
        good(&["convert", "--except", "str32,int32", file, &target]);
        if cfg!(feature = "arrow") || name != "a.csv" {
            assert_eq!(header(&[format, &[&target]].concat()), without.join(","));
        }
    }
    let line = bad(2, &["cat", "--except", "nothing", file]);
    assert!(line.contains("there is no column \"nothing\"; there are \"") && line.contains(", \"int32\""), "{line}");
    assert!(bad(2, &["cat", "--except", "a", "--columns", "b", file]).contains("cannot be used with"));
    let line = bad(2, &["cat", "--where", "int32 = null", file]);
    assert!(line.contains("int32 is missing finds missing values"), "{line}");
}

#[cfg(feature = "arrow")]
#[test]
fn names_that_a_target_lacks_are_refused() {
    let place = place("names");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    std::fs::write(place.join("empty.csv"), ",a,b\n1,2,3\n").unwrap();
    std::fs::write(place.join("twice.csv"), "a,a\n1,2\n").unwrap();
    std::fs::write(place.join("path.csv"), "a/b,..\n1,2\n").unwrap();
    for (to, format) in [("x.jay", "jay"), ("x.ds", "dataseries"), ("x.bcolz", "bcolz")] {
        let line = bad(1, &["convert", &path("empty.csv"), &path(to)]);
        let wanted = format!("column 1, called \"\": {format} cannot store an empty name (--columns leaves it out)");
        assert!(line.ends_with(&wanted), "{line}");
        let line = bad(1, &["convert", &path("twice.csv"), &path(to)]);
        assert!(line.contains(&format!("column 2, called \"a\": {format} cannot store the same name twice")), "{line}");
        good(&["convert", "--columns", "a,b", &path("empty.csv"), &path(to)]);
    }
    let line = bad(1, &["convert", &path("path.csv"), &path("y.bcolz")]);
    assert!(
        line.contains("column 1, called \"a/b\": bcolz cannot") && line.contains("either: .. (--except a/b,.."),
        "{line}"
    );
    assert!(!line.contains(".partial"), "{line}");
}

/// Readers of JSON keep one of two values with the same name, and readers of Parquet refuse the file.
#[cfg(feature = "arrow")]
#[test]
fn the_same_name_twice_is_refused_where_readers_lose_a_column() {
    let place = place("doubles");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    std::fs::write(place.join("twice.csv"), "a,b,a\n1,2,3\n").unwrap();
    for source in ["twice.csv", "twice.vortex", "twice.arrow"] {
        if source != "twice.csv" {
            good(&["convert", &path("twice.csv"), &path(source)]);
        }
        let source = path(source);
        for to in ["x.jsonl", "x.jsonl.gz", "x.parquet"] {
            let line = bad(1, &["convert", &source, &path(to)]);
            let wanted = if to == "x.parquet" { "column \"a\" (" } else { "column 3, called \"a\": JSON lines cannot" };
            assert!(line.contains(wanted) && line.ends_with(" (--columns leaves it out)"), "{line}");
            assert!(!place.join(to).exists());
            good(&["convert", "--columns", "b,a", &source, &path(to)]);
            std::fs::remove_file(place.join(to)).unwrap();
        }
        let line = bad(1, &["cat", "--json", &source]);
        assert!(line.contains("column 3, called \"a\": JSON lines cannot store the same name twice"), "{line}");
        assert_eq!(good(&["cat", &source]), "a,b,a\n1,2,3\n");
    }
}

#[cfg(feature = "arrow")]
#[test]
fn a_field_of_two_types_is_named() {
    let path = place("two_types").join("a.jsonl");
    std::fs::write(&path, "{\"a\":1,\"b\":{\"c\":2}}\n{\"a\":2,\"b\":{\"c\":\"x\"}}\n").unwrap();
    let path = path.to_str().unwrap();
    let line = bad(1, &["cat", path]);
    let wanted =
        "field \"b\": field \"c\": a value is string, and one before is number; give the type at line 2 column ";
    assert!(line.contains(wanted) && line.ends_with("(--schema 'NAME: utf8' does)"), "{line}");
}

/// Days are dates in Parquet and Arrow, with 32 bits.
#[cfg(feature = "arrow")]
#[test]
fn days_become_dates() {
    let place = place("days");
    let target = place.join("a.parquet").to_str().unwrap().to_owned();
    let source = "../tests/golden/bcolz/dtype_M8D";
    good(&["convert", source, &target]);
    assert!(good(&["info", &target]).contains("date32[day]"));
    let rows = |path: &str, more: &[&str]| good(&[&["cat", "--no-header", path], more].concat());
    assert_eq!(rows(&target, &["--stored-times"]), rows(source, &["--stored-times"]));
    good(&["convert", "--force", "--stored-times", source, &target]);
    assert!(good(&["info", &target]).contains("int64"));
    assert_eq!(rows(&target, &[]), rows(source, &["--stored-times"]));
}

#[test]
fn vortex_refuses_a_time_zone_that_no_reader_knows() {
    let place = place("zones");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let mut bytes = std::fs::read("../tests/golden/vortex/enc_timestamp_ext_a.vortex").unwrap();
    let at = bytes.windows(5).rposition(|found| found == b"\x03\0UTC").unwrap() + 2;
    for (zone, found) in [(b"GMT", true), (b"U+1", false)] {
        bytes[at..at + 3].copy_from_slice(zone);
        std::fs::write(place.join("a.vortex"), &bytes).unwrap();
        let command = ["convert", "--force", &path("a.vortex"), &path("b.vortex")];
        if found {
            good(&command);
            continue;
        }
        let line = bad(1, &command);
        assert!(line.contains(": vortex cannot store the time zone \"U+1\", only IANA names and offsets"), "{line}");
        let line = bad(1, &["verify", &path("a.vortex")]);
        assert!(line.contains("time zone of a vortex timestamp: not an IANA time zone"), "{line}");
    }
}

#[test]
fn rows_without_columns_are_objects_without_fields() {
    let file = "../tests/golden/jay/rows_no_columns.jay";
    let target = place("no_columns").join("a.jsonl").to_str().unwrap().to_owned();
    assert_eq!(good(&["cat", "--json", file]), "{}\n".repeat(5));
    good(&["convert", file, &target]);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}\n".repeat(5));
    for format in ["ds", "bcolz"] {
        let said = bad(1, &["convert", file, &target.replace("jsonl", format)]);
        assert!(said.contains("the table has no columns, and "), "{said}");
    }
    for format in ["jay", "vortex"] {
        let again = target.replace("jsonl", format);
        good(&["convert", file, &again]);
        assert_eq!(good(&["cat", "--json", &again]), "{}\n".repeat(5), "{format}");
    }
    if cfg!(feature = "arrow") {
        let said = bad(1, &["convert", file, &target.replace("jsonl", "parquet")]);
        assert!(said.contains("Parquet has no rows without columns"), "{said}");
    }
}

#[test]
fn an_empty_folder_does_not_stop_the_others() {
    let place = place("empty_folder");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(path("empty")).unwrap();
    let jay = "../tests/golden/jay/alltypes_n5.jay";
    let output = run(&["convert", "--to", "csv", "--out-dir", &path("new"), &path("empty"), jay]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("empty: no file of a known format") && said.lines().count() == 1, "{said}");
    assert_eq!(output.status.code(), Some(1));
    assert!(place.join("new/alltypes_n5.csv").is_file());
    let said = bad(1, &["convert", "--to", "csv", "--out-dir", &path("none"), &path("empty")]);
    assert!(said.contains("no file of a known format"), "{said}");
    let said = bad(2, &["convert", "--to", "csv", "--out-dir", &path("none"), "-"]);
    assert!(said.contains("to a target that is named"), "{said}");
}

#[cfg(feature = "arrow")]
#[test]
fn several_schemas_add_up() {
    let place = place("schemas");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a.csv"), "id,name\n1,2\n").unwrap();
    good(&["convert", "--schema", "id: int8", "--schema", "name: utf8", &path("a.csv"), &path("a.arrow")]);
    let info = good(&["info", &path("a.arrow")]);
    assert!(info.contains("int8") && info.contains("string"), "{info}");
}
