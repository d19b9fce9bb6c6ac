//! Variants whose values are stored apart: rows that are missing, encodings that take memory, budgets, and what verifying
//! finds.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Value};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::{Column, DType, Encoding, File};
use pilaster_oracle::vortex as owned;

use crate::build::{bits, blob, le, node, plain, varint, why, with};
use crate::vortex_variant::{
    AB, I64, NO_NAMES, OBJECT, all, bytes, constant, of, parquet, scalar, values, varbin, variant,
};

/// The message of a struct.
pub fn object(fields: &[(&str, &[u8])]) -> Vec<u8> {
    let field = |number: u8, bytes: &[u8]| [&[number << 3 | 2][..], &varint(bytes.len() as u64), bytes].concat();
    let names = fields.iter().flat_map(|(name, _)| field(1, name.as_bytes()));
    let types = fields.iter().flat_map(|(_, ty)| field(2, ty));
    let all: Vec<u8> = names.chain(types).chain([0x18, 1]).collect();
    field(7, &all)
}

/// The message of a nullable list.
pub fn list(item: &[u8]) -> Vec<u8> {
    let all = [&[10][..], &varint(item.len() as u64), item, &[0x10, 1]].concat();
    [&[0x42][..], &varint(all.len() as u64), &all].concat()
}

const UTF8: &[u8] = &[0x2a, 2, 8, 1];

/// The metadata of a variant with these names, which must be sorted.
pub fn names(all: &[String]) -> Vec<u8> {
    let mut bytes = vec![0xd1];
    bytes.extend_from_slice(&(all.len() as u32).to_le_bytes());
    let mut end = 0u32;
    for len in [0].into_iter().chain(all.iter().map(String::len)) {
        end += len as u32;
        bytes.extend_from_slice(&end.to_le_bytes());
    }
    all.iter().for_each(|name| bytes.extend_from_slice(name.as_bytes()));
    bytes
}

/// A frame of one raw block.
pub fn zstd(data: &[u8]) -> Vec<u8> {
    let block = ((data.len() as u32) << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &(data.len() as u32).to_le_bytes(), &block[..3], data].concat()
}

/// A `vortex.zstd` of one frame of `size` bytes in buffer `k`.
pub fn packed(k: u16, size: usize, count: u64, valid: Option<owned::ArrayNode>) -> owned::ArrayNode {
    let frame = [&[8][..], &varint(size as u64), &[16], &varint(count)].concat();
    node(Encoding::Zstd, &[&[18, frame.len() as u8][..], &frame].concat(), &[k], valid.into_iter().collect())
}

/// Texts as Zstandard stores them: each after its length.
pub fn with_lengths(texts: &[&[u8]]) -> Vec<u8> {
    texts.iter().flat_map(|text| [&(text.len() as u32).to_le_bytes()[..], text].concat()).collect()
}

/// The bytes of the variant `n` as eight bytes.
pub fn long(n: u8) -> Vec<u8> {
    vec![0x18, n, 0, 0, 0, 0, 0, 0, 0]
}

/// Reads all values, and returns them with the number of batches and the largest size of the memory.
pub fn batches(column: &Column<'_>) -> Result<(Vec<Vec<u8>>, usize, u64), Error> {
    let child = column.child(1)?;
    let (mut all, mut count, mut most) = (vec![], 0, 0);
    while (all.len() as u64) < child.rows() {
        let rows = all.len() as u64..child.rows();
        let need = child.need(rows.clone())?;
        let mut memory = vec![0; need as usize];
        let batch = child.read(rows, &mut Scratch::new(&mut memory))?;
        for i in 0..batch.len {
            let Value::Bytes(bytes) = batch.value(i)? else { panic!("no bytes") };
            all.push(bytes.to_vec());
        }
        (count, most) = (count + 1, need.max(most));
    }
    Ok((all, count, most))
}

/// A column of a blob.
pub fn read<R>(root: owned::ArrayNode, buffers: &[&[u8]], rows: u64, look: impl FnOnce(Column<'_>) -> R) -> R {
    with(&blob(root, buffers), &variant(false), rows, |_, column| look(column))
}

#[test]
fn a_batch_of_wide_rows_ends_before_the_budget() {
    let fields: Vec<String> = (0..25).map(|i| format!("f{i:03}")).collect();
    let ty = object(&fields.iter().map(|name| (name.as_str(), I64)).collect::<Vec<_>>());
    let metadata = scalar(&names(&fields));
    let buffers = [&metadata[..], &[8, 0], &[0x18, 10], &le(&[0, 70, 130])];
    // All fields of all rows are 5, in two chunks.
    let chunks = || node(Encoding::Chunked, &[], &[], vec![plain(3), constant(2), constant(2)]);
    let apart = node(Encoding::Struct, &[], &[], fields.iter().map(|_| chunks()).collect());
    let bytes = blob(of(&ty, vec![parquet(&[], vec![constant(0), constant(1)]), apart]), &buffers);
    let ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
    let dtype = variant(false);
    // Enough for a few rows.
    let limits = Limits { max_nodes: 3000, ..Limits::DEFAULT };
    let file = File::of_array(&bytes, DType::parse(&dtype).unwrap(), 130, &ids, &limits).unwrap();
    let (all, count, _) = batches(&file.part().unwrap().column(0).unwrap()).unwrap();
    assert!((3..50).contains(&count) && all.len() == 130, "{count}");
    assert_eq!(all[0].len(), 1 + 1 + 25 + 26 + 25 * 9);
    assert!(all.iter().all(|value| *value == all[0]));
    // Too little for a row.
    let limits = Limits { max_nodes: 50, ..limits };
    let file = File::of_array(&bytes, DType::parse(&dtype).unwrap(), 130, &ids, &limits).unwrap();
    let e = batches(&file.part().unwrap().column(0).unwrap()).unwrap_err();
    assert_eq!(why(e), (Kind::Limit, What::MAX_NODES));
}

#[test]
fn memory_is_proportional_to_one_metadata_not_to_rows() {
    let fields: Vec<String> = (0..5000).map(|i| format!("a{i:06}")).collect();
    let metadata = scalar(&names(&[vec!["a".to_owned()], fields].concat()));
    let buffers = [&metadata[..], &[8, 0], &[0x18, 10]];
    let apart = node(Encoding::Struct, &[], &[], vec![constant(2)]);
    let root = of(OBJECT, vec![parquet(&[], vec![constant(0), constant(1)]), apart]);
    let (all, _, most) = read(root, &buffers, 2000, |column| batches(&column)).unwrap();
    assert_eq!((all.len(), &all[1999]), (2000, &[&[0x02, 1, 0, 0, 9][..], &long(5)].concat()));
    assert!(most < 1 << 20, "{most}");
}

#[test]
fn comparing_long_names_spends_the_budget() {
    // An object of many fields with the same name, which is long.
    let count = 20_000u32;
    let offsets = (0..=count).flat_map(u32::to_le_bytes);
    let object: Vec<u8> = [0x4e].into_iter().chain(count.to_le_bytes()).collect();
    let object: Vec<u8> =
        object.into_iter().chain(vec![1; count as usize]).chain(offsets).chain(vec![0; count as usize]).collect();
    let metadata = scalar(&names(&["a".to_owned(), "b".repeat(60_000)]));
    let buffers = [&metadata[..], &scalar(&object), &[0x18, 10]];
    let apart = node(Encoding::Struct, &[], &[], vec![constant(2)]);
    let root = of(OBJECT, vec![parquet(&[], vec![constant(0), constant(1)]), apart]);
    let e = read(root, &buffers, 1, |column| batches(&column)).unwrap_err();
    assert_eq!(why(e), (Kind::Limit, What::MAX_NODES));
}

#[test]
fn missing_rows_are_not_put_together() {
    // The metadata lack the name that rows 0 and 2 need.
    let buffers = [&scalar(NO_NAMES)[..], &[8, 0], &le(&[1, 2, 3]), &[0b010], &[0], &[0b111]];
    let core = || parquet(&[], vec![bits(4), constant(0), constant(1)]);
    let apart = node(Encoding::Struct, &[], &[], vec![node(Encoding::Primitive, &[], &[2], vec![])]);
    assert_eq!(values(of(OBJECT, vec![core(), apart]), &buffers, true, 3), Ok(vec![None; 3]));
    // A core of nulls, and numbers beside it.
    let number = node(Encoding::Primitive, &[], &[2], vec![bits(3)]);
    assert_eq!(values(of(I64, vec![constant(1), number]), &buffers, true, 3), Ok(vec![None; 3]));
    // The value of a missing row is the variant null.
    let number = node(Encoding::Primitive, &[], &[2], vec![bits(5)]);
    with(&blob(of(I64, vec![core(), number]), &buffers), &variant(true), 3, |_, column| {
        assert_eq!(batches(&column).unwrap().0, vec![vec![0]; 3]);
    });
    // A missing variant inside of an object is no field.
    let ty = object(&[("a", &[0x5a, 2, 8, 1])]);
    let buffers = [&scalar(AB)[..], &[8, 0], &scalar(&[0x0c, 7]), &[0b10]];
    let inner = of(&[], vec![parquet(&[], vec![bits(3), constant(0), constant(2)])]);
    let root =
        of(&ty, vec![parquet(&[], vec![constant(0), constant(1)]), node(Encoding::Struct, &[], &[], vec![inner])]);
    assert_eq!(all(root, &buffers, 2), Ok(vec![vec![0x02, 0, 0], vec![0x02, 1, 0, 0, 2, 0x0c, 7]]));
}

#[test]
fn texts_under_zstandard_are_put_in() {
    // Row 0 has a field that is stored apart, row 1 an object with another one, row 2 a text instead of an object.
    let other = [0x02, 1, 1, 0, 2, 0x0c, 9];
    let data = with_lengths(&[&other, &[0x05, b'x']]);
    let texts = with_lengths(&[b"one", "ü".repeat(40).as_bytes()]);
    let metadata = with_lengths(&[AB, AB, NO_NAMES]);
    let frames = [&metadata, &data, &texts].map(|data| zstd(data));
    let buffers = [&frames[0][..], &frames[1], &frames[2], &[0b110], &[0b011]];
    let ty = object(&[("a", UTF8)]);
    let core = parquet(&[], vec![packed(0, metadata.len(), 3, None), packed(1, data.len(), 2, Some(bits(3)))]);
    let apart = node(Encoding::Struct, &[], &[], vec![bits(4), packed(2, texts.len(), 2, Some(bits(4)))]);
    let long = [&[0x40, 80, 0, 0, 0][..], "ü".repeat(40).as_bytes()].concat();
    let expected = vec![
        [&[0x02, 1, 0, 0, 4, 3 << 2 | 1][..], b"one"].concat(),
        [&[0x02, 2, 0, 1, 0, 85, 87][..], &long, &[0x0c, 9]].concat(),
        vec![0x05, b'x'],
    ];
    assert_eq!(all(of(&ty, vec![core, apart]), &buffers, 3), Ok(expected));
}

#[test]
fn offsets_that_take_memory_to_read_are_measured() {
    // [1, 2], [], [3]: the offsets and the items are under Zstandard.
    let (ends, numbers) = (le(&[0, 2, 2, 3]), le(&[1, 2, 3]));
    let frames = [&ends, &numbers].map(|data| zstd(data));
    let buffers = [&scalar(NO_NAMES)[..], &[8, 0], &frames[0], &frames[1]];
    let root = || {
        let apart = node(Encoding::List, &[8, 3, 16, 3], &[], vec![packed(3, 24, 3, None), packed(2, 32, 4, None)]);
        of(&list(I64), vec![parquet(&[], vec![constant(0), constant(1)]), apart])
    };
    let expected = vec![
        [&[0x03, 2, 0, 9, 18][..], &long(1), &long(2)].concat(),
        vec![0x03, 0, 0],
        [&[0x03, 1, 0, 9][..], &long(3)].concat(),
    ];
    assert_eq!(all(root(), &buffers, 3), Ok(expected.clone()));
    // Memory of exactly the size that is needed.
    read(root(), &buffers, 3, |column| {
        for (row, expected) in expected.iter().enumerate() {
            let (child, row) = (column.child(1).unwrap(), row as u64);
            let mut memory = vec![0; child.need(row..row + 1).unwrap() as usize];
            let batch = child.read(row..row + 1, &mut Scratch::new(&mut memory)).unwrap();
            assert_eq!(batch.value(0), Ok(Value::Bytes(expected)));
            let e = child.read(row..row + 1, &mut Scratch::new(&mut memory[..64])).unwrap_err();
            assert_eq!(e.kind(), Kind::NoRoom);
        }
    });
}

#[test]
fn a_value_that_may_exceed_32_bits_is_refused() {
    // 300 items, all of them a text of 16 MiB.
    let text = [&[0x3a][..], &varint(1 << 24), &vec![b'x'; 1 << 24]].concat();
    let buffers = [&scalar(NO_NAMES)[..], &[8, 0], &text, &le(&[0, 300])];
    let apart = node(Encoding::List, &[8, 0xac, 2, 16, 3], &[], vec![constant(2), plain(3)]);
    let root = of(&list(UTF8), vec![parquet(&[], vec![constant(0), constant(1)]), apart]);
    read(root, &buffers, 1, |column| {
        let child = column.child(1).unwrap();
        assert_eq!(why(child.need(0..1).unwrap_err()), (Kind::Overflow, What::VORTEX_TEXT));
        let e = child.read(0..1, &mut Scratch::new(&mut vec![0; 1 << 20])).unwrap_err();
        assert_eq!(why(e), (Kind::Overflow, What::VORTEX_TEXT));
    });
}

#[test]
fn verifying_reads_values_that_no_row_names() {
    // The second text of the dictionary is no UTF-8. Items and fields have codes, and none of them names it.
    let (text, offsets) = varbin(&[b"ok", &[0xff]]);
    let verdict = |ty: &[u8], wrap: &dyn Fn(owned::ArrayNode) -> owned::ArrayNode| {
        let buffers = [&scalar(AB)[..], &[8, 0], &text, &offsets, &[0], &le(&[0, 1])];
        let dict = node(Encoding::Dict, &[8, 2, 16, 0], &[], vec![plain(4), bytes(2, None)]);
        let root = of(ty, vec![parquet(&[], vec![constant(0), constant(1)]), wrap(dict)]);
        with(&blob(root, &buffers), &variant(false), 1, |file, column| {
            let read = batches(&column).map(drop);
            (read, file.verify(&mut Scratch::new(&mut vec![0; 1 << 16])))
        })
    };
    let fields = |dict| node(Encoding::Struct, &[], &[], vec![dict]);
    let items = |dict| node(Encoding::List, &[8, 1, 16, 3], &[], vec![dict, plain(5)]);
    let both =
        |dict| node(Encoding::List, &[8, 1, 16, 3], &[], vec![node(Encoding::Struct, &[], &[], vec![dict]), plain(5)]);
    let field = object(&[("a", UTF8)]);
    for (ty, wrap) in [
        (field.clone(), &fields as &dyn Fn(owned::ArrayNode) -> owned::ArrayNode),
        (list(UTF8), &items),
        (list(&field), &both),
    ] {
        let (read, verified) = verdict(&ty, wrap);
        assert_eq!((read, verified.map_err(|e| e.kind())), (Ok(()), Err(Kind::Utf8)));
    }
}
