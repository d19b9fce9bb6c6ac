//! Writing DataSeries extents: the three workloads on which the original program was measured, each of 16 MB in extents
//! of 64 KiB.
//!
//! The measured work is from rows, which are structs of the program, to the bytes of complete extents: stores, unique
//! strings, packing, both digests, compression. The original was timed from records that were already in its memory. It
//! ran on another machine, so both are compared with a copy of the same bytes, extent by extent, in the same run: "x
//! memcpy" is the time of writing divided by the time of the copy. The last column is the quotient of the MB/s, as if both
//! cores had the same clock.

mod common;

use std::hint::black_box;

use common::{Pair, median, record_pair, time};
use pilaster::bytes::LittleEndian;
use pilaster::codec::HashTable;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{
    Compress, Descriptions, ExtentBuffer, IndexSlot, Lz4, Lzf, Memory, Record, Snappy, Stored, Writer,
};

record! {
    /// Strings.
    struct Sensor<'a> = "Log::Sensor" namespace "x" version 1.0 {
        t: int64 relative,
        id: int32,
        dev: variable32 unique,
        val: double,
        msg: variable32,
    }
}
record! {
    /// Numbers.
    struct Numeric = "Log::Numeric" namespace "x" version 1.0 {
        t: int64 relative,
        a: int32,
        b: int32 relative to a,
        x: double scaled 0.001 relative,
    }
}
record! {
    /// Nulls, omitted.
    struct Nulls = "Log::Nulls" namespace "x" version 1.0 pack compact {
        t: int64,
        a: int32 nullable,
        b: int64 nullable,
        x: double nullable,
    }
}

/// The random numbers of the workloads: xorshift with its published seed.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Size in bytes at which an extent is closed, and of all extents.
const TARGET: usize = 65_536;
const TOTAL: usize = 16_000_000;

/// Makes rows from number, time, and a random walk.
fn rows<R>(count: usize, mut row: impl FnMut(&mut Draw, i32, i64, f64) -> R) -> Vec<R> {
    let mut draw = Draw(88_172_645_463_325_252);
    let (mut t, mut walk) = (1_000_000_000_000, 20.0);
    let make = |id| {
        t += 900 + (draw.next() % 200) as i64;
        walk += ((draw.next() % 2001) as f64 - 1000.0) / 1000.0;
        row(&mut draw, id, t, walk)
    };
    (0..count as i32).map(make).collect()
}

/// MB/s of the original, and its time divided by the time of a copy, per mode: none, lzf, snappy, lz4.
type Original = [[f64; 2]; 4];

/// A sink that keeps at most about one extent.
#[derive(Default)]
struct Taker(Vec<u8>);

impl pilaster::bytes::Sink for Taker {
    type Error = core::convert::Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        // One extent at a time, like the buffer of the original.
        if self.0.len() > TARGET {
            self.0.clear();
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes rows until they have `TOTAL` bytes. Returns the number of bytes of the rows and of the file.
fn write<R: Record>(rows: &[R], compress: impl Compress, memory: &mut [Vec<u8>; 2], unique: &mut [u32]) -> [usize; 2]
where
    R::Static: Record<Static = R::Static>,
{
    let mut slots = [IndexSlot::EMPTY; 400];
    let mut writer =
        Writer::<LittleEndian, _, _>::with(Taker::default(), Descriptions::of::<R>(), &mut slots, compress);
    let [records, pool] = memory;
    let mut extent = ExtentBuffer::of::<R>(Memory { rows: records, pool, unique }).unwrap();
    let mut bytes = 0;
    for row in rows {
        if extent.used() + extent.record_len() > TARGET {
            bytes += extent.used();
            writer.flush(&mut extent).unwrap();
        }
        extent.push(row).unwrap();
        if bytes + extent.used() >= TOTAL {
            break;
        }
    }
    bytes += extent.used();
    writer.flush(&mut extent).unwrap();
    [bytes, writer.at() as usize]
}

fn workload<R: Record>(name: &str, rows: &[R], original: Original, ghz: f64)
where
    R::Static: Record<Static = R::Static>,
{
    println!(
        "\n{name:<24} {:>7} {:>7} {:>9} {:>9} {:>9} {:>7}",
        "MB/s", "ratio", "x memcpy", "original", "faster", "M rows/s"
    );
    let mut memory = [vec![0; 2 * TARGET], vec![0; 2 * TARGET]];
    let (mut unique, mut out, mut table) = (vec![0; 512], vec![0; 2 * TARGET], HashTable::<4096>::new());
    let (from, mut to) = (common::noise(TOTAL), vec![0u8; TARGET]);
    let mut copy = || {
        for piece in from.chunks_exact(TARGET) {
            black_box(&mut to).copy_from_slice(black_box(piece));
        }
    };
    for (mode, [speed, original]) in ["none", "lzf", "snappy", "lz4"].into_iter().zip(original) {
        let mut ours = || match mode {
            "none" => write(rows, Stored, &mut memory, &mut unique),
            "lzf" => write(rows, Lzf::new(&mut table, &mut out), &mut memory, &mut unique),
            "snappy" => write(rows, Snappy::new(&mut table, &mut out), &mut memory, &mut unique),
            _ => write(rows, Lz4::new(&mut table, &mut out), &mut memory, &mut unique),
        };
        let [bytes, stored] = ours();
        let (mut times, mut quotients) = (Vec::new(), Vec::new());
        for _ in 0..21 {
            let copied = time(&mut copy, 1).as_secs_f64() * bytes as f64 / (TOTAL / TARGET * TARGET) as f64;
            let written = time(&mut || _ = black_box(ours()), 1).as_secs_f64();
            times.push(written);
            quotients.push(written / copied);
        }
        let (time, quotient) = (median(times), median(quotients));
        let by_clock = bytes as f64 / time / 1e6 / speed * 4.5 / ghz;
        let line = format!("{}, {mode}", &name[..1]);
        let pair = Pair { theirs: original, ours: quotient, unit: "copies" };
        record_pair("dataseries_write", &line, "written", pair, original / quotient);
        let pair = Pair { theirs: speed, ours: bytes as f64 / time / 1e6, unit: "MB/s" };
        record_pair("dataseries_write", &line, "by clock", pair, by_clock);
        println!(
            "{mode:<24} {:>7.0} {:>7.3} {quotient:>9.1} {original:>9.0} {:>7.2} x {:>7.2} x",
            bytes as f64 / time / 1e6,
            stored as f64 / bytes as f64,
            original / quotient,
            by_clock,
        );
    }
}

fn main() {
    let ghz = common::ghz();
    println!("This core runs at about {ghz:.1} GHz, the original's at about 4.5.");
    let devices: Vec<String> = (0..50).map(|n| format!("sensor-{n}")).collect();
    let texts: Vec<String> = {
        // The random numbers must be drawn in the original order: one for the device, one for the status.
        rows(260_000, |draw, id, _, _| {
            draw.next();
            format!("reading {id} status {}", draw.next() % 13)
        })
    };
    let mut text = texts.iter();
    let sensors = rows(texts.len(), |draw, id, t, walk| {
        let dev = devices[(draw.next() % 50) as usize].as_bytes();
        draw.next();
        let val = (walk * 1000.0).trunc() / 1000.0;
        Sensor { t, id, dev, val, msg: text.next().expect("as many").as_bytes() }
    });
    workload("A, strings", &sensors, [[738.0, 37.0], [358.0, 75.0], [393.0, 70.0], [428.0, 64.0]], ghz);
    let numbers = rows(700_000, |draw, id, t, walk| {
        let b = id.wrapping_add((draw.next() % 100) as i32);
        Numeric { t, a: id, b, x: (walk * 1000.0).trunc() * 0.001 }
    });
    workload("B, numbers", &numbers, [[722.0, 47.0], [401.0, 83.0], [436.0, 76.0], [528.0, 62.0]], ghz);
    let nulls = rows(520_000, |draw, id, t, walk| {
        let mut unless = |n: u64| draw.next().is_multiple_of(n);
        let (a, b) = (unless(2).then_some(id), unless(4).then_some(7 * i64::from(id)));
        Nulls { t, a, b, x: unless(2).then_some(walk) }
    });
    workload("C, nulls left out", &nulls, [[565.0, 44.0], [345.0, 72.0], [397.0, 63.0], [419.0, 58.0]], ghz);
}
