//! Writes vectors row by row, for loggers.
//!
//! A writer borrows a buffer and lays out the vector for the capacity of the buffer in rows. A row that does not fit,
//! because the buffer is full or the value is too wide, is an error before anything is stored. The vector is unchanged
//! and can be finished. [`Append::finish`] closes the gaps of unused rows and returns the chunk.
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
//! use pilaster::filo::Packing;
//! use pilaster::filo::write::append::{Append, Ints};
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
//!         // The buffer is full: store the chunk, and put this row in the next one.
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

use crate::error::Result;

/// A vector that grows in a buffer, row by row. The common interface of all writers of this module.
///
/// ```
/// use pilaster::error::Result;
/// use pilaster::filo::Packing;
/// use pilaster::filo::write::append::{Append, Floats, Ints};
/// use pilaster::filo::{Element, Vector};
///
/// /// Reads until the buffer is full.
/// fn fill<'b, W: Append<'b>>(mut vector: W, mut read: impl FnMut() -> W::Value<'static>) -> Result<&'b [u8]> {
///     while vector.room() > 0 {
///         vector.push(read())?;
///     }
///     vector.finish()
/// }
///
/// assert_eq!(fill(Ints::new(&mut [0; 12], Packing::U8)?, || 7)?, [6, 8, 0, 0, 8, 0, 0, 0, 7, 7, 7, 7]);
/// let mut buffer = [0; Floats::max_len(3)];
/// let chunk = fill(Floats::new(&mut buffer), || 7.0)?;
/// assert_eq!(Vector::open(chunk, Element::Float)?.rows(), 3);
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait Append<'b>: Sized {
    /// The value of a row.
    type Value<'v>;

    /// Returns the number of rows so far.
    fn rows(&self) -> usize;

    /// Returns the number of further rows that fit.
    fn room(&self) -> usize;

    /// Appends a row.
    ///
    /// # Errors
    /// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the buffer is full or too small for this text,
    /// [`Kind::Lossy`](crate::error::Kind::Lossy) if the value does not fit the width, the slot or the line that the
    /// vector was created with. The vector is unchanged in both cases.
    fn push(&mut self, value: Self::Value<'_>) -> Result<()>;

    /// Appends a missing row.
    ///
    /// # Errors
    /// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the buffer is full, [`Kind::Lossy`](crate::error::Kind::Lossy)
    /// if the vector has no mask.
    fn push_na(&mut self) -> Result<()>;

    /// Ends the vector. Returns the chunk, which is at the start of the buffer.
    ///
    /// # Errors
    /// [`Kind::NoRoom`](crate::error::Kind::NoRoom) if the buffer is too small for a vector without rows, or for the
    /// table of the maximum number of rows.
    fn finish(self) -> Result<&'b [u8]>;
}
