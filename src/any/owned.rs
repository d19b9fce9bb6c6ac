//! A file that owns its bytes and the memory for opening it.

use alloc::vec::Vec;

use super::{File, Format, Hints};
#[cfg(all(feature = "bcolz", feature = "std"))]
use crate::bcolz;
use crate::column::Memory;
use crate::error::Result;
#[cfg(feature = "std")]
use crate::error::{Error, Failure};

/// A file of any format with its bytes, or a bcolz dataset, and the memory that opening it takes.
///
#[cfg_attr(all(feature = "std", feature = "jay"), doc = "```")]
#[cfg_attr(not(all(feature = "std", feature = "jay")), doc = "```ignore")]
/// use pilaster::any::{Format, Hints, Owned};
/// use pilaster::column::Table;
///
/// let mut owned = Owned::open("examples/data/keyed_1.jay", &Hints::default())?;
/// let keys: Vec<i32> = owned.file()?.table(None)?.to_vec("k")?;
/// assert_eq!((keys.len(), keys[0]), (50, -996));
///
/// // Bytes that are already in memory, for instance received from a server.
/// let bytes = std::fs::read("examples/data/keyed_1.jay")?;
/// let mut owned = Owned::from_bytes(bytes, Format::Jay, &Hints::default())?;
/// assert_eq!(owned.file()?.table(None)?.to_vec::<i32>("k")?, keys);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Owned<'h> {
    content: Content,
    hints: Hints<'h>,
    memory: Memory,
}

#[derive(Debug)]
enum Content {
    Bytes(Vec<u8>, Format),
    #[cfg(all(feature = "bcolz", feature = "std"))]
    Dataset(bcolz::Dataset),
}

impl<'h> Owned<'h> {
    /// Opens `bytes`, a file of `format`.
    ///
    /// # Errors
    /// Errors of [`File::open`].
    pub fn from_bytes(bytes: Vec<u8>, format: Format, hints: &Hints<'h>) -> Result<Self> {
        let mut memory = Memory::default();
        while let Err(e) = File::open(&bytes, format, hints, &mut memory.scratch()) {
            memory.grow(e)?;
        }
        Ok(Owned { content: Content::Bytes(bytes, format), hints: *hints, memory })
    }

    /// Opens `path`: a file of any format, which is read into memory completely, or the directory of a bcolz dataset.
    /// The format is [detected](super::detect). If the hints contain an element type, bytes of an unknown format are
    /// treated as a Filo vector.
    ///
    /// # Errors
    /// Errors of reading and of [`File::open`], with the path of the file in which they occurred.
    #[cfg(feature = "std")]
    pub fn open(path: impl AsRef<std::path::Path>, hints: &Hints<'h>) -> Result<Self, Failure> {
        let path = path.as_ref();
        #[cfg(feature = "bcolz")]
        let place = bcolz::store::place(&bcolz::store::Local, path);
        #[cfg(feature = "bcolz")]
        if super::BCOLZ_MARKERS.iter().any(|marker| place.join(marker).exists()) {
            let dataset = match hints.tolerant {
                true => bcolz::Dataset::open_tolerant(path, |_| {})?,
                false => bcolz::Dataset::open(path)?,
            };
            let dataset = dataset.with_limits(hints.limits);
            return Ok(Owned { content: Content::Dataset(dataset), hints: *hints, memory: Memory::default() });
        }
        let bytes = std::fs::read(path).map_err(|e| Failure::io(path, e))?;
        let name = path.file_name().and_then(|name| name.to_str());
        let opened = detected(&bytes, name, hints).and_then(|format| Owned::from_bytes(bytes, format, hints));
        opened.map_err(|e| Failure::format(path, e))
    }

    /// Opens the file again and returns it. This needs no further memory.
    ///
    /// # Errors
    /// None, if opening succeeded.
    pub fn file(&mut self) -> Result<File<'_>> {
        match &self.content {
            Content::Bytes(bytes, format) => File::open(bytes, *format, &self.hints, &mut self.memory.scratch()),
            #[cfg(all(feature = "bcolz", feature = "std"))]
            Content::Dataset(dataset) => Ok(File::from(dataset)),
        }
    }
}

/// Detects the format of `bytes`.
#[cfg(feature = "std")]
fn detected(bytes: &[u8], name: Option<&str>, hints: &Hints<'_>) -> Result<Format, Error> {
    let _ = hints;
    match super::detect(bytes, name) {
        #[cfg(feature = "filo")]
        Err(_) if hints.element.is_some() => Ok(Format::Filo),
        detected => detected,
    }
}
