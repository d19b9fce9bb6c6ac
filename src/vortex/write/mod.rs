//! Writes Vortex: segments go to a sink as they are made, followed by the metadata. Needs a heap.
//!
//! | item | what it is for |
//! |---|---|
//! | [`Builder`] | the columns of any table, through [`convert`](crate::column::convert) |
//! | [`Writer`] | columns in memory, or of any part, batch by batch |
//! | [`WriteOptions`] | the size of chunks and zones, dictionaries, statistics and encodings |
//! | [`Encodings`] | the encodings from which the writer chooses |
//! | [`Profile`] | the releases of the original that open the file |
//!
//! A column is stored in chunks of about a megabyte of values. Each chunk is encoded on its own, in the way that takes the
//! fewest bytes: as a constant, packed bits in a frame of reference, runs, a sequence, sparse values, a dictionary, floats as
//! integers (ALP) or in two parts (ALP-RD), texts as symbols (FSST) or tokens (OnPair), or as it is. If asked for
//! ([`Encodings::COMPACT`]), also numbers by pco and texts by zstd. A column whose first rows are smaller with a dictionary
//! has one over all of its chunks.

mod array;
mod bounds;
mod build;
mod column;
mod compact;
mod dictionary;
mod digits;
mod distinct;
mod dtype;
mod encode;
mod encodings;
pub(crate) mod file;
mod floats;
mod gather;
mod ids;
mod integers;
mod lanes;
mod leaf;
#[cfg(test)]
mod need_tests;
mod packing;
#[cfg(feature = "std")]
mod pool;
#[cfg(feature = "std")]
mod queue;
mod rows;
mod sample;
pub(super) mod scalar;
mod statistics;
#[cfg(test)]
mod tests;
mod texts;
mod word;
mod writer;
mod zones;

pub(super) use array::Array;
pub use build::Builder;
pub(super) use dtype::put_dtype;
pub use encodings::Encodings;
pub(super) use rows::{Bitmap, Numbers};
pub(super) use word::Narrow;
pub use writer::Writer;

use crate::column::{Type, Unit};
use crate::error::{Error, Kind, Result, What};
use crate::limits::Limits;
use crate::vortex::raw::Encoding;
use crate::vortex::time_zone::is_zone;

/// Returns whether the format has a type for columns of `ty`, apart from their children: it has dates in days and
/// milliseconds, times and timestamps in seconds to nanoseconds, and decimals of 1 to 76 digits with a scale of at most as
/// many.
///
/// ```
/// use pilaster::column::{Type, Unit};
/// use pilaster::vortex::write::holds;
///
/// assert!(holds(Type::Timestamp(Unit::Micro)) && holds(Type::Map));
/// assert!(!holds(Type::Timestamp(Unit::Hour)));
/// assert!(holds(Type::Decimal { precision: 18, scale: -2 }));
/// assert!(!holds(Type::Decimal { precision: 18, scale: 20 }));
/// ```
#[must_use]
pub const fn holds(ty: Type) -> bool {
    match ty {
        Type::Date(unit) => matches!(unit, Unit::Day | Unit::Milli),
        Type::Time(unit) | Type::Timestamp(unit) => {
            matches!(unit, Unit::Second | Unit::Milli | Unit::Micro | Unit::Nano)
        }
        // A negative scale is allowed.
        Type::Decimal { precision: digits @ 1..=76, scale } => scale <= digits.cast_signed(),
        Type::Decimal { .. } => false,
        _ => true,
    }
}

/// Returns whether readers may know the time zone of a timestamp: an empty text, an offset such as `+01:00`, or the form of a
/// name of the IANA time zone database. The original refuses files with another one.
///
/// ```
/// use pilaster::vortex::write::holds_zone;
///
/// assert!(holds_zone("") && holds_zone("UTC") && holds_zone("America/New_York") && holds_zone("-05:30"));
/// assert!(!holds_zone("Z") && !holds_zone("UTC+1"));
/// ```
#[must_use]
pub const fn holds_zone(name: &str) -> bool {
    is_zone(name.as_bytes())
}

/// Options for writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct WriteOptions {
    /// Size in bytes of the values of a chunk in memory, at most 1 GiB. A chunk has whole blocks of
    /// [`zone_rows`](Self::zone_rows) rows, at least one. A block ends before, with its chunk, when its rows take 16 MiB and
    /// `chunk_size`.
    pub chunk_size: u64,
    /// Number of rows that share bounds and counts: a multiple of 1,024, at most 2^20.
    pub zone_rows: u32,
    /// Whether a column may have a dictionary over all of its chunks.
    pub dictionaries: bool,
    /// Whether bounds and counts are stored: for each column of the file, and, unless the profile forbids it, for every
    /// [`zone_rows`](Self::zone_rows) rows of it.
    pub statistics: bool,
    /// The encodings to choose from; the profile may exclude some of them.
    pub encodings: Encodings,
    /// The releases of the original that open the file.
    pub profile: Profile,
    /// Budgets: `max_depth` and `max_nodes` for the types of all columns, `max_decoded` for the bytes in memory of a row or
    /// block.
    #[cfg_attr(feature = "arbitrary", arbitrary(default))]
    pub limits: Limits,
    /// Number of threads that encode columns, the calling one included. With less than two, or without the feature `std`, the
    /// calling one encodes all. The file is the same. The others start after the first megabyte of values. As much as
    /// 2 MiB of values for each thread, or one block of each column, then waits for its turn in memory.
    #[cfg_attr(feature = "arbitrary", arbitrary(default))]
    pub threads: usize,
}

/// Releases of the original that open a file.
///
/// ```
/// use pilaster::vortex::write::{Profile, WriteOptions};
///
/// let options = WriteOptions { profile: Profile::Wide, ..WriteOptions::DEFAULT };
/// assert_ne!(options, WriteOptions::DEFAULT);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Profile {
    /// Releases since 0.84, as far as they know the types of the columns: with zone maps and OnPair. Maps need 0.90.
    #[default]
    Edition2026,
    /// Releases since 0.36, as far as they know the types of the columns. 0.36 does not read structs that may be missing, and
    /// does not convert timestamps with a time zone to Arrow. Maps need 0.90.
    Wide,
}

impl WriteOptions {
    /// Chunks of a megabyte, zones of 8,192 rows, with dictionaries and statistics, for releases since 0.84.
    pub const DEFAULT: WriteOptions = WriteOptions {
        chunk_size: 1 << 20,
        zone_rows: 8192,
        dictionaries: true,
        statistics: true,
        encodings: Encodings::DEFAULT,
        profile: Profile::Edition2026,
        limits: Limits::DEFAULT,
        threads: 1,
    };

    /// Checks the options, as [`Writer::new`] and [`Builder::new`] do.
    ///
    /// # Errors
    /// [`Kind::Invalid`] with the option and its value: a chunk of more than 1 GiB, another number of rows per zone than
    /// described there, or encodings that lack one of [`Encodings::BASIC`]. [`Kind::Unsupported`] for an encoding that
    /// this build cannot write: `need` is its place in [`Encoding::ALL`].
    ///
    /// ```
    /// use pilaster::vortex::write::WriteOptions;
    ///
    /// let e = WriteOptions { zone_rows: 1000, ..WriteOptions::DEFAULT }.check().unwrap_err();
    /// assert_eq!(e.to_string(), "vortex option zone_rows at offset 0: invalid value 1000 (0x3e8)");
    /// ```
    pub fn check(&self) -> Result<()> {
        const BLOCK: u32 = 1024;
        let invalid = |what, value| Err(Error::needing(Kind::Invalid, what, 0, value));
        // A segment has at most 4 GiB.
        if self.chunk_size > 1 << 30 {
            return invalid(What::VORTEX_CHUNK_SIZE, self.chunk_size);
        }
        if !self.zone_rows.is_multiple_of(BLOCK) || !(BLOCK..=1 << 20).contains(&self.zone_rows) {
            return invalid(What::VORTEX_ZONE_ROWS, self.zone_rows.into());
        }
        let place = |encoding| Encoding::ALL.iter().position(|one| *one == encoding).unwrap_or(0) as u64;
        if let Some(left_out) = Encodings::BASIC.iter().find(|one| !self.encodings.has(*one)) {
            return invalid(What::VORTEX_ENCODINGS, place(left_out));
        }
        match self.encodings.unwritten() {
            Some(encoding) => Err(Error::needing(Kind::Unsupported, What::VORTEX_ENCODINGS, 0, place(encoding))),
            None => Ok(()),
        }
    }

    /// Returns whether bounds and counts are stored for the rows of each zone.
    fn zones(&self) -> bool {
        self.statistics && self.profile.edition().zones
    }

    /// Returns the encodings that may be chosen.
    pub(in crate::vortex) fn allowed(&self) -> Encodings {
        self.encodings.common(self.profile.edition().encodings)
    }

    /// Returns the size in bytes in memory from which rows make a block, even if they are fewer than a zone has.
    fn block(&self) -> u64 {
        self.chunk_size.max(1 << 24).min(self.limits.max_decoded)
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions::DEFAULT
    }
}
