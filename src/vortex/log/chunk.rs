//! The rows of a column as one segment: the choice of the smallest encoding, and its bytes. The rows are packed in place.

use super::blob::Tree;
use super::field::{Field, FieldType, Id, Schema, Uses};
use super::floats::View;
use super::put::Put;
use super::rows::Column;
use super::scalar::Short;
use crate::bytes::len32;
use crate::column::Prim;
use crate::encoding::fastlanes;
use crate::vortex::dtype::signed;
use crate::vortex::word::{bits, extended};

/// Number of bytes by which the tree of packed numbers exceeds the tree of plain ones.
const TAIL: u64 = 64;

/// The encoding of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// No row has a value.
    Null,
    /// All rows have the same value.
    Constant,
    /// Numbers as they are.
    Plain,
    /// Differences from a reference value, of `width` bits each.
    Packed { reference: u64, width: u32, view: View },
    /// Booleans.
    Bits,
    /// All texts, and their offsets of `1 << exponent` bytes.
    Texts { len: u32, exponent: u32 },
}

/// A segment that is to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'r> {
    column: Column<'r>,
    field: &'r Field<'r>,
    way: Way,
    /// Whether some rows have a value and others do not.
    mixed: bool,
}

impl<'r> Chunk<'r> {
    /// Chooses the encoding. `uses` has all encodings of the columns of the log.
    #[inline(never)]
    pub fn of<T: Schema>(column: Column<'r>, field: &'r Field<'r>) -> Self {
        let uses = T::USES;
        let valid = if uses.has(Id::Bool) && field.nullable { column.valid() } else { column.len };
        let mixed = valid < column.len;
        let way = match field.prim() {
            _ if valid == 0 => Way::Null,
            None if field.ty == FieldType::Bool => {
                let first = column.bit(0);
                let same = uses.has(Id::Bool) && !mixed && (0..column.len).all(|row| column.bit(row) == first);
                if same { Way::Constant } else { Way::Bits }
            }
            None if uses.has(Id::VarBin) => texts(&column, mixed),
            None => Way::Null,
            Some(prim) => numbers::<T>(&column, (signed(prim), is_float(prim)), mixed),
        };
        Chunk { column, field, way, mixed }
    }

    /// Returns the tree of the segment.
    fn tree<T: Schema>(&self) -> Tree {
        let uses = T::USES;
        let (mut tree, none, column) = (Tree::new(), Short::default(), &self.column);
        if uses.has(Id::Ext) && self.field.extension().is_some() {
            tree.link(Id::Ext, none, None);
        }
        let exponent = column.size.trailing_zeros();
        let bitmap = len32(column.len.div_ceil(8));
        match self.way {
            Way::Null | Way::Constant => {
                let (scalar, text) = self.scalar::<T>();
                let len = len32(scalar.bytes().len().saturating_add(text.len()));
                let buffer = tree.buffer(len, 0);
                tree.link(Id::Constant, none, Some(buffer));
            }
            Way::Plain => {
                let buffer = tree.buffer(len32(column.numbers().len()), exponent);
                tree.link(Id::Primitive, none, Some(buffer));
            }
            Way::Packed { reference, width, view } => {
                let is_signed = self.field.prim().is_some_and(|prim| signed(prim) || is_float(prim));
                if let Some(exponents) = view.exponents() {
                    tree.link(Id::Alp, exponents, None);
                }
                tree.link(Id::For, Short::integer(reference, is_signed), None);
                let buffer = tree.buffer(packed_len(column.len, width), exponent);
                tree.link(Id::BitPacked, Short::default().uint(1, width.into()), Some(buffer));
            }
            Way::Bits => {
                let buffer = tree.buffer(bitmap, 0);
                tree.link(Id::Bool, none, Some(buffer));
            }
            Way::Texts { len, exponent } => {
                let offsets = tree.buffer(len32(column.len).wrapping_add(1) << exponent, exponent);
                let texts = tree.buffer(len, 0);
                tree.link(Id::VarBin, Short::default().uint(1, exponent.into()), Some(texts));
                tree.leaf(Id::Primitive, none, Some(offsets));
            }
        }
        if uses.has(Id::Bool) && self.mixed && self.way != Way::Null {
            let buffer = tree.buffer(bitmap, 0);
            tree.leaf(Id::Bool, none, Some(buffer));
        }
        tree
    }

    /// Returns the size of the segment in bytes.
    pub fn len<T: Schema>(&self) -> u32 {
        let tree = self.tree::<T>();
        tree.buffers_len().saturating_add(tree.flat_len()).saturating_add(4)
    }

    /// Returns the message of a constant, and the text that follows it.
    fn scalar<T: Schema>(&self) -> (Short, &'r [u8]) {
        let uses = T::USES;
        let column = &self.column;
        if self.way == Way::Null {
            return (Short::null(), &[]);
        }
        let scalar = match self.field.prim() {
            Some(prim) if is_float(prim) => Short::float(column.word(0), column.size),
            Some(prim) => Short::integer(extended(column.word(0), bits_of(column), signed(prim)), signed(prim)),
            None if self.field.ty == FieldType::Bool => Short::boolean(column.bit(0)),
            None if uses.has(Id::VarBin) => {
                let text = column.text(0);
                return (Short::text(text.len(), self.field.ty == FieldType::Utf8), text);
            }
            None => Short::null(),
        };
        (scalar, &[])
    }

    /// Writes the segment. `listed` are the encodings in the footer.
    #[inline(never)]
    pub fn put<T: Schema>(&self, listed: Uses, to: &mut dyn Put) {
        let uses = T::USES;
        let column = &self.column;
        match self.way {
            Way::Null | Way::Constant => {
                let (scalar, text) = self.scalar::<T>();
                to.put(scalar.bytes());
                to.put(text);
            }
            Way::Plain => to.put(column.numbers()),
            Way::Packed { reference, width, view } if uses.has(Id::BitPacked) => {
                self.put_packed::<T>(reference, width, view, to);
            }
            Way::Packed { .. } => {}
            Way::Bits => to.put(column.bits()),
            Way::Texts { exponent, .. } if uses.has(Id::VarBin) => {
                let (mut end, size) = (0u32, 1usize << (exponent & 3));
                to.put([0; 4].get(..size).unwrap_or_default());
                for row in 0..column.len {
                    end = end.wrapping_add(len32(column.text(row).len()));
                    to.put(end.to_le_bytes().get(..size).unwrap_or_default());
                }
                (0..column.len).for_each(|row| to.put(column.text(row)));
            }
            Way::Texts { .. } => {}
        }
        let tree = self.tree::<T>();
        if uses.has(Id::Bool) && self.mixed && self.way != Way::Null {
            to.put(column.bitmap());
        }
        to.zeros(tree.padding());
        tree.put(listed, to);
    }

    /// Writes packed numbers, 128 bytes at a time.
    #[inline(never)]
    fn put_packed<T: Schema>(&self, reference: u64, width: u32, view: View, to: &mut dyn Put) {
        let column = &self.column;
        for block in 0..column.len.div_ceil(fastlanes::BLOCK) {
            let first = block.wrapping_mul(fastlanes::BLOCK);
            for k in 0..width {
                let value = &mut |i: usize| {
                    let row = first.wrapping_add(i);
                    let is_there = row < column.len && column.is_valid(row);
                    if is_there { view.integer::<T>(column.word(row)).wrapping_sub(reference) } else { 0 }
                };
                to.put(&fastlanes::packed_row(value, bits_of(column), width, k));
            }
        }
    }
}

/// Returns the number of bits of a number.
fn bits_of(column: &Column<'_>) -> u32 {
    len32(column.size).wrapping_mul(8)
}

fn packed_len(rows: usize, width: u32) -> u32 {
    len32(rows.div_ceil(fastlanes::BLOCK)).wrapping_mul(128).wrapping_mul(width)
}

/// Chooses the encoding of numbers, some of which are missing if `mixed`.
fn numbers<T: Schema>(column: &Column<'_>, (signed, float): (bool, bool), mixed: bool) -> Way {
    let uses = T::USES;
    let first = column.word(0);
    if !mixed && (0..column.len).all(|row| column.word(row) == first) {
        return Way::Constant;
    }
    if !uses.has(Id::BitPacked) {
        return Way::Plain;
    }
    let view = if float { View::of::<T>(column) } else { Some(View::Integers) };
    let Some(view) = view else { return Way::Plain };
    let (bits_each, signed) = (bits_of(column), signed || float);
    // With its sign bit inverted, a signed number has the order of an unsigned one.
    let flip = if signed { 1u64 << 63 } else { 0 };
    let (mut least, mut most) = (u64::MAX, 0u64);
    for row in (0..column.len).filter(|row| column.is_valid(*row)) {
        let key = extended(view.integer::<T>(column.word(row)), bits_each, signed) ^ flip;
        (least, most) = (least.min(key), most.max(key));
    }
    let width = bits(most.wrapping_sub(least)).max(1);
    let packed = u64::from(packed_len(column.len, width)).saturating_add(TAIL);
    if width < bits_each && packed < column.numbers().len() as u64 {
        Way::Packed { reference: least ^ flip, width, view }
    } else {
        Way::Plain
    }
}

/// Chooses the encoding of texts.
fn texts(column: &Column<'_>, mixed: bool) -> Way {
    let first = column.text(0);
    if !mixed && (0..column.len).all(|row| column.text(row) == first) {
        return Way::Constant;
    }
    let len = column.texts_len();
    let exponent = match len {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        _ => 2,
    };
    Way::Texts { len, exponent }
}

const fn is_float(prim: Prim) -> bool {
    matches!(prim, Prim::F16 | Prim::F32 | Prim::F64)
}
