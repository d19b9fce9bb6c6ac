//! The input of the writers: rows of one element type, and their validity.

use crate::bytes::Bits;
use crate::column::{Validity, VarBytes};
use crate::error::Result;
use crate::filo::Element;

/// Rows to write.
///
/// ```
/// use pilaster::bytes::{Bits, Scratch};
/// use pilaster::column::Validity;
/// use pilaster::filo::write::{Plain, Rows, encode};
/// use pilaster::filo::{Element, Encoding, Packing, Vector};
///
/// let validity = Validity::Bits(Bits::new(&[0b101], 0, 3)?);
/// let rows = Rows { values: Plain::Long(&[10, 0, 30]), validity };
/// assert_eq!((rows.len(), rows.is_empty(), rows.values.element()), (3, false, Element::Long));
///
/// let mut chunk = [0; 32];
/// let len = encode(Encoding::Masked(Packing::U8), &rows, &mut chunk, &mut Scratch::new(&mut []))?;
/// assert_eq!(Vector::open(&chunk[..len], Element::Long)?.get(1)?, None);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// One value per row. The value of a missing row is ignored.
    pub values: Plain<'a>,
    /// The rows that have a value.
    pub validity: Validity<'a>,
}

/// Values by element type.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the variants are named by their element type")]
pub enum Plain<'a> {
    Boolean(Bits<'a>),
    Int(&'a [i32]),
    Long(&'a [i64]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    Timestamp(&'a [i64]),
    /// Instants and their offsets from UTC, both in milliseconds, one of each per row. The offsets must be multiples of
    /// a quarter of an hour.
    DateTime {
        millis: &'a [i64],
        offsets: &'a [i32],
    },
    String(Strings<'a>),
    /// Text. Bytes that are not valid UTF-8 are refused.
    Utf8(Strings<'a>),
    /// Byte strings, in the encodings of UTF8.
    Blob(Strings<'a>),
}

/// Strings in one of two forms.
#[derive(Clone, Copy, Debug)]
pub enum Strings<'a> {
    /// The strings of a batch.
    Spans(VarBytes<'a>),
    /// One slice per string.
    Slices(&'a [&'a [u8]]),
}

impl Plain<'_> {
    /// Returns the element type.
    #[must_use]
    pub const fn element(&self) -> Element {
        match self {
            Plain::Boolean(_) => Element::Boolean,
            Plain::Int(_) => Element::Int,
            Plain::Long(_) => Element::Long,
            Plain::Float(_) => Element::Float,
            Plain::Double(_) => Element::Double,
            Plain::Timestamp(_) => Element::Timestamp,
            Plain::DateTime { .. } => Element::DateTime,
            Plain::String(_) => Element::String,
            Plain::Utf8(_) => Element::Utf8,
            Plain::Blob(_) => Element::Blob,
        }
    }
}

impl<'a> Rows<'a> {
    /// Creates rows that all have a value.
    #[must_use]
    pub const fn all(values: Plain<'a>) -> Self {
        Rows { values, validity: Validity::All }
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.values {
            Plain::Boolean(bits) => bits.len(),
            Plain::Int(values) => values.len(),
            Plain::Long(values) | Plain::Timestamp(values) | Plain::DateTime { millis: values, .. } => values.len(),
            Plain::Float(values) => values.len(),
            Plain::Double(values) => values.len(),
            Plain::String(strings) | Plain::Utf8(strings) | Plain::Blob(strings) => strings.len(),
        }
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> Strings<'a> {
    /// Returns the number of strings.
    #[must_use]
    pub(crate) const fn len(&self) -> usize {
        match self {
            Strings::Spans(strings) => strings.len(),
            Strings::Slices(slices) => slices.len(),
        }
    }

    /// Returns string `i`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`](crate::error::Kind::OutOfRange) if `i` is not a row; errors of [`VarBytes::get`].
    #[cfg_attr(not(pilaster_small), inline)]
    pub(crate) fn get(&self, i: usize) -> Result<&'a [u8]> {
        use crate::error::{Error, Kind, What};
        match self {
            Strings::Spans(strings) => spanned(strings, i),
            Strings::Slices(slices) => slices
                .get(i)
                .copied()
                .ok_or_else(|| Error::needing(Kind::OutOfRange, What::ROW, i as u64, slices.len() as u64)),
        }
    }
}

// If inlined, its forms take the registers of every loop over slices: UTF8 strings are encoded at 0.81 of the speed
// (bench `filo`).
#[cfg_attr(not(pilaster_small), inline(never))]
fn spanned<'a>(strings: &VarBytes<'a>, i: usize) -> Result<&'a [u8]> {
    strings.get(i)
}
