//! What `head` and `cat` show to people: tables, times, conditions, escapes.

use std::fs;

use serde_json::{Value, json};

use super::{bad, common, good, out, place, run};

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

#[test]
fn info_is_short_and_details_are_asked_for() {
    let file = golden("jay/keyed_2.jay");
    let short = good(&["info", &file]);
    assert!(short.starts_with(&format!("file      {file}\nformat    jay\nsize      ")), "{short}");
    assert!(!short.contains("metadata") && good(&["info", "-v", &file]).contains("metadata"), "{short}");
    let series = good(&["info", &golden("dataseries/doublebase.ds")]);
    assert!(
        series.contains("\ntable     DB\nrows      15\n\ncolumn  type\nt       float64\nu       float64?\n"),
        "{series}"
    );
}

#[test]
fn info_as_json() {
    let info = |args: &[&str]| -> Value { serde_json::from_str(&good(&[&["info", "--json"], args].concat())).unwrap() };
    let file = golden("dataseries/doublebase.ds");
    let short = info(&[&file]);
    assert_eq!(
        (&short["format"], &short["tables"][0]["name"], &short["tables"][0]["rows"]),
        (&"dataseries".into(), &"DB".into(), &15.into())
    );
    assert_eq!(short["tables"][0]["columns"][1], json!({ "name": "u", "type": "float64", "nullable": true }));
    assert_eq!(short["size"], fs::metadata(&file).unwrap().len());
    assert!(short.get("facts").is_none());
    let all = info(&["-v", &file]);
    assert!(all["facts"].is_object() && all["tables"][0]["columns"][1]["missing"].is_u64(), "{all}");
}

#[test]
fn several_files_and_directories_are_told_one_by_one() {
    let dir = place("several");
    fs::create_dir(dir.join("b")).unwrap();
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::copy(golden("dataseries/doublebase.ds"), dir.join("a.ds")).unwrap();
    fs::copy(golden("dataseries/doublebase.ds"), dir.join("b/c.ds")).unwrap();
    fs::copy(golden("dataseries/damaged/adler_flip.ds"), dir.join("b/bad.ds")).unwrap();
    fs::write(dir.join("b/notes.txt"), "no such format").unwrap();
    common::copy(golden("bcolz/bound_1").as_ref(), &dir.join("d"));
    let top = dir.to_str().unwrap();

    let output = run(&["verify", top]);
    let lines: Vec<_> = out(&output).lines().map(str::to_owned).collect();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        lines[0].starts_with(&path("a.ds"))
            && lines[1].starts_with(&path("b/c.ds"))
            && lines[2].starts_with(&path("d"))
    );
    assert_eq!(lines[3], format!("4 files: 3 ok, 1 bad; 1 of unknown format, as {}", path("b/notes.txt")));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.starts_with(&format!("pilaster: {}: dataseries extent", path("b/bad.ds")))
            && errors.lines().count() == 1
    );

    assert!(good(&["info", &path("a.ds"), &path("d")]).ends_with("2 files: 2 ok, 0 bad\n"));
    let one = good(&["cat", &path("a.ds")]);
    let rows = one.lines().skip(1).collect::<Vec<_>>();
    let both = good(&["cat", &path("a.ds"), &path("b/c.ds")]);
    assert_eq!(both.lines().skip(1).collect::<Vec<_>>(), [&rows[..], &rows].concat(), "the names stand once");
    let first = good(&["head", "-n", "16", &path("a.ds"), &path("b/c.ds")]);
    assert_eq!(first.lines().skip(1).collect::<Vec<_>>(), [&rows[..], &rows[..1]].concat(), "of all files together");
    assert!(good(&["head", "--help"]).contains("The rows of several files are one table, as in cat"));
    let across = good(&["cat", "--no-header", "--rows", "14..16", &path("a.ds"), &path("b/c.ds")]);
    assert_eq!(across.lines().collect::<Vec<_>>(), [rows[14], rows[0]]);
    let line = failed_after_rows(&["cat", "--no-header", &path("a.ds"), &path("d")]);
    assert!(line.contains("the columns are  int32, and in") && line.contains("--columns chooses"), "{line}");
}

/// A directory in which nothing can be read is an error that names it.
#[test]
fn a_directory_without_files_is_an_error() {
    let dir = place("barren");
    for name in ["empty/inside", "texts", "full"] {
        fs::create_dir_all(dir.join(name)).unwrap();
    }
    fs::write(dir.join("texts/notes.txt"), "no such format").unwrap();
    fs::copy(golden("dataseries/doublebase.ds"), dir.join("full/a.ds")).unwrap();
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let why = |name: &str| {
        let sought = "DataSeries, Jay, Vortex, Blosc and .filo files are looked for, and bcolz datasets";
        let markers = "(directories with __rootdirs__ or meta/sizes)";
        format!("pilaster: {}: no file of a known format is in it: {sought} {markers}", path(name))
    };
    for command in ["verify", "info", "cat", "head"] {
        assert_eq!(bad(1, &[command, &path("empty")]), why("empty"), "{command}");
    }
    // The other files are read.
    let output = run(&["verify", &path("texts"), &path("full"), &path("empty")]);
    let lines: Vec<&str> = out(&output).lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with(&path("full/a.ds")), "{output:?}");
    assert_eq!(lines[1], format!("1 files: 1 ok, 0 bad; 1 of unknown format, as {}", path("texts/notes.txt")));
    assert_eq!(str::from_utf8(&output.stderr).unwrap(), format!("{}\n{}\n", why("texts"), why("empty")));
    assert_eq!(output.status.code(), Some(1));
    // An argument may be a link to a directory.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(dir.join("full"), dir.join("link")).unwrap();
        assert!(good(&["verify", &path("link")]).ends_with("\n1 files: 1 ok, 0 bad\n"));
    }
}

/// `--only` chooses among the files of directories by their format, and unknown files are then not mentioned.
#[test]
fn formats_are_chosen_in_directories() {
    let dir = place("only");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::copy(golden("dataseries/doublebase.ds"), dir.join("a.ds")).unwrap();
    fs::copy(golden("dataseries/damaged/adler_flip.ds"), dir.join("b.ds")).unwrap();
    fs::copy(golden("jay/keyed_2.jay"), dir.join("c.jay")).unwrap();
    fs::copy(golden("filo/bin_int_readme.filo"), dir.join("v.filo")).unwrap();
    common::copy(golden("bcolz/bound_1").as_ref(), &dir.join("d"));
    for name in ["x.txt", "y.txt", "z.txt"] {
        fs::write(path(name), "no such format").unwrap();
    }
    let top = dir.to_str().unwrap();
    let said = good(&["verify", "--only", "jay,BCOLZ", top]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with(&path("c.jay")) && lines[1].starts_with(&path("d")), "{said}");
    assert_eq!(lines[2..], ["2 files: 2 ok, 0 bad"]);
    assert!(good(&["info", "--only", "jay", top]).ends_with("\n1 files: 1 ok, 0 bad\n"));
    for command in ["cat", "head"] {
        assert_eq!(good(&[command, "--only", "jay", top]), good(&[command, &path("c.jay")]));
    }
    // A file that is named is read whatever its format is.
    let said = good(&["verify", "--only", "jay", &path("a.ds"), top]);
    assert!(said.starts_with(&path("a.ds")) && said.ends_with("\n2 files: 2 ok, 0 bad\n"), "{said}");
    for command in ["verify", "info", "cat", "head"] {
        let line = bad(1, &[command, "--only", "vortex", top]);
        assert_eq!(line, format!("pilaster: {top}: no file that --only chooses is in it: vortex"));
        let line = bad(2, &[command, "--only", "vortex", "--format", "jay", top]);
        assert!(line.contains("cannot be used with '--format") && line.contains("--only"), "{line}");
        assert!(bad(2, &[command, "--only", "csv", top]).contains("'csv' for '--only"));
    }
    // One line for all files of unknown format.
    let some = |names: &[&str]| {
        let dir = place("unknown");
        fs::copy(golden("jay/keyed_2.jay"), dir.join("c.jay")).unwrap();
        names.iter().for_each(|name| fs::write(dir.join(name), "no such format").unwrap());
        let output = run(&["cat", dir.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0));
        str::from_utf8(&output.stderr).unwrap().replace(dir.to_str().unwrap(), "DIR")
    };
    assert_eq!(some(&["x", "y", "z"]), "pilaster: 3 files of unknown format are left out, as DIR/x\n");
    assert_eq!(some(&["x"]), "pilaster: DIR/x: left out, its format is unknown\n");
}

/// Filo vectors do not store their type: without it they are neither valid nor bad.
#[test]
fn vectors_in_a_directory_need_their_type() {
    let dir = place("untyped");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    for name in ["bin_int_readme", "bin_int_u4_na"] {
        fs::copy(golden(&format!("filo/{name}.filo")), path(&format!("{name}.filo"))).unwrap();
    }
    let summary = |args: &[&str]| {
        let output = run(args);
        let errors = str::from_utf8(&output.stderr).unwrap().to_owned();
        (output.status.code().unwrap(), out(&output).lines().last().unwrap().to_owned(), errors)
    };
    let top = dir.to_str().unwrap();
    let (status, line, errors) = summary(&["verify", top]);
    assert_eq!((status, line.as_str()), (2, "2 files: 0 ok, 0 bad, 2 need --type"));
    assert!(
        errors.lines().count() == 2 && errors.lines().all(|line| line.contains("--type ELEMENT (types that fit: "))
    );
    assert!(good(&["verify", "--type", "int", top]).ends_with("\n2 files: 2 ok, 0 bad\n"));
    // The option is for the vectors only; other files have their type.
    fs::copy(golden("dataseries/doublebase.ds"), path("a.ds")).unwrap();
    common::copy(golden("bcolz/bound_1").as_ref(), &dir.join("d"));
    assert!(good(&["verify", "--type", "int", "--no-index", top]).ends_with("\n4 files: 4 ok, 0 bad\n"));
    assert_eq!(summary(&["verify", top]).1, "4 files: 2 ok, 0 bad, 2 need --type");
    // A bad file decides about the status. A vector to which no type fits is bad, too.
    fs::copy(golden("dataseries/damaged/adler_flip.ds"), path("bad.ds")).unwrap();
    fs::write(path("bad.filo"), [0xff; 9]).unwrap();
    let (status, line, errors) = summary(&["verify", top]);
    assert_eq!((status, line.as_str()), (1, "6 files: 2 ok, 2 bad, 2 need --type"));
    assert!(errors.contains("bad.filo: ") && errors.contains("(no element type fits)"), "{errors}");
}

/// A new user learns from the help what `verify` cannot notice, and how a condition reads less.
#[test]
fn help_names_limits_and_remedies() {
    let help = |command: &str| good(&[command, "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let verify = help("verify");
    assert!(verify.contains("Only DataSeries files contain check values (lookup2 and Adler-32)"), "{verify}");
    assert!(verify.contains("Filo, Jay, bcolz and Vortex have none: a changed number"), "{verify}");
    for command in ["head", "cat", "convert"] {
        let text = help(command);
        assert!(text.contains("With --trust-statistics, more rows are skipped without reading them"), "{text}");
    }
}

/// The line on standard error of a call that fails after rows were printed.
fn failed_after_rows(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

/// An error of one file does not end `cat` of several: those after it are printed.
#[test]
fn files_after_a_damaged_one_are_printed() {
    let place = place("after_damage");
    let tiny = std::fs::read("../tests/golden/dataseries/tiny.ds").unwrap();
    for (name, bytes) in [("a.ds", &tiny[..]), ("b.ds", &tiny[..tiny.len() / 2]), ("c.ds", &tiny[..])] {
        std::fs::write(place.join(name), bytes).unwrap();
    }
    let one = good(&["cat", "--no-header", place.join("a.ds").to_str().unwrap()]);
    for form in [&[][..], &["--threads", "2"]] {
        let call = [&["cat", "--no-header"], form, &[place.to_str().unwrap()]].concat();
        let output = run(&call);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), [&*one, &*one].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines.len() == 2 && lines[0].contains("b.ds: "), "{said}");
        assert!(lines[1].ends_with("3 files: 2 printed, 1 bad; rows of these are missing above"), "{said}");
    }
}

/// The rows of a damaged file are counted by `--rows`; if none of them is printed, its columns bind no other file.
#[test]
fn a_damaged_file_keeps_its_place() {
    let place = place("damaged_place");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let (log, tiny) = (path("a.ds"), "../tests/golden/dataseries/tiny.ds");
    let sound = "../tests/golden/dataseries/sensor_log_lz4.ds";
    let rows = good(&["cat", "--no-header", sound]);
    let damage = |at: fn(usize) -> usize| {
        let mut bytes = std::fs::read(sound).unwrap();
        let place = at(bytes.len());
        bytes[place] ^= 0xff;
        std::fs::write(&log, bytes).unwrap();
    };
    // In the last extent.
    damage(|len| len * 9 / 10);
    let count = rows.lines().count();
    let wanted = format!("{}..{}", count - 2, count + 3);
    let output = run(&["cat", "--no-header", "--rows", &wanted, &log, sound]);
    assert_eq!(output.status.code(), Some(1));
    let first: String = rows.lines().take(3).map(|line| format!("{line}\n")).collect();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), first);
    // In the first extent: no row is printed.
    damage(|len| len / 4);
    let output = run(&["cat", &log, tiny]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), good(&["cat", tiny]));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("2 files: 1 printed, 1 bad; rows of these are missing above"), "{said}");
}
