//! The rows of a column as one segment: the choice of the smallest encoding, and its bytes. The rows are packed in place.

use super::field::{Id, Schema, Uses};
use super::floats::{Exponents, View};
use super::put::{Flat, Put};
use super::rows::Column;
use super::scalar::{self, Short};
use crate::bytes::{len32, low8};
use crate::encoding::fastlanes;
use crate::vortex::word::bits;

/// Number of bytes by which the tree of packed numbers exceeds the tree of plain ones.
const TAIL: u32 = 64;

/// The encoding of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// No row has a value.
    Null,
    /// All rows have the same value.
    Constant,
    /// Numbers or booleans as they are in memory.
    Plain,
    /// Differences from a reference value, of `width` bits each.
    Packed,
    /// Offsets of `1 << width` bytes, and all texts.
    Texts,
}

/// A segment that is to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'r> {
    column: Column<'r>,
    way: Way,
    /// Whether some rows have a value and others do not.
    mixed: bool,
    width: u32,
    /// The minimum of the packed integers, and how floats became integers.
    reference: u64,
    exponents: Option<Exponents>,
    /// Sizes in bytes of the first buffer, and of the texts.
    len: u32,
    texts: u32,
}

impl<'r> Chunk<'r> {
    /// Creates a segment of numbers, or of booleans, as they are.
    pub const fn new(column: Column<'r>) -> Self {
        Chunk { column, way: Way::Plain, mixed: false, width: 0, reference: 0, exponents: None, len: 0, texts: 0 }
    }

    /// Chooses the encoding.
    #[inline(never)]
    pub fn choose<T: Schema>(&mut self) {
        let (uses, column) = (T::USES, &self.column);
        let valid = if uses.has(Id::Bool) { column.valid() } else { column.len };
        let is_text = uses.has(Id::VarBin) && column.form.is_text();
        let (mut texts, mut range, mut same) = (0u32, (0, 0), true);
        if is_text {
            let first = column.text(0);
            for row in 0..column.len {
                let text = column.text(row);
                texts = texts.wrapping_add(len32(text.len()));
                same &= equal(text, first);
            }
        } else {
            // Equal bits of floats, so that -0.0 differs from 0.0.
            range = self.range::<T>(&View::Integers, 0).unwrap_or_default();
            same = range.0 == range.1;
        }
        self.mixed = uses.has(Id::Bool) && valid < column.len;
        if valid == 0 || same && !self.mixed {
            self.way = if valid == 0 { Way::Null } else { Way::Constant };
            self.mixed = false;
            let (scalar, text) = self.scalar::<T>();
            self.len = len32(scalar.bytes().len().wrapping_add(text.len()));
        } else if is_text {
            self.way = Way::Texts;
            self.texts = texts;
            self.width = u32::from(texts > 0xff).wrapping_add(u32::from(texts > 0xffff));
            self.len = len32(column.len).wrapping_add(1) << self.width;
        } else if uses.has(Id::Bool) && column.form.is_bool() {
            self.len = len32(column.bitmap_len());
        } else {
            self.len = len32(column.len.wrapping_mul(column.form.size()));
            if uses.has(Id::BitPacked) {
                self.pack::<T>(range);
            }
        }
    }

    /// Packs the numbers if that is smaller. `range` has the minimum and the maximum of them.
    fn pack<T: Schema>(&mut self, mut range: (u64, u64)) {
        let mut exponents = None;
        if (T::USES.singles() || T::USES.doubles()) && self.column.form.is_float() {
            let found = Exponents::find::<T, _>(self.column.form, |view, row| self.range::<T>(&view, row));
            let Some((pair, integers)) = found else { return };
            (exponents, range) = (Some(pair), integers);
        }
        let (least, most) = range;
        let width = bits(most.wrapping_sub(least)).max(1);
        let len = len32(self.column.len.div_ceil(fastlanes::BLOCK)).wrapping_mul(128).wrapping_mul(width);
        if width < self.number_bits() && len.saturating_add(TAIL) < self.len {
            (self.way, self.width, self.len) = (Way::Packed, width, len);
            (self.reference, self.exponents) = (least, exponents);
        }
    }

    /// Returns the minimum and the maximum integer of a column; as the error, the first row at or after `row`, or before it, whose
    /// float has no integer.
    #[inline(never)]
    fn range<T: Schema>(&self, view: &View, mut row: usize) -> core::result::Result<(u64, u64), usize> {
        let column = &self.column;
        // With its sign bit inverted, a signed number has the order of an unsigned one.
        let flip = if column.form.is_signed() || column.form.is_float() { 1u64 << 63 } else { 0 };
        let (mut least, mut most) = (u64::MAX, 0u64);
        let last = column.len.wrapping_sub(1);
        for _ in 0..column.len {
            if column.is_valid(row) {
                let key = view.integer::<T>(column, row).ok_or(row)? ^ flip;
                (least, most) = (least.min(key), most.max(key));
            }
            row = if row < last { row.wrapping_add(1) } else { 0 };
        }
        Ok((least ^ flip, most ^ flip))
    }

    /// Returns the number of bits of a number.
    fn number_bits(&self) -> u32 {
        len32(self.column.form.size()).wrapping_mul(8)
    }

    /// Returns the message of a constant, and the text that follows it.
    #[inline(never)]
    fn scalar<T: Schema>(&self) -> (Short, &'r [u8]) {
        let (column, form) = (&self.column, self.column.form);
        if self.way == Way::Null {
            (Short::number(scalar::NULL, 0), &[])
        } else if T::USES.has(Id::VarBin) && form.is_text() {
            let text = column.text(0);
            (Short::of(form, text.len() as u64), text)
        } else {
            (Short::of(form, column.word(0)), &[])
        }
    }

    /// Returns the number of bytes of the buffers.
    fn data_len(&self) -> u32 {
        let bitmap = if self.mixed { len32(self.column.bitmap_len()) } else { 0 };
        self.len.saturating_add(self.texts).saturating_add(bitmap)
    }

    /// Writes the segment, or returns only its size in bytes if there is no output. `listed` are the encodings in the footer.
    #[inline(never)]
    pub fn put<T: Schema>(&self, listed: Uses, to: Option<&mut dyn Put>) -> u32 {
        let mut flat = Flat { at: 0, to };
        if flat.to.is_none() {
            flat.at = self.data_len();
        } else {
            self.put_data::<T>(&mut flat);
        }
        flat.align4();
        self.put_tree::<T>(listed, &mut flat);
        flat.at
    }

    /// Writes the buffers.
    fn put_data<T: Schema>(&self, to: &mut Flat<'_>) {
        let column = &self.column;
        match self.way {
            Way::Null | Way::Constant => {
                let (scalar, text) = self.scalar::<T>();
                to.bytes(scalar.bytes());
                to.bytes(text);
            }
            Way::Plain => to.bytes(column.bytes(self.len)),
            Way::Packed if T::USES.has(Id::BitPacked) => self.put_packed::<T>(to),
            Way::Texts if T::USES.has(Id::VarBin) => {
                let (mut end, size) = (0u32, 1usize << (self.width & 3));
                for row in 0..column.len.wrapping_add(1) {
                    to.number(end.into(), size);
                    end = end.wrapping_add(len32(column.text(row).len()));
                }
                (0..column.len).for_each(|row| to.bytes(column.text(row)));
            }
            _ => {}
        }
        if T::USES.has(Id::Bool) && self.mixed {
            to.bytes(column.bitmap());
        }
    }

    /// Writes packed numbers, word by word.
    #[inline(never)]
    fn put_packed<T: Schema>(&self, to: &mut Flat<'_>) {
        let (column, size, bits) = (&self.column, self.column.form.size(), self.number_bits());
        let view = View::of::<T>(column.form, self.exponents);
        let lanes = fastlanes::BLOCK >> bits.trailing_zeros();
        for first in (0..column.len).step_by(fastlanes::BLOCK) {
            for k in 0..self.width {
                for lane in 0..lanes {
                    let value = &mut |i: usize| {
                        let row = first.wrapping_add(i);
                        let is_there = row < column.len && column.is_valid(row);
                        let integer = if is_there { view.integer::<T>(column, row) } else { None };
                        integer.map_or(0, |integer| integer.wrapping_sub(self.reference))
                    };
                    let word = fastlanes::packed_word(value, bits, self.width, k, lane);
                    to.number(word, size);
                }
            }
        }
    }

    /// Writes the tree of arrays and its length.
    ///
    /// | encoding | nodes |
    /// |---|---|
    /// | constant | constant |
    /// | plain | primitive, or bool |
    /// | packed | alp, for floats; for, with the reference value; bitpacked, with the width |
    /// | texts | varbin, with the width of the offsets; primitive, the offsets |
    ///
    /// An extension type is a node before them. The validity is a child of the last of them, of texts of varbin.
    fn put_tree<T: Schema>(&self, listed: Uses, flat: &mut Flat<'_>) {
        let (uses, start, form, mixed) =
            (T::USES, flat.at, self.column.form, u32::from(T::USES.has(Id::Bool) && self.mixed));
        let exponent = match self.way {
            Way::Null | Way::Constant => 0,
            Way::Texts => self.width,
            _ => form.exponent(),
        };
        let (first, bitmap) = ((exponent, self.len), (0, len32(self.column.bitmap_len())));
        let is_text = uses.has(Id::VarBin) && self.way == Way::Texts;
        let buffers = [first, if is_text { (0, self.texts) } else { bitmap }, bitmap];
        let count = 1u32.wrapping_add(is_text.into()).wrapping_add(mixed);
        flat.array(buffers.get(..count as usize).unwrap_or_default());
        if uses.has(Id::Ext) && form.is_extension() {
            flat.node(listed.number(Id::Ext), &[], 1, None);
        }
        let mut metadata = &[8, low8(self.width as usize)][..];
        let number = match self.way {
            Way::Packed if uses.has(Id::BitPacked) => {
                self.put_wrappers::<T>(listed, flat);
                listed.number(Id::BitPacked)
            }
            Way::Texts if is_text => listed.number(Id::VarBin),
            way => {
                metadata = &[];
                match way {
                    Way::Null | Way::Constant => listed.number(Id::Constant),
                    _ if uses.has(Id::Bool) && form.is_bool() => listed.number(Id::Bool),
                    _ => listed.number(Id::Primitive),
                }
            }
        };
        // Texts have their offsets as a child and as the first buffer.
        let texts = u32::from(is_text);
        flat.node(number, metadata, mixed.wrapping_add(texts), Some(texts));
        if is_text {
            flat.node(listed.number(Id::Primitive), &[], 0, Some(0));
        }
        if mixed > 0 {
            flat.node(listed.number(Id::Bool), &[], 0, Some(count.wrapping_sub(1)));
        }
        flat.word(flat.at.wrapping_sub(start));
    }

    /// Writes the nodes before packed numbers: the exponents of floats, and the reference value.
    fn put_wrappers<T: Schema>(&self, listed: Uses, flat: &mut Flat<'_>) {
        if T::USES.has(Id::Alp)
            && let Some(exponents) = self.exponents
        {
            flat.node(listed.number(Id::Alp), &exponents.metadata(), 1, None);
        }
        let is_signed = self.column.form.is_signed() || self.column.form.is_float();
        let reference = Short::number(if is_signed { scalar::INT } else { scalar::UINT }, self.reference);
        flat.node(listed.number(Id::For), reference.bytes(), 1, None);
    }
}

/// Returns whether two texts are equal. A loop, because a comparison of slices calls a function that small targets may have no
/// other use for.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}
