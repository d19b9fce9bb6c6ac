//! The file operations of a writer.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The file operations that a [`Writer`](super::Writer) makes, one after the other. Whoever keeps files elsewhere,
/// or wants them to fail, brings their own.
pub trait Disk {
    /// Makes a directory. One that exists is [`io::ErrorKind::AlreadyExists`].
    ///
    /// # Errors
    /// Why not.
    fn create_dir(&mut self, path: &Path) -> io::Result<()>;

    /// Writes a whole file; one that exists is replaced, without any care.
    ///
    /// # Errors
    /// Why not; then the file may be there in part.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Gives a file or directory another name, at once or not at all. A file that has that name is replaced.
    ///
    /// # Errors
    /// Why not.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;

    /// Waits until everything in a directory would survive a power cut.
    ///
    /// # Errors
    /// Why not.
    fn sync_dir(&mut self, path: &Path) -> io::Result<()>;

    /// Removes a directory and everything in it: what was begun and failed.
    ///
    /// # Errors
    /// Why not.
    fn remove_dir_all(&mut self, path: &Path) -> io::Result<()>;
}

/// The files of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct FileSystem {
    /// Whether each file and directory is flushed to the medium, so that the order of the operations outlives
    /// a power cut, too. Without, it outlives the program.
    pub durable: bool,
}

impl Default for FileSystem {
    fn default() -> Self {
        FileSystem { durable: true }
    }
}

impl Disk for FileSystem {
    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        if self.durable { file.sync_all() } else { Ok(()) }
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        // Elsewhere a directory cannot be opened as a file.
        if self.durable && cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
}
