//! The bytes that the page has provided, and the ranges that it must provide next.
//!
//! Readers get bytes through an [`Input`] of the library. A range that is not present is noted, and the call ends with
//! [`Kind::Missing`]. It is repeated when the page has provided the noted ranges.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::sync::atomic::{AtomicU32, Ordering};

use pilaster::Result;
use pilaster::bytes::{Fetch, FileRange, Input};
use pilaster::error::{Error, Kind, What};

use crate::boundary::OneThread;
use crate::heap::{joined, push};

/// Number of bytes above which older ones are dropped between calls. Scrolling within this size fetches nothing twice.
const KEPT: usize = 64 << 20;

/// A requested range of a file.
pub struct Wanted {
    /// The path below the directory of a dataset; empty for a single file.
    pub path: String,
    /// The range; the complete file if empty.
    pub span: FileRange,
}

/// What outlives every call, as an instance of the module opens one file only.
pub struct Lasting {
    /// The bytes with which the single file was opened. Its metadata borrow them, so they are never freed.
    opened: RefCell<Vec<(u64, &'static [u8])>>,
    /// The requests since the last call began.
    wanted: RefCell<Vec<Wanted>>,
}

pub static LASTING: OneThread<Lasting> =
    OneThread(Lasting { opened: RefCell::new(Vec::new()), wanted: RefCell::new(Vec::new()) });

impl OneThread<Lasting> {
    /// Returns the input to open a file of `len` bytes with.
    pub fn input(&'static self, len: u64) -> Input<'static> {
        Input::fetched(self, len)
    }

    fn find(&self, range: FileRange) -> Option<&'static [u8]> {
        self.0.opened.borrow().iter().find_map(|(at, bytes)| within(range, *at, bytes))
    }

    /// Notes a request. Without memory for it, the list may stay empty.
    #[cold]
    fn want(&self, path: &str, span: FileRange) {
        let mut wanted = self.0.wanted.borrow_mut();
        if !wanted.iter().any(|one| one.path == path && one.span == span)
            && let Ok(path) = joined(&[path])
        {
            let _ = push(&mut wanted, Wanted { path, span });
        }
    }
}

impl Fetch for OneThread<Lasting> {
    fn fetch(&self, range: FileRange) -> Option<&[u8]> {
        let found = self.find(range);
        if found.is_none() {
            self.want("", range);
        }
        found
    }
}

/// Returns the bytes of `range`, if it is in `bytes`, which start at `at`.
fn within(range: FileRange, at: u64, bytes: &[u8]) -> Option<&[u8]> {
    let at = range.at.checked_sub(at)?;
    FileRange { at, ..range }.of(bytes, What::INPUT).ok()
}

struct Piece {
    path: String,
    at: u64,
    /// `None` if the file does not exist.
    bytes: Option<Vec<u8>>,
    used: AtomicU32,
}

/// The pieces of a file, or of the files of a directory.
pub struct Pieces {
    pieces: Vec<Piece>,
    turn: u32,
}

impl Pieces {
    pub const fn new() -> Self {
        Pieces { pieces: Vec::new(), turn: 0 }
    }

    /// Returns the input to read rows of the single file with, which has `len` bytes.
    pub fn input(&self, len: u64) -> Input<'_> {
        Input::fetched(self, len)
    }

    /// Returns all bytes of the single file.
    pub fn whole(&self, len: u64, what: What) -> Result<&[u8]> {
        self.input(len).get(FileRange { at: 0, len }, what)
    }

    /// Returns a complete file of a directory, or `None` if it does not exist.
    pub fn file(&self, path: &str, what: What) -> Result<Option<&[u8]>> {
        match self.pieces.iter().find(|piece| piece.path == path) {
            Some(piece) => {
                piece.used.store(self.turn, Ordering::Relaxed);
                Ok(piece.bytes.as_deref())
            }
            None => {
                LASTING.want(path, FileRange::default());
                Err(Error::new(Kind::Missing, what, 0))
            }
        }
    }

    /// Fails if ranges were noted since the call began. Before it, a call asks for everything that it will read, so that
    /// the page provides all of it together.
    pub fn complete(&self) -> Result<()> {
        match LASTING.0.wanted.borrow().is_empty() {
            true => Ok(()),
            false => Err(Error::new(Kind::Missing, What::INPUT, 0)),
        }
    }

    /// Returns the requests since the last call began.
    pub fn wanted(&mut self) -> Vec<Wanted> {
        LASTING.0.wanted.take()
    }

    /// Adds bytes of the single file that are never freed.
    pub fn keep(&mut self, at: u64, bytes: Vec<u8>) -> Result<()> {
        push(&mut LASTING.0.opened.borrow_mut(), (at, bytes.leak()))
    }

    /// Adds bytes that the page has provided.
    pub fn put(&mut self, path: String, at: u64, bytes: Option<Vec<u8>>) -> Result<()> {
        push(&mut self.pieces, Piece { path, at, bytes, used: AtomicU32::new(self.turn) })
    }

    /// Begins a new call. Above [`KEPT`] bytes, keeps only the pieces that the last call used.
    pub fn begin(&mut self) {
        let sum: usize = self.pieces.iter().map(|piece| piece.bytes.as_ref().map_or(0, Vec::len)).sum();
        if sum > KEPT {
            let turn = self.turn;
            self.pieces.retain(|piece| piece.used.load(Ordering::Relaxed) == turn);
        }
        self.turn = self.turn.wrapping_add(1);
    }

    /// Drops everything. For a walk over many small ranges that are used once.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }
}

impl Fetch for Pieces {
    fn fetch(&self, range: FileRange) -> Option<&[u8]> {
        let found = self.pieces.iter().find_map(|piece| {
            let bytes = piece.bytes.as_deref().filter(|_| piece.path.is_empty())?;
            let found = within(range, piece.at, bytes)?;
            piece.used.store(self.turn, Ordering::Relaxed);
            Some(found)
        });
        found.or_else(|| LASTING.fetch(range))
    }
}
