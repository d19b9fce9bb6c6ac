//! Random values of every element type.

use pilaster::bytes::Bits;
use pilaster::column::Validity;
pub use pilaster::filo::write::Rows;
use pilaster::filo::write::{Plain, Strings};

use super::{Cell, QUARTER};
use crate::random::Random;

/// Values of one element type.
pub enum Vals {
    Bool(Vec<bool>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Str(Vec<Vec<u8>>),
    Utf8(Vec<Vec<u8>>),
    Timestamp(Vec<i64>),
    /// Milliseconds and offsets.
    DateTime(Vec<i64>, Vec<i32>),
}

impl Vals {
    /// Returns the code of the element type, an index of [`super::ELEMENTS`].
    pub fn code(&self) -> u8 {
        match self {
            Vals::Bool(_) => 0,
            Vals::Int(_) => 1,
            Vals::Long(_) => 2,
            Vals::Float(_) => 3,
            Vals::Double(_) => 4,
            Vals::Str(_) => 5,
            Vals::Utf8(_) => 6,
            Vals::Timestamp(_) => 7,
            Vals::DateTime(..) => 8,
        }
    }
    /// Returns the value of row `i`.
    pub fn cell(&self, i: usize) -> Cell {
        match self {
            Vals::Bool(v) => Cell::Number(v[i].into()),
            Vals::Int(v) => Cell::Number(v[i].into()),
            Vals::Long(v) | Vals::Timestamp(v) => Cell::Number(v[i]),
            Vals::Float(v) => Cell::Number(v[i].to_bits().into()),
            Vals::Double(v) => Cell::Number(v[i].to_bits() as i64),
            Vals::Str(v) | Vals::Utf8(v) => Cell::Bytes(v[i].clone()),
            Vals::DateTime(millis, offsets) => Cell::DateTime(millis[i], offsets[i] / QUARTER),
        }
    }
    /// Returns the number of bytes of all strings.
    pub fn text_len(&self) -> usize {
        match self {
            Vals::Str(v) | Vals::Utf8(v) => v.iter().map(Vec::len).sum(),
            _ => 0,
        }
    }
    /// Returns `n` random values of the element type `code` in a style, which is a number below [`styles`].
    pub fn random(r: &mut Random, code: usize, style: usize, n: usize) -> Self {
        match code {
            0 => Vals::Bool((0..n).map(|_| style == 1 || r.below(2) == 1).collect()),
            1 => Vals::Int(ints(r, style, n).into_iter().map(|x| x as i32).collect()),
            2 => Vals::Long(longs(r, style, n)),
            3 => Vals::Float((0..n).map(|_| float(r, style)).collect()),
            4 => Vals::Double(doubles(r, style, n)),
            5 => Vals::Str(strings(r, style, n)),
            6 if style == 5 => {
                let lens = strings(r, style, n);
                Vals::Utf8(lens.iter().map(|s| s.iter().map(|_| r.next() as u8).collect()).collect())
            }
            6 => Vals::Utf8(strings(r, style, n)),
            7 => Vals::Timestamp(longs(r, style, n)),
            _ => {
                let (zone, one) = (r.range(-48, 56) as i32, r.below(2) == 0);
                let offsets = (0..n).map(|_| QUARTER * if one { zone } else { r.range(-48, 56) as i32 }).collect();
                Vals::DateTime(longs(r, style, n), offsets)
            }
        }
    }
    /// Calls `f` with the rows whose `valid` is true.
    pub fn with_rows<T>(&self, valid: &[bool], f: impl FnOnce(&Rows<'_>) -> T) -> T {
        let valid_bits = bits(valid);
        let validity = if valid.iter().all(|b| *b) {
            Validity::All
        } else {
            Validity::Bits(Bits::new(&valid_bits, 0, valid.len()).expect("enough bytes"))
        };
        let slices: Vec<&[u8]>;
        let bool_bits;
        let values = match self {
            Vals::Bool(v) => {
                bool_bits = bits(v);
                Plain::Boolean(Bits::new(&bool_bits, 0, v.len()).expect("enough bytes"))
            }
            Vals::Int(v) => Plain::Int(v),
            Vals::Long(v) => Plain::Long(v),
            Vals::Float(v) => Plain::Float(v),
            Vals::Double(v) => Plain::Double(v),
            Vals::Timestamp(v) => Plain::Timestamp(v),
            Vals::DateTime(millis, offsets) => Plain::DateTime { millis, offsets },
            Vals::Str(v) => {
                slices = v.iter().map(Vec::as_slice).collect();
                Plain::String(Strings::Slices(&slices))
            }
            Vals::Utf8(v) => {
                slices = v.iter().map(Vec::as_slice).collect();
                // The original writes any bytes.
                Plain::Blob(Strings::Slices(&slices))
            }
        };
        f(&Rows { values, validity })
    }
}

/// Returns the number of styles of an element type.
pub fn styles(code: usize) -> usize {
    [2, 14, 25, 3, 14, 11, 11, 25, 25][code]
}

fn bits(values: &[bool]) -> Vec<u8> {
    let mut out = vec![0u8; values.len().div_ceil(8) + 1];
    values.iter().enumerate().for_each(|(i, b)| out[i / 8] |= u8::from(*b) << (i % 8));
    out
}

fn ints(r: &mut Random, style: usize, n: usize) -> Vec<i64> {
    let constant = i64::from(r.next() as i32);
    let base = r.range(-1_000_000, 1_000_000);
    let one = |r: &mut Random, i: i64| match style {
        0 => r.range(0, 3),
        1 => r.range(0, 15),
        2 => r.range(-128, 127),
        3 => r.range(0, 255),
        4 => r.range(-32768, 32767),
        5 => r.range(0, 65535),
        6 => i64::from(r.next() as i32),
        7 => constant,
        8 => base + 7 * i + r.range(-3, 3),
        9 => r.pick(&[i64::from(i32::MIN), i64::from(i32::MAX), 0, -1]),
        10 => 1_000_000 + r.range(0, 255),
        11 => -2_000_000_000 + r.range(0, 65535),
        12 => 0,
        _ => r.range(-3, 3),
    };
    (0..n as i64).map(|i| one(r, i)).collect()
}

fn longs(r: &mut Random, style: usize, n: usize) -> Vec<i64> {
    if style < 12 {
        return ints(r, style, n);
    }
    let constant = r.next() as i64;
    let edges = [i64::MIN, i64::MAX, 0, -1, 1 << 31, -(1 << 31), 1 << 32, (1 << 32) - 1];
    let one = |r: &mut Random, i: i64| match style {
        12 => r.next() as i64,
        13 => constant,
        14 => 1_480_000_000_000 + 1000 * i + r.range(-100, 99),
        15 => r.pick(&edges),
        16 => (1 << 40) + r.range(0, 255),
        17 => r.range(0, (1 << 32) - 1),
        18 => r.range(-(1 << 31), (1 << 31) - 1),
        19 => 1_000_000_000_000 - 50 * i,
        20 => (1 << 40) + r.range(0, 65535),
        21 => -(1i64 << 50) + r.range(0, (1 << 32) - 1),
        22 => 5_000_000_000 * i,
        23 => i64::MIN + r.range(0, 100),
        _ => 1_000_000_000 * i + r.range(0, 9),
    };
    (0..n as i64).map(|i| one(r, i)).collect()
}

fn float(r: &mut Random, style: usize) -> f32 {
    match style {
        0 => f32::from_bits(r.next() as u32),
        1 => 1.5,
        _ => r.pick(&[f32::NAN, -0.0, 0.0, f32::INFINITY]),
    }
}

fn doubles(r: &mut Random, style: usize, n: usize) -> Vec<f64> {
    let constant = f64::from_bits(r.next());
    let edges = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN, f64::MAX, 5e-324, -0.0, 1.0];
    let one = |r: &mut Random| match style {
        0 => r.range(0, 3) as f64,
        1 => r.range(0, 999) as f64,
        2 => r.range(-40000, 40000) as f64,
        3 => f64::from(r.next() as i32),
        4 => f64::from_bits(r.next()),
        5 => r.next() as f64 / 1e9,
        6 => 7.0,
        7 => 7.25,
        8 => constant,
        9 => r.pick(&[0.0, -0.0]),
        10 => r.pick(&edges),
        11 => f64::INFINITY,
        12 => r.pick(&[2_147_483_648.0, -2_147_483_648.0, 2_147_483_647.0]),
        _ => f64::NAN,
    };
    (0..n).map(|_| one(r)).collect()
}

fn letters(r: &mut Random, longest: usize) -> Vec<u8> {
    (0..r.below(longest)).map(|_| b'a' + r.below(26) as u8).collect()
}

fn strings(r: &mut Random, style: usize, n: usize) -> Vec<Vec<u8>> {
    let pool = 1 + r.below(if style == 9 { 300 } else { 20 });
    let long = [0, 1, 253, 254, 255, 256, 2046, 2047, 2048, 2049, 5000];
    let one = |r: &mut Random, i: usize| match style {
        0 => Vec::new(),
        1 => b"const".to_vec(),
        2 => letters(r, 4),
        3 | 9 => format!("p{}é", r.below(pool)).into_bytes(),
        4 => format!("{:08x}", r.next() as u32).into_bytes(),
        5 => letters(r, 40),
        6 => vec![b'z'; r.pick(&long)],
        7 => r.pick(&["", "a", "日本語", "\0", "a\0b", "😀", "Zürich"]).as_bytes().to_vec(),
        8 => vec![b'q'; (i % 300) * 20],
        _ => format!("k{i}").into_bytes(),
    };
    (0..n).map(|i| one(r, i)).collect()
}
