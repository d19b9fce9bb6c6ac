//! Zstandard frames (RFC 8878).
//!
//! The decoder is ours: it writes straight into the destination, which is its window too, and takes
//! its tables from lent memory. The encoder (feature `zstd-encode`) is ruzstd's and needs a heap.
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

/// Bytes of scratch that [`decode`] takes: 14 KiB.
pub const WORKSPACE_LEN: usize = frame::MEMORY_LEN;

/// Decodes all frames of a stream, skipping those that are marked so; gives back how many bytes they
/// have.
///
/// `dst` may be longer than the output; what it holds behind the output then is arbitrary. `scratch`
/// lends [`WORKSPACE_LEN`] bytes and gets them back. The destination is the window, so that no size of
/// it is too large.
///
/// # Errors
/// [`Kind::Truncated`] if the stream ends early, [`Kind::Invalid`] for what RFC 8878 forbids,
/// [`Kind::Unsupported`] for a dictionary that is not there (`need`: its number) and a reserved bit,
/// [`Kind::Checksum`] for another checksum than the stored one, [`Kind::NoRoom`] for an output longer
/// than `dst` (`need`: at least how long) or too little scratch.
///
/// [`Kind::Truncated`]: crate::error::Kind::Truncated
/// [`Kind::Invalid`]: crate::error::Kind::Invalid
/// [`Kind::Unsupported`]: crate::error::Kind::Unsupported
/// [`Kind::Checksum`]: crate::error::Kind::Checksum
/// [`Kind::NoRoom`]: crate::error::Kind::NoRoom
pub fn decode(src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    decode_with(src, dst, &[], scratch)
}

/// [`decode`] with a dictionary for all frames: one with tables, which begins with its magic number, or
/// any bytes, which then are what lies before each frame.
///
/// # Errors
/// Those of [`decode`]; [`What::ZSTD_DICTIONARY`](crate::error::What::ZSTD_DICTIONARY) with an offset in the
/// dictionary where that is wrong.
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

/// The most that `n` bytes take as a frame.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    // Blocks of 128 KiB have headers of three bytes; the frame has one of at most 18, and a checksum.
    n.saturating_add((n >> 17).saturating_mul(3)).saturating_add(32)
}

/// Encodes one frame, at the one level that ruzstd has; gives back how many bytes it takes.
///
/// # Errors
/// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the frame does not fit; `need`: what is enough.
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

#[cfg(all(test, feature = "zstd-encode"))]
mod tests;
