//! Self-contained chunks of columns as records: a log of encoded vectors.
//!
//! A device that gathers a column at a time encodes it, for instance as a Filo vector, and logs the
//! chunk as one record. There is no container of its own for that: extents check it, recovery finds it,
//! and every reader of DataSeries sees it. This module fixes the record's type:
//!
//! | field | type | what it is |
//! |---|---|---|
//! | `column` | int32 | which column, as the device counts them |
//! | `element` | byte | what the chunk holds, see below |
//! | `first` | int64, relative to itself | the first row of the chunk, or its time |
//! | `rows` | int32 | how many rows it has |
//! | `chunk` | variable32 | the chunk |
//!
//! The type is named `FiloChunk`, namespace `pilaster`, version 1.0. `element` is the place of the type in
//! this list: 0 boolean, 1 int, 2 long, 3 float, 4 double, 5 string, 6 utf8, 7 blob, 8 timestamp,
//! 9 datetime. That is the order of `filo::Element::ALL`.
//!
//! ```
//! use pilaster::bytes::{LittleEndian, Scratch};
//! use pilaster::column::Table as _;
//! use pilaster::dataseries::chunks::{Chunk, Chunks};
//! use pilaster::dataseries::write::{Descriptions, ExtentBuffer, IndexSlot, Memory, Writer};
//! use pilaster::dataseries::{File, ReadOptions};
//!
//! // Out: two chunks, here of four and three bytes.
//! let (mut slots, mut rows, mut pool) = ([IndexSlot::EMPTY; 1], [0; 64], [0; 64]);
//! let mut log = Writer::<LittleEndian, _>::new(Vec::new(), Descriptions::of::<Chunk>(), &mut slots);
//! let mut extent = ExtentBuffer::of::<Chunk>(Memory { rows: &mut rows, pool: &mut pool, ..Memory::default() })?;
//! extent.push(&Chunk { column: 0, element: 1, first: 0, rows: 50, chunk: &[6, 6, 1, 2] })?;
//! extent.push(&Chunk { column: 0, element: 1, first: 50, rows: 50, chunk: &[6, 6, 3] })?;
//! log.flush(&mut extent).unwrap();
//! let bytes = log.finish().unwrap();
//!
//! // In.
//! let (mut types, mut part) = ([0; 1024], [0; 256]);
//! let file = File::<LittleEndian>::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut types))?;
//! let mut part = Scratch::new(&mut part);
//! let part = file.table("FiloChunk")?.next_part(&mut part)?.expect("an extent");
//! let chunks = Chunks::of(&part)?;
//! let second = chunks.get(1)?;
//! assert_eq!((chunks.len(), second.first, second.chunk), (2, 50, &[6, 6, 3][..]));
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
        /// Which column, as the device counts them.
        column: int32,
        /// What the chunk holds: the number of its element type.
        element: byte,
        /// Its first row, or the time of that.
        first: int64 relative,
        /// How many rows it has.
        rows: int32,
        /// The chunk.
        chunk: variable32,
    }
}

/// The chunks of an unpacked extent.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'s> {
    part: Part<'s>,
}

impl<'s> Chunks<'s> {
    /// Whether a type is the one of this module: the name, and fields of these names and types in this
    /// order. Options, such as a null that is possible, are the writer's.
    #[must_use]
    pub(crate) fn is(ty: &ExtentType<'_>) -> bool {
        let names = ["column", "element", "first", "rows", "chunk"];
        ty.name() == Chunk::NAME
            && ty.records().len() == names.len()
            && ty.fields().zip(names).all(|(field, name)| field.name == name)
            && ty.records().iter().zip(Chunk::FIELDS).all(|(field, ours)| field.ty() == ours.ty())
    }

    /// The chunks of `part`.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if it is of another type.
    pub fn of(part: &Part<'s>) -> Result<Self> {
        if Chunks::is(part.extent_type()) {
            return Ok(Chunks { part: *part });
        }
        Err(Error::new(Kind::WrongType, What::DATASERIES_TYPE, 0))
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.part.rows()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Chunk `k`. What it says of itself is not compared with its bytes.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such chunk.
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

    /// All of them.
    ///
    /// # Errors
    /// Each item as [`get`](Self::get).
    pub fn iter(&self) -> impl Iterator<Item = Result<Chunk<'s>>> + use<'s> {
        let chunks = *self;
        (0..chunks.len()).map(move |k| chunks.get(k))
    }
}
