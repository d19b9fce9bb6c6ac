//! Vortex written: every golden file again.

use pilaster::limits::Limits;

use crate::common;
use crate::harness::vortex_roundtrip::again;

#[test]
fn every_golden_file_is_written_with_the_same_rows() {
    let files: Vec<_> = common::of("vortex").into_iter().filter(common::Golden::by_any).collect();
    let mut written = 0;
    // Each file with some of the options: all, no dictionaries, the wide profile, or small chunks without statistics.
    for (golden, flags) in files.iter().zip([0u8, 1, 2, 4 | 8].into_iter().cycle()) {
        assert!(again(&golden.bytes(), flags, &Limits::DEFAULT), "{}", golden.name);
        written += 1;
    }
    assert!(written > 90, "{written}");
}
