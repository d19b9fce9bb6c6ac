//! A column that is gathered in memory: arrays with their children, and the offsets of strings.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use super::cells::{self, Tally, wrong_type};
use super::ends::Ends;
use super::{Sentinels, WriteOptions, storage, wider};
use crate::column::{Batch, Column, Memory, Spans, Type, Validity, Values, VarBytes};
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::SType;
use crate::limits::Depth;

/// Scratch size in bytes for batches of children, unless one row takes more.
const ROOM: usize = 1 << 16;

/// A column or a child column.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) stype: SType,
    pub(super) tally: Tally,
    /// For arrays: one bit per row.
    pub(super) valid: Vec<u8>,
    /// For strings and arrays: the end offsets.
    pub(super) ends: Ends,
    /// Elements of fixed width, or characters.
    pub(super) data: Vec<u8>,
    pub(super) child: Option<Box<Tree>>,
    sentinels: Sentinels,
    /// The type to store the column in if a value means missing in its own.
    pub(super) wider: Option<SType>,
}

impl Tree {
    /// Creates an empty column of the type of `col`.
    pub(super) fn of<C: Column>(col: &C, options: &WriteOptions, depth: Depth) -> Result<Self> {
        let stype = storage(col.ty(), options).ok_or_else(|| wrong_type(col.ty()))?;
        if !options.any_time && matches!(col.ty(), Type::Timestamp(_)) && col.zone()?.is_some() {
            return Err(wrong_type(col.ty()));
        }
        let child = match stype.is_array() {
            true => Some(Box::new(Tree::of(&col.child(0)?, options, depth.child(0)?)?)),
            false => None,
        };
        Ok(Tree {
            stype,
            tally: Tally::EMPTY,
            valid: Vec::new(),
            ends: Ends::new(),
            data: Vec::new(),
            child,
            sentinels: options.sentinels,
            wider: wider(col.ty(), options),
        })
    }

    /// Appends the rows of `batch`, children included.
    pub(super) fn push<C: Column>(&mut self, col: &C, batch: &Batch<'_, C>) -> Result<()> {
        match (self.stype, batch.values) {
            (SType::Void0, _) => {
                self.tally.rows = self.tally.rows.saturating_add(batch.len as u64);
                self.tally.nulls = self.tally.rows;
                Ok(())
            }
            (SType::Str32, Values::Utf8(strings) | Values::Bytes(strings)) => {
                self.lengths(&strings, batch)?;
                let data = &mut self.data;
                text(&strings, &batch.validity, &mut |bytes| {
                    data.extend_from_slice(bytes);
                    Ok::<_, Error>(())
                })
            }
            (SType::Arr32, Values::Nested(rows)) => {
                let child = batch.of.child(0)?;
                let mut run = 0..0;
                for i in 0..batch.len {
                    let there = batch.validity.get(i);
                    self.bit(there);
                    let row = if there { rows.get(i)? } else { run.end..run.end };
                    self.ends.push(row.end.saturating_sub(row.start), false);
                    if row.start == run.end {
                        run.end = row.end;
                    } else if !row.is_empty() {
                        self.children(&child, run)?;
                        run = row;
                    }
                }
                self.children(&child, run)
            }
            (stype, _) => {
                if self.wider.is_some() && cells::has_sentinel(batch) {
                    self.widen();
                    return self.push(col, batch);
                }
                let data = &mut self.data;
                cells::put(stype, col, batch, &mut self.tally, self.sentinels, &mut |bytes| {
                    data.extend_from_slice(bytes);
                    Ok::<_, Error>(())
                })
            }
        }
    }

    /// Stores the integers in the wider type, also those that were gathered already.
    fn widen(&mut self) {
        let Some(wider) = self.wider.take() else { return };
        // The minimum means missing in both types.
        let data = match self.stype {
            SType::Int8 => widened(&self.data, |v| {
                let v = i8::from_le_bytes(v);
                if v == i8::MIN { i16::MIN } else { v.into() }.to_le_bytes()
            }),
            SType::Int16 => widened(&self.data, |v| {
                let v = i16::from_le_bytes(v);
                if v == i16::MIN { i32::MIN } else { v.into() }.to_le_bytes()
            }),
            _ => widened(&self.data, |v| {
                let v = i32::from_le_bytes(v);
                if v == i32::MIN { i64::MIN } else { v.into() }.to_le_bytes()
            }),
        };
        (self.data, self.stype) = (data, wider);
    }

    /// Appends rows of the child column.
    fn children<C: Column>(&mut self, col: &C, rows: Range<u64>) -> Result<()> {
        let Some(child) = &mut self.child else { return Ok(()) };
        let mut memory = Memory::with_len(ROOM as u64)?;
        let mut row = rows.start;
        while row < rows.end {
            let fitting = memory.fit(col, row..rows.end)?;
            let batch = col.read(fitting, &mut memory.scratch())?;
            child.push(col, &batch)?;
            row = row.saturating_add((batch.len as u64).max(1));
        }
        Ok(())
    }

    /// Appends the lengths of strings. Fails if a string is not valid UTF-8.
    pub(super) fn lengths<C>(&mut self, strings: &VarBytes<'_>, batch: &Batch<'_, C>) -> Result<()> {
        let nulls = self.ends.append(strings, batch)?;
        self.tally.nulls = self.tally.nulls.saturating_add(nulls);
        self.tally.rows = self.tally.rows.saturating_add(batch.len as u64);
        Ok(())
    }

    fn bit(&mut self, there: bool) {
        let row = self.tally.rows;
        if row & 7 == 0 {
            self.valid.push(0);
        }
        match self.valid.last_mut() {
            Some(byte) if there => *byte |= 1 << (row & 7),
            _ => {}
        }
        self.tally.nulls = self.tally.nulls.saturating_add(u64::from(!there));
        self.tally.rows = row.saturating_add(1);
    }

    /// Returns the storage type with the width that the offsets need.
    pub(super) const fn stored(&self) -> SType {
        match self.stype {
            SType::Str32 if self.ends.is_wide() => SType::Str64,
            SType::Arr32 if self.ends.is_wide() => SType::Arr64,
            stype => stype,
        }
    }
}

fn widened<const N: usize, const M: usize>(data: &[u8], to: impl Fn([u8; N]) -> [u8; M]) -> Vec<u8> {
    data.as_chunks().0.iter().flat_map(|value| to(*value)).collect()
}

/// Passes the characters of the valid strings to `put`, in as few slices as possible.
pub(super) fn text<E: From<Error>>(
    strings: &VarBytes<'_>,
    validity: &Validity<'_>,
    put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let ends = match strings.spans {
        Spans::Off32(offsets) => offsets.first().zip(offsets.last()).map(|(a, b)| (u64::from(*a), u64::from(*b))),
        Spans::Off64(offsets) => offsets.first().zip(offsets.last()).map(|(a, b)| (*a, *b)),
        _ => None,
    };
    // The strings are contiguous if their offsets ascend; `get` has checked each of them.
    if let (Validity::All, Some((start, end))) = (validity, ends) {
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let all = range.and_then(|(start, end)| strings.data.get(start..end));
        return put(all.ok_or_else(|| Error::new(Kind::Truncated, What::TEXT, start))?);
    }
    let mut stage = Vec::with_capacity(ROOM);
    for i in 0..strings.len() {
        let bytes = if validity.get(i) { strings.get(i)? } else { &[] };
        if stage.len().saturating_add(bytes.len()) > ROOM {
            put(&stage)?;
            stage.clear();
        }
        if bytes.len() > ROOM {
            put(bytes)?;
        } else {
            stage.extend_from_slice(bytes);
        }
    }
    put(&stage)
}
