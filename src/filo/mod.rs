//! Filo vectors: one column, one self-contained chunk of bytes.
//!
//! Section numbers in comments refer to the description of the format, `docs/formats/filo.md`.
//!
//! A chunk is a header word and a payload. It has no magic number, no checksum, no length, and **no element type**. The
//! caller must name the type, and keep the exact length of the chunk, because most kinds compute the row count from it.
//!
//! ```text
//! +0  header word   byte 0 major type, byte 1 sub type, bytes 2 and 3 unused
//!                   (major type 1, empty: bytes 1 to 3 are the row count)
//! +4  payload       FlatBuffer kinds: root offset, vtables, tables
//!                   BinaryVectors:    nbits, sign, last byte's bits, data: [10 00][01][00] [..]
//!                     with a mask:    offset of the packed vector, NA words, packed vector
//! ```
//!
//! Everything is little-endian and unaligned; a mask bit of 1 means NA, a missing row.
//!
//! # Reading
//!
//! [`Vector`] is a checked view. It returns rows by number (fast by a [`View`], and faster by [`View::visit`]), in sequence, or in batches through the
//! [`column`](mod@crate::column) traits. Its column is called `v`. A vector of [`Element::DateTime`] has a second column,
//! `v.utc_offset_ms`, with the offset of each row from UTC in milliseconds.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Values};
//! use pilaster::filo::{Element, Value, Vector};
//!
//! // Header 0x706, packed vector at 12, rows 1 and 3 are NA, ints of 8 bits.
//! let chunk = [6, 7, 0, 0, 12, 0, 0, 0, 0b1010, 0, 0, 0, 0, 0, 0, 0, 8, 0, 1, 0, 5, 0, 0xff, 0];
//! let vector = Vector::open(&chunk, Element::Int)?;
//! assert_eq!(vector.rows(), 4);
//! assert_eq!(vector.get(2)?, Some(Value::Int(-1)));
//! assert_eq!(vector.get(3)?, None);
//!
//! let mut memory = [0; 64];
//! let batch = vector.column(0)?.read(0..4, &mut Scratch::new(&mut memory))?;
//! assert!(matches!(batch.values, Values::I32([5, _, -1, _])));
//! assert!(batch.validity.get(0) && !batch.validity.get(1));
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! # Writing
//!
//! [`write`](mod@write) writes a chunk to a caller-provided buffer: all rows at once in the smallest encoding
//! ([`encode_auto`](write::encode_auto)) or in a given one ([`encode`](write::encode)), or row by row
//! ([`append`](write::append)).
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::filo::write::{Plain, Rows, encode_auto};
//! use pilaster::filo::{Element, Encoding, Value, Vector};
//!
//! let rows = Rows::all(Plain::Long(&[1 << 40, 1 << 40, 1 << 40]));
//! let mut chunk = [0; 64];
//! let len = encode_auto(&rows, &mut chunk, &mut Scratch::new(&mut []))?;
//!
//! let vector = Vector::open(&chunk[..len], Element::Long)?;
//! assert_eq!((len, vector.encoding()), (16, Encoding::Repeated));
//! assert_eq!(vector.get(2)?, Some(Value::Long(1 << 40)));
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! # What is supported
//!
//! Everything that release 0.3.7 of the original writes, for reading and writing. For reading also the encodings of
//! older releases, from 0.2.1.
//!
//! | header | kind | read and written as | read only |
//! |---|---|---|---|
//! | `0x..01` | EmptyVector | every element type | |
//! | `0x002` | SimplePrimitive | Boolean, Int, Long, Float, Double | |
//! | `0x004` | ConstPrimitive | Boolean, Int, Long, Float, Double | |
//! | `0x005` | DiffPrimitive | Int, Long, Timestamp | |
//! | `0x405` | DiffDateTime | DateTime | |
//! | `0x102` `0x103` `0x104` | SimpleString, DictString, ConstString | String | |
//! | `0x006` `0x506` | 64-bit numbers, masked and not | Long, Double | Int, Long, Double of 2 to 32 bits (up to 0.3.2) |
//! | `0x706` `0x806` | ints of 2 to 32 bits, masked and not | Int, Long, Double | |
//! | `0x606` | Repeated | Int, Long, Double, UTF8 | |
//! | `0x808` | DeltaDelta | Long | |
//! | `0x206` `0x306` `0x207` | UTF8, FixedMaxUTF8, DictUTF8 | UTF8, Blob | |
//!
//! Not supported, because they cannot be distinguished from the others: UTF8 words of 0.3.0 and 0.3.1, and everything
//! before 0.2.1. The vectors of today's FiloDB are another format.
//!
//! This crate reads more than the original: a chunk whose NA mask marks every row as missing without storing bits
//! (section 7); a dense FlatBuffer vector without a `data` field and without rows; the whole range of DeltaDelta lines
//! (section 13, item 1).

#[cfg(feature = "alloc")]
mod build;
mod element;
mod encoding;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "tests use all of it"))]
pub(crate) mod raw;
mod read;
mod what;
pub mod write;

pub(crate) use what::FIELDS;

#[cfg(feature = "alloc")]
pub use build::Builder;
pub use element::Element;
pub use encoding::Encoding;
pub use raw::{Header, Packing};
pub use read::{Access, Column, Iter, Value, Vector, View, Visitor};
