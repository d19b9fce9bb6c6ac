//! Bytes of a log that is read back: a slice, an input, or a medium that copies small ranges.

use crate::bytes::{FileRange, Input};
use crate::error::{Error, Kind, Result, What};

/// Random access to the bytes of a log, in small ranges, so that a device reads it without a memory map.
///
/// Implemented by `&[u8]` and [`Input`].
///
/// ```
/// use pilaster::error::{Error, Kind, Result, What};
/// use pilaster::vortex::log::Source;
///
/// /// A card that reads blocks.
/// struct Card([[u8; 4]; 2]);
///
/// impl Source for Card {
///     fn size(&self) -> u64 {
///         8
///     }
///
///     fn read(&mut self, at: u64, to: &mut [u8]) -> Result<()> {
///         let end = at + to.len() as u64;
///         if end > 8 {
///             return Err(Error::needing(Kind::Truncated, What::INPUT, at, to.len() as u64));
///         }
///         for (at, to) in (at..end).zip(to) {
///             *to = self.0[at as usize / 4][at as usize % 4];
///         }
///         Ok(())
///     }
/// }
///
/// let mut four = [0; 4];
/// Card([*b"VTXF", [0; 4]]).read(0, &mut four)?;
/// assert_eq!(&four, b"VTXF");
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait Source {
    /// Returns the number of bytes that were written. Bytes after them, such as the rest of a medium, which may be erased or
    /// have old contents, do not count: row groups of an older log among them would be taken for row groups of this one.
    ///
    /// On a medium without files, such as flash, the written bytes end after the last one that is not erased, rounded up to
    /// a multiple of 8: the last byte of a row group may be equal to an erased one, and the zeros after it may be missing.
    fn size(&self) -> u64;

    /// Copies the bytes at offset `at` to all of `to`.
    ///
    /// # Errors
    /// [`Kind::Truncated`] in `What::INPUT` if the source ends before; errors of the medium, in `What::INPUT`, too.
    fn read(&mut self, at: u64, to: &mut [u8]) -> Result<()>;
}

impl Source for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&mut self, at: u64, to: &mut [u8]) -> Result<()> {
        let range = FileRange { at, len: to.len() as u64 };
        copy(range.of(self, What::INPUT)?, to, at)
    }
}

impl Source for Input<'_> {
    fn size(&self) -> u64 {
        self.len()
    }

    fn read(&mut self, at: u64, to: &mut [u8]) -> Result<()> {
        let range = FileRange { at, len: to.len() as u64 };
        // The window releases the bytes that were fetched.
        copy(self.window().input().get(range, What::INPUT)?, to, at)
    }
}

impl<T: Source + ?Sized> Source for &mut T {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read(&mut self, at: u64, to: &mut [u8]) -> Result<()> {
        (**self).read(at, to)
    }
}

/// Copies bytes to a slice of their length.
fn copy(from: &[u8], to: &mut [u8], at: u64) -> Result<()> {
    if from.len() != to.len() {
        return Err(Error::needing(Kind::Truncated, What::INPUT, at, to.len() as u64));
    }
    to.copy_from_slice(from);
    Ok(())
}
