//! The output of `dump` and `info` that is specific to DataSeries: tables, types, extents.

use std::collections::HashMap;
use std::io::Write;

use pilaster::any::File;
use pilaster::column::{Column as _, Memory, Part as _, Type, Value as Cell};
use pilaster::dataseries::Relative;
use pilaster::dataseries::{AnyFile, End, ExtentType, Field, FieldType, Mode};
use pilaster::dataseries::{Ordering, Pad};
use serde_json::Value;

use crate::dataseries_about::About;
use crate::dataseries_facts::{each_extent, each_index_row, facts, few_facts, modes};
use crate::dataseries_tables::{OneTable, Tables};
use crate::digits;
use crate::dump::{Head, columns};
use crate::escape::escaped;
use crate::failure::Failure;
use crate::info;
use crate::open::{Input, part_room};
use crate::parts::{self, Parts as _};
use crate::special::Special;
use crate::tables::{self, Table};

impl Special for AnyFile<'_> {
    fn info(&self, input: &Input, out: &mut dyn Write) -> Result<(), Failure> {
        extents(self, input.len(), out)?;
        let room = part_room(&File::DataSeries(*self))?;
        for (ty, table) in Tables::of(self, input)?.iter() {
            info_type(&ty, &table, out)?;
            info::columns(&table, room, out)?;
        }
        Ok(())
    }

    fn dump(&self, input: &Input, file: &File<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        let room = part_room(file)?;
        tables(&Tables::of(self, input)?, room, out)?;
        writeln!(out, ",")?;
        write!(out, " \"facts\": {{")?;
        for (key, value) in few_facts(self, input.len()) {
            write!(out, "\"{key}\": {value}, ")?;
        }
        list("extents", out, |put| each_extent(self, put))?;
        if self.index().is_some() {
            write!(out, ", ")?;
            list("index_rows", out, |put| each_index_row(self, put))?;
        }
        Ok(write!(out, "}}")?)
    }

    /// Out of the types and the headers of the extents.
    fn tables(&self, _: &Input, _: &File<'_>) -> Result<Vec<Table>, Failure> {
        let mut rows: HashMap<Vec<u8>, u64> = HashMap::new();
        self.headers(|header, name| {
            let rows = rows.entry(name.to_vec()).or_default();
            *rows = rows.saturating_add(header.rows.into());
            Ok::<_, Failure>(())
        })?;
        let column = |field: Field<'_>, about| {
            let ty = match field.ty {
                FieldType::FixedWidth(size) => Type::FixedBytes(size).to_string(),
                ty => type_name(ty, false).to_owned(),
            };
            tables::Column { name: field.name.to_owned(), ty, nullable: field.nullable, about }
        };
        let table = |ty: ExtentType<'_>| {
            let rows = rows.get(ty.name().as_bytes()).copied().unwrap_or(0);
            let About { ty: about, fields } = About::of(&ty)?;
            let columns = ty.fields().zip(fields).map(|(field, about)| column(field, about)).collect();
            Ok(Table { name: ty.name().to_owned(), rows, columns, about })
        };
        self.types().iter().map(table).collect()
    }

    fn facts(&self, input: &Input) -> Result<Vec<(&'static str, Value)>, Failure> {
        Ok(facts(self, input.len())?)
    }

    fn before_convert(&self, input: &Input) -> Result<(), Failure> {
        part_room(&File::DataSeries(*self))?;
        Tables::of(self, input)?;
        Ok(())
    }

    fn verified(&self, input: &Input, _: &File<'_>) -> Result<String, Failure> {
        let (mut rows, mut extents) = (0u64, 0usize);
        for (_, table) in Tables::of(self, input)?.iter() {
            (rows, extents) = (rows.saturating_add(table.rows()), extents.saturating_add(table.extents()));
        }
        let (order, size) = (self.order().name(), input.len());
        Ok(format!("{rows} rows in {extents} extents, {size} bytes, dataseries {order}"))
    }
}

/// `dump`: prints the values that `each` passes on, one by one, because a large file has many.
fn list(
    key: &str,
    out: &mut dyn Write,
    each: impl FnOnce(&mut dyn FnMut(Value) -> Result<(), Failure>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut gap = "";
    write!(out, "\"{key}\": [")?;
    each(&mut |value| {
        write!(out, "{gap}{value}")?;
        gap = ", ";
        Ok(())
    })?;
    Ok(write!(out, "]")?)
}

/// `dump`: the rows of all types.
fn tables(all: &Tables<'_>, room: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let rows = all.iter().fold(0u64, |sum, (_, table)| sum.saturating_add(table.rows()));
    writeln!(out, " \"nrows\": {rows},")?;
    write!(out, " \"tables\": [")?;
    for (t, (ty, table)) in all.iter().enumerate() {
        let rows = table.rows();
        let mut heads = Vec::new();
        for (k, field) in ty.fields().enumerate() {
            let texts = field.ty == FieldType::Variable32 && is_text(&table, k, room)?;
            heads.push(Head {
                name: field.name.to_owned(),
                ty: type_name(field.ty, texts).to_owned(),
                nullable: field.nullable,
                rows,
                facts: vec![("ds_type", field.ty.name().into())],
                texts,
            });
        }
        write!(out, "{}\n  {{\"type_name\": {}, ", if t > 0 { "," } else { "" }, Value::from(ty.name()))?;
        write!(out, "\"nrows\": {rows}, \"columns\": [")?;
        columns(&table, &heads, room, "\n   ", out)?;
        write!(out, "]}}")?;
    }
    Ok(write!(out, "\n ]")?)
}

/// Returns whether all strings of a column are UTF-8.
fn is_text(table: &OneTable<'_>, k: usize, room: u64) -> Result<bool, Failure> {
    let mut memory = Memory::with_len(room)?;
    let mut text = true;
    table.each(&mut memory.scratch(), &mut |part, rows, full, _| {
        let column = part.column(k)?;
        debug_assert_eq!(column.ty(), Type::Bytes);
        parts::rows(&column, rows.start, full, |batch| {
            for i in 0..batch.len {
                text &= match batch.value(i)? {
                    Cell::Bytes(bytes) => std::str::from_utf8(bytes).is_ok(),
                    _ => true,
                };
            }
            Ok(())
        })
    })?;
    Ok(text)
}

/// Returns the name of a type in the expectations.
const fn type_name(ty: FieldType, texts: bool) -> &'static str {
    match ty {
        FieldType::Bool => "bool",
        FieldType::Byte => "uint8",
        FieldType::Int32 => "int32",
        FieldType::Int64 => "int64",
        FieldType::Double => "float64",
        FieldType::Variable32 if texts => "string",
        FieldType::Variable32 | FieldType::FixedWidth(_) => "bytes",
    }
}

/// `info`: prints the byte order and the end of the file, then sums over extents.
fn extents(file: &AnyFile<'_>, size: u64, out: &mut dyn Write) -> Result<(), Failure> {
    /// Sums over the extents of one type with the same modes.
    struct Sum {
        ty: String,
        modes: [Option<Mode>; 2],
        extents: u64,
        rows: u64,
        stored: u64,
        unpacked: u64,
    }
    let mut sums: Vec<Sum> = Vec::new();
    let mut places = HashMap::new();
    let end = file.headers(|header, name| {
        let modes = modes(file, header, name);
        let at = *places.entry((name, modes)).or_insert_with(|| {
            let ty = String::from_utf8_lossy(name).into_owned();
            sums.push(Sum { ty, modes, extents: 0, rows: 0, stored: 0, unpacked: 0 });
            sums.len().saturating_sub(1)
        });
        let Some(sum) = sums.get_mut(at) else { return Ok(()) };
        let record = file.types().find(name).map_or(0, |ty| ty.record_len() as u64);
        let records = record.saturating_mul(header.rows.into());
        sum.extents = sum.extents.saturating_add(1);
        sum.rows = sum.rows.saturating_add(header.rows.into());
        sum.stored = sum.stored.saturating_add(header.span().len);
        sum.unpacked = sum.unpacked.saturating_add(records).saturating_add(header.pool.into());
        Ok::<_, Failure>(())
    })?;
    writeln!(out, "order     {}-endian", file.order().name())?;
    let left = |at: u64| size.saturating_sub(at);
    match end {
        Some(End::Trailer { at, .. }) if file.index().is_some() => {
            writeln!(out, "end       index and trailer at {at}")?
        }
        Some(End::Trailer { at, .. }) => writeln!(out, "end       trailer at {at}, {} bytes from there", left(at))?,
        Some(End::File { at }) => writeln!(out, "end       file ends at {at}, without a trailer")?,
        Some(End::Erased { at }) => writeln!(out, "end       erased from {at}, {} bytes", left(at))?,
        None => {}
    }
    let width = sums.iter().map(|sum| sum.ty.chars().count()).fold("type".len(), usize::max);
    let head = ["records", "strings", "extents", "rows", "stored", "unpacked", "ratio"];
    let [records, strings, extents, rows, stored, unpacked, ratio] = head;
    write!(out, "\n{:width$}  {records:>7}  {strings:>7}  {extents:>7}  {rows:>10}", "type")?;
    writeln!(out, "  {stored:>12}  {unpacked:>12}  {ratio:>5}")?;
    for sum in &sums {
        let [fixed, variable] = sum.modes.map(|mode| mode.map_or("-", Mode::name));
        let ratio = sum.stored as f64 / (sum.unpacked as f64).max(1.0);
        write!(out, "{:width$}  {fixed:>7}  {variable:>7}  {:>7}  {:>10}", sum.ty, sum.extents, sum.rows)?;
        writeln!(out, "  {:>12}  {:>12}  {ratio:>5.3}", sum.stored, sum.unpacked)?;
    }
    Ok(())
}

/// `info`: prints a type, its options, its fields and their options.
fn info_type(ty: &ExtentType<'_>, table: &OneTable<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let (rows, extents) = (table.rows(), table.extents());
    let (major, minor) = ty.version();
    writeln!(out, "\ntable     {}", ty.name())?;
    if !ty.namespace().is_empty() {
        writeln!(out, "namespace {}", ty.namespace())?;
    }
    writeln!(out, "version   {major}.{minor}")?;
    writeln!(out, "rows      {rows} in {extents} extents, {} bytes each", ty.record_len())?;
    let About { ty: about, fields } = About::of(ty)?;
    for (name, text) in about {
        writeln!(out, "{:<9} {}", escaped(&name), escaped(&text))?;
    }
    let options = ty.options();
    let mut packing = Vec::new();
    if options.compact {
        packing.push("nulls compacted");
    }
    if options.pad == Pad::MaxColumnSize {
        packing.push("padded to the largest column");
    }
    if options.ordering == Ordering::BigToSmall {
        packing.push("big to small");
    }
    if !packing.is_empty() {
        writeln!(out, "packing   {}", packing.join(", "))?;
    }
    let name = ty.fields().map(|field| field.name.chars().count()).fold("field".len(), usize::max);
    writeln!(out, "\n{:name$}  {:<14}  {:>6}  options", "field", "type", "offset")?;
    for (field, about) in ty.fields().zip(fields) {
        let kind = match field.ty {
            FieldType::FixedWidth(size) => format!("fixedwidth({size})"),
            other => other.name().to_owned(),
        };
        let line =
            format!("{:name$}  {kind:<14}  {:>6}  {}", field.name, field.slot.at, field_options(ty, &field, about));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn field_options(ty: &ExtentType<'_>, field: &Field<'_>, about: Vec<(String, String)>) -> String {
    let mut options = Vec::new();
    if field.nullable {
        options.push("nullable".to_owned());
    }
    if field.unique {
        options.push("unique".to_owned());
    }
    match field.relative {
        Relative::No => {}
        Relative::Own => options.push("relative to itself".to_owned()),
        Relative::To(base) => {
            let name = ty.field(base as usize).map_or("", |base| base.name);
            options.push(format!("relative to {name}"));
        }
    }
    if let Some(scale) = field.scale {
        options.push(format!("scale {}", digits::float(scale)));
    }
    if field.base != 0.0 {
        options.push(format!("base {}", digits::float(field.base)));
    }
    options.extend(about.iter().map(|(name, text)| format!("{} {}", escaped(name), escaped(text))));
    options.join(", ")
}
