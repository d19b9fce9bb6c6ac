//! Where a writer puts its bytes.

use core::fmt;

use crate::error::{Error, Kind, What};

/// Takes bytes front to back. No writer of this crate seeks.
///
/// Implemented by [`SliceSink`], `Vec<u8>` (feature `alloc`), `IoSink` over any `std::io::Write`
/// (feature `std`), `heapless::Vec` (feature `heapless-09`), `EmbeddedIoSink` over any
/// `embedded_io::Write` (feature `embedded-io-07`) and `FlashSink` over any
/// `embedded_storage::nor_flash::NorFlash` (feature `embedded-storage-03`). The sink's own error type is kept.
pub trait Sink {
    /// What can go wrong in this sink.
    type Error;

    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// Those of the sink.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Bytes that it still takes, if it knows. A writer asks before it puts what is worth nothing in
    /// part, so that a sink which is full is a result and no loss.
    fn room(&self) -> u64 {
        u64::MAX
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    type Error = S::Error;

    fn room(&self) -> u64 {
        (**self).room()
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        (**self).put(bytes)
    }
}

/// What can go wrong while a file is written: the sink's own error is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WriteError<S> {
    /// What was to be written cannot be.
    Format(Error),
    /// The sink failed.
    Sink(S),
}

impl<S> From<Error> for WriteError<S> {
    fn from(e: Error) -> Self {
        WriteError::Format(e)
    }
}

impl<S: fmt::Display> fmt::Display for WriteError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Format(e) => e.fmt(f),
            WriteError::Sink(e) => e.fmt(f),
        }
    }
}

impl<S: fmt::Debug + fmt::Display> core::error::Error for WriteError<S> {}

/// Appends to a buffer lent by the caller.
///
/// ```
/// use pilaster::bytes::{Sink, SliceSink};
///
/// let mut buffer = [0u8; 4];
/// let mut sink = SliceSink::new(&mut buffer);
/// sink.put(&[1, 2])?;
/// assert_eq!(sink.put(&[3, 4, 5]).unwrap_err().need(), 5);
/// assert_eq!(sink.written(), [1, 2]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct SliceSink<'b> {
    buffer: &'b mut [u8],
    len: usize,
}

impl<'b> SliceSink<'b> {
    /// An empty sink over all of `buffer`.
    #[must_use]
    pub const fn new(buffer: &'b mut [u8]) -> Self {
        SliceSink { buffer, len: 0 }
    }

    /// The bytes so far.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or(&[])
    }

    /// The bytes so far, for as long as the buffer lives.
    #[must_use]
    pub fn into_written(self) -> &'b mut [u8] {
        self.buffer.get_mut(..self.len).unwrap_or_default()
    }

    /// How many bytes so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing has been put.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Sink for SliceSink<'_> {
    type Error = Error;

    /// # Errors
    /// [`Kind::NoRoom`] with the length that the buffer should have; then nothing is put.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self.len.saturating_add(bytes.len());
        let Some(to) = self.buffer.get_mut(self.len..end) else {
            return Err(Error::needing(Kind::NoRoom, What::DESTINATION, self.len as u64, end as u64));
        };
        to.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }
}

#[cfg(feature = "alloc")]
impl Sink for alloc::vec::Vec<u8> {
    type Error = core::convert::Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(feature = "heapless-09")]
impl<const N: usize> Sink for heapless_09::Vec<u8, N> {
    type Error = Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let need = self.len().saturating_add(bytes.len());
        self.extend_from_slice(bytes)
            .map_err(|_| Error::needing(Kind::NoRoom, What::DESTINATION, self.len() as u64, need as u64))
    }
}

/// Passes bytes on to an `std::io::Write`.
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct IoSink<W>(pub W);

#[cfg(feature = "std")]
impl<W: std::io::Write> Sink for IoSink<W> {
    type Error = std::io::Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.write_all(bytes)
    }
}

/// Passes bytes on to an `embedded_io::Write` (version 0.7).
#[cfg(feature = "embedded-io-07")]
#[derive(Debug)]
pub struct EmbeddedIoSink<W>(pub W);

#[cfg(feature = "embedded-io-07")]
impl<W: embedded_io_07::Write> Sink for EmbeddedIoSink<W> {
    type Error = W::Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.write_all(bytes)
    }
}
