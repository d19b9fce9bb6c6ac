//! The sample files of the original DataSeries project, which are not kept here. `.ci/upstream` runs this
//! with `PILASTER_UPSTREAM` set to the folder where they lie, each with its expectation.

use std::env;
use std::path::Path;

use crate::common;
use crate::compare::dataseries::{self, Way};

#[test]
#[ignore = "needs PILASTER_UPSTREAM: .ci/upstream"]
fn files_of_the_original_project() {
    let folder = env::var("PILASTER_UPSTREAM").expect("PILASTER_UPSTREAM names the folder of the files");
    let found = common::below(Path::new(&folder));
    assert!(!found.is_empty(), "no expectations in {folder}");
    for golden in found {
        let bytes = golden.bytes();
        for (way, _) in Way::ALL {
            let read = dataseries::read(&bytes, way, Some(&golden.expected["tables"]), &golden.expected["facts"]);
            assert_eq!(read, Ok(()), "{} {way:?}", golden.name);
        }
        println!("{}: {} rows", golden.name, golden.expected["nrows"]);
    }
}
