//! Vortex files: what opening them fetches, which segments rows take, what zones bound.

use std::sync::Mutex;

use pilaster::bytes::{Fetch, FileRange, Input, Piece, Scratch};
use pilaster::column::{Column as _, Part as _};
use pilaster::error::{Error, Kind};
use pilaster::limits::Limits;
use pilaster::unstable::vortex_raw::TAIL_LEN;
use pilaster::vortex::File;

use crate::build::integers;
use crate::common;

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/golden/vortex/{name}.vortex", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Fetches what is missing until `look` has all that it wants: what it found, and the number of requests.
fn fetched<R>(bytes: &[u8], first: u64, look: impl Fn(&[Piece<'_>]) -> Result<R, Error>) -> (R, usize, usize) {
    let tail = bytes.len().saturating_sub(first as usize);
    let first = tail..bytes.len();
    let mut ranges = vec![first];
    loop {
        let pieces: Vec<_> =
            ranges.iter().map(|range| Piece { at: range.start as u64, bytes: &bytes[range.clone()] }).collect();
        match look(&pieces) {
            Ok(found) => return (found, ranges.len(), ranges.iter().map(|range| range.len()).sum()),
            Err(e) if e.kind() == Kind::Missing && ranges.len() < 20 => {
                ranges.push(e.at() as usize..e.at() as usize + e.need() as usize);
            }
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn two_or_three_requests_open_every_golden() {
    let mut opened = 0;
    for golden in common::sound("vortex", "vortex") {
        let (name, bytes) = (&golden.name, golden.bytes());
        let Ok(whole) = File::open(&bytes) else { continue };
        let rows = whole.rows().unwrap();
        // All of the tail that is asked for; the end marker and part of the postscript; the marker alone.
        for (first, most) in [(TAIL_LEN, 1), (100, 3), (8, 3)] {
            let open = |pieces: &[Piece<'_>]| {
                File::open_input(Input::pieces(pieces, bytes.len() as u64), None, &Limits::DEFAULT)?.rows()
            };
            let (found, requests, fetched) = fetched(&bytes, first, open);
            assert_eq!(found, rows);
            assert!(requests <= most, "{name} from {first} bytes: {requests} requests");
            assert!(first == TAIL_LEN || rows == 0 || fetched < bytes.len(), "{name}: all {fetched} bytes");
        }
        opened += 1;
    }
    assert!(opened > 90, "{opened}");
}

/// Some ranges of a file, and those that were asked for in vain.
struct Partial<'b> {
    bytes: &'b [u8],
    held: Vec<FileRange>,
    wanted: Mutex<Vec<FileRange>>,
}

impl Fetch for Partial<'_> {
    fn fetch(&self, range: FileRange) -> Option<&[u8]> {
        let holds = |held: &FileRange| held.at <= range.at && range.end() <= held.end();
        if !self.held.iter().any(holds) {
            let mut wanted = self.wanted.lock().unwrap();
            if !wanted.contains(&range) {
                wanted.push(range);
            }
            return None;
        }
        self.bytes.get(range.at as usize..range.end()? as usize)
    }
}

#[test]
fn a_fetcher_is_asked_for_all_metadata_together() {
    let mut opened = 0;
    for golden in common::sound("vortex", "vortex") {
        let (name, bytes) = (&golden.name, golden.bytes());
        let Ok(whole) = File::open(&bytes) else { continue };
        let len = bytes.len() as u64;
        let mut file = Partial { bytes: &bytes, held: vec![], wanted: Mutex::default() };
        // The end marker, the postscript, everything else.
        for _ in 0..3 {
            let error = File::open_input(Input::fetched(&file, len), None, &Limits::DEFAULT).unwrap_err();
            assert_eq!(error.kind(), Kind::Missing, "{name}");
            file.held.append(file.wanted.get_mut().unwrap());
        }
        let rows = File::open_input(Input::fetched(&file, len), None, &Limits::DEFAULT).unwrap().rows();
        assert_eq!(rows, whole.rows(), "{name}");
        let fetched: u64 = file.held.iter().map(|range| range.len).sum();
        assert!(fetched < len || rows == Ok(0), "{name}: {fetched} bytes");
        opened += 1;
    }
    assert!(opened > 90, "{opened}");
}

#[test]
fn a_column_takes_few_requests() {
    let bytes = golden("def_big_small_a");
    let whole = File::open(&bytes).unwrap();
    let limits = &Limits::DEFAULT;
    let rows = 200_000..200_004;
    let (found, requests, fetched_bytes) = fetched(&bytes, TAIL_LEN, |pieces| {
        let file = File::open_input(Input::pieces(pieces, bytes.len() as u64), None, limits)?;
        let column = file.part()?.column(0)?;
        let mut memory = vec![0; 1 << 16];
        let batch = column.read(rows.clone(), &mut Scratch::new(&mut memory))?;
        Ok(format!("{:?}", batch.values))
    });
    let column = whole.part().unwrap().column(0).unwrap();
    let mut memory = vec![0; 1 << 16];
    let batch = column.read(rows.clone(), &mut Scratch::new(&mut memory)).unwrap();
    assert_eq!(found, format!("{:?}", batch.values));
    // The tail, which opens the file; the chunk's codes, and its values.
    assert!(requests <= 3, "{requests} requests, {fetched_bytes} bytes");

    // The segments are known beforehand, from the metadata alone.
    let mut spans = Vec::new();
    column
        .segments(rows, &mut |span| {
            spans.push(span);
            Ok(())
        })
        .unwrap();
    assert!((1..=2).contains(&spans.len()), "{spans:?}");
}

#[test]
fn zones_bound_their_rows() {
    for (name, zones) in [("lay_chunked_zones_a", 3), ("def_root_i64_a", 1), ("legacy_v0.54.0_a", 1)] {
        let bytes = golden(name);
        let file = File::open(&bytes).unwrap();
        let column = file.part().unwrap().column(0).unwrap();
        let map = column.zones().unwrap().expect("zones");
        assert_eq!(map.len(), zones, "{name}");
        let [min, max] = [map.min(), map.max()].map(|bound| integers(&bound.unwrap(), 0..zones));
        let nulls = integers(&map.null_count().unwrap(), 0..zones);
        let mut seen = 0;
        for zone in 0..zones {
            let values = integers(&column, map.rows(zone));
            let k = zone as usize;
            assert_eq!(nulls[k], Some(values.iter().filter(|value| value.is_none()).count() as i64), "{name}");
            assert_eq!(values.iter().flatten().min().copied(), min[k], "{name}");
            assert_eq!(values.iter().flatten().max().copied(), max[k], "{name}");
            seen += values.len() as u64;
        }
        assert_eq!(seen, column.rows());
    }
}

#[test]
fn zones_of_every_golden_can_be_asked_for() {
    let mut zoned = 0;
    for golden in common::sound("vortex", "vortex") {
        let (name, bytes) = (&golden.name, golden.bytes());
        let Ok(file) = File::open(&bytes) else { continue };
        let part = file.part().unwrap();
        for k in 0..part.width() {
            let Some(map) = part.column(k).unwrap().zones().unwrap_or_else(|e| panic!("{name} {k}: {e}")) else {
                continue;
            };
            zoned += 1;
            let mut memory = vec![0; 1 << 20];
            for bound in [map.min(), map.max(), map.null_count()].into_iter().flatten() {
                let read = bound.read(0..map.len(), &mut Scratch::new(&mut memory));
                assert_eq!(read.map(|batch| batch.len as u64), Ok(map.len()), "{name} {k}");
            }
        }
    }
    assert!(zoned > 200, "{zoned}");
}
