//! `convert` from Parquet, Arrow, CSV and JSON lines.

use std::io::Write;

use pilaster::any::Format;
use pilaster::column::{Memory, Table as _};
use pilaster_arrow::arrow_schema::{ArrowError, SchemaRef};
use pilaster_arrow::dictionaries::{decoded, replaced, without_dictionaries};
use pilaster_arrow::input::{FileKind, Inferred};
use pilaster_arrow::write::Kind;
use pilaster_arrow::{Batches, Source as _};

use super::rows::{Rows, bound, prune};
use super::source::{Foreign, failed, kind, opened, opened_by, refused};
use super::spooled::{is_fed_by_columns, spooled};
use super::write::batches;
use crate::args::{Convert, Form};
use crate::columns::{Columns, Retyped};
use crate::conversion::View;
use crate::convert::{self, open_target};
use crate::failure::Failure;
use crate::filter::Filter;
use crate::goal::Goal;
use crate::sources::{Location, Source};
use crate::target::Target;

/// Memory for texts and lists that lie in several buffers.
const ROOM: u64 = 1 << 22;

/// Returns the format of a source that is Parquet, Arrow, CSV or JSON lines, in which it is written unless the caller names another.
pub fn own_goal(source: &Source) -> Option<Goal> {
    Some(match kind(source)? {
        FileKind::Parquet => Goal::Arrow(Kind::Parquet),
        FileKind::IpcStream => Goal::Arrow(Kind::IpcStream),
        FileKind::Csv => Goal::Text(Form::Csv),
        FileKind::JsonLines => Goal::Text(Form::JsonLines),
        _ => Goal::Arrow(Kind::IpcFile),
    })
}

/// Writes the rows of a source that is Parquet, Arrow, CSV or JSON lines to a format other than text. Returns whether it is one.
pub fn convert(how: &Convert, to: Goal, out: &mut dyn Write) -> Result<bool, Failure> {
    // What standard input had, and what went to standard output or was appended, cannot be had back.
    let once = matches!(how.source.path, Location::Stdin) || how.target.as_os_str() == "-" || how.bcolz.append;
    let inferred = if once { Inferred::FromAll } else { Inferred::FromFirst };
    let Some(foreign) = opened_by(&how.source, inferred)? else { return Ok(false) };
    let refuted = foreign.files.refuted();
    match converted(foreign, how, to, out) {
        // Nothing was written yet: the target appears when all rows are read.
        Err(_) if refuted.is_true() => {}
        done => return done.map(|()| true),
    }
    let Some(foreign) = opened(&how.source)? else { return Ok(false) };
    converted(foreign, how, to, out).map(|()| true)
}

fn converted(foreign: Foreign, how: &Convert, to: Goal, out: &mut dyn Write) -> Result<(), Failure> {
    let (path, before, kind) = (foreign.path.clone(), foreign.len, foreign.kind);
    if how.table.is_some() && !matches!(to, Goal::Format(Format::DataSeries)) {
        return Err(Failure::Usage(format!("{path}: --table is for files with tables; {kind} has none")));
    }
    let target = open_target(how, to)?;
    let len = write(foreign, how, to, &target).map_err(|failure| failure.of(&path))?;
    if target.is_stdout() {
        return Ok(());
    }
    Ok(writeln!(out, "{}: {len} bytes of {to}, {before} bytes of {kind} before", how.target.display())?)
}

fn write(foreign: Foreign, how: &Convert, to: Goal, target: &Target<'_>) -> Result<u64, Failure> {
    // Conditions compare durations as integers.
    let rows = Rows::new(foreign.files, &foreign.input, None).with_integers_for_durations();
    let mut table = Batches::tolerant(rows).map_err(failed)?;
    let (mut columns, filter) = choose(&mut table, how)?;
    let mut files = table.into_source().files;
    if let Some(filter) = filter.as_ref().filter(|_| how.conditions.trust_statistics) {
        prune(&mut files, filter)?;
    }
    let finds_rows = files.rows().is_some();
    let mut source = Rows::new(files, &foreign.input, filter.as_ref());
    if is_fed_by_columns(to) && !finds_rows {
        let (files, input) = spooled(source, &mut columns)?;
        source = Rows::new(files, &input, None);
    }
    let retyped = how.stored_times || how.bytes_as_text;
    if let (Goal::Arrow(kind), false) = (to, retyped) {
        return straight(source, &columns, (how, target), kind);
    }
    if how.any_time || matches!(to, Goal::Text(_)) {
        source = source.with_integers_for_durations();
    }
    let mut table = Batches::tolerant(source).map_err(failed)?;
    table.choose(Some(&columns.numbers));
    let mut view = View { table, columns: &columns, windows: None };
    let mut memory = Memory::with_len(ROOM)?;
    let done = convert::write(&mut view, (how, target), how.jay.keys.unwrap_or(0), to, &mut memory);
    match view.table.failed() {
        Some(e) => done.map_err(|_| refused(e)),
        None => done,
    }
}

/// Chooses the columns, and binds the conditions on rows.
fn choose(table: &mut Batches<Rows<'_>>, how: &Convert) -> Result<(Columns, Option<Filter>), Failure> {
    let (all, filter) = bound(table, &how.conditions)?;
    // Without batches, no column is known.
    let mut columns = if all.names.is_empty() { all } else { all.pick(&how.wanted)? };
    columns.retyped =
        Retyped { stored_times: how.stored_times, bytes_as_text: how.bytes_as_text, ..Retyped::default() };
    Ok((columns, filter))
}

/// Writes record batches as they are.
fn straight(mut source: Rows<'_>, columns: &Columns, how: (&Convert, &Target<'_>), kind: Kind) -> Result<u64, Failure> {
    let mut read = columns.numbers.clone();
    read.sort_unstable();
    read.dedup();
    // In the order in which the caller names them.
    let places = columns.numbers.iter().filter_map(|k| read.iter().position(|known| known == k));
    let places: Vec<usize> = places.collect();
    let schema = SchemaRef::from(source.schema().project(&columns.numbers).map_err(|e| failed(e.into()))?);
    // An Arrow file has one dictionary per column.
    let coded =
        if kind == Kind::IpcFile { replaced(&mut source, &columns.numbers).map_err(failed)? } else { Vec::new() };
    let schema = without_dictionaries(&schema, &coded);
    let (rows, _) = source.open(Some(&read), 0).map_err(failed)?;
    let rows = rows.map(|batch| {
        let batch = batch?.project(&places)?;
        if coded.is_empty() { Ok(batch) } else { decoded(&batch, &schema).map_err(ArrowError::from) }
    });
    batches(rows, &schema, how, kind)
}
