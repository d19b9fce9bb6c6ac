//! The parts of a checkpoint that depend on the columns only: the dtype, and the ids of encodings in the footer. A record
//! has them as constants, so that the code here is not linked; for other columns they are computed window by window.

use super::end::number;
use super::field::{Field, FieldType, Uses, unit_number};
use super::put::{Flat, halves, up4};
use crate::bytes::{len32, low8};
use crate::vortex::raw::{Encoding, LayoutId};

/// Bytes that are emitted, of which the window keeps those from the offset `from` on.
pub(super) struct Window<'w> {
    to: &'w mut [u8],
    from: usize,
    /// Number of bytes so far.
    at: usize,
}

impl Window<'_> {
    const fn byte(&mut self, byte: u8) {
        // Before the window, the difference wraps to an offset after it.
        if let Some((_, [to, ..])) = self.to.split_at_mut_checked(self.at.wrapping_sub(self.from)) {
            *to = byte;
        }
        self.at = self.at.wrapping_add(1);
    }

    const fn bytes(&mut self, mut bytes: &[u8]) {
        while let [byte, rest @ ..] = bytes {
            self.byte(*byte);
            bytes = rest;
        }
    }

    const fn words(&mut self, mut words: &[u32]) {
        while let [word, rest @ ..] = words {
            self.bytes(&word.to_le_bytes());
            words = rest;
        }
    }

    /// Puts zeros to the next offset with the remainder `rest` modulo `size`, a power of two.
    const fn align(&mut self, size: usize, rest: usize) {
        while self.at & size.wrapping_sub(1) != rest {
            self.byte(0);
        }
    }

    /// Puts a string: length, bytes, and one to four zeros.
    const fn string(&mut self, text: &str) {
        self.words(&[len32(text.len())]);
        self.bytes(text.as_bytes());
        self.byte(0);
        self.align(4, 0);
    }

    /// Puts the distance to a table or vector.
    const fn link(&mut self, target: u32) {
        self.words(&[target.wrapping_sub(len32(self.at))]);
    }

    /// Puts a list of `count` tables of 8 bytes each, the first of them at an offset.
    const fn list(&mut self, count: u32, mut first: u32) {
        self.words(&[count]);
        let end = count.wrapping_mul(8).wrapping_add(first);
        while first != end {
            self.link(first);
            first = first.wrapping_add(8);
        }
    }

    /// Puts the start of a table with a vtable at an offset.
    const fn table(&mut self, vtable: u32) {
        self.words(&[len32(self.at).wrapping_sub(vtable)]);
    }
}

/// A part of a checkpoint.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// The FlatBuffer of the types.
    Dtype,
    /// The footer up to the number of segments.
    Ids,
}

impl Part {
    const fn emit(self, fields: &[Field<'_>], to: &mut Window<'_>) {
        match self {
            Part::Dtype => dtype(to, fields),
            Part::Ids => ids(to, Uses::of(fields)),
        }
    }

    /// Returns the size in bytes.
    #[must_use]
    pub const fn len(self, fields: &[Field<'_>]) -> usize {
        let mut count = Window { to: &mut [], from: 0, at: 0 };
        self.emit(fields, &mut count);
        count.at
    }

    /// Returns the bytes, which are as many as [`len`](Self::len) returns.
    #[must_use]
    pub const fn bytes<const N: usize>(self, fields: &[Field<'_>]) -> [u8; N] {
        let mut bytes = [0; N];
        self.emit(fields, &mut Window { to: &mut bytes, from: 0, at: 0 });
        bytes
    }

    /// Puts the bytes, 64 at a time.
    pub(super) fn put(self, fields: &[Field<'_>], to: &mut Flat<'_>) {
        let mut from = 0;
        loop {
            let mut window = [0; 64];
            let mut part = Window { to: &mut window, from, at: 0 };
            self.emit(fields, &mut part);
            let left = part.at.saturating_sub(from);
            to.bytes(window.get(..left.min(64)).unwrap_or_default());
            if left <= 64 {
                return;
            }
            from = from.wrapping_add(64);
        }
    }
}

/// Returns the size in bytes of a string.
const fn string_len(text: &str) -> u32 {
    (len32(text.len()) & !3).wrapping_add(8)
}

/// Returns the size in bytes of the types of a column in the dtype.
const fn type_len(field: &Field<'_>) -> u32 {
    match field.extension() {
        None => 20,
        Some((id, _, zone)) => 52u32.wrapping_add(string_len(id)).wrapping_add(up4(metadata_len(zone))),
    }
}

/// Returns the size in bytes of the metadata of a calendar type.
const fn metadata_len(zone: Option<&str>) -> u32 {
    match zone {
        Some(zone) => len32(zone.len()).wrapping_add(3),
        None => 1,
    }
}

/// The vtables of the dtype.
const PRIMITIVE: u32 = 12;
const OTHER: u32 = 20;
const EXTENSION: u32 = 28;

/// 4 the vtable of DType and Struct_, 12 of Primitive, 20 of Bool, Utf8 and Binary, 28 of Extension; 40 the DType of the
/// root, 52 its Struct_, 64 the list of names, then of types; the types of each column; the names.
const fn dtype(to: &mut Window<'_>, fields: &[Field<'_>]) {
    let columns = len32(fields.len());
    to.words(&[40, halves(8, 12), halves(4, 8), halves(8, 8), halves(4, 5), halves(6, 8), 4]);
    to.words(&[halves(10, 16), halves(4, 8), 12]);
    to.words(&[36, 7, 4]);
    to.words(&[48, 8, columns.wrapping_mul(4).wrapping_add(8)]);
    let types = columns.wrapping_mul(8).wrapping_add(72);
    let (mut at, mut rest) = (types, fields);
    while let [field, others @ ..] = rest {
        (at, rest) = (at.wrapping_add(type_len(field)), others);
    }
    to.words(&[columns]);
    rest = fields;
    while let [field, others @ ..] = rest {
        to.link(at);
        (at, rest) = (at.wrapping_add(string_len(field.name)), others);
    }
    to.words(&[columns]);
    (at, rest) = (types, fields);
    while let [field, others @ ..] = rest {
        to.link(at);
        (at, rest) = (at.wrapping_add(type_len(field)), others);
    }
    rest = fields;
    while let [field, others @ ..] = rest {
        column_type(to, field);
        rest = others;
    }
    rest = fields;
    while let [field, others @ ..] = rest {
        to.string(field.name);
        rest = others;
    }
}

/// DType and its type; of an extension: DType, Extension, the DType of the storage and its type, id, metadata.
const fn column_type(to: &mut Window<'_>, field: &Field<'_>) {
    let extension = field.extension();
    if let Some((id, ..)) = extension {
        to.table(4);
        to.words(&[9, 4]);
        to.table(EXTENSION);
        // The distances to the id, the storage and the metadata.
        to.words(&[32, 8, string_len(id).wrapping_add(24)]);
    }
    let nullable = field.nullable as u32;
    let (tag, vtable, value) = match (field.prim(), field.ty) {
        (Some(prim), _) => (3, PRIMITIVE, number(prim) as u32 | nullable << 8),
        (None, FieldType::Bool) => (2, OTHER, nullable),
        (None, FieldType::Utf8) => (5, OTHER, nullable),
        (None, _) => (6, OTHER, nullable),
    };
    to.table(4);
    to.words(&[tag, 4]);
    to.table(vtable);
    to.words(&[value]);
    if let Some((id, unit, zone)) = extension {
        to.string(id);
        to.words(&[metadata_len(zone)]);
        to.byte(unit_number(unit));
        if let Some(zone) = zone {
            to.bytes(&[low8(zone.len()), low8(zone.len() >> 8)]);
            to.bytes(zone.as_bytes());
        }
        to.align(4, 0);
    }
}

/// The ids of encodings and layouts, in the order of their numbers.
const IDS: [&str; 11] = [
    Encoding::Primitive.id(),
    Encoding::Constant.id(),
    Encoding::Bool.id(),
    Encoding::BitPacked.id(),
    Encoding::For.id(),
    Encoding::VarBin.id(),
    Encoding::Ext.id(),
    Encoding::Alp.id(),
    LayoutId::Flat.id(),
    LayoutId::Chunked.id(),
    LayoutId::Struct.id(),
];

/// Number of layouts, all of which are listed.
const LAYOUTS: u32 = 3;

/// 4 the vtable of the footer, 16 of ids; 24 the footer, 40 the lists of encodings and layouts; a table of 8 bytes for each
/// id; the ids; zeros, so that the segments are at a multiple of 8 after their number.
const fn ids(to: &mut Window<'_>, uses: Uses) {
    let arrays = uses.count();
    let tables = arrays.wrapping_add(LAYOUTS).wrapping_mul(4).wrapping_add(48);
    let strings = arrays.wrapping_add(LAYOUTS).wrapping_mul(8).wrapping_add(tables);
    let (mut end, mut listed, mut rest) = (strings, uses.listed(), IDS.as_slice());
    while let [id, others @ ..] = rest {
        end = end.wrapping_add(if listed & 1 != 0 { string_len(id) } else { 0 });
        (listed, rest) = (listed >> 1, others);
    }
    to.words(&[24, halves(10, 16), halves(4, 8), 12, halves(6, 8), 4]);
    to.words(&[20, 12, arrays.wrapping_mul(4).wrapping_add(12)]);
    // The number of segments is at 4 modulo 8.
    to.link((end.wrapping_add(3) & !7).wrapping_add(4));
    to.list(arrays, tables);
    to.list(LAYOUTS, arrays.wrapping_mul(8).wrapping_add(tables));
    (end, listed, rest) = (strings, uses.listed(), IDS.as_slice());
    while let [id, others @ ..] = rest {
        if listed & 1 != 0 {
            to.table(16);
            to.link(end);
            end = end.wrapping_add(string_len(id));
        }
        (listed, rest) = (listed >> 1, others);
    }
    (listed, rest) = (uses.listed(), IDS.as_slice());
    while let [id, others @ ..] = rest {
        if listed & 1 != 0 {
            to.string(id);
        }
        (listed, rest) = (listed >> 1, others);
    }
    to.align(8, 4);
}
