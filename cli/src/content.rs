//! The bytes of a file: in memory, by positions, or in the files of a dataset.

use std::fs;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pilaster::bcolz::Dataset;
use pilaster::bytes::Ranges;

use crate::failure::Failure;
use crate::spool::in_file;

/// Bytes in memory.
pub type Held = Arc<dyn AsRef<[u8]> + Send + Sync>;

pub enum Content {
    /// What has no length or no positions, such as a pipe, if it is short; the memory of a caller.
    Bytes(Held),
    Ranges(Box<Ranges>),
    Dataset(Box<Dataset>),
}

impl From<Held> for Content {
    fn from(bytes: Held) -> Self {
        Content::Bytes(bytes)
    }
}

impl From<Ranges> for Content {
    fn from(ranges: Ranges) -> Self {
        Content::Ranges(Box::new(ranges))
    }
}

/// Number of bytes of a pipe that are kept in memory; the bytes of a longer one go to a temporary file.
const SPOOLED: u64 = 16 << 20;

/// Opens a file. It is read by positions, unless it is a pipe.
pub fn opened(path: &Path) -> io::Result<Content> {
    let file = fs::File::open(path)?;
    let about = file.metadata()?;
    // Files of the system claim to be empty.
    match about.is_file() && about.len() > 0 {
        true => Ok(Content::Ranges(Box::new(Ranges::open(path)?))),
        false => spool(file),
    }
}

pub fn spooled(from: impl Read) -> Result<Content, Failure> {
    spool(from).map_err(|e| Failure::Input(e.to_string()))
}

/// Reads a pipe to its end: into memory, or into a temporary file without a name if it is long.
fn spool(mut from: impl Read) -> io::Result<Content> {
    let mut bytes = Vec::new();
    from.by_ref().take(SPOOLED).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < SPOOLED {
        return Ok(Content::Bytes(Arc::new(bytes)));
    }
    let file = in_file(&bytes, from)?;
    drop(bytes);
    let (len, file) = (file.metadata()?.len(), Mutex::new(file));
    let ranges = Ranges::new(len, move |at, to: &mut [u8]| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(to)
    });
    Ok(Content::Ranges(Box::new(ranges)))
}
