//! BinaryVectors of numbers (section 9).

use super::cells::{Cells, Source, lossy};
use super::len::mask_bytes;
use super::mask::Mask;
use super::out::Out;
use super::stats::Slant;
use super::width::packed as narrowest;
use crate::encoding::bitpack::Packing;
use crate::encoding::linear::Line;
use crate::encoding::min_max::MinMax;
use crate::error::{Result, What};
use crate::filo::Encoding;

/// Writes a packed vector (section 9.1).
pub(super) fn packed(cells: &Cells<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    cells.mask.no_nulls()?;
    let header = Encoding::Packed(packing).header();
    let mut out = Out::chunk(header, cells.bytes(packing).saturating_add(4), dst)?;
    put_packed(cells, packing, &mut out)?;
    out.finish()
}

/// Writes a masked vector (section 9.2): offset of the packed vector, NA words, packed vector.
pub(super) fn masked(cells: &Cells<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let header = Encoding::Masked(packing).header();
    let sub_vector = mask_bytes(cells.mask.rows()).saturating_add(4);
    let payload = sub_vector.saturating_add(4).saturating_add(cells.bytes(packing));
    let mut out = Out::chunk(header, payload, dst)?;
    out.u32(sub_vector)?;
    cells.mask.put_words(&mut out)?;
    put_packed(cells, packing, &mut out)?;
    out.finish()
}

/// Writes a repeated number of 32 (`I32`) or 64 bits (`W64`) (section 9.3). Without rows the value is zero.
pub(super) fn repeated(cells: &Cells<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    cells.mask.no_nulls()?;
    let value = cells.one(cells.constant()?);
    let mut out = Out::chunk(Encoding::Repeated.header(), packing.bytes(1).saturating_add(4), dst)?;
    out.u32(cells.mask.rows())?;
    value.pack(packing, 0, out.take(packing.bytes(1))?)?;
    out.finish()
}

/// Writes differences to a line (section 9.4).
pub(super) fn delta_delta(cells: &Cells<'_>, line: Line, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    cells.mask.no_nulls()?;
    let payload = cells.bytes(packing).saturating_add(12 + 4);
    let mut out = Out::chunk(Encoding::DeltaDelta(packing).header(), payload, dst)?;
    out.put(line.base.to_le_bytes())?;
    out.put(line.slope.to_le_bytes())?;
    put_packed(cells, packing, &mut out)?;
    out.finish()
}

/// Returns the line from the first value to the last, its slope truncated to a whole number, as used for
/// [`Encoding::DeltaDelta`]. If the width is unsigned and values are below the line, the base of the chunk is lowered
/// so that no residual is negative.
///
/// # Errors
/// [`Kind::Lossy`](crate::error::Kind::Lossy) with the last row if the slope does not fit 32 bits.
///
/// ```
/// use pilaster::filo::write::line;
///
/// let line = line(&[100, 250, 190, 401])?;
/// assert_eq!((line.base, line.slope), (100, 100));
/// # Ok::<(), pilaster::Error>(())
/// ```
pub fn line(values: &[i64]) -> Result<Line> {
    Line::through(values).ok_or_else(|| lossy(What::FILO_SLOPE, values.len().saturating_sub(1)))
}

/// Returns the line of a [`DeltaDelta`](Encoding::DeltaDelta) chunk: [`line`], lowered if the packing is unsigned, so
/// that no residual is negative.
pub(super) fn line_for(values: &[i64], packing: Packing) -> Result<Line> {
    let line = line(values)?;
    if packing.signed() {
        return Ok(line);
    }
    Ok(line.distances(values).map_or(line, |range| line.lowered(range.min)))
}

/// Returns the smallest width for the residuals to a line, and the line for this width.
pub(super) fn delta_packing(Slant { line, distances: MinMax { min, max } }: Slant) -> (Packing, Line) {
    // The first residual is 0, so a signed width that fits the distance fits both ends, too.
    let distance = i64::from(max).saturating_sub(min.into());
    let packing = narrowest(MinMax { min: 0, max: distance }).unwrap_or(Packing::I32);
    (packing, if packing.signed() { line } else { line.lowered(min) })
}

/// Writes a [`DeltaDelta`](Encoding::DeltaDelta) chunk of `values`, none of which is missing, with the given line.
pub(super) fn along(values: &[i64], line: Line, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let source = Source::WideDiff(bytemuck::must_cast_slice(values), line);
    delta_delta(&Cells { source, mask: Mask::all_of(values.len())? }, line, packing, dst)
}

/// Writes the packed vector that ends a chunk: header and data.
pub(super) fn put_packed(cells: &Cells<'_>, packing: Packing, out: &mut Out<'_>) -> Result<()> {
    debug_assert!(!matches!(cells.source, Source::Bits(_)), "booleans are in no BinaryVector");
    out.packed_header(packing, cells.mask.rows())?;
    cells.pack(packing, 0, out.take(cells.bytes(packing))?)
}
