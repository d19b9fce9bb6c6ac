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

use crate::columns::Rules;
use crate::failure::{Failure, warn};
use crate::sources::{Location, Source, is_dataset};

/// A file in memory, or an opened dataset.
pub struct Input<'s> {
    source: &'s Source,
    /// The path as given on the command line, or `-`.
    pub path: String,
    /// The last part of the path, or `-`.
    pub name: String,
    content: Content,
    /// True if the readable part of a damaged file is to be read.
    pub tolerant: bool,
    pub format: Format,
}

enum Content {
    Bytes(Vec<u8>),
    Dataset(Box<Dataset>),
}

impl<'s> Input<'s> {
    /// Reads the file and detects its format. `recover`: the input is damaged.
    pub fn load(source: &'s Source, recover: bool) -> Result<Self, Failure> {
        let path = source.path.to_string();
        let tolerant = source.tolerant || recover;
        let (name, content) = match &source.path {
            Location::Stdin => ("-".to_owned(), Content::Bytes(read(io::stdin().lock())?)),
            Location::Path(at) => {
                let name = at.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                let content = if is_dataset(at) {
                    Content::Dataset(Box::new(dataset(source, at, tolerant)?))
                } else {
                    Content::Bytes(read(fs::File::open(at).map_err(|e| Failure::Input(e.to_string()))?)?)
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

    /// Returns the bytes of the file; none for a dataset.
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
        self.check()?;
        if let Some(dataset) = self.dataset() {
            return Ok(File::from(dataset));
        }
        let source = self.source;
        let hints = Hints {
            element: source.element,
            sequential: source.sequential,
            dtype: self.source.dtype.as_deref(),
            tolerant: self.tolerant,
        };
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
                Failure::Input(format!("{e} (--tolerant reads the readable part)"))
            }
            What::DATASERIES_TRAILER | What::DATASERIES_INDEX => {
                Failure::Input(format!("{e} (--no-index reads the file from the start)"))
            }
            _ => e.into(),
        })
    }

    /// Returns a usage error for a hint that the format does not have, or for a missing hint that it requires.
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
            let why = "a Filo vector does not store its element type: pass it with --type ELEMENT";
            return usage(format!("{path}: {why} ({})", fitting(self.bytes())));
        }
        if let Some(Err(e)) = source.dtype.as_deref().map(Dtype::parse) {
            return usage(format!("--dtype {}: {e}", source.dtype.as_deref().unwrap_or_default()));
        }
        Ok(())
    }
}

/// Opens a dataset. If `tolerant`, prints problems on standard error.
fn dataset(source: &Source, dir: &Path, tolerant: bool) -> Result<Dataset, Failure> {
    if source.element.is_some() || source.sequential {
        return Err(Failure::Usage(format!("--type and --no-index are not for bcolz; {} is", source.path)));
    }
    if source.dtype.is_some() {
        return Err(Failure::Usage(format!("--dtype is for single chunks; {} stores its types", source.path)));
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

/// Returns the failure of a dataset with a note about `--tolerant`.
pub fn hinted(failure: pilaster::bcolz::Failure) -> Failure {
    Failure::Input(format!("{failure} (--tolerant reads the readable part)"))
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
    let mut memory = Memory::with_len(part_room(file)?.saturating_mul(2))?;
    loop {
        match file.verify(&mut memory.scratch()) {
            Err(FileError::Format(e)) => memory.grow(e)?,
            done => return Ok(done?),
        }
    }
}

/// Returns the size in bytes of one unpacked part of `file`. The upper bound for a file can be far above the size of
/// its parts, so it is capped at the limit for one part.
pub fn part_room(file: &File<'_>) -> Result<u64, Failure> {
    // 64 bytes for alignment: the memory may begin at any address.
    Ok(file.need()?.saturating_add(64).min(Limits::DEFAULT.max_decoded))
}

fn read(mut from: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map_err(|e| Failure::Input(e.to_string()))?;
    Ok(bytes)
}

/// Returns the format: from the option, else from the content, else implied by the element type.
fn format(source: &Source, bytes: &[u8], name: &str) -> Result<Format, Failure> {
    if let Some(format) = source.format {
        return Ok(format);
    }
    match (any::detect(bytes, Some(name)), source.element) {
        (Ok(format), _) => Ok(format),
        (Err(_), Some(_)) => Ok(Format::Filo),
        (Err(e), None) => {
            Err(Failure::Input(format!("{e}; to read a Filo vector, which has no signature, pass --type ELEMENT")))
        }
    }
}

/// Returns the element types as which these bytes can be opened, for the error text.
fn fitting(bytes: &[u8]) -> String {
    let fits = |element: &Element| Vector::open(bytes, *element).is_ok();
    let names: Vec<_> = Element::ALL.into_iter().filter(fits).map(Element::name).collect();
    match names.as_slice() {
        [] => "no element type fits".to_owned(),
        names => format!("types that fit: {}", names.join(", ")),
    }
}
