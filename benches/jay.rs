//! Jay files: the workloads on which the original was measured, opened, summed and written.
//!
//! The figures of the original are medians of its CPU time on one core of the same kind, for a file in a RAM file
//! system: opening and summing a column, and saving by `write`. Pilaster reads from and writes to memory.

mod common;

use std::hint::black_box;

use common::{Work, ghz, heading};
use pilaster::bytes::{Scratch, SliceSink};
use pilaster::column::{Batch, Build, Column, Once, Part as _, Prim, Spans, Type, Validity, Values, VarBytes, convert};
use pilaster::jay::write::{Builder, WriteOptions};
use pilaster::jay::{File, ReadOptions};

const CHECK: ReadOptions = ReadOptions { check_null_counts: true, ..ReadOptions::DEFAULT };
/// Number of values of a column of 8-byte values. A column of 4-byte values has twice as many.
const N: usize = 8 << 20;
/// Number of strings.
const STRINGS: usize = 2_000_000;

/// Returns number `i` of the sequence `seed`: the finaliser of SplitMix64.
fn draw(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A column in memory.
#[derive(Clone, Copy, Debug)]
struct Plain<'a>(Values<'a>, Type, usize);

impl Column for Plain<'_> {
    fn ty(&self) -> Type {
        self.1
    }

    fn nullable(&self) -> bool {
        false
    }

    fn rows(&self) -> u64 {
        self.2 as u64
    }

    fn need(&self, _: core::ops::Range<u64>) -> pilaster::Result<u64> {
        Ok(0)
    }

    fn read<'s>(&self, _: core::ops::Range<u64>, _: &mut Scratch<'s>) -> pilaster::Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        Ok(Batch { first: 0, len: self.2, values: self.0, validity: Validity::All, of: *self })
    }
}

/// Writes a file with `copies` columns, each equal to `column`.
fn file<'b>(column: &Plain<'_>, copies: usize, room: &'b mut [u8]) -> &'b [u8] {
    let mut writer = Builder::new(SliceSink::new(room), &WriteOptions::DEFAULT).unwrap();
    for k in 0..copies {
        for _ in 0..writer.passes(column) {
            let batch = column.read(0..column.rows(), &mut Scratch::new(&mut [])).unwrap();
            writer.batch(k, &format!("column{k}"), 0, column, &batch).unwrap();
            writer.close().unwrap();
        }
    }
    let len = writer.finish().unwrap().len();
    &room[..len]
}

fn main() {
    let ghz = ghz();
    println!("{ghz:.2} GHz");
    let stamps: Vec<i64> = (0..N as i64)
        .map(|i| 1_600_000_000_000_000_000 + i * 1_000_000 + (draw(1, i as u64) % 2001) as i64 - 1000)
        .collect();
    let mut walk = 0i64;
    let sensor: Vec<f64> = (0..N as u64)
        .map(|i| {
            walk += (draw(2, i) % 21) as i64 - 10;
            20.0 + walk as f64 * 0.01
        })
        .collect();
    let small: Vec<i32> = (0..2 * N as u64).map(|i| (draw(3, i) % 100) as i32).collect();
    let (mut data, mut ends) = (Vec::new(), vec![0u32]);
    for i in 0..STRINGS as u64 {
        data.extend_from_slice(format!("sensor-{}", draw(4, i) % 10_000).as_bytes());
        ends.push(data.len() as u32);
    }
    let strings = VarBytes { data: &data, spans: Spans::Off32(&ends) };
    let columns = [
        ("int64", Plain(Values::I64(&stamps), Type::Prim(Prim::I64), N), 8 * N, [36_000.0, 31_400.0]),
        ("float64", Plain(Values::F64(&sensor), Type::Prim(Prim::F64), N), 8 * N, [33_700.0, 32_400.0]),
        ("int32", Plain(Values::I32(&small), Type::Prim(Prim::I32), 2 * N), 8 * N, [77_800.0, 31_900.0]),
        ("str32", Plain(Values::Utf8(strings), Type::Utf8, STRINGS), data.len() + 4 * ends.len(), [42_000.0, 12_900.0]),
    ];

    heading("open, 10,000 columns of 3 rows");
    let mut room = vec![0; 3 << 20];
    let three = [1, 2, 3];
    let many = file(&Plain(Values::I32(&three), Type::Prim(Prim::I32), 3), 10_000, &mut room);
    let mut scratch = vec![0; 1 << 18];
    Work::new("check every description and name", 10_000, many.len(), || {
        let file = File::open(black_box(many), &ReadOptions::DEFAULT, &mut Scratch::new(&mut scratch)).unwrap();
        black_box(file.tail());
    })
    .original(3_400.0, ghz)
    .run();

    let mut room = vec![0; 80 << 20];
    let mut target = vec![0; 80 << 20];
    for (name, column, bytes, [sum, save]) in columns {
        let bytes_of_file = file(&column, 1, &mut room);
        heading(&format!("{name}: {} values", column.2));
        for (way, options) in [("open and sum", ReadOptions::DEFAULT), ("the same, null count checked", CHECK)] {
            Work::new(way, column.2, bytes, || {
                black_box(total(black_box(bytes_of_file), &options));
            })
            .rival("plain slice", || {
                black_box(plain(&column));
            })
            .original(sum, ghz)
            .by_bytes()
            .run();
        }
        let mut copy = vec![0; 80 << 20];
        Work::new("write from memory", column.2, bytes, || {
            black_box(file(black_box(&column), 1, &mut target).len());
        })
        .rival("copy by 8 KiB", || blocks(black_box(&column), &mut copy))
        .original(save, ghz)
        .by_bytes()
        .run();
        let read = File::open(bytes_of_file, &ReadOptions::DEFAULT, &mut Scratch::new(&mut [])).unwrap();
        let mut memory = vec![0; 1 << 20];
        Work::new("convert from another Jay file", column.2, bytes, || {
            let mut builder = Builder::new(SliceSink::new(&mut target), &WriteOptions::DEFAULT).unwrap();
            convert(&mut Once::new(read), &mut builder, &mut Scratch::new(&mut memory)).unwrap();
            black_box(builder.finish().unwrap().len());
        })
        .original(save, ghz)
        .by_bytes()
        .run();
    }
}

/// Copies the bytes of a column by blocks that fit the cache: what writing a file takes at least, if each block is read once.
fn blocks(column: &Plain<'_>, mut to: &mut [u8]) {
    let all: [&[u8]; 2] = match column.0 {
        Values::I64(v) => [bytemuck::cast_slice(v), &[]],
        Values::F64(v) => [bytemuck::cast_slice(v), &[]],
        Values::I32(v) => [bytemuck::cast_slice(v), &[]],
        Values::Utf8(VarBytes { data, spans: Spans::Off32(ends) }) => [data, bytemuck::cast_slice(ends)],
        _ => return,
    };
    for block in all.into_iter().flat_map(|bytes| bytes.chunks(8 << 10)) {
        let (now, rest) = to.split_at_mut(block.len());
        black_box(now).copy_from_slice(black_box(block));
        to = rest;
    }
}

/// Returns the sum of the column of a file, or of the lengths of its strings, by the traits of `pilaster::column`.
fn total(bytes: &[u8], options: &ReadOptions) -> (i64, f64) {
    let file = File::open(bytes, options, &mut Scratch::new(&mut [])).unwrap();
    let column = file.column(0).unwrap();
    let (mut row, mut ints, mut floats) = (0, 0i64, 0.0);
    while row < column.rows() {
        let batch = column.read(row..column.rows(), &mut Scratch::new(&mut [])).unwrap();
        assert!(matches!(batch.validity, Validity::All));
        add(&batch.values, &mut ints, &mut floats);
        row += batch.len as u64;
    }
    (ints, floats)
}

/// Returns the sum of plain slices, or of the lengths of strings.
fn plain(column: &Plain<'_>) -> (i64, f64) {
    let (mut ints, mut floats) = (0, 0.0);
    add(&column.0, &mut ints, &mut floats);
    (ints, floats)
}

fn add(values: &Values<'_>, ints: &mut i64, floats: &mut f64) {
    match values {
        Values::I64(v) => *ints = v.iter().fold(*ints, |sum, v| sum.wrapping_add(*v)),
        Values::I32(v) => *ints = v.iter().fold(*ints, |sum, v| sum.wrapping_add(i64::from(*v))),
        Values::F64(v) => {
            // Eight sums, because a single one would be one dependency chain.
            let mut sums = [0.0; 8];
            for eight in v.chunks(8) {
                sums.iter_mut().zip(eight).for_each(|(sum, v)| *sum += v);
            }
            *floats += sums.iter().sum::<f64>();
        }
        Values::Utf8(v) => *ints += v.iter().map(|v| v.map_or(0, <[u8]>::len) as i64).sum::<i64>(),
        _ => {}
    }
}
