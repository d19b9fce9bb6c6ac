//! Destinations of writers.

use core::fmt;

use crate::error::{Error, Kind, What};

/// A destination of bytes, written front to back. No writer of this crate seeks.
///
/// Implemented by [`SliceSink`], `Vec<u8>` (feature `alloc`), `IoSink` over any `std::io::Write`
/// (feature `std`), `heapless::Vec` (feature `heapless-09`), `EmbeddedIoSink` over any
/// `embedded_io::Write` (feature `embedded-io-07`) and `FlashSink` over any
/// `embedded_storage::nor_flash::NorFlash` (feature `embedded-storage-03`). Writers pass on the error type of the sink.
///
/// ```
/// use pilaster::bytes::Sink;
///
/// /// Sends bytes in packets of 4.
/// struct Radio {
///     packet: Vec<u8>,
///     sent: Vec<Vec<u8>>,
/// }
///
/// impl Sink for Radio {
///     type Error = &'static str;
///
///     fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
///         if bytes.len() as u64 > self.room() {
///             return Err("no packets left");
///         }
///         for byte in bytes {
///             self.packet.push(*byte);
///             if self.packet.len() == 4 {
///                 self.sent.push(std::mem::take(&mut self.packet));
///             }
///         }
///         Ok(())
///     }
///
///     // At most 16 packets.
///     fn room(&self) -> u64 {
///         (64 - 4 * self.sent.len() - self.packet.len()) as u64
///     }
/// }
///
/// let mut radio = Radio { packet: vec![], sent: vec![] };
/// radio.put(b"123456").unwrap();
/// assert_eq!((radio.sent, radio.packet), (vec![b"1234".to_vec()], b"56".to_vec()));
/// ```
pub trait Sink {
    /// The error of the sink.
    type Error;

    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// Errors of the sink.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Returns the number of bytes that still fit; `u64::MAX` if it is unknown. Writers check it before they put bytes
    /// that are useless in part, so that no incomplete structure is written into a full sink.
    fn room(&self) -> u64 {
        u64::MAX
    }

    /// Makes the bytes so far survive a power cut, if the medium does not do so by itself: a card whose file system keeps the
    /// length of a file in memory, a buffer. A log of Vortex calls it after each row group and each checkpoint. Does nothing by
    /// default.
    ///
    /// # Errors
    /// Errors of the sink.
    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    type Error = S::Error;

    fn flush(&mut self) -> Result<(), Self::Error> {
        (**self).flush()
    }

    fn room(&self) -> u64 {
        (**self).room()
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        (**self).put(bytes)
    }
}

/// An error while a file is written: from the writer, or from the sink.
///
/// ```
/// use pilaster::bytes::{Sink, SliceSink, WriteError};
/// use pilaster::error::{Error, Kind, What};
///
/// fn write<S: Sink>(rows: u64, sink: &mut S) -> Result<(), WriteError<S::Error>> {
///     if rows == 0 {
///         return Err(Error::new(Kind::Misuse, What::ROW, 0).into());
///     }
///     sink.put(b"rows: ").map_err(WriteError::Sink)
/// }
///
/// let mut memory = [0; 4];
/// assert!(matches!(write(0, &mut SliceSink::new(&mut memory)), Err(WriteError::Format(_))));
/// assert!(matches!(write(1, &mut SliceSink::new(&mut memory)), Err(WriteError::Sink(e)) if e.need() == 6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WriteError<S> {
    /// The format cannot represent the values, or the writer was misused.
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

/// A sink over a caller-provided buffer.
///
/// ```
/// use pilaster::bytes::{Sink, SliceSink};
///
/// let mut buffer = [0u8; 4];
/// let mut sink = SliceSink::new(&mut buffer);
/// sink.put(&[1, 2])?;
/// assert!(!sink.is_empty());
/// assert_eq!(sink.put(&[3, 4, 5]).unwrap_err().need(), 5);
/// assert_eq!((sink.written(), sink.len(), sink.room()), (&[1, 2][..], 2, 2));
///
/// // Of the lifetime of the buffer, not of the sink.
/// let written: &mut [u8] = sink.into_written();
/// assert_eq!(written, [1, 2]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct SliceSink<'b> {
    buffer: &'b mut [u8],
    len: usize,
}

impl<'b> SliceSink<'b> {
    /// Creates an empty sink over all of `buffer`.
    #[must_use]
    pub const fn new(buffer: &'b mut [u8]) -> Self {
        SliceSink { buffer, len: 0 }
    }

    /// Returns the bytes written so far.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or(&[])
    }

    /// Returns the bytes written so far, with the lifetime of the buffer.
    #[must_use]
    pub fn into_written(self) -> &'b mut [u8] {
        self.buffer.get_mut(..self.len).unwrap_or_default()
    }

    /// Removes the last `count` bytes.
    #[cfg(feature = "vortex")]
    pub(crate) fn cut(&mut self, count: usize) {
        self.len = self.len.saturating_sub(count);
    }

    /// Returns the number of bytes written so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether nothing has been written.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Sink for SliceSink<'_> {
    type Error = Error;

    /// # Errors
    /// [`Kind::NoRoom`] if `bytes` do not fit (`need`: the required length of the buffer); then nothing is put.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self.len.saturating_add(bytes.len());
        let Some(to) = self.buffer.get_mut(self.len..end) else {
            return Err(Error::needing(Kind::NoRoom, What::DESTINATION, self.len as u64, end as u64));
        };
        to.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    fn room(&self) -> u64 {
        self.buffer.len().saturating_sub(self.len) as u64
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

    fn room(&self) -> u64 {
        N.saturating_sub(self.len()) as u64
    }
}

/// A sink that writes to an `std::io::Write`. [`flush`](Sink::flush) is the one of `Write`: the bytes are then with the system, and
/// after a power cut perhaps not in the file. A sink of your own over a `std::fs::File` calls `sync_data`.
///
/// ```
/// use pilaster::bytes::{IoSink, Sink};
///
/// let mut sink = IoSink(std::io::Cursor::new(vec![]));
/// sink.put(b"abc")?;
/// sink.put(b"de")?;
/// assert_eq!(sink.0.into_inner(), b"abcde");
/// # Ok::<(), std::io::Error>(())
/// ```
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct IoSink<W>(pub W);

#[cfg(feature = "std")]
impl<W: std::io::Write> Sink for IoSink<W> {
    type Error = std::io::Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.write_all(bytes)
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.0.flush()
    }
}

/// A sink that writes to an `embedded_io::Write` (version 0.7).
///
/// ```
/// use pilaster::bytes::{EmbeddedIoSink, Sink};
///
/// // `embedded_io` implements `Write` for a slice: the rest moves forward.
/// let mut buffer = [0u8; 8];
/// let mut sink = EmbeddedIoSink(&mut buffer[..]);
/// sink.put(b"abc")?;
/// assert_eq!(sink.0.len(), 5);
/// assert_eq!(buffer[..3], *b"abc");
/// # Ok::<(), embedded_io_07::SliceWriteError>(())
/// ```
#[cfg(feature = "embedded-io-07")]
#[derive(Debug)]
pub struct EmbeddedIoSink<W>(pub W);

#[cfg(feature = "embedded-io-07")]
impl<W: embedded_io_07::Write> Sink for EmbeddedIoSink<W> {
    type Error = W::Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.write_all(bytes)
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.0.flush()
    }
}
