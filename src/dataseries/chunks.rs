//! Self-contained chunks of columns as records: a log of encoded vectors.
//!
//! A device that gathers a column at a time encodes it, for instance as a Filo vector, and logs the chunk as one
//! record. No separate container is needed: extents check the chunk, recovery finds it, and every reader of DataSeries
//! can list it. This module defines the type of the record:
//!
//! | field | type | contents |
//! |---|---|---|
//! | `column` | int32 | number of the column, assigned by the device |
//! | `element` | byte | element type of the chunk, see below |
//! | `first` | int64, relative to itself | first row of the chunk, or the time of that row |
//! | `rows` | int32 | number of rows |
//! | `chunk` | variable32 | the chunk |
//!
//! The type is named `FiloChunk`, namespace `pilaster`, version 1.0. `element` is an index in this list: 0 boolean, 1
//! int, 2 long, 3 float, 4 double, 5 string, 6 utf8, 7 blob, 8 timestamp, 9 datetime. That is the order of
//! `filo::Element::ALL`.
//!
//! ```
//! use pilaster::bytes::{LittleEndian, Scratch};
//! use pilaster::column::Table as _;
//! use pilaster::dataseries::chunks::{Chunk, Chunks};
//! use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
//! use pilaster::dataseries::{File, ReadOptions};
//!
//! // Write two chunks, of four and three bytes.
//! let (mut slots, mut rows, mut pool) = ([IndexSlot::EMPTY; 1], [0; 64], [0; 64]);
//! let mut log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Chunk>(), &mut slots);
//! let mut extent = ExtentBuffer::of::<Chunk>(Memory { rows: &mut rows, pool: &mut pool, ..Memory::default() })?;
//! extent.push(&Chunk { column: 0, element: 1, first: 0, rows: 50, chunk: &[6, 6, 1, 2] })?;
//! extent.push(&Chunk { column: 0, element: 1, first: 50, rows: 50, chunk: &[6, 6, 3] })?;
//! log.flush(&mut extent).unwrap();
//! let bytes = log.finish().unwrap();
//!
//! // Read them.
//! let (mut types, mut part) = ([0; 1024], [0; 256]);
//! let file = File::<LittleEndian>::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut types))?;
//! let mut part = Scratch::new(&mut part);
//! let mut table = file.table("FiloChunk")?;
//! let part = table.next_part(&mut part)?.expect("an extent");
//! let chunks = Chunks::of(&part)?;
//! assert_eq!((chunks.len(), chunks.is_empty(), chunks.get(1)?.first), (2, false, 50));
//! for chunk in chunks.iter() {
//!     assert_eq!((chunk?.rows, chunk?.chunk.first()), (50, Some(&6)));
//! }
//! # Ok::<(), pilaster::Error>(())
//! ```

use super::types::ExtentType;
use super::write::Record as _;
use super::{Part, record};
use crate::column::Part as _;
use crate::error::{Error, Kind, Result, What};

record! {
    /// A chunk of a column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Chunk<'a> = "FiloChunk" namespace "pilaster" version 1.0 {
        /// The number of the column, assigned by the device.
        column: int32,
        /// The number of the element type.
        element: byte,
        /// The first row of the chunk, or the time of that row.
        first: int64 relative,
        /// The number of rows.
        rows: int32,
        /// The encoded rows.
        chunk: variable32,
    }
}

/// The chunks of an unpacked extent.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'s> {
    part: Part<'s>,
}

impl<'s> Chunks<'s> {
    /// Returns whether `ty` is the type of this module: its name, and the names and types of its fields in order.
    /// Options of the fields, such as `nullable`, are not compared.
    #[must_use]
    pub(crate) fn is(ty: &ExtentType<'_>) -> bool {
        let names = ["column", "element", "first", "rows", "chunk"];
        ty.name() == Chunk::NAME
            && ty.records().len() == names.len()
            && ty.fields().zip(names).all(|(field, name)| field.name == name)
            && ty.records().iter().zip(Chunk::FIELDS).all(|(field, ours)| field.ty() == ours.ty())
    }

    /// Creates a view of the chunks in `part`.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if `part` is of another type.
    pub fn of(part: &Part<'s>) -> Result<Self> {
        if Chunks::is(part.extent_type()) {
            return Ok(Chunks { part: *part });
        }
        Err(Error::new(Kind::WrongType, What::DATASERIES_TYPE, 0))
    }

    /// Returns the number of chunks.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.part.rows()
    }

    /// Returns whether there are no chunks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns chunk `k`. Its `element` and `rows` are not compared with its bytes.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such chunk; [`Kind::Invalid`] if its cell refers to no string of the pool.
    pub fn get(&self, k: u64) -> Result<Chunk<'s>> {
        let ty = self.part.extent_type();
        let record = usize::try_from(k).ok().and_then(|k| {
            let start = k.checked_mul(ty.record_len())?;
            self.part.records().get(start..)?.get(..ty.record_len())
        });
        let record = record.ok_or_else(|| Error::needing(Kind::OutOfRange, What::ROW, k, self.len()))?;
        let cell = |k: usize| {
            let at = ty.records().get(k).map_or(0, |field| field.slot().at as usize);
            record.get(at..).unwrap_or_default()
        };
        let int = |k| cell(k).first_chunk().map_or(0, |cell| i32::from_ne_bytes(*cell));
        Ok(Chunk {
            column: int(0),
            element: cell(1).first().copied().unwrap_or(0),
            first: cell(2).first_chunk().map_or(0, |cell| i64::from_ne_bytes(*cell)),
            rows: int(3),
            chunk: self.part.string(int(4).cast_unsigned())?,
        })
    }

    /// Returns all chunks, in order.
    ///
    /// # Errors
    /// Errors of [`get`](Self::get), for each item.
    pub fn iter(&self) -> impl Iterator<Item = Result<Chunk<'s>>> + use<'s> {
        let chunks = *self;
        (0..chunks.len()).map(move |k| chunks.get(k))
    }
}
