//! A sink that gathers bytes.

use super::{Sink, len32};

/// Gathers bytes in a buffer of the caller, and passes them on when it is full, or [flushed](Sink::flush).
///
/// Writers put a few bytes at a time. A card or a radio takes blocks: the buffer has the size of one, such as 512 bytes. Bytes in
/// the buffer are not on the medium. A log of Vortex flushes it after each row group and each checkpoint; the bytes after a flush
/// fill the block that it began.
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
/// let mut sink = Buffered::new(Radio::default(), 0, &mut packet);
/// sink.put(b"abc")?;
/// sink.put(b"defghij")?;
/// assert_eq!(sink.sink().0, [b"abcd", b"efgh"]);
/// sink.flush()?;
/// sink.put(b"klmn")?;
/// assert_eq!(sink.into_sink().0[2..], [b"ij", b"kl"]);
/// # Ok::<(), core::convert::Infallible>(())
/// ```
#[derive(Debug)]
pub struct Buffered<'b, S> {
    sink: S,
    buffer: &'b mut [u8],
    len: usize,
    /// Number of bytes of the block that the sink has.
    done: usize,
}

impl<'b, S: Sink> Buffered<'b, S> {
    /// Creates an empty buffer before `sink`, whose next byte has offset `at` on the medium: blocks begin at multiples of the length
    /// of the buffer. Without bytes, it gathers nothing.
    pub fn new(sink: S, at: u64, buffer: &'b mut [u8]) -> Self {
        let done = rest(at, buffer.len());
        Buffered { sink, buffer, len: 0, done }
    }

    /// Returns the sink. Bytes that were not flushed are dropped.
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// Returns the sink that receives the blocks.
    pub const fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Removes the last `count` bytes; `rewind` removes bytes from the sink.
    #[cfg(feature = "vortex")]
    pub(crate) fn cut(
        &mut self,
        count: u64,
        rewind: impl FnOnce(&mut S, u64) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        let own = count.min(len32(self.len).into());
        self.len = self.len.saturating_sub(super::saturated(own));
        let passed = count.saturating_sub(own);
        if passed > 0 {
            rewind(&mut self.sink, passed)?;
            // The offset in a block that lies before this one.
            let back = rest(passed, self.buffer.len());
            let block = if back > self.done { self.buffer.len() } else { 0 };
            self.done = self.done.saturating_add(block).saturating_sub(back);
        }
        Ok(())
    }

    /// Passes on what was gathered.
    fn pass(&mut self) -> Result<(), S::Error> {
        let bytes = self.buffer.get(..self.len).unwrap_or_default();
        if !bytes.is_empty() {
            self.sink.put(bytes)?;
            self.done = rest(self.done.saturating_add(self.len) as u64, self.buffer.len());
            self.len = 0;
        }
        Ok(())
    }
}

impl<S: Sink> Sink for Buffered<'_, S> {
    type Error = S::Error;

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), S::Error> {
        if self.buffer.is_empty() {
            return self.sink.put(bytes);
        }
        while !bytes.is_empty() {
            let block = self.buffer.len().saturating_sub(self.done);
            let room = self.buffer.get_mut(self.len..block).unwrap_or_default();
            let (now, later) = bytes.split_at_checked(room.len()).unwrap_or((bytes, &[]));
            for (to, byte) in room.iter_mut().zip(now) {
                *to = *byte;
            }
            self.len = self.len.saturating_add(now.len());
            if self.len >= block {
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

/// Returns the offset in a block of `len` bytes.
fn rest(at: u64, len: usize) -> usize {
    super::saturated(at.checked_rem(len as u64).unwrap_or(0))
}
