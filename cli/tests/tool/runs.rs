//! Several runs of a device in one file, and in a copy of its flash: listed, and printed one by one.

use std::fs;

use pilaster::bytes::LittleEndian;
use pilaster::dataseries::HEADER_LEN;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};

use crate::{bad, good, run, target};

record! {
    /// Begins a run.
    struct Run<'a> = "Run" namespace "pilaster" version 1.0 about { firmware = "2.1.0", build = concat!("b", "17") } {
        boot: int32,
        reason: variable32 nullable,
    }
}
record! {
    struct Tick = "Tick" { n: int32 units "turns" comment "since the start > 0" }
}
const TYPES: Descriptions<'static> = Descriptions::of::<(Run<'_>, Tick)>();

/// A file of these runs, each with the numbers of its ticks; the first has no mark if `boot` is 0. `end`: with an index.
fn file(runs: &[(i32, std::ops::Range<i32>)], end: bool) -> Vec<u8> {
    let (mut slots, mut rows, mut texts, mut ticks) = ([IndexSlot::EMPTY; 32], [0; 64], [0; 64], [0; 16]);
    let mut log = Writer::<LittleEndian, _>::new(Vec::new(), TYPES, &mut slots);
    let mut mark =
        ExtentBuffer::of::<Run<'_>>(Memory { rows: &mut rows, pool: &mut texts, ..Memory::default() }).unwrap();
    let mut buffer = ExtentBuffer::of::<Tick>(Memory::rows(&mut ticks)).unwrap();
    log.begin().unwrap();
    for (boot, ticks) in runs {
        if *boot > 0 {
            mark.push(&Run { boot: *boot, reason: (*boot == 2).then_some(b"watchdog") }).unwrap();
            log.flush(&mut mark).unwrap();
        }
        for n in ticks.clone() {
            log.push(&mut buffer, &Tick { n }).unwrap();
        }
        log.flush(&mut buffer).unwrap();
    }
    if end { log.finish().unwrap() } else { std::mem::take(log.sink()) }
}

/// Checks that `info` lists the runs 0 to 3 of the file, and `cat` prints each.
fn has_runs(path: &str) {
    let info = good(&["info", path]);
    for line in [
        "0     Tick 2; before the first run that is still here\n",
        "1     Tick 5; boot 1\n",
        "2     none; boot 2, reason watchdog\n",
        "3     Tick 7; boot 3\n",
    ] {
        assert!(info.contains(line), "{line} in {info}");
    }
    let cat = |args: &[&str]| good(&[&["cat", "--table", "Tick", "--no-header"], args, &[path]].concat());
    let all = ["0", "1", "2", "3"].map(|run| cat(&["--run", run]));
    assert_eq!(all, ["0\n1\n", "2\n3\n4\n5\n6\n", "", "7\n8\n9\n10\n11\n12\n13\n"]);
    assert_eq!(all.concat(), cat(&[]), "all rows are in a run");
    assert_eq!(cat(&["--run", "1", "-n", "2"]), "2\n3\n");
    assert_eq!(cat(&["--run", "1", "--rows", "4..9"]), "6\n", "not the rows of the next run");
    assert_eq!(cat(&["--run", "3", "--where", "n > 12"]), "13\n");
    assert_eq!(
        good(&["head", "--table", "Tick", "--no-header", "--run", "3", "-n", "1", "--where", "n > 8", path]),
        "9\n"
    );
    assert_eq!(good(&["cat", "--table", "Run", "--no-header", "--run", "2", path]), "2,watchdog\n");
    let refused = bad(2, &["cat", "--table", "Tick", "--run", "4", path]);
    assert!(refused.ends_with("there is no run 4; the file has 3"), "{refused}");
    assert!(bad(2, &["cat", "--run", "1", path]).contains("--run takes --table: the file has several tables"));
    assert!(bad(2, &["cat", "--table", "Tick", "--run", "1", path, path]).contains("--run is for one file"));
}

const ALL: [(i32, std::ops::Range<i32>); 4] = [(0, 0..2), (1, 2..7), (2, 7..7), (3, 7..14)];

#[test]
fn runs_of_a_file() {
    let path = target("runs.ds");
    fs::write(&path, file(&ALL, true)).unwrap();
    has_runs(&path);
    let document: serde_json::Value = serde_json::from_str(&good(&["info", "--json", &path])).unwrap();
    assert_eq!(document["runs"][2]["fields"]["reason"], "watchdog");
    assert_eq!(document["runs"][3]["rows"]["Tick"], 7);
    assert!(good(&["info", "-v", &path]).contains("\n3     Tick 7; boot 3\n"));
}

#[test]
fn info_says_who_wrote_a_file() {
    let path = target("about.ds");
    fs::write(&path, file(&ALL, true)).unwrap();
    let info = good(&["info", &path]);
    for part in [
        "table     Run\nrows      3\nfirmware  2.1.0\nbuild     b17\n",
        "\nn       int32; units turns; comment since the start > 0\n",
    ] {
        assert!(info.contains(part), "{part} in {info}");
    }
    let verbose = good(&["info", "-v", &path]);
    assert!(
        verbose.contains("\nfirmware  2.1.0\n") && verbose.contains("  units turns, comment since the start"),
        "{verbose}"
    );
    let document: serde_json::Value = serde_json::from_str(&good(&["info", "--json", &path])).unwrap();
    assert_eq!(document["tables"][0]["about"]["build"], "b17");
    assert_eq!(document["tables"][1]["columns"][0]["about"]["units"], "turns");
}

#[test]
fn runs_of_a_file_that_is_being_written() {
    let path = target("growing.ds");
    let bytes = file(&ALL, false);
    fs::write(&path, &bytes[..bytes.len() - 4]).unwrap();
    let cat = |run: &str| run_cat(&["--no-index", "--run", run, &path]);
    assert_eq!(cat("1"), (Some(0), "2\n3\n4\n5\n6\n".to_owned()));
    // The complete rows, and an error where the file is torn.
    let (status, rows) = cat("3");
    assert_eq!(status, Some(1));
    assert!(rows.starts_with("7\n8\n") && "7\n8\n9\n10\n11\n12\n13\n".starts_with(&rows), "{rows}");
    let behind = bad(1, &["cat", "--table", "Tick", "--no-index", "--run", "4", &path]);
    assert!(behind.contains("at offset"), "the damage may hide a run: {behind}");
    assert!(bad(1, &["info", "--no-index", &path]).contains(&path), "info tells no runs of a part of a file");
}

/// Returns the status and the rows of `Tick`.
fn run_cat(args: &[&str]) -> (Option<i32>, String) {
    let output = run(&[&["cat", "--table", "Tick", "--no-header"], args].concat());
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_mark_of_a_run_that_is_damaged() {
    let path = target("no_mark.ds");
    let mut bytes = file(&[(1, 0..2), (3, 2..4)], true);
    // The second mark, with a wrong byte in its rows.
    let is_mark = |at: &usize| bytes[at + 28..].starts_with(b"Run");
    let next = |at: &usize| Some(at + extent_len(&bytes[*at..]));
    let mark = std::iter::successors(Some(HEADER_LEN), next).filter(is_mark).nth(1).unwrap();
    let end = mark + extent_len(&bytes[mark..]);
    bytes[end - 6] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let output = run(&["info", &path]);
    let (said, warned) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{warned}");
    assert!(said.contains("\n1     Tick 2; boot 1\n2     Tick 2\n"), "{said}");
    assert!(warned.contains("the fields of the runs from 2 on are unknown: "), "{warned}");
}

#[test]
fn a_file_without_runs() {
    let path = "../tests/golden/dataseries/sensor_log_auto.ds";
    assert!(!good(&["info", path]).contains("\nrun "));
    assert!(bad(2, &["cat", "--run", "1", path]).contains("no runs are marked"));
    assert!(bad(2, &["cat", "--run", "1", "../tests/golden/jay/alltypes_n0.jay"]).contains("--run is for DataSeries"));
}

const SEGMENT: usize = 1024;

/// A segment of a flash whose words have `word` bytes.
fn segment(number: u32, word: usize, file: &[u8]) -> Vec<u8> {
    let mut bytes = [*b"pseg", number.to_le_bytes(), (!number).to_le_bytes(), [0xff; 4]].concat();
    bytes.resize(16_usize.next_multiple_of(word), 0xff);
    bytes.extend_from_slice(&file[..HEADER_LEN]);
    // The types follow the header of the file; then each extent begins at a word.
    let mut at = HEADER_LEN;
    while at < file.len() {
        let len = extent_len(&file[at..]).min(file.len() - at);
        bytes.extend_from_slice(&file[at..][..len]);
        at += len;
        bytes.resize(bytes.len().next_multiple_of(word), 0xff);
    }
    assert!(bytes.len() <= SEGMENT);
    bytes.resize(SEGMENT, 0xff);
    bytes
}

fn extent_len(bytes: &[u8]) -> usize {
    pilaster::dataseries::Order::Little.header(bytes, 0).unwrap().span().len as usize
}

#[test]
fn runs_of_a_copy_of_a_flash() {
    for word in [4, 16, 32] {
        // The ring has gone round: the oldest is the second. A cut ended the last extent of the newest but one.
        let torn = &file(&[(2, 7..7), (3, 7..12)], false);
        let [first, second, third] =
            [file(&[(0, 0..2), (1, 2..7)], false), torn[..torn.len() - 4].to_vec(), file(&[(0, 11..14)], false)];
        let stale = segment(3, word, &file(&[(1, 90..95)], false));
        let bytes = [segment(7, word, &third), stale, segment(5, word, &first), segment(6, word, &second)].concat();
        let path = target(&format!("flash{word}.bin"));
        fs::write(&path, &bytes).unwrap();
        let output = run(&["cat", "--table", "Tick", "--no-header", "--run", "3", &path]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("segment 6, at offset 3072 of the flash, ends with"), "{said}");
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"7\n8\n9\n10\n11\n12\n13\n"[..]));
    }
}

#[test]
fn a_copy_whose_first_segment_was_being_erased() {
    let (mut first, second) = (segment(6, 4, &file(&[(0, 0..2)], false)), segment(5, 4, &file(&[(0, 2..5)], false)));
    first[..300].fill(0xa5);
    let path = target("half_erased.bin");
    fs::write(&path, [first, second].concat()).unwrap();
    assert_eq!(good(&["cat", "--table", "Tick", "--no-header", &path]), "2\n3\n4\n");
    // Other files without a magic number are what they were.
    fs::write(&path, [0xa5; 3000]).unwrap();
    assert!(bad(1, &["cat", &path]).contains("unknown format"));
}
