//! The file: its bytes, its format, its element type, its tables.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use pilaster::any::{self, File, FileError, Format, Help, Hints, Table};
use pilaster::bcolz::{Dataset, Dtype};
use pilaster::bytes::{self, FileRange, Ranges};
use pilaster::column::Memory;
use pilaster::error::{Cause, Error, Kind, What};
use pilaster::filo::Element;
use pilaster::limits::Limits;

use crate::budget;
use crate::columns::Rules;
use crate::content::{Content, opened, spooled};
use crate::failure::{Failure, warn};
use crate::sources::{Location, Source, is_dataset};
use crate::vortex_dtype;

/// Reads bytes at an offset of a file.
pub type ReadAt = dyn Fn(u64, &mut [u8]) -> io::Result<()> + Send + Sync;

/// A file, or an opened dataset.
pub struct Input<'s> {
    pub source: &'s Source,
    /// The path as given on the command line, or `-`.
    pub path: String,
    /// The last part of the path, or `-`.
    pub name: String,
    /// The ids of encodings of a single Vortex array.
    array_ids: Option<Vec<&'s str>>,
    content: Content,
    /// What a damaged dataset lacks.
    pub lacks: Lacks,
    /// The problems of a damaged dataset, a line for each.
    pub warnings: Vec<String>,
    /// True if the readable part of a damaged file is to be read.
    pub tolerant: bool,
    pub format: Format,
    /// True if the bytes come from the segments of a flash, put together, without an index.
    pub is_ring: bool,
}

/// The parts of a dataset that cannot be read.
#[derive(Clone, Copy, Default)]
pub struct Lacks {
    /// Number of columns that cannot be opened.
    pub columns: u64,
    /// Number of missing or damaged ranges of rows, counted for each column.
    pub ranges: u64,
    /// Number of rows in them.
    pub rows: u64,
}

impl<'s> Input<'s> {
    /// Opens the file. Its format is still to be detected, unless it is a dataset. `tolerant`: the readable part of a
    /// damaged file is to be read.
    pub fn load(source: &'s Source, tolerant: bool) -> Result<Self, Failure> {
        let (mut lacks, mut warnings) = (Lacks::default(), Vec::new());
        let mut dataset = |at: &Path| dataset(source, at, tolerant, (&mut lacks, &mut warnings));
        let content = match &source.path {
            Location::Stdin => spooled(io::stdin().lock())?,
            Location::Path(at) if is_dataset(at) => Content::Dataset(Box::new(dataset(at)?)),
            Location::Path(at) if at.is_dir() => return Err(Failure::Input(no_dataset())),
            Location::Path(at) => match opened(at) {
                Ok(content) => content,
                // Between two names, see `pilaster::bcolz::write`.
                Err(e) if e.kind() == io::ErrorKind::NotFound => match dataset(at) {
                    Ok(dataset) => Content::Dataset(Box::new(dataset)),
                    Err(_) => return Err(Failure::Input(e.to_string())),
                },
                Err(e) => return Err(Failure::Input(e.to_string())),
            },
        };
        Ok(Input { lacks, warnings, tolerant, ..Input::of(source, content) })
    }

    /// Returns the input with this content. Its path is only its name.
    pub fn of(source: &'s Source, content: Content) -> Self {
        let path = source.path.to_string();
        let name = match &source.path {
            Location::Stdin => path.clone(),
            Location::Path(at) => at.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        };
        let array_ids = source.array_ids.as_ref().map(|ids| ids.iter().map(String::as_str).collect());
        let (lacks, warnings, tolerant, format) = (Lacks::default(), Vec::new(), source.tolerant, Format::Bcolz);
        Input { source, path, name, array_ids, content, lacks, warnings, tolerant, format, is_ring: false }
    }

    /// Returns the bytes of the file as the library reads them; none for a dataset.
    pub fn input(&self) -> bytes::Input<'_> {
        match &self.content {
            Content::Bytes(bytes) => bytes::Input::whole((**bytes).as_ref()),
            Content::Ranges(ranges) => ranges.input(),
            Content::Dataset(_) => bytes::Input::whole(&[]),
        }
    }

    /// Returns the length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.input().len()
    }

    /// Returns all bytes of the file.
    pub fn bytes(&self) -> Result<&[u8], Failure> {
        Ok(self.input().get(FileRange { at: 0, len: self.len() }, What::INPUT)?)
    }

    /// Returns ranges of the same file that hold nothing yet; `None` if the bytes are in memory anyway.
    pub fn window(&self) -> Option<Ranges> {
        match &self.content {
            Content::Ranges(ranges) => Some(ranges.window()),
            Content::Bytes(_) | Content::Dataset(_) => None,
        }
    }

    /// Returns the same input with the bytes of `ranges`.
    pub fn with(&self, ranges: Ranges) -> Self {
        let (path, name, content) = (self.path.clone(), self.name.clone(), Content::Ranges(Box::new(ranges)));
        Input { path, name, content, array_ids: self.array_ids.clone(), warnings: Vec::new(), ..*self }
    }

    /// Returns a function that reads the bytes of the file at an offset.
    pub fn reader(&self) -> Box<ReadAt> {
        /// Number of bytes that are copied at once.
        const COPIED: usize = 1 << 20;
        let ranges = match &self.content {
            Content::Ranges(ranges) => ranges.window(),
            Content::Bytes(bytes) => {
                let bytes = Arc::clone(bytes);
                Ranges::new((*bytes).as_ref().len() as u64, move |at, to: &mut [u8]| {
                    let range = FileRange { at, len: to.len() as u64 };
                    let from = bytes::Input::whole((*bytes).as_ref()).get(range, What::INPUT);
                    to.copy_from_slice(from.map_err(io::Error::other)?);
                    Ok(())
                })
            }
            Content::Dataset(_) => Ranges::new(0, |_, _: &mut [u8]| Ok(())),
        };
        Box::new(move |mut at, to| {
            for to in to.chunks_mut(COPIED) {
                let window = ranges.window();
                let found = window.input().get(FileRange { at, len: to.len() as u64 }, What::INPUT);
                to.copy_from_slice(found.map_err(|e| ranges.failed().unwrap_or(io::Error::other(e)))?);
                at = at.saturating_add(to.len() as u64);
            }
            Ok(())
        })
    }

    /// Returns the error of reading the file if that is the reason of `failure`.
    pub fn failure(&self, failure: Failure) -> Failure {
        match &self.content {
            Content::Ranges(ranges) => ranges.failed().map_or(failure, |e| Failure::Input(e.to_string())),
            Content::Bytes(_) | Content::Dataset(_) => failure,
        }
    }

    /// Returns the number of bytes that were read from the file so far; 0 if that is not counted.
    pub fn bytes_read(&self) -> u64 {
        match &self.content {
            Content::Ranges(ranges) => ranges.bytes_read(),
            Content::Bytes(_) | Content::Dataset(_) => 0,
        }
    }

    /// Prints on standard error how many bytes were read, and how much memory the process took at most, if the
    /// environment asks for it: for tests.
    pub fn report(&self) {
        if std::env::var_os("PILASTER_BYTES_READ").is_none() {
            return;
        }
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
        match &self.content {
            Content::Ranges(ranges) => warn(&format!("{} bytes read, {most} of memory", ranges.bytes_read())),
            Content::Bytes(_) | Content::Dataset(_) => warn(&format!("{most} of memory")),
        }
    }

    /// Returns whether options limit how much the file may cost.
    pub fn is_limited(&self) -> bool {
        self.source.budget.is_given()
    }

    /// How much the file may cost.
    pub fn limits(&self) -> Limits {
        self.source.budget.limits(self.len())
    }

    pub fn dataset(&self) -> Option<&Dataset> {
        match &self.content {
            Content::Bytes(_) | Content::Ranges(_) => None,
            Content::Dataset(dataset) => Some(dataset),
        }
    }

    /// Returns the rules for unreadable columns and for names.
    pub fn rules(&self) -> Rules<'_> {
        Rules { path: &self.path, tolerant: self.tolerant, unique: self.format == Format::Jay }
    }

    /// Returns whether byte strings are printed as text if they are UTF-8. True for formats without a type for text, or
    /// without one for text of any length.
    pub fn texts(&self) -> bool {
        matches!(self.format, Format::Bcolz | Format::DataSeries)
    }

    /// Checks the hints, and opens the file in `memory`, which grows as required.
    pub fn open<'i>(&'i self, memory: &'i mut Memory) -> Result<File<'i>, Failure> {
        self.check(false)?;
        if let Some(dataset) = self.dataset() {
            return Ok(File::from(dataset));
        }
        let hints = self.hints();
        self.make_room(self.format, &hints, memory)?;
        let file = File::open_input(self.input(), self.format, &hints, &mut memory.scratch());
        let file = file.map_err(|e| self.helped(e))?;
        vortex_dtype::stored(&self.path, &file, self.source.dtype.as_deref())?;
        Ok(file)
    }

    /// Returns the hints of the command line.
    pub fn hints(&self) -> Hints<'_> {
        let source = self.source;
        Hints {
            element: source.element,
            sequential: source.sequential || self.is_ring,
            dtype: source.dtype.as_deref(),
            array_rows: source.array_rows,
            array_ids: self.array_ids.as_deref(),
            tolerant: self.tolerant,
            limits: match self.format {
                Format::DataSeries => self.limits(),
                _ => source.budget.of(Limits::DEFAULT),
            },
        }
    }

    /// Lets `memory` grow until it is enough to open the file.
    fn make_room(&self, format: Format, hints: &Hints<'_>, memory: &mut Memory) -> Result<(), Failure> {
        while let Err(e) = File::open_input(self.input(), format, hints, &mut memory.scratch())
            && e.kind() == Kind::NoRoom
        {
            memory.grow(e)?;
        }
        Ok(())
    }

    /// Returns whether the file can be opened as `format`, or its readable part if `tolerant`, or without its end if
    /// `sequential`: an option is suggested only if it helps.
    pub fn opens(&self, format: Format, tolerant: bool, sequential: bool) -> bool {
        let (hints, mut memory) = (Hints { tolerant, sequential, ..self.hints() }, Memory::default());
        self.make_room(format, &hints, &mut memory).is_ok()
            && File::open_input(self.input(), format, &hints, &mut memory.scratch()).is_ok()
    }

    /// Returns the failure of an error when the file was opened, with the option that helps.
    fn helped(&self, e: Error) -> Failure {
        let help = match self.hints().help(self.input(), self.format, e) {
            Some(Help::Element(fitting)) => fitted(&fitting),
            Some(Help::Tolerant) => "--tolerant reads the readable part".to_owned(),
            Some(Help::Sequential) => {
                "--no-index reads the file from the start; recover saves what is intact".to_owned()
            }
            Some(Help::Dtype) => {
                "the file does not store the type of its rows: --dtype gives it, as '{a=i64, b=utf8?}'".to_owned()
            }
            Some(Help::Recover) => {
                "the end of the file is lost, or bytes follow it: recover saves what is before it".to_owned()
            }
            _ => return budget::explain(e),
        };
        Failure::Input(format!("{e} ({help})"))
    }

    /// Returns a usage error for a hint that the format does not have, or for a missing hint that it requires. `recover`:
    /// the intact rows are to be saved.
    pub fn check(&self, recover: bool) -> Result<(), Failure> {
        let Input { source, path, format, .. } = self;
        let usage = |why: String| Err(Failure::Usage(why));
        for (given, option, of) in [
            (source.element.is_some() && *format != Format::Filo, "--type is for Filo vectors", format),
            (source.sequential && *format != Format::DataSeries, "--no-index is for DataSeries files", format),
            (
                source.dtype.is_some() && !matches!(format, Format::Bcolz | Format::Vortex),
                "--dtype is for Blosc chunks and Vortex files",
                format,
            ),
            (source.array_rows.is_some() && *format != Format::Vortex, "--array-rows is for Vortex arrays", format),
            (source.tolerant && *format != Format::Jay, "--tolerant is for Jay files and bcolz datasets", format),
            (limited(source, *format, recover), LIMITED, format),
        ] {
            if given && self.dataset().is_none() {
                return usage(format!("{option}; {path} is {of}"));
            }
        }
        if *format == Format::Filo && source.element.is_none() {
            let why = "a Filo vector does not store its element type: pass it with --type ELEMENT";
            let missing = Error::new(Kind::Misuse, What::FILO_ELEMENT, 0);
            let fitting = match self.hints().help(self.input(), *format, missing) {
                Some(Help::Element(fitting)) => fitted(&fitting),
                _ => NONE_FITS.to_owned(),
            };
            let line = format!("{path}: {why} ({fitting})");
            // If no type fits, the option does not help.
            return Err(if fitting == NONE_FITS { Failure::Usage(line) } else { Failure::Untyped(line) });
        }
        match (source.dtype.as_deref(), format) {
            (Some(dtype), Format::Vortex) => vortex_dtype::check(dtype),
            (Some(dtype), _) => Dtype::parse(dtype).map(drop).or_else(|e| usage(format!("--dtype {dtype}: {e}"))),
            (None, _) => Ok(()),
        }
    }
}

const LIMITED: &str =
    "--max-rows, --max-decoded and --max-problems are not for Filo vectors, single chunks, and recover from Jay files";

/// Returns whether limits are given that nothing would look at.
fn limited(source: &Source, format: Format, recover: bool) -> bool {
    let never = matches!(format, Format::Filo | Format::Bcolz);
    source.budget.is_given() && (never || recover && format == Format::Jay)
}

/// Returns what is wrong with a directory that is no dataset.
pub fn no_dataset() -> String {
    let [table, array] = any::BCOLZ_MARKERS;
    format!("a directory, but no bcolz dataset: it has neither {table} nor {array}")
}

/// Opens a dataset. If `tolerant`, adds problems to `warnings`, and counts in `lacks` what cannot be read.
fn dataset(
    source: &Source,
    dir: &Path,
    tolerant: bool,
    (lacks, warnings): (&mut Lacks, &mut Vec<String>),
) -> Result<Dataset, Failure> {
    if source.element.is_some() || source.sequential {
        return Err(Failure::Usage(format!("--type and --no-index are not for bcolz; {} is", source.path)));
    }
    if source.dtype.is_some() {
        return Err(Failure::Usage(format!("--dtype is for single chunks; {} stores its types", source.path)));
    }
    let limits = source.budget.of(Limits::DEFAULT);
    let within = |dataset: Dataset| match dataset.rows() > limits.max_file_rows {
        true => Err(budget::explain(Error::needing(Kind::Limit, What::MAX_FILE_ROWS, 0, limits.max_file_rows))),
        false => Ok(dataset.with_limits(limits)),
    };
    if !tolerant {
        return within(Dataset::open(dir).map_err(hinted)?);
    }
    let mut warn = |what: String| warnings.push(format!("{}: {what}", source.path));
    let left_out = |failure: pilaster::bcolz::Failure| {
        lacks.columns = lacks.columns.saturating_add(1);
        warn(failure.to_string());
    };
    let unreadable = |failure| Failure::Input(format!("{failure}: no column can be read"));
    let dataset = within(Dataset::open_tolerant(dir, left_out).map_err(unreadable)?)?;
    dataset.problems(|array, rows, failure| {
        lacks.ranges = lacks.ranges.saturating_add(1);
        lacks.rows = lacks.rows.saturating_add(rows.end.saturating_sub(rows.start));
        let column = if array.name().is_empty() { String::new() } else { format!("column {}, ", array.name()) };
        warn(format!("{column}rows {}..{}: {failure}", rows.start, rows.end));
    });
    Ok(dataset)
}

/// Returns the failure of a dataset with a note about `--tolerant`.
pub fn hinted(failure: pilaster::bcolz::Failure) -> Failure {
    let limit = match failure.cause {
        Cause::Format(e) => budget::option(e),
        _ => None,
    };
    let help = limit.map_or("--tolerant reads the readable part".to_owned(), |option| format!("{option} raises it"));
    Failure::Input(format!("{failure} ({help})"))
}

/// Returns the table to read: the one called `wanted`, or the only one.
pub fn table<'f>(file: &'f File<'_>, wanted: Option<&str>) -> Result<Table<'f>, Failure> {
    let names: Vec<&str> = file.tables().collect();
    let listed = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    match wanted {
        Some(wanted) if !names.contains(&wanted) => {
            Err(Failure::Usage(format!("there is no table {wanted:?}; there are {listed}")))
        }
        None if names.is_empty() => Err(Failure::Input("the file has no tables".to_owned())),
        None if names.len() > 1 => {
            Err(Failure::Usage(format!("the file has several tables, choose one with --table: {listed}")))
        }
        wanted => file.table(wanted).map_err(|e| match file {
            File::Bcolz(chunk, dtype) => {
                let dtype = dtype.map_or_else(|| format!("|V{}", chunk.typesize()), |dtype| dtype.to_string());
                let hint = "--dtype gives the item type; uint8 always fits";
                Failure::Input(format!("{e}: no whole items of {dtype} ({hint})"))
            }
            _ => e.into(),
        }),
    }
}

/// Returns whether tables have names, so that one can be chosen.
pub fn has_names(file: &File<'_>) -> bool {
    file.tables().next() != Some("")
}

/// Returns the error of a walk over `table`; about a dataset, it names the file.
pub fn which(failure: Failure, table: &Table<'_>) -> Failure {
    match table {
        Table::Dataset(dataset) => dataset.failed().map_or(failure, |file| Failure::Input(file.to_string())),
        _ => failure,
    }
}

/// Checks all of `file`. The memory grows if a part takes more than the estimate.
pub fn verify(file: &File<'_>) -> Result<(), Failure> {
    // Enough to check two parts interleaved.
    let mut memory = Memory::with_len(check_room(file)?.saturating_mul(2))?;
    loop {
        match file.verify(&mut memory.scratch()) {
            Err(FileError::Format(e)) => memory.grow(e)?,
            done => return Ok(done?),
        }
    }
}

/// Returns the size in bytes of one unpacked part of `file`. Jay and Vortex files have one part, which is not unpacked.
pub fn part_room(file: &File<'_>) -> Result<u64, Failure> {
    match file {
        File::Jay(_) | File::Vortex(_) => Ok(0),
        _ => check_room(file),
    }
}

/// Returns the size in bytes of what is unpacked to check a part of `file`, or to check all of it if it is one part. The
/// upper bound for a file can be far above the size of its parts, so it is capped at the limit for one part.
pub fn check_room(file: &File<'_>) -> Result<u64, Failure> {
    // 64 bytes for alignment: the memory may begin at any address.
    Ok(file.need()?.saturating_add(64).min(Limits::DEFAULT.max_decoded))
}

/// What [`fitted`] returns for bytes that are no Filo vector.
const NONE_FITS: &str = "no element type fits";

/// Returns the text about the element types that fit.
fn fitted(elements: &[Element]) -> String {
    let names: Vec<_> = elements.iter().map(|element| element.name()).collect();
    match names.as_slice() {
        [] => NONE_FITS.to_owned(),
        names => format!("types that fit: {}", names.join(", ")),
    }
}
