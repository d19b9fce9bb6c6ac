//! What `verify` promises of a Vortex file: every row reads, alone and in every batch, to the same value; the work is
//! bounded by the bytes; valid files are accepted, in the memory that `need` names.

use pilaster::any::{self, Hints, detect};
use pilaster::bytes::{Input, Scratch};
use pilaster::column::{Column as _, Part as _};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::File;

use crate::common;
use crate::common::CpuTime;
use crate::harness::cell::Cell;

fn regression(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/regressions/{name}.vortex", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("a file of ours")
}

/// Verifies in exactly the memory that the file asks for.
fn verify(bytes: &[u8]) -> pilaster::Result<()> {
    let file = File::open(bytes)?;
    let mut memory = vec![0xa5; file.need()? as usize];
    file.verify(&mut Scratch::new(&mut memory))
}

/// The file of any format in exactly the memory that it asks for.
#[test]
fn need_is_enough_to_verify_every_golden() {
    let mut verified = 0;
    for golden in common::all().iter().filter(|golden| golden.path.is_file()) {
        let bytes = golden.bytes();
        let element = golden.expected["facts"]["element_type"].as_str().and_then(|name| name.parse().ok());
        let hints = Hints { element, ..Hints::default() };
        let Ok(format) = detect(&bytes, golden.path.to_str()) else { continue };
        let mut opened = vec![0; 1 << 20];
        let file = any::File::open(&bytes, format, &hints, &mut Scratch::new(&mut opened)).ok();
        let Some((file, need)) = file.and_then(|file| Some((file, file.need().ok()?))) else { continue };
        let mut memory = vec![0xa5; need as usize];
        let verdict = file.verify(&mut Scratch::new(&mut memory));
        if let Err(any::FileError::Format(e)) = &verdict {
            assert_ne!(e.kind(), Kind::NoRoom, "{}: {need} bytes are not enough: {e}", golden.name);
        }
        verified += usize::from(verdict.is_ok());
    }
    assert!(verified > 300, "{verified}");
}

/// The file had a row that is an error alone, and none in a batch.
#[test]
fn what_verify_accepts_reads_row_by_row() {
    let bytes = regression("row_alone_fails");
    let file = File::open(&bytes).unwrap();
    let sound = verify(&bytes).inspect_err(|e| println!("{e}")).is_ok();
    let part = file.part().unwrap();
    for k in 0..part.width() {
        let column = part.column(k).unwrap();
        let mut memory = vec![0; 1 << 20];
        let Ok(batch) = column.read(0..column.rows(), &mut Scratch::new(&mut memory)) else { continue };
        for row in 0..batch.len {
            let mut memory = vec![0; 1 << 20];
            let one = column.scalar_at(row as u64, &mut Scratch::new(&mut memory));
            let same = one.is_ok_and(|one| Cell::of_batch(&one, 0) == Cell::of_batch(&batch, row));
            assert!(same || !sound, "row {row} of column {k}");
        }
    }
}

/// 6 KB that claim 4 * 10^9 rows.
#[test]
fn claimed_rows_cost_nothing() {
    let bytes = regression("rows_claimed");
    let file = File::open(&bytes).unwrap();
    assert!(file.rows().unwrap() > 3_000_000_000);
    let start = CpuTime::now();
    verify(&bytes).unwrap();
    assert!(start.elapsed().as_millis() < 2000, "{:?}", start.elapsed());
}

/// The writer of these files is the original, which reads them.
#[test]
fn valid_files_are_not_refused_for_their_nodes() {
    for name in ["shuffled_views_compact", "lists_compact"] {
        assert_eq!(verify(&regression(name)), Ok(()), "{name}");
    }
}

/// A writer that lost the rows left their statistics.
#[test]
fn statistics_of_no_rows_are_no_contradiction() {
    let bytes = regression("no_rows_old_statistics");
    assert_eq!(File::open(&bytes).unwrap().rows(), Ok(0));
    assert_eq!(verify(&bytes), Ok(()));
}

#[test]
fn the_limits_of_a_file_bound_what_is_read() {
    let golden = std::fs::read("tests/golden/vortex/enc_alp_a.vortex").unwrap();
    let verify = |limits: Limits| {
        let file = File::open_input(Input::whole(&golden), None, &limits)?;
        file.verify(&mut Scratch::new(&mut vec![0; file.need()? as usize]))
    };
    let rows = File::open(&golden).unwrap().rows().unwrap();
    assert_eq!(verify(Limits { max_file_rows: rows, ..Limits::DEFAULT }), Ok(()));
    let e = verify(Limits { max_file_rows: rows - 1, ..Limits::DEFAULT }).unwrap_err();
    assert_eq!((e.kind(), e.what(), u64::from(e.need())), (Kind::Limit, What::MAX_FILE_ROWS, rows - 1));
    let decoded = |n| verify(Limits { max_file_decoded: n, ..Limits::DEFAULT });
    // The least limit that suffices.
    let (mut low, mut high) = (0, 1 << 30);
    assert_eq!(decoded(high), Ok(()));
    while high - low > 1 {
        let middle = low.midpoint(high);
        match decoded(middle) {
            Ok(()) => high = middle,
            Err(e) => {
                assert_eq!((e.kind(), e.what(), u64::from(e.need())), (Kind::Limit, What::MAX_FILE_DECODED, middle));
                low = middle;
            }
        }
    }
    // Each row is a number of 4 or 8 bytes.
    assert!(high >= 4 * rows && high < 100 * rows, "{high} bytes for {rows} rows");
    // Equal rows are read once, however many they are.
    let constants = regression("rows_claimed");
    let limits = Limits { max_file_decoded: 1 << 20, ..Limits::DEFAULT };
    let file = File::open_input(Input::whole(&constants), None, &limits).unwrap();
    assert!(file.rows().unwrap() > 1 << 31);
    file.verify(&mut Scratch::new(&mut vec![0; file.need().unwrap() as usize])).unwrap();
}
