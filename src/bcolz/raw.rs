//! The constants and structures of the wire format, shared by reader and writer.

use zerocopy::byteorder::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::codec::Codec;
use crate::error::{Error, Kind, Result, What};

/// The header of a Blosc 1 chunk (section C.1).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Header {
    pub version: u8,
    /// Version of the format of the codec.
    pub codec_version: u8,
    pub flags: u8,
    pub typesize: u8,
    pub nbytes: U32,
    pub blocksize: U32,
    pub ctbytes: U32,
}

/// The first byte of every chunk.
pub(crate) const VERSION: u8 = 2;
/// The second byte of a chunk that is not a plain copy.
pub(crate) const CODEC_VERSION: u8 = 1;
/// Size in bytes of a chunk's header.
pub(crate) const HEADER_LEN: usize = size_of::<Header>();
/// The largest `nbytes`: the size of a chunk with its header fits an `i32`.
pub(crate) const MAX_NBYTES: u32 = i32::MAX as u32 - 16;
/// The largest `blocksize`.
pub(crate) const MAX_BLOCKSIZE: u32 = 715_827_542;
/// Minimum size in bytes of data to compress. Shorter data are stored as a plain copy (section E.1).
pub(crate) const MIN_NBYTES: usize = 128;

/// Bits of `flags`; the codec is above them.
pub(crate) mod flag {
    pub const BYTE_SHUFFLE: u8 = 0x01;
    pub const COPY: u8 = 0x02;
    pub const BIT_SHUFFLE: u8 = 0x04;
    pub const RESERVED: u8 = 0x08;
    pub const NEVER_SPLIT: u8 = 0x10;
    pub const CODEC_SHIFT: u32 = 5;
}

/// Maximum number of streams of a block.
pub(crate) const MAX_SPLIT: usize = 16;

/// Returns whether the sizes allow full blocks to be split into one stream for each byte of an item (section C.4).
pub(crate) const fn splits(typesize: u8, blocksize: u32) -> bool {
    match blocksize.checked_div(typesize as u32) {
        Some(items) => typesize as usize <= MAX_SPLIT && items >= 128,
        None => false,
    }
}

/// A compressor.
///
/// ```
/// use pilaster::bcolz::Compressor;
///
/// // The value of a command-line option.
/// let find = |name: &str| Compressor::ALL.into_iter().find(|one| one.name() == name);
/// assert_eq!(find("lz4hc"), Some(Compressor::Lz4hc));
/// assert_eq!(find("gzip"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Compressor {
    /// blosclz, also the compressor of old files without a name.
    #[default]
    Blosclz,
    /// LZ4.
    Lz4,
    /// LZ4, written by the high-compression encoder. Writing requires `alloc`.
    Lz4hc,
    /// Snappy.
    Snappy,
    /// zlib. Requires the feature `deflate`; writing also requires `alloc`.
    Zlib,
    /// Zstandard. Requires the feature `zstd`; writing requires `zstd-encode`.
    Zstd,
}

impl Compressor {
    /// All compressors.
    pub const ALL: [Compressor; 6] = [
        Compressor::Blosclz,
        Compressor::Lz4,
        Compressor::Lz4hc,
        Compressor::Snappy,
        Compressor::Zlib,
        Compressor::Zstd,
    ];

    /// Returns the name in `cname` of `meta/storage`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Compressor::Blosclz => "blosclz",
            Compressor::Lz4 => "lz4",
            Compressor::Lz4hc => "lz4hc",
            Compressor::Snappy => "snappy",
            Compressor::Zlib => "zlib",
            Compressor::Zstd => "zstd",
        }
    }

    /// Returns the codec of the streams.
    #[must_use]
    pub(crate) const fn codec(self) -> Codec {
        match self {
            Compressor::Blosclz => Codec::Blosclz,
            Compressor::Lz4 => Codec::Lz4,
            Compressor::Lz4hc => Codec::Lz4Hc,
            Compressor::Snappy => Codec::Snappy,
            Compressor::Zlib => Codec::Zlib,
            Compressor::Zstd => Codec::Zstd,
        }
    }

    /// Returns the number in the flags of a chunk. LZ4 and LZ4 HC share one.
    pub(crate) const fn id(self) -> u8 {
        match self {
            Compressor::Blosclz => 0,
            Compressor::Lz4 | Compressor::Lz4hc => 1,
            Compressor::Snappy => 2,
            Compressor::Zlib => 3,
            Compressor::Zstd => 4,
        }
    }

    /// Returns the compressor whose number is in the flags of a chunk; LZ4 for the number that LZ4 HC shares.
    pub(crate) fn of_flags(flags: u8) -> Result<Self> {
        let id = flags >> flag::CODEC_SHIFT;
        let unknown = || Error::needing(Kind::Unsupported, What::BLOSC_CODEC, 2, id.into());
        Compressor::ALL.iter().copied().find(|one| one.id() == id).ok_or_else(unknown)
    }

    /// Returns whether blocks are written unsplit regardless of their size (section E.3).
    pub(crate) const fn unsplit(self) -> bool {
        matches!(self, Compressor::Zstd)
    }

    /// Returns whether the compressor is slow enough for larger blocks (section E.2).
    pub(crate) const fn thorough(self) -> bool {
        matches!(self, Compressor::Lz4hc | Compressor::Zlib | Compressor::Zstd)
    }
}

/// A permutation of the items of a block before compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Shuffle {
    /// No permutation.
    None,
    /// Byte 0 of every item, then byte 1 of every item, and so on.
    #[default]
    Byte,
    /// Bit 0 of every item, then bit 1 of every item, and so on.
    Bit,
}

impl Shuffle {
    /// Returns the shuffle in the flags of a chunk. If both bits are set, it is `Byte`; `Bit` for items of one byte.
    pub(crate) const fn of_flags(flags: u8, typesize: u8) -> Self {
        if flags & flag::BYTE_SHUFFLE != 0 && typesize > 1 {
            Shuffle::Byte
        } else if flags & flag::BIT_SHUFFLE != 0 {
            Shuffle::Bit
        } else {
            Shuffle::None
        }
    }

    /// Returns the bit in the flags of a chunk.
    pub(crate) const fn flag(self) -> u8 {
        match self {
            Shuffle::None => 0,
            Shuffle::Byte => flag::BYTE_SHUFFLE,
            Shuffle::Bit => flag::BIT_SHUFFLE,
        }
    }
}
