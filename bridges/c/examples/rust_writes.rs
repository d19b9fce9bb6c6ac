//! Writes the files of `tests/check.c` and of `examples/sensors`, with the Rust writer, into the folder that the argument names:
//! `.ci/c` compares them.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a program of the checks")]

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use pilaster::bytes::NativeEndian;
use pilaster::codec::HashTable;
use pilaster::dataseries::record;
use pilaster::dataseries::write::{
    Compress, Descriptions, ExtentBuffer, IndexSlot, Lz4, Lzf, Memory, Snappy, Stored, Writer,
};

record! {
    struct Every<'a> = "Every" namespace "example.org" version 1.0 {
        flag: bool,
        small: byte nullable,
        number: int32 relative comment "of rows",
        time: int64 relative,
        sent: int64 nullable relative to time,
        temp: double nullable relative scaled 0.01 units "degC" comment "in the shade",
        kelvin: double based 273.15 units "K",
        mac: fixedwidth 6,
        note: variable32 nullable,
        place: variable32 unique,
        door: bool nullable,
    }
}
record! {
    struct Tick = "Tick" namespace "example.org" version 1.0 about { firmware = "2.1.0", build = "b17" } {
        time: int64 relative,
    }
}

fn row(n: i32) -> Every<'static> {
    let time = 1_700_000_000_000 + i64::from(n);
    let unless = |of: i32| n % of != 0;
    Every {
        flag: n % 2 == 0,
        small: unless(3).then_some(n as u8),
        number: n * n,
        time,
        sent: unless(4).then_some(time + i64::from(n % 5)),
        temp: unless(5).then_some(21.5 + f64::from(n) * 0.01),
        kelvin: f64::from(n) * 0.5,
        mac: [0, 0, 0, 0, 0, n as u8],
        note: unless(6).then_some(&b"a note"[..(n % 7) as usize]),
        place: if n % 2 == 0 { b"attic" } else { b"cellar" },
        door: (n % 2 == 0).then_some(true),
    }
}

fn every<C: Compress>(compress: C) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut slots, mut rows, mut pool, mut unique) = ([IndexSlot::EMPTY; 30], [0; 640], [0; 512], [0; 16]);
    let types = Descriptions::of::<(Every<'_>, Tick)>();
    let mut file = Writer::<NativeEndian, _, _>::with(Vec::new(), types, &mut slots, compress);
    let mut extent = ExtentBuffer::of::<Every<'_>>(Memory { rows: &mut rows, pool: &mut pool, unique: &mut unique })?;
    for n in 0..200 {
        file.push(&mut extent, &row(n))?;
    }
    file.flush(&mut extent)?;
    Ok(file.finish()?)
}

/// A file in memory.
struct Bytes(Vec<u8>);

impl embedded_io::ErrorType for Bytes {
    type Error = core::convert::Infallible;
}

impl embedded_io::Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let to = PathBuf::from(env::args_os().nth(1).ok_or("usage: rust_writes FOLDER")?);
    let (mut table, mut out) = (HashTable::<256>::new(), [0; 1024]);
    fs::write(to.join("every_0.ds"), every(Stored)?)?;
    fs::write(to.join("every_4.ds"), every(Lzf::new(&mut table, &mut out))?)?;
    fs::write(to.join("every_5.ds"), every(Snappy::new(&mut table, &mut out))?)?;
    fs::write(to.join("every_6.ds"), every(Lz4::new(&mut table, &mut out))?)?;
    let mut buffers = logger::typed::Buffers::NEW;
    let (_, Bytes(sensors)) = logger::typed::log(Bytes(Vec::new()), &mut buffers, 30_000)?;
    fs::write(to.join("sensors.ds"), sensors)?;
    Ok(())
}
