//! Several threads: the same output as with one, the same errors, and bounded memory.

use std::sync::OnceLock;

use pilaster::any::{self, File, Hints};
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::column;
use pilaster::dataseries::Mode;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Smallest, Writer};

use pilaster::unstable::any::verify_share;
use pilaster::unstable::limits::Share;

use super::*;

record! {
    struct Trade<'a> = "Trade" { time: int64 relative, price: double, size: int32 nullable, venue: variable32 nullable, odd: bool,
        late: int32 nullable }
}

const ROWS: i64 = 1000;

/// Returns a DataSeries file of many compressed extents.
fn series() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| written("threads.ds", 40))
}

/// Returns the same file with more rows: several pieces of every column.
fn long() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| written("threads_long.ds", 270))
}

fn written(name: &str, extents: i64) -> String {
    let (mut slots, mut rows, mut pool) = (vec![IndexSlot::EMPTY; 280], vec![0; 1 << 20], vec![0; 1 << 20]);
    let compress = Smallest::of(&[Mode::Lz4], 9).unwrap();
    let mut writer =
        Writer::<LittleEndian, _, _>::with(Vec::new(), Descriptions::of::<Trade<'_>>(), &mut slots, compress);
    let memory = Memory { rows: &mut rows, pool: &mut pool, unique: &mut [] };
    let mut extent = ExtentBuffer::of::<Trade<'_>>(memory).unwrap();
    let mut seed = 1u64;
    for row in 0..extents * ROWS {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let venue = format!("venue, \"{}\" of {}", seed >> 60, seed >> 56);
        let trade = Trade {
            time: 1_700_000_000 + row,
            price: (seed >> 40) as f64 / 100.0,
            size: (seed >> 33 & 7 > 0).then_some((seed >> 50) as i32),
            venue: (seed >> 36 & 7 > 0).then_some(venue.as_bytes()),
            odd: seed >> 35 & 1 > 0,
            // Only the last row has no value.
            late: (row + 1 < extents * ROWS).then_some(7),
        };
        extent.push(&trade).unwrap();
        if row % ROWS == ROWS - 1 {
            writer.flush(&mut extent).unwrap();
        }
    }
    let path = target(name);
    fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

/// Returns files with the same rows in every format that can be written, and a Vortex file with others.
fn files() -> Vec<String> {
    static JAY: OnceLock<[String; 2]> = OnceLock::new();
    let converted = JAY.get_or_init(|| {
        [target("threads.jay"), target("threads.bcolz")].map(|path| {
            let more: &[&str] = if path.ends_with("jay") { &["--bytes-as-text"] } else { &["--chunklen", "1500"] };
            good(&[&["convert", "--fill-missing", series(), &path], more].concat());
            path
        })
    });
    let vortex = "../tests/golden/vortex/def_big_small_a.vortex".to_owned();
    [series().to_owned()].into_iter().chain(converted.clone()).chain([vortex]).collect()
}

/// Returns the result of a call, with a given number of threads.
fn with(threads: &str, args: &[&str]) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let Output { status, stdout, stderr } = run(&[args, &["--threads", threads]].concat());
    (status.code(), stdout, stderr)
}

/// Checks that a call has the same result with any number of threads. Returns its output.
fn same(args: &[&str]) -> Vec<u8> {
    let one = with("1", args);
    let more = with("3", args);
    // Not `assert_eq`, which would print all of it.
    assert!(more == one, "{args:?} with several threads: {:?}", String::from_utf8_lossy(&more.2));
    one.1
}

#[test]
fn the_text_of_rows_is_the_same() {
    for path in &files() {
        let rows = same(&["cat", "--rows", "..40000", path]);
        let lines = |text: &[u8]| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(lines(&rows).len(), 40_002, "{path}");
        same(&["cat", "--json-lines", "--rows", "..40000", path]);
        same(&["cat", "--format-out", "table", "--rows", "..20000", path]);
        // Rows that begin and end within parts, and none.
        let some = same(&["cat", "--rows", "12345..38765", "--no-header", path]);
        assert!(lines(&some)[..26_420] == lines(&rows)[12_346..38_766], "{path}");
        assert!(same(&["cat", "--rows", "900000..", path]).ends_with(b"\n"));
    }
    // Rows are counted over all files.
    same(&["cat", "--rows", "30000..70000", series(), &files()[2]]);
    for condition in ["size > 5000 and not odd = true", "price < 0", "venue is missing"] {
        let rows = same(&["cat", "--columns", "time,venue,size", "--where", condition, series()]);
        assert!(rows.starts_with(b"time,venue,size\n"), "{condition}: {}", String::from_utf8_lossy(&rows));
    }
}

#[test]
fn rows_of_small_files_are_the_same() {
    // Every file that has a second piece, and some others.
    let large = |path: &Path| fs::metadata(path).unwrap().len() > 1 << 16;
    for (k, golden) in common::all().iter().enumerate() {
        if !golden.name.starts_with("filo/") && (k % 16 == 0 || large(&golden.path)) {
            same(&["cat", golden.path.to_str().unwrap()]);
        }
    }
}

/// Returns the bytes of a file, or of all files of a dataset with their names.
fn bytes(path: &str) -> Vec<u8> {
    if !Path::new(path).is_dir() {
        return fs::read(path).unwrap();
    }
    let mut all = Vec::new();
    for file in common::files(Path::new(path)) {
        all.extend(file.strip_prefix(path).unwrap().to_str().unwrap().as_bytes());
        all.extend(fs::read(file).unwrap());
    }
    all
}

/// Converts a file with one and with several threads.
fn converted(path: &str, to: &str, options: &[&str]) {
    let [one, more] = ["1", "3"].map(|threads| {
        let to = target(&format!("threads_{threads}_{to}"));
        let (status, line, error) = with(threads, &[&["convert", path, &to], options].concat());
        let line = String::from_utf8(line).unwrap().replace(&to, "");
        assert_eq!((status, String::from_utf8(error).unwrap()), (Some(0), String::new()), "{path} to {to} {options:?}");
        (line, bytes(&to))
    });
    assert!(one.1.len() > 10_000 && one == more, "{path} to {to} {options:?}: {} {}", one.0, more.0);
}

#[test]
fn converted_files_are_the_same() {
    for path in &files() {
        for options in [&["--compress", "none", "--order", "big"][..], &["--compress", "zlib,snappy", "--level", "1"]] {
            converted(path, "a.ds", options);
        }
        converted(path, "a.jay", &["--bytes-as-text"]);
        converted(path, "a.bcolz", &["--fill-missing"]);
        converted(path, "a.vortex", &[]);
    }
    for options in [&["--compress", "zlib", "--level", "1"][..], &["--plain", "--order", "big"], &["--compact", "yes"]]
    {
        converted(series(), "b.ds", options);
    }
}

/// The columns of these files are read in pieces, ahead of the thread that writes them.
#[test]
fn columns_that_are_read_ahead_are_the_same() {
    let dataset = target("threads_long.bcolz");
    good(&["convert", "--fill-missing", "--chunklen", "9000", long(), &dataset]);
    converted(long(), "c.jay", &["--bytes-as-text"]);
    converted(long(), "c.bcolz", &["--fill-missing", "--codec", "zstd"]);
    converted(long(), "c.filo", &["--columns", "price"]);
    for options in [&[][..], &["--profile", "wide", "--chunk-size", "50000"], &["--no-dictionaries", "--no-statistics"]]
    {
        converted(long(), "c.vortex", options);
    }
    // Conditions on columns that are not converted, too.
    let condition = ["--where", "size > 5000 and not odd = true", "--columns", "venue,time"];
    converted(long(), "d.jay", &[&condition[..], &["--bytes-as-text"]].concat());
    converted(&dataset, "d.bcolz", &[&condition[..], &["--fill-missing"]].concat());
    let vortex = "../tests/golden/vortex/def_big_small_a.vortex";
    converted(vortex, "e.jay", &["--any-time"]);
    converted(vortex, "e.bcolz", &["--fill-missing", "--any-time"]);

    // The error of a dataset names the file. The other columns need no chunk of it.
    let chunk = format!("{dataset}/price/data/__27.blp");
    let bytes = fs::read(&chunk).unwrap();
    fs::write(&chunk, &bytes[..bytes.len() - 9]).unwrap();
    let to = target("threads_refused.jay");
    let error = refused(&dataset, &to, &["--bytes-as-text"]);
    assert!(error.contains("price/data/__27.blp"), "{error}");
    converted(&dataset, "f.jay", &["--columns", "time,size"]);
}

/// Returns the error of a conversion, which does not depend on the number of threads, and leaves nothing.
fn refused(path: &str, to: &str, options: &[&str]) -> String {
    let [one, more] = ["1", "3"].map(|threads| with(threads, &[&["convert", path, to], options].concat()));
    assert!(one == more && one.0 == Some(1), "{one:?} {more:?}");
    assert!(!Path::new(to).exists());
    String::from_utf8(one.2).unwrap()
}

#[test]
fn errors_of_late_pieces_are_the_same() {
    // An extent that cannot be unpacked, in the last piece.
    let (mut bytes, damaged) = (fs::read(long()).unwrap(), target("threads_late.ds"));
    let at = bytes.len() * 19 / 20;
    bytes[at] ^= 0x55;
    fs::write(&damaged, bytes).unwrap();
    refused(&damaged, &target("threads_late.jay"), &["--bytes-as-text"]);
    refused(&damaged, &target("threads_late.bcolz"), &["--columns", "price"]);
    refused(&damaged, &target("threads_late.vortex"), &[]);
    // A missing value in the last row, which bcolz cannot store.
    let error = refused(long(), &target("threads_late.bcolz"), &["--columns", "late"]);
    assert!(error.contains("column late (int32)") && error.contains(" row 269999 "), "{error}");
    let error = refused(long(), &target("threads_late.bcolz"), &["--columns", "late", "--where", "time > 0"]);
    assert!(error.contains("column late (int32)") && error.contains(" row 269999 "), "{error}");
}

/// Damage in the middle: the same error, and no file.
#[test]
fn an_error_of_a_conversion_is_the_same() {
    let (jay, damaged) = (fs::read(&files()[1]).unwrap(), target("threads_damaged.jay"));
    // Offsets of texts are before the texts.
    let texts = jay.windows(7).position(|seven| seven == b"venue, ").unwrap();
    let mut refused = 0;
    for back in [20_000, 60_000, 100_000] {
        let mut bytes = jay.clone();
        bytes[(texts - back) | 3] ^= 0x7f;
        fs::write(&damaged, &bytes).unwrap();
        let to = target("threads_refused.ds");
        let [one, more] = ["1", "3"].map(|threads| with(threads, &["convert", &damaged, &to, "--force"]));
        assert!(one == more, "{one:?} {more:?}");
        if one.0 == Some(1) {
            refused += 1;
            assert!(!Path::new(&to).exists());
        }
    }
    assert!(refused > 0);
}

#[test]
fn valid_files_are_valid() {
    for path in &files() {
        let line = same(&["verify", path]);
        assert!(str::from_utf8(&line).unwrap().contains(": ok, "), "{path}");
    }
}

/// Returns whether each of `of` shares of a file is valid.
fn shares(file: &File<'_>, of: u64) -> bool {
    let check = |number| {
        let mut memory = column::Memory::with_len(1 << 16).unwrap();
        loop {
            match verify_share(file, Share { number, of }, &mut memory.scratch()) {
                Err(any::FileError::Format(e)) if e.kind() == pilaster::error::Kind::NoRoom => memory.grow(e).unwrap(),
                done => return done.is_ok(),
            }
        }
    };
    (0..of).all(check)
}

#[test]
fn a_file_is_valid_if_its_shares_are() {
    let mut refused = 0;
    for (k, golden) in common::all().iter().enumerate().filter(|(_, golden)| !golden.name.starts_with("filo/")) {
        let Ok(mut owned) = any::Owned::open(&golden.path, &Hints::default()) else { continue };
        let Ok(file) = owned.file() else { continue };
        let whole = shares(&file, 1);
        for of in [2, 3, 33] {
            assert_eq!(shares(&file, of), whole, "{} in {of} shares", golden.name);
        }
        if golden.path.is_dir() || k % 4 > 0 {
            continue;
        }
        let (format, intact) = (file.format(), golden.bytes());
        for part in 1..12 {
            let mut bytes = intact.clone();
            let at = bytes.len() * part / 12;
            bytes[at] ^= 0x41;
            let mut memory = vec![0; 1 << 20];
            let hints = Hints::default();
            let Ok(file) = File::open(&bytes, format, &hints, &mut Scratch::new(&mut memory)) else { continue };
            let whole = shares(&file, 1);
            refused += u32::from(!whole);
            assert_eq!(shares(&file, 3), whole, "{}, byte {at}", golden.name);
        }
    }
    assert!(refused > 50, "{refused}");
}

/// An error in the middle: the rows before it are printed, then the error.
#[test]
fn an_error_is_the_same() {
    let intact = fs::read(series()).unwrap();
    let path = target("threads_damaged.ds");
    let whole = same(&["cat", series()]);
    for at in [intact.len() / 3, intact.len() / 2, intact.len() * 3 / 4] {
        let mut bytes = intact.clone();
        bytes[at] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let (status, rows, line) = with("2", &["cat", &path]);
        assert_eq!(status, Some(1), "{}", String::from_utf8_lossy(&line));
        assert!(whole.starts_with(&rows) && rows.len() > whole.len() / 5 && rows.len() < whole.len());
        assert_eq!(String::from_utf8(line).unwrap().lines().count(), 1);
        same(&["cat", &path]);
        assert_eq!(with("3", &["verify", &path]).0, Some(1));
        same(&["verify", &path]);
    }
    let dataset = &files()[2];
    let copy = target("threads_damaged.bcolz");
    let copied = Command::new("cp").args(["-r", dataset, &copy]).status().unwrap();
    assert!(copied.success());
    let chunk = format!("{copy}/price/data/__9.blp");
    let mut bytes = fs::read(&chunk).unwrap();
    let last = bytes.len() - 9;
    bytes.truncate(last);
    fs::write(&chunk, &bytes).unwrap();
    assert_eq!(with("3", &["verify", &copy]).0, Some(1));
    same(&["verify", &copy]);
    let rows = same(&["cat", &copy]);
    assert!(rows.split(|byte| *byte == b'\n').count() > 12_000);
}
