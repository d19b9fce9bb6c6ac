//! Reads Filo vectors: the checked view of a chunk.

mod binary;
mod coded;
mod column;
mod flat;
mod mask;
mod numbers;
mod packed;
mod strings;
mod value;
mod view;

pub use column::Column;
pub use value::Value;
pub use view::{Access, View, Visitor};

use self::flat::Shape;
use self::mask::Mask;
use self::numbers::{Numbers, Zones};
use self::packed::Packed;
use self::strings::{Kinds, Strings};
use super::raw::{HEADER_LEN, Header, Packing};
use super::{Element, Encoding};
use crate::bytes::{FAST, LittleEndian, Reader, low32, saturated};
use crate::column::Span;
use crate::error::{Error, Kind, Result, What};
use crate::simd;

/// A checked view of one vector: the bytes of a chunk, with an element type.
///
/// Opening checks the structure, in time independent of the number of rows. [`get`](Self::get) reads one row in
/// constant time; [`column`](Self::column) reads batches.
///
/// ```
/// use pilaster::error::Kind;
/// use pilaster::filo::{Element, Encoding, Header, Packing, Vector};
///
/// // Strings of any length: three words, then "tuff" and "gneiss". Row 1 is missing.
/// let mut chunk = *b"\x06\x02\0\0\x03\0\0\0\x04\x80\0\x80\0\0\0\x80\x06\xa0\0\x80tuffgneiss";
/// let vector = Vector::open(&chunk, Element::Utf8)?;
/// assert_eq!((vector.element(), vector.rows(), vector.nullable()), (Element::Utf8, 3, true));
/// assert_eq!((vector.header(), vector.encoding()), (Header::Utf8, Encoding::Utf8));
/// assert_eq!(vector.verify(), Ok(()));
///
/// // Opening does not check the strings.
/// chunk[20] = 0xff;
/// let vector = Vector::open(&chunk, Element::Utf8)?;
/// assert_eq!(vector.verify().unwrap_err().kind(), Kind::Utf8);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a> {
    element: Element,
    header: Header,
    rows: u32,
    mask: Mask<'a>,
    data: Data,
    /// Numbers, bits, milliseconds of date-times, or codes of a dictionary.
    numbers: Numbers<'a>,
    zones: Zones<'a>,
    /// Strings, or the entries of a dictionary.
    strings: Strings<'a>,
    /// The number of dictionary entries.
    entries: u32,
}

/// The kind of values that the rows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    /// All rows are missing.
    Nothing,
    /// One bit per row in 64-bit words, or bit 0 for all rows.
    Bits,
    /// Numbers of any width.
    Numbers,
    /// Instants and zone offsets.
    DateTime,
    /// One string per row.
    Strings,
    /// A code per row. Code 0 marks a missing row.
    Coded,
}

impl<'a> Vector<'a> {
    /// Opens the chunk `bytes` as a vector of `element`. `bytes` must have the exact length of the chunk, because the
    /// row count of most BinaryVectors is computed from it.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the format does not allow the header for the element type (section 3),
    /// [`Kind::Unsupported`] for an unknown header, and errors of an invalid structure.
    pub fn open(bytes: &'a [u8], element: Element) -> Result<Vector<'a>> {
        let mut r = Reader::<LittleEndian>::new(bytes);
        let word = r.u32(What::FILO_HEADER)?;
        // Offsets and row counts are signed 32-bit numbers (section 12).
        if i32::try_from(bytes.len()).is_err() {
            return Err(Error::needing(Kind::Overflow, What::INPUT, 0, bytes.len() as u64));
        }
        let header = Header::of_word(word)?;
        // Filled in place, because copying it is expensive on small targets.
        let mut vector = Vector {
            element,
            header,
            rows: 0,
            mask: Mask::None,
            data: Data::Nothing,
            numbers: Numbers::plain(Packed::NONE),
            zones: Zones { base: 0, packed: Packed::NONE },
            strings: Strings { chunk: bytes, kind: Kinds::One(Span { at: 0, len: 0 }) },
            entries: 0,
        };
        if header == Header::Empty {
            r.end(What::INPUT)?;
            (vector.rows, vector.mask) = (word >> 8, Mask::All);
            return Ok(vector);
        }
        match RULES.iter().find(|rule| rule.allows(header, element)) {
            Some(Rule { shape: Some(shape), .. }) => vector.open_flat(shape)?,
            Some(_) => vector.open_binary(&mut r)?,
            None => return Err(vector.wrong_type()),
        }
        Ok(vector)
    }

    /// Creates the error for a header that the format does not allow for the element type (section 3).
    #[cold]
    fn wrong_type(&self) -> Error {
        Error::needing(Kind::WrongType, What::FILO_HEADER, 0, self.header.word().into())
    }

    /// Returns the element type with which the vector was opened.
    #[must_use]
    pub const fn element(&self) -> Element {
        self.element
    }

    /// Returns the kind in the header word. Ints of releases before 0.3.3 have a header that this crate does not write
    /// for their [`encoding`](Self::encoding) (section 15).
    #[must_use]
    pub const fn header(&self) -> Header {
        self.header
    }

    /// Returns the encoding of the rows.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        let packing = match self.data {
            Data::Numbers | Data::DateTime | Data::Coded => self.numbers.packed.packing,
            Data::Nothing | Data::Bits | Data::Strings => Packing::W64,
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
                let zones = self.zones.packed;
                let zones = if zones.data.is_empty() { None } else { Some(zones.packing) };
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

    /// Returns the number of rows. In empty, constant and repeated vectors, a few bytes can state any number.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows as u64
    }

    /// Returns whether a row may be missing.
    #[must_use]
    pub const fn nullable(&self) -> bool {
        match self.data {
            Data::Nothing | Data::Coded => true,
            Data::Strings => !matches!(self.mask, Mask::None) || self.strings.may_miss(),
            _ => !matches!(self.mask, Mask::None),
        }
    }

    /// Returns the value of row `row`, or `None` if it is missing. Takes constant time.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `row` is not below the number of rows; errors of an invalid string, code or UTC offset.
    // Inlined, so that the value stays in registers: a copy of a value that was just stored in memory waits for the stores. Calls
    // return a word or the two of a string.
    #[cfg_attr(not(pilaster_small), inline(always))]
    pub fn get(&self, row: u64) -> Result<Option<Value<'a>>> {
        if FAST
            && row < self.rows()
            && let Ok(i) = usize::try_from(row)
        {
            if self.data == Data::Numbers {
                if self.mask.is_na(i) {
                    return Ok(None);
                }
                if let Some(word) = self.numbers.quick(i) {
                    return Ok(Some(self.number(word)));
                }
            } else if let Some(text) = self.text(i) {
                return Ok(Some(Value::Bytes(text)));
            }
        }
        self.any(row)
    }

    /// Returns the string of a row, or `None` if it takes [`any`](Self::any), as a missing one does.
    #[inline(never)]
    fn text(&self, i: usize) -> Option<&'a [u8]> {
        let i = match (self.data, self.mask) {
            (Data::Strings, Mask::None) => i,
            (Data::Coded, Mask::None) => match low32(self.numbers.packed.quick(i)?) {
                code if code > 0 && code < self.entries => code as usize,
                _ => return None,
            },
            _ => return None,
        };
        self.strings.quick(self.strings.table().unwrap_or_default(), i)?
    }

    /// [`get`](Self::get) for all kinds of data.
    #[cfg_attr(not(pilaster_small), inline(never))]
    fn any(&self, row: u64) -> Result<Option<Value<'a>>> {
        let i = match usize::try_from(row) {
            Ok(i) if row < self.rows() => i,
            _ => return Err(Error::needing(Kind::OutOfRange, What::ROW, row, self.rows())),
        };
        if self.mask.is_na(i) {
            if self.data == Data::Strings {
                // A batch decodes the string of a missing row, too. Both give the same error.
                self.strings.get(i)?;
            }
            return Ok(None);
        }
        Ok(match self.data {
            Data::Nothing => None,
            Data::Bits => {
                let i = if self.numbers.constant { 0 } else { i };
                let byte = self.numbers.packed.data.get(i >> 3).copied().unwrap_or(0);
                Some(Value::Boolean(byte >> (i & 7) & 1 == 1))
            }
            Data::Numbers => Some(self.number(self.numbers.get(i)?)),
            Data::DateTime => Some(Value::DateTime {
                millis: self.numbers.get(i)?.cast_signed(),
                offset_ms: low32(self.zones.offsets().get(i)?).cast_signed(),
            }),
            Data::Strings => self.strings.get(i)?.map(Value::Bytes),
            Data::Coded => match low32(self.numbers.packed.get(i)?) {
                0 => None,
                code if code < self.entries => self.strings.get(code as usize)?.map(Value::Bytes),
                code => return Err(coded::bad_code(code, &self.numbers.packed)),
            },
        })
    }

    /// Returns the rows as values of one type, each of them read faster than by [`get`](Self::get): `i32` for ints, `i64`
    /// for longs and timestamps, `f32` for floats, `f64` for doubles, `&[u8]` for strings, UTF8 and blobs.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the element type has other values.
    pub fn view<T: view::Row<'a>>(&self) -> Result<View<'a, T>> {
        View::of(self)
    }

    /// Converts a 64-bit word to a value of the element type.
    #[inline]
    fn number(&self, word: u64) -> Value<'a> {
        match self.element {
            Element::Int => Value::Int(low32(word).cast_signed()),
            Element::Float => Value::Float(f32::from_bits(low32(word))),
            Element::Double => Value::Double(f64::from_bits(word)),
            Element::Timestamp => Value::Timestamp(word.cast_signed()),
            _ => Value::Long(word.cast_signed()),
        }
    }

    /// Returns an iterator over all rows.
    #[must_use]
    pub const fn iter(&self) -> Iter<'a> {
        Iter { vector: *self, row: 0 }
    }

    /// Returns column `k`: column 0 has the values, column 1 (of date-times only) the offsets from UTC in milliseconds.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `k` is not below the number of columns.
    pub fn column(&self, k: usize) -> Result<Column<'a>> {
        Column::of(*self, k)
    }

    /// Checks everything that opening does not: every string, code and UTC offset, and that text is valid UTF-8. The
    /// work is bounded by the length of the chunk, not by the row count that it states.
    ///
    /// # Errors
    /// The first problem found.
    pub fn verify(&self) -> Result<()> {
        let text = matches!(self.element, Element::String | Element::Utf8);
        let rows = match self.data {
            // Opening has checked that the numbers are present, and every bit pattern is a valid number.
            Data::Nothing | Data::Bits | Data::Numbers => 0,
            Data::Strings if self.strings.is_one() => self.rows().min(1),
            Data::DateTime | Data::Coded | Data::Strings => self.rows(),
        };
        if self.data == Data::Coded && text {
            for code in 1..self.entries {
                check_text(&self.strings, saturated(code.into()))?;
            }
        }
        for row in 0..rows {
            if self.data == Data::Strings && text {
                check_text(&self.strings, saturated(row))?;
            } else {
                self.get(row)?;
            }
        }
        Ok(())
    }
}

fn check_text(strings: &Strings<'_>, i: usize) -> Result<()> {
    let span = strings.span(i)?;
    match simd::text(strings.bytes(span).unwrap_or_default()) {
        Ok(_) => Ok(()),
        Err(e) => {
            let at = u64::from(span.at).saturating_add(e.valid_up_to() as u64);
            Err(Error::new(Kind::Utf8, What::FILO_STRING, at))
        }
    }
}

/// An iterator over the rows of a vector. Ends after the first error.
///
/// ```
/// use pilaster::error::Result;
/// use pilaster::filo::{Element, Iter, Value, Vector};
///
/// /// Adds the ints that are not missing.
/// fn sum(rows: Iter<'_>) -> Result<i64> {
///     let mut sum = 0;
///     for row in rows {
///         if let Some(Value::Int(value)) = row? {
///             sum += i64::from(value);
///         }
///     }
///     Ok(sum)
/// }
///
/// let vector = Vector::open(&[6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101], Element::Int)?;
/// assert_eq!(sum(vector.iter())?, 99);
/// # Ok::<(), pilaster::Error>(())
/// ```
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

/// The element types that a header may have (section 3), and the layout of its payload.
struct Rule {
    header: Header,
    /// One bit per element type.
    elements: u16,
    /// The field ids of a FlatBuffer kind; `None` for a BinaryVector.
    shape: Option<Shape>,
}

impl Rule {
    fn allows(&self, header: Header, element: Element) -> bool {
        self.header == header && self.elements >> element as u16 & 1 == 1
    }

    const fn flat(header: Header, elements: &[Element], shape: Shape) -> Self {
        Rule { shape: Some(shape), ..Rule::binary(header, elements) }
    }

    const fn binary(header: Header, mut elements: &[Element]) -> Self {
        let mut bits = 0;
        while let [element, rest @ ..] = elements {
            bits |= 1 << *element as u16;
            elements = rest;
        }
        Rule { header, elements: bits, shape: None }
    }
}

const SIMPLE: &[Element] = &[Element::Boolean, Element::Int, Element::Long, Element::Float, Element::Double];
const NUMBER: &[Element] = &[Element::Int, Element::Long, Element::Double];
const TEXT: &[Element] = &[Element::Utf8, Element::Blob];
const NUMBER_OR_TEXT: &[Element] = &[Element::Int, Element::Long, Element::Double, Element::Utf8, Element::Blob];

/// The rules of all headers except the empty vector, which may have any element type.
const RULES: [Rule; 16] = [
    Rule::flat(Header::SimplePrimitive, SIMPLE, flat::SIMPLE),
    Rule::flat(Header::ConstPrimitive, SIMPLE, flat::SIMPLE),
    Rule::flat(Header::DiffPrimitive, &[Element::Int, Element::Long, Element::Timestamp], flat::DIFF),
    Rule::flat(Header::DiffDateTime, &[Element::DateTime], flat::DATE_TIME),
    Rule::flat(Header::SimpleString, &[Element::String], flat::SIMPLE_STRING),
    Rule::flat(Header::ConstString, &[Element::String], flat::CONST_STRING),
    Rule::flat(Header::DictString, &[Element::String], flat::DICT_STRING),
    Rule::binary(Header::MaskedPrimitive, NUMBER),
    Rule::binary(Header::Primitive, NUMBER),
    Rule::binary(Header::Repeated, NUMBER_OR_TEXT),
    Rule::binary(Header::MaskedInt, NUMBER),
    Rule::binary(Header::Int, NUMBER),
    Rule::binary(Header::Utf8, TEXT),
    Rule::binary(Header::FixedMaxUtf8, TEXT),
    Rule::binary(Header::DictUtf8, TEXT),
    Rule::binary(Header::DeltaDelta, &[Element::Long]),
];

/// Start of the payload in the chunk. Offsets in the payload count from it (section 1).
const PAYLOAD: u64 = HEADER_LEN as u64;

/// Checks a row count, which is a signed number in the format.
fn check_rows(rows: u32, at: u64) -> Result<()> {
    if rows.cast_signed() < 0 {
        return Err(Error::needing(Kind::Invalid, What::FILO_ROWS, at, rows.into()));
    }
    Ok(())
}

/// Converts a count to a row count.
fn rows_of(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::needing(Kind::Overflow, What::FILO_ROWS, 0, count as u64))
}
