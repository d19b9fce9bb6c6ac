//! Zstandard frames (RFC 8878).
//!
//! The decoder is implemented here. It writes directly to the destination, which is also its window, and
//! takes its tables from a scratch buffer. The encoder (feature `zstd-encode`) takes
//! its tables and a block from a scratch buffer, too.
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
#[cfg(feature = "zstd-encode")]
mod encode;
mod frame;
mod fse;
mod huffman;
mod literals;
mod sequences;

#[cfg(feature = "zstd-encode")]
#[allow(unused_imports, reason = "without a format only the feature `unstable` shows them")]
pub use self::encode::{MAX_LEVEL, encode_scratch_len};
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
    // Blocks of at least 8 KiB, except the last one, have headers of three bytes; the frame has a header of at
    // most 14 bytes and a checksum.
    n.saturating_add(n >> 11).saturating_add(32)
}

/// Encodes one frame, which states the length of its content and has a checksum. Returns its length in bytes.
///
/// `level` is 1 (fast) to [`MAX_LEVEL`] (small); other numbers count as the nearest. `scratch` must have
/// [`encode_scratch_len`] free bytes, which are released at the end. Their contents do not affect the frame.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::unstable::codec::zstd;
///
/// let (mut frame, mut memory) = ([0; zstd::max_len(900)], [0; zstd::encode_scratch_len(1, 900)]);
/// let len = zstd::encode(&[7; 900], &mut frame, 1, &mut Scratch::new(&mut memory))?;
/// assert!(len < 20);
/// let (mut bytes, mut memory) = ([0; 900], [0; zstd::WORKSPACE_LEN]);
/// assert_eq!(zstd::decode(&frame[..len], &mut bytes, &mut Scratch::new(&mut memory))?, 900);
/// assert_eq!(bytes, [7; 900]);
/// # Ok::<(), pilaster::Error>(())
/// ```
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the frame does not fit (`need`: a sufficient length), or the
/// scratch buffer is too small.
#[cfg(feature = "zstd-encode")]
pub fn encode(src: &[u8], dst: &mut [u8], level: u8, scratch: &mut Scratch<'_>) -> Result<usize> {
    encode::encode(src, dst, level, scratch)
}

#[cfg(all(test, feature = "zstd-encode"))]
mod tests;
