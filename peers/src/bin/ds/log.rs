//! Loggers of `record!` with every option of a field, by several packings, modes and byte orders.

use std::path::Path;

use pilaster::bytes::{BigEndian, Endian, LittleEndian};
use pilaster::codec::HashTable;
use pilaster::dataseries::Mode;
use pilaster::dataseries::write::{Compress, Lz4, Lzf, Smallest, Snappy, Stored};

use crate::{Draw, Failure};

const ROWS: i64 = 2000;

/// The numbers from which a row is made.
struct Drawn {
    bits: u64,
    n: i64,
    int: i32,
    long: i64,
    value: f64,
    double: f64,
    text: String,
    few: String,
    fewer: String,
}

impl Drawn {
    fn new(d: &mut Draw, n: i64) -> Self {
        Drawn {
            bits: d.next(),
            n,
            text: "x".repeat((d.next() % 23) as usize),
            few: format!("u{}", d.next() % 9),
            fewer: format!("{}", d.next() % 4).repeat((d.next() % 3) as usize),
            int: d.next() as i32,
            long: d.next() as i64,
            value: (d.next() % 100_000) as f64 / 100.0,
            double: (d.next() % 1000) as f64 * 0.37,
        }
    }
    /// Returns `v` in three of four rows.
    fn some<T>(&self, bit: u32, v: T) -> Option<T> {
        ((self.bits >> bit) & 3 != 0).then_some(v)
    }
}

fn hex(v: &[u8]) -> String {
    v.iter().fold(String::from("x"), |t, c| t + &format!("{c:02x}"))
}
fn bits(v: f64) -> String {
    format!("b{:016x}", v.to_bits())
}
fn near(v: f64) -> String {
    format!("~{v}")
}
fn or_null(v: Option<String>) -> String {
    v.unwrap_or("\\N".into())
}

macro_rules! loggers { ($($name:ident: $($pack:ident)*;)*) => {
    $(mod $name {
        use pilaster::bytes::Endian;
        use pilaster::dataseries::record;
        use pilaster::dataseries::write::{Compress, Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};

        use super::{Draw, Drawn, Failure, ROWS, bits, hex, near, or_null};

        record! {
            pub struct Row<'a> = "Opt::All" namespace "example.org" version 1.2 $($pack)* {
                f: bool, g: bool nullable, b: byte, bn: byte nullable, i: int32, inn: int32 nullable, ir: int32 relative,
                irr: int32 relative to i, l: int64, ln: int64 nullable, lr: int64 relative, lrr: int64 relative to l,
                lrn: int64 nullable relative, d: double, dn: double nullable, ds: double scaled 0.01,
                dsr: double scaled 0.01 relative, drr: double relative to d, db: double based 273.15, s: variable32,
                sn: variable32 nullable, su: variable32 unique, sun: variable32 nullable unique,
            }
        }

        fn row(v: &Drawn) -> Row<'_> {
            Row {
                f: v.bits & 1 == 0, g: v.some(1, v.bits & 2 == 0), b: v.bits as u8, bn: v.some(3, (v.bits >> 8) as u8),
                i: v.int, inn: v.some(5, v.int ^ 77), ir: v.int.wrapping_mul(3), irr: v.int.wrapping_add(v.n as i32),
                l: v.long, ln: v.some(7, v.long ^ 99), lr: v.n * 1000 + (v.bits % 100) as i64, lrr: v.long.wrapping_sub(5),
                lrn: v.some(9, v.n * 7), d: v.double, dn: v.some(11, -v.double), ds: v.value, dsr: v.value,
                drr: v.double + 1.5, db: v.value, s: v.text.as_bytes(), sn: v.some(13, v.text.as_bytes()),
                su: v.few.as_bytes(), sun: v.some(15, v.fewer.as_bytes()),
            }
        }

        fn text(r: &Row<'_>) -> String {
            [
                r.f.to_string(), or_null(r.g.map(|v| v.to_string())), r.b.to_string(), or_null(r.bn.map(|v| v.to_string())),
                r.i.to_string(), or_null(r.inn.map(|v| v.to_string())), r.ir.to_string(), r.irr.to_string(), r.l.to_string(),
                or_null(r.ln.map(|v| v.to_string())), r.lr.to_string(), r.lrr.to_string(),
                or_null(r.lrn.map(|v| v.to_string())), bits(r.d), or_null(r.dn.map(bits)), near(r.ds), near(r.dsr),
                near(r.drr), bits(r.db), hex(r.s), or_null(r.sn.map(hex)), hex(r.su), or_null(r.sun.map(hex)),
            ].join("\t")
        }

        /// Returns the file, and the rows as text.
        pub fn write<E: Endian, C: Compress>(compress: C) -> Result<(Vec<u8>, String), Failure> {
            let mut slots = vec![IndexSlot::EMPTY; 4000];
            let mut w = Writer::<E, _, _>::with(Vec::new(), Descriptions::of::<Row<'_>>(), &mut slots, compress);
            let (mut rows, mut pool, mut unique) = (vec![0; 16384], vec![0; 16384], vec![0; 256]);
            let mut x = ExtentBuffer::of::<Row<'_>>(Memory { rows: &mut rows, pool: &mut pool, unique: &mut unique })?;
            let (mut draw, mut truth) = (Draw::new(), String::new());
            for n in 0..ROWS {
                let drawn = Drawn::new(&mut draw, n);
                let row = row(&drawn);
                w.push(&mut x, &row)?;
                truth += &(text(&row) + "\n");
            }
            w.flush(&mut x)?;
            Ok((w.finish()?, truth))
        }
    })*

    fn write<E: Endian, C: Compress>(packing: &str, compress: C) -> Result<(Vec<u8>, String), Failure> {
        match packing {
            $(stringify!($name) => $name::write::<E, C>(compress),)*
            _ => Err("no such packing".into()),
        }
    }
    const PACKINGS: &[&str] = &[$(stringify!($name)),*];
} }

loggers! {
    plain: ;
    compact: pack compact;
    big_to_small: pack big_to_small;
    max_column: pack max_column_size;
    compact_max_column: pack compact max_column_size;
    big_to_small_max_column: pack big_to_small max_column_size;
}

fn by_mode<E: Endian>(packing: &str, mode: &str) -> Result<(Vec<u8>, String), Failure> {
    let (mut table, mut out) = (HashTable::<4096>::new(), vec![0; 65536]);
    match mode {
        "none" => write::<E, _>(packing, Stored),
        "lz4" => write::<E, _>(packing, Lz4::new(&mut table, &mut out)),
        "lzf" => write::<E, _>(packing, Lzf::new(&mut table, &mut out)),
        "snappy" => write::<E, _>(packing, Snappy::new(&mut table, &mut out)),
        _ => write::<E, _>(packing, Smallest::of(&Mode::ALL, 9)?),
    }
}

/// Writes a file per packing, mode and byte order, and `log_truth.txt` with the rows.
pub fn all(folder: &Path) -> Result<(), Failure> {
    for packing in PACKINGS {
        for mode in ["none", "lz4", "lzf", "snappy", "all"] {
            let (little, truth) = by_mode::<LittleEndian>(packing, mode)?;
            std::fs::write(folder.join(format!("log_{packing}_{mode}_le.ds")), little)?;
            std::fs::write(folder.join(format!("log_{packing}_{mode}_be.ds")), by_mode::<BigEndian>(packing, mode)?.0)?;
            std::fs::write(folder.join("log_truth.txt"), truth)?;
        }
    }
    Ok(())
}
