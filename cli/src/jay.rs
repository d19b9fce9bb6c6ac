//! Facts about Jay files: types, keys, statistics, buffers, problems.

use std::io::Write;

use pilaster::any::File as AnyFile;
use pilaster::column::{Memory, Part as _};
use pilaster::jay::{DATA, Field, File, Layout, Stats, VALIDITY};
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::digits;
use crate::dump;
use crate::failure::{Failure, warn};
use crate::feed::{Chosen, Windows};
use crate::jay_layout::{layout, stype_name};
use crate::open::{self, Input, check_room};
use crate::special::Special;

impl Special for File<'_> {
    fn info(&self, input: &Input, out: &mut dyn Write) -> Result<(), Failure> {
        let columns = Columns::all(self, input.rules())?;
        let (tail, keys) = (self.tail(), self.meta().keys());
        writeln!(out, "rows      {}", self.rows())?;
        writeln!(out, "columns   {}", self.width())?;
        if keys > 0 {
            writeln!(out, "key       {}", columns.names.get(..keys).unwrap_or_default().join(", "))?;
        }
        writeln!(out, "data      {} bytes at {}", tail.data().len, tail.data().at)?;
        writeln!(out, "metadata  {} bytes at {}", tail.meta.len, tail.meta.at)?;
        fields(self, &columns, out)
    }

    fn dump(&self, input: &Input, file: &AnyFile<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        let columns = Columns::all(self, input.rules())?;
        let mut heads = dump::heads(&columns.of(*self), "jay", |_| false)?;
        for (head, k) in heads.iter_mut().zip(&columns.numbers) {
            let field = self.meta().field(*k)?;
            head.nullable = field.null_count() > 0;
            head.facts = vec![("stype", stype_name(&field)?.into())];
        }
        let table = Chosen { windows: Windows::new(input, file, None), columns: &columns };
        dump::table(self.rows(), &facts(self, &columns)?, &heads, &table, 0, out)
    }

    /// The first problem is the failure. With `--tolerant`, problems are warnings on standard error.
    fn verify(&self, input: &Input, file: &AnyFile<'_>) -> Result<(), Failure> {
        let mut memory = Memory::with_len(check_room(file)?)?;
        let mut first = None;
        self.problems(&mut memory.scratch(), &mut |k, error| {
            let of = match k {
                Some(k) => format!("column {k} {:?}: ", self.name(k).unwrap_or_default()),
                None => String::new(),
            };
            match input.tolerant {
                true => warn(&format!("{}: {of}{error}", input.path)),
                false => drop(first.get_or_insert_with(|| Failure::Input(format!("{of}{error}")))),
            }
        });
        first.map_or(Ok(()), Err)
    }

    /// Without `--tolerant`, [`verify`](Special::verify) found no problem.
    fn verified(&self, input: &Input, file: &AnyFile<'_>) -> Result<String, Failure> {
        if input.tolerant {
            open::verify(file)?;
        }
        let (rows, columns, size) = (self.rows(), self.width(), input.len());
        Ok(format!("{rows} rows in {columns} columns, {size} bytes, jay"))
    }

    fn facts(&self, input: &Input) -> Result<Vec<(&'static str, Value)>, Failure> {
        facts(self, &Columns::all(self, input.rules())?)
    }

    fn keys(&self) -> usize {
        self.meta().keys()
    }
}

/// Returns the facts about the file.
fn facts(file: &File<'_>, columns: &Columns) -> Result<Vec<(&'static str, Value)>, Failure> {
    let (tail, keys) = (file.tail(), file.meta().keys());
    let mut facts = vec![
        ("meta_size", json!(tail.meta.len)),
        ("data_section_bytes", json!(tail.data().len)),
        ("nkeys", json!(keys)),
    ];
    if keys > 0 {
        facts.push(("key", json!(columns.names.get(..keys).unwrap_or_default())));
    }
    let columns = columns.numbers.iter().zip(&columns.names);
    let layouts = columns.map(|(k, name)| layout(&file.meta().field(*k)?, Some(name)));
    facts.push(("layout", layouts.collect::<pilaster::Result<_>>()?));
    Ok(facts)
}

/// Returns minimum and maximum as text.
fn bounds(stats: Stats) -> Vec<String> {
    match stats {
        Stats::Empty => Vec::new(),
        Stats::Int { min, max } => vec![min.to_string(), max.to_string()],
        Stats::Float32 { min, max } => vec![digits::float(min), digits::float(max)],
        Stats::Float64 { min, max } => vec![digits::float(min), digits::float(max)],
    }
}

/// `info`: prints a line per column with statistics and the positions of the buffers. Does not read the data.
fn fields(file: &File<'_>, columns: &Columns, out: &mut dyn Write) -> Result<(), Failure> {
    let mut lines = vec![["column", "type", "layout", "missing", "minimum", "maximum", "buffers"].map(str::to_owned)];
    for (k, name) in columns.numbers.iter().zip(&columns.names) {
        let field = file.meta().field(*k)?;
        let ends = field.stats()?.map(bounds).unwrap_or_default();
        let end = |i: usize| ends.get(i).cloned().unwrap_or_default();
        lines.push([
            name.clone(),
            stype_name(&field)?,
            if field.layout() == Layout::Old { "old".to_owned() } else { "new".to_owned() },
            field.null_count().to_string(),
            end(0),
            end(1),
            places(&field)?,
        ]);
    }
    let mut widths = [0; 7];
    for line in &lines {
        for (width, text) in widths.iter_mut().zip(line) {
            *width = text.chars().count().max(*width);
        }
    }
    writeln!(out)?;
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(widths).map(|(text, width)| format!("{text:<width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}

/// Returns the sizes and file offsets of the buffers of a column and its children, as text.
fn places(field: &Field<'_>) -> pilaster::Result<String> {
    let mut places = Vec::new();
    let roles = if field.stype().is_text() { ["validity", "offsets", "text"] } else { ["validity", "data", ""] };
    let count = field.stype().buffers();
    for (i, (span, role)) in field.buffers().iter().zip(roles).enumerate().take(count) {
        let role = if field.stype().is_array() && i == DATA { "offsets" } else { role };
        if span.len > 0 || i != VALIDITY {
            places.push(format!("{role} {}@{}", span.len, span.at));
        }
    }
    if let Some(child) = field.child()? {
        places.push(format!("[{}]", self::places(&child)?));
    }
    Ok(places.join(" "))
}
