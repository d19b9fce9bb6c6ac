//! `recover` of Vortex logs that are damaged, or whose end is lost.

use std::collections::BTreeMap;

use pilaster::unstable::hash::lookup2;
use pilaster::unstable::vortex_container::{Layout, end};
use pilaster::unstable::vortex_raw::LayoutId;
use pilaster::vortex::{DTypeBuf, Encoding};

use super::vortex_logs::places;
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

pub fn written(name: &str, bytes: &[u8]) -> String {
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
        let is_saved = succeeds_in_process(&["recover", "--force", &path, &to]);
        if len < first {
            // Of the first checkpoint, at most its end marker is lost.
            assert!(!is_saved || first - len <= 8 && good(&["cat", &to]) == printed([]), "{len}");
            continue;
        }
        let groups = log.ends.iter().filter(|(end, _)| *end <= len).map(|(_, groups)| *groups).max().unwrap();
        assert!(is_saved, "{len}");
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
    let (frames, _) = places(&log.bytes);
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
        // The row group that has the damage, and no other one.
        let bad = frames.iter().position(|frame| frame.contains(&at)).map(|bad| bad as i64);
        let bad = bad.filter(|bad| groups.contains(bad));
        assert_eq!(text, printed(groups.filter(|k| Some(*k) != bad)), "{at}: {said}");
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
