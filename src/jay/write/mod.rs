//! Writes Jay: buffers go to a sink as they arrive, followed by the metadata. Needs a heap.
//!
//! | item | what it is for |
//! |---|---|
//! | [`Builder`] | the columns of any table, through [`convert`](crate::column::convert), or columns of one's own |
//! | [`storage`] | what a type is stored as |
//! | [`Sentinels`] | the treatment of integers that mean missing in Jay |

mod cells;
mod ends;
mod keys;
mod tree;
mod writer;

pub use writer::Builder;

use super::read::Layout;
use crate::column::{Prim, Type, Unit};
use crate::jay::raw::SType;

/// Options for writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct WriteOptions {
    /// The layout of the column descriptions. The old layout is for early releases of the original, which support no
    /// other. It has no arrays.
    pub layout: Layout,
    /// Number of leading columns that are the key. Rows must ascend by the key.
    pub keys: usize,
    /// Whether minimum and maximum are stored.
    pub stats: bool,
    /// Whether bytes are stored as strings. Bytes that are not valid UTF-8 are then an error.
    pub bytes_as_text: bool,
    /// Whether timestamps of other units are converted to nanoseconds, and dates of other units than days too, and time
    /// zones are dropped. A time outside the range of nanoseconds in 64 bits is an error.
    pub any_time: bool,
    /// The treatment of a value that means "missing" in its type: the minimum of the integers.
    pub sentinels: Sentinels,
}

/// The treatment of integers, dates and times that equal the missing-value marker of their type, its minimum.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column as _, Once, Part as _, Value, convert};
/// use pilaster::filo::{Element, Vector};
/// use pilaster::jay::write::{Builder, Sentinels, WriteOptions};
/// use pilaster::jay::{File, ReadOptions, SType};
///
/// // A Filo vector with the minimum of int.
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
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Sentinels {
    /// An error: [`Kind::Lossy`](crate::error::Kind::Lossy) with the row.
    #[default]
    Error,
    /// The value is missing.
    Missing,
    /// A column of 8, 16 or 32-bit integers with such a value is stored in the next wider type. In other columns, they
    /// are an error.
    Widen,
}

impl WriteOptions {
    /// The new layout with statistics, without a key, and only lossless conversions.
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

/// Returns the storage type of columns of `ty`, or `None` if the format or `options` have none for it. Unsigned numbers
/// are stored in the next wider signed type, `uint64` in int64 if its values fit, half floats in float32. For strings
/// and arrays this is the type with 32-bit offsets; a column that needs them gets 64-bit offsets.
///
/// ```
/// use pilaster::column::{Prim, Type, Unit};
/// use pilaster::jay::SType;
/// use pilaster::jay::write::{WriteOptions, storage};
///
/// let options = WriteOptions::DEFAULT;
/// assert_eq!(storage(Type::Prim(Prim::U8), &options), Some(SType::Int16));
/// assert_eq!(storage(Type::Timestamp(Unit::Milli), &options), None);
/// let options = WriteOptions { any_time: true, ..options };
/// assert_eq!(storage(Type::Timestamp(Unit::Milli), &options), Some(SType::Time64));
/// ```
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

/// Returns the next wider type, which stores the minimum of `ty` as a value, if `options` allow it.
const fn wider(ty: Type, options: &WriteOptions) -> Option<SType> {
    match (ty, options.sentinels) {
        (Type::Prim(Prim::I8), Sentinels::Widen) => Some(SType::Int16),
        (Type::Prim(Prim::I16), Sentinels::Widen) => Some(SType::Int32),
        (Type::Prim(Prim::I32), Sentinels::Widen) => Some(SType::Int64),
        _ => None,
    }
}

/// Returns the number of nanoseconds in one unit of a time type.
const fn nanos(ty: Type) -> i64 {
    match ty {
        Type::Timestamp(Unit::Second) | Type::Date(Unit::Second) => 1_000_000_000,
        Type::Timestamp(Unit::Milli) | Type::Date(Unit::Milli) => 1_000_000,
        Type::Timestamp(Unit::Micro) | Type::Date(Unit::Micro) => 1_000,
        _ => 1,
    }
}
