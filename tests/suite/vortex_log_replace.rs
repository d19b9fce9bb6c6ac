//! Logs whose checkpoints replace each other.

use pilaster::bytes::{Buffered, Input, Sink, SliceSink, WriteError};
use pilaster::column::Prim;
use pilaster::error::{Error, Kind};
use pilaster::vortex::log::{Cell, Field, FieldType, Fields, Log, Policy, Resume, Rewind, last_checkpoint};

use crate::vortex_log::{Room, cells, mixed, mixed_rows, read, write};
use crate::vortex_log_cuts::{Card, written};

#[test]
fn checkpoints_replace_each_other() {
    let (fields, rows) = (mixed(), mixed_rows(70));
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let memory = (&mut room.rows[..], room.most);
    let card = Card(Vec::new(), 1 << 20);
    let new = Log::new(card, columns, memory, &mut room.groups, Policy::Every(1)).expect("room");
    let mut log = new.replacing();
    for (i, row) in rows.iter().enumerate() {
        log.push_cells(&cells(row)).expect("room");
        let whole = rows[..(i + 1) / 8 * 8].to_vec();
        assert_eq!(read(&log.sink().0), Ok(whole));
    }
    let bytes = log.finish().expect("room").0;
    // As if there were only the last one.
    assert_eq!(bytes, write(&fields, &rows, 8, Policy::ByHand));
}

#[test]
fn a_full_medium_keeps_its_checkpoint() {
    let (fields, rows) = (mixed(), mixed_rows(60));
    let columns = Fields::new(&fields).expect("valid types");
    let first = write(&fields, &[].into(), 8, Policy::ByHand).len();
    for most in (first..first + 6000).step_by(56) {
        let mut room = Room::of(&fields, 8, 300);
        let mut card = Card(Vec::new(), most);
        let mut log = Log::new(&mut card, columns, (&mut room.rows, room.most), &mut room.groups, Policy::Every(1))
            .expect("the first checkpoint fits")
            .replacing();
        let failed = rows.iter().try_for_each(|row| log.push_cells(&cells(row)));
        assert!(matches!(failed, Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom), "{most}");
        let (groups, pending) = (log.groups() as usize, log.pending());
        assert!(pending > 0, "{most}: the rows that were not written");
        let found = read(&card.0).expect("a valid file");
        assert!(found.len() >= groups && found[..] == rows[..found.len()], "{most}: {} rows", found.len());
    }
}

#[test]
fn a_checkpoint_after_skipped_bytes_is_not_replaced() {
    let (fields, rows) = (mixed(), mixed_rows(28));
    let columns = Fields::new(&fields).expect("valid types");
    let (bytes, ends) = written(&fields, &rows);
    let mut room = Room::of(&fields, 8, 300);
    let part = &bytes[..ends[1].0 + 20];
    let found = Resume::find(part, &columns, &mut room.groups).expect("a checkpoint").skipping(part.len() as u64);
    let mut card = Card(part.to_vec(), 1 << 20);
    card.0.resize(found.at() as usize, 0xff);
    let memory = (&mut room.rows[..], room.most);
    let resumed = Log::resume(card, columns, memory, &mut room.groups, (&found, Policy::Every(1)));
    let mut log = resumed.expect("room").replacing();
    let checkpoint_end = log.at() as usize;
    for row in &rows[found.rows() as usize..] {
        log.push_cells(&cells(row)).expect("room");
        let whole = last_checkpoint(&Input::whole(&log.sink().0[..checkpoint_end])).expect("a slice");
        assert_eq!(whole, Some(checkpoint_end as u64));
    }
    assert_eq!(read(&log.finish().expect("room").0), Ok(rows));
}

/// The sink of a resumed log counts from where it begins, as in the example.
#[test]
fn a_resumed_log_replaces_its_checkpoints() {
    let (fields, rows) = (mixed(), mixed_rows(70));
    let columns = Fields::new(&fields).expect("valid types");
    for before in [0, 8, 11, 40] {
        let first = write(&fields, &rows[..before].to_vec(), 8, Policy::ByHand);
        let mut medium = vec![0; 1 << 16];
        medium[..first.len()].copy_from_slice(&first);
        let mut room = Room::of(&fields, 8, 300);
        let found = Resume::find(&medium[..first.len()], &columns, &mut room.groups).expect("a log");
        let at = found.at() as usize;
        let sink = SliceSink::new(&mut medium[at..]);
        let memory = (&mut room.rows[..], room.most);
        let resumed = Log::resume(sink, columns, memory, &mut room.groups, (&found, Policy::Every(1)));
        let mut log = resumed.expect("room").replacing();
        rows[before..].iter().for_each(|row| log.push_cells(&cells(row)).expect("room"));
        let len = at + log.finish().expect("room").len();
        assert_eq!(read(&medium[..len]), Ok(rows.clone()), "{before} rows before");
    }
}

/// A step of a medium: bytes are put, or removed.
enum Step {
    Put(Vec<u8>),
    Remove(u64),
}

/// Records all steps.
struct Steps(Vec<Step>);

impl Sink for Steps {
    type Error = Error;

    fn put(&mut self, bytes: &[u8]) -> pilaster::Result<()> {
        self.0.push(Step::Put(bytes.to_vec()));
        Ok(())
    }
}

impl Rewind for Steps {
    fn rewind(&mut self, count: u64) -> pilaster::Result<()> {
        self.0.push(Step::Remove(count));
        Ok(())
    }
}

/// A power cut after each byte that is put and each removal of a checkpoint loses no complete row group.
#[test]
fn a_log_whose_checkpoints_are_replaced_is_cut_at_every_byte() {
    let (fields, rows) = (mixed(), mixed_rows(36));
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let memory = (&mut room.rows[..], room.most);
    let mut log =
        Log::new(Steps(vec![]), columns, memory, &mut room.groups, Policy::Every(1)).expect("room").replacing();
    // Number of steps before each complete row group.
    let mut complete = vec![log.sink().0.len()];
    for row in &rows {
        let groups = log.groups();
        log.push_cells(&cells(row)).expect("room");
        if log.groups() > groups {
            complete.push(log.sink().0.len());
        }
    }
    let Steps(steps) = log.finish().expect("room");
    let (mut medium, mut cuts) = (Vec::new(), 0);
    for (k, step) in steps.iter().enumerate() {
        let part = match step {
            Step::Remove(count) => {
                medium.truncate(medium.len() - *count as usize);
                &[0; 0][..]
            }
            Step::Put(bytes) => bytes,
        };
        for byte in part.iter().map(Some).chain([None]) {
            if k >= complete[0] {
                let found = Resume::find(&medium[..], &columns, &mut room.groups).expect("a checkpoint");
                let least = 8 * complete.iter().filter(|end| **end <= k).count().saturating_sub(1);
                assert!(found.rows() >= least as u64, "{} of {least} rows after step {k}", found.rows());
                cuts += 1;
                if cuts % 13 == 0 {
                    let kept = medium[..found.at() as usize].to_vec();
                    let memory = (&mut room.rows[..], room.most);
                    let resumed = Log::resume(kept, columns, memory, &mut room.groups, (&found, Policy::Every(1)));
                    let mut log = resumed.expect("room").replacing();
                    let left = &rows[found.rows() as usize..];
                    left.iter().for_each(|row| log.push_cells(&cells(row)).expect("a vector"));
                    assert_eq!(read(&log.finish().expect("a vector")), Ok(rows.clone()), "after step {k}");
                }
            }
            medium.extend(byte);
        }
    }
    assert_eq!(read(&medium), Ok(rows));
    assert!(cuts > 5000, "{cuts} cuts");
}

/// A medium that is written in blocks.
#[test]
fn a_buffer_changes_no_byte() {
    let (fields, rows) = (mixed(), mixed_rows(70));
    let columns = Fields::new(&fields).expect("valid types");
    let plain = write(&fields, &rows, 8, Policy::Every(2));
    let replaced = write(&fields, &rows, 8, Policy::ByHand);
    for len in [0, 1, 7, 64, 512, 1 << 20] {
        for is_replacing in [false, true] {
            let (mut buffer, mut card) = (vec![0; len], Card(Vec::new(), 1 << 20));
            let mut room = Room::of(&fields, 8, 300);
            let memory = (&mut room.rows[..], room.most);
            let sink = Buffered::new(&mut card, 0, &mut buffer);
            let mut log = Log::new(sink, columns, memory, &mut room.groups, Policy::Every(2)).expect("room");
            if is_replacing {
                log = log.replacing();
            }
            for row in &rows {
                log.push_cells(&cells(row)).expect("room");
                // All bytes are on the card.
                assert_eq!(log.at(), log.sink().sink().0.len() as u64);
                assert_eq!(log.sink().room(), (1 << 20) - log.at());
            }
            log.end().expect("room");
            assert!(card.0 == if is_replacing { &replaced[..] } else { &plain[..] }, "{len} {is_replacing}");
        }
    }
}

/// Pieces that are put end at multiples of the block, also after flushes and removals, and where a log is resumed.
#[test]
fn pieces_of_a_buffer_are_in_one_block() {
    struct Blocks(u64);

    impl Sink for Blocks {
        type Error = Error;

        fn put(&mut self, bytes: &[u8]) -> pilaster::Result<()> {
            assert!(self.0 % 64 + bytes.len() as u64 <= 64, "{} bytes at {}", bytes.len(), self.0);
            self.0 += bytes.len() as u64;
            Ok(())
        }
    }

    impl Rewind for Blocks {
        fn rewind(&mut self, count: u64) -> pilaster::Result<()> {
            self.0 -= count;
            Ok(())
        }
    }

    let (fields, rows) = (mixed(), mixed_rows(70));
    let columns = Fields::new(&fields).expect("valid types");
    let mut room = Room::of(&fields, 8, 300);
    let bytes = write(&fields, &rows[..20].to_vec(), 8, Policy::ByHand);
    let found = Resume::find(&bytes[..], &columns, &mut room.groups).expect("a log");
    let (at, mut buffer) = (found.at(), [0; 64]);
    let sink = Buffered::new(Blocks(at), at, &mut buffer);
    let memory = (&mut room.rows[..], room.most);
    let mut log =
        Log::resume(sink, columns, memory, &mut room.groups, (&found, Policy::Every(1))).expect("room").replacing();
    rows.iter().for_each(|row| log.push_cells(&cells(row)).expect("room"));
    let len = log.at();
    assert!(len > 2 * at && log.sink().sink().0 == len);
}

/// A row group may be as long as the checkpoint that it replaces: it is flushed all the same.
#[test]
fn a_row_group_as_long_as_a_checkpoint_is_flushed() {
    /// The length, and the length at the last flush.
    struct Lens(u64, u64);

    impl Sink for Lens {
        type Error = Error;

        fn put(&mut self, bytes: &[u8]) -> pilaster::Result<()> {
            self.0 += bytes.len() as u64;
            self.1 = u64::MAX;
            Ok(())
        }

        fn flush(&mut self) -> pilaster::Result<()> {
            self.1 = self.0;
            Ok(())
        }
    }

    impl Rewind for Lens {
        fn rewind(&mut self, count: u64) -> pilaster::Result<()> {
            self.0 -= count;
            Ok(())
        }
    }

    let fields = [Field::new("time", FieldType::Prim(Prim::U32))];
    let columns = Fields::new(&fields).expect("valid types");
    let mut equal = 0;
    for rows in 1..400u64 {
        let mut room = Room::of(&fields, 512, 0);
        let memory = (&mut room.rows[..], room.most);
        let new = Log::new(Lens(0, 0), columns, memory, &mut room.groups, Policy::ByHand).expect("room");
        let mut log = new.replacing();
        log.push_cells(&[Cell::of(7)]).expect("room");
        log.checkpoint().expect("room");
        let before = log.at();
        (0..rows).for_each(|i| log.push_cells(&[Cell::Word((i * 0x9e37_79b9) & 0xffff_ffff)]).expect("room"));
        log.flush().expect("room");
        equal += u32::from(log.at() == before);
        let at = log.at();
        assert_eq!(log.sink().1, at, "{rows} rows");
    }
    assert!(equal > 0);
}
