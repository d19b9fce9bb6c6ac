//! Vortex files.

use std::sync::atomic::Ordering::Relaxed;

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _};
use pilaster::error::{Kind, What};
use pilaster::vortex::{Column, File};

use crate::differs;
use crate::findings::{OPENED, unequal};
use crate::walk::{Hash, Walk, affordable, both, cell, column, verdict};

/// Reads `d`: all columns, statistics, zone maps, dictionaries, single rows.
pub fn run(d: &[u8]) {
    let Ok(f) = File::open(d) else { return };
    OPENED.fetch_add(1, Relaxed);
    let need = f.need();
    let Some(bytes) = affordable(*need.as_ref().unwrap_or(&0)) else { return };
    let mut verified = false;
    if need.is_ok() {
        match f.verify(&mut Scratch::new(&mut vec![0u8; bytes])) {
            Ok(_) => verified = true,
            Err(e) if e.kind() == Kind::NoRoom && e.what() == What::SCRATCH => {
                differs!("NEED vortex verify {e:?} of {bytes}")
            }
            Err(_) => {}
        }
    }
    let columns = f.table().and_then(|mut t| both(&mut t, 0, 333, verified, "vortex"));
    verdict(verified, &columns, "vortex");
    let _ = f.visit(false, &mut |v| {
        let _ = (v.metadata().map(|m| m.len()), v.buffers(), v.buffer(0), v.segment_number());
        Ok(())
    });
    let Ok(part) = f.part() else { return };
    for k in 0..part.width().min(40) {
        if let Ok(Some(s)) = f.column_statistics(k) {
            let _ = (s.min().is_ok(), s.max().is_ok(), s.sum().is_ok(), s.null_count(), s.nan_count(), s.order());
        }
        let Ok(c) = part.column(k) else { continue };
        let _ = c.segments(0..c.rows(), &mut |_| Ok(()));
        if let Ok(Some(z)) = c.zones() {
            [z.min(), z.max(), z.null_count()].iter().flatten().for_each(|b| read(b, 200));
        }
        let readable = columns.as_ref().is_ok_and(|a| a.get(&(0, k)).is_some_and(|o| o.digest.is_ok() && !o.cut));
        if readable && c.rows() > 0 {
            let n = c.rows();
            [0, n / 3, n - 1].iter().for_each(|row| single_row(&c, *row, k, verified));
            if let Ok(Some(d)) = c.dictionary(0) {
                read(&d.values, 500);
                read(&d.codes, 500);
            }
        }
    }
}

/// Reads at most `budget` rows; only a panic is an error.
fn read(c: &Column<'_>, budget: u64) {
    let _ = column(c, 0..c.rows(), &mut Hash::default(), &mut Walk::new(budget, 1000), 0);
}

/// Compares `scalar_at` with a batch of one row, and with the batches of all rows, which were read. The latter is promised
/// of a verified file.
fn single_row(c: &Column<'_>, row: u64, k: usize, verified: bool) {
    let need = c.need(row..row + 1).unwrap_or(0);
    if need > (8 << 20) {
        return;
    }
    let mut memory = vec![0u8; (need as usize).max(1 << 16)];
    let Ok(batch) = c.scalar_at(row, &mut Scratch::new(&mut memory)) else {
        unequal(verified, &format!("DIFF vortex scalar_at fails at {row}, the column can be read"));
        return;
    };
    let (mut h1, mut h2) = (Hash::default(), Hash::default());
    let (mut w1, mut w2) = (Walk::new(2000, 1), Walk::new(2000, 50));
    let one = cell(&batch, 0, &mut h1, &mut w1, 0);
    let all = column(c, row..row + 1, &mut h2, &mut w2, 0);
    if w1.cut || w2.cut {
        return;
    }
    if one.is_ok() && all.is_ok() {
        assert!(h1 == h2, "DIFF vortex scalar_at {row} column {k}");
    }
    if one.is_ok() != all.is_ok() {
        differs!("DIFF vortex scalar_at {one:?}, as a batch {all:?}");
    }
}
