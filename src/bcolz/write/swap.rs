//! Replaces a directory by a new one, in two renames, and completes or reverts what a crash interrupted.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::array::Files;
use super::disk::Disk;
use super::writer::PARTIAL;
use crate::bcolz::store::{OLD, beside};
use crate::error::Failure;

/// The suffix of a directory that is not complete.
pub(super) const NEW: &str = ".pilaster-new";

/// Returns the path of a directory without links, `.` and `..`, so that it can be renamed. Of a directory that is not
/// there, because a crash left it under its other name, only a link at the end is followed.
fn resolved(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).unwrap_or_else(|_| match fs::read_link(dir) {
        Ok(to) => dir.parent().unwrap_or(Path::new("")).join(to),
        Err(_) => dir.into(),
    })
}

fn parent(dir: &Path) -> &Path {
    match dir.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Replaces files in `dir`: builds a copy beside it, in which `write` writes each file of `changed` (relative paths),
/// and gives the copy the name of `dir`. Unchanged files are shared by both directories until the old one is removed.
pub(super) fn replace<D: Disk>(
    files: &mut Files<D>,
    dir: &Path,
    changed: &BTreeSet<PathBuf>,
    mut write: impl FnMut(&mut Files<D>, &Path, &Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let dir = resolved(dir);
    let (new, old) = (beside(&dir, NEW), beside(&dir, OLD));
    let live = core::mem::replace(&mut files.live, false);
    let done = copy(files, &dir, &new, Path::new(""), changed)
        .and_then(|()| changed.iter().try_for_each(|path| write(files, path, &new.join(path))));
    files.live = live;
    if let Err(e) = done {
        let _ = files.disk.remove_dir_all(&new);
        return Err(e);
    }
    let dirs: BTreeSet<&Path> = changed.iter().filter_map(|path| path.parent()).collect();
    dirs.iter().try_for_each(|path| files.sync(&new.join(path)))?;
    if let Err(e) = files.disk.rename(&dir, &old) {
        let _ = files.disk.remove_dir_all(&new);
        return Err(Failure::io(&dir, e));
    }
    if let Err(e) = files.disk.rename(&new, &dir) {
        let _ = files.disk.rename(&old, &dir);
        return Err(Failure::io(&dir, e));
    }
    files.sync(parent(&dir))?;
    // The next edit tries again.
    let _ = files.disk.remove_dir_all(&old);
    Ok(())
}

fn copy<D: Disk>(
    files: &mut Files<D>,
    from: &Path,
    to: &Path,
    inside: &Path,
    changed: &BTreeSet<PathBuf>,
) -> Result<(), Failure> {
    let metadata = fs::metadata(from).map_err(|e| Failure::io(from, e))?;
    // The files of a directory that cannot be written must not change, even though the directory is replaced.
    if metadata.permissions().readonly() && changed.iter().any(|file| file.parent() == Some(inside)) {
        return Err(Failure::io(from, io::ErrorKind::PermissionDenied.into()));
    }
    files.disk.create_dir(to).map_err(|e| Failure::io(to, e))?;
    for entry in fs::read_dir(from).map_err(|e| Failure::io(from, e))? {
        let entry = entry.map_err(|e| Failure::io(from, e))?;
        let (path, target, inside) = (entry.path(), to.join(entry.file_name()), inside.join(entry.file_name()));
        if changed.contains(&inside) || is_left(&path) {
            continue;
        }
        // A link to a directory with changed files becomes a directory, so that the files that it names stay.
        let link = path.is_symlink() && !changed.iter().any(|file| file.starts_with(&inside));
        if path.is_dir() && !link {
            copy(files, &path, &target, &inside, changed)?;
        } else {
            files.disk.copy(&path, &target).map_err(|e| Failure::io(&path, e))?;
        }
    }
    // Errors are ignored, because not every file system has modes.
    let _ = fs::set_permissions(to, metadata.permissions());
    files.sync(to)
}

/// Returns whether an interrupted edit left this directory.
fn is_left(path: &Path) -> bool {
    base(path).is_some()
}

/// Returns the name of the array that an interrupted edit replaced or created, and left this directory.
fn base(path: &Path) -> Option<&str> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    // A new array has this suffix until it is complete.
    let name = name.strip_suffix(PARTIAL).filter(|name| name.ends_with(NEW)).unwrap_or(name);
    [OLD, NEW].iter().find_map(|suffix| name.strip_suffix(suffix)).filter(|name| !name.is_empty())
}

/// Reverts an interrupted [`replace`] of a dataset or of one of its arrays, and removes what it left. Changes nothing in a
/// directory that is no dataset.
pub(super) fn settle<D: Disk>(files: &mut Files<D>, dir: &Path) -> Result<(), Failure> {
    let dir = resolved(dir);
    restore(files, &dir)?;
    // In another directory, datasets that are being edited may have these names.
    if !["__rootdirs__", "meta/sizes"].iter().any(|file| dir.join(file).exists()) {
        return Ok(());
    }
    let entries = fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path());
    for left in entries.filter(|path| is_left(path)).collect::<BTreeSet<_>>() {
        restore(files, &dir.join(base(&left).unwrap_or_default()))?;
    }
    Ok(())
}

fn restore<D: Disk>(files: &mut Files<D>, dir: &Path) -> Result<(), Failure> {
    let (new, old) = (beside(dir, NEW), beside(dir, OLD));
    if old.is_dir() {
        if dir.exists() {
            files.disk.remove_dir_all(&old).map_err(|e| Failure::io(&old, e))?;
        } else {
            files.disk.rename(&old, dir).map_err(|e| Failure::io(dir, e))?;
            files.sync(parent(dir))?;
        }
    }
    for new in [beside(&new, PARTIAL), new].iter().filter(|new| new.is_dir()) {
        files.disk.remove_dir_all(new).map_err(|e| Failure::io(new, e))?;
    }
    Ok(())
}
