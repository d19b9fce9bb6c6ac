//! Runs of a device in a DataSeries file: each begins with an extent of the type [`NAME`] of the namespace [`NAMESPACE`], which a
//! logger writes when it starts. Its fields tell about the run; what they are is the logger's own.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use pilaster::any::File;
use pilaster::column::{Column as _, Memory, Part as _};
use pilaster::dataseries::AnyFile;
use serde_json::{Value, json};

use crate::csv::{self, Written};
use crate::dataseries_tables::Tables;
use crate::escape::escaped;
use crate::failure::{Failure, warn};
use crate::json::Ahead;
use crate::open::{Input, part_room};
use crate::parts::Parts as _;

const NAME: &str = "Run";
const NAMESPACE: &str = "pilaster";

/// The runs of a file. The first has the number 1; the rows before it have 0.
pub struct Runs {
    /// The number of rows of each table before the first run, and in each one.
    rows: Vec<HashMap<String, u64>>,
    /// Why no more extents are known: the file is torn, or still being written.
    torn: Option<Failure>,
}

impl Runs {
    /// Returns the runs, or `None` if no type of the file begins runs.
    pub fn of(file: &AnyFile<'_>) -> Result<Option<Self>, Failure> {
        if !file.types().iter().any(|ty| ty.name() == NAME && ty.namespace() == NAMESPACE) {
            return Ok(None);
        }
        let mut runs = vec![HashMap::<String, u64>::new()];
        let torn = file.headers(|header, name| {
            if name == NAME.as_bytes() {
                runs.push(HashMap::new());
            }
            if let Some(run) = runs.last_mut() {
                let rows = run.entry(String::from_utf8_lossy(name).into_owned()).or_default();
                *rows = rows.saturating_add(header.rows.into());
            }
            Ok::<_, Failure>(())
        });
        Ok(Some(Runs { rows: runs, torn: torn.err() }))
    }

    /// Returns the number of runs.
    fn count(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// Returns the rows of a table that belong to run `run`. The last run of a torn file has no end: reading finds where it is torn.
    fn rows(&self, run: usize, table: &str) -> Option<Range<u64>> {
        let rows = |run: &HashMap<String, u64>| run.get(table).copied().unwrap_or(0);
        let start = self.rows.get(..run)?.iter().map(rows).fold(0, u64::saturating_add);
        let of_run = rows(self.rows.get(run)?);
        let is_open = self.torn.is_some() && run == self.count();
        Some(start..if is_open { u64::MAX } else { start.saturating_add(of_run) })
    }
}

/// Refuses the choice of a run in several files.
pub fn check(run: Option<usize>, files: usize) -> Result<(), Failure> {
    match run {
        Some(_) if files > 1 => Err(Failure::Usage("--run is for one file: each file has runs of its own".to_owned())),
        _ => Ok(()),
    }
}

/// Returns `rows` of the run `run`, as rows of the whole table.
pub fn within(
    file: &File<'_>,
    table: Option<&str>,
    run: Option<usize>,
    rows: &Range<u64>,
) -> Result<Range<u64>, Failure> {
    let Some(run) = run else { return Ok(rows.clone()) };
    let File::DataSeries(series) = file else {
        return Err(Failure::Usage("--run is for DataSeries files".to_owned()));
    };
    let Some(runs) = Runs::of(series)? else {
        let why =
            format!("no runs are marked: a logger marks them by rows of the type {NAME} of the namespace {NAMESPACE}");
        return Err(Failure::Usage(why));
    };
    let mut types = series.types().iter();
    let table = match (table, types.next(), types.next()) {
        (Some(table), ..) => table,
        (None, Some(only), None) => only.name(),
        _ => return Err(Failure::Usage("--run takes --table: the file has several tables".to_owned())),
    };
    let Some(all) = runs.rows(run, table) else {
        // The damage may hide the run.
        if let Some(torn) = runs.torn {
            return Err(torn);
        }
        return Err(Failure::Usage(format!("there is no run {run}; the file has {}", runs.count())));
    };
    let end = all.start.saturating_add(rows.end).min(all.end);
    Ok(all.start.saturating_add(rows.start).min(end)..end)
}

/// A run, as `info` describes it.
struct Described {
    run: usize,
    /// The fields of its row, without missing ones.
    fields: Vec<(String, String)>,
    /// The tables with rows in it.
    tables: Vec<(String, u64)>,
}

/// Describes the runs of a file; none if no type of it begins runs.
fn described(file: &File<'_>, input: &Input<'_>) -> Result<Vec<Described>, Failure> {
    let File::DataSeries(series) = file else { return Ok(Vec::new()) };
    let Some(mut runs) = Runs::of(series)? else { return Ok(Vec::new()) };
    if let Some(torn) = runs.torn.take() {
        return Err(torn);
    }
    let fields = fields(series, file, input)?;
    let order: HashMap<_, _> = series.types().iter().enumerate().map(|(k, ty)| (ty.name(), k)).collect();
    let described = |run: usize| {
        let of_run = runs.rows.get(run).into_iter().flatten().filter(|(name, rows)| {
            // The types of the file itself, such as the index, are no tables.
            *name != NAME && **rows > 0 && order.contains_key(name.as_str())
        });
        let mut tables: Vec<_> = of_run.map(|(name, rows)| (name.clone(), *rows)).collect();
        // In the order of the types, as other lists are.
        tables.sort_by_key(|(name, _)| order.get(name.as_str()).copied());
        let fields = run.checked_sub(1).and_then(|k| fields.get(k).cloned()).unwrap_or_default();
        Described { run, fields, tables }
    };
    // Without rows before the first run, there is nothing to say about them.
    Ok((0..=runs.count()).map(described).filter(|one| one.run > 0 || !one.tables.is_empty()).collect())
}

/// Reads the first row of each extent that begins a run; nothing of one without rows. A damaged one, and what follows, has a warning.
fn fields(series: &AnyFile<'_>, file: &File<'_>, input: &Input<'_>) -> Result<Vec<Vec<(String, String)>>, Failure> {
    let mut memory = Memory::with_len(part_room(file)?)?;
    let mut all = Vec::new();
    for (ty, table) in Tables::of(series, input)?.iter() {
        if ty.name() != NAME {
            continue;
        }
        let read = table.each(&mut memory.scratch(), &mut |part, _, _, scratch| {
            let mut row = Vec::new();
            let width = if part.rows() > 0 { part.width() } else { 0 };
            for k in 0..width {
                let (column, mut text) = (part.column(k)?, String::new());
                let batch = column.read(0..1, &mut scratch.scope())?;
                match csv::field(&mut text, &column, &batch, 0, true, &mut Ahead::default())? {
                    Written::Missing => {}
                    _ => row.push((part.name(k)?.to_owned(), text)),
                }
            }
            all.push(row);
            Ok(part.rows())
        });
        if let Err(e) = read {
            warn(&format!(
                "{}: the fields of the runs from {} on are unknown: {e}",
                input.path,
                all.len().saturating_add(1)
            ));
        }
    }
    Ok(all)
}

/// `info`: prints a line per run.
pub fn print(file: &File<'_>, input: &Input<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let runs = described(file, input)?;
    if !runs.is_empty() {
        writeln!(out, "\nrun   rows")?;
    }
    for Described { run, fields, tables } in runs {
        let rows: Vec<_> = tables.iter().map(|(name, rows)| format!("{} {rows}", escaped(name))).collect();
        let rows = if rows.is_empty() { "none".to_owned() } else { rows.join(", ") };
        let about: Vec<_> = fields.iter().map(|(name, text)| format!("{} {}", escaped(name), escaped(text))).collect();
        let about = match run {
            0 => "; before the first run that is still here".to_owned(),
            _ if about.is_empty() => String::new(),
            _ => format!("; {}", about.join(", ")),
        };
        writeln!(out, "{run:<4}  {rows}{about}")?;
    }
    Ok(())
}

/// `info --json`: returns the runs; `None` for a file without marks of runs.
pub fn document(file: &File<'_>, input: &Input<'_>) -> Result<Option<Value>, Failure> {
    let runs = described(file, input)?;
    let run = |Described { run, fields, tables }: Described| {
        let fields: serde_json::Map<_, _> = fields.into_iter().map(|(name, text)| (name, text.into())).collect();
        let tables: serde_json::Map<_, _> = tables.into_iter().map(|(name, rows)| (name, rows.into())).collect();
        json!({ "run": run, "fields": fields, "rows": tables })
    };
    Ok(if runs.is_empty() { None } else { Some(runs.into_iter().map(run).collect()) })
}
