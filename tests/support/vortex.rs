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
        // Enough for numbers of any width.
        alignment_exponent: 5,
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

/// A postscript that names four parts of `len` bytes each: the type, the layout, the statistics and the footer at these
/// offsets.
pub fn postscript(places: [u64; 4], len: u32) -> Vec<u8> {
    let [dtype, layout, statistics, footer] = places.map(|offset| {
        Some(Box::new(owned::PostscriptSegment { offset, length: len, alignment_exponent: 3, ..Default::default() }))
    });
    let postscript = owned::Postscript { dtype, layout, statistics, footer, ..Default::default() };
    Builder::new().finish(postscript, None).to_vec()
}

/// The type, the layout and the footer of a file without rows.
pub fn metadata() -> [Vec<u8>; 3] {
    let root = owned::Layout { row_count: 0, ..Default::default() };
    let footer = owned::Footer { segment_specs: Some(Vec::new()), ..Default::default() };
    let dtype = number(owned::PType::I64, false);
    [dtype, Builder::new().finish(root, None).to_vec(), Builder::new().finish(footer, None).to_vec()]
}

/// The ids of layouts in files made here.
const LAYOUTS: [&str; 3] = ["vortex.struct", "vortex.chunked", "vortex.flat"];

/// A file of one array, the rows of its only column without a name.
pub fn file(blob: &[u8], dtype: &[u8], rows: u64) -> Vec<u8> {
    let flat = owned::Layout { encoding: 2, row_count: rows, segments: Some(vec![0]), ..Default::default() };
    let mut bytes = [b"VTXF\0\0\0\0", blob].concat();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let end = end(bytes.len() as u64, &[(8, blob.len())], flat, dtype);
    [bytes, end].concat()
}

/// The metadata of a file of these segments, at offset `start`.
fn end(start: u64, segments: &[(u64, usize)], root: owned::Layout, dtype: &[u8]) -> Vec<u8> {
    let specs = segments.iter().map(|(offset, len)| owned::SegmentSpec {
        offset: *offset,
        length: *len as u32,
        alignment_exponent: 3,
        compression: 0,
        encryption: 0,
    });
    let footer = owned::Footer {
        array_specs: Some(Encoding::ALL.iter().map(|known| owned::ArraySpec { id: known.id().into() }).collect()),
        layout_specs: Some(LAYOUTS.map(|id| owned::LayoutSpec { id: id.into() }).to_vec()),
        segment_specs: Some(specs.collect()),
        ..Default::default()
    };
    let mut end = Vec::new();
    let mut put = |bytes: &[u8]| {
        let at = start + end.len() as u64;
        end.extend_from_slice(bytes);
        end.resize(end.len().next_multiple_of(8), 0);
        Some(Box::new(owned::PostscriptSegment {
            offset: at,
            length: bytes.len() as u32,
            alignment_exponent: 3,
            ..Default::default()
        }))
    };
    let postscript = owned::Postscript {
        dtype: put(dtype),
        layout: put(Builder::new().finish(root, None)),
        footer: put(Builder::new().finish(footer, None)),
        ..Default::default()
    };
    let postscript = Builder::new().finish(postscript, None).to_vec();
    end.extend_from_slice(&postscript);
    end.extend_from_slice(&1u16.to_le_bytes());
    end.extend_from_slice(&(postscript.len() as u16).to_le_bytes());
    end.extend_from_slice(b"VTXF");
    end
}

/// A file of `chunks` chunks of `rows` numbers each, all zero, with `gap` bytes after each chunk. Returns its length, and
/// the bytes that are not zero with their offsets.
pub fn chunked(chunks: u64, rows: u64, gap: u64) -> (u64, Vec<(u64, Vec<u8>)>) {
    let segment = blob(plain(0), &[&vec![0; 8 * rows as usize]]);
    // All chunks are in their own segment; the bytes after the buffer are the same in each.
    let (data, tree) = segment.split_at(8 * rows as usize);
    let (each, tree) = ((data.len() + tree.len()) as u64, tree.to_vec());
    let flat = |k: u64| owned::Layout {
        encoding: 2,
        row_count: rows,
        metadata: None,
        children: None,
        segments: Some(vec![k as u32]),
    };
    let chunked = owned::Layout {
        encoding: 1,
        row_count: rows * chunks,
        metadata: None,
        children: Some((0..chunks).map(flat).collect()),
        segments: None,
    };
    let root = owned::Layout {
        encoding: 0,
        row_count: rows * chunks,
        metadata: None,
        children: Some(vec![chunked]),
        segments: None,
    };
    let number = owned::DType {
        type_: Some(owned::Type::Primitive(Box::new(owned::Primitive { ptype: owned::PType::I64, nullable: false }))),
    };
    let dtype = self::dtype(owned::Type::Struct(Box::new(owned::Struct {
        names: Some(vec!["a".into()]),
        dtypes: Some(vec![number]),
        nullable: false,
    })));
    let segments: Vec<(u64, usize)> = (0..chunks).map(|k| (8 + k * (each + gap), each as usize)).collect();
    let start = 8 + chunks * (each + gap);
    let end = end(start, &segments, root, &dtype);
    let mut pieces = vec![(0, b"VTXF".to_vec())];
    let len = start + end.len() as u64;
    pieces.push((start, end));
    pieces.extend((0..chunks).map(|k| (8 + k * (each + gap) + 8 * rows, tree.clone())));
    (len, pieces)
}
