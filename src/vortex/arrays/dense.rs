//! Encodings that store only the rows that have a value: where those of some rows lie, and their spreading.

use crate::bytes::{Scratch, saturated};
use crate::encoding::cells::Cells;
use crate::error::{Error, Kind, Result, What};
use crate::vortex::node::Node;
use crate::vortex::raw::Encoding;
use crate::vortex::tree::{Ask, Run};

/// Rows that are counted at once, where they must be read for that.
const PIECE: usize = 256;

/// Rows of a bitmap whose counting costs as much as a node.
const ROWS_PER_NODE: u64 = 1 << 14;

/// Fills cells with the stored values from a number on.
type Fill<'f> = fn(&Node<'f>, u64, &mut Cells<'_>, &mut Run<'_>, &mut Scratch<'_>) -> Result<()>;

impl<'f> Node<'f> {
    /// Calls `fill` with the number of the first stored value of the rows from `at` on, and with cells for all
    /// of theirs; then puts each where its row is.
    pub(in crate::vortex) fn dense(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
        fill: Fill<'f>,
    ) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let first = self.values_before(at, run, s)?;
        let validity = self.validity(0);
        let Some(validity) = validity.as_ref()? else { return fill(self, first, out, run, s) };
        let mut t = s.scope();
        let valid = t.take::<u8>(out.len())?;
        validity.cells(Ask::Values, at, &mut Cells::W1(valid), run, &mut t)?;
        let count = valid.iter().filter(|valid| **valid == 1).count();
        if count > 0 {
            fill(self, first, &mut out.part(0, count), run, &mut t)?;
        }
        out.spread(valid);
        Ok(())
    }

    /// How many values are stored for the rows before `row`.
    pub(in crate::vortex) fn values_before(&self, row: u64, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<u64> {
        let validity = self.validity(0);
        let Some(validity) = validity.as_ref()? else { return Ok(row) };
        match validity.encoding() {
            Some(Encoding::Bool) => {
                run.fuel.spend_many(u32::try_from(row / ROWS_PER_NODE).unwrap_or(u32::MAX), self.at())?;
                let rows = saturated(row);
                return Ok(validity.bits(0, rows).as_ref()?.count_ones() as u64);
            }
            Some(Encoding::Constant) => return Ok(if validity.is_filled()? { row } else { 0 }),
            _ => {}
        }
        let (mut from, mut count) = (0u64, 0u64);
        while from < row {
            let mut valid = [0; PIECE];
            let len = saturated(row.saturating_sub(from)).min(PIECE);
            let valid = valid.get_mut(..len).unwrap_or_default();
            validity.cells(Ask::Values, from, &mut Cells::W1(valid), run, s)?;
            count = count.saturating_add(valid.iter().filter(|valid| **valid == 1).count() as u64);
            from = from.saturating_add(len as u64);
        }
        Ok(count)
    }

    /// The error of an array with more rows than stored values.
    #[cold]
    pub(in crate::vortex) fn too_few(&self, found: u64) -> Error {
        self.error(Kind::Invalid, What::VtxRows, found)
    }
}
