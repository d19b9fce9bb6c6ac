//! The bytes that were fetched, and the requests for further bytes.
//!
//! A step of a reader gets bytes by [`Pieces::get`]. If they are missing, a request is noted and the step ends with
//! [`Kind::Missing`]. The step is repeated when the page has provided the bytes.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use pilaster::Result;
use pilaster::bytes::FileRange;
use pilaster::error::{Error, Kind, What};

use crate::heap::{joined, kept, push};

/// Number of bytes above which older ones are dropped between calls. Scrolling within this size fetches nothing twice.
const KEPT: usize = 64 << 20;

/// A requested range of a file.
pub struct Wanted {
    /// The path below the directory of a dataset; empty for a single file.
    pub path: String,
    /// The range; the complete file if empty.
    pub span: FileRange,
}

/// Collects the missing bytes of several results, so that all are requested before the step ends.
#[derive(Default)]
pub struct Missing(Option<Error>);

impl Missing {
    pub fn note(&mut self, e: Error) {
        self.0 = Some(e);
    }

    /// Returns whether anything is missing so far.
    pub const fn any(&self) -> bool {
        self.0.is_some()
    }

    /// Notes the error of a result.
    pub fn look<T>(&mut self, found: Result<T>) {
        if let Err(e) = found {
            self.note(e);
        }
    }

    /// Notes only missing bytes; another error is found later.
    #[cfg(feature = "bcolz")]
    pub fn look_only<T>(&mut self, found: Result<T>) {
        match found {
            Err(e) if e.kind() == Kind::Missing => self.note(e),
            _ => {}
        }
    }

    pub fn end(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

struct Piece {
    path: String,
    at: u64,
    /// `None` if the file does not exist.
    bytes: Option<Vec<u8>>,
    used: Cell<u32>,
}

/// The pieces of a file, or of the files of a directory.
pub struct Pieces {
    pieces: Vec<Piece>,
    wanted: RefCell<Vec<Wanted>>,
    turn: u32,
}

impl Pieces {
    pub const fn new() -> Self {
        Pieces { pieces: Vec::new(), wanted: RefCell::new(Vec::new()), turn: 0 }
    }

    /// Returns a range of the single file.
    pub fn get(&self, span: FileRange, what: What) -> Result<&[u8]> {
        if span.len == 0 {
            return Ok(&[]);
        }
        let found = self.pieces.iter().find_map(|piece| {
            let at = span.at.checked_sub(piece.at).filter(|_| piece.path.is_empty())?;
            let bytes = FileRange { at, ..span }.of(piece.bytes.as_deref()?, what).ok()?;
            piece.used.set(self.turn);
            Some(bytes)
        });
        found.ok_or_else(|| self.want("", span, what))
    }

    /// Returns the complete single file. An error if it has more than 2 GB.
    pub fn whole(&self, len: u64, what: What) -> Result<&[u8]> {
        if len > i32::MAX as u64 {
            return Err(Error::needing(Kind::NoRoom, What::INPUT, 0, len));
        }
        self.get(FileRange { at: 0, len }, what)
    }

    /// Returns a complete file of a directory, or `None` if it does not exist.
    pub fn file(&self, path: &str, what: What) -> Result<Option<&[u8]>> {
        match self.pieces.iter().find(|piece| piece.path == path) {
            Some(piece) => {
                piece.used.set(self.turn);
                Ok(piece.bytes.as_deref())
            }
            None => Err(self.want(path, FileRange::default(), what)),
        }
    }

    /// Notes a request for a range, and returns the error [`Kind::Missing`].
    #[cold]
    pub fn want(&self, path: &str, span: FileRange, what: What) -> Error {
        let mut wanted = self.wanted.borrow_mut();
        if !wanted.iter().any(|one| one.path == path && one.span == span) {
            let noted = joined(&[path]).and_then(|path| push(&mut wanted, Wanted { path, span }));
            if let Err(e) = noted {
                return e;
            }
        }
        Error::needing(Kind::Missing, what, span.at, span.len)
    }

    /// Returns the requests since the last step began.
    pub fn wanted(&mut self) -> &mut Vec<Wanted> {
        self.wanted.get_mut()
    }

    /// Adds bytes that the page has provided.
    pub fn put(&mut self, path: String, at: u64, bytes: Option<Vec<u8>>) -> Result<()> {
        push(&mut self.pieces, Piece { path, at, bytes, used: Cell::new(self.turn) })
    }

    /// Begins a new call. Above [`KEPT`] bytes, keeps only the pieces that the last call used.
    pub fn begin(&mut self) {
        let sum: usize = self.pieces.iter().map(|piece| piece.bytes.as_ref().map_or(0, Vec::len)).sum();
        if sum > KEPT {
            self.pieces.retain(|piece| piece.used.get() == self.turn);
        }
        self.turn = self.turn.wrapping_add(1);
    }

    /// Drops everything. For a walk over many small ranges that are used once.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Returns all pieces of the single file.
    pub fn all(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.pieces
            .iter()
            .filter(|piece| piece.path.is_empty())
            .filter_map(|piece| Some((piece.at, piece.bytes.as_deref()?)))
    }

    /// Returns a copy that is never freed, of metadata, which every later call uses. An instance of the module opens
    /// one file only.
    pub fn keep(&self, span: FileRange, what: What) -> Result<&'static [u8]> {
        kept(self.get(span, what)?).map(|bytes| &*bytes)
    }
}
