//! Removes what is incomplete when SIGINT or SIGTERM ends the process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::own::is_own;

/// The incomplete file or directory.
static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);

fn pending() -> MutexGuard<'static, Option<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates by `create` what a signal removes from now on, if the process is the tool: the value and its path.
pub fn begin<T>(create: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<T> {
    if is_own() {
        watch();
    }
    let mut pending = pending();
    let (created, path) = create()?;
    *pending = Some(path);
    Ok(created)
}

/// Gives what is complete its name, or removes it, by `finish`. A signal that arrives meanwhile ends the process
/// afterwards.
pub fn end<T>(finish: impl FnOnce() -> T) -> T {
    let mut pending = pending();
    let finished = finish();
    *pending = None;
    finished
}

/// Starts the thread that waits for signals.
#[cfg(unix)]
fn watch() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // Without the thread, a signal ends the process at once, and the file stays.
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
        let _ = std::thread::Builder::new().spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // It stays locked: the main thread neither creates nor renames anything any more.
                let pending = pending();
                if let Some(path) = &*pending {
                    remove(path);
                }
                // The parent process sees which signal it was.
                let _ = emulate_default_handler(signal);
            }
        });
    });
}

#[cfg(not(unix))]
fn watch() {
    let _ = remove;
}

/// Removes a file, or a directory in which the main thread may still be creating files.
fn remove(path: &Path) {
    for _ in 0..100 {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => drop(fs::remove_dir_all(path)),
            Ok(_) => drop(fs::remove_file(path)),
            Err(_) => return,
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
