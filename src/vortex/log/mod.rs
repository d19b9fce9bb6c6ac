//! Logs: Vortex files that are written row by row without a heap, and are readable after a power cut.
//!
//! A device declares its columns with [`record!`](crate::vortex::record) and pushes rows to a [`Log`]. Rows are collected in
//! memory of the caller and written as row groups, packed in place. A checkpoint is a complete end of a file, so that the
//! bytes up to it are a valid Vortex file; the next row group follows it, and the bytes of old checkpoints have no meaning.
//!
//! | item | purpose |
//! |---|---|
//! | [`record!`](crate::vortex::record), [`Record`], [`Fields`] | the columns: at compile time, or at run time |
//! | [`Log`] | writes row groups and checkpoints |
//! | [`Policy`], [`Rewind`] | when checkpoints are written, and whether they replace each other |
//! | [`Resume`] | finds where a log can be continued after a power cut |
//! | [`last_checkpoint`], [`Frames`] | the last valid file in a log of any columns, and the row groups after it |
//!
//! Memory: 12 bytes and 4 bytes per column for each row group, and the raw values of one row group. Integers are stored
//! as a constant, as packed differences from their minimum, or as they are, whichever is smallest; floats also as integers
//! times a power of ten; texts with offsets of 1 to 4 bytes. The files open in every release of the original since 0.36, which
//! itself does not convert columns with a time zone to Arrow.
//!
//! # At the start of a device
//!
//! A device continues the log that it finds, and does not write over one that it cannot continue:
//!
//! ```
//! use pilaster::bytes::{SliceSink, WriteError};
//! use pilaster::error::{Kind, What};
//! use pilaster::vortex::log::{Log, Of, Policy, Record, Resume, group_words};
//! use pilaster::vortex::record;
//!
//! record! {
//!     struct Tick { time: u32 }
//! }
//!
//! const GROUPS: usize = 16;
//! type Result<T> = core::result::Result<T, WriteError<pilaster::Error>>;
//!
//! /// Logs times until `end`. `medium` has the `len` bytes that were written before. Returns the new length.
//! fn log(medium: &mut [u8], len: usize, end: u32) -> Result<usize> {
//!     let mut memory = [0; Tick::memory_len(64, 0)];
//!     let mut groups = [0; GROUPS * group_words(Tick::FIELDS.len())];
//!     let (columns, policy) = (Of::<Tick>::new(), Policy::Every(4));
//!     let (at, mut log) = match Resume::find(&medium[..len], &columns, &mut groups) {
//!         // No memory for another row group: the log is complete, and the device begins another one.
//!         Ok(found) if found.is_full() => return Ok(found.at() as usize),
//!         Ok(found) => {
//!             let at = found.at() as usize;
//!             let sink = SliceSink::new(&mut medium[at..]);
//!             (at, Log::resume(sink, columns, (&mut memory, 64), &mut groups, (&found, policy))?)
//!         }
//!         // Nothing was written, or only a part of the first checkpoint.
//!         Err(e) if (e.kind(), e.what()) == (Kind::Truncated, What::VORTEX_CHECKPOINT) => {
//!             (0, Log::new(SliceSink::new(medium), columns, (&mut memory, 64), &mut groups, policy)?)
//!         }
//!         // The log of another program, perhaps with rows, or a medium that cannot be read: nothing is written.
//!         Err(e) => return Err(e.into()),
//!     };
//!     for time in 0..end {
//!         log.push(&Tick { time })?;
//!     }
//!     assert_eq!(log.pending(), end as usize % 64);
//!     Ok(at + log.finish()?.len())
//! }
//!
//! let mut medium = [0; 1 << 14];
//! let len = log(&mut medium, 0, 100)?;
//! // A power cut: the last checkpoint is torn.
//! let len = log(&mut medium, len - 5, 50)?;
//! assert_eq!(pilaster::vortex::File::open(&medium[..len]).and_then(|file| file.rows())?, 150);
//! # Ok::<(), WriteError<pilaster::Error>>(())
//! ```

mod blob;
mod chunk;
mod end;
mod field;
mod fixed;
mod floats;
mod form;
mod frames;
mod groups;
mod place;
mod put;
mod record;
mod resume;
mod row_group;
mod rows;
mod scalar;
mod source;
mod writer;

#[doc(hidden)]
pub use field::{Constants as __Constants, checked as __checked, forms as __forms, name as __name};
pub use field::{Field, FieldType, Fields, Of, Schema, Uses};
#[doc(hidden)]
pub use fixed::Part as __Part;
pub use frames::{Frame, Frames, last_checkpoint};
pub use groups::group_words;
pub use record::{Cell, Record};
pub use resume::Resume;
pub use rows::memory_len;
pub(crate) use rows::taken;
pub use source::Source;
pub use writer::Log;

use crate::bytes::{Buffered, Sink, SliceSink, WriteError};
use crate::error::{Error, Result};

/// When a [`Log`] writes a checkpoint by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Policy {
    /// Only if it is asked to, by [`Log::checkpoint`], [`Log::tick`] or at its end.
    ByHand,
    /// After this number of row groups. A checkpoint has 44 bytes for each column of each row group before it.
    Every(u32),
    /// After 1, 2, 4, 8 … row groups. Without the names and types of the columns, which each checkpoint has, all checkpoints
    /// together are at most three times as long as the last one.
    Doubling,
}

/// A sink whose last bytes can be removed.
///
/// ```
/// use pilaster::bytes::{Sink, SliceSink};
/// use pilaster::vortex::log::Rewind;
///
/// let mut memory = [0; 8];
/// let mut sink = SliceSink::new(&mut memory);
/// sink.put(b"abcdef")?;
/// sink.rewind(4)?;
/// sink.put(b"x")?;
/// assert_eq!(sink.written(), b"abx");
/// # Ok::<(), pilaster::Error>(())
/// ```
pub trait Rewind: Sink {
    /// Removes the last `count` bytes, so that the next byte takes the place of the first of them.
    ///
    /// # Errors
    /// Errors of the sink.
    fn rewind(&mut self, count: u64) -> core::result::Result<(), Self::Error>;
}

impl<S: Rewind + ?Sized> Rewind for &mut S {
    fn rewind(&mut self, count: u64) -> core::result::Result<(), Self::Error> {
        (**self).rewind(count)
    }
}

impl Rewind for SliceSink<'_> {
    fn rewind(&mut self, count: u64) -> Result<(), Error> {
        self.cut(crate::bytes::saturated(count));
        Ok(())
    }
}

impl<S: Rewind> Rewind for Buffered<'_, S> {
    fn rewind(&mut self, count: u64) -> core::result::Result<(), S::Error> {
        self.cut(count, S::rewind)
    }
}

#[cfg(feature = "alloc")]
impl Rewind for alloc::vec::Vec<u8> {
    fn rewind(&mut self, count: u64) -> core::result::Result<(), Self::Error> {
        self.truncate(self.len().saturating_sub(crate::bytes::saturated(count)));
        Ok(())
    }
}
