//! Builds a Filo vector of each column of another format.

use alloc::string::String;
use alloc::vec::Vec;

use super::Element;
use super::write::{Plain, Rows, Strings, choose, encode, max_len, scratch_len};
use crate::bytes::{Bits, Scratch};
use crate::column::{Batch, Build, Column, Feed, Prim, Spans, Type, Unit, Validity, Values, VarBytes};
use crate::error::{Error, Kind, Result, What};

/// Encodes each column that [`convert`](crate::column::convert) feeds it as one vector, in the smallest encoding.
/// Passes the vector, with the column's number and name, to a callback.
///
/// [`Element::of_column`] returns the element type of a column. A type without one is an error: [`Kind::WrongType`]
/// with the column's number.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Once, convert};
/// use pilaster::filo::{Builder, Element, Vector};
///
/// // 32-bit ints in, the same rows packed in 2 bits out.
/// let chunk = [6, 8, 0, 0, 32, 0, 1, 0, 3, 0, 0, 0, 1, 0, 0, 0];
/// let mut table = Once::new(Vector::open(&chunk, Element::Int)?);
/// let mut small = Vec::new();
/// let mut builder = Builder::new(|_, name: &str, element, chunk: &[u8]| {
///     assert_eq!((name, element), ("v", Element::Int));
///     small.extend_from_slice(chunk);
///     Ok(())
/// });
/// convert(&mut table, &mut builder, &mut Scratch::new(&mut [0; 256]))?;
/// assert_eq!(small, [6, 8, 0, 0, 2, 0, 0, 4, 0b0111]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Builder<F> {
    emit: F,
    open: Option<Gathered>,
}

impl Element {
    /// Returns the element type of a vector for a column of `ty`, or `None` if no vector can store it. Integers up to
    /// 32 bits become Int, `uint32` and `int64` Long, text UTF8, bytes Blob, timestamps in milliseconds Timestamp.
    ///
    /// ```
    /// use pilaster::column::{Prim, Type};
    /// use pilaster::filo::Element;
    ///
    /// assert_eq!(Element::of_column(Type::Prim(Prim::U16)), Some(Element::Int));
    /// assert_eq!(Element::of_column(Type::Prim(Prim::U64)), None);
    /// ```
    #[must_use]
    pub const fn of_column(ty: Type) -> Option<Element> {
        Some(match ty {
            Type::Bool => Element::Boolean,
            Type::Prim(Prim::I8 | Prim::I16 | Prim::I32 | Prim::U8 | Prim::U16) => Element::Int,
            Type::Prim(Prim::I64 | Prim::U32) => Element::Long,
            Type::Prim(Prim::F32) => Element::Float,
            Type::Prim(Prim::F64) => Element::Double,
            Type::Timestamp(Unit::Milli) => Element::Timestamp,
            Type::Utf8 => Element::Utf8,
            Type::Bytes | Type::FixedBytes(_) | Type::Opaque => Element::Blob,
            _ => return None,
        })
    }
}

/// The rows of a column so far.
#[derive(Debug)]
struct Gathered {
    k: usize,
    name: String,
    element: Element,
    rows: usize,
    values: Owned,
    /// One bit per row, 1 = has a value.
    valid: Vec<u8>,
}

#[derive(Debug)]
enum Owned {
    Boolean(Vec<u8>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Text { data: Vec<u8>, ends: Vec<u64> },
}

impl<F: FnMut(usize, &str, Element, &[u8]) -> Result<()>> Builder<F> {
    /// Creates a builder that passes each finished chunk to `emit`: column number, name, element type, bytes.
    pub const fn new(emit: F) -> Self {
        Builder { emit, open: None }
    }
}

impl<F: FnMut(usize, &str, Element, &[u8]) -> Result<()>> Build for Builder<F> {
    type Error = Error;

    fn feed(&self) -> Feed {
        Feed::Columns
    }

    fn open(&mut self, _rows: u64) -> Result<()> {
        self.open = None;
        Ok(())
    }

    fn batch<C: Column>(&mut self, k: usize, name: &str, _at: u64, col: &C, batch: &Batch<'_, C>) -> Result<()> {
        let gathered = match &mut self.open {
            Some(gathered) => gathered,
            open => open.insert(Gathered::new(k, name, col.ty())?),
        };
        gathered.push(batch)
    }

    fn close(&mut self) -> Result<()> {
        match self.open.take() {
            Some(gathered) => gathered.write(&mut self.emit),
            None => Ok(()),
        }
    }
}

impl Gathered {
    fn new(k: usize, name: &str, ty: Type) -> Result<Self> {
        let element = Element::of_column(ty).ok_or_else(|| wrong_type(k))?;
        let values = match element {
            Element::Boolean => Owned::Boolean(Vec::new()),
            Element::Int => Owned::Int(Vec::new()),
            Element::Float => Owned::Float(Vec::new()),
            Element::Double => Owned::Double(Vec::new()),
            Element::Long | Element::Timestamp | Element::DateTime => Owned::Long(Vec::new()),
            Element::String | Element::Utf8 | Element::Blob => Owned::Text { data: Vec::new(), ends: Vec::from([0]) },
        };
        Ok(Gathered { k, name: String::from(name), element, rows: 0, values, valid: Vec::new() })
    }

    fn push<C: Column>(&mut self, batch: &Batch<'_, C>) -> Result<()> {
        push_bits(&mut self.valid, self.rows, batch.len, |i| batch.validity.word(i));
        match (&mut self.values, batch.values) {
            (Owned::Boolean(bytes), Values::Bool(bits)) => push_bits(bytes, self.rows, batch.len, |i| bits.word(i)),
            (Owned::Int(to), Values::I8(from)) => to.extend(from.iter().map(|v| i32::from(*v))),
            (Owned::Int(to), Values::I16(from)) => to.extend(from.iter().map(|v| i32::from(*v))),
            (Owned::Int(to), Values::U8(from)) => to.extend(from.iter().map(|v| i32::from(*v))),
            (Owned::Int(to), Values::U16(from)) => to.extend(from.iter().map(|v| i32::from(*v))),
            (Owned::Int(to), Values::I32(from)) => to.extend_from_slice(from),
            (Owned::Long(to), Values::U32(from)) => to.extend(from.iter().map(|v| i64::from(*v))),
            (Owned::Long(to), Values::I64(from)) => to.extend_from_slice(from),
            (Owned::Float(to), Values::F32(from)) => to.extend_from_slice(from),
            (Owned::Double(to), Values::F64(from)) => to.extend_from_slice(from),
            (Owned::Text { data, ends }, Values::Utf8(strings) | Values::Bytes(strings)) => {
                for (i, string) in strings.iter().enumerate() {
                    // A missing row may contain any bytes; they are not copied.
                    data.extend_from_slice(if batch.validity.get(i) { string? } else { &[] });
                    ends.push(data.len() as u64);
                }
            }
            _ => return Err(wrong_type(self.k)),
        }
        self.rows = self.rows.saturating_add(batch.len);
        Ok(())
    }

    fn write(&self, emit: &mut impl FnMut(usize, &str, Element, &[u8]) -> Result<()>) -> Result<()> {
        let text = |data, ends| Strings::Spans(VarBytes { data, spans: Spans::Off64(ends) });
        let (values, text_bytes) = match &self.values {
            Owned::Boolean(bytes) => (Plain::Boolean(Bits::new(bytes, 0, self.rows)?), 0),
            Owned::Int(values) => (Plain::Int(values), 0),
            Owned::Long(values) if self.element == Element::Timestamp => (Plain::Timestamp(values), 0),
            Owned::Long(values) => (Plain::Long(values), 0),
            Owned::Float(values) => (Plain::Float(values), 0),
            Owned::Double(values) => (Plain::Double(values), 0),
            Owned::Text { data, ends } if self.element == Element::Blob => (Plain::Blob(text(data, ends)), data.len()),
            Owned::Text { data, ends } => (Plain::Utf8(text(data, ends)), data.len()),
        };
        let rows = Rows { values, validity: Validity::Bits(Bits::new(&self.valid, 0, self.rows)?) };
        let for_strings = if text_bytes == 0 { 0 } else { scratch_len(self.rows) };
        let mut memory = alloc::vec![0; for_strings];
        let encoding = choose(&rows, &mut Scratch::new(&mut memory))?;
        let mut chunk = alloc::vec![0; max_len(encoding, self.rows, text_bytes)];
        let len = encode(encoding, &rows, &mut chunk, &mut Scratch::new(&mut memory))?;
        emit(self.k, &self.name, self.element, chunk.get(..len).unwrap_or_default())
    }
}

/// Appends `len` bits after the first `have` bits, from words of 64 bits addressed by their first bit.
fn push_bits(bytes: &mut Vec<u8>, have: usize, len: usize, word: impl Fn(usize) -> u64) {
    for first in (0..len).step_by(64) {
        let word = word(first);
        for i in 0..len.saturating_sub(first).min(64) {
            let place = have.saturating_add(first).saturating_add(i);
            if place & 7 == 0 {
                bytes.push(0);
            }
            if let (1, Some(byte)) = (word >> i & 1, bytes.last_mut()) {
                *byte |= 1 << (place & 7);
            }
        }
    }
}

#[cold]
fn wrong_type(k: usize) -> Error {
    Error::new(Kind::WrongType, What::FILO_ELEMENT, k as u64)
}
