//! Caller-provided memory for decoded values.

use bytemuck::Pod;

use crate::error::{Error, Kind, Result, What};

/// Caller-provided memory, cut from the front into aligned slices.
///
/// Take the result first, then temporaries from a [`scope`](Self::scope): the borrow checker does not allow the other
/// order. Compute the required size (`Column::need`) before you take.
///
/// ```
/// use pilaster::bytes::Scratch;
///
/// let mut memory = [0u8; 64];
/// let mut scratch = Scratch::new(&mut memory);
/// let sums = scratch.take::<u32>(2)?;
/// {
///     let mut inner = scratch.scope();
///     let squares = inner.take::<u32>(3)?;
///     squares.copy_from_slice(&[1, 4, 9]);
///     sums.copy_from_slice(&[squares[0] + squares[1], squares[1] + squares[2]]);
/// }
/// // The scope has ended: its memory is free again.
/// assert!(scratch.room() >= 64 - Scratch::cost::<u32>(2) as usize);
/// assert_eq!(sums, [5, 13]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Scratch<'s> {
    free: &'s mut [u8],
}

impl<'s> Scratch<'s> {
    /// Creates a scratch buffer of all of `memory`.
    #[must_use]
    pub const fn new(memory: &'s mut [u8]) -> Self {
        Scratch { free: memory }
    }

    /// Returns the number of free bytes, without regard to alignment.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.free.len()
    }

    /// Returns an upper bound of the bytes that [`take`](Self::take) cuts off for `n` values of `T`, with padding.
    #[must_use]
    pub const fn cost<T>(n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        n.saturating_mul(size_of::<T>() as u64).saturating_add(align_of::<T>().saturating_sub(1) as u64)
    }

    /// Cuts off `n` aligned values of `T` with arbitrary contents. They live as long as the memory.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if they do not fit (`need`: their size with padding, in bytes); then nothing is cut off.
    pub fn take<T: Pod>(&mut self, n: usize) -> Result<&'s mut [T]> {
        let bytes = self.cut(n, size_of::<T>(), align_of::<T>())?;
        if bytes.is_empty() {
            return Ok(&mut []);
        }
        // Cannot fail: the bytes have the size and alignment.
        bytemuck::try_cast_slice_mut(bytes).map_err(|_| no_room(n, size_of::<T>(), align_of::<T>()))
    }

    /// Cuts off `n` values of `size` bytes. It is not generic, so that all types share its code.
    pub(crate) fn cut(&mut self, n: usize, size: usize, align: usize) -> Result<&'s mut [u8]> {
        let Some(len) = n.checked_mul(size) else { return Err(no_room(n, size, align)) };
        if len == 0 {
            return Ok(&mut []);
        }
        let free = core::mem::take(&mut self.free);
        let pad = (free.as_ptr() as usize).wrapping_neg() & align.wrapping_sub(1);
        if len > free.len().saturating_sub(pad) {
            self.free = free;
            return Err(no_room(n, size, align));
        }
        // Both splits succeed; the fallible forms keep panics out of images.
        let rest = free.split_at_mut_checked(pad).and_then(|(_, free)| free.split_at_mut_checked(len));
        let Some((head, rest)) = rest else { return Err(no_room(n, size, align)) };
        self.free = rest;
        Ok(head)
    }

    /// Borrows the free memory for temporary use. It is free again when the returned value is dropped.
    #[must_use]
    pub fn scope(&mut self) -> Scratch<'_> {
        Scratch { free: self.free }
    }
}

#[cold]
fn no_room(n: usize, size: usize, align: usize) -> Error {
    let need = (n as u64).saturating_mul(size as u64).saturating_add(align.saturating_sub(1) as u64);
    Error::needing(Kind::NoRoom, What::SCRATCH, 0, need)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_aligned_and_outlive_the_handle() {
        let mut memory = [0u8; 100];
        let mut s = Scratch::new(&mut memory);
        let a = s.take::<u8>(3).unwrap();
        let b = s.take::<u64>(2).unwrap();
        let c = s.take::<u16>(1).unwrap();
        a.fill(1);
        b.fill(2);
        c.fill(3);
        assert_eq!((a, b, c), (&mut [1; 3][..], &mut [2u64; 2][..], &mut [3u16][..]));
    }

    #[test]
    fn a_failed_take_costs_nothing() {
        let mut memory = [0u8; 16];
        let mut s = Scratch::new(&mut memory);
        let e = s.take::<u32>(100).unwrap_err();
        assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 403));
        assert!(s.take::<u64>(usize::MAX).is_err());
        assert_eq!(s.room(), 16);
    }

    #[test]
    fn a_scope_gives_back() {
        let mut memory = [0u8; 16];
        let mut s = Scratch::new(&mut memory);
        s.scope().take::<u8>(16).unwrap();
        assert_eq!(s.take::<u8>(16).unwrap().len(), 16);
    }
}
