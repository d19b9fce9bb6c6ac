//! OnPair: strings as codes of 16 bits for tokens of 1 to 16 bytes.
//!
//! ```
//! use pilaster::unstable::encoding::onpair::Tokens;
//!
//! let tokens = Tokens::new(b"GET /api", &[0, 4, 8])?;
//! let mut out = [0; 16];
//! let len = tokens.decode(&[0, 1, 1], &mut out)?;
//! assert_eq!(&out[..len], b"GET /api/api");
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! The encoder chooses the tokens by a sample of the texts, as Gargiulo and Venturini describe it in "OnPair: Short
//! Strings Compression for Fast Random Access" (arXiv 2508.02280):
#![cfg_attr(feature = "alloc", doc = "```")]
#![cfg_attr(not(feature = "alloc"), doc = "```ignore")]
//! use pilaster::unstable::encoding::onpair::{Dictionary, Tokens};
//! use pilaster::unstable::encoding::texts::Texts;
//!
//! let bytes = b"to be or not to be that is the question";
//! let texts = Texts::new(bytes, &[0, 18, 18, 39]).ok_or("offsets")?;
//! let dictionary = Dictionary::train(&texts, 12);
//! let (mut codes, mut ends) = (Vec::new(), Vec::new());
//! dictionary.encode(&texts, &mut codes, &mut ends);
//! assert_eq!((ends.len(), ends[1]), (3, ends[0]));
//!
//! let mut out = [0; 39];
//! let len = Tokens::new(dictionary.bytes(), dictionary.offsets())?.decode(&codes, &mut out)?;
//! assert_eq!(&out[..len], bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode;
#[cfg(feature = "alloc")]
mod encode;
#[cfg(feature = "alloc")]
mod finder;
#[cfg(feature = "alloc")]
mod sorted;
#[cfg(all(test, feature = "alloc"))]
mod tests;
#[cfg(feature = "alloc")]
mod train;

pub use decode::{ROWS, Room, Rows, Tokens};
#[cfg(feature = "alloc")]
pub use encode::Dictionary;

/// Maximum length of a token in bytes.
pub const LONGEST: u32 = 16;
