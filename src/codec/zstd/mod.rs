//! Zstandard frames (RFC 8878).
//!
//! The decoder is implemented here. It writes directly to the destination, which is also its window, and
//! takes its tables from a scratch buffer. The encoder (feature `zstd-encode`) is ruzstd and needs a heap.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::unstable::codec::zstd;
//!
//! // Header, one raw block of five bytes, the low half of their XXH64.
//! let stream = b"\x28\xb5\x2f\xfd\x04\x48\x29\0\0hello\xa3\x6d\x9f\x88";
//! let (mut bytes, mut memory) = ([0; 5], [0; zstd::WORKSPACE_LEN]);
//! assert_eq!(zstd::decode(stream, &mut bytes, &mut Scratch::new(&mut memory))?, 5);
//! assert_eq!(bytes, *b"hello");
//! # Ok::<(), pilaster::Error>(())
//! ```

mod bits;
mod dictionary;
mod frame;
mod fse;
mod huffman;
mod literals;
mod sequences;

#[cfg(feature = "zstd-encode")]
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

#[cfg(feature = "zstd-encode")]
use super::lz::no_room;
use crate::bytes::{FAST, Scratch};
use crate::error::Result;

/// Scratch size in bytes that [`decode`] needs: 14 KiB.
pub const WORKSPACE_LEN: usize = frame::MEMORY_LEN;

/// Decodes all frames of a stream, and skips skippable frames. Returns the number of bytes written.
///
/// `dst` may be longer than the output; the bytes after the output are then arbitrary. `scratch` must have
/// [`WORKSPACE_LEN`] free bytes, which are released at the end. The destination is the window, so windows of
/// all sizes are supported.
///
/// # Errors
/// [`Kind::Truncated`] if the stream ends early, [`Kind::Invalid`] if it violates RFC 8878,
/// [`Kind::Unsupported`] for a missing dictionary (`need`: its number) or a reserved bit, [`Kind::Checksum`]
/// if the checksum differs, [`Kind::NoRoom`] if the output is longer than `dst` (`need`: a lower bound of its
/// length) or the scratch buffer is too small.
///
/// [`Kind::Truncated`]: crate::error::Kind::Truncated
/// [`Kind::Invalid`]: crate::error::Kind::Invalid
/// [`Kind::Unsupported`]: crate::error::Kind::Unsupported
/// [`Kind::Checksum`]: crate::error::Kind::Checksum
/// [`Kind::NoRoom`]: crate::error::Kind::NoRoom
pub fn decode(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    decode_with(src, dst, &[], scratch)
}

/// [`decode`] with a dictionary for all frames: either one with tables, which begins with its magic number,
/// or any bytes, which then precede each frame.
///
/// # Errors
/// Errors of [`decode`]. An error in the dictionary has
/// [`What::ZSTD_DICTIONARY`](crate::error::What::ZSTD_DICTIONARY) and an offset in the dictionary.
pub fn decode_with(src: &[u8], dst: &mut [u8], dictionary: &[u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    decode_by::<FAST>(src, dst, dictionary, scratch)
}

fn decode_by<const FAST: bool>(
    src: &[u8],
    dst: &mut [u8],
    dictionary: &[u8],
    scratch: &mut Scratch<'_>,
) -> Result<usize> {
    frame::all::<FAST>(src, dst, dictionary, scratch)
}

/// Returns the maximum encoded length of `n` bytes.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    // Blocks of 128 KiB have headers of three bytes; the frame has a header of at most 18 bytes and a
    // checksum.
    n.saturating_add((n >> 17).saturating_mul(3)).saturating_add(32)
}

/// Encodes one frame, at the only level of ruzstd. Returns its length in bytes.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the frame does not fit (`need`: a sufficient length).
#[cfg(feature = "zstd-encode")]
pub fn encode(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let frame = compress_to_vec(src, CompressionLevel::Fastest);
    match dst.get_mut(..frame.len()) {
        Some(to) => {
            to.copy_from_slice(&frame);
            Ok(frame.len())
        }
        None => Err(no_room(max_len(src.len()), 0)),
    }
}

/// Returns one frame that states the length of its content, which the frames of [`encode`] do not.
///
/// ```
/// use pilaster::unstable::codec::zstd;
///
/// let frame = zstd::sized_frame(&[7; 1000]);
/// // A length of eight bytes follows the magic number and the descriptors of the frame and its window.
/// assert_eq!((frame[4] >> 6, &frame[6..14]), (3, &1000u64.to_le_bytes()[..]));
/// ```
#[cfg(feature = "zstd-encode")]
#[must_use]
pub fn sized_frame(src: &[u8]) -> alloc::vec::Vec<u8> {
    /// Position of the descriptor of the frame, which is after the magic number. The descriptor of the window follows.
    const DESCRIPTOR: usize = 4;
    const WINDOW: usize = 5;
    /// The bits about the length: without any, it is absent, and the window has a descriptor.
    const LEN: u8 = 0b1110_0000;
    /// A length of eight bytes.
    const EIGHT: u8 = 0b1100_0000;
    let mut frame = compress_to_vec(src, CompressionLevel::Fastest);
    if let Some(descriptor) = frame.get_mut(DESCRIPTOR).filter(|descriptor| **descriptor & LEN == 0) {
        *descriptor |= EIGHT;
        let after = WINDOW.saturating_add(1).min(frame.len());
        frame.splice(after..after, (src.len() as u64).to_le_bytes());
    }
    frame
}

#[cfg(all(test, feature = "zstd-encode"))]
mod tests;
