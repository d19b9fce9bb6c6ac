//! A file as a table of one part, and its columns by name.

use super::column::Column;
use super::dtype::Shape;
use super::file::File;
use super::node::Node;
use crate::column::{self, Column as _, Once};
use crate::error::{Error, Kind, Result, What};

impl<'f> File<'f> {
    /// Returns the rows as a table of one part.
    ///
    /// # Errors
    /// Errors of [`part`](Self::part).
    pub fn table(&'f self) -> Result<Once<Part<'f>>> {
        self.part().map(Once::new)
    }

    /// Returns all rows as one part.
    ///
    /// # Errors
    /// Errors of an invalid root layout.
    pub fn part(&'f self) -> Result<Part<'f>> {
        Ok(Part { root: Column::new(&Node::root(self)?) })
    }
}

/// All rows of a file as one part.
#[derive(Clone, Copy, Debug)]
pub struct Part<'f> {
    root: Column<'f>,
}

impl<'f> Part<'f> {
    /// Returns all rows as one column.
    pub(super) const fn whole(&self) -> Column<'f> {
        self.root
    }

    /// Returns whether the columns are the fields of a struct. A root of any other type, or a nullable struct, is one
    /// column without a name.
    #[must_use]
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.root.dtype().ty.shape, Shape::Struct(_)) && !self.root.dtype().nullable()
    }
}

impl<'f> column::Part for Part<'f> {
    type Col = Column<'f>;

    fn rows(&self) -> u64 {
        self.root.rows()
    }

    fn width(&self) -> usize {
        if self.is_table() { self.root.dtype().children() } else { 1 }
    }

    fn name(&self, k: usize) -> Result<&str> {
        match (self.is_table(), k) {
            (true, _) => self.root.dtype().name(k),
            (false, 0) => Ok(""),
            _ => Err(no_column(k)),
        }
    }

    fn column(&self, k: usize) -> Result<Column<'f>> {
        match (self.is_table(), k) {
            (true, _) => Ok(self.root.field(k)?.numbered(k)),
            (false, 0) => Ok(self.root.numbered(0)),
            _ => Err(no_column(k)),
        }
    }
}

#[cold]
fn no_column(k: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::COLUMN, k as u64, 1)
}
