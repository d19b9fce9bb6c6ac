//! The files to read: paths and hints of the command line, and the files in directories.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use pilaster::any::{self, Format};
use pilaster::bcolz::Dtype;
use pilaster::filo::Element;
use pilaster::vortex::DTypeBuf;

use crate::budget::Budget;
use crate::failure::Failure;
use crate::goal::Goal;

const HINTS: &str = "Hints about FILE";

/// The file to read, and hints about it.
#[derive(Args, Clone, Debug, Default)]
pub struct Source {
    /// The file, the directory of a bcolz dataset, or - for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub path: Location,
    #[command(flatten)]
    pub hints: Hints,
}

impl Deref for Source {
    type Target = Hints;

    fn deref(&self) -> &Hints {
        &self.hints
    }
}

/// The files to read, and hints about all of them.
#[derive(Args, Clone, Debug, Default)]
pub struct Sources {
    /// Files, bcolz datasets, directories of these, or - for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath, required = true)]
    pub paths: Vec<Location>,
    /// In directories, read only the files of these formats; others are not mentioned
    #[arg(long, value_name = "FORMAT,FORMAT", value_delimiter = ',', ignore_case = true, conflicts_with = "format")]
    #[arg(value_parser = one_of(Format::ALL.map(|f| (f.name(), f))))]
    pub only: Option<Vec<Format>>,
    #[command(flatten)]
    pub hints: Hints,
}

/// Facts that a file may not contain.
#[derive(Args, Clone, Debug, Default)]
pub struct Hints {
    /// The format [default: detected from the content, or from the extension]
    #[arg(long, help_heading = HINTS, ignore_case = true, value_parser = one_of(Known::all()))]
    pub format: Option<Known>,
    /// The element type of a Filo vector
    #[arg(long = "type", value_name = "ELEMENT", help_heading = HINTS, ignore_case = true)]
    #[arg(value_parser = one_of(Element::ALL.map(|e| (e.name(), e))))]
    pub element: Option<Element>,
    /// The numpy name of the item type of a single Blosc chunk: int32, '>f8', '|S5' [default: byte items, printed in
    /// hexadecimal]. The type of the rows of a Vortex file that does not store it, in the notation that info -v --json prints
    /// (docs/formats/vortex.md, section 5.4): '{a=i64, b=utf8?}'; without its ?, missing rows are read as values, and verify
    /// refuses them
    #[arg(long, help_heading = HINTS, allow_hyphen_values = true)]
    pub dtype: Option<String>,
    /// FILE is a single Vortex array of N rows, the bytes of one segment; --dtype gives its type
    #[arg(long, value_name = "N", help_heading = HINTS, requires = "dtype")]
    pub array_rows: Option<u64>,
    /// The ids of encodings that a single Vortex array, or for recover a file without its end, refers to by number
    /// [default: the list of release 0.90]
    #[arg(long, value_name = "ID,ID", help_heading = HINTS, value_delimiter = ',', requires = "dtype")]
    pub array_ids: Option<Vec<String>>,
    /// Read a DataSeries file from the start, without its trailer and index
    #[arg(long = "no-index", help_heading = HINTS)]
    pub sequential: bool,
    /// Read the readable part of a damaged or unusual Jay file or bcolz dataset, and print the problems as warnings
    #[arg(long, help_heading = HINTS)]
    pub tolerant: bool,
    #[command(flatten)]
    pub budget: Budget,
    #[cfg(feature = "arrow")]
    #[command(flatten)]
    pub text: crate::arrow::TextHints,
}

/// A format that the caller names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Format(Format),
    #[cfg(feature = "arrow")]
    Arrow(pilaster_arrow::input::FileKind),
}

impl Known {
    /// Returns the names of `--format`.
    fn all() -> impl Iterator<Item = (&'static str, Known)> {
        let formats = Format::ALL.into_iter().map(|format| (format.name(), Known::Format(format)));
        #[cfg(feature = "arrow")]
        let formats = formats.chain(crate::arrow::KINDS.map(|(name, kind)| (name, Known::Arrow(kind))));
        formats
    }
}

impl Hints {
    /// Returns the format of this library that the caller names.
    pub const fn library_format(&self) -> Option<Format> {
        match self.format {
            Some(Known::Format(format)) => Some(format),
            _ => None,
        }
    }

    /// Returns the hints that a format has: in a directory, each is for the files of its format.
    fn for_format(&self, of: Format) -> Self {
        let Hints { format, element, dtype, array_rows, array_ids, sequential, tolerant, budget, .. } = self.clone();
        // The types of the two formats have names of their own.
        let is_type = |dtype: &String| match of {
            Format::Bcolz => Dtype::parse(dtype).is_ok(),
            Format::Vortex => dtype.parse::<DTypeBuf>().is_ok(),
            _ => false,
        };
        Hints {
            format,
            element: element.filter(|_| of == Format::Filo),
            dtype: dtype.filter(is_type),
            array_rows: array_rows.filter(|_| of == Format::Vortex),
            array_ids: array_ids.filter(|_| of == Format::Vortex),
            sequential: sequential && of == Format::DataSeries,
            tolerant: tolerant && of == Format::Jay,
            budget: if matches!(of, Format::Filo | Format::Bcolz) { Budget::default() } else { budget },
            #[cfg(feature = "arrow")]
            text: crate::arrow::TextHints::default(),
        }
    }

    /// Returns the hints that a bcolz dataset has.
    fn for_dataset(&self) -> Self {
        Hints { element: None, dtype: None, array_rows: None, array_ids: None, sequential: false, ..self.clone() }
    }
}

/// The source of the bytes.
#[derive(Clone, Debug, Default)]
pub enum Location {
    #[default]
    Stdin,
    Path(PathBuf),
}

impl From<OsString> for Location {
    fn from(path: OsString) -> Self {
        if path == "-" { Location::Stdin } else { Location::Path(path.into()) }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Stdin => f.write_str("-"),
            Location::Path(path) => path.display().fmt(f),
        }
    }
}

/// The files that [`Sources`] name.
pub struct Found {
    pub files: Vec<Source>,
    /// Files in directories whose format is unknown; none if the caller chose formats.
    pub unknown: Vec<PathBuf>,
    /// Directories without files of a known format, or of the chosen ones.
    pub empty: Vec<PathBuf>,
    /// The formats that the caller chose.
    pub formats: Option<Vec<Format>>,
    /// A directory was searched.
    searched: bool,
}

impl Found {
    /// Returns the file if the caller named exactly one.
    pub fn only(&self) -> Option<&Source> {
        match &self.files[..] {
            [only] if !self.searched => Some(only),
            _ => None,
        }
    }

    /// Returns the failure of a directory without files that can be read.
    pub fn no_files(&self, dir: &Path) -> Failure {
        let [table, array] = any::BCOLZ_MARKERS;
        let why = match &self.formats {
            Some(formats) => {
                let names: Vec<_> = formats.iter().map(|format| format.name()).collect();
                format!("no file that --only chooses is in it: {}", names.join(", "))
            }
            None => format!(
                "no file of a known format is in it: DataSeries, Jay, Vortex, Blosc and .filo files are looked for, and \
                 bcolz datasets (directories with {table} or {array})"
            ),
        };
        Failure::of_file(dir, why)
    }
}

impl Sources {
    /// Searches the directories that are no datasets, in the order of names.
    pub fn find(&self) -> Result<Found, Failure> {
        let formats = self.only.clone();
        let mut found = Found { files: Vec::new(), unknown: Vec::new(), empty: Vec::new(), formats, searched: false };
        for path in &self.paths {
            match path {
                Location::Path(path) if path.is_dir() && !is_dataset(path) && !was_dataset(path) => {
                    let before = found.files.len();
                    found.searched = true;
                    self.search(path, &mut found).map_err(|e| Failure::of_file(path, e))?;
                    if found.files.len() == before {
                        found.empty.push(path.clone());
                    }
                }
                _ => found.files.push(self.source(path.clone())),
            }
        }
        Ok(found)
    }

    fn source(&self, path: Location) -> Source {
        Source { path, hints: self.hints.clone() }
    }

    /// Adds the files below `top`. Links to directories in it are not followed, so that the search ends.
    fn search(&self, top: &Path, found: &mut Found) -> io::Result<()> {
        let mut left = vec![top.to_owned()];
        while let Some(path) = left.pop() {
            let kind = if path == top { fs::metadata(&path)? } else { fs::symlink_metadata(&path)? };
            // The rest of a damaged dataset is refused as a whole: its chunks are not separate files.
            let is_bcolz = kind.is_dir() && (is_dataset(&path) || was_dataset(&path));
            if kind.is_dir() && !is_bcolz {
                let mut inside = fs::read_dir(&path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
                // The last one is taken first.
                inside.sort_by(|a, b| b.cmp(a));
                left.extend(inside);
                continue;
            }
            let known = if is_bcolz {
                Some((Some(Format::Bcolz), self.hints.for_dataset()))
            } else if path.is_file() {
                self.known(&path)?
            } else {
                None
            };
            let is_chosen = |format: Option<Format>| {
                self.only.as_ref().is_none_or(|only| format.is_some_and(|format| only.contains(&format)))
            };
            match known {
                Some((format, hints)) if is_chosen(format) => {
                    found.files.push(Source { path: Location::Path(path), hints });
                }
                None if self.only.is_none() => found.unknown.push(path),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the format of a file in a directory, by its ends and its name, and the hints for it; `None` if the format is
    /// unknown. A damaged file has the format that its extension names, so that it is refused and not left out; `None` in it
    /// is Parquet or Arrow.
    fn known(&self, path: &Path) -> io::Result<Option<(Option<Format>, Hints)>> {
        /// Bytes at either end that tell the format.
        const END: u64 = 4096;
        if let Some(format) = self.hints.library_format() {
            return Ok(Some((Some(format), self.hints.clone())));
        }
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        Read::by_ref(&mut file).take(END).read_to_end(&mut head)?;
        file.seek(SeekFrom::Start(len.saturating_sub(END)))?;
        file.take(END).read_to_end(&mut tail)?;
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(format) = any::detect_ends(&head, &tail, len, name).ok().or_else(|| named(path)) {
            return Ok(Some((Some(format), self.hints.for_format(format))));
        }
        #[cfg(feature = "arrow")]
        if self.hints.format.is_none() && crate::arrow::is_damaged(&head, &tail, path) {
            return Ok(Some((None, Hints::default())));
        }
        Ok(None)
    }
}

/// Returns the format of the library that the extension names.
pub fn named(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        // A chunk in a bcolz dataset.
        extension if extension.eq_ignore_ascii_case("blp") => Some(Format::Bcolz),
        extension => match Goal::of_extension(extension)? {
            Goal::Format(format) => Some(format),
            _ => None,
        },
    }
}

/// Returns whether a directory that is no dataset is what is left of one: it is called `.bcolz`, or has attributes, or the
/// chunks of an array.
fn was_dataset(path: &Path) -> bool {
    let has_chunks = || path.join("data/__0.blp").exists() || path.join("data/__leftover.blp").exists();
    named(path) == Some(Format::Bcolz) || path.join("__attrs__").is_file() || has_chunks()
}

/// Returns whether a directory is a bcolz dataset.
pub fn is_dataset(path: &Path) -> bool {
    any::BCOLZ_MARKERS.iter().any(|marker| path.join(marker).exists())
}

/// Returns a parser of the names in `all`, which the help lists.
pub fn one_of<T>(all: impl IntoIterator<Item = (&'static str, T)>) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let all: Vec<_> = all.into_iter().collect();
    PossibleValuesParser::new(all.iter().map(|(name, _)| *name)).try_map(move |text| {
        let found = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        found.map(|(_, value)| value.clone()).ok_or("an unknown name")
    })
}
