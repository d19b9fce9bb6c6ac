//! What a file is read from: memory, ranges, or the directory of a dataset.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use pilaster::any::{self, BCOLZ_MARKERS, File, Format, Hints};
use pilaster::bcolz::Dataset;
use pilaster::bytes::{FileRange, Input, Ranges};
use pilaster::column::Memory;
use pilaster::error::{Kind, What};
use pilaster::filo::Element;
use pilaster_arrow::Buffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{Failure, Result, detached};
use crate::{exit, raw};

/// Where the bytes are.
enum Content {
    Memory(Buffer),
    /// Read when they are needed; `python`: by an object of Python.
    Ranges {
        ranges: Box<Ranges>,
        python: bool,
    },
    Dataset(Box<Dataset>),
}

/// How a file is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub format: Option<Format>,
    /// The element type of a Filo vector, the item type of a Blosc chunk, or the type of a Vortex file.
    pub ty: Option<String>,
    pub tolerant: bool,
    pub sequential: bool,
    pub mmap: bool,
    /// The file is to be recovered: it may be so damaged that it cannot be opened.
    pub damaged: bool,
}

/// A file, which can be opened as often as needed.
pub struct Source {
    content: Content,
    format: Format,
    options: Options,
    element: Option<Element>,
    /// The last error of reading ranges.
    failed: Mutex<Option<Failure>>,
    /// The object of Python that reads, if one does.
    pub object: Option<Arc<Py<PyAny>>>,
    /// The path or URL, if there is one.
    pub name: Option<String>,
}

impl Source {
    /// Opens a path: a file, or the directory of a dataset.
    pub fn path(path: &Path, options: Options) -> Result<Self> {
        let name = path.display().to_string();
        let opened = || {
            let dataset = || -> Result<Self> {
                let dataset = match options.tolerant {
                    true => Dataset::open_tolerant(path, |_| {})?,
                    false => Dataset::open(path)?,
                };
                Self::new(Content::Dataset(Box::new(dataset)), Some(&name), options.clone())
            };
            if BCOLZ_MARKERS.iter().any(|marker| path.join(marker).exists()) {
                return dataset();
            }
            let file = match fs::File::open(path) {
                // Between two names, see `pilaster::bcolz::write`.
                Err(e) if e.kind() == io::ErrorKind::NotFound => return dataset().map_err(|_| e.into()),
                file => file?,
            };
            let facts = file.metadata()?;
            if facts.is_dir() {
                let [table, array] = BCOLZ_MARKERS;
                let text = format!("a directory, but no bcolz dataset: it has neither {table} nor {array}");
                return Err(Failure::other("Unsupported", text));
            }
            // Neither an empty file nor a pipe can be mapped.
            let content = match facts.is_file() && facts.len() > 0 {
                true if options.mmap => Content::Memory(raw::mapped(&file)?.into()),
                true => Content::Ranges { ranges: Box::new(Ranges::open(path)?), python: false },
                false => Content::Memory(fs::read(path)?.into()),
            };
            Self::new(content, Some(&name), options.clone())
        };
        opened().map_err(|failure: Failure| failure.of(Some(&name)))
    }

    /// Opens bytes in memory.
    pub fn memory(bytes: Bytes, options: Options) -> Result<Self> {
        Self::new(Content::Memory(bytes.into()), None, options)
    }

    /// Opens an object with `read` and `seek`, or with `read_at` and `size`.
    pub fn object(object: &Bound<'_, PyAny>, options: Options) -> Result<Self> {
        let name = object.getattr("name").ok().and_then(|name| name.extract::<String>().ok());
        let py = object.py();
        // Files of texts have it, and no others.
        if object.hasattr("encoding")? {
            let text = "a file that is opened as text; open it with the mode \"rb\", or pass its path".to_owned();
            return Err(Failure::Type(text).of(name.as_deref()));
        }
        let direct = object.hasattr("read_at")?;
        let len: u64 = match direct {
            true => object.getattr("size")?.extract()?,
            false => object.call_method1("seek", (0, 2))?.extract()?,
        };
        // The lock is never taken by a thread that is attached.
        let (object, turn) = (Arc::new(object.clone().unbind()), turn(object));
        let reads = Arc::clone(&object);
        let ranges = Ranges::new(len, move |at, to| {
            let _turn = (!direct).then(|| turn.lock().unwrap_or_else(PoisonError::into_inner));
            match exit::call(|py| read_at(reads.bind(py), direct, at, to)) {
                Some(read) => read.map_err(io::Error::other),
                None => Err(io::Error::other("the interpreter ends")),
            }
        });
        let content = Content::Ranges { ranges: Box::new(ranges), python: true };
        let made = detached(py, || Self::new(content, name.as_deref(), options));
        let made = made.map_err(|failure| failure.of(name.as_deref()))?;
        Ok(Source { object: Some(object), ..made })
    }

    fn new(content: Content, name: Option<&str>, options: Options) -> Result<Self> {
        let mut source = Source {
            content,
            format: Format::Bcolz,
            element: None,
            failed: Mutex::default(),
            object: None,
            options,
            name: name.map(str::to_owned),
        };
        source.format = source.detected()?;
        source.check_hints()?;
        source.element = match (source.format, source.options.ty.as_deref()) {
            (Format::Filo, None) => {
                let text = "a Filo vector does not store its element type: pass type=, such as type='int'";
                return Err(Failure::Value(text.to_owned()));
            }
            (Format::Filo, Some(ty)) => {
                let known = Element::ALL.into_iter().find(|element| element.name().eq_ignore_ascii_case(ty));
                let names = || Element::ALL.map(Element::name).join(", ");
                Some(known.ok_or_else(|| Failure::Value(format!("no element type {ty:?}; there are {}", names())))?)
            }
            _ => None,
        };
        if !source.options.damaged {
            source.with_file(|_| Ok(())).map_err(|failure| source.recoverable(failure))?;
        }
        Ok(source)
    }

    /// Returns the error of opening with what helps, if the file has its magic number at the front and may have lost its end.
    fn recoverable(&self, failure: Failure) -> Failure {
        use Kind::{Invalid, OutOfRange, Overflow, Truncated};
        let cuts = [Truncated, Invalid, OutOfRange, Overflow].map(|kind| format!("{kind:?}"));
        match failure {
            Failure::Error(facts)
                if matches!(self.format, Format::Jay | Format::Vortex | Format::DataSeries)
                    && cuts.contains(&facts.kind) =>
            {
                let text = format!(
                    "{} (the file may be cut off, or damaged: pilaster.recover saves what is intact)",
                    facts.text
                );
                Failure::Error(crate::error::Facts { text, ..facts })
            }
            other => other,
        }
    }

    /// Checks that the format has the hints that were given.
    fn check_hints(&self) -> Result<()> {
        let (options, is_dataset) = (&self.options, matches!(self.content, Content::Dataset(_)));
        let refuse = |given: bool, has: bool, text: &str| match given && !has {
            true => Err(Failure::Value(format!("{text}; this is {}", self.described()))),
            false => Ok(()),
        };
        let asked = options.format.unwrap_or(self.format);
        refuse(asked != self.format, false, &format!("format={:?}", asked.name()))?;
        let typed = matches!(self.format, Format::Filo | Format::Vortex) || self.format == Format::Bcolz && !is_dataset;
        refuse(options.ty.is_some(), typed, "type= is for Filo vectors, Blosc chunks and Vortex files")?;
        if options.damaged {
            return Ok(());
        }
        let series = self.format == Format::DataSeries;
        refuse(options.sequential, series, "sequential=True is for DataSeries files")?;
        let tolerates = self.format == Format::Jay || is_dataset;
        refuse(options.tolerant, tolerates, "tolerant=True is for Jay files and bcolz datasets")
    }

    fn described(&self) -> String {
        match (self.format, &self.content) {
            (Format::Bcolz, Content::Dataset(_)) => "a bcolz dataset".to_owned(),
            (Format::Bcolz, _) => "a Blosc chunk".to_owned(),
            (format, _) => format.to_string(),
        }
    }

    /// Returns the format by the option, the bytes or the name.
    fn detected(&self) -> Result<Format> {
        if let Content::Dataset(_) = self.content {
            return Ok(Format::Bcolz);
        }
        if let Some(format) = self.options.format {
            return Ok(format);
        }
        let (input, len) = (self.input(), self.len());
        let end = |n: u64, at: u64| input.get(FileRange { at, len: n.min(len) }, What::MAGIC);
        let found = end(16, 0).and_then(|first| {
            let last = end(4, len.saturating_sub(4))?;
            any::detect_ends(first, last, len, self.name.as_deref())
        });
        found.map_err(|e| match self.reason(e.into()) {
            Failure::Error(facts) => {
                let help = "format= names the format, as a Filo vector has no magic number";
                let head = input.get(FileRange { at: 0, len: FOREIGN.min(len) }, What::MAGIC);
                let text = match foreign(head.unwrap_or_default()) {
                    Some((what, remedy)) => format!("the file is {what}, of no format that pilaster reads{remedy}"),
                    None => format!("unknown format: {} ({help})", facts.text),
                };
                Failure::Error(crate::error::Facts { text, ..facts })
            }
            other => other,
        })
    }

    pub const fn format(&self) -> Format {
        self.format
    }

    /// Returns the type that was given.
    pub fn ty(&self) -> Option<&str> {
        self.options.ty.as_deref()
    }

    pub const fn is_dataset(&self) -> bool {
        matches!(self.content, Content::Dataset(_))
    }

    /// Returns the length in bytes; 0 of a dataset.
    pub fn len(&self) -> u64 {
        self.input().len()
    }

    /// Returns whether reading calls Python, so that no thread that waits for it may be attached.
    pub const fn is_python(&self) -> bool {
        matches!(self.content, Content::Ranges { python: true, .. })
    }

    /// Returns the bytes of a file in memory, to which arrays can refer.
    pub const fn buffer(&self) -> Option<&Buffer> {
        match &self.content {
            Content::Memory(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// Returns ranges for rows, whose memory can be released before the file is closed.
    pub fn window(&self) -> Option<Ranges> {
        match &self.content {
            Content::Ranges { ranges, .. } => Some(ranges.window()),
            _ => None,
        }
    }

    pub fn input(&self) -> Input<'_> {
        match &self.content {
            Content::Memory(buffer) => Input::whole(buffer),
            Content::Ranges { ranges, .. } => ranges.input(),
            Content::Dataset(_) => Input::whole(&[]),
        }
    }

    /// Returns the error of reading ranges that is the reason of `failure`, or `failure` itself.
    fn reason(&self, failure: Failure) -> Failure {
        let Content::Ranges { ranges, .. } = &self.content else { return failure };
        let mut last = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(e) = ranges.failed() {
            *last = Some(e.into());
        }
        // If several threads miss bytes, one of them finds the error. It is the reason for all.
        match (&failure, &*last) {
            (Failure::Error(facts), Some(reason)) if facts.kind == format!("{:?}", Kind::Missing) => reason.share(),
            _ => failure,
        }
    }

    /// Opens the file for `take`. Errors name the file.
    pub fn with_file<R>(&self, take: impl FnOnce(&File<'_>) -> Result<R>) -> Result<R> {
        let run = || {
            if let Content::Dataset(dataset) = &self.content {
                let file = File::from(&**dataset);
                return take(&file);
            }
            let typed = self.format != Format::Filo;
            let hints = Hints {
                element: self.element,
                sequential: self.options.sequential,
                dtype: self.options.ty.as_deref().filter(|_| typed),
                tolerant: self.options.tolerant,
                ..Hints::default()
            };
            let mut memory = Memory::default();
            while let Err(e) = File::open_input(self.input(), self.format, &hints, &mut memory.scratch()) {
                if e.kind() != Kind::NoRoom {
                    return Err(e.into());
                }
                memory.grow(e)?;
            }
            take(&File::open_input(self.input(), self.format, &hints, &mut memory.scratch())?)
        };
        run().map_err(|failure| self.reason(failure).of(self.name.as_deref()))
    }
}

/// Number of bytes by which a file of another program is recognised.
const FOREIGN: u64 = 4096;

/// Returns what the first bytes of a file of another program are, and what reads it.
fn foreign(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let what = pilaster_cli::foreign_name(head)?;
    let read_by = ["Parquet", "Arrow", "Feather", "CSV", "JSON"].iter().any(|name| what.contains(name));
    Some((what, if read_by { "; polars and pyarrow read it, and pilaster.write takes their tables" } else { "" }))
}

/// Returns the lock of an object, whose position no two threads may move at once. All sources of an object share it.
fn turn(object: &Bound<'_, PyAny>) -> Arc<Mutex<()>> {
    /// By address: an object stays at its place as long as a source holds it and its lock.
    static TURNS: Mutex<BTreeMap<usize, Weak<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    turns.retain(|_, turn| turn.strong_count() > 0);
    let at = object.as_ptr().addr();
    let turn = turns.get(&at).and_then(Weak::upgrade).unwrap_or_default();
    turns.insert(at, Arc::downgrade(&turn));
    turn
}

/// Fills `to` with the bytes at an offset of a file of Python.
fn read_at(object: &Bound<'_, PyAny>, direct: bool, at: u64, to: &mut [u8]) -> PyResult<()> {
    if direct {
        let read = object.call_method1("read_at", (at, to.len()))?;
        return filled(to, 0, read.cast::<PyBytes>()?.as_bytes()).map(|_| ());
    }
    object.call_method1("seek", (at,))?;
    let mut done = 0;
    while done < to.len() {
        let read = object.call_method1("read", (to.len().saturating_sub(done),))?;
        done = filled(to, done, read.cast::<PyBytes>()?.as_bytes())?;
    }
    Ok(())
}

/// Copies what was read to offset `done`. Returns the offset after it.
fn filled(to: &mut [u8], done: usize, read: &[u8]) -> PyResult<usize> {
    let end = done.saturating_add(read.len());
    match to.get_mut(done..end) {
        Some(to) if !read.is_empty() => {
            to.copy_from_slice(read);
            Ok(end)
        }
        _ => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than it was").into()),
    }
}
