//! `recover` for Vortex: the columns and row ranges that can still be read, as a Jay or a DataSeries file.

use std::io::Write;
use std::ops::Range;

use pilaster::any::Format;
use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{
    Batch, Column, Memory, Once, Part, Prim, Span, Spans, Type, Unit, Validity, Value, Values, VarBytes,
};
use pilaster::dataseries::FieldType;
use pilaster::error::{Error, Kind};
use pilaster::jay::write::{WriteOptions, storage};
use pilaster::vortex::{self, File};

use crate::args::{Convert, Recover};
use crate::columns::Columns;
use crate::convert;
use crate::failure::Failure;
use crate::feed::View;
use crate::open::Input;
use crate::target::Target;
use crate::walk::batches;

/// Maximum number of rows that are tried at once.
const TRIED: u64 = 1 << 16;

/// Maximum size in bytes of the postscript and of the end marker after it.
const POSTSCRIPT: usize = 1 << 16;

/// Writes what can be read of a damaged file. Rows of a column that cannot be read are missing in the new file; a column
/// without any row that can is left out.
pub fn recover(input: &Input, (how, target): (&Recover, &Target<'_>), out: &mut dyn Write) -> Result<(), Failure> {
    let how = Convert { target: how.target.clone(), any_time: true, ..Convert::default() };
    let to = convert::target(input.format, &how)?;
    if !matches!(to, Format::Jay | Format::DataSeries) {
        let why =
            "the rows of a damaged Vortex file are written as Jay or DataSeries: the target must end in .jay or .ds";
        return Err(Failure::Usage(why.to_owned()));
    }
    let completed;
    let bytes = input.bytes()?;
    let file = match File::open(bytes) {
        Ok(file) => file,
        Err(e) => {
            completed = complete(bytes).ok_or_else(|| {
                let why = "the end of the file, which says what the columns are and where they lie, is lost";
                Failure::Input(format!("{e}: {why}"))
            })?;
            writeln!(out, "lost: the end marker: {e}")?;
            File::open(&completed)?
        }
    };
    let part = file.part()?;
    let (mut found, mut lost) = (Vec::new(), 0usize);
    for k in 0..part.width() {
        let name = part.name(k).map_or_else(|_| format!("column {k}"), str::to_owned);
        let column = part.column(k);
        if let Ok(column) = &column
            && !stores(to, column.ty())
        {
            writeln!(out, "left out: column {name}: {to} cannot store {}", column.ty())?;
            continue;
        }
        match column.and_then(|column| look(&column)) {
            Ok(Look { lost, read: true }) => {
                for (rows, why) in &lost {
                    writeln!(out, "lost: rows {}..{} of {name}: {why}", rows.start, rows.end)?;
                }
                found.push(Found { number: k, name, lost: lost.into_iter().map(|(rows, _)| rows).collect() });
            }
            Ok(Look { lost: rows, .. }) => {
                lost = lost.saturating_add(1);
                let why = rows.first().map_or_else(String::new, |(_, why)| format!(": {why}"));
                writeln!(out, "lost: column {name}{why}")?;
            }
            Err(why) => {
                lost = lost.saturating_add(1);
                writeln!(out, "lost: column {name}: {why}")?;
            }
        }
    }
    if found.is_empty() {
        return Err(Failure::Input("no column can be read".to_owned()));
    }
    let table = Once::new(Saved { part, found: &found });
    let mut columns = Columns {
        numbers: (0..found.len()).collect(),
        names: found.iter().map(|found| found.name.clone()).collect(),
        ..Columns::default()
    };
    columns.name_the_unnamed("v");
    let mut view = View { table, columns: &columns, windows: None };
    let len = convert::write(&mut view, (&how, target), 0, to, &mut Memory::default())?;
    write!(out, "{}: {} rows in {} columns, {len} bytes of {to}", how.target.display(), part.rows(), found.len())?;
    match (lost, found.iter().map(|found| found.lost.len()).sum::<usize>()) {
        (0, 0) => writeln!(out, "; nothing is lost")?,
        (columns, ranges) => writeln!(out, "; lost {columns} columns and {ranges} row ranges of others")?,
    }
    Ok(())
}

/// Returns whether a format can store a type.
fn stores(to: Format, ty: Type) -> bool {
    match to {
        Format::Jay => storage(ty, &WriteOptions { any_time: true, ..WriteOptions::DEFAULT }).is_some(),
        _ => FieldType::of_column(ty).is_some(),
    }
}

/// Returns the file with a new end marker, if the postscript is still there. Only its position is lost.
fn complete(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = bytes.to_vec();
    whole.extend_from_slice(b"\x01\0\0\0VTXF");
    let len = u16::try_from(POSTSCRIPT.min(bytes.len()).saturating_sub(1)).ok()?;
    for back in 1..=len {
        let at = bytes.len().checked_add(2)?;
        whole.get_mut(at..)?.first_chunk_mut::<2>().map(|len| *len = back.to_le_bytes())?;
        if File::open(&whole).is_ok_and(|file| file.rows().is_ok() && file.part().is_ok_and(|part| part.width() > 0)) {
            return Some(whole);
        }
    }
    None
}

/// The rows of a column that cannot be read, and whether any other can.
struct Look {
    lost: Vec<(Range<u64>, Error)>,
    read: bool,
}

/// Tries all rows of a column.
fn look(column: &vortex::Column<'_>) -> pilaster::Result<Look> {
    let (mut row, mut look) = (0u64, Look { lost: Vec::new(), read: column.rows() == 0 });
    let mut most = TRIED;
    while row < column.rows() {
        let end = column.rows().min(row.saturating_add(most));
        let Err(e) = attempt(column, row..end) else {
            (row, look.read) = (end, true);
            most = most.saturating_mul(2).min(TRIED);
            continue;
        };
        if matches!(e.kind(), Kind::Unsupported) {
            return Err(e);
        }
        if end.saturating_sub(row) > 1 {
            most = end.saturating_sub(row) >> 1;
            continue;
        }
        // The next row that can be read: steps that double, and a search between the last two.
        let (mut bad, mut step) = (row, 1u64);
        let mut good = loop {
            let next = bad.saturating_add(step);
            if next >= column.rows() || attempt(column, next..next.saturating_add(1)).is_ok() {
                break next.min(column.rows());
            }
            (bad, step) = (next, step.saturating_mul(2));
        };
        while good.saturating_sub(bad) > 1 {
            let middle = bad.midpoint(good);
            match attempt(column, middle..middle.saturating_add(1)) {
                Ok(()) => good = middle,
                Err(_) => bad = middle,
            }
        }
        look.lost.push((row..good, e));
        row = good;
    }
    Ok(look)
}

/// Reads rows and the texts in them.
fn attempt(column: &vortex::Column<'_>, rows: Range<u64>) -> pilaster::Result<()> {
    batches(column, rows, |batch| {
        (0..batch.len).try_for_each(|i| match batch.value(i)? {
            text @ Value::Text(_) => text.text().map(drop),
            _ => Ok(()),
        })
    })
}

/// A column that is saved.
struct Found {
    number: usize,
    name: String,
    /// Rows that are lost, in order.
    lost: Vec<Range<u64>>,
}

/// The columns that are saved.
#[derive(Clone, Copy)]
struct Saved<'f> {
    part: vortex::Part<'f>,
    found: &'f [Found],
}

impl<'f> Part for Saved<'f> {
    type Col = SavedColumn<'f>;

    fn rows(&self) -> u64 {
        self.part.rows()
    }

    fn width(&self) -> usize {
        self.found.len()
    }

    fn name(&self, k: usize) -> pilaster::Result<&str> {
        self.part.name(self.found.get(k).map_or(usize::MAX, |found| found.number))
    }

    fn column(&self, k: usize) -> pilaster::Result<SavedColumn<'f>> {
        let (number, lost) = self.found.get(k).map_or((usize::MAX, &[][..]), |found| (found.number, &found.lost));
        Ok(SavedColumn { column: self.part.column(number)?, lost })
    }
}

/// A column whose lost rows are missing.
#[derive(Clone, Copy, Debug)]
struct SavedColumn<'f> {
    column: vortex::Column<'f>,
    lost: &'f [Range<u64>],
}

impl SavedColumn<'_> {
    /// Returns the first of `rows` that are all lost, or all readable, and which.
    fn split(&self, rows: Range<u64>) -> (Range<u64>, bool) {
        match self.lost.iter().find(|lost| lost.end > rows.start) {
            Some(lost) if lost.start <= rows.start => (rows.start..rows.end.min(lost.end), true),
            Some(lost) => (rows.start..rows.end.min(lost.start), false),
            None => (rows, false),
        }
    }
}

impl Column for SavedColumn<'_> {
    fn ty(&self) -> Type {
        self.column.ty()
    }

    fn nullable(&self) -> bool {
        self.column.nullable() || !self.lost.is_empty()
    }

    fn rows(&self) -> u64 {
        self.column.rows()
    }

    fn zone(&self) -> pilaster::Result<Option<&str>> {
        self.column.zone()
    }

    fn child(&self, k: usize) -> pilaster::Result<Self> {
        Ok(SavedColumn { column: self.column.child(k)?, lost: &[] })
    }

    fn child_name(&self, k: usize) -> pilaster::Result<&str> {
        self.column.child_name(k)
    }

    fn need(&self, rows: Range<u64>) -> pilaster::Result<u64> {
        match self.split(rows) {
            // The widest cell has 32 bytes.
            (rows, true) => Ok(rows.end.saturating_sub(rows.start).saturating_mul(32).saturating_add(64)),
            (rows, false) => self.column.need(rows),
        }
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> pilaster::Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let (rows, lost) = self.split(rows);
        if !lost {
            let Batch { first, len, values, validity, of } = self.column.read(rows, scratch)?;
            return Ok(Batch { first, len, values, validity, of: SavedColumn { column: of, lost: &[] } });
        }
        let len = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let values = nothing(self.ty(), len, scratch)?;
        Ok(Batch { first: rows.start, len, values, validity: Validity::None, of: *self })
    }
}

/// Returns values for missing rows.
fn nothing<'s>(ty: Type, len: usize, scratch: &mut Scratch<'s>) -> pilaster::Result<Values<'s>> {
    macro_rules! zeros {
        ($name:ident) => {{
            let zeros = scratch.take(len)?;
            zeros.fill(Default::default());
            Values::$name(zeros)
        }};
    }
    Ok(match ty {
        Type::Bool => {
            let bits = scratch.take::<u8>(len.div_ceil(8))?;
            bits.fill(0);
            Values::Bool(Bits::new(bits, 0, len)?)
        }
        Type::Prim(Prim::I8) => zeros!(I8),
        Type::Prim(Prim::I16) => zeros!(I16),
        Type::Prim(Prim::I32) | Type::Date(Unit::Day) | Type::Time(Unit::Second | Unit::Milli) => zeros!(I32),
        Type::Prim(Prim::I64) | Type::Date(_) | Type::Time(_) | Type::Timestamp(_) => zeros!(I64),
        Type::Prim(Prim::U8) => zeros!(U8),
        Type::Prim(Prim::U16) => zeros!(U16),
        Type::Prim(Prim::U32) => zeros!(U32),
        Type::Prim(Prim::U64) => zeros!(U64),
        Type::Prim(Prim::F16) => zeros!(F16),
        Type::Prim(Prim::F32) => zeros!(F32),
        Type::Prim(Prim::F64) => zeros!(F64),
        Type::Decimal { precision: ..=2, .. } => zeros!(I8),
        Type::Decimal { precision: ..=4, .. } => zeros!(I16),
        Type::Decimal { precision: ..=9, .. } => zeros!(I32),
        Type::Decimal { precision: ..=18, .. } => zeros!(I64),
        Type::Decimal { precision: ..=38, .. } => zeros!(I128),
        Type::Utf8 | Type::Bytes => {
            let spans = scratch.take::<Span>(len)?;
            spans.fill(Span { at: 0, len: 0 });
            let texts = VarBytes { data: &[], spans: Spans::Each(spans) };
            if ty == Type::Utf8 { Values::Utf8(texts) } else { Values::Bytes(texts) }
        }
        _ => Values::Null,
    })
}
