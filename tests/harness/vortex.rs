//! What the bodies of Vortex share.

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column as _, Part as _, Type, Values, fit};
use pilaster::error::{Error, Kind, What};
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

/// Verifies a file; whether it is sound. One that claims far more rows than it has bytes is not looked at.
pub fn verify(file: &File<'_>, memory: &mut [u8]) -> bool {
    if !file.rows().is_ok_and(|rows| rows < 1 << 16) {
        return false;
    }
    let verified = file.verify(&mut Scratch::new(memory));
    if let Err(e) = verified {
        assert!(e.kind() != Kind::Misuse && e.what() != What::INPUT, "{e:?}");
    }
    verified.is_ok()
}

/// Reads the columns of a file, their segments, dictionaries and zones.
pub fn columns(file: &File<'_>, memory: &mut [u8], sound: bool) {
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
        assert!(!sound || shown.is_ok() && stored);
        let _ = one.dictionary(0);
        if let Ok(Some(zones)) = one.zones() {
            assert!(zones.is_empty() || zones.rows(zones.len() - 1).end == one.rows());
            for bound in [zones.min(), zones.max(), zones.null_count()].into_iter().flatten() {
                column(&bound, memory, false, 0);
            }
        }
    }
}

/// Reads rows of a column in batches and some of them on their own, which must give the same.
pub fn column(column_: &Column<'_>, memory: &mut [u8], sound: bool, depth: u32) {
    for window in windows(column_.rows(), ROWS) {
        let mut row = window.start;
        while row < window.end {
            let Some(len) = batch(column_, row..window.end, memory, sound, depth) else { break };
            row += len;
        }
    }
    let _ = column_.zone();
}

/// Reads a batch and looks at all of it; how many rows it had, `None` if it could not be read. Of a `sound` file every
/// row is there, and the same as a scalar, on its own, with the rows after it, and in the batch.
fn batch(column_: &Column<'_>, rows: std::ops::Range<u64>, memory: &mut [u8], sound: bool, depth: u32) -> Option<u64> {
    let (memory, rest) = memory.split_at_mut(memory.len() / 2);
    let excused = |e: Error| {
        assert!(!sound || e.kind() == Kind::NoRoom || e.what() == What::MAX_NODES, "{rows:?} of {column_:?}: {e:?}");
    };
    let asked = fit(column_, rows.clone(), memory.len()).map_err(excused).ok()?;
    let need = column_.need(asked.clone()).map_err(excused).ok()?;
    let mut scratch = Scratch::new(memory);
    let room = scratch.room();
    let batch = match column_.read(asked.clone(), &mut scratch) {
        Err(e) if e.kind() == Kind::NoRoom => panic!("{asked:?} of {column_:?} takes more than {need}: {e:?}"),
        read => read.map_err(excused).ok()?,
    };
    assert!((room - scratch.room()) as u64 <= need, "{column_:?} took more than it said");
    assert!(batch.first == asked.start && batch.len as u64 <= asked.end - asked.start && batch.len > 0);
    assert!(column_.nullable() || batch.validity.nulls(batch.len) == 0);
    for i in (0..batch.len).step_by(batch.len / 12 + 1).chain([batch.len - 1]) {
        let row = batch.first + i as u64;
        for len in [1, 3] {
            let mut scratch = Scratch::new(rest);
            let few = match len {
                1 => column_.scalar_at(row, &mut scratch),
                len => column_.read(row..asked.end.min(row + len), &mut scratch),
            };
            let few = match few {
                Ok(few) => few,
                Err(e) => {
                    excused(e);
                    continue;
                }
            };
            assert!(few.first == row && few.len > 0 && few.len as u64 <= len);
            for k in 0..if sound { few.len.min(batch.len - i) } else { 0 } {
                assert_eq!(few.validity.get(k), batch.validity.get(i + k), "row {row} and {k} of {column_:?}");
                let (few, all) = (Cell::of_batch(&few, k), Cell::of_batch(&batch, i + k));
                assert!(few == all && few.is_ok(), "row {row} and {k} of {column_:?}: {few:?} {all:?}");
            }
        }
    }
    let len = batch.len as u64;
    if depth < 3 {
        children(&batch, rest, sound, depth);
    }
    Some(len)
}

fn children(batch: &Batch<'_, Column<'_>>, memory: &mut [u8], sound: bool, depth: u32) {
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
