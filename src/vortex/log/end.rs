//! A checkpoint: dtype, layout, footer, postscript and end marker, each emitted front to back with computed offsets (format
//! description, sections 3 and 4).
//!
//! Offsets within a FlatBuffer point forward, and every table here has a fixed size. `C` is the number of columns, `m` the
//! number of row groups. The u64 fields of a table are at multiples of 8, as the original requires.

use super::field::{Field, FieldType, LAYOUTS, Uses, unit_number};
use super::groups::Groups;
use super::put::{Put, string_len, up4};
use crate::bytes::len32;
use crate::column::Prim;
use crate::vortex::raw::{MAGIC, VERSION};

/// Size in bytes of the postscript.
pub(super) const POSTSCRIPT_LEN: u32 = 112;

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

/// Joins two fields of 16 bits of a vtable.
const fn halves(low: u32, high: u32) -> u32 {
    low | high << 16
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
    pub fn of(fields: &[Field<'_>], groups: u32) -> Option<Self> {
        let columns = len32(fields.len());
        let flats = columns.checked_mul(groups)?;
        // 24 bytes and 4 bytes per flat layout, and 16 bytes per segment.
        flats.checked_mul(28)?.checked_add(columns.checked_mul(64)?).filter(|size| *size < 1 << 31)?;
        let layout = Shape::of(columns, groups);
        Some(Sizes { dtype: dtype_len(fields), layout: layout.flat(flats), footer: footer_len(fields, flats) })
    }

    /// Returns the size in bytes of the checkpoint.
    pub const fn total(self) -> u32 {
        self.dtype.wrapping_add(self.layout).wrapping_add(self.footer).wrapping_add(TAIL_LEN)
    }
}

/// Writes a checkpoint of some row groups at offset `at`.
pub(super) fn checkpoint(to: &mut dyn Put, at: u64, fields: &[Field<'_>], groups: &Groups<'_>) {
    let Some(sizes) = Sizes::of(fields, groups.len()) else { return };
    dtype(to, fields);
    layout(to, len32(fields.len()), groups);
    footer(to, fields, groups);
    postscript(to, at, sizes);
}

/// Offset of the column list in the dtype, after the vtables.
const STRUCT_TYPE: u32 = 52;

/// Returns the size in bytes of the types of a column in the dtype.
fn type_len(field: &Field<'_>) -> u32 {
    match field.extension() {
        None => 20,
        Some((id, _, zone)) => 48u32.wrapping_add(string_len(id)).wrapping_add(4).wrapping_add(up4(metadata_len(zone))),
    }
}

/// Returns the size in bytes of the metadata of a calendar type.
fn metadata_len(zone: Option<&str>) -> u32 {
    zone.map_or(1, |zone| len32(zone.len()).wrapping_add(3))
}

fn types_at(columns: u32) -> u32 {
    columns.wrapping_mul(8).wrapping_add(STRUCT_TYPE + 20)
}

fn dtype_len(fields: &[Field<'_>]) -> u32 {
    fields.iter().fold(types_at(len32(fields.len())), |sum, field| {
        sum.wrapping_add(type_len(field)).wrapping_add(string_len(field.name))
    })
}

/// vtables: 4 DType and Struct_, 12 Primitive, 20 Bool, Utf8 and Binary, 28 Extension; 40 the DType of the root, 52 its
/// Struct_, 64 names, then types; the types of each column; the names.
#[inline(never)]
fn dtype(to: &mut dyn Put, fields: &[Field<'_>]) {
    let columns = len32(fields.len());
    to.words(&[40, halves(8, 12), halves(4, 8), halves(8, 8), halves(4, 5), halves(6, 8), 4]);
    to.words(&[halves(10, 16), halves(4, 8), 12]);
    to.words(&[36, 7, 4]);
    to.words(&[48, 8, columns.wrapping_mul(4).wrapping_add(8)]);
    let list = types_at(columns);
    to.word(columns);
    let (mut here, mut at) = (64u32.wrapping_add(4), list);
    for field in fields {
        at = at.wrapping_add(type_len(field));
    }
    for field in fields {
        to.word(at.wrapping_sub(here));
        (at, here) = (at.wrapping_add(string_len(field.name)), here.wrapping_add(4));
    }
    to.word(columns);
    (at, here) = (list, here.wrapping_add(4));
    for field in fields {
        to.word(at.wrapping_sub(here));
        (at, here) = (at.wrapping_add(type_len(field)), here.wrapping_add(4));
    }
    at = list;
    for field in fields {
        column_type(to, at, field);
        at = at.wrapping_add(type_len(field));
    }
    for field in fields {
        to.string(field.name);
    }
}

/// DType and its type; of an extension: DType, Extension, the DType of the storage and its type, id, metadata.
#[inline(never)]
fn column_type(to: &mut dyn Put, mut at: u32, field: &Field<'_>) {
    let nullable = u32::from(field.nullable);
    if field.extension().is_some() {
        to.words(&[at.wrapping_sub(4), 9, 4]);
        let metadata = field.extension().map_or(0, |(id, ..)| string_len(id).wrapping_add(24));
        // The distances to the id, the storage and the metadata.
        to.words(&[at.wrapping_sub(16), 32, 8, metadata]);
        at = at.wrapping_add(28);
    }
    let (tag, vtable, value) = match (field.prim(), field.ty) {
        (Some(prim), _) => (3, 12, u32::from(number(prim)) | nullable << 8),
        (None, FieldType::Bool) => (2, 20, nullable),
        (None, FieldType::Utf8) => (5, 20, nullable),
        (None, _) => (6, 20, nullable),
    };
    to.words(&[at.wrapping_sub(4), tag, 4]);
    to.words(&[at.wrapping_add(12).wrapping_sub(vtable), value]);
    if let Some((id, unit, zone)) = field.extension() {
        to.string(id);
        let len = metadata_len(zone);
        to.word(len);
        to.put(&[unit_number(unit)]);
        if let Some(zone) = zone {
            let [low, high, ..] = len32(zone.len()).to_le_bytes();
            to.put(&[low, high]);
            to.put(zone.as_bytes());
        }
        to.zeros(up4(len).wrapping_sub(len));
    }
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
        self.first.wrapping_add(chunked).wrapping_add(k.wrapping_mul(24))
    }
}

/// vtables: 4 of inner layouts, 16 of flat ones; 36 the struct, 56 its children; a chunked layout for each column, with its
/// children; the flat layouts.
#[inline(never)]
fn layout(to: &mut dyn Put, columns: u32, groups: &Groups<'_>) {
    let (count, rows) = (groups.len(), groups.rows());
    let shape = Shape::of(columns, count);
    to.words(&[36, halves(12, 20), halves(16, 4), halves(0, 12)]);
    to.words(&[halves(14, 16), halves(0, 4), 0, 12, 0]);
    to.word(32);
    to.pair(rows);
    to.words(&[8, STRUCT, columns]);
    for i in 0..columns {
        let here = 60u32.wrapping_add(i.wrapping_mul(4));
        to.word(shape.first.wrapping_add(shape.step.wrapping_mul(i)).wrapping_sub(here));
    }
    to.zeros(shape.first.wrapping_sub(60).wrapping_sub(columns.wrapping_mul(4)));
    for i in 0..columns {
        let at = shape.first.wrapping_add(shape.step.wrapping_mul(i));
        to.word(at.wrapping_sub(4));
        to.pair(rows);
        to.words(&[8, CHUNKED, count]);
        for j in 0..count {
            let here = at.wrapping_add(24).wrapping_add(j.wrapping_mul(4));
            to.word(shape.flat(i.wrapping_mul(count).wrapping_add(j)).wrapping_sub(here));
        }
        to.zeros(shape.step.wrapping_sub(24).wrapping_sub(count.wrapping_mul(4)));
    }
    for i in 0..columns {
        for j in 0..count {
            to.word(shape.flat(i.wrapping_mul(count).wrapping_add(j)).wrapping_sub(16));
            to.pair(groups.rows_of(j).into());
            to.words(&[4, 1, j.wrapping_mul(columns).wrapping_add(i)]);
        }
    }
}

/// Offset of the list of encodings in the footer.
const SPECS: u32 = 40;

/// Returns the offset of the list of segments, whose items are at a multiple of 8.
#[inline(never)]
pub(super) fn segments_at(fields: &[Field<'_>]) -> u32 {
    let mut end = SPECS.wrapping_add(8);
    // A place in a list, and a table, for each id.
    Uses::of(fields).each_id(&mut |id| end = end.wrapping_add(12).wrapping_add(string_len(id)));
    up8(end.wrapping_sub(4)).wrapping_add(4)
}

fn footer_len(fields: &[Field<'_>], segments: u32) -> u32 {
    segments_at(fields).wrapping_add(4).wrapping_add(segments.wrapping_mul(16))
}

/// vtables: 4 of the footer, 16 of ids; 24 the footer, 40 the lists of encodings and layouts; the tables of ids; the ids;
/// the segments.
#[inline(never)]
fn footer(to: &mut dyn Put, fields: &[Field<'_>], groups: &Groups<'_>) {
    let uses = Uses::of(fields);
    let arrays = uses.count();
    let lists = SPECS.wrapping_add(8).wrapping_add(arrays.wrapping_add(LAYOUTS).wrapping_mul(4));
    let segments = segments_at(fields);
    to.words(&[24, halves(10, 16), halves(4, 8), 12, halves(6, 8), 4]);
    to.words(&[20, 12, arrays.wrapping_mul(4).wrapping_add(12), segments.wrapping_sub(36)]);
    let (mut here, mut at) = (SPECS, lists);
    for count in [arrays, LAYOUTS] {
        to.word(count);
        here = here.wrapping_add(4);
        for _ in 0..count {
            to.word(at.wrapping_sub(here));
            (at, here) = (at.wrapping_add(8), here.wrapping_add(4));
        }
    }
    uses.each_id(&mut |id| {
        to.words(&[here.wrapping_sub(16), at.wrapping_sub(here).wrapping_sub(4)]);
        (at, here) = (at.wrapping_add(string_len(id)), here.wrapping_add(8));
    });
    uses.each_id(&mut |id| to.string(id));
    to.zeros(segments.wrapping_sub(at));
    to.word(groups.len().wrapping_mul(len32(fields.len())));
    groups.each_segment(&mut |at, len| {
        to.pair(at);
        to.words(&[len, EXPONENT]);
    });
}

/// vtables: 4 of the postscript, 16 of its segments; 28 the postscript; 44 dtype, 68 layout, 92 footer. Then the end
/// marker.
#[inline(never)]
fn postscript(to: &mut dyn Put, mut at: u64, sizes: Sizes) {
    to.words(&[28, halves(12, 16), halves(4, 8), halves(0, 12)]);
    to.words(&[halves(10, 20), halves(4, 12), 16]);
    to.words(&[24, 12, 32, 52]);
    for (here, len) in [(44u32, sizes.dtype), (68, sizes.layout), (92, sizes.footer)] {
        to.word(here.wrapping_sub(16));
        to.pair(at);
        to.words(&[len, EXPONENT]);
        if here != 92 {
            to.word(0);
        }
        at = at.wrapping_add(len.into());
    }
    to.word(u32::from(VERSION) | POSTSCRIPT_LEN << 16);
    to.put(&MAGIC);
}

/// Offsets in the tail of a checkpoint, the postscript and the end marker: offset of the dtype, of the layout and its
/// length, of the footer and its length.
pub(super) const TAIL: [usize; 5] = [48, 72, 80, 96, 104];

/// Returns the number of row groups of a checkpoint whose footer has `len` bytes.
pub(super) fn groups_in(fields: &[Field<'_>], len: u32) -> Option<u32> {
    let segments = len.checked_sub(segments_at(fields))?.checked_sub(4)?;
    let each = u32::try_from(fields.len()).ok()?.checked_mul(16)?;
    let groups = segments.checked_div(each)?;
    (groups.checked_mul(each)? == segments).then_some(groups)
}
