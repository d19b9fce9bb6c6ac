//! Where a table is, and the table that has a single part.

use super::{Part, Table};
use crate::bytes::Scratch;
use crate::error::Result;

/// Where a [`Table`] is, between two of its parts: plain numbers, which borrow neither the table nor its file. The choice of columns
/// is not part of it.
///
/// ```
/// # #[cfg(all(feature = "dataseries", feature = "alloc"))] {
/// use pilaster::any::{Format, Hints, Owned};
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Bookmark, Part, Table};
///
/// /// Returns the number of rows of the next part, and where the one after it begins. Between two calls, the file is closed.
/// fn next(bytes: Vec<u8>, at: Bookmark) -> pilaster::Result<Option<(u64, Bookmark)>> {
///     let mut owned = Owned::from_bytes(bytes, Format::DataSeries, &Hints::default())?;
///     let file = owned.file()?;
///     let (mut table, mut memory) = (file.table(None)?, [0; 4096]);
///     table.seek(at)?;
///     let rows = table.next_part(&mut Scratch::new(&mut memory))?.map(|part| part.rows());
///     Ok(rows.map(|rows| (rows, table.bookmark())))
/// }
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// let (rows, at) = next(bytes.to_vec(), Bookmark::START)?.expect("the first part");
/// assert_eq!(rows, 2);
/// assert!(next(bytes.to_vec(), at)?.is_none());
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bookmark {
    at: u64,
    passed: u64,
}

impl Bookmark {
    /// Before the first part.
    pub const START: Bookmark = Bookmark { at: 0, passed: 0 };

    /// Creates a bookmark from what only the table understands: an offset or a row, and how many parts or extents it has passed.
    /// [`START`](Self::START) is 0 and 0.
    #[must_use]
    pub const fn new(at: u64, passed: u64) -> Self {
        Bookmark { at, passed }
    }

    /// Returns the numbers of [`new`](Self::new), for instance to store them.
    #[must_use]
    pub const fn numbers(self) -> (u64, u64) {
        (self.at, self.passed)
    }
}

/// A table of one part that need not be unpacked: a whole file or vector.
#[derive(Clone, Copy, Debug)]
pub struct Once<P> {
    part: P,
    given: bool,
}

impl<P> Once<P> {
    /// Creates the table of `part`.
    #[must_use]
    pub const fn new(part: P) -> Self {
        Once { part, given: false }
    }
}

impl<P: Part> Table for Once<P> {
    type Part<'p>
        = P
    where
        Self: 'p;

    fn next_part<'p>(&mut self, _outer: &mut Scratch<'p>) -> Result<Option<P>>
    where
        Self: 'p,
    {
        let given = core::mem::replace(&mut self.given, true);
        Ok(if given { None } else { Some(self.part) })
    }

    fn bookmark(&self) -> Bookmark {
        Bookmark::new(0, self.given.into())
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        self.given = to != Bookmark::START;
        Ok(())
    }
}
