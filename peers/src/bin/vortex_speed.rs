//! vortex_speed FILE [keep]: CPU milliseconds, best of 5, to read all columns in batches of at most 65,536 rows. With `keep`
//! all batches stay in memory.

use std::hint::black_box;

use cpu_time::ProcessTime;
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, fit};
use pilaster::vortex::{Column, File};

fn batch<'f: 's, 's>(c: &Column<'f>, row: u64, s: &mut Scratch<'s>) -> pilaster::Result<u64> {
    let rows = fit(c, row..c.rows().min(row + (1 << 16)), s.room())?;
    Ok(black_box(c.read(rows, s)?).len as u64)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, keep) = match &*arguments {
        [file] => (file, false),
        [file, keep] if keep == "keep" => (file, true),
        _ => return Err("vortex_speed FILE [keep]".into()),
    };
    let bytes = std::fs::read(file)?;
    let mut memory = vec![0u8; 64 << 20];
    let mut all = vec![1u8; if keep { 1 << 30 } else { 1 }];
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = ProcessTime::now();
        let file = File::open(black_box(&bytes))?;
        let part = file.part()?;
        let mut kept = Scratch::new(&mut all);
        for k in 0..part.width() {
            let c = part.column(k)?;
            let mut row = 0;
            while row < c.rows() {
                row += if keep { batch(&c, row, &mut kept)? } else { batch(&c, row, &mut Scratch::new(&mut memory))? };
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{:.2}", best * 1e3);
    Ok(())
}
