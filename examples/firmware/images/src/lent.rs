//! Memory that is lent once.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A `static` value, for whoever takes it first.
pub struct Lent<T> {
    value: UnsafeCell<T>,
    taken: AtomicBool,
}

// SAFETY: `take` gives the only reference, once.
unsafe impl<T: Send> Sync for Lent<T> {}

impl<T> Lent<T> {
    /// A value that nobody has yet.
    pub const fn new(value: T) -> Self {
        Lent { value: UnsafeCell::new(value), taken: AtomicBool::new(false) }
    }

    /// The value, the first time.
    #[allow(clippy::mut_from_ref, reason = "given once")]
    pub fn take(&self) -> Option<&mut T> {
        // One core, no interrupts: load and store are one step. (A Cortex-M0 has no swap.)
        if self.taken.load(Ordering::Relaxed) {
            return None;
        }
        self.taken.store(true, Ordering::Relaxed);
        // SAFETY: nobody has had it.
        Some(unsafe { &mut *self.value.get() })
    }
}
