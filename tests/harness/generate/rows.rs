//! Rows of a table, made of fuzz input, and the table as the writers take it.

use core::ops::Range;

use arbitrary::{Arbitrary, Result, Unstructured};
use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Batch, Column, Part, Prim, Spans, Type, Validity, Values, VarBytes};

use super::super::cell::Cell;

/// The most rows and columns.
const ROWS: usize = 160;
const COLUMNS: usize = 4;

/// What texts are made of: one to four bytes in UTF-8, no NUL.
const CHARS: [&str; 8] = ["a", "Z", "0", " ", "\u{e9}", "\u{65e5}", "\u{1d11e}", "\n"];

/// Which types a format has, and what its cells cannot say.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub types: &'static [Type],
    /// Whether rows may be missing.
    pub nulls: bool,
    /// Whether the minimum of an integer means that it is missing.
    pub sentinels: bool,
}

/// The rows of a table.
#[derive(Clone, Debug)]
pub struct Rows {
    pub columns: Vec<Cells>,
    rows: usize,
}

/// The rows of a column.
#[derive(Clone, Debug)]
pub struct Cells {
    pub name: String,
    pub ty: Type,
    values: Owned,
    /// One bit per row, 1 = has a value.
    valid: Option<Vec<u8>>,
    rows: usize,
    /// Rows that are read at a time.
    step: u64,
}

#[derive(Clone, Debug)]
enum Owned {
    Bool(Vec<u8>),
    U8(Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Text { data: Vec<u8>, offsets: Vec<u32> },
}

/// Where values come from: the input, or a few bytes of it, which make many rows.
enum Source<'u, 'a> {
    Input(&'u mut Unstructured<'a>),
    Seed(u64),
}

impl Source<'_, '_> {
    /// The next number of `len` bytes; zeros after the end of the input.
    fn number(&mut self, len: usize) -> Result<u64> {
        match self {
            Source::Input(input) => {
                (0..len).try_fold(0, |number, _| Ok(number << 8 | u64::from(u8::arbitrary(input)?)))
            }
            Source::Seed(state) => {
                *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let mixed = (*state ^ *state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                Ok((mixed ^ mixed >> 32) & u64::MAX.checked_shr(64 - 8 * len as u32).unwrap_or(0))
            }
        }
    }
}

/// How the numbers of a column lie: on a line, with `bytes` of noise.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Line {
    base: Base,
    slope: i8,
    bytes: u8,
    whole: bool,
    repeats: bool,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Base {
    Zero,
    Small(i16),
    Large(i64),
}

impl Line {
    fn at(&self, row: usize, source: &mut Source<'_, '_>) -> Result<i64> {
        let base = match self.base {
            Base::Zero => 0,
            Base::Small(base) => base.into(),
            Base::Large(base) => base,
        };
        let bytes = [0, 1, 2, 8][usize::from(self.bytes % 4)];
        let noise = source.number(bytes)?.cast_signed();
        Ok(base.wrapping_add(i64::from(self.slope).wrapping_mul(row as i64)).wrapping_add(noise))
    }
}

impl Rows {
    /// Takes a table out of the input.
    pub fn arbitrary(u: &mut Unstructured<'_>, wanted: &Wanted) -> Result<Rows> {
        let width = u.int_in_range(1..=COLUMNS)?;
        let rows = u.int_in_range(0..=ROWS)?;
        let columns = (0..width).map(|k| Cells::arbitrary(u, wanted, k, rows)).collect::<Result<_>>()?;
        Ok(Rows { columns, rows })
    }
}

impl Cells {
    fn arbitrary(u: &mut Unstructured<'_>, wanted: &Wanted, k: usize, rows: usize) -> Result<Cells> {
        let ty = *u.choose(wanted.types)?;
        let (line, step) = (Line::arbitrary(u)?, u.int_in_range(1..=64)?);
        let nulls = wanted.nulls && bool::arbitrary(u)?;
        let seed = <Option<u32>>::arbitrary(u)?;
        let mut source = seed.map_or(Source::Input(u), |seed| Source::Seed(seed.into()));
        let mut values = Owned::empty(ty);
        let mut valid = nulls.then(|| vec![0; rows.div_ceil(8)]);
        for row in 0..rows {
            if let Some(valid) = &mut valid
                && source.number(1)? & 3 != 0
            {
                valid[row / 8] |= 1 << (row % 8);
            }
            // Some rows repeat an earlier one, which dictionaries and runs are made for.
            let from = if line.repeats && row > 0 { source.number(1)? as usize } else { 0 };
            let line = Line { repeats: from & 1 == 1, ..line };
            values.push(ty, line, (from >> 1) % row.max(1), row, &mut source, wanted.sentinels)?;
        }
        let name = ["a", "b", "c", "d"][k].to_owned();
        Ok(Cells { name, ty, values, valid, rows, step })
    }

    /// The column, all of whose rows are read at a time.
    pub fn all(&self) -> Cells {
        Cells { step: u64::MAX, ..self.clone() }
    }

    /// The value of row `i`.
    pub fn cell(&self, i: usize) -> Cell<'_> {
        if self.valid.as_ref().is_some_and(|valid| valid[i / 8] >> (i % 8) & 1 == 0) {
            return Cell::Missing;
        }
        match &self.values {
            Owned::Bool(bits) => Cell::Bool(bits[i / 8] >> (i % 8) & 1 == 1),
            Owned::U8(values) => Cell::Int(values[i].into()),
            Owned::I8(values) => Cell::Int(values[i].into()),
            Owned::I16(values) => Cell::Int(values[i].into()),
            Owned::I32(values) => Cell::Int(values[i].into()),
            Owned::I64(values) => Cell::Int(values[i].into()),
            Owned::F32(values) => Cell::F32(values[i].to_bits()),
            Owned::F64(values) => Cell::F64(values[i].to_bits()),
            Owned::Text { data, offsets } => Cell::Bytes(&data[offsets[i] as usize..offsets[i + 1] as usize]),
        }
    }
}

impl Owned {
    fn empty(ty: Type) -> Owned {
        match ty {
            Type::Bool => Owned::Bool(Vec::new()),
            Type::Prim(Prim::U8) => Owned::U8(Vec::new()),
            Type::Prim(Prim::I8) => Owned::I8(Vec::new()),
            Type::Prim(Prim::I16) => Owned::I16(Vec::new()),
            Type::Prim(Prim::I32) => Owned::I32(Vec::new()),
            Type::Prim(Prim::I64) => Owned::I64(Vec::new()),
            Type::Prim(Prim::F32) => Owned::F32(Vec::new()),
            Type::Prim(Prim::F64) => Owned::F64(Vec::new()),
            Type::Utf8 | Type::Bytes => Owned::Text { data: Vec::new(), offsets: vec![0] },
            other => panic!("no format writes {other} here"),
        }
    }

    /// Adds row `row`: row `from` again if the line repeats.
    fn push(
        &mut self,
        ty: Type,
        line: Line,
        from: usize,
        row: usize,
        source: &mut Source<'_, '_>,
        sentinels: bool,
    ) -> Result<()> {
        if let Owned::Text { data, offsets } = self {
            if line.repeats {
                data.extend_from_within(offsets[from] as usize..offsets[from + 1] as usize);
            } else {
                text(ty, data, source)?;
            }
            offsets.push(data.len() as u32);
            return Ok(());
        }
        let long = line.at(row, source)?;
        let float = if line.whole { f64::from(long as i16) } else { f64::from_bits(long.cast_unsigned()) };
        macro_rules! add {
            ($values:expr, $value:expr, $min:expr) => {{
                let value = if line.repeats { $values[from] } else { $value };
                $values.push(if sentinels && value == $min { Default::default() } else { value });
            }};
        }
        match self {
            Owned::Bool(bits) => {
                if row.is_multiple_of(8) {
                    bits.push(0);
                }
                bits[row / 8] |= (long as u8 & 1) << (row % 8);
            }
            Owned::U8(values) => values.push(long as u8),
            Owned::I8(values) => add!(values, long as i8, i8::MIN),
            Owned::I16(values) => add!(values, long as i16, i16::MIN),
            Owned::I32(values) => add!(values, long as i32, i32::MIN),
            Owned::I64(values) => add!(values, long, i64::MIN),
            Owned::F32(values) => values.push(if line.whole { float as f32 } else { f32::from_bits(long as u32) }),
            Owned::F64(values) => values.push(float),
            Owned::Text { .. } => {}
        }
        Ok(())
    }
}

/// Adds a text of a few characters, rarely of more, or bytes.
fn text(ty: Type, data: &mut Vec<u8>, source: &mut Source<'_, '_>) -> Result<()> {
    let len = match source.number(1)? {
        255 => 60,
        n => n % 24,
    };
    for _ in 0..len {
        let byte = source.number(1)? as u8;
        match ty {
            Type::Utf8 => data.extend_from_slice(CHARS[usize::from(byte % 8)].as_bytes()),
            _ => data.push(byte),
        }
    }
    Ok(())
}

impl<'r> Part for &'r Rows {
    type Col = &'r Cells;

    fn rows(&self) -> u64 {
        self.rows as u64
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    fn name(&self, k: usize) -> pilaster::Result<&str> {
        Ok(&self.columns[k].name)
    }

    fn column(&self, k: usize) -> pilaster::Result<Self::Col> {
        Ok(&self.columns[k])
    }
}

impl Column for &Cells {
    fn ty(&self) -> Type {
        self.ty
    }

    fn nullable(&self) -> bool {
        self.valid.is_some()
    }

    fn rows(&self) -> u64 {
        self.rows as u64
    }

    fn need(&self, _: Range<u64>) -> pilaster::Result<u64> {
        Ok(0)
    }

    fn read<'s>(&self, rows: Range<u64>, _: &mut Scratch<'s>) -> pilaster::Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let from = rows.start as usize;
        let len = (rows.end - rows.start).min(self.step) as usize;
        let (cells, to): (Self, usize) = (*self, from + len);
        let values = match &cells.values {
            Owned::Bool(bits) => Values::Bool(Bits::new(bits, from, len).expect("enough bits")),
            Owned::U8(values) => Values::U8(&values[from..to]),
            Owned::I8(values) => Values::I8(&values[from..to]),
            Owned::I16(values) => Values::I16(&values[from..to]),
            Owned::I32(values) => Values::I32(&values[from..to]),
            Owned::I64(values) => Values::I64(&values[from..to]),
            Owned::F32(values) => Values::F32(&values[from..to]),
            Owned::F64(values) => Values::F64(&values[from..to]),
            Owned::Text { data, offsets } => {
                let strings = VarBytes { data, spans: Spans::Off32(&offsets[from..=to]) };
                if cells.ty == Type::Utf8 { Values::Utf8(strings) } else { Values::Bytes(strings) }
            }
        };
        let validity = match &cells.valid {
            Some(valid) => Validity::Bits(Bits::new(valid, from, len).expect("enough bits")),
            None => Validity::All,
        };
        Ok(Batch { first: rows.start, len, values, validity, of: cells })
    }
}
