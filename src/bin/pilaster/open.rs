//! The file: its bytes, its format, its element type.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use pilaster::any::{self, File, Format, Hints};
use pilaster::bytes::Scratch;
use pilaster::error::{Error, Kind, What};
use pilaster::filo::{Element, Vector};
use pilaster::limits::Limits;

use crate::Failure;
use crate::args::{Source, Task};

/// A file in memory.
pub struct Input {
    /// The path as the caller gave it, or `-`.
    pub path: String,
    /// Its last part, or `-`.
    pub name: String,
    pub bytes: Vec<u8>,
    /// Whether what can be read is asked for.
    pub tolerant: bool,
    /// What a Blosc chunk holds.
    pub dtype: Option<String>,
    pub format: Format,
}

impl Input {
    /// Reads the file and finds out what it is.
    pub fn load(task: &Task) -> Result<Self, Failure> {
        let (name, bytes) = match &task.source {
            Source::Stdin => ("-".to_owned(), read(io::stdin().lock())?),
            Source::Path(path) => {
                let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                (name, read(fs::File::open(path).map_err(|e| Failure::Input(e.to_string()))?)?)
            }
        };
        let format = format(task, &bytes, &name)?;
        Ok(Input {
            path: task.source.to_string(),
            name,
            bytes,
            tolerant: task.tolerant,
            dtype: task.dtype.clone(),
            format,
        })
    }

    /// Opens it, in `memory` of as many bytes as [`room`](Self::room) says.
    pub fn open<'i>(&'i self, task: &Task, memory: &'i mut [u8]) -> Result<File<'i>, Failure> {
        if self.format != Format::Filo && task.element.is_some() {
            return Err(Failure::Usage(format!("--type is for Filo vectors; {} is {}", task.source, self.format)));
        }
        if self.format != Format::DataSeries && task.sequential {
            let why = format!("--no-index is for DataSeries files; {} is {}", task.source, self.format);
            return Err(Failure::Usage(why));
        }
        if self.format != Format::Bcolz && task.dtype.is_some() {
            return Err(Failure::Usage(format!("--dtype is for Blosc chunks; {} is {}", task.source, self.format)));
        }
        if self.format == Format::Filo && task.element.is_none() {
            let why = "a Filo vector does not hold its element type: say it with --type ELEMENT";
            return Err(Failure::Usage(format!("{}: {why} ({})", task.source, fitting(&self.bytes))));
        }
        if self.format != Format::Jay && task.tolerant {
            return Err(Failure::Usage(format!(
                "--tolerant is for Jay files and bcolz datasets; {} is {}",
                task.source, self.format
            )));
        }
        File::open(&self.bytes, self.format, &hints(task), &mut Scratch::new(memory)).map_err(|e| match e.what() {
            _ if e.kind() == Kind::WrongType => Failure::Input(format!("{e} ({})", fitting(&self.bytes))),
            What::JayTail | What::JayMeta | What::JayColumns | What::JayKeys | What::JayName | What::JayBuffer
                if !task.tolerant =>
            {
                Failure::Input(format!("{e} (--tolerant reads what can be read)"))
            }
            What::DsTrailer | What::DsIndex => Failure::Input(format!("{e} (--no-index reads it from the front)")),
            _ => e.into(),
        })
    }

    /// How much memory opening takes: what the file has unpacked, and nobody knows before.
    pub fn room(&self, task: &Task) -> usize {
        let hints = hints(task);
        let most = usize::try_from(Limits::DEFAULT.max_decoded).unwrap_or(usize::MAX);
        let mut room = 1 << 16;
        loop {
            let mut memory = vec![0; room];
            match File::open(&self.bytes, self.format, &hints, &mut Scratch::new(&mut memory)) {
                Err(e) if e.kind() == Kind::NoRoom && room < most => room = room.saturating_mul(4),
                _ => return room,
            }
        }
    }
}

const fn hints(task: &Task) -> Hints {
    Hints { element: task.element, sequential: task.sequential, tolerant: task.tolerant }
}

/// Walks everything that `file` holds, in memory that grows where a part of it takes more than the first ones.
pub fn verify(file: &File<'_>) -> Result<(), Failure> {
    // Room for two parts, which are checked side by side.
    let mut room = part_room(file)?.saturating_mul(2);
    let most = usize::try_from(Limits::DEFAULT.max_decoded).unwrap_or(usize::MAX);
    loop {
        match file.verify(&mut Scratch::new(&mut vec![0; room])) {
            Err(e) if e.kind() == Kind::NoRoom && room < most => {
                let need = usize::try_from(e.need()).unwrap_or(most);
                room = room.saturating_mul(2).max(need).min(most);
            }
            done => return done.map_err(|e| explain(file, &e)),
        }
    }
}

/// An error of the library with what only the file can tell: the id that is not known.
pub fn explain(file: &File<'_>, e: &Error) -> Failure {
    match file {
        File::Vortex(vortex) => match vortex.unknown_id(e) {
            Some(id) => Failure::Input(format!("{e}: {id}")),
            None => (*e).into(),
        },
        _ => (*e).into(),
    }
}

/// Memory for one unpacked part of `file`.
pub fn part_room(file: &File<'_>) -> Result<usize, Failure> {
    let need = file.need()?;
    // The bound may begin at any address.
    usize::try_from(need.saturating_add(64))
        .map_err(|_| Failure::Input(format!("{need} bytes are needed to unpack it")))
}

/// The directory of a bcolz dataset, if that is what the task is about.
pub fn dataset(task: &Task) -> Option<&Path> {
    match &task.source {
        Source::Path(path) if any::BCOLZ_MARKERS.iter().any(|marker| path.join(marker).exists()) => Some(path),
        _ => None,
    }
}

fn read(mut from: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map_err(|e| Failure::Input(e.to_string()))?;
    Ok(bytes)
}

/// What the caller says, what the content says, or what the element type implies.
fn format(task: &Task, bytes: &[u8], name: &str) -> Result<Format, Failure> {
    if let Some(format) = task.format {
        return Ok(format);
    }
    match (any::detect(bytes, Some(name)), task.element) {
        (Ok(format), _) => Ok(format),
        (Err(_), Some(_)) => Ok(Format::Filo),
        (Err(e), None) => {
            Err(Failure::Input(format!("{e}; a Filo vector has none: if this is one, say so with --type ELEMENT")))
        }
    }
}

/// Says which element types these bytes could be opened as, so that the next call works.
fn fitting(bytes: &[u8]) -> String {
    let fits = |element: &Element| Vector::open(bytes, *element).is_ok();
    let names: Vec<_> = Element::ALL.into_iter().filter(fits).map(Element::name).collect();
    match names.as_slice() {
        [] => "these bytes open as none".to_owned(),
        names => format!("these bytes open as {}", names.join(", ")),
    }
}
