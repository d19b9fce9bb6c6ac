//! Logs after power cuts, damage and errors of the sink.

use pilaster::bytes::{Input, Sink, SliceSink, WriteError};
use pilaster::column::Prim;
use pilaster::error::{Error, Kind, What};
use pilaster::vortex::log::{
    Cell, Field, FieldType, Fields, Log, Policy, Resume, Rewind, Source, group_words, last_checkpoint,
};

use crate::vortex_log::{Own, Room, Rows, cells, mixed, mixed_rows, read, write};

/// Writes rows with checkpoints after some of them. Returns the file, and for each row group or checkpoint its end and
/// the number of rows before it.
pub fn written(fields: &[Field<'_>], rows: &Rows) -> (Vec<u8>, Vec<(usize, usize)>) {
    let mut room = Room::of(fields, 8, 300);
    let columns = Fields::new(fields).expect("valid types");
    let memory = (&mut room.rows[..], room.most);
    let mut log = Log::new(Vec::new(), columns, memory, &mut room.groups, Policy::ByHand).expect("a vector");
    let mut ends = vec![(log.at() as usize, 0)];
    for (i, row) in rows.iter().enumerate() {
        log.push_cells(&cells(row)).expect("a vector");
        if i == 11 {
            log.checkpoint().expect("a vector");
            ends.push((log.at() as usize, 12));
        }
    }
    log.checkpoint().expect("a vector");
    ends.push((log.at() as usize, rows.len()));
    (log.finish().expect("a vector"), ends)
}

/// Continues a log with the rows that it lacks.
fn continued(fields: &[Field<'_>], bytes: &[u8], rows: &Rows, room: &mut Room) -> pilaster::Result<Vec<u8>> {
    let columns = Fields::new(fields)?;
    let found = Resume::find(bytes, &columns, &mut room.groups)?;
    let kept = bytes[..found.at() as usize].to_vec();
    let memory = (&mut room.rows[..], room.most);
    let resumed = Log::resume(kept, columns, memory, &mut room.groups, (&found, Policy::ByHand));
    let mut log = resumed.expect("enough memory");
    for row in &rows[found.rows() as usize..] {
        log.push_cells(&cells(row)).expect("a vector");
    }
    Ok(log.finish().expect("a vector"))
}

#[test]
fn a_log_continues_after_a_cut_at_every_byte() {
    let (fields, rows) = (mixed(), mixed_rows(28));
    let (bytes, ends) = written(&fields, &rows);
    assert_eq!(read(&bytes), Ok(rows.clone()));
    let mut room = Room::of(&fields, 8, 300);
    let mut before = 0;
    for cut in 0..=bytes.len() {
        let part = &bytes[..cut];
        let covered = ends.iter().rev().find(|(end, _)| *end <= cut);
        let whole = last_checkpoint(&Input::whole(part)).expect("a slice");
        assert_eq!(whole, covered.map(|(end, _)| *end as u64), "cut at {cut}");
        let found = Resume::find(part, &Fields::new(&fields).expect("valid"), &mut room.groups);
        let Some((end, least)) = covered else {
            let e = found.expect_err("no checkpoint");
            assert_eq!(e.kind(), Kind::Truncated, "{e} at {cut}");
            // Also in flash, where the rest of the last eight bytes is erased.
            let mut flash = part.to_vec();
            flash.resize(cut.next_multiple_of(8), 0xff);
            let found = Resume::find(&flash[..], &Fields::new(&fields).expect("valid"), &mut room.groups);
            assert_eq!(found.expect_err("no checkpoint").kind(), Kind::Truncated, "{cut}");
            continue;
        };
        if *end == cut {
            assert_eq!(read(part), Ok(rows[..*least].to_vec()));
        }
        let found = found.expect("a checkpoint");
        assert!(found.rows() >= *least as u64 && found.rows() >= before, "cut at {cut}");
        assert!(found.at() as usize >= *end && found.at() as usize <= cut);
        before = found.rows();
        if cut % 5 == 0 || *end == cut || cut == bytes.len() {
            let again = continued(&fields, part, &rows, &mut room).expect("a checkpoint");
            assert_eq!(read(&again), Ok(rows.clone()), "cut at {cut}");
        }
    }
    assert_eq!(before, rows.len() as u64);
}

/// Continues a log on a medium whose bytes stay, with the rows that it lacks. Returns the file, and where it was continued.
fn appended(fields: &[Field<'_>], bytes: &[u8], rows: &Rows, room: &mut Room) -> (Vec<u8>, usize) {
    let columns = Fields::new(fields).expect("valid types");
    let found = Resume::find(bytes, &columns, &mut room.groups).expect("a checkpoint").skipping(bytes.len() as u64);
    let at = found.at() as usize;
    assert!(bytes.len() <= at && at < bytes.len() + 8, "no byte is written again");
    let mut kept = bytes.to_vec();
    kept.resize(at, 0xff);
    let memory = (&mut room.rows[..], room.most);
    let resumed = Log::resume(kept, columns, memory, &mut room.groups, (&found, Policy::ByHand));
    let mut log = resumed.expect("enough memory");
    for row in &rows[found.rows() as usize..] {
        log.push_cells(&cells(row)).expect("a vector");
    }
    (log.finish().expect("a vector"), at)
}

#[test]
fn a_log_continues_after_bytes_that_cannot_be_removed() {
    let (fields, rows) = (mixed(), mixed_rows(28));
    let (bytes, ends) = written(&fields, &rows);
    let mut room = Room::of(&fields, 8, 300);
    // Also in the padding after a checkpoint and after a row group, which begins at a multiple of 8.
    let padded = ends.iter().flat_map(|(end, _)| *end..end.next_multiple_of(8) + 1);
    for cut in (ends[0].0..bytes.len()).step_by(397).chain(padded).filter(|cut| *cut <= bytes.len()) {
        let (again, at) = appended(&fields, &bytes[..cut], &rows, &mut room);
        assert_eq!(read(&again), Ok(rows.clone()), "cut at {cut}");
        let columns = Fields::new(&fields).expect("valid types");
        let before = Resume::find(&bytes[..cut], &columns, &mut room.groups).expect("a checkpoint").rows();
        // The power fails again, in the checkpoint after the skipped bytes or later.
        for cut in (at..again.len()).step_by(911) {
            let found = Resume::find(&again[..cut], &columns, &mut room.groups).expect("a checkpoint");
            assert!(found.rows() >= before, "cut again at {cut}");
            let (last, _) = appended(&fields, &again[..cut], &rows, &mut room);
            assert_eq!(read(&last), Ok(rows.clone()), "cut again at {cut}");
        }
    }
}

/// One damaged bit costs a row group after the last checkpoint, or none: the log continues after all that are intact.
#[test]
fn damage_is_found_or_is_in_row_groups_of_a_checkpoint() {
    let (fields, rows) = (mixed(), mixed_rows(28));
    let columns = Fields::new(&fields).expect("valid");
    let (bytes, ends) = written(&fields, &rows);
    let mut room = Room::of(&fields, 8, 300);
    let groups = [0..8, 8..12, 12..20, 20..28];
    let (mut refused, mut passed) = (0, 0);
    // Without the last checkpoint, so that row groups after a checkpoint are damaged, too.
    for len in [bytes.len(), bytes.len() - 5] {
        for at in (0..len).step_by(16).chain(ends.iter().map(|(end, _)| end - 3)).filter(|at| *at < len) {
            for bit in [0, 7] {
                let mut bytes = bytes[..len].to_vec();
                bytes[at] ^= 1 << bit;
                let found = match Resume::find(&bytes[..], &columns, &mut room.groups) {
                    Ok(found) => found,
                    // Without its magic, or any checkpoint.
                    Err(e) => {
                        assert!(at < ends[0].0 && matches!(e.kind(), Kind::Invalid | Kind::Misuse), "{e} at {at}");
                        refused += 1;
                        continue;
                    }
                };
                passed += u32::from(found.damage().is_some());
                let lost = rows.len() as u64 - found.rows();
                assert!([0, 4, 8].contains(&lost), "{lost} rows for a bit at {at} of {len}");
                bytes.truncate(found.at() as usize);
                let memory = (&mut room.rows[..], room.most);
                let again = Log::resume(bytes, columns, memory, &mut room.groups, (&found, Policy::ByHand));
                let again = again.expect("memory").finish().expect("a vector");
                // Values in row groups of the checkpoint are not verified by `find`.
                if lost > 0 {
                    let have = read(&again).expect("a valid file");
                    let expected = groups.iter().map(|lost| [&rows[..lost.start], &rows[lost.end..]].concat());
                    assert!(expected.into_iter().any(|rows| rows == have), "bit at {at} of {len}");
                }
            }
        }
    }
    assert!(refused == 4 && passed > 20, "{refused} {passed}");
}

/// After the row groups of the checkpoint are verified, too, a log that continues has no wrong row.
#[test]
fn damaged_row_groups_are_dropped() {
    let (fields, rows) = (mixed(), mixed_rows(28));
    let (bytes, _) = written(&fields, &rows);
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let groups = [0..8, 8..12, 12..20, 20..28];
    let mut outcomes = [0; 5];
    for at in (0..bytes.len()).step_by(16).flat_map(|at| [at, at + 5, at + 11]).filter(|at| *at < bytes.len()) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        let Ok(mut found) = Resume::find(&bytes[..], &columns, &mut room.groups) else { continue };
        let before = found.groups();
        let dropped = found.drop_damaged(&bytes[..], &columns, &mut room.groups).expect("a slice");
        assert_eq!((found.groups(), found.at() <= bytes.len() as u64), (before - dropped, true));
        bytes.truncate(found.at() as usize);
        let memory = (&mut room.rows[..], room.most);
        let log = Log::resume(bytes, columns, memory, &mut room.groups, (&found, Policy::ByHand)).expect("memory");
        let have = read(&log.finish().expect("a vector")).expect("a valid file");
        assert_eq!(have.len() as u64, found.rows());
        let mut rest = &have[..];
        for group in groups.clone() {
            rest = rest.strip_prefix(&rows[group]).unwrap_or(rest);
        }
        assert!(rest.is_empty(), "damage at {at}: {rest:?}");
        outcomes[dropped as usize] += 1;
    }
    assert!(outcomes[0] > 10 && outcomes[1] > 10 && outcomes[2..] == [0; 3], "{outcomes:?}");
}

/// A record that was freed is used for another row group: the next search does not take the old checkpoint for that.
#[test]
fn a_log_with_memory_for_no_more_row_groups_is_resumed_after_damage() {
    let (fields, rows) = (mixed(), mixed_rows(32));
    let columns = Fields::new(&fields).expect("valid types");
    let mut bytes = write(&fields, &rows, 8, Policy::ByHand);
    let at = bytes.windows(4).position(|four| four == b"PLRG").expect("a row group");
    bytes[at + 100] ^= 1;
    let mut room = Room::of(&fields, 8, 300);
    let words = &mut room.groups[..4 * group_words(fields.len())];
    let mut found = Resume::find(&bytes[..], &columns, words).expect("a log");
    assert_eq!(found.drop_damaged(&bytes[..], &columns, words).expect("a slice"), 1);
    let memory = (&mut room.rows[..], room.most);
    let mut log = Log::resume(bytes, columns, memory, words, (&found, Policy::ByHand)).expect("memory");
    let start = log.at() as usize;
    rows[..8].iter().for_each(|row| log.push_cells(&cells(row)).expect("a vector"));
    let bytes = log.finish().expect("a vector");
    assert_eq!(read(&bytes).map(|rows| rows.len()), Ok(32));
    for cut in start..=bytes.len() {
        let found = Resume::find(&bytes[..cut], &columns, words).expect("a log");
        assert!([24, 32].contains(&found.rows()), "cut at {cut}");
    }
}

/// Takes a number of bytes, then fails.
struct Fails(Vec<u8>, usize);

impl Sink for Fails {
    type Error = &'static str;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        let taken = bytes.len().min(self.1 - self.0.len());
        self.0.extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() { Err("full") } else { Ok(()) }
    }
}

#[test]
fn a_sink_may_fail_at_every_byte() {
    let (fields, rows) = (mixed(), mixed_rows(20));
    let (bytes, _) = written(&fields, &rows);
    let mut room = Room::of(&fields, 8, 300);
    for most in 0..bytes.len() {
        let mut sink = Fails(Vec::new(), most);
        let columns = Fields::new(&fields).expect("valid types");
        let memory = (&mut room.rows[..], room.most);
        let mut outcome = Ok(());
        if let Ok(mut log) = Log::new(&mut sink, columns, memory, &mut room.groups, Policy::ByHand) {
            for (i, row) in rows.iter().enumerate() {
                outcome = log.push_cells(&cells(row));
                if outcome.is_ok() && i == 11 {
                    outcome = log.checkpoint();
                }
                if outcome.is_err() {
                    break;
                }
            }
            if outcome.is_ok() {
                outcome = log.end();
            }
            assert!(matches!(outcome, Err(WriteError::Sink("full"))), "{most}: {outcome:?}");
            let misuse = |again| matches!(again, Err(WriteError::Format(e)) if Error::kind(&e) == Kind::Misuse);
            assert!(misuse(log.checkpoint()) && misuse(log.push_cells(&cells(&rows[0]))) && misuse(log.tick(9, 1)));
        }
        assert_eq!(sink.0, bytes[..most], "{most}");
    }
}

/// Memory with a limit that it tells, from which the end can be removed.
#[derive(Default)]
pub struct Card(pub Vec<u8>, pub usize);

impl Sink for Card {
    type Error = Error;

    fn put(&mut self, bytes: &[u8]) -> pilaster::Result<()> {
        assert!(bytes.len() as u64 <= self.room(), "put without room");
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn room(&self) -> u64 {
        (self.1 - self.0.len()) as u64
    }
}

impl Rewind for Card {
    fn rewind(&mut self, count: u64) -> pilaster::Result<()> {
        self.0.truncate(self.0.len() - count as usize);
        Ok(())
    }
}

/// Writes a log into a sink with too little room. Returns the error.
fn written_without_room<S: Sink<Error = Error>>(fields: &[Field<'_>], rows: &Rows, sink: &mut S) -> Error {
    let mut room = Room::of(fields, 8, 300);
    let columns = Fields::new(fields).expect("valid types");
    let done = Log::new(sink, columns, (&mut room.rows, room.most), &mut room.groups, Policy::ByHand)
        .and_then(|mut log| rows.iter().try_for_each(|row| log.push_cells(&cells(row))).and_then(|()| log.end()));
    match done {
        Err(WriteError::Format(e)) => e,
        other => panic!("the sink was asked for its room: {other:?}"),
    }
}

#[test]
fn nothing_is_written_without_room() {
    let (fields, rows) = (mixed(), mixed_rows(20));
    let full = write(&fields, &rows, 8, Policy::ByHand).len();
    for most in (0..full).step_by(7) {
        let mut card = Card(Vec::new(), most);
        let mut buffer = vec![0; most];
        let mut slice = SliceSink::new(&mut buffer);
        let e = written_without_room(&fields, &rows, &mut card);
        assert_eq!(written_without_room(&fields, &rows, &mut slice), e);
        assert_eq!((e.kind(), e.what()), (Kind::NoRoom, What::DESTINATION));
        assert_eq!(slice.written(), card.0);
        let Some(end) = last_checkpoint(&Input::whole(&card.0)).expect("a slice") else {
            assert!(card.0.is_empty());
            continue;
        };
        assert_eq!(end, card.0.len() as u64, "{most}, {e}: the file ends with a checkpoint");
        let found = read(&card.0).expect("a valid file");
        assert_eq!(found[..], rows[..found.len()]);
    }
}

/// A medium that fails once.
struct Failing<'b> {
    bytes: &'b [u8],
    reads: usize,
    bad: usize,
}

impl Source for Failing<'_> {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&mut self, at: u64, to: &mut [u8]) -> pilaster::Result<()> {
        self.reads += 1;
        if self.reads == self.bad {
            return Err(Error::needing(Kind::Truncated, What::INPUT, at, to.len() as u64));
        }
        self.bytes.read(at, to)
    }
}

#[test]
fn an_error_of_the_medium_is_not_the_end_of_the_log() {
    let (fields, rows) = (mixed(), mixed_rows(28));
    let bytes = write(&fields, &rows, 8, Policy::ByHand);
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let end = last_checkpoint(&Input::whole(&bytes)).expect("a slice").expect("a checkpoint");
    // The end with the last checkpoint, and the row groups before it without one.
    let torn = &bytes[..bytes.len() - 9];
    assert_eq!(end, bytes.len() as u64);
    for part in [&bytes[..], torn] {
        let whole = Resume::find(part, &columns, &mut room.groups).expect("a log");
        let mut reads = 0;
        loop {
            reads += 1;
            let mut medium = Failing { bytes: part, reads: 0, bad: reads };
            match Resume::find(&mut medium, &columns, &mut room.groups) {
                Err(e) => assert_eq!((e.kind(), e.what()), (Kind::Truncated, What::INPUT)),
                Ok(found) => {
                    assert!(medium.reads < reads, "read {reads} failed, and no error was returned");
                    assert_eq!(found, whole);
                    break;
                }
            }
        }
        assert!(reads > 100);
    }
}

#[test]
fn damage_is_never_taken_for_a_log_without_rows() {
    let (fields, rows) = (mixed(), mixed_rows(20));
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let mut bytes = write(&fields, &rows, 8, Policy::Every(1));
    // The last 120 bytes are the postscript, with the offsets of the parts of the checkpoint, and the end marker.
    for at in bytes.len() - 120..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let found = Resume::find(&bytes[..], &columns, &mut room.groups).map(|found| found.rows());
            assert_eq!(found, Ok(rows.len() as u64), "byte {at}, bit {bit}");
            bytes[at] ^= 1 << bit;
        }
    }
    // A log of fewer columns, whose ends are damaged, is shorter than the first checkpoint of these.
    let one = [Field::new("x", FieldType::Prim(Prim::U8))];
    let mut short = write(&one, &vec![vec![Own::Word(7)]; 8], 8, Policy::ByHand);
    let first = write(&fields, &[].into(), 8, Policy::ByHand).len();
    assert!(short.len() > 8 && last_checkpoint(&Input::whole(&short)).expect("a slice").is_some());
    for at in (4..short.len() - 3).rev() {
        if short[at..at + 4] == *b"VTXF" {
            short[at] ^= 1;
        }
    }
    short.truncate(first - 1);
    let e = Resume::find(&short[..], &columns, &mut room.groups).expect_err("other columns");
    assert_eq!((e.kind(), e.what()), (Kind::Misuse, What::VORTEX_CHECKPOINT));
}

#[test]
fn policies_differ_in_dead_bytes_only() {
    let (fields, rows) = (mixed(), mixed_rows(70));
    let policies = [Policy::ByHand, Policy::Doubling, Policy::Every(3), Policy::Every(1)];
    let lens = policies.map(|policy| {
        let bytes = write(&fields, &rows, 8, policy);
        assert_eq!(read(&bytes), Ok(rows.clone()));
        bytes.len()
    });
    assert!(lens[0] < lens[2] && lens[2] < lens[1] && lens[1] < lens[3], "{lens:?}");
}

/// The bytes so far, and those that a flush made last.
#[derive(Default)]
struct Cached(Vec<u8>, usize);

impl Sink for Cached {
    type Error = Error;

    fn put(&mut self, bytes: &[u8]) -> pilaster::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> pilaster::Result<()> {
        self.1 = self.0.len();
        Ok(())
    }
}

#[test]
fn the_sink_is_flushed_after_each_row_group_and_checkpoint() {
    let (fields, rows) = (mixed(), mixed_rows(40));
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let memory = (&mut room.rows[..], room.most);
    let mut log = Log::new(Cached::default(), columns, memory, &mut room.groups, Policy::Every(2)).expect("a vector");
    assert_eq!(log.at(), log.sink().1 as u64);
    for row in &rows {
        log.push_cells(&cells(row)).expect("a vector");
        assert_eq!(log.at(), log.sink().1 as u64);
    }
    let Cached(bytes, _) = log.finish().expect("a vector");
    let found = Resume::find(&bytes[..], &columns, &mut room.groups).expect("a log").skipping(bytes.len() as u64 + 9);
    let memory = (&mut room.rows[..], room.most);
    let cached = Cached(vec![0; found.at() as usize], 0);
    let mut log = Log::resume(cached, columns, memory, &mut room.groups, (&found, Policy::ByHand)).expect("memory");
    assert_eq!(log.at(), log.sink().1 as u64);
}

/// The end of a row group in flash may look erased: its last byte is 0xff, and the padding after it was not written.
#[test]
fn the_written_bytes_end_at_a_multiple_of_eight() {
    let fields = [Field::new("x", FieldType::Prim(Prim::U32))];
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 0);
    let mut met = 0;
    for seed in 0..2000 {
        let memory = (&mut room.rows[..], room.most);
        let mut log = Log::new(Vec::new(), columns, memory, &mut room.groups, Policy::ByHand).expect("a vector");
        (0..8).for_each(|i| log.push_cells(&[Cell::of(seed * 8 + i)]).expect("a vector"));
        let mut bytes = log.sink().clone();
        if bytes.ends_with(&[0xff]) {
            met += 1;
            bytes.resize(bytes.len() + 64, 0xff);
            let used = bytes.iter().rposition(|byte| *byte != 0xff).map_or(0, |last| last + 1).next_multiple_of(8);
            let found = Resume::find(&bytes[..used], &columns, &mut room.groups).expect("a log");
            assert_eq!((found.rows(), found.rest()), (8, None));
        }
    }
    assert!(met > 2, "{met} logs end with 0xff");
}
