//! Whole Vortex files: opened, walked, every column read in two ways, verified.

use pilaster::bytes::{Input, Piece};
use pilaster::error::Kind;
use pilaster::vortex::File;

use super::vortex::{LIMITS, ROOM, columns, verify, walk};

/// All of `data` is the file.
pub fn run(data: &[u8]) {
    read(data);
}

/// Reads `bytes`; 1 if they could be opened.
pub fn read(bytes: &[u8]) -> usize {
    let opened = File::open_input(Input::whole(bytes), None, &LIMITS);
    let halves = [
        Piece { at: 0, bytes: &bytes[..bytes.len() / 2] },
        Piece { at: (bytes.len() / 2) as u64, bytes: &bytes[bytes.len() / 2..] },
    ];
    match (&opened, File::open_input(Input::pieces(&halves, bytes.len() as u64), None, &LIMITS)) {
        (Ok(_), Err(e)) => assert_eq!(e.kind(), Kind::Missing),
        (Err(e), Err(other)) => assert!(*e == other || other.kind() == Kind::Missing),
        (Ok(_), Ok(_)) => {}
        (Err(e), Ok(_)) => panic!("opens only in pieces: {e:?}"),
    }
    let Ok(file) = opened else { return 0 };
    walk(&file);
    let mut memory = [0xa5; ROOM];
    let sound = verify(&file, &mut memory);
    columns(&file, &mut memory, sound);
    1
}
