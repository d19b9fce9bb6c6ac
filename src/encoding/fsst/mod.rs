//! FSST: strings as codes for symbols of 1 to 8 bytes.
//!
//! Code 255 escapes one literal byte; every other code names a symbol. The strings of a block are contiguous,
//! so they are decoded together and split by their lengths afterwards.
//!
//! ```
//! use pilaster::unstable::encoding::fsst::Symbols;
//!
//! let table = Symbols::new(b"http://\0www.\0\0\0\0", &[7, 4])?;
//! let mut out = [0; 16];
//! let len = table.decode(&[0, 1, 255, b'x'], &mut out)?;
//! assert_eq!(&out[..len], b"http://www.x");
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! The encoder chooses the symbols by a sample of the texts, as Boncz, Neumann and Leis describe it in "FSST: Fast
//! Random Access String Compression" (VLDB 2020):
#![cfg_attr(feature = "alloc", doc = "```")]
#![cfg_attr(not(feature = "alloc"), doc = "```ignore")]
//! use pilaster::unstable::encoding::fsst::{Symbols, Table};
//! use pilaster::unstable::encoding::texts::Texts;
//!
//! let bytes = b"to be or not to be that is the question";
//! let texts = Texts::new(bytes, &[0, 18, 18, 39]).ok_or("offsets")?;
//! let table = Table::train(&texts);
//! let (mut codes, mut ends) = (Vec::new(), Vec::new());
//! table.encode(&texts, &mut codes, &mut ends);
//! assert_eq!((ends.len(), ends[1]), (3, ends[0]));
//!
//! let mut out = [0; 39];
//! let len = Symbols::new(table.symbols(), table.lengths())?.decode(&codes, &mut out)?;
//! assert_eq!(&out[..len], bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode;
#[cfg(feature = "alloc")]
mod encode;
#[cfg(all(test, feature = "alloc"))]
mod tests;
#[cfg(feature = "alloc")]
mod train;

pub use decode::Symbols;
#[cfg(feature = "alloc")]
pub use encode::Table;

/// The code that precedes a literal byte.
const ESCAPE: u8 = 255;
