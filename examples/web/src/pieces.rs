//! The bytes that were fetched, and those that are wanted next.
//!
//! A step of a reader takes what it needs by [`Pieces::get`]. What is not there is noted, the step ends with
//! [`Kind::Missing`], and is made anew once the page has brought the bytes.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use pilaster::Result;
use pilaster::bytes::FileRange;
use pilaster::error::{Error, Kind, What};

use crate::heap::{joined, kept, push};

/// Bytes that are kept between calls, so that whoever scrolls fetches nothing twice.
const KEPT: usize = 64 << 20;

/// A range of a file that is wanted.
pub struct Wanted {
    /// Its path below the directory of a dataset; empty for a single file.
    pub path: String,
    /// All of it, where this is empty.
    pub span: FileRange,
}

/// What is not there of several things, all of which are asked for before the step ends.
#[derive(Default)]
pub struct Missing(Option<Error>);

impl Missing {
    pub fn note(&mut self, e: Error) {
        self.0 = Some(e);
    }

    /// Whether anything is not there so far.
    pub const fn any(&self) -> bool {
        self.0.is_some()
    }

    /// The same of what may be there.
    pub fn look<T>(&mut self, found: Result<T>) {
        if let Err(e) = found {
            self.note(e);
        }
    }

    /// The same of what may be wrong in another way, which is found later.
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
    /// None: there is no such file.
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

    /// A range of the single file.
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

    /// All of the single file, of which more than 2 GB are not taken into memory.
    pub fn whole(&self, len: u64, what: What) -> Result<&[u8]> {
        if len > i32::MAX as u64 {
            return Err(Error::needing(Kind::NoRoom, What::INPUT, 0, len));
        }
        self.get(FileRange { at: 0, len }, what)
    }

    /// A whole file of a directory; none if it does not exist.
    pub fn file(&self, path: &str, what: What) -> Result<Option<&[u8]>> {
        match self.pieces.iter().find(|piece| piece.path == path) {
            Some(piece) => {
                piece.used.set(self.turn);
                Ok(piece.bytes.as_deref())
            }
            None => Err(self.want(path, FileRange::default(), what)),
        }
    }

    /// Notes that a range is wanted, and gives back the error that says so.
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

    /// The list of what is wanted since the last step began.
    pub fn wanted(&mut self) -> &mut Vec<Wanted> {
        self.wanted.get_mut()
    }

    /// Adds what the page has brought.
    pub fn put(&mut self, path: String, at: u64, bytes: Option<Vec<u8>>) -> Result<()> {
        push(&mut self.pieces, Piece { path, at, bytes, used: Cell::new(self.turn) })
    }

    /// A new call begins. If too much is kept, only that stays which the last one used.
    pub fn begin(&mut self) {
        let sum: usize = self.pieces.iter().map(|piece| piece.bytes.as_ref().map_or(0, Vec::len)).sum();
        if sum > KEPT {
            self.pieces.retain(|piece| piece.used.get() == self.turn);
        }
        self.turn = self.turn.wrapping_add(1);
    }

    /// Forgets everything: for a walk over many small ranges, each looked at once.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// All pieces of the single file.
    pub fn all(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.pieces
            .iter()
            .filter(|piece| piece.path.is_empty())
            .filter_map(|piece| Some((piece.at, piece.bytes.as_deref()?)))
    }

    /// A copy that lives as long as the module: of metadata, which every later call needs. An instance of the
    /// module opens one file and goes with it.
    pub fn keep(&self, span: FileRange, what: What) -> Result<&'static [u8]> {
        kept(self.get(span, what)?).map(|bytes| &*bytes)
    }
}
