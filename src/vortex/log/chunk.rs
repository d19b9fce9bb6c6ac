//! The rows of a column as one segment: the choice of the smallest encoding, and its bytes. The rows are packed in place.

use super::field::{Id, Schema, Uses};
use super::floats::{Exponents, View};
use super::put::{Flat, Nowhere, Put, up4};
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
    /// The least of the packed integers, and how floats became integers.
    reference: u64,
    exponents: Option<Exponents>,
    /// Sizes in bytes of the first buffer, and of the texts.
    len: u32,
    texts: u32,
}

impl<'r> Chunk<'r> {
    /// Chooses the encoding.
    #[inline(never)]
    pub fn of<T: Schema>(column: Column<'r>) -> Self {
        let (uses, rows) = (T::USES, column.len);
        let is_text = uses.has(Id::VarBin) && column.form.is_text();
        let (mut valid, mut same, mut texts) = (0usize, true, 0usize);
        for row in 0..rows {
            valid = valid.wrapping_add(column.is_valid(row).into());
            if is_text {
                texts = texts.wrapping_add(column.text(row).len());
                same &= column.text(row) == column.text(0);
            } else {
                same &= column.word(row) == column.word(0);
            }
        }
        let (mixed, texts) = (valid < rows, len32(texts));
        let mut chunk = Chunk { column, way: Way::Plain, mixed, width: 0, reference: 0, exponents: None, len: 0, texts };
        if valid == 0 || same && !mixed {
            chunk.way = if valid == 0 { Way::Null } else { Way::Constant };
            chunk.mixed = false;
            let (scalar, text) = chunk.scalar::<T>();
            chunk.len = len32(scalar.bytes().len().wrapping_add(text.len()));
        } else if is_text {
            chunk.way = Way::Texts;
            chunk.width = u32::from(texts > 0xff).wrapping_add(u32::from(texts > 0xffff));
            chunk.len = len32(rows).wrapping_add(1) << chunk.width;
        } else if uses.has(Id::Bool) && column.form.is_bool() {
            chunk.len = len32(column.bitmap_len());
        } else {
            chunk.len = len32(rows.wrapping_mul(column.form.size()));
            if uses.has(Id::BitPacked) {
                chunk.pack::<T>();
            }
        }
        chunk
    }

    /// Packs the numbers if that is smaller.
    fn pack<T: Schema>(&mut self) {
        let form = self.column.form;
        let (exponents, (least, most)) = if (T::USES.singles() || T::USES.doubles()) && form.is_float() {
            let Some((exponents, range)) = Exponents::find::<T, _>(form, |view| self.range::<T>(&view)) else { return };
            (Some(exponents), range)
        } else {
            let Some(range) = self.range::<T>(&View::Integers) else { return };
            (None, range)
        };
        let width = bits(most.wrapping_sub(least)).max(1);
        let len = len32(self.column.len.div_ceil(fastlanes::BLOCK)).wrapping_mul(128).wrapping_mul(width);
        if width < self.number_bits() && len.saturating_add(TAIL) < self.len {
            (self.way, self.width, self.len) = (Way::Packed, width, len);
            (self.reference, self.exponents) = (least, exponents);
        }
    }

    /// Returns the least and the greatest integer of a column; `None` if a float has no integer.
    #[inline(never)]
    fn range<T: Schema>(&self, view: &View) -> Option<(u64, u64)> {
        let column = &self.column;
        // With its sign bit inverted, a signed number has the order of an unsigned one.
        let flip = if column.form.is_signed() || column.form.is_float() { 1u64 << 63 } else { 0 };
        let (mut least, mut most) = (u64::MAX, 0u64);
        for row in 0..column.len {
            if column.is_valid(row) {
                let key = view.integer::<T>(column, row)? ^ flip;
                (least, most) = (least.min(key), most.max(key));
            }
        }
        Some((least ^ flip, most ^ flip))
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

    /// Returns the size of the segment in bytes.
    pub fn len<T: Schema>(&self, listed: Uses) -> u32 {
        let (mut nowhere, mut data) = (Nowhere, self.len.saturating_add(self.texts()));
        if self.mixed {
            data = data.saturating_add(len32(self.column.bitmap_len()));
        }
        up4(data).saturating_add(self.tree::<T>(listed, &mut nowhere))
    }

    /// Returns the number of bytes of texts after the first buffer.
    fn texts(&self) -> u32 {
        if self.way == Way::Texts { self.texts } else { 0 }
    }

    /// Writes the segment. `listed` are the encodings in the footer.
    #[inline(never)]
    pub fn put<T: Schema>(&self, listed: Uses, to: &mut dyn Put) {
        let (column, mut data) = (&self.column, Flat::new(to));
        match self.way {
            Way::Null | Way::Constant => {
                let (scalar, text) = self.scalar::<T>();
                data.bytes(scalar.bytes());
                data.bytes(text);
            }
            Way::Plain => data.bytes(column.bytes(self.len)),
            Way::Packed if T::USES.has(Id::BitPacked) => self.put_packed::<T>(&mut data),
            Way::Texts if T::USES.has(Id::VarBin) => {
                let (mut end, size) = (0u32, 1usize << (self.width & 3));
                for row in 0..=column.len {
                    data.bytes(end.to_le_bytes().get(..size).unwrap_or_default());
                    end = end.wrapping_add(len32(column.text(row).len()));
                }
                (0..column.len).for_each(|row| data.bytes(column.text(row)));
            }
            _ => {}
        }
        if T::USES.has(Id::Bool) && self.mixed {
            data.bytes(column.bitmap());
        }
        data.align4();
        self.tree::<T>(listed, to);
    }

    /// Writes packed numbers, 128 bytes at a time.
    #[inline(never)]
    fn put_packed<T: Schema>(&self, to: &mut Flat<'_>) {
        let column = &self.column;
        let view = View::of::<T>(column.form, self.exponents);
        for first in (0..column.len).step_by(fastlanes::BLOCK) {
            for k in 0..self.width {
                let value = &mut |i: usize| {
                    let row = first.wrapping_add(i);
                    let is_there = row < column.len && column.is_valid(row);
                    let integer = if is_there { view.integer::<T>(column, row) } else { None };
                    integer.map_or(0, |integer| integer.wrapping_sub(self.reference))
                };
                to.bytes(&fastlanes::packed_row(value, self.number_bits(), self.width, k));
            }
        }
    }

    /// Writes the tree of arrays and its length. Returns the number of bytes.
    ///
    /// | encoding | nodes |
    /// |---|---|
    /// | constant | constant |
    /// | plain | primitive, or bool |
    /// | packed | alp, for floats; for, with the reference value; bitpacked, with the width |
    /// | texts | varbin, with the width of the offsets; primitive, the offsets |
    ///
    /// An extension type is a node before them. The validity is a child of the last of them, of texts of varbin.
    #[inline(never)]
    fn tree<T: Schema>(&self, listed: Uses, to: &mut dyn Put) -> u32 {
        let (uses, form, mixed) = (T::USES, self.column.form, u32::from(T::USES.has(Id::Bool) && self.mixed));
        let mut flat = Flat::new(to);
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
        let metadata = [8, low8(self.width as usize)];
        match self.way {
            Way::Null | Way::Constant => flat.node(listed.number(Id::Constant), &[], 0, Some(0)),
            Way::Plain => {
                let id = if uses.has(Id::Bool) && form.is_bool() { Id::Bool } else { Id::Primitive };
                flat.node(listed.number(id), &[], mixed, Some(0));
            }
            Way::Packed if uses.has(Id::BitPacked) => {
                let mut key = scalar::UINT;
                if form.is_signed() || form.is_float() {
                    key = scalar::INT;
                }
                if uses.has(Id::Alp)
                    && let Some(exponents) = self.exponents
                {
                    flat.node(listed.number(Id::Alp), &exponents.metadata(), 1, None);
                }
                flat.node(listed.number(Id::For), Short::number(key, self.reference).bytes(), 1, None);
                flat.node(listed.number(Id::BitPacked), &metadata, mixed, Some(0));
            }
            Way::Texts if is_text => {
                flat.node(listed.number(Id::VarBin), &metadata, mixed.wrapping_add(1), Some(1));
                flat.node(listed.number(Id::Primitive), &[], 0, Some(0));
            }
            _ => {}
        }
        if mixed > 0 {
            flat.node(listed.number(Id::Bool), &[], 0, Some(count.wrapping_sub(1)));
        }
        flat.word(flat.at);
        flat.at
    }
}
