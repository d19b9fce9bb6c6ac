//! The file: its bytes, its format, its element type, its tables.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use pilaster::any::{self, File, FileError, Format, Hints, Table};
use pilaster::bcolz::{Dataset, Dtype};
use pilaster::column::Memory;
use pilaster::error::{Kind, What};
use pilaster::filo::{Element, Vector};
use pilaster::limits::Limits;

use crate::args::{Location, Source};
use crate::columns::Rules;
use crate::failure::{Failure, warn};

/// A file in memory, or an opened dataset.
pub struct Input<'s> {
    source: &'s Source,
    /// The path as the caller gave it, or `-`.
    pub path: String,
    /// Its last part, or `-`.
    pub name: String,
    content: Content,
    /// Whether what can be read is asked for.
    pub tolerant: bool,
    pub format: Format,
}

enum Content {
    Bytes(Vec<u8>),
    Dataset(Box<Dataset>),
}

impl<'s> Input<'s> {
    /// Reads the file and finds out its format. `recover`: the input is damaged.
    pub fn load(source: &'s Source, recover: bool) -> Result<Self, Failure> {
        let path = source.path.to_string();
        let tolerant = source.tolerant || recover;
        let (name, content) = match &source.path {
            Location::Stdin => ("-".to_owned(), Content::Bytes(read(io::stdin().lock())?)),
            Location::Path(at) => {
                let name = at.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                let content = if any::BCOLZ_MARKERS.iter().any(|marker| at.join(marker).exists()) {
                    Content::Dataset(Box::new(dataset(source, at, tolerant)?))
                } else {
                    match fs::File::open(at) {
                        Ok(file) => Content::Bytes(read(file)?),
                        // Between two names, see `pilaster::bcolz::write`.
                        Err(e) if e.kind() == io::ErrorKind::NotFound => match dataset(source, at, tolerant) {
                            Ok(dataset) => Content::Dataset(Box::new(dataset)),
                            Err(_) => return Err(Failure::Input(e.to_string())),
                        },
                        Err(e) => return Err(Failure::Input(e.to_string())),
                    }
                };
                (name, content)
            }
        };
        let format = match &content {
            Content::Bytes(bytes) => format(source, bytes, &name)?,
            Content::Dataset(_) => Format::Bcolz,
        };
        Ok(Input { source, path, name, content, tolerant, format })
    }

    /// The bytes of the file; none of a dataset.
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Bytes(bytes) => bytes,
            Content::Dataset(_) => &[],
        }
    }

    pub fn dataset(&self) -> Option<&Dataset> {
        match &self.content {
            Content::Bytes(_) => None,
            Content::Dataset(dataset) => Some(dataset),
        }
    }

    /// Which columns can be read, and what they are called.
    pub fn rules(&self) -> Rules<'_> {
        Rules { path: &self.path, tolerant: self.tolerant, unique: self.format == Format::Jay }
    }

    /// Returns whether byte strings are printed as text if they are UTF-8: the format has no type for text, or for no
    /// text of any length.
    pub fn texts(&self) -> bool {
        matches!(self.format, Format::Bcolz | Format::DataSeries)
    }

    /// Checks the hints, and opens the file in `memory`, which grows to what that takes.
    pub fn open<'i>(&'i self, memory: &'i mut Memory) -> Result<File<'i>, Failure> {
        self.check()?;
        if let Some(dataset) = self.dataset() {
            return Ok(File::from(dataset));
        }
        let Source { element, sequential, .. } = *self.source;
        let hints = Hints { element, sequential, dtype: self.source.dtype.as_deref(), tolerant: self.tolerant };
        while let Err(e) = File::open(self.bytes(), self.format, &hints, &mut memory.scratch())
            && e.kind() == Kind::NoRoom
        {
            memory.grow(e)?;
        }
        File::open(self.bytes(), self.format, &hints, &mut memory.scratch()).map_err(|e| match e.what() {
            _ if e.kind() == Kind::WrongType => Failure::Input(format!("{e} ({})", fitting(self.bytes()))),
            What::JAY_TAIL
            | What::JAY_META
            | What::JAY_COLUMNS
            | What::JAY_KEYS
            | What::JAY_NAME
            | What::JAY_BUFFER
                if !self.tolerant =>
            {
                Failure::Input(format!("{e} (--tolerant reads what can be read)"))
            }
            What::DATASERIES_TRAILER | What::DATASERIES_INDEX => {
                Failure::Input(format!("{e} (--no-index reads it from the front)"))
            }
            _ => e.into(),
        })
    }

    /// Hints that the format has no use for, or is without, are bad calls.
    fn check(&self) -> Result<(), Failure> {
        let Input { source, path, format, .. } = self;
        let usage = |why: String| Err(Failure::Usage(why));
        for (given, option, of) in [
            (source.element.is_some() && *format != Format::Filo, "--type is for Filo vectors", format),
            (source.sequential && *format != Format::DataSeries, "--no-index is for DataSeries files", format),
            (source.dtype.is_some() && *format != Format::Bcolz, "--dtype is for Blosc chunks", format),
            (source.tolerant && *format != Format::Jay, "--tolerant is for Jay files and bcolz datasets", format),
        ] {
            if given && self.dataset().is_none() {
                return usage(format!("{option}; {path} is {of}"));
            }
        }
        if *format == Format::Filo && source.element.is_none() {
            let why = "a Filo vector does not hold its element type: say it with --type ELEMENT";
            return usage(format!("{path}: {why} ({})", fitting(self.bytes())));
        }
        if let Some(Err(e)) = source.dtype.as_deref().map(Dtype::parse) {
            return usage(format!("--dtype {}: {e}", source.dtype.as_deref().unwrap_or_default()));
        }
        Ok(())
    }
}

/// Opens a dataset. With tolerance, prints what cannot be read on standard error.
fn dataset(source: &Source, dir: &Path, tolerant: bool) -> Result<Dataset, Failure> {
    if source.element.is_some() || source.sequential {
        return Err(Failure::Usage(format!("--type and --no-index are not for bcolz; {} is", source.path)));
    }
    if source.dtype.is_some() {
        return Err(Failure::Usage(format!("--dtype is for single chunks; {} says what it holds", source.path)));
    }
    if !tolerant {
        return Dataset::open(dir).map_err(hinted);
    }
    let warn = |what: String| warn(&format!("{}: {what}", source.path));
    let dataset = Dataset::open_tolerant(dir, |failure| warn(failure.to_string()))?;
    dataset.problems(|array, rows, failure| {
        let column = if array.name().is_empty() { String::new() } else { format!("column {}, ", array.name()) };
        warn(format!("{column}rows {}..{}: {failure}", rows.start, rows.end));
    });
    Ok(dataset)
}

/// Returns the failure of a dataset with the option that reads what is left.
pub fn hinted(failure: pilaster::bcolz::Failure) -> Failure {
    Failure::Input(format!("{failure} (--tolerant reads what can be read)"))
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
                let hint = "--dtype says what they are, uint8 always fits";
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

/// Checks everything that `file` holds, in memory that grows if a part takes more than the first ones.
pub fn verify(file: &File<'_>) -> Result<(), Failure> {
    // Two parts are checked side by side.
    let mut memory = Memory::with_len(part_room(file)?.saturating_mul(2))?;
    loop {
        match file.verify(&mut memory.scratch()) {
            Err(FileError::Format(e)) => memory.grow(e)?,
            done => return Ok(done?),
        }
    }
}

/// Returns how much memory one unpacked part of `file` takes. The upper bound of a file can be far above what its parts
/// take, so it counts up to the limit of one part.
pub fn part_room(file: &File<'_>) -> Result<u64, Failure> {
    // The memory may begin at any address.
    Ok(file.need()?.saturating_add(64).min(Limits::DEFAULT.max_decoded))
}

fn read(mut from: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map_err(|e| Failure::Input(e.to_string()))?;
    Ok(bytes)
}

/// Returns the format that the caller gives, that the content shows, or that the element type implies.
fn format(source: &Source, bytes: &[u8], name: &str) -> Result<Format, Failure> {
    if let Some(format) = source.format {
        return Ok(format);
    }
    match (any::detect(bytes, Some(name)), source.element) {
        (Ok(format), _) => Ok(format),
        (Err(_), Some(_)) => Ok(Format::Filo),
        (Err(e), None) => {
            Err(Failure::Input(format!("{e}; a Filo vector has none: if this is one, say so with --type ELEMENT")))
        }
    }
}

/// Returns which element types these bytes could be opened as, so that the next call works.
fn fitting(bytes: &[u8]) -> String {
    let fits = |element: &Element| Vector::open(bytes, *element).is_ok();
    let names: Vec<_> = Element::ALL.into_iter().filter(fits).map(Element::name).collect();
    match names.as_slice() {
        [] => "these bytes open as none".to_owned(),
        names => format!("these bytes open as {}", names.join(", ")),
    }
}
