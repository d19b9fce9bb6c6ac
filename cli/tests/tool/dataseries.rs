//! The command line on DataSeries files: every expectation, every verdict, choices of rows and columns.

use serde_json::Value;

use crate::common::{self, Golden};
use crate::{bad, digest, good, run_on};

fn path(name: &str) -> String {
    format!("../tests/golden/dataseries/{name}.ds")
}

/// Checks and removes the digest of each column whose values are all present.
fn without_digests(tables: &mut Value, expected: &Value, name: &str) {
    let columns = |tables: &Value| -> Vec<Value> {
        tables.as_array().unwrap().iter().flat_map(|t| t["columns"].as_array().unwrap().clone()).collect()
    };
    let expected = columns(expected);
    let own = tables.as_array_mut().unwrap().iter_mut().flat_map(|t| t["columns"].as_array_mut().unwrap());
    for (column, expected) in own.zip(&expected) {
        let Some(values) = expected["values"].as_array() else { continue };
        assert_eq!(column.as_object_mut().unwrap().remove("sha256"), Some(digest(values).into()), "{name}");
    }
}

fn dump(golden: &Golden, args: &[&str], tables: &Value) -> Value {
    let path = golden.path.to_str().unwrap();
    let mut dump = crate::dump(&[&["--json"], args, &[path]].concat());
    without_digests(&mut dump["tables"], tables, &golden.name);
    assert_eq!(&dump["tables"], tables, "{} {args:?}", golden.name);
    dump
}

#[test]
fn dump_equals_every_expectation() {
    for golden in common::of("dataseries").iter().filter(|golden| golden.expected["facts"].is_object()) {
        let mut expected = golden.expected.clone();
        let dump = dump(golden, &[], &expected["tables"]);
        expected["facts"].as_object_mut().unwrap().remove("written_on");
        for own in ["producer", "notes"] {
            expected.as_object_mut().unwrap().remove(own);
        }
        assert_eq!(dump, expected, "{}", golden.name);
    }
}

#[test]
fn damaged_files_get_the_verdict_of_the_original() {
    let mut count = 0;
    for golden in common::of("dataseries").iter().filter(|golden| golden.name.contains("/damaged/")) {
        let path = golden.path.to_str().unwrap();
        for (args, key, tables) in [
            (&[][..], "tail_and_index_all_checks", "tables"),
            (&["--no-index"], "sequential_without_tail_all_checks", "tables_without_tail"),
        ] {
            let accept = golden.expected["reference_verdict"][key] == "accept";
            let tables = if golden.expected[tables].is_array() { tables } else { "tables" };
            if accept {
                dump(golden, args, &golden.expected[tables]);
                assert!(good(&[&["verify"], args, &[path]].concat()).contains(": ok, "));
            } else {
                let lines = ["dump", "verify"].map(|command| bad(1, &[&[command], args, &[path]].concat()));
                assert_eq!(lines[0], lines[1]);
            }
            count += 1;
        }
    }
    assert_eq!(count, 92);
}

#[test]
fn info_tells_types_fields_and_extents() {
    let info = good(&["info", "-v", &path("relative_nulls_compact")]);
    for part in [
        "order     little-endian\n",
        "end       index and trailer at ",
        "packing   nulls compacted\n",
        "relative to itself",
        "nullable, relative to ",
    ] {
        assert!(info.contains(part), "{part:?} in {info}");
    }
    let info = good(&["info", "-v", "--no-index", &path("damaged/truncated_no_trailer")]);
    assert!(info.contains("end       file ends at ") && info.contains("without a trailer"), "{info}");
    let info = good(&["info", "-v", &path("all_types_auto_be")]);
    assert!(info.contains("order     big-endian\n") && info.contains("Test::AllTypes"), "{info}");
    for golden in common::of("dataseries").iter().filter(|golden| golden.expected["facts"].is_object()) {
        let info = good(&["info", "-v", golden.path.to_str().unwrap()]);
        for table in golden.expected["tables"].as_array().unwrap() {
            let line = format!("table     {}\n", table["type_name"].as_str().unwrap());
            assert!(info.contains(&line), "{}: {line} in {info}", golden.name);
        }
    }
}

#[test]
fn rows_and_columns_are_chosen() {
    let log = path("sensor_log_auto");
    let all = good(&["cat", &log]);
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!((lines.len(), lines[0]), (271, "t,id,dev,val,msg"));
    // Extents have about 90 rows, so this range contains the end of one.
    let some = good(&["cat", "--rows", "80..110", "--no-header", &log]);
    assert_eq!(some.lines().collect::<Vec<_>>(), lines[81..111]);
    assert_eq!(good(&["cat", "--rows", "269..", "--no-header", &log]).trim_end(), lines[270]);
    assert_eq!(good(&["cat", "--rows", "300..", "--no-header", &log]), "");
    assert_eq!(good(&["cat", "--rows", "300..", &log]).trim_end(), lines[0], "the names of the columns");

    let two = good(&["head", "-n", "2", "--columns", "dev,t", &log]);
    let cut = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let swapped: Vec<String> = lines[..3].iter().map(|line| format!("{},{}", cut(line)[2], cut(line)[0])).collect();
    assert_eq!(two.lines().collect::<Vec<_>>(), swapped);

    // Rows 100 to 119 by their times; also if the column of the times is not printed.
    let time = |row: usize| cut(lines[row + 1])[0].clone();
    let (from, to) = (time(100), time(120));
    let some = good(&["cat", "--from", &from, "--until", &to, "--no-header", &log]);
    assert_eq!(some.lines().collect::<Vec<_>>(), lines[101..121]);
    let some = good(&["cat", "--from", &from, "--until", &to, "--time", "t", "--columns", "id", "--no-header", &log]);
    let ids: Vec<String> = lines[101..121].iter().map(|line| cut(line)[1].clone()).collect();
    assert_eq!(some.lines().collect::<Vec<_>>(), ids);
    let some = good(&["cat", "--time", "val", "--from", "1e300", "--no-header", &log]);
    assert_eq!(some, "");
}

#[test]
fn one_of_several_tables_is_chosen() {
    let several = path("multi_type");
    let line = bad(2, &["cat", &several]);
    assert!(line.contains("--table: \"Alpha\", \"Beta::Sub\""), "{line}");
    assert!(bad(2, &["cat", "--table", "Delta", &several]).contains("there is no table \"Delta\""));
    assert!(bad(2, &["cat", "--table", "Alpha", "--columns", "nil", &several]).contains("no column \"nil\""));
    let golden = &common::of("dataseries").into_iter().find(|golden| golden.name.ends_with("/multi_type")).unwrap();
    for table in golden.expected["tables"].as_array().unwrap() {
        let lines = good(&["cat", "--json-lines", "--table", table["type_name"].as_str().unwrap(), &several]);
        assert_eq!(Some(lines.lines().count() as u64), table["nrows"].as_u64());
    }
}

#[test]
fn strings_are_text_where_they_can_be() {
    let lines = good(&["cat", "--json-lines", &path("tiny")]);
    assert_eq!(
        lines,
        "{\"flag\":true,\"b\":7,\"i\":-2,\"s\":\"hello\",\"d\":1.5}\n{\"flag\":false,\"b\":255,\"i\":null,\"s\":\"\",\"d\":-0.0}\n"
    );
    let bytes = good(&["head", "-n1", "--no-header", "--columns", "w", &path("fixedwidth_3")]);
    assert!(bytes.trim_end().len() == 6 && bytes.trim_end().bytes().all(|byte| byte.is_ascii_hexdigit()), "{bytes}");
}

#[test]
fn calls_that_do_not_fit_the_format() {
    let tiny = path("tiny");
    assert!(bad(2, &["cat", "--type", "int", &tiny]).contains("--type is for Filo vectors"));
    let vector = "../tests/golden/filo/bin_int_readme.filo";
    assert!(bad(2, &["info", "--no-index", "--type", "int", vector]).contains("--no-index is for DataSeries"));
    assert!(bad(2, &["cat", "--table", "T", "--type", "int", vector]).contains("--table is for"));
    let line = bad(1, &["verify", &path("damaged/trailing_garbage")]);
    assert!(line.ends_with("(--no-index reads the file from the start; recover saves what is intact)"), "{line}");
}

#[test]
fn a_file_comes_from_standard_input() {
    let output = run_on(&["verify", "-"], &std::fs::read(path("tiny_be")).unwrap());
    assert_eq!(output.stdout, b"-: ok, 2 rows in 1 extents, 664 bytes, dataseries big\n");
}
