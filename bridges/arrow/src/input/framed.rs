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

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
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

    /// Appends `len` bytes to the message; fewer at the end. Returns how many there were.
    fn more(&mut self, len: u64) -> io::Result<u64> {
        Ok(self.from.by_ref().take(len).read_to_end(&mut self.message)? as u64)
    }

    /// Appends all of the `len` bytes of a part of a message.
    fn all(&mut self, len: u64, what: &str) -> io::Result<()> {
        let there = self.more(len)?;
        // Arrow's reader takes the kind of error for the end of a file for the end of the stream. Of a length that is not there,
        // it would reserve memory.
        if there < len { Err(invalid(format!("{what} of {len} bytes, of which {there} are there"))) } else { Ok(()) }
    }

    /// Reads the next message. What is no message is passed on: Arrow's reader says so.
    fn next(&mut self) -> io::Result<()> {
        self.message.clear();
        self.at = 0;
        self.ended = true;
        match self.more(4)? {
            0 => return Ok(()),
            4 => {}
            there => return Err(invalid(format!("the start of a message of 4 bytes, of which {there} are there"))),
        }
        if self.message == MARKER {
            self.all(4, "the length of a message")?;
        }
        let start = self.message.len();
        let len = self.message.last_chunk().map_or(0, |len| i32::from_le_bytes(*len));
        let len = u64::try_from(len).map_err(|_| invalid(format!("a message of {len} bytes")))?;
        if len == 0 {
            return Ok(());
        }
        self.all(len, "a message with metadata")?;
        let Ok(message) = root_as_message(self.message.get(start..).unwrap_or_default()) else { return Ok(()) };
        let body = message.bodyLength();
        let body = u64::try_from(body).map_err(|_| invalid(format!("a message with a body of {body} bytes")))?;
        let end = self.message.len();
        self.all(body, "a message with a body")?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What reading all of a stream returns: its length or the error.
    fn read(bytes: &[u8]) -> Result<usize, String> {
        let mut all = Vec::new();
        Framed::new(bytes, 0).read_to_end(&mut all).map_err(|e| {
            assert_eq!(e.kind(), io::ErrorKind::InvalidData);
            e.to_string()
        })
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        assert_eq!((read(&[]), read(&[0; 4]), read(&[255, 255, 255, 255, 0, 0, 0, 0])), (Ok(0), Ok(4), Ok(8)));
        for len in 1..4u8 {
            let e = format!("the start of a message of 4 bytes, of which {len} are there");
            assert_eq!(read(&vec![255; len.into()]), Err(e));
            let e = format!("the length of a message of 4 bytes, of which {len} are there");
            assert_eq!(read(&vec![255; 4 + usize::from(len)]), Err(e));
        }
        let e = "a message with metadata of 2147483647 bytes, of which 0 are there";
        assert_eq!(read(&[255, 255, 255, 255, 255, 255, 255, 127]), Err(e.to_owned()));
        assert_eq!(read(&[255, 255, 255, 127]), Err(e.to_owned()));
    }
}
