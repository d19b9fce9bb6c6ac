//! The properties of a column that the code of a log needs, computed once from its type.

use super::field::{Field, FieldType};
use super::scalar;
use crate::bytes::low8;
use crate::column::Prim;
use crate::vortex::dtype::signed;

/// The properties of a column, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Size in bytes of a number, or of the offset of a text; 0 for booleans.
    size: u8,
    /// Number of bits that a row takes in memory.
    bits: u8,
    /// Key of the scalar of a constant.
    key: u8,
    flags: u8,
}

const SIGNED: u8 = 1;
const FLOAT: u8 = 2;
const TEXT: u8 = 4;
const NULLABLE: u8 = 8;
const EXTENSION: u8 = 16;

impl Form {
    /// Returns the properties of a column.
    pub(super) const fn of(field: &Field<'_>) -> Self {
        let (size, mut flags) = match (field.prim(), field.ty) {
            (Some(prim), _) if is_float(prim) => (prim.size(), FLOAT),
            (Some(prim), _) if signed(prim) => (prim.size(), SIGNED),
            (Some(prim), _) => (prim.size(), 0),
            (None, FieldType::Bool) => (0, 0),
            // Where the text begins.
            (None, _) => (4, TEXT),
        };
        if field.nullable {
            flags |= NULLABLE;
        }
        if field.extension().is_some() {
            flags |= EXTENSION;
        }
        Form { size: low8(size), bits: low8(field.bits()), key: scalar::key(field), flags }
    }

    /// Returns the size in bytes of a number, 4 for texts, 0 for booleans.
    pub(super) const fn size(self) -> usize {
        self.size as usize
    }

    /// Returns the size of a number as an exponent of two, 0 for booleans.
    pub(super) const fn exponent(self) -> u32 {
        // The exponents of 0, 1, 2, 4 and 8 are 0, 0, 1, 2 and 3.
        (self.size as u32 >> 1).wrapping_sub(self.size as u32 >> 3)
    }

    /// Returns the number of bits that a row takes in memory.
    pub(super) const fn bits(self) -> usize {
        self.bits as usize
    }

    /// Returns the key of the scalar of a constant.
    pub(super) const fn key(self) -> u8 {
        self.key
    }

    pub(super) const fn is_bool(self) -> bool {
        self.size == 0
    }

    /// Whether the values are integers with a sign.
    pub(super) const fn is_signed(self) -> bool {
        self.flags & SIGNED != 0
    }

    pub(super) const fn is_float(self) -> bool {
        self.flags & FLOAT != 0
    }

    pub(super) const fn is_text(self) -> bool {
        self.flags & TEXT != 0
    }

    pub(super) const fn is_nullable(self) -> bool {
        self.flags & NULLABLE != 0
    }

    pub(super) const fn is_extension(self) -> bool {
        self.flags & EXTENSION != 0
    }
}

pub(super) const fn is_float(prim: Prim) -> bool {
    matches!(prim, Prim::F16 | Prim::F32 | Prim::F64)
}
