//! The file operations of a writer.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The file operations of a [`Writer`](super::Writer), which calls them one at a time. Implement it to store files
/// elsewhere, or to test failures. [`FileSystem`] is the implementation for the operating system.
///
/// ```
/// # use std::{cell::RefCell, collections::BTreeMap, io, path::{Path, PathBuf}, rc::Rc};
/// use pilaster::bcolz::write::{Disk, Spec, Writer};
///
/// /// Keeps files in memory.
/// #[derive(Clone, Default)]
/// struct Memory(Rc<RefCell<BTreeMap<PathBuf, Vec<u8>>>>);
///
/// impl Disk for Memory {
///     fn create_dir(&mut self, _: &Path) -> io::Result<()> { Ok(()) }
///     fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
///         self.0.borrow_mut().insert(path.into(), bytes.into());
///         Ok(())
///     }
///     fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
///         let moved = |path: PathBuf| path.strip_prefix(from).map(|rest| to.join(rest)).unwrap_or(path);
///         let files = self.0.take();
///         self.0.replace(files.into_iter().map(|(path, bytes)| (moved(path), bytes)).collect());
///         Ok(())
///     }
///     fn sync_dir(&mut self, _: &Path) -> io::Result<()> { Ok(()) }
///     fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
///         Ok(self.0.borrow_mut().retain(|file, _| !file.starts_with(path)))
///     }
/// }
///
/// let disk = Memory::default();
/// let mut writer = Writer::create_array(disk.clone(), "numbers", &Spec::new("int16"))?;
/// writer.put(0, &[1, 0, 2, 0])?;
/// writer.finish()?;
/// let names = ["__attrs__", "data/__0.blp", "meta/sizes", "meta/storage"].map(|name| Path::new("numbers").join(name));
/// assert!(disk.0.borrow().keys().eq(&names));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Disk {
    /// Creates a directory.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if it exists; other errors of the medium.
    fn create_dir(&mut self, path: &Path) -> io::Result<()>;

    /// Writes a whole file. An existing file is overwritten, which need not be atomic.
    ///
    /// # Errors
    /// Errors of the medium; part of the file may be written then.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Renames a file or directory atomically. An existing file with the new name is replaced.
    ///
    /// # Errors
    /// Errors of the medium; nothing is renamed then.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;

    /// Returns when the entries of a directory would survive a power cut.
    ///
    /// # Errors
    /// Errors of the medium.
    fn sync_dir(&mut self, path: &Path) -> io::Result<()>;

    /// Removes a directory and its contents: an unfinished dataset.
    ///
    /// # Errors
    /// Errors of the medium.
    fn remove_dir_all(&mut self, path: &Path) -> io::Result<()>;
}

/// The files of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct FileSystem {
    /// True to flush each file and directory to the medium, so that the order of the operations is kept in a power cut.
    /// If false, it is kept only if the program crashes.
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
        // Only Unix systems can open a directory as a file.
        if self.durable && cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
}
