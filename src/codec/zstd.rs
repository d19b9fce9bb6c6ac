//! Zstandard frames (RFC 8878), through [`ruzstd`]: on hosts only, as it needs a heap.
//!
//! ```
//! use pilaster::codec::zstd;
//!
//! let mut stream = [0; zstd::max_len(40)];
//! let len = zstd::encode(&[7; 40], &mut stream)?;
//! let mut bytes = [0; 40];
//! assert_eq!(zstd::decode(&stream[..len], &mut bytes)?, 40);
//! assert_eq!(bytes, [7; 40]);
//! # Ok::<(), pilaster::Error>(())
//! ```

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use ruzstd::io::Read;

use super::lz::no_room;
use crate::error::{Error, Kind, Result, What};

/// RFC 8878 section 3.1.1.1.2: what a decoder should support at least. A larger window is accepted up to
/// twice the destination, which is what a writer rounds it to.
const WINDOW: u64 = 8 << 20;

/// Decodes all frames of a stream, skipping those that are marked so; gives back how many bytes they
/// have.
///
/// # Errors
/// [`Kind::Invalid`] with the offset behind which the stream is wrong or cut (`need` is 0, as
/// ruzstd's errors have no number of ours, or the size that the frame claims to have and has not), [`Kind::Checksum`] for another checksum than the stored one,
/// [`Kind::NoRoom`] for an output longer than `dst` (`need`: at least how long).
pub fn decode(src: &[u8], dst: &mut [u8]) -> Result<usize> {
    let (mut rest, mut len) = (src, 0usize);
    while !rest.is_empty() {
        let at = src.len().saturating_sub(rest.len()) as u64;
        let wrong = || Error::new(Kind::Invalid, What::ZstdFrame, at);
        let mut frames = FrameDecoder::new();
        frames.set_max_window_size(WINDOW.max((dst.len() as u64).saturating_mul(2)));
        match frames.reset(&mut rest) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = usize::try_from(length).map_err(|_| wrong())?;
                rest = rest.get(length..).ok_or_else(wrong)?;
                continue;
            }
            Err(_) => return Err(wrong()),
        }
        // 0 also where the frame does not say.
        let (claimed, start) = (frames.content_size(), len);
        loop {
            let done = frames.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1)).map_err(|_| wrong())?;
            let room = dst.get_mut(len..).unwrap_or_default();
            len = len.saturating_add(frames.read(room).map_err(|_| wrong())?);
            if frames.can_collect() > 0 {
                return Err(no_room(len, 1));
            }
            if done {
                break;
            }
        }
        if claimed != 0 && claimed != len.saturating_sub(start) as u64 {
            return Err(wrong().with_need(claimed));
        }
        if let Some(stored) = frames.get_checksum_from_data()
            && frames.get_calculated_checksum() != Some(stored)
            && !cfg!(fuzzing)
        {
            return Err(Error::new(Kind::Checksum, What::ZstdFrame, at).with_need(stored.into()));
        }
    }
    Ok(len)
}

/// The most that `n` bytes take as a frame.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    // Blocks of 128 KiB have headers of three bytes; the frame has one of at most 18, and a checksum.
    n.saturating_add((n >> 17).saturating_mul(3)).saturating_add(32)
}

/// Encodes one frame, at the one level that [`ruzstd`] has; gives back how many bytes it takes.
///
/// # Errors
/// [`Kind::NoRoom`] if the frame does not fit; `need`: what is enough.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests as check;
    use std::vec;
    use std::vec::Vec;

    fn encoded(src: &[u8]) -> Vec<u8> {
        check::encoded(max_len(src.len()), |dst| encode(src, dst))
    }

    #[test]
    fn round_trips() {
        for bytes in check::samples().into_iter().step_by(7).chain([check::noise(300_000), vec![1; 400_000]]) {
            check::decodes(decode, &encoded(&bytes), &bytes);
        }
    }

    #[test]
    fn frames_in_a_row_and_frames_to_skip() {
        let skip = [&0x184d_2a53u32.to_le_bytes()[..], &3u32.to_le_bytes(), b"abc"].concat();
        let stream = [encoded(b"one"), skip.clone(), encoded(b""), encoded(b"two"), skip.clone()].concat();
        check::decodes(decode, &stream, b"onetwo");
        assert_eq!(decode(&[], &mut []), Ok(0));
        let e = decode(&skip[..10], &mut []).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.at()), (Kind::Invalid, What::ZstdFrame, 0));
    }

    #[test]
    fn a_frame_of_the_original_with_its_checksum() {
        // `zstd -1` of "hello": a window in the header, one raw block, the low half of its XXH64.
        let mut stream = *b"\x28\xb5\x2f\xfd\x04\x48\x29\0\0hello\xa3\x6d\x9f\x88";
        check::decodes(decode, &stream, b"hello");
        stream[9] ^= 1;
        let e = decode(&stream, &mut [0; 9]).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.need()), (Kind::Checksum, What::ZstdFrame, 0x889f_6da3));
    }

    #[test]
    fn damage() {
        for stream in [encoded(&check::text(300)), encoded(&[5; 600])] {
            check::damage(decode, decode, &stream);
        }
    }
}
