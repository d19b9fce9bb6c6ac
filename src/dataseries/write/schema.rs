//! The type of an extent's records: known at compile time, or read from a description.

use core::marker::PhantomData;

use super::pack::{compact, pack};
use super::pool::Pool;
use crate::bytes::Endian;
use crate::dataseries::layout::{FieldType, Layout, Options, Ordering};
use crate::dataseries::types::{ExtentType, FieldRecord};
use crate::error::{Error, Kind, Result, What};

/// The packing steps that a type can need. For a type known at compile time, the other steps are not in the
/// image.
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
    /// All steps.
    pub const ALL: Uses = Uses {
        relative32: true,
        relative64: true,
        relative_double: true,
        scale: true,
        other: true,
        compact: true,
        strings: true,
    };

    /// The steps that a type with these fields needs.
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

/// The type of an extent's records, for a writer. Implemented only by [`Of`], for a type known at
/// compile time, and by [`ExtentType`], for a type read from a description.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use pilaster::bytes::{LittleEndian, Sink, WriteError};
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{Descriptions, ExtentBuffer, Of, Schema, Writer};
///
/// record! {
///     struct Tick = "Tick" { time: int64 relative }
/// }
///
/// /// Limits an extent of any type to about 64 KiB.
/// fn limit<T: Schema, S: Sink>(
///     file: &mut Writer<'_, LittleEndian, S>,
///     extent: &mut ExtentBuffer<'_, LittleEndian, T>,
/// ) -> Result<(), WriteError<S::Error>> {
///     if extent.used() < 64 << 10 { Ok(()) } else { file.flush(extent) }
/// }
///
/// let mut file = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Tick>(), &mut []);
/// let mut extent = ExtentBuffer::<LittleEndian, _>::growing(Of::<Tick>::default())?;
/// for time in 0..10_000 {
///     extent.push(&Tick { time })?;
///     limit(&mut file, &mut extent)?;
/// }
/// assert_eq!((file.extents(), extent.len()), (1, 1808));
/// # }
/// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
/// ```
pub trait Schema: Steps {}

impl<T: Steps> Schema for T {}

/// The operations of a schema that a writer uses.
pub trait Steps {
    /// The packing steps that it can need.
    const USES: Uses;

    /// The name of the type.
    fn name(&self) -> &str;
    /// Its options.
    fn options(&self) -> Options;
    /// Where the groups of a record lie.
    fn layout(&self) -> Layout;
    /// Its fields.
    fn fields(&self) -> &[FieldRecord];
    /// Packs complete records, except for null compaction (sections 8.1 to 8.4).
    fn pack<E: Endian>(&self, records: &mut [u8]);
    /// Removes the null cells of packed records (section 8.6), in place. Returns the number of bytes that remain,
    /// at the start of `records`.
    fn compact(&self, records: &mut [u8]) -> usize;

    /// Returns whether null compaction is used.
    fn compacts(&self) -> bool {
        Self::USES.compact && self.options().compact
    }

    /// Checks that extents of the type can be written.
    ///
    /// # Errors
    /// See [`ExtentBuffer::new`](super::ExtentBuffer::new).
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
        pack::<E, _>(self.records(), self.layout.record_len(), self.options.compact, records);
    }

    fn compact(&self, records: &mut [u8]) -> usize {
        compact(self.records(), self.layout, records)
    }
}

/// A row whose type is known at compile time. [`record!`](crate::dataseries::record) implements it.
pub trait Record {
    /// The row type with the lifetime `'static`: one type for rows that borrow for different lifetimes.
    type Static: Record;

    /// The name of the type.
    const NAME: &'static str;
    /// Its namespace; empty if none was declared.
    const NAMESPACE: &'static str;
    /// Major and minor version; 0.0 if none was declared.
    const VERSION: (i32, i32);
    /// Its description, an XML text.
    const XML: &'static str;
    /// The size in bytes of a record. An extent of 100 rows needs a hundred times as much memory, and
    /// [`entry_len`](crate::dataseries::entry_len) more for each string.
    ///
    /// ```
    /// use pilaster::bytes::LittleEndian;
    /// use pilaster::dataseries::record;
    /// use pilaster::dataseries::write::{ExtentBuffer, Memory, Record};
    ///
    /// record! {
    ///     struct Tick = "Tick" { time: int64 relative, level: int32 }
    /// }
    ///
    /// let mut rows = [0; 100 * Tick::RECORD_LEN];
    /// let extent = ExtentBuffer::<LittleEndian, _>::of::<Tick>(Memory::rows(&mut rows))?;
    /// assert_eq!(extent.room(), 100);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    const RECORD_LEN: usize = Self::LAYOUT.record_len() as usize;
    /// The names of its fields, concatenated.
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
    /// The packing steps that it needs.
    #[doc(hidden)]
    const USES: Uses;

    /// Stores the row into a record, which can have any contents.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the pool is full.
    #[doc(hidden)]
    fn store<E: Endian>(&self, record: &mut [u8], pool: &mut Pool<'_>) -> Result<()>;

    /// Packs complete records, except for null compaction (sections 8.1 to 8.4).
    #[doc(hidden)]
    fn pack<E: Endian>(records: &mut [u8]);

    /// Removes the null cells of packed records, in place. Returns the number of bytes that remain, at the start
    /// of `records`.
    #[doc(hidden)]
    fn compact(records: &mut [u8]) -> usize;
}

/// The schema of a [`Record`].
///
/// ```
/// use pilaster::bytes::LittleEndian;
/// use pilaster::dataseries::record;
/// use pilaster::dataseries::write::{ExtentBuffer, Memory, Of};
///
/// record! {
///     struct Tick = "Tick" { time: int64 relative }
/// }
///
/// /// The state of a device.
/// struct Device<'m> {
///     ticks: ExtentBuffer<'m, LittleEndian, Of<Tick>>,
/// }
///
/// let mut memory = [0; 64];
/// let mut device = Device { ticks: ExtentBuffer::of::<Tick>(Memory::rows(&mut memory))? };
/// device.ticks.push(&Tick { time: 1000 })?;
/// assert_eq!((device.ticks.len(), device.ticks.room()), (1, 7));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Of<R>(PhantomData<fn() -> R>);

impl<R> Of<R> {
    /// Creates the schema. The value is empty; all information is in the type.
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
