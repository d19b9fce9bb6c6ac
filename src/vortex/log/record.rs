//! Row types whose columns are known at compile time.

use super::field::{Constants, Field, Uses};

/// Declares a row type of a log: a struct, and its columns.
///
/// | type | the field is |
/// |---|---|
/// | `bool` `i8` `i16` `i32` `i64` `u8` `u16` `u32` `u64` `f32` `f64` | that type |
/// | `utf8` | `&'a str`; without a lifetime `&'static str` |
/// | `binary` | `&'a [u8]` |
/// | `date_days` `time_s` `time_ms` | `i32` |
/// | `date_ms` `time_us` `time_ns` | `i64` |
/// | `timestamp_s` `timestamp_ms` `timestamp_us` `timestamp_ns`, then perhaps the name of a time zone | `i64` |
///
/// With `nullable` after the type, the field is an `Option` of it.
/// [`FieldType::Timestamp`](crate::vortex::log::FieldType::Timestamp) states the forms of time zones; others do not compile:
///
/// ```compile_fail
/// pilaster::vortex::record! {
///     struct Tick { time: timestamp_ms "UTC+1" }
/// }
/// # fn uses<R: pilaster::vortex::log::Record>() -> usize { R::FIELDS.len() }
/// # let _ = uses::<Tick>();
/// ```
///
/// ```
/// use pilaster::bytes::SliceSink;
/// use pilaster::vortex::File;
/// use pilaster::vortex::log::{Log, Policy, Record};
/// use pilaster::vortex::record;
///
/// record! {
///     /// A reading of a probe.
///     pub struct Reading<'a> {
///         time: timestamp_ms "UTC",
///         temp: f32,
///         place: utf8,
///         /// None if the probe has no battery.
///         battery: u8 nullable,
///     }
/// }
///
/// // Memory for 64 rows with 640 bytes of texts, and for 7 row groups of 3 words and a word per column.
/// let (mut memory, mut groups) = ([0; Reading::memory_len(64, 640)], [0; 7 * (3 + 4)]);
/// let mut file = [0; 8192];
/// let mut log = Log::of::<Reading>(SliceSink::new(&mut file), (&mut memory, 64), &mut groups, Policy::Every(2))?;
/// for second in 0..100 {
///     log.push(&Reading { time: 1000 * second, temp: 21.5, place: "attic", battery: None })?;
/// }
/// let file = log.finish()?.into_written();
/// assert_eq!(File::open(file)?.rows()?, 100);
/// # Ok::<(), pilaster::bytes::WriteError<pilaster::Error>>(())
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __vortex_record {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($rest:tt)* }) => {
        $crate::__vortex_record!(@ [$(#[$meta])*] [$vis] $name [] [$name] 'static { $($rest)* });
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident <$life:lifetime> { $($rest:tt)* }) => {
        $crate::__vortex_record!(@ [$(#[$meta])*] [$vis] $name [<$life>] [$name<'static>] $life { $($rest)* });
    };
    (@ [$($meta:tt)*] [$vis:vis] $name:ident [$($generics:tt)*] [$fixed:ty] $life:lifetime {
        $($(#[$field_meta:meta])* $field:ident : $ty:ident $($zone:literal)? $($word:ident)?),+ $(,)?
    }) => {
        $($meta)*
        $vis struct $name $($generics)* {
            $($(#[$field_meta])* pub $field: $crate::__vortex_field!(@value $life $ty $($word)?),)+
        }

        impl $($generics)* $crate::vortex::log::Record for $name $($generics)* {
            type Static = $fixed;

            const FIELDS: &'static [$crate::vortex::log::Field<'static>] = $crate::vortex::log::__checked(&[$(
                $crate::__vortex_field!(@field
                    $crate::vortex::log::Field::new($crate::vortex::log::__name(stringify!($field)), $crate::__vortex_field!(@type $ty $($zone)?));
                    $($word)?)
            ),+]);

            const CONSTANTS: $crate::vortex::log::__Constants = {
                use $crate::vortex::log::{__Part as Part, Record};
                const FIELDS: &[$crate::vortex::log::Field<'static>] = <$fixed as Record>::FIELDS;
                $crate::vortex::log::__Constants {
                    forms: &$crate::vortex::log::__forms::<{ FIELDS.len() }>(FIELDS),
                    dtype: &Part::Dtype.bytes::<{ Part::Dtype.len(FIELDS) }>(FIELDS),
                    ids: &Part::Ids.bytes::<{ Part::Ids.len(FIELDS) }>(FIELDS),
                }
            };

            fn with_cells<T>(&self, f: impl ::core::ops::FnOnce(&[$crate::vortex::log::Cell<'_>]) -> T) -> T {
                f(&[$($crate::vortex::log::Cell::__word(self.$field)),+])
            }
        }

        impl $($generics)* $name $($generics)* {
            /// Returns the size in bytes of the memory for `rows` rows, and for `texts` bytes of their texts.
            #[allow(dead_code, reason = "callers may compute the size themselves")]
            $vis const fn memory_len(rows: usize, texts: usize) -> usize {
                $crate::vortex::log::memory_len(<Self as $crate::vortex::log::Record>::FIELDS, rows, texts)
            }
        }
    };
    ($($other:tt)*) => {
        compile_error!("record! takes `struct Name { column: type, … }`, or `struct Name<'a> { … }` with texts. `nullable` follows the type \
            and the time zone: `time: timestamp_ms \"UTC\" nullable`");
    };
}

/// The expansion of [`record!`](crate::vortex::record) for one field.
#[doc(hidden)]
#[macro_export]
macro_rules! __vortex_field {
    (@value $life:lifetime $ty:ident nullable) => {
        ::core::option::Option<$crate::__vortex_field!(@value $life $ty)>
    };
    (@value $life:lifetime utf8) => { &$life str };
    (@value $life:lifetime binary) => { &$life [u8] };
    (@value $life:lifetime date_days) => { i32 };
    (@value $life:lifetime time_s) => { i32 };
    (@value $life:lifetime time_ms) => { i32 };
    (@value $life:lifetime date_ms) => { i64 };
    (@value $life:lifetime time_us) => { i64 };
    (@value $life:lifetime time_ns) => { i64 };
    (@value $life:lifetime timestamp_s) => { i64 };
    (@value $life:lifetime timestamp_ms) => { i64 };
    (@value $life:lifetime timestamp_us) => { i64 };
    (@value $life:lifetime timestamp_ns) => { i64 };
    (@value $life:lifetime $number:ident) => { $number };

    (@field $field:expr;) => { $field };
    (@field $field:expr; nullable) => { $field.nullable() };

    (@type bool) => { $crate::vortex::log::FieldType::Bool };
    (@type utf8) => { $crate::vortex::log::FieldType::Utf8 };
    (@type binary) => { $crate::vortex::log::FieldType::Binary };
    (@type i8) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::I8) };
    (@type i16) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::I16) };
    (@type i32) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::I32) };
    (@type i64) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::I64) };
    (@type u8) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::U8) };
    (@type u16) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::U16) };
    (@type u32) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::U32) };
    (@type u64) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::U64) };
    (@type f32) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::F32) };
    (@type f64) => { $crate::vortex::log::FieldType::Prim($crate::column::Prim::F64) };
    (@type date_days) => { $crate::vortex::log::FieldType::Date($crate::column::Unit::Day) };
    (@type date_ms) => { $crate::vortex::log::FieldType::Date($crate::column::Unit::Milli) };
    (@type time_s) => { $crate::vortex::log::FieldType::Time($crate::column::Unit::Second) };
    (@type time_ms) => { $crate::vortex::log::FieldType::Time($crate::column::Unit::Milli) };
    (@type time_us) => { $crate::vortex::log::FieldType::Time($crate::column::Unit::Micro) };
    (@type time_ns) => { $crate::vortex::log::FieldType::Time($crate::column::Unit::Nano) };
    (@type timestamp_s $($zone:literal)?) => {
        $crate::vortex::log::FieldType::Timestamp($crate::column::Unit::Second, concat!($($zone)?))
    };
    (@type timestamp_ms $($zone:literal)?) => {
        $crate::vortex::log::FieldType::Timestamp($crate::column::Unit::Milli, concat!($($zone)?))
    };
    (@type timestamp_us $($zone:literal)?) => {
        $crate::vortex::log::FieldType::Timestamp($crate::column::Unit::Micro, concat!($($zone)?))
    };
    (@type timestamp_ns $($zone:literal)?) => {
        $crate::vortex::log::FieldType::Timestamp($crate::column::Unit::Nano, concat!($($zone)?))
    };
    (@type $other:ident $($zone:literal)?) => {
        compile_error!(concat!("no type of a column of a Vortex log: ", stringify!($other $($zone)?), ". The types are bool, i8 to i64, u8 to \
            u64, f32, f64, utf8, binary, date_days, date_ms, time_s, time_ms, time_us, time_ns, and timestamp_s, timestamp_ms, \
            timestamp_us, timestamp_ns with or without a time zone such as \"UTC\""))
    };
}

/// A row type of a log, which [`record!`](crate::vortex::record) declares.
pub trait Record {
    /// The type with the lifetime `'static`.
    type Static: Record<Static = Self::Static>;

    /// The columns.
    const FIELDS: &'static [Field<'static>];

    /// The encodings that the columns may get.
    const USES: Uses = Uses::of(Self::FIELDS);

    /// Constants of the columns, computed at compile time.
    #[doc(hidden)]
    const CONSTANTS: Constants;

    /// Calls `f` with the values of the row, in the order of the columns.
    fn with_cells<T>(&self, f: impl FnOnce(&[Cell<'_>]) -> T) -> T;
}

/// A value of a row. [`of`](Self::of) makes one from a Rust value.
///
/// ```
/// use pilaster::vortex::log::Cell;
///
/// assert_eq!([Cell::of(-1i8), Cell::of(1u32), Cell::of(true)], [Cell::Int(-1), Cell::Uint(1), Cell::Bool(true)]);
/// assert_eq!([Cell::of(Some("text")), Cell::of(None::<&str>)], [Cell::Text("text"), Cell::Null]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// The bits of a number of whatever type the column has: an integer in two's complement, a float, or a boolean as 0 or 1.
    /// The bits above the size of the type are zeros, or copies of the sign.
    Word(u64),
    /// A boolean.
    Bool(bool),
    /// A signed integer, for a column of any integers that has the value.
    Int(i64),
    /// An unsigned integer, for a column of any integers that has the value.
    Uint(u64),
    /// The bits of a float of 32 bits.
    F32(u32),
    /// The bits of a float of 64 bits.
    F64(u64),
    /// A text.
    Text(&'a str),
    /// A byte string.
    Bytes(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// Converts a value.
    #[inline]
    pub fn of(value: impl Into<Cell<'a>>) -> Self {
        value.into()
    }

    /// Converts a value of the type of the column, so that [`Log::push`](super::Log::push) requires no code for types.
    #[doc(hidden)]
    #[inline]
    pub fn __word(value: impl Into<Word<'a>>) -> Self {
        value.into().0
    }

    /// Returns the bits of a number; of other values 0.
    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        match self {
            Cell::Null | Cell::Text(_) | Cell::Bytes(_) => 0,
            Cell::Word(word) | Cell::Uint(word) | Cell::F64(word) => word,
            Cell::Bool(bit) => bit.into(),
            Cell::Int(number) => number.cast_unsigned(),
            Cell::F32(word) => word.into(),
        }
    }

    /// Returns the bytes of a text or byte string; of other values none.
    pub(super) const fn text(self) -> &'a [u8] {
        match self {
            Cell::Text(text) => text.as_bytes(),
            Cell::Bytes(bytes) => bytes,
            _ => &[],
        }
    }
}

/// A cell whose numbers are words.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a>(Cell<'a>);

macro_rules! numbers {
    ($($ty:ty, $value:ident => $cell:expr;)*) => {$(
        impl From<$ty> for Word<'_> {
            #[inline]
            fn from($value: $ty) -> Self {
                Word(Cell::Word($cell.word()))
            }
        }

        impl From<$ty> for Cell<'_> {
            #[inline]
            fn from($value: $ty) -> Self {
                $cell
            }
        }
    )*};
}

numbers! {
    bool, value => Cell::Bool(value);
    u8, value => Cell::Uint(value.into());
    u16, value => Cell::Uint(value.into());
    u32, value => Cell::Uint(value.into());
    u64, value => Cell::Uint(value);
    i8, value => Cell::Int(value.into());
    i16, value => Cell::Int(value.into());
    i32, value => Cell::Int(value.into());
    i64, value => Cell::Int(value);
    f32, value => Cell::F32(value.to_bits());
    f64, value => Cell::F64(value.to_bits());
}

macro_rules! others {
    ($($ty:ty => $cell:ident;)*) => {$(
        impl<'a> From<$ty> for Cell<'a> {
            #[inline]
            fn from(value: $ty) -> Self {
                Cell::$cell(value)
            }
        }

        impl<'a> From<$ty> for Word<'a> {
            #[inline]
            fn from(value: $ty) -> Self {
                Word(Cell::$cell(value))
            }
        }
    )*};
}

others! {
    &'a str => Text;
    &'a [u8] => Bytes;
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    #[inline]
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}

impl<'a, T: Into<Word<'a>>> From<Option<T>> for Word<'a> {
    #[inline]
    fn from(value: Option<T>) -> Self {
        value.map_or(Word(Cell::Null), Into::into)
    }
}
