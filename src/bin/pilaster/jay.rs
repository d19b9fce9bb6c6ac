//! What the commands say of a Jay file alone: types, keys, statistics, buffers, and what is wrong.

use std::io::Write;

use pilaster::any::{File as AnyFile, Format};
use pilaster::bytes::{Scratch, Span};
use pilaster::column::{self, Column as _, Part as _, Type};
use pilaster::jay::raw::{self, DATA, HEAD, SType, VALIDITY};
use pilaster::jay::{Column, Field, File, Layout, ReadOptions, Stats};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::args::{Convert, Recover, Task};
use crate::cell;
use crate::convert;
use crate::dump::Head;
use crate::open::{Input, part_room};

/// The columns that can be read; all of them, unless the file was opened with tolerance.
pub struct Readable<'a> {
    file: File<'a>,
    columns: Vec<usize>,
    names: Vec<String>,
}

impl<'a> Readable<'a> {
    /// Those of `file`. What is wrong with the others goes to standard error.
    pub fn new(file: File<'a>, input: &Input) -> Result<Self, Failure> {
        let mut readable = Readable { file, columns: Vec::new(), names: Vec::new() };
        for k in 0..file.width() {
            match file.column(k) {
                Ok(_) => readable.columns.push(k),
                Err(e) => warn(input, &describe(&file, Some(k)), e),
            }
        }
        readable.names = names(&file, &readable.columns)?;
        Ok(readable)
    }

    pub fn table(&self) -> Table<'_, 'a> {
        Table { readable: self, given: false }
    }

    /// What `dump` says of each column before its values.
    pub fn heads(&self) -> Result<Vec<Head>, Failure> {
        let mut heads = Vec::new();
        for (k, name) in self.columns.iter().zip(&self.names) {
            let column = self.file.column(*k)?;
            heads.push(Head {
                name: name.clone(),
                ty: type_name(&column)?,
                nullable: column.field().null_count() > 0,
                rows: column.rows(),
                facts: vec![("stype", stype_name(column.field())?.into())],
                texts: false,
            });
        }
        Ok(heads)
    }

    /// What is particular to the file.
    pub fn facts(&self) -> Result<Vec<(&'static str, Value)>, Failure> {
        let (tail, keys) = (self.file.tail(), self.file.meta().keys());
        let mut facts = vec![
            ("meta_size", json!(tail.meta.len)),
            ("data_section_bytes", json!(tail.data().len)),
            ("nkeys", json!(keys)),
        ];
        if keys > 0 {
            facts.push(("key", json!(self.names.get(..keys).unwrap_or_default())));
        }
        let mut layouts = Vec::new();
        for (k, name) in self.columns.iter().zip(&self.names) {
            layouts.push(layout(&self.file.meta().field(*k)?, Some(name))?);
        }
        facts.push(("layout", layouts.into()));
        Ok(facts)
    }
}

/// Names that differ, as the original's reader makes them: an empty one is `C0`, `C1`, .., a control
/// character a dot, and a second one gets a number.
fn names(file: &File<'_>, columns: &[usize]) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for k in columns {
        let stored = file.name(*k)?;
        let legal = stored.replace(|c: char| c < ' ', ".");
        let base = if legal.is_empty() { format!("C{k}") } else { legal };
        let mut name = base.clone();
        let mut number = 0u64;
        while !known.insert(name.clone()) {
            name = format!("{base}.{number}");
            number = number.saturating_add(1);
        }
        names.push(name);
    }
    Ok(names)
}

/// The readable columns as a table of one part.
pub struct Table<'r, 'a> {
    readable: &'r Readable<'a>,
    given: bool,
}

impl<'r, 'a> column::Table for Table<'r, 'a> {
    type Part<'p>
        = Part<'r, 'a>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, _: &mut Scratch<'p>) -> pilaster::Result<Option<Self::Part<'p>>>
    where
        Self: 'p,
    {
        Ok((!std::mem::replace(&mut self.given, true)).then_some(Part(self.readable)))
    }

    fn restart(&mut self) -> pilaster::Result<()> {
        self.given = false;
        Ok(())
    }
}

#[derive(Clone, Copy)]
pub struct Part<'r, 'a>(&'r Readable<'a>);

impl<'a> column::Part for Part<'_, 'a> {
    type Col = Column<'a>;

    fn rows(&self) -> u64 {
        self.0.file.rows()
    }

    fn width(&self) -> usize {
        self.0.columns.len()
    }

    fn name(&self, k: usize) -> pilaster::Result<&str> {
        self.0.names.get(k).map(String::as_str).ok_or_else(|| no_column(k))
    }

    fn column(&self, k: usize) -> pilaster::Result<Column<'a>> {
        self.0.file.column(*self.0.columns.get(k).ok_or_else(|| no_column(k))?)
    }
}

fn no_column(k: usize) -> pilaster::Error {
    pilaster::Error::new(pilaster::error::Kind::OutOfRange, pilaster::error::What::Column, k as u64)
}

/// Says on standard error what cannot be read.
fn warn(input: &Input, of: &str, error: pilaster::Error) {
    // Nothing is left to do where even this cannot be written.
    let _ = writeln!(std::io::stderr(), "pilaster: {}: {of}{error}", input.path);
}

fn describe(file: &File<'_>, k: Option<usize>) -> String {
    match k {
        Some(k) => format!("column {k} {:?}: ", file.name(k).unwrap_or_default()),
        None => String::new(),
    }
}

/// Walks everything. What is wrong is the failure; with tolerance it only goes to standard error.
pub fn verify(input: &Input, file: &File<'_>) -> Result<(), Failure> {
    let mut memory = vec![0; part_room(&AnyFile::Jay(*file))?];
    let mut first = None;
    file.problems(&mut Scratch::new(&mut memory), &mut |k, error| match input.tolerant {
        true => warn(input, &describe(file, k), error),
        false => {
            first.get_or_insert_with(|| Failure::Input(format!("{}{error}", describe(file, k))));
        }
    });
    first.map_or(Ok(()), Err)
}

/// What `verify` says in the end.
pub fn verified(input: &Input, file: &File<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let (rows, columns, size) = (file.rows(), file.width(), input.bytes.len());
    Ok(writeln!(out, "{}: ok, {rows} rows in {columns} columns, {size} bytes, {}", input.path, Format::Jay)?)
}

/// `recover`: the columns that can be read, into a clean file. Strings that are none are missing there.
pub fn recover(mut input: Input, task: &Task, how: &Recover, out: &mut impl Write) -> Result<(), Failure> {
    input.tolerant = true;
    let options = ReadOptions { tolerant: true, ..ReadOptions::DEFAULT };
    let file = File::open(&input.bytes, &options, &mut Scratch::new(&mut []))?;
    if how.types.is_some() || how.order.is_some() {
        return Err(Failure::Usage(format!("--types and --order are for DataSeries files; {} is jay", task.source)));
    }
    verify(&input, &file)?;
    let how = Convert { target: how.target.clone(), ..Convert::new() };
    convert::run(&input, &AnyFile::Jay(file), &how, Format::Jay, out)
}

/// The name of the type in the words of the expectations.
fn type_name(column: &Column<'_>) -> pilaster::Result<String> {
    Ok(match (column.ty(), column.field().stype()) {
        (Type::List, _) => format!("array<{}>", type_name(&column.child(0)?)?),
        (_, stype @ (SType::Date32 | SType::Time64 | SType::Void0)) => raw::name(stype).to_owned(),
        (ty, _) => ty.to_string(),
    })
}

/// The storage type with those of elements: `arr32(str32)`.
fn stype_name(field: &Field<'_>) -> pilaster::Result<String> {
    let name = raw::name(field.stype());
    Ok(match field.child()? {
        Some(child) => format!("{name}({})", stype_name(&child)?),
        None => name.to_owned(),
    })
}

/// The description of a column as it is stored: only what is not zero or absent.
fn layout(field: &Field<'_>, name: Option<&str>) -> pilaster::Result<Value> {
    let mut facts = Map::new();
    let mut put = |key: &str, value: Value| facts.insert(key.to_owned(), value);
    let pair = |span: &Span| json!([span.at.saturating_sub(HEAD.len() as u64), span.len]);
    if let Some(name) = name {
        put("name", name.into());
    }
    if field.null_count() > 0 {
        put("nullcount", field.null_count().into());
    }
    if let Some((tag, stats)) = stored_stats(field)? {
        put("stats_type", tag.into());
        put("stats", stats);
    }
    let [_, data, text] = field.buffers();
    match field.layout() {
        Layout::Old => {
            if field.stype() != SType::Bool8 {
                put("stype", format!("{:?}", field.stype()).into());
            }
            if field.stype() != SType::Void0 {
                put("data", pair(data));
            }
            if raw::is_text(field.stype()) {
                put("strdata", pair(text));
            }
        }
        Layout::New => {
            put("type", stored_type(field)?);
            if field.rows() > 0 {
                put("nrows", field.rows().into());
            }
            let count = raw::buffers(field.stype());
            put("buffers", field.buffers().iter().take(count).map(pair).collect());
            if let Some(child) = field.child()? {
                put("children", json!([layout(&child, None)?]));
            }
        }
    }
    Ok(facts.into())
}

fn stored_type(field: &Field<'_>) -> pilaster::Result<Value> {
    let stype = format!("{:?}", field.stype());
    Ok(match field.child()? {
        Some(child) => json!({ "stype": stype, "extra_type": 1, "child": stored_type(&child)? }),
        None => json!({ "stype": stype }),
    })
}

/// The tag of the statistics, and the two numbers exactly as they are stored.
fn stored_stats(field: &Field<'_>) -> pilaster::Result<Option<(u8, Value)>> {
    let Some(stats) = field.stats()? else { return Ok(None) };
    // Dates and times are stored as the integers that they are.
    let tag = match field.stype() {
        SType::Date32 => u8::from(SType::Int32),
        SType::Time64 => u8::from(SType::Int64),
        stype => u8::from(stype),
    };
    let single = |bits: u32| format!("bits:{bits:08x}");
    let double = |bits: u64| format!("bits:{bits:016x}");
    let (min, max) = match (stats, field.stype()) {
        (Stats::Int { min, max }, _) => (min.to_string(), max.to_string()),
        (Stats::Float32 { min, max }, _) => (single(min.to_bits()), single(max.to_bits())),
        (Stats::Float64 { min, max }, _) => (double(min.to_bits()), double(max.to_bits())),
        (Stats::Empty, SType::Float32) => (single(raw::NA_F32), single(raw::NA_F32)),
        (Stats::Empty, SType::Float64) => (double(raw::NA_F64), double(raw::NA_F64)),
        (Stats::Empty, stype) => {
            let bits = u32::try_from(raw::width(stype)).unwrap_or(8).saturating_mul(8).clamp(1, 64);
            let least = (i64::MIN >> 64u32.saturating_sub(bits)).to_string();
            (least.clone(), least)
        }
    };
    Ok(Some((tag.saturating_add(1), json!([min, max]))))
}

/// Least and greatest value as text.
fn bounds(stats: Stats) -> Vec<String> {
    match stats {
        Stats::Empty => Vec::new(),
        Stats::Int { min, max } => vec![min.to_string(), max.to_string()],
        Stats::Float32 { min, max } => vec![cell::single(min), cell::single(max)],
        Stats::Float64 { min, max } => vec![cell::double(min), cell::double(max)],
    }
}

/// `info`: types, keys, statistics, and where the buffers lie. The data is not read.
pub fn info(file: &File<'_>, input: &Input, out: &mut impl Write) -> Result<(), Failure> {
    let readable = Readable::new(*file, input)?;
    let (tail, keys) = (file.tail(), file.meta().keys());
    writeln!(out, "rows      {}", file.rows())?;
    writeln!(out, "columns   {}", file.width())?;
    if keys > 0 {
        writeln!(out, "key       {}", readable.names.get(..keys).unwrap_or_default().join(", "))?;
    }
    writeln!(out, "data      {} bytes at {}", tail.data().len, tail.data().at)?;
    writeln!(out, "metadata  {} bytes at {}", tail.meta.len, tail.meta.at)?;
    let mut lines = vec![["column", "type", "layout", "missing", "least", "greatest", "buffers"].map(str::to_owned)];
    for (k, name) in readable.columns.iter().zip(&readable.names) {
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

/// Where the buffers of a column and its children lie: bytes at an offset of the file.
fn places(field: &Field<'_>) -> pilaster::Result<String> {
    let mut places = Vec::new();
    let roles = if raw::is_text(field.stype()) { ["validity", "offsets", "text"] } else { ["validity", "data", ""] };
    let count = raw::buffers(field.stype());
    for (i, (span, role)) in field.buffers().iter().zip(roles).enumerate().take(count) {
        let role = if raw::is_array(field.stype()) && i == DATA { "offsets" } else { role };
        if span.len > 0 || i != VALIDITY {
            places.push(format!("{role} {}@{}", span.len, span.at));
        }
    }
    if let Some(child) = field.child()? {
        places.push(format!("[{}]", self::places(&child)?));
    }
    Ok(places.join(" "))
}
