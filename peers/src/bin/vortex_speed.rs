//! vortex_speed FILE [keep | columns]: CPU milliseconds, best of 5, to read all columns in batches of at most 65,536 rows. With
//! `keep` all batches stay in memory. With `columns` there is one line per column: milliseconds and name.

use std::hint::black_box;

use cpu_time::ProcessTime;
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, fit};
use pilaster::vortex::{Column, File};

type Failure = Box<dyn std::error::Error>;

fn batch<'f: 's, 's>(c: &Column<'f>, row: u64, s: &mut Scratch<'s>) -> pilaster::Result<u64> {
    let rows = fit(c, row..c.rows().min(row + (1 << 16)), s.room())?;
    Ok(black_box(c.read(rows, s)?).len as u64)
}

fn column(c: &Column<'_>, memory: &mut [u8]) -> pilaster::Result<()> {
    let mut row = 0;
    while row < c.rows() {
        row += batch(c, row, &mut Scratch::new(memory))?;
    }
    Ok(())
}

/// Returns the best of five CPU times in milliseconds.
fn best(mut read: impl FnMut() -> pilaster::Result<()>) -> pilaster::Result<f64> {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = ProcessTime::now();
        read()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, keep, columns) = match &*arguments {
        [file] => (file, false, false),
        [file, what] if what == "keep" => (file, true, false),
        [file, what] if what == "columns" => (file, false, true),
        _ => return Err("vortex_speed FILE [keep | columns]".into()),
    };
    let bytes = std::fs::read(file)?;
    let mut memory = vec![0u8; 64 << 20];
    if columns {
        let file = File::open(&bytes)?;
        let part = file.part()?;
        for k in 0..part.width() {
            let c = part.column(k)?;
            println!("{:8.2} {}", best(|| column(&c, &mut memory))?, part.name(k)?);
        }
        return Ok(());
    }
    let mut all = vec![1u8; if keep { 1 << 30 } else { 1 }];
    let best = best(|| {
        let file = File::open(black_box(&bytes))?;
        let part = file.part()?;
        let mut kept = Scratch::new(&mut all);
        for k in 0..part.width() {
            let c = part.column(k)?;
            if keep {
                let mut row = 0;
                while row < c.rows() {
                    row += batch(&c, row, &mut kept)?;
                }
            } else {
                column(&c, &mut memory)?;
            }
        }
        Ok(())
    })?;
    println!("{best:.2}");
    Ok(())
}
