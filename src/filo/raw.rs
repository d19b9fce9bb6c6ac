//! The constants of the format (sections 2, 5, 6 and 9).

pub use crate::encoding::bitpack::Packing;
use crate::error::{Error, Kind, Result, What};

/// Size in bytes of the header word before every payload.
pub const HEADER_LEN: usize = 4;

/// Maximum number of rows of an empty vector: its header word has 24 bits for the count.
pub const MAX_EMPTY_ROWS: u32 = 0x00ff_ffff;

/// Milliseconds in a quarter of an hour, the unit of zone offsets.
pub const QUARTER_MS: i32 = 15 * 60 * 1000;

/// The word of a missing row in a UTF8 vector.
pub const UTF8_NA: u32 = 0x8000_0000;
/// Number of bits of the length in a packed UTF8 word.
pub const UTF8_LEN_BITS: u32 = 11;
/// Maximum length in bytes of a string with a packed UTF8 word.
pub const UTF8_MAX_LEN: u32 = (1 << UTF8_LEN_BITS) - 1;
/// Maximum offset in bytes in a packed UTF8 word.
pub const UTF8_MAX_OFFSET: u32 = (1 << 20) - 1;
/// The second byte of a fixed-max slot with length 0 whose row is missing.
pub const FIXED_NA: u8 = 0xff;

/// `NaMask.maskType`: every row has a value.
pub const MASK_ALL_ZEROES: u8 = 0;
/// `NaMask.maskType`: `bitMask` has a bit per row, 1 = missing.
pub const MASK_SIMPLE: u8 = 1;
/// `NaMask.maskType`: no row has a value. The default of the field.
pub const MASK_ALL_ONES: u8 = 2;

/// Major and sub type, the two low bytes of the header word (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u16)]
pub enum Header {
    /// No values. The row count is in the upper 24 bits of the word.
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
    /// FlatBuffer: bases and differences of instants and their UTC offsets.
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

    /// Returns the header of a word. Ignores bits 16 to 31. In an empty vector, bits 8 to 31 are the row count.
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

    /// Returns the word that a writer stores, without the row count of an empty vector.
    #[must_use]
    pub const fn word(self) -> u32 {
        self as u32
    }

    /// Returns the name in the terms of the format.
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

/// Converts width and sign of a FlatBuffer data vector (section 6). The sign is ignored for 64 bits. Returns `None` for
/// an invalid width.
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

/// Converts width and sign of a packed BinaryVector (section 9.1). Numbers of 2 and 4 bits must be unsigned. The sign
/// is ignored for 32 bits, which are signed, and for 64 bits. Returns `None` for an invalid pair.
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
