//! The codec that a file names, chosen at run time:
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::unstable::codec::Codec;
//!
//! let mut bytes = [0; 13];
//! let mut scratch = Scratch::new(&mut []);
//! assert_eq!(Codec::Lzf.workspace_len(bytes.len()), 0);
//! assert_eq!(Codec::Lzf.decode(&[0, b'a', 0x20, 0, 0xe0, 0, 3], &mut bytes, &mut scratch)?, 13);
//! assert_eq!(bytes, [b'a'; 13]);
//! # Ok::<(), pilaster::Error>(())
//! ```

#[cfg(feature = "alloc")]
use super::HashTable;
#[cfg(feature = "bzip2")]
use super::bzip2;
#[cfg(feature = "deflate")]
use super::deflate;
#[cfg(feature = "lzo")]
use super::lzo;
#[cfg(feature = "zstd")]
use super::zstd;
use super::{blosclz, lz4, lzf, snappy};
use crate::bytes::Scratch;
use crate::error::{Error, Kind, Result, What};

/// A codec, chosen at run time.
///
/// All of them exist in every build. If the feature of a codec is off, its functions return
/// [`Kind::Unsupported`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Codec {
    /// LZ4 blocks.
    Lz4,
    /// LZ4 blocks from the high-compression encoder; decoded like [`Lz4`](Self::Lz4).
    Lz4Hc,
    /// LZF streams.
    Lzf,
    /// Snappy blocks.
    Snappy,
    /// LZO1X; requires the feature `lzo`.
    Lzo,
    /// Deflate in the frame of zlib; requires the feature `deflate`.
    Zlib,
    /// bzip2; requires the feature `bzip2`.
    Bzip2,
    /// blosclz streams.
    Blosclz,
    /// Zstandard; requires the feature `zstd`, and `zstd-encode` for writing.
    Zstd,
}

impl Codec {
    /// All codecs.
    pub const ALL: [Codec; 9] = [
        Codec::Lz4,
        Codec::Lz4Hc,
        Codec::Lzf,
        Codec::Snappy,
        Codec::Lzo,
        Codec::Zlib,
        Codec::Bzip2,
        Codec::Blosclz,
        Codec::Zstd,
    ];

    /// Returns whether this build decodes the codec.
    #[must_use]
    pub const fn supported(self) -> bool {
        match self {
            Codec::Lz4 | Codec::Lz4Hc | Codec::Lzf | Codec::Snappy | Codec::Blosclz => true,
            Codec::Lzo => cfg!(feature = "lzo"),
            Codec::Zlib => cfg!(feature = "deflate"),
            Codec::Bzip2 => cfg!(feature = "bzip2"),
            Codec::Zstd => cfg!(feature = "zstd"),
        }
    }

    /// Returns the scratch size in bytes that [`decode`](Self::decode) needs for an output of up to `decoded`
    /// bytes.
    #[must_use]
    pub const fn workspace_len(self, decoded: usize) -> usize {
        match self {
            #[cfg(feature = "deflate")]
            Codec::Zlib => deflate::WORKSPACE_LEN,
            #[cfg(feature = "bzip2")]
            Codec::Bzip2 => bzip2::workspace_len(9, decoded),
            #[cfg(feature = "zstd")]
            Codec::Zstd => zstd::WORKSPACE_LEN,
            _ => {
                let _ = decoded;
                0
            }
        }
    }

    /// Decodes all of `src` to `dst`. Returns the number of bytes written. Temporaries are in `scratch`, and
    /// are released at the end.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the output is longer than `dst` (`need`: a lower bound of its length) or `scratch`
    /// is too small; [`Kind::Unsupported`] if the feature is off; otherwise the errors of the codec, with the
    /// offset in `src`.
    pub fn decode(self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
        let _ = &scratch;
        match self {
            Codec::Lz4 | Codec::Lz4Hc => lz4::decode(src, dst),
            Codec::Lzf => lzf::decode(src, dst),
            Codec::Snappy => snappy::decode(src, dst),
            Codec::Blosclz => blosclz::decode(src, dst),
            #[cfg(feature = "lzo")]
            Codec::Lzo => lzo::decode(src, dst),
            #[cfg(feature = "deflate")]
            Codec::Zlib => deflate::decode(src, dst, scratch),
            #[cfg(feature = "bzip2")]
            Codec::Bzip2 => bzip2::decode(src, dst, scratch),
            #[cfg(feature = "zstd")]
            Codec::Zstd => zstd::decode(src, dst, scratch),
            #[cfg(not(all(feature = "lzo", feature = "deflate", feature = "bzip2", feature = "zstd")))]
            _ => Err(self.unsupported()),
        }
    }

    /// Returns the maximum encoded length of `n` bytes, for every encoder of the codec.
    #[must_use]
    pub const fn max_len(self, n: usize) -> usize {
        match self {
            Codec::Lz4 | Codec::Lz4Hc => lz4::max_len(n),
            Codec::Lzf => lzf::max_len(n),
            Codec::Snappy => snappy::max_len(n),
            Codec::Blosclz => blosclz::max_len(n),
            #[cfg(feature = "lzo")]
            Codec::Lzo => lzo::max_len(n),
            #[cfg(feature = "deflate")]
            Codec::Zlib => deflate::max_len(n),
            #[cfg(feature = "bzip2")]
            Codec::Bzip2 => bzip2::max_len(n),
            #[cfg(feature = "zstd")]
            Codec::Zstd => zstd::max_len(n),
            #[cfg(not(all(feature = "lzo", feature = "deflate", feature = "bzip2", feature = "zstd")))]
            _ => n,
        }
    }

    /// Encodes `src` to `dst` with memory from the heap. Returns the encoded length in bytes.
    ///
    /// `level` is 1 to 9, or 10 for Zstandard; codecs without levels ignore it. Pass a `dst` shorter than
    /// [`max_len`](Self::max_len) to accept only a result that pays: `&mut dst[..src.len() - 1]`.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the result does not fit, [`Kind::Unsupported`] if the feature is off.
    #[cfg(feature = "alloc")]
    pub fn encode(self, src: &[u8], dst: &mut [u8], level: u8) -> Result<usize> {
        match self {
            Codec::Lz4 => lz4::encode(src, dst, &mut host_table()),
            Codec::Lz4Hc => lz4::encode_hc(src, dst, level),
            Codec::Lzf => lzf::encode(src, dst, &mut host_table()),
            Codec::Snappy => snappy::encode(src, dst, &mut host_table()),
            Codec::Blosclz => blosclz::encode(src, dst, &mut host_table()),
            #[cfg(feature = "lzo")]
            Codec::Lzo => lzo::encode(src, dst),
            #[cfg(feature = "deflate")]
            Codec::Zlib => deflate::encode(src, dst, level),
            #[cfg(feature = "bzip2")]
            Codec::Bzip2 => bzip2::encode(src, dst, level),
            #[cfg(feature = "zstd-encode")]
            Codec::Zstd => {
                let mut memory = alloc::vec![0; zstd::encode_scratch_len(level, src.len())];
                zstd::encode(src, dst, level, &mut Scratch::new(&mut memory))
            }
            #[cfg(not(all(feature = "lzo", feature = "deflate", feature = "bzip2", feature = "zstd-encode")))]
            _ => Err(self.unsupported()),
        }
    }

    #[cold]
    #[allow(dead_code, reason = "with all features nothing is unsupported")]
    fn unsupported(self) -> Error {
        Error::needing(Kind::Unsupported, What::CODEC, 0, self as u64)
    }
}

/// A table of 32 KiB, the maximum that pays.
#[cfg(feature = "alloc")]
fn host_table() -> alloc::boxed::Box<HashTable<16_384>> {
    alloc::boxed::Box::new(HashTable::new())
}
