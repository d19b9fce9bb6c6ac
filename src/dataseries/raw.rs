//! The constants and structures of the file format, each defined once (DataSeries sections 2, 3, 4, 10 and 12).
//!
//! Structures are generic over the byte order of the file, which is the same in the entire file.

use zerocopy::byteorder::{I32, I64, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::bytes::Endian;
use crate::codec::Codec;

/// The first four bytes of every file.
pub const MAGIC: [u8; 4] = *b"DSv1";

/// The first check value. It determines the byte order.
pub const CHECK_I32: i32 = 0x1234_5678;
/// The second check value.
pub const CHECK_I64: i64 = 0x1234_5678_9abc_def0;
/// Bits of the third check value, pi.
pub const CHECK_PI: u64 = 0x4009_21fb_5444_2d18;
/// Bits of the fourth check value, positive infinity.
pub const CHECK_INF: u64 = 0x7ff0_0000_0000_0000;
/// Bits of the fifth check value, a NaN. Readers accept any NaN.
pub const CHECK_NAN: u64 = 0x7ff8_0000_0000_0000;

/// Size of the file header in bytes; the type extent follows.
pub const HEADER_LEN: usize = 40;
/// Size of an extent header in bytes, without the type name that follows.
pub const EXTENT_HEADER_LEN: usize = 28;
/// Size of the trailer in bytes: equal to an extent header, so that 28 bytes suffice to tell them apart.
pub const TRAILER_LEN: usize = 28;
/// Alignment in bytes of the parts of an extent, relative to its start.
pub const ALIGN: usize = 4;

/// The first four bytes of a segment of a log in flash.
pub const SEGMENT_MAGIC: [u8; 4] = *b"pseg";
/// Size of the header of a segment in bytes, before it is padded to a word of the flash.
pub const SEGMENT_HEADER_LEN: usize = 16;

/// Returns the header of the segment with this number.
#[must_use]
pub const fn segment_header(number: u32) -> [u8; SEGMENT_HEADER_LEN] {
    let [a, b, c, d] = SEGMENT_MAGIC;
    let ([e, f, g, h], [i, j, k, l]) = (number.to_le_bytes(), (!number).to_le_bytes());
    [a, b, c, d, e, f, g, h, i, j, k, l, 0xff, 0xff, 0xff, 0xff]
}

/// Returns the number in the header of a segment, or `None` if it is invalid.
#[must_use]
pub fn segment_number(header: &[u8; SEGMENT_HEADER_LEN]) -> Option<u32> {
    let [_, _, _, _, a, b, c, d, ..] = *header;
    let number = u32::from_le_bytes([a, b, c, d]);
    Some(number).filter(|number| segment_header(*number) == *header)
}

/// Name of the built-in type of the type extent: one field, `xmltype`, variable32.
pub const XML_TYPE: &str = "DataSeries: XmlType";
/// Size of its records in bytes.
pub const XML_RECORD: usize = 8;
/// Name of the built-in type of the index extent: `offset`, int64, and `extenttype`, variable32.
pub const INDEX_TYPE: &str = "DataSeries: ExtentIndex";
/// Size of its records in bytes.
pub const INDEX_RECORD: usize = 16;

/// Maximum length of the name of a type or field, in bytes.
pub const MAX_NAME: usize = 255;
/// Exclusive upper bound of the stored size of a part, in bytes.
pub const MAX_STORED: u64 = 512 << 20;
/// Maximum size in bytes of all records of an extent, and of a pool: sizes are `i32`.
pub const MAX_PART: u64 = i32::MAX as u64;

/// Size in bytes of the start of a pool, before the first entry. All are zero: the shared empty string.
pub const POOL_START: usize = 4;
/// Number of length words per batch in step 3 of the hash (section 3.4).
pub const HASH_BATCH: usize = 1024;
/// Initial value of an extent's hash, and the constant of the trailer's chain.
pub const EXTENT_SEED: u32 = 1972;
/// Initial value of the trailer's hash.
pub const TRAILER_SEED: u32 = 1776;

/// The header of a file (section 2).
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct FileHeader<E: Endian> {
    /// [`MAGIC`].
    pub magic: [u8; 4],
    /// [`CHECK_I32`].
    pub check32: I32<E>,
    /// [`CHECK_I64`].
    pub check64: I64<E>,
    /// [`CHECK_PI`].
    pub pi: U64<E>,
    /// [`CHECK_INF`].
    pub inf: U64<E>,
    /// Any NaN; [`CHECK_NAN`] when written.
    pub nan: U64<E>,
}

impl<E: Endian> FileHeader<E> {
    /// The header that every writer stores.
    pub const STANDARD: Self = FileHeader {
        magic: MAGIC,
        check32: I32::new(CHECK_I32),
        check64: I64::new(CHECK_I64),
        pi: U64::new(CHECK_PI),
        inf: U64::new(CHECK_INF),
        nan: U64::new(CHECK_NAN),
    };
}

/// The header of an extent; the type name follows (section 3.1).
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ExtentHeader<E: Endian> {
    /// Stored size of the fixed part in bytes; -1 in a [`Trailer`].
    pub fixed: I32<E>,
    /// Stored size of the variable part in bytes.
    pub variable: I32<E>,
    /// Number of records.
    pub rows: I32<E>,
    /// Size of the unpacked pool in bytes, its four zero bytes included.
    pub pool: I32<E>,
    /// Adler-32 of the stored extent without this field (section 3.3).
    pub adler: U32<E>,
    /// lookup2 of the partly unpacked parts (section 3.4).
    pub hash: U32<E>,
    /// Compression [`Mode`] of the fixed part; has no meaning if the part is empty.
    pub fixed_mode: u8,
    /// Compression [`Mode`] of the variable part; has no meaning if the part is empty.
    pub variable_mode: u8,
    /// Length of the type name in bytes.
    pub name_len: u8,
    /// Zero.
    pub zero: u8,
}

/// Offset of [`ExtentHeader::adler`], the four bytes that it does not cover.
pub const ADLER_AT: usize = 16;

/// A record of the type extent, without its last field, or of the index extent (section 5).
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ListRecord<E: Endian> {
    /// Offset in the pool: `xmltype` or `extenttype`.
    pub cell: U32<E>,
    /// Zero.
    pub padding: [u8; 4],
    /// `offset`, in the index only.
    pub number: U64<E>,
}

/// The last 28 bytes of a finished file (section 10).
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Trailer<E: Endian> {
    /// -1, which no extent begins with.
    pub marker: I32<E>,
    /// Size of the index extent.
    pub index_size: I32<E>,
    /// Bitwise complement of `index_size`.
    pub not_index_size: I32<E>,
    /// The hash chain of all check values of extents; arbitrary in files of older writers.
    pub chain: U32<E>,
    /// Offset of the index extent.
    pub index_at: I64<E>,
    /// lookup2 of the 24 bytes before.
    pub hash: U32<E>,
}

const _: () = assert!(size_of::<FileHeader<crate::bytes::LittleEndian>>() == HEADER_LEN);
const _: () = assert!(size_of::<ExtentHeader<crate::bytes::LittleEndian>>() == EXTENT_HEADER_LEN);
const _: () = assert!(size_of::<ListRecord<crate::bytes::LittleEndian>>() == INDEX_RECORD);
const _: () = assert!(size_of::<Trailer<crate::bytes::LittleEndian>>() == TRAILER_LEN);

/// How a part of an extent is stored (section 4). An unsupported or unknown mode is an error only if the part must be
/// unpacked.
///
/// ```
/// use pilaster::dataseries::Mode;
///
/// // A command line option that lists modes; `gz` is an old name of zlib.
/// let modes: Option<Vec<Mode>> = "none,lz4,gz".split(',').map(Mode::of_name).collect();
/// assert_eq!(modes, Some(vec![Mode::None, Mode::Lz4, Mode::Zlib]));
/// assert_eq!(Mode::of_name("zip"), None);
/// assert_eq!(Mode::ALL.map(Mode::name)[..4], ["none", "lzo", "zlib", "bz2"]);
/// assert_eq!((Mode::of_id(6), Mode::of_id(8)), (Some(Mode::Lz4), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Mode {
    /// Uncompressed.
    None,
    /// LZO1X with its end marker.
    Lzo,
    /// An RFC 1950 stream.
    Zlib,
    /// A bzip2 stream.
    Bz2,
    /// Raw LibLZF.
    Lzf,
    /// A raw Snappy block.
    Snappy,
    /// A raw LZ4 block.
    Lz4,
    /// A raw LZ4 block of a slower compressor.
    Lz4hc,
    /// A number that the format does not define.
    Unknown(u8),
}

impl Mode {
    /// All modes, in the order in which the original tries them.
    pub const ALL: [Mode; 8] =
        [Mode::None, Mode::Lzo, Mode::Zlib, Mode::Bz2, Mode::Lzf, Mode::Snappy, Mode::Lz4, Mode::Lz4hc];

    /// Returns the mode that is stored as the number `id`, or `None` if the format defines no such number.
    #[must_use]
    pub const fn of_id(id: u8) -> Option<Mode> {
        match Mode::of(id) {
            Mode::Unknown(_) => None,
            mode => Some(mode),
        }
    }

    /// Returns the mode with the stored number `id`.
    #[must_use]
    pub(crate) const fn of(id: u8) -> Mode {
        match id {
            0 => Mode::None,
            1 => Mode::Lzo,
            2 => Mode::Zlib,
            3 => Mode::Bz2,
            4 => Mode::Lzf,
            5 => Mode::Snappy,
            6 => Mode::Lz4,
            7 => Mode::Lz4hc,
            other => Mode::Unknown(other),
        }
    }

    /// Returns the bit of the mode in a set of modes; 0 for a number that the format does not define.
    #[must_use]
    pub const fn bit(self) -> u8 {
        match self {
            Mode::Unknown(_) => 0,
            mode => 1 << mode.id(),
        }
    }

    /// Returns the stored number.
    #[must_use]
    pub(crate) const fn id(self) -> u8 {
        match self {
            Mode::None => 0,
            Mode::Lzo => 1,
            Mode::Zlib => 2,
            Mode::Bz2 => 3,
            Mode::Lzf => 4,
            Mode::Snappy => 5,
            Mode::Lz4 => 6,
            Mode::Lz4hc => 7,
            Mode::Unknown(id) => id,
        }
    }

    /// Returns the name that the tools of the original use, or `"unknown"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mode::None => "none",
            Mode::Lzo => "lzo",
            Mode::Zlib => "zlib",
            Mode::Bz2 => "bz2",
            Mode::Lzf => "lzf",
            Mode::Snappy => "snappy",
            Mode::Lz4 => "lz4",
            Mode::Lz4hc => "lz4hc",
            Mode::Unknown(_) => "unknown",
        }
    }

    /// Returns the codec of the mode, or `None` for uncompressed parts and unknown numbers.
    #[must_use]
    pub(crate) const fn codec(self) -> Option<Codec> {
        Some(match self {
            Mode::None | Mode::Unknown(_) => return None,
            Mode::Lzo => Codec::Lzo,
            Mode::Zlib => Codec::Zlib,
            Mode::Bz2 => Codec::Bzip2,
            Mode::Lzf => Codec::Lzf,
            Mode::Snappy => Codec::Snappy,
            Mode::Lz4 => Codec::Lz4,
            Mode::Lz4hc => Codec::Lz4Hc,
        })
    }

    /// Returns the mode named `name`, or `None` if there is no such mode. `gz` is the old name of zlib.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Mode> {
        if name == "gz" {
            return Some(Mode::Zlib);
        }
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// Returns `n` rounded up to a multiple of `to`, a power of two.
#[must_use]
pub const fn align(n: u64, to: u64) -> u64 {
    let mask = to.saturating_sub(1);
    n.saturating_add(mask) & !mask
}

/// Returns the number of zero bytes after the `len` bytes of a pool entry (section 7.1). The complete entry, including
/// its length word, is a multiple of 8 bytes.
#[must_use]
pub const fn entry_pad(len: u64) -> u64 {
    12u64.wrapping_sub(len & 7) & 7
}

/// Returns the size in bytes of a complete pool entry: length word, `len` bytes of string, and padding.
///
/// ```
/// use pilaster::dataseries::entry_len;
///
/// // The pool of an extent buffer for 100 strings of at most 20 bytes each.
/// const POOL: usize = 100 * entry_len(20) as usize;
/// assert_eq!(POOL, 2400);
/// ```
#[must_use]
pub const fn entry_len(len: u64) -> u64 {
    align(len.saturating_add(POOL_START as u64), 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{BigEndian, LittleEndian};

    #[test]
    fn modes_have_the_numbers_of_section_4() {
        for (id, mode) in (0u8..).zip(Mode::ALL) {
            assert_eq!((Mode::of(id), mode.id()), (mode, id));
            assert_eq!(Mode::of_name(mode.name()), Some(mode));
        }
        assert_eq!(Mode::of(9), Mode::Unknown(9));
        assert_eq!(Mode::of(9).id(), 9);
        assert_eq!(Mode::of_name("gz"), Some(Mode::Zlib));
        assert_eq!(Mode::of_name("unknown"), None);
    }

    #[test]
    fn entries_are_padded_by_the_rule_of_section_7() {
        let pads = [4, 3, 2, 1, 0, 7, 6, 5];
        for len in 0..40u64 {
            assert_eq!(entry_pad(len), pads[len as usize % 8]);
            assert_eq!(entry_len(len) % 8, 0);
        }
        assert_eq!((entry_len(1), entry_len(4), entry_len(5)), (8, 8, 16));
    }

    #[test]
    fn the_header_of_the_worked_example() {
        let little = [
            0x44, 0x53, 0x76, 0x31, 0x78, 0x56, 0x34, 0x12, 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12, 0x18, 0x2d,
            0x44, 0x54, 0xfb, 0x21, 0x09, 0x40, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f,
        ];
        assert_eq!(FileHeader::<LittleEndian>::STANDARD.as_bytes(), little);
        let header = FileHeader::<BigEndian>::STANDARD;
        let big = header.as_bytes();
        assert_eq!(big[4..8], [0x12, 0x34, 0x56, 0x78]);
    }
}
