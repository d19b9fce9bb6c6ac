//! `edit`: bcolz datasets changed in place.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common;
use crate::{bad, dump, good, place, target};

/// Returns a copy of a golden dataset.
fn copied(golden: &str, name: &str) -> String {
    let to = target(name);
    common::copy(&Path::new("../tests/golden/bcolz").join(golden), Path::new(&to));
    to
}

/// Returns the rows as CSV, without the names.
fn rows(dir: &str, range: &str) -> String {
    good(&["cat", "--no-header", "--rows", range, dir])
}

#[test]
fn the_help_names_only_what_can_be_edited() {
    let help = good(&["edit", "--help"]);
    assert!(help.contains("The directory of a bcolz dataset\n") && !help.contains("standard input"), "{help}");
}

#[test]
fn rows_columns_and_attributes() {
    let dir = &copied("ctable_basic", "edit_table");
    let said = good(&["edit", "--trim", "300", "--set-attr", "unit=\"m\"", "--set-attr", "n=[1]", dir]);
    assert_eq!(said, format!("{dir}: 33 rows in 4 columns\n"));
    good(&["edit", "--resize", "34", "--remove-attr", "n", dir]);
    assert_eq!(fs::read_to_string(format!("{dir}/__attrs__")).unwrap(), "{\"unit\": \"m\"}\n");
    assert_eq!(rows(dir, "33.."), "0,0.0,\"\",false\n");

    // A column of a table, by its name; the column of an array, by a new name.
    let (other, array) = (&copied("ctable_basic", "edit_other"), &copied("dtype_i4", "edit_array"));
    good(&["edit", "--resize", "34", other]);
    good(&["edit", "--resize", "34", array]);
    let said = good(&[
        "edit",
        "--drop-column",
        "price",
        "--drop-column",
        "id",
        "--add-column",
        &format!("price={other}"),
        "--add-column",
        &format!("n={array}"),
        dir,
    ]);
    assert_eq!(said, format!("{dir}: 34 rows in 4 columns\n"));
    let names: Vec<Value> = dump(&[dir])["columns"].as_array().unwrap().iter().map(|c| c["name"].clone()).collect();
    assert_eq!(names, ["sym", "ok", "price", "n"]);
    assert_eq!(rows(dir, "0..2"), "\"\",false,-0.4,997\nrow1,false,-0.5,999\n");

    good(&["verify", dir]);
}

#[test]
fn rows_are_overwritten() {
    let dir = &copied("ctable_basic", "edit_over");
    let csv = rows(dir, "..");
    let lines: Vec<&str> = csv.lines().collect();
    // All columns of the rows of another table, and one of them.
    let (other, one) = (&copied("ctable_basic", "edit_over_other"), &target("edit_over_one.jay"));
    good(&["edit", "--resize", "3", other]);
    good(&["convert", "--columns", "id", other, one]);
    let said = good(&["edit", "--overwrite", &format!("100={other}"), "--overwrite", &format!("330={one}"), dir]);
    assert_eq!(said, format!("{dir}: 333 rows in 4 columns\n"));
    assert_eq!(rows(dir, "99..104").lines().collect::<Vec<_>>(), [lines[99], lines[0], lines[1], lines[2], lines[103]]);
    let id = |line: &str| line.split(',').next().unwrap().to_owned();
    let last: Vec<_> = rows(dir, "330..").lines().map(id).collect();
    assert_eq!(last, [lines[0], lines[1], lines[2]].map(id));
    good(&["verify", dir]);
    // The rows of an array, from a format whose column has a name.
    let array = &copied("dtype_i4", "edit_over_array");
    let numbers = &target("edit_over_numbers.filo");
    good(&["convert", array, numbers]);
    let before = rows(array, "..");
    good(&["edit", "--trim", "4", "--resize", "150", array]);
    good(&["edit", "--type", "int", "--overwrite", &format!("6={numbers}"), array]);
    assert_eq!(rows(array, "6.."), before);
    let why = bad(1, &["edit", "--type", "int", "--overwrite", &format!("7={numbers}"), array]);
    assert!(why.contains("--overwrite writes rows 7..151, and ") && why.contains(" has 150 rows (--resize"), "{why}");
    assert_eq!(rows(array, "6.."), before);
}

/// What cannot be done says why, and changes nothing.
#[test]
fn edits_that_are_refused() {
    let dir = &copied("ctable_basic", "edit_refused");
    let array = &copied("dtype_i4", "edit_refused_array");
    let object = &copied("object", "edit_refused_object");
    let (add, over) = (format!("x={array}"), format!("0={array}"));
    let missing = "../tests/golden/jay/alltypes_n5.jay";
    // A column with as many rows as the table.
    let one = &target("edit_refused_one.ds");
    good(&["convert", "--columns", "id", dir, one]);
    let before = [dir, array, object].map(|dir| dump(&[dir]));
    let [refused, taken, rows] = [": there is no column", "there is a column", "has 144 rows, and the columns of"];
    let quoted = "--set-attr 'a=\"it'\\''s\"'";
    let cases: [(i32, &[&str], &[&str]); 22] = [
        (2, &[dir], &["nothing to change"]),
        (2, &["--trim", "1", "-"], &["not standard input"]),
        (1, &["--trim", "1", missing], &["a file, and edit changes bcolz datasets", "pilaster convert"]),
        (1, &["--trim", "1", "absent"], &["pilaster: absent: No such file"]),
        (1, &["--trim", "334", dir], &["--trim 334 removes more rows than there are: 333"]),
        (1, &["--resize", "5", object], &["objects have no default value"]),
        (1, &["--resize", "9000000000000", dir], &["--resize 9000000000000 is too much", "1099511627776"]),
        (1, &["--drop-column", "no", dir], &[refused, "\"no\"; there are id, price"]),
        (1, &["--drop-column", "no", array], &["a single array"]),
        (1, &["--add-column", &add, array], &["a single array"]),
        (1, &["--add-column", &add, dir], &["refused_array: column \"x\"", rows, "refused have 333 (--resize"]),
        (1, &["--add-column", "x=absent", dir], &["pilaster: absent: No such file"]),
        (2, &["--add-column", &format!("x={dir}"), dir], &[refused, "\"x\"; there are \"id\", \"price\""]),
        (1, &["--add-column", &format!("price={array}"), dir], &[taken, "\"price\" already (--drop-column"]),
        (1, &["--add-column", &format!("/={one}"), dir], &["no column can be called \"/\"", "contains no /"]),
        (2, &["--overwrite", &over, dir], &["has no column", "id, price"]),
        (2, &["--overwrite", &format!("0={missing}"), dir], &["alltypes_n5.jay: ", "has no column"]),
        (1, &["--overwrite", &format!("0={object}"), array], &["another type or shape"]),
        (1, &["--overwrite", &format!("1={dir}"), dir], &["rows 1..334, and", "has 333 rows (--resize"]),
        (1, &["--remove-attr", "no", dir], &["__attrs__", "no"]),
        (2, &["--set-attr", "a=m", dir], &["\"m\" is not JSON", "double quotes: --set-attr 'a=\"m\"'"]),
        (2, &["--set-attr", "a=it's", dir], &["\"it's\" is not JSON", quoted]),
    ];
    for (status, args, parts) in cases {
        let why = bad(status, &[&["edit"], args].concat());
        assert!(parts.iter().all(|part| why.contains(part)), "{args:?}: {why}");
        let [.., path] = args else { unreachable!() };
        assert!(!why.contains("pilaster-new") && !why.contains(&format!("{path}: {path}")), "{why}");
        assert_eq!([dir, array, object].map(|dir| dump(&[dir])), before, "{args:?}");
        assert!(
            fs::read_dir(dir).unwrap().all(|entry| !entry.unwrap().file_name().to_str().unwrap().contains("pilaster"))
        );
    }
    // A directory of datasets is no dataset, and nothing in it is removed.
    let beside = place("edit_no_dataset");
    for name in ["d.pilaster-new", "e.pilaster-new.partial", "d.pilaster-old", "d"] {
        fs::create_dir(beside.join(name)).unwrap();
    }
    let why = bad(1, &["edit", "--trim", "1", beside.to_str().unwrap()]);
    assert!(why.contains("no bcolz dataset") && why.contains("neither __rootdirs__ nor meta/sizes"), "{why}");
    assert_eq!(fs::read_dir(&beside).unwrap().count(), 4);
    // What an interrupted edit left is removed.
    for left in ["column.pilaster-new", "column.pilaster-new.partial", "id.pilaster-old"] {
        fs::create_dir(format!("{dir}/{left}")).unwrap();
    }
    good(&["edit", "--set-attr", "a=1", dir]);
    assert_eq!(fs::read_dir(dir).unwrap().count(), 6);
    assert_eq!(dump(&[dir])["facts"]["attrs"], json!({"a": 1}));
    // Between two names, a dataset is read and changed.
    let old = &format!("{array}.pilaster-old");
    let _ = fs::remove_dir_all(old);
    fs::rename(array, old).unwrap();
    assert!(good(&["info", array]).contains("int32"));
    good(&["edit", "--trim", "0", array]);
    assert!(fs::exists(array).unwrap() && !fs::exists(old).unwrap());
}

/// Attributes are printed as they are: numbers of any size, and what Python writes although it is not JSON.
#[test]
fn attributes_are_printed_as_they_are() {
    let dir = &copied("dtype_i4", "edit_attrs");
    let json = "{\"big\":[-1046719543.7080929,366364097715197476190,1e+400]}";
    good(&["edit", "--set-attr", &format!("a={json}"), dir]);
    let text = good(&["dump", "--json", dir]);
    assert!(text.contains(&format!("\"attrs\": {{\"a\":{json}}}")), "{text}");
    assert!(good(&["info", "--json", "-v", dir]).contains(json));
    good(&["edit", "--set-attr", "a=[NaN, -Infinity]", dir]);
    assert_eq!(dump(&[dir])["facts"]["attrs"], json!("{\"a\": [NaN, -Infinity]}"));
    good(&["edit", "--remove-attr", "a", dir]);
    assert_eq!(dump(&[dir])["facts"].get("attrs"), None);
}
