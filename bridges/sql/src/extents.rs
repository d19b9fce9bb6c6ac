//! The extents of a DataSeries file that a byte range owns, as a table.

use std::ops::Range;

use pilaster::any::File;
use pilaster::bytes::{FileRange, Ranges, Scratch};
use pilaster::column::{Bookmark, Table};
use pilaster::dataseries::{AnyFile, EXTENT_HEADER_LEN, ExtentType, Part, ReadOptions};
use pilaster::error::{Error, Kind, Result, What};

use crate::error::Reason;
use crate::store::Remote;

/// The rows of the extents of one type that begin in a byte range. Each extent is read through a window of its own, which
/// releases its memory.
pub(crate) struct Extents<'f> {
    file: &'f AnyFile<'f>,
    ranges: &'f Ranges,
    ty: ExtentType<'f>,
    spans: Vec<FileRange>,
    /// Why no more extents are found, if it is not the end of the file: an error after the rows of those that are.
    ended: Option<Error>,
    /// The number of the next extent.
    next: usize,
    /// The window of the current extent.
    window: Ranges,
    /// Whether the only part has no rows, while only the types of columns are wanted.
    bare: bool,
}

/// Number of headers that are fetched at the same time.
const HEADERS: usize = 32;

impl<'f> Extents<'f> {
    /// Finds the extents of a type: by the index if the file was opened with it, else by the headers of all extents.
    pub fn new(
        file: &'f AnyFile<'f>,
        any: &File<'f>,
        ranges: &'f Ranges,
        (name, range): (Option<&str>, &Range<u64>),
    ) -> Result<Self> {
        // A name that the file does not have, or one that is missing where it has several, is an error.
        any.table(name)?;
        let name = name.or_else(|| any.tables().next()).unwrap_or_default();
        let ty = file.types().find(name.as_bytes()).ok_or_else(|| Error::new(Kind::Unknown, What::TABLE, 0))?;
        let mut spans = Vec::new();
        let mut add = |span: FileRange, of: &[u8]| {
            if file.types().find(of).is_none() {
                // It may have been an extent of this type.
                let at = span.at.saturating_add(EXTENT_HEADER_LEN as u64);
                return Err(Error::new(Kind::Invalid, What::DATASERIES_TYPE_NAME, at));
            }
            if of == ty.name().as_bytes() && range.contains(&span.at) {
                spans.push(span);
            }
            Ok(())
        };
        let mut walk = || match file.index() {
            Some((index, _)) => (0..index.len()).try_for_each(|k| {
                let row = index.get(k)?;
                // An extent outside of the file would be in no byte range.
                if row.span.end().is_none_or(|end| end > ranges.input().len()) {
                    return Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, k, row.span.at));
                }
                add(row.span, row.type_name)
            }),
            None => file.headers(|header, name| add(header.span(), name)).map(|_| ()),
        };
        let ended = walk().err();
        Ok(Extents { file, ranges, ty, spans, ended, next: 0, window: ranges.window(), bare: false })
    }

    /// Returns the number of rows. Only the headers of extents are read, as the index does not have it.
    pub fn count(&self, remote: &Remote) -> Result<u64, Reason> {
        if let Some(e) = self.ended {
            return Err(e.into());
        }
        let mut rows = 0u64;
        for spans in self.spans.chunks(HEADERS) {
            let header = |span: &FileRange| span.at..span.at.saturating_add(span.len.min(EXTENT_HEADER_LEN as u64));
            let headers = remote.each(spans.iter().map(header)).map_err(Reason::Fetch)?;
            for (span, bytes) in spans.iter().zip(headers) {
                let header = self.file.order().header(&bytes, span.at)?;
                if header.span() != *span {
                    return Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, rows, span.at).into());
                }
                rows = rows.saturating_add(header.rows.into());
            }
        }
        Ok(rows)
    }
}

impl Table for Extents<'_> {
    type Part<'p>
        = Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&'p mut self, outer: &mut Scratch<'p>) -> Result<Option<Part<'p>>>
    where
        Self: 'p,
    {
        if self.bare {
            let told = std::mem::replace(&mut self.next, usize::MAX) > 0;
            return Ok((!told).then(|| Part::bare(self.ty, 0)));
        }
        let Some(span) = self.spans.get(self.next) else {
            // A table without extents has one part, too.
            let first = self.next == 0 && self.ended.is_none();
            self.next = self.next.max(1);
            return self.ended.map_or(Ok(first.then(|| Part::bare(self.ty, 0))), Err);
        };
        self.window = self.ranges.window();
        let bytes = self.window.input().get(*span, What::DATASERIES_EXTENT)?;
        let extent = self.file.order().extent(bytes, span.at)?;
        // The extent must match its row of the index.
        if extent.header().span() != *span || extent.type_name() != self.ty.name().as_bytes() {
            return Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, self.next as u64, span.at));
        }
        let part = extent.unpack(&self.ty, &ReadOptions::DEFAULT, outer)?;
        // After an error for lack of memory, the same extent is unpacked again.
        self.next = self.next.saturating_add(1);
        Ok(Some(part))
    }

    fn bookmark(&self) -> Bookmark {
        Bookmark::new(0, self.next as u64)
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        self.next = usize::try_from(to.numbers().1).unwrap_or(usize::MAX);
        Ok(())
    }

    /// The type tells what the columns are, so that no extent is unpacked for it. Otherwise, whole rows are unpacked.
    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        self.bare = columns.is_some_and(<[usize]>::is_empty);
        self.bare
    }

    fn lists(&self, name: &str) -> bool {
        self.ty.find(name).is_some()
    }
}
