//! The file to write.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use pilaster::bytes::IoSink;
use pilaster::bytes::WriteError;

use crate::failure::Failure;

/// A file that gets its name when it is complete.
pub struct Target<'p> {
    path: &'p Path,
    partial: PathBuf,
}

impl<'p> Target<'p> {
    pub fn new(path: &'p Path) -> Self {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        Target { path, partial: partial.into() }
    }

    fn failed(&self, e: &io::Error) -> Failure {
        Failure::of_file(self.path, e)
    }

    /// Writes the file by calling `write`, and returns its length in bytes.
    pub fn fill<F>(&self, write: F) -> Result<u64, Failure>
    where
        F: FnOnce(IoSink<BufWriter<fs::File>>) -> Result<IoSink<BufWriter<fs::File>>, WriteError<io::Error>>,
    {
        let file = fs::File::create(&self.partial).map_err(|e| self.failed(&e))?;
        let done = write(IoSink(BufWriter::with_capacity(1 << 16, file)));
        let done = match done {
            Ok(IoSink(mut buffer)) => buffer.flush().map_err(|e| self.failed(&e)),
            Err(WriteError::Format(e)) => Err(e.into()),
            Err(WriteError::Sink(e)) => Err(self.failed(&e)),
        };
        let done = done.and_then(|()| fs::rename(&self.partial, self.path).map_err(|e| self.failed(&e)));
        if let Err(e) = done {
            // An incomplete file is useless. The first error matters more than one of the removal.
            let _ = fs::remove_file(&self.partial);
            return Err(e);
        }
        Ok(fs::metadata(self.path).map_err(|e| self.failed(&e))?.len())
    }
}
