//! Rows that are codes of values, in dictionaries and in run-length blocks.

use super::*;
use crate::bytes::{FAST, saturated};

/// Maximum number of dictionary values that are decoded as a whole for any number of rows.
pub(super) const SMALL: u64 = 64;

/// Maximum number of parts in which values are decoded, each of as many values as there are rows.
const PARTS: u64 = 64;

/// Values, and the codes that select them.
pub(super) struct Lookup<'n, 'f> {
    pub(super) codes: &'n Node<'f>,
    /// The row of the first code.
    pub(super) at: u64,
    pub(super) values: &'n Node<'f>,
    /// The row of the value with code 0.
    pub(super) first: u64,
    /// The number of values.
    pub(super) count: u64,
}

impl Lookup<'_, '_> {
    /// Fills cell `i` with value `numbers[i]`. The numbers are the saturated codes. Fails if the number of a valid row
    /// is not below `count`. Overwrites `numbers`.
    pub(super) fn cells(
        &self,
        ask: Ask,
        numbers: &mut [u32],
        out: &mut Cells<'_>,
        cx: &mut Context<'_, '_>,
    ) -> Result<()> {
        let Some((low, high)) = self.range(numbers, out.len() as u64, cx)? else {
            out.fill(&[0; 32]);
            return Ok(());
        };
        let len = u64::from(high.wrapping_sub(low)).saturating_add(1);
        // A copied text must be copied only once, whatever the number of its codes.
        let whole = len <= SMALL.max(out.len() as u64) || cx.copies_texts() && ask == Ask::Spans;
        if !whole {
            // Rows of many codes read the values in parts, fewer than rows, so that a page is not decoded for each row.
            let rows = out.len() as u64;
            if FAST && len <= PARTS.min(rows).saturating_mul(rows) {
                return cx.one_by_one(|cx| self.parts((ask, low, high), numbers, out, cx));
            }
            return cx.one_by_one(|cx| {
                numbers.iter().enumerate().try_for_each(|(i, number)| {
                    let value = self.first.saturating_add((*number).into());
                    self.values.cells(ask, value, &mut out.part(i, 1), cx)
                })
            });
        }
        let mut t = cx.scope();
        let mut table = t.take_cells(out.width(), saturated(len))?;
        self.values.cells(ask, self.first.saturating_add(low.into()), &mut table, &mut t)?;
        if !FAST || low > 0 {
            for number in numbers.iter_mut() {
                *number = number.wrapping_sub(low);
            }
        }
        match out.gather(&table, numbers) {
            None => Ok(()),
            Some(i) => Err(self.codes.error(Kind::Invalid, What::CODES, i as u64)),
        }
    }

    /// Fills cell `i` with value `numbers[i]`, between `low` and `high`. As many values are decoded at once as there are
    /// cells. Overwrites `numbers`.
    fn parts(
        &self,
        (ask, low, high): (Ask, u32, u32),
        numbers: &mut [u32],
        out: &mut Cells<'_>,
        cx: &mut Context<'_, '_>,
    ) -> Result<()> {
        let most = u32::try_from(out.len()).unwrap_or(u32::MAX).max(1);
        let (mut start, mut step) = (Some(low), low);
        while let Some(first) = start.filter(|first| *first <= high) {
            let len = high.wrapping_sub(first).saturating_add(1).min(most);
            let mut t = cx.scope();
            let mut table = t.take_cells(out.width(), len as usize)?;
            self.values.cells(ask, self.first.saturating_add(first.into()), &mut table, &mut t)?;
            for number in numbers.iter_mut() {
                *number = number.wrapping_sub(step);
            }
            // The numbers of other parts select no value of this one.
            out.gather(&table, numbers);
            (start, step) = (first.checked_add(most), most);
        }
        Ok(())
    }

    /// Returns bounds of the numbers, or `None` if no number is below `count`. Replaces numbers that are too large.
    fn range(&self, numbers: &mut [u32], rows: u64, cx: &mut Context<'_, '_>) -> Result<Option<(u32, u32)>> {
        let (mut low, mut high, mut bad) = (u32::MAX, 0, false);
        match u32::try_from(self.count.wrapping_sub(1)) {
            // A small dictionary is decoded as a whole. The loop that compares the numbers with its end is vectorised.
            Ok(last) if FAST && self.count <= rows && numbers.iter().fold(true, |well, n| well & (*n <= last)) => {
                (low, high) = (0, last);
            }
            _ => {
                for number in numbers.iter() {
                    if u64::from(*number) < self.count {
                        (low, high) = (low.min(*number), high.max(*number));
                    } else {
                        bad = true;
                    }
                }
            }
        }
        if bad {
            for (i, number) in numbers.iter_mut().enumerate().filter(|(_, number)| u64::from(**number) >= self.count) {
                if self.codes.is_valid(self.at.saturating_add(i as u64), cx)? {
                    return Err(self.codes.error(Kind::Invalid, What::CODES, (*number).into()));
                }
                // The row is null, so any valid number can replace this one.
                *number = if low <= high { low } else { 0 };
            }
        }
        Ok((low <= high).then_some((low, high)))
    }
}
