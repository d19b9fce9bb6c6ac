//! `info`: describes a file.

use std::io::Write;
use std::ops::Range;

use console::measure_text_width;
use pilaster::any::File;
use pilaster::column::{Column, Memory, Part as _};
use serde_json::{Map, Value, json};

use crate::args::Info;
use crate::columns::Columns;
use crate::escape::escaped;
use crate::failure::Failure;
use crate::feed::{Chosen, Windows};
use crate::open::{Input, part_room};
use crate::parts::{Parts, STEP};
use crate::progress::Progress;
use crate::runs;
use crate::special::Special;
use crate::tables::Table;
use crate::walk::batches;

pub fn run(
    input: &Input,
    file: &File<'_>,
    special: &dyn Special,
    how: &Info,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let tables = if how.json || !how.verbose { special.tables(input, file)? } else { Vec::new() };
    if how.json {
        return Ok(writeln!(out, "{}", document(input, file, special, how, &tables)?)?);
    }
    writeln!(out, "file      {}", escaped(&input.path))?;
    if input.dataset().is_none() {
        writeln!(out, "format    {}", input.format)?;
        writeln!(out, "size      {} bytes", input.len())?;
    }
    // Without a table there is nothing shorter to say.
    if tables.is_empty() {
        special.info(input, out)?;
        return runs::print(file, input, out);
    }
    if input.dataset().is_some() {
        writeln!(out, "format    {}", input.format)?;
    }
    print(&tables, out)?;
    runs::print(file, input, out)
}

/// Prints the columns of tables.
pub fn print(tables: &[Table], out: &mut dyn Write) -> Result<(), Failure> {
    for table in tables {
        if table.name.is_empty() {
            writeln!(out, "rows      {}", table.rows)?;
        } else {
            writeln!(out, "\ntable     {}", escaped(&table.name))?;
            writeln!(out, "rows      {}", table.rows)?;
        }
        for (name, text) in &table.about {
            writeln!(out, "{:<9} {}", escaped(name), escaped(text))?;
        }
        let names: Vec<_> = table.columns.iter().map(|column| escaped(&column.name)).collect();
        let width = names.iter().map(|name| measure_text_width(name)).fold("column".len(), usize::max);
        writeln!(out, "\n{:width$}  type", "column")?;
        for (name, column) in names.iter().zip(&table.columns) {
            let pad = width.saturating_sub(measure_text_width(name));
            let about = about(&column.about);
            writeln!(
                out,
                "{name}{:pad$}  {}{}{about}",
                "",
                escaped(&column.ty),
                if column.nullable { "?" } else { "" }
            )?;
        }
    }
    Ok(())
}

/// Returns what the file says about a column, after its type.
fn about(all: &[(String, String)]) -> String {
    all.iter().map(|(name, text)| format!("; {} {}", escaped(name), escaped(text))).collect()
}

/// Returns the document of `info --json`.
fn document(
    input: &Input,
    file: &File<'_>,
    special: &dyn Special,
    how: &Info,
    tables: &[Table],
) -> Result<Value, Failure> {
    let mut described = Vec::new();
    for table in tables {
        let counts = match how.verbose {
            true => {
                let columns = Columns::numbered(table.columns.iter().map(|column| column.name.clone()));
                let windows = Windows::new(input, file, Some(&table.name));
                counts(&Chosen { windows, columns: &columns }, part_room(file)?)?
            }
            false => Vec::new(),
        };
        described.push(self::described(table, &counts));
    }
    let mut document = Map::new();
    document.insert("file".to_owned(), input.path.as_str().into());
    document.insert("format".to_owned(), input.format.name().into());
    if input.dataset().is_none() {
        document.insert("size".to_owned(), input.len().into());
    }
    document.insert("tables".to_owned(), described.into());
    if let Some(runs) = runs::document(file, input)? {
        document.insert("runs".to_owned(), runs);
    }
    if how.verbose {
        let facts = special.facts(input)?.into_iter().map(|(name, value)| (name.to_owned(), value));
        document.insert("facts".to_owned(), facts.collect::<Map<_, _>>().into());
    }
    Ok(document.into())
}

/// Returns the document about a table.
pub fn described(table: &Table, counts: &[Count]) -> Value {
    let columns = table.columns.iter().map(|column| {
        let mut value = Map::new();
        value.insert("name".to_owned(), column.name.as_str().into());
        value.insert("type".to_owned(), column.ty.as_str().into());
        value.insert("nullable".to_owned(), column.nullable.into());
        add_about(&mut value, &column.about);
        if let Some(count) = counts.iter().find(|count| count.name == column.name) {
            value.insert("missing".to_owned(), count.missing.into());
        }
        Value::from(value)
    });
    let mut value = json!({ "name": table.name, "rows": table.rows, "columns": columns.collect::<Vec<_>>() });
    if let Some(value) = value.as_object_mut() {
        add_about(value, &table.about);
    }
    value
}

/// Adds what the file says about a table or a column: names of its own, which must not replace ours.
fn add_about(value: &mut Map<String, Value>, about: &[(String, String)]) {
    if !about.is_empty() {
        let about = about.iter().map(|(name, text)| (name.clone(), text.as_str().into()));
        value.insert("about".to_owned(), about.collect::<Map<_, _>>().into());
    }
}

/// The counts of one column over all parts.
pub struct Count {
    name: String,
    ty: String,
    rows: u64,
    missing: u64,
}

/// Prints a line per column.
pub fn columns(table: &dyn Parts, room: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let counts = counts(table, room)?;
    let name = counts.iter().map(|count| count.name.len()).fold("column".len(), usize::max);
    let ty = counts.iter().map(|count| count.ty.len()).fold("type".len(), usize::max);
    writeln!(out, "\n{:name$}  {:ty$}  {:>10}  {:>10}", "column", "type", "rows", "missing")?;
    for count in &counts {
        writeln!(out, "{:name$}  {:ty$}  {:>10}  {:>10}", count.name, count.ty, count.rows, count.missing)?;
    }
    Ok(())
}

/// Reads all rows of a table. Returns the number of rows and of missing values of each column.
fn counts(table: &dyn Parts, room: u64) -> Result<Vec<Count>, Failure> {
    let mut memory = Memory::with_len(room)?;
    let mut counts: Vec<Count> = Vec::new();
    table.each(&mut memory.scratch(), &mut |part, rows, full, _| {
        let mut progress = Progress::new(part.rows(), false);
        for k in counts.len()..part.width() {
            let (name, ty) = (part.name(k)?.to_owned(), part.column(k)?.ty().to_string());
            counts.push(Count { name, ty, rows: 0, missing: 0 });
        }
        let mut row = rows.start;
        while row < part.rows() {
            // All columns up to the same row, so that the bytes of all can be released.
            let columns = (0..part.width()).map(|k| part.column(k)).collect::<Result<Vec<_>, _>>()?;
            let mut end = part.rows().min(row.saturating_add(STEP));
            let known = columns.iter().map(|column| Ok(known(column, row, part.rows())?.map_or(0, |(_, len)| len)));
            let known = known.collect::<Result<Vec<u64>, Failure>>()?;
            if let Some(least) = known.into_iter().min() {
                end = end.max(row.saturating_add(least)).min(part.rows());
            }
            for (count, column) in counts.iter_mut().zip(&columns) {
                count.rows = count.rows.saturating_add(end.saturating_sub(row));
                count.missing = count.missing.saturating_add(missing(column, row..end)?);
            }
            row = end;
            progress.at(row);
            if full() {
                break;
            }
        }
        Ok(row)
    })?;
    Ok(counts)
}

/// Minimum number of rows whose validity is known that are worth leaving a batch for.
const KNOWN: u64 = 1 << 12;

/// Returns whether `row` has a value, and the number of rows before `end` for which this is the same, if they are
/// enough.
fn known<C: Column>(column: &C, row: u64, end: u64) -> Result<Option<(bool, u64)>, Failure> {
    let left = end.saturating_sub(row);
    let known = column.known_validity(row)?.map(|(valid, len)| (valid, len.min(left)));
    Ok(known.filter(|(_, len)| *len >= KNOWN.min(left)))
}

/// Returns the number of `rows` without a value. Rows whose validity is known are not read.
fn missing<C: Column>(column: &C, rows: Range<u64>) -> Result<u64, Failure> {
    let (mut row, mut missing) = (rows.start, 0u64);
    while row < rows.end {
        if let Some((valid, len)) = known(column, row, rows.end)? {
            missing = missing.saturating_add(if valid { 0 } else { len });
            row = row.saturating_add(len);
            continue;
        }
        batches(column, row..rows.end, |batch| {
            missing = missing.saturating_add(batch.validity.nulls(batch.len) as u64);
            row = row.saturating_add(batch.len as u64);
            Ok::<_, Failure>(())
        })?;
    }
    Ok(missing)
}
