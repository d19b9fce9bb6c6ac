//! The bytes of a file: all of them, or the pieces that were fetched.

use crate::bytes::FileRange;
use crate::error::{Error, Kind, Result, What};

/// A piece of a file: bytes, and where they lie in it.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Offset of the first byte.
    pub at: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// A file in pieces. What no piece holds is asked for by an error, [`Kind::Missing`].
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pieces: Pieces<'a>,
    len: u64,
}

#[derive(Clone, Copy, Debug)]
enum Pieces<'a> {
    Whole(&'a [u8]),
    Some(&'a [Piece<'a>]),
}

impl<'a> Source<'a> {
    /// All of a file.
    #[must_use]
    pub const fn whole(bytes: &'a [u8]) -> Self {
        Source { pieces: Pieces::Whole(bytes), len: bytes.len() as u64 }
    }

    /// Pieces of a file of `len` bytes.
    #[must_use]
    pub const fn pieces(pieces: &'a [Piece<'a>], len: u64) -> Self {
        Source { pieces: Pieces::Some(pieces), len }
    }

    /// Length of the file.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of a range.
    ///
    /// # Errors
    /// [`Kind::Truncated`] about `what` if the file ends before, [`Kind::Missing`] with the range if no piece
    /// holds all of it.
    pub fn get(&self, span: FileRange, what: What) -> Result<&'a [u8]> {
        if span.end().is_none_or(|end| end > self.len) {
            return Err(Error::needing(Kind::Truncated, what, span.at, span.len));
        }
        match self.pieces {
            Pieces::Whole(bytes) => span.of(bytes, what),
            Pieces::Some(pieces) => {
                let inside = |piece: &Piece<'a>| {
                    let at = span.at.checked_sub(piece.at)?;
                    FileRange { at, len: span.len }.of(piece.bytes, what).ok()
                };
                pieces.iter().find_map(inside).ok_or_else(|| Error::needing(Kind::Missing, what, span.at, span.len))
            }
        }
    }
}
