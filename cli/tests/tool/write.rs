//! The commands that write files: `convert` and `recover`, on every golden.

use std::fs;

use serde_json::Value;

use crate::common;
use crate::{bad, dump, good, place, run, target};

fn tables(file: &str) -> Value {
    dump(&[file])["tables"].take()
}

fn goldens() -> Vec<common::Golden> {
    let all = common::of("dataseries").into_iter();
    all.filter(|golden| !golden.name.contains("damaged") && !golden.name.contains("varcount")).collect()
}

/// Options of `convert` that change the storage.
const WAYS: [&[&str]; 4] = [
    &["--compress", "none"],
    &["--order", "big", "--compress", "lzf,lz4,snappy"],
    &["--order", "little", "--plain", "--pad", "max_column_size", "--ordering", "big_to_small", "--compact", "no"],
    &["--compact", "yes", "--ordering", "small_to_big", "--compress", "zlib", "--level", "1"],
];

#[test]
fn converted_files_hold_the_same_rows() {
    let place = place("convert");
    let target = place.join("out.ds");
    let target = target.to_str().unwrap();
    // Each golden with one entry of `WAYS`, in turn, to limit the number of processes.
    for (golden, way) in goldens().iter().zip(WAYS.iter().cycle()) {
        let path = golden.path.to_str().unwrap();
        // Scaled values that were rounded change when they are rounded again.
        if golden.name.contains("lossy") {
            continue;
        }
        let output = run(&[&["convert", "--force"], *way, &[path, target]].concat());
        let warning = str::from_utf8(&output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{}: {warning}", golden.name);
        // Only of fixedwidth fields in a foreign byte order.
        let foreign = golden.name.contains("fixedwidth") && warning.contains("foreign byte order");
        assert!(warning.is_empty() || foreign && warning.lines().count() == 1, "{}: {warning}", golden.name);
        assert!(good(&["verify", target]).contains(": ok, "), "{}", golden.name);
        assert_eq!(tables(target), tables(path), "{} {way:?}", golden.name);
    }
    assert_eq!(fs::read_dir(place).unwrap().count(), 1, "nothing else is left there");
}

#[test]
fn without_a_change_an_uncompressed_file_stays_as_it_is() {
    let target = &target("same.ds");
    for name in ["tiny", "tiny_be", "tiny_compact", "nulls_compact_mixed_none_be"] {
        let path = format!("../tests/golden/dataseries/{name}.ds");
        good(&["convert", "--force", "--compress", "none", &path, target]);
        assert!(fs::read(&path).unwrap() == fs::read(target).unwrap(), "{name}");
    }
    let twin = "../tests/golden/dataseries/tiny_be.ds";
    good(&["convert", "--force", "--order", "little", "--compress", "none", twin, target]);
    assert!(fs::read("../tests/golden/dataseries/tiny.ds").unwrap() == fs::read(target).unwrap());
}

#[test]
fn packing_shrinks_and_plain_cells_grow() {
    let target = &target("pack.ds");
    let packed = "../tests/golden/dataseries/sensor_log_zlib.ds";
    let size = |way: &[&str]| {
        good(&[&["convert", "--force"], way, &[packed, target]].concat());
        fs::metadata(target).unwrap().len()
    };
    let (kept, plain) = (size(&["--compress", "zlib"]), size(&["--compress", "zlib", "--plain"]));
    assert!(kept < plain, "{kept} {plain}");
    assert!(!good(&["info", "-v", target]).contains("relative"));
    let smallest = size(&["--compress", "smallest"]);
    assert!(smallest <= kept, "the smallest of all is no larger than one of them");
    assert_eq!(size(&[]), size(&["--compress", "lz4"]), "the default is lz4");
    assert!(smallest < size(&[]));
}

#[test]
fn recovered_files_are_sound() {
    let target = &target("recover.ds");
    let mut recovered = 0;
    for golden in common::of("dataseries") {
        let output = run(&["recover", "--force", "--format", "dataseries", golden.path.to_str().unwrap(), target]);
        if output.status.code() == Some(0) {
            assert!(good(&["verify", target]).contains(": ok, "), "{}", golden.name);
            let report = String::from_utf8(output.stdout).unwrap();
            if !golden.name.contains("damaged") {
                assert!(report.ends_with("; nothing is lost\n"), "{}: {report}", golden.name);
                assert_eq!(tables(target), tables(golden.path.to_str().unwrap()), "{}", golden.name);
            }
            recovered += 1;
        } else {
            assert!(golden.name.contains("damaged"), "{}", golden.name);
        }
    }
    assert!(recovered > 190, "only {recovered}");
}

#[test]
fn what_is_lost_is_said() {
    let target = &target("lost.ds");
    let report = good(&["recover", "--force", "../tests/golden/dataseries/damaged/payload_flip.ds", target]);
    assert!(
        report.starts_with("lost: 2744 bytes at 340, rows of Test::AllTypes: dataseries extent adler32"),
        "{report}"
    );
    assert!(report.ends_with("lost.ds: 20 rows in 1 extents, 2148 bytes; lost 2744 bytes in 1 places\n"), "{report}");

    // The type extent is enough: the header is not needed.
    let lost = "../tests/golden/dataseries/damaged/bad_magic.ds";
    let report = good(&["recover", "--force", "--format", "dataseries", lost, target]);
    assert!(report.starts_with("damaged: the file header, no rows: magic number at offset 0"), "{report}");
    assert!(report.ends_with("; nothing is lost\n"), "{report}");
    // Or another file's.
    let sound = "../tests/golden/dataseries/all_types_zlib.ds";
    let report =
        good(&["recover", "--force", "--format", "dataseries", "--types", sound, "--order", "little", lost, target]);
    assert!(report.ends_with("; nothing is lost\n"), "{report}");
}

#[test]
fn a_target_that_cannot_be_is_an_error() {
    let place = place("target");
    let nowhere = place.join("no/such/place.ds");
    let sound = "../tests/golden/dataseries/tiny.ds";
    assert!(bad(1, &["convert", "--force", sound, nowhere.to_str().unwrap()]).contains("place.ds: "));
    let target = place.join("out.ds");
    let damaged = "../tests/golden/dataseries/damaged/payload_flip.ds";
    assert!(bad(1, &["convert", "--force", damaged, target.to_str().unwrap()]).contains("adler32"));
    assert_eq!(fs::read_dir(place).unwrap().count(), 0, "no half of a file is left");
    let filo = "../tests/golden/filo/bin_double.filo";
    good(&["convert", "--force", "--type", "double", filo, target.to_str().unwrap()]);
    assert!(good(&["verify", target.to_str().unwrap()]).contains(": ok, "));
}
