//! A file as a table of one part, and its columns by name.

use super::column::Column;
use super::dtype::Shape;
use super::file::File;
use super::node::Node;
use crate::bytes::Scratch;
use crate::column::{self, Column as _};
use crate::error::{Error, Kind, Result, What};

/// All rows of a file: a table of one part.
#[derive(Clone, Copy, Debug)]
pub struct Table<'f> {
    file: &'f File<'f>,
    done: bool,
}

impl<'f> File<'f> {
    /// The rows as a table of one part.
    #[must_use]
    pub const fn table(&'f self) -> Table<'f> {
        Table { file: self, done: false }
    }

    /// All rows.
    ///
    /// # Errors
    /// What is wrong with the root of the layout.
    pub fn part(&'f self) -> Result<Part<'f>> {
        Ok(Part { root: Column::new(&Node::root(self)?) })
    }
}

impl<'f> column::Table for Table<'f> {
    type Part<'p>
        = Part<'f>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, _: &mut Scratch<'p>) -> Result<Option<Part<'f>>>
    where
        Self: 'p,
    {
        if core::mem::replace(&mut self.done, true) { Ok(None) } else { self.file.part().map(Some) }
    }

    fn restart(&mut self) -> Result<()> {
        self.done = false;
        Ok(())
    }
}

/// All rows of a file.
#[derive(Clone, Copy, Debug)]
pub struct Part<'f> {
    root: Column<'f>,
}

impl<'f> Part<'f> {
    /// The rows as one column: of structs, or of whatever the file holds.
    #[must_use]
    pub const fn root(&self) -> Column<'f> {
        self.root
    }

    /// Whether the columns are fields of a struct. A root of any other type, and a struct that may be null,
    /// is one column without a name.
    #[must_use]
    pub fn is_table(&self) -> bool {
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
            (true, _) => self.root.field(k),
            (false, 0) => Ok(self.root),
            _ => Err(no_column(k)),
        }
    }
}

#[cold]
fn no_column(k: usize) -> Error {
    Error::needing(Kind::OutOfRange, What::Column, k as u64, 1)
}
