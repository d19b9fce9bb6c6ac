//! Where memory of the caller lies, and whether it overlaps other memory.

use crate::error::{Done, Failure};

/// Where memory lies: its address, its size in bytes, and its alignment.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    at: usize,
    bytes: usize,
    align: usize,
}

impl Bounds {
    /// The bounds of `len` items.
    pub fn of<T>(at: *const T, len: usize) -> Self {
        Bounds { at: at.addr(), bytes: len.saturating_mul(size_of::<T>()), align: align_of::<T>() }
    }

    /// Whether the range is valid. An empty range always is.
    pub fn are_possible(self) -> bool {
        self.bytes == 0 || is_place(self.at, self.bytes, self.align)
    }

    /// Fails if one of the other places overlaps this one.
    pub fn outside(self, others: &[Bounds], argument: u32) -> Done {
        if others.iter().any(|other| self.meets(*other)) { Err(Failure::argument(argument)) } else { Ok(()) }
    }

    /// Whether both have a byte. An empty range has none.
    fn meets(self, other: Bounds) -> bool {
        self.at.max(other.at) < self.end().min(other.end())
    }

    /// The address after the last one.
    fn end(self) -> usize {
        self.at.saturating_add(self.bytes)
    }
}

/// Returns whether `bytes` bytes of this alignment can start at `at`. One function for all types keeps images small.
#[inline(never)]
pub fn is_place(at: usize, bytes: usize, align: usize) -> bool {
    let end = at.checked_add(bytes);
    at != 0 && at & align.wrapping_sub(1) == 0 && isize::try_from(bytes).is_ok() && end.is_some()
}

/// Fails if two of the places overlap, or memory cannot lie at one.
#[inline(never)]
pub fn separate(places: &[Bounds], argument: u32) -> Done {
    let mut rest = places;
    while let [place, tail @ ..] = rest {
        if !place.are_possible() {
            return Err(Failure::argument(argument));
        }
        place.outside(tail, argument)?;
        rest = tail;
    }
    Ok(())
}
