//! `Column::need` beside what `read` takes: never less, and not much more.

use core::ops::Range;
use std::collections::BTreeSet;

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _};
use pilaster::vortex::{Column, File};

use crate::common;

/// Bytes that `need` may have beyond a tenth, and beyond 9 bits for each of two levels of booleans per row, which may be missing rows,
/// too: they are unpacked to bytes unless the file has them as bits. Each buffer has up to 64 bytes for its alignment.
const FIXED: u64 = 2048;

/// Goldens with columns of encodings for which `need` states more, and how many bytes beyond [`FIXED`]: what it may take is known
/// only as it is decoded. Large columns are within a tenth.
const MORE: [(&str, u64); 16] = [
    // Frames of zstd, and the tables of its decoder.
    ("def_compact", 120_000),
    ("enc_zstd", 20_000),
    // Texts of a dictionary, whose lengths are bounded by that of the longest symbols.
    ("def_strings", 64_000),
    ("enc_onpair", 4400),
    ("lay_user_metadata", 4400),
    ("lay_root_utf8", 4400),
    ("lay_no_file_stats", 4400),
    ("def_edge_8192", 4400),
    ("def_edge_8193", 4400),
    ("def_edge_1023", 3400),
    ("def_edge_1024", 3400),
    ("def_edge_1025", 3400),
    // Whole blocks of 1024 rows, as words of 8 bytes.
    ("enc_delta", 13_400),
    ("enc_rle", 6500),
    // Batches and patches.
    ("enc_pco", 2500),
    ("enc_alp", 1300),
];

/// Number of rows that are read with `len` bytes of scratch memory.
fn rows_in(column: &Column<'_>, rows: &Range<u64>, memory: &mut [u64], len: u64) -> Option<usize> {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(memory);
    column.read(rows.clone(), &mut Scratch::new(&mut bytes[..len as usize])).map(|batch| batch.len).ok()
}

/// The fewest bytes with which as many rows are read as with `need`, which suffices, and the number of these rows.
fn least(column: &Column<'_>, rows: &Range<u64>, need: u64) -> (u64, u64) {
    let mut memory = vec![0u64; need.div_ceil(8) as usize];
    let wanted = rows_in(column, rows, &mut memory, need);
    let count = wanted.filter(|rows| *rows > 0).expect("need is enough") as u64;
    let (mut short, mut enough) = (0, need);
    while short < enough {
        let middle = short.midpoint(enough);
        if rows_in(column, rows, &mut memory, middle) == wanted { enough = middle } else { short = middle + 1 }
    }
    (enough, count)
}

/// The bytes of a file where no value is aligned, so that none is borrowed from it.
fn unaligned(bytes: &[u8], to: &mut Vec<u64>) -> Range<usize> {
    to.resize(bytes.len().div_ceil(8) + 1, 0);
    bytemuck::cast_slice_mut::<u64, u8>(to)[1..=bytes.len()].copy_from_slice(bytes);
    1..bytes.len() + 1
}

/// Passes what is needed, and the least bytes and their rows, to `found`, for row ranges of all columns.
fn each_read(bytes: &[u8], found: &mut dyn FnMut(&str, &Range<u64>, u64, (u64, u64))) {
    let mut memory = Vec::new();
    let place = unaligned(bytes, &mut memory);
    let file = File::open(&bytemuck::cast_slice(&memory)[place]).unwrap();
    let part = file.part().unwrap();
    for k in 0..part.width() {
        let column = part.column(k).unwrap();
        let all = column.rows();
        let ranges = [0..all, 0..all.min(1), all / 2..all.min(all / 2 + 7), all / 3..all - all / 3, all - all / 4..all];
        for rows in ranges.into_iter().filter(|rows| !rows.is_empty()) {
            let need = column.need(rows.clone()).unwrap();
            found(part.name(k).unwrap(), &rows, need, least(&column, &rows, need));
        }
    }
}

#[test]
fn goldens_need_what_they_take() {
    let (mut count, mut above, mut used) = (0, Vec::new(), BTreeSet::new());
    for golden in common::of("vortex").into_iter().filter(|golden| golden.is("vortex") && golden.by_any()) {
        let kind = golden.name.trim_start_matches("vortex/").rsplit_once('_').map_or("", |(kind, _)| kind);
        let more = MORE.iter().find(|(name, _)| *name == kind).map_or(0, |(_, more)| *more);
        each_read(&golden.bytes(), &mut |name, rows, need, (least, read)| {
            count += 1;
            let most = least + least / 10 + 9 * read / 4 + FIXED;
            if need > most {
                used.insert(kind.to_owned());
            }
            if need > most + more {
                above.push(format!("{} {name} {rows:?}: need {need}, least {least}, most {most}", golden.name));
            }
        });
    }
    assert!(count > 2500, "{count} reads");
    assert!(above.is_empty(), "{} of {count}:\n{}", above.len(), above.join("\n"));
    let unused: Vec<_> = MORE.iter().filter(|(name, _)| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "no exception: {unused:?}");
}
