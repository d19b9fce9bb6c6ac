//! A choice of the columns of a table, with their names, and how their types are changed.

use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Part, Prim, Type, Unit, Validity, Values};
use pilaster::error::{Error, Kind, What};

use crate::args::Wanted;
use crate::failure::{Failure, warn};
use crate::lost;

/// Rules for unreadable columns and for names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules<'i> {
    /// The input, for warnings.
    pub path: &'i str,
    /// Leaves out an unreadable column, with a warning.
    pub tolerant: bool,
    /// Makes names unique.
    pub unique: bool,
}

/// Types that are read as others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retyped {
    /// Dates and times are the stored integers.
    pub stored_times: bool,
    /// Bytes are text. The writer of the target checks that they are UTF-8, as with any text.
    pub bytes_as_text: bool,
    /// Timestamps in days are dates, of 32 bits.
    pub days_as_dates: bool,
}

impl Retyped {
    const fn of(self, ty: Type) -> Type {
        match ty {
            Type::Date(Unit::Day) | Type::Time(Unit::Second | Unit::Milli) if self.stored_times => {
                Type::Prim(Prim::I32)
            }
            Type::Date(_) | Type::Time(_) | Type::Timestamp(_) if self.stored_times => Type::Prim(Prim::I64),
            Type::Timestamp(Unit::Day) if self.days_as_dates => Type::Date(Unit::Day),
            Type::Bytes | Type::FixedBytes(_) | Type::Opaque if self.bytes_as_text => Type::Utf8,
            ty => ty,
        }
    }
}

/// A choice of columns.
#[derive(Debug, Default)]
pub struct Columns {
    pub numbers: Vec<usize>,
    pub names: Vec<String>,
    pub retyped: Retyped,
    /// The lost rows of each column, ascending; no list for a column without lost rows at the end.
    pub lost: Vec<Vec<Range<u64>>>,
}

impl Columns {
    /// Returns all columns of `part` that the rules allow.
    pub fn all<P: Part>(part: &P, rules: Rules<'_>) -> Result<Self> {
        let mut all = Columns::default();
        for k in 0..part.width() {
            let readable = if rules.tolerant { part.column(k).map(|_| ()) } else { Ok(()) };
            match readable {
                Ok(()) => {
                    all.numbers.push(k);
                    all.names.push(part.name(k)?.to_owned());
                }
                Err(e) => {
                    let name = part.name(k).unwrap_or_default();
                    warn(&format!("{}: column {k} {name:?}: {e}", rules.path));
                }
            }
        }
        if rules.unique {
            all.make_unique();
        }
        Ok(all)
    }

    /// Returns the first columns, with these names.
    pub fn numbered(names: impl Iterator<Item = String>) -> Self {
        let names: Vec<String> = names.collect();
        Columns { numbers: (0..names.len()).collect(), names, ..Columns::default() }
    }

    /// Makes names unique, as the reader of datatable does: an empty name becomes `C0`, `C1`, .., a control character
    /// becomes a dot, and a repeated name gets a number.
    pub fn make_unique(&mut self) {
        let mut known = HashSet::new();
        for (k, name) in self.numbers.iter().zip(&mut self.names) {
            let legal = name.replace(|c: char| c < ' ', ".");
            let base = if legal.is_empty() { format!("C{k}") } else { legal };
            name.clone_from(&base);
            let mut number = 0u64;
            while !known.insert(name.clone()) {
                *name = format!("{base}.{number}");
                number = number.saturating_add(1);
            }
        }
    }

    /// Makes names unique for the report of `recover`, and prints a line for each that changes.
    pub fn rename_doubles(&mut self, out: &mut dyn Write) -> std::result::Result<(), Failure> {
        let before = self.names.clone();
        self.make_unique();
        for (before, name) in before.iter().zip(&self.names).filter(|(before, name)| before != name) {
            writeln!(out, "renamed: column {before:?} is {name:?}")?;
        }
        Ok(())
    }

    /// Returns the wanted columns.
    pub fn pick(mut self, wanted: &Wanted) -> std::result::Result<Self, Failure> {
        let Wanted { columns: Some(wanted), .. } = wanted else {
            let except = &wanted.except;
            except.iter().try_for_each(|name| self.find(name).map(drop))?;
            let left = self.numbers.iter().zip(&self.names).filter(|(_, name)| !except.contains(name));
            (self.numbers, self.names) = left.map(|(k, name)| (*k, name.clone())).unzip();
            return Ok(self);
        };
        let numbers = wanted.iter().map(|name| self.find(name)).collect::<std::result::Result<_, _>>()?;
        Ok(Columns { numbers, names: wanted.to_vec(), ..self })
    }

    /// Returns the number of the column called `name`.
    pub fn find(&self, name: &str) -> std::result::Result<usize, Failure> {
        let place = self.names.iter().position(|known| known == name);
        let found = place.and_then(|place| self.numbers.get(place).copied());
        let all = || self.names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let unknown = || Failure::Usage(format!("there is no column {name:?}; there are {}", all()));
        found.ok_or_else(unknown)
    }

    /// Sets the name of the only column of a table, if it is empty.
    pub fn name_the_unnamed(&mut self, name: &str) {
        if let [only] = &mut self.names[..]
            && only.is_empty()
        {
            name.clone_into(only);
        }
    }

    /// Returns a view of `part` with the chosen columns.
    pub const fn of<P>(&self, part: P) -> Seen<'_, P> {
        Seen { part, columns: self, before: 0 }
    }
}

#[derive(Clone, Copy)]
pub struct Seen<'c, P> {
    part: P,
    columns: &'c Columns,
    before: u64,
}

impl<P> Seen<'_, P> {
    /// Returns the part as one after `rows` rows of other parts.
    pub fn after(self, rows: u64) -> Self {
        Seen { before: rows, ..self }
    }

    /// Returns the number of rows of the table before the part.
    pub const fn before(&self) -> u64 {
        self.before
    }

    /// Returns the part with all of its columns.
    pub const fn all(&self) -> &P {
        &self.part
    }
}

impl<'c, P: Part> Part for Seen<'c, P> {
    type Col = Stored<'c, P::Col>;

    fn rows(&self) -> u64 {
        self.part.rows()
    }

    fn width(&self) -> usize {
        self.columns.numbers.len()
    }

    fn name(&self, k: usize) -> Result<&str> {
        self.columns.names.get(k).map(String::as_str).ok_or_else(|| no_column(k, self.columns))
    }

    fn column(&self, k: usize) -> Result<Self::Col> {
        let number = self.columns.numbers.get(k).ok_or_else(|| no_column(k, self.columns))?;
        let lost = self.columns.lost.get(k).map_or(&[][..], Vec::as_slice);
        Ok(Stored { lost, ..Stored::new(self.part.column(*number)?, self.columns.retyped) })
    }
}

fn no_column(k: usize, columns: &Columns) -> Error {
    Error::needing(Kind::OutOfRange, What::COLUMN, k as u64, columns.numbers.len() as u64)
}

/// Returns days as dates of 32 bits. `first`: the row of the first one.
fn dates<'s>(days: &[i64], validity: &Validity<'_>, first: u64, scratch: &mut Scratch<'s>) -> Result<&'s [i32]> {
    let dates = scratch.take::<i32>(days.len())?;
    for (i, (date, day)) in dates.iter_mut().zip(days).enumerate() {
        *date = match i32::try_from(*day) {
            Ok(date) => date,
            Err(_) if !validity.get(i) => 0,
            Err(_) => return Err(Error::new(Kind::Lossy, What::COLUMN, first.saturating_add(i as u64))),
        };
    }
    Ok(dates)
}

/// A column whose types may be read as others, and whose lost rows are missing.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'c, C> {
    column: C,
    /// The type of the values. It is asked for with every value, and a column may derive it from metadata.
    ty: Type,
    retyped: Retyped,
    lost: &'c [Range<u64>],
}

impl<C: Column> Stored<'_, C> {
    /// Returns `column` with the types of `retyped`.
    pub fn new(column: C, retyped: Retyped) -> Self {
        Stored { ty: retyped.of(column.ty()), column, retyped, lost: &[] }
    }

    /// Returns whether values are days in 64 bits that become dates.
    fn is_narrowed(&self) -> bool {
        self.ty == Type::Date(Unit::Day) && matches!(self.column.ty(), Type::Timestamp(_))
    }
}

impl<C: Column> Column for Stored<'_, C> {
    fn ty(&self) -> Type {
        self.ty
    }

    fn nullable(&self) -> bool {
        self.column.nullable() || !self.lost.is_empty()
    }

    fn rows(&self) -> u64 {
        self.column.rows()
    }

    fn zone(&self) -> Result<Option<&str>> {
        if matches!(self.ty, Type::Timestamp(_)) { self.column.zone() } else { Ok(None) }
    }

    fn is_variant(&self) -> bool {
        self.column.is_variant()
    }

    fn child(&self, k: usize) -> Result<Self> {
        // No list of a missing row is followed.
        Ok(Stored::new(self.column.child(k)?, self.retyped))
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        self.column.child_name(k)
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        match lost::split(self.lost, rows.clone()) {
            (lost, true) => Ok(lost::need(&lost)),
            (rows, false) => {
                // Days are copied to numbers of 32 bits.
                let len = if self.is_narrowed() { rows.end.saturating_sub(rows.start) } else { 0 };
                Ok(self.column.need(rows)?.saturating_add(len.saturating_mul(4)).saturating_add(8))
            }
        }
    }

    fn known_validity(&self, row: u64) -> Result<Option<(bool, u64)>> {
        if self.lost.is_empty() { self.column.known_validity(row) } else { Ok(None) }
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let (rows, is_lost) = lost::split(self.lost, rows);
        if is_lost {
            let len = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
            let values = lost::values(self.ty(), len, scratch)?;
            return Ok(Batch { first: rows.start, len, values, validity: Validity::None, of: *self });
        }
        let Batch { first, len, values, validity, of } = self.column.read(rows, scratch)?;
        let values = match (self.ty, values) {
            (Type::Utf8, Values::Bytes(strings)) => Values::Utf8(strings),
            (Type::Date(Unit::Day), Values::I64(days)) => Values::I32(dates(days, &validity, first, scratch)?),
            (_, values) => values,
        };
        Ok(Batch { first, len, values, validity, of: Stored { column: of, ..*self } })
    }
}
