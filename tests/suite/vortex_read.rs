//! Vortex arrays made by hand: what damage does, and what claims cost.

use std::time::Duration;

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Validity, Values};
use pilaster::error::{Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::Encoding;
use pilaster::vortex::{DType, File};
use pilaster_oracle::vortex as owned;

use crate::build::{self, bits, blob, count, le, longs, node, number, plain, text, texts, values, varint, why, with};
use crate::common::CpuTime;

/// ALP with patches at these rows: metadata e = f = 0, patches of u8 indices.
fn alp(indices: &[u8]) -> Vec<u8> {
    let metadata = [0x1a, 2, 0x08, indices.len() as u8];
    let children = vec![plain(0), plain(1), plain(2)];
    let (encoded, values) = (le(&[1, 2, 3, 4]), le(&[7; 4]));
    blob(node(Encoding::Alp, &metadata, &[], children), &[&encoded, indices, &values[..8 * indices.len()]])
}

#[test]
fn alp_patches_beyond_the_end_are_an_error() {
    let read = |indices: &[u8]| {
        with(&alp(indices), &number(owned::PType::F64, false), 4, |_, column| values::<f64>(&column, 4))
    };
    assert_eq!(read(&[1]).unwrap()[1].to_bits(), 7);
    assert_eq!(read(&[1]).unwrap()[3], 4.0);
    for indices in [&[4u8][..], &[1, 200], &[3, 4]] {
        assert_eq!(why(read(indices).unwrap_err()), (Kind::Invalid, What::PATCHES), "{indices:?}");
    }
    // Out of order they are found, or not; never out of bounds.
    for indices in [&[3u8, 0][..], &[2, 2], &[3, 2, 1]] {
        let _ = read(indices);
    }
}

#[test]
fn sparse_indices_beyond_the_length_are_an_error() {
    let sparse = |indices: &[u8]| {
        let metadata = [0x0a, 2, 0x08, indices.len() as u8];
        let root = node(Encoding::Sparse, &metadata, &[0], vec![plain(1), plain(2)]);
        longs(&blob(root, &[&[0x18, 9], indices, &le(&[5; 8])[..8 * indices.len()]]), 6)
    };
    assert_eq!(sparse(&[0, 4]), Ok(vec![5, -5, -5, -5, 5, -5]));
    for indices in [&[6u8][..], &[0, 255], &[1, 2, 9]] {
        assert_eq!(sparse(indices).unwrap_err().what(), What::PATCHES, "{indices:?}");
    }
}

#[test]
fn dictionary_codes_beyond_the_values_are_an_error() {
    let dict = |codes: &[u8]| {
        let root = node(Encoding::Dict, &[0x08, 3], &[], vec![plain(0), plain(1)]);
        longs(&blob(root, &[codes, &le(&[10, 20, 30])]), codes.len() as u64)
    };
    assert_eq!(dict(&[2, 0, 1, 2]), Ok(vec![30, 10, 20, 30]));
    let e = dict(&[0, 3]).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.need()), (Kind::Invalid, What::CODES, 3));
}

#[test]
fn a_dictionary_is_shown_and_runs_are_none() {
    let dict = node(Encoding::Dict, &[0x08, 3], &[], vec![plain(0), plain(1)]);
    with(&blob(dict, &[&[2, 0], &le(&[10, 20, 30])]), &number(owned::PType::I64, false), 2, |_, column| {
        let found = column.dictionary(1).unwrap().unwrap();
        assert_eq!((found.first, found.len, found.codes.rows(), found.values.rows()), (0, 2, 2, 3));
        assert_eq!(found.values.to_vec::<i64>(0..3), Ok(vec![10, 20, 30]));
    });
    let runs = node(Encoding::RunEnd, &[0x08, 0, 0x10, 1], &[], vec![plain(0), plain(1)]);
    with(&blob(runs, &[&[2], &le(&[10])]), &number(owned::PType::I64, false), 2, |_, column| {
        assert_eq!(column.to_vec::<i64>(0..2), Ok(vec![10, 10]));
        assert!(column.dictionary(1).unwrap().is_none());
    });
}

#[test]
fn codes_of_null_rows_may_be_anything() {
    // Codes u8, nullable, validity 0b0101; values non-null in a nullable dictionary.
    let codes = node(Encoding::Primitive, &[], &[0], vec![bits(1)]);
    let root = node(Encoding::Dict, &[0x08, 2], &[], vec![codes, plain(2)]);
    let blob = blob(root, &[&[1, 200, 0, 99], &[0b0101], &le(&[10, 20])]);
    with(&blob, &number(owned::PType::I64, true), 4, |file, column| {
        file.verify(&mut Scratch::new(&mut [0; 4096])).unwrap();
        let mut memory = [0xee; 1024];
        let batch = column.read(0..4, &mut Scratch::new(&mut memory)).unwrap();
        let Values::I64(values) = batch.values else { panic!() };
        assert_eq!((values[0], values[2]), (20, 10));
        assert!(matches!(batch.validity, Validity::Bits(bits) if bits.iter().eq([true, false, true, false])));
    });
}

#[test]
fn run_ends_that_overflow_are_an_error() {
    let runs = |ends: &[u64], offset: u8| {
        let ends: Vec<u8> = ends.iter().flat_map(|end| end.to_le_bytes()).collect();
        let count = (ends.len() / 8) as u8;
        let metadata = [0x08, 3, 0x10, count, 0x18, offset];
        let root = node(Encoding::RunEnd, &metadata, &[], vec![plain(0), plain(1)]);
        longs(&blob(root, &[&ends, &le(&[1, 2, 3])[..ends.len()]]), 5)
    };
    assert_eq!(runs(&[2, 4, 5], 0), Ok(vec![1, 1, 2, 2, 3]));
    assert_eq!(runs(&[2, 4, 7], 2), Ok(vec![2, 2, 3, 3, 3]));
    assert_eq!(runs(&[2, 4, u64::MAX], 0), Ok(vec![1, 1, 2, 2, 3]), "the last run may be longer");
    for ends in [&[2, 4][..], &[u64::MAX, 1, 5], &[4, 2, 5], &[2, 2, 3], &[0, 0, 0]] {
        assert_eq!(runs(ends, 0).unwrap_err().what(), What::RUNS, "{ends:?}");
    }
}

#[test]
fn onpair_codes_beyond_the_dictionary_are_an_error() {
    // Fields 1 lengths u8, 3 tokens, 4 codes, 5 offsets u8, 6 codes u16, 7 code offsets u8.
    let onpair = |codes: [u16; 3]| {
        let metadata = [0x18, 2, 0x20, 3, 0x30, 1];
        let children = vec![plain(1), plain(2), plain(3), plain(4)];
        let codes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
        let root = node(Encoding::OnPair, &metadata, &[0], children);
        texts(&blob(root, &[b"abcd", &[0, 3, 4], &codes, &[0, 2, 3], &[4, 3]]), 2)
    };
    assert_eq!(onpair([0, 1, 0]).unwrap(), ["abcd", "abc"]);
    assert_eq!(onpair([0, 2, 0]).unwrap_err().what(), What::ONPAIR);
    // Tokens of other lengths than the rows say.
    assert_eq!(onpair([1, 1, 1]).unwrap_err().what(), What::VORTEX_TEXT);
}

#[test]
fn onpair_codes_and_tokens_that_are_only_claimed_take_no_memory() {
    let need = |codes: owned::ArrayNode, codes_len: u64, tokens_len: u64| {
        // Fields 1 lengths u64, 3 tokens, 4 codes, 5 offsets u8, 6 codes u16, 7 code offsets u64.
        let varints = [vec![0x08, 3, 0x18], varint(tokens_len), vec![0x20], varint(codes_len)];
        let metadata = [varints.concat(), vec![0x30, 1, 0x38, 3]].concat();
        let root = node(Encoding::OnPair, &metadata, &[0], vec![plain(1), codes, plain(3), plain(4)]);
        let end = le(&[0, codes_len as i64]);
        let blob = blob(root, &[b"abcd", &[0, 3, 4], &[0, 0, 1, 0], &end, &le(&[4]), &[0x20, 1]]);
        with(&blob, &text(), 1, |_, column| {
            let need = column.need(0..1);
            let read = column.read(0..1, &mut Scratch::new(&mut [0; 8192])).map(drop);
            assert_eq!(read.err(), need.err(), "reading says the same");
            need
        })
    };
    let constant = || node(Encoding::Constant, &[], &[5], vec![]);
    assert!(need(plain(2), 2, 2).unwrap() < 8192);
    assert_eq!(why(need(plain(2), 3, 2).unwrap_err()), (Kind::Truncated, What::VORTEX_BUFFER));
    assert_eq!(why(need(plain(2), 1 << 60, 2).unwrap_err()), (Kind::Limit, What::MAX_DECODED));
    // Codes that are repeated take no bytes of the file.
    assert_eq!(need(constant(), 1 << 60, 2).unwrap_err().kind(), Kind::Limit);
    // Memory for the tokens that 16 bits can name, and not for those that are claimed.
    let blob = {
        let metadata = [vec![0x18], varint(1 << 47), vec![0x20, 2, 0x30, 1]].concat();
        let children = (1..5).map(plain).collect();
        blob(node(Encoding::OnPair, &metadata, &[0], children), &[b"abcd", &[0, 3, 4], &[0; 4], &[0, 2], &[4]])
    };
    assert!(with(&blob, &text(), 1, |_, column| column.need(0..1)).unwrap() < 4 << 20);
}

#[test]
fn fsst_has_two_buffers_or_three() {
    // Field 1 lengths u8, 2 offsets u8; the text "ab" as the one symbol.
    let fsst = |buffers: &[u16], children| {
        let root = node(Encoding::Fsst, &[0x08, 0, 0x10, 0], buffers, children);
        texts(&blob(root, &[b"ab\0\0\0\0\0\0", &[2], &[0], &[2], &[0, 1]]), 1)
    };
    let old = || vec![node(Encoding::VarBin, &[0x08, 0], &[2], vec![plain(4)]), plain(3)];
    let new = || vec![plain(3), plain(4)];
    assert_eq!(fsst(&[0, 1, 2], new()).unwrap(), ["ab"]);
    assert_eq!(fsst(&[0, 1], old()).unwrap(), ["ab"]);
    for (buffers, children) in [(&[0][..], old()), (&[], old()), (&[0], new()), (&[], new())] {
        let e = fsst(buffers, children).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.need()), (Kind::Invalid, What::VORTEX_BUFFER, 2), "{buffers:?}");
    }
}

#[test]
fn texts_and_lists_under_a_number_are_an_error() {
    let texts = [Encoding::VarBinView, Encoding::VarBin, Encoding::Fsst, Encoding::OnPair];
    let lists = [Encoding::List, Encoding::ListView, Encoding::FixedSizeList];
    for encoding in texts.into_iter().chain(lists) {
        let children = (0..5).map(|_| plain(1)).collect();
        let blob = blob(node(encoding, &[], &[0, 0], children), &[&[0; 16], &[0; 8]]);
        with(&blob, &number(owned::PType::U64, true), 1, |file, column| {
            let read = column.read(0..1, &mut Scratch::new(&mut [0; 1 << 14])).map(drop);
            for e in [read, file.verify(&mut Scratch::new(&mut [0; 1 << 14]))].map(Result::unwrap_err) {
                assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VORTEX_DTYPE), "{encoding:?}");
            }
        });
    }
}

#[test]
fn trees_without_end_cost_no_time() {
    // A dictionary whose codes and values are the same kind of node, twenty levels deep: a million paths.
    let mut tree = plain(0);
    for _ in 0..18 {
        tree = node(
            Encoding::Dict,
            &[0x08, 1],
            &[],
            vec![node(Encoding::Dict, &[0x08, 1], &[], vec![plain(0), plain(0)]), tree],
        );
    }
    let start = CpuTime::now();
    let _ = longs(&blob(tree, &[&[0; 8]]), 1);
    // Deeper than the budget.
    let mut tree = plain(0);
    for _ in 0..100 {
        tree = node(Encoding::Ext, &[], &[], vec![tree]);
    }
    let e = longs(&blob(tree, &[&[0; 8]]), 1).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Limit, What::MAX_DEPTH));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn claimed_rows_cost_nothing() {
    let rows: u64 = 1 << 40;
    let constant = |k: u16| node(Encoding::Constant, &[], &[k], vec![]);
    let end = rows.to_le_bytes();
    for (tree, buffers, expected) in [
        (constant(0), &[&[0x18, 14][..]][..], 7),
        (node(Encoding::BitPacked, &[], &[0], vec![]), &[&[]], 0),
        (count(0), &[], (1 << 40) - 2),
        (node(Encoding::RunEnd, &[0x08, 3, 0x10, 1], &[], vec![plain(0), constant(1)]), &[&end, &[0x18, 14]], 7),
        (node(Encoding::Dict, &[0x08, 1], &[], vec![constant(0), constant(1)]), &[&[0x20, 0], &[0x18, 14]], 7),
        (
            node(Encoding::Sparse, &[0x0a, 4, 0x08, 1, 0x18, 3], &[0], vec![plain(1), constant(2)]),
            &[&[0x18, 14], &[0; 8], &[0x18, 2]],
            7,
        ),
        (node(Encoding::For, &[0x18, 6], &[], vec![count(0)]), &[], (1 << 40) + 1),
        (node(Encoding::Masked, &[], &[], vec![constant(0)]), &[&[0x18, 14]], 7),
    ] {
        with(&blob(tree, buffers), &number(owned::PType::I64, false), rows, |file, column| {
            let mut memory = [0; 512];
            assert!(column.need(rows - 2..rows).unwrap() <= 512);
            let batch = column.read(rows - 2..rows, &mut Scratch::new(&mut memory)).unwrap();
            assert!(matches!(batch.values, Values::I64([first, _]) if *first == expected), "{:?}", batch.values);
            let verified = file.verify(&mut Scratch::new(&mut [0; 1024]));
            // Rows that are alike are read once; of these, each is another.
            let each_differs = expected == (1 << 40) + 1;
            let limit = verified.map_err(|e| assert_eq!((e.kind(), e.what()), (Kind::Limit, What::MAX_ROWS)));
            assert_eq!(limit.is_err(), each_differs);
        });
    }
}

/// A chunk that is not there, a segment that is too short: opening, walking and asking for rows costs what the
/// bytes are, whatever the layout claims.
#[test]
fn claimed_lengths_cost_nothing_until_rows_are_asked_for() {
    let rows: u64 = 1 << 40;
    let start = CpuTime::now();
    let none = node(Encoding::Primitive, &[], &[0], vec![]);
    let strings = node(Encoding::VarBinView, &[], &[0], vec![]);
    let lists =
        node(Encoding::List, &[0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0x10, 3], &[], vec![plain(0), plain(0)]);
    let packed = node(Encoding::BitPacked, &[0x08, 64], &[0], vec![]);
    let list_of = |element| {
        let element = owned::DType { type_: Some(element) };
        build::dtype(owned::Type::List(Box::new(owned::List {
            element_type: Some(Box::new(element)),
            nullable: false,
        })))
    };
    let long = || owned::Type::Primitive(Box::new(owned::Primitive { ptype: owned::PType::I64, nullable: false }));
    for (tree, ty) in [
        (none, number(owned::PType::I64, false)),
        (strings, text()),
        (lists, list_of(long())),
        (packed, number(owned::PType::I64, false)),
    ] {
        with(&blob(tree, &[&[0; 64]]), &ty, rows, |file, column| {
            assert_eq!((file.rows(), column.rows()), (Ok(rows), rows));
            file.visit(false, &mut |_| Ok(())).unwrap();
            let mut memory = [0; 1024];
            let read = |rows: std::ops::Range<u64>, memory: &mut [u8]| {
                column.read(rows, &mut Scratch::new(memory)).map(|batch| batch.len)
            };
            assert_eq!(read(0..2, &mut memory).unwrap_or(2), 2);
            // A few rows without bytes, and all rows, for which there is not enough memory.
            assert!(read(rows - 2..rows, &mut memory).is_err());
            assert!(read(0..rows, &mut memory).is_err());
        });
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// The last array panicked the original although it is undamaged: ALP with patches, cut at a row that is no
/// multiple of 1024, has the chunk offsets of the whole, and says which patches of the first are cut off.
#[test]
fn patches_of_a_slice_with_chunk_offsets() {
    // Rows 1030.. of an array whose patches are at 5, 1027, 1033 and 2050: offset 1030 is subtracted, the first
    // two are cut off; chunk offsets 1 (of block 1) and 3 (of block 2), one patch of the first block is gone.
    let metadata = [0x1a, 13, 0x08, 2, 0x10, 0x86, 0x08, 0x18, 1, 0x20, 2, 0x28, 3, 0x30, 1];
    let indices: Vec<u8> = [1033u16, 2050].iter().flat_map(|index| index.to_le_bytes()).collect();
    let values: Vec<u8> = [0.1f64, 0.2].iter().flat_map(|value| value.to_le_bytes()).collect();
    let offsets: Vec<u8> = [1u64, 3].iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let encoded = le(&(0..1100).collect::<Vec<_>>());
    let root = node(Encoding::Alp, &metadata, &[], vec![plain(0), plain(1), plain(2), plain(3)]);
    with(
        &blob(root, &[&encoded, &indices, &values, &offsets]),
        &number(owned::PType::F64, false),
        1100,
        |file, column| {
            file.verify(&mut Scratch::new(&mut vec![0; 1 << 16])).unwrap();
            let mut memory = vec![0; 1 << 15];
            let batch = column.read(0..1100, &mut Scratch::new(&mut memory)).unwrap();
            let Values::F64(values) = batch.values else { panic!() };
            for (row, value) in values.iter().enumerate() {
                let expected = match row {
                    3 => 0.1,
                    1020 => 0.2,
                    row => row as f64,
                };
                assert_eq!(*value, expected, "row {row}");
                let mut memory = [0; 1024];
                let one = column.scalar_at(row as u64, &mut Scratch::new(&mut memory)).unwrap().values;
                assert!(matches!(one, Values::F64([one]) if *one == expected), "row {row} alone");
            }
        },
    );
}

/// Indices of patches beyond the end, as above for ALP, in packed integers.
#[test]
fn packed_patches_beyond_the_end_are_an_error() {
    let packed = |indices: &[u8]| {
        // Width 0, patches of u8 indices.
        let metadata = [0x1a, 2, 0x08, indices.len() as u8];
        let root = node(Encoding::BitPacked, &metadata, &[0], vec![plain(1), plain(2)]);
        longs(&blob(root, &[&[], indices, &le(&[7; 4])[..8 * indices.len()]]), 4)
    };
    assert_eq!(packed(&[1, 3]), Ok(vec![0, 7, 0, 7]));
    for indices in [&[4u8][..], &[1, 200], &[3, 4]] {
        assert_eq!(why(packed(indices).unwrap_err()), (Kind::Invalid, What::PATCHES), "{indices:?}");
    }
}

/// Reads and verifies a row of an array with this id, which must be refused by it.
fn refused(root: owned::ArrayNode, dtype: &[u8], id: &str) {
    let mut ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
    let blob = blob(owned::ArrayNode { encoding: ids.len() as u16, ..root }, &[&[0; 8]]);
    ids.push(id);
    let file = File::of_array(&blob, DType::parse(dtype).unwrap(), 1, &ids, &Limits::DEFAULT).unwrap();
    let column = file.part().unwrap().column(0).unwrap();
    let read = column.read(0..1, &mut Scratch::new(&mut [0; 64])).map(drop);
    for e in [read, file.verify(&mut Scratch::new(&mut [0; 1024])).map(drop)].map(Result::unwrap_err) {
        assert_eq!((e.kind(), e.what(), file.unknown_id(&e)), (Kind::Unsupported, What::VORTEX_ENCODING, Some(id)));
    }
}

#[test]
fn ids_that_are_not_known_are_named() {
    refused(plain(0), &number(owned::PType::I64, false), "vortex.patched");
}
