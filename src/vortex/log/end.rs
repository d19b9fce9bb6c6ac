//! A checkpoint: dtype, layout, footer, postscript and end marker, each emitted front to back with computed offsets (format
//! description, sections 3 and 4).
//!
//! Offsets within a FlatBuffer point forward, and every table here has a fixed size. `C` is the number of columns, `m` the
//! number of row groups. The u64 fields of a table are at multiples of 8, as the original requires.

use super::field::Schema;
use super::fixed::Part;
use super::groups::Groups;
use super::put::{Flat, halves};
use crate::bytes::{len32, low32};
use crate::column::Prim;
use crate::vortex::raw::{MAGIC, VERSION};

/// Size in bytes of the postscript.
const POSTSCRIPT_LEN: u32 = 112;

/// Size in bytes of the postscript and the end marker.
pub(super) const TAIL_LEN: u32 = POSTSCRIPT_LEN + 8;

/// The numbers of layouts; flat ones have number 0, so that their tables need no field for it.
const CHUNKED: u32 = 1;
const STRUCT: u32 = 2;

/// Alignment of segments and metadata as an exponent of two.
const EXPONENT: u32 = 3;

const fn up8(n: u32) -> u32 {
    n.wrapping_add(7) & !7
}

/// Sizes in bytes of the parts of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub dtype: u32,
    pub layout: u32,
    pub footer: u32,
}

impl Sizes {
    /// Returns the sizes for `groups` row groups, or `None` if an offset would exceed 31 bits.
    pub fn of(schema: &impl Schema, groups: u32) -> Option<Self> {
        let columns = len32(schema.count());
        let flats = columns.checked_mul(groups)?;
        // 24 bytes and 4 bytes per flat layout, and 16 bytes per segment.
        flats.checked_mul(28)?.checked_add(columns.checked_mul(64)?).filter(|size| *size < 1 << 31)?;
        let layout = Shape::of(columns, groups).flat(flats);
        Some(Sizes { dtype: schema.part_len(Part::Dtype), layout, footer: footer_len(schema, flats) })
    }

    /// Returns the size in bytes of the checkpoint.
    pub const fn total(self) -> u32 {
        self.dtype.wrapping_add(self.layout).wrapping_add(self.footer).wrapping_add(TAIL_LEN)
    }
}

/// Writes a checkpoint of some row groups at offset `at`.
pub(super) fn checkpoint(flat: &mut Flat<'_>, at: u64, schema: &impl Schema, groups: &Groups<'_>, sizes: Sizes) {
    schema.put_part(Part::Dtype, flat);
    layout(flat, len32(schema.count()), groups);
    schema.put_part(Part::Ids, flat);
    segments(flat, groups);
    postscript(flat, at, sizes);
}

/// Returns the number of a number type in the schema.
pub(super) const fn number(prim: Prim) -> u8 {
    match prim {
        Prim::U8 => 0,
        Prim::U16 => 1,
        Prim::U32 => 2,
        Prim::U64 => 3,
        Prim::I8 => 4,
        Prim::I16 => 5,
        Prim::I32 => 6,
        Prim::I64 => 7,
        Prim::F16 => 8,
        Prim::F32 => 9,
        Prim::F64 => 10,
    }
}

/// Size in bytes of a flat layout.
const FLAT_LEN: u32 = 24;

/// Offsets in the layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Offset of the chunked layout of the first column.
    first: u32,
    /// Number of bytes of a chunked layout.
    step: u32,
    columns: u32,
}

impl Shape {
    pub const fn of(columns: u32, groups: u32) -> Self {
        let first = up8(columns.wrapping_mul(4).wrapping_add(56)).wrapping_add(4);
        Shape { first, step: up8(groups.wrapping_mul(4).wrapping_add(24)), columns }
    }

    /// Returns the offset of the flat layout number `k`. The flat layouts of a column are consecutive.
    pub const fn flat(self, k: u32) -> u32 {
        let chunked = self.step.wrapping_mul(self.columns);
        self.first.wrapping_add(chunked).wrapping_add(k.wrapping_mul(FLAT_LEN))
    }
}

/// vtables: 4 of inner layouts, 16 of flat ones; 36 the struct, 56 its children; a chunked layout for each column, with its
/// children; the flat layouts, column by column.
#[inline(never)]
fn layout(flat: &mut Flat<'_>, columns: u32, groups: &Groups<'_>) {
    let (count, shape) = (groups.len(), Shape::of(columns, groups.len()));
    flat.at = 0;
    flat.words(const { &[36, halves(12, 20), halves(16, 4), halves(0, 12), halves(14, 16), halves(0, 4), 0, 12, 0] });
    inner(flat, groups, STRUCT, (columns, shape.first, shape.step));
    for i in 0..columns {
        inner(flat, groups, CHUNKED, (count, shape.flat(i.wrapping_mul(count)), FLAT_LEN));
    }
    for i in 0..columns {
        let mut segment = i;
        groups.each(&mut |rows, _, _| {
            flat.table(16);
            flat.words(&[rows, 0, 4, 1, segment]);
            segment = segment.wrapping_add(columns);
        });
    }
}

/// Puts a struct or chunked layout: the number of its rows, its number of children, the offset of the first and the
/// distance of each to the next. What follows it is at 4 modulo 8, so that its number of rows is at a multiple of 8.
#[inline(never)]
fn inner(flat: &mut Flat<'_>, groups: &Groups<'_>, layout: u32, (count, first, step): (u32, u32, u32)) {
    let rows = groups.rows();
    flat.table(4);
    flat.words(&[low32(rows), low32(rows >> 32), 8, layout, count]);
    flat.links(count, first, step);
    flat.align_tables();
}

/// Returns the size in bytes of the footer: ids, number of segments, segments.
fn footer_len(schema: &impl Schema, segments: u32) -> u32 {
    schema.part_len(Part::Ids).wrapping_add(4).wrapping_add(segments.wrapping_mul(16))
}

/// The end of the footer: the segments, row group by row group.
#[inline(never)]
fn segments(flat: &mut Flat<'_>, groups: &Groups<'_>) {
    flat.word(groups.segments());
    groups.each(&mut |_, mut at, lens| {
        for len in lens {
            segment(flat, at, *len);
            at = at.wrapping_add(super::frames::up8(u64::from(*len)));
        }
    });
}

/// vtables: 4 of the postscript, 16 of its segments; 28 the postscript; 44 dtype, 68 layout, 92 footer. Then the end
/// marker.
#[inline(never)]
fn postscript(flat: &mut Flat<'_>, mut at: u64, sizes: Sizes) {
    const START: [u32; 11] =
        [28, halves(12, 16), halves(4, 8), halves(0, 12), halves(10, 20), halves(4, 12), 16, 24, 12, 32, 52];
    flat.at = 0;
    flat.words(const { &START });
    for (i, len) in (0..3u32).zip([sizes.dtype, sizes.layout, sizes.footer]) {
        flat.table(16);
        segment(flat, at, len);
        // Between two segments is a word of zeros.
        flat.word(if i < 2 { 0 } else { u32::from(VERSION) | POSTSCRIPT_LEN << 16 });
        at = at.wrapping_add(len.into());
    }
    flat.bytes(&MAGIC);
}

/// Puts a segment: offset, length in bytes, and alignment.
#[inline(never)]
fn segment(flat: &mut Flat<'_>, at: u64, len: u32) {
    flat.words(&[low32(at), low32(at >> 32), len, EXPONENT]);
}

/// Offsets in the tail of a checkpoint, the postscript and the end marker: offset of the dtype, of the layout and its
/// length, of the footer and its length.
pub(super) const TAIL: [usize; 5] = [48, 72, 80, 96, 104];

/// Returns the offset of the list of segments in the footer.
pub(super) fn segments_at(schema: &impl Schema) -> u32 {
    schema.part_len(Part::Ids)
}

/// Returns the number of row groups of a checkpoint whose footer has `len` bytes.
pub(super) fn groups_in(schema: &impl Schema, len: u32) -> Option<u32> {
    let segments = len.checked_sub(segments_at(schema))?.checked_sub(4)?;
    let each = u32::try_from(schema.count()).ok()?.checked_mul(16)?;
    let groups = segments.checked_div(each)?;
    (groups.checked_mul(each)? == segments).then_some(groups)
}
