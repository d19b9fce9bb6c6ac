//! DataSeries extents: the three workloads on which the original program was measured, each of 16 MB in
//! extents of 64 KiB, in every mode, with checks and without.
//!
//! The original's figures are medians of its runs, one core of the same kind. What is timed is what was
//! timed there: extent bytes in memory to records in memory.

mod common;

use std::hint::black_box;

use common::{Work, ghz, heading};
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::dataseries::write::{Cell, Description, Descriptions, Extent, IndexSlot, Smallest, Writer};
use pilaster::dataseries::{self, ExtentType, File, Mode, ReadOptions};
use pilaster::limits::Limits;

/// The generator of the workloads: xorshift with its published start.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Takes the cells of a row.
type Take<'t> = &'t mut dyn FnMut(&[Option<Cell<'_>>]);

/// A workload: its type, and one row after the other.
struct Workload {
    name: &'static str,
    xml: &'static str,
    row: fn(&mut Draw, State, Take<'_>),
    /// MB/s of the original per mode, checks off and on: none, lzo, zlib, bz2, lzf, snappy, lz4, lz4hc.
    original: [[f64; 2]; 8],
}

/// What every row has: its number, time, and a random walk.
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
    },
];

/// Bytes at which an extent is closed, and of all extents.
const TARGET: usize = 65_536;
const TOTAL: usize = 16_000_000;

/// A file of the workload in one mode, and its unpacked bytes and rows.
fn file(workload: &Workload, mode: Mode, level: u8) -> (Vec<u8>, usize, usize) {
    let mut memory = vec![0; 1 << 16];
    let ty = ExtentType::parse(workload.xml.as_bytes(), &Limits::DEFAULT, &mut Scratch::new(&mut memory)).unwrap();
    let descriptions = [Description::from(&ty)];
    let descriptions = Descriptions::new(&descriptions).unwrap();
    let mut slots = vec![IndexSlot::EMPTY; 1000];
    let modes = Smallest::of(&[mode], level).unwrap();
    let mut writer = Writer::<LittleEndian, _, _>::with(Vec::new(), descriptions, &mut slots, modes);
    let mut extent = Extent::growing(ty).unwrap();
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

fn main() {
    let ghz = ghz();
    println!("This core runs at about {ghz:.1} GHz, the original's at about 4.5.");
    for workload in &WORKLOADS {
        for (k, verify) in [false, true].into_iter().enumerate() {
            heading(&format!("{}: read, checks {}", workload.name, if verify { "on" } else { "off" }));
            for (mode, original) in Mode::ALL.into_iter().zip(workload.original) {
                // The level makes no difference to the reader but in how much there is to do.
                let (bytes, unpacked, rows) = file(workload, mode, 6);
                let options = ReadOptions { verify, ..ReadOptions::DEFAULT };
                let (mut kept, mut memory) = (vec![0; 1 << 18], vec![0; 8 << 20]);
                let file = File::<LittleEndian>::open(&bytes, &options, &mut Scratch::new(&mut kept)).unwrap();
                let ty = file.types().get(0).unwrap();
                let extents: Vec<_> =
                    file.extents().map(Result::unwrap).filter(|e| e.type_name() == ty.name().as_bytes()).collect();
                let ours = || {
                    for extent in &extents {
                        let extent: &dataseries::Extent<'_, _> = black_box(extent);
                        black_box(extent.unpack(&ty, &options, &mut Scratch::new(&mut memory)).unwrap());
                    }
                };
                Work::new(mode.name(), rows, unpacked, ours).original(unpacked as f64 / original[k], ghz).run();
            }
        }
    }
}
