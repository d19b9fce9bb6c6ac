//! Variants: arrays made by hand, what is refused of them, and files that are written.

use pilaster::bytes::Scratch;
use pilaster::column::{Borrowed, Column as _, Part as _, Ranges, Spans, Type, Validity, Value, Values, VarBytes};
use pilaster::error::{Error, Kind, What};
use pilaster::vortex::write::{Profile, WriteOptions, Writer};
use pilaster::vortex::{Column, Encoding, File};
use pilaster_oracle::vortex as owned;

use crate::build::{bits, blob, dtype, le, node, plain, varint, with};

/// The type `variant`, or `variant?`.
pub fn variant(nullable: bool) -> Vec<u8> {
    dtype(owned::Type::Variant(Box::new(owned::Variant { nullable })))
}

/// Metadata with the names `a` and `b`, and without names.
pub const AB: &[u8] = &[0x11, 2, 0, 1, 2, b'a', b'b'];
pub const NO_NAMES: &[u8] = &[1, 0, 0];

/// The bytes of a `vortex.varbin` of byte strings, and its offsets.
pub fn varbin(texts: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
    let mut offsets = vec![0u8];
    for text in texts {
        offsets.push(offsets.last().unwrap() + text.len() as u8);
    }
    (texts.concat(), offsets)
}

/// A `vortex.varbin` of buffers `k` and `k + 1`.
pub fn bytes(k: u16, valid: Option<owned::ArrayNode>) -> owned::ArrayNode {
    let offsets = plain(k + 1);
    node(Encoding::VarBin, &[], &[k], [Some(offsets), valid].into_iter().flatten().collect())
}

/// A constant of bytes, in buffer `k`.
pub fn constant(k: u16) -> owned::ArrayNode {
    node(Encoding::Constant, &[], &[k], vec![])
}

/// A scalar of bytes.
pub fn scalar(bytes: &[u8]) -> Vec<u8> {
    [&[0x42][..], &varint(bytes.len() as u64), bytes].concat()
}

/// `vortex.parquet.variant` with a value and, with type `ty`, values that are stored apart.
pub fn parquet(ty: &[u8], children: Vec<owned::ArrayNode>) -> owned::ArrayNode {
    let typed = if ty.is_empty() { vec![] } else { [&[0x12][..], &varint(ty.len() as u64), ty].concat() };
    node(Encoding::ParquetVariant, &[&[8, 1][..], &typed, &[0x18, 1]].concat(), &[], children)
}

/// `vortex.variant`; `ty` is empty without values that are stored apart.
pub fn of(ty: &[u8], children: Vec<owned::ArrayNode>) -> owned::ArrayNode {
    let metadata = if ty.is_empty() { vec![] } else { [&[0x0a][..], &varint(ty.len() as u64), ty].concat() };
    node(Encoding::Variant, &metadata, &[], children)
}

/// Types of values that are stored apart, as messages.
pub const I64: &[u8] = &[0x1a, 4, 8, 7, 0x10, 1];
/// `{a=i64?}?`
pub const OBJECT: &[u8] = &[0x3a, 13, 10, 1, b'a', 18, 6, 0x1a, 4, 8, 7, 0x10, 1, 0x18, 1];

pub type Pairs = Vec<Option<(Vec<u8>, Vec<u8>)>>;

/// Reads metadata and values of rows, some rows at once.
pub fn pairs(column: &Column<'_>, at_once: u64) -> Result<Pairs, Error> {
    let (mut all, mut row) = (vec![], 0);
    while row < column.rows() {
        let rows = row..column.rows().min(row + at_once);
        let mut memory = vec![0; column.need(rows.clone())? as usize];
        let batch = column.read(rows, &mut Scratch::new(&mut memory))?;
        for i in 0..batch.len {
            let Value::Nested(range) = batch.value(i)? else {
                all.push(None);
                continue;
            };
            let part = |k| -> Result<Vec<u8>, Error> {
                let child = batch.of.child(k)?;
                let mut memory = vec![0; child.need(range.clone())? as usize];
                let Value::Bytes(bytes) = child.read(range.clone(), &mut Scratch::new(&mut memory))?.value(0)? else {
                    panic!("no bytes")
                };
                Ok(bytes.to_vec())
            };
            all.push(Some((part(0)?, part(1)?)));
        }
        row += batch.len as u64;
    }
    Ok(all)
}

/// Reads and verifies rows; both must agree whether they are valid. Returns the values.
pub fn values(
    root: owned::ArrayNode,
    buffers: &[&[u8]],
    nullable: bool,
    rows: u64,
) -> Result<Vec<Option<Vec<u8>>>, Error> {
    with(&blob(root, buffers), &variant(nullable), rows, |file, column| {
        assert!(column.is_variant() && column.ty() == Type::Struct(2));
        assert_eq!((column.child_name(0), column.child_name(1)), (Ok("metadata"), Ok("value")));
        let read = pairs(&column, 1);
        assert_eq!(read, pairs(&column, 7));
        let verified = file.verify(&mut Scratch::new(&mut vec![0; 1 << 16]));
        assert_eq!(read.is_ok(), verified.is_ok(), "{verified:?}");
        // All values of the child, in as few batches as they take.
        if let Ok(pairs) = &read
            && rows > 0
        {
            let (child, mut row) = (column.child(1).unwrap(), 0);
            assert_eq!((child.rows(), pairs.len() as u64), (rows, rows));
            while row < rows {
                let mut memory = vec![0; child.need(row..rows).unwrap() as usize];
                let batch = child.read(row..rows, &mut Scratch::new(&mut memory)).unwrap();
                assert!(batch.len > 0);
                for i in 0..batch.len {
                    let Some((_, value)) = &pairs[row as usize + i] else { continue };
                    assert_eq!(batch.value(i), Ok(Value::Bytes(value)));
                }
                row += batch.len as u64;
            }
        }
        read.map(|read| read.into_iter().map(|pair| pair.map(|(_, value)| value)).collect())
    })
}

/// The values of rows that all have one.
pub fn all(root: owned::ArrayNode, buffers: &[&[u8]], rows: u64) -> Result<Vec<Vec<u8>>, Error> {
    values(root, buffers, false, rows).map(|values| values.into_iter().map(Option::unwrap).collect())
}

#[test]
fn bytes_are_read_as_they_are() {
    let (text, offsets) = varbin(&[&[0x0c, 7], &[0], &[0x05, b'x']]);
    let buffers = [&scalar(NO_NAMES)[..], &text, &offsets, &[0b101]];
    let expected = [vec![0x0c, 7], vec![0], vec![0x05, b'x']];
    let inner = || parquet(&[], vec![constant(0), bytes(1, None)]);
    assert_eq!(all(inner(), &buffers, 3), Ok(expected.to_vec()));
    assert_eq!(all(of(&[], vec![inner()]), &buffers, 3), Ok(expected.to_vec()));
    // Rows 0 and 2 have a value.
    let inner = parquet(&[], vec![bits(3), constant(0), bytes(1, None)]);
    let expected = vec![Some(expected[0].clone()), None, Some(expected[2].clone())];
    assert_eq!(values(of(&[], vec![inner]), &buffers, true, 3), Ok(expected));
    // A valid row without bytes is null.
    let inner = parquet(&[], vec![constant(0), bytes(1, Some(bits(3)))]);
    assert_eq!(all(inner, &buffers, 3), Ok(vec![vec![0x0c, 7], vec![0], vec![0x05, b'x']]));
    // All rows are missing.
    assert_eq!(values(constant(0), &[&[8, 0]], true, 2), Ok(vec![None, None]));
    // Two chunks.
    let inner = || of(&[], vec![parquet(&[], vec![constant(0), bytes(1, None)])]);
    let chunks = node(Encoding::Chunked, &[], &[], vec![plain(4), inner(), inner()]);
    let buffers = [buffers[0], buffers[1], buffers[2], buffers[3], &le(&[0, 3, 6])];
    assert_eq!(all(chunks, &buffers, 6).map(|all| all.len()), Ok(6));
}

#[test]
fn numbers_that_are_stored_apart_are_put_in() {
    let (text, offsets) = varbin(&[&[], &[0x05, b'x'], &[]]);
    let numbers = le(&[-1, 0, 5]);
    let buffers = [&scalar(NO_NAMES)[..], &text, &offsets, &[0b010], &numbers, &[0b001]];
    let number = || node(Encoding::Primitive, &[], &[4], vec![bits(5)]);
    let expected = vec![vec![0x18, 255, 255, 255, 255, 255, 255, 255, 255], vec![0x05, b'x'], vec![0]];
    let core = || parquet(&[], vec![constant(0), bytes(1, Some(bits(3)))]);
    assert_eq!(all(of(I64, vec![core(), number()]), &buffers, 3), Ok(expected.clone()));
    // Numbers in the form of Apache Parquet.
    let root = parquet(I64, vec![constant(0), bytes(1, Some(bits(3))), number()]);
    assert_eq!(all(root, &buffers, 3), Ok(expected));
}

#[test]
fn objects_are_merged() {
    // The other field is "b"; row 1 has no other fields, row 2 no object.
    let other = [0x02, 1, 1, 0, 2, 0x0c, 9];
    let (text, offsets) = varbin(&[&other, &[], &[0x04]]);
    let numbers = le(&[3, 4, 0]);
    let buffers = [&scalar(AB)[..], &text, &offsets, &[0b101], &numbers, &[0b001], &[0b011]];
    let core = |names: u16| parquet(&[], vec![constant(names), bytes(1, Some(bits(3)))]);
    let fields = || {
        let a = node(Encoding::Primitive, &[], &[4], vec![bits(5)]);
        node(Encoding::Struct, &[], &[], vec![bits(6), a])
    };
    let expected =
        vec![vec![0x02, 2, 0, 1, 0, 9, 11, 0x18, 3, 0, 0, 0, 0, 0, 0, 0, 0x0c, 9], vec![0x02, 0, 0], vec![0x04]];
    assert_eq!(all(of(OBJECT, vec![core(0), fields()]), &buffers, 3), Ok(expected));
    // A name that the metadata does not have.
    let mut without = buffers;
    let names = scalar(&[0x11, 1, 0, 1, b'b']);
    without[0] = &names;
    let e = all(of(OBJECT, vec![core(0), fields()]), &without, 3).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VARIANT));
    // Bytes of an object without fields; bytes of a number; no bytes.
    let (text, offsets) = varbin(&[&[0x02, 0, 0], &[], &[0x04]]);
    let empty = [buffers[0], &text, &offsets, buffers[3], buffers[4], buffers[5], buffers[6]];
    let one = vec![0x02, 1, 0, 0, 9, 0x18, 3, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(all(of(OBJECT, vec![core(0), fields()]), &empty, 3).map(|all| all[0].clone()), Ok(one));
    for bytes in [&[0x0c, 7][..], &[]] {
        let (text, offsets) = varbin(&[bytes, &[], &[0x04]]);
        let no_object = [buffers[0], &text, &offsets, buffers[3], buffers[4], buffers[5], buffers[6]];
        let e = all(of(OBJECT, vec![core(0), fields()]), &no_object, 3).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VARIANT));
    }
    // A field twice, whether or not it has a value in the other part.
    let (text, offsets) = varbin(&[&[0x02, 1, 0, 0, 2, 0x0c, 9], &[], &[0x04]]);
    for has_value in [[0b001], [0]] {
        let twice = [buffers[0], &text, &offsets, buffers[3], buffers[4], &has_value, buffers[6]];
        let e = all(of(OBJECT, vec![core(0), fields()]), &twice, 3).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VARIANT));
    }
}

#[test]
fn an_object_cannot_grow_by_fields_that_share_their_bytes() {
    // Many fields, all of which are the same long text: each copy would be as long as the whole object.
    let text = [&[0xfd][..], &[b'x'; 63]].concat();
    let count = 40u8;
    let ids: Vec<u8> = (0..count).collect();
    let offsets = [vec![0; count.into()], vec![64]].concat();
    let object = [&[0x02, count][..], &ids, &offsets, &text].concat();
    let names: Vec<u8> = (0..=count).map(|i| b'A' + i).collect();
    let metadata = [&[0x11, count + 1][..], &(0..=count + 1).collect::<Vec<u8>>(), &names].concat();
    let (text, offsets) = varbin(&[&object]);
    // The field that is stored apart is "a", the last name.
    let buffers = [&[&[0x42][..], &[metadata.len() as u8], &metadata].concat()[..], &text, &offsets, &le(&[1])];
    let core = parquet(&[], vec![constant(0), bytes(1, None)]);
    let fields = node(Encoding::Struct, &[], &[], vec![plain(3)]);
    let e = all(of(OBJECT, vec![core, fields]), &buffers, 1).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Invalid, What::VARIANT));
}

#[test]
fn fields_as_parquet_stores_them() {
    // typed_value: {a={value=binary?, typed_value=i64?}}? with rows {"a": 1}, {"a": "x"}, {}.
    let shell = [&[10, 5][..], b"value", &[10, 11], b"typed_value", &[18, 4, 0x32, 2, 8, 1, 18, 6], I64].concat();
    let shell = [&[0x3a, shell.len() as u8][..], &shell].concat();
    let ty = [&[10, 1, b'a', 18, shell.len() as u8][..], &shell, &[0x18, 1]].concat();
    let ty = [&[0x3a, ty.len() as u8][..], &ty].concat();
    let (text, offsets) = varbin(&[&[], &[0x05, b'x'], &[]]);
    let numbers = le(&[1, 0, 0]);
    let buffers = [&scalar(AB)[..], &[8, 0], &text, &offsets, &[0b010], &numbers, &[0b001]];
    let number = node(Encoding::Primitive, &[], &[5], vec![bits(6)]);
    let field = node(Encoding::Struct, &[], &[], vec![bytes(2, Some(bits(4))), number]);
    let fields = node(Encoding::Struct, &[], &[], vec![field]);
    let root = parquet(&ty, vec![constant(0), constant(1), fields]);
    let expected = vec![
        vec![0x02, 1, 0, 0, 9, 0x18, 1, 0, 0, 0, 0, 0, 0, 0],
        vec![0x02, 1, 0, 0, 2, 0x05, b'x'],
        vec![0x02, 0, 0],
    ];
    assert_eq!(all(root, &buffers, 3), Ok(expected));
}

#[test]
fn lists_have_any_number_of_items() {
    // [1, 2], [], "x", [null]: list(i64?)?
    let ty = [&[0x42, 10, 10, 6][..], I64, &[0x10, 1]].concat();
    let (text, offsets) = varbin(&[&[], &[], &[0x05, b'x'], &[]]);
    let numbers = le(&[1, 2, 0]);
    let buffers = [&scalar(NO_NAMES)[..], &text, &offsets, &[0b0100], &numbers, &[0b011], &[0, 2, 2, 2, 3], &[0b1011]];
    let core = parquet(&[], vec![constant(0), bytes(1, Some(bits(3)))]);
    let items = node(Encoding::Primitive, &[], &[4], vec![bits(5)]);
    let list = node(Encoding::List, &[8, 3], &[], vec![items, plain(6), bits(7)]);
    let one = |n| [0x18, n, 0, 0, 0, 0, 0, 0, 0];
    let expected = vec![
        [&[0x03, 2, 0, 9, 18][..], &one(1), &one(2)].concat(),
        vec![0x03, 0, 0],
        vec![0x05, b'x'],
        vec![0x03, 1, 0, 1, 0],
    ];
    assert_eq!(all(of(&ty, vec![core, list]), &buffers, 4), Ok(expected));
}

#[test]
fn what_is_no_variant_is_refused() {
    let (text, offsets) = varbin(&[&[0x0c, 7]]);
    let buffers = [&scalar(NO_NAMES)[..], &text, &offsets, &le(&[1]), &[8, 0]];
    let core = || parquet(&[], vec![constant(0), bytes(1, None)]);
    let refused = |root, expected| {
        let e = all(root, &buffers, 1).unwrap_err();
        assert_eq!((e.kind(), e.what()), expected);
    };
    // Unsigned numbers are no variants.
    let unsigned = [0x1a, 4, 8, 3, 0x10, 1];
    let no_bytes = parquet(&[], vec![constant(0), constant(4)]);
    refused(of(&unsigned, vec![no_bytes, plain(3)]), (Kind::Unsupported, What::VARIANT));
    // Bytes and a number: only an object may be in both parts.
    refused(of(I64, vec![core(), plain(3)]), (Kind::Invalid, What::VARIANT));
    refused(parquet(I64, vec![constant(0), bytes(1, None), plain(3)]), (Kind::Invalid, What::VARIANT));
    // Too few children, or none of value and typed_value.
    refused(of(I64, vec![core()]), (Kind::Invalid, What::VORTEX_METADATA));
    refused(parquet(I64, vec![constant(0), bytes(1, None)]), (Kind::Invalid, What::VORTEX_METADATA));
    refused(node(Encoding::ParquetVariant, &[], &[], vec![constant(0)]), (Kind::Invalid, What::VORTEX_METADATA));
    refused(of(&[], vec![core(), plain(3)]), (Kind::Invalid, What::VORTEX_METADATA));
    // Another array in place of the variant.
    refused(of(I64, vec![plain(3), plain(3)]), (Kind::Unsupported, What::VORTEX_ENCODING));
    // A column of another type.
    let ty = dtype(owned::Type::Binary(Box::new(owned::Binary { nullable: false })));
    let e = with(&blob(of(&[], vec![core()]), &buffers), &ty, 1, |_, column| {
        column.read(0..1, &mut Scratch::new(&mut [0; 256])).map(drop).unwrap_err()
    });
    assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::VORTEX_ENCODING));
}

#[test]
fn variants_are_written_and_read_back() {
    let rows = 1500u32;
    let (mut data, mut ends) = (vec![], vec![0u32]);
    for i in 0..rows {
        data.extend_from_slice(&[0x14, i as u8, (i >> 8) as u8, 0, 0]);
        ends.push(data.len() as u32);
    }
    let metadata: Vec<u8> = NO_NAMES.iter().copied().cycle().take(3 * rows as usize).collect();
    let starts: Vec<u32> = (0..=rows).map(|i| 3 * i).collect();
    let bytes = |data, ends| Borrowed::new(Type::Bytes, Values::Bytes(VarBytes { data, spans: Spans::Off32(ends) }));
    let children = [("metadata", bytes(&metadata, &starts)), ("value", bytes(&data, &ends))];
    let structs = Values::Nested(Ranges::Stride { first: 0, size: 1, count: rows as usize });
    let column = Borrowed::new(Type::Struct(2), structs).with_children(&children).as_variants();
    let present: Vec<u8> = (0..rows.div_ceil(8)).map(|i| if i % 7 == 0 { 0x5f } else { 0xff }).collect();
    let some = pilaster::bytes::Bits::new(&present, 0, rows as usize).unwrap();
    let columns = [("v", column), ("n", column.with_validity(Validity::Bits(some)))];

    let mut writer = Writer::new(Vec::new(), &columns[..], &WriteOptions::DEFAULT).unwrap();
    writer.push(&columns[..]).unwrap();
    let written = writer.finish().unwrap();
    let file = File::open(&written).unwrap();
    file.verify(&mut Scratch::new(&mut vec![0; 1 << 20])).unwrap();
    assert_eq!(file.dtype().to_string(), "{v=variant, n=variant?}");
    for (name, is_there) in [("v", None), ("n", Some(some))] {
        let read = pairs(&file.part().unwrap().named(name).unwrap(), 1000).unwrap();
        for (i, pair) in read.iter().enumerate() {
            let expected = is_there
                .is_none_or(|bits| bits.get(i) == Some(true))
                .then(|| (NO_NAMES.to_vec(), vec![0x14, i as u8, (i >> 8) as u8, 0, 0]));
            assert_eq!(*pair, expected, "row {i}");
        }
    }
    // A variant without bytes is written as null.
    let value = bytes(&data, &ends).with_validity(Validity::Bits(some));
    let children = [("metadata", bytes(&metadata, &starts)), ("value", value)];
    let column = Borrowed::new(Type::Struct(2), structs).with_children(&children).as_variants();
    let nulls = [("v", column)];
    let mut writer = Writer::new(Vec::new(), &nulls[..], &WriteOptions::DEFAULT).unwrap();
    writer.push(&nulls[..]).unwrap();
    let written = writer.finish().unwrap();
    let file = File::open(&written).unwrap();
    file.verify(&mut Scratch::new(&mut vec![0; 1 << 20])).unwrap();
    let read = pairs(&file.part().unwrap().column(0).unwrap(), 1000).unwrap();
    assert!(some.count_ones() < rows as usize && read.len() == rows as usize);
    // The array has a value, which is never missing.
    let mut found = 0;
    file.visit(false, &mut |node| {
        if node.id == b"vortex.parquet.variant" {
            assert_eq!(node.metadata(), Ok(&[8, 1][..]));
            found += 1;
        }
        Ok(())
    })
    .unwrap();
    assert!(found > 0);
    for (i, pair) in read.iter().enumerate() {
        let value = if some.get(i) == Some(true) { vec![0x14, i as u8, (i >> 8) as u8, 0, 0] } else { vec![0] };
        assert_eq!(*pair, Some((NO_NAMES.to_vec(), value)), "row {i}");
    }
    // Old releases refuse a file with this type.
    let wide = WriteOptions { profile: Profile::Wide, ..WriteOptions::DEFAULT };
    let e = Writer::new(Vec::new(), &columns[..], &wide).unwrap_err();
    let pilaster::bytes::WriteError::Format(e) = e;
    assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::VORTEX_VARIANT));
}
