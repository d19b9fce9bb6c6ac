//! `dump`: every value exactly, as one JSON document.

use std::io::Write;

use pilaster::any::File;
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Part, Table, Type};
use pilaster::error::Error;
use pilaster::filo::{self, Element, Vector};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::bcolz;
use crate::cell::Cell;
use crate::dataseries;
use crate::jay;
use crate::json::{self, Style};
use crate::open::{self, Input, part_room};
use crate::progress::Progress;
use crate::vortex;
use crate::walk::batches;

/// A column of up to so many rows is shown in full.
const SHOWN: u64 = 2000;
/// So many rows are shown at either end of a longer one.
const ENDS: u64 = 20;

pub fn run(input: &Input, file: &File<'_>, out: &mut impl Write) -> Result<(), Failure> {
    // First, so that nothing is printed about a damaged file.
    let room = part_room(file)?;
    match file {
        // What can be read is asked for, and the rest is said.
        File::Jay(frame) => jay::verify(input, frame)?,
        _ => open::verify(file)?,
    }
    write!(out, "{{\n \"file\": {}, \"format\": \"{}\",\n", Value::from(input.name.as_str()), file.format())?;
    match file {
        File::Filo(vector) => {
            writeln!(out, " \"nrows\": {},", vector.rows())?;
            facts(&filo_facts(vector, &input.bytes), out)?;
            let mut heads = Vec::new();
            for k in 0..vector.width() {
                let column = vector.column(k)?;
                // Every element type of Filo has a missing value, whether the encoding can hold one or not.
                let (name, ty) = (vector.name(k)?.to_owned(), type_name(&column, file)?);
                heads.push(Head { name, ty, nullable: true, rows: vector.rows(), facts: Vec::new(), texts: false });
            }
            write!(out, ",\n \"columns\": [")?;
            columns(&mut filo::Table::new(*vector), &heads, room, "\n  ", out)?;
            write!(out, "\n ]")?;
        }
        File::Bcolz(chunk) => bcolz::dump_chunk(chunk, out)?,
        File::Jay(frame) => {
            let readable = jay::Readable::new(*frame, input)?;
            writeln!(out, " \"nrows\": {},", frame.rows())?;
            write!(out, " \"columns\": [")?;
            columns(&mut readable.table(), &readable.heads()?, room, "\n  ", out)?;
            writeln!(out, "\n ],")?;
            facts(&readable.facts()?, out)?;
        }
        File::Vortex(vortex) => {
            let part = vortex.part()?;
            writeln!(out, " \"nrows\": {},", part.rows())?;
            facts(&vortex::facts(vortex)?, out)?;
            let mut heads = Vec::new();
            for k in 0..part.width() {
                let column = part.column(k)?;
                let (name, ty) = (part.name(k)?.to_owned(), type_name(&column, file)?);
                let nullable = column.nullable();
                heads.push(Head { name, ty, nullable, rows: part.rows(), facts: Vec::new(), texts: false });
            }
            write!(out, ",\n \"columns\": [")?;
            columns(&mut vortex.table(), &heads, room, "\n  ", out)?;
            write!(out, "\n ]")?;
        }
        File::DataSeries(series) => {
            dataseries::tables(series, room, out)?;
            writeln!(out, ",")?;
            facts(&dataseries::facts(series, input.bytes.len())?, out)?;
        }
    }
    writeln!(out, "\n}}")?;
    Ok(())
}

/// Prints what is particular to a format.
pub fn facts(facts: &[(&'static str, Value)], out: &mut impl Write) -> Result<(), Failure> {
    write!(out, " \"facts\": {{")?;
    for (k, (key, value)) in facts.iter().enumerate() {
        write!(out, "{}\"{key}\": {value}", if k > 0 { ", " } else { "" })?;
    }
    Ok(write!(out, "}}")?)
}

/// What is said of a column before its values.
pub struct Head {
    pub name: String,
    pub ty: String,
    pub nullable: bool,
    /// Rows of all parts.
    pub rows: u64,
    /// What else is known of it.
    pub facts: Vec<(&'static str, Value)>,
    /// Whether its bytes are text.
    pub texts: bool,
}

/// Prints the objects of all columns, each behind `gap`.
pub fn columns<T: Table>(
    table: &mut T,
    heads: &[Head],
    room: usize,
    gap: &str,
    out: &mut impl Write,
) -> Result<(), Failure> {
    for (k, head) in heads.iter().enumerate() {
        let (name, ty) = (Value::from(head.name.as_str()), Value::from(head.ty.as_str()));
        write!(out, "{}{gap}{{", if k > 0 { "," } else { "" })?;
        write!(out, "\"name\": {name}, \"type\": {ty}, \"nullable\": {}", head.nullable)?;
        for (key, value) in &head.facts {
            write!(out, ", \"{key}\": {value}")?;
        }
        values(table, k, head, room, out)?;
        write!(out, "}}")?;
    }
    Ok(())
}

/// What is particular to a Filo vector. The header word is not kept by the view: the two high bytes
/// say nothing, except the row count of an empty vector.
fn filo_facts(vector: &Vector<'_>, bytes: &[u8]) -> Vec<(&'static str, Value)> {
    let word = bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let mut facts = vec![
        ("element_type", json!(filo_name(vector.element()))),
        ("header", json!(format!("0x{word:08x}"))),
        ("size_bytes", json!(bytes.len())),
    ];
    if matches!(vector.element(), Element::Timestamp | Element::DateTime) {
        facts.push(("unit", json!("milliseconds since epoch")));
    }
    facts
}

/// The element type in the format's own spelling.
pub const fn filo_name(element: Element) -> &'static str {
    match element {
        Element::Boolean => "Boolean",
        Element::Int => "Int",
        Element::Long => "Long",
        Element::Float => "Float",
        Element::Double => "Double",
        Element::String => "String",
        Element::Utf8 => "UTF8",
        Element::Blob => "Blob",
        Element::Timestamp => "Timestamp",
        Element::DateTime => "DateTime",
    }
}

/// Prints the values of column `k`.
fn values<T: Table>(table: &mut T, k: usize, head: &Head, room: usize, out: &mut impl Write) -> Result<(), Failure> {
    let mut memory = vec![0; room];
    let mut outer = Scratch::new(&mut memory);
    let (mut tape, mut text) = (Tape::new(head.rows), String::new());
    table.restart()?;
    loop {
        let mut scope = outer.scope();
        let Some(part) = table.next_part(&mut scope)? else { break };
        let column = part.column(k)?;
        batches(&column, 0..part.rows(), |batch| {
            for i in 0..batch.len {
                text.clear();
                Cell::at(batch, i)
                    .and_then(|cell| json::value(&mut text, &column, &cell.or_text(head.texts), Style::Exact))
                    .map_err(|e: Error| Failure::in_row(&head.name, batch.first.saturating_add(i as u64), e))?;
                tape.put(&text, out)?;
            }
            Ok::<_, Failure>(())
        })?;
    }
    tape.end(out)
}

/// The name of the type with those of its children.
fn type_name<C: Column>(column: &C, file: &File<'_>) -> pilaster::Result<String> {
    let child = |k| type_name(&column.child(k)?, file);
    Ok(match column.ty() {
        // What Filo calls a timestamp is a long by another name.
        Type::Timestamp(_) if matches!(file, File::Filo(_)) => "int64".to_owned(),
        Type::Timestamp(unit) => match column.zone()? {
            Some(zone) => format!("timestamp[{},{zone}]", unit.name()),
            None => format!("timestamp[{}]", unit.name()),
        },
        Type::List => format!("list<{}>", child(0)?),
        Type::FixedList(n) => format!("fixed_size_list<{},{n}>", child(0)?),
        Type::Map => {
            let entry = column.child(0)?;
            format!("map<{},{}>", type_name(&entry.child(0)?, file)?, type_name(&entry.child(1)?, file)?)
        }
        Type::Struct(n) => {
            let mut fields = Vec::new();
            for k in 0..n as usize {
                fields.push(format!("{}:{}", column.child_name(k)?, child(k)?));
            }
            format!("struct<{}>", fields.join(","))
        }
        other => other.to_string(),
    })
}

/// The values of one column as they go by.
pub struct Tape {
    rows: u64,
    done: u64,
    hash: Sha256,
    head: Vec<String>,
    tail: Vec<String>,
    progress: Progress,
}

impl Tape {
    pub fn new(rows: u64) -> Self {
        Tape {
            rows,
            done: 0,
            hash: Sha256::new(),
            head: Vec::new(),
            tail: Vec::new(),
            progress: Progress::new(rows, false),
        }
    }

    /// Takes the next value.
    pub fn put(&mut self, text: &str, out: &mut impl Write) -> Result<(), Failure> {
        if self.done > 0 {
            self.hash.update("\n");
        }
        self.hash.update(text);
        if self.rows <= SHOWN {
            write!(out, "{}{text}", if self.done > 0 { ", " } else { ", \"values\": [" })?;
        } else {
            if self.done < ENDS {
                self.head.push(text.to_owned());
            }
            if self.rows.saturating_sub(self.done) <= ENDS {
                self.tail.push(text.to_owned());
            }
        }
        self.done = self.done.saturating_add(1);
        if self.done.is_multiple_of(1 << 16) {
            self.progress.at(self.done);
        }
        Ok(())
    }

    /// Prints what is known at the end only.
    pub fn end(self, out: &mut impl Write) -> Result<(), Failure> {
        let digest: String = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if self.rows <= SHOWN {
            write!(out, "{}], \"sha256\": \"{digest}\"", if self.done > 0 { "" } else { ", \"values\": [" })?;
        } else {
            let (head, tail) = (self.head.join(", "), self.tail.join(", "));
            write!(out, ", \"sha256\": \"{digest}\", \"head\": [{head}], \"tail\": [{tail}]")?;
        }
        Ok(())
    }
}
