//! Writes Filo vectors: encodes rows as one chunk in a caller-provided buffer, without a heap.
//!
//! * [`encode`] writes the given encoding, and returns an error for values that it cannot store;
//! * [`encode_auto`] writes the smallest lossless encoding;
//! * [`append`] has writers that take rows one by one, for loggers;
//! * [`dict_string`] and [`dict_utf8`] are for callers that have dictionary codes.
//!
//! Every writer computes the length of its chunk before it stores the first byte. [`max_len`] is an upper bound for a
//! buffer of fixed size, and an error contains the exact length. Every byte of the chunk is written, so the initial
//! contents of a buffer do not matter.
//!
//! A value that an encoding cannot store is an error with its row: numbers out of range, a NaN or -0.0 as an int, a
//! missing row in a vector without a mask, bytes that are not valid UTF-8.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::error::Kind;
//! use pilaster::filo::Packing;
//! use pilaster::filo::write::{Plain, Rows, encode, max_len};
//! use pilaster::filo::{Element, Encoding, Value, Vector};
//!
//! const NIBBLES: Encoding = Encoding::Packed(Packing::U4);
//! let mut buffer = [0; max_len(NIBBLES, 5, 0)];
//! let mut no_scratch = Scratch::new(&mut []);
//!
//! let rows = Rows::all(Plain::Int(&[0, 15, 13, 12, 8]));
//! let len = encode(NIBBLES, &rows, &mut buffer, &mut no_scratch)?;
//! let vector = Vector::open(&buffer[..len], Element::Int)?;
//! assert_eq!(vector.get(2)?, Some(Value::Int(13)));
//!
//! let rows = Rows::all(Plain::Int(&[0, 16]));
//! let refused = encode(NIBBLES, &rows, &mut buffer, &mut no_scratch).unwrap_err();
//! assert_eq!((refused.kind(), refused.at()), (Kind::Lossy, 1));
//! # Ok::<(), pilaster::Error>(())
//! ```

pub mod append;
mod binary;
mod cells;
mod choose;
mod dictionary;
mod distinct;
mod encode;
mod flat;
mod flat_strings;
mod len;
mod mask;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests and benches use it"))]
pub(crate) mod original;
mod out;
mod rows;
mod stats;
mod texts;
mod utf8;
mod width;

pub use crate::encoding::linear::Line;
pub use binary::line;
pub use choose::{choose, encode_auto};
pub use dictionary::scratch_len;
pub use encode::{encode, holds};
pub use flat_strings::dict_string;
pub use len::max_len;
pub use rows::{Plain, Rows, Strings};
pub use utf8::dict_utf8;
