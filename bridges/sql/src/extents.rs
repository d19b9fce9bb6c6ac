//! The extents of a DataSeries file that a byte range owns, as a table.

use std::ops::Range;

use pilaster::any::File;
use pilaster::bytes::{FileRange, Ranges, Scratch};
use pilaster::column::Table;
use pilaster::dataseries::{AnyFile, ExtentType, Part, ReadOptions};
use pilaster::error::{Error, Kind, Result, What};

/// The rows of the extents of one type that begin in a byte range. Each extent is read through a window of its own, which
/// releases its memory.
pub(crate) struct Extents<'f> {
    file: &'f AnyFile<'f>,
    ranges: &'f Ranges,
    ty: ExtentType<'f>,
    spans: Vec<FileRange>,
    /// The number of the next extent.
    next: usize,
    /// The window of the current extent.
    window: Ranges,
}

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
            if of == ty.name().as_bytes() && range.contains(&span.at) {
                spans.push(span);
            }
        };
        match file.index() {
            Some((index, _)) => {
                for k in 0..index.len() {
                    let row = index.get(k)?;
                    // An extent outside of the file would be in no byte range.
                    if row.span.end().is_none_or(|end| end > ranges.input().len()) {
                        return Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, k, row.span.at));
                    }
                    add(row.span, row.type_name);
                }
            }
            None => {
                file.headers(|header, name| {
                    add(header.span(), name);
                    Ok::<(), Error>(())
                })?;
            }
        }
        Ok(Extents { file, ranges, ty, spans, next: 0, window: ranges.window() })
    }

    /// Returns the number of rows. Only headers are read.
    pub fn count(&self) -> Result<u64> {
        let mut rows = 0u64;
        for span in &self.spans {
            let window = self.ranges.window();
            let header = FileRange { at: span.at, len: span.len.min(pilaster::dataseries::EXTENT_HEADER_LEN as u64) };
            let bytes = window.input().get(header, What::DATASERIES_EXTENT)?;
            let header = self.file.order().header(bytes, span.at)?;
            if header.span() != *span {
                return Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, rows, span.at));
            }
            rows = rows.saturating_add(header.rows.into());
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
        let Some(span) = self.spans.get(self.next) else { return Ok(None) };
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

    fn restart(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }

    fn lists(&self, name: &str) -> bool {
        self.ty.find(name).is_some()
    }
}
