//! Vectors row by row, for loggers.
//!
//! A writer borrows a buffer and lays the vector out in it for as many rows as there is room for. A
//! row that does not fit, be it that the buffer is full or that the value is too wide, is told
//! before anything is stored: the vector is then as it was, and can be closed and a new one begun.
//! `finish` closes the gaps of rows that did not come and gives the chunk.
//!
//! | writer | element type | encoding | missing rows |
//! |---|---|---|---|
//! | [`Ints`], [`Longs`], [`Doubles`] | Int, Long, Double | Packed or Masked | if masked |
//! | [`Lines`] | Long | DeltaDelta | no |
//! | [`Booleans`], [`Floats`] | Boolean, Float | Simple | yes |
//! | [`Timestamps`] | Timestamp | Diff | yes |
//! | [`DateTimes`] | DateTime, of one zone | DiffDateTime | yes |
//! | [`SimpleStrings`] | String | SimpleString | yes |
//! | [`Utf8s`], [`FixedMax`] | Utf8, Blob | Utf8, FixedMaxUtf8 | yes |
//!
//! ```
//! use pilaster::error::Kind;
//! use pilaster::filo::raw::Packing;
//! use pilaster::filo::write::append::Ints;
//! use pilaster::filo::{Element, Vector};
//!
//! let mut page = [0u8; 64];
//! let mut readings = Ints::masked(&mut page, Packing::I16)?;
//! let mut sensor = [Some(21), None, Some(-5)].into_iter().cycle();
//! loop {
//!     let result = match sensor.next().flatten() {
//!         Some(reading) => readings.push(reading),
//!         None => readings.push_na(),
//!     };
//!     match result {
//!         Ok(()) => {}
//!         // An ordinary end: the chunk goes to where it is kept, the row into the next one.
//!         Err(e) if e.kind() == Kind::NoRoom => break,
//!         Err(e) => return Err(e),
//!     }
//! }
//! let chunk = readings.finish()?;
//! assert_eq!(Vector::open(chunk, Element::Int)?.rows(), 22);
//! # Ok::<(), pilaster::Error>(())
//! ```

mod flat;
mod numbers;
mod store;
mod text;

pub use flat::{Booleans, DateTimes, Floats, Timestamps};
pub use numbers::{Doubles, Ints, Lines, Longs};
pub use text::{FixedMax, SimpleStrings, Utf8s};
