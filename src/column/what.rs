//! Names of the fields that an error can be about. Columns by their type.

use super::{Prim, Type};
use crate::error::{What, fields};

fields! { 0x280;
    VALUE_OF_EVERY_ROW = "type without missing values",
    OF_NULLS = "column of nulls",
    OF_BOOL = "column of bool",
    OF_INT8 = "column of int8",
    OF_INT16 = "column of int16",
    OF_INT32 = "column of int32",
    OF_INT64 = "column of int64",
    OF_UINT8 = "column of uint8",
    OF_UINT16 = "column of uint16",
    OF_UINT32 = "column of uint32",
    OF_UINT64 = "column of uint64",
    OF_FLOAT16 = "column of float16",
    OF_FLOAT32 = "column of float32",
    OF_FLOAT64 = "column of float64",
    OF_DECIMAL = "column of decimals",
    OF_DATES = "column of dates",
    OF_TIMES = "column of times of day",
    OF_TIMESTAMPS = "column of timestamps",
    OF_BYTES = "column of byte strings",
    OF_TEXT = "column of text",
    OF_LISTS = "column of lists",
    OF_STRUCTS = "column of structs",
    OF_MAPS = "column of maps",
    OF_OBJECTS = "column of objects",
}

impl Type {
    /// Returns the name of a column of this type in errors.
    ///
    /// ```
    /// use pilaster::column::{Prim, Type};
    ///
    /// assert_eq!(Type::Prim(Prim::I32).what().name(), "column of int32");
    /// ```
    #[must_use]
    pub const fn what(self) -> What {
        match self {
            Type::Null => What::OF_NULLS,
            Type::Bool => What::OF_BOOL,
            Type::Prim(prim) => match prim {
                Prim::I8 => What::OF_INT8,
                Prim::I16 => What::OF_INT16,
                Prim::I32 => What::OF_INT32,
                Prim::I64 => What::OF_INT64,
                Prim::U8 => What::OF_UINT8,
                Prim::U16 => What::OF_UINT16,
                Prim::U32 => What::OF_UINT32,
                Prim::U64 => What::OF_UINT64,
                Prim::F16 => What::OF_FLOAT16,
                Prim::F32 => What::OF_FLOAT32,
                Prim::F64 => What::OF_FLOAT64,
            },
            Type::Decimal { .. } => What::OF_DECIMAL,
            Type::Date(_) => What::OF_DATES,
            Type::Time(_) => What::OF_TIMES,
            Type::Timestamp(_) => What::OF_TIMESTAMPS,
            Type::Bytes | Type::FixedBytes(_) => What::OF_BYTES,
            Type::Utf8 => What::OF_TEXT,
            Type::List | Type::FixedList(_) => What::OF_LISTS,
            Type::Struct(_) => What::OF_STRUCTS,
            Type::Map => What::OF_MAPS,
            Type::Opaque => What::OF_OBJECTS,
        }
    }
}
