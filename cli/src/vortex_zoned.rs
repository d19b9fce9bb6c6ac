//! Rows of a Vortex column, compared with its zones: minimum, maximum and number of missing rows of each.

use std::cmp::Ordering;
use std::ops::Range;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Type, Value};
use pilaster::vortex::{Column, Zones};

use crate::walk::batches;

/// Size in bytes of the memory for the bounds of a zone.
const ROOM: usize = 1 << 12;

/// Returns how the rows of a column contradict its zones, in words that follow its name; `Some(None)` if they agree, and
/// `None` if it has no zones that can be read. `is_exact`: the last zone is not longer than the rows that are present.
pub fn contradiction(column: &Column<'_>, is_exact: bool) -> Option<Option<String>> {
    let zones = column.zones().ok().flatten().filter(|zones| !zones.is_empty())?;
    for i in 0..zones.len() {
        let rows = zones.rows(i);
        let is_whole = is_exact || i.saturating_add(1) < zones.len();
        match agrees(column, (&zones, i), rows.clone(), is_whole) {
            Ok(Some(true)) => {}
            Ok(None) => return None,
            Ok(Some(false)) => {
                return Some(Some(format!("rows {}..{} contradict its table of zones", rows.start, rows.end)));
            }
            Err(e) => return Some(Some(format!("rows {}..{} cannot be read: {e}", rows.start, rows.end))),
        }
    }
    Some(None)
}

/// Returns whether the rows of a zone agree with it; `None` if the zone cannot be read.
fn agrees(
    column: &Column<'_>,
    (zones, i): (&Zones<'_>, u64),
    rows: Range<u64>,
    is_whole: bool,
) -> Result<Option<bool>> {
    let mut memory = vec![0; ROOM];
    let mut scratch = Scratch::new(&mut memory);
    let (Ok(min), Ok(max), Ok(nulls)) = (
        bound(zones.min(), i, &mut scratch),
        bound(zones.max(), i, &mut scratch),
        bound(zones.null_count(), i, &mut scratch),
    ) else {
        return Ok(None);
    };
    let Some(Value::Int(nulls)) = nulls else { return Ok(None) };
    // Bounds of texts may be shortened.
    let is_text = matches!(column.ty(), Type::Utf8 | Type::Bytes);
    let (mut missing, mut fits, mut is_min, mut is_max) = (0i128, true, false, false);
    batches(column, rows, |batch| {
        for row in 0..batch.len {
            let value = batch.value(row)?;
            missing = missing.saturating_add(i128::from(matches!(value, Value::Null)));
            let (low, high) =
                (min.as_ref().and_then(|min| value.compare(min)), max.as_ref().and_then(|max| value.compare(max)));
            fits &= low != Some(Ordering::Less) && high != Some(Ordering::Greater);
            is_min |= low == Some(Ordering::Equal);
            is_max |= high == Some(Ordering::Equal);
        }
        Ok::<_, pilaster::Error>(())
    })?;
    let is_known = |bound: &Option<Value<'_>>| bound.as_ref().is_some_and(|bound| bound.compare(bound).is_some());
    if is_whole {
        fits &= missing == nulls && (is_text || (is_min || !is_known(&min)) && (is_max || !is_known(&max)));
    }
    Ok(Some(fits && missing <= nulls))
}

/// Returns the bound of zone `i`, if there is one.
fn bound<'s>(of: Option<Column<'s>>, i: u64, scratch: &mut Scratch<'s>) -> Result<Option<Value<'s>>> {
    of.map(|bounds| bounds.scalar_at(i, scratch)?.value(0)).transpose()
}
