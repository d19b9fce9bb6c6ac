//! What reading costs: what is charged to the budget of a call, so that a file cannot claim more work than it has bytes, and
//! what takes a time in proportion to the file.

use std::time::Duration;

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Value};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::unstable::encoding::pco::encode;
use pilaster::vortex::{Column, DType, Encoding, File};
use pilaster_oracle::vortex as owned;

use crate::build::{bits, blob, le, node, number, plain, varint, why, with};
use crate::common::CpuTime;
use crate::vortex_shredded::{batches, list, long, names, object, packed, read, with_lengths, zstd};
use crate::vortex_variant::{I64, NO_NAMES, OBJECT, all, bytes, constant, of, parquet, scalar, varbin, variant};

/// A field that no message has, of `len` bytes.
fn junk(len: usize) -> Vec<u8> {
    [&[0x7a][..], &varint(len as u64), &vec![0; len]].concat()
}

/// Shows the column of a blob, whose calls visit few nodes.
pub fn limited<R>(bytes: &[u8], dtype: &[u8], rows: u64, max_nodes: u32, look: impl FnOnce(Column<'_>) -> R) -> R {
    let ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
    let limits = Limits { max_nodes, ..Limits::DEFAULT };
    let file = File::of_array(bytes, DType::parse(dtype).unwrap(), rows, &ids, &limits).unwrap();
    look(file.part().unwrap().column(0).unwrap())
}

/// Variants whose value is in `apart`, of type `ty`. Buffers 0 and 1 are the metadata and a scalar null.
pub fn apart(ty: &[u8], apart: owned::ArrayNode) -> owned::ArrayNode {
    of(ty, vec![parquet(&[], vec![constant(0), constant(1)]), apart])
}

/// The number of batches in which 200 rows of numbers are read that are stored apart, by calls of a small budget.
fn batches_of(apart_is: owned::ArrayNode, own: &[&[u8]]) -> usize {
    let first = scalar(NO_NAMES);
    let buffers: Vec<&[u8]> = [&first[..], &[8, 0]].into_iter().chain(own.iter().copied()).collect();
    let bytes = blob(apart(I64, apart_is), &buffers);
    limited(&bytes, &variant(false), 200, 2500, |column| {
        let (all, count, _) = batches(&column).unwrap();
        assert_eq!(all.len(), 200);
        count
    })
}

#[test]
fn what_a_row_parses_again_is_charged() {
    let short = batches_of(constant(2), &[&[0x18, 10]]);
    assert!(short < 4, "{short}");
    // A scalar with other fields.
    let long = [junk(30_000), vec![0x18, 10]].concat();
    let count = batches_of(constant(2), &[&long]);
    assert!(count > 10, "{count}");
    // Metadata with other fields.
    let metadata = [&[0x0a, 2, 0x18, 2, 0x12, 2, 0x18, 2][..], &junk(30_000)].concat();
    let count = batches_of(node(Encoding::Sequence, &metadata, &[], vec![]), &[]);
    assert!(count > 10, "{count}");
    // A dictionary with other fields, which selects from a constant.
    let metadata = [&[8, 1, 16, 0][..], &junk(30_000)].concat();
    let codes = node(Encoding::Sequence, &[0x0a, 2, 0x18, 0, 0x12, 2, 0x18, 0], &[], vec![]);
    let count = batches_of(node(Encoding::Dict, &metadata, &[], vec![codes, constant(2)]), &[&[0x18, 10]]);
    assert!(count > 10, "{count}");
}

#[test]
fn values_that_are_looked_up_one_by_one_are_charged() {
    // Codes far from each other, in a dictionary of a sequence, whose metadata have other fields.
    let read = |more: &[u8]| {
        let sequence = [&[0x0a, 2, 0x18, 2, 0x12, 2, 0x18, 2][..], more].concat();
        let metadata = [&[8][..], &varint(1 << 30), &[16, 3]].concat();
        let values = node(Encoding::Sequence, &sequence, &[], vec![]);
        let bytes =
            blob(node(Encoding::Dict, &metadata, &[], vec![plain(0), values]), &[&le(&[1, 1 << 29].repeat(500))]);
        limited(&bytes, &number(owned::PType::I64, false), 1000, 10_000, |column| {
            column.read(0..1000, &mut Scratch::new(&mut vec![0; 1 << 16])).map(drop)
        })
    };
    assert_eq!(read(&[]), Ok(()));
    assert_eq!(read(&junk(30_000)).map_err(why), Err((Kind::Limit, What::MAX_NODES)));
}

#[test]
fn parts_of_values_that_are_looked_up_are_charged() {
    // Codes at both ends of a dictionary of 64 values per row, whose values are such codes of a sequence.
    let read = |more: &[u8]| {
        let sequence = [&[0x0a, 2, 0x18, 2, 0x12, 2, 0x18, 2][..], more].concat();
        let metadata = [&[8][..], &varint(64_000), &[16, 3]].concat();
        let dict = |codes, values| node(Encoding::Dict, &metadata, &[], vec![plain(codes), values]);
        let root = dict(0, dict(1, node(Encoding::Sequence, &sequence, &[], vec![])));
        let codes = [0, 63_999];
        let bytes = blob(root, &[&le(&codes.repeat(500)), &le(&codes.repeat(32_000))]);
        limited(&bytes, &number(owned::PType::I64, false), 1000, 50_000, |column| {
            column.read(0..1000, &mut Scratch::new(&mut vec![0; 1 << 17])).map(drop)
        })
    };
    assert_eq!(read(&[]), Ok(()));
    assert_eq!(read(&junk(30_000)).map_err(why), Err((Kind::Limit, What::MAX_NODES)));
}

/// Reads 1,000 numbers of 1,000 frames that are all in buffer `k`.
fn frames(k: u16, buffers: &[&[u8]], dictionary: usize) -> Result<(), Error> {
    let frame = [0x12, 4, 8, 8, 16, 1].repeat(1000);
    let metadata =
        [if dictionary > 0 { [&[8][..], &varint(dictionary as u64)].concat() } else { vec![] }, frame].concat();
    let numbers: Vec<u16> = (0..u16::from(dictionary > 0)).chain([k; 1000]).collect();
    let bytes = blob(node(Encoding::Zstd, &metadata, &numbers, vec![]), buffers);
    limited(&bytes, &number(owned::PType::I64, false), 1000, 10_000, |column| {
        column.read(0..1000, &mut Scratch::new(&mut vec![0; 1 << 17])).map(drop)
    })
}

#[test]
fn what_a_frame_parses_is_charged() {
    let frame = zstd(&le(&[7]));
    assert_eq!(frames(0, &[&frame], 0), Ok(()));
    // A frame of many blocks without bytes.
    let last = frame.len() - 11;
    let blocks = [&frame[..last], &[0; 60_000], &frame[last..]].concat();
    assert_eq!(frames(0, &[&blocks], 0).map_err(why), Err((Kind::Limit, What::MAX_NODES)));
    // A long dictionary.
    assert_eq!(frames(1, &[&[0; 60_000], &frame], 60_000).map_err(why), Err((Kind::Limit, What::MAX_NODES)));
    // A buffer after many others: its number differs from the number of the frame.
    let mut buffers = vec![&[][..]; 60_000];
    buffers.push(&frame);
    assert_eq!(frames(60_000, &buffers, 0).map_err(why), Err((Kind::Limit, What::MAX_NODES)));
}

#[test]
fn the_tables_of_pages_are_charged() {
    // Chunks of one number, each with the tables of 20,000 numbers.
    let numbers: Vec<i64> =
        (0..20_000u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 60)) as i64).collect();
    let encode::Encoded { header, meta, pages } = encode::numbers(&numbers, 1).unwrap();
    let chunks = 2000u16;
    let chunk = field(2, &field(1, &[8, 1]));
    let metadata = [field(1, &header), chunk.repeat(chunks.into())].concat();
    let buffers = [vec![0; chunks.into()], vec![1; chunks.into()]].concat();
    let bytes = blob(node(Encoding::Pco, &metadata, &buffers, vec![]), &[&meta, &pages[0].bytes]);
    let read = |rows, max_nodes| {
        limited(&bytes, &number(owned::PType::I64, false), chunks.into(), max_nodes, |column| {
            column.read(0..rows, &mut Scratch::new(&mut vec![0; 1 << 18])).map(drop)
        })
    };
    assert_eq!(read(2, 10_000), Ok(()));
    assert_eq!(read(chunks.into(), 0).map_err(why), Err((Kind::Limit, What::MAX_NODES)));
}

/// The field `number` of a message.
pub fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2][..], &varint(bytes.len() as u64), bytes].concat()
}

/// A scalar list, or struct, of these scalars.
pub fn scalars(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    field(9, &items.flat_map(|item| field(1, &item)).collect::<Vec<u8>>())
}

#[test]
fn a_wide_constant_takes_a_time_in_proportion_to_its_fields() {
    let start = CpuTime::now();
    let fields: Vec<String> = (0..30_000).map(|i| format!("f{i:06}")).collect();
    let ty = object(&fields.iter().map(|name| (name.as_str(), I64)).collect::<Vec<_>>());
    let value = scalars(fields.iter().map(|_| vec![0x18, 10]));
    let buffers = [&scalar(&names(&fields))[..], &[8, 0], &value];
    read(apart(&ty, constant(2)), &buffers, 1, |column| {
        let (all, ..) = batches(&column).unwrap();
        assert!(all[0].ends_with(&long(5)) && all[0].len() > 30_000 * 9);
    });
    with(&blob(apart(&ty, constant(2)), &buffers), &variant(false), 1, |file, _| {
        assert_eq!(file.verify(&mut Scratch::new(&mut vec![0; 1 << 23])), Ok(()));
    });
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn each_item_of_a_constant_list_is_found_once() {
    let value = scalars((0..30_000u32).map(|i| vec![0x18, 2 * (i % 64) as u8]));
    let buffers = [&scalar(NO_NAMES)[..], &[8, 0], &value];
    let values = read(apart(&list(I64), constant(2)), &buffers, 2, |column| batches(&column).unwrap().0);
    assert_eq!(values[0], values[1]);
    // The values follow a header of 30,001 offsets of three bytes, and a count of four.
    let items: Vec<u8> = (0..30_000u32).flat_map(|i| long((i % 64) as u8)).collect();
    let start = 5 + 3 * 30_001;
    assert_eq!((values[0].len(), &values[0][start..]), (start + items.len(), &items[..]));
    // Lists in a list.
    let ty = list(&list(I64));
    let value = scalars([vec![1u8, 2], vec![3]].iter().map(|row| scalars(row.iter().map(|n| vec![0x18, 2 * n]))));
    let inner = [[&[0x03, 2, 0, 9, 18][..], &long(1), &long(2)].concat(), [&[0x03, 1, 0, 9][..], &long(3)].concat()];
    let expected = [&[0x03, 2, 0, 23, 36][..], &inner[0], &inner[1]].concat();
    let buffers = [&scalar(NO_NAMES)[..], &[8, 0], &value];
    assert_eq!(all(apart(&ty, constant(2)), &buffers, 1), Ok(vec![expected]));
}

/// Objects of constants and their bytes: rows take no bytes.
fn claimed(rows: u64) -> (Vec<u8>, u64) {
    let a = scalar(&[0x11, 1, 0, 1, b'a']);
    let fields = node(Encoding::Struct, &[], &[], vec![constant(2)]);
    (blob(apart(OBJECT, fields), &[&a, &[8, 0], &[0x18, 10]]), rows)
}

#[test]
fn claimed_rows_that_are_alike_are_verified_once() {
    let (bytes, rows) = claimed(1 << 35);
    with(&bytes, &variant(false), rows, |file, column| {
        assert_eq!(file.verify(&mut Scratch::new(&mut vec![0; 1 << 16])), Ok(()));
        let child = column.child(1).unwrap();
        let mut memory = vec![0; child.need(rows - 1..rows).unwrap() as usize];
        let batch = child.read(rows - 1..rows, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!(batch.value(0), Ok(Value::Bytes(&[&[0x02, 1, 0, 0, 9][..], &long(5)].concat())));
    });
    // What is not alike is read.
    let (text, offsets) = varbin(&[b"x", b"y"]);
    let utf8: &[u8] = &[0x2a, 2, 8, 1];
    let ty = object(&[("a", utf8), ("b", utf8)]);
    let metadata = scalar(&[0x11, 2, 0, 1, 2, b'a', b'b']);
    let buffers = [&metadata[..], &[8, 0], &[0x3a, 1, b'z'], &text, &offsets];
    let fields = node(Encoding::Struct, &[], &[], vec![constant(2), bytes_of(3)]);
    let value = |b| vec![0x02, 2, 0, 1, 0, 2, 4, 0x05, b'z', 0x05, b];
    assert_eq!(all(apart(&ty, fields), &buffers, 2), Ok(vec![value(b'x'), value(b'y')]));
}

fn bytes_of(k: u16) -> owned::ArrayNode {
    bytes(k, None)
}

#[test]
fn measuring_a_file_has_one_budget() {
    // Numbers that all differ and take no bytes.
    let start = CpuTime::now();
    let count = node(Encoding::Sequence, &[0x0a, 2, 0x18, 2, 0x12, 2, 0x18, 2], &[], vec![]);
    let bytes = blob(apart(I64, count), &[&scalar(NO_NAMES), &[8, 0]]);
    with(&bytes, &variant(false), 1 << 35, |file, _| {
        let need = file.need().unwrap();
        assert!((1 << 12..1 << 22).contains(&need), "{need}");
    });
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// A `vortex.dict` of 600 booleans: codes of codes of codes in buffer `k`, the numbers 0 and 1 in the next one, values after it.
fn coded(k: u16) -> owned::ArrayNode {
    let dict = |codes, values| node(Encoding::Dict, &[8, 2, 16, 0], &[], vec![codes, values]);
    dict(dict(dict(dict(plain(k), plain(k + 1)), plain(k + 1)), plain(k + 1)), bits(k + 2))
}

#[test]
fn rows_that_are_counted_piece_by_piece_are_in_the_memory() {
    // Every other row has a value, as codes of the validity say. The page itself takes no memory: all numbers are 7.
    let codes: Vec<u8> = (0..600u32).map(|i| (i % 2) as u8).collect();
    let encode::Encoded { header, meta, pages } = encode::numbers(&[7i64; 300], 300).unwrap();
    let page = field(1, &[&[8][..], &varint(300)].concat());
    let metadata = [field(1, &header), field(2, &page)].concat();
    let root = || node(Encoding::Pco, &metadata, &[2, 3], vec![coded(4)]);
    let buffers = [&scalar(NO_NAMES)[..], &[8, 0], &meta, &pages[0].bytes, &codes, &[0, 1], &[0b10]];
    with(&blob(root(), &buffers), &number(owned::PType::I64, true), 600, |_, column| {
        let mut memory = vec![0; column.need(599..600).unwrap() as usize];
        let batch = column.read(599..600, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!(batch.value(0), Ok(Value::Int(7)));
    });
    // These numbers as values of variants, too.
    read(apart(I64, root()), &buffers, 600, |column| {
        let child = column.child(1).unwrap();
        let mut memory = vec![0; child.need(599..600).unwrap() as usize];
        let batch = child.read(599..600, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!(batch.value(0), Ok(Value::Bytes(&long(7))));
    });
}

#[test]
fn deltas_without_nulls_are_not_counted_for_each_row() {
    // 1,000 blocks of differences 0, which are nullable and have no null.
    let rows = 1024 * 1000;
    let metadata = [&[8][..], &varint(rows)].concat();
    let bytes = blob(node(Encoding::Delta, &metadata, &[], vec![constant(0), constant(1)]), &[&[0x18, 14], &[0x18, 0]]);
    limited(&bytes, &number(owned::PType::I64, true), rows, 100, |column| {
        let mut memory = vec![0; 1 << 17];
        let batch = column.read(5000..5001, &mut Scratch::new(&mut memory)).unwrap();
        assert_eq!((batch.value(0), batch.validity.get(0)), (Ok(Value::Int(7)), true));
    });
}

#[test]
fn counting_the_nulls_of_deltas_is_charged() {
    // Every second row has the first value of a dictionary, the others value `last`. The nullable deltas of all blocks are
    // counted whenever some values are decoded.
    let read = |rows: u64, last: i64, blocks: u64| {
        let count = 1024 * blocks;
        let deltas = node(Encoding::Masked, &[], &[], vec![constant(1), bits(2)]);
        let values = node(Encoding::Delta, &[&[8][..], &varint(count)].concat(), &[], vec![constant(0), deltas]);
        let codes: Vec<i64> = (0..rows as i64).map(|i| (i % 2) * last).collect();
        let metadata = [&[8][..], &varint(count), &[16, 7, 24, 0]].concat();
        let root = node(Encoding::Dict, &metadata, &[], vec![plain(3), values]);
        let bytes = blob(root, &[&[0x18, 14], &[0x18, 0], &vec![0xff; count as usize / 8], &le(&codes)]);
        limited(&bytes, &number(owned::PType::I64, true), rows, 10_000, |column| {
            column.read(0..rows, &mut Scratch::new(&mut vec![0; 1 << 17])).map(drop)
        })
    };
    let limit = Err((Kind::Limit, What::MAX_NODES));
    // The span of the codes is over 64 times the number of rows: each row decodes one value.
    assert_eq!(read(100, 16_383, 1 << 4), Ok(()));
    assert_eq!(read(100, 16_383, 1 << 12).map_err(why), limit);
    // The span is 64 times the number of rows: 64 parts of the values are decoded.
    assert_eq!(read(1000, 63_999, 1 << 8), Ok(()));
    assert_eq!(read(1000, 63_999, 1 << 14).map_err(why), limit);
}

#[test]
fn measuring_takes_no_memory_that_a_file_only_claims() {
    // A frame that claims 1 GiB.
    let frame = vec![0; 1 << 16];
    let root = || apart(I64, packed(2, 1 << 30, 1 << 27, None));
    read(root(), &[&scalar(NO_NAMES), &[8, 0], &frame], 1, |column| {
        let e = column.child(1).unwrap().need(0..1).unwrap_err();
        // More memory of the caller would not help, so that this is not `NoRoom`.
        assert_eq!((why(e), e.need()), ((Kind::Limit, What::VORTEX_MEASURING), 1 << 28));
        assert!(e.to_string().contains("reading without") || e.to_string().contains("read without"), "{e}");
    });
}

#[test]
fn names_that_only_claim_to_be_sorted_are_refused() {
    // The row has no number apart, but its bytes have the field, so that it must be refused. A binary search for the name
    // "a" among "b", "c", "a" misses it.
    let other = [0x02, 1, 2, 0, 2, 0x0c, 9];
    let read = |metadata: &[u8]| {
        let buffers = [&scalar(metadata)[..], &scalar(&other), &le(&[3]), &[0]];
        let a = node(Encoding::Primitive, &[], &[2], vec![bits(3)]);
        let fields = node(Encoding::Struct, &[], &[], vec![a]);
        all(of(OBJECT, vec![parquet(&[], vec![constant(0), constant(1)]), fields]), &buffers, 1).map_err(why)
    };
    for metadata in [[0x11, 3, 0, 1, 2, 3, b'b', b'c', b'a'], [0x01, 3, 0, 1, 2, 3, b'b', b'c', b'a']] {
        assert_eq!(read(&metadata), Err((Kind::Invalid, What::VARIANT)));
    }
    // Names in order, without the one that is missing.
    assert_eq!(read(&[0x11, 3, 0, 1, 2, 3, b'b', b'c', b'd']), Ok(vec![other.to_vec()]));
}

/// The span of a number as eight bytes.
fn eight(n: i64) -> Vec<u8> {
    [&[0x18][..], &n.to_le_bytes()].concat()
}

/// A `vortex.zstd` of two frames, in buffers `k` and `k + 1`.
fn two_frames(k: u16, frames: [(usize, u64); 2]) -> owned::ArrayNode {
    let metadata = frames.map(|(size, count)| {
        let frame = [&[8][..], &varint(size as u64), &[16], &varint(count)].concat();
        [&[18, frame.len() as u8][..], &frame].concat()
    });
    node(Encoding::Zstd, &metadata.concat(), &[k, k + 1], vec![])
}

#[test]
fn a_frame_is_unpacked_once_for_all_rows_of_a_batch() {
    // Texts of 1,000 bytes in frames of more than half of a batch, and their numbers.
    let texts: Vec<Vec<u8>> = (0..2000u32).map(|i| i.to_le_bytes().repeat(250)).collect();
    let packed_texts = [0, 1000].map(|from| {
        let texts: Vec<&[u8]> = texts[from..from + 1000].iter().map(Vec::as_slice).collect();
        with_lengths(&texts)
    });
    let numbers: Vec<i64> = (0..2000).collect();
    let packed_numbers = [le(&numbers[..300]), le(&numbers[300..])];
    let blocks = packed_texts.each_ref().map(|data| blocks(data));
    let number_frames = packed_numbers.each_ref().map(|data| zstd(data));
    let metadata = scalar(&[0x11, 2, 0, 1, 2, b'a', b'b']);
    let buffers = [&metadata[..], &[8, 0], &blocks[0], &blocks[1], &number_frames[0], &number_frames[1]];
    let fields = || {
        let texts = two_frames(2, packed_texts.each_ref().map(|data| (data.len(), 1000)));
        let numbers = two_frames(4, [(2400, 300), (1700 * 8, 1700)]);
        node(Encoding::Struct, &[], &[], vec![texts, numbers])
    };
    let binary: &[u8] = &[0x32, 2, 8, 1];
    let ty = object(&[("a", binary), ("b", I64)]);
    let expected: Vec<Vec<u8>> = texts
        .iter()
        .zip(&numbers)
        .map(|(text, n)| {
            let text = [&[0x3c][..], &(text.len() as u32).to_le_bytes(), text].concat();
            let ends = [0, text.len() as u16, text.len() as u16 + 9].map(u16::to_le_bytes).concat();
            [&[0x06, 2, 0, 1][..], &ends, &text, &eight(*n)].concat()
        })
        .collect();
    read(apart(&ty, fields()), &buffers, 2000, |column| {
        let (all, count, most) = batches(&column).unwrap();
        assert!(all == expected);
        assert!((2..6).contains(&count) && most < 8 << 20, "{count} {most}");
        // A row after another frame, in memory with and without what frames are kept in.
        let child = column.child(1).unwrap();
        for row in [1999, 0, 1000, 299, 300] {
            let least = child.need(row..row + 1).unwrap() as usize;
            let mut memory = vec![0; least + (2 << 20)];
            for len in [memory.len(), least + 2000, least] {
                let batch = child.read(row..row + 1, &mut Scratch::new(&mut memory[..len])).unwrap();
                assert_eq!(batch.value(0), Ok(Value::Bytes(&expected[row as usize])));
            }
        }
    });
    // Numbers without their texts, in two chunks of the same array.
    let chunks = node(
        Encoding::Chunked,
        &[],
        &[],
        vec![plain(2), two_frames(3, [(2400, 300), (1700 * 8, 1700)]), two_frames(3, [(2400, 300), (1700 * 8, 1700)])],
    );
    let offsets = le(&[0, 2000, 4000]);
    let buffers = [&scalar(NO_NAMES)[..], &[8, 0], &offsets, &number_frames[0], &number_frames[1]];
    read(apart(I64, chunks), &buffers, 4000, |column| {
        let (all, count, most) = batches(&column).unwrap();
        let expected: Vec<_> = numbers.iter().chain(&numbers).map(|n| eight(*n)).collect();
        assert!(all == expected && count == 1 && most < 1 << 18, "{count} {most}");
    });
}

/// A frame of raw blocks.
pub fn blocks(data: &[u8]) -> Vec<u8> {
    let mut frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &(data.len() as u32).to_le_bytes()].concat();
    let mut parts = data.chunks(1 << 16).peekable();
    while let Some(part) = parts.next() {
        let header = (part.len() as u32) << 3 | u32::from(parts.peek().is_none());
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.extend_from_slice(part);
    }
    frame
}

#[test]
fn a_page_is_decoded_once_for_all_rows_of_a_batch() {
    let numbers: Vec<i64> = (0..20_000u32).map(|i| i64::from(i.wrapping_mul(2_654_435_761))).collect();
    let array = |numbers: &[i64], page: usize| {
        let encode::Encoded { header, meta, pages } = encode::numbers(numbers, page).unwrap();
        let chunk: Vec<u8> =
            pages.iter().flat_map(|page| field(1, &[&[8][..], &varint(page.numbers as u64)].concat())).collect();
        let metadata = [field(1, &header), field(2, &chunk)].concat();
        let numbered: Vec<u16> = (2..=2 + pages.len() as u16).collect();
        let pages = pages.into_iter().map(|page| page.bytes);
        let buffers = [scalar(NO_NAMES), vec![8, 0], meta].into_iter().chain(pages).collect::<Vec<_>>();
        (apart(I64, node(Encoding::Pco, &metadata, &numbered, vec![])), buffers)
    };
    let (root, buffers) = array(&numbers[..400], 110);
    let expected: Vec<_> = numbers.iter().map(|n| eight(*n)).collect();
    let buffers: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    assert!(all(root, &buffers, 400) == Ok(expected[..400].to_vec()));
    // Decoding a page costs about 80 nodes.
    let (root, buffers) = array(&numbers, 20_000);
    let buffers: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    limited(&blob(root, &buffers), &variant(false), 20_000, 100_000, |column| {
        let (read, count, _) = batches(&column).unwrap();
        assert!(read == expected && count < 8, "{count}");
    });
}
