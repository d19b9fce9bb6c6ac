//! Vortex arrays made by hand.
#![allow(dead_code, reason = "each test file uses a part")]

use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, FromColumn, Part as _, Values};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::vortex::Encoding;
use pilaster::vortex::{Column, DType, File};
use pilaster_oracle::planus::Builder;
use pilaster_oracle::vortex as owned;

/// A node of an array to be: encoding, metadata, buffers by number, children.
pub fn node(encoding: Encoding, metadata: &[u8], buffers: &[u16], children: Vec<owned::ArrayNode>) -> owned::ArrayNode {
    owned::ArrayNode {
        encoding: Encoding::ALL.iter().position(|known| *known == encoding).unwrap() as u16,
        metadata: Some(metadata.to_vec()),
        children: Some(children),
        buffers: Some(buffers.to_vec()),
        stats: None,
    }
}

/// The varint of a number.
pub fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A `vortex.primitive` of buffer `k`.
pub fn plain(k: u16) -> owned::ArrayNode {
    node(Encoding::Primitive, &[], &[k], vec![])
}

/// A `vortex.bool` of buffer `k`.
pub fn bits(k: u16) -> owned::ArrayNode {
    node(Encoding::Bool, &[], &[k], vec![])
}

/// A `vortex.sequence` of a number that is not negative, and those that follow it.
pub fn count(first: u8) -> owned::ArrayNode {
    node(Encoding::Sequence, &[0x0a, 2, 0x18, 2 * first, 0x12, 2, 0x18, 2], &[], vec![])
}

/// A blob of these buffers and this tree.
pub fn blob(root: owned::ArrayNode, buffers: &[&[u8]]) -> Vec<u8> {
    let mut bytes = buffers.concat();
    let descriptors = buffers.iter().map(|buffer| owned::Buffer {
        padding: 0,
        alignment_exponent: 0,
        compression: owned::Compression::None,
        length: buffer.len() as u32,
    });
    let array = owned::Array { root: Some(Box::new(root)), buffers: Some(descriptors.collect()) };
    let mut builder = Builder::new();
    let flat = builder.finish(array, None);
    bytes.extend_from_slice(flat);
    bytes.extend_from_slice(&(flat.len() as u32).to_le_bytes());
    bytes
}

pub fn dtype(ty: owned::Type) -> Vec<u8> {
    let mut builder = Builder::new();
    builder.finish(owned::DType { type_: Some(ty) }, None).to_vec()
}

pub fn number(ptype: owned::PType, nullable: bool) -> Vec<u8> {
    dtype(owned::Type::Primitive(Box::new(owned::Primitive { ptype, nullable })))
}

pub fn text() -> Vec<u8> {
    dtype(owned::Type::Utf8(Box::new(owned::Utf8 { nullable: false })))
}

/// Opens a blob as `rows` rows and shows its column.
pub fn with<R>(blob: &[u8], dtype: &[u8], rows: u64, look: impl FnOnce(&File<'_>, Column<'_>) -> R) -> R {
    let ids: Vec<&str> = Encoding::ALL.iter().map(|encoding| encoding.id()).collect();
    let dtype = DType::parse(dtype).unwrap();
    let file = File::of_array(blob, dtype, rows, &ids, &Limits::DEFAULT).unwrap();
    let column = file.part().unwrap().column(0).unwrap();
    look(&file, column)
}

/// Reads all rows at once in 64 KiB, which is enough for what a test makes and too little for what it only claims; then
/// again as a vector.
pub fn values<T: FromColumn>(column: &Column<'_>, rows: u64) -> Result<Vec<T>, Error> {
    column.read(0..rows, &mut Scratch::new(&mut vec![0; 1 << 16]))?;
    column.to_vec(0..rows)
}

/// Reads all rows as i64; verifying says the same.
pub fn longs(blob: &[u8], rows: u64) -> Result<Vec<i64>, Error> {
    with(blob, &number(owned::PType::I64, false), rows, |file, column| {
        let read = values(&column, rows);
        let verified = file.verify(&mut Scratch::new(&mut vec![0; 1 << 16]));
        assert_eq!(verified.is_ok(), read.is_ok());
        read
    })
}

/// Reads all rows as text.
pub fn texts(blob: &[u8], rows: u64) -> Result<Vec<String>, Error> {
    with(blob, &text(), rows, |_, column| values(&column, rows))
}

/// Kind and field of an error.
pub fn why(e: Error) -> (Kind, What) {
    (e.kind(), e.what())
}

pub fn le(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Numbers of a column by row, `None` where one is missing.
pub fn integers(column: &Column<'_>, rows: std::ops::Range<u64>) -> Vec<Option<i64>> {
    let mut memory = vec![0; 1 << 20];
    let mut out = Vec::new();
    for row in rows {
        let batch = column.read(row..row + 1, &mut Scratch::new(&mut memory)).unwrap();
        let value = match batch.values {
            Values::I64(values) => values[0],
            Values::U64(values) => values[0] as i64,
            other => panic!("{other:?}"),
        };
        out.push(batch.validity.get(0).then_some(value));
    }
    out
}
