//! Reads the files of a dataset.

use core::fmt::Debug;
use std::borrow::ToOwned;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec::Vec;

use super::dataset::Dataset;
use crate::error::Failure;

/// The files that a dataset is read from. The counterpart for writing is `write::Disk`.
pub trait Store: Debug + Send + Sync {
    /// Appends the contents of a file to `to`.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the file does not exist; other errors of the medium.
    fn read(&self, path: &Path, to: &mut Vec<u8>) -> io::Result<()>;

    /// Calls `each` with the name of every entry of a directory, in any order.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the directory does not exist; other errors of the medium.
    fn list(&self, dir: &Path, each: &mut dyn FnMut(&OsStr)) -> io::Result<()>;

    /// Returns whether a file or directory exists.
    fn exists(&self, path: &Path) -> bool;
}

/// The files of the operating system.
#[derive(Debug)]
pub struct Local;

impl Store for Local {
    fn read(&self, path: &Path, to: &mut Vec<u8>) -> io::Result<()> {
        File::open(path).and_then(|mut file| file.read_to_end(to)).map(|_| ())
    }

    fn list(&self, dir: &Path, each: &mut dyn FnMut(&OsStr)) -> io::Result<()> {
        for entry in fs::read_dir(dir)? {
            each(&entry?.file_name());
        }
        Ok(())
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// Opens the dataset in `dir` of `store`, strictly or, with `tolerate`, tolerantly.
///
/// # Errors
/// Errors of [`Dataset::open`] and [`Dataset::open_tolerant`].
pub fn open(store: Arc<dyn Store>, dir: &Path, tolerate: Option<&mut dyn FnMut(Failure)>) -> Result<Dataset, Failure> {
    Dataset::open_by(store, dir, tolerate)
}

/// Reads a file.
pub(super) fn read(store: &dyn Store, path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    store.read(path, &mut bytes).map_err(|e| Failure::io(path, e))?;
    Ok(bytes)
}

/// The suffix of a directory that is being replaced, for the time between two renames.
pub(super) const OLD: &str = ".pilaster-old";

/// Returns the path beside `dir` with this suffix.
pub(super) fn beside(dir: &Path, suffix: &str) -> PathBuf {
    // Without a slash at the end.
    let mut name = dir.components().collect::<PathBuf>().into_os_string();
    name.push(suffix);
    name.into()
}

/// Returns the directory that contains the files of `dir`: itself, or the old one if a crash interrupted the
/// replacement of `dir` between two renames.
pub(crate) fn place(store: &dyn Store, dir: &Path) -> PathBuf {
    let old = beside(dir, OLD);
    if !store.exists(dir) && store.exists(&old) { old } else { dir.to_owned() }
}
