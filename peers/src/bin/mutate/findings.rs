//! The findings: each kind is counted, and the first two inputs of it are kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The folder of the findings.
pub static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// Files that opened, files that `verify` accepted, and calls that asked for too much memory.
pub static OPENED: AtomicU64 = AtomicU64::new(0);
pub static VERIFIED: AtomicU64 = AtomicU64::new(0);
pub static TOO_LARGE: AtomicU64 = AtomicU64::new(0);
/// Differences between batch sizes in files that `verify` refuses; see [`unequal`].
pub static UNVERIFIED: AtomicU64 = AtomicU64::new(0);
/// Counts per kind of finding.
pub static KINDS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
/// The number of the mutation and the input that is being read.
static CURRENT: Mutex<(u64, Vec<u8>)> = Mutex::new((0, Vec::new()));
/// When that began, in milliseconds since 1970; 0 if nothing is being read.
static START: AtomicU64 = AtomicU64::new(0);
/// A reader that takes longer hangs.
const HANG_MS: u64 = 30_000;

/// Locks, also after a panic of another holder.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as u64
}

/// Begins mutation `i` with the input `bytes`.
pub fn begin(i: u64, bytes: &[u8]) {
    let mut current = lock(&CURRENT);
    current.0 = i;
    current.1.clear();
    current.1.extend_from_slice(bytes);
    START.store(now(), Relaxed);
}

/// Ends it.
pub fn end() {
    START.store(0, Relaxed);
}

/// Writes the current input to the folder of the findings and returns its path.
pub fn keep(what: &str) -> PathBuf {
    let current = lock(&CURRENT);
    let path = FOLDER.get().expect("set by main").join(format!("{what}_{}.bin", current.0));
    if let Err(e) = std::fs::write(&path, &current.1) {
        eprintln!("{}: {e}", path.display());
    }
    path
}

/// Counts a finding; prints and keeps the first two of its kind. Two findings whose texts differ in digits only are of
/// one kind.
pub fn note(what: &str, text: &str) {
    let kind: String = format!("{what} {text}").chars().filter(|c| !c.is_ascii_digit()).take(150).collect();
    let count = {
        let mut kinds = lock(&KINDS);
        let count = kinds.entry(kind).or_default();
        *count += 1;
        *count
    };
    if count <= 2 {
        let words = text.split(' ').take(4).collect::<Vec<_>>().join("_");
        let name: String = words.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
        let path = keep(&format!("{what}_{name}"));
        let text: String = text.replace('\n', " ").chars().take(400).collect();
        println!("{} {} :: {text}", what.to_uppercase(), path.display());
    }
}

/// Notes rows that can be read by one batch size and not by another. In a file that `verify` refuses they are only counted:
/// a batch does not check rows outside of it, and the promise of equal outcomes is for verified files.
pub fn unequal(promised: bool, text: &str) {
    if promised {
        note("note", text);
    } else {
        UNVERIFIED.fetch_add(1, Relaxed);
    }
}

/// Starts the thread that ends the program, with status 3, if an input hangs.
pub fn watch() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let start = START.load(Relaxed);
            if start != 0 && now().saturating_sub(start) > HANG_MS {
                eprintln!("HANG {}", keep("hang").display());
                std::process::exit(3);
            }
        }
    });
}

/// Notes a difference, formatted as by `format!`.
#[macro_export]
macro_rules! differs {
    ($($t:tt)*) => { $crate::findings::note("note", &format!($($t)*)) };
}
