//! `Column::need` beside what `read` takes: never less, and not much more.

use core::ops::Range;
use std::collections::BTreeSet;

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _};
use pilaster::vortex::{Column, File};

use crate::common;

/// Bytes that `need` may have beyond a tenth, apart from 9 bits per row for booleans and 9 bits for missing rows, which are unpacked
/// to bytes unless the file has them as bits. Each buffer has up to 64 bytes for its alignment.
const FIXED: u64 = 2048;

/// Goldens with columns for which `need` states more, and how many bytes beyond [`FIXED`].
const MORE: [(&str, u64); 17] = [
    // Texts: frames of zstd, FSST, OnPair.
    ("def_compact", 120_000),
    ("def_strings", 64_000),
    ("enc_zstd", 20_000),
    ("enc_onpair", 4400),
    ("lay_user_metadata", 4400),
    ("lay_root_utf8", 4400),
    ("lay_no_file_stats", 4400),
    ("def_edge_8192", 4400),
    ("def_edge_8193", 4400),
    ("def_edge_1023", 3400),
    ("def_edge_1024", 3400),
    ("def_edge_1025", 3400),
    // Whole blocks of 1024 rows.
    ("enc_delta", 13_400),
    ("enc_rle", 6500),
    // Chunks whose rows are all missing, which are not decoded.
    ("enc_masked_chunked", 5800),
    ("enc_pco", 2500),
    ("enc_alp", 1300),
];

/// Number of rows that are read with `len` bytes of scratch memory; `None` if they do not suffice.
fn rows_in(column: &Column<'_>, rows: &Range<u64>, memory: &mut [u64], len: u64) -> Option<usize> {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(memory);
    column.read(rows.clone(), &mut Scratch::new(&mut bytes[..len as usize])).map(|batch| batch.len).ok()
}

/// Returns whether as many rows are read with so few bytes that `need` exceeds them by more than a tenth, [`FIXED`] and each of
/// `more`.
fn exceeds<const N: usize>(column: &Column<'_>, rows: &Range<u64>, more: [u64; N]) -> [bool; N] {
    let need = column.need(rows.clone()).unwrap();
    let mut memory = vec![0u64; need.div_ceil(8) as usize];
    let wanted = rows_in(column, rows, &mut memory, need).filter(|rows| *rows > 0).expect("need is enough");
    more.map(|more| {
        let fixed = 9 * wanted as u64 / 4 + FIXED + more;
        let least = need.saturating_sub(fixed) * 10 / 11;
        least > 0 && rows_in(column, rows, &mut memory, least - 1) == Some(wanted)
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
