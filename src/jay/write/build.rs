//! Columns of any format in, a Jay file out.

use super::{WriteOptions, Writer};
use crate::bytes::{Sink, WriteError};
use crate::column::{Batch, Build, Column, Feed};
use crate::error::Result;

/// Writes every column that [`convert`](crate::column::convert) feeds it.
///
/// What a type is stored as, [`storage`](super::storage) says; a type that has no storage is
/// [`Kind::WrongType`](crate::error::Kind::WrongType) with the column's number. A value that Jay has no room
/// for, since it stands for a missing one there, is [`Kind::Lossy`](crate::error::Kind::Lossy) with the row.
/// NaN is missing in Jay, and counts as such.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Once, Part, Value, convert};
/// use pilaster::filo::{Element, Vector};
/// use pilaster::jay::{File, ReadOptions, write};
///
/// // Four 32-bit ints of a Filo vector.
/// let chunk = [6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101];
/// let vector = Vector::open(&chunk, Element::Int)?;
/// let mut builder = write::Builder::new(Vec::new(), &write::WriteOptions::DEFAULT).unwrap();
/// convert(&mut Once::new(vector), &mut builder, &mut Scratch::new(&mut [0; 256])).unwrap();
/// let bytes = builder.finish().unwrap();
///
/// let file = File::open(&bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut []))?;
/// assert_eq!((file.rows(), file.name(0)?), (4, "v"));
/// assert_eq!(file.column(0)?.get(2)?, Value::Int(-5));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Builder<S> {
    writer: Writer<S>,
    /// Passes that are left of the column that was begun.
    left: u32,
}

impl<S: Sink> Builder<S> {
    /// A builder that writes into `sink`.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn new(sink: S, options: &WriteOptions) -> Result<Self, WriteError<S::Error>> {
        Ok(Builder { writer: Writer::new(sink, options)?, left: 0 })
    }

    /// Writes the metadata and gives the sink back.
    ///
    /// # Errors
    /// Those of [`Writer::finish`].
    pub fn finish(self) -> Result<S, WriteError<S::Error>> {
        self.writer.finish()
    }
}

impl<S: Sink> Build for Builder<S> {
    type Error = WriteError<S::Error>;

    fn feed(&self) -> Feed {
        Feed::Columns
    }

    fn passes<C: Column>(&self, col: &C) -> u32 {
        self.writer.passes(col)
    }

    fn open(&mut self, _rows: u64) -> Result<(), Self::Error> {
        Ok(())
    }

    fn batch<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        _at: u64,
        col: &C,
        batch: &Batch<'_, C>,
    ) -> Result<(), Self::Error> {
        if self.left == 0 {
            self.writer.begin(k, name, col)?;
            self.left = self.writer.passes(col);
        }
        self.writer.put(col, batch)
    }

    fn close(&mut self) -> Result<(), Self::Error> {
        self.left = self.left.saturating_sub(1);
        self.writer.end()
    }
}
