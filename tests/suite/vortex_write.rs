//! Vortex written: every golden file again.

use pilaster::limits::Limits;

use crate::common;
use crate::harness::vortex_roundtrip::again;

#[test]
fn every_golden_file_is_written_with_the_same_rows() {
    let files: Vec<_> = common::of("vortex").into_iter().filter(common::Golden::by_any).collect();
    let mut written = 0;
    // Each file with some of the options: all, no dictionaries, the wide profile, small chunks without statistics, the smallest
    // encodings, small zones, and half of the encodings.
    let all = [0u8, 1, 2, 4 | 8, 16, 32 | 1, 64, 128, 2 | 64, 2 | 128, 16 | 64, 16 | 128];
    for (golden, flags) in files.iter().zip(all.into_iter().cycle()) {
        assert!(again(&golden.bytes(), flags, &Limits::DEFAULT), "{}", golden.name);
        written += 1;
    }
    assert!(written > 90, "{written}");
}
