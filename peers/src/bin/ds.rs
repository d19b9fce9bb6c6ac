//! The counterpart of gen.cpp and rd.cpp with pilaster, and the loggers of `record!`.
//!
//!   ds log FOLDER                 one file per set of options, mode and byte order, and log_truth.txt with what was logged
//!   ds read FILE CHECKS VISIT     (0 or 1 each) as rd.cpp: rows, extents, sums, CPU seconds
//!   ds write FILE MODE ROWS       as gen.cpp, workload A
use cpu_time::ProcessTime;
use pilaster::bytes::{BigEndian, LittleEndian, Scratch};
use pilaster::codec::HashTable;
use pilaster::column::{Column, Part, Table as _, Values};
use pilaster::dataseries::write::*;
use pilaster::dataseries::{File, Mode, ReadOptions, record};
use std::hint::black_box;
use std::io::Write as _;

record! { struct Sensor<'a> = "Log::Sensor" namespace "x" version 1.0 { t: int64 relative, id: int32, dev: variable32 unique, val: double, msg: variable32, } }
record! { struct Numeric = "Log::Numeric" namespace "x" version 1.0 { t: int64 relative, a: int32, b: int32 relative to a, x: double scaled 0.001 relative, } }

macro_rules! opts { ($($n:ident $($p:ident)*;)*) => { $(
  pub mod $n { use super::*; record! { pub struct R<'a> = "Opt::All" namespace "example.org" version 1.2 pack $($p)* {
    f: bool, g: bool nullable, b: byte, bn: byte nullable, i: int32, inn: int32 nullable, ir: int32 relative, irr: int32 relative to i,
    l: int64, ln: int64 nullable, lr: int64 relative, lrr: int64 relative to l, lrn: int64 nullable relative,
    d: double, dn: double nullable, ds: double scaled 0.01, dsr: double scaled 0.01 relative, drr: double relative to d, db: double based 273.15,
    s: variable32, sn: variable32 nullable, su: variable32 unique, sun: variable32 nullable unique,
  } } }
)* } }
mod plainr {
    use super::*;
    record! { pub struct R<'a> = "Opt::All" namespace "example.org" version 1.2 {
      f: bool, g: bool nullable, b: byte, bn: byte nullable, i: int32, inn: int32 nullable, ir: int32 relative, irr: int32 relative to i,
      l: int64, ln: int64 nullable, lr: int64 relative, lrr: int64 relative to l, lrn: int64 nullable relative,
      d: double, dn: double nullable, ds: double scaled 0.01, dsr: double scaled 0.01 relative, drr: double relative to d, db: double based 273.15,
      s: variable32, sn: variable32 nullable, su: variable32 unique, sun: variable32 nullable unique,
    } }
}
opts! { c compact; b2s big_to_small; m max_column_size; cm compact max_column_size; bm big_to_small max_column_size; }

struct Draw(u64);
impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

macro_rules! logger { ($m:ident, $e:ty, $path:expr, $comp:expr, $truth:expr, $folder:expr) => {{
    let mut slots = vec![IndexSlot::EMPTY; 4000];
    let mut w = Writer::<$e, _, _>::with(Vec::<u8>::new(), Descriptions::of::<$m::R>(), &mut slots, $comp);
    let (mut a, mut b, mut u) = (vec![0u8; 16384], vec![0u8; 16384], vec![0u32; 256]);
    let mut x = ExtentBuffer::of::<$m::R>(Memory { rows: &mut a, pool: &mut b, unique: &mut u }).unwrap();
    let mut d = Draw(88172645463325252);
    let mut text = String::new();
    for n in 0..2000i64 {
        let r = d.next(); let some = |k: u32| (r >> k) & 3 != 0;
        let s = "x".repeat((d.next() % 23) as usize); let su = format!("u{}", d.next() % 9); let sun = format!("{}", d.next() % 4).repeat((d.next()%3) as usize);
        let i = d.next() as i32; let l = d.next() as i64; let val = (d.next() % 100000) as f64 / 100.0; let dv = f64::from((d.next() % 1000) as i32) * 0.37;
        let row = $m::R { f: r & 1 == 0, g: some(1).then_some(r & 2 == 0), b: r as u8, bn: some(3).then_some((r >> 8) as u8), i, inn: some(5).then_some(i ^ 77), ir: i.wrapping_mul(3), irr: i.wrapping_add(n as i32),
            l, ln: some(7).then_some(l ^ 99), lr: n * 1000 + (r % 100) as i64, lrr: l.wrapping_sub(5), lrn: some(9).then_some(n * 7),
            d: dv, dn: some(11).then_some(-dv), ds: val, dsr: val, drr: dv + 1.5, db: val,
            s: s.as_bytes(), sn: some(13).then_some(s.as_bytes()), su: su.as_bytes(), sun: some(15).then_some(sun.as_bytes()) };
        w.push(&mut x, &row).unwrap();
        if $truth {
            let h = |b: &[u8]| { let mut t = String::from("x"); for c in b { t += &format!("{c:02x}"); } t };
            let f = |v: f64| format!("b{:016x}", v.to_bits());
            let o = |v: Option<String>| v.unwrap_or("\\N".into());
            let cells = [row.f.to_string(), o(row.g.map(|v| v.to_string())), row.b.to_string(), o(row.bn.map(|v| v.to_string())), row.i.to_string(), o(row.inn.map(|v| v.to_string())), row.ir.to_string(), row.irr.to_string(),
                row.l.to_string(), o(row.ln.map(|v| v.to_string())), row.lr.to_string(), row.lrr.to_string(), o(row.lrn.map(|v| v.to_string())),
                f(row.d), o(row.dn.map(f)), format!("~{}", row.ds), format!("~{}", row.dsr), format!("~{}", row.drr), f(row.db), h(row.s), o(row.sn.map(h)), h(row.su), o(row.sun.map(h))];
            text += &cells.join("\t"); text.push('\n');
        }
    }
    w.flush(&mut x).unwrap();
    let bytes = w.finish().unwrap();
    std::fs::write($path, bytes).unwrap();
    if $truth { std::fs::write(format!("{}/log_truth.txt", $folder), text).unwrap(); }
}} }
macro_rules! each { ($folder:expr, $($m:ident)*) => { $( for comp in ["none", "lz4", "lzf", "snappy", "all"] { for big in [false, true] {
    let path = format!("{}/log_{}_{comp}_{}.ds", $folder, stringify!($m), if big { "be" } else { "le" });
    let mut table = HashTable::<4096>::new(); let mut out = vec![0u8; 65536];
    macro_rules! go { ($c:expr) => { if big { logger!($m, BigEndian, &path, $c, false, $folder) } else { logger!($m, LittleEndian, &path, $c, stringify!($m) == "plainr", $folder) } } }
    match comp { "none" => go!(Stored), "lz4" => go!(Lz4::new(&mut table, &mut out)), "lzf" => go!(Lzf::new(&mut table, &mut out)), "snappy" => go!(Snappy::new(&mut table, &mut out)), _ => go!(Smallest::of(&Mode::ALL, 9).unwrap()) }
} } )* } }

fn read_all(path: &str, verify: bool, visit: bool) {
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
                        rows += p.rows() as u64;
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
            rows += p.rows() as u64;
            ext += 1;
        }
    } else {
        let mut table = file.table(ty.name()).unwrap();
        let mut m2 = vec![0; 1 << 18];
        while let Some(part) = table.next_part(&mut Scratch::new(&mut memory)).unwrap() {
            ext += 1;
            let n = part.rows();
            rows += n as u64;
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

fn write_a(path: &str, mode: &str, n: i64) {
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
            let mut d = Draw(88172645463325252);
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
fn main() {
    let a: Vec<String> = std::env::args().collect();
    match a[1].as_str() {
        "log" => {
            each!(a[2], plainr c b2s m cm bm);
        }
        "read" => read_all(&a[2], a[3] == "1", a[4] == "1"),
        _ => write_a(&a[2], &a[3], a[4].parse().unwrap()),
    }
}
