//! Memory that is lent, or, where there is a heap, grows.

use core::ops::{Deref, DerefMut};

/// A run of `T` that is lent or owned.
#[derive(Debug)]
pub(super) enum Room<'m, T> {
    Lent(&'m mut [T]),
    #[cfg(feature = "alloc")]
    Owned(alloc::vec::Vec<T>),
}

impl<T: Copy + Default> Room<'_, T> {
    /// Whether there are `len` of them, which an owned run sees to.
    #[inline]
    pub(super) fn reach(&mut self, len: usize) -> bool {
        match self {
            Room::Lent(lent) => len <= lent.len(),
            #[cfg(feature = "alloc")]
            Room::Owned(owned) => {
                if len > owned.len() {
                    // Twice as many, so that it is seldom.
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
