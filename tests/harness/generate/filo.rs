//! Filo vectors: any encoding that holds the rows, else the smallest.

use arbitrary::{Arbitrary, Result, Unstructured};
use pilaster::any::{File, Format, Hints};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Prim, Type, Values};
use pilaster::filo::write::{Plain, Strings, encode, encode_auto, max_len, scratch_len};
use pilaster::filo::{Element, Encoding, write};

use super::bend::{Bend, bend};
use super::rows::{Rows, Wanted};
use super::{Reach, bends, same};
use crate::harness::{any_file, filo_vector};

const WANTED: Wanted = Wanted {
    types: &[
        Type::Bool,
        Type::Prim(Prim::I32),
        Type::Prim(Prim::I64),
        Type::Prim(Prim::F32),
        Type::Prim(Prim::F64),
        Type::Utf8,
        Type::Bytes,
    ],
    nulls: true,
    sentinels: false,
};

/// Offsets where an encoding may keep its counts, bases and widths.
const MARKS: [usize; 8] = [0, 4, 8, 12, 16, 24, 32, 48];

/// A vector to be. Of the rows only the first column is written.
#[derive(Clone, Debug)]
pub struct Made {
    pub rows: Rows,
    encoding: Encoding,
    /// Whether numbers of 64 bits are instants, and texts are strings of the older kind.
    other: bool,
    bends: Vec<Bend>,
}

impl<'a> Arbitrary<'a> for Made {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (bends, encoding, other) = (bends(u)?, u.arbitrary()?, u.arbitrary()?);
        let mut rows = Rows::arbitrary(u, &WANTED)?;
        rows.columns.truncate(1);
        Ok(Made { rows, encoding, other, bends })
    }
}

impl Made {
    /// The element type, which the reader must know.
    pub fn element(&self) -> Element {
        match self.rows.columns[0].ty {
            Type::Bool => Element::Boolean,
            Type::Prim(Prim::I32) => Element::Int,
            Type::Prim(Prim::I64) if self.other => Element::Timestamp,
            Type::Prim(Prim::I64) => Element::Long,
            Type::Prim(Prim::F32) => Element::Float,
            Type::Prim(Prim::F64) => Element::Double,
            Type::Utf8 if self.other => Element::String,
            Type::Utf8 => Element::Utf8,
            _ => Element::Blob,
        }
    }

    /// The vector as the library writes it.
    pub fn plain(&self) -> Vec<u8> {
        let cells = self.rows.columns[0].all();
        let batch = (&cells).read(0..(&cells).rows(), &mut Scratch::new(&mut [])).expect("rows");
        let mut text = 0;
        let values = match batch.values {
            Values::Bool(bits) => Plain::Boolean(bits),
            Values::I32(values) => Plain::Int(values),
            Values::I64(values) if self.other => Plain::Timestamp(values),
            Values::I64(values) => Plain::Long(values),
            Values::F32(values) => Plain::Float(values),
            Values::F64(values) => Plain::Double(values),
            Values::Utf8(strings) | Values::Bytes(strings) => {
                text = strings.data.len();
                let kind = match self.element() {
                    Element::String => Plain::String,
                    Element::Utf8 => Plain::Utf8,
                    _ => Plain::Blob,
                };
                kind(Strings::Spans(strings))
            }
            other => panic!("no rows of Filo: {other:?}"),
        };
        let rows = write::Rows { values, validity: batch.validity };
        let mut memory = vec![0; scratch_len(batch.len)];
        let longest = Encoding::FixedMaxUtf8;
        let mut chunk = vec![0; max_len(self.encoding, batch.len, text).max(max_len(longest, batch.len, text)) + 4096];
        let mut scratch = Scratch::new(&mut memory);
        let len = encode(self.encoding, &rows, &mut chunk, &mut scratch)
            .or_else(|_| encode_auto(&rows, &mut chunk, &mut scratch))
            .expect("an encoding for all rows");
        chunk.truncate(len);
        chunk
    }

    /// The vector, bent.
    pub fn file(&self) -> Vec<u8> {
        let mut chunk = self.plain();
        bend(&mut chunk, &self.bends, &MARKS);
        chunk
    }
}

/// Reads a vector in all ways. One that is not bent has the rows that were written.
pub fn check(made: &Made) -> Reach {
    let (chunk, plain, element) = (made.file(), made.plain(), made.element());
    filo_vector::read(&chunk, element);
    let hints = Hints { element: Some(element), ..Hints::default() };
    let opened = File::open(&chunk, Format::Filo, &hints, &mut Scratch::new(&mut []));
    if chunk == plain {
        same(&made.rows, opened.as_ref().expect("what was written"), |_, _| false);
    }
    let rows = opened.map_or(0, |file| any_file::look(&file, &mut []));
    Reach { bent: chunk != plain, deep: rows > 0 }
}
