//! Writes Jay: buffers go to a sink as they arrive, the metadata follows. Needs a heap.
//!
//! | item | what it is for |
//! |---|---|
//! | [`Builder`] | the columns of any table, through [`convert`](crate::column::convert), or columns of one's own |
//! | [`storage`] | what a type is stored as |
//! | [`Sentinels`] | what becomes of integers that mean missing in Jay |

mod cells;
mod ends;
mod keys;
mod tree;
mod writer;

pub use writer::Builder;

use super::read::Layout;
use crate::column::{Prim, Type, Unit};
use crate::jay::raw::SType;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WriteOptions {
    /// The description of columns. The old one is for releases of the original that know no other; it has
    /// no arrays.
    pub layout: Layout,
    /// How many of the first columns are the key. Rows must ascend by them.
    pub keys: usize,
    /// Whether minimum and maximum are stored.
    pub stats: bool,
    /// Whether bytes are stored as strings. Bytes that are not valid UTF-8 are then an error.
    pub bytes_as_text: bool,
    /// Whether timestamps of other units become nanoseconds, dates of finer units too, and zones are
    /// dropped. A time beyond the range is an error.
    pub any_time: bool,
    /// What becomes of a value that means "missing" in its type: the minimum of the integers.
    pub sentinels: Sentinels,
}

/// What becomes of integers, dates and times that equal the missing-value marker of their type.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column as _, Once, Part as _, Value, convert};
/// use pilaster::filo::{Element, Vector};
/// use pilaster::jay::write::{Builder, Sentinels, WriteOptions};
/// use pilaster::jay::{File, ReadOptions, SType};
///
/// // The least int, of a Filo vector.
/// let chunk = [6, 6, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80];
/// let options = WriteOptions { sentinels: Sentinels::Widen, ..WriteOptions::DEFAULT };
/// let mut builder = Builder::new(Vec::new(), &options).unwrap();
/// let mut table = Once::new(Vector::open(&chunk, Element::Int)?);
/// convert(&mut table, &mut builder, &mut Scratch::new(&mut [0; 256])).unwrap();
/// let bytes = builder.finish().unwrap();
///
/// let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
/// assert_eq!(file.meta().field(0)?.stype(), SType::Int64);
/// assert_eq!(file.column(0)?.get(0)?, Value::Int(-0x8000_0000));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Sentinels {
    /// They are an error: [`Kind::Lossy`](crate::error::Kind::Lossy) with the row.
    #[default]
    Error,
    /// They are missing.
    Missing,
    /// A column of 8, 16 or 32-bit integers with such a value is stored in the next wider type. In other columns, they
    /// are an error.
    Widen,
}

impl WriteOptions {
    /// The current layout with statistics; no key, and only types that lose nothing.
    pub const DEFAULT: WriteOptions = WriteOptions {
        layout: Layout::New,
        keys: 0,
        stats: true,
        bytes_as_text: false,
        any_time: false,
        sentinels: Sentinels::Error,
    };
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions::DEFAULT
    }
}

/// What columns of `ty` are stored as; `None` if the format, or the options, have nothing for it. Unsigned
/// numbers take the next wider signed type (`uint64` int64, as far as its values fit), half floats float32.
/// Strings and arrays take wider offsets where they need them.
#[must_use]
pub const fn storage(ty: Type, options: &WriteOptions) -> Option<SType> {
    Some(match ty {
        Type::Null => SType::Void0,
        Type::Bool => SType::Bool8,
        Type::Prim(Prim::I8) => SType::Int8,
        Type::Prim(Prim::I16 | Prim::U8) => SType::Int16,
        Type::Prim(Prim::I32 | Prim::U16) => SType::Int32,
        Type::Prim(Prim::I64 | Prim::U32 | Prim::U64) => SType::Int64,
        Type::Prim(Prim::F32 | Prim::F16) => SType::Float32,
        Type::Prim(Prim::F64) => SType::Float64,
        Type::Date(Unit::Day) => SType::Date32,
        Type::Timestamp(Unit::Nano) => SType::Time64,
        Type::Timestamp(Unit::Second | Unit::Milli | Unit::Micro)
        | Type::Date(Unit::Second | Unit::Milli | Unit::Micro | Unit::Nano)
            if options.any_time =>
        {
            SType::Time64
        }
        Type::Utf8 => SType::Str32,
        Type::Bytes | Type::FixedBytes(_) | Type::Opaque if options.bytes_as_text => SType::Str32,
        Type::List | Type::FixedList(_) if matches!(options.layout, Layout::New) => SType::Arr32,
        _ => return None,
    })
}

/// Returns the type that stores columns of `ty` with every value of their own, if that is wider than their own.
const fn wider(ty: Type, options: &WriteOptions) -> Option<SType> {
    match (ty, options.sentinels) {
        (Type::Prim(Prim::I8), Sentinels::Widen) => Some(SType::Int16),
        (Type::Prim(Prim::I16), Sentinels::Widen) => Some(SType::Int32),
        (Type::Prim(Prim::I32), Sentinels::Widen) => Some(SType::Int64),
        _ => None,
    }
}

/// Nanoseconds of what a stored time counts.
const fn nanos(ty: Type) -> i64 {
    match ty {
        Type::Timestamp(Unit::Second) | Type::Date(Unit::Second) => 1_000_000_000,
        Type::Timestamp(Unit::Milli) | Type::Date(Unit::Milli) => 1_000_000,
        Type::Timestamp(Unit::Micro) | Type::Date(Unit::Micro) => 1_000,
        _ => 1,
    }
}
