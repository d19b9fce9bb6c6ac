//! The files of a bcolz dataset, in memory.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use pilaster::bcolz::write::Disk;
use pilaster::unstable::bcolz_store::Store;

/// Files by path.
#[derive(Clone, Debug, Default)]
pub struct Files(Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>);

impl Files {
    fn all(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        self.0.lock().expect("one thread")
    }

    /// Returns all files as bytes: the length of each path, the length of its file, both.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (path, file) in &*self.all() {
            let path = path.as_os_str().as_encoded_bytes();
            bytes.extend([path.len(), file.len()].map(|len| len as u64).into_iter().flat_map(u64::to_le_bytes));
            bytes.extend([path, file].concat());
        }
        bytes
    }

    /// Returns the files of [`pack`](Self::pack).
    #[must_use]
    pub fn unpack(mut bytes: &[u8]) -> Self {
        let files = Files::default();
        while let Some((lens, rest)) = bytes.split_first_chunk::<16>() {
            let [path, file] = [&lens[..8], &lens[8..]].map(|len| u64::from_le_bytes(len.try_into().expect("8 bytes")));
            let (path, rest) = rest.split_at(path as usize);
            let (file, rest) = rest.split_at(file as usize);
            files.all().insert(String::from_utf8_lossy(path).into_owned().into(), file.into());
            bytes = rest;
        }
        files
    }
}

impl Disk for Files {
    fn create_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.all().insert(path.into(), bytes.into());
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let mut all = self.all();
        let moved = |path: &Path| path.strip_prefix(from).map_or_else(|_| path.into(), |rest| place(to, rest));
        *all = std::mem::take(&mut *all).into_iter().map(|(path, bytes)| (moved(&path), bytes)).collect();
        Ok(())
    }

    fn sync_dir(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        self.all().retain(|file, _| !file.starts_with(path));
        Ok(())
    }
}

/// Returns the path `rest` below `to`, which may be `to` itself.
fn place(to: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { to.into() } else { to.join(rest) }
}

impl Store for Files {
    fn read(&self, path: &Path, to: &mut Vec<u8>) -> io::Result<()> {
        let all = self.all();
        to.extend_from_slice(all.get(path).ok_or(io::ErrorKind::NotFound)?);
        Ok(())
    }

    fn list(&self, dir: &Path, each: &mut dyn FnMut(&OsStr)) -> io::Result<()> {
        let mut last = None;
        // Paths in one directory are neighbours.
        for (path, _) in self.all().range(dir.to_owned()..).take_while(|(path, _)| path.starts_with(dir)) {
            let name = path.strip_prefix(dir).ok().and_then(|rest| rest.iter().next());
            if let Some(name) = name
                && last.as_deref() != Some(name)
            {
                each(name);
                last = Some(name.to_owned());
            }
        }
        last.map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn exists(&self, path: &Path) -> bool {
        self.all().range(path.to_owned()..).next().is_some_and(|(file, _)| file.starts_with(path))
    }
}
