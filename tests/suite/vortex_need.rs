//! `Column::need` beside what `read` takes: never less, and not much more.

use core::ops::Range;
use std::collections::BTreeSet;

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _};
use pilaster::vortex::{Column, File};

use crate::common;

/// Bytes that `need` may have beyond a tenth: each buffer has up to 64 bytes for its alignment.
const FIXED: u64 = 1024;

/// Goldens with columns for which `need` states more, and how many bytes beyond [`FIXED`]: dictionaries of texts that are
/// counted as a whole, as only the codes tell which part a few rows select.
const MORE: [(&str, u64); 5] = [
    ("def_edge_1023", 4000),
    ("def_edge_1024", 4000),
    ("def_edge_1025", 4000),
    ("def_edge_8192", 5000),
    ("def_edge_8193", 5000),
];

/// Number of rows that are read with `len` bytes of scratch memory; `None` if they do not suffice.
fn rows_in(column: &Column<'_>, rows: &Range<u64>, memory: &mut [u64], len: u64) -> Option<usize> {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(memory);
    column.read(rows.clone(), &mut Scratch::new(&mut bytes[..len as usize])).map(|batch| batch.len).ok()
}

/// Returns whether `need` exceeds what a read takes by more than a tenth, [`FIXED`] and each of `more`. A read takes at least
/// what it writes to, and at least what as many rows cannot be read without.
fn exceeds<const N: usize>(column: &Column<'_>, rows: &Range<u64>, more: [u64; N]) -> [bool; N] {
    const UNUSED: u8 = 0xa5;
    let need = column.need(rows.clone()).unwrap();
    let mut memory = vec![u64::from_ne_bytes([UNUSED; 8]); need.div_ceil(8) as usize];
    let wanted = rows_in(column, rows, &mut memory, need).filter(|rows| *rows > 0).expect("need is enough");
    let written = bytemuck::cast_slice::<u64, u8>(&memory).iter().rposition(|byte| *byte != UNUSED);
    let written = written.map_or(0, |last| last as u64 + 1);
    more.map(|more| {
        let least = need.saturating_sub(FIXED + more) * 10 / 11;
        least > written && rows_in(column, rows, &mut memory, least - 1) == Some(wanted)
    })
}

/// The bytes of a file where no value is aligned, so that none is borrowed from it.
fn unaligned(bytes: &[u8]) -> Vec<u64> {
    let mut to = vec![0; bytes.len().div_ceil(8) + 1];
    bytemuck::cast_slice_mut::<u64, u8>(&mut to)[1..=bytes.len()].copy_from_slice(bytes);
    to
}

#[test]
fn goldens_need_what_they_take() {
    let (mut count, mut above, mut used) = (0, Vec::new(), BTreeSet::new());
    for golden in common::of("vortex").into_iter().filter(|golden| golden.is("vortex") && golden.by_any()) {
        let kind = golden.name.trim_start_matches("vortex/").rsplit_once('_').map_or("", |(kind, _)| kind);
        let more = MORE.iter().find(|(name, _)| *name == kind).map_or(0, |(_, more)| *more);
        let bytes = golden.bytes();
        let memory = unaligned(&bytes);
        let file = File::open(&bytemuck::cast_slice(&memory)[1..=bytes.len()]).unwrap();
        let part = file.part().unwrap();
        for k in 0..part.width() {
            let column = part.column(k).unwrap();
            let all = column.rows();
            let ranges =
                [0..all, 0..all.min(1), all / 2..all.min(all / 2 + 7), all / 3..all - all / 3, all - all / 4..all];
            for rows in ranges.into_iter().filter(|rows| !rows.is_empty()) {
                count += 1;
                let [beyond, far] = exceeds(&column, &rows, [0, more]);
                if beyond {
                    used.insert(kind.to_owned());
                }
                if far {
                    above.push(format!("{} {} {rows:?}", golden.name, part.name(k).unwrap()));
                }
            }
        }
    }
    assert!(count > 2500, "{count} reads");
    assert!(above.is_empty(), "{} of {count}:\n{}", above.len(), above.join("\n"));
    let unused: Vec<_> = MORE.iter().filter(|(name, _)| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "no exception: {unused:?}");
}
