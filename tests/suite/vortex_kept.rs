//! Frames and pages that are kept for the next rows of variants: what they unpack to, how they are found, and which are kept.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Memory, Value, fit};
use pilaster::error::Kind;
use pilaster::unstable::encoding::pco::encode;
use pilaster::vortex::Encoding;
use pilaster_oracle::vortex as owned;

use crate::build::{bits, blob, le, node, number, plain, varint, with};
use crate::vortex_costs::{apart, blocks, field, limited};
use crate::vortex_shredded::{batches, list, long, names, object, packed, read, with_lengths, zstd};
use crate::vortex_variant::{I64, NO_NAMES, constant, of, parquet, scalar, variant};

/// A `vortex.pco` of one page whose buffers are `k` and `k + 1`, with these buffers.
fn paged(numbers: &[i64], k: u16) -> (owned::ArrayNode, [Vec<u8>; 2]) {
    let encode::Encoded { header, meta, pages } = encode::numbers(numbers, numbers.len()).unwrap();
    let page = field(1, &[&[8][..], &varint(numbers.len() as u64)].concat());
    let metadata = [field(1, &header), field(2, &page)].concat();
    (node(Encoding::Pco, &metadata, &[k, k + 1], vec![]), [meta, pages[0].bytes.clone()])
}

/// Makes the second child of the only array with two children of the same encoding another reference to the first one.
fn share_children(bytes: &mut [u8]) {
    let word = |bytes: &[u8], at: usize| bytes.get(at..at + 4).map(|four| u32::from_le_bytes(four.try_into().unwrap()));
    let encoding = |at: usize| {
        let vtable = at.checked_add_signed(-(word(bytes, at)? as i32) as isize)?;
        let field = word(bytes, vtable + 4)? as u16;
        (field > 0).then(|| word(bytes, at + usize::from(field)).map(|word| word as u16))?
    };
    let pco = Encoding::ALL.iter().position(|known| *known == Encoding::Pco).unwrap() as u16;
    let found: Vec<usize> = (0..bytes.len())
        .filter(|at| {
            let child = |k: usize| encoding(at + 4 * k + word(bytes, at + 4 * k)? as usize);
            word(bytes, *at) == Some(2) && child(1) == Some(pco) && child(2) == Some(pco)
        })
        .collect();
    let [at] = found[..] else { panic!("{found:?}") };
    let first = word(bytes, at + 4).unwrap() - 4;
    bytes[at + 8..at + 12].copy_from_slice(&first.to_le_bytes());
}

#[test]
fn a_page_of_two_types_is_kept_for_each() {
    let f64: &[u8] = &[0x1a, 4, 8, 10, 0x10, 1];
    let numbers: Vec<i64> = (0..300).map(|i: i64| -(1 << 62) - i * i).collect();
    let (array, [meta, page]) = paged(&numbers, 2);
    let ty = object(&[("a", I64), ("b", f64)]);
    let fields = node(Encoding::Struct, &[], &[], vec![array.clone(), array]);
    let core = parquet(&[], vec![bits(4), constant(0), constant(1)]);
    let metadata = scalar(&[0x11, 2, 0, 1, 2, b'a', b'b']);
    let separate = blob(of(&ty, vec![core, fields]), &[&metadata, &[8, 0], &meta, &page, &[0xff; 38]]);
    let mut shared = separate.clone();
    share_children(&mut shared);
    assert_ne!(separate, shared);
    let read = |bytes: &[u8]| with(bytes, &variant(false), 300, |_, column| batches(&column).unwrap().0);
    let expected = read(&separate);
    assert!(expected[7].windows(9).any(|value| value == [&[0x18][..], &numbers[7].to_le_bytes()].concat()));
    assert!(read(&shared) == expected);
    // In memory that lacks what pages are kept in.
    with(&shared, &variant(false), 300, |_, column| {
        let (child, mut len) = (column.child(1).unwrap(), 1 << 20);
        while let Ok(batch) = child.read(7..8, &mut Scratch::new(&mut vec![0; len])) {
            assert_eq!(batch.value(0), Ok(Value::Bytes(&expected[7])));
            len -= if len > 40_000 { 1 << 14 } else { 256 };
        }
        assert!(len < child.need(7..8).unwrap() as usize, "{len}");
    });
}

/// An object of `count` fields of `rows` numbers, each a frame of its own; all frames have the bytes of buffer 2.
fn wide(count: usize, rows: usize) -> Vec<u8> {
    let fields: Vec<String> = (0..count).map(|i| format!("f{i:06}")).collect();
    let ty = object(&fields.iter().map(|name| (name.as_str(), I64)).collect::<Vec<_>>());
    let numbers = le(&vec![5; rows]);
    let apart_are =
        node(Encoding::Struct, &[], &[], (0..count).map(|_| packed(2, numbers.len(), rows as u64, None)).collect());
    let metadata = scalar(&names(&fields));
    blob(apart(&ty, apart_are), &[&metadata, &[8, 0], &zstd(&numbers)])
}

#[test]
fn what_memory_held_before_is_not_taken_for_what_is_kept() {
    // Two files of the same layout with other numbers.
    let mut memory = vec![0; 1 << 16];
    for first in [1i64 << 40, 1 << 50] {
        let numbers = le(&(first..first + 300).collect::<Vec<_>>());
        let root = apart(I64, packed(2, numbers.len(), 300, None));
        with(&blob(root, &[&scalar(NO_NAMES), &[8, 0], &blocks(&numbers)]), &variant(false), 300, |_, column| {
            let batch = column.child(1).unwrap().read(7..8, &mut Scratch::new(&mut memory)).unwrap();
            let expected = [&[0x18][..], &(first + 7).to_le_bytes()].concat();
            assert_eq!(batch.value(0), Ok(Value::Bytes(&expected)));
        });
    }
}

#[test]
fn more_arrays_than_slots_are_read() {
    // Unpacking a frame costs about 20 nodes, so that one batch has all rows only if most frames are kept.
    let bytes = wide(4500, 512);
    limited(&bytes, &variant(false), 8, 550_000, |column| {
        let (all, count, most) = batches(&column).unwrap();
        assert!(all.len() == 8 && all[7].ends_with(&long(5)));
        assert!(count == 1 && most < 24 << 20, "{count} {most}");
    });
}

#[test]
fn arrays_beyond_the_limit_leave_those_before_them_kept() {
    // Frames of 1 MiB, of which 63 are kept.
    let count = 66;
    let fields: Vec<String> = (0..count).map(|i| format!("f{i:06}")).collect();
    let ty = object(&fields.iter().map(|name| (name.as_str(), I64)).collect::<Vec<_>>());
    let numbers = le(&(0..1 << 17).collect::<Vec<_>>());
    let apart_are =
        node(Encoding::Struct, &[], &[], (0..count).map(|_| packed(2, numbers.len(), 1 << 17, None)).collect());
    let metadata = scalar(&names(&fields));
    let bytes = blob(apart(&ty, apart_are), &[&metadata, &[8, 0], &blocks(&numbers)]);
    // Unpacking a frame costs about 4,400 nodes.
    limited(&bytes, &variant(false), 20, 800_000, |column| {
        let (all, count, _) = batches(&column).unwrap();
        assert!(all.len() == 20 && all[7].ends_with(&long(7)));
        assert!(count < 3, "{count}");
    });
}

#[test]
fn one_row_needs_no_memory_for_frames_that_are_kept() {
    let texts: Vec<Vec<u8>> = (0..1000u32).map(|i| i.to_le_bytes().repeat(250)).collect();
    let data = with_lengths(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let binary: &[u8] = &[0x32, 2, 8, 1];
    let root = apart(binary, packed(2, data.len(), 1000, None));
    read(root, &[&scalar(NO_NAMES), &[8, 0], &blocks(&data)], 1000, |column| {
        let child = column.child(1).unwrap();
        let [one, two] = [1, 2].map(|rows| child.need(0..rows).unwrap());
        assert!(one < two - (1 << 20) + (1 << 16), "{one} {two}");
        let mut memory = vec![0; one as usize];
        let batch = child.read(0..1, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!((batch.len, fit(&child, 0..1000, one as usize)), (1, Ok(0..1)));
        let Value::Bytes(bytes) = batch.value(0).unwrap() else { panic!("no bytes") };
        assert!(bytes.ends_with(&texts[0]));
    });
}

#[test]
fn memory_grows_until_a_frame_is_not_unpacked_for_each_row() {
    limited(&wide(12, 2000), &variant(false), 2000, 4_000_000, |column| {
        let child = column.child(1).unwrap();
        let [one, many] = [1, 1024].map(|rows| child.need(0..rows).unwrap());
        // What has room for a row has none for the frames of ten, which are kept.
        assert!(one < many && fit(&child, 0..2000, one as usize) == Ok(0..1), "{one} {many}");
        let mut memory = Memory::with_len(1 << 10).unwrap();
        assert!(memory.fit(&child, 5..2000).unwrap().end >= 5 + 1024);
        assert!(child.read(5..1500, &mut memory.scratch()).unwrap().len >= 1024);
    });
}

#[test]
fn memory_that_is_too_small_is_told_although_the_budget_ends_without_it() {
    // A row of 300 items in a frame of 1 MiB; unpacking it costs about 4,400 nodes.
    let numbers = le(&(0..1 << 17).collect::<Vec<_>>());
    let items = packed(2, numbers.len(), 1 << 17, None);
    let apart_are = node(Encoding::List, &[&[8][..], &varint(1 << 17), &[16, 3]].concat(), &[], vec![items, plain(3)]);
    let bytes = blob(apart(&list(I64), apart_are), &[&scalar(NO_NAMES), &[8, 0], &blocks(&numbers), &le(&[0, 300])]);
    limited(&bytes, &variant(false), 1, 1_000_000, |column| {
        let child = column.child(1).unwrap();
        let need = child.need(0..1).unwrap() as usize;
        let read = |len: usize| child.read(0..1, &mut Scratch::new(&mut vec![0; len])).map(|batch| batch.len);
        assert_eq!(read(need), Ok(1));
        assert_eq!(read(need - 50_000).map_err(|e| e.kind()), Err(Kind::NoRoom));
    });
}

#[test]
fn large_dictionaries_under_pco_are_read() {
    let values: Vec<i64> = (0..50_000u32).map(|i| i64::from(i.wrapping_mul(2_654_435_761))).collect();
    let (array, [meta, page]) = paged(&values, 0);
    let codes: Vec<i64> = (0..8192).map(|i| i * 7919 % 50_000).collect();
    let metadata = [&[8][..], &varint(50_000), &[16, 7]].concat();
    let bytes = blob(node(Encoding::Dict, &metadata, &[], vec![plain(2), array]), &[&meta, &page, &le(&codes)]);
    with(&bytes, &number(owned::PType::I64, false), 8192, |_, column| {
        let mut memory = vec![0; column.need(0..8192).unwrap() as usize];
        let batch = column.read(0..8192, &mut Scratch::new(&mut memory)).unwrap();
        let expected = codes.iter().map(|code| i128::from(values[*code as usize]));
        assert!(expected.enumerate().all(|(i, value)| batch.value(i) == Ok(Value::Int(value))));
    });
}

#[test]
fn many_fields_under_pco_are_read() {
    let numbers: Vec<i64> =
        (0..20_000u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 60)) as i64).collect();
    let (array, [meta, page]) = paged(&numbers, 2);
    let fields: Vec<String> = (0..1300).map(|i| format!("f{i:06}")).collect();
    let ty = object(&fields.iter().map(|name| (name.as_str(), I64)).collect::<Vec<_>>());
    let root = apart(&ty, node(Encoding::Struct, &[], &[], vec![array; 1300]));
    read(root, &[&scalar(&names(&fields)), &[8, 0], &meta, &page], 20_000, |column| {
        let child = column.child(1).unwrap();
        let mut memory = vec![0; child.need(5..6).unwrap() as usize];
        assert_eq!(child.read(5..6, &mut Scratch::new(&mut memory)).unwrap().len, 1);
    });
}
