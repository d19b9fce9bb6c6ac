//! Writes vectors row by row, for loggers.
//!
//! A writer borrows a buffer and lays out the vector for the capacity of the buffer in rows. A buffer that holds no row is
//! refused. A row that does not fit, because the buffer is full or the value is too wide, is an error before anything is
//! stored. The vector is unchanged and can be finished. [`Append::finish`] closes the gaps of unused rows and returns the
//! chunk; [`Append::close`] returns the whole buffer with it, for the next vector.
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

#[cfg(doc)]
use crate::error::Kind;
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
/// let chunk = fill(Floats::new(&mut buffer)?, || 7.0)?;
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
    /// [`Kind::NoRoom`] if the buffer is full: the row fits into the next vector. [`Kind::Misuse`] if the text is longer
    /// than an empty buffer allows. [`Kind::Lossy`] if the value does not fit the width, the slot or the line that the
    /// vector was created with: `at` is then the value, or its difference to the line or base, or the length of the text, and
    /// `need` the width in bits, plus 128 if it is signed, or the size of the slot. The vector is unchanged in all cases.
    fn push(&mut self, value: Self::Value<'_>) -> Result<()>;

    /// Appends a missing row.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the buffer is full, [`Kind::Lossy`] if the vector has no mask.
    fn push_na(&mut self) -> Result<()>;

    /// Ends the vector. Returns the buffer, and the length in bytes of the chunk, which is at its start. A logger that owns a
    /// page creates the next vector in it.
    ///
    /// ```
    /// use pilaster::error::{Kind, Result};
    /// use pilaster::filo::Packing;
    /// use pilaster::filo::write::append::{Append, Ints};
    ///
    /// /// A logger that owns its page.
    /// struct Logger {
    ///     readings: Option<Ints<'static>>,
    /// }
    ///
    /// impl Logger {
    ///     fn log(&mut self, reading: i32, store: impl FnOnce(&[u8])) -> Result<()> {
    ///         let Some(readings) = &mut self.readings else { return Ok(()) };
    ///         match readings.push(reading) {
    ///             Err(e) if e.kind() == Kind::NoRoom => {}
    ///             done => return done,
    ///         }
    ///         if let Some(readings) = self.readings.take() {
    ///             let (page, len) = readings.close()?;
    ///             store(&page[..len]);
    ///             self.readings.insert(Ints::new(page, Packing::U8)?).push(reading)?;
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let page: &'static mut [u8] = Box::leak(Box::new([0; 10])); // A `static` of the firmware.
    /// let mut logger = Logger { readings: Some(Ints::new(page, Packing::U8)?) };
    /// let mut chunks = Vec::new();
    /// for reading in 0..5 {
    ///     logger.log(reading, |chunk| chunks.push(chunk.to_vec()))?;
    /// }
    /// assert_eq!(chunks, [[6, 8, 0, 0, 8, 0, 0, 0, 0, 1], [6, 8, 0, 0, 8, 0, 0, 0, 2, 3]]);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// None in this release: a constructor refuses a buffer that is too small for a chunk.
    fn close(self) -> Result<(&'b mut [u8], usize)>;

    /// Ends the vector. Returns the chunk, which is at the start of the buffer.
    ///
    /// # Errors
    /// Errors of [`close`](Self::close).
    fn finish(self) -> Result<&'b [u8]> {
        let (buffer, len) = self.close()?;
        Ok(buffer.get(..len).unwrap_or_default())
    }
}
