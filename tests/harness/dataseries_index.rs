//! The index of a DataSeries file.

use pilaster::bytes::{Endian, Scratch};
use pilaster::dataseries::{Extent, Index, Trailer};
use pilaster::unstable::dataseries::raw::TRAILER_LEN;

use super::dataseries::{ROOM, in_order, options, split};

/// A byte of flags, the index extent, the trailer.
pub fn run(data: &[u8]) {
    let Some((big, verify, rest)) = split(data) else { return };
    in_order!(big, read(rest, verify));
}

fn read<E: Endian>(bytes: &[u8], verify: bool) {
    let Some((extent, trailer)) = bytes.len().checked_sub(TRAILER_LEN).map(|at| bytes.split_at(at)) else { return };
    // The trailer says where the two lie.
    let Ok(trailer) = Trailer::of::<E>(trailer, 0) else { return };
    let Ok(extent) = Extent::<E>::of(extent, trailer.index.at) else { return };
    let mut memory = [0xa5; ROOM];
    let Ok(index) = Index::open(&extent, &trailer, &options(verify), &mut Scratch::new(&mut memory)) else { return };
    assert!(index.len() >= 2, "type extent and index");
    assert!(index.get(index.len()).is_err() && index.get(u64::MAX).is_err());
    let mut at = 40;
    for k in 0..index.len() {
        let row = index.get(k).expect("a row that exists");
        assert_eq!(row.span.at, at, "extents follow each other");
        at = row.span.end().expect("an end");
    }
    assert_eq!(Some(at), trailer.index.end());
}
