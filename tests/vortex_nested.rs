//! Vortex: nested values that lie in scalars, and nested rows of several chunks.
#![cfg(all(feature = "vortex", feature = "alloc"))]

#[path = "support/vortex.rs"]
mod build;

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Type, Values};
use pilaster::error::Error;
use pilaster::generated::owned::vortex as owned;
use pilaster::vortex::Column;
use pilaster::vortex::raw::Encoding;

use build::{blob, dtype, node, with};

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
            if !batch.validity.get(i) {
                out.push("null".to_owned());
                continue;
            }
            out.push(match batch.values {
                Values::I64(values) => values[i].to_string(),
                Values::Utf8(texts) => format!("{:?}", texts.text(i)?),
                Values::Nested { rows, of } => {
                    let rows = rows.get(i)?;
                    let mut parts = Vec::new();
                    for k in 0..of.ty().children() {
                        parts.push(show(&of.child(k)?, rows.clone())?);
                    }
                    match of.ty() {
                        Type::Struct(_) => format!("{{{}}}", parts.concat().join(",")),
                        _ => format!("[{}]", parts.concat().join(",")),
                    }
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
    let deep = items(&[items(&[one.clone(), two.clone()]), items(&[one.clone()])]);
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
