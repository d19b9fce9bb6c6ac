//! Strings in the order in which a chunk stores them.

use super::cells::lossy;
use super::mask::Mask;
use super::rows::{Plain, Rows, Strings};
use crate::bytes::short_strings::is_ascii;
use crate::error::{Error, Kind, Result, What};
use crate::simd;

/// Returns an error if rows of UTF8 are not text. Missing rows are not examined.
pub(super) fn check_rows(rows: &Rows<'_>, mask: &Mask<'_>) -> Result<()> {
    let Plain::Utf8(strings) = rows.values else { return Ok(()) };
    for (row, text) in Texts::Rows(strings, *mask).iter().enumerate() {
        check_text(text?.unwrap_or_default(), || row)?;
    }
    Ok(())
}

/// Returns an error with the row if `bytes` are not valid UTF-8.
pub(super) fn check_text(bytes: &[u8], row: impl FnOnce() -> usize) -> Result<()> {
    if is_ascii(bytes) || simd::text(bytes).is_ok() {
        return Ok(());
    }
    Err(lossy(What::FILO_STRING, row()))
}

/// Rows, or the entries of a dictionary. A missing row and entry 0 of every dictionary are `None`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Texts<'a> {
    Rows(Strings<'a>, Mask<'a>),
    /// Entry `k + 1` is string `rows[k]`, or string `k` if `rows` is `None`.
    Entries(Strings<'a>, Option<&'a [u32]>),
}

impl<'a> Texts<'a> {
    pub const fn len(&self) -> usize {
        match self {
            Texts::Rows(_, mask) => mask.rows(),
            Texts::Entries(_, Some(rows)) => rows.len().saturating_add(1),
            Texts::Entries(strings, None) => strings.len().saturating_add(1),
        }
    }

    #[inline]
    pub fn get(&self, i: usize) -> Result<Option<&'a [u8]>> {
        let (strings, row) = match self {
            Texts::Rows(_, mask) if !mask.get(i) => return Ok(None),
            Texts::Rows(strings, _) => (strings, i),
            Texts::Entries(strings, rows) => {
                let Some(k) = i.checked_sub(1) else { return Ok(None) };
                let row = rows.map_or(Some(k), |rows| rows.get(k).map(|row| *row as usize));
                (strings, row.ok_or_else(|| Error::new(Kind::OutOfRange, What::FILO_DICTIONARY, i as u64))?)
            }
        };
        strings.get(row).map(Some)
    }

    /// Returns an iterator over all strings.
    pub fn iter(&self) -> impl Iterator<Item = Result<Option<&'a [u8]>>> + use<'a> {
        let texts = *self;
        (0..texts.len()).map(move |i| texts.get(i))
    }

    /// Returns the first row of string `i`, for errors.
    pub fn row(&self, i: usize) -> usize {
        match self {
            Texts::Rows(..) => i,
            Texts::Entries(_, rows) => {
                let k = i.saturating_sub(1);
                rows.and_then(|rows| rows.get(k)).map_or(k, |row| *row as usize)
            }
        }
    }

    /// Returns the string that all valid rows have, or an empty string if all rows are missing.
    pub fn constant(&self) -> Result<&'a [u8]> {
        let mut first = None;
        for (row, text) in self.iter().enumerate() {
            let Some(text) = text? else { continue };
            if *first.get_or_insert(text) != text {
                return Err(lossy(What::FILO_STRING, row));
            }
        }
        Ok(first.unwrap_or_default())
    }
}
