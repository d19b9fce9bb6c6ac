//! Whole Vortex files: opened, walked, every column read in two ways, verified.

use pilaster::column::{Column as _, Part as _};
use pilaster::error::Kind;
use pilaster::limits::Limits;
use pilaster::vortex::{File, Piece, Source};

use super::vortex::{ROOM, Sound, column, verify, walk};

/// All of `data` is the file.
pub fn run(data: &[u8]) {
    read(data);
}

/// What a file may ask for here: less than on a host, so that a walk takes no longer than its bytes.
const LIMITS: Limits = Limits { max_nodes: 20_000, max_depth: 32, ..Limits::DEFAULT };

/// Reads `bytes`; 1 if they could be opened.
pub fn read(bytes: &[u8]) -> usize {
    let opened = File::open_source(Source::whole(bytes), None, &LIMITS);
    let halves = [
        Piece { at: 0, bytes: &bytes[..bytes.len() / 2] },
        Piece { at: (bytes.len() / 2) as u64, bytes: &bytes[bytes.len() / 2..] },
    ];
    match (&opened, File::open_pieces(&halves, bytes.len() as u64, &LIMITS)) {
        (Ok(_), Err(e)) => assert_eq!(e.kind(), Kind::Missing),
        (Err(e), Err(other)) => assert!(*e == other || other.kind() == Kind::Missing),
        (Ok(_), Ok(_)) => {}
        (Err(e), Ok(_)) => panic!("opens only in pieces: {e:?}"),
    }
    let Ok(file) = opened else { return 0 };
    walk(&file);
    let mut memory = [0xa5; ROOM];
    let sound = verify(&file, &mut memory);
    if let Ok(part) = file.part() {
        for k in 0..part.width().min(64) {
            if let Ok(column_k) = part.column(k) {
                column(&column_k, &mut memory, sound, 0);
                let _ = column_k.segments(0..column_k.rows(), &mut |_| Ok(()));
                let _ = column_k.dictionary(0);
                if let Ok(Some(zones)) = column_k.zones() {
                    for bound in [zones.min(), zones.max(), zones.null_count()].into_iter().flatten() {
                        column(&bound, &mut memory, Sound::No, 0);
                    }
                }
            }
        }
    }
    1
}
