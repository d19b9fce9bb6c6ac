//! The file or directory to write.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use pilaster::bytes::{IoSink, WriteError};
use pilaster::error::{Error, Kind, What};
use tempfile::{Builder, TempDir, TempPath};

use crate::failure::Failure;
use crate::interrupt;

/// The target of a command. It gets its name when it is complete. Until then it has an unpredictable name in the same
/// directory, and an error, SIGINT or SIGTERM removes it.
pub struct Target<'p> {
    path: &'p Path,
    place: Place,
}

enum Place {
    /// `-`.
    Stdout,
    /// A file: where it is after links were followed, and the file that it replaces.
    File { at: PathBuf, old: Option<fs::Metadata> },
    /// A directory that does not exist yet.
    Directory,
    /// Nowhere: at most this number of bytes are counted.
    Nowhere(u64),
}

/// The sink of [`Target::fill`].
pub type TargetSink = IoSink<BufWriter<Output>>;

/// A file or standard output.
pub struct Output {
    to: To,
    len: u64,
}

enum To {
    File(fs::File),
    /// Locked with each write, as a lock cannot go to another thread.
    Stdout(Stdout),
    /// Nowhere. At most this number of bytes may follow.
    Nowhere(u64),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = match &mut self.to {
            To::File(file) => file.write(bytes),
            To::Stdout(out) => out.write(bytes),
            To::Nowhere(left) => match left.checked_sub(bytes.len() as u64) {
                Some(less) => {
                    *left = less;
                    Ok(bytes.len())
                }
                None => Err(io::ErrorKind::FileTooLarge.into()),
            },
        }?;
        self.len = self.len.saturating_add(len as u64);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(file) => file.flush(),
            To::Stdout(out) => out.flush(),
            To::Nowhere(_) => Ok(()),
        }
    }
}

impl<'p> Target<'p> {
    /// Checks that a file can be written to `path`; `-` is standard output. A file that exists is replaced with `force`
    /// only. A link stays, and the file that it names is replaced.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a file that exists, without `force`, and for anything else that exists: a directory, a
    /// device, a pipe, or a link to one or to nothing. [`Failure::Target`] if its directory does not exist.
    pub fn file(path: &'p Path, force: bool) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Target { path, place: Place::Stdout });
        }
        has_directory(path)?;
        let refuse = |why: &str| Err(Failure::Usage(format!("{} {why}", path.display())));
        let is_link = match fs::symlink_metadata(path) {
            Ok(found) => found.is_symlink(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(Target { path, place: Place::File { at: path.into(), old: None } });
            }
            Err(e) => return Err(broken(path, e)),
        };
        let at = match is_link {
            true => match fs::canonicalize(path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    return refuse("is a link to a file that does not exist");
                }
                at => at.map_err(|e| broken(path, e))?,
            },
            false => path.into(),
        };
        let old = fs::metadata(&at).map_err(|e| broken(path, e))?;
        if !old.is_file() {
            let kind = if old.is_dir() { "a directory" } else { "no plain file" };
            return refuse(&format!("is {kind}, which is not replaced (- is standard output)"));
        }
        if !force {
            return refuse("exists; --force replaces it");
        }
        Ok(Target { path, place: Place::File { at, old: Some(old) } })
    }

    /// Returns a target that takes at most `most` bytes and keeps none: for a trial. More bytes are an error about
    /// [`What::MAX_FILE_DECODED`].
    pub fn nowhere(most: u64) -> Self {
        Target { path: Path::new(""), place: Place::Nowhere(most) }
    }

    /// Checks that nothing has the name of the directory to write, unless the caller appends to it.
    ///
    /// # Errors
    /// [`Failure::Usage`] if anything has, or for `-`; [`Failure::Target`] if the directory around it does not exist.
    pub fn directory(path: &'p Path, append: bool) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            let why = "a bcolz dataset is a directory, which standard output cannot take";
            return Err(Failure::Usage(why.to_owned()));
        }
        has_directory(path)?;
        match fs::symlink_metadata(path) {
            Ok(_) if append => Ok(Target { path, place: Place::Directory }),
            Ok(_) => Err(Failure::Usage(format!(
                "{} exists; a dataset is written to a new directory: remove this one or name another",
                path.display()
            ))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Target { path, place: Place::Directory }),
            Err(e) => Err(broken(path, e)),
        }
    }

    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    fn failed(&self, e: io::Error) -> Failure {
        match self.place {
            Place::Stdout => Failure::Output(e),
            Place::Nowhere(most) => Error::needing(Kind::Limit, What::MAX_FILE_DECODED, 0, most).into(),
            _ => broken(self.path, e),
        }
    }

    /// Writes the file by calling `write`, and returns its length in bytes.
    pub fn fill<F>(&self, write: F) -> Result<u64, Failure>
    where
        F: FnOnce(TargetSink) -> Result<TargetSink, WriteError<io::Error>>,
    {
        let (at, old) = match &self.place {
            Place::File { at, old } => (at, old),
            Place::Stdout => return Ok(self.write(To::Stdout(io::stdout()), write)?.len),
            Place::Nowhere(most) => return Ok(self.write(To::Nowhere(*most), write)?.len),
            Place::Directory => return Err(self.failed(io::ErrorKind::IsADirectory.into())),
        };
        let (file, temporary) = interrupt::begin(|| create(beside(at), old.is_none())).map_err(|e| self.failed(e))?;
        let written = self.write(To::File(file), write);
        interrupt::end(|| {
            // On an error, `temporary` is removed as it is dropped.
            let Output { to, len } = written?;
            let put = || {
                if let To::File(file) = to {
                    if let Some(old) = old {
                        keep(&file, old)?;
                    }
                    file.sync_all()?;
                }
                match old {
                    Some(_) => temporary.persist(at)?,
                    None => temporary.persist_noclobber(at)?,
                }
                sync(beside(at))
            };
            put().map_err(|e| self.failed(e))?;
            Ok(len)
        })
    }

    fn write<F>(&self, to: To, write: F) -> Result<Output, Failure>
    where
        F: FnOnce(TargetSink) -> Result<TargetSink, WriteError<io::Error>>,
    {
        match write(IoSink(BufWriter::with_capacity(1 << 16, Output { to, len: 0 }))) {
            Ok(IoSink(mut buffer)) => {
                buffer.flush().map_err(|e| self.failed(e))?;
                buffer.into_inner().map_err(|e| self.failed(e.into_error()))
            }
            Err(WriteError::Format(e)) => Err(e.into()),
            Err(WriteError::Sink(e)) => Err(self.failed(e)),
        }
    }

    /// Writes the directory by `write`, to a path at which nothing exists.
    pub fn fill_directory<T>(&self, write: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
        let temporary = interrupt::begin(|| {
            let dir = named(&prefix()).tempdir_in(beside(self.path))?;
            let path = dir.path().to_owned();
            Ok((dir, path))
        });
        let temporary: TempDir = temporary.map_err(|e| self.failed(e))?;
        // The temporary directory is for its owner alone, the one in it for all that the process grants.
        let within = temporary.path().join("dataset");
        let written = write(&within);
        interrupt::end(|| {
            let written = written?;
            let put = || {
                // A rename would replace an empty directory.
                if fs::symlink_metadata(self.path).is_ok() {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                fs::rename(&within, self.path)?;
                temporary.close()?;
                sync(beside(self.path))
            };
            put().map_err(|e| self.failed(e))?;
            Ok(written)
        })
    }
}

/// Creates a file that does not exist yet. `public`: with all permissions that the process grants to new files;
/// otherwise for its owner alone.
fn create(dir: &Path, public: bool) -> io::Result<((fs::File, TempPath), PathBuf)> {
    let prefix = prefix();
    let mut builder = named(&prefix);
    #[cfg(unix)]
    if public {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let _ = public;
    let (file, path) = builder.tempfile_in(dir)?.into_parts();
    let registered = path.to_path_buf();
    Ok(((file, path), registered))
}

/// 64 random bits of the operating system, beside those that `tempfile` adds.
fn prefix() -> String {
    format!(".pilaster-{:016x}-", RandomState::new().build_hasher().finish())
}

fn named(prefix: &str) -> Builder<'_, 'static> {
    let mut builder = Builder::new();
    builder.prefix(prefix).suffix(".partial");
    builder
}

/// Returns the directory of `path`.
fn beside(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks that the directory of `path` exists.
fn has_directory(path: &Path) -> Result<(), Failure> {
    let dir = beside(path);
    let (why, e) = match fs::metadata(dir) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => (format!("{} is not a directory", dir.display()), io::ErrorKind::NotADirectory.into()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => (format!("the directory {} does not exist", dir.display()), e),
        Err(e) => (format!("{}: {e}", dir.display()), e),
    };
    Err(Failure::Target(format!("{}: cannot be written: {why}", path.display()), e))
}

/// Returns the failure of writing `path`. The message does not contain the temporary name.
fn broken(path: &Path, e: io::Error) -> Failure {
    let text = e.to_string();
    // An error of `tempfile` ends with the path.
    let why = if e.get_ref().is_some() { text.split(" at path \"").next().unwrap_or(&text) } else { &text };
    Failure::Target(format!("{}: cannot be written: {why}", path.display()), e)
}

/// Gives `file` the permissions of the file that it replaces, and its owner and group if the system allows that.
#[cfg(unix)]
fn keep(file: &fs::File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    // Only root may give files away; others may choose among their groups. Before the permissions, because it clears
    // some of them.
    if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        let _ = fchown(file, None, Some(old.gid()));
    }
    let new = file.metadata()?;
    let mode = kept(old.mode(), new.uid() == old.uid(), new.gid() == old.gid());
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// Gives `file` the permissions of the file that it replaces.
#[cfg(not(unix))]
fn keep(file: &fs::File, old: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Returns the mode of a file that replaces a file of mode `old`. Permissions that were granted to a group or to programs
/// that run as an owner are not granted to another one.
#[cfg(unix)]
const fn kept(old: u32, same_owner: bool, same_group: bool) -> u32 {
    let mode = old & 0o7777;
    let mode = if same_owner { mode } else { mode & !0o4000 };
    if same_group { mode } else { mode & !0o2070 }
}

/// Waits until the names in `dir` are on the medium.
fn sync(dir: &Path) -> io::Result<()> {
    // Only Unix opens directories as files, and only those that may be read.
    match cfg!(unix).then(|| fs::File::open(dir)) {
        Some(Ok(dir)) => dir.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::kept;

    #[test]
    fn another_group_or_owner_gets_no_permissions_of_the_old_one() {
        assert_eq!(kept(0o100_640, true, true), 0o640);
        assert_eq!(kept(0o106_775, true, true), 0o6775);
        assert_eq!(kept(0o106_775, false, true), 0o2775);
        assert_eq!(kept(0o106_775, true, false), 0o4705);
        assert_eq!(kept(0o106_660, false, false), 0o600);
    }
}
