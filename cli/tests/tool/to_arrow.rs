//! Parquet, Arrow, CSV and JSON lines as targets of `convert`.

use std::fs;
use std::io::Read as _;

use crate::{bad, good, out, place, run, run_on};

const JAY: &str = "../tests/golden/jay/alltypes_n5.jay";
const VORTEX: &str = "../tests/golden/vortex/def_nested_a.vortex";

#[test]
fn the_extension_or_the_option_names_the_format() {
    let place = place("to_arrow_names");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let parquet = |bytes: &[u8]| bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1");
    let file = |bytes: &[u8]| bytes.starts_with(b"ARROW1") && bytes.ends_with(b"ARROW1");
    let stream = |bytes: &[u8]| bytes.starts_with(&[0xff; 4]);
    for (name, line, is_right) in [
        ("a.parquet", "of Parquet", &parquet as &dyn Fn(&[u8]) -> bool),
        ("a.PQ", "of Parquet", &parquet),
        ("a.arrow", "of Arrow", &file),
        ("a.feather", "of Arrow", &file),
        ("a.arrows", "of Arrow", &stream),
    ] {
        for source in [JAY, VORTEX] {
            let said = good(&["convert", "--force", source, &path(name)]);
            assert!(said.contains(line), "{said}");
            let columns = if source == JAY { "str32,int64,float64" } else { "st,li,lst,fsl" };
            let expected = run(&["cat", "--columns", columns, source]);
            assert_eq!(out(&run(&["cat", "--columns", columns, &path(name)])), out(&expected), "{name} of {source}");
            assert!(is_right(&fs::read(path(name)).unwrap()), "{name} of {source}");
        }
    }
    good(&["convert", "--to", "parquet", JAY, &path("b")]);
    assert_eq!(fs::read(path("b")).unwrap().len(), {
        good(&["convert", JAY, &path("c.parquet")]);
        fs::read(path("c.parquet")).unwrap().len()
    });
    let streamed = run(&["convert", "--to", "arrows", JAY, "-"]);
    assert!(streamed.status.success() && stream(&streamed.stdout));
    good(&["convert", JAY, &path("d.arrows")]);
    assert_eq!(streamed.stdout, fs::read(path("d.arrows")).unwrap());
}

#[test]
fn text_is_that_of_cat() {
    let place = place("to_text");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    for source in [JAY, VORTEX] {
        for (name, form) in [("a.csv", "csv"), ("a.jsonl", "jsonl"), ("a.ndjson", "jsonl")] {
            good(&["convert", "--force", source, &path(name)]);
            let cat = run(&["cat", "--format-out", form, source]);
            assert_eq!(fs::read_to_string(path(name)).unwrap(), out(&cat), "{name} of {source}");
        }
    }
    good(&["convert", "--columns", "int8,str32", "--where", "int8 is not missing", JAY, &path("b.csv.gz")]);
    let mut text = String::new();
    let bytes = fs::read(path("b.csv.gz")).unwrap();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    let cat = run(&["cat", "--columns", "int8,str32", "--where", "int8 is not missing", JAY]);
    assert_eq!(text, out(&cat));
    assert!(text.lines().count() > 2, "{text}");
    let printed = run(&["convert", "--to", "csv", JAY, "-"]);
    assert_eq!(out(&printed), out(&run(&["cat", JAY])));
    assert!(bad(2, &["convert", "--bytes-as-text", JAY, &path("c.csv")]).contains("--bytes-as-text"));
    assert!(!place.join("c.csv").exists());
}

#[test]
fn compressions_are_those_of_the_format() {
    let place = place("to_arrow_compression");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    for compression in ["none", "snappy", "lz4", "zlib", "zstd"] {
        good(&["convert", "--force", "--compression", compression, VORTEX, &path("a.parquet")]);
        let arrow = ["convert", "--force", "--compression", compression, VORTEX, &path("a.arrow")];
        match compression {
            "snappy" | "zlib" => assert!(bad(1, &arrow).contains(&format!("compression {compression} in Arrow IPC"))),
            _ => {
                assert!(good(&arrow).contains("of Arrow"));
                assert_eq!(out(&run(&["cat", &path("a.arrow")])), out(&run(&["cat", VORTEX])), "{compression}");
            }
        }
        assert_eq!(out(&run(&["cat", &path("a.parquet")])), out(&run(&["cat", VORTEX])), "{compression}");
    }
}

#[test]
fn times_that_parquet_lacks_are_converted() {
    let place = place("to_arrow_times");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    good(&["convert", "../tests/golden/vortex/def_temporal_a.vortex", &path("a.parquet")]);
    let info = good(&["info", &path("a.parquet")]);
    assert!(info.contains("timestamp[ms") && !info.contains("timestamp[s"), "{info}");
    // The values are equal to the source, as text without the zeros of the finer unit.
    let rows = |source: &str| out(&run(&["cat", source])).replace(".000", "");
    assert_eq!(rows(&path("a.parquet")), rows("../tests/golden/vortex/def_temporal_a.vortex"));
}

#[test]
fn unknown_extensions_are_refused_with_a_list() {
    let why = bad(2, &["convert", JAY, "a.xlsx"]);
    assert!(why.contains(".parquet") && why.contains(".csv") && why.contains("--format-out"), "{why}");
    let why = bad(2, &["recover", VORTEX, "a.csv"]);
    assert!(why.contains("recover does not write text"), "{why}");
}

#[test]
fn recover_writes_parquet() {
    let place = place("to_arrow_recover");
    let target = place.join("a.parquet").to_str().unwrap().to_owned();
    good(&["recover", VORTEX, &target]);
    assert_eq!(out(&run(&["cat", &target])), out(&run(&["cat", VORTEX])));
}

#[test]
fn many_files_are_converted_to_a_directory() {
    let place = place("to_arrow_many");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    fs::create_dir_all(place.join("old/sub")).unwrap();
    fs::copy(JAY, place.join("old/a.jay")).unwrap();
    fs::copy(VORTEX, place.join("old/sub/a.vortex")).unwrap();
    fs::copy("../tests/golden/dataseries/multi_type_be.ds", place.join("old/sub/multi.ds")).unwrap();
    fs::copy("../tests/golden/dataseries/tiny.ds", place.join("old/sub/a.ds")).unwrap();
    fs::write(place.join("old/notes.txt"), "not a table").unwrap();
    let said = good(&["convert", "--to", "parquet", "--out-dir", &path("new/er"), &path("old"), JAY]);
    assert!(said.contains("files of Parquet from 5 files; 1 of unknown format left out"), "{said}");
    let mut names = Vec::new();
    let mut left = vec![place.join("new")];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => {
                    // Every row can be read.
                    assert!(good(&["verify", path.to_str().unwrap()]).contains("Parquet, "));
                    names.push(path.strip_prefix(place.join("new/er")).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
    }
    names.sort();
    let expected = ["a.parquet", "alltypes_n5.parquet", "sub/a.ds.parquet", "sub/a.vortex.parquet"];
    assert_eq!(names[..4], expected);
    assert!(names[4..].iter().any(|name| name == "sub/multi.Beta__Sub.parquet"), "{names:?}");

    // A file that is refused does not stop the others, and gives status 1.
    let bytes = fs::read(JAY).unwrap();
    fs::write(place.join("old/cut.jay"), &bytes[..bytes.len() - 9]).unwrap();
    fs::write(place.join("old/bad.vortex"), b"VTXF0000VTXF").unwrap();
    let again = run(&["convert", "--to", "csv", "--only", "jay,vortex", "--out-dir", &path("text"), &path("old")]);
    assert_eq!(again.status.code(), Some(1));
    let error = str::from_utf8(&again.stderr).unwrap();
    assert!(error.contains("bad.vortex: "), "{error}");
    assert!(out(&again).contains("2 files of CSV from "), "{}", out(&again));
    assert!(place.join("text/sub/a.csv").exists() && !place.join("text/bad.csv").exists());

    assert!(bad(2, &["convert", JAY]).contains("<TARGET> is missing"));
    assert!(bad(2, &["convert", JAY, JAY, &path("x")]).contains("--out-dir"));
    assert!(bad(2, &["convert", "--out-dir", &path("x"), JAY]).contains("--format-out"));
}

/// Files that would have the same name, and files that are not of the five formats.
#[test]
fn many_files_have_names_that_differ() {
    let place = place("to_arrow_names_differ");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    fs::create_dir_all(place.join("old")).unwrap();
    fs::create_dir_all(place.join("new/er")).unwrap();
    fs::copy(JAY, place.join("old/a.jay")).unwrap();
    good(&["convert", JAY, &path("new/er/alltypes_n5.parquet")]);
    good(&["convert", JAY, &path("new/er/a.parquet")]);
    let parquet = path("new/er/alltypes_n5.parquet");
    good(&[
        "convert",
        "--to",
        "jay",
        "--out-dir",
        &path("same"),
        JAY,
        &path("old/a.jay"),
        &parquet,
        &path("new/er/a.parquet"),
    ]);
    let mut names: Vec<_> = fs::read_dir(place.join("same")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.jay.jay", "a.parquet.jay", "alltypes_n5.jay.jay", "alltypes_n5.parquet.jay"]);
    fs::copy(JAY, place.join("a.jay")).unwrap();
    good(&["convert", "--to", "csv", "--out-dir", &path("twice"), &path("a.jay"), &path("old/a.jay")]);
    assert!(place.join("twice/a.jay.csv").exists() && place.join("twice/a.jay.2.csv").exists());
}

#[test]
fn every_command_reads_what_convert_writes() {
    let place = place("from_arrow");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    for (source, columns, rows) in [(JAY, "str32,int64,float64", 5), (VORTEX, "st,li,lst,fsl", 260)] {
        let expected = run(&["cat", "--columns", columns, source]);
        for name in ["a.parquet", "a.arrow", "a.arrows"] {
            good(&["convert", "--force", source, &path(name)]);
            assert_eq!(out(&run(&["cat", "--columns", columns, &path(name)])), out(&expected), "{name} of {source}");
            let head = out(&run(&["head", "-n", "3", "--columns", columns, &path(name)])).to_owned();
            assert_eq!(head, out(&run(&["head", "-n", "3", "--columns", columns, source])), "{name} of {source}");
            let info = good(&["info", &path(name)]);
            assert!(info.contains(&format!("rows      {rows}\n")), "{info}");
            assert!(good(&["verify", &path(name)]).contains(&format!("{rows} rows in ")));
            // Back to a format of the library, from any of them to any other.
            good(&["convert", "--force", "--columns", columns, &path(name), &path("b.vortex")]);
            assert_eq!(out(&run(&["cat", &path("b.vortex")])), out(&expected), "{name} of {source}");
            for other in ["b.parquet", "b.arrow", "b.arrows"] {
                good(&["convert", "--force", "--columns", columns, &path(name), &path(other)]);
                assert_eq!(out(&run(&["cat", &path(other)])), out(&expected), "{name} to {other} of {source}");
            }
        }
    }
    // Streams go through pipes.
    let stream = run(&["convert", "--to", "arrows", JAY, "-"]).stdout;
    assert_eq!(out(&run_on(&["cat", "-"], &stream)), out(&run(&["cat", JAY])));
    let back = run_on(&["convert", "--to", "jay", "-", "-"], &stream);
    assert!(back.status.success() && back.stdout.starts_with(b"JAY1"));
}

#[test]
fn conditions_and_columns_of_parquet_and_text() {
    let place = place("from_arrow_where");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let text = "city,year,price\nBern,1191,2.5\n\"Rome, Italy\",,3\nÜrzig,1870,\n";
    fs::write(path("a.csv"), text).unwrap();
    good(&["convert", &path("a.csv"), &path("a.parquet")]);
    for source in ["a.csv", "a.parquet"] {
        let cat = |args: &[&str]| {
            let source = path(source);
            let args: Vec<&str> = args.iter().copied().chain([source.as_str()]).collect();
            out(&run(&args)).to_owned()
        };
        assert_eq!(cat(&["cat"]), "city,year,price\nBern,1191,2.5\n\"Rome, Italy\",,3.0\nÜrzig,1870,\n");
        assert_eq!(cat(&["cat", "--where", "year > 1200", "--columns", "city"]), "city\nÜrzig\n");
        assert_eq!(cat(&["head", "-n", "1", "--where", "price is not missing", "--columns", "price"]), "price\n2.5\n");
        assert_eq!(cat(&["cat", "--rows", "1..2", "--columns", "year,city"]), "year,city\n,\"Rome, Italy\"\n");
        for target in ["b.vortex", "b.jay", "b.parquet", "b.csv"] {
            let condition = "price >= 3 or price is missing";
            good(&["convert", "--force", "--columns", "year,city", "--where", condition, &path(source), &path(target)]);
            let expected = "year,city\n,\"Rome, Italy\"\n1870,Ürzig\n";
            assert_eq!(out(&run(&["cat", &path(target)])), expected, "{source} to {target}");
        }
    }
    let typed = ["convert", "--schema", "year: int16", &path("a.csv"), &path("c.jay")];
    good(&typed);
    assert!(good(&["info", &path("c.jay")]).contains("year    int16"));
    let why = bad(1, &["convert", "--schema", "city: int16", &path("a.csv"), &path("d.jay")]);
    assert!(why.contains("a.csv: ") && why.contains("Bern"), "{why}");
    assert!(!place.join("d.jay").exists());
    let why = bad(2, &["convert", "--schema", "city: int17", &path("a.csv"), &path("d.jay")]);
    assert!(why.contains("int17"), "{why}");
    assert!(bad(2, &["cat", "--delimiter", ";", &path("a.parquet")]).contains("are for CSV and JSON lines"));
    assert!(bad(2, &["cat", "--type", "int", &path("a.csv")]).contains("are not for CSV"));
    fs::write(path("semicolon.txt"), "1;x\nNA;y\n").unwrap();
    let source = path("semicolon.txt");
    let found = run(&["head", "--format", "csv", &source]);
    let warning = String::from_utf8(found.stderr).unwrap();
    assert!(warning.contains("the only column is called \"1;x\"; with --delimiter ';' there are 2"), "{warning}");
    for (text, names) in [("\"a;b\"\n1\n", None), ("\"a;\";\"b\"\n1;2\n", Some(2)), ("a|\";\"|c\n1|2|3\n", Some(3))] {
        fs::write(path("quoted.csv"), text).unwrap();
        let warning = String::from_utf8(run(&["head", &path("quoted.csv")]).stderr).unwrap();
        let is_right = names.map_or(warning.is_empty(), |names| warning.ends_with(&format!("there are {names}\n")));
        assert!(is_right, "{text}: {warning}");
    }
    let args = ["cat", "--format", "csv", "--delimiter", ";", "--headerless", "--null-text", "NA", &source];
    assert_eq!(out(&run(&args)), "column_1,column_2\n1,x\n,y\n");
}

#[test]
fn a_damaged_file_is_an_error() {
    let place = place("from_arrow_damaged");
    for name in ["a.parquet", "a.arrow", "a.arrows"] {
        let path = place.join(name).to_str().unwrap().to_owned();
        good(&["convert", VORTEX, &path]);
        let whole = fs::read(&path).unwrap();
        // A byte within the values: what is read ends with an error, or in full.
        for at in (whole.len() / 4..whole.len() * 3 / 4).step_by(whole.len() / 16 + 1) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            fs::write(&path, &damaged).unwrap();
            let read = run(&["verify", &path]);
            let error = str::from_utf8(&read.stderr).unwrap();
            assert!(
                read.status.success() || read.status.code() == Some(1) && error.contains(name),
                "{name} {at}: {error}"
            );
            assert!(error.lines().count() <= 1, "{error}");
        }
        for cut in [8, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            for command in ["info", "verify", "cat"] {
                let output = run(&[command, &path]);
                let error = str::from_utf8(&output.stderr).unwrap();
                // A stream that ends between two messages is complete for its readers.
                let is_whole = name == "a.arrows" && output.status.success();
                assert!(is_whole || output.status.code() == Some(1), "{command} {name} {cut}: {error}");
                assert!(is_whole || error.contains(name), "{error}");
                assert!(!error.contains("panicked"), "{error}");
            }
        }
    }
}

#[test]
fn json_lines_are_read_as_they_are_written() {
    let place = place("from_json");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    for source in [JAY, VORTEX] {
        good(&["convert", "--force", source, &path("a.jsonl")]);
        let expected = run(&["cat", source]);
        assert_eq!(out(&run(&["cat", &path("a.jsonl")])), out(&expected), "{source}");
    }
    fs::write(path("b.jsonl"), "{\"a\": 18446744073709551615, \"b\": \"NaN\"}\n{\"b\": 2.5}\n{\"b\": \"-Infinity\"}\n")
        .unwrap();
    let info = good(&["info", &path("b.jsonl")]);
    assert!(info.contains("a       uint64?") && info.contains("b       float64?"), "{info}");
    assert_eq!(out(&run(&["cat", &path("b.jsonl")])), "a,b\n18446744073709551615,NaN\n,2.5\n,-Infinity\n");
}

#[test]
fn info_tells_how_parquet_and_arrow_are_stored() {
    let place = place("to_arrow_info");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    fs::write(path("a.csv"), "n,t\n1,a\n2,\n,\n").unwrap();
    for name in ["a.parquet", "a.arrow", "a.arrows"] {
        good(&["convert", &path("a.csv"), &path(name)]);
    }
    let said = good(&["info", "--verbose", &path("a.parquet")]);
    for line in ["groups    1 row groups", "writer    parquet-rs", "n       INT64"] {
        assert!(said.contains(line), "{said}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&good(&["info", "--verbose", "--json", &path("a.parquet")])).unwrap();
    let columns = json["facts"]["columns"].as_array().unwrap();
    assert_eq!(columns.iter().map(|column| column["missing"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    assert_eq!(columns[1]["compressions"][0], "SNAPPY");
    assert!(good(&["info", "--verbose", &path("a.arrow")]).ends_with("groups    1 record batches\n"));
    assert!(bad(2, &["info", "--verbose", &path("a.arrows")]).contains("--verbose is not for Arrow IPC stream"));
    assert!(bad(2, &["info", "--verbose", &path("a.csv")]).contains("--verbose is not for CSV"));
}

#[test]
fn json_numbers_are_not_rounded() {
    let place = place("to_arrow_json_numbers");
    let path = place.join("a.jsonl").to_str().unwrap().to_owned();
    fs::write(&path, "{\"a\":18446744073709551617}\n").unwrap();
    assert!(bad(1, &["cat", &path]).contains("no type of 64 bits holds all numbers"));
    fs::write(&path, "{\"a\":1.8446744073709552e19}\n").unwrap();
    assert_eq!(good(&["cat", "--no-header", &path]), "1.8446744073709552e19\n");
}

#[test]
fn a_bad_file_does_not_stop_cat() {
    let place = place("to_arrow_cat");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    fs::write(path("a.csv"), "n\n1\n").unwrap();
    good(&["convert", &path("a.csv"), &path("a.parquet")]);
    fs::write(path("bad.parquet"), "PAR1 and nothing else PAR1").unwrap();
    let output = run(&["cat", &path("a.parquet"), &path("bad.parquet"), &path("a.csv")]);
    assert_eq!((output.status.code(), out(&output)), (Some(1), "n\n1\n1\n"));
    assert!(str::from_utf8(&output.stderr).unwrap().contains("3 files: 2 printed, 1 bad"));
}

/// A row group without a readable page is not noticed if its statistics rule it out.
#[test]
fn statistics_of_parquet_rule_row_groups_out() {
    let place = place("to_arrow_statistics");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    fs::write(path("a.csv"), "n,t\n1,a\n2,b\n3,\n").unwrap();
    good(&["convert", "--compression", "none", &path("a.csv"), &path("a.parquet")]);
    let mut bytes = fs::read(path("a.parquet")).unwrap();
    bytes[4..24].fill(0xff);
    fs::write(path("b.parquet"), bytes).unwrap();
    let trust = "--trust-statistics";
    for condition in ["n > 3", "n < 1 and t = 'a'", "n = 7 or t > 'b'", "n is missing"] {
        let b = path("b.parquet");
        assert!(bad(1, &["cat", "--where", condition, &b]).contains("b.parquet"), "{condition}");
        assert_eq!(good(&["cat", trust, "--where", condition, &b]), "n,t\n", "{condition}");
        for to in ["c.csv", "c.parquet", "c.vortex"] {
            good(&["convert", "--force", trust, "--where", condition, &b, &path(to)]);
            assert_eq!(good(&["cat", &path(to)]), "n,t\n", "{to}");
        }
    }
    for (condition, rows) in [("n >= 2", "2,b\n3,\n"), ("t = 'a'", "1,a\n"), ("t is missing", "3,\n")] {
        assert!(bad(1, &["cat", trust, "--where", condition, &path("b.parquet")]).contains("b.parquet"), "{condition}");
        let args = ["cat", "--no-header", trust, "--where", condition, &path("a.parquet")];
        assert_eq!(good(&args), rows, "{condition}");
    }
}

#[test]
fn csv_keeps_empty_texts_and_missing_values() {
    let place = place("from_csv_empty");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    for (name, text) in [("a.csv", "t,n\n\"\",1\n,\nx,-3\n"), ("b.csv", "t\n\n\"\"\n\nx\n"), ("c.csv", "n\n1\n\n2\n")] {
        fs::write(path(name), text).unwrap();
        for target in ["x.vortex", "x.jay", "x.parquet", "x.arrows"] {
            good(&["convert", "--force", &path(name), &path(target)]);
            good(&["convert", "--force", &path(target), &path("back.csv")]);
            assert_eq!(fs::read_to_string(path("back.csv")).unwrap(), text, "{name} by {target}");
        }
    }
    fs::write(path("d.csv"), "t\nNA\n\"NA\"\n").unwrap();
    assert_eq!(out(&run(&["cat", "--null-text", "NA", &path("d.csv")])), "t\n\nNA\n");
}

#[test]
fn given_types_are_exact_or_refused() {
    let place = place("from_text_schema");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    fs::write(path("a.csv"), "price\n1.5\n1.555\n").unwrap();
    let why = bad(1, &["cat", "--schema", "price: decimal(10,2)", &path("a.csv")]);
    assert!(why.contains("line 3, column \"price\": \"1.555\"") && why.contains("digits after the point"), "{why}");
    for (schema, why) in
        [("price: decimal(10,-2)", "negative scale"), ("price: decimal(10,2", "no type"), ("price: int64 x", "no type")]
    {
        let said = bad(2, &["cat", "--schema", schema, &path("a.csv")]);
        assert!(said.contains(why), "{said}");
    }
    fs::write(path("a.jsonl"), "{\"code\": 1.50}\n{\"code\": \"x\"}\n").unwrap();
    assert!(bad(1, &["cat", &path("a.jsonl")]).contains("object 2"));
    assert_eq!(out(&run(&["cat", "--schema", "code: utf8", &path("a.jsonl")])), "code\n1.50\nx\n");
}

#[test]
fn a_type_that_changes_in_the_last_row_is_found() {
    let place = place("last_row");
    let path = |name: &str| place.join(name).to_str().unwrap().to_owned();
    // More rows than a batch has.
    let mut text = "n,s\n".to_owned();
    (0..70_000).for_each(|row| text += &format!("{row},\n"));
    fs::write(path("same.csv"), &text).unwrap();
    fs::write(path("float.csv"), text.clone() + "0.5,\n").unwrap();
    fs::write(path("text.csv"), text + "1,x\n").unwrap();
    for (name, types) in [("same", ["int64", "null"]), ("float", ["float64", "null"]), ("text", ["int64", "string"])] {
        for target in ["vortex", "parquet", "jay", "arrows"] {
            let target = path(&format!("{name}.{target}"));
            good(&["convert", &path(&format!("{name}.csv")), &target]);
            let info = good(&["info", &target]);
            assert!(info.contains(types[0]) && info.contains(types[1]), "{target}: {info}");
            assert_eq!(
                good(&["cat", "--rows", "0..1", &target]).lines().nth(1).map(|row| row.len()),
                Some(if name == "float" { 4 } else { 2 }),
                "{target}"
            );
        }
    }
}
