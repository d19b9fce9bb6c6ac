//! Static memory that is borrowed once.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A `static` value that can be borrowed mutably once.
pub struct Lent<T> {
    value: UnsafeCell<T>,
    taken: AtomicBool,
}

// SAFETY: `take` returns the only reference, once.
unsafe impl<T: Send> Sync for Lent<T> {}

impl<T> Lent<T> {
    /// Creates a value that has not been taken.
    pub const fn new(value: T) -> Self {
        Lent { value: UnsafeCell::new(value), taken: AtomicBool::new(false) }
    }

    /// Returns the value on the first call, then `None`.
    #[allow(clippy::mut_from_ref, reason = "returned once")]
    pub fn take(&self) -> Option<&mut T> {
        // With one core and no interrupts, load and store are atomic together. (A Cortex-M0 has no atomic swap.)
        if self.taken.load(Ordering::Relaxed) {
            return None;
        }
        self.taken.store(true, Ordering::Relaxed);
        // SAFETY: no other reference has been returned.
        Some(unsafe { &mut *self.value.get() })
    }
}
