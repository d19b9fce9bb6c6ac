//! Caller-provided memory, or memory that grows on the heap.

use core::ops::{Deref, DerefMut};

/// Items of type `T` in borrowed or owned memory.
#[derive(Debug)]
pub(super) enum Room<'m, T> {
    Lent(&'m mut [T]),
    #[cfg(feature = "alloc")]
    Owned(alloc::vec::Vec<T>),
}

impl<T: Copy + Default> Room<'_, T> {
    /// Returns whether the memory has `len` items. Owned memory grows to that length.
    #[inline]
    pub(super) fn reach(&mut self, len: usize) -> bool {
        match self {
            Room::Lent(lent) => len <= lent.len(),
            #[cfg(feature = "alloc")]
            Room::Owned(owned) => {
                if len > owned.len() {
                    // At least doubles the length, so that reallocation is rare.
                    owned.resize(len.max(owned.len().saturating_mul(2)), T::default());
                }
                true
            }
        }
    }
}

impl<T> Deref for Room<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Room::Lent(lent) => lent,
            #[cfg(feature = "alloc")]
            Room::Owned(owned) => owned,
        }
    }
}

impl<T> DerefMut for Room<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Room::Lent(lent) => lent,
            #[cfg(feature = "alloc")]
            Room::Owned(owned) => owned,
        }
    }
}
