//! Conditions on rows: their options, the rows of a part that meet them, and batches of several columns.

use std::ops::Range;

use clap::Args;
use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::column::{Batch, Column, Part, Prim, Type, Value, fit};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;

use crate::columns::Columns;
use crate::failure::Failure;
use crate::filter::{self, Expression, Filter, Literal, Operator, Test};

/// Bytes of memory for the batches of all columns together, unless one row takes more.
pub const BATCH_ROOM: usize = 1 << 22;

/// Conditions on rows.
#[derive(Args, Clone, Debug, Default)]
pub struct Conditions {
    /// Only rows that meet a condition: 'time >= 2026-01-01 and (level > 3 or note is missing)'. With
    /// --trust-statistics, more rows are skipped without reading them. Of several --where, rows meet all
    #[arg(long = "where", value_name = "CONDITION", value_parser = filter::parse, allow_hyphen_values = true)]
    pub conditions: Vec<Expression<Test>>,
    /// Skip rows by statistics in the file, which are not checked. Faster, but in a file with wrong statistics rows are lost;
    /// `pilaster verify` compares statistics of Vortex and Jay files with the values
    #[arg(long)]
    pub trust_statistics: bool,
    #[command(flatten)]
    pub time: Time,
}

/// A range of times.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// The column of the times [default: the first with timestamps, else the first with numbers of 64 bits]
    #[arg(long = "time", value_name = "COLUMN", allow_hyphen_values = true)]
    pub column: Option<String>,
    /// Only rows whose time is T or later: a date, a date and time, or a stored integer
    #[arg(long, value_name = "T", value_parser = time, allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Only rows whose time is before T
    #[arg(long, value_name = "T", value_parser = time, allow_hyphen_values = true)]
    pub until: Option<String>,
}

impl Time {
    /// Returns whether a bound is given.
    pub fn is_given(&self) -> bool {
        self.from.is_some() || self.until.is_some()
    }
}

impl Conditions {
    /// Returns whether a condition is given.
    pub fn are_given(&self) -> bool {
        !self.conditions.is_empty() || self.time.is_given()
    }

    /// Binds the conditions of both kinds, joined, to the columns of `part`, whose names are in `all`. `None` if there is no
    /// condition.
    pub fn bind<P: Part>(&self, part: &P, all: &Columns) -> std::result::Result<Option<Filter>, Failure> {
        let mut joined = self.conditions.clone();
        if self.time.is_given() {
            let column = match &self.time.column {
                Some(name) => name.clone(),
                None => times(part)?,
            };
            for (operator, bound) in [(Operator::AtLeast, &self.time.from), (Operator::Less, &self.time.until)] {
                let bound = bound.iter().map(|literal| Literal { text: literal.clone(), quoted: false });
                let compare = |literal| Test::Compare { column: column.clone(), operator, literal };
                joined.extend(bound.map(compare).map(Expression::Test));
            }
        }
        if joined.is_empty() {
            return Ok(None);
        }
        Filter::bind(&Expression::And(joined), &|name| all.find(name), &|k| part.column(k)).map(Some)
    }
}

fn time(text: &str) -> std::result::Result<String, &'static str> {
    if filter::is_time(text) {
        Ok(text.to_owned())
    } else {
        Err("a time is a date, a date and time, or a stored integer")
    }
}

/// Returns the name of the column of times if none is named.
fn times<P: Part>(part: &P) -> std::result::Result<String, Failure> {
    let times: Vec<_> = (0..part.width()).filter_map(|k| Some((k, part.column(k).ok()?.ty()))).collect();
    let number = |ty: Type| matches!(ty, Type::Prim(Prim::I64 | Prim::F64));
    let none = || Failure::Usage("no column has 64-bit times: choose one with --time".to_owned());
    let stamp = times.iter().find(|(_, ty)| matches!(ty, Type::Timestamp(_)));
    let (k, _) = *stamp.or_else(|| times.iter().find(|(_, ty)| number(*ty))).ok_or_else(none)?;
    Ok(part.name(k)?.to_owned())
}

/// Tests the rows of a part.
pub struct Sieve<'f, C> {
    filter: &'f Filter,
    tested: Side<C>,
    zones: Zones<C>,
    kept: Vec<usize>,
}

impl<'f, C: Column> Sieve<'f, C> {
    /// Tests rows of `part` from `row` on. `trust`: whether statistics that nothing checks may rule rows out.
    pub fn new<P: Part<Col = C>>(part: &P, filter: &'f Filter, trust: bool, row: u64) -> Result<Self> {
        let columns = filter.columns.iter().map(|k| part.column(*k)).collect::<Result<Vec<_>>>()?;
        let zones = Zones { columns: columns.clone(), trust, known: row };
        Ok(Sieve { filter, tested: Side::new(columns, BATCH_ROOM), zones, kept: Vec::new() })
    }

    /// Tests the first of `rows`, at least one. `rows.end` becomes the end of the tested rows. Returns the numbers of those
    /// that are kept, counted from the first row.
    pub fn test(&mut self, rows: &mut Range<u64>) -> Result<&[usize]> {
        self.kept.clear();
        let next = rows.start.saturating_add(1);
        if let Some(end) = self.zones.none_until(self.filter, rows.start)? {
            rows.end = end.clamp(next, rows.end);
            return Ok(&[]);
        }
        rows.end = rows.end.min(self.zones.known.max(next));
        let batches = self.tested.read(rows)?;
        for i in 0..count(rows) {
            let value = |place: usize| batches.get(place).map_or(Ok(Value::Null), |batch| batch.value(i));
            if self.filter.keeps(&mut { value })? {
                self.kept.push(i);
            }
        }
        Ok(&self.kept)
    }
}

/// Returns whether the statistics of a part rule out all of `rows`. `trust`: as for [`Sieve::new`].
pub fn none_of<P: Part>(part: &P, filter: &Filter, trust: bool, rows: &Range<u64>) -> Result<bool> {
    let columns = filter.columns.iter().map(|k| part.column(*k)).collect::<Result<Vec<_>>>()?;
    let (mut zones, mut row) = (Zones { columns, trust, known: rows.start }, rows.start);
    while row < rows.end {
        match zones.none_until(filter, row)? {
            Some(end) => row = end.max(row.saturating_add(1)),
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Rows that no statistics rule out.
struct Zones<C> {
    columns: Vec<C>,
    trust: bool,
    /// The statistics of the rows before this one were looked at.
    known: u64,
}

impl<C: Column> Zones<C> {
    /// Memory for statistics that must be decoded.
    const MEMORY: usize = 1 << 16;
    /// Rows whose statistics are looked at together.
    const AHEAD: u64 = 1 << 16;

    /// Returns the end of the rows from `row` on that the statistics rule out, or `None` if they say so
    /// of none of them.
    fn none_until(&mut self, filter: &Filter, row: u64) -> Result<Option<u64>> {
        if row < self.known {
            return Ok(None);
        }
        let (mut at, ahead) = (row, row.saturating_add(Self::AHEAD));
        let Some((end, first)) = self.zone(filter, row)? else {
            self.known = ahead;
            return Ok(None);
        };
        // Zones that say the same are taken together.
        let mut next = Some((end, first));
        while let Some((end, may)) = next
            && may == first
            && at < ahead
        {
            at = end;
            next = self.zone(filter, at)?;
        }
        if first {
            self.known = at;
        }
        Ok((!first).then_some(at))
    }

    /// Returns the end of the zone around `row`, and whether one of its rows may be kept; `None` if nothing is known.
    fn zone(&self, filter: &Filter, row: u64) -> Result<Option<(u64, bool)>> {
        let mut end = None::<u64>;
        let mut memory = vec![0; Self::MEMORY];
        let mut scratch = Scratch::new(&mut memory);
        let may = filter.may_keep(self.trust, &mut |place| {
            let Some(column) = self.columns.get(place) else { return Ok(None) };
            let zone = match column.zone_around(row, &mut scratch) {
                // Without statistics the rows are read.
                Err(e) if e.kind() == Kind::NoRoom => None,
                zone => zone?,
            };
            if let Some(zone) = &zone {
                end = Some(end.map_or(zone.rows.end, |end| end.min(zone.rows.end)));
            }
            Ok(zone)
        })?;
        Ok(end.filter(|end| *end > row).map(|end| (end, may)))
    }
}

/// Columns whose batches start at the same row, each in memory of its own.
pub struct Side<C> {
    pub columns: Vec<C>,
    /// One of each column.
    pub memories: Vec<Vec<u8>>,
}

impl<C: Column> Side<C> {
    /// The columns, with `memory` bytes for all of them together.
    pub fn new(columns: Vec<C>, memory: usize) -> Self {
        let share = memory.checked_div(columns.len()).unwrap_or(0).max(1 << 12);
        let memories = vec![vec![0; share]; columns.len()];
        Side { columns, memories }
    }

    /// The columns, with the memories of other columns if there are as many.
    pub fn reusing(columns: Vec<C>, memories: Vec<Vec<u8>>) -> Self {
        if memories.len() == columns.len() { Side { columns, memories } } else { Side::new(columns, BATCH_ROOM) }
    }

    /// Reads batches of all columns. `rows.end` becomes the row up to which all of them go.
    pub fn read<'m>(&'m mut self, rows: &mut Range<u64>) -> Result<Vec<Batch<'m, C>>>
    where
        C: 'm,
    {
        let mut batches = Vec::with_capacity(self.columns.len());
        for (column, memory) in self.columns.iter().zip(&mut self.memories) {
            let batch = read(column, rows.clone(), memory)?;
            rows.end = rows.end.min(rows.start.saturating_add(batch.len as u64));
            batches.push(batch);
        }
        Ok(batches)
    }
}

/// Returns the number of rows.
pub fn count(rows: &Range<u64>) -> usize {
    usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX)
}

/// Reads as many of `rows` as fit into `memory`, at least one. Grows `memory` if one row does not fit, up to twice
/// `max_decoded`.
pub fn read<'m, C: Column + 'm>(column: &C, rows: Range<u64>, memory: &'m mut Vec<u8>) -> Result<Batch<'m, C>> {
    let fitting = match fit(column, rows.clone(), memory.len()) {
        Err(e) if e.kind() == Kind::NoRoom => {
            let one = rows.start..rows.start.saturating_add(1).min(rows.end);
            let need = column.need(one)?;
            if need > Limits::DEFAULT.max_decoded {
                return Err(Error::needing(Kind::Limit, What::MAX_DECODED, rows.start, Limits::DEFAULT.max_decoded));
            }
            // Some encodings take more than `memory` for one row and little more for many. With the same memory on top, a
            // batch still has many rows.
            let len = need.saturating_add(memory.len() as u64);
            memory.resize(usize::try_from(len).map_err(|_| e)?, 0);
            fit(column, rows.clone(), memory.len())?
        }
        other => other?,
    };
    let batch = column.read(fitting, &mut Scratch::new(memory))?;
    if batch.len == 0 && !rows.is_empty() {
        // Violates the contract of `Column::read`. Without this check the loop would not end.
        return Err(Error::new(Kind::Truncated, What::ROW, rows.start));
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use pilaster::any::{Hints, Owned};
    use pilaster::column::Table as _;

    use super::*;

    #[test]
    fn a_batch_has_many_rows_although_one_row_takes_more_than_the_memory() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/vortex/enc_pco_a.vortex");
        let mut owned = Owned::open(path, &Hints::default()).unwrap();
        let file = owned.file().unwrap();
        let (mut table, mut memory) = (file.table(None).unwrap(), vec![0; 1 << 16]);
        let mut scratch = Scratch::new(&mut memory);
        let part = table.next_part(&mut scratch).unwrap().unwrap();
        let column = part.column(0).unwrap();
        let need = column.need(0..1).unwrap();
        let mut memory = vec![0; usize::try_from(need).unwrap() - 1];
        assert!(read(&column, 0..column.rows(), &mut memory).unwrap().len > 100);
    }
}
