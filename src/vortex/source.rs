//! The bytes of a file: all bytes, or the pieces that were fetched.

use crate::bytes::FileRange;
use crate::error::{Error, Kind, Result, What};

/// A byte range of a file and its contents.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Offset of the first byte in the file.
    pub at: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The bytes of a file, complete or in pieces. Reading a range that no piece contains is an error of [`Kind::Missing`].
///
/// ```
/// use pilaster::bytes::FileRange;
/// use pilaster::error::{Kind, What};
/// use pilaster::vortex::{Piece, Source};
///
/// // Two pieces of a file of 100 bytes.
/// let pieces = [Piece { at: 0, bytes: b"head" }, Piece { at: 96, bytes: b"tail" }];
/// let source = Source::pieces(&pieces, 100);
/// assert_eq!((source.len(), source.is_empty()), (100, false));
/// assert_eq!(source.get(FileRange { at: 97, len: 3 }, What::INPUT)?, b"ail");
/// let e = source.get(FileRange { at: 90, len: 8 }, What::INPUT).unwrap_err();
/// assert_eq!((e.kind(), e.at(), e.need()), (Kind::Missing, 90, 8));
///
/// let all = Source::whole(b"head and tail");
/// assert_eq!(all.get(FileRange { at: 9, len: 4 }, What::INPUT)?, b"tail");
/// # Ok::<(), pilaster::Error>(())
/// ```
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
    /// Creates the source of a complete file.
    #[must_use]
    pub const fn whole(bytes: &'a [u8]) -> Self {
        Source { pieces: Pieces::Whole(bytes), len: bytes.len() as u64 }
    }

    /// Creates the source of a file of `len` bytes, of which `pieces` are present.
    #[must_use]
    pub const fn pieces(pieces: &'a [Piece<'a>], len: u64) -> Self {
        Source { pieces: Pieces::Some(pieces), len }
    }

    /// Returns the length of the file in bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the file has no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes of a range.
    ///
    /// # Errors
    /// [`Kind::Truncated`] about `what` if the range exceeds the file, [`Kind::Missing`] with the range if no piece
    /// contains all of it.
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
