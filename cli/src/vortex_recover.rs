//! `recover` for Vortex: the columns and row ranges that can still be read, in any format that can be written.

use std::io::Write;
use std::ops::Range;

use pilaster::any::{File as AnyFile, Format};
use pilaster::bcolz;
use pilaster::bytes::Ranges;
use pilaster::column::{Batch, Column as _, Memory, Part as _, Type, Value};
use pilaster::dataseries::FieldType;
use pilaster::error::{Error, Kind, What};
use pilaster::filo::Element;
use pilaster::jay::write::{Sentinels, WriteOptions, storage};
use pilaster::limits::Limits;
use pilaster::vortex::{self, Column, DType, File};

use crate::args::{Convert, Recover, ToBcolz, ToJay};
use crate::budget;
use crate::columns::Columns;
use crate::conversion::View;
use crate::convert;
use crate::escape::named;
use crate::failure::Failure;
use crate::feed::Windows;
use crate::goal::{Goal, is_chunk};
use crate::lost::{NOTHING, Saved, counted};
use crate::open::Input;
use crate::sieve::BATCH_ROOM;
use crate::target::Target;
use crate::vortex_claims::Claims;
use crate::vortex_dtype::stored;
use crate::vortex_end::{completed, opened, retyped};
use crate::vortex_frames::ROW_GROUPS;
use crate::vortex_rebuilt::{Rebuilt, rebuilt};
use crate::vortex_torn::{begins, is_first, is_log, torn, unstated};
use crate::walk::batches;

/// Maximum number of rows that are tried at once.
const TRIED: u64 = 1 << 16;

/// Maximum depth of lists in lists.
const DEPTH: u32 = 64;

/// Returns the options of the conversion that `recover` makes.
pub fn conversion(how: &Recover) -> Convert {
    let jay = ToJay { sentinels: Some(Sentinels::Widen), ..ToJay::default() };
    let bcolz = ToBcolz { fill_missing: true, ..ToBcolz::default() };
    let (target, force) = (how.target.clone(), how.force);
    Convert { target, force, any_time: true, jay, bcolz, ..Convert::default() }
}

/// Writes what can be read of a damaged file. Rows of a column that cannot be read are missing in the new file; a column
/// without any row that can, or with a value that the target cannot store, is left out.
pub fn recover(
    input: &Input,
    how: &Convert,
    (to, target): (Goal, &Target<'_>),
    out: &mut dyn Write,
) -> Result<Saved, Failure> {
    let (whole, end) = source(input)?;
    let (input, absent) = whole.as_ref().map_or((input, &[][..]), |whole| (&whole.input, &whole.absent));
    let mut saving = Saving { absent, ..Saving::of(input, opened(input)?, how, to)? };
    let outcomes = saving.outcomes()?;
    let unverified = whole.as_ref().and_then(|whole| whole.unverified);
    for note in end.iter().chain(whole.iter().flat_map(|whole| &whole.notes)) {
        writeln!(out, "{note}")?;
    }
    if let Some(what) = unverified {
        writeln!(out, "not verified: {what}")?;
    }
    report(&outcomes, to, out)?;
    let found: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.fate.is_ok()).collect();
    if found.is_empty() {
        return Err(Failure::Input("no column can be saved".to_owned()));
    }
    let mut columns = saving.columns(&found);
    columns.rename_doubles(out)?;
    let len = saving.write(&columns, (how, target))?;
    let rows = saving.file.rows()?;
    let none = if unverified.is_some() { "not verified, see above" } else { NOTHING };
    let groups = whole.as_ref().map_or(0, |whole| whole.lost);
    let sum = summary(&outcomes, to, (saving.file.metadata_len(), groups), none);
    let (target, width) = (how.target.display(), found.len());
    Ok(Saved { rows, line: format!("{target}: {rows} rows in {width} columns, {len} bytes of {to}; {sum}") })
}

/// Returns the file that is read in place of `input`, if it is damaged so that another end is needed, and what is said about
/// its own end.
fn source<'s>(input: &Input<'s>) -> Result<(Option<Rebuilt<'s>>, Option<String>), Failure> {
    let e = match opened(input) {
        Ok(file) => {
            if let Some(log) = torn(input, true)? {
                return Ok((Some(log), None));
            }
            let (found, any) = (file.dtype(), AnyFile::Vortex(file));
            let Err(e) = stored(&input.path, &any, input.hints().dtype) else { return Ok((None, None)) };
            // A damaged type has as many columns, in most cases. Another one is a mistake.
            let whole = retyped(input).filter(|input| opened(input).is_ok_and(|file| is_alike(file.dtype(), found)));
            let why = format!("damaged: the type that the file stores, {found}: it is read as --dtype says");
            return whole.map(|input| (Some(Rebuilt::whole(input)), Some(why))).ok_or(e);
        }
        Err(e) => e,
    };
    let of_file = format!("damaged: the end of the file: {e}");
    let begins = begins(input)?;
    let mut whole = if begins { None } else { completed(input)? };
    let why = || format!("damaged: the end marker, no rows: {e}");
    if let Some(first) = whole.as_ref().filter(|whole| is_first(whole))
        && let Some(log) = unstated(input, Some(first))?
    {
        return Ok((Some(log), Some(of_file)));
    }
    // Checkpoints are not searched in a file that lacks only its end marker, because that reads all of it.
    if whole.as_ref().map(is_log).transpose()? == Some(false)
        && let Some(found) = whole.take()
    {
        return Ok((Some(Rebuilt::whole(found)), Some(why())));
    }
    if let Some(log) = torn(input, false)? {
        return Ok((Some(log), Some(of_file)));
    }
    if let Some(log) = unstated(input, None)? {
        return Ok((Some(log), Some(of_file)));
    }
    if let Some(input) = retyped(input) {
        let why = format!("damaged: the type, which --dtype gives: {e}");
        // A file that stores no type is not damaged.
        return Ok((Some(Rebuilt::whole(input)), Some(why).filter(|_| e.kind() != Kind::NoRoom)));
    }
    if begins {
        whole = completed(input)?;
    }
    if let Some(input) = whole {
        return Ok((Some(Rebuilt::whole(input)), Some(why())));
    }
    let why = "the end of the file, which says what the columns are and where they lie, is lost";
    Ok((Some(rebuilt(input, &format!("{e}: {why}"))?), Some(of_file)))
}

/// Returns whether two types have the same number of columns.
fn is_alike(a: DType<'_>, b: DType<'_>) -> bool {
    matches!(a.ty(), Type::Struct(_)) == matches!(b.ty(), Type::Struct(_)) && a.children() == b.children()
}

/// A column, and whether it is saved.
struct Outcome {
    number: usize,
    name: String,
    /// Rows that are lost, in order.
    lost: Vec<(Range<u64>, Error)>,
    /// The time zone, which only Vortex stores.
    zone: Option<String>,
    /// Rows may be missing.
    nullable: bool,
    /// How the values and the statistics of the file contradict each other. The texts follow the name of the column.
    contradicted: Vec<String>,
    fate: Result<(), Fate>,
}

impl Outcome {
    /// Nothing is known to be lost.
    const fn of(number: usize, name: String) -> Self {
        Outcome { number, name, lost: Vec::new(), zone: None, nullable: false, contradicted: Vec::new(), fate: Ok(()) }
    }
}

/// Why a column is not saved.
enum Fate {
    /// No row can be read.
    Lost(String),
    /// The target cannot store it. The text follows the name of the column.
    LeftOut(String),
}

/// Prints a line for everything that is not in the new file, and for values that may not be as they were written.
fn report(outcomes: &[Outcome], to: Goal, out: &mut dyn Write) -> Result<(), Failure> {
    for Outcome { name, lost, zone, nullable, contradicted, fate, .. } in outcomes {
        let name = named(name);
        match fate {
            Err(Fate::Lost(why)) => writeln!(out, "lost: column {name}: {why}")?,
            Err(Fate::LeftOut(why)) => writeln!(out, "left out: column {name}{why}")?,
            Ok(()) => {
                for (rows, why) in lost {
                    writeln!(out, "lost: rows {}..{} of {name}: {why}", rows.start, rows.end)?;
                }
                for why in contradicted {
                    writeln!(out, "damaged: the statistics of {name}{why}")?;
                }
                if to == Goal::Format(Format::Bcolz) && (*nullable || !lost.is_empty()) {
                    writeln!(out, "filled: missing values of {name} are NaN, 0, false or an empty text")?;
                }
                if let Some(zone) = zone.as_ref().filter(|_| !to.has_zones()) {
                    writeln!(out, "left out: the time zone {zone} of {name}: {to} cannot store it")?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the end of the last line: the number of everything that is not in the new file, or may be damaged in it.
fn summary(outcomes: &[Outcome], to: Goal, (metadata, groups): (usize, u64), none: &str) -> String {
    let count = |of: fn(&Outcome) -> usize| outcomes.iter().map(of).fold(0, usize::saturating_add) as u64;
    let zones = count(|outcome| usize::from(outcome.fate.is_ok() && outcome.zone.is_some()));
    let contradicted = |outcome: &Outcome| usize::from(outcome.fate.is_ok() && !outcome.contradicted.is_empty());
    let counts = [
        (groups, "lost", ROW_GROUPS),
        (count(|outcome| usize::from(matches!(outcome.fate, Err(Fate::Lost(_))))), "lost", ["column", "columns"]),
        (
            count(|outcome| if outcome.fate.is_ok() { outcome.lost.len() } else { 0 }),
            "lost",
            ["row range", "row ranges"],
        ),
        (count(contradicted), "damaged", ["column or its statistics", "columns or their statistics"]),
        (
            count(|outcome| usize::from(matches!(outcome.fate, Err(Fate::LeftOut(_))))),
            "left out",
            ["column", "columns"],
        ),
        (if to.has_zones() { 0 } else { zones }, "left out", ["time zone", "time zones"]),
        (metadata as u64, "left out", ["entry of user data", "entries of user data"]),
    ];
    counted(&counts, none)
}

/// Returns whether a format can store a column and, if it has lists, their elements.
fn stores(to: Goal, column: &Column<'_>) -> pilaster::Result<Result<(), Type>> {
    let options = WriteOptions { any_time: true, ..WriteOptions::DEFAULT };
    let mut inner = *column;
    for _ in 0..DEPTH {
        let ty = inner.ty();
        let stored = match to {
            Goal::Format(Format::Jay) => storage(ty, &options).is_some(),
            Goal::Format(Format::DataSeries) => FieldType::of_column(ty).is_some(),
            Goal::Format(Format::Filo) => Element::of_column(ty).is_some(),
            Goal::Format(Format::Bcolz) => bcolz::write::holds(ty) && !matches!(ty, Type::Struct(_)),
            Goal::Format(Format::Vortex) => vortex::write::holds(ty),
            // A trial finds the columns that cannot be written.
            #[cfg(feature = "arrow")]
            Goal::Arrow(_) => true,
            Goal::Text(_) => false,
        };
        if !stored {
            return Ok(Err(ty));
        }
        if ty.children() != 1 {
            return Ok(Ok(()));
        }
        inner = inner.child(0)?;
    }
    Ok(Err(inner.ty()))
}

/// The file, and what may still be spent on it.
struct Saving<'i> {
    input: &'i Input<'i>,
    file: File<'i>,
    any: AnyFile<'i>,
    how: &'i Convert,
    to: Goal,
    limits: Limits,
    /// Why a column has no rows, by its number.
    absent: &'i [Option<String>],
    /// Number of lost ranges that may follow.
    problems: u32,
    /// Number of unpacked bytes that may follow.
    decoded: u64,
}

impl<'i> Saving<'i> {
    /// Checks the number of rows.
    fn of(input: &'i Input<'i>, file: File<'i>, how: &'i Convert, to: Goal) -> Result<Self, Failure> {
        let (limits, rows) = (input.limits(), file.rows()?);
        if rows > limits.max_file_rows {
            let most = limits.max_file_rows;
            return Err(budget::explain(Error::needing(Kind::Limit, What::MAX_FILE_ROWS, 0, most)));
        }
        let (problems, decoded) = (limits.max_problems, limits.max_file_decoded);
        Ok(Saving { input, file, any: AnyFile::Vortex(file), how, to, limits, absent: &[], problems, decoded })
    }

    /// Tries all columns.
    fn outcomes(&mut self) -> Result<Vec<Outcome>, Failure> {
        let file = self.file;
        let part = file.part()?;
        let mut outcomes = Vec::new();
        for number in 0..part.width() {
            let name = part.name(number).map_or_else(|_| format!("column {number}"), str::to_owned);
            outcomes.push(match part.column(number) {
                Err(e) => Outcome { fate: Err(Fate::Lost(e.to_string())), ..Outcome::of(number, name) },
                Ok(column) => self.outcome(number, name, &column)?,
            });
        }
        Ok(outcomes)
    }

    /// Reads a column, then writes it to nowhere, without the rows that cannot be read.
    fn outcome(&mut self, number: usize, name: String, column: &Column<'_>) -> Result<Outcome, Failure> {
        let zone = column.zone().ok().flatten().map(str::to_owned);
        let mut outcome = Outcome { zone, nullable: column.nullable(), ..Outcome::of(number, name) };
        if let Some(Some(why)) = self.absent.get(number) {
            outcome.fate = Err(Fate::Lost(why.clone()));
            return Ok(outcome);
        }
        match stores(self.to, column) {
            Ok(Ok(())) => {}
            Ok(Err(ty)) => {
                outcome.fate = Err(Fate::LeftOut(format!(": {} cannot store {ty}", self.to)));
                return Ok(outcome);
            }
            Err(e) => {
                outcome.fate = Err(Fate::Lost(e.to_string()));
                return Ok(outcome);
            }
        }
        self.spend(column.rows().saturating_mul(cell_len(column.ty())))?;
        let mut is_read = false;
        let (mut claims, unreadable) = match Claims::of(&self.file, number) {
            Ok(claims) => (claims, None),
            Err(e) => (None, Some(format!(": {e}"))),
        };
        match self.look(number, column, &mut claims, &mut is_read) {
            Err(Failure::Format(e)) if e.kind() == Kind::Unsupported => {
                outcome.fate = Err(Fate::Lost(e.to_string()));
                return Ok(outcome);
            }
            lost => outcome.lost = lost?,
        }
        let all = outcome.lost.is_empty();
        let contradicted = claims.map_or(Ok(Vec::new()), |claims| claims.contradicted(all));
        outcome.contradicted = contradicted.unwrap_or_else(|e| vec![format!(": {e}")]);
        outcome.contradicted.extend(unreadable);
        outcome.fate = match outcome.lost.first() {
            Some((_, why)) if !is_read => Err(Fate::Lost(why.to_string())),
            _ => self.attempt(&outcome)?.map_err(Fate::LeftOut),
        };
        Ok(outcome)
    }

    /// Counts unpacked bytes.
    fn spend(&mut self, len: u64) -> Result<(), Failure> {
        let most = self.limits.max_file_decoded;
        let over = || budget::explain(Error::needing(Kind::Limit, What::MAX_FILE_DECODED, 0, most));
        self.decoded = self.decoded.checked_sub(len).ok_or_else(over)?;
        Ok(())
    }

    /// Writes a column to nowhere. Returns why it cannot be written.
    fn attempt(&self, outcome: &Outcome) -> Result<Result<(), String>, Failure> {
        let columns = self.columns(&[outcome]);
        let written = match self.to {
            // A dataset is a directory. It is written to one that is removed.
            Goal::Format(Format::Bcolz) if !is_chunk(self.how) => {
                let place = tempfile::tempdir().map_err(|e| Failure::Input(e.to_string()))?;
                let how = conversion(&Recover { target: place.path().join("column"), ..Recover::default() });
                self.write(&columns, (&how, &Target::directory(&how.target, false)?))
            }
            _ => self.write(&columns, (self.how, &Target::nowhere(self.limits.max_file_decoded))),
        };
        match written {
            Ok(_) => Ok(Ok(())),
            Err(Failure::Format(e)) if e.what() == What::MAX_FILE_DECODED => Err(budget::explain(e)),
            Err(Failure::Format(e)) => Ok(Err(format!(": {e}"))),
            Err(Failure::Input(why)) => {
                // The remedy is an option of `convert`.
                let why = why.split(" (--").next().unwrap_or_default();
                let after = why.strip_prefix("column ").and_then(|why| why.strip_prefix(outcome.name.as_str()));
                Ok(Err(after.map_or_else(|| format!(": {why}"), str::to_owned)))
            }
            Err(other) => Err(other),
        }
    }

    /// Returns the columns of `outcomes`, without the rows that are lost.
    fn columns(&self, outcomes: &[&Outcome]) -> Columns {
        let rows = |outcome: &&Outcome| outcome.lost.iter().map(|(rows, _)| rows.clone()).collect();
        let mut columns = Columns {
            numbers: outcomes.iter().map(|outcome| outcome.number).collect(),
            names: outcomes.iter().map(|outcome| outcome.name.clone()).collect(),
            lost: outcomes.iter().map(rows).collect(),
            ..Columns::default()
        };
        columns.name_the_unnamed("v");
        columns
    }

    fn write(&self, columns: &Columns, how: (&Convert, &Target<'_>)) -> Result<u64, Failure> {
        let windows = Some(Windows::new(self.input, &self.any, None));
        let mut view = View { table: self.any.table(None)?, columns, windows };
        convert::write(&mut view, how, 0, self.to, &mut Memory::with_len(BATCH_ROOM as u64)?)
    }

    /// Reads rows of a column and everything in them, through a window. Compares them with `claims`.
    fn read(&self, number: usize, rows: Range<u64>, mut claims: Option<&mut Claims<'_>>) -> pilaster::Result<()> {
        let window = self.input.window();
        let file = match window.as_ref().map(Ranges::input).map(|input| self.any.with_input(input)) {
            Some(AnyFile::Vortex(file)) => file,
            _ => self.file,
        };
        batches(&file.part()?.column(number)?, rows, |batch| {
            if let Some(claims) = &mut claims {
                claims.batch(batch)?;
            }
            elements(batch, DEPTH)
        })
    }

    /// Returns the rows of a column that cannot be read. Compares the others with `claims`; sets `is_read` if there are
    /// any.
    fn look(
        &mut self,
        number: usize,
        column: &Column<'_>,
        claims: &mut Option<Claims<'_>>,
        is_read: &mut bool,
    ) -> Result<Vec<(Range<u64>, Error)>, Failure> {
        let (mut row, mut lost, mut most) = (0u64, Vec::new(), TRIED);
        *is_read = column.rows() == 0;
        while row < column.rows() {
            let end = column.rows().min(row.saturating_add(most));
            // Rows that fail are read again, in part.
            let mut after = claims.clone();
            let Err(e) = self.read(number, row..end, after.as_mut()) else {
                (row, *is_read, *claims) = (end, true, after);
                most = most.saturating_mul(2).min(TRIED);
                continue;
            };
            if matches!(e.kind(), Kind::Unsupported | Kind::Missing) {
                return Err(e.into());
            }
            if end.saturating_sub(row) > 1 {
                most = end.saturating_sub(row) >> 1;
                continue;
            }
            let problem = || Error::needing(Kind::Limit, What::MAX_PROBLEMS, row, self.limits.max_problems.into());
            self.problems = self.problems.checked_sub(1).ok_or_else(|| budget::explain(problem()))?;
            let good = self.next_read(number, row, column.rows());
            lost.push((row..good, e));
            row = good;
        }
        Ok(lost)
    }

    /// Returns the next row after `bad` that can be read, or `rows`: steps that double, and a search between the last
    /// two.
    fn next_read(&self, number: usize, mut bad: u64, rows: u64) -> u64 {
        let is_read = |row: u64| self.read(number, row..row.saturating_add(1), None).is_ok();
        let mut step = 1u64;
        let mut good = loop {
            let next = bad.saturating_add(step);
            if next >= rows || is_read(next) {
                break next.min(rows);
            }
            (bad, step) = (next, step.saturating_mul(2));
        };
        while good.saturating_sub(bad) > 1 {
            let middle = bad.midpoint(good);
            if is_read(middle) { good = middle } else { bad = middle }
        }
        good
    }
}

/// Returns the minimum size in bytes of an unpacked cell: of a text or a list, its length.
fn cell_len(ty: Type) -> u64 {
    match ty {
        Type::Prim(prim) => prim.size() as u64,
        Type::Decimal { precision: ..=18, .. } => 8,
        Type::Decimal { .. } => 16,
        Type::Null | Type::Bool => 1,
        _ => 8,
    }
}

/// Reads rows of a column, the texts in them, and the elements of lists.
fn read(column: &Column<'_>, rows: Range<u64>, depth: u32) -> pilaster::Result<()> {
    batches(column, rows, |batch| elements(batch, depth))
}

fn elements(batch: &Batch<'_, Column<'_>>, depth: u32) -> pilaster::Result<()> {
    // Lists that follow each other are read together.
    let mut run = 0..0u64;
    let flush = |run: Range<u64>| match depth.checked_sub(1) {
        _ if run.is_empty() => Ok(()),
        Some(depth) => {
            let mut children = 0..batch.of.ty().children();
            children.try_for_each(|k| read(&batch.of.child(k)?, run.clone(), depth))
        }
        None => Err(Error::new(Kind::Limit, What::MAX_DEPTH, run.start)),
    };
    for i in 0..batch.len {
        match batch.value(i)? {
            text @ Value::Text(_) => drop(text.text()?),
            Value::Nested(rows) if rows.start == run.end => run.end = rows.end,
            Value::Nested(rows) => flush(std::mem::replace(&mut run, rows))?,
            _ => {}
        }
    }
    flush(run)
}
