//! DataSeries files that are damaged, or claim more than they should: what each command answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::dataseries::ExtentType;
use pilaster::dataseries::write::{Cell, Description, Descriptions, ExtentBuffer, IndexSlot, Writer};
use pilaster::limits::Limits;

use crate::{bad, good, place, run, target};

const TINY: &str = "../tests/golden/dataseries/tiny.ds";

/// Writes `TINY` with byte `at` changed to a file called `name`.
fn changed(place: &Path, name: &str, at: usize) -> String {
    let mut bytes = fs::read(TINY).unwrap();
    bytes[at] ^= 0xff;
    let path: PathBuf = place.join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_byte_of_the_file_header_may_be_damaged() {
    let place = place("header");
    let target = &target("header.ds");
    for at in 0..40 {
        let damaged = changed(&place, "damaged.ds", at);
        let first = ["recover", "--force", damaged.as_str(), target];
        if at < 4 {
            let line = bad(1, &first);
            assert!(line.contains("--format dataseries"), "byte {at}: {line}");
            let line = bad(1, &["cat", &damaged]);
            assert!(line.ends_with("recover --format dataseries saves the intact part)"), "byte {at}: {line}");
        } else {
            good(&first);
        }
        let ways: [&[&str]; 3] = [
            &["recover", "--force", "--format", "dataseries", &damaged, target],
            &["recover", "--force", "--types", TINY, &damaged, target],
            &["recover", "--force", "--order", "little", &damaged, target],
        ];
        for way in ways {
            let report = good(way);
            assert!(report.contains("damaged: the file header, no rows: ") || at >= 32, "byte {at}: {report}");
            assert!(report.ends_with("2 rows in 1 extents, 664 bytes; nothing is lost\n"), "byte {at}: {report}");
            assert!(fs::read(TINY).unwrap() == fs::read(target).unwrap(), "byte {at}: the file is as it was");
        }
    }
}

#[test]
fn a_damaged_type_extent_wants_the_types_of_another_file() {
    let place = place("types");
    let target = &target("types.ds");
    for at in [40, 43, 56, 60, 64, 66, 70, 100, 300, 370] {
        let damaged = changed(&place, "damaged.ds", at);
        let line = bad(1, &["recover", "--force", &damaged, target]);
        assert!(line.contains("(--types takes them from an intact file)"), "byte {at}: {line}");
        let report = good(&["recover", "--force", "--types", TINY, &damaged, target]);
        assert!(report.starts_with("lost: 336 bytes at 40"), "byte {at}: {report}");
        assert!(report.contains("2 rows in 1 extents, 664 bytes; lost 336 bytes in 1 places\n"), "byte {at}: {report}");
        assert!(fs::read(TINY).unwrap() == fs::read(target).unwrap(), "byte {at}: the file is as it was");
    }
    // Header and types are lost: the other file tells the order, too.
    let damaged = changed(&place, "damaged.ds", 40);
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[..40].fill(0x55);
    fs::write(&damaged, bytes).unwrap();
    assert!(bad(1, &["recover", "--force", "--format", "dataseries", &damaged, target]).contains("--types"));
    assert!(
        good(&["recover", "--force", "--types", TINY, &damaged, target]).contains("2 rows in 1 extents, 664 bytes")
    );
}

/// The name of a damaged extent may be any bytes: a message has them as escapes, and only the first of many.
#[test]
fn a_damaged_type_name_is_shown_as_escapes() {
    let (place, to) = (place("type_name"), target("type_name.ds"));
    let report = |at: usize, name: &[u8]| {
        let mut bytes = fs::read("../tests/golden/dataseries/many_extents.ds").unwrap();
        assert_eq!(bytes[570..583], *b"\x0b\0Log::Sensor");
        bytes[at..at + name.len()].copy_from_slice(name);
        let path = place.join("damaged.ds");
        fs::write(&path, bytes).unwrap();
        let report = good(&["recover", "--force", path.to_str().unwrap(), &to]);
        assert!(report.lines().count() == 2 && !report.contains(|c: char| c.is_control() && c != '\n'), "{report:?}");
        report.split_once(": dataseries extent adler32 at offset 560: ").unwrap().0.to_owned()
    };
    let lost = "lost: 344 bytes at 544, rows of";
    assert_eq!(
        report(572, b"\n\x1b[2J\xff\xfe\x80\xc3\t\x07"),
        format!("{lost} \\n\\u{{1b}}[2J\\xff\\xfe\\x80\\xc3\\t\\u{{7}}")
    );
    // The length of the name.
    let long = report(570, &[250]);
    assert!(long.starts_with(&format!("{lost} Log::Sensor\\u{{0}}\\x90")) && long.ends_with("..."), "{long}");
    assert!(long.len() < 400, "{long}");
}

#[test]
fn files_that_recover_does_not_know() {
    let target = &target("unknown.ds");
    let line = bad(1, &["recover", "--force", "--format", "filo", TINY, target]);
    assert!(
        line.contains("recover is for DataSeries, Jay, bcolz and Vortex; this is filo (--format dataseries"),
        "{line}"
    );
    let nowhere = "../tests/golden/dataseries/none.ds";
    assert!(bad(1, &["recover", "--force", "--types", nowhere, TINY, target]).contains("none.ds: "));
    let other = "../tests/golden/filo/bin_double.filo";
    assert!(bad(1, &["recover", "--force", "--types", other, TINY, target]).contains("bin_double.filo: "));
}

/// A file of `count` types that has three extents of each, of one row.
fn many_types(count: usize) -> Vec<u8> {
    let xml = |name: &str| format!("<ExtentType name=\"{name}\"><field type=\"bool\" name=\"b\" /></ExtentType>");
    let names: Vec<String> = (0..count).map(|k| format!("t{k:05}")).collect();
    let texts: Vec<String> = names.iter().map(|name| xml(name)).collect();
    let descriptions: Vec<_> =
        names.iter().zip(&texts).map(|(name, xml)| Description { name, xml: xml.as_bytes() }).collect();
    let mut slots = vec![IndexSlot::EMPTY; 3 * count];
    let types = Descriptions::new(&descriptions).unwrap();
    let mut writer = Writer::<LittleEndian, _>::new(Vec::new(), types, &mut slots);
    for text in texts.iter().chain(&texts).chain(&texts) {
        let mut memory = [0; 1024];
        let ty = ExtentType::parse(text.as_bytes(), &Limits::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
        let mut extent = ExtentBuffer::<LittleEndian, _>::growing(ty).unwrap();
        let mut row = extent.row().unwrap();
        row.set(0, Cell::Bool(true)).unwrap();
        row.end().unwrap();
        writer.flush_any(&mut extent).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn the_time_of_info_is_linear_in_the_number_of_types() {
    let path = place("types_many").join("many.ds");
    fs::write(&path, many_types(4000)).unwrap();
    let path = path.to_str().unwrap();
    let start = Instant::now();
    let info = good(&["info", "-v", path]);
    assert_eq!(info.matches("rows      3 in 3 extents, 8 bytes each").count(), 4000);
    assert!(info.ends_with("b       bool           3           0\n"), "{}", &info[info.len() - 100..]);
    assert_eq!(good(&["info", "-v", "--no-index", path]).matches("\ntable     t").count(), 4000);
    assert!(good(&["verify", path]).contains("12000 rows in 12000 extents"));
    assert_eq!(good(&["dump", path]).matches("{\"type_name\": \"t").count(), 4000);
    // A walk over the file for each type takes minutes here.
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn the_cost_of_a_file_is_bounded() {
    let target = &target("cost.ds");
    let bomb = "../tests/regressions/unpacks_to_13_gb.ds";
    let sound = "../tests/golden/dataseries/many_extents.ds";
    let calls: [&[&str]; 4] = [&["info", "-v"], &["dump"], &["verify"], &["convert", "--force"]];
    for call in calls {
        let to: &[&str] = if call[0] == "convert" { &[target] } else { &[] };
        for (option, limit) in [("--max-rows", "max_file_rows"), ("--max-decoded", "max_file_decoded")] {
            let output = run(&[call, &[option, "9", sound], to].concat());
            let line = str::from_utf8(&output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{line}");
            let end = format!(" ({option} raises it)\n");
            assert!(line.contains(&format!("{limit} at offset")), "{call:?}: {line}");
            assert!(line.contains(": limit of 9 reached") && line.ends_with(&end), "{call:?}: {line}");
            good(&[call, &[option, "100000", sound], to].concat());
        }
    }
    fs::remove_file(target).unwrap();
    let line = bad(1, &["recover", "--force", "--max-decoded", "1000000", bomb, target]);
    assert!(
        line.ends_with("max_file_decoded at offset 192: limit of 1000000 reached (--max-decoded raises it)"),
        "{line}"
    );
    let damaged = "../tests/golden/dataseries/damaged/payload_flip.ds";
    let line = bad(1, &["recover", "--force", "--max-problems", "0", damaged, target]);
    assert!(line.ends_with("max_problems at offset 340: limit of 0 reached (--max-problems raises it)"), "{line}");
    let line = bad(1, &["recover", "--force", "--max-rows", "1", damaged, target]);
    assert!(line.contains("max_file_rows at offset") && line.contains(": limit of 1 reached"), "{line}");
    assert!(!Path::new(target).exists(), "nothing is written");
    let filo = "../tests/golden/filo/bin_double.filo";
    assert!(bad(2, &["verify", "--max-rows", "1", "--type", "double", filo]).contains("--max-rows, --max-decoded"));
    // The options hold for other formats, too.
    for (file, rows) in [("vortex/enc_alp_a.vortex", true), ("bcolz/attrs", true), ("jay/mixed_n5000.jay", false)] {
        let path = format!("../tests/golden/{file}");
        let line = bad(1, &["verify", "--max-rows", "1", &path]);
        assert!(line.contains(": limit of 1 reached") && line.ends_with("(--max-rows raises it)"), "{line}");
        good(&["verify", "--max-rows", "100000", &path]);
        if rows {
            let line = bad(1, &["verify", "--max-decoded", "9", &path]);
            assert!(line.contains("max_file_decoded at offset"), "{line}");
            assert!(line.ends_with(": limit of 9 reached (--max-decoded raises it)"), "{line}");
            good(&["verify", "--max-decoded", "100000000", &path]);
        }
    }
}
