//! `info`, `verify` and `cat` of Parquet, Arrow, CSV and JSON lines.

use std::collections::BTreeMap;
use std::io::Write;

use console::measure_text_width;
use pilaster::column::{Memory, Table as _};
use pilaster_arrow::input::{FileKind, Storage};
use pilaster_arrow::{Batches, Source as _};
use serde_json::{Value, json};

use super::rows::{Rows, bound, prune};
use super::source::{Foreign, failed, refused};
use crate::args::{Info, Verify};
use crate::columns::Rules;
use crate::escape::escaped;
use crate::failure::Failure;
use crate::info::{described, print};
use crate::tables::{self, Table};
use crate::walk::{self, Choice, Pause, Walk, Walked};

/// Describes a file.
pub fn info(mut foreign: Foreign, how: &Info, out: &mut dyn Write) -> Result<(), Failure> {
    let storage = how.verbose.then(|| foreign.files.storage());
    if let Some(None) = storage {
        let why = format!("{}: --verbose is not for {}, which says nothing more", foreign.path, foreign.kind);
        return Err(Failure::Usage(why));
    }
    let storage = storage.flatten();
    let schema = foreign.files.schema();
    let metadata: BTreeMap<_, _> = schema.metadata().iter().collect();
    let (path, kind, len, rows) = (foreign.path.clone(), foreign.kind, foreign.len, foreign.rows()?);
    let mut table = Batches::tolerant(foreign.files).map_err(failed)?;
    table.choose(Some(&[]));
    let mut memory = Memory::default();
    let mut columns = match table.next_part(&mut memory.scratch())? {
        Some(part) => tables::described(&part, Rules::default())?,
        None => Vec::new(),
    };
    for k in table.refused() {
        if let (Some(column), Some(field)) = (columns.get_mut(k), table.schema().fields().get(k)) {
            (column.ty, column.nullable) = (format!("{} of Arrow", field.data_type()), field.is_nullable());
        }
    }
    let table = Table { name: String::new(), rows, columns, about: Vec::new() };
    if how.json {
        let tables = [described(&table, &[])];
        let mut document = json!({ "file": path, "format": kind.to_string(), "size": len, "tables": tables });
        if let (Some(storage), Some(document)) = (&storage, document.as_object_mut()) {
            document.insert("facts".to_owned(), facts(storage));
            document.insert("metadata".to_owned(), json!(metadata));
        }
        return Ok(writeln!(out, "{document}")?);
    }
    writeln!(out, "file      {}", escaped(&path))?;
    writeln!(out, "format    {kind}")?;
    writeln!(out, "size      {len} bytes")?;
    print(&[table], out)?;
    if storage.is_some() && !metadata.is_empty() {
        writeln!(out)?;
        metadata.iter().try_for_each(|(key, value)| writeln!(out, "metadata  {}: {}", escaped(key), escaped(value)))?;
    }
    storage.map_or(Ok(()), |storage| stored(&storage, kind, out))
}

/// Returns the document about how a file is stored.
fn facts(storage: &Storage) -> Value {
    let columns = storage.columns.iter().map(|column| {
        json!({
            "name": column.name, "type": column.ty, "encodings": column.encodings,
            "compressions": column.compressions, "stored": column.stored, "unpacked": column.unpacked,
            "missing": column.missing,
        })
    });
    json!({ "writer": storage.writer, "groups": storage.groups, "columns": columns.collect::<Vec<_>>() })
}

/// Prints how a file is stored.
fn stored(storage: &Storage, kind: FileKind, out: &mut dyn Write) -> Result<(), Failure> {
    let groups = if kind == FileKind::Parquet { "row groups" } else { "record batches" };
    writeln!(out, "\ngroups    {} {groups}", storage.groups)?;
    if let Some(writer) = &storage.writer {
        writeln!(out, "writer    {}", escaped(writer))?;
    }
    if storage.columns.is_empty() {
        return Ok(());
    }
    let mut lines =
        vec![["column", "stored as", "stored", "unpacked", "missing", "compression", "encodings"].map(str::to_owned)];
    lines.extend(storage.columns.iter().map(|column| {
        let missing = column.missing.map_or_else(|| "unknown".to_owned(), |missing| missing.to_string());
        let (compressions, encodings) = (column.compressions.join(", "), column.encodings.join(", "));
        let (stored, unpacked) = (column.stored.to_string(), column.unpacked.to_string());
        [escaped(&column.name).into_owned(), column.ty.clone(), stored, unpacked, missing, compressions, encodings]
    }));
    writeln!(out)?;
    let mut widths = [0; 7];
    for line in &lines {
        widths.iter_mut().zip(line).for_each(|(width, cell)| *width = measure_text_width(cell).max(*width));
    }
    for line in &lines {
        let mut text = String::new();
        for ((cell, width), k) in line.iter().zip(widths).zip(0..) {
            let pad = " ".repeat(width.saturating_sub(measure_text_width(cell)));
            // Numbers end at the same place.
            let is_number = (2..5).contains(&k);
            text.push_str(&if is_number { format!("{pad}{cell}  ") } else { format!("{cell}{pad}  ") });
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

/// Reads all values.
pub fn verify(mut foreign: Foreign, how: &Verify, out: &mut dyn Write) -> Result<(), Failure> {
    let (path, kind) = (foreign.path.clone(), foreign.kind);
    let (batches, _) = foreign.files.open(None, 0).map_err(failed)?;
    let (mut rows, mut count) = (0u64, 0u64);
    for batch in batches {
        let batch = batch.map_err(|e| failed(e.into()))?;
        for array in batch.columns() {
            array.to_data().validate_full().map_err(|e| failed(e.into()))?;
        }
        rows = rows.saturating_add(batch.num_rows() as u64);
        count = count.saturating_add(1);
    }
    let verified = format!("{kind}, {rows} rows in {count} batches are read");
    if how.json {
        let document = json!({ "file": path, "format": kind.to_string(), "ok": true, "verified": verified });
        return Ok(writeln!(out, "{document}")?);
    }
    Ok(writeln!(out, "{path}: ok, {verified}")?)
}

/// Passes the chosen rows of a file to `to`. Returns the number of rows up to the last one that was read.
pub fn cat<R: walk::Rows>(foreign: Foreign, choice: Choice<'_>, to: &mut R) -> Result<u64, Failure> {
    let rows = |files| Rows::new(files, &foreign.input, None).with_integers_for_durations();
    let source = rows(foreign.files);
    let types = source.durations();
    let choice = Choice { types: &types, ..choice };
    let mut table = Batches::tolerant(source).map_err(failed)?;
    // The numbers of rows would not count those that are left out.
    if choice.conditions.trust_statistics && *choice.rows == (0..u64::MAX) {
        let (_, filter) = bound(&mut table, choice.conditions)?;
        let mut files = table.into_source().files;
        if let Some(filter) = &filter {
            prune(&mut files, filter)?;
        }
        table = Batches::tolerant(rows(files)).map_err(failed)?;
    }
    let (mut walked, first) = (Walked::default(), table.skip(choice.rows.start)?);
    let mut walk = Walk::resume(choice, &mut walked, first);
    let done = walk.step(&mut table, Pause::Never, &mut |_| {}, to);
    match table.failed() {
        Some(e) => done.map_err(|_| refused(e))?,
        None => done?,
    };
    Ok(walked.passed)
}
