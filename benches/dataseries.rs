//! DataSeries extents: the three workloads on which the original program was measured, each of 16 MB in
//! extents of 64 KiB, in every mode, with checks and without.
//!
//! The figures of the original are medians of its runs, on one core of the same kind. As there, the measured work is
//! from extent bytes in memory to records in memory.

mod common;

use std::hint::black_box;

use common::{ORIGINAL_GHZ, Pair, ghz, noise, record_pair};
use cpu_time::ThreadTime;
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::dataseries::write::{Cell, Description, Descriptions, ExtentBuffer, IndexSlot, Smallest, Writer};
use pilaster::dataseries::{self, ExtentType, File, Mode, ReadOptions};
use pilaster::limits::Limits;

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

/// Receives the cells of a row.
type Take<'t> = &'t mut dyn FnMut(&[Option<Cell<'_>>]);

/// A workload: its type and its rows.
struct Workload {
    name: &'static str,
    xml: &'static str,
    row: fn(&mut Draw, State, Take<'_>),
    /// MB/s of the original per mode, checks off and on: none, lzo, zlib, bz2, lzf, snappy, lz4, lz4hc.
    original: [[f64; 2]; 8],
    /// The time of the original divided by the time of a copy of the same bytes, on its machine, per mode, checks off
    /// and on.
    memcpy: [[f64; 2]; 8],
}

/// The state from which a row is made: its number, time, and a random walk.
#[derive(Clone, Copy)]
struct State {
    id: i32,
    t: i64,
    walk: f64,
}

const WORKLOADS: [Workload; 3] = [
    Workload {
        name: "A, strings",
        xml: "<ExtentType name=\"Log::Sensor\" namespace=\"x\" version=\"1.0\">\
              <field type=\"int64\" name=\"t\" pack_relative=\"t\"/><field type=\"int32\" name=\"id\"/>\
              <field type=\"variable32\" name=\"dev\" pack_unique=\"yes\"/><field type=\"double\" name=\"val\"/>\
              <field type=\"variable32\" name=\"msg\"/></ExtentType>",
        row: |draw, State { id, t, walk }, put| {
            let dev = format!("sensor-{}", draw.next() % 50);
            let msg = format!("reading {id} status {}", draw.next() % 13);
            let val = Cell::Double((walk * 1000.0).trunc() / 1000.0);
            put(&[Cell::Int64(t), Cell::Int32(id), Cell::Bytes(dev.as_bytes()), val, Cell::Bytes(msg.as_bytes())]
                .map(Some));
        },
        original: [
            [10250.0, 1065.0],
            [1674.0, 779.0],
            [581.0, 420.0],
            [77.0, 73.0],
            [1493.0, 724.0],
            [1710.0, 776.0],
            [3273.0, 983.0],
            [4705.0, 1109.0],
        ],
        memcpy: [
            [2.7, 26.0],
            [16.0, 35.0],
            [47.0, 65.0],
            [360.0, 377.0],
            [18.0, 37.0],
            [16.0, 35.0],
            [8.4, 28.0],
            [5.8, 24.5],
        ],
    },
    Workload {
        name: "B, numbers",
        xml: "<ExtentType name=\"Log::Numeric\" namespace=\"x\" version=\"1.0\">\
              <field type=\"int64\" name=\"t\" pack_relative=\"t\"/><field type=\"int32\" name=\"a\"/>\
              <field type=\"int32\" name=\"b\" pack_relative=\"a\"/>\
              <field type=\"double\" name=\"x\" pack_scale=\"0.001\" pack_relative=\"x\"/></ExtentType>",
        row: |draw, State { id, t, walk }, put| {
            let b = id.wrapping_add((draw.next() % 100) as i32);
            let x = (walk * 1000.0).trunc() * 0.001;
            put(&[Cell::Int64(t), Cell::Int32(id), Cell::Int32(b), Cell::Double(x)].map(Some));
        },
        original: [
            [2369.0, 972.0],
            [930.0, 649.0],
            [467.0, 386.0],
            [76.0, 74.0],
            [1174.0, 742.0],
            [1249.0, 782.0],
            [1825.0, 972.0],
            [1801.0, 975.0],
        ],
        memcpy: [
            [14.0, 34.0],
            [36.0, 51.0],
            [71.0, 86.0],
            [438.0, 452.0],
            [29.0, 45.0],
            [27.0, 43.0],
            [18.0, 34.0],
            [18.6, 34.0],
        ],
    },
    Workload {
        name: "C, nulls left out",
        xml: "<ExtentType name=\"Log::Nulls\" namespace=\"x\" version=\"1.0\" pack_null_compact=\"non_bool\">\
              <field type=\"int64\" name=\"t\"/><field type=\"int32\" name=\"a\" opt_nullable=\"yes\"/>\
              <field type=\"int64\" name=\"b\" opt_nullable=\"yes\"/>\
              <field type=\"double\" name=\"x\" opt_nullable=\"yes\"/></ExtentType>",
        row: |draw, State { id, t, walk }, put| {
            let mut unless = |n: u64, cell: Cell<'static>| draw.next().is_multiple_of(n).then_some(cell);
            let a = unless(2, Cell::Int32(id));
            let b = unless(4, Cell::Int64(7 * i64::from(id)));
            put(&[Some(Cell::Int64(t)), a, b, unless(2, Cell::Double(walk))]);
        },
        original: [
            [1367.0, 787.0],
            [923.0, 650.0],
            [532.0, 431.0],
            [75.0, 72.0],
            [945.0, 650.0],
            [995.0, 676.0],
            [1561.0, 892.0],
            [1687.0, 944.0],
        ],
        memcpy: [
            [18.0, 32.0],
            [27.0, 38.0],
            [47.0, 58.0],
            [327.0, 338.0],
            [26.0, 38.0],
            [25.0, 37.0],
            [15.5, 27.0],
            [14.5, 26.0],
        ],
    },
];

/// Size in bytes at which an extent is closed, and of all extents.
const TARGET: usize = 65_536;
const TOTAL: usize = 16_000_000;

/// Returns a file of the workload in one mode, its unpacked size in bytes and its number of rows.
fn file(workload: &Workload, mode: Mode, level: u8) -> (Vec<u8>, usize, usize) {
    let mut memory = vec![0; 1 << 16];
    let ty = ExtentType::parse(workload.xml.as_bytes(), &Limits::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    let descriptions = [Description::from(&ty)];
    let descriptions = Descriptions::new(&descriptions).unwrap();
    let mut slots = vec![IndexSlot::EMPTY; 1000];
    let modes = Smallest::of(&[mode], level).unwrap();
    let mut writer = Writer::<LittleEndian, _, _>::with(Vec::new(), descriptions, &mut slots, modes);
    let mut extent = ExtentBuffer::growing(ty).unwrap();
    let mut draw = Draw(88_172_645_463_325_252);
    let (mut bytes, mut rows) = (0, 0);
    let mut state = State { id: 0, t: 1_000_000_000_000, walk: 20.0 };
    while bytes + extent.used() < TOTAL {
        if extent.used() + ty.record_len() > TARGET {
            bytes += extent.used();
            rows += extent.len() as usize;
            writer.flush(&mut extent).unwrap();
        }
        state.t += 900 + (draw.next() % 200) as i64;
        state.walk += ((draw.next() % 2001) as f64 - 1000.0) / 1000.0;
        (workload.row)(&mut draw, state, &mut |cells| {
            let mut row = extent.row().unwrap();
            for (k, cell) in cells.iter().enumerate() {
                match cell {
                    Some(cell) => row.set(k, *cell).unwrap(),
                    None => row.null(k).unwrap(),
                };
            }
            row.end().unwrap();
        });
        state.id += 1;
    }
    bytes += extent.used();
    rows += extent.len() as usize;
    writer.flush(&mut extent).unwrap();
    (writer.finish().unwrap(), bytes, rows)
}

/// Seconds per round for reading, and for a copy of the same bytes.
#[derive(Default)]
struct Times(Vec<[f64; 2]>);

impl Times {
    /// Returns the medians of the seconds and of the quotients per round.
    fn medians(&self) -> (f64, f64) {
        let median = |mut of: Vec<f64>| {
            of.sort_by(f64::total_cmp);
            of[of.len() / 2]
        };
        (median(self.0.iter().map(|t| t[0]).collect()), median(self.0.iter().map(|t| t[0] / t[1]).collect()))
    }
}

fn seconds(mut work: impl FnMut()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Reads a file in all rounds: without checks, with checks, and with checks two extents at a time.
fn measure(bytes: &[u8]) -> [Times; 3] {
    let (mut kept, mut memory) = (vec![0; 1 << 18], vec![0; 8 << 20]);
    let on = ReadOptions::DEFAULT;
    let off = ReadOptions { verify: false, ..on };
    let file = File::<LittleEndian>::open(bytes, &on, &mut Scratch::new(&mut kept)).unwrap();
    let ty = file.types().get(0).unwrap();
    let extents: Vec<_> =
        file.extents().map(Result::unwrap).filter(|e| e.type_name() == ty.name().as_bytes()).collect();
    // The source of the copy: as many bytes as each extent has unpacked, in separate allocations. All are copied to one
    // buffer.
    let plain: Vec<Vec<u8>> = extents
        .iter()
        .map(|extent| {
            let part = extent.unpack(&ty, &on, &mut Scratch::new(&mut memory)).unwrap();
            noise(part.records().len() + extent.header().pool as usize)
        })
        .collect();
    let mut to = vec![1u8; plain.iter().map(Vec::len).max().unwrap()];
    let mut copy = || plain.iter().for_each(|from| black_box(&mut to)[..from.len()].copy_from_slice(black_box(from)));
    let mut times = <[Times; 3]>::default();
    for _ in 0..ROUNDS {
        // The first copy of a round runs with the caches as reading has left them; the second one counts.
        copy();
        let memcpy = seconds(&mut copy);
        let mut took = [0.0; 3];
        for (took, options) in took.iter_mut().zip([off, on]) {
            *took = seconds(|| {
                for extent in &extents {
                    let extent: &dataseries::Extent<'_, _> = black_box(extent);
                    black_box(extent.unpack(&ty, &options, &mut Scratch::new(&mut memory)).unwrap());
                }
            });
        }
        took[2] = seconds(|| {
            for two in extents.chunks(2) {
                let mut scratch = Scratch::new(&mut memory);
                match black_box(two) {
                    [a, b] => black_box(
                        dataseries::Extent::unpack_pair([a, b], [&ty, &ty], &on, &mut scratch).map(Result::unwrap),
                    ),
                    [a, ..] => black_box([a.unpack(&ty, &on, &mut scratch).unwrap(); 2]),
                    [] => continue,
                };
            }
        });
        for (times, took) in times.iter_mut().zip(took) {
            times.0.push([took, memcpy]);
        }
    }
    times
}

const ROUNDS: usize = 15;

fn main() {
    let ghz = ghz();
    println!(
        "`x`: how often a copy of the same bytes, extent by extent, goes into the time. `ahead`: the original's x"
    );
    println!("by ours. `cycles`: its cycles by ours, as this core runs at {ghz:.1} GHz and its own at about 4.5.");
    // Arguments choose workloads by letter.
    let wanted: String = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let chosen = |workload: &&Workload| wanted.is_empty() || wanted.contains(&workload.name[..1]);
    for workload in WORKLOADS.iter().filter(chosen) {
        println!("\n{:<28} {:>34}   {:>34}   {:>34}", "", "checks off", "checks on", "on, two extents at a time");
        print!("{:<8} {:>19} ", workload.name.split(',').next().unwrap(), "original MB/s, x");
        for _ in 0..3 {
            print!("   {:>6} {:>6} {:>6} {:>6} {:>6}", "MB/s", "x", "ahead", "cycles", "goal");
        }
        println!();
        for ((mode, original), quotient) in Mode::ALL.into_iter().zip(workload.original).zip(workload.memcpy) {
            // The level changes only the amount of work of the reader.
            let (bytes, unpacked, _) = file(workload, mode, 9);
            let on = match mode {
                Mode::None => 2.0,
                Mode::Zlib | Mode::Bz2 => 1.0,
                _ => 1.3,
            };
            let times = measure(&bytes);
            print!("{:<8} {:>5} {:>4} {:>4} {:>4} ", mode.name(), original[0], quotient[0], original[1], quotient[1]);
            let line = format!("{}, {}", &workload.name[..1], mode.name());
            let ways = ["checks off", "checks on", "two extents at a time"];
            for (((times, k), goal), way) in times.iter().zip([0, 1, 1]).zip([1.0, on, on]).zip(ways) {
                let (time, ours) = times.medians();
                let ahead = quotient[k] / ours;
                let speed = unpacked as f64 / time / 1e6;
                let cycles = speed / ghz / (original[k] / ORIGINAL_GHZ);
                // The original was measured on another machine: in copies of it, the figures can be compared.
                record_pair("dataseries", &line, way, Pair { theirs: quotient[k], ours, unit: "copies" }, ahead);
                let pair = Pair { theirs: original[k], ours: speed, unit: "MB/s" };
                record_pair("dataseries", &line, &format!("{way}, by cycles"), pair, cycles);
                let verdict = if ahead >= goal { ' ' } else { '!' };
                print!("   {speed:>6.0} {ours:>6.1} {ahead:>6.2} {cycles:>6.2} {goal:>5.1}{verdict}");
            }
            println!();
        }
    }
}
