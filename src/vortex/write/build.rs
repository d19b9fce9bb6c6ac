//! The columns of a table to a file.

use alloc::string::String;
use alloc::vec::Vec;

use super::WriteOptions;
use super::column::{Column as Writing, Statistics};
use super::dtype::{Logical, Shape};
use super::file::{Container, Layout};
use super::rows::Rows;
use crate::bytes::{Sink, WriteError};
use crate::column::{Batch, Build, Column, Feed};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex as flat;
use crate::limits::{Depth, Limits};
use crate::meta::flat::write::{Field, Place, Writer};
use crate::vortex::raw::LayoutId;

/// Number of rows in a group: eight zones.
const GROUP: u64 = 1 << 16;

/// Writes every row that [`convert`](crate::column::convert) feeds it.
///
/// It keeps one chunk of each column in memory. A type that the format does not have is
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
    file: Container<S>,
    options: WriteOptions,
    rows: u64,
    columns: Vec<Open>,
}

/// A column that is being written.
#[derive(Debug)]
struct Open {
    name: String,
    ty: Logical,
    column: Writing,
    /// The rows of the group.
    group: Rows,
}

impl<S: Sink> Builder<S> {
    /// Creates a builder that writes into `sink`, and writes the first bytes.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn new(sink: S, options: &WriteOptions) -> Result<Self, WriteError<S::Error>> {
        Ok(Builder { file: Container::new(sink)?, options: *options, rows: 0, columns: Vec::new() })
    }

    /// Writes the rest of the rows and the metadata. Returns the sink.
    ///
    /// # Errors
    /// [`Kind::Misuse`] if a group is not closed; [`Kind::Overflow`] if a segment or the metadata has 4 GiB or more;
    /// errors of the sink.
    pub fn finish(self) -> Result<S, WriteError<S::Error>> {
        let Builder { mut file, options, rows, columns } = self;
        let mut to = Writer::default();
        let (mut fields, mut layouts, mut statistics) = (Vec::new(), Vec::new(), Vec::<Place>::new());
        for (k, Open { name, ty, column, group }) in columns.into_iter().enumerate() {
            if group.len > 0 {
                return Err(Error::new(Kind::Misuse, What::COLUMN, k as u64).into());
            }
            let (layout, known): (Layout, Statistics) = column.finish(&mut file)?;
            if layout.rows != rows {
                return Err(Error::needing(Kind::Misuse, What::COLUMN, k as u64, layout.rows).into());
            }
            statistics.push(known.put(&ty, &mut to));
            layouts.push(layout);
            fields.push((name, ty));
        }
        let dtype = Logical::new(Shape::Struct(fields), false).bytes();
        let all = to.places(&statistics);
        let root = to.table(&[(flat::FileStatistics::FIELD_STATS, Field::Place(all))]);
        let statistics = options.statistics.then(|| to.finish(root));
        let layout = Layout { children: layouts, ..Layout::new(LayoutId::Struct, rows) };
        file.finish(&dtype, &layout, statistics.as_deref())
    }
}

impl<S: Sink> Build for Builder<S> {
    type Error = WriteError<S::Error>;

    fn feed(&self) -> Feed {
        Feed::Groups { rows: GROUP }
    }

    fn open(&mut self, rows: u64) -> Result<(), Self::Error> {
        self.rows = self.rows.checked_add(rows).ok_or_else(|| Error::new(Kind::Overflow, What::ROW, self.rows))?;
        Ok(())
    }

    fn batch<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        at: u64,
        col: &C,
        batch: &Batch<'_, C>,
    ) -> Result<(), Self::Error> {
        if k == self.columns.len() {
            let ty = Logical::of(col, Depth::new(&Limits::DEFAULT))?;
            let column = Writing::new(&ty, self.options.zones(), &self.options);
            self.columns.push(Open { name: name.into(), group: Rows::new(&ty), ty, column });
        }
        let misuse = || Error::needing(Kind::Misuse, What::COLUMN, k as u64, at);
        let open = self.columns.get_mut(k).ok_or_else(misuse)?;
        if open.group.len as u64 != at {
            return Err(misuse().into());
        }
        Ok(open.group.gather(col, batch)?)
    }

    fn close(&mut self) -> Result<(), Self::Error> {
        for Open { ty, column, group, .. } in &mut self.columns {
            let rows = core::mem::replace(group, Rows::new(ty));
            column.push(rows, &mut self.file)?;
        }
        Ok(())
    }
}
