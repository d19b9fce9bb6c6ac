//! The numbers of the wire format, each written once (`Filo` sections 2, 5, 6 and 9).

pub use crate::encoding::bitpack::Packing;
use crate::error::{Error, Kind, Result, What};

/// Size in bytes of the header word before every payload.
pub const HEADER_LEN: usize = 4;

/// Most rows that the header word of an empty vector can count: 24 bits.
pub const MAX_EMPTY_ROWS: u32 = 0x00ff_ffff;

/// Milliseconds in a quarter of an hour, the unit of zone offsets.
pub const QUARTER_MS: i32 = 15 * 60 * 1000;

/// The word of a missing row in a variable UTF8 vector.
pub const UTF8_NA: u32 = 0x8000_0000;
/// Bits of the length in a packed UTF8 word.
pub const UTF8_LEN_BITS: u32 = 11;
/// Longest string that a packed UTF8 word can describe.
pub const UTF8_MAX_LEN: u32 = (1 << UTF8_LEN_BITS) - 1;
/// Largest offset that a packed UTF8 word can describe.
pub const UTF8_MAX_OFFSET: u32 = (1 << 20) - 1;
/// The second byte of a fixed-max slot with length 0 whose row is missing.
pub const FIXED_NA: u8 = 0xff;

/// `NaMask.maskType`: every row has a value.
pub const MASK_ALL_ZEROES: u8 = 0;
/// `NaMask.maskType`: look at `bitMask`.
pub const MASK_SIMPLE: u8 = 1;
/// `NaMask.maskType`: no row has a value. The default of the field.
pub const MASK_ALL_ONES: u8 = 2;

/// What the two low bytes of the header word say: major and sub type (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u16)]
pub enum Header {
    /// No values; the row count is in the upper 24 bits of the word.
    Empty = 0x001,
    /// FlatBuffer: a dense array of numbers or bits.
    SimplePrimitive = 0x002,
    /// FlatBuffer: strings.
    SimpleString = 0x102,
    /// FlatBuffer: strings by code.
    DictString = 0x103,
    /// FlatBuffer: one number for all rows.
    ConstPrimitive = 0x004,
    /// FlatBuffer: one string for all rows.
    ConstString = 0x104,
    /// FlatBuffer: a base and differences to it.
    DiffPrimitive = 0x005,
    /// FlatBuffer: the same for instants and their zone offsets.
    DiffDateTime = 0x405,
    /// 64-bit numbers (before 0.3.3: ints) with an NA mask.
    MaskedPrimitive = 0x006,
    /// 64-bit numbers (before 0.3.3: ints).
    Primitive = 0x506,
    /// One value, any number of rows.
    Repeated = 0x606,
    /// Ints of 2 to 32 bits with an NA mask.
    MaskedInt = 0x706,
    /// Ints of 2 to 32 bits.
    Int = 0x806,
    /// Byte strings of any length.
    Utf8 = 0x206,
    /// Byte strings in slots of one size.
    FixedMaxUtf8 = 0x306,
    /// Byte strings by code.
    DictUtf8 = 0x207,
    /// A line and residuals to it.
    DeltaDelta = 0x808,
}

impl Header {
    /// Every header word.
    pub const ALL: [Header; 17] = [
        Header::Empty,
        Header::SimplePrimitive,
        Header::SimpleString,
        Header::DictString,
        Header::ConstPrimitive,
        Header::ConstString,
        Header::DiffPrimitive,
        Header::DiffDateTime,
        Header::MaskedPrimitive,
        Header::Primitive,
        Header::Repeated,
        Header::MaskedInt,
        Header::Int,
        Header::Utf8,
        Header::FixedMaxUtf8,
        Header::DictUtf8,
        Header::DeltaDelta,
    ];

    /// The header of a word. Bits 16 to 31 carry nothing (for an empty vector: bits 8 to 31 the rows).
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for any other pair of major and sub type.
    pub(crate) fn of_word(word: u32) -> Result<Header> {
        if word & 0xff == Header::Empty as u32 {
            return Ok(Header::Empty);
        }
        let id = word & 0xffff;
        Header::ALL
            .iter()
            .find(|header| **header as u32 == id)
            .copied()
            .ok_or_else(|| Error::needing(Kind::Unsupported, What::FILO_HEADER, 0, word.into()))
    }

    /// The word that a writer stores; the row count of an empty vector comes on top.
    #[must_use]
    pub const fn word(self) -> u32 {
        self as u32
    }

    /// The name in the format's own terms.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Header::Empty => "EmptyVector",
            Header::SimplePrimitive => "SimplePrimitive",
            Header::SimpleString => "SimpleString",
            Header::DictString => "DictString",
            Header::ConstPrimitive => "ConstPrimitive",
            Header::ConstString => "ConstString",
            Header::DiffPrimitive => "DiffPrimitive",
            Header::DiffDateTime => "DiffDateTime",
            Header::MaskedPrimitive => "masked Primitive",
            Header::Primitive => "Primitive",
            Header::Repeated => "Repeated",
            Header::MaskedInt => "masked Int",
            Header::Int => "Int",
            Header::Utf8 => "UTF8",
            Header::FixedMaxUtf8 => "FixedMaxUTF8",
            Header::DictUtf8 => "DictUTF8",
            Header::DeltaDelta => "DeltaDelta",
        }
    }
}

/// Width and sign from their stored numbers in a FlatBuffer data vector (section 6). Only 64 bits may
/// have either sign.
#[must_use]
pub const fn packing_of_info(nbits: u16, signed: bool) -> Option<Packing> {
    Some(match (nbits, signed) {
        (8, true) => Packing::I8,
        (8, false) => Packing::U8,
        (16, true) => Packing::I16,
        (16, false) => Packing::U16,
        (32, true) => Packing::I32,
        (32, false) => Packing::U32,
        (64, _) => Packing::W64,
        _ => return None,
    })
}

/// Width and sign from their stored numbers in a packed BinaryVector (section 9.1): 2 and 4 bits must
/// be unsigned, 32 bits are signed whatever the flag says.
#[must_use]
pub const fn packing_of_packed(nbits: u16, signed: bool) -> Option<Packing> {
    Some(match (nbits, signed) {
        (2, false) => Packing::U2,
        (4, false) => Packing::U4,
        (8, true) => Packing::I8,
        (8, false) => Packing::U8,
        (16, true) => Packing::I16,
        (16, false) => Packing::U16,
        (32, _) => Packing::I32,
        (64, _) => Packing::W64,
        _ => return None,
    })
}
