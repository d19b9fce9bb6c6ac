//! Values found by numbers: dictionaries, run ends, run-length blocks.

use crate::bytes::{FAST, Scratch, saturated};
use crate::column::Prim;
use crate::encoding::cells::Cells;
use crate::encoding::fastlanes::{BLOCK, block_of};
use crate::error::{Kind, Result, What};
use crate::vortex::dtype::Ty;
use crate::vortex::node::Node;
use crate::vortex::tree::{Ask, Run, Text, take};

/// A dictionary of up to so many values is read whole for any number of rows.
pub(in crate::vortex) const SMALL: u64 = 64;

impl<'f> Node<'f> {
    /// The codes of a dictionary: child 1 of a layout, child 0 of an array.
    pub(in crate::vortex) fn codes(&self) -> Result<Node<'f>> {
        let (k, integer) = if self.layout().is_some() { (1, 1u32) } else { (0, 2) };
        let nullable = self.codes_nullable(integer.saturating_add(1))?;
        let mut codes = *self;
        codes.dtype = Ty::prim(self.integer(integer)?, nullable);
        codes.enter_exactly(k, self.rows)?;
        Ok(codes)
    }

    /// Whether codes may be null: as field `number` says, or as the type does.
    fn codes_nullable(&self, number: u32) -> Result<bool> {
        Ok(self.metadata().as_ref()?.uint(number)?.map_or(self.dtype.nullable, |nullable| nullable != 0))
    }

    /// Row `i` is value `codes[i]`, and null where either is.
    pub(in crate::vortex) fn dictionary(
        &self,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let codes = self.codes();
        let (codes, mut values) = (codes.as_ref()?, *self);
        values.enter_values()?;
        let mut t = s.scope();
        let numbers = t.take::<u32>(out.len())?;
        codes.indices32(at, numbers, run, &mut t)?;
        lookup(codes, at, &values, 0, values.rows, ask, numbers, out, run, &mut t)?;
        if ask == Ask::Valid && codes.dtype.nullable {
            let (valid, Cells::W1(out)) = (t.take::<u8>(out.len())?, out) else { return Err(self.mistyped()) };
            codes.cells(Ask::Valid, at, &mut Cells::W1(valid), run, &mut t)?;
            for (to, valid) in out.iter_mut().zip(valid) {
                *to &= *valid;
            }
        }
        Ok(())
    }

    /// `vortex.runend`: row `i` has the value of the first run that ends behind it.
    pub(in crate::vortex) fn runs(
        &self,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let bad = |need| self.error(Kind::Invalid, What::Runs, need);
        let ends = self.integers(0, 1, false, self.number(2)?);
        let (ends, mut values) = (ends.as_ref()?, *self);
        values.enter_values()?;
        // So many rows were cut off in front.
        let offset = self.number(3)?;
        let start = at.checked_add(offset).ok_or_else(|| bad(offset))?;
        let end = start.checked_add(out.len() as u64).ok_or_else(|| bad(offset))?;
        // Runs from that of the first row to that of the last.
        let (first, behind) = (ends.first_above(start, run, s)?, ends.below(end, run, s)?.saturating_add(1));
        let count = behind.checked_sub(first).filter(|_| behind <= ends.rows).ok_or_else(|| bad(behind))?;
        let count = usize::try_from(count).ok().filter(|count| *count <= out.len()).ok_or_else(|| bad(count))?;
        let mut t = s.scope();
        let places = t.take::<u64>(count)?;
        ends.indices(first, places, run, &mut t)?;
        for end in places.iter_mut() {
            *end = end.checked_sub(start).ok_or_else(|| bad(*end))?;
        }
        let mut cells = take(&mut t, out.width(), count);
        let cells = cells.as_mut()?;
        values.cells(ask, first, cells, run, &mut t)?;
        out.expand(cells, places).map_err(|k| bad(first.saturating_add(k as u64)))
    }

    /// `fastlanes.rle`: in each block of 1024, values and which of them each row has.
    pub(in crate::vortex) fn rle(
        &self,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let bad = |need| self.error(Kind::Invalid, What::VtxMetadata, need);
        let (values_len, starts_len, offset) = (self.number(1)?, self.number(4)?, self.number(6)?);
        if offset >= BLOCK as u64 {
            return Err(bad(offset));
        }
        let indices = self.integers(1, 3, self.dtype.nullable, self.number(2)?);
        let indices = indices.as_ref()?;
        let first = at.saturating_add(offset);
        if ask == Ask::Valid {
            return indices.cells(ask, first, out, run, s);
        }
        let values = self.child(0, &self.dtype.required(), values_len);
        let starts = self.integers(2, 5, false, starts_len);
        let (values, starts) = (values.as_ref()?, starts.as_ref()?);
        let origin = starts.index(0, run, s)?;
        let mut done = 0usize;
        while done < out.len() {
            let row = first.saturating_add(done as u64);
            let (block, skip) = block_of(row);
            let len = BLOCK.saturating_sub(skip).min(out.len().saturating_sub(done));
            let bound = move |k: u64, run: &mut Run<'_>, s: &mut Scratch<'_>| -> Result<u64> {
                if k == starts_len {
                    return Ok(values_len);
                }
                let at = starts.index(k, run, s)?;
                at.checked_sub(origin).filter(|at| *at <= values_len).ok_or_else(|| bad(at))
            };
            let (start, end) = (bound(block, run, s)?, bound(block.saturating_add(1), run, s)?);
            let count = end.checked_sub(start).ok_or_else(|| bad(end))?;
            let mut t = s.scope();
            let numbers = t.take::<u32>(len)?;
            indices.indices32(row, numbers, run, &mut t)?;
            if count == 1 {
                numbers.fill(0);
            }
            lookup(indices, row, values, start, count, ask, numbers, &mut out.part(done, len), run, &mut t)?;
            done = done.saturating_add(len);
        }
        Ok(())
    }
}

/// Cell `i` becomes value `first + numbers[i]` of `count` values. The numbers are rows `at` and on of `codes`:
/// one that is too large must be null there.
#[allow(clippy::too_many_arguments, reason = "the walk, and two children")]
#[inline(never)]
fn lookup<'f>(
    codes: &Node<'f>,
    at: u64,
    values: &Node<'f>,
    first: u64,
    count: u64,
    ask: Ask,
    numbers: &mut [u32],
    out: &mut Cells<'_>,
    run: &mut Run<'_>,
    s: &mut Scratch<'_>,
) -> Result<()> {
    let (mut low, mut high, mut bad) = (u32::MAX, 0, false);
    match u32::try_from(count.wrapping_sub(1)) {
        // Of few values all are read, and the numbers looked at by vectors.
        Ok(last) if FAST && count <= out.len() as u64 && numbers.iter().fold(true, |well, n| well & (*n <= last)) => {
            (low, high) = (0, last);
        }
        _ => {
            for number in numbers.iter() {
                if u64::from(*number) < count {
                    (low, high) = (low.min(*number), high.max(*number));
                } else {
                    bad = true;
                }
            }
        }
    }
    if bad {
        for (i, number) in numbers.iter_mut().enumerate().filter(|(_, number)| u64::from(**number) >= count) {
            if codes.is_valid(at.saturating_add(i as u64), run, s)? {
                return Err(codes.error(Kind::Invalid, What::Codes, (*number).into()));
            }
            // Any value will do, where there is one.
            *number = if low <= high { low } else { 0 };
        }
    }
    if low > high {
        out.fill(&[0; 32]);
        return Ok(());
    }
    let len = u64::from(high.wrapping_sub(low)).saturating_add(1);
    // Copied texts must be copied once, however often they are named.
    let whole = len <= SMALL.max(out.len() as u64) || matches!(run.text, Text::Copied { .. }) && ask == Ask::Spans;
    if !whole {
        for (i, number) in numbers.iter().enumerate() {
            values.cells(ask, first.saturating_add((*number).into()), &mut out.part(i, 1), run, s)?;
        }
        return Ok(());
    }
    let mut t = s.scope();
    let len = saturated(len);
    let mut table = take(&mut t, out.width(), len);
    let table = table.as_mut()?;
    values.cells(ask, first.saturating_add(low.into()), table, run, &mut t)?;
    if !FAST || low > 0 {
        for number in numbers.iter_mut() {
            *number = number.wrapping_sub(low);
        }
    }
    match out.gather(table, numbers) {
        None => Ok(()),
        Some(i) => Err(codes.error(Kind::Invalid, What::Codes, i as u64)),
    }
}

/// The type of offsets that count rows.
pub(in crate::vortex) const ROWS: Ty = Ty::prim(Prim::U64, false);
