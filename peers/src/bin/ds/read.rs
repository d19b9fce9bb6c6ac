//! Timed reading.

use std::hint::black_box;

use cpu_time::ProcessTime;
use pilaster::bytes::{LittleEndian, Scratch};
use pilaster::column::{Column as _, Part as _, Table as _, Values};
use pilaster::dataseries::{File, ReadOptions};

/// Reads a file as `rd.cpp` does. `visit`: reads all values, too; else unpacks the extents only.
pub fn all(path: &str, verify: bool, visit: bool) {
    let start = ProcessTime::now();
    let bytes = std::fs::read(path).unwrap();
    let (mut kept, mut memory) = (vec![0; 4 << 20], vec![0; 8 << 20]);
    let options = ReadOptions { verify, ..ReadOptions::DEFAULT };
    let file = File::<LittleEndian>::open(&bytes, &options, &mut Scratch::new(&mut kept)).unwrap();
    let ty = file.types().get(0).unwrap();
    let (mut rows, mut ext, mut sum, mut ds) = (0u64, 0, 0u64, 0f64);
    if !visit && verify {
        let all: Vec<_> =
            file.extents().map(Result::unwrap).filter(|e| e.type_name() == ty.name().as_bytes()).collect();
        for two in all.chunks(2) {
            let mut s = Scratch::new(&mut memory);
            match two {
                [a, b] => {
                    for p in pilaster::dataseries::Extent::unpack_pair([a, b], [&ty, &ty], &options, &mut s) {
                        let p = p.unwrap();
                        rows += p.rows();
                        ext += 1;
                    }
                }
                [a, ..] => {
                    rows += a.unpack(&ty, &options, &mut s).unwrap().rows() as u64;
                    ext += 1;
                }
                _ => {}
            }
        }
    } else if !visit {
        for e in file.extents() {
            let e = e.unwrap();
            if e.type_name() != ty.name().as_bytes() {
                continue;
            }
            let p: pilaster::dataseries::Part =
                black_box(e.unpack(&ty, &options, &mut Scratch::new(&mut memory)).unwrap());
            rows += p.rows();
            ext += 1;
        }
    } else {
        let mut table = file.table(ty.name()).unwrap();
        let mut m2 = vec![0; 1 << 18];
        while let Some(part) = table.next_part(&mut Scratch::new(&mut memory)).unwrap() {
            ext += 1;
            let n = part.rows();
            rows += n;
            for k in 0..ty.fields().count() {
                let c = part.column(k as _).unwrap();
                let mut at = 0;
                while at < n {
                    let to = (at + 1024).min(n);
                    let batch = c.read(at..to, &mut Scratch::new(&mut m2)).unwrap();
                    match batch.values {
                        Values::I64(v) => {
                            for x in v {
                                sum = sum.wrapping_add(*x as u64);
                            }
                        }
                        Values::I32(v) => {
                            for x in v {
                                sum = sum.wrapping_add(*x as u64);
                            }
                        }
                        Values::F64(v) => {
                            for x in v {
                                ds += x;
                            }
                        }
                        Values::Bytes(b) => {
                            for i in 0..(to - at) {
                                sum = sum.wrapping_add(b.get(i as _).unwrap().len() as u64);
                            }
                        }
                        _ => panic!(),
                    }
                    at = to;
                }
            }
        }
    }
    println!("rows {rows} ext {ext} sum {sum} {ds:.9} cpu {:.4}", start.elapsed().as_secs_f64());
}
