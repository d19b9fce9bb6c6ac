//! Filo vectors in: the checked view of a chunk.

mod binary;
mod column;
mod flat;
mod mask;
mod numbers;
mod packed;
mod strings;
mod value;

pub use column::{Column, Table};
pub use value::Value;

use self::mask::Mask;
use self::numbers::{Numbers, Zones};
use self::packed::Packed;
use self::strings::Strings;
use super::raw::{HEADER_LEN, Header, Packing};
use super::{Element, Encoding};
use crate::bytes::{LittleEndian, Reader};
use crate::encoding::low32;
use crate::error::{Error, Kind, Result, What};

/// A checked view of one vector: a chunk of bytes, read as one element type.
///
/// Opening checks the structure and costs the same for any number of rows. Rows are found in
/// constant time ([`get`](Self::get)); bulk reading goes through [`column`](Self::column).
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a> {
    element: Element,
    header: Header,
    rows: u32,
    mask: Mask<'a>,
    data: Data<'a>,
}

/// Where the values of the rows are.
#[derive(Clone, Copy, Debug)]
enum Data<'a> {
    /// Nowhere: all rows are missing.
    Nothing,
    /// One bit per row, in 64-bit words; or bit 0 for all rows.
    Bits { words: &'a [u8], constant: bool },
    /// Numbers of any width.
    Numbers(Numbers<'a>),
    /// Instants and zone offsets.
    DateTime { millis: Numbers<'a>, zones: Zones<'a> },
    /// One string per row.
    Strings(Strings<'a>),
    /// A code per row; code 0 is a missing row.
    Coded { entries: Strings<'a>, count: u32, codes: Packed<'a> },
}

impl<'a> Vector<'a> {
    /// Opens the chunk `bytes` as a vector of `element`. `bytes` must be the chunk to the byte: the row
    /// count of most BinaryVectors follows from the length.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if section 3 does not allow the header for the element type,
    /// [`Kind::Unsupported`] for an unknown header, and what is wrong with the structure.
    pub fn open(bytes: &'a [u8], element: Element) -> Result<Vector<'a>> {
        let mut r = Reader::<LittleEndian>::new(bytes);
        let word = r.u32(What::FiloHeader)?;
        // Offsets and row counts are signed 32-bit numbers (section 12).
        if i32::try_from(bytes.len()).is_err() {
            return Err(Error::new(Kind::Overflow, What::Input, 0).with_need(bytes.len() as u64));
        }
        let header = Header::of_word(word)?;
        // Filled in place, as it is large for a small machine.
        let mut vector = Vector { element, header, rows: 0, mask: Mask::None, data: Data::Nothing };
        match header {
            Header::Empty => {
                r.end(What::Input)?;
                (vector.rows, vector.mask) = (word >> 8, Mask::All);
            }
            Header::SimplePrimitive
            | Header::SimpleString
            | Header::DictString
            | Header::ConstPrimitive
            | Header::ConstString
            | Header::DiffPrimitive
            | Header::DiffDateTime => vector.open_flat(bytes)?,
            Header::MaskedPrimitive
            | Header::Primitive
            | Header::Repeated
            | Header::MaskedInt
            | Header::Int
            | Header::Utf8
            | Header::FixedMaxUtf8
            | Header::DictUtf8
            | Header::DeltaDelta => vector.open_binary(bytes, r)?,
        }
        Ok(vector)
    }

    /// That section 3 does not allow the header for the element type.
    #[cold]
    fn wrong_type(&self) -> Error {
        Error::new(Kind::WrongType, What::FiloHeader, 0).with_need(self.header.word().into())
    }

    /// The element type that the vector was opened as.
    #[must_use]
    pub const fn element(&self) -> Element {
        self.element
    }

    /// What the header word says. Ints of releases before 0.3.3 have other headers than
    /// [`encoding`](Self::encoding) would be written with (section 15).
    #[must_use]
    pub const fn header(&self) -> Header {
        self.header
    }

    /// How the rows are stored.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        let packing = match self.data {
            Data::Numbers(numbers) | Data::DateTime { millis: numbers, .. } => numbers.packed.packing,
            Data::Coded { codes, .. } => codes.packing,
            Data::Nothing | Data::Bits { .. } | Data::Strings(_) => Packing::W64,
        };
        match self.header {
            Header::Empty => Encoding::Empty,
            Header::SimplePrimitive => Encoding::Simple(packing),
            Header::SimpleString => Encoding::SimpleString,
            Header::DictString => Encoding::DictString(packing),
            Header::ConstPrimitive => Encoding::Const(packing),
            Header::ConstString => Encoding::ConstString,
            Header::DiffPrimitive => Encoding::Diff(packing),
            Header::DiffDateTime => {
                let zones = match self.data {
                    Data::DateTime { zones, .. } if !zones.packed.data.is_empty() => Some(zones.packed.packing),
                    _ => None,
                };
                Encoding::DiffDateTime { millis: packing, zones }
            }
            Header::MaskedPrimitive | Header::MaskedInt => Encoding::Masked(packing),
            Header::Primitive | Header::Int => Encoding::Packed(packing),
            Header::Repeated => Encoding::Repeated,
            Header::Utf8 => Encoding::Utf8,
            Header::FixedMaxUtf8 => Encoding::FixedMaxUtf8,
            Header::DictUtf8 => Encoding::DictUtf8(packing),
            Header::DeltaDelta => Encoding::DeltaDelta(packing),
        }
    }

    /// How many rows. In empty, constant and repeated vectors a few bytes can claim any number.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows as u64
    }

    /// Whether a row may be missing.
    #[must_use]
    pub const fn nullable(&self) -> bool {
        match self.data {
            Data::Nothing | Data::Coded { .. } => true,
            Data::Strings(strings) => !matches!(self.mask, Mask::None) || strings.may_miss(),
            _ => !matches!(self.mask, Mask::None),
        }
    }

    /// Row `row`; `None` if it is missing. In constant time.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such row, or what is wrong with its bytes.
    pub fn get(&self, row: u64) -> Result<Option<Value<'a>>> {
        let i = match usize::try_from(row) {
            Ok(i) if row < self.rows() => i,
            _ => return Err(Error::new(Kind::OutOfRange, What::Row, row).with_need(self.rows())),
        };
        if self.mask.is_na(i) {
            return Ok(None);
        }
        Ok(match &self.data {
            Data::Nothing => None,
            Data::Bits { words, constant } => {
                let i = if *constant { 0 } else { i };
                let byte = words.get(i >> 3).copied().unwrap_or(0);
                Some(Value::Boolean(byte >> (i & 7) & 1 == 1))
            }
            Data::Numbers(numbers) => Some(self.number(numbers.get(i)?)),
            Data::DateTime { millis, zones } => Some(Value::DateTime {
                millis: millis.get(i)?.cast_signed(),
                offset_ms: low32(zones.offsets().get(i)?).cast_signed(),
            }),
            Data::Strings(strings) => strings.get(i)?.map(Value::Bytes),
            Data::Coded { entries, count, codes } => match low32(codes.get(i)?) {
                0 => None,
                code if code < *count => entries.get(code as usize)?.map(Value::Bytes),
                code => return Err(strings::bad_code(code, codes)),
            },
        })
    }

    /// A 64-bit word as a value of the element type.
    fn number(&self, word: u64) -> Value<'a> {
        match self.element {
            Element::Int => Value::Int(low32(word).cast_signed()),
            Element::Float => Value::Float(f32::from_bits(low32(word))),
            Element::Double => Value::Double(f64::from_bits(word)),
            Element::Timestamp => Value::Timestamp(word.cast_signed()),
            _ => Value::Long(word.cast_signed()),
        }
    }

    /// All rows, one by one.
    #[must_use]
    pub const fn iter(&self) -> Iter<'a> {
        Iter { vector: *self, row: 0 }
    }

    /// Column 0: the values. Column 1, of date-times only: the offset from UTC in milliseconds.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such column.
    pub fn column(&self, k: usize) -> Result<Column<'a>> {
        Column::of(*self, k)
    }

    /// Touches everything that opening does not: every string, code and zone offset, and that text is
    /// text. The work is bounded by the length of the chunk, not by the rows that it claims.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<()> {
        let text = matches!(self.element, Element::String | Element::Utf8);
        let rows = match &self.data {
            // Checked by opening: the numbers are there, and any bits are numbers.
            Data::Nothing | Data::Bits { .. } | Data::Numbers(_) => 0,
            Data::DateTime { .. } | Data::Coded { .. } => self.rows(),
            Data::Strings(strings) => {
                if strings.is_one() {
                    self.rows().min(1)
                } else {
                    self.rows()
                }
            }
        };
        if let (Data::Coded { entries, count, .. }, true) = (&self.data, text) {
            for code in 1..*count {
                check_text(entries, usize::try_from(code).unwrap_or(usize::MAX))?;
            }
        }
        for row in 0..rows {
            match &self.data {
                Data::Strings(strings) if text => check_text(strings, usize::try_from(row).unwrap_or(usize::MAX))?,
                _ => {
                    self.get(row)?;
                }
            }
        }
        Ok(())
    }
}

fn check_text(strings: &Strings<'_>, i: usize) -> Result<()> {
    let span = strings.span(i)?;
    match core::str::from_utf8(strings.bytes(span).unwrap_or_default()) {
        Ok(_) => Ok(()),
        Err(e) => {
            let at = u64::from(span.at).saturating_add(e.valid_up_to() as u64);
            Err(Error::new(Kind::Utf8, What::FiloString, at))
        }
    }
}

/// The rows of a vector, one by one. Ends after the first error.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    vector: Vector<'a>,
    row: u64,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Result<Option<Value<'a>>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.row >= self.vector.rows() {
            return None;
        }
        let value = self.vector.get(self.row);
        self.row = if value.is_ok() { self.row.saturating_add(1) } else { self.vector.rows() };
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.vector.rows().saturating_sub(self.row);
        (0, usize::try_from(left).ok())
    }
}

/// The payload's start, from which its offsets count (section 1).
const PAYLOAD: u64 = HEADER_LEN as u64;

/// A row count as the format has it: signed, and never negative.
fn row_count(word: u32, at: u64) -> Result<u32> {
    if word.cast_signed() < 0 {
        return Err(Error::new(Kind::Invalid, What::FiloRows, at).with_need(word.into()));
    }
    Ok(word)
}

/// A count that came from a length, as a row count.
fn rows_of(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::new(Kind::Overflow, What::FiloRows, 0).with_need(count as u64))
}
