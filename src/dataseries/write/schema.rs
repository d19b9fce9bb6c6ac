//! What an extent's records are: known at compile time, or read from a description.

use core::marker::PhantomData;

use super::pack::{compact, pack};
use super::pool::Pool;
use crate::bytes::Endian;
use crate::dataseries::layout::{FieldType, Layout, Options, Ordering};
use crate::dataseries::types::{ExtentType, FieldRecord};
use crate::error::{Error, Kind, Result, What};

/// Which steps of packing a type can need. What a type known at compile time does not need is not in
/// the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// A relative int32.
    pub relative32: bool,
    /// A relative int64.
    pub relative64: bool,
    /// A relative double.
    pub relative_double: bool,
    /// A scaled double.
    pub scale: bool,
    /// A field that is relative to another.
    pub other: bool,
    /// Null compaction.
    pub compact: bool,
    /// Strings.
    pub strings: bool,
}

impl Uses {
    /// All of them.
    pub const ALL: Uses = Uses {
        relative32: true,
        relative64: true,
        relative_double: true,
        scale: true,
        other: true,
        compact: true,
        strings: true,
    };

    /// Those of a type with these fields.
    #[must_use]
    pub const fn of(mut fields: &[FieldRecord], options: Options) -> Uses {
        let mut uses = Uses {
            relative32: false,
            relative64: false,
            relative_double: false,
            scale: false,
            other: false,
            compact: options.compact,
            strings: false,
        };
        let mut k = 0usize;
        while let [field, rest @ ..] = fields {
            use crate::dataseries::types::Relative;
            let relative = field.relative(k);
            let is_relative = !matches!(relative, Relative::No);
            uses.other |= matches!(relative, Relative::To(_));
            match field.ty() {
                FieldType::Int32 => uses.relative32 |= is_relative,
                FieldType::Int64 => uses.relative64 |= is_relative,
                FieldType::Double => {
                    uses.relative_double |= is_relative;
                    uses.scale |= field.scale().is_some();
                }
                FieldType::Variable32 => uses.strings = true,
                FieldType::Bool | FieldType::Byte | FieldType::FixedWidth(_) => {}
            }
            k = k.saturating_add(1);
            fields = rest;
        }
        uses
    }
}

/// The type of an extent's records, for a writer: [`Of`] a record, or an [`ExtentType`]. Nothing else implements it.
pub trait Schema: Steps {}

impl<T: Steps> Schema for T {}

/// What a writer does with a schema.
pub trait Steps {
    /// What it may need.
    const USES: Uses;

    /// The name of the type.
    fn name(&self) -> &str;
    /// Its options.
    fn options(&self) -> Options;
    /// Where the groups of a record lie.
    fn layout(&self) -> Layout;
    /// Its fields.
    fn fields(&self) -> &[FieldRecord];
    /// Packs whole records, except for null compaction (sections 8.1 to 8.4).
    fn pack<E: Endian>(&self, records: &mut [u8]);
    /// Leaves out the null cells of packed records (section 8.6), in place; gives back the bytes that are
    /// left, at the front.
    fn compact(&self, records: &mut [u8]) -> usize;

    /// Whether nulls are left out.
    fn compacts(&self) -> bool {
        Self::USES.compact && self.options().compact
    }

    /// Whether extents of the type can be written; [`ExtentBuffer::new`](super::ExtentBuffer::new) says which cannot.
    fn check(&self) -> Result<()> {
        if self.layout().record_len() == 0 {
            return Err(Error::new(Kind::Misuse, What::DATASERIES_TYPE, 0));
        }
        if !self.compacts() {
            return Ok(());
        }
        if self.layout().compact_prefix() == 0 {
            return Err(Error::new(Kind::Misuse, What::DATASERIES_TYPE, 0));
        }
        let wide = self.fields().iter().any(|field| matches!(field.ty(), FieldType::FixedWidth(size) if size > 1));
        if wide || self.options().ordering == Ordering::BigToSmall {
            return Err(Error::new(Kind::Unsupported, What::DATASERIES_TYPE, 0));
        }
        Ok(())
    }
}

impl Steps for ExtentType<'_> {
    const USES: Uses = Uses::ALL;

    fn name(&self) -> &str {
        ExtentType::name(self)
    }

    fn options(&self) -> Options {
        ExtentType::options(self)
    }

    fn layout(&self) -> Layout {
        ExtentType::layout(self)
    }

    fn fields(&self) -> &[FieldRecord] {
        self.records()
    }

    fn pack<E: Endian>(&self, records: &mut [u8]) {
        pack::<E>(self.records(), self.layout.record_len(), self.options.compact, records);
    }

    fn compact(&self, records: &mut [u8]) -> usize {
        compact(self.records(), self.layout, records)
    }
}

/// A row whose type is known at compile time; [`record!`](crate::dataseries::record) implements it.
pub trait Record {
    /// The row without its lifetime: one type for rows that borrow from different places.
    type Static: Record;

    /// The name of the type.
    const NAME: &'static str;
    /// Its namespace, empty if nothing was said.
    const NAMESPACE: &'static str;
    /// Major and minor version, 0.0 if nothing was said.
    const VERSION: (i32, i32);
    /// Its description.
    const XML: &'static str;
    /// The names of its fields, one behind the other.
    #[doc(hidden)]
    const FIELD_NAMES: &'static str;
    /// Its options.
    #[doc(hidden)]
    const OPTIONS: Options;
    /// Where the groups of a record lie.
    #[doc(hidden)]
    const LAYOUT: Layout;
    /// Its fields; their names are spans of [`FIELD_NAMES`](Self::FIELD_NAMES).
    #[doc(hidden)]
    const FIELDS: &'static [FieldRecord];
    /// What it needs.
    #[doc(hidden)]
    const USES: Uses;

    /// Stores the row into a record, whatever that holds.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the pool is full.
    #[doc(hidden)]
    fn store<E: Endian>(&self, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()>;

    /// Packs whole records, except for null compaction (sections 8.1 to 8.4).
    #[doc(hidden)]
    fn pack<E: Endian>(records: &mut [u8]);

    /// Leaves out the null cells of packed records, in place; gives back the bytes that are left, at the
    /// front.
    #[doc(hidden)]
    fn compact(records: &mut [u8]) -> usize;
}

/// The schema of a [`Record`].
#[derive(Clone, Copy, Debug)]
pub struct Of<R>(PhantomData<fn() -> R>);

impl<R> Of<R> {
    /// It holds nothing: all is in the type.
    #[must_use]
    pub(crate) const fn new() -> Self {
        Of(PhantomData)
    }
}

impl<R> Default for Of<R> {
    fn default() -> Self {
        Of::new()
    }
}

impl<R: Record> Steps for Of<R> {
    const USES: Uses = R::USES;

    fn name(&self) -> &str {
        R::NAME
    }

    fn options(&self) -> Options {
        R::OPTIONS
    }

    fn layout(&self) -> Layout {
        R::LAYOUT
    }

    fn fields(&self) -> &[FieldRecord] {
        R::FIELDS
    }

    fn pack<E: Endian>(&self, records: &mut [u8]) {
        R::pack::<E>(records);
    }

    fn compact(&self, records: &mut [u8]) -> usize {
        R::compact(records)
    }
}
