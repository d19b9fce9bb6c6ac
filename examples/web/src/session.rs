//! One open file: the calls of the page. A call is repeated until no bytes are missing.

use alloc::string::String;
use alloc::vec::Vec;
#[cfg(feature = "rows")]
use core::ops::Range;

use pilaster::any::{Format, Hints, detect_ends};
use pilaster::bytes::{FileRange, Scratch};
use pilaster::error::{Error, Kind, Result, What};
#[cfg(feature = "filo")]
use pilaster::filo::Element;

use crate::describe;
use crate::heap::memory;
use crate::json::Json;
use crate::pieces::{Pieces, Wanted};
#[cfg(feature = "rows")]
use crate::tape::Tape;

/// The status of a call. The page uses the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The reply is the result.
    Done = 0,
    /// The reply lists the requested bytes; the call is to be repeated with them.
    Wanted = 1,
    /// The reply is the error.
    Failed = 2,
    /// The call is to be repeated to continue. The reply is the progress.
    More = 3,
}

/// Number of bytes at the start and at the end of a file from which its format is detected.
const HEAD: u64 = 4 << 10;
const TAIL: u64 = 64 << 10;
/// Maximum number of rows per call.
const ROWS: u64 = 1 << 16;
/// Size in bytes of the scratch buffer: of the first try, up to which it grows before fewer rows are read, and the
/// maximum.
const ROOM: usize = 1 << 20;
const ROOMY: usize = 16 << 20;
const MOST: usize = 1 << 30;

/// The description of the file by the page.
pub struct Source {
    pub len: u64,
    pub name: String,
    pub directory: bool,
    pub sequential: bool,
    pub tolerant: bool,
    #[cfg(feature = "filo")]
    pub element: Option<Element>,
}

impl Source {
    const fn new() -> Self {
        Source {
            len: 0,
            name: String::new(),
            directory: false,
            sequential: false,
            tolerant: false,
            #[cfg(feature = "filo")]
            element: None,
        }
    }

    /// Returns the hints of the library.
    pub fn hints(&self) -> Hints<'static> {
        Hints {
            tolerant: self.tolerant,
            #[cfg(feature = "filo")]
            element: self.element,
            #[cfg(feature = "dataseries")]
            sequential: self.sequential,
            ..Hints::default()
        }
    }
}

/// The opened file.
pub enum Opened {
    #[cfg(any(feature = "filo", feature = "jay", feature = "vortex", feature = "verifier"))]
    Single(crate::single::Single),
    #[cfg(feature = "dataseries")]
    Series(crate::dataseries::Series),
    #[cfg(feature = "bcolz")]
    Bcolz(crate::bcolz::Bcolz),
}

/// Makes the same call for every opened file.
macro_rules! each {
    ($opened:expr, $file:ident => $call:expr) => {
        match $opened {
            #[cfg(any(feature = "filo", feature = "jay", feature = "vortex", feature = "verifier"))]
            Opened::Single($file) => $call,
            #[cfg(feature = "dataseries")]
            Opened::Series($file) => $call,
            #[cfg(feature = "bcolz")]
            Opened::Bcolz($file) => $call,
        }
    };
}

#[cfg(feature = "rows")]
impl Opened {
    /// Adds rows to the tape, and returns their number.
    fn read<'s>(&'s self, call: &Call<'s>, tape: &mut Tape, scratch: &mut Scratch<'s>) -> Result<u32> {
        each!(self, file => file.read(call, tape, scratch))
    }
}

#[cfg(feature = "info")]
mod info;
#[cfg(feature = "verify")]
mod verify;

/// The progress of a walk: `done` bytes or parts of `of`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    pub done: u64,
    pub of: u64,
}

/// One open file.
pub struct Session {
    pub source: Source,
    pub pieces: Pieces,
    pub reply: Json,
    #[cfg(feature = "rows")]
    pub tape: Tape,
    opened: Option<Opened>,
    scratch: Vec<u8>,
    /// The requests of the last call.
    wanted: Vec<Wanted>,
    /// True if the next call is a new one, not a repetition.
    fresh: bool,
    walk: u64,
}

impl Session {
    pub const fn new() -> Self {
        Session {
            source: Source::new(),
            pieces: Pieces::new(),
            reply: Json::new(),
            #[cfg(feature = "rows")]
            tape: Tape::new(),
            opened: None,
            scratch: Vec::new(),
            wanted: Vec::new(),
            fresh: false,
            walk: 0,
        }
    }

    /// Stores the bytes for request `number`, starting at offset `at`, or `None` if the file does not exist. Returns
    /// whether there was memory.
    pub fn give(&mut self, number: usize, at: u64, bytes: Option<Vec<u8>>) -> bool {
        let Some(wanted) = self.wanted.get_mut(number) else { return true };
        let path = core::mem::take(&mut wanted.path);
        let given = match bytes {
            Some(bytes) if self.opened.is_none() && !self.source.directory => self.pieces.keep(at, bytes),
            bytes => self.pieces.put(path, at, bytes),
        };
        given.is_ok()
    }

    /// Opens the file; the reply describes it.
    pub fn open(&mut self) -> Status {
        self.begin();
        let done = self.try_open();
        self.end(done)
    }

    fn try_open(&mut self) -> Result<Option<Progress>> {
        if self.opened.is_none() {
            // The previous value is `None`, so nothing leaks.
            core::mem::forget(self.opened.replace(opened(&self.pieces, &self.source)?));
        }
        match &mut self.opened {
            #[cfg(feature = "dataseries")]
            Some(Opened::Series(series)) => {
                if let Some(progress) = series.scan(&mut self.pieces, &self.source)? {
                    return Ok(Some(progress));
                }
            }
            _ => {}
        }
        self.reply.clear();
        #[cfg(feature = "rows")]
        self.describe()?;
        #[cfg(not(feature = "rows"))]
        self.reply.bool(true);
        Ok(None)
    }

    /// Describes the tables of the opened file.
    #[cfg(feature = "rows")]
    fn describe(&mut self) -> Result<()> {
        let Some(opened) = &self.opened else { return Ok(()) };
        let json = &mut self.reply;
        json.open(b'{').name("format", format(opened).name()).count("size", self.source.len);
        json.key("tables").open(b'[');
        each!(opened, file => file.tables(&self.pieces, &self.source, json)?);
        json.close(b']').close(b'}');
        Ok(())
    }

    /// Adds rows of some columns of a table to the tape. The reply is their number, which ends at a boundary of a part.
    #[cfg(feature = "rows")]
    pub fn read(&mut self, table: usize, columns: &[[u8; 4]], rows: Range<u64>) -> Status {
        self.begin();
        let done = self.try_read(table, columns, rows);
        if let Ok(rows) = done {
            self.reply.clear();
            self.reply.number(rows.into());
        }
        self.end(done.map(|_| None))
    }

    #[cfg(feature = "rows")]
    fn try_read(&mut self, table: usize, columns: &[[u8; 4]], rows: Range<u64>) -> Result<u32> {
        let Some(opened) = &self.opened else { return Err(closed()) };
        let mut most = ROWS;
        loop {
            self.tape.clear();
            let end = rows.end.min(rows.start.saturating_add(most));
            let scratch = &mut Scratch::new(&mut self.scratch);
            let (pieces, tape) = (&self.pieces, &mut self.tape);
            let call = Call { pieces, source: &self.source, table, columns, rows: rows.start..end, ahead: rows.end };
            let done = opened.read(&call, tape, scratch);
            let Err(e) = &done else { return done };
            let tried = end.saturating_sub(rows.start);
            if lacks_scratch(e) && self.scratch.len() < if tried > 1 { ROOMY } else { MOST } {
                grow(&mut self.scratch, e.need())?;
            } else if matches!(e.kind(), Kind::NoRoom | Kind::Limit) && tried > 1 {
                most = tried >> 1;
            } else {
                return done;
            }
        }
    }

    /// Lists the element types as which a Filo vector can be opened.
    #[cfg(feature = "filo")]
    fn fitting(&mut self) {
        let bytes = self.pieces.whole(self.source.len, What::FILO_VECTOR).unwrap_or_default();
        self.reply.key("fits").open(b'[');
        for element in &Element::ALL {
            if pilaster::filo::Vector::open(bytes, *element).is_ok() {
                self.reply.string(element.name());
            }
        }
        self.reply.close(b']');
    }

    fn begin(&mut self) {
        // What an earlier call that failed had requested.
        self.pieces.wanted();
        if core::mem::take(&mut self.fresh) {
            self.pieces.begin();
        }
    }

    fn end(&mut self, done: Result<Option<Progress>>) -> Status {
        let status = self.ended(done);
        // An incomplete reply is replaced by the error that there is no memory.
        if self.reply.is_whole() { status } else { Status::Failed }
    }

    fn ended(&mut self, done: Result<Option<Progress>>) -> Status {
        let json = &mut self.reply;
        match done {
            Ok(None) => {
                self.fresh = true;
                Status::Done
            }
            Ok(Some(Progress { done, of })) => {
                json.clear();
                json.open(b'{').count("done", done).count("of", of).close(b'}');
                Status::More
            }
            Err(e) if e.kind() == Kind::Missing => {
                self.wanted = self.pieces.wanted();
                // None if there was no memory for a request. The memory of the module has less than 2 GB for a range.
                let most = self.wanted.iter().map(|one| one.span.len).max();
                if most.is_none_or(|most| most > i32::MAX as u64) {
                    return self.ended(Err(Error::needing(Kind::NoRoom, What::INPUT, 0, most.unwrap_or(0))));
                }
                json.clear();
                json.open(b'[');
                for Wanted { path, span } in &self.wanted {
                    json.open(b'{').name("path", path).count("at", span.at).count("len", span.len).close(b'}');
                }
                json.close(b']');
                Status::Wanted
            }
            Err(e) => {
                self.fresh = true;
                json.clear();
                let (kind, what) = (e.kind(), e.what());
                describe::error(json, &e);
                #[cfg(any(feature = "vortex", feature = "verifier"))]
                if let (Kind::Unsupported, Some(Opened::Single(file))) = (kind, &self.opened) {
                    file.name_unknown(&e, json);
                }
                #[cfg(feature = "filo")]
                if matches!((kind, what), (Kind::Misuse, What::FILO_ELEMENT) | (Kind::WrongType, _)) {
                    self.fitting();
                }
                self.reply.close(b'}');
                self.walk = 0;
                Status::Failed
            }
        }
    }
}

/// Opens the file.
fn opened(pieces: &Pieces, source: &Source) -> Result<Opened> {
    #[cfg(feature = "rows")]
    let format = if source.directory { Format::Bcolz } else { detected(pieces, source)? };
    // Another module has detected it.
    #[cfg(not(feature = "rows"))]
    let format = Format::Vortex;
    match format {
        #[cfg(feature = "dataseries")]
        Format::DataSeries => crate::dataseries::Series::open(source).map(Opened::Series),
        #[cfg(feature = "bcolz")]
        Format::Bcolz => crate::bcolz::Bcolz::open(pieces, source).map(Opened::Bcolz),
        #[cfg(any(feature = "filo", feature = "jay", feature = "vortex", feature = "verifier"))]
        format => crate::single::Single::open(format, source).map(Opened::Single),
        #[cfg(not(any(feature = "filo", feature = "jay", feature = "vortex", feature = "verifier")))]
        other => Err(other.unreadable()),
    }
}

/// Returns whether a larger scratch buffer helps. It does not help if the file itself does not fit into memory.
fn lacks_scratch(e: &Error) -> bool {
    (e.kind(), e.what()) == (Kind::NoRoom, What::SCRATCH)
}

/// Replaces the scratch buffer by a larger one.
fn grow(scratch: &mut Vec<u8>, need: u32) -> Result<()> {
    let room = scratch.len().saturating_mul(2).max(ROOM).max((need as usize).saturating_add(64));
    // Frees the old memory first, so that not both are allocated at once.
    *scratch = Vec::new();
    *scratch = memory(room as u64)?;
    Ok(())
}

/// The arguments of [`Session::read`] for a format.
#[cfg(feature = "rows")]
pub struct Call<'c> {
    pub pieces: &'c Pieces,
    pub source: &'c Source,
    pub table: usize,
    pub columns: &'c [[u8; 4]],
    pub rows: Range<u64>,
    /// The end of the rows that the page will read next.
    pub ahead: u64,
}

#[cfg(feature = "rows")]
impl Call<'_> {
    /// Returns the numbers of the columns.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|k| u32::from_le_bytes(*k) as usize)
    }

    /// Returns the number of rows of the call. An error if they exceed the `all` rows of the table.
    pub fn len(&self, all: u64) -> Result<u32> {
        if self.rows.start > self.rows.end || self.rows.end > all {
            return Err(Error::needing(Kind::OutOfRange, What::ROW, self.rows.end, all));
        }
        // At most ROWS.
        Ok(self.rows.end.saturating_sub(self.rows.start) as u32)
    }

    /// Like [`len`](Self::len), for a file with one table and one column.
    pub fn only(&self, all: u64) -> Result<u32> {
        if self.table > 0 {
            return Err(no_column(self.table, 1));
        }
        self.len(all)
    }
}

/// Creates the error for a table or column that does not exist.
#[cold]
pub fn no_column(k: usize, count: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::COLUMN, k as u64, count as u64)
}

#[cold]
fn closed() -> Error {
    Error::new(Kind::Misuse, What::INPUT, 0)
}

#[cfg(feature = "rows")]
const fn format(opened: &Opened) -> Format {
    match opened {
        #[cfg(any(feature = "filo", feature = "jay", feature = "vortex", feature = "verifier"))]
        Opened::Single(file) => file.format(),
        #[cfg(feature = "dataseries")]
        Opened::Series(_) => Format::DataSeries,
        #[cfg(feature = "bcolz")]
        Opened::Bcolz(_) => Format::Bcolz,
    }
}

/// Detects the format from both ends of the file and its name; else the element type implies it.
#[cfg(feature = "rows")]
fn detected(pieces: &Pieces, source: &Source) -> Result<Format> {
    let len = source.len;
    let (head, tail) =
        (FileRange { at: 0, len: len.min(HEAD) }, FileRange { at: len.saturating_sub(TAIL), len: len.min(TAIL) });
    // Requests both before either is used.
    let input = pieces.input(len);
    let (front, end) = (input.get(head, What::MAGIC), input.get(tail, What::MAGIC));
    match detect_ends(front?, end?, len, Some(&source.name)) {
        #[cfg(feature = "filo")]
        Err(_) if source.element.is_some() => Ok(Format::Filo),
        format => format,
    }
}
