//! What the writers take: rows of one element type, and which of them have a value.

use crate::bytes::Bits;
use crate::column::{Validity, VarBytes};
use crate::error::Result;
use crate::filo::Element;

/// Rows to be written.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// One value per row, also where it is missing.
    pub values: Plain<'a>,
    /// Which rows have a value.
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
    /// Instants and their offsets from UTC, both in milliseconds; the offsets must be whole quarters
    /// of an hour, and as many as instants.
    DateTime {
        millis: &'a [i64],
        offsets: &'a [i32],
    },
    String(Strings<'a>),
    /// Also blobs.
    Utf8(Strings<'a>),
}

/// Strings, in either of two forms.
#[derive(Clone, Copy, Debug)]
pub enum Strings<'a> {
    /// As a batch has them.
    Spans(VarBytes<'a>),
    /// As slices.
    Slices(&'a [&'a [u8]]),
}

impl Plain<'_> {
    /// The element type. Blobs are UTF8: only a reader tells them apart.
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
        }
    }
}

impl<'a> Rows<'a> {
    /// Rows that all have a value.
    #[must_use]
    pub const fn all(values: Plain<'a>) -> Self {
        Rows { values, validity: Validity::All }
    }

    /// How many rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.values {
            Plain::Boolean(bits) => bits.len(),
            Plain::Int(values) => values.len(),
            Plain::Long(values) | Plain::Timestamp(values) | Plain::DateTime { millis: values, .. } => values.len(),
            Plain::Float(values) => values.len(),
            Plain::Double(values) => values.len(),
            Plain::String(strings) | Plain::Utf8(strings) => strings.len(),
        }
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> Strings<'a> {
    /// How many strings.
    #[must_use]
    pub(crate) const fn len(&self) -> usize {
        match self {
            Strings::Spans(strings) => strings.len(),
            Strings::Slices(slices) => slices.len(),
        }
    }

    /// String `i`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`](crate::error::Kind::OutOfRange) if `i` is not a row; errors of [`VarBytes::get`].
    pub(crate) fn get(&self, i: usize) -> Result<&'a [u8]> {
        use crate::error::{Error, Kind, What};
        match self {
            Strings::Spans(strings) => strings.get(i),
            Strings::Slices(slices) => slices
                .get(i)
                .copied()
                .ok_or_else(|| Error::needing(Kind::OutOfRange, What::ROW, i as u64, slices.len() as u64)),
        }
    }
}
