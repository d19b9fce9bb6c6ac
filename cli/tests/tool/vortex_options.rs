//! Options of `convert` for Vortex files: encodings, sizes, and their errors.

use crate::{bad, dump, good, target};

const SOURCE: &str = "../tests/golden/vortex/def_edge_8193_a.vortex";

/// Converts the source with options. Returns the path and the text of `info -v`.
fn converted(name: &str, options: &[&str]) -> (String, String) {
    let path = target(name);
    good(&[&["convert"], options, &[SOURCE, &path]].concat());
    good(&["verify", &path]);
    let shown = good(&["info", "-v", &path]);
    (path, shown)
}

#[test]
fn encodings_are_chosen_by_name() {
    let before = dump(&[SOURCE])["columns"].clone();
    for (name, options, some, none) in [
        ("compact.vortex", &["--encodings", "compact"][..], "vortex.pco", "vortex.chunked "),
        ("without.vortex", &["--encodings", "compact", "--without-encodings", "vortex.pco"], "fastlanes", "vortex.pco"),
        ("one.vortex", &["--encodings", "vortex.runend", "--no-dictionaries"], "vortex.primitive", "fastlanes."),
        ("plain.vortex", &["--no-statistics", "--no-dictionaries"], "fastlanes.", "vortex.zoned"),
    ] {
        let (path, shown) = converted(name, options);
        assert!(shown.contains(some) && !shown.contains(none), "{options:?}: {shown}");
        let (same, columns) = (dump(&[&path])["columns"].clone(), before.as_array().unwrap());
        for (k, column) in columns.iter().enumerate() {
            assert_eq!((&same[k]["sha256"], &same[k]["type"]), (&column["sha256"], &column["type"]), "{options:?}");
        }
    }
}

#[test]
fn zones_and_chunks_have_the_given_sizes() {
    let (_, shown) = converted("zones.vortex", &["--zone-rows", "1024", "--chunk-size", "0k", "--no-dictionaries"]);
    assert!(shown.contains("vortex.chunked, 8193 rows") && shown.contains("vortex.flat, 9 rows"), "{shown}");
}

#[test]
fn wide_files_have_no_new_encoding() {
    let path = target("wide.vortex");
    good(&["convert", "--profile", "wide", "../tests/golden/vortex/enc_sequence_a.vortex", &path]);
    let shown = good(&["info", "-v", &path]);
    assert!(!shown.contains("vortex.sequence") && shown.contains("fastlanes.for"), "{shown}");
}

#[test]
fn errors_name_the_option() {
    let path = target("refused.vortex");
    for (option, value, why) in [
        ("--encodings", "vortex.rle", "these are: vortex.varbinview, "),
        ("--encodings", "fastlanes.delta", "not an encoding that is written"),
        ("--without-encodings", "vortex.primitive", "an encoding that has no alternative"),
        ("--zone-rows", "1000", "not a multiple of 1024"),
        ("--chunk-size", "2000000000", "1073741824"),
        ("--chunk-size", "64kB", "10k is 10 * 1024"),
    ] {
        let line = bad(2, &["convert", option, value, SOURCE, &path]);
        assert!(line.contains(option) && line.contains(value) && line.contains(why), "{line}");
    }
}
