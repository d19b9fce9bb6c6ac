//! A file over a serial line or a radio, in frames that `pilaster receive` collects. Without a heap; 64 bytes of tables.
//!
//! ```text
//! frame    COBS of the chunk, then a zero byte: a receiver finds the next frame after any damage
//! chunk    offset in the file   u32, little-endian
//!          bytes                none: the end of the file
//!          CRC-32 (IEEE) of both u32, little-endian
//! ```

use core::fmt;

use pilaster::bytes::Sink;

/// Number of bytes of a chunk besides the bytes of the file: offset and CRC.
pub const AROUND: usize = 8;
/// Size of the longest chunk with them: the receiver drops longer frames.
pub const LONGEST: usize = 65_000 + AROUND;
const AT: usize = 4;

/// A chunk of this size is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadChunk(pub usize);

impl fmt::Display for BadChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a chunk of {} bytes; it has {} to {LONGEST}", self.0, AROUND + 1)
    }
}

impl core::error::Error for BadChunk {}

/// A sink that sends frames to another one.
#[derive(Debug)]
pub struct Frames<'m, S> {
    sink: S,
    /// The offset, and the bytes of the chunk so far. The CRC has room after them.
    chunk: &'m mut [u8],
    /// Number of bytes of the file in the chunk.
    len: usize,
    at: u32,
}

impl<'m, S: Sink> Frames<'m, S> {
    /// Sends what is put from offset `at` of the file on. Each frame has up to `chunk.len()` bytes less [`AROUND`] of it.
    ///
    /// # Errors
    /// [`BadChunk`] if `chunk` has no room for a byte, or more than [`LONGEST`].
    pub fn new(sink: S, chunk: &'m mut [u8], at: u32) -> Result<Self, BadChunk> {
        match chunk.len() {
            len if len > AROUND && len <= LONGEST => Ok(Frames { sink, chunk, len: 0, at }),
            len => Err(BadChunk(len)),
        }
    }

    /// Sends the rest, and a frame that says where the file ends.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn end(&mut self) -> Result<(), S::Error> {
        if self.len > 0 {
            self.send()?;
        }
        self.send()?;
        self.sink.flush()
    }

    /// Sends the bytes of the chunk as a frame.
    fn send(&mut self) -> Result<(), S::Error> {
        let end = AT + self.len;
        let Some((chunk, crc)) = self.chunk.split_at_mut_checked(end) else { return Ok(()) };
        let (Some(at), Some(crc)) = (chunk.first_chunk_mut(), crc.first_chunk_mut()) else { return Ok(()) };
        *at = self.at.to_le_bytes();
        *crc = crc32(chunk).to_le_bytes();
        let chunk = self.chunk.get(..end + AROUND - AT).unwrap_or_default();
        for run in chunk.split(|byte| *byte == 0) {
            let mut rest = run;
            while let Some((most, more)) = rest.split_first_chunk::<254>() {
                self.sink.put(&[255])?;
                self.sink.put(most)?;
                rest = more;
            }
            self.sink.put(&[rest.len() as u8 + 1])?;
            self.sink.put(rest)?;
        }
        self.at = self.at.wrapping_add(self.len as u32);
        self.len = 0;
        self.sink.put(&[0])
    }
}

impl<S: Sink> Sink for Frames<'_, S> {
    type Error = S::Error;

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), S::Error> {
        while !bytes.is_empty() {
            let end = self.chunk.len().saturating_sub(AROUND - AT);
            let room = self.chunk.get_mut(AT + self.len..end).unwrap_or_default();
            if room.is_empty() {
                self.send()?;
                continue;
            }
            let len = room.len().min(bytes.len());
            let (now, rest) = bytes.split_at(len);
            room[..len].copy_from_slice(now);
            (self.len, bytes) = (self.len + len, rest);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), S::Error> {
        if self.len > 0 {
            self.send()?;
        }
        self.sink.flush()
    }
}

/// The CRC-32 of Ethernet and zip, four bits at a time.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let (mut table, mut k) = ([0; 16], 0);
        while k < 16 {
            let (mut crc, mut bit) = (k as u32, 0);
            while bit < 4 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
                bit += 1;
            }
            table[k] = crc;
            k += 1;
        }
        table
    };
    let half = |crc: u32, bits: u8| crc >> 4 ^ TABLE[((crc ^ u32::from(bits)) & 15) as usize];
    !bytes.iter().fold(u32::MAX, |crc, byte| half(half(crc, *byte & 15), *byte >> 4))
}
