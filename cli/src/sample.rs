//! Columns of three rows in memory, of every kind that a test needs; row 1 is missing.

use std::ops::Range;

use pilaster::Result;
use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Batch, Bookmark, Column, Part, Prim, Ranges, Spans, Table, Type, Validity, Values, VarBytes};
use pilaster::error::{Error, Kind, What};

/// The names of all columns.
pub const NAMES: [&str; 11] =
    ["int", "long", "half", "double", "bool", "text", "bytes", "decimal", "wide", "list", "struct"];

/// A column by its index in [`NAMES`].
#[derive(Clone, Copy, Debug)]
pub struct Sample(usize);

pub fn column(name: &str) -> Sample {
    Sample(NAMES.iter().position(|known| *known == name).unwrap())
}

/// Returns the offsets of the strings or lists of `rows`.
fn offsets(all: &'static [u32; 4], rows: &Range<usize>) -> &'static [u32] {
    &all[rows.start..=rows.end]
}

impl Column for Sample {
    fn ty(&self) -> Type {
        match NAMES[self.0] {
            "int" => Type::Prim(Prim::I32),
            "long" => Type::Prim(Prim::I64),
            "half" => Type::Prim(Prim::F16),
            "double" => Type::Prim(Prim::F64),
            "bool" => Type::Bool,
            "text" => Type::Utf8,
            "bytes" => Type::Bytes,
            "decimal" => Type::Decimal { precision: 9, scale: 2 },
            "wide" => Type::Decimal { precision: 70, scale: 2 },
            "list" => Type::List,
            _ => Type::Struct(2),
        }
    }

    fn nullable(&self) -> bool {
        true
    }

    fn rows(&self) -> u64 {
        3
    }

    fn child(&self, k: usize) -> Result<Self> {
        Ok(column(if k == 0 { "int" } else { "text" }))
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        Ok(["n", "s"][k])
    }

    /// Returns more than `read` takes, so that memory has to grow.
    fn need(&self, rows: Range<u64>) -> Result<u64> {
        Ok((rows.end - rows.start) * (5 << 20))
    }

    /// Reads at most two rows at a time.
    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        if rows.end > 3 {
            return Err(Error::needing(Kind::OutOfRange, What::ROW, rows.end, 3));
        }
        assert!(scratch.room() as u64 >= self.need(rows.start..rows.start + 1)?);
        let first = rows.start;
        let rows = first as usize..(rows.end as usize).min(first as usize + 2);
        let strings = |data, all| VarBytes { data, spans: Spans::Off32(offsets(all, &rows)) };
        let values = match NAMES[self.0] {
            "int" => Values::I32(&[1, 0, -3][rows.clone()]),
            "long" => Values::I64(&[i64::MAX, 0, i64::MIN][rows.clone()]),
            "half" => Values::F16(&[0x3c00, 0, 0x7e00][rows.clone()]),
            "double" => Values::F64(&[1.5, 0.0, f64::INFINITY][rows.clone()]),
            "bool" => Values::Bool(Bits::new(&[0b001], rows.start, rows.len())?),
            "text" => Values::Utf8(strings(b"a\"b\x01\n", &[0, 5, 5, 5])),
            "bytes" => Values::Bytes(strings(b"\x00\xff", &[0, 2, 2, 2])),
            "decimal" => Values::I128(&[12345, 0, -5][rows.clone()]),
            "wide" => Values::I256(&[[1, 0, 0, 0], [0; 4], [u64::MAX; 4]][rows.clone()]),
            "list" => Values::Nested(Ranges::Off32(offsets(&[0, 2, 2, 3], &rows))),
            _ => Values::Nested(Ranges::Stride { first, size: 1, count: rows.len() }),
        };
        let validity = Validity::Bits(Bits::new(&[0b101], rows.start, rows.len())?);
        Ok(Batch { first, len: rows.len(), values, validity, of: *self })
    }
}

/// Three rows of some of the columns, as one part.
pub struct Samples<'n> {
    names: &'n [&'n str],
    done: bool,
}

pub fn table<'n>(names: &'n [&'n str]) -> Samples<'n> {
    Samples { names, done: false }
}

impl<'n> Table for Samples<'n> {
    type Part<'p>
        = Row<'n>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, _: &mut Scratch<'p>) -> Result<Option<Self::Part<'p>>>
    where
        Self: 'p,
    {
        Ok((!std::mem::replace(&mut self.done, true)).then_some(Row(self.names)))
    }

    fn bookmark(&self) -> Bookmark {
        Bookmark::new(0, self.done.into())
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        self.done = to != Bookmark::START;
        Ok(())
    }
}

#[derive(Clone, Copy)]
pub struct Row<'n>(&'n [&'n str]);

impl Part for Row<'_> {
    type Col = Sample;

    fn rows(&self) -> u64 {
        3
    }

    fn width(&self) -> usize {
        self.0.len()
    }

    fn name(&self, k: usize) -> Result<&str> {
        Ok(self.0[k])
    }

    fn column(&self, k: usize) -> Result<Sample> {
        Ok(column(self.0[k]))
    }
}
