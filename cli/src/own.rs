//! Whether the process is the tool. Where the package for Python calls this library, signals and the terminal are not ours.

use std::sync::atomic::{AtomicBool, Ordering};

static OWN: AtomicBool = AtomicBool::new(false);

/// The process belongs to the tool until this is dropped.
pub struct Own(());

impl Drop for Own {
    fn drop(&mut self) {
        OWN.store(false, Ordering::Relaxed);
    }
}

/// Until the returned value is dropped, signals end the process, after what is incomplete was removed, and progress is shown on a terminal.
#[must_use]
pub fn own() -> Own {
    OWN.store(true, Ordering::Relaxed);
    Own(())
}

pub fn is_own() -> bool {
    OWN.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_has_ended_owns_nothing() {
        let owned = own();
        assert!(is_own());
        drop(owned);
        assert!(!is_own());
    }
}
