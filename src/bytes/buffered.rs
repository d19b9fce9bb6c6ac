//! A sink that gathers bytes.

use super::{Sink, len32};

/// Gathers bytes in a buffer of the caller, and passes them on when it is full, or [flushed](Sink::flush).
///
/// Writers put a few bytes at a time. A card or a radio takes blocks: the buffer has the size of one, such as 512 bytes. Bytes in
/// the buffer are not on the medium. A [log of Vortex](crate::vortex::log::Log) flushes it after each row group and each checkpoint.
///
/// ```
/// use pilaster::bytes::{Buffered, Sink};
///
/// /// Sends packets.
/// #[derive(Default)]
/// struct Radio(Vec<Vec<u8>>);
///
/// impl Sink for Radio {
///     type Error = core::convert::Infallible;
///
///     fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
///         Ok(self.0.push(bytes.to_vec()))
///     }
/// }
///
/// let mut packet = [0; 4];
/// let mut sink = Buffered::new(Radio::default(), &mut packet);
/// sink.put(b"abc")?;
/// sink.put(b"defghij")?;
/// assert_eq!(sink.sink().0, [b"abcd", b"efgh"]);
/// sink.flush()?;
/// assert_eq!(sink.sink().0[2], b"ij");
/// # Ok::<(), core::convert::Infallible>(())
/// ```
#[derive(Debug)]
pub struct Buffered<'b, S> {
    sink: S,
    buffer: &'b mut [u8],
    len: usize,
}

impl<'b, S: Sink> Buffered<'b, S> {
    /// Creates an empty buffer before `sink`. Without bytes, it gathers nothing.
    pub const fn new(sink: S, buffer: &'b mut [u8]) -> Self {
        Buffered { sink, buffer, len: 0 }
    }

    /// The sink behind the buffer.
    pub const fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Passes on what was gathered.
    fn pass(&mut self) -> Result<(), S::Error> {
        let bytes = self.buffer.get(..self.len).unwrap_or_default();
        self.len = 0;
        if bytes.is_empty() { Ok(()) } else { self.sink.put(bytes) }
    }
}

impl<S: Sink> Sink for Buffered<'_, S> {
    type Error = S::Error;

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), S::Error> {
        if self.buffer.is_empty() {
            return self.sink.put(bytes);
        }
        while !bytes.is_empty() {
            let room = self.buffer.get_mut(self.len..).unwrap_or_default();
            let (now, later) = bytes.split_at_checked(room.len()).unwrap_or((bytes, &[]));
            for (to, byte) in room.iter_mut().zip(now) {
                *to = *byte;
            }
            self.len = self.len.saturating_add(now.len());
            if self.len == self.buffer.len() {
                self.pass()?;
            }
            bytes = later;
        }
        Ok(())
    }

    fn room(&self) -> u64 {
        self.sink.room().saturating_sub(len32(self.len).into())
    }

    fn flush(&mut self) -> Result<(), S::Error> {
        self.pass()?;
        self.sink.flush()
    }
}

#[cfg(feature = "vortex")]
impl<S: crate::vortex::log::Rewind> crate::vortex::log::Rewind for Buffered<'_, S> {
    fn rewind(&mut self, count: u64) -> Result<(), S::Error> {
        let own = count.min(len32(self.len).into());
        self.len = self.len.saturating_sub(super::saturated(own));
        if count > own { self.sink.rewind(count.saturating_sub(own)) } else { Ok(()) }
    }
}
