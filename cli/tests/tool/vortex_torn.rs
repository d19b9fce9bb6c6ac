//! `recover` of Vortex logs that are damaged, or whose end is lost.

use std::collections::BTreeMap;
use std::ops::Range;

use pilaster::bytes::IoSink;
use pilaster::error::{Kind, What};
use pilaster::unstable::hash::lookup2;
use pilaster::unstable::vortex_container::{Layout, end};
use pilaster::unstable::vortex_raw::LayoutId;
use pilaster::vortex::log::{Frames, Log, Of, Policy, Resume};
use pilaster::vortex::{DTypeBuf, Encoding};

use super::*;

/// A log of two columns, made by hand: row group `k` has five rows.
#[derive(Default)]
struct HandMade {
    bytes: Vec<u8>,
    /// Offset, length and rows of the segments of each column.
    segments: [Vec<(u64, u32)>; 2],
    /// The ends of checkpoints and row groups, and the number of row groups that can be read from there on.
    ends: Vec<(usize, usize)>,
}

const ROWS: u64 = 5;

impl HandMade {
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    fn checkpoint(&mut self) {
        self.align();
        let mut all: Vec<(u64, u32)> = self.segments.concat();
        all.sort_unstable();
        let column = |segments: &Vec<(u64, u32)>| {
            let number = |segment| all.iter().position(|other| other == segment).unwrap() as u32;
            Layout::chunked(segments.iter().map(|segment| Layout::flat(number(segment), ROWS)).collect())
        };
        let children: Vec<Layout> = self.segments.iter().map(column).collect();
        let rows = ROWS * self.segments[0].len() as u64;
        let layout = Layout { children, ..Layout::new(LayoutId::Struct, rows) };
        let ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
        let dtype: DTypeBuf = "{a=i64, b=i64}".parse().unwrap();
        let at = self.bytes.len() as u64;
        self.bytes.extend(end(at, &ids, &all, dtype.as_bytes(), &layout).unwrap());
        self.ends.push((self.bytes.len(), self.segments[0].len()));
    }

    fn group(&mut self) {
        self.align();
        let (start, k) = (self.bytes.len(), self.segments[0].len() as i64);
        let blobs = values(k).map(|values| build::blob(build::plain(0), &[&build::le(&values)]));
        self.bytes.extend(b"PLRG");
        self.bytes.extend((ROWS as u32).to_le_bytes());
        blobs.iter().for_each(|blob| self.bytes.extend((blob.len() as u32).to_le_bytes()));
        self.check(start);
        for (column, blob) in blobs.iter().enumerate() {
            self.align();
            self.segments[column].push((self.bytes.len() as u64, blob.len() as u32));
            self.bytes.extend(blob);
        }
        self.align();
        self.check(start);
        self.ends.push((self.bytes.len(), k as usize + 1));
    }

    fn check(&mut self, start: usize) {
        let check = lookup2(u32::from_le_bytes(*b"PLRG"), &self.bytes[start..]);
        self.bytes.extend(check.to_le_bytes());
    }
}

/// The rows of group `k`.
fn values(k: i64) -> [Vec<i64>; 2] {
    [(0..5).map(|i| 5 * k + i).collect(), (0..5).map(|i| 1_000_000 - (5 * k + i) * (5 * k + i)).collect()]
}

/// What `cat` prints for these row groups.
fn printed(groups: impl IntoIterator<Item = i64>) -> String {
    let mut text = String::from("a,b\n");
    for [a, b] in groups.into_iter().map(values) {
        a.iter().zip(&b).for_each(|(a, b)| text.push_str(&format!("{a},{b}\n")));
    }
    text
}

/// A checkpoint without rows, two row groups, a checkpoint, a row group, a checkpoint, and two row groups.
fn log() -> HandMade {
    let mut log = HandMade { bytes: b"VTXF".to_vec(), ..HandMade::default() };
    log.checkpoint();
    log.group();
    log.group();
    log.checkpoint();
    log.group();
    log.checkpoint();
    log.group();
    log.group();
    log
}

fn written(name: &str, bytes: &[u8]) -> String {
    let path = target(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn every_checkpoint_is_a_file() {
    let log = log();
    let mut checkpoints = 0;
    for (len, groups) in &log.ends {
        let path = written("checkpoint.vortex", &log.bytes[..*len]);
        if run(&["verify", &path]).status.success() {
            checkpoints += 1;
            assert_eq!(good(&["cat", &path]), printed(0..*groups as i64));
            let to = target("checkpoint_saved.vortex");
            assert!(good(&["recover", "--force", &path, &to]).ends_with("; nothing is lost\n"));
            assert_eq!(good(&["cat", &to]), good(&["cat", &path]));
        }
    }
    assert_eq!(checkpoints, 3);
}

/// At every byte, all row groups that are whole are saved.
#[test]
fn a_log_is_saved_after_a_cut_at_every_byte() {
    let log = log();
    let first = log.ends[0].0;
    let (to, mut files) = (target("cut_log_saved.vortex"), BTreeMap::new());
    for len in 0..log.bytes.len() {
        let path = written("cut_log.vortex", &log.bytes[..len]);
        let output = run(&["recover", "--force", &path, &to]);
        if len < first {
            // Of the first checkpoint, at most its end marker is lost.
            let is_empty = output.status.code() == Some(0) && good(&["cat", &to]) == printed([]);
            assert!(output.status.code() == Some(1) || is_empty && first - len <= 8, "{len}: {output:?}");
            continue;
        }
        let groups = log.ends.iter().filter(|(end, _)| *end <= len).map(|(_, groups)| *groups).max().unwrap();
        assert_eq!(output.status.code(), Some(0), "{len}: {output:?}");
        // The file depends on the saved row groups only, so that few are read.
        let file = fs::read(&to).unwrap();
        if files.get(&groups) != Some(&file) {
            assert_eq!(good(&["cat", &to]), printed(0..groups as i64), "{len}");
            files.insert(groups, file);
        }
    }
}

#[test]
fn the_report_tells_the_checkpoint_and_what_is_behind_it() {
    let log = log();
    let end = log.ends[6].0;
    let (checkpoint, before) = (log.ends[5].0, log.ends[6].0);
    let path = written("report.vortex", &log.bytes[..end + 40]);
    for (extension, format) in [("vortex", "vortex"), ("jay", "jay"), ("ds", "dataseries")] {
        let to = target(&format!("report_saved.{extension}"));
        let said = good(&["recover", &path, &to]);
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].starts_with("damaged: the end of the file: vortex end marker at offset "), "{said}");
        assert_eq!(lines[1], format!("found: 15 rows up to the checkpoint that ends at {checkpoint}"));
        assert_eq!(lines[2], "found: 5 rows in 1 row group behind the checkpoint");
        let written = format!("lost: 5 rows: only 36 bytes of their row group at {} were written, of 284", before + 4);
        assert_eq!(lines[3], written);
        assert!(lines[4].contains(": 20 rows in 2 columns, ") && lines[4].contains(format), "{said}");
        assert!(lines[4].ends_with("; lost: 1 row group") && lines.len() == 5, "{said}");
        assert_eq!(good(&["cat", &to]), printed(0..4));
    }
}

/// A copy of flash: what follows the log was never written, and is no loss.
#[test]
fn erased_flash_after_a_log_is_not_lost() {
    let log = log();
    let to = target("erased_saved.vortex");
    for end in [log.ends[5].0, log.ends[6].0] {
        let mut bytes = log.bytes[..end].to_vec();
        bytes.resize(20_000, 0xff);
        let said = good(&["recover", "--force", &written("erased.vortex", &bytes), &to]);
        let at = end.next_multiple_of(8);
        assert!(said.contains(&format!("left: {} bytes at {at} that were never written\n", 20_000 - at)), "{said}");
        assert!(said.ends_with("; nothing is lost\n"), "{said}");
        // Zeros may be rows of which a file system has kept the length only.
        bytes[19_000] = 0;
        let said = good(&["recover", "--force", &written("erased.vortex", &bytes), &to]);
        assert!(said.ends_with("; lost: 1 row group\n"), "{said}");
    }
}

/// At every 16th byte, of a log with and without its end: the other row groups are saved, and the damaged one is named.
#[test]
fn damage_costs_row_groups_and_no_other_rows() {
    let mut log = log();
    let torn = log.bytes.len() - 3;
    log.checkpoint();
    let to = target("damaged_log_saved.vortex");
    let mut outcomes = [0; 2];
    for (k, at) in (8..log.bytes.len()).step_by(16).enumerate() {
        let mut bytes = log.bytes.clone();
        bytes[at] ^= 0x55;
        if k % 2 > 0 && at < torn {
            bytes.truncate(torn);
        }
        let said = good(&["recover", "--force", &written("damaged_log.vortex", &bytes), &to]);
        let text = good(&["cat", &to]);
        let groups = if bytes.len() == torn { 0..4 } else { 0..5 };
        let without = |bad: i64| printed(groups.clone().filter(|k| *k != bad));
        let bad = groups.clone().find(|bad| text == without(*bad));
        assert!(bad.is_some() || text == without(-1), "{at}: {said}{text}");
        if bad.is_some() {
            // Behind the last checkpoint, a damaged head does not say how many rows there were.
            let group = log.ends[5].0;
            let unknown = format!("lost: {} bytes at {group}, ", bytes.len() - group);
            let is_told = said.contains("lost: rows ") || said.contains("lost: 5 rows");
            assert!(is_told || (group..group + 24).contains(&at) && said.contains(&unknown), "{at}: {said}");
            assert!(said.contains("; lost: "), "{at}: {said}");
        }
        outcomes[usize::from(bad.is_some())] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 10), "{outcomes:?}");
}

/// A name and a type that one of three checkpoints states otherwise; and one of two, which `--dtype` decides.
#[test]
fn columns_are_those_that_the_checkpoints_agree_on() {
    let log = log();
    let (to, all) = (target("agreed_saved.vortex"), printed(0..5));
    let dtype: DTypeBuf = "{a=i64, b=i64}".parse().unwrap();
    let places: Vec<usize> = (0..log.bytes.len()).filter(|at| log.bytes[*at..].starts_with(dtype.as_bytes())).collect();
    assert_eq!(places.len(), 3);
    // The last name in the FlatBuffer, or the first one.
    let name = dtype.as_bytes().iter().position(|byte| b"ab".contains(byte)).unwrap();
    for (len, place, decides) in [(log.bytes.len(), 0, false), (log.bytes.len(), 2, false), (log.ends[3].0, 0, true)] {
        let mut bytes = log.bytes[..len].to_vec();
        bytes[places[place] + name] = b'x';
        let path = written("agreed.vortex", &bytes);
        if decides {
            let said = bad(1, &["recover", &path, &target("disagreed.vortex")]);
            assert!(said.contains("contradict each other: their columns are {") && said.contains("--dtype"), "{said}");
            good(&["recover", "--force", "--dtype", "{a=i64, b=i64}", &path, &to]);
            assert_eq!(good(&["cat", &to]), printed(0..2));
            let said = bad(2, &["recover", "--dtype", "{a=i64, b=f64}", &path, &target("disagreed.vortex")]);
            assert!(said.contains("--dtype is not the type of any checkpoint"), "{said}");
        } else {
            good(&["recover", "--force", &path, &to]);
            assert_eq!(good(&["cat", &to]), all);
        }
    }
    // With one checkpoint, nothing can be compared.
    let path = written("agreed.vortex", &log.bytes[..log.ends[2].0]);
    let said = good(&["recover", "--force", &path, &to]);
    assert!(said.contains("not verified: names and types of the columns: only one checkpoint states them"), "{said}");
    let said = good(&["recover", "--force", "--dtype", "{a=i64, b=i64}", &path, &to]);
    assert!(!said.contains("not verified") && said.ends_with("; nothing is lost\n"), "{said}");
}

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
    let all = good(&["cat", &written("ticks.vortex", &bytes)]);
    assert_eq!(all.lines().count(), 49);
    (bytes, all)
}

/// The ranges of row groups, and the end of the first checkpoint.
fn places(bytes: &[u8]) -> (Vec<Range<usize>>, usize) {
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
    let (path, to) = (written("ticks_bad.vortex", bytes), target("ticks_saved.vortex"));
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

/// No list of encodings fits a log that lists others than a log of the library: `--array-ids` gives it.
#[test]
fn a_damaged_list_of_other_encodings_is_given() {
    let log = log();
    let mut bytes = log.bytes[..log.ends[2].0].to_vec();
    let ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
    let at = bytes.windows(ids[0].len()).position(|id| id == ids[0].as_bytes()).unwrap();
    bytes[at] ^= 1;
    let (path, to) = (written("other_ids.vortex", &bytes), target("other_ids_saved.vortex"));
    let said = bad(1, &["recover", "--force", &path, &to]);
    assert!(said.contains(": --array-ids, with --dtype, gives the ids, in the order of their numbers"), "{said}");
    good(&["recover", "--force", "--dtype", "{a=i64, b=i64}", "--array-ids", &ids.join(","), &path, &to]);
    assert_eq!(good(&["cat", &to]), printed(0..2));
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
