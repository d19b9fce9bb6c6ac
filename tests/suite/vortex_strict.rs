//! Files that can be read, and that the original refuses: `verify` names why.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Prim, Table as _};
use pilaster::error::{Kind, What};
use pilaster::vortex::{Encoding, File};
use pilaster_oracle::vortex as owned;

use crate::build::{self, blob, dtype, le, node, number, plain, why};
use crate::common;

fn verify(bytes: &[u8]) -> pilaster::Result<()> {
    File::open(bytes)?.verify(&mut Scratch::new(&mut vec![0; 1 << 20]))
}

fn golden(name: &str) -> Vec<u8> {
    let found = common::of("vortex").into_iter().find(|golden| golden.name == format!("vortex/{name}"));
    found.expect("a golden").bytes()
}

/// Moves everything in a FlatBuffer but the offset of its root by so many bytes: offsets are relative and stay valid, and
/// numbers of more bytes lose their alignment.
fn shifted(flat: &[u8], by: usize) -> Vec<u8> {
    let root = u32::from_le_bytes(flat[..4].try_into().unwrap()) + by as u32;
    [&root.to_le_bytes(), &vec![0; by][..], &flat[4..]].concat()
}

/// Start and end of the postscript.
fn postscript(bytes: &[u8]) -> (usize, usize) {
    let end = bytes.len() - 8;
    (end - usize::from(u16::from_le_bytes(bytes[end + 2..end + 4].try_into().unwrap())), end)
}

/// The file with these bytes before its postscript, which is changed by `change`.
fn with(bytes: &[u8], more: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let (start, end) = postscript(bytes);
    let mut postscript = bytes[start..end].to_vec();
    change(&mut postscript);
    let len = (postscript.len() as u16).to_le_bytes();
    [&bytes[..start], more, &postscript, &[1, 0], &len, b"VTXF"].concat()
}

/// Positions of a segment's offset and length in a postscript, by what they are.
fn segment(postscript: &[u8], at: u64, len: u32) -> (usize, usize) {
    let offset = postscript.windows(8).position(|bytes| bytes == at.to_le_bytes()).expect("the offset");
    // The original writes the length before the offset, or after it.
    let near = |at: usize| postscript.get(at..at + 4) == Some(&len.to_le_bytes());
    (offset, (offset.saturating_sub(8)..offset + 16).find(|at| near(*at)).expect("the length"))
}

/// The file whose FlatBuffer at `at` is shifted.
fn shift_part(bytes: &[u8], (at, len): (u64, u32), by: usize) -> Vec<u8> {
    let (start, _) = postscript(bytes);
    let moved = shifted(&bytes[at as usize..][..len as usize], by);
    with(bytes, &moved, |postscript| {
        let (offset, length) = segment(postscript, at, len);
        postscript[offset..offset + 8].copy_from_slice(&(start as u64).to_le_bytes());
        postscript[length..length + 4].copy_from_slice(&(moved.len() as u32).to_le_bytes());
    })
}

/// Positions of the metadata in the file of the format description (section 13).
const LAYOUT: (u64, u32) = (724, 184);
const STATISTICS: (u64, u32) = (908, 120);
const DTYPE: (u64, u32) = (684, 40);
const FOOTER: (u64, u32) = (1028, 1240);
/// Its two segments.
const SEGMENTS: [(usize, usize); 2] = [(8, 372), (384, 300)];

/// The file whose first blob has a FlatBuffer that is shifted. Both segments are at the end, in the same order.
fn shift_blob(bytes: &[u8]) -> Vec<u8> {
    let [first, second] = SEGMENTS.map(|(start, len)| &bytes[start..start + len]);
    let (rest, flat) = first.split_last_chunk::<4>().unwrap();
    let flat = u32::from_le_bytes(*flat);
    let (buffers, tree) = rest.split_at(rest.len() - flat as usize);
    let first = [buffers, &shifted(tree, 4), &(flat + 4).to_le_bytes()].concat();
    let mut start = postscript(bytes).0;
    let mut all = with(bytes, &[&first, second].concat(), |_| ());
    for ((old, old_len), blob) in SEGMENTS.into_iter().zip([&first[..], second]) {
        let spec = [(old as u64).to_le_bytes(), (old_len as u64 | 3 << 32).to_le_bytes()].concat();
        let at = bytes.windows(16).position(|found| found == spec).expect("the segment in the footer");
        all[at..at + 8].copy_from_slice(&(start as u64).to_le_bytes());
        all[at + 8..at + 12].copy_from_slice(&(blob.len() as u32).to_le_bytes());
        start += blob.len();
    }
    all
}

#[test]
fn numbers_that_are_not_aligned_are_refused_only_by_verify() {
    let golden = golden("def_root_i64_a");
    assert_eq!(verify(&golden), Ok(()));
    let shifted_postscript = with(&golden, &[], |postscript| *postscript = shifted(postscript, 4));
    let files = [
        ("postscript", shifted_postscript),
        ("layout", shift_part(&golden, LAYOUT, 4)),
        ("statistics", shift_part(&golden, STATISTICS, 4)),
        ("blob", shift_blob(&golden)),
        ("dtype", shift_part(&golden, DTYPE, 2)),
        ("footer", shift_part(&golden, FOOTER, 2)),
    ];
    for (part, bytes) in files {
        let file = File::open(&bytes).unwrap();
        let values = file.table().unwrap().to_vec::<Option<i64>>("").unwrap();
        assert_eq!(values, [Some(3), None, Some(-3), Some(1 << 62)], "{part}");
        let e = verify(&bytes).expect_err(part);
        assert_eq!(why(e), (Kind::Invalid, What::FLAT_ALIGNMENT), "{part}");
        let by = if ["dtype", "footer"].contains(&part) { 2 } else { 4 };
        assert_eq!(e.need() % (2 * by), by, "{part}: the position in the buffer");
    }
}

/// A file of one array whose buffer of `len` bytes has this alignment.
fn aligned(root: owned::ArrayNode, bytes: &[u8], dtype: &[u8], exponent: u8) -> Vec<u8> {
    let mut blob = blob(root, &[bytes]);
    let spec = [&[0, 0, 5, 0], &(bytes.len() as u32).to_le_bytes()[..]].concat();
    let at = blob.windows(8).rposition(|found| found == spec).expect("the buffer");
    blob[at + 2] = exponent;
    build::file(&blob, dtype, 2)
}

#[test]
fn buffers_are_aligned_to_their_numbers() {
    let decimal = owned::Decimal { precision: 50, scale: 0, nullable: false };
    let decimal = dtype(owned::Type::Decimal(Box::new(decimal)));
    let mut least = Vec::new();
    for (prim, ptype) in [
        (Prim::U8, owned::PType::U8),
        (Prim::F16, owned::PType::F16),
        (Prim::I32, owned::PType::I32),
        (Prim::F64, owned::PType::F64),
    ] {
        let bytes = vec![1; 2 * prim.size()];
        least.push(
            (0..6)
                .filter(|exponent| verify(&aligned(plain(0), &bytes, &number(ptype, false), *exponent)).is_ok())
                .min(),
        );
    }
    assert_eq!(least, [Some(0), Some(1), Some(2), Some(3)]);
    // Decimals of i8 to i256: the original is content with 16 bytes for 32.
    let least = (0..6u8).map(|width| {
        let root = || node(Encoding::Decimal, &[8, width], &[0], vec![]);
        (0..6).find(|exponent| verify(&aligned(root(), &vec![1; 2 << width], &decimal, *exponent)).is_ok())
    });
    assert_eq!(least.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 4].map(Some));

    // The error has the place of the buffer and its alignment; reading does not depend on it.
    let file = aligned(plain(0), &le(&[5, -6]), &number(owned::PType::I64, false), 2);
    let e = verify(&file).unwrap_err();
    assert_eq!((why(e), e.at(), e.need()), ((Kind::Invalid, What::VORTEX_ALIGNMENT), 8, 2));
    let file = File::open(&file).unwrap();
    assert_eq!(file.part().unwrap().column(0).unwrap().to_vec::<i64>(0..2), Ok(vec![5, -6]));
}

#[test]
fn a_validity_and_children_are_checked_too() {
    // The codes of a dictionary are numbers of 2 bytes.
    let root = node(Encoding::Dict, &[8, 2, 16, 1], &[], vec![plain(0), plain(1)]);
    let mut blob = blob(root, &[&[1, 0, 0, 0], &le(&[7, 8])]);
    let codes = blob.windows(8).rposition(|found| found == [0, 0, 5, 0, 4, 0, 0, 0]).unwrap();
    let dtype = number(owned::PType::I64, false);
    assert_eq!(verify(&build::file(&blob, &dtype, 2)), Ok(()));
    blob[codes + 2] = 0;
    assert_eq!(verify(&build::file(&blob, &dtype, 2)).unwrap_err().what(), What::VORTEX_ALIGNMENT);
}

#[test]
fn the_scale_of_a_decimal_is_at_most_its_number_of_digits() {
    let of = |precision, scale| {
        let decimal = owned::Decimal { precision, scale, nullable: false };
        aligned(
            node(Encoding::Decimal, &[8, 3], &[0], vec![]),
            &le(&[5, -6]),
            &dtype(owned::Type::Decimal(Box::new(decimal))),
            3,
        )
    };
    for (precision, scale) in [(18, 18), (18, -20), (18, 0)] {
        assert_eq!(verify(&of(precision, scale)), Ok(()));
    }
    // Its values are read nevertheless.
    let bytes = of(18, 20);
    let (file, mut memory) = (File::open(&bytes).unwrap(), [0; 64]);
    let column = file.part().unwrap().column(0).unwrap();
    assert!(column.read(0..2, &mut Scratch::new(&mut memory)).is_ok());
    let e = verify(&bytes).unwrap_err();
    assert_eq!((why(e), e.need()), ((Kind::Invalid, What::VORTEX_DTYPE), 20));
}

#[test]
fn the_time_zone_of_a_timestamp_is_one_that_readers_find() {
    // A column of the golden file is in UTC.
    let golden = golden("enc_timestamp_ext_a");
    let at =
        golden.windows(5).rposition(|found| found == b"\x03\0UTC").expect("the length of the zone, and the zone") + 2;
    for (zone, found) in
        [(b"GMT", true), (b"+01", true), (b"-99", false), (b"Z/Z", true), (b"UT ", false), (b"/UT", false)]
    {
        let mut bytes = golden.clone();
        bytes[at..at + 3].copy_from_slice(zone);
        assert_eq!(File::open(&bytes).and_then(|file| file.part().map(|_| ())), Ok(()));
        let verdict = verify(&bytes);
        assert_eq!(verdict.is_ok(), found, "{verdict:?}");
        if let Err(e) = verdict {
            assert_eq!((why(e), e.need()), ((Kind::Invalid, What::VORTEX_TIME_ZONE), 3));
        }
    }
}

#[test]
fn what_a_layout_says_of_its_zones_is_checked() {
    let golden = golden("lay_chunked_zones_a");
    assert_eq!(verify(&golden), Ok(()));
    let id = b"vortex.bounded_max";
    let at = golden.windows(id.len()).position(|found| found == id).expect("the id of an aggregate of texts");
    // The id is the first field of the message, the options, a length of 8 bytes, are the second.
    let options = at + id.len() + 2;
    assert_eq!(golden[options - 2..options], [0x12, 8]);
    for (place, byte, kind) in [
        // "vortex.Bounded_max"
        (at + 7, b'B', Kind::Unsupported),
        (at - 1, 255, Kind::Truncated),
        (options - 2, 0x1a, Kind::Invalid),
        (options, 0, Kind::Invalid),
    ] {
        let mut bytes = golden.clone();
        bytes[place] = byte;
        let e = verify(&bytes).unwrap_err();
        assert_eq!(e.kind(), kind, "{e:?}: byte {place} is {byte}");
        // The rows are read nevertheless.
        let file = File::open(&bytes).unwrap();
        let part = file.part().unwrap();
        assert!(
            (0..part.width()).all(|k| part.column(k).unwrap().read(0..1, &mut Scratch::new(&mut [0; 4096])).is_ok())
        );
    }
}

#[test]
fn aggregates_that_are_not_read_are_known() {
    let mut bytes = golden("lay_chunked_zones_a");
    let id = b"vortex.bounded_max";
    let at = bytes.windows(id.len()).position(|found| found == id).expect("the id of an aggregate of texts");
    bytes[at..at + id.len()].copy_from_slice(b"vortex.all_non_nan");
    assert_eq!(verify(&bytes), Ok(()));
    bytes[at..at + id.len()].copy_from_slice(b"vortex.all_non_nun");
    let e = verify(&bytes).unwrap_err();
    assert_eq!((why(e), e.need()), ((Kind::Unsupported, What::VORTEX_AGGREGATE), 18));
    assert!(e.at() > 0 && e.to_string().contains("unknown id of 18 bytes"), "{e}");
}
