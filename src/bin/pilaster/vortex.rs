//! What `info` and `dump` say of a Vortex file alone: its tree of layouts and encodings, and their bytes.

use std::io::Write;

use pilaster::column::Part;
use pilaster::error::Result;
use pilaster::vortex::{File, Role, Visit};
use serde_json::{Value, json};

use crate::Failure;

/// Draws the layouts, and lists per column which encodings hold its bytes.
pub fn info(file: &File<'_>, out: &mut impl Write) -> std::result::Result<(), Failure> {
    writeln!(out, "rows      {}", file.rows()?)?;
    writeln!(out, "segments  {}", file.segments())?;
    for i in 0..file.metadata_len() {
        let (key, span) = file.metadata(i)?;
        writeln!(out, "metadata  {key}: {} bytes at {}", span.len, span.at)?;
    }
    writeln!(out, "\nlayout")?;
    let mut lines = Vec::new();
    file.visit(true, &mut |visit| {
        lines.push(layout(visit));
        Ok(())
    })?;
    for line in lines {
        writeln!(out, "{line}")?;
    }
    encodings(file, out)
}

fn layout(visit: &Visit<'_>) -> String {
    let role = match visit.role {
        Role::Root => String::new(),
        Role::Field(name) => format!("{name}: "),
        Role::Validity => "validity: ".to_owned(),
        Role::Chunk(k) => format!("[{k}] "),
        Role::Values => "values: ".to_owned(),
        Role::Codes => "codes: ".to_owned(),
        Role::Data => "data: ".to_owned(),
        Role::Zones => "zones: ".to_owned(),
        Role::Child(k) => format!("({k}) "),
    };
    let id = String::from_utf8_lossy(visit.id);
    let mut line = format!("{}{role}{id}", "  ".repeat(usize::from(visit.depth).saturating_add(1)));
    if let Some(rows) = visit.rows {
        line.push_str(&format!(", {rows} rows"));
    }
    if let Some(span) = visit.segment {
        line.push_str(&format!(", {} bytes at {}", span.len, span.at));
    }
    line
}

/// What one encoding holds of one column.
struct Share {
    column: Option<usize>,
    id: String,
    arrays: u64,
    bytes: u64,
}

fn encodings(file: &File<'_>, out: &mut impl Write) -> std::result::Result<(), Failure> {
    let shares = shares(file)?;
    let part = file.part()?;
    writeln!(out, "\nencodings of each column, with the bytes of their own buffers and metadata")?;
    for share in &shares {
        let name = match share.column {
            Some(k) => part.name(k)?.to_owned(),
            None => "(root)".to_owned(),
        };
        writeln!(out, "  {name}: {}, {} arrays, {} bytes", share.id, share.arrays, share.bytes)?;
    }
    Ok(())
}

/// Arrays of each encoding in each column, columns in order, the largest encodings first.
fn shares(file: &File<'_>) -> Result<Vec<Share>> {
    let mut shares: Vec<Share> = Vec::new();
    file.visit(false, &mut |visit| {
        if !visit.is_array {
            return Ok(());
        }
        let zones = if visit.in_zones { " (zones)" } else { "" };
        let id = format!("{}{zones}", String::from_utf8_lossy(visit.id));
        match shares.iter_mut().find(|share| share.column == visit.column && share.id == id) {
            Some(share) => {
                share.arrays = share.arrays.saturating_add(1);
                share.bytes = share.bytes.saturating_add(visit.bytes);
            }
            None => shares.push(Share { column: visit.column, id, arrays: 1, bytes: visit.bytes }),
        }
        Ok(())
    })?;
    shares.sort_by(|a, b| a.column.cmp(&b.column).then(b.bytes.cmp(&a.bytes)));
    Ok(shares)
}

/// What is particular to a Vortex file.
pub fn facts(file: &File<'_>) -> std::result::Result<Vec<(&'static str, Value)>, Failure> {
    Ok(vec![("file_bytes", json!(file.source().len())), ("rows", json!(file.rows()?))])
}
