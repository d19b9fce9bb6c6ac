//! arrow_speed FILE [keep]: CPU milliseconds, best of 5, to read all rows as record batches; to read all columns by batches
//! without Arrow; and to copy the buffers of the record batches. Then the bytes that were copied for Arrow, and the bytes of
//! the buffers. With `keep` all record batches stay in memory.

use std::hint::black_box;

use cpu_time::ProcessTime;
use pilaster::any::{self, File, Hints};
use pilaster::bytes::Scratch;
use pilaster::column::{Column, Part, Table, fit};
use pilaster_arrow::arrow_array::{Array as _, RecordBatch};
use pilaster_arrow::arrow_data::ArrayData;
use pilaster_arrow::{Buffer, ReadOptions, read};

type Failure = Box<dyn std::error::Error>;

/// Memory for a part of a file, and for a batch.
const PART: usize = 1 << 28;
const BATCH: usize = 1 << 26;

/// Returns the best of five CPU times in milliseconds, and the last result.
fn best<T>(mut run: impl FnMut() -> Result<T, Failure>) -> Result<(f64, T), Failure> {
    let mut best = f64::MAX;
    let mut last = None;
    for _ in 0..5 {
        // Freeing the result of the round before is not part of this one.
        drop(last.take());
        let start = ProcessTime::now();
        last = Some(run()?);
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok((best, last.ok_or("no rounds")?))
}

/// Reads all columns of all parts by batches of at most 65,536 rows.
fn columns(table: &mut any::Table<'_>, part: &mut [u8], batch: &mut [u8]) -> Result<u64, Failure> {
    let mut rows = 0;
    while let Some(part) = table.next_part(&mut Scratch::new(part))? {
        for k in 0..part.width() {
            let column = part.column(k)?;
            let mut row = 0;
            while row < column.rows() {
                let mut scratch = Scratch::new(batch);
                let some = fit(&column, row..column.rows().min(row + (1 << 16)), scratch.room())?;
                row += black_box(column.read(some, &mut scratch)?).len as u64;
            }
        }
        rows += part.rows();
    }
    Ok(rows)
}

/// Appends the buffers of an array.
fn buffers(data: &ArrayData, all: &mut Vec<Buffer>) {
    all.extend(data.nulls().map(|nulls| nulls.buffer().clone()));
    all.extend(data.buffers().iter().cloned());
    data.child_data().iter().for_each(|child| buffers(child, all));
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, keep) = match &*arguments {
        [file] => (file, false),
        [file, what] if what == "keep" => (file, true),
        _ => return Err("arrow_speed FILE [keep]".into()),
    };
    let bytes = Buffer::from_vec(std::fs::read(path)?);
    let format = any::detect(&bytes, Some(path))?;
    let mut memory = vec![1; PART];
    let file = File::open(&bytes, format, &Hints::default(), &mut Scratch::new(&mut memory))?;
    let open = || {
        let options = ReadOptions { bytes: Some(bytes.clone()), ..ReadOptions::default() };
        read(file.table(None)?, options).map_err(Failure::from)
    };
    let (arrow, copied) = best(|| {
        let mut reader = open()?;
        let mut kept = Vec::new();
        for batch in &mut reader {
            let batch = black_box(batch?);
            if keep {
                kept.push(batch);
            }
        }
        Ok((reader.copied_bytes(), kept))
    })?;
    let copied = copied.0;
    let (mut outer, mut inner) = (vec![1; PART], vec![1; BATCH]);
    let (plain, _) = best(|| columns(&mut file.table(None)?, &mut outer, &mut inner))?;
    let mut all = Vec::new();
    for batch in open()? {
        let batch: RecordBatch = batch?;
        batch.columns().iter().for_each(|column| buffers(&column.to_data(), &mut all));
    }
    // Batches share buffers.
    all.sort_by_key(|buffer| (buffer.as_ptr() as usize, std::cmp::Reverse(buffer.len())));
    all.dedup_by(|next, kept| {
        let end = kept.as_ptr() as usize + kept.len();
        next.as_ptr() as usize + next.len() <= end
    });
    let total: usize = all.iter().map(Buffer::len).sum();
    let mut to = vec![1; total];
    let (copy, ()) = best(|| {
        let mut at = 0;
        for buffer in &all {
            black_box(&mut to)[at..at + buffer.len()].copy_from_slice(buffer);
            at += buffer.len();
        }
        Ok(())
    })?;
    println!("{arrow:.2} {plain:.2} {copy:.2} {copied} {total}");
    Ok(())
}
