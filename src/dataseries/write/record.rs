//! Row types whose layout, description and packing the compiler works out.

use super::pool::Pool;
use crate::bytes::Endian;
use crate::dataseries::layout::{Counts, FieldType, Layout, Options, Slot};
use crate::dataseries::raw::{MAX_NAME, small};
use crate::dataseries::types::{Field, FieldRecord, NameAt, Relative};
use crate::error::Result;

/// Declares a row type: a struct, its extent type, and stores that the compiler has resolved.
///
/// ```text
/// record! {
///     pub struct Row<'a> = "type name" namespace "example.org" version 1.0 pack compact {
///         name: type options,
///     }
/// }
/// ```
///
/// | type | the field is | with `nullable` |
/// |---|---|---|
/// | `bool` `byte` `int32` `int64` `double` | `bool` `u8` `i32` `i64` `f64` | `Option` of it |
/// | `variable32` | `&'a [u8]`; without a lifetime `&'static [u8]` | `Option` of it |
/// | `fixedwidth 6` | `[u8; 6]` | `Option` of it |
///
/// | option of a field | attribute |
/// |---|---|
/// | `nullable` | `opt_nullable` |
/// | `unique` | `pack_unique` |
/// | `relative` | `pack_relative`, to itself |
/// | `relative to other` | `pack_relative`, to a field above of the same type |
/// | `scaled 0.01` | `pack_scale` |
/// | `based 273.15` | `opt_doublebase` |
///
/// Behind `pack`: `compact` (`pack_null_compact`), `big_to_small` (`pack_field_ordering`),
/// `max_column_size` (`pack_pad_record`). What no description can say does not compile: a `unique` that
/// is no string, a base below its field, a scale of zero.
///
/// ```
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::Record;
///
/// record! {
///     /// What a probe says.
///     pub struct Reading<'a> = "Probe" namespace "example.org" version 1.0 {
///         time: int64 relative,
///         sent: int64 relative to time,
///         temp: double scaled 0.01,
///         place: variable32 unique,
///         note: variable32 nullable,
///     }
/// }
///
/// let reading = Reading { time: 1000, sent: 1003, temp: 21.5, place: b"attic", note: None };
/// assert_eq!(Reading::LAYOUT.record_len(), 40);
/// assert!(Reading::XML.contains(r#"<field type="int64" name="sent" pack_relative="time" />"#));
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __dataseries_record {
    ($(#[$meta:meta])* $vis:vis struct $name:ident = $($rest:tt)*) => {
        $crate::__dataseries_record!(@ [$(#[$meta])*] [$vis] $name [] 'static = $($rest)*);
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident <$life:lifetime> = $($rest:tt)*) => {
        $crate::__dataseries_record!(@ [$(#[$meta])*] [$vis] $name [<$life>] $life = $($rest)*);
    };
    (@ [$($meta:tt)*] [$vis:vis] $name:ident [$($generics:tt)*] $life:lifetime =
        $type_name:literal $(namespace $namespace:literal)? $(version $version:literal)? $(pack $($pack:ident)+)? {
            $($(#[$field_meta:meta])* $field:ident : $ty:ident $($size:literal)? $($word:ident $($number:literal)?)*),+ $(,)?
        }
    ) => {
        $($meta)*
        $vis struct $name $($generics)* {
            $($(#[$field_meta])* pub $field: $crate::__dataseries_field!(@value $life $ty [$($size)?] $($word $($number)?)*),)+
        }

        const _: () = {
            use $crate::dataseries::write::__record as r;

            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Index { $($field),+ }

            const COUNT: usize = [$(Index::$field as usize),+].len();
            const XML: &str = concat!(
                "<ExtentType name=\"", $type_name, "\"",
                $(" namespace=\"", $namespace, "\"",)?
                $(" version=\"", stringify!($version), "\"",)?
                $($($crate::__dataseries_field!(@pack_xml $pack),)+)?
                ">\n",
                $("  <field type=\"", stringify!($ty), "\" name=\"", stringify!($field), "\"",
                    $(" size=\"", stringify!($size), "\"",)?
                    $crate::__dataseries_field!(@xml $field $($word $($number)?)*), " />\n",)+
                "</ExtentType>\n"
            );
            const OPTIONS: r::Options = r::options(&[$($(stringify!($pack)),+)?]);
            const SPECS: [r::Spec; COUNT] = [$(
                $crate::__dataseries_field!(
                    @spec r::Spec::new(stringify!($field), $crate::__dataseries_field!(@type $ty [$($size)?]));
                    $($word $($number)?)*
                )
            ),+];
            const LAYOUT: r::Layout = r::layout(&SPECS, OPTIONS);
            const FIELDS: [r::FieldRecord; COUNT] = r::fields(&SPECS, LAYOUT);
            const _: () = r::check_texts($type_name, concat!($($namespace)?), XML);
            const LEN: usize = LAYOUT.record_len() as usize;

            impl $($generics)* r::Record for $name $($generics)* {
                type Static = $crate::__dataseries_field!(@static $name [$($generics)*]);

                const NAME: &'static str = $type_name;
                const NAMESPACE: &'static str = concat!($($namespace)?);
                const VERSION: (i32, i32) = r::version(concat!($(stringify!($version))?));
                const XML: &'static str = XML;
                const FIELD_NAMES: &'static str = concat!($(stringify!($field)),+);
                const OPTIONS: r::Options = OPTIONS;
                const LAYOUT: r::Layout = LAYOUT;
                const FIELDS: &'static [r::FieldRecord] = &FIELDS;
                const USES: r::Uses = r::Uses::of(&FIELDS, OPTIONS);

                #[inline]
                fn store<E: r::Endian>(&self, record: &mut [u8], pool: &mut r::Pool<'_>) -> r::Result<()> {
                    // As an array of known length: all places in it are known to the compiler.
                    let ::core::option::Option::Some(record) = record.first_chunk_mut::<LEN>() else {
                        return ::core::result::Result::Ok(());
                    };
                    $({
                        const FIELD: r::FieldRecord = r::field(&FIELDS, Index::$field as usize);
                        r::Store::store::<E>(&self.$field, FIELD.slot(), FIELD.unique(), record, pool)?;
                    })+
                    ::core::result::Result::Ok(())
                }
            }
        };
    };
}

/// What [`record!`](crate::dataseries::record) makes of one field.
#[doc(hidden)]
#[macro_export]
macro_rules! __dataseries_field {
    (@static $name:ident []) => { $name };
    (@static $name:ident [<$life:lifetime>]) => { $name<'static> };

    // The type of the struct's field.
    (@value $life:lifetime $ty:ident $size:tt nullable $($rest:tt)*) => {
        ::core::option::Option<$crate::__dataseries_field!(@value $life $ty $size)>
    };
    (@value $life:lifetime $ty:ident $size:tt $word:tt $($rest:tt)*) => {
        $crate::__dataseries_field!(@value $life $ty $size $($rest)*)
    };
    (@value $life:lifetime bool []) => { bool };
    (@value $life:lifetime byte []) => { u8 };
    (@value $life:lifetime int32 []) => { i32 };
    (@value $life:lifetime int64 []) => { i64 };
    (@value $life:lifetime double []) => { f64 };
    (@value $life:lifetime variable32 []) => { &$life [u8] };
    (@value $life:lifetime fixedwidth [$size:literal]) => { [u8; $size] };

    // Its type in the format.
    (@type bool []) => { r::FieldType::Bool };
    (@type byte []) => { r::FieldType::Byte };
    (@type int32 []) => { r::FieldType::Int32 };
    (@type int64 []) => { r::FieldType::Int64 };
    (@type double []) => { r::FieldType::Double };
    (@type variable32 []) => { r::FieldType::Variable32 };
    (@type fixedwidth [$size:literal]) => { r::FieldType::FixedWidth($size) };

    // Its options as values.
    (@spec $spec:expr;) => { $spec };
    (@spec $spec:expr; nullable $($rest:tt)*) => { $crate::__dataseries_field!(@spec $spec.nullable(); $($rest)*) };
    (@spec $spec:expr; unique $($rest:tt)*) => { $crate::__dataseries_field!(@spec $spec.unique(); $($rest)*) };
    (@spec $spec:expr; relative to $base:ident $($rest:tt)*) => {
        $crate::__dataseries_field!(@spec $spec.relative(stringify!($base)); $($rest)*)
    };
    (@spec $spec:expr; relative $($rest:tt)*) => { $crate::__dataseries_field!(@spec $spec.relative_to_itself(); $($rest)*) };
    (@spec $spec:expr; scaled $scale:literal $($rest:tt)*) => {
        $crate::__dataseries_field!(@spec $spec.scaled($scale as f64, stringify!($scale)); $($rest)*)
    };
    (@spec $spec:expr; based $base:literal $($rest:tt)*) => {
        $crate::__dataseries_field!(@spec $spec.based($base as f64, stringify!($base)); $($rest)*)
    };

    // Its options as text.
    (@xml $field:ident) => { "" };
    (@xml $field:ident nullable $($rest:tt)*) => {
        concat!(" opt_nullable=\"yes\"", $crate::__dataseries_field!(@xml $field $($rest)*))
    };
    (@xml $field:ident unique $($rest:tt)*) => {
        concat!(" pack_unique=\"yes\"", $crate::__dataseries_field!(@xml $field $($rest)*))
    };
    (@xml $field:ident relative to $base:ident $($rest:tt)*) => {
        concat!(" pack_relative=\"", stringify!($base), "\"", $crate::__dataseries_field!(@xml $field $($rest)*))
    };
    (@xml $field:ident relative $($rest:tt)*) => {
        concat!(" pack_relative=\"", stringify!($field), "\"", $crate::__dataseries_field!(@xml $field $($rest)*))
    };
    (@xml $field:ident scaled $scale:literal $($rest:tt)*) => {
        concat!(" pack_scale=\"", stringify!($scale), "\"", $crate::__dataseries_field!(@xml $field $($rest)*))
    };
    (@xml $field:ident based $base:literal $($rest:tt)*) => {
        concat!(" opt_doublebase=\"", stringify!($base), "\"", $crate::__dataseries_field!(@xml $field $($rest)*))
    };

    (@pack_xml compact) => { " pack_null_compact=\"non_bool\"" };
    (@pack_xml big_to_small) => { " pack_field_ordering=\"big_to_small_sep_var32\"" };
    (@pack_xml max_column_size) => { " pack_pad_record=\"max_column_size\"" };
}

/// A value that goes into a cell.
pub trait Store {
    /// Stores it; the record is all zero.
    ///
    /// # Errors
    /// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the pool is full.
    fn store<E: Endian>(&self, slot: Slot, unique: bool, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()>;
}

macro_rules! stores {
    ($($number:ty),*) => {$(
        impl Store for $number {
            #[inline(always)]
            fn store<E: Endian>(&self, slot: Slot, unique: bool, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()> {
                super::extent::order::<E, { size_of::<$number>() }>(self.to_le_bytes()).store::<E>(slot, unique, record, pool)
            }
        }
    )*};
}

stores!(u8, i32, i64, f64);

impl<const N: usize> Store for [u8; N] {
    #[inline(always)]
    fn store<E: Endian>(&self, slot: Slot, _: bool, record: &mut [u8], _: &mut Pool<'_>) -> Result<()> {
        if let Some(cell) = record.get_mut(slot.at as usize..).and_then(|cells| cells.first_chunk_mut()) {
            *cell = *self;
        }
        Ok(())
    }
}

impl Store for bool {
    #[inline(always)]
    fn store<E: Endian>(&self, slot: Slot, _: bool, record: &mut [u8], _: &mut Pool<'_>) -> Result<()> {
        if let Some(byte) = record.get_mut(slot.at as usize) {
            *byte |= if *self { slot.mask } else { 0 };
        }
        Ok(())
    }
}

impl Store for &[u8] {
    #[inline(always)]
    fn store<E: Endian>(&self, slot: Slot, unique: bool, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()> {
        let cell = pool.add::<E>(self, unique)?;
        cell.cast_signed().store::<E>(slot, unique, record, pool)
    }
}

impl<T: Store> Store for Option<T> {
    #[inline(always)]
    fn store<E: Endian>(&self, slot: Slot, unique: bool, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()> {
        match (self, slot.null) {
            (Some(value), _) => value.store::<E>(slot, unique, record, pool),
            (None, Some(bit)) => true.store::<E>(Slot { at: bit.at, mask: bit.mask, null: None }, unique, record, pool),
            (None, None) => Ok(()),
        }
    }
}

/// What the declaration says of a field.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    name: &'static str,
    base_name: &'static str,
    field: Field<'static>,
}

#[allow(clippy::panic, reason = "runs in the compiler only: what cannot be declared does not compile")]
impl Spec {
    /// A field without options.
    #[must_use]
    pub const fn new(name: &'static str, ty: FieldType) -> Self {
        assert!(name.len() <= MAX_NAME, "a field's name has at most 255 bytes");
        assert!(!has_any(name, b"#"), "a field's name cannot be a raw identifier");
        assert!(!matches!(ty, FieldType::FixedWidth(0)), "a fixedwidth has at least one byte");
        let field = Field::new(name, ty);
        Spec { name, base_name: "", field }
    }

    /// `nullable`
    #[must_use]
    pub const fn nullable(mut self) -> Self {
        self.field.nullable = true;
        self
    }

    /// `unique`
    #[must_use]
    pub const fn unique(mut self) -> Self {
        assert!(matches!(self.field.ty, FieldType::Variable32), "only a variable32 can be unique");
        self.field.unique = true;
        self
    }

    /// `relative`
    #[must_use]
    pub const fn relative_to_itself(self) -> Self {
        self.relative(self.name)
    }

    /// `relative to base`
    #[must_use]
    pub const fn relative(mut self, base: &'static str) -> Self {
        assert!(
            matches!(self.field.ty, FieldType::Int32 | FieldType::Int64 | FieldType::Double),
            "only an int32, int64 or double can be relative"
        );
        self.base_name = base;
        self
    }

    /// `scaled scale`, which is written as `text`
    #[must_use]
    pub const fn scaled(mut self, scale: f64, text: &str) -> Self {
        assert!(matches!(self.field.ty, FieldType::Double), "only a double can be scaled");
        assert!(scale != 0.0, "a scale is not zero");
        assert!(!has_any(text, b"_fx \""), "the scale must be a number as C writes it");
        self.field.scale = Some(scale);
        self
    }

    /// `based base`, which is written as `text`
    #[must_use]
    pub const fn based(mut self, base: f64, text: &str) -> Self {
        assert!(matches!(self.field.ty, FieldType::Double), "only a double can have a base");
        assert!(!has_any(text, b"_fx \""), "the base must be a number as C writes it");
        self.field.base = base;
        self
    }
}

/// The options that stand behind `pack`.
#[must_use]
pub const fn options(mut words: &[&str]) -> Options {
    use crate::dataseries::layout::{Ordering, Pad};
    let mut options = Options::DEFAULT;
    while let [word, rest @ ..] = words {
        if same(word, "compact") {
            options.compact = true;
        } else if same(word, "big_to_small") {
            options.ordering = Ordering::BigToSmall;
        } else {
            options.pad = Pad::MaxColumnSize;
        }
        words = rest;
    }
    options
}

/// The layout of the fields.
#[must_use]
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn layout(mut specs: &[Spec], options: Options) -> Layout {
    let mut counts = Counts::new();
    while let [spec, rest @ ..] = specs {
        counts = counts.with(spec.field.ty, spec.field.nullable);
        specs = rest;
    }
    match counts.layout(options) {
        Some(layout) => layout,
        None => panic!("a record has less than 2 GiB"),
    }
}

/// The fields as they are kept, with names that lie one behind the other.
#[must_use]
#[allow(clippy::panic, clippy::indexing_slicing, reason = "runs in the compiler only")]
pub const fn fields<const N: usize>(specs: &[Spec; N], layout: Layout) -> [FieldRecord; N] {
    let mut fields = [FieldRecord::EMPTY; N];
    let (mut places, mut name_at, mut k) = (layout.places(), 0u32, 0u32);
    while (k as usize) < N {
        let Spec { name, base_name, mut field } = specs[k as usize];
        field.slot = places.next(field.ty, field.nullable);
        if !base_name.is_empty() {
            field.relative = relative(specs, k, base_name);
        }
        let len = small(name.len());
        fields[k as usize] = FieldRecord::new(&field, k, NameAt { at: name_at, len, decoded: true });
        name_at = name_at.saturating_add(len);
        k = k.saturating_add(1);
    }
    fields
}

/// One of the fields.
#[must_use]
#[allow(clippy::indexing_slicing, reason = "runs in the compiler only")]
pub const fn field<const N: usize>(fields: &[FieldRecord; N], k: usize) -> FieldRecord {
    fields[k]
}

#[allow(clippy::panic, clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn relative<const N: usize>(specs: &[Spec; N], own: u32, base: &str) -> Relative {
    let field = &specs[own as usize].field;
    if same(specs[own as usize].name, base) {
        let scaled = field.scale.is_some() || !matches!(field.ty, FieldType::Double);
        assert!(scaled, "a double that is relative to itself must be scaled");
        return Relative::Own;
    }
    let mut k = 0u32;
    while k < own {
        let spec = &specs[k as usize];
        if same(spec.name, base) {
            assert!(spec.field.ty.same(field.ty), "a field is relative to one of the same type");
            return Relative::To(k);
        }
        k = k.saturating_add(1);
    }
    panic!("a field is relative to itself or to one that is declared above")
}

/// What stands in attributes must be there as it is: there is no escaping at compile time.
#[allow(clippy::panic, reason = "runs in the compiler only")]
pub const fn check_texts(name: &str, namespace: &str, xml: &str) {
    assert!(!name.is_empty() && name.len() <= MAX_NAME, "a type's name has 1 to 255 bytes");
    assert!(!has_any(name, b"&<\"\t\r\n") && !has_any(namespace, b"&<\"\t\r\n"), "no character that XML escapes");
    assert!(!same(name, crate::dataseries::raw::XML_TYPE), "the name of a built-in type");
    assert!(!same(name, crate::dataseries::raw::INDEX_TYPE), "the name of a built-in type");
    assert!(xml.len() < u16::MAX as usize, "a description of less than 64 KiB");
}

/// The two numbers of a version, which the macro took as a literal with a point in it.
#[must_use]
#[allow(clippy::panic, reason = "runs in the compiler only: what cannot be declared does not compile")]
pub const fn version(text: &str) -> (i32, i32) {
    let (mut bytes, mut major, mut number) = (text.as_bytes(), None, 0i32);
    while let [byte, rest @ ..] = bytes {
        match *byte {
            b'.' => (major, number) = (Some(number), 0),
            digit @ b'0'..=b'9' => number = number.saturating_mul(10).saturating_add(digit.wrapping_sub(b'0') as i32),
            _ => panic!("a version is two numbers"),
        }
        bytes = rest;
    }
    match major {
        Some(major) => (major, number),
        None => (number, 0),
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

const fn has_any(text: &str, any: &[u8]) -> bool {
    let mut text = text.as_bytes();
    while let [byte, rest @ ..] = text {
        let mut any = any;
        while let [one, more @ ..] = any {
            if *byte == *one {
                return true;
            }
            any = more;
        }
        text = rest;
    }
    false
}
