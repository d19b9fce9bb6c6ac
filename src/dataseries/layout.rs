//! The position of each field in a record (DataSeries section 6), also at compile time.
//!
//! Fields of one group are contiguous, so a position depends on the sizes of the groups. Two loops over the fields
//! in declaration order compute it without a table: [`Counts`] adds up the groups, and [`Places`] assigns a [`Slot`] to
//! each field.
//!
//! ```
//! use pilaster::unstable::dataseries::layout::{Counts, FieldType, Layout, Options, Slot};
//!
//! // Section 13: flag bool, b byte, i int32 nullable, s variable32, d double.
//! const FIELDS: [(FieldType, bool); 5] = [
//!     (FieldType::Bool, false),
//!     (FieldType::Byte, false),
//!     (FieldType::Int32, true),
//!     (FieldType::Variable32, false),
//!     (FieldType::Double, false),
//! ];
//! const LAYOUT: Layout = Counts::of(&FIELDS).layout(Options::DEFAULT).unwrap();
//! const SLOTS: [Slot; 5] = LAYOUT.slots(&FIELDS);
//!
//! assert_eq!(LAYOUT.record_len(), 24);
//! assert_eq!(SLOTS.map(|slot| slot.at), [0, 1, 4, 8, 16]);
//! assert_eq!(SLOTS[2].null, Some(pilaster::unstable::dataseries::layout::Bit { at: 0, mask: 0b10 }));
//! ```

use super::raw::MAX_PART;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FieldType {
    /// One bit.
    Bool,
    /// A `u8`.
    Byte,
    /// An `i32`.
    Int32,
    /// An `i64`.
    Int64,
    /// An `f64`.
    Double,
    /// Bytes of any length, in the pool; the cell is an offset.
    Variable32,
    /// A fixed number of bytes, which are never swapped.
    FixedWidth(u32),
}

impl FieldType {
    /// Returns the name in the XML.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FieldType::Bool => "bool",
            FieldType::Byte => "byte",
            FieldType::Int32 => "int32",
            FieldType::Int64 => "int64",
            FieldType::Double => "double",
            FieldType::Variable32 => "variable32",
            FieldType::FixedWidth(_) => "fixedwidth",
        }
    }

    /// Returns the group of a compacted record that the cell belongs to. The groups are ordered by cell size;
    /// variable32 follows int32 (section 8.6).
    pub(super) const fn group(self) -> u8 {
        match self {
            FieldType::Bool => 0,
            FieldType::Byte | FieldType::FixedWidth(_) => 1,
            FieldType::Int32 => 2,
            FieldType::Variable32 => 3,
            FieldType::Int64 | FieldType::Double => 4,
        }
    }

    /// Returns whether the types are equal, widths included. A `const` alternative to `==`.
    #[must_use]
    pub(crate) const fn same(self, other: FieldType) -> bool {
        match (self, other) {
            (FieldType::Bool, FieldType::Bool)
            | (FieldType::Byte, FieldType::Byte)
            | (FieldType::Int32, FieldType::Int32)
            | (FieldType::Int64, FieldType::Int64)
            | (FieldType::Double, FieldType::Double)
            | (FieldType::Variable32, FieldType::Variable32) => true,
            (FieldType::FixedWidth(a), FieldType::FixedWidth(b)) => a == b,
            _ => false,
        }
    }

    /// Returns the size of a cell in bytes; 0 for a bool, which is a bit.
    #[must_use]
    pub const fn size(self) -> u32 {
        match self {
            FieldType::Bool => 0,
            FieldType::Byte => 1,
            FieldType::Int32 | FieldType::Variable32 => 4,
            FieldType::Int64 | FieldType::Double => 8,
            FieldType::FixedWidth(size) => size,
        }
    }
}

/// The order of the groups in a record (`pack_field_ordering`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[repr(u32)]
pub enum Ordering {
    /// `small_to_big_sep_var32` (section 6.3).
    #[default]
    SmallToBig,
    /// `big_to_small_sep_var32` (section 6.4).
    BigToSmall,
}

/// The padding of a record (`pack_pad_record`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Pad {
    /// `original`: the record size is a multiple of 8.
    #[default]
    Original,
    /// `max_column_size`: the record size is a multiple of the largest number or string cell.
    MaxColumnSize,
}

/// The options of a type that its packing depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Options {
    /// The order of the groups in a record.
    pub ordering: Ordering,
    /// How records are padded.
    pub pad: Pad,
    /// `pack_null_compact="non_bool"`: null cells are not stored (section 8.6).
    pub compact: bool,
}

impl Options {
    /// The options of a type that declares none.
    pub const DEFAULT: Options = Options { ordering: Ordering::SmallToBig, pad: Pad::Original, compact: false };
}

/// One bit of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bit {
    /// Offset of the byte in the record.
    pub at: u32,
    /// The mask of the bit in the byte.
    pub mask: u8,
}

/// The position of a field in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slot {
    /// Offset of the first byte.
    pub at: u32,
    /// The mask of the bit of a bool; 0 for all other types.
    pub mask: u8,
    /// The hidden bit of a nullable field; 1 means null.
    pub null: Option<Bit>,
}

/// The sizes of the groups of a record: the first pass. Sums saturate, so that an oversized record remains oversized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of visible and hidden bools.
    bits: u32,
    /// Bytes of byte and fixedwidth fields together.
    small: u32,
    /// Bytes of int32 fields.
    int32: u32,
    /// Bytes of variable32 fields.
    variable32: u32,
    /// Bytes of int64 and double fields.
    big: u32,
}

impl Counts {
    /// Creates the counts of no fields.
    #[must_use]
    pub const fn new() -> Self {
        Counts { bits: 0, small: 0, int32: 0, variable32: 0, big: 0 }
    }

    /// Returns the counts with one more field.
    #[must_use]
    pub const fn with(mut self, ty: FieldType, nullable: bool) -> Self {
        self.add(ty, nullable);
        self
    }

    /// Counts one more field.
    pub(super) const fn add(&mut self, ty: FieldType, nullable: bool) {
        let (group, size) = match ty {
            FieldType::Bool => (&mut self.bits, 1),
            FieldType::Byte | FieldType::FixedWidth(_) => (&mut self.small, ty.size()),
            FieldType::Int32 => (&mut self.int32, 4),
            FieldType::Variable32 => (&mut self.variable32, 4),
            FieldType::Int64 | FieldType::Double => (&mut self.big, 8),
        };
        *group = group.saturating_add(size);
        self.bits = self.bits.saturating_add(nullable as u32);
    }

    /// Counts all `fields`: type, and whether nullable.
    #[must_use]
    pub const fn of(mut fields: &[(FieldType, bool)]) -> Self {
        let mut counts = Counts::new();
        while let [(ty, nullable), rest @ ..] = fields {
            counts = counts.with(*ty, *nullable);
            fields = rest;
        }
        counts
    }

    /// Creates the counts from the size of each group: bits, then bytes in the order of [`FieldType::group`].
    pub(super) const fn of_groups([bits, small, int32, variable32, big]: [u32; 5]) -> Self {
        Counts { bits, small, int32, variable32, big }
    }

    /// Computes the positions of the groups, or `None` if a record would exceed 2^31 - 1 bytes.
    #[must_use]
    pub const fn layout(self, options: Options) -> Option<Layout> {
        let bit_bytes = self.bits.div_ceil(8);
        let fours = self.int32.saturating_add(self.variable32);
        let all = bit_bytes.saturating_add(self.small).saturating_add(fours).saturating_add(self.big);
        // The sums below do not overflow: `all` is at most `MAX_RECORD`, and padding adds only a few bytes.
        if all > MAX_RECORD {
            return None;
        }
        let original = matches!(options.pad, Pad::Original);
        let (bits, small, int32, big, end);
        match options.ordering {
            Ordering::SmallToBig => {
                bits = 0;
                small = bit_bytes;
                let p = small.wrapping_add(self.small);
                int32 = if original || fours > 0 { align_record(p, 4) } else { p };
                let p = int32.wrapping_add(fours);
                big = if original || self.big > 0 { align_record(p, 8) } else { p };
                end = big.wrapping_add(self.big);
            }
            Ordering::BigToSmall => {
                big = 0;
                int32 = self.big;
                small = int32.wrapping_add(fours);
                bits = small.wrapping_add(self.small);
                let to = if original || self.big > 0 {
                    8
                } else if fours > 0 {
                    4
                } else {
                    1
                };
                end = align_record(bits.wrapping_add(bit_bytes), to);
            }
        }
        if end > MAX_RECORD {
            return None;
        }
        Some(Layout {
            record_len: end,
            bits,
            bits_end: bits.wrapping_add(bit_bytes),
            small,
            int32,
            variable32: int32.wrapping_add(self.int32),
            big,
        })
    }
}

/// The positions of the groups in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Layout {
    record_len: u32,
    bits: u32,
    bits_end: u32,
    small: u32,
    int32: u32,
    variable32: u32,
    big: u32,
}

impl Layout {
    /// The layout of a type without fields.
    pub(super) const NONE: Layout =
        Layout { record_len: 0, bits: 0, bits_end: 0, small: 0, int32: 0, variable32: 0, big: 0 };

    /// Returns the size of a record in bytes.
    #[must_use]
    pub const fn record_len(&self) -> u32 {
        self.record_len
    }

    /// Returns the number of bytes that null compaction copies from the start of every record, up to the last byte with
    /// a visible or hidden bool. 0 if there are no bools; the type cannot be compacted then.
    #[must_use]
    pub const fn compact_prefix(&self) -> u32 {
        if self.bits_end > self.bits { self.bits_end } else { 0 }
    }

    /// Returns where each group starts, in the order of [`FieldType::group`]. The group of bits starts at 0 in the default order.
    pub(super) const fn starts(&self) -> [u32; 5] {
        [self.bits, self.small, self.int32, self.variable32, self.big]
    }

    /// Begins the second pass, which assigns a slot to each field in declaration order.
    #[must_use]
    pub const fn places(&self) -> Places {
        Places {
            bit: 0,
            bits: self.bits,
            small: self.small,
            int32: self.int32,
            variable32: self.variable32,
            big: self.big,
        }
    }

    /// Returns the slots of `fields`, which must be the counted ones.
    #[must_use]
    #[allow(clippy::indexing_slicing, reason = "`i` is below `N`, and iterators are not const")]
    pub const fn slots<const N: usize>(&self, fields: &[(FieldType, bool); N]) -> [Slot; N] {
        let mut slots = [Slot { at: 0, mask: 0, null: None }; N];
        let mut places = self.places();
        let mut i = 0usize;
        while i < N {
            let (ty, nullable) = fields[i];
            slots[i] = places.next(ty, nullable);
            i = i.saturating_add(1);
        }
        slots
    }
}

/// Assigns slots in declaration order. If there are more fields than were counted, slots overlap or exceed the record,
/// but nothing else happens.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Number of the next bit.
    bit: u32,
    /// Byte of bit 0.
    bits: u32,
    small: u32,
    int32: u32,
    variable32: u32,
    big: u32,
}

impl Places {
    /// Returns the slot of the next field. The hidden bit of a nullable field directly follows the bit of the field
    /// itself, so a nullable bool takes two adjacent bits (section 15, item 5).
    #[must_use]
    pub const fn next(&mut self, ty: FieldType, nullable: bool) -> Slot {
        let cursor = match ty {
            FieldType::Bool => {
                let Bit { at, mask } = self.next_bit();
                return Slot { at, mask, null: self.null(nullable) };
            }
            FieldType::Byte | FieldType::FixedWidth(_) => &mut self.small,
            FieldType::Int32 => &mut self.int32,
            FieldType::Variable32 => &mut self.variable32,
            FieldType::Int64 | FieldType::Double => &mut self.big,
        };
        let at = *cursor;
        *cursor = at.wrapping_add(ty.size());
        Slot { at, mask: 0, null: self.null(nullable) }
    }

    const fn null(&mut self, nullable: bool) -> Option<Bit> {
        if nullable { Some(self.next_bit()) } else { None }
    }

    const fn next_bit(&mut self) -> Bit {
        let bit = Bit { at: self.bits.wrapping_add(self.bit >> 3), mask: 1 << (self.bit & 7) };
        self.bit = self.bit.wrapping_add(1);
        bit
    }
}

/// Maximum size of a record in bytes: an extent must be able to hold one.
#[allow(clippy::cast_possible_truncation, reason = "31 bits")]
const MAX_RECORD: u32 = MAX_PART as u32;

/// Rounds `n` up to a multiple of `to`, a power of two. `n` is an offset in a record.
const fn align_record(n: u32, to: u32) -> u32 {
    let mask = to.wrapping_sub(1);
    n.wrapping_add(mask) & !mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const ALL: [(FieldType, bool); 9] = [
        (FieldType::Double, true),
        (FieldType::Bool, true),
        (FieldType::Byte, false),
        (FieldType::Variable32, false),
        (FieldType::FixedWidth(3), true),
        (FieldType::Int32, false),
        (FieldType::Int64, false),
        (FieldType::Bool, false),
        (FieldType::Int32, true),
    ];

    fn places(fields: &[(FieldType, bool)], ordering: Ordering, pad: Pad) -> (u32, Vec<u32>) {
        let options = Options { ordering, pad, compact: false };
        let layout = Counts::of(fields).layout(options).unwrap();
        let mut places = layout.places();
        (layout.record_len(), fields.iter().map(|(ty, nullable)| places.next(*ty, *nullable).at).collect())
    }

    #[test]
    fn groups_in_both_orders() {
        // Bits: null(0)=0, bool 1=1, null=2, null(4)=3, bool 7=4, null(8)=5: one byte.
        let (len, at) = places(&ALL, Ordering::SmallToBig, Pad::Original);
        assert_eq!((len, at), (40, Vec::from([24, 0, 1, 16, 2, 8, 32, 0, 12])));
        let (len, at) = places(&ALL, Ordering::BigToSmall, Pad::Original);
        assert_eq!((len, at), (40, Vec::from([0, 32, 28, 24, 29, 16, 8, 32, 20])));
    }

    #[test]
    fn hidden_bits_follow_their_field() {
        let layout = Counts::of(&ALL).layout(Options::DEFAULT).unwrap();
        let slots = layout.slots(&ALL);
        assert_eq!(slots[0].null, Some(Bit { at: 0, mask: 1 }));
        assert_eq!((slots[1].mask, slots[1].null), (2, Some(Bit { at: 0, mask: 4 })));
        assert_eq!(slots[4].null, Some(Bit { at: 0, mask: 8 }));
        assert_eq!((slots[7].mask, slots[7].null), (16, None));
        assert_eq!(layout.compact_prefix(), 1);
    }

    #[test]
    fn padding() {
        let bytes = [(FieldType::Byte, false); 3];
        assert_eq!(places(&bytes, Ordering::SmallToBig, Pad::Original).0, 8);
        assert_eq!(places(&bytes, Ordering::SmallToBig, Pad::MaxColumnSize).0, 3);
        assert_eq!(places(&bytes, Ordering::BigToSmall, Pad::MaxColumnSize).0, 3);
        let fours = [(FieldType::Byte, false), (FieldType::Int32, false)];
        assert_eq!(places(&fours, Ordering::SmallToBig, Pad::MaxColumnSize), (8, Vec::from([0, 4])));
        assert_eq!(places(&fours, Ordering::BigToSmall, Pad::MaxColumnSize), (8, Vec::from([4, 0])));
        assert_eq!(places(&[], Ordering::SmallToBig, Pad::Original).0, 0);
    }

    #[test]
    fn nine_bits_take_two_bytes_and_a_record_has_a_limit() {
        let layout = Counts::of(&[(FieldType::Bool, false); 9]).layout(Options::DEFAULT).unwrap();
        assert_eq!((layout.compact_prefix(), layout.record_len()), (2, 8));
        let huge = [(FieldType::FixedWidth(u32::MAX), false)];
        assert_eq!(Counts::of(&huge).layout(Options::DEFAULT), None);
    }
}
