//! Whether the process is the tool. Where the package for Python calls this library, signals and the terminal are not ours.

use std::sync::atomic::{AtomicBool, Ordering};

static OWN: AtomicBool = AtomicBool::new(false);

/// From now on, signals end the process, after what is incomplete was removed, and progress is shown on a terminal.
pub fn own() {
    OWN.store(true, Ordering::Relaxed);
}

pub fn is_own() -> bool {
    OWN.load(Ordering::Relaxed)
}
