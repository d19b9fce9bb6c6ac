//! Any rows are written to Vortex with any options: the file is valid, has the same rows, and its zones bound them. A sink that
//! fails ends the file with its error.

use std::cmp::Ordering;

use arbitrary::{Result, Unstructured};
use pilaster::bytes::{Sink, WriteError};
use pilaster::column::{Borrowed, Column, Memory, Once, Part as _, Value, convert};
use pilaster::vortex::write::{Builder, Encodings, Profile, WriteOptions, Writer};
use pilaster::vortex::{Encoding, File};

use super::vortex_rows::{Rows, with_columns};

/// Rows of a column at most.
const MOST: usize = 3000;

/// The input is the columns, then the options.
pub fn run(data: &[u8]) {
    let _ = made(data);
}

/// Returns the number of rows that were written.
pub fn made(data: &[u8]) -> Result<u64> {
    let mut u = Unstructured::new(data);
    let rows = match u.int_in_range(0..=3)? {
        0 => u.int_in_range(0..=20)?,
        1 => u.int_in_range(1000..=1050)?,
        _ => u.int_in_range(0..=MOST)?,
    };
    let columns = (0..u.int_in_range(1..=3)?).map(|_| Rows::arbitrary(&mut u, rows, 2)).collect::<Result<Vec<_>>>()?;
    let how = How { options: options(&mut u)?, parts: u.int_in_range(1..=2)?, by_builder: u.arbitrary()? };
    let cut = u.arbitrary::<u16>()?;
    with_columns(&columns, &mut |columns| check(columns, &how, cut.into()));
    Ok((rows * how.times()) as u64)
}

/// How a file is written.
struct How {
    options: WriteOptions,
    /// How many times the rows are written.
    parts: usize,
    /// Whether a conversion feeds the rows.
    by_builder: bool,
}

impl How {
    /// How many times the file has the rows.
    fn times(&self) -> usize {
        if self.by_builder { 1 } else { self.parts }
    }
}

fn options(u: &mut Unstructured<'_>) -> Result<WriteOptions> {
    // Some builds have no encoders for the smallest encodings.
    let compact = WriteOptions { encodings: Encodings::COMPACT, ..WriteOptions::DEFAULT };
    let all = if u.arbitrary()? && compact.check().is_ok() { Encodings::COMPACT } else { Encodings::DEFAULT };
    let without = *u.choose(&[0u64, 0, u64::MAX])? & u.arbitrary::<u64>()?;
    let is_left_out = |(k, one): &(usize, Encoding)| {
        !Encodings::BASIC.has(*one) && without.checked_shr(*k as u32).unwrap_or(0) & 1 > 0
    };
    let encodings = all.iter().enumerate().filter(is_left_out).fold(all, |set, (_, one)| set.without(one));
    Ok(WriteOptions {
        chunk_size: *u.choose(&[0, 1, 5000, 16_000, 1 << 20])?,
        zone_rows: *u.choose(&[1024, 2048, 8192])?,
        dictionaries: u.arbitrary()?,
        statistics: u.arbitrary()?,
        encodings,
        profile: *u.choose(&[Profile::Edition2026, Profile::Wide])?,
        ..WriteOptions::DEFAULT
    })
}

type Named<'d> = (&'d str, Borrowed<'d>);

/// Writes the columns to a sink that may fail.
fn write<S: Sink>(columns: &[Named<'_>], how: &How, sink: S) -> core::result::Result<S, WriteError<S::Error>> {
    if how.by_builder {
        let mut builder = Builder::new(sink, &how.options)?;
        convert(&mut Once::new(columns), &mut builder, &mut Memory::default().scratch())?;
        return builder.finish();
    }
    let mut file = Writer::new(sink, columns, &how.options)?;
    for _ in 0..how.parts {
        file.push(columns)?;
    }
    file.finish()
}

/// A sink that takes this number of bytes.
struct Short(usize);

impl Sink for Short {
    type Error = ();

    fn put(&mut self, bytes: &[u8]) -> core::result::Result<(), ()> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(())?;
        Ok(())
    }
}

fn check(columns: &[Named<'_>], how: &How, cut: usize) {
    let bytes = write(columns, how, Vec::new()).unwrap_or_else(|e| panic!("all of this can be written: {e:?}"));
    // A sink that is full anywhere before the end.
    let failed = write(columns, how, Short(cut % bytes.len()));
    assert!(matches!(failed, Err(WriteError::Sink(()))), "the error of the sink");
    assert!(write(columns, how, Short(bytes.len())).is_ok_and(|sink| sink.0 == 0), "the same bytes again");

    let file = File::open(&bytes).expect("what was written opens");
    let mut memory = Memory::with_len(1 << 22).expect("four megabytes");
    while let Err(e) = file.verify(&mut memory.scratch()) {
        memory.grow(e).expect("what was written is valid");
    }
    let part = file.part().expect("a part");
    let parts = how.times();
    assert_eq!((part.width(), part.rows()), (columns.len(), columns.rows() * parts as u64));
    for (k, (name, before)) in columns.iter().enumerate() {
        let after = part.column(k).expect("a column");
        assert_eq!(part.name(k), Ok(*name));
        assert_eq!((after.ty(), after.nullable(), after.zone()), (before.ty(), before.nullable(), before.zone()));
        let cells = cells(before, 0..before.rows());
        let wanted: Vec<&Cell> = (0..parts).flat_map(|_| &cells).collect();
        let found = self::cells(&after, 0..after.rows());
        assert_eq!(wanted.len(), found.len());
        for (row, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
            assert_eq!(**wanted, *found, "row {row} of {:?}", before.ty());
        }
        zones(&after, before, &cells, how.options.statistics);
    }
}

/// A value of its own. Floats are their bits.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Missing,
    Number(i128),
    Wide([u64; 4]),
    Bytes(Vec<u8>),
    /// The rows of each child.
    Nested(Vec<Vec<Cell>>),
}

impl Cell {
    fn of(value: Value<'_>, nested: impl FnOnce(core::ops::Range<u64>) -> Vec<Vec<Cell>>) -> Cell {
        match value {
            Value::Null => Cell::Missing,
            Value::Bool(value) => Cell::Number(value.into()),
            Value::Int(value) => Cell::Number(value),
            Value::Int256(words) => Cell::Wide(words),
            Value::F16(bits) => Cell::Number(bits.into()),
            Value::F32(value) => Cell::Number(value.to_bits().into()),
            Value::F64(value) => Cell::Number(value.to_bits().into()),
            Value::Bytes(bytes) | Value::Text(bytes) => Cell::Bytes(bytes.to_vec()),
            Value::Nested(rows) => Cell::Nested(nested(rows)),
        }
    }
}

/// All values of some rows, with their children.
fn cells<C: Column>(column: &C, rows: core::ops::Range<u64>) -> Vec<Cell> {
    let (mut all, mut memory, mut row) = (Vec::new(), Memory::default(), rows.start);
    while row < rows.end {
        let some = memory.fit(column, row..rows.end).expect("memory for a row");
        let batch = column.read(some, &mut memory.scratch()).expect("rows that were written");
        let ranges = (0..batch.len).filter_map(|i| match batch.value(i) {
            Ok(Value::Nested(rows)) if !rows.is_empty() => Some(rows),
            _ => None,
        });
        // Children are read together.
        let below = ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0);
        let child = |k| cells(&batch.of.child(k).expect("a child"), below.clone());
        let children: Vec<Vec<Cell>> = (0..batch.of.ty().children()).map(child).collect();
        for i in 0..batch.len {
            all.push(Cell::of(batch.value(i).expect("a value"), |rows| {
                let at = |row: u64| (row.max(below.start).min(below.end) - below.start) as usize;
                children.iter().map(|child| child[at(rows.start)..at(rows.end)].to_vec()).collect()
            }));
        }
        row += batch.len as u64;
    }
    all
}

/// Zones follow each other to the last row, if the file has `statistics` of such columns, have the number of missing rows, and bound
/// the values of the others.
fn zones<C: Column>(after: &C, before: &Borrowed<'_>, cells: &[Cell], statistics: bool) {
    let (mut memory, mut row) = (Memory::default(), 0);
    let batch = before.read(0..before.rows(), &mut pilaster::bytes::Scratch::new(&mut [])).expect("borrowed rows");
    loop {
        let zone = loop {
            match after.zone_around(row, &mut memory.scratch()) {
                Ok(zone) => {
                    break zone.map(|zone| (zone.rows, owned(zone.min.get()), owned(zone.max.get()), zone.nulls));
                }
                Err(e) => memory.grow(e).expect("zones that were written"),
            }
        };
        let Some((rows, min, max, nulls)) = zone else {
            assert!(
                !statistics || row == after.rows() || before.ty().children() > 0,
                "no zone at row {row}, {:?}",
                before.ty()
            );
            return;
        };
        assert!(rows.contains(&row) && rows.end <= after.rows());
        let places = || rows.clone().map(|row| row as usize % cells.len().max(1));
        let missing = places().filter(|place| cells[*place] == Cell::Missing).count() as u64;
        assert!(nulls.get().is_none_or(|nulls| *nulls == missing), "{nulls:?} of {missing} missing rows");
        for place in places() {
            let value = batch.value(place).expect("a value");
            for (bound, wrong) in [(&min, Ordering::Greater), (&max, Ordering::Less)] {
                let order = bound.as_ref().and_then(|bound| order(&bound.value(), &value));
                assert!(order != Some(wrong), "{bound:?} is no bound of {value:?}, {:?}", before.ty());
            }
        }
        row = rows.end;
    }
}

/// Compares a bound with a value; `None` if the value is missing or NaN.
fn order(bound: &Value<'_>, value: &Value<'_>) -> Option<Ordering> {
    let is_nan = match (bound, value) {
        (_, Value::Null) => return None,
        // Half floats are ordered as their bits, a sign and a magnitude.
        (Value::F16(a), Value::F16(b)) => {
            let magnitude = |bits: u16| i32::from(bits & 0x7fff);
            let signed = |bits: u16| if bits >> 15 > 0 { -magnitude(bits) } else { magnitude(bits) };
            return (magnitude(*b) <= 0x7c00).then(|| signed(*a).cmp(&signed(*b)));
        }
        (Value::F32(_), Value::F32(value)) => value.is_nan(),
        (Value::F64(_), Value::F64(value)) => value.is_nan(),
        _ => false,
    };
    let order = bound.compare(value);
    assert!(order.is_some() || is_nan, "a bound {bound:?} of {value:?}");
    order
}

/// A bound, apart from the memory that it was read into.
#[derive(Debug)]
enum Bound {
    Plain(Value<'static>),
    Bytes(Vec<u8>),
    Text(Vec<u8>),
}

impl Bound {
    fn value(&self) -> Value<'_> {
        match self {
            Bound::Plain(value) => value.clone(),
            Bound::Bytes(bytes) => Value::Bytes(bytes),
            Bound::Text(bytes) => Value::Text(bytes),
        }
    }
}

fn owned(bound: Option<&Value<'_>>) -> Option<Bound> {
    Some(match bound?.clone() {
        Value::Null => return None,
        Value::Bytes(bytes) => Bound::Bytes(bytes.to_vec()),
        Value::Text(bytes) => Bound::Text(bytes.to_vec()),
        Value::Bool(value) => Bound::Plain(Value::Bool(value)),
        Value::Int(value) => Bound::Plain(Value::Int(value)),
        Value::Int256(value) => Bound::Plain(Value::Int256(value)),
        Value::F16(value) => Bound::Plain(Value::F16(value)),
        Value::F32(value) => Bound::Plain(Value::F32(value)),
        Value::F64(value) => Bound::Plain(Value::F64(value)),
        Value::Nested(rows) => Bound::Plain(Value::Nested(rows)),
    })
}
