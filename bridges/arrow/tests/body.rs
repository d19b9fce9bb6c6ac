//! The fuzz body of inputs takes its seeds, and what is like them.
#![cfg(all(feature = "ipc", feature = "parquet", feature = "csv", feature = "json"))]

#[path = "harness/input.rs"]
mod harness;

use std::fs;

use pilaster_arrow::input::FileKind;

#[test]
fn the_body_takes_its_seeds() {
    let (mut kinds, mut count) = (Vec::new(), 0);
    for seed in fs::read_dir("../../fuzz/corpus-seed/arrow_input").unwrap() {
        let whole = fs::read(seed.unwrap().path()).unwrap();
        kinds.push(FileKind::detect(&whole, ""));
        harness::run(&whole);
        for at in (0..whole.len()).step_by((whole.len() / 24).max(1)) {
            for change in [0u8, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = change;
                harness::run(&damaged);
            }
            harness::run(&whole[..at]);
        }
        count += 1;
    }
    let all = [Some(FileKind::Parquet), Some(FileKind::IpcFile), Some(FileKind::IpcStream), None];
    assert!(count > 10 && all.iter().all(|kind| kinds.contains(kind)), "{count} seeds");
}
