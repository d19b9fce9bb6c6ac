//! Rows of any type that the writer of Vortex takes, made of fuzz input: a few bytes make many rows, of a shape that an encoding
//! is for.

use arbitrary::{Arbitrary, Result, Unstructured};
use pilaster::bytes::Bits;
use pilaster::column::{Borrowed, Prim, Ranges, Spans, Type, Unit, Validity, Values, VarBytes};

/// A column and its children.
#[derive(Debug)]
pub struct Rows {
    ty: Type,
    zone: Option<&'static str>,
    values: Owned,
    /// One bit per row, 1 = has a value.
    valid: Option<Vec<u8>>,
    children: Vec<Rows>,
    rows: usize,
}

#[derive(Debug)]
enum Owned {
    Null,
    Bool(Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    I128(Vec<i128>),
    I256(Vec<[u64; 4]>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F16(Vec<u16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Text(Vec<u8>, Vec<u32>),
    /// Number of rows of the children for each row.
    Stride(u64),
    Lists(Vec<u32>),
}

/// How the numbers of a column follow each other.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Shape {
    Constant,
    /// Equal rows, then other ones.
    Runs,
    /// A line with noise of this number of bits.
    Line(u8),
    /// One of a few numbers.
    Codes(u8),
    /// One number in most rows.
    Sparse,
    /// In a range of this number of bits.
    Range(u8),
    Any,
}

/// Makes numbers.
#[derive(Debug)]
struct Numbers {
    shape: Shape,
    base: i64,
    slope: i16,
    state: u64,
    last: i64,
}

impl Numbers {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        let base = if u.arbitrary()? { u.arbitrary::<i64>()? } else { u.arbitrary::<i8>()?.into() };
        let (shape, slope, state) = (u.arbitrary()?, u.arbitrary()?, u64::from(u.arbitrary::<u16>()?));
        Ok(Numbers { shape, base, slope, state, last: base })
    }

    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn next(&mut self, row: usize) -> i64 {
        let random = self.random();
        let bits = |bits: u8| (random >> (63 - bits % 64)) as i64;
        match self.shape {
            Shape::Constant => self.base,
            Shape::Runs => {
                if random.is_multiple_of(20) {
                    self.last = self.base.wrapping_add(bits(self.slope as u8));
                }
                self.last
            }
            Shape::Line(noise) => {
                let line = i64::from(self.slope).wrapping_mul(row as i64);
                self.base.wrapping_add(line).wrapping_add(if noise == 0 { 0 } else { bits(noise % 12) })
            }
            Shape::Codes(count) => {
                self.base.wrapping_add((random % u64::from(count.max(1))) as i64 * i64::from(self.slope))
            }
            Shape::Sparse if !random.is_multiple_of(30) => self.base,
            Shape::Range(width) => self.base.wrapping_add(bits(width)),
            Shape::Sparse | Shape::Any => random as i64,
        }
    }

    fn all<T>(&mut self, rows: usize, of: impl Fn(i64) -> T) -> Vec<T> {
        (0..rows).map(|row| of(self.next(row))).collect()
    }
}

const UNITS: [Unit; 4] = [Unit::Second, Unit::Milli, Unit::Micro, Unit::Nano];

/// A type without children.
fn leaf(u: &mut Unstructured<'_>) -> Result<Type> {
    use Prim::{F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    Ok(match u.int_in_range(0..=8)? {
        0 => Type::Null,
        1 => Type::Bool,
        2 | 3 => Type::Prim(*u.choose(&[I64, F64, I8, I16, I32, U8, U16, U32, U64, F16, F32])?),
        4 => {
            let precision = u.int_in_range(1..=76)?;
            Type::Decimal { precision, scale: u.int_in_range(-3..=precision.cast_signed())? }
        }
        5 => Type::Date(*u.choose(&[Unit::Day, Unit::Milli])?),
        6 => *u.choose(&UNITS.map(Type::Time))?,
        7 => *u.choose(&UNITS.map(Type::Timestamp))?,
        _ => *u.choose(&[Type::Utf8, Type::Bytes])?,
    })
}

impl Rows {
    /// Takes a column of `rows` rows out of the input, which is nested at most `depth` times.
    pub fn arbitrary(u: &mut Unstructured<'_>, rows: usize, depth: usize) -> Result<Self> {
        let is_nested = depth > 0 && u.ratio(1, 3)?;
        let mut column = if is_nested { Self::nested(u, rows, depth - 1)? } else { Self::values(u, rows)? };
        if column.ty == Type::Null {
            return Ok(column);
        }
        if u.arbitrary()? {
            let (mut numbers, mut valid) = (Numbers::arbitrary(u)?, vec![0; rows.div_ceil(8)]);
            (0..rows).for_each(|row| valid[row / 8] |= u8::from(numbers.next(row) & 3 != 0) << (row % 8));
            column.valid = Some(valid);
        }
        Ok(column)
    }

    fn nested(u: &mut Unstructured<'_>, rows: usize, depth: usize) -> Result<Self> {
        let lists = |u: &mut Unstructured<'_>| -> Result<(Vec<u32>, usize)> {
            let mut numbers = Numbers::arbitrary(u)?;
            let mut ends = vec![0u32];
            (0..rows).for_each(|row| ends.push(ends[row] + (numbers.next(row) & 3) as u32));
            let total = ends[rows] as usize;
            Ok((ends, total))
        };
        let (ty, values, children) = match u.int_in_range(0..=3)? {
            0 => {
                let (ends, total) = lists(u)?;
                (Type::List, Owned::Lists(ends), vec![Rows::arbitrary(u, total, depth)?])
            }
            1 => {
                let size = u.int_in_range(0..=3u32)?;
                let children = vec![Rows::arbitrary(u, rows * size as usize, depth)?];
                (Type::FixedList(size), Owned::Stride(size.into()), children)
            }
            2 => {
                let count = u.int_in_range(0..=3u32)?;
                let fields = (0..count).map(|_| Rows::arbitrary(u, rows, depth)).collect::<Result<_>>()?;
                (Type::Struct(count), Owned::Stride(1), fields)
            }
            _ => {
                let (ends, total) = lists(u)?;
                // No key is missing.
                let mut key = Rows::values(u, total)?;
                if key.ty == Type::Null {
                    key = Rows { ty: Type::Bool, values: Owned::Bool(vec![0x5a; total.div_ceil(8)]), ..key };
                }
                let pair = vec![key, Rows::arbitrary(u, total, 0)?];
                let entries = Owned::Stride(1);
                let entry =
                    Rows { ty: Type::Struct(2), zone: None, values: entries, valid: None, children: pair, rows: total };
                (Type::Map, Owned::Lists(ends), vec![entry])
            }
        };
        Ok(Rows { ty, zone: None, values, valid: None, children, rows })
    }

    fn values(u: &mut Unstructured<'_>, rows: usize) -> Result<Self> {
        let ty = leaf(u)?;
        let zone = match ty {
            Type::Timestamp(_) => *u.choose(&[None, Some("UTC"), Some("Europe/Rome")])?,
            _ => None,
        };
        let mut numbers = Numbers::arbitrary(u)?;
        let values = match ty {
            Type::Null => Owned::Null,
            Type::Bool => Owned::Bool(numbers.all(rows.div_ceil(8), |number| number as u8)),
            Type::Prim(prim) => Owned::of_prim(prim, &mut numbers, rows, *u.choose(&[1.0, 8.0, 10.0, 100.0, 0.0])?),
            Type::Decimal { precision, .. } => Owned::decimals(precision, &mut numbers, rows),
            Type::Date(Unit::Day) | Type::Time(Unit::Second | Unit::Milli) => {
                Owned::I32(numbers.all(rows, |number| number as i32))
            }
            Type::Utf8 | Type::Bytes => Owned::texts(ty, &mut numbers, rows),
            _ => Owned::I64(numbers.all(rows, |number| number)),
        };
        Ok(Rows { ty, zone, values, valid: None, children: Vec::new(), rows })
    }

    /// The column over the children, in memory.
    fn borrowed<'d>(&'d self, children: &'d [(&'d str, Borrowed<'d>)]) -> Borrowed<'d> {
        let texts = |data: &'d [u8], ends: &'d [u32]| VarBytes { data, spans: Spans::Off32(ends) };
        let values = match &self.values {
            Owned::Null => return Borrowed::nulls(self.rows),
            Owned::Bool(bits) => Values::Bool(Bits::new(bits, 0, self.rows).expect("enough bits")),
            Owned::I8(values) => Values::I8(values),
            Owned::I16(values) => Values::I16(values),
            Owned::I32(values) => Values::I32(values),
            Owned::I64(values) => Values::I64(values),
            Owned::I128(values) => Values::I128(values),
            Owned::I256(values) => Values::I256(values),
            Owned::U8(values) => Values::U8(values),
            Owned::U16(values) => Values::U16(values),
            Owned::U32(values) => Values::U32(values),
            Owned::U64(values) => Values::U64(values),
            Owned::F16(values) => Values::F16(values),
            Owned::F32(values) => Values::F32(values),
            Owned::F64(values) => Values::F64(values),
            Owned::Text(data, ends) if self.ty == Type::Utf8 => Values::Utf8(texts(data, ends)),
            Owned::Text(data, ends) => Values::Bytes(texts(data, ends)),
            Owned::Stride(size) => Values::Nested(Ranges::Stride { first: 0, size: *size, count: self.rows }),
            Owned::Lists(ends) => Values::Nested(Ranges::Off32(ends)),
        };
        let column = Borrowed::new(self.ty, values).with_children(children);
        let column = self.zone.map_or(column, |zone| column.with_zone(zone));
        match &self.valid {
            Some(bits) => column.with_validity(Validity::Bits(Bits::new(bits, 0, self.rows).expect("enough bits"))),
            None => column,
        }
    }
}

impl Owned {
    fn of_prim(prim: Prim, numbers: &mut Numbers, rows: usize, divisor: f64) -> Owned {
        let double = |number: i64| if divisor > 0.0 { number as f64 / divisor } else { f64::from_bits(number as u64) };
        match prim {
            Prim::I8 => Owned::I8(numbers.all(rows, |number| number as i8)),
            Prim::I16 => Owned::I16(numbers.all(rows, |number| number as i16)),
            Prim::I32 => Owned::I32(numbers.all(rows, |number| number as i32)),
            Prim::I64 => Owned::I64(numbers.all(rows, |number| number)),
            Prim::U8 => Owned::U8(numbers.all(rows, |number| number as u8)),
            Prim::U16 => Owned::U16(numbers.all(rows, |number| number as u16)),
            Prim::U32 => Owned::U32(numbers.all(rows, |number| number as u32)),
            Prim::U64 => Owned::U64(numbers.all(rows, |number| number as u64)),
            Prim::F16 => Owned::F16(numbers.all(rows, |number| number as u16)),
            Prim::F32 if divisor > 0.0 => Owned::F32(numbers.all(rows, |number| double(number) as f32)),
            Prim::F32 => Owned::F32(numbers.all(rows, |number| f32::from_bits(number as u32))),
            Prim::F64 => Owned::F64(numbers.all(rows, double)),
        }
    }

    /// Integers of at most `precision` digits.
    fn decimals(precision: u8, numbers: &mut Numbers, rows: usize) -> Owned {
        let most = 10i128.pow(u32::from(precision.min(38))) - 1;
        // Numbers of the input have fewer digits.
        let wide = |number: i64| (i128::from(number) * (most / i128::from(i64::MAX) + 1)).clamp(-most, most);
        match precision {
            1..=2 => Owned::I8(numbers.all(rows, |number| wide(number) as i8)),
            3..=4 => Owned::I16(numbers.all(rows, |number| wide(number) as i16)),
            5..=9 => Owned::I32(numbers.all(rows, |number| wide(number) as i32)),
            10..=18 => Owned::I64(numbers.all(rows, |number| wide(number) as i64)),
            19..=38 => Owned::I128(numbers.all(rows, wide)),
            _ => Owned::I256(numbers.all(rows, |number| widest(precision, number))),
        }
    }

    fn texts(ty: Type, numbers: &mut Numbers, rows: usize) -> Owned {
        const WORDS: [&str; 8] =
            ["", "GET /", "z\u{fc}rich", "\u{1d11e}", "connection reset by peer ", "a", "0", "\u{0}"];
        let (mut data, mut ends) = (Vec::new(), vec![0]);
        for row in 0..rows {
            let number = numbers.next(row);
            data.extend_from_slice(WORDS[(number & 7) as usize].as_bytes());
            match number >> 3 & 3 {
                0 => {}
                1 => data.extend_from_slice(format!("{number}").as_bytes()),
                2 if ty == Type::Bytes => data.extend_from_slice(&number.to_le_bytes()[..(number >> 5 & 7) as usize]),
                _ => data.extend_from_slice(
                    WORDS[(number >> 5 & 7) as usize].repeat((number >> 8 & 15) as usize).as_bytes(),
                ),
            }
            ends.push(u32::try_from(data.len()).expect("short texts"));
        }
        Owned::Text(data, ends)
    }
}

type Named<'d> = (&'d str, Borrowed<'d>);

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Calls `done` with the columns that `all` describes.
pub fn with_columns(all: &[Rows], done: &mut dyn FnMut(&[Named<'_>])) {
    with_more(all, &[], done);
}

/// Calls `done` with `before` and the columns that `rest` describes, each of which borrows its children.
fn with_more(rest: &[Rows], before: &[Named<'_>], done: &mut dyn FnMut(&[Named<'_>])) {
    let Some((first, rest)) = rest.split_first() else { return done(before) };
    with_more(&first.children, &[], &mut |children| {
        let mut columns = before.to_vec();
        columns.push((NAMES[before.len()], first.borrowed(children)));
        with_more(rest, &columns, done);
    });
}

/// Returns an integer of up to `precision` digits, 39 to 76, that a number determines.
fn widest(precision: u8, number: i64) -> [u64; 4] {
    let (digits, mut bits) = (number.unsigned_abs(), u32::from(precision) * 3321 / 1000);
    let mut words =
        [digits.wrapping_mul(0x9e37_79b9_7f4a_7c15), digits, digits.rotate_left(17), digits.rotate_left(40)];
    for word in &mut words {
        *word &= if bits < 64 { (1 << bits) - 1 } else { u64::MAX };
        bits = bits.saturating_sub(64);
    }
    if number >= 0 {
        return words;
    }
    // The two's complement.
    let mut carry = true;
    words.map(|word| {
        let (word, over) = (!word).overflowing_add(carry.into());
        carry = over;
        word
    })
}
