//! `info`: describes a file.

use std::io::Write;

use console::measure_text_width;
use pilaster::any::File;
use pilaster::column::{self, Column as _, Memory, Part as _, Table as _};
use serde_json::{Map, Value, json};

use crate::args::Info;
use crate::columns::Columns;
use crate::escape::escaped;
use crate::failure::Failure;
use crate::open::{Input, part_room};
use crate::progress::Progress;
use crate::special::Special;
use crate::type_name::type_name;
use crate::walk::batches;

/// A table, as far as it is known without reading rows.
pub struct Table {
    pub name: String,
    pub rows: u64,
    pub columns: Vec<Column>,
}

/// A column, as far as it is known without reading rows.
pub struct Column {
    pub name: String,
    pub ty: String,
    pub nullable: bool,
}

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

/// Returns the tables of a file whose columns are known from its first part.
pub fn tables(input: &Input, file: &File<'_>) -> Result<Vec<Table>, Failure> {
    // Parts of these formats lie ready in the file.
    let ready = matches!(file, File::Filo(_) | File::Jay(_) | File::Vortex(_));
    let mut memory = if ready { Memory::default() } else { Memory::with_len(part_room(file)?)? };
    let mut tables = Vec::new();
    for name in file.tables() {
        let mut table = file.table(Some(name))?;
        let mut known = Table { name: name.to_owned(), rows: 0, columns: Vec::new() };
        let mut outer = memory.scratch();
        while let Some(part) = table.next_part(&mut outer.scope())? {
            if known.columns.is_empty() {
                known.columns = described(&part, input)?;
            }
            known.rows = known.rows.saturating_add(part.rows());
            known.rows = known.rows.saturating_add(table.skip(u64::MAX)?);
        }
        tables.push(known);
    }
    Ok(tables)
}

/// Returns the columns of a part.
pub fn described<P: column::Part>(part: &P, input: &Input) -> Result<Vec<Column>, Failure> {
    let columns = Columns::all(part, input.rules())?;
    let column = |(k, name): (&usize, String)| {
        // An unknown encoding of one column says nothing about the others.
        let known = part.column(*k).and_then(|column| Ok((type_name(&column, "vortex", false)?, column.nullable())));
        let (ty, nullable) = known.unwrap_or_else(|e| (format!("cannot be read: {e}"), false));
        Column { name, ty, nullable }
    };
    Ok(columns.numbers.iter().zip(columns.names).map(column).collect())
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

/// Reads all rows of a table, and counts those of each column.
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

/// Returns the number of missing rows. Reads nothing if the column is not nullable.
fn missing<C: column::Column>(column: &C) -> Result<u64, Failure> {
    if !column.nullable() {
        return Ok(0);
    }
    let mut progress = Progress::new(column.rows(), false);
    let (mut row, mut missing) = (0u64, 0u64);
    batches(column, 0..column.rows(), |batch| {
        missing = missing.saturating_add(batch.validity.nulls(batch.len) as u64);
        row = row.saturating_add(batch.len as u64);
        progress.at(row);
        Ok::<_, Failure>(())
    })?;
    Ok(missing)
}
