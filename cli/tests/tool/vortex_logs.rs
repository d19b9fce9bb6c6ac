//! `recover` and `verify` of Vortex logs that the library writes.

use std::collections::BTreeMap;
use std::ops::Range;

use pilaster::bytes::IoSink;
use pilaster::error::{Kind, What};
use pilaster::vortex::log::{Frames, Log, Of, Policy, Resume};

use super::vortex_torn::written;
use super::*;

pilaster::vortex::record! {
    /// A row with missing values, texts and a type with a unit.
    struct Reading<'a> {
        time: timestamp_ms "UTC",
        temp: f32 nullable,
        place: utf8,
        count: u16,
    }
}

/// A log of the logger of the library: every row group that was written is saved, with its nulls and texts.
#[test]
fn a_log_of_the_library_is_saved() {
    let (mut memory, mut groups) = ([0; Reading::memory_len(16, 200)], [0; 16 * (3 + 4)]);
    let mut log = Log::of::<Reading>(Vec::new(), (&mut memory, 16), &mut groups, Policy::Every(3)).unwrap();
    for row in 0..160u16 {
        let temp = (row % 3 > 0).then_some(f32::from(row) * 0.25);
        let place = ["attic", "cellar", ""][usize::from(row % 3)];
        log.push(&Reading { time: 1000 * i64::from(row), temp, place, count: row * row }).unwrap();
    }
    let bytes = log.finish().unwrap();
    let (whole, to) = (written("library.vortex", &bytes), target("library_saved.vortex"));
    let all = good(&["cat", &whole]);
    assert_eq!(all.lines().count(), 161);
    let mut counts = Vec::new();
    for len in (0..bytes.len()).rev().step_by(97) {
        let output = run(&["recover", "--force", &written("library_cut.vortex", &bytes[..len]), &to]);
        if output.status.code() == Some(1) {
            break;
        }
        let text = good(&["cat", &to]);
        assert!(all.starts_with(&text), "{len}: {text}");
        assert!(good(&["verify", &to]).contains(": ok, "), "{len}");
        counts.push(text.lines().count() - 1);
    }
    assert!(counts.is_sorted_by(|a, b| a >= b) && counts.iter().all(|rows| rows % 16 == 0), "{counts:?}");
    counts.dedup();
    assert_eq!((counts.first(), counts.len()), (Some(&160), 11), "{counts:?}");
    let rows: Vec<&str> = all.lines().collect();
    for at in (0..bytes.len()).step_by(397) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x55;
        let said = good(&["recover", "--force", "--format", "vortex", &written("library_cut.vortex", &bytes), &to]);
        let text = good(&["cat", &to]);
        let mut saved = text.lines();
        assert_eq!(saved.next(), Some(rows[0]), "{at}");
        let saved: Vec<&str> = saved.collect();
        let lost = rows[1..].chunks(16).filter(|group| !saved.windows(16).any(|saved| saved == *group)).count();
        assert_eq!((saved.len() + 16 * lost, said.contains("; lost: 1 row group\n")), (160, lost == 1), "{at}: {said}");
    }
}

pilaster::vortex::record! {
    struct Tick { time: i64, count: i32 }
}

/// When checkpoints are written, and whether they are replaced.
const LOGS: [(&str, Policy, bool); 3] =
    [("two", Policy::ByHand, false), ("each", Policy::Every(1), false), ("replaced", Policy::Every(2), true)];

const TICKS: &str = "{time=i64, count=i32}";

/// Returns the name of a file that no other test has: tests run at the same time.
fn own(name: &str) -> String {
    let test = std::thread::current().name().unwrap_or_default().replace("::", "_");
    format!("{test}_{name}")
}

/// Returns a log of three row groups of 16 rows, and what `cat` prints.
fn ticks(policy: Policy, is_replaced: bool) -> (Vec<u8>, String) {
    let (mut memory, mut groups) = ([0; Tick::memory_len(16, 0)], [0; 8 * (3 + 2)]);
    let mut log = Log::of::<Tick>(Vec::new(), (&mut memory, 16), &mut groups, policy).unwrap();
    if is_replaced {
        log = log.replacing();
    }
    for time in 0..48 {
        log.push(&Tick { time, count: time as i32 * 7919 % 1000 }).unwrap();
    }
    let bytes = log.finish().unwrap();
    let all = good(&["cat", &written(&own("ticks.vortex"), &bytes)]);
    assert_eq!(all.lines().count(), 49);
    (bytes, all)
}

/// The ranges of row groups, and the end of the first checkpoint.
pub fn places(bytes: &[u8]) -> (Vec<Range<usize>>, usize) {
    let (mut frames, mut lens, mut all) = (Frames::new(bytes, 8), [0; 2], Vec::new());
    while let Some(frame) = frames.find(&mut lens).unwrap() {
        all.push(frame.at as usize..frame.end as usize);
    }
    let first = bytes.windows(4).skip(4).position(|four| four == b"VTXF").unwrap() + 8;
    (all, first)
}

/// Asserts that `recover` saves all row groups of `bytes` but those that `is_lost` names, and that its report counts them.
/// With `is_confirmed`, `--dtype` gives the columns; else only if the report asks for it.
fn saves_all_but(
    bytes: &[u8],
    all: &str,
    is_lost: &dyn Fn(&Range<usize>) -> bool,
    (frames, is_confirmed, what): (&[Range<usize>], bool, &str),
    seen: &mut BTreeMap<Vec<u8>, String>,
) {
    let (path, to) = (written(&own("ticks_bad.vortex"), bytes), target(&own("ticks_saved.vortex")));
    let without: [&[&str]; 2] =
        [&["recover", "--force", &path, &to], &["recover", "--force", "--dtype", TICKS, &path, &to]];
    let mut output = run(without[usize::from(is_confirmed)]);
    if str::from_utf8(&output.stderr).unwrap().contains("--dtype gives the right ones") {
        output = run(without[1]);
    }
    assert_eq!((output.status.code(), str::from_utf8(&output.stderr)), (Some(0), Ok("")), "{what}");
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    let mut expected = lines[0].to_owned();
    for (k, _) in frames.iter().enumerate().filter(|(_, frame)| frame.start < bytes.len() && !is_lost(frame)) {
        lines[1 + 16 * k..17 + 16 * k].iter().for_each(|line| expected.push_str(line));
    }
    let file = fs::read(&to).unwrap();
    let text = seen.entry(file).or_insert_with(|| good(&["cat", &to]));
    assert_eq!(*text, expected, "{what}: {}", out(&output));
    let lost = frames.iter().filter(|frame| frame.start < bytes.len() && is_lost(frame)).count();
    assert_eq!(out(&output).contains("; lost: 1 row group\n"), lost == 1, "{what}: {}", out(&output));
}

/// Logs of the library whose checkpoints are two, one for each row group, and replaced, with one damaged bit at every 16th
/// byte, and at every word of the last of two checkpoints: nothing is lost but the row group with the damage.
#[test]
fn damage_of_a_log_costs_the_row_group_that_has_it() {
    for (name, policy, is_replaced) in LOGS {
        let (bytes, all) = ticks(policy, is_replaced);
        let (frames, _) = places(&bytes);
        let mut seen = BTreeMap::new();
        assert_eq!(frames.len(), 3);
        let every = (8..bytes.len()).step_by(16).map(|at| (at + at / 16 % 16, at / 16 % 8));
        let last = (frames[2].end.next_multiple_of(8)..bytes.len())
            .step_by(if name == "two" { 4 } else { 32 })
            .map(|at| (at, 0));
        for (at, bit) in every.chain(last).filter(|(at, _)| *at < bytes.len()) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            let what = format!("{name}: bit {bit} of byte {at}");
            saves_all_but(&bytes, &all, &|frame| frame.contains(&at), (&frames, false, &what), &mut seen);
        }
    }
}

/// Damage of a log with one checkpoint, the first, if `--dtype` gives the columns.
#[test]
fn damage_of_the_only_checkpoint_costs_no_rows() {
    let (bytes, all) = ticks(Policy::ByHand, false);
    let (frames, first) = places(&bytes);
    let (bytes, mut seen) = (&bytes[..frames[2].end], BTreeMap::new());
    for (at, bit) in
        (8..first).step_by(3).map(|at| (at, at % 8)).chain((first..bytes.len()).step_by(16).map(|at| (at, at / 16 % 8)))
    {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1 << bit;
        let what = format!("bit {bit} of byte {at}");
        saves_all_but(&bytes, &all, &|frame| frame.contains(&at), (&frames, true, &what), &mut seen);
    }
}

/// Logs of the library that end at every seventh byte after their first checkpoint.
#[test]
fn a_cut_of_a_log_costs_the_row_group_that_it_is_in() {
    for (name, policy, is_replaced) in LOGS {
        let (bytes, all) = ticks(policy, is_replaced);
        let (frames, first) = places(&bytes);
        let mut seen = BTreeMap::new();
        for len in (first..bytes.len()).step_by(7) {
            let what = format!("{name}: the first {len} bytes");
            saves_all_but(&bytes[..len], &all, &|frame| frame.end > len, (&frames, false, &what), &mut seen);
        }
    }
}

/// The list of encodings of the only checkpoint is damaged: a log of these columns has this one, unless `--array-ids` gives
/// another one.
#[test]
fn encodings_are_those_of_a_log_of_the_columns() {
    let (mut memory, mut groups) = ([0; Reading::memory_len(16, 200)], [0; 16 * (3 + 4)]);
    let mut log = Log::of::<Reading>(Vec::new(), (&mut memory, 16), &mut groups, Policy::ByHand).unwrap();
    for row in 0..32u16 {
        let temp = (row % 3 > 0).then_some(f32::from(row) * 0.25);
        log.push(&Reading { time: 1000 * i64::from(row), temp, place: "attic", count: row * row }).unwrap();
    }
    let mut bytes = log.sink().clone();
    let to = target("own_ids_saved.vortex");
    let all = good(&["cat", &written("own_ids.vortex", &log.finish().unwrap())]);
    let at = bytes.windows(18).position(|id| id == b"fastlanes.bitpacke").unwrap();
    bytes[at + 12] ^= 1;
    let path = written("own_ids.vortex", &bytes);
    let said = good(&["recover", "--force", &path, &to]);
    assert!(said.contains("damaged: the encodings that the checkpoint that ends at "), "{said}");
    assert!(said.contains("assumed: the encodings have the numbers that a log of pilaster"), "{said}");
    assert_eq!(good(&["cat", &to]), all);
    let dtype = "{time=vortex.timestamp[ms, tz=UTC](i64), temp=f32?, place=utf8, count=u16}";
    let ids = "vortex.primitive,vortex.constant,vortex.bool,fastlanes.bitpacked,fastlanes.for,vortex.varbin,vortex.ext,vortex.alp";
    let said = good(&["recover", "--force", "--dtype", dtype, "--array-ids", ids, &path, &to]);
    assert!(!said.contains("assumed: "), "{said}");
    assert_eq!(good(&["cat", &to]), all);
}

pilaster::vortex::record! {
    struct Packet<'a> { number: u32, bytes: binary }
}

/// A value that is a row group of the same columns is no row group, also if the one that has it is damaged.
#[test]
fn a_row_group_in_a_value_is_not_saved() {
    let logged = |values: [&[u8]; 2]| {
        let (mut memory, mut groups) = ([0; Packet::memory_len(8, 8000)], [0; 8 * (3 + 2)]);
        let mut log = Log::of::<Packet>(Vec::new(), (&mut memory, 8), &mut groups, Policy::ByHand).unwrap();
        for (number, bytes) in (0..24u32).map(|row| (row, if row / 8 == 1 { values[row as usize % 2] } else { b"-" })) {
            log.push(&Packet { number, bytes }).unwrap();
        }
        log.finish().unwrap()
    };
    let inner = logged([b"a", b"b"]);
    let frame = &inner[places(&inner).0[1].clone()];
    let is_nested = |bytes: &[u8]| (0..bytes.len()).any(|at| at % 8 == 0 && at > 0 && bytes[at..].starts_with(frame));
    let padded = (0..8).map(|padding| logged([&vec![7; padding], frame]));
    let mut bytes = padded.into_iter().find(|bytes| is_nested(bytes)).unwrap();
    let whole = &places(&bytes).0[1];
    bytes[whole.start] ^= 1;
    let to = target("nested_saved.vortex");
    let said = good(&["recover", "--force", &written("nested.vortex", &bytes), &to]);
    assert!(said.ends_with("; lost: 1 row group\n"), "{said}");
    let rows = good(&["cat", "--columns", "number", &to]);
    let expected: String = (0..8).chain(16..24).map(|number| format!("{number}\n")).collect();
    assert_eq!(rows, format!("number\n{expected}"), "{said}");
}

/// The original refuses a file with a time zone that its database does not have.
#[test]
fn verify_tells_of_a_time_zone_that_is_none() {
    let (mut memory, mut groups) = ([0; Reading::memory_len(16, 200)], [0; 16 * (3 + 4)]);
    let mut log = Log::of::<Reading>(Vec::new(), (&mut memory, 16), &mut groups, Policy::ByHand).unwrap();
    log.push(&Reading { time: 0, temp: None, place: "attic", count: 1 }).unwrap();
    let mut bytes = log.finish().unwrap();
    assert!(good(&["verify", &written("zone.vortex", &bytes)]).ends_with(" bytes, vortex\n"));
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(b"UTC") {
            bytes[at..at + 3].copy_from_slice(b"Abc");
        }
    }
    let said = good(&["verify", &written("zone.vortex", &bytes)]);
    let why = " bytes, vortex; no time zone is called Abc, so that the original refuses the whole file\n";
    assert!(said.contains(": ok, 1 rows in ") && said.ends_with(why), "{said}");
}

/// As docs/firmware-vortex.md says it: a file on a host is continued after a cut in its last checkpoint.
#[test]
fn a_log_on_a_host_is_continued() {
    let (bytes, all) = ticks(Policy::ByHand, false);
    let path = written("host.vortex", &bytes[..bytes.len() - 5]);
    let (mut memory, mut words) = ([0; Tick::memory_len(16, 0)], [0; 8 * (3 + 2)]);
    let bytes = fs::read(&path).unwrap();
    let found = Resume::find(&bytes[..], &Of::<Tick>::new(), &mut words).unwrap();
    let rest = found.rest().unwrap();
    assert_eq!((rest.kind(), rest.what()), (Kind::Invalid, What::VORTEX_LOG));
    let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.set_len(found.at()).unwrap();
    let columns = Of::<Tick>::new();
    let mut log =
        Log::resume(IoSink(file), columns, (&mut memory, 16), &mut words, (&found, Policy::Every(2))).unwrap();
    log.push(&Tick { time: 48, count: 5 }).unwrap();
    log.end().unwrap();
    assert_eq!(good(&["cat", &path]), all + "48,5\n");
}

/// The encodings of a file of pilaster without its end are inferred, and nothing else is said.
#[test]
fn a_file_of_the_tool_is_saved_without_its_end() {
    let path = target("without_end.vortex");
    good(&[
        "convert",
        "--force",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/vortex/enc_sequence_a.vortex"),
        &path,
    ]);
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 1000);
    let (path, to) = (written("without_end.vortex", &bytes), target("without_end_saved.vortex"));
    good(&["recover", "--force", "--dtype", "{u8=u8, i64=i64, u64n=u64?, i32=i32}", &path, &to]);
}
