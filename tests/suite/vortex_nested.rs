//! Vortex: nested values that lie in scalars, and nested rows of several chunks.

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Table as _, Type, Value};
use pilaster::error::{Error, Kind};
use pilaster::vortex::Encoding;
use pilaster::vortex::{Column, File};
use pilaster_oracle::vortex as owned;

use crate::build::{bits, blob, count, dtype, node, plain, with};

fn of(ty: owned::Type) -> Option<Box<owned::DType>> {
    Some(Box::new(owned::DType { type_: Some(ty) }))
}

fn long(nullable: bool) -> owned::Type {
    owned::Type::Primitive(Box::new(owned::Primitive { ptype: owned::PType::I64, nullable }))
}

fn utf8() -> owned::Type {
    owned::Type::Utf8(Box::new(owned::Utf8 { nullable: true }))
}

fn list(element: owned::Type) -> owned::Type {
    owned::Type::List(Box::new(owned::List { element_type: of(element), nullable: true }))
}

fn record(fields: Vec<(&str, owned::Type)>) -> owned::Type {
    let (names, dtypes) = fields.into_iter().map(|(name, ty)| (name.to_owned(), *of(ty).unwrap())).unzip();
    owned::Type::Struct(Box::new(owned::Struct { names: Some(names), dtypes: Some(dtypes), nullable: true }))
}

/// A scalar: one field of a message.
fn scalar(field: u8, bytes: &[u8]) -> Vec<u8> {
    [&[field << 3 | 2, bytes.len() as u8][..], bytes].concat()
}

fn number(value: i8) -> Vec<u8> {
    vec![0x18, (value << 1 ^ value >> 7) as u8]
}

fn words(text: &str) -> Vec<u8> {
    scalar(7, text.as_bytes())
}

fn items(values: &[Vec<u8>]) -> Vec<u8> {
    scalar(9, &values.iter().flat_map(|value| scalar(1, value)).collect::<Vec<_>>())
}

const NULL: [u8; 2] = [8, 0];

/// Some rows as JSON of a kind.
fn show(column: &Column<'_>, rows: std::ops::Range<u64>) -> Result<Vec<String>, Error> {
    let mut out = Vec::new();
    let mut row = rows.start;
    while row < rows.end {
        let mut memory = vec![0x99; 1 << 14];
        let batch = column.read(row..rows.end, &mut Scratch::new(&mut memory))?;
        assert!(batch.len > 0);
        for i in 0..batch.len {
            out.push(match batch.value(i)? {
                Value::Null => "null".to_owned(),
                Value::Int(value) => value.to_string(),
                text @ Value::Text(_) => format!("{:?}", text.text()?.unwrap()),
                Value::Nested(rows) => {
                    let children = 0..batch.of.ty().children();
                    let shown = children.map(|k| show(&batch.of.child(k)?, rows.clone()));
                    let shown = shown.collect::<Result<Vec<_>, _>>()?.concat().join(",");
                    if let Type::Struct(_) = batch.of.ty() { format!("{{{shown}}}") } else { format!("[{shown}]") }
                }
                other => panic!("{other:?}"),
            });
        }
        row += batch.len as u64;
    }
    Ok(out)
}

/// Three rows of a constant, in all, and the last alone.
fn constant(ty: owned::Type, value: &[u8]) -> String {
    let blob = blob(node(Encoding::Constant, &[], &[0], vec![]), &[value]);
    with(&blob, &dtype(ty), 3, |file, column| {
        file.verify(&mut Scratch::new(&mut vec![0; 1 << 14])).unwrap();
        let all = show(&column, 0..3).unwrap();
        assert_eq!(all, [&*all[0]; 3]);
        assert_eq!(show(&column, 2..3).unwrap(), all[..1]);
        all[0].clone()
    })
}

#[test]
fn constants_of_nested_values() {
    let pair = || record(vec![("a", long(true)), ("t", utf8())]);
    let one = items(&[number(-5), words("five")]);
    let two = items(&[NULL.to_vec(), words("")]);
    assert_eq!(constant(pair(), &one), "{-5,\"five\"}");
    assert_eq!(constant(pair(), &NULL), "null");
    assert_eq!(constant(list(long(true)), &items(&[number(1), NULL.to_vec(), number(3)])), "[1,null,3]");
    let structs = items(&[one.clone(), NULL.to_vec(), two.clone()]);
    assert_eq!(constant(list(pair()), &structs), "[{-5,\"five\"},null,{null,\"\"}]");
    let lists = items(&[items(&[number(1), number(2)]), NULL.to_vec(), items(&[]), items(&[number(3)])]);
    assert_eq!(constant(list(list(long(false))), &lists), "[[1,2],null,[],[3]]");
    let deep = items(&[items(&[one.clone(), two.clone()]), items(std::slice::from_ref(&one))]);
    assert_eq!(constant(list(list(pair())), &deep), "[[{-5,\"five\"},{null,\"\"}],[{-5,\"five\"}]]");
    let inner = record(vec![("x", list(long(false))), ("p", pair())]);
    let value = items(&[items(&[items(&[number(7), number(8)]), one.clone()]), items(&[items(&[]), NULL.to_vec()])]);
    assert_eq!(constant(list(inner), &value), "[{[7,8],{-5,\"five\"}},{[],null}]");
    assert_eq!(constant(list(pair()), &items(&[])), "[]");
}

#[test]
fn constant_maps() {
    let ty = owned::Type::Map(Box::new(owned::Map {
        key_type: of(utf8()),
        value_type: of(long(true)),
        keys_sorted: false,
        nullable: true,
    }));
    let entries = items(&[items(&[words("a"), number(1)]), items(&[words("b"), NULL.to_vec()])]);
    assert_eq!(constant(ty.clone(), &entries), "[{\"a\",1},{\"b\",null}]");
    assert_eq!(constant(ty, &NULL), "null");
}

/// Rows of a masked array whose values come in chunks: texts of dictionaries, and lists.
#[test]
fn chunks_below_a_mask() {
    let offsets: Vec<u8> = [0u64, 3, 5].iter().flat_map(|row| row.to_le_bytes()).collect();
    let text = |k| node(Encoding::VarBin, &[], &[k], vec![plain(k + 1)]);
    let dict = |codes, k| node(Encoding::Dict, &[0x08, 2, 0x18, 0], &[], vec![plain(codes), text(k)]);
    // Codes 1 0 1 into ("ab", "c"), and 0 1 into ("", "defg").
    let chunked = node(Encoding::Chunked, &[], &[], vec![plain(0), dict(1, 3), dict(2, 5)]);
    let root = node(Encoding::Masked, &[], &[], vec![chunked, bits(7)]);
    let texts = blob(root, &[&offsets, &[1, 0, 1], &[0, 1], b"abc", &[0, 2, 3], b"defg", &[0, 0, 4], &[0b11101]]);
    with(&texts, &dtype(utf8()), 5, |file, column| {
        file.verify(&mut Scratch::new(&mut vec![0; 1 << 14])).unwrap();
        assert_eq!(show(&column, 0..5).unwrap(), ["\"c\"", "null", "\"c\"", "\"\"", "\"defg\""]);
        assert_eq!(show(&column, 2..4).unwrap(), ["\"c\"", "\"\""]);
    });
    // Lists of sequences 0, 1, ... and 10, 11, ...; offsets 0 1 1 4, and 0 2 3.
    let list_of = |len, first, offsets| node(Encoding::List, &[0x08, len], &[], vec![count(first), plain(offsets)]);
    let chunked = node(Encoding::Chunked, &[], &[], vec![plain(0), list_of(4, 0, 1), list_of(3, 10, 2)]);
    let root = node(Encoding::Masked, &[], &[], vec![chunked, bits(3)]);
    let lists = blob(root, &[&offsets, &[0, 1, 1, 4], &[0, 2, 3], &[0b11101]]);
    with(&lists, &dtype(list(long(false))), 5, |file, column| {
        file.verify(&mut Scratch::new(&mut vec![0; 1 << 14])).unwrap();
        assert_eq!(show(&column, 0..5).unwrap(), ["[0]", "null", "[1,2,3]", "[10,11]", "[12]"]);
        assert_eq!(show(&column, 2..5).unwrap(), ["[1,2,3]", "[10,11]", "[12]"]);
    });
}

/// Rows of a sparse array: patches at rows 1, 2 and 5 of 7, everything else the fill value.
#[test]
fn sparse_nested_values() {
    let sparse = |values| {
        let patches = [0x0a, 4, 0x08, 3, 0x18, 0];
        node(Encoding::Sparse, &patches, &[0], vec![plain(1), values])
    };
    let rows = |root, fill: &[u8], ty| {
        let blob = blob(root, &[fill, &[1, 2, 5], &[0, 1, 1, 4], &[0b101], &[0b0111_1101]]);
        with(&blob, &dtype(ty), 7, |file, column| {
            file.verify(&mut Scratch::new(&mut vec![0; 1 << 14])).unwrap();
            let all = show(&column, 0..7).unwrap();
            for (row, value) in all.iter().enumerate() {
                assert_eq!(show(&column, row as u64..row as u64 + 1).unwrap(), [&**value], "row {row}");
            }
            assert_eq!(show(&column, 2..6).unwrap(), all[2..6]);
            all.join(" ")
        })
    };
    // Lists [0], null, [1, 2, 3] where they are patched.
    let lists = || node(Encoding::List, &[0x08, 4], &[], vec![count(0), plain(2), bits(3)]);
    let fill = items(&[number(8), number(9)]);
    assert_eq!(rows(sparse(lists()), &fill, list(long(false))), "[8,9] [0] null [8,9] [8,9] [1,2,3] [8,9]");
    assert_eq!(rows(sparse(lists()), &NULL, list(long(false))), "null [0] null null null [1,2,3] null");
    // Rows are missing by the mask only.
    let unmasked = node(Encoding::List, &[0x08, 4], &[], vec![count(0), plain(2)]);
    let masked = node(Encoding::Masked, &[], &[], vec![sparse(unmasked), bits(4)]);
    assert_eq!(rows(masked, &fill, list(long(false))), "[8,9] null [] [8,9] [8,9] [1,2,3] [8,9]");
    // Structs of a sequence from 5 on.
    let structs = || node(Encoding::Struct, &[], &[], vec![bits(3), count(5)]);
    let ty = || record(vec![("a", long(true))]);
    assert_eq!(rows(sparse(structs()), &items(&[number(1)]), ty()), "{1} {5} null {1} {1} {7} {1}");
    assert_eq!(rows(sparse(structs()), &NULL, ty()), "null {5} null null null {7} null");
}

/// A field of sparse structs as a column of its own.
#[test]
fn a_field_of_sparse_structs() {
    let structs = node(Encoding::Struct, &[], &[], vec![count(5)]);
    let root = node(Encoding::Sparse, &[0x0a, 4, 0x08, 3, 0x18, 0], &[0], vec![plain(1), structs]);
    let blob = blob(root, &[&items(&[number(1)]), &[1, 2, 5]]);
    with(&blob, &dtype(record(vec![("a", long(false))])), 7, |_, column| {
        let field = column.child(0).unwrap();
        assert_eq!(show(&field, 0..7).unwrap(), ["1", "5", "6", "1", "1", "7", "1"]);
        assert_eq!(show(&field, 5..6).unwrap(), ["7"]);
    });
}

/// Fields of structs by their path. A missing struct has missing fields.
#[test]
fn fields_of_missing_structs_are_missing() {
    let golden = format!("{}/tests/golden/vortex/lay_nullable_struct_a.vortex", env!("CARGO_MANIFEST_DIR"));
    let golden = std::fs::read(golden).unwrap();
    let file = File::open(&golden).unwrap();
    let mut table = file.table().unwrap();
    let a: Vec<Option<i64>> = table.to_vec("st.a").unwrap();
    assert_eq!((a.len(), &a[..4]), (250, &[Some(4), Some(11), None, Some(35)][..]));
    let b: Vec<Option<f64>> = table.to_vec("st.b").unwrap();
    assert_eq!(b[1..4].iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true]);
    let e = table.to_vec::<i64>("st.a").unwrap_err();
    assert_eq!((e.kind(), e.at()), (Kind::Lossy, 2));
    assert_eq!(table.to_vec::<i64>("st").unwrap_err().kind(), Kind::WrongType);
    for unknown in ["st.c", "st.", "st.a.", "st.a.x", "s.a", "id.a"] {
        assert_eq!(table.to_vec::<i64>(unknown).unwrap_err().kind(), Kind::Unknown, "{unknown}");
    }

    // The rows of patches are in no order: structs of a sequence from 5 on, at rows 1, 2 and 5.
    let structs = || node(Encoding::Struct, &[], &[], vec![bits(2), count(5)]);
    let root = node(Encoding::Sparse, &[0x0a, 4, 0x08, 3, 0x18, 0], &[0], vec![plain(1), structs()]);
    let blob = blob(root, &[&NULL, &[1, 2, 5], &[0b101]]);
    with(&blob, &dtype(record(vec![("a", long(true))])), 7, |file, _| {
        let a = file.table().unwrap().to_vec::<Option<i64>>(".a");
        assert_eq!(a, Ok(vec![None, Some(5), None, None, None, Some(7), None]));
    });
}
