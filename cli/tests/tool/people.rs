//! What `head` and `cat` show to people: tables, times, conditions, escapes.

use std::fs;

use super::{bad, good, place};

fn golden(name: &str) -> String {
    format!("{}/../tests/golden/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_table_has_names_types_and_aligned_values() {
    let file = golden("jay/alltypes_n5.jay");
    let table = good(&["head", "-n2", "--format-out", "table", "--columns", "int32,str32,date32", &file]);
    let wanted = [
        "     int32  str32         date32",
        "     int32  string        date32[day]",
        "----------  ------------  -----------",
        "      null  e\u{301}             1970-01-01",
        "2147483647  tab\\there964  null",
    ];
    assert_eq!(table.lines().collect::<Vec<_>>(), wanted);
    let bare =
        good(&["cat", "-n1", "--format-out", "table", "--no-header", "--missing", "-", "--columns", "int32", &file]);
    assert_eq!(bare, "-\n");
}

#[test]
fn times_are_iso_8601_with_their_zone_or_the_stored_integers() {
    let file = golden("vortex/def_temporal_a.vortex");
    let columns = "ntz_ms,n_ts_us,date32,t64us";
    let iso = good(&["head", "-n1", "--columns", columns, &file]);
    assert_eq!(
        iso,
        format!("{columns}\n2023-11-15T14:21:02.000+01:00,2020-01-01T05:06:35.762326,1998-03-11,14:57:17.787268\n")
    );
    let stored = good(&["head", "-n1", "--stored-times", "--columns", columns, &file]);
    assert_eq!(stored, format!("{columns}\n1700054462000,1577855195762326,10296,53837787268\n"));
    let lines = good(&["head", "-n1", "--json-lines", "--columns", "date32", &file]);
    assert_eq!(lines, "{\"date32\":\"1998-03-11\"}\n");
}

#[test]
fn conditions_choose_rows_also_by_columns_that_are_not_shown() {
    let file = golden("vortex/def_temporal_a.vortex");
    let count =
        |args: &[&str]| good(&[&["cat", "--no-header", "--columns", "date32", &file], args].concat()).lines().count();
    let all = count(&[]);
    let after = count(&["--where", "ntz_ms >= 2023-11-15T00:00"]);
    let before = count(&["--where", "ntz_ms < 2023-11-15T00:00"]);
    let missing = count(&["--where", "ntz_ms is missing"]);
    assert!(after > 0 && missing > 0, "{after} {before} {missing}");
    assert_eq!(after + before + missing, all);
    assert_eq!(count(&["--where", "not (ntz_ms < 2023-11-15T00:00)"]), after, "what is unknown stays unknown");
    assert_eq!(count(&["--time", "ntz_ms", "--from", "2023-11-15T00:00"]), after);
    assert_eq!(count(&["--where", "ntz_ms >= 2023-11-15", "--rows", "..3"]).max(3), 3, "--rows counts all rows");
    let line = bad(2, &["cat", "--where", "ntz_ms > noon", &file]);
    assert!(line.contains("column ntz_ms: 'noon' is neither a date nor a number of timestamp[ms]"), "{line}");
    let line = bad(2, &["cat", "--where", "ntz_ms >", &file]);
    assert!(line.contains("expected a value at the end"), "{line}");
    let line = bad(2, &["cat", "--where", "nothing > 1", &file]);
    assert!(line.contains("there is no column \"nothing\"; there are"), "{line}");
}

/// A condition that statistics prune keeps the same rows as one that they do not.
#[test]
fn statistics_change_no_answer() {
    for (file, condition) in [
        ("vortex/lay_chunked_zones_a.vortex", "{} > 100 and {} <= 2000"),
        ("vortex/lay_chunked_zones_a.vortex", "{} = 12345"),
        ("jay/stats_n7.jay", "{} is not missing"),
    ] {
        let file = golden(file);
        let header = good(&["head", "-n0", "--format-out", "csv", &file]);
        let name = header.trim().split(',').next().unwrap().to_owned();
        let condition = condition.replace("{}", &format!("\"{name}\""));
        let kept = good(&["cat", "--where", &condition, &file]);
        assert_eq!(good(&["cat", "--trust-statistics", "--where", &condition, &file]), kept, "{file}");
    }
}

#[test]
fn control_characters_of_names_reach_neither_terminals_nor_messages() {
    let name = "a\u{1b}[2J\u{9b}.jay";
    let path = place("control").join(name);
    fs::write(&path, b"JAY1 no file").unwrap();
    let line = bad(1, &["info", path.to_str().unwrap()]);
    assert!(line.contains("a\\u{1b}[2J\\u{9b}.jay") && !line.contains(|c: char| c.is_control()), "{line:?}");
    fs::copy(golden("jay/alltypes_n5.jay"), &path).unwrap();
    let info = good(&["info", path.to_str().unwrap()]);
    assert!(info.contains("a\\u{1b}[2J") && !info.contains(['\u{1b}', '\u{9b}']), "{info:?}");
}
