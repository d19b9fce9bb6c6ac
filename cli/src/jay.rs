//! What is particular to a Jay file: types, keys, statistics, buffers, and what is wrong.

use std::io::Write;

use pilaster::any::{File as AnyFile, Format};
use pilaster::bytes::{FileRange, Scratch};
use pilaster::column::{Column as _, Memory, Once, Part as _, Type};
use pilaster::jay::{Column, Field, File, Layout, ReadOptions, Stats};
use pilaster::jay::{DATA, HEAD, SType, VALIDITY};
use serde_json::{Map, Value, json};

use crate::args::{Convert, Recover};
use crate::columns::{Columns, View};
use crate::convert;
use crate::digits;
use crate::dump::{self, Head};
use crate::failure::{Failure, warn};
use crate::open::{self, Input, part_room};
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
        let (heads, facts) = (heads(self, &columns)?, facts(self, &columns)?);
        let mut table = View { table: Once::new(*self), columns: &columns };
        dump::table(self.rows(), &facts, &heads, &mut table, part_room(file)?, out)
    }

    /// What is wrong is the failure; with tolerance it only goes to standard error.
    fn verify(&self, input: &Input, file: &AnyFile<'_>) -> Result<(), Failure> {
        let mut memory = Memory::with_len(part_room(file)?)?;
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

    fn verified(&self, input: &Input, file: &AnyFile<'_>) -> Result<String, Failure> {
        open::verify(file)?;
        let (rows, columns, size) = (self.rows(), self.width(), input.bytes().len());
        Ok(format!("{rows} rows in {columns} columns, {size} bytes, jay"))
    }

    fn keys(&self) -> usize {
        self.meta().keys()
    }
}

/// What `dump` says of each column before its values.
fn heads(file: &File<'_>, columns: &Columns) -> Result<Vec<Head>, Failure> {
    let mut heads = Vec::new();
    for (k, name) in columns.numbers.iter().zip(&columns.names) {
        let column = file.column(*k)?;
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
    let mut layouts = Vec::new();
    for (k, name) in columns.numbers.iter().zip(&columns.names) {
        layouts.push(layout(&file.meta().field(*k)?, Some(name))?);
    }
    facts.push(("layout", layouts.into()));
    Ok(facts)
}

/// `recover`: the columns that can be read, into a clean file. Strings that are not UTF-8 are missing there.
pub fn recover(input: &Input, how: &Recover, out: &mut dyn Write) -> Result<(), Failure> {
    let options = ReadOptions { tolerant: true, ..ReadOptions::DEFAULT };
    let frame = File::open(input.bytes(), &options, &mut Scratch::new(&mut []))?;
    let file = AnyFile::Jay(frame);
    Special::verify(&frame, input, &file)?;
    let how = Convert { target: how.target.clone(), ..Convert::default() };
    convert::run(input, &file, 0, &how, Format::Jay, out)
}

/// The name of the type in the words of the expectations.
fn type_name(column: &Column<'_>) -> pilaster::Result<String> {
    Ok(match (column.ty(), column.field().stype()) {
        (Type::List, _) => format!("array<{}>", type_name(&column.child(0)?)?),
        (_, stype @ (SType::Date32 | SType::Time64 | SType::Void0)) => stype.name().to_owned(),
        (ty, _) => ty.to_string(),
    })
}

/// The storage type with those of elements: `arr32(str32)`.
fn stype_name(field: &Field<'_>) -> pilaster::Result<String> {
    let name = field.stype().name();
    Ok(match field.child()? {
        Some(child) => format!("{name}({})", stype_name(&child)?),
        None => name.to_owned(),
    })
}

/// The description of a column as it is stored: only what is not zero or absent.
fn layout(field: &Field<'_>, name: Option<&str>) -> pilaster::Result<Value> {
    let mut facts = Map::new();
    let mut put = |key: &str, value: Value| facts.insert(key.to_owned(), value);
    let pair = |span: &FileRange| json!([span.at.saturating_sub(HEAD.len() as u64), span.len]);
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
            if field.stype().is_text() {
                put("strdata", pair(text));
            }
        }
        Layout::New => {
            put("type", stored_type(field)?);
            if field.rows() > 0 {
                put("nrows", field.rows().into());
            }
            let count = field.stype().buffers();
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
        (Stats::Empty, SType::Float32) => (single(f32::NAN.to_bits()), single(f32::NAN.to_bits())),
        (Stats::Empty, SType::Float64) => (double(f64::NAN.to_bits()), double(f64::NAN.to_bits())),
        (Stats::Empty, stype) => {
            let bits = u32::try_from(stype.width()).unwrap_or(8).saturating_mul(8).clamp(1, 64);
            let least = (i64::MIN >> 64u32.saturating_sub(bits)).to_string();
            (least.clone(), least)
        }
    };
    Ok(Some((tag.saturating_add(1), json!([min, max]))))
}

/// Minimum and maximum as text.
fn bounds(stats: Stats) -> Vec<String> {
    match stats {
        Stats::Empty => Vec::new(),
        Stats::Int { min, max } => vec![min.to_string(), max.to_string()],
        Stats::Float32 { min, max } => vec![digits::single(min), digits::single(max)],
        Stats::Float64 { min, max } => vec![digits::double(min), digits::double(max)],
    }
}

/// `info`: a line per column, with statistics and where the buffers lie. The data is not read.
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

/// Where the buffers of a column and its children lie: bytes at an offset of the file.
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
