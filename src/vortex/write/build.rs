//! The columns of a table to a file.

use super::{WriteOptions, Writer};
use crate::bytes::{Sink, WriteError};
use crate::column::{Batch, Build, Column, Feed};
use crate::error::{Error, Kind, What};

/// Number of rows in a group: eight zones.
const GROUP: u64 = 1 << 16;

/// Writes every row that [`convert`](crate::column::convert) feeds it.
///
/// It keeps one chunk of each column in memory, and with [`WriteOptions::threads`] the values that wait for them. A type that the format does not have is
/// [`Kind::WrongType`](crate::error::Kind::WrongType): dates and times in other units than days, seconds, milliseconds,
/// microseconds and nanoseconds.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Once, Part, convert};
/// use pilaster::filo::{Element, Vector};
/// use pilaster::vortex::{File, write};
///
/// // Four 32-bit ints of a Filo vector.
/// let chunk = [6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101];
/// let vector = Vector::open(&chunk, Element::Int)?;
/// let mut builder = write::Builder::new(Vec::new(), &write::WriteOptions::DEFAULT).unwrap();
/// convert(&mut Once::new(vector), &mut builder, &mut Scratch::new(&mut [0; 256])).unwrap();
/// let bytes = builder.finish().unwrap();
///
/// let file = File::open(&bytes)?;
/// assert_eq!(file.part()?.rows(), 4);
/// assert_eq!(file.part()?.named("v")?.to_vec::<Option<i32>>(0..4)?, [Some(1), Some(2), Some(-5), Some(101)]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Builder<S> {
    file: Writer<S>,
    /// Number of rows of the open group.
    group: Option<u64>,
    /// Whether a group was closed: later ones add no columns.
    begun: bool,
}

impl<S: Sink> Builder<S> {
    /// Creates a builder that writes into `sink`, and writes the first bytes.
    ///
    /// # Errors
    /// Errors of [`WriteOptions::check`] and of the sink.
    pub fn new(sink: S, options: &WriteOptions) -> Result<Self, WriteError<S::Error>> {
        Ok(Builder { file: Writer::start(sink, options)?, group: None, begun: false })
    }

    /// Writes the rest of the rows and the metadata. Returns the sink.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if a group is not closed, and in `What::VORTEX_FAILED` if an earlier call failed;
    /// [`Kind::Overflow`] if a segment or the metadata has 4 GiB or more;
    /// errors of the sink.
    pub fn finish(self) -> Result<S, WriteError<S::Error>> {
        if let Some(rows) = self.group {
            return Err(Error::new(Kind::Misuse, What::ROW, rows).into());
        }
        self.file.finish()
    }
}

impl<S: Sink> Build for Builder<S> {
    type Error = WriteError<S::Error>;

    fn feed(&self) -> Feed {
        Feed::Groups { rows: GROUP }
    }

    /// Starts a group of `rows` rows.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if a group is open; [`Kind::Overflow`] if the file has 2^64 rows.
    fn open(&mut self, rows: u64) -> Result<(), Self::Error> {
        let before = self.file.rows();
        if self.group.is_some() {
            return Err(Error::new(Kind::Misuse, What::ROW, before).into());
        }
        before.checked_add(rows).ok_or_else(|| Error::new(Kind::Overflow, What::ROW, before))?;
        self.group = Some(rows);
        Ok(())
    }

    /// Adds rows to column `k`. The first group adds the columns.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the format has no such type, or if the column began with another type; [`Kind::Unsupported`] for
    /// variants in a file of [`Profile::Wide`](super::Profile::Wide);
    /// [`Kind::Lossy`] with the row of the group if one is missing where the type says that none is, or has a decimal of
    /// more digits than its type; [`Kind::Misuse`] with the number
    /// of the column if it began with another name or after the first group, or if these are not its next rows of the
    /// group, and in `What::VORTEX_FAILED` if an earlier call failed; [`Kind::Limit`] if the type or a row exceeds [`WriteOptions::limits`]; errors of an invalid batch; errors
    /// of the sink.
    fn batch<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        at: u64,
        col: &C,
        batch: &Batch<'_, C>,
    ) -> Result<(), Self::Error> {
        let (before, group, begun) = (self.file.rows(), self.group, self.begun);
        let is_in_group = |end: u64| group.is_some_and(|rows| end <= rows);
        let misuse = Error::needing(Kind::Misuse, What::COLUMN, k as u64, at);
        self.file.call(|file| {
            if !at.checked_add(batch.len as u64).is_some_and(is_in_group) {
                return Err(misuse.into());
            }
            if k == file.width() && !begun {
                file.add(name, col)?;
            }
            if file.rows_of(k) != before.checked_add(at) {
                return Err(misuse.into());
            }
            file.check_name(k, name)?;
            file.append(k, col, batch).map_err(|e| match e {
                WriteError::Format(e) if e.kind() == Kind::Lossy => {
                    let row = e.at().saturating_sub(batch.first).saturating_add(at);
                    e.turned(e.kind(), e.what(), row).into()
                }
                e => e,
            })
        })
    }

    /// Ends a group.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if no group is open, or with the number of a column that has not all rows of the group.
    fn close(&mut self) -> Result<(), Self::Error> {
        let before = self.file.rows();
        let group = self.group.take().ok_or_else(|| Error::new(Kind::Misuse, What::ROW, before))?;
        self.begun = true;
        self.file.call(|file| file.end(group))
    }
}
