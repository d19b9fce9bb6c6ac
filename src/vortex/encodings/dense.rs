//! Shared by encodings that store only valid rows: finds the stored values of a row range, and moves each to its row.

use super::*;
use crate::bytes::{FAST, saturated};
use crate::error::Error;
use crate::vortex::tree::BYTES_PER_NODE;

/// The only child of each of these encodings.
pub(super) const VALIDITY: usize = 0;

/// Number of rows that are counted at once if the validity must be decoded.
const PIECE: usize = 256;

/// Number of bitmap rows whose counting costs as much as a node.
const ROWS_PER_NODE: u64 = 1 << 14;

/// Number of buffers whose lengths are added up in the time that a node takes.
const STEPS_PER_NODE: usize = 256;

/// Fills cells with the stored values starting at the given number.
type Fill = fn(&Node<'_>, u64, &mut Cells<'_>, &mut Context<'_, '_>) -> Result<()>;

/// Calls `fill` with the number of the first stored value of the rows starting at `at`, and with cells for all stored
/// values of these rows. Then moves each value to the cell of its row.
pub(super) fn spread(
    node: &Node<'_>,
    at: u64,
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
    fill: Fill,
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let first = values_before(node, at, cx)?;
    let Some(validity) = &node.validity(VALIDITY)? else { return fill(node, first, out, cx) };
    let mut t = cx.scope();
    let valid = t.take::<u8>(out.len())?;
    validity.cells(Ask::Values, at, &mut Cells::W1(valid), &mut t)?;
    let count = valid.iter().filter(|valid| **valid == 1).count();
    if count > 0 {
        fill(node, first, &mut out.part(0, count), &mut t)?;
    }
    out.spread(valid);
    Ok(())
}

/// Returns `own` bytes, unless no row has a value, plus the bytes for the validity: a byte per row, unless every row has a
/// value. Its rows are counted piece by piece.
pub(super) fn need(mut own: u64, node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    let validity = if FAST { node.validity(VALIDITY)? } else { None };
    if let Some(validity) = &validity
        && cx.spend_many(amount.rows / ROWS_PER_NODE, node.at()).is_ok()
        && let (Some(at), Some(Encoding::Bool)) = (amount.at, validity.encoding())
        && plain::bits(validity, at, saturated(amount.rows)).is_ok_and(|bits| bits.count_ones() == 0)
    {
        own = 0;
    }
    if !FAST || validity.is_some() {
        own = own.saturating_add(need::piece(amount.rows, 1));
    }
    need::with_children(own, node, amount.at_least(PIECE as u64), cx)
}

/// Spends the budget for finding buffer `k` and parsing `len` bytes.
pub(super) fn spend(node: &Node<'_>, k: usize, len: usize, cx: &mut Context<'_, '_>) -> Result<()> {
    let steps = (node.buffer_steps(k)? / STEPS_PER_NODE) as u64;
    cx.spend_many(steps.saturating_add(len as u64 / BYTES_PER_NODE), node.at())
}

/// Returns the number of values that are stored for the rows before `row`.
pub(super) fn values_before(node: &Node<'_>, row: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
    let Some(validity) = &node.validity(VALIDITY)? else { return Ok(row) };
    match validity.encoding() {
        Some(Encoding::Bool) => {
            cx.spend_many(row / ROWS_PER_NODE, node.at())?;
            return Ok(plain::bits(validity, 0, saturated(row))?.count_ones() as u64);
        }
        Some(Encoding::Constant) => return Ok(if constant::is_true(validity)? { row } else { 0 }),
        _ => {}
    }
    let (mut from, mut count) = (0u64, 0u64);
    while from < row {
        let mut valid = [0; PIECE];
        let len = saturated(row.saturating_sub(from)).min(PIECE);
        let valid = valid.get_mut(..len).unwrap_or_default();
        validity.cells(Ask::Values, from, &mut Cells::W1(valid), cx)?;
        count = count.saturating_add(valid.iter().filter(|valid| **valid == 1).count() as u64);
        from = from.saturating_add(len as u64);
    }
    Ok(count)
}

/// Creates the error for an array with fewer stored values than valid rows; `found` is the number of values.
#[cold]
pub(super) fn too_few(node: &Node<'_>, found: u64) -> Error {
    node.error(Kind::Invalid, What::VORTEX_ROWS, found)
}
