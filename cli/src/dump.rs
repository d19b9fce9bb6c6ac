//! `dump`: every value exactly, as one JSON document.

use std::io::{self, Seek as _, Write};

use pilaster::any::File;
use pilaster::column::{Column as _, Memory, Part, Type};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::digits;
use crate::failure::Failure;
use crate::json::{self, Ahead, Style};
use crate::open::Input;
use crate::parts::{self, Parts};
use crate::progress::Progress;
use crate::special::Special;
use crate::type_name::{Budget, type_name};

/// The longest column that is printed in full, in rows.
const SHOWN: u64 = 2000;
/// Number of bytes of a document that are kept in memory; a longer one goes to a temporary file.
const KEPT: usize = 1 << 22;
/// Number of rows that are printed at each end of a longer column.
const ENDS: u64 = 20;

pub fn run(input: &Input, file: &File<'_>, special: &dyn Special, out: &mut dyn Write) -> Result<(), Failure> {
    // First, so that nothing is printed about a damaged file.
    special.verify(input, file)?;
    // Kept until it is complete, so that an error leaves no half of it.
    let mut document = tempfile::spooled_tempfile(KEPT);
    let mut write = || {
        let name = Value::from(input.name.as_str());
        writeln!(document, "{{\n \"file\": {name}, \"format\": \"{}\",", input.format)?;
        special.dump(input, file, &mut document)?;
        Ok(writeln!(document, "\n}}")?)
    };
    write().map_err(|failure| match failure {
        Failure::Output(e) => Failure::Input(format!("the temporary file: {e}")),
        other => other,
    })?;
    document.rewind()?;
    io::copy(&mut document, out)?;
    Ok(())
}

/// Prints the facts of the format, then the only table of a file.
pub fn table(
    rows: u64,
    facts: &[(&'static str, Value)],
    heads: &[Head],
    table: &dyn Parts,
    room: u64,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, " \"nrows\": {rows},")?;
    self::facts(facts, out)?;
    write!(out, ",\n \"columns\": [")?;
    columns(table, heads, room, "\n  ", out)?;
    Ok(write!(out, "\n ]")?)
}

/// Prints the facts that are specific to a format.
pub fn facts(facts: &[(&'static str, Value)], out: &mut dyn Write) -> Result<(), Failure> {
    write!(out, " \"facts\": {{")?;
    for (k, (key, value)) in facts.iter().enumerate() {
        write!(out, "{}\"{key}\": {value}", if k > 0 { ", " } else { "" })?;
    }
    Ok(write!(out, "}}")?)
}

/// The name and type that are printed before the values of a column.
pub struct Head {
    pub name: String,
    pub ty: String,
    pub nullable: bool,
    /// The number of rows of all parts.
    pub rows: u64,
    /// Further members of the object of the column.
    pub facts: Vec<(&'static str, Value)>,
    /// True if its bytes are printed as text.
    pub texts: bool,
}

/// Returns the heads of all columns of `part`, for a format without further facts about a column.
pub fn heads<P: Part>(part: &P, format: &str, nullable: impl Fn(&P::Col) -> bool) -> Result<Vec<Head>, Failure> {
    let mut budget = Budget::default();
    let head = |k| {
        let column = part.column(k)?;
        let (name, ty) = (part.name(k)?.to_owned(), type_name(&column, (format, false), &mut budget)?);
        Ok(Head { name, ty, nullable: nullable(&column), rows: part.rows(), facts: Vec::new(), texts: false })
    };
    (0..part.width()).map(head).collect()
}

/// Prints an object for each column, preceded by `gap`.
pub fn columns(table: &dyn Parts, heads: &[Head], room: u64, gap: &str, out: &mut dyn Write) -> Result<(), Failure> {
    for (k, head) in heads.iter().enumerate() {
        let (name, ty) = (Value::from(head.name.as_str()), Value::from(head.ty.as_str()));
        write!(out, "{}{gap}{{", if k > 0 { "," } else { "" })?;
        write!(out, "\"name\": {name}, \"type\": {ty}, \"nullable\": {}", head.nullable)?;
        for (key, value) in &head.facts {
            write!(out, ", \"{key}\": {value}")?;
        }
        values(table, (k, None), head, room, out)?;
        write!(out, "}}")?;
    }
    Ok(())
}

/// Prints the values of column `k`. With `fields`, prints the values of the field at the end of that path; the values
/// of all dimensions are consecutive.
pub fn values(
    table: &dyn Parts,
    (k, fields): (usize, Option<&[usize]>),
    head: &Head,
    room: u64,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut memory = Memory::with_len(room)?;
    let (mut tape, mut text) = (Tape::new(head.rows), String::new());
    table.each(&mut memory.scratch(), &mut |part, rows, full, _| {
        let mut column = part.column(k)?;
        if let Some(fields) = fields {
            while let Type::FixedList(_) = column.ty() {
                column = column.child(0)?;
            }
            column = fields.iter().try_fold(column, |column, field| column.child(*field))?;
        }
        parts::rows(&column, rows.start, full, |batch| {
            let mut ahead = Ahead::default();
            for i in 0..batch.len {
                text.clear();
                json::value(&mut text, &column, batch, i, (Style::Exact, head.texts), &mut ahead)
                    .map_err(|e| Failure::in_row(&head.name, batch.first.saturating_add(i as u64), e))?;
                tape.put(&text, out)?;
            }
            Ok(())
        })
    })?;
    tape.end(out)
}

/// Prints the values of one column, of a long one the first and the last, and computes their digest.
struct Tape {
    rows: u64,
    done: u64,
    hash: Sha256,
    head: Vec<String>,
    tail: Vec<String>,
    progress: Progress,
}

impl Tape {
    fn new(rows: u64) -> Self {
        Tape {
            rows,
            done: 0,
            hash: Sha256::new(),
            head: Vec::new(),
            tail: Vec::new(),
            progress: Progress::new(rows, false),
        }
    }

    /// Adds the next value.
    fn put(&mut self, text: &str, out: &mut dyn Write) -> Result<(), Failure> {
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

    /// Prints the rest after the last value: the last values of a long column, and the digest.
    fn end(self, out: &mut dyn Write) -> Result<(), Failure> {
        let digest = digits::hex(&self.hash.finalize());
        if self.rows <= SHOWN {
            write!(out, "{}], \"sha256\": \"{digest}\"", if self.done > 0 { "" } else { ", \"values\": [" })?;
        } else {
            let (head, tail) = (self.head.join(", "), self.tail.join(", "));
            write!(out, ", \"sha256\": \"{digest}\", \"head\": [{head}], \"tail\": [{tail}]")?;
        }
        Ok(())
    }
}
