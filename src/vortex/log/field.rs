//! Columns of a log: names, types, and the encodings that rows of them may get.

use core::marker::PhantomData;

use super::fixed::Part;
use super::form::Form;
use super::put::Flat;
use super::record::Record;
use crate::bytes::len32;
use crate::column::{Prim, Unit};
use crate::error::{Error, Kind, Result, What};
use crate::vortex::raw::Calendar;
use crate::vortex::time_zone;

/// The type of a column of a log.
///
/// [`Fields`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FieldType<'f> {
    /// Booleans.
    Bool,
    /// Integers, or floats of 32 or 64 bits.
    Prim(Prim),
    /// UTF-8 text.
    Utf8,
    /// Byte strings.
    Binary,
    /// Dates, in days (32 bits) or milliseconds (64 bits).
    Date(Unit),
    /// Times of day, in seconds or milliseconds (32 bits), or in smaller units (64 bits).
    Time(Unit),
    /// Points in time since 1970-01-01T00:00Z, and a time zone; an empty name is no zone.
    ///
    /// A zone is a name of the IANA time zone database, such as `UTC`, `Europe/Berlin`, `CET` or `Etc/GMT+5`, or an offset such
    /// as `+01:00`, `-0530` or `+01`, below 26 hours. What certainly is no name is refused: a part that is empty or does not begin with a
    /// letter, a space or another sign than `_`, `+` and `-`, a single letter such as `Z`, `local`, and an offset after a
    /// name, such as `UTC+1`. The name is not looked up: if the database of a reader lacks it, the original program refuses the
    /// whole file. Release 0.36 of the original does not convert columns with a zone to Arrow.
    Timestamp(Unit, &'f str),
}

/// A column of a log.
///
/// [`Fields`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Field<'f> {
    /// The name.
    pub name: &'f str,
    /// The type of the values.
    pub ty: FieldType<'f>,
    /// Whether values may be missing.
    pub nullable: bool,
}

impl<'f> Field<'f> {
    /// Creates a column in which every row has a value.
    #[must_use]
    pub const fn new(name: &'f str, ty: FieldType<'f>) -> Self {
        Field { name, ty, nullable: false }
    }

    /// Returns the column with values that may be missing.
    #[must_use]
    pub const fn nullable(self) -> Self {
        Field { nullable: true, ..self }
    }

    /// Returns the number type of the stored values; `None` for booleans and texts.
    pub(super) const fn prim(&self) -> Option<Prim> {
        match self.ty {
            FieldType::Bool | FieldType::Utf8 | FieldType::Binary => None,
            FieldType::Prim(prim) => Some(prim),
            FieldType::Date(Unit::Day) | FieldType::Time(Unit::Second | Unit::Milli) => Some(Prim::I32),
            FieldType::Date(_) | FieldType::Time(_) | FieldType::Timestamp(..) => Some(Prim::I64),
        }
    }

    /// Returns the id of the extension type with its unit and zone.
    pub(super) const fn extension(&self) -> Option<(&'static str, Unit, Option<&'f str>)> {
        match self.ty {
            FieldType::Date(unit) => Some((Calendar::Date.id(), unit, None)),
            FieldType::Time(unit) => Some((Calendar::Time.id(), unit, None)),
            FieldType::Timestamp(unit, zone) => Some((Calendar::Timestamp.id(), unit, Some(zone))),
            _ => None,
        }
    }

    /// Returns the number of bits that a row takes in memory.
    pub(super) const fn bits(&self) -> usize {
        let value = match (self.ty, self.prim()) {
            (FieldType::Bool, _) => 1,
            (_, Some(prim)) => prim.size().wrapping_mul(8),
            // Where the text begins.
            (_, None) => 32,
        };
        value.wrapping_add(self.nullable as usize)
    }

    /// Returns whether the format has the type.
    const fn is_valid(&self) -> bool {
        match self.ty {
            FieldType::Prim(Prim::F16) => false,
            FieldType::Date(unit) => matches!(unit, Unit::Day | Unit::Milli),
            FieldType::Time(unit) | FieldType::Timestamp(unit, _) => {
                matches!(unit, Unit::Second | Unit::Milli | Unit::Micro | Unit::Nano)
            }
            _ => true,
        }
    }

    /// Returns whether the time zone may be known to readers, if there is one.
    const fn has_zone(&self) -> bool {
        match self.ty {
            FieldType::Timestamp(_, name) => time_zone::is_zone(name.as_bytes()),
            _ => true,
        }
    }
}

/// The encodings of a log, numbered as in its footer if all are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Primitive,
    Constant,
    Bool,
    BitPacked,
    For,
    VarBin,
    Ext,
    Alp,
}

/// The encodings that rows of some columns may get. Code of other encodings is not linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Uses(u16);

/// Bits for columns of floats, whose code is linked for their width only.
const SINGLES: u16 = 1 << 8;
const DOUBLES: u16 = 1 << 9;

impl Uses {
    /// All encodings, for columns that are known only at run time.
    pub const ALL: Uses = Uses(u16::MAX);

    /// Returns the encodings of these columns.
    ///
    /// ```
    /// use pilaster::vortex::log::{Field, FieldType, Uses};
    ///
    /// const USES: Uses = Uses::of(&[Field::new("on", FieldType::Bool)]);
    /// assert_ne!(USES, Uses::ALL);
    /// ```
    #[must_use]
    pub const fn of(fields: &[Field<'_>]) -> Self {
        let (mut set, mut rest) = (Uses(0).with(Id::Primitive).with(Id::Constant), fields);
        while let [field, others @ ..] = rest {
            set = match (field.ty, field.prim()) {
                (FieldType::Bool, _) => set.with(Id::Bool),
                (_, Some(Prim::F32)) => Uses(set.0 | SINGLES).with(Id::Alp).with(Id::For).with(Id::BitPacked),
                (_, Some(Prim::F64)) => Uses(set.0 | DOUBLES).with(Id::Alp).with(Id::For).with(Id::BitPacked),
                (_, Some(_)) => set.with(Id::For).with(Id::BitPacked),
                (_, None) => set.with(Id::VarBin),
            };
            if field.nullable {
                set = set.with(Id::Bool);
            }
            if field.extension().is_some() {
                set = set.with(Id::Ext);
            }
            rest = others;
        }
        set
    }

    const fn with(self, id: Id) -> Self {
        Uses(self.0 | 1 << id as u8)
    }

    /// Returns whether a column has floats of 32 bits.
    #[inline(always)]
    pub(super) const fn singles(self) -> bool {
        self.0 & SINGLES != 0
    }

    /// Returns whether a column has floats of 64 bits.
    #[inline(always)]
    pub(super) const fn doubles(self) -> bool {
        self.0 & DOUBLES != 0
    }

    /// Returns whether an encoding may be used.
    #[inline(always)]
    pub(super) const fn has(self, id: Id) -> bool {
        self.0 >> id as u8 & 1 != 0
    }

    /// Returns the number of an encoding in a footer that lists this set: the number of those before it.
    // Small targets have no instruction that counts ones.
    #[inline(always)]
    pub(super) const fn number(self, id: Id) -> u32 {
        let (mut number, mut before) = (0u32, 0);
        while before < id as u8 {
            number = number.wrapping_add((self.0 >> before & 1) as u32);
            before = before.wrapping_add(1);
        }
        number
    }

    /// Returns the number of encodings.
    pub(super) const fn count(self) -> u32 {
        (self.0 & 0xff).count_ones()
    }

    /// Returns a bit for each id in the footer: the encodings, then three layouts.
    pub(super) const fn listed(self) -> u16 {
        self.0 & 0xff | 7 << 8
    }
}

/// The columns of a log: the columns of a [`Record`], or a list that is known at run time.
///
/// [`Fields`] has an example.
pub trait Schema: Columns {
    /// The encodings whose code is linked: all that the columns use, at least.
    const USES: Uses;

    /// Returns the columns.
    fn fields(&self) -> &[Field<'_>];
}

/// What the code of a log asks of the columns.
pub trait Columns {
    /// Returns the number of columns.
    fn count(&self) -> usize;

    /// Returns the properties of a column, or `None` after the last one.
    fn form(&self, column: usize) -> Option<Form>;

    /// Returns the encodings that a footer lists.
    fn listed(&self) -> Uses;

    /// Returns the size in bytes of a part of a checkpoint.
    fn part_len(&self, part: Part) -> u32;

    /// Puts a part of a checkpoint.
    fn put_part(&self, part: Part, to: &mut Flat<'_>);
}

/// The columns of a [`Record`].
///
/// [`record!`](crate::vortex::record) has an example.
#[derive(Debug)]
pub struct Of<R>(PhantomData<R>);

impl<R> Of<R> {
    /// The columns of `R`.
    #[allow(clippy::new_without_default, reason = "a constant is enough")]
    #[must_use]
    pub const fn new() -> Self {
        Of(PhantomData)
    }
}

impl<R> Clone for Of<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Of<R> {}

impl<R: Record> Schema for Of<R> {
    const USES: Uses = R::USES;

    fn fields(&self) -> &[Field<'_>] {
        R::FIELDS
    }
}

impl<R: Record> Columns for Of<R> {
    fn count(&self) -> usize {
        R::CONSTANTS.forms.len()
    }

    fn form(&self, column: usize) -> Option<Form> {
        R::CONSTANTS.forms.get(column).copied()
    }

    fn listed(&self) -> Uses {
        R::USES
    }

    fn part_len(&self, part: Part) -> u32 {
        len32(R::CONSTANTS.part(part).len())
    }

    fn put_part(&self, part: Part, to: &mut Flat<'_>) {
        to.bytes(R::CONSTANTS.part(part));
    }
}

/// Constants of the columns of a record.
#[derive(Clone, Copy, Debug)]
pub struct Constants {
    /// The properties of each column.
    pub forms: &'static [Form],
    /// [`Part::Dtype`].
    pub dtype: &'static [u8],
    /// [`Part::Ids`].
    pub ids: &'static [u8],
}

impl Constants {
    const fn part(&self, part: Part) -> &'static [u8] {
        match part {
            Part::Dtype => self.dtype,
            Part::Ids => self.ids,
        }
    }
}

/// Columns that are known at run time.
///
/// ```
/// use pilaster::column::Prim;
/// use pilaster::vortex::File;
/// use pilaster::vortex::log::{Cell, Field, FieldType, Fields, Log, Policy, memory_len};
///
/// # #[cfg(feature = "alloc")] {
/// let fields = [Field::new("x", FieldType::Prim(Prim::I32)), Field::new("name", FieldType::Utf8).nullable()];
/// let (mut memory, mut groups) = (vec![0; memory_len(&fields, 1024, 100)], [0; 50]);
/// let mut log = Log::new(Vec::new(), Fields::new(&fields)?, (&mut memory, 1024), &mut groups, Policy::ByHand)?;
/// log.push_cells(&[Cell::of(7i32), Cell::of("seven")])?;
/// log.push_cells(&[Cell::of(8i32), Cell::Null])?;
/// let file = log.finish()?;
/// assert_eq!(File::open(&file)?.dtype().to_string(), "{x=i32, name=utf8?}");
/// # }
/// # Ok::<(), pilaster::bytes::WriteError<core::convert::Infallible>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fields<'f>(&'f [Field<'f>]);

impl<'f> Fields<'f> {
    /// Checks the columns.
    ///
    /// ```
    /// use pilaster::column::Prim;
    /// use pilaster::vortex::log::{Field, FieldType, Fields};
    ///
    /// let fields = ["a", "b", "a"].map(|name| Field::new(name, FieldType::Prim(Prim::U8)));
    /// let e = Fields::new(&fields).map(drop).unwrap_err();
    /// assert_eq!((e.at(), e.need()), (2, 0));
    /// assert_eq!(e.to_string(), "columns 0 and 2 of a vortex log have the same name");
    /// ```
    ///
    /// # Errors
    /// [`Kind::Invalid`] in `What::VORTEX_FIELD`. If the format does not have the type of a column, such as a date in hours, or
    /// its time zone is not valid, `at` and `need` are the index of the column. If two columns have the same name, `at` is the
    /// index of the second one and `need` of the first one: readers find columns by their names. Without columns, `at` is 0
    /// and `need` is 1.
    pub fn new(fields: &'f [Field<'f>]) -> Result<Self> {
        let bad = |at: usize, need: usize| Error::needing(Kind::Invalid, What::VORTEX_FIELD, at as u64, need as u64);
        if fields.is_empty() {
            return Err(bad(0, 1));
        }
        for (at, field) in fields.iter().enumerate() {
            let same = fields.iter().take(at).position(|other| other.name == field.name);
            if !field.is_valid() || !field.has_zone() {
                return Err(bad(at, at));
            }
            if let Some(first) = same {
                return Err(bad(at, first));
            }
        }
        Ok(Fields(fields))
    }
}

/// Returns the number of a unit in the metadata of calendar types.
pub(super) const fn unit_number(unit: Unit) -> u8 {
    match unit {
        Unit::Nano => 0,
        Unit::Micro => 1,
        Unit::Milli => 2,
        Unit::Second => 3,
        _ => 4,
    }
}

impl Schema for Fields<'_> {
    const USES: Uses = Uses::ALL;

    fn fields(&self) -> &[Field<'_>] {
        self.0
    }
}

impl Columns for Fields<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn form(&self, column: usize) -> Option<Form> {
        self.0.get(column).map(Form::of)
    }

    fn listed(&self) -> Uses {
        Uses::of(self.0)
    }

    fn part_len(&self, part: Part) -> u32 {
        len32(part.len(self.0))
    }

    fn put_part(&self, part: Part, to: &mut Flat<'_>) {
        part.put(self.0, to);
    }
}

/// Returns the name of a column from an identifier, which begins with `r#` if it is a keyword.
#[must_use]
pub const fn name(identifier: &str) -> &str {
    match identifier.as_bytes() {
        [b'r', b'#', ..] => identifier.split_at(2).1,
        _ => identifier,
    }
}

/// Checks the columns of a record at compile time.
#[doc(hidden)]
pub const fn checked(fields: &'static [Field<'static>]) -> &'static [Field<'static>] {
    let mut rest = fields;
    while let [field, others @ ..] = rest {
        assert!(field.is_valid(), "the format has no such type");
        assert!(field.has_zone(), "no time zone: a name such as UTC or Europe/Berlin, or an offset such as +01:00");
        rest = others;
    }
    fields
}

/// Returns the properties of the columns of a record.
#[doc(hidden)]
pub const fn forms<const N: usize>(fields: &[Field<'_>]) -> [Form; N] {
    let (mut forms, mut rest) = ([Form::of(&Field::new("", FieldType::Bool)); N], fields);
    let mut left: &mut [Form] = &mut forms;
    while let ([field, fields @ ..], [form, forms @ ..]) = (rest, left) {
        *form = Form::of(field);
        (rest, left) = (fields, forms);
    }
    forms
}
