//! The generators of files get past the first checks: of the same inputs in each run, some become files that are bent and
//! are still read as a table with rows.

use std::env;

use crate::harness::generate::Reach;
use crate::harness::{bcolz_made, dataseries_made, filo_made, jay_made, vortex_made, vortex_written};

/// Files that are made in a run.
const ROUNDS: usize = 1000;

/// What became of some inputs.
#[derive(Debug, Default)]
struct Counted {
    /// Files that are as the writer wrote them.
    straight: usize,
    bent: usize,
    /// Bent files with rows that were read.
    deep: usize,
}

fn count(made: fn(&[u8]) -> Option<Reach>) -> Counted {
    let (mut state, mut counted) = (0x9e37_79b9_7f4a_7c15_u64, Counted::default());
    let rounds = env::var("PILASTER_SAMPLE").map_or(ROUNDS, |n| n.parse().expect("a number"));
    for round in 0..rounds {
        let mut input = [0; 700];
        let len = 100 + round % 600;
        for byte in &mut input[..len] {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        let reach = made(&input[..len]).expect("more than nothing");
        counted.straight += usize::from(!reach.bent);
        counted.bent += usize::from(reach.bent);
        counted.deep += usize::from(reach.bent && reach.deep);
    }
    println!("{counted:?} of {rounds}");
    counted
}

/// At least this many of a hundred files are as they were written, bent, and of these read.
fn reaches(made: fn(&[u8]) -> Option<Reach>, straight: usize, bent: usize, deep: usize) {
    let counted = count(made);
    let all = counted.straight + counted.bent;
    assert!(counted.straight * 100 >= straight * all, "{counted:?}");
    assert!(counted.bent * 100 >= bent * all, "{counted:?}");
    assert!(counted.deep * 100 >= deep * counted.bent, "{counted:?}");
}

#[test]
fn filo_vectors_are_read_though_they_are_bent() {
    reaches(filo_made::made, 25, 40, 40);
}

#[test]
fn extents_are_unpacked_though_they_are_bent() {
    reaches(dataseries_made::made, 15, 50, 12);
}

#[test]
fn jay_files_are_read_though_they_are_bent() {
    reaches(jay_made::made, 8, 60, 15);
}

#[test]
fn datasets_are_read_though_they_are_bent() {
    reaches(bcolz_made::made, 25, 40, 18);
}

#[test]
fn arrays_are_decoded_though_they_are_bent() {
    reaches(vortex_made::made, 8, 60, 40);
}

/// Found by fuzzing: rows of the type null were said to have values, as the encoding of their array allows.
#[test]
fn rows_of_the_type_null_are_known_to_be_missing() {
    let reach = vortex_made::made(&[0x54, 0xac, 0xa7, 0x72]);
    assert_eq!(reach, Some(Reach { bent: true, deep: true }));
}

/// Columns of any type are written to Vortex in any way.
#[test]
fn rows_of_any_type_are_written_to_vortex() {
    let (mut state, mut written, mut rows) = (0x9e37_79b9_7f4a_7c15_u64, 0, 0);
    let rounds = env::var("PILASTER_SAMPLE").map_or(150, |n| n.parse().expect("a number"));
    for _ in 0..rounds {
        let input: [u8; 128] = std::array::from_fn(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 56) as u8
        });
        if let Ok(count) = vortex_written::made(&input) {
            (written, rows) = (written + 1, rows + count);
        }
    }
    println!("{written} files of {rows} rows");
    assert!(written * 10 >= rounds * 9 && rows >= rounds * 300, "{written} files of {rows} rows");
}
