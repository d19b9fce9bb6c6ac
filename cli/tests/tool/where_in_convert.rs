//! `convert --where`: the rows that `cat --where` prints.

use super::*;

const NUMBERS: &str = "../tests/golden/vortex/def_multichunk_a.vortex";
const NESTED: &str = "../tests/golden/vortex/def_nested_a.vortex";

/// Converts rows of a file, and compares them with what `cat` prints of it under the same conditions. `choice`: conditions
/// and columns. Returns the number of rows.
fn compare(source: &[&str], choice: &[&str], to: &str, options: &[&str]) -> usize {
    let to = target(&format!("where_{to}"));
    good(&[&["convert"], source, choice, options, &[&to]].concat());
    let element: &[&str] = if to.ends_with(".filo") { &["--type", "long"] } else { &[] };
    let dtype: &[&str] = if to.ends_with(".blosc") { &["--dtype", "int64"] } else { &[] };
    let rows = good(&[&["cat", "--no-header"], source, choice].concat());
    let written = good(&[&["cat", "--no-header", &to], element, dtype].concat());
    assert!(written == rows, "{source:?} to {to}, {choice:?}: {} rows", rows.lines().count());
    good(&[&["verify", &to], element, dtype].concat());
    rows.lines().count()
}

/// Returns the options for reading a file with the rows of [`NUMBERS`] in every format; the last one, a vector, has one
/// of its columns.
fn sources() -> Vec<Vec<String>> {
    let place = place("where_sources");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let [ds, jay, bcolz, filo] = ["a.ds", "a.jay", "a.bcolz", "a.filo"].map(path);
    for to in [&ds, &jay, &bcolz] {
        good(&["convert", NUMBERS, to]);
    }
    good(&["convert", "--columns", "n_id", NUMBERS, &filo]);
    let mut sources: Vec<_> = [NUMBERS.to_owned(), ds, jay, bcolz].into_iter().map(|path| vec![path]).collect();
    sources.push(vec![filo, "--type".to_owned(), "long".to_owned()]);
    sources
}

#[test]
fn every_source_and_every_target() {
    for (s, source) in sources().iter().enumerate() {
        let source: Vec<&str> = source.iter().map(String::as_str).collect();
        // The only column of a vector.
        let id = if source.len() > 1 { "v" } else { "n_id" };
        let some = format!("{id} in (531, 1708, 3431) or {id} >= 1000000 and {id} < 4000000");
        let none = format!("{id} < -5");
        for (condition, expected) in [(&some, Some(3003)), (&none, Some(0))] {
            let choice: &[&str] = if source.len() > 1 { &[] } else { &["--columns", "n_id"] };
            let choice = [&["--where", condition.as_str()], choice].concat();
            for to in ["a.ds", "a.jay", "a.bcolz", "a.filo", "a.blosc"] {
                let rows = compare(&source, &choice, &format!("{s}_{to}"), &[]);
                assert_eq!(Some(rows), expected, "{source:?} {condition}");
            }
        }
        if source.len() > 1 {
            continue;
        }
        for condition in ["n_k > 'k' and not n_v < 0.5", "n_id >= 8000500", "n_v > 1e300"] {
            for to in ["b.ds", "b.jay", "b.bcolz"] {
                let options: &[&str] = if to == "b.jay" { &["--bytes-as-text"] } else { &[] };
                compare(&source, &["--where", condition, "--columns", "n_k,n_id,n_v"], &format!("{s}_{to}"), options);
            }
        }
        let times = ["--time", "n_id", "--from", "2000000", "--until", "3000000", "--trust-statistics"];
        assert_eq!(compare(&source, &times, &format!("{s}_c.jay"), &["--bytes-as-text"]), 1000);
    }
}

/// Rows of nested columns; bcolz can store the last column only without its missing rows.
#[test]
fn nested_columns() {
    for (columns, condition, to) in [
        ("li,ls,fsl", "li is missing or st is missing", "nested.jay"),
        ("lls,fsln", "fsln is missing", "nested.jay"),
        ("fsl", "li is missing", "nested.bcolz"),
        ("fsln", "fsln is not missing and li is not missing", "nested.bcolz"),
    ] {
        let to = target(&format!("where_{to}"));
        let choice = ["--columns", columns, "--where", condition];
        good(&[&["convert"], &choice[..], &[NESTED, &to]].concat());
        let rows = good(&[&["cat", "--no-header"], &choice[..], &[NESTED]].concat());
        assert!((3..260).contains(&rows.lines().count()), "{}", rows.lines().count());
        assert_eq!(good(&["cat", "--no-header", &to]), rows, "{columns}");
    }
}

/// Many extents of which few rows are kept are joined.
#[test]
fn small_groups_are_one_extent() {
    let to = target("where_joined.ds");
    let source = "../tests/golden/vortex/def_big_small_a.vortex";
    good(&["convert", "--where", "n_cat = 'alpha' and n_mod = 3", source, &to]);
    let middle = target("where_joined_middle.ds");
    good(&["convert", source, &middle]);
    let again = target("where_joined_again.ds");
    good(&["convert", "--where", "n_cat = 'alpha' and n_mod = 3", &middle, &again]);
    assert_eq!(good(&["cat", &again]), good(&["cat", &to]));
    let extents = good(&["verify", &again]);
    assert!(extents.contains(" rows in 1 extents") || extents.contains(" rows in 2 extents"), "{extents}");
}

/// The rows of a DataSeries file keep the name of their type and their byte order.
#[test]
fn the_order_and_the_name_are_kept() {
    let source = "../tests/golden/dataseries/layout_eight_s2b_max_be.ds";
    let facts = |path: &str| {
        let info = good(&["info", "--json", "-v", path]);
        (info.contains("\"byte_order\":\"big\""), good(&["cat", "--table", "L", path]).lines().count())
    };
    let to = target("where_order.ds");
    let column = good(&["cat", "--rows", "0..1", source]).split(',').next().unwrap().to_owned();
    good(&["convert", "--where", &format!("{column} is not missing"), source, &to]);
    assert_eq!(facts(&to), facts(source));
    assert!(facts(source).0);
    good(&["convert", "--force", "--order", "little", "--where", &format!("{column} is not missing"), source, &to]);
    assert!(!facts(&to).0);
}

#[test]
fn what_is_not_possible_is_told() {
    let to = target("where_refused.jay");
    let line = bad(2, &["convert", "--where", "other > 3", NUMBERS, &to]);
    assert!(line.contains("there is no column \"other\"; there are \"n_id\", \"n_v\", \"n_k\""), "{line}");
    let ds = target("where_refused.ds");
    good(&["convert", NUMBERS, &ds]);
    let to = target("where_refused_too.ds");
    for option in ["--plain", "--compact=yes", "--pad=original", "--ordering=small_to_big"] {
        let line = bad(2, &["convert", "--where", "n_id > 3", option, &ds, &to]);
        assert!(line.contains("are for complete files"), "{line}");
    }
}

/// An error of a value names its row in the source, also if other rows are left out, or are in other parts.
#[test]
fn an_error_names_the_row_of_the_source() {
    let source = "../tests/golden/dataseries/empty_extent.ds";
    let to = target("where_row.bcolz");
    for (column, condition, row) in [("y1", "y0 = 128", 1), ("i1", "y0 = 127", 0)] {
        let line = bad(1, &["convert", "--columns", column, "--where", condition, source, &to]);
        assert!(line.contains(&format!("column {column} (")) && line.contains("value missing"), "{line}");
        assert!(line.contains(&format!("the value of row {row} cannot be stored")), "{line}");
    }
}

/// A type that the target lacks is named before anything is written, with the field that has it.
#[test]
fn a_field_that_the_target_lacks_is_named() {
    let to = target("where_lacks.jay");
    let lists = &["convert", "--columns", "lst", NESTED, &to];
    let line = bad(1, lists);
    assert!(line.contains("column lst: jay cannot store"), "{line}");
    let to = target("where_lacks.bcolz");
    let line = bad(1, &["convert", "--records", "--columns", "st", "--fill-missing", NESTED, &to]);
    assert!(line.contains("column st"), "{line}");
}
