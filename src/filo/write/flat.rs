//! FlatBuffer kinds of numbers (sections 8.1 to 8.4), written from front to back by the templates of section 17.
//!
//! Every table has the same layout in every chunk. Its vtable is therefore a constant, and no FlatBuffers library is
//! needed. The fields are written in the order of their positions; offsets are computed from the lengths in between.

use super::cells::{Cells, Source, least, lossy};
use super::len::pad4;
use super::mask::Mask;
use super::out::Out;
use super::stats::quarters;
use crate::encoding::bitpack::Packing;
use crate::encoding::linear::Line;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::Header;

impl Out<'_> {
    /// Writes the root offset, then the vtable directly before the table at `table`: size of vtable and table, and the
    /// offset of each field in the table.
    pub fn root<const N: usize>(&mut self, table: usize, vtable: [u16; N]) -> Result<()> {
        let len = size_of::<[u16; N]>();
        self.u32(table)?;
        self.zeros_to(table.saturating_sub(len))?;
        for slot in vtable {
            self.put(slot.to_le_bytes())?;
        }
        self.u32(len)
    }

    /// Writes an offset to `target`, relative to its own position.
    pub fn offset_to(&mut self, target: usize) -> Result<()> {
        self.u32(target.saturating_sub(self.at()))
    }

    /// Writes the `DataInfo` struct. 64 bits are written as unsigned (section 6).
    #[allow(clippy::cast_possible_truncation, reason = "widths are at most 64")]
    pub fn info(&mut self, packing: Packing) -> Result<()> {
        self.put([packing.bits() as u8, 0, packing.signed() as u8, 0])
    }

    /// Writes a `[ubyte]` vector of packed data.
    pub fn data(&mut self, cells: &Cells<'_>, packing: Packing, missing: u64) -> Result<()> {
        let len = cells.bytes(packing);
        self.u32(len)?;
        cells.pack(packing, missing, self.take(len)?)?;
        self.zeros_to(pad4(self.at()))
    }
}

/// Writes a `SimplePrimitiveVector` (section 8.1).
pub(super) fn simple(cells: &Cells<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    primitive(Header::SimplePrimitive, cells, cells, packing, dst)
}

/// Writes a `ConstPrimitiveVector` (section 8.2): one value for all rows that are not missing.
pub(super) fn constant(cells: &Cells<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let row = cells.constant()?;
    let moved = |e: Error| match e.kind() {
        Kind::Lossy => e.moved(row.unwrap_or(0) as u64),
        _ => e,
    };
    primitive(Header::ConstPrimitive, cells, &cells.one(row), packing, dst).map_err(moved)
}

/// Writes the table of a simple or constant vector: number of rows and mask of `rows`, data of `data`.
fn primitive(header: Header, rows: &Cells<'_>, data: &Cells<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let mask = &rows.mask;
    let data_end = data.bytes(packing).saturating_add(40);
    let mut out = Out::chunk(header, mask.flat().end(data_end), dst)?;
    out.root(16, [12, 20, 12, 16, 4, 8])?;
    out.info(packing)?;
    out.offset_to(36)?;
    out.u32(mask.rows())?;
    out.offset_to(mask.flat().table(data_end))?;
    out.data(data, packing, 0)?;
    mask.put_flat(&mut out)?;
    out.finish()
}

/// Writes a `DiffPrimitiveVector` of 32-bit numbers (section 8.3).
pub(super) fn diff_narrow(values: &[i32], mask: Mask<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let base = least(values, &mask).unwrap_or(0);
    let source = Source::NarrowDiff(bytemuck::must_cast_slice(values), base.cast_unsigned());
    diff(&Cells { source, mask }, base.into(), packing, dst)
}

/// Writes a `DiffPrimitiveVector` of 64-bit numbers (section 8.3).
pub(super) fn diff_wide(values: &[i64], mask: Mask<'_>, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let (cells, base) = above_least(values, mask);
    diff(&cells, base, packing, dst)
}

/// Returns the differences to the minimum, and the minimum.
fn above_least<'a>(values: &'a [i64], mask: Mask<'a>) -> (Cells<'a>, i64) {
    let base = least(values, &mask).unwrap_or(0);
    let source = Source::WideDiff(bytemuck::must_cast_slice(values), Line { base, slope: 0 });
    (Cells { source, mask }, base)
}

fn diff(cells: &Cells<'_>, base: i64, packing: Packing, dst: &mut [u8]) -> Result<usize> {
    let mask = &cells.mask;
    let data_end = cells.bytes(packing).saturating_add(52);
    let mut out = Out::chunk(Header::DiffPrimitive, mask.flat().end(data_end), dst)?;
    out.root(20, [14, 28, 20, 24, 4, 12, 16])?;
    out.put(base.to_le_bytes())?;
    out.info(packing)?;
    out.offset_to(48)?;
    out.u32(mask.rows())?;
    out.offset_to(mask.flat().table(data_end))?;
    out.data(cells, packing, base.wrapping_neg().cast_unsigned())?;
    mask.put_flat(&mut out)?;
    out.finish()
}

/// Writes a `DiffDateTimeVector` (section 8.4). Without a packing for UTC offsets, all rows that are not missing must
/// have the same offset.
pub(super) fn date_time(
    millis: &[i64],
    offsets: &[i32],
    mask: Mask<'_>,
    encoding: (Packing, Option<Packing>),
    dst: &mut [u8],
) -> Result<usize> {
    if offsets.len() != millis.len() {
        return Err(Error::new(Kind::Misuse, What::FILO_ZONE, offsets.len() as u64));
    }
    let (packing, zones) = encoding;
    let (cells, base) = above_least(millis, mask);
    let base_zone = base_zone(offsets, &mask)?;
    let quarters = Cells { source: Source::Quarters(offsets, base_zone.into()), mask };
    let one_zone = |e: Error| Error::new(e.kind(), What::FILO_ZONE, e.at());
    if zones.is_none() {
        Cells { source: Source::Narrow(bytemuck::must_cast_slice(offsets)), mask }.constant().map_err(one_zone)?;
    }

    let zones_end = zones.map_or(64, |zones| pad4(quarters.bytes(zones).saturating_add(64 + 4)));
    let data_end = cells.bytes(packing).saturating_add(zones_end).saturating_add(4);
    let mut out = Out::chunk(Header::DiffDateTime, mask.flat().end(data_end), dst)?;
    let (info, vector) = if zones.is_some() { (8, 4) } else { (0, 0) };
    out.root(20, [16, 44, 40, 20, 16, 12, info, vector])?;
    match zones {
        Some(zones) => {
            out.offset_to(64)?;
            out.info(zones)?;
        }
        None => out.put([0; 8])?,
    }
    out.offset_to(zones_end)?;
    out.info(packing)?;
    out.u32(mask.rows())?;
    out.put([base_zone.to_le_bytes()[0], 0, 0, 0])?;
    out.put(base.to_le_bytes())?;
    out.put([0; 4])?;
    out.offset_to(mask.flat().table(data_end))?;
    if let Some(zones) = zones {
        let missing = i64::from(base_zone).wrapping_neg().cast_unsigned();
        out.data(&quarters, zones, missing).map_err(one_zone)?;
    }
    out.data(&cells, packing, base.wrapping_neg().cast_unsigned())?;
    mask.put_flat(&mut out)?;
    out.finish()
}

/// Returns the minimum of the UTC offsets in quarter hours. It must fit a signed byte.
fn base_zone(offsets: &[i32], mask: &Mask<'_>) -> Result<i8> {
    let Some(least) = least(offsets, mask) else { return Ok(0) };
    quarters(least).and_then(|quarters| i8::try_from(quarters).ok()).ok_or_else(|| {
        let row = offsets.iter().enumerate().position(|(row, offset)| *offset == least && mask.get(row));
        lossy(What::FILO_ZONE, row.unwrap_or(0))
    })
}
