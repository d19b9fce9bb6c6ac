//! The bytes of an input: in memory, or a file that is read in ranges.

use std::fmt;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::contained::outside;
use crate::Error;

/// Size in bytes of the buffer of a reader.
const BUFFER: usize = 1 << 16;

/// The bytes of an input, and its name. A clone refers to the same bytes.
///
/// ```
/// use pilaster_arrow::input::Input;
///
/// assert_eq!(Input::from(b"year\n1870\n".to_vec()).len(), 10);
/// let e = Input::path("no/such/file.csv").unwrap_err();
/// assert!(e.to_string().starts_with("no/such/file.csv: "));
/// ```
#[derive(Clone)]
pub struct Input {
    bytes: Held,
    len: u64,
    name: String,
    /// The end of the last bytes that were read.
    read: Arc<AtomicU64>,
}

#[derive(Clone)]
enum Held {
    Memory(Bytes),
    Shared(Arc<Mutex<dyn ReadSeek + Send>>),
}

trait ReadSeek: Read + Seek {}

impl<R: Read + Seek> ReadSeek for R {}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Input`] with the path.
    pub fn path(path: impl AsRef<Path>) -> Result<Self, Error> {
        let name = path.as_ref().display().to_string();
        let opened = std::fs::File::open(path).map_err(|e| Error::Input(format!("{name}: {e}")))?;
        Ok(Self::seekable(opened)?.with_name(name))
    }

    /// Creates the input of anything that can be read from any position. It is locked for each read, so that several
    /// readers can share it.
    ///
    /// # Errors
    /// [`Error::Input`] if its length cannot be determined.
    pub fn seekable(mut from: impl Read + Seek + Send + 'static) -> Result<Self, Error> {
        let len = from.seek(SeekFrom::End(0)).map_err(|e| Error::Input(e.to_string()))?;
        let bytes = Held::Shared(Arc::new(Mutex::new(from)));
        Ok(Input { bytes, len, name: String::new(), read: Arc::default() })
    }

    /// Copies all bytes of a reader that can be read only once, such as a pipe, to a file, and creates the input of the
    /// file. It must be empty.
    ///
    /// ```
    /// use std::io::Cursor;
    /// use pilaster_arrow::input::Input;
    ///
    /// let pipe = &b"year\n1870\n"[..];
    /// // A temporary file, or memory.
    /// let input = Input::copied(pipe, Cursor::new(Vec::new()))?.with_name("years.csv");
    /// assert_eq!((input.len(), input.name()), (10, "years.csv"));
    /// # Ok::<(), pilaster_arrow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Input`] if the reader or the file fails.
    pub fn copied(mut from: impl Read, mut to: impl Read + Write + Seek + Send + 'static) -> Result<Self, Error> {
        io::copy(&mut from, &mut to).and_then(|_| to.flush()).map_err(|e| Error::Input(e.to_string()))?;
        Self::seekable(to)
    }

    /// Returns the input with a name, whose extension tells the kind of a file.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Input { name: name.into(), ..self }
    }

    /// Returns the name, or an empty text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Returns the end of the bytes that were read last: of a file that is read from start to end, their number.
    ///
    /// ```
    /// use pilaster_arrow::input::{Input, InputOptions, open};
    ///
    /// let input = Input::from(b"year\n1870\n".to_vec()).with_name("a.csv");
    /// let mut file = open(input.clone(), InputOptions::default())?;
    /// file.reader()?.for_each(drop);
    /// assert_eq!(input.position(), input.len());
    /// # Ok::<(), pilaster_arrow::Error>(())
    /// ```
    #[must_use]
    pub fn position(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Returns whether there are no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a reader that starts at `at`.
    pub(crate) fn read_from(&self, at: u64) -> BufReader<Cursor> {
        BufReader::with_capacity(BUFFER, Cursor { input: self.clone(), at })
    }

    /// Reads `len` bytes at `at`; in memory without a copy.
    pub(crate) fn range(&self, at: u64, len: usize) -> io::Result<Bytes> {
        let end = at.checked_add(len as u64).filter(|end| *end <= self.len).ok_or(io::ErrorKind::UnexpectedEof)?;
        match &self.bytes {
            Held::Memory(bytes) => {
                let index = |at: u64| usize::try_from(at).map_err(|_| io::ErrorKind::UnexpectedEof);
                Ok(bytes.slice(index(at)?..index(end)?))
            }
            Held::Shared(_) => {
                let mut bytes = vec![0; len];
                Cursor { input: self.clone(), at }.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }

    /// Adds the name to an error.
    pub(crate) fn failed(&self, e: impl fmt::Display) -> Error {
        match self.name.as_str() {
            "" => Error::Input(e.to_string()),
            name => Error::Input(format!("{name}: {e}")),
        }
    }
}

impl From<Bytes> for Input {
    fn from(bytes: Bytes) -> Self {
        Input { len: bytes.len() as u64, bytes: Held::Memory(bytes), name: String::new(), read: Arc::default() }
    }
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).field("len", &self.len).finish_non_exhaustive()
    }
}

/// A position in an input.
#[derive(Debug)]
pub struct Cursor {
    input: Input,
    at: u64,
}

impl Read for Cursor {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = match &self.input.bytes {
            Held::Memory(bytes) => {
                let left = usize::try_from(self.at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let len = left.len().min(buf.len());
                if let (Some(to), Some(from)) = (buf.get_mut(..len), left.get(..len)) {
                    to.copy_from_slice(from);
                }
                len
            }
            Held::Shared(shared) => {
                // A reader that panicked left a position, which is set here.
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                outside(|| {
                    shared.seek(SeekFrom::Start(self.at))?;
                    shared.read(buf)
                })?
            }
        };
        self.at = self.at.saturating_add(read as u64);
        self.input.read.store(self.at, Ordering::Relaxed);
        Ok(read)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.input.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(feature = "parquet")]
impl parquet::file::reader::Length for Input {
    fn len(&self) -> u64 {
        self.len
    }
}

#[cfg(feature = "parquet")]
impl parquet::file::reader::ChunkReader for Input {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(self.read_from(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        Ok(self.range(start, length)?)
    }
}
