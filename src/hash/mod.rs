//! Checksums of the formats, which detect damage.
//!
//! | item | used for |
//! |---|---|
//! | [`Adler32`], [`adler32`] | DataSeries extents, zlib streams |
//! | [`Lookup2`], [`lookup2`], [`mix3`] | DataSeries extents and trailers |
//! | [`xxh64`] | Zstandard frames |
//! | `bzip_crc` | bzip2 blocks |
//!
//! They detect accidental damage only, not deliberate changes.
//!
//! ```
//! use pilaster::unstable::hash::{Adler32, adler32, lookup2};
//!
//! assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
//! assert_eq!(lookup2(1972, b"abc"), 0xc60a_6c17);
//!
//! let mut pieces = Adler32::new();
//! pieces.update(b"Wiki");
//! pieces.update(b"pedia");
//! assert_eq!(pieces.value(), adler32(b"Wikipedia"));
//! ```

mod adler32;
#[cfg(feature = "bzip2")]
mod crc;
mod lookup2;
mod xxh64;

pub use adler32::{Adler32, adler32};
#[cfg(feature = "bzip2")]
pub use crc::bzip_crc;
pub use lookup2::{Lookup2, lookup2, mix3};
pub use xxh64::xxh64;
