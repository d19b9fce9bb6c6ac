//! The end of a file: marker, postscript, footer, statistics. Opened from the marker alone, then with what each
//! error asks for. This ends with the same contents as opening the complete file.

use pilaster::bytes::{Input, Piece};
use pilaster::error::Kind;
use pilaster::vortex::File;

use super::vortex::LIMITS;

/// Requests that open a file: the postscript, the parts that it names, at worst one by one.
const REQUESTS: usize = 6;

pub fn run(data: &[u8]) {
    let len = data.len() as u64;
    let whole = File::open_input(Input::whole(data), None, &LIMITS);
    let mut pieces = [Piece { at: 0, bytes: &[] }; REQUESTS + 1];
    let marker = data.len().saturating_sub(8);
    pieces[0] = Piece { at: marker as u64, bytes: &data[marker..] };
    let mut count = 1;
    let opened = loop {
        match File::open_input(Input::pieces(&pieces[..count], len), None, &LIMITS) {
            Err(e) if e.kind() == Kind::Missing => {
                let (from, to) = (e.at() as usize, e.at() as usize + e.need() as usize);
                assert!(count <= REQUESTS, "asks again: {e:?}");
                pieces[count] = Piece { at: e.at(), bytes: &data[from..to] };
                count += 1;
            }
            opened => break opened,
        }
    };
    let (file, other) = match (whole, opened) {
        (Ok(file), Ok(other)) => (file, other),
        (Err(e), Err(other)) => return assert_eq!(e, other),
        (whole, opened) => panic!("{whole:?} at once, {opened:?} in pieces"),
    };
    assert_eq!(file.rows(), other.rows());
    for i in 0..file.segments().min(64) as u32 {
        let span = file.segment(i);
        assert_eq!(span, other.segment(i));
        assert!(span.is_err() || span.is_ok_and(|span| span.end().is_some_and(|end| end <= len)));
        let _ = file.segment_alignment(i);
    }
    assert!(file.segment(file.segments() as u32).is_err());
    for i in 0..file.metadata_len().min(16) {
        let _ = file.metadata(i);
    }
    for k in 0..file.dtype().children().clamp(1, 64) {
        let Ok(Some(stats)) = file.column_statistics(k) else { continue };
        for bound in [stats.min(), stats.max()].into_iter().flatten().flatten() {
            let _ = (bound.scalar.is_null(), bound.scalar.bytes());
        }
        let _ = (stats.sum(), stats.null_count(), stats.nan_count(), stats.order());
    }
}
