//! `info`: describes a file.

use std::io::Write;

use console::measure_text_width;
use pilaster::any::File;
use pilaster::column::{self, Column as _, Memory, Part as _};
use serde_json::{Map, Value, json};

use crate::args::Info;
use crate::escape::escaped;
use crate::failure::Failure;
use crate::open::{Input, part_room};
use crate::progress::Progress;
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
        return special.info(input, out);
    }
    if input.dataset().is_some() {
        writeln!(out, "format    {}", input.format)?;
    }
    for table in &tables {
        if table.name.is_empty() {
            writeln!(out, "rows      {}", table.rows)?;
        } else {
            writeln!(out, "\ntable     {}", escaped(&table.name))?;
            writeln!(out, "rows      {}", table.rows)?;
        }
        let names: Vec<_> = table.columns.iter().map(|column| escaped(&column.name)).collect();
        let width = names.iter().map(|name| measure_text_width(name)).fold("column".len(), usize::max);
        writeln!(out, "\n{:width$}  type", "column")?;
        for (name, column) in names.iter().zip(&table.columns) {
            let pad = width.saturating_sub(measure_text_width(name));
            writeln!(out, "{name}{:pad$}  {}{}", "", escaped(&column.ty), if column.nullable { "?" } else { "" })?;
        }
    }
    Ok(())
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
            true => counts(&mut file.table(Some(&table.name))?, part_room(file)?)?,
            false => Vec::new(),
        };
        let columns = table.columns.iter().map(|column| {
            let mut value = Map::new();
            value.insert("name".to_owned(), column.name.as_str().into());
            value.insert("type".to_owned(), column.ty.as_str().into());
            value.insert("nullable".to_owned(), column.nullable.into());
            if let Some(count) = counts.iter().find(|count| count.name == column.name) {
                value.insert("missing".to_owned(), count.missing.into());
            }
            Value::from(value)
        });
        described.push(json!({ "name": table.name, "rows": table.rows, "columns": columns.collect::<Vec<_>>() }));
    }
    let mut document = Map::new();
    document.insert("file".to_owned(), input.path.as_str().into());
    document.insert("format".to_owned(), input.format.name().into());
    if input.dataset().is_none() {
        document.insert("size".to_owned(), input.len().into());
    }
    document.insert("tables".to_owned(), described.into());
    if how.verbose {
        let facts = special.facts(input)?.into_iter().map(|(name, value)| (name.to_owned(), value));
        document.insert("facts".to_owned(), facts.collect::<Map<_, _>>().into());
    }
    Ok(document.into())
}

/// The counts of one column over all parts.
struct Count {
    name: String,
    ty: String,
    rows: u64,
    missing: u64,
}

/// Prints a line per column.
pub fn columns<T: column::Table>(table: &mut T, room: u64, out: &mut dyn Write) -> Result<(), Failure> {
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
fn counts<T: column::Table>(table: &mut T, room: u64) -> Result<Vec<Count>, Failure> {
    let mut memory = Memory::with_len(room)?;
    let mut outer = memory.scratch();
    let mut counts: Vec<Count> = Vec::new();
    while let Some(part) = table.next_part(&mut outer.scope())? {
        for k in 0..part.width() {
            let column = part.column(k)?;
            if counts.len() == k {
                counts.push(Count { name: part.name(k)?.to_owned(), ty: column.ty().to_string(), rows: 0, missing: 0 });
            }
            if let Some(count) = counts.get_mut(k) {
                count.rows = count.rows.saturating_add(column.rows());
                count.missing = count.missing.saturating_add(missing(&column)?);
            }
        }
    }
    Ok(counts)
}

/// Minimum number of rows whose validity is known that are worth leaving a batch for.
const KNOWN: u64 = 1 << 12;

/// Maximum number of rows that are read before the validity of the next ones is asked for.
const READ: u64 = 1 << 20;

/// Returns the number of rows without a value. Rows whose validity is known are not read.
fn missing<C: column::Column>(column: &C) -> Result<u64, Failure> {
    let mut progress = Progress::new(column.rows(), false);
    let (mut row, mut missing) = (0u64, 0u64);
    while row < column.rows() {
        if let Some((valid, len)) = column.known_validity(row)?.filter(|(_, len)| *len >= KNOWN.min(column.rows())) {
            missing = missing.saturating_add(if valid { 0 } else { len });
            row = row.saturating_add(len);
            continue;
        }
        let end = column.rows().min(row.saturating_add(READ));
        batches(column, row..end, |batch| {
            missing = missing.saturating_add(batch.validity.nulls(batch.len) as u64);
            row = row.saturating_add(batch.len as u64);
            progress.at(row);
            Ok::<_, Failure>(())
        })?;
    }
    Ok(missing)
}
