//! A table cut into pieces: rows that one thread reads while others read other pieces. The cuts do not depend on the number
//! of threads.

use std::ops::Range;

use pilaster::any::{File, Table};
use pilaster::bytes::Scratch;
use pilaster::column::{Part as _, Table as _};
use pilaster::dataseries::AnyTable;

use crate::failure::Failure;
use crate::filter::Filter;
use crate::open;
use crate::sieve::none_of;

/// Consecutive rows of a table.
#[derive(Clone, Debug)]
pub struct Piece<'f> {
    /// The rows. The last piece may end after the table.
    pub rows: Range<u64>,
    /// Number of rows before the part with the first of the rows.
    first: u64,
    /// A DataSeries table at that part.
    at: Option<AnyTable<'f>>,
}

impl<'f> Piece<'f> {
    /// Returns the table called `name` of `file` at the part with the first row of the piece, and the number of rows
    /// before that part.
    pub fn table(&self, file: &'f File<'f>, name: Option<&str>) -> pilaster::Result<(Table<'f>, u64)> {
        if let Some(table) = &self.at {
            return Ok((Table::DataSeries(table.clone()), self.first));
        }
        let mut table = file.table(name)?;
        let first = table.skip(self.first)?;
        Ok((table, first))
    }
}

impl Piece<'_> {
    /// Returns whether the statistics of `file` rule out that a row of the piece meets the condition, which says whether
    /// statistics that nothing checks may do so. They are read through the input of `file`, which keeps them: a window
    /// would read them, and what describes the file, for this piece alone.
    pub fn is_ruled_out(&self, file: &File<'_>, (filter, trust): (&Filter, bool)) -> bool {
        if !matches!(file, File::Jay(_) | File::Vortex(_)) {
            return false;
        }
        let ruled_out = || -> pilaster::Result<bool> {
            let mut table = file.table(None)?;
            let Some(part) = table.next_part(&mut Scratch::new(&mut []))? else { return Ok(false) };
            none_of(&part, filter, trust, &(self.rows.start..self.rows.end.min(part.rows())))
        };
        // An error is met again where the rows are read.
        ruled_out().unwrap_or(false)
    }
}

/// The pieces of a table, in order.
pub struct Pieces<'f> {
    table: Table<'f>,
    /// The rows that are not in a piece yet.
    rows: Range<u64>,
    /// Number of rows before the next part of the table, or before the next piece of the only part.
    first: u64,
    step: u64,
    rest: Rest,
}

/// How the rest of a table is cut.
#[derive(Clone, Copy)]
enum Rest {
    /// Between parts.
    Parts,
    /// Between any rows of the only part, which has this number of rows.
    Rows(u64),
    /// Not at all.
    Whole,
    /// Nothing is left.
    Nothing,
}

/// Number of values in a piece.
const VALUES: u64 = 1 << 18;

/// Number of values in a piece of a Vortex file if few of the rows may meet a condition. A chunk of a column that is in two
/// pieces is read twice, and such chunks are then most of what is read.
const SOME_VALUES: u64 = 1 << 20;

/// The number of rows of a piece is a multiple of this, as the number of rows of a zone of most Vortex files.
const ROWS: u64 = 1 << 13;

impl<'f> Pieces<'f> {
    /// Cuts `rows` of the table called `name` into pieces of a few rows.
    pub fn new(file: &'f File<'f>, name: Option<&str>, rows: Range<u64>) -> Result<Self, Failure> {
        let mut table = open::table(file, name)?;
        let rest = match &table {
            Table::Filo(_) | Table::Bcolz(_) => Rest::Whole,
            Table::DataSeries(_) | Table::Dataset(_) => Rest::Parts,
            Table::Jay(_) | Table::Vortex(_) => Rest::Rows(count(file, name)?),
        };
        let first = match rest {
            Rest::Parts => table.skip(rows.start)?,
            _ => rows.start,
        };
        Ok(Pieces { table, rows, first, step: ROWS, rest })
    }

    /// Makes the next pieces as large as is good for a table of which `width` columns are read. `some`: few of the rows may
    /// meet a condition.
    pub fn widen(&mut self, width: usize, some: bool) {
        let values = if some && matches!(self.table, Table::Vortex(_)) { SOME_VALUES } else { VALUES };
        self.step = values.checked_div(width as u64).unwrap_or(values).max(1).next_multiple_of(ROWS);
    }

    /// Makes the next pieces `rows` rows long, or longer where parts are longer.
    pub const fn set_step(&mut self, rows: u64) {
        self.step = rows;
    }

    /// Returns whether no piece follows.
    pub const fn ended(&self) -> bool {
        matches!(self.rest, Rest::Nothing)
    }

    /// Moves the table by some of its parts. Returns the number of their rows, or `None` if the rest is one piece.
    fn skip(&mut self) -> Option<u64> {
        match self.rest {
            Rest::Whole | Rest::Nothing => return None,
            Rest::Rows(all) => return Some(self.step).filter(|step| self.first.saturating_add(*step) < all),
            Rest::Parts => {}
        }
        let mut step = self.step;
        loop {
            // An error is met again where the rest is read, after the rows before it.
            match self.table.skip(step).ok()? {
                0 if step == u64::MAX => return None,
                0 => step = step.saturating_mul(2),
                skipped => return Some(skipped),
            }
        }
    }
}

impl<'f> Iterator for Pieces<'f> {
    type Item = Piece<'f>;

    fn next(&mut self) -> Option<Piece<'f>> {
        if self.ended() {
            return None;
        }
        let at = match &self.table {
            Table::DataSeries(table) => Some(table.clone()),
            _ => None,
        };
        let (first, Range { start, end }) = (self.first, self.rows.clone());
        let next = self.skip().map(|skipped| first.saturating_add(skipped)).filter(|next| *next < end);
        if next.is_none() {
            self.rest = Rest::Nothing;
        }
        self.first = next.unwrap_or(end);
        self.rows.start = self.first;
        Some(Piece { rows: start..self.first, first, at })
    }
}

/// Returns the number of rows of the table called `name`; 0 if it is known only after unpacking.
pub fn count(file: &File<'_>, name: Option<&str>) -> Result<u64, Failure> {
    let mut table = open::table(file, name)?;
    Ok(match &mut table {
        Table::DataSeries(_) | Table::Dataset(_) => table.skip(u64::MAX)?,
        Table::Bcolz(_) => 0,
        table => table.next_part(&mut Scratch::new(&mut []))?.map_or(0, |part| part.rows()),
    })
}
