//! Row types whose layout, description and packing are computed by the compiler.

use super::pack::copy;
use super::pool::Pool;
use crate::bytes::{Endian, STRICT};
use crate::dataseries::layout::Slot;
use crate::error::Result;

/// Declares a row type: a struct, and its extent type, whose layout and stores are computed by the compiler.
///
/// ```text
/// record! {
///     pub struct Row<'a> = "type name" namespace "example.org" version 1.0 about { firmware = "2.1" } pack compact {
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
/// | `units "degC"` | `units`, which readers show |
/// | `comment "in the shade"` | `comment`, which readers show |
///
/// After `about`, attributes of the type say what writes the file: a firmware, its version, its build. The values are literals, or what the
/// compiler knows, as in `build = env!("CARGO_PKG_VERSION")`. `pilaster info` prints them; the original ignores them.
///
/// Words after `pack`: `compact` (`pack_null_compact`), `big_to_small` (`pack_field_ordering`),
/// `max_column_size` (`pack_pad_record`). A declaration without a valid description does not compile, such as
/// `unique` for a field that is not a string, a base declared below its field, or a scale of zero.
///
/// The original reads every file of such a record. It writes two more kinds of `compact`, which it cannot read back, so they do not
/// compile: with a `fixedwidth` of more than one byte, and with `big_to_small`. Nor does `compact` without a bool or a nullable field.
///
/// ```compile_fail,E0080
/// pilaster::dataseries::record! {
///     struct Wide = "Wide" pack compact { id: fixedwidth 6 nullable }
/// }
/// ```
///
/// ```compile_fail,E0080
/// pilaster::dataseries::record! {
///     struct Turned = "Turned" pack compact big_to_small { temp: double nullable }
/// }
/// ```
///
/// Nor does a text that XML would escape, or an attribute that means something in the format:
///
/// ```compile_fail
/// pilaster::dataseries::record! {
///     struct Quoted = "Quoted" { temp: double units "\"K\"" }
/// }
/// ```
///
/// ```compile_fail
/// pilaster::dataseries::record! {
///     struct Packed = "Packed" about { pack_firmware = "2.1" } { temp: double }
/// }
/// ```
///
/// Nor does one that is given twice:
///
/// ```compile_fail
/// pilaster::dataseries::record! {
///     struct Twice = "Twice" about { build = "1", build = "2" } { temp: double }
/// }
/// ```
///
/// ```compile_fail
/// pilaster::dataseries::record! {
///     struct Twice = "Twice" { temp: double units "K" comment "in the shade" units "degC" }
/// }
/// ```
///
/// ```compile_fail,E0080
/// pilaster::dataseries::record! {
///     struct Whole = "Whole" pack compact { temp: double }
/// }
/// ```
///
/// ```
/// pilaster::dataseries::record! {
///     struct Both = "Both" pack compact { id: fixedwidth 1 nullable, temp: double nullable }
/// }
/// pilaster::dataseries::record! {
///     struct Turned = "Turned" pack big_to_small { id: fixedwidth 6 nullable }
/// }
/// ```
///
/// ```
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::Record;
///
/// record! {
///     /// A reading of a probe.
///     pub struct Reading<'a> = "Probe" namespace "example.org" version 1.0 {
///         time: int64 relative,
///         sent: int64 relative to time,
///         temp: double scaled 0.01,
///         place: variable32 unique,
///         note: variable32 nullable,
///     }
/// }
///
/// // What is stored of a field, and what people want to know of it.
/// record! {
///     struct Probe = "Probe" about { firmware = "2.1.0", build = env!("CARGO_PKG_NAME") } {
///         temp: double scaled 0.01 units "degC" comment "in the shade",
///     }
/// }
/// assert!(Probe::XML.starts_with(r#"<ExtentType name="Probe" firmware="2.1.0" build="#));
/// assert!(Probe::XML.contains(r#"pack_scale="0.01" units="degC" comment="in the shade" />"#));
///
/// let reading = Reading { time: 1000, sent: 1003, temp: 21.5, place: b"attic", note: None };
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
        $type_name:literal $(namespace $namespace:literal)? $(version $version:literal)?
        $(about { $($about:ident = $is:expr),+ $(,)? })? $(pack $($pack:ident)+)? {
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
                $($(" ", stringify!($about), "=\"", $is, "\"",)+)?
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
            $($(const _: () = r::check_about(stringify!($about), concat!($is));)+)?
            const _: () = r::check_names(&[$($(stringify!($about)),+)?]);
            $(const _: () = { $crate::__dataseries_field!(@check $($word $($number)?)*) };)+
            $(const _: () = r::check_field(concat!($crate::__dataseries_field!(@xml $field $($word $($number)?)*)));)+
            const _: () = r::check_compact(&FIELDS, LAYOUT, OPTIONS);
            const LEN: usize = LAYOUT.record_len() as usize;
            const WORDS: usize = LEN.div_ceil(4);

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
                    // All offsets are known at compile time, so only plain stores remain of this.
                    let mut cells = [0; LEN];
                    $({
                        const FIELD: r::FieldRecord = r::field(&FIELDS, Index::$field as usize);
                        r::Store::store::<E>(&self.$field, FIELD.slot(), FIELD.unique(), &mut cells, pool)?;
                    })+
                    r::put::<LEN, WORDS>(record, cells);
                    ::core::result::Result::Ok(())
                }

                fn pack<E: r::Endian>(records: &mut [u8]) {
                    $(let mut $field = r::Before::default();)+
                    r::each::<LEN, WORDS>(records, |record| {
                        $(const { r::cells(&FIELDS, Index::$field as usize, OPTIONS) }.zero_null(record);)+
                        // The last field first.
                        $({
                            const K: usize = COUNT - 1 - Index::$field as usize;
                            const BASE: ::core::option::Option<r::FieldRecord> = r::base(&FIELDS, K);
                            if let ::core::option::Option::Some(base) = &BASE {
                                const { r::cells(&FIELDS, K, OPTIONS) }.subtract::<E>(record, base);
                            }
                        })+
                        $({
                            const K: usize = Index::$field as usize;
                            const OWN: bool = r::is_own(&FIELDS, K);
                            const { r::cells(&FIELDS, K, OPTIONS) }.pack::<E>(record, OWN, &mut $field);
                        })+
                    });
                }

                fn compact(records: &mut [u8]) -> usize {
                    const GROUPED: [r::FieldRecord; COUNT] = r::grouped(&FIELDS);
                    r::compact_grouped(GROUPED.iter(), LAYOUT, records)
                }
            }
        };
    };
}

/// The expansion of [`record!`](crate::dataseries::record) for one field.
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

    (@spec $spec:expr; units $text:literal $($rest:tt)*) => { $crate::__dataseries_field!(@spec $spec; $($rest)*) };
    (@spec $spec:expr; comment $text:literal $($rest:tt)*) => { $crate::__dataseries_field!(@spec $spec; $($rest)*) };

    // Checks its texts.
    (@check) => { () };
    (@check units $text:literal $($rest:tt)*) => {{ r::check_text($text); $crate::__dataseries_field!(@check $($rest)*) }};
    (@check comment $text:literal $($rest:tt)*) => {{ r::check_text($text); $crate::__dataseries_field!(@check $($rest)*) }};
    (@check $word:tt $($rest:tt)*) => { $crate::__dataseries_field!(@check $($rest)*) };

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
    (@xml $field:ident units $text:literal $($rest:tt)*) => {
        concat!(" units=\"", $text, "\"", $crate::__dataseries_field!(@xml $field $($rest)*))
    };
    (@xml $field:ident comment $text:literal $($rest:tt)*) => {
        concat!(" comment=\"", $text, "\"", $crate::__dataseries_field!(@xml $field $($rest)*))
    };

    (@pack_xml compact) => { " pack_null_compact=\"non_bool\"" };
    (@pack_xml big_to_small) => { " pack_field_ordering=\"big_to_small_sep_var32\"" };
    (@pack_xml max_column_size) => { " pack_pad_record=\"max_column_size\"" };
}

/// Copies the cells into the record.
pub fn put<const N: usize, const W: usize>(record: &mut [u8], cells: [u8; N]) {
    let Some(record) = record.first_chunk_mut::<N>() else { return };
    match (bytemuck::try_cast_mut::<_, [u32; W]>(record), bytemuck::try_cast(cells)) {
        (Ok(to), Ok(from)) if STRICT => *to = from,
        _ if STRICT => {
            // The black box makes a copy for this path only, so that on the path above the cells need not be in memory.
            // A record then takes 713 instructions on a Cortex-M0, without the black box 778 (`.ci/firmware`).
            copy(&core::hint::black_box(cells), record);
        }
        _ => *record = cells,
    }
}

/// A value that can be stored in a cell.
pub trait Store {
    /// Stores the value into a record whose cells are still zero.
    ///
    /// # Errors
    /// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the pool is full.
    fn store<E: Endian>(&self, slot: Slot, unique: bool, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()>;
}

macro_rules! stores {
    ($($number:ty),*) => {$(
        impl Store for $number {
            fn store<E: Endian>(&self, slot: Slot, unique: bool, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()> {
                super::extent::order::<E, { size_of::<$number>() }>(self.to_le_bytes()).store::<E>(slot, unique, record, pool)
            }
        }
    )*};
}

stores!(u8, i32, i64, f64);

impl<const N: usize> Store for [u8; N] {
    fn store<E: Endian>(&self, slot: Slot, _: bool, record: &mut [u8], _: &mut Pool<'_>) -> Result<()> {
        if let Some(cell) = record.get_mut(slot.at as usize..).and_then(|cells| cells.first_chunk_mut()) {
            *cell = *self;
        }
        Ok(())
    }
}

impl Store for bool {
    fn store<E: Endian>(&self, slot: Slot, _: bool, record: &mut [u8], _: &mut Pool<'_>) -> Result<()> {
        let (at, mask) = (slot.at as usize, if *self { slot.mask } else { 0 });
        let (words, rest) = record.as_chunks_mut::<4>();
        // Stores the word that contains the bit, including neighbours that may be zero, so that the byte is not copied
        // separately when the record is copied.
        if let Some(word) = words.get_mut(at >> 2) {
            let place = u32::from(mask) << ((at & 3) << 3);
            *word = (u32::from_le_bytes(*word) | place).to_le_bytes();
        } else if let Some(byte) = rest.get_mut(at & 3) {
            *byte |= mask;
        }
        Ok(())
    }
}

impl Store for &[u8] {
    fn store<E: Endian>(&self, slot: Slot, unique: bool, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()> {
        let cell = pool.add::<E>(self, unique)?;
        cell.cast_signed().store::<E>(slot, unique, record, pool)
    }
}

impl<T: Store> Store for Option<T> {
    fn store<E: Endian>(&self, slot: Slot, unique: bool, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()> {
        match (self, slot.null) {
            (Some(value), _) => value.store::<E>(slot, unique, record, pool),
            (None, Some(bit)) => true.store::<E>(Slot { at: bit.at, mask: bit.mask, null: None }, unique, record, pool),
            (None, None) => Ok(()),
        }
    }
}
