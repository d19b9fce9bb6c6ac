//! Conversions that could surprise: defaults, values that a format cannot hold, files of other formats.

use std::fs;

use crate::{bad, good, place, run};

const GOLDEN: &str = "../tests/golden/";

/// Returns the warnings of a call that must succeed.
fn warned(args: &[&str]) -> Vec<String> {
    let output = run(args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {text}");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn an_unknown_extension_is_an_error_that_lists_the_known_ones() {
    let place = place("extension");
    let source = format!("{GOLDEN}jay/view_slice.jay");
    for name in ["out.orc", "out.h5", "out.jay2", "out."] {
        let target = place.join(name);
        let line = bad(2, &["convert", &source, target.to_str().unwrap()]);
        let known = "the extension is none of .filo, .dataseries, .jay, .bcolz, .vortex, ";
        assert!(line.contains(name) && line.contains(known), "{line}");
        assert!(line.ends_with("; --format-out names the format to write"), "{line}");
        good(&["convert", "--format-out", "jay", &source, target.to_str().unwrap()]);
    }
    // Letters of any case, and no extension at all: the format of the source.
    for (name, format) in
        [("OUT.DS", "dataseries"), ("Out.Jay", "jay"), ("out", "jay"), (".ds", "jay"), ("x.vortex", "vortex")]
    {
        let target = place.join(name);
        assert!(good(&["convert", &source, target.to_str().unwrap()]).contains(&format!("bytes of {format}")));
    }
}

/// An extension that no format has is an error that names the option.
#[test]
fn a_target_of_an_unknown_extension() {
    let place = place("text_extension");
    let source = format!("{GOLDEN}jay/view_slice.jay");
    for name in ["y.TSV", "y.txt", "y.json", "y.gz"] {
        let target = place.join(name);
        let line = bad(2, &["convert", &source, target.to_str().unwrap()]);
        assert!(line.contains("the extension is none of ") && line.ends_with("names the format to write"), "{line}");
        // An option decides about the format whatever the name is.
        good(&["convert", "--format-out", "jay", &source, target.to_str().unwrap()]);
    }
    // `recover` from Vortex has no such option, and the same targets.
    let source = format!("{GOLDEN}vortex/enc_fsst_a.vortex");
    let refused = |name| bad(2, &["recover", &source, place.join(name).to_str().unwrap()]);
    assert!(refused("z.csv").contains("does not write text"));
    let line = refused("z.xlsx");
    assert!(line.contains("the extension is none of ") && !line.contains("--format-out"), "{line}");
}

#[test]
fn files_of_other_formats_are_named() {
    let place = place("foreign");
    let (file, target) = (place.join("file"), place.join("out.jay"));
    let (file, target) = (file.to_str().unwrap(), target.to_str().unwrap());
    for (bytes, name) in [
        (&b"FEA1\0\0\0\0"[..], "a Feather file of version 1"),
        (b"time,price\n1,2.5\n", "text, such as CSV (--format csv reads it)"),
        (b"{\"a\": 1}\n", "JSON text (--format jsonl reads one object per line)"),
        (b"\x89HDF\r\n\x1a\n\0", "an HDF5 file"),
        (b"SQLite format 3\0\x10", "an SQLite database"),
        (b"PK\x03\x04\x14\0", "a zip archive"),
        (b"\x1f\x8b\x08\0", "gzip data, which must be decompressed first"),
        (b"\x93NUMPY\x01\0", "a NumPy array"),
        (b"Obj\x01\x04", "an Avro file"),
        (b"ORC\x0a", "an ORC file"),
        (b"", "empty"),
    ] {
        // Without Arrow, the tool does not read them.
        let name = if cfg!(feature = "arrow") { name } else { name.split(" (--format").next().unwrap() };
        fs::write(file, bytes).unwrap();
        for args in [&["info", file][..], &["cat", file], &["verify", file], &["convert", file, target]] {
            let line = bad(1, args);
            assert!(line.contains(&format!("file: the file is {name}")), "{line}");
        }
    }
    // Formats that other commands read.
    for (bytes, name) in
        [(&b"PAR1\x15\x04"[..], "a Parquet file"), (b"ARROW1\0\0", "an Arrow IPC file (Feather version 2)")]
    {
        fs::write(file, bytes).unwrap();
        let line = bad(1, &["dump", file]);
        assert!(line.contains(&format!("file: the file is {name}")), "{line}");
        assert!(bad(1, &["info", file]).contains("file: "));
    }
    fs::write(file, b"").unwrap();
    // A format that the caller names, or a Filo vector by its element type, is taken at its word.
    assert!(!bad(1, &["info", "--format", "jay", file]).contains("the file is"));
    let line = bad(1, &["dump", place.to_str().unwrap()]);
    assert!(line.ends_with("a directory, but no bcolz dataset: it has neither __rootdirs__ nor meta/sizes"), "{line}");
}

#[test]
fn to_dataseries_the_default_is_lz4_and_smallest_tries_all() {
    let place = place("compress");
    let target = place.join("out.ds");
    let target = target.to_str().unwrap();
    for source in ["dataseries/sensor_log_zlib.ds", "jay/mixed_n5000.jay", "bcolz/ctable_chunks"] {
        let source = format!("{GOLDEN}{source}");
        let size = |way: &[&str]| {
            good(&[&["convert", "--force", "--stored-times"], way, &[&source, target]].concat());
            let info = good(&["info", "-v", target]);
            (fs::metadata(target).unwrap().len(), info)
        };
        let ((default, info), (lz4, _)) = (size(&[]), size(&["--compress", "lz4"]));
        assert_eq!(default, lz4, "{source}");
        assert!(info.contains("lz4") && !info.contains("bz2") && !info.contains("zlib"), "{info}");
        let (smallest, _) = size(&["--compress", "smallest"]);
        let (all, _) = size(&["--compress", "lzo,zlib,bz2,lzf,snappy,lz4,lz4hc"]);
        assert_eq!(smallest, all);
        assert!(smallest < default);
    }
}

#[test]
fn fixedwidth_fields_of_a_foreign_byte_order_bring_a_warning() {
    let place = place("foreign_order");
    let target = place.join("out.ds");
    let target = target.to_str().unwrap();
    let (native, foreign) = if cfg!(target_endian = "big") { ("big", "little") } else { ("little", "big") };
    let why = "the original program does not read fixedwidth fields of a foreign byte order";
    let fixed = fs::read_dir(format!("{GOLDEN}dataseries")).unwrap().map(|entry| entry.unwrap().path());
    let fixed = fixed.filter(|path| path.extension().is_some_and(|extension| extension == "ds"));
    let fixed = fixed.map(|path| path.to_str().unwrap().to_owned());
    let fixed =
        fixed.filter(|path| String::from_utf8_lossy(&run(&["info", "-v", path]).stdout).contains("fixedwidth("));
    let fixed = fixed.min().unwrap();
    let (fixed, plain) = (fixed.as_str(), "../tests/golden/dataseries/tiny.ds");
    for (source, order, warns) in
        [(fixed, foreign, true), (fixed, native, false), (plain, foreign, false), (plain, native, false)]
    {
        let lines = warned(&["convert", "--force", "--order", order, source, target]);
        assert_eq!(lines.len(), usize::from(warns), "{source} {order}: {lines:?}");
        assert!(lines.iter().all(|line| line.contains(why) && line.ends_with(&format!("(--order {native})"))));
    }
}

/// The minimum of an integer type means missing in Jay: the error names column, type, value, row and option, and each option does as it says.
#[test]
fn sentinels_of_jay_are_errors_missing_or_widened() {
    let place = place("sentinels");
    let (target, back) = (place.join("out.jay"), place.join("back.ds"));
    let (target, back) = (target.to_str().unwrap(), back.to_str().unwrap());
    let to_jay = |how: &[&str], source: &str| run(&[&["convert", "--force"], how, &[source, target]].concat());
    let types = format!("{GOLDEN}dataseries/all_types_zlib.ds");
    let values = |file: &str, column: &str| good(&["cat", "--no-header", "--columns", column, file]);

    // An int32 of DataSeries.
    let refused = to_jay(&["--columns", "i0"], &types);
    let line = crate::failed(1, &refused);
    let least = "jay column, in which the minimum of the type means missing: the value of row ";
    let remedy = "(--sentinels widen stores the column in a wider type, --sentinels missing makes the value missing)";
    assert!(
        line.contains(&format!("column i0 (int32), value -2147483648: {least}")) && line.ends_with(remedy),
        "{line}"
    );
    assert_eq!(to_jay(&["--columns", "i0", "--sentinels", "error"], &types).stderr, refused.stderr);
    assert!(values(&types, "i0").contains("-2147483648"));
    assert_eq!(to_jay(&["--columns", "i0", "--sentinels", "widen"], &types).status.code(), Some(0));
    assert_eq!(values(target, "i0"), values(&types, "i0"));
    assert!(good(&["info", target]).contains("int64"));
    assert_eq!(to_jay(&["--columns", "i0", "--sentinels", "missing"], &types).status.code(), Some(0));
    assert_eq!(values(target, "i0"), values(&types, "i0").replace("-2147483648", ""));
    assert!(good(&["info", target]).contains("int32"));

    // No type is wider than 64 bits.
    let longs = format!("{GOLDEN}filo/simple_long_extremes.filo");
    for how in [&[][..], &["--sentinels", "widen"]] {
        let line = crate::failed(1, &to_jay(&[&["--type", "long"], how].concat(), &longs));
        assert!(
            line.contains("column v (int64), value -9223372036854775808: ")
                && line.ends_with("(--sentinels missing makes it missing)"),
            "{line}"
        );
    }
    assert_eq!(to_jay(&["--type", "long", "--sentinels", "missing"], &longs).status.code(), Some(0));
    good(&["convert", "--force", target, back]);

    let line = bad(2, &["convert", "--sentinels", "keep", &types, target]);
    assert!(line.contains("'--sentinels <SENTINELS>'") && line.contains("widen, missing, error"), "{line}");
}

/// Microsecond and nanosecond timestamps, which a DeltaDelta of Filo holds, but the original's reader returns other values.
#[test]
fn to_filo_no_delta_delta_is_written_that_the_original_misreads() {
    let place = place("microseconds");
    let target = place.join("out.filo");
    let target = target.to_str().unwrap();
    for name in ["filo_steps_of_microseconds", "filo_steps_of_nanoseconds"] {
        let source = format!("../tests/regressions/{name}.filo");
        good(&["convert", "--force", "--type", "long", "--format-out", "filo", &source, target]);
        let info = good(&["info", "-v", "--type", "long", target]);
        assert!(info.contains("encoding  ") && !info.to_lowercase().contains("delta"), "{info}");
        assert_eq!(good(&["cat", "--type", "long", target]), good(&["cat", "--type", "long", &source]));
    }
}
