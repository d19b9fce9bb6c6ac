//! The places of the rows of dictionaries and runs among their values.

use std::ops::Range;

use bytemuck::AnyBitPattern;
use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Prim, Validity};
use pilaster::error::{Error, Kind, Result, What};

use super::node::{Ends, Node, Nulls, Stored};
use super::number::Number;

/// Rows of a node: consecutive ones, or one by one.
#[derive(Clone, Debug)]
pub(super) enum Picks<'s> {
    Rows(Range<usize>),
    Each(&'s [u32]),
}

impl Picks<'_> {
    pub fn len(&self) -> usize {
        match self {
            Picks::Rows(rows) => rows.len(),
            Picks::Each(picks) => picks.len(),
        }
    }

    pub fn get(&self, i: usize) -> Option<usize> {
        match self {
            Picks::Rows(rows) => rows.start.checked_add(i).filter(|row| *row < rows.end),
            Picks::Each(picks) => picks.get(i).map(|pick| *pick as usize),
        }
    }
}

/// Returns an upper bound of the scratch bytes that [`picks`] takes for `len` rows.
pub(super) fn cost(len: u64) -> u64 {
    Scratch::cost::<u32>(len).saturating_add(len.div_ceil(8))
}

/// Returns the place of each row among the values of the innermost dictionary or run, and which rows have a value. A
/// missing row has place 0.
pub(super) fn picks<'s>(
    node: &Node,
    rows: Range<usize>,
    scratch: &mut Scratch<'s>,
) -> Result<(&'s [u32], Validity<'s>)> {
    let picks = scratch.take::<u32>(rows.len())?;
    let bits = scratch.take::<u8>(rows.len().div_ceil(8))?;
    bits.fill(0);
    let (mut all, mut walk) = (true, Walk::default());
    for (i, (pick, row)) in picks.iter_mut().zip(rows.clone()).enumerate() {
        let place = walk.place(node, row)?;
        *pick = match place {
            Some(place) => u32::try_from(place).map_err(|_| Error::new(Kind::Overflow, node.ty.what(), row as u64))?,
            None => 0,
        };
        set(bits, i, place.is_some());
        all &= place.is_some();
    }
    let validity = if all { Validity::All } else { Validity::Bits(Bits::new(bits, 0, rows.len())?) };
    Ok((picks, validity))
}

/// Sets a bit that is 0.
pub(super) fn set(bits: &mut [u8], i: usize, bit: bool) {
    if let Some(byte) = bits.get_mut(i >> 3) {
        *byte |= u8::from(bit) << (i & 7);
    }
}

/// Finds the places of ascending rows: the run of the last row is kept.
#[derive(Debug, Default)]
pub(super) struct Walk {
    run: usize,
}

impl Walk {
    /// Returns the place of a row among the values of the innermost dictionary or run, or `None` if it is missing.
    pub fn place(&mut self, node: &Node, row: usize) -> Result<Option<usize>> {
        let (mut node, mut row) = (node, row);
        loop {
            if node.is_missing(row) {
                return Ok(None);
            }
            row = match &node.values {
                Stored::Coded => {
                    let code = node.children.get(1).and_then(|(_, codes)| codes.code(row));
                    code.ok_or_else(|| Error::new(Kind::OutOfRange, What::ROW, row as u64))?
                }
                Stored::Runs(ends, before) => self.run(ends, row.saturating_add(*before)),
                _ => return Ok(Some(row)),
            };
            match node.children.first() {
                Some((_, values)) if row < values.rows => node = values,
                values => {
                    let count = values.map_or(0, |(_, values)| values.rows);
                    return Err(Error::needing(Kind::OutOfRange, What::ROW, row as u64, count as u64));
                }
            }
        }
    }

    fn run(&mut self, ends: &Ends, row: usize) -> usize {
        for run in [self.run, self.run.saturating_add(1)] {
            let begins = run.checked_sub(1).is_none_or(|before| ends.end(before).is_some_and(|end| end <= row));
            if begins && ends.end(run).is_some_and(|end| row < end) {
                self.run = run;
                return run;
            }
        }
        self.run = ends.find(row);
        self.run
    }
}

impl Node {
    /// Returns the values of the innermost dictionary or run, or the node itself if it is neither.
    pub(super) fn leaf(&self) -> &Node {
        let mut node = self;
        while let (Stored::Coded | Stored::Runs(..), Some((_, values))) = (&node.values, node.children.first()) {
            node = values;
        }
        node
    }

    /// Returns whether the node itself says that a row is missing.
    pub(super) fn is_missing(&self, row: usize) -> bool {
        match &self.nulls {
            Nulls::None => false,
            Nulls::All => true,
            Nulls::Bits(nulls) => row >= nulls.len() || nulls.is_null(row),
        }
    }

    /// Returns whether a row of the node may be missing, by its own nulls or by its values.
    pub(super) fn may_be_missing(&self) -> bool {
        let mut node = self;
        loop {
            if !matches!(node.nulls, Nulls::None) {
                return true;
            }
            match (&node.values, node.children.first()) {
                (Stored::Coded | Stored::Runs(..), Some((_, values))) => node = values,
                _ => return false,
            }
        }
    }

    /// Returns a number that is an index.
    fn code(&self, row: usize) -> Option<usize> {
        fn at<T: AnyBitPattern + TryInto<usize>>(bytes: &[u8], row: usize) -> Option<usize> {
            let codes: &[T] = bytemuck::try_cast_slice(bytes).ok()?;
            (*codes.get(row)?).try_into().ok()
        }
        let Stored::Number(bytes, Number::Prim(prim)) = &self.values else { return None };
        match prim {
            Prim::I8 => at::<i8>(bytes, row),
            Prim::I16 => at::<i16>(bytes, row),
            Prim::I32 => at::<i32>(bytes, row),
            Prim::I64 => at::<i64>(bytes, row),
            Prim::U8 => at::<u8>(bytes, row),
            Prim::U16 => at::<u16>(bytes, row),
            Prim::U32 => at::<u32>(bytes, row),
            Prim::U64 => at::<u64>(bytes, row),
            _ => None,
        }
    }
}
