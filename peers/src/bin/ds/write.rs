//! Timed writing.

use std::io::Write as _;

use cpu_time::ProcessTime;
use pilaster::bytes::LittleEndian;
use pilaster::codec::HashTable;
use pilaster::dataseries::write::*;
use pilaster::dataseries::{Mode, record};

use crate::Draw;

record! {
    struct Sensor<'a> = "Log::Sensor" namespace "x" version 1.0 {
        t: int64 relative, id: int32, dev: variable32 unique, val: double, msg: variable32,
    }
}

/// Writes `n` rows of workload A, as `gen.cpp` does.
pub fn workload(path: &str, mode: &str, n: i64) {
    let start = ProcessTime::now();
    let mut slots = vec![IndexSlot::EMPTY; 100000];
    let sink = pilaster::bytes::IoSink(std::io::BufWriter::new(std::fs::File::create(path).unwrap()));
    let mut table = HashTable::<4096>::new();
    let mut out = vec![0u8; 131072];
    macro_rules! go {
        ($c:expr) => {{
            let mut w = Writer::<LittleEndian, _, _>::with(sink, Descriptions::of::<Sensor>(), &mut slots, $c);
            let (mut a, mut b, mut u) = (vec![0u8; 131072], vec![0u8; 131072], vec![0u32; 512]);
            let mut x = ExtentBuffer::of::<Sensor>(Memory { rows: &mut a, pool: &mut b, unique: &mut u }).unwrap();
            let mut d = Draw::new();
            let (mut t, mut walk) = (1000000000000i64, 20.0f64);
            let (mut dev, mut msg) = (Vec::new(), Vec::new());
            for i in 0..n {
                t += 900 + (d.next() % 200) as i64;
                walk += ((d.next() % 2001) as f64 - 1000.0) / 1000.0;
                dev.clear();
                write!(dev, "sensor-{}", d.next() % 50).unwrap();
                msg.clear();
                write!(msg, "reading {} status {}", i, d.next() % 13).unwrap();
                if x.used() + x.record_len() > 65536 {
                    w.flush(&mut x).unwrap();
                }
                x.push(&Sensor { t, id: i as i32, dev: &dev, val: (walk * 1000.0).trunc() / 1000.0, msg: &msg })
                    .unwrap();
            }
            w.flush(&mut x).unwrap();
            w.finish().unwrap();
        }};
    }
    match mode {
        "none" => go!(Stored),
        "lz4" => go!(Lz4::new(&mut table, &mut out)),
        "lzf" => go!(Lzf::new(&mut table, &mut out)),
        "snappy" => go!(Snappy::new(&mut table, &mut out)),
        "zlib" => go!(Smallest::of(&[Mode::Zlib], 6).unwrap()),
        _ => panic!(),
    }
    println!("write cpu {:.4} size {}", start.elapsed().as_secs_f64(), std::fs::metadata(path).unwrap().len());
}
