//! A Jay column summed and saved.

use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;

use pilaster::bytes::{IoSink, Scratch};
use pilaster::column::{Batch, Column, Once, Part, Prim, Spans, Type, Validity, Values, VarBytes, convert};
use pilaster::jay::write::{Builder, WriteOptions};
use pilaster::jay::{self, ReadOptions};

use crate::slice;

/// The sums of a column: of integers or of the lengths of texts, and of floats.
#[derive(Default)]
struct Sums(i64, f64);

impl Sums {
    fn add<C: Column>(&mut self, b: &Batch<'_, C>) {
        let all = matches!(b.validity, Validity::All);
        let has = |i: usize| all || b.validity.get(i);
        match b.values {
            Values::I64(v) if all => self.0 = v.iter().fold(self.0, |s, v| s.wrapping_add(*v)),
            Values::I32(v) if all => self.0 += v.iter().map(|v| i64::from(*v)).sum::<i64>(),
            Values::I64(v) => v.iter().enumerate().filter(|(i, _)| has(*i)).for_each(|(_, v)| self.0 += v),
            Values::I32(v) => v.iter().enumerate().filter(|(i, _)| has(*i)).for_each(|(_, v)| self.0 += i64::from(*v)),
            Values::F64(v) if all => {
                let mut sums = [0.0; 8];
                v.chunks(8).for_each(|eight| sums.iter_mut().zip(eight).for_each(|(s, v)| *s += v));
                self.1 += sums.iter().sum::<f64>();
            }
            Values::F64(v) => v.iter().enumerate().filter(|(i, _)| has(*i)).for_each(|(_, v)| self.1 += v),
            Values::Utf8(v) => self.0 += (0..b.len).map(|i| v.get(i).map_or(0, |t| t.len() as i64)).sum::<i64>(),
            _ => {}
        }
    }
}

fn sum(bytes: &[u8], check_null_counts: bool) -> pilaster::Result<Sums> {
    let options = ReadOptions { check_null_counts, ..ReadOptions::DEFAULT };
    let file = jay::File::open(bytes, &options, &mut Scratch::new(&mut []))?;
    let column = file.column(0)?;
    let (mut row, mut sums, mut memory) = (0, Sums::default(), vec![0u8; 1 << 16]);
    while row < column.rows() {
        let batch = column.read(row..(row + 8192).min(column.rows()), &mut Scratch::new(&mut memory))?;
        sums.add(&batch);
        row += batch.len as u64;
    }
    Ok(sums)
}

/// Sums the first column of a Jay file.
///
/// # Safety
/// `bytes` has `n` bytes; the other two pointers are of one number each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_jay_sum(bytes: *const u8, n: usize, check: i32, ints: *mut i64, floats: *mut f64) -> i32 {
    // SAFETY: as the caller promises.
    let Ok(sums) = sum(unsafe { slice(bytes, n) }, check != 0) else { return -1 };
    // SAFETY: as the caller promises.
    unsafe { (*ints, *floats) = (sums.0, sums.1) };
    0
}

/// A column in memory, and a table of this column.
#[derive(Clone, Copy, Debug)]
struct Plain<'a> {
    values: Values<'a>,
    ty: Type,
    rows: usize,
}

impl Column for Plain<'_> {
    fn ty(&self) -> Type {
        self.ty
    }
    fn nullable(&self) -> bool {
        false
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
        assert!(rows.start == 0, "the column is read in one batch");
        Ok(Batch { first: 0, len: self.rows, values: self.values, validity: Validity::All, of: *self })
    }
}

impl Part for Plain<'_> {
    type Col = Self;
    fn rows(&self) -> u64 {
        self.rows as u64
    }
    fn width(&self) -> usize {
        1
    }
    fn name(&self, _: usize) -> pilaster::Result<&str> {
        Ok("a")
    }
    fn column(&self, _: usize) -> pilaster::Result<Self> {
        Ok(*self)
    }
}

fn save(plain: Plain<'_>, path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let sink = IoSink(BufWriter::with_capacity(1 << 18, File::create(path)?));
    let mut builder = Builder::new(sink, &WriteOptions::DEFAULT)?;
    convert(&mut Once::new(plain), &mut builder, &mut Scratch::new(&mut []))?;
    builder.finish()?;
    Ok(())
}

/// Saves a column of `n` rows. `kind`: 0 int64, 1 float64, 2 int32, 3 text, whose `n + 1` offsets are `offsets`.
///
/// # Safety
/// The arrays are of the type and have the lengths that `kind`, `n` and `data_len` state; `path` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pl_jay_save(
    kind: i32,
    data: *const u8,
    n: usize,
    offsets: *const u32,
    data_len: usize,
    path: *const c_char,
) -> i32 {
    // SAFETY: as the caller promises.
    let (values, ty) = unsafe {
        match kind {
            0 => (Values::I64(slice(data.cast(), n)), Type::Prim(Prim::I64)),
            1 => (Values::F64(slice(data.cast(), n)), Type::Prim(Prim::F64)),
            2 => (Values::I32(slice(data.cast(), n)), Type::Prim(Prim::I32)),
            _ => {
                let spans = Spans::Off32(slice(offsets, n + 1));
                (Values::Utf8(VarBytes { data: slice(data, data_len), spans }), Type::Utf8)
            }
        }
    };
    // SAFETY: as the caller promises.
    let Ok(path) = unsafe { CStr::from_ptr(path) }.to_str() else { return -1 };
    if save(Plain { values, ty, rows: n }, path).is_ok() { 0 } else { -1 }
}
