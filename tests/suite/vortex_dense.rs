//! Vortex arrays that store only the rows that have a value: frames of zstd, pages of pco.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Values};
use pilaster::error::{Kind, What};
use pilaster::unstable::codec::zstd;
use pilaster::vortex::Encoding;
use pilaster_oracle::vortex as owned;

use crate::build::{bits, blob, integers, le, longs, node, number, plain, texts, varint, why, with};

/// A `vortex.zstd` of frames, each with its number of values in the metadata.
fn framed(frames: &[(&[u8], u8)], claim: impl Fn(usize) -> u8, validity: Option<&[u8]>) -> Vec<u8> {
    let mut metadata = Vec::new();
    let mut packed = Vec::new();
    for (bytes, count) in frames {
        metadata.extend_from_slice(&[0x12, 4, 0x08, claim(bytes.len()), 0x10, *count]);
        packed.push(crate::zstd::encoded(bytes, 1));
    }
    let mut buffers: Vec<&[u8]> = packed.iter().map(Vec::as_slice).collect();
    let numbers: Vec<u16> = (0..packed.len() as u16).collect();
    let children = validity.map(|_| bits(packed.len() as u16));
    buffers.extend(validity);
    blob(node(Encoding::Zstd, &metadata, &numbers, children.into_iter().collect()), &buffers)
}

#[test]
fn frames_hold_the_rows_that_have_a_value() {
    let (one, two) = (le(&[1, 2, 3]), le(&[4, 5]));
    let blob = framed(&[(&one, 3), (&two, 0)], |len| len as u8, Some(&[0b0101_1011, 0]));
    let naive = [Some(1), Some(2), None, Some(3), Some(4), None, Some(5), None, None];
    // Any rows on their own, across the frames and within one.
    holds(&blob, &naive, &[(0, 9), (3, 7), (4, 5), (5, 9), (7, 9)]);
}

/// The array of numbers verifies, and has these rows, one by one and in batches from one to another.
fn holds(blob: &[u8], naive: &[Option<i64>], ranges: &[(usize, usize)]) {
    with(blob, &number(owned::PType::I64, true), naive.len() as u64, |file, column| {
        file.verify(&mut Scratch::new(&mut [0; 1 << 15])).unwrap();
        assert_eq!(integers(&column, 0..column.rows()), naive);
        for (from, to) in ranges {
            let mut memory = [0xaa; 1 << 15];
            let batch = column.read(*from as u64..*to as u64, &mut Scratch::new(&mut memory)).unwrap();
            let Values::I64(values) = batch.values else { panic!() };
            let read: Vec<_> = (0..batch.len).map(|i| batch.validity.get(i).then_some(values[i])).collect();
            assert_eq!(read, naive[*from..*to]);
        }
    });
}

#[test]
fn frames_that_are_not_as_long_as_they_say_are_an_error() {
    let values = le(&[1, 2, 3]);
    assert_eq!(longs(&framed(&[(&values, 3)], |len| len as u8, None), 3), Ok(vec![1, 2, 3]));
    for (count, more, rows, what, story) in [
        (3, -8, 3, What::VORTEX_BUFFER, "the frame has more"),
        (3, 8, 3, What::VORTEX_BUFFER, "the frame has less"),
        (2, 0, 2, What::VORTEX_METADATA, "values and bytes differ"),
        (3, 0, 4, What::VORTEX_ROWS, "more rows than values"),
    ] {
        let blob = framed(&[(&values, count)], |len| (len as u8).wrapping_add_signed(more), None);
        assert_eq!(why(longs(&blob, rows).unwrap_err()), (Kind::Invalid, what), "{story}");
    }
    // 2^40 bytes from a frame of a few: nothing is taken for that.
    let claims = [0x12, 9, 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0x10, 3];
    let blob = blob(node(Encoding::Zstd, &claims, &[0], vec![]), &[&[0; 20]]);
    assert_eq!(why(longs(&blob, 3).unwrap_err()), (Kind::Invalid, What::VORTEX_METADATA), "a claim");
}

/// A `vortex.zstd` of bytes, a value each, in frames that libzstd wrote with a dictionary.
fn with_dictionary(dictionary: &[u8], claim: usize, frames: &[(&[u8], usize)]) -> Vec<u8> {
    let mut metadata = [&[0x08][..], &varint(claim as u64)].concat();
    let mut buffers = if dictionary.is_empty() { vec![] } else { vec![dictionary] };
    for (packed, len) in frames {
        let size = varint(*len as u64);
        let frame = [&[0x08][..], &size, &[0x10], &size].concat();
        metadata.extend([&[0x12, frame.len() as u8][..], &frame].concat());
        buffers.push(packed);
    }
    let numbers: Vec<u16> = (0..buffers.len() as u16).collect();
    blob(node(Encoding::Zstd, &metadata, &numbers, vec![]), &buffers)
}

#[test]
fn a_dictionary_lies_before_every_frame() {
    let file = |name: &str| std::fs::read(format!("{}/tests/zstd/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for (dictionary, names) in
        [("trained.dict", &["with_trained_1.zst", "with_trained_19.zst"][..]), ("raw.dict", &["with_raw.zst"; 2])]
    {
        let dictionary = file(dictionary);
        let packed: Vec<_> = names.iter().map(|name| file(name)).collect();
        let mut naive = Vec::new();
        let mut frames = Vec::new();
        for packed in &packed {
            let (mut bytes, mut memory) = (vec![0; 1 << 20], vec![0; zstd::WORKSPACE_LEN]);
            let len = zstd::decode_with(packed, &mut bytes, &dictionary, &mut Scratch::new(&mut memory)).unwrap();
            naive.extend_from_slice(&bytes[..len]);
            frames.push((&packed[..], len));
        }
        let rows = naive.len() as u64;
        let whole = with_dictionary(&dictionary, dictionary.len(), &frames);
        with(&whole, &number(owned::PType::U8, false), rows, |file, column| {
            file.verify(&mut Scratch::new(&mut vec![0; 1 << 21])).unwrap();
            // All rows, and those on either side of the border between the frames.
            for rows in [0..rows, frames[0].1 as u64 - 2..frames[0].1 as u64 + 3] {
                let need = column.need(rows.clone()).unwrap() as usize;
                let mut memory = vec![0x5a; need + 64];
                let batch = column.read(rows.clone(), &mut Scratch::new(&mut memory)).unwrap();
                let Values::U8(values) = batch.values else { panic!() };
                assert!(batch.first == rows.start && !values.is_empty());
                assert!(values == &naive[rows.start as usize..][..values.len()]);
            }
        });
        let error = |blob: &[u8]| {
            with(blob, &number(owned::PType::U8, false), rows, |_, column| {
                why(column.read(0..1, &mut Scratch::new(&mut vec![0; 1 << 21])).unwrap_err())
            })
        };
        let longer = with_dictionary(&dictionary, dictionary.len() + 1, &frames);
        assert_eq!(error(&longer), (Kind::Invalid, What::ZSTD_DICTIONARY), "not as long as it says");
        if names[0].starts_with("with_trained") {
            let none = with_dictionary(&[], 0, &frames);
            assert_eq!(error(&none), (Kind::Unsupported, What::ZSTD_DICTIONARY), "none at all");
            let cut = with_dictionary(&dictionary[..40], 40, &frames);
            assert_eq!(error(&cut).1, What::ZSTD_DICTIONARY, "a dictionary that is cut");
            let other = with_dictionary(b"words", 5, &frames);
            assert_eq!(error(&other), (Kind::Unsupported, What::ZSTD_DICTIONARY), "another than it was written with");
        }
    }
}

#[test]
fn texts_behind_their_lengths() {
    let texts = |bytes: &[u8], count| texts(&framed(&[(bytes, count)], |len| len as u8, None), 2);
    assert_eq!(texts(b"\x02\0\0\0ab\0\0\0\0", 2).unwrap(), ["ab", ""]);
    assert_eq!(texts(b"\x02\0\0\0ab\x01\0\0\0c", 0).unwrap(), ["ab", "c"], "without a count");
    for bad in [&b"\x02\0\0\0ab"[..], b"\x02\0\0\0ab\x01\0\0\0", b"\xff\xff\xff\xffab", b"\x02\0\0\0ab\x01\0"] {
        assert_eq!(why(texts(bad, 2).unwrap_err()), (Kind::Invalid, What::VORTEX_TEXT), "{bad:?}");
    }
}

/// Metadata of a pco chunk of i64: one bin from `lower` on, with offsets of 8 bits.
fn pco_meta(lower: i64) -> Vec<u8> {
    let ordered = u128::from(lower as u64 ^ 1 << 63);
    // Mode, delta and size of the table are 0; 15 bits of how many bins, 64 of the first, 7 of its offsets.
    (1u128 << 12 | ordered << 27 | 8u128 << 91).to_le_bytes()[..13].to_vec()
}

/// A `vortex.pco` of two chunks, the first of which has two pages; all of them as bytes above 100 and 200.
fn pco(claims: [u8; 3], pages: [&[u8]; 3], validity: Option<&[u8]>) -> Vec<u8> {
    let [a, b, c] = claims;
    let metadata = [&[0x0a, 2, 4, 1][..], &[0x12, 8, 0x0a, 2, 0x08, a, 0x0a, 2, 0x08, b], &[0x12, 4, 0x0a, 2, 0x08, c]];
    let metas = [pco_meta(100), pco_meta(200)];
    let mut buffers = vec![&metas[0][..], &metas[1]];
    buffers.extend(pages);
    buffers.extend(validity);
    let children = validity.map(|_| bits(5));
    blob(node(Encoding::Pco, &metadata.concat(), &[0, 1, 2, 3, 4], children.into_iter().collect()), &buffers)
}

#[test]
fn pages_hold_the_rows_that_have_a_value() {
    let blob = pco([2, 1, 2], [&[1, 2], &[3], &[4, 5]], Some(&[0b0101_1011, 0]));
    let naive = [Some(101), Some(102), None, Some(103), Some(204), None, Some(205), None, None];
    holds(&blob, &naive, &[(0, 9), (3, 7), (1, 4), (4, 5), (5, 9), (7, 9)]);
}

#[test]
fn pages_that_are_not_as_long_as_they_say_are_an_error() {
    let pages: [&[u8]; 3] = [&[1, 2], &[3], &[4, 5]];
    assert_eq!(longs(&pco([2, 1, 2], pages, None), 5), Ok(vec![101, 102, 103, 204, 205]));
    let error = |claims, rows| longs(&pco(claims, pages, None), rows).unwrap_err();
    assert_eq!(why(error([3, 1, 2], 5)), (Kind::Truncated, What::PCO_PAGE), "more than the page has");
    assert_eq!(why(error([1, 1, 2], 4)), (Kind::Invalid, What::PCO_PAGE), "less than the page has");
    assert_eq!(why(error([2, 1, 2], 6)), (Kind::Invalid, What::VORTEX_ROWS), "more rows than values");
    // A type that the chunk is not of.
    let blob = pco([2, 1, 2], pages, None);
    with(&blob, &number(owned::PType::I32, false), 5, |_, column| {
        let e = column.read(0..5, &mut Scratch::new(&mut [0; 16 << 10])).unwrap_err();
        assert_eq!(e.what(), What::PCO);
    });
}

/// A `vortex.pco` of 10,240 ascending integers starting at `first`, in chunks of one page; the node, and its buffers, which
/// start at buffer `k`.
fn ascending(first: i64, k: u16) -> (owned::ArrayNode, Vec<Vec<u8>>) {
    let mut metadata = vec![0x0a, 2, 4, 1];
    let mut buffers = vec![];
    for chunk in 0..40 {
        metadata.extend([0x12, 5, 0x0a, 3, 0x08, 0x80, 0x02]);
        buffers.push(pco_meta(first + 256 * chunk));
    }
    buffers.extend((0..40).map(|_| (0..=255).collect::<Vec<u8>>()));
    (node(Encoding::Pco, &metadata, &(k..k + 80).collect::<Vec<u16>>(), vec![]), buffers)
}

/// Reads row ranges in exactly the memory that is needed for them.
fn reads(blob: &[u8], rows: u64, naive: impl Fn(u64) -> i64) {
    with(blob, &number(owned::PType::I64, false), rows, |file, column| {
        for range in [0..1, 4..6, 8191..8193, 8192..8193, 8200..8200, 5000..9000, rows - 1..rows, 0..rows] {
            let mut memory = vec![0xa5; column.need(range.clone()).unwrap() as usize];
            let mut at = range.start;
            while at < range.end {
                let batch = column.read(at..range.end, &mut Scratch::new(&mut memory)).unwrap();
                let Values::I64(values) = batch.values else { panic!("{:?}", batch.values) };
                for value in values {
                    assert_eq!(*value, naive(at), "row {at} of {range:?}");
                    at += 1;
                }
            }
        }
        assert_eq!(file.verify(&mut Scratch::new(&mut vec![0; 1 << 20])), Ok(()));
    });
}

#[test]
fn runs_and_patches_are_found_in_pages() {
    let (ends, mut buffers) = ascending(1, 0);
    buffers.push(le(&(0..10_240).map(|i| 3 * i).collect::<Vec<_>>()));
    let slices: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    let metadata = [&[0x08, 7, 0x10][..], &varint(10_240)].concat();
    let root = node(Encoding::RunEnd, &metadata, &[], vec![ends, plain(80)]);
    reads(&blob(root, &slices), 10_240, |row| 3 * row as i64);

    // Rows 5 to 10,244 have a patch, the others are 7.
    let (indices, mut buffers) = ascending(5, 0);
    buffers.push(le(&(0..10_240).map(|i| -i).collect::<Vec<_>>()));
    buffers.push(vec![0x18, 14]);
    let slices: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    let patches = [&[0x08][..], &varint(10_240), &[0x18, 7]].concat();
    let metadata = [&[0x0a, patches.len() as u8], &*patches].concat();
    let root = node(Encoding::Sparse, &metadata, &[81], vec![indices, plain(80)]);
    reads(&blob(root, &slices), 10_250, |row| if (5..10_245).contains(&row) { 5 - row as i64 } else { 7 });
}
