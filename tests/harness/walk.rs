//! Walks a column batch by batch and checks what every column promises.

use core::ops::Range;

use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Value, fit};
use pilaster::error::{Kind, Result};

/// Scratch sizes that a walk is tried with: one that holds only a row or two, one in between, and one
/// that holds all the rows that a walk looks at.
pub const ROOMS: [usize; 3] = [40, 300, 8 << 10];

/// Lent memory with a known alignment, filled with one byte.
#[repr(align(64))]
pub struct Memory(pub [u8; ROOMS[2] + 1]);

impl Memory {
    pub const fn filled(byte: u8) -> Memory {
        Memory([byte; ROOMS[2] + 1])
    }

    /// `len` bytes starting at an odd address, so that the reader has to align.
    pub fn odd(&mut self, len: usize) -> &mut [u8] {
        &mut self.0[1..=len]
    }
}

/// Reads `rows` of `column` through `memory` and shows every batch.
///
/// # Panics
/// If a batch is not what was asked for, or takes more than [`Column::need`] said.
pub fn batches<C: Column>(
    column: &C,
    rows: Range<u64>,
    memory: &mut [u8],
    mut each: impl FnMut(&Batch<'_, C>),
) -> Result<()> {
    let mut scratch = Scratch::new(memory);
    let mut row = rows.start;
    while row < rows.end {
        let mut inner = scratch.scope();
        let asked = fit(column, row..rows.end, inner.room())?;
        let (room, need) = (inner.room(), column.need(asked.clone())?);
        let batch = match column.read(asked.clone(), &mut inner) {
            Err(e) if e.kind() == Kind::NoRoom => panic!("{column:?} wants more than the {need} it said: {e:?}"),
            read => read?,
        };
        assert!((room - inner.room()) as u64 <= need, "{column:?} took more than it said");
        assert_eq!(batch.first, row);
        assert!(batch.len >= 1 && batch.len as u64 <= asked.end - asked.start, "{column:?} read {}", batch.len);
        assert!(column.nullable() || batch.validity.nulls(batch.len) == 0, "{column:?} is not nullable");
        each(&batch);
        row += batch.len as u64;
    }
    Ok(())
}

/// Reads rows of `column` in memory of every size: shows each value with its row, and how each reading ends.
pub fn values<C: Column>(
    column: &C,
    windows: [Range<u64>; 3],
    mut each: impl FnMut(u64, Result<Value<'_>>),
    end: impl Fn(Result<()>),
) {
    let mut memory = Memory::filled(0xa5);
    for (room, window) in ROOMS.into_iter().flat_map(|room| windows.clone().map(|window| (room, window))) {
        end(batches(column, window, memory.odd(room), |batch| {
            (0..batch.len).for_each(|i| each(batch.first + i as u64, batch.value(i)));
        }));
    }
}

/// The rows that a walk looks at, however many a file claims: the first, some in the middle, the last.
pub fn windows(rows: u64, most: u64) -> [Range<u64>; 3] {
    let few = most / 4;
    let middle = rows / 2;
    let last = rows.saturating_sub(few);
    [0..rows.min(most), middle..rows.min(middle.saturating_add(few)), last..rows]
}
