//! vortex_write FILE OUT [RUNS] [compact]: CPU milliseconds, best of RUNS (5), to write the rows of the Vortex file FILE to OUT, and
//! its size in bytes. With `compact`, also encodings of the compact writer. The rows are read to memory before: batches of at
//! most 65,536 rows, values as slices, texts contiguous with an offset each. Binary columns, maps and fixed-size lists are
//! errors.

use std::fs;
use std::hint::black_box;
use std::io::BufWriter;

use cpu_time::ProcessTime;
use pilaster::bytes::{Bits, IoSink, Scratch};
use pilaster::column::{Batch, Borrowed, Column as _, Part as _, Ranges, Spans, Type, Validity, Values, VarBytes};
use pilaster::vortex::write::{Encodings, WriteOptions, Writer};
use pilaster::vortex::{Column, File};

type Failure = Box<dyn std::error::Error>;

/// The name of a column, and its rows.
type Named = (&'static str, Borrowed<'static>);

/// Maximum number of rows of a batch.
const BATCH: u64 = 1 << 16;

/// Rows of a column.
#[derive(Clone, Copy)]
struct Piece {
    of: Column<'static>,
    start: u64,
    end: u64,
}

/// Rows of a column that are collected from several reads.
#[derive(Default)]
struct Collected {
    rows: usize,
    valid: Vec<u8>,
    missing: bool,
}

impl Collected {
    /// Calls `take` with all batches of the pieces.
    fn read(
        pieces: &[Piece],
        mut take: impl FnMut(&Batch<'_, Column<'static>>) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let mut all = Collected::default();
        for piece in pieces {
            let mut row = piece.start;
            while row < piece.end {
                let mut memory = vec![0; usize::try_from(piece.of.need(row..piece.end)?)?];
                let batch = piece.of.read(row..piece.end, &mut Scratch::new(&mut memory))?;
                take(&batch)?;
                (0..batch.len).for_each(|i| all.push(batch.validity.get(i)));
                row += batch.len as u64;
            }
        }
        Ok(all)
    }

    fn push(&mut self, valid: bool) {
        push_bit(&mut self.valid, self.rows, valid);
        self.rows += 1;
        self.missing |= !valid;
    }
}

/// Appends bit `i`.
fn push_bit(bits: &mut Vec<u8>, i: usize, bit: bool) {
    if i.is_multiple_of(8) {
        bits.push(0);
    }
    bits[i / 8] |= u8::from(bit) << (i % 8);
}

/// Lists or structs: the child rows of each batch, which are one after the other.
#[derive(Default)]
struct Nested {
    batches: Vec<Piece>,
    /// The end of each row's child rows.
    ends: Vec<u32>,
}

impl Nested {
    fn push(&mut self, ranges: &Ranges<'_>, batch: &Batch<'_, Column<'static>>) -> Result<(), Failure> {
        let mut piece = Piece { of: batch.of, start: 0, end: 0 };
        let before = u64::from(self.ends.last().copied().unwrap_or(0));
        for i in 0..ranges.len() {
            // A missing struct has child rows, a missing list none.
            let valid = batch.validity.get(i) || matches!(ranges, Ranges::Stride { .. });
            let range = if valid { ranges.get(i)? } else { 0..0 };
            if range.start < range.end {
                if piece.start == piece.end {
                    (piece.start, piece.end) = (range.start, range.start);
                }
                if range.start != piece.end {
                    return Err(format!("a list starts at row {}, not at {}", range.start, piece.end).into());
                }
                piece.end = range.end;
            }
            self.ends.push(u32::try_from(before + piece.end - piece.start)?);
        }
        self.batches.push(piece);
        Ok(())
    }

    /// Returns the ranges of all rows, and the children.
    fn keep(self, ty: Type) -> Result<(Ranges<'static>, Vec<Named>), Failure> {
        let mut children = Vec::new();
        for k in 0..ty.children() {
            let child = |piece: &Piece| Ok(Piece { of: piece.of.child(k)?, ..*piece });
            let pieces = self.batches.iter().map(child).collect::<Result<Vec<_>, Failure>>()?;
            // The items of a list have no name.
            let name = match ty {
                Type::List => String::new(),
                _ => self.batches.first().ok_or("no rows")?.of.child_name(k)?.to_owned(),
            };
            children.push((&*name.leak(), keep(&pieces)?));
        }
        let count = self.ends.len();
        let ranges = match ty {
            Type::List => Ranges::Off32([vec![0], self.ends].concat().leak()),
            _ => Ranges::Stride { first: 0, size: 1, count },
        };
        Ok((ranges, children))
    }
}

/// Rows of one kind, and which have a value.
type Kept = (Collected, Values<'static>);

/// Collects the values of one kind from all batches: `$append` appends the values of a batch.
macro_rules! collect {
    ($pieces:expr, $name:ident, $values:ident, $append:expr) => {
        Collected::read($pieces, |batch| match batch.values {
            Values::$name($values) => $append(batch),
            _ => Err("a column has values of two kinds".into()),
        })?
    };
}

fn bools(pieces: &[Piece]) -> Result<Kept, Failure> {
    let (mut bits, mut len) = (Vec::new(), 0);
    let rows = collect!(pieces, Bool, values, |_| {
        for i in 0..values.len() {
            push_bit(&mut bits, len, values.get(i) == Some(true));
            len += 1;
        }
        Ok(())
    });
    Ok((rows, Values::Bool(Bits::new(bits.leak(), 0, len)?)))
}

fn texts(pieces: &[Piece]) -> Result<Kept, Failure> {
    let (mut data, mut offsets) = (Vec::new(), vec![0]);
    let rows = collect!(pieces, Utf8, values, |batch: &Batch<'_, _>| {
        for i in 0..values.len() {
            data.extend_from_slice(if batch.validity.get(i) { values.get(i)? } else { b"" });
            offsets.push(u32::try_from(data.len())?);
        }
        Ok(())
    });
    Ok((rows, Values::Utf8(VarBytes { data: data.leak(), spans: Spans::Off32(offsets.leak()) })))
}

/// Reads rows, their children included, into memory that is kept to the end of the program.
fn keep(pieces: &[Piece]) -> Result<Borrowed<'static>, Failure> {
    let Piece { of: column, start, end } = *pieces.first().ok_or("no rows")?;
    let ty = column.ty();
    let mut memory = vec![0; usize::try_from(column.need(start..end)?)?];
    let kind = column.read(start..end, &mut Scratch::new(&mut memory))?.values;
    let mut children = Vec::new();
    macro_rules! of_kind {
        ($($name:ident)*) => {
            match kind {
                Values::Null => return Ok(Borrowed::nulls(usize::try_from(end - start)?)),
                $(Values::$name(_) => {
                    let mut all = Vec::new();
                    let rows = collect!(pieces, $name, values, |_| Ok(all.extend_from_slice(values)));
                    (rows, Values::$name(all.leak()))
                })*
                Values::Bool(_) => bools(pieces)?,
                Values::Utf8(_) => texts(pieces)?,
                Values::Nested(_) if matches!(ty, Type::List | Type::Struct(_)) => {
                    let mut nested = Nested::default();
                    let rows = collect!(pieces, Nested, ranges, |batch| nested.push(&ranges, batch));
                    let ranges;
                    (ranges, children) = nested.keep(ty)?;
                    (rows, Values::Nested(ranges))
                }
                Values::Bytes(_) | Values::Nested(_) => {
                    return Err(format!("columns of type {ty} are not supported").into());
                }
            }
        };
    }
    let (rows, values) = of_kind!(I8 I16 I32 I64 I128 I256 U8 U16 U32 U64 F16 F32 F64);
    let mut kept = Borrowed::new(ty, values).with_children(children.leak());
    if column.nullable() {
        let bits = Bits::new(rows.valid.leak(), 0, rows.rows)?;
        kept = kept.with_validity(if rows.missing { Validity::Bits(bits) } else { Validity::All });
    }
    Ok(match column.zone()? {
        Some(zone) => kept.with_zone(zone.to_owned().leak()),
        None => kept,
    })
}

/// Reads all rows of a file, batch by batch.
fn batches(path: &str) -> Result<Vec<&'static [Named]>, Failure> {
    let file: &'static File<'static> = Box::leak(Box::new(File::open(fs::read(path)?.leak())?));
    let part = file.part()?;
    let (mut batches, mut row) = (Vec::new(), 0);
    while row < part.rows() {
        let end = part.rows().min(row + BATCH);
        let mut columns = Vec::new();
        for k in 0..part.width() {
            let name: &'static str = part.name(k)?.to_owned().leak();
            columns.push((name, keep(&[Piece { of: part.column(k)?, start: row, end }])?));
        }
        batches.push(&*columns.leak());
        row = end;
    }
    Ok(batches)
}

fn write(batches: &[&[Named]], out: &str, options: &WriteOptions) -> Result<(), Failure> {
    let sink = IoSink(BufWriter::with_capacity(1 << 16, fs::File::create(out)?));
    let mut writer = Writer::new(sink, batches[0], options)?;
    for rows in batches {
        writer.push(*rows)?;
    }
    writer.finish()?.0.into_inner()?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let compact = arguments.pop_if(|last| last == "compact").is_some();
    let (file, out, runs) = match &*arguments {
        [file, out] => (file, out, 5),
        [file, out, runs] => (file, out, runs.parse()?),
        _ => return Err("vortex_write FILE OUT [RUNS] [compact]".into()),
    };
    let encodings = if compact { Encodings::COMPACT } else { Encodings::DEFAULT };
    let options = WriteOptions { encodings, ..WriteOptions::DEFAULT };
    let batches = batches(file)?;
    if batches.is_empty() {
        return Err("the file has no rows".into());
    }
    let mut best = f64::MAX;
    for _ in 0..runs {
        let start = ProcessTime::now();
        write(black_box(&batches), out, &options)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("{best:.2} {}", fs::metadata(out)?.len());
    Ok(())
}
