//! What the bodies of Vortex share.

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column as _, Part as _, Type, Values, fit};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::{Column, File};

use super::cell::Cell;
use super::walk::windows;

/// Scratch of a walk.
pub const ROOM: usize = 64 << 10;

/// What a file may ask for here: less than on a host, so that a walk takes no longer than its bytes.
pub const LIMITS: Limits = Limits { max_nodes: 20_000, max_depth: 32, ..Limits::DEFAULT };

/// Rows of a column that a walk looks at.
const ROWS: u64 = 600;

/// Shows all nodes.
pub fn walk(file: &File<'_>) {
    let mut nodes = 0u32;
    let _ = file.visit(false, &mut |_| {
        nodes += 1;
        Ok(())
    });
    for i in 0..file.metadata_len().min(16) {
        let _ = file.metadata(i);
    }
    for k in 0..8 {
        if let Ok(Some(stats)) = file.column_statistics(k) {
            let _ = (stats.min(), stats.max(), stats.sum(), stats.null_count(), stats.nan_count(), stats.order());
        }
    }
}

/// How much is known to be right with a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sound {
    /// Invalid or not verified. Whether a search finds values that are out of order is undefined.
    No,
    /// All but where texts end that are unpacked together: of those the lengths are checked in sum.
    InSum,
    All,
}

/// Verifies a file. One that claims far more rows than it has bytes is not looked at.
pub fn verify(file: &File<'_>, memory: &mut [u8]) -> Sound {
    if !file.rows().is_ok_and(|rows| rows < 1 << 16) {
        return Sound::No;
    }
    if let Err(e) = file.verify(&mut Scratch::new(memory)) {
        assert!(e.kind() != Kind::Misuse && e.what() != What::INPUT, "{e:?}");
        return Sound::No;
    }
    let mut sound = Sound::All;
    let walked = file.visit(false, &mut |visit| {
        if [&b"vortex.fsst"[..], b"vortex.onpair"].contains(&visit.id) {
            sound = Sound::InSum;
        }
        Ok(())
    });
    walked.expect("verified");
    sound
}

/// Reads the columns of a file, their segments, dictionaries and zones.
pub fn columns(file: &File<'_>, memory: &mut [u8], sound: Sound) {
    let Ok(part) = file.part() else { return };
    for k in 0..part.width().min(64) {
        let Ok(one) = part.column(k) else { continue };
        column(&one, memory, sound, 0);
        let mut taken = 0u64;
        let shown = one.segments(0..one.rows(), &mut |span| {
            taken = taken.saturating_add(span.len);
            Ok(())
        });
        // A struct without fields has no bytes.
        let stored = taken > 0 || one.rows() == 0 || matches!(one.ty(), Type::Struct(_));
        assert!(sound == Sound::No || shown.is_ok() && stored);
        let _ = one.dictionary(0);
        if let Ok(Some(zones)) = one.zones() {
            assert!(zones.is_empty() || zones.rows(zones.len() - 1).end == one.rows());
            for bound in [zones.min(), zones.max(), zones.null_count()].into_iter().flatten() {
                column(&bound, memory, Sound::No, 0);
            }
        }
    }
}

/// Reads rows of a column in batches and some of them on their own, which must give the same.
pub fn column(column_: &Column<'_>, memory: &mut [u8], sound: Sound, depth: u32) {
    for window in windows(column_.rows(), ROWS) {
        let mut row = window.start;
        while row < window.end {
            let Some(len) = batch(column_, row..window.end, memory, sound, depth) else { break };
            row += len;
        }
    }
    let _ = column_.zone();
}

/// Reads a batch and looks at all of it; how many rows it had, `None` if it could not be read.
fn batch(column_: &Column<'_>, rows: std::ops::Range<u64>, memory: &mut [u8], sound: Sound, depth: u32) -> Option<u64> {
    let (memory, rest) = memory.split_at_mut(memory.len() / 2);
    let asked = fit(column_, rows.clone(), memory.len()).ok()?;
    let need = column_.need(asked.clone()).ok()?;
    let mut scratch = Scratch::new(memory);
    let room = scratch.room();
    let batch = match column_.read(asked.clone(), &mut scratch) {
        Err(e) if e.kind() == Kind::NoRoom => panic!("{asked:?} of {column_:?} takes more than {need}: {e:?}"),
        Err(_) => return None,
        Ok(batch) => batch,
    };
    assert!((room - scratch.room()) as u64 <= need, "{column_:?} took more than it said");
    assert!(batch.first == asked.start && batch.len as u64 <= asked.end - asked.start && batch.len > 0);
    assert!(column_.nullable() || batch.validity.nulls(batch.len) == 0);
    for i in [0, batch.len - 1] {
        let row = batch.first + i as u64;
        let mut scratch = Scratch::new(rest);
        let Ok(one) = column_.read(row..row + 1, &mut scratch) else { continue };
        assert_eq!(one.len, 1);
        if sound != Sound::No {
            assert_eq!(one.validity.get(0), batch.validity.get(i), "row {row} of {column_:?}");
            let (one, all) = (Cell::of_batch(&one, 0), Cell::of_batch(&batch, i));
            // A text that others precede may begin too early or too late, and is as long.
            let shifted =
                matches!((&one, &all), (Ok(Cell::Bytes(one)), Ok(Cell::Bytes(all))) if one.len() == all.len());
            assert!(one == all || sound == Sound::InSum && shifted, "row {row} of {column_:?}: {one:?} {all:?}");
        }
    }
    let len = batch.len as u64;
    if depth < 3 {
        children(&batch, rest, sound, depth);
    }
    Some(len)
}

fn children(batch: &Batch<'_, Column<'_>>, memory: &mut [u8], sound: Sound, depth: u32) {
    let (Values::Nested(rows), of) = (batch.values, batch.of) else { return };
    assert_eq!(rows.len(), batch.len);
    let mut ranges = (0..batch.len).filter(|i| batch.validity.get(*i)).filter_map(|i| rows.get(i).ok());
    let last = ranges.next_back();
    for k in 0..of.ty().children().min(16) {
        let (Ok(child), _) = (of.child(k), of.child_name(k)) else { continue };
        column(&child, memory, sound, depth + 1);
        if let Some(range) = &last {
            let _ = child.need(range.clone());
        }
    }
}
