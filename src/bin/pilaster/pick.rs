//! Some columns of a table, and dates and times as the integers that they are stored as.

use std::ops::Range;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Part, Prim, Table, Type, Unit};
use pilaster::error::{Error, Kind, What};

use crate::Failure;

/// A table seen through a choice of its columns.
pub struct Picked<T> {
    table: T,
    columns: Vec<usize>,
    stored_times: bool,
    unnamed: &'static str,
}

impl<T: Table> Picked<T> {
    /// The `columns` of `table`, in this order; all of them. Parts take `room` bytes.
    pub fn new(
        mut table: T,
        columns: Option<&[String]>,
        stored_times: bool,
        room: usize,
    ) -> std::result::Result<Self, Failure> {
        let mut memory = vec![0; room];
        let mut picked = Vec::new();
        table.restart()?;
        if let Some(part) = table.next_part(&mut Scratch::new(&mut memory))? {
            let names = (0..part.width()).map(|k| part.name(k)).collect::<Result<Vec<_>>>()?;
            let find = |wanted: &String| {
                let unknown =
                    || Failure::Usage(format!("there is no column {wanted:?}; there are {}", names.join(", ")));
                names.iter().position(|name| name == wanted).ok_or_else(unknown)
            };
            picked = match columns {
                Some(columns) => columns.iter().map(find).collect::<std::result::Result<_, _>>()?,
                None => (0..part.width()).collect(),
            };
        }
        Ok(Picked { table, columns: picked, stored_times, unnamed: "" })
    }

    /// What a column without a name is called.
    pub fn unnamed(self, unnamed: &'static str) -> Self {
        Picked { unnamed, ..self }
    }

    /// How many columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }
}

impl<T: Table> Table for Picked<T> {
    type Part<'p>
        = PickedPart<'p, T::Part<'p>>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, outer: &mut Scratch<'p>) -> Result<Option<Self::Part<'p>>>
    where
        Self: 'p,
    {
        let Some(part) = self.table.next_part(outer)? else { return Ok(None) };
        // The choice is small, and must live as long as the part.
        let columns = outer.take::<usize>(self.columns.len())?;
        columns.copy_from_slice(&self.columns);
        Ok(Some(PickedPart { part, columns, stored_times: self.stored_times, unnamed: self.unnamed }))
    }

    fn restart(&mut self) -> Result<()> {
        self.table.restart()
    }
}

pub struct PickedPart<'c, P> {
    part: P,
    columns: &'c [usize],
    stored_times: bool,
    unnamed: &'static str,
}

impl<P: Copy> Clone for PickedPart<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Copy> Copy for PickedPart<'_, P> {}

impl<P> PickedPart<'_, P> {
    fn of(&self, k: usize) -> Result<usize> {
        let none = || Error::needing(Kind::OutOfRange, What::Column, k as u64, self.columns.len() as u64);
        self.columns.get(k).copied().ok_or_else(none)
    }
}

impl<P: Part> Part for PickedPart<'_, P> {
    type Col = Seen<P::Col>;

    fn rows(&self) -> u64 {
        self.part.rows()
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    /// The one column of a file without tables gets a name.
    fn name(&self, k: usize) -> Result<&str> {
        let name = self.part.name(self.of(k)?)?;
        Ok(if name.is_empty() && self.part.width() == 1 { self.unnamed } else { name })
    }

    fn column(&self, k: usize) -> Result<Self::Col> {
        Ok(Seen { column: self.part.column(self.of(k)?)?, stored_times: self.stored_times })
    }
}

/// A column whose dates and times may be plain integers.
#[derive(Clone, Copy, Debug)]
pub struct Seen<C> {
    column: C,
    stored_times: bool,
}

impl<C: Column> Column for Seen<C> {
    fn ty(&self) -> Type {
        match self.column.ty() {
            Type::Date(Unit::Day) | Type::Time(Unit::Second | Unit::Milli) if self.stored_times => {
                Type::Prim(Prim::I32)
            }
            Type::Date(_) | Type::Time(_) | Type::Timestamp(_) if self.stored_times => Type::Prim(Prim::I64),
            ty => ty,
        }
    }

    fn nullable(&self) -> bool {
        self.column.nullable()
    }

    fn rows(&self) -> u64 {
        self.column.rows()
    }

    fn zone(&self) -> Result<Option<&str>> {
        if self.stored_times { Ok(None) } else { self.column.zone() }
    }

    fn child(&self, k: usize) -> Result<Self> {
        Ok(Seen { column: self.column.child(k)?, ..*self })
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        self.column.child_name(k)
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        self.column.need(rows)
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let Batch { first, len, values, validity, of } = self.column.read(rows, scratch)?;
        Ok(Batch { first, len, values, validity, of: Seen { column: of, ..*self } })
    }
}
