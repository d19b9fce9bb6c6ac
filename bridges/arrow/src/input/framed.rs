//! Messages of Arrow IPC, whose claims about sizes are checked before Arrow's reader allocates memory for them.

use std::io::{self, Read};

use arrow_ipc::{BodyCompression, CompressionType, Message, RecordBatch, root_as_message};

/// Maximum size in bytes of the decompressed buffers of a batch, unless the file is large.
const MOST: u64 = 1 << 31;

/// The decompressed buffers of a batch may also have this many times the size of the file.
const TIMES: u64 = 64;

/// A block of LZ4 has at most this many times the bytes of its compressed form, besides [`SPARE`].
const LZ4_RATIO: u64 = 255;

/// Bytes that a frame of a few bytes may stand for.
const SPARE: u64 = 1 << 16;

/// The marker before the length of a message.
const MARKER: [u8; 4] = [0xff; 4];

/// The compressed buffers of a message: where each is in the body, and how it is compressed.
fn buffers(message: &Message<'_>) -> Option<(CompressionType, Vec<(u64, u64)>)> {
    let of_dictionary = || message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let batch: RecordBatch<'_> = message.header_as_record_batch().or_else(of_dictionary)?;
    let compression: BodyCompression<'_> = batch.compression()?;
    let number = |n: i64| u64::try_from(n).unwrap_or(u64::MAX);
    let all = batch.buffers()?.iter().map(|buffer| (number(buffer.offset()), number(buffer.length()))).collect();
    Some((compression.codec(), all))
}

/// Checks the sizes that compressed buffers claim. `length` reads the eight bytes at an offset of the body.
pub(super) fn check(
    message: &Message<'_>,
    file: u64,
    mut length: impl FnMut(u64) -> io::Result<[u8; 8]>,
) -> Result<(), String> {
    let Some((codec, all)) = buffers(message) else { return Ok(()) };
    let most = MOST.max(file.saturating_mul(TIMES));
    let mut sum = 0u64;
    for (k, (at, len)) in all.into_iter().enumerate() {
        if len < 8 {
            continue;
        }
        let claimed = i64::from_le_bytes(length(at).map_err(|e| format!("buffer {k}: {e}"))?);
        // A negative number says that the buffer is not compressed; Arrow checks which.
        let claimed = u64::try_from(claimed).unwrap_or(0);
        let possible = len.saturating_mul(LZ4_RATIO).saturating_add(SPARE);
        if codec == CompressionType::LZ4_FRAME && claimed > possible {
            return Err(format!(
                "buffer {k} of {len} bytes claims to have {claimed}, which LZ4 cannot compress to so few"
            ));
        }
        sum = sum.saturating_add(claimed);
        if sum > most {
            return Err(format!("the buffers of a batch claim to have {sum} bytes; at most {most} are read"));
        }
    }
    Ok(())
}

/// The bytes of a stream, message by message: each is in memory before its first byte is passed on, hence its sizes are
/// known to be true.
pub(super) struct Framed<R> {
    from: R,
    /// The size of the file, or 0.
    file: u64,
    message: Vec<u8>,
    at: usize,
    ended: bool,
}

impl<R: Read> Framed<R> {
    pub fn new(from: R, file: u64) -> Self {
        Framed { from, file, message: Vec::new(), at: 0, ended: false }
    }

    /// Appends `len` bytes to the message; fewer at the end. Returns false if so.
    fn more(&mut self, len: u64) -> io::Result<bool> {
        let read = self.from.by_ref().take(len).read_to_end(&mut self.message)?;
        Ok(read as u64 == len)
    }

    /// Reads the next message. What is cut off, or no message, is passed on: Arrow's reader says so.
    fn next(&mut self) -> io::Result<()> {
        self.message.clear();
        self.at = 0;
        self.ended = true;
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        if !self.more(4)? || (self.message == MARKER && !self.more(4)?) {
            return Ok(());
        }
        let start = self.message.len();
        let len = self.message.last_chunk().map_or(0, |len| i32::from_le_bytes(*len));
        let len = u64::try_from(len).map_err(|_| invalid(format!("a message of {len} bytes")))?;
        if len == 0 || !self.more(len)? {
            return Ok(());
        }
        let Ok(message) = root_as_message(self.message.get(start..).unwrap_or_default()) else { return Ok(()) };
        let body = message.bodyLength();
        let body = u64::try_from(body).map_err(|_| invalid(format!("a message with a body of {body} bytes")))?;
        let end = self.message.len();
        if !self.more(body)? {
            let there = self.message.len().saturating_sub(end);
            // Arrow's reader takes the kind of error for the end of a file for the end of the stream.
            return Err(invalid(format!("a message with a body of {body} bytes, of which {there} are there")));
        }
        let (head, body) = self.message.split_at_checked(end).unwrap_or_default();
        let message = root_as_message(head.get(start..).unwrap_or_default()).map_err(|e| invalid(e.to_string()))?;
        check(&message, self.file, |at| {
            let bytes = usize::try_from(at).ok().and_then(|at| body.get(at..)?.first_chunk());
            bytes.copied().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        })
        .map_err(invalid)?;
        self.ended = false;
        Ok(())
    }
}

impl<R: Read> Read for Framed<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.message.len() && !self.ended {
            self.next()?;
        }
        let read = self.message.get(self.at..).unwrap_or_default().read(to)?;
        self.at = self.at.saturating_add(read);
        Ok(read)
    }
}
