//! `recover` for Jay: the columns that can be read, in which rows that cannot are missing.

use std::io::Write;

use pilaster::any::{File as AnyFile, Format};
use pilaster::bytes::{Ranges, Scratch};
use pilaster::column::{Column as _, Memory, Part as _, Type};
use pilaster::error::{Error, Kind, What};
use pilaster::jay::{Column, File, ReadOptions};

use crate::args::{Convert, Recover};
use crate::columns::Columns;
use crate::conversion::View;
use crate::convert;
use crate::escape::named;
use crate::failure::Failure;
use crate::feed::Windows;
use crate::goal::Goal;
use crate::lost::{NOTHING, Saved, counted, number};
use crate::open::{Input, check_room, part_room};
use crate::sieve::BATCH_ROOM;
use crate::target::Target;
use crate::walk::batches;

/// Number of rows that are read through one window.
const READ: u64 = 1 << 16;

/// Maximum depth of lists in lists.
const DEPTH: u32 = 64;

/// A problem of a file, or of one of its columns.
struct Problem {
    column: Option<usize>,
    why: Error,
    harm: Harm,
    /// No row of the column has a value any more.
    emptied: bool,
}

/// What a problem costs.
enum Harm {
    /// All rows of the column.
    All,
    /// This many values: the missing ones that the file does not count as missing.
    Values(u64),
}

/// Writes the readable columns to a new file, in which rows that cannot be read are missing. Prints what is lost.
pub fn recover(input: &Input, (how, target): (&Recover, &Target<'_>), out: &mut dyn Write) -> Result<Saved, Failure> {
    let options = ReadOptions { tolerant: true, ..ReadOptions::DEFAULT };
    let frame = File::open_input(input.input(), &options, &mut Scratch::new(&mut [])).map_err(|e| match e.what() {
        What::JAY_TAIL | What::JAY_META => {
            let why =
                "the end of the file, which says what the columns are and where they lie, is lost, or bytes follow it";
            Failure::Input(format!("{e}: {why}"))
        }
        _ => e.into(),
    })?;
    let file = AnyFile::Jay(frame);
    let problems = problems(input, &file, &frame)?;
    let keys = if problems.is_empty() { frame.meta().keys() } else { 0 };
    let keyless = keys < frame.meta().keys();
    report(&frame, &problems, keyless, out)?;
    let is_lost = |k: &usize| problems.iter().any(|p| p.column == Some(*k) && matches!(p.harm, Harm::All));
    let numbers: Vec<usize> = (0..frame.width()).filter(|k| !is_lost(k)).collect();
    if numbers.is_empty() && frame.width() > 0 {
        return Err(Failure::Input("no column can be saved".to_owned()));
    }
    let is_emptied = |k: &usize| problems.iter().any(|p| p.column == Some(*k) && p.emptied);
    if !numbers.is_empty() && numbers.iter().all(is_emptied) {
        return Err(Failure::Input(format!("no value can be saved, of {} rows", frame.rows())));
    }
    let names = numbers.iter().map(|k| Ok(frame.name(*k)?.to_owned())).collect::<pilaster::Result<Vec<_>>>()?;
    let mut columns = Columns { numbers, names, ..Columns::default() };
    columns.rename_doubles(out)?;
    let how = Convert { target: how.target.clone(), ..Convert::default() };
    let mut memory = Memory::with_len(part_room(&file)?.saturating_add(BATCH_ROOM as u64))?;
    let windows = Some(Windows::new(input, &file, None));
    let mut view = View { table: file.table(None)?, columns: &columns, windows };
    let len = convert::write(&mut view, (&how, target), keys, Goal::Format(Format::Jay), &mut memory)?;
    let (rows, width) = (frame.rows(), columns.numbers.len());
    let (target, sum) = (how.target.display(), summary(&problems, keyless));
    Ok(Saved { rows, line: format!("{target}: {rows} rows in {width} columns, {len} bytes of jay; {sum}") })
}

/// Returns the first problem of each column, and problems of the whole file.
fn problems(input: &Input, file: &AnyFile<'_>, frame: &File<'_>) -> Result<Vec<Problem>, Failure> {
    let mut memory = Memory::with_len(check_room(file)?)?;
    let mut found = loop {
        let (mut found, mut room) = (Vec::new(), None);
        frame.problems(&mut memory.scratch(), &mut |column, why| match why.kind() {
            Kind::NoRoom => room = Some(why),
            _ => found.push(Problem { column, why, harm: Harm::Values(0), emptied: false }),
        });
        match room {
            Some(e) => memory.grow(e)?,
            None => break found,
        }
    };
    for problem in &mut found {
        let Some(k) = problem.column else { continue };
        problem.harm = match values_lost(input, file, k) {
            // The count itself is wrong.
            Ok(_) if problem.why.what() == What::JAY_NULLS => Harm::Values(0),
            Ok((values, left)) => {
                problem.emptied = values > 0 && !left;
                Harm::Values(values)
            }
            Err(e) if matches!(e.kind(), Kind::Missing | Kind::NoRoom) => return Err(e.into()),
            Err(_) => Harm::All,
        };
    }
    Ok(found)
}

/// Reads a column, and the elements of its lists. Returns the number of values that are missing although the file does not
/// count them as missing, and whether some row has a value.
fn values_lost(input: &Input, file: &AnyFile<'_>, k: usize) -> pilaster::Result<(u64, bool)> {
    let (mut lost, mut left) = (0u64, false);
    for depth in 0..DEPTH {
        let (mut row, mut nulls) = (0u64, 0u64);
        let (ty, stated) = loop {
            let window = input.window();
            let within = window.as_ref().map(Ranges::input).map_or(*file, |input| file.with_input(input));
            let AnyFile::Jay(frame) = within else { return Ok((0, true)) };
            let column = (0..depth).try_fold(frame.column(k)?, |column: Column<'_>, _| column.child(0))?;
            let end = column.rows().min(row.saturating_add(READ));
            batches(&column, row..end, |batch| {
                nulls = nulls.saturating_add(batch.validity.nulls(batch.len) as u64);
                Ok::<_, Error>(())
            })?;
            row = end;
            if row == column.rows() {
                left |= depth == 0 && nulls < row;
                break (column.ty(), column.field().null_count());
            }
        };
        // Early releases did not count the rows of a column without type.
        lost = lost.saturating_add(if ty == Type::Null { 0 } else { nulls.saturating_sub(stated) });
        if ty.children() != 1 {
            break;
        }
    }
    Ok((lost, left))
}

/// Prints a line for every problem.
fn report(frame: &File<'_>, problems: &[Problem], keyless: bool, out: &mut dyn Write) -> Result<(), Failure> {
    for Problem { column, why, harm, .. } in problems {
        let name = match column.map(|k| (k, frame.name(k).unwrap_or_default())) {
            None => {
                writeln!(out, "damaged: the file, no column: {why}")?;
                continue;
            }
            Some((k, "")) => format!("{k}, which has no name"),
            Some((_, name)) => named(name),
        };
        match harm {
            Harm::All => writeln!(out, "lost: column {name}: {why}")?,
            Harm::Values(0) => writeln!(out, "damaged: column {name}: {why}")?,
            Harm::Values(values) => writeln!(out, "lost: {} of {name}: {why}", number(*values, VALUES))?,
        }
    }
    if keyless {
        writeln!(out, "left out: the key, which may not hold for the new file")?;
    }
    Ok(())
}

/// One value, and many.
const VALUES: [&str; 2] = ["value", "values"];

/// Returns the end of the last line: the number of everything that is not in the new file, or was damaged.
fn summary(problems: &[Problem], keyless: bool) -> String {
    let count = |of: fn(&Problem) -> u64| problems.iter().map(of).fold(0, u64::saturating_add);
    let counts = [
        (count(|problem| u64::from(matches!(problem.harm, Harm::All))), "lost", ["column", "columns"]),
        (count(|problem| if let Harm::Values(values) = problem.harm { values } else { 0 }), "lost", VALUES),
        (count(|problem| u64::from(matches!(problem.harm, Harm::Values(0)))), "damaged", ["place", "places"]),
        (keyless.into(), "left out", ["key", "keys"]),
    ];
    counted(&counts, NOTHING)
}
