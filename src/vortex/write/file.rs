//! The container: segments as they arrive, then dtype, layout, statistics, footer and postscript (format description,
//! sections 2 and 3).

use alloc::vec::Vec;

use super::array::Array;
use super::ids::Ids;
use crate::bytes::{Sink, WriteError};
use crate::error::{Error, Kind, What};
use crate::generated::vortex as flat;
use crate::meta::flat::write::{Field, Place, Writer};
use crate::vortex::raw::{LayoutId, MAGIC, VERSION};

/// A node of the layout tree.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The kind of the layout.
    pub id: LayoutId,
    /// Number of rows.
    pub rows: u64,
    /// Depends on the kind.
    pub metadata: Vec<u8>,
    /// Layouts below.
    pub children: Vec<Layout>,
    /// The number of the segment of a flat layout.
    pub segment: Option<u32>,
}

impl Layout {
    /// Returns a layout without children and segment.
    #[must_use]
    pub const fn new(id: LayoutId, rows: u64) -> Self {
        Layout { id, rows, metadata: Vec::new(), children: Vec::new(), segment: None }
    }

    /// Returns the flat layout of a segment.
    #[must_use]
    pub fn flat(segment: u32, rows: u64) -> Self {
        Layout { segment: Some(segment), ..Layout::new(LayoutId::Flat, rows) }
    }

    /// Joins parts in the order of their rows.
    #[must_use]
    pub fn chunked(mut parts: Vec<Layout>) -> Self {
        let rows = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.rows));
        match (parts.len(), parts.pop()) {
            (1, Some(only)) => only,
            (_, last) => {
                parts.extend(last);
                Layout { children: parts, ..Layout::new(LayoutId::Chunked, rows) }
            }
        }
    }

    /// Replaces the numbers of segments by those that `numbers` has at their place.
    pub(super) fn renumber(&mut self, numbers: &[u32]) {
        self.segment = self.segment.and_then(|segment| numbers.get(segment as usize).copied());
        self.children.iter_mut().for_each(|child| child.renumber(numbers));
    }

    fn put(&self, ids: &mut Ids, to: &mut Writer) -> Place {
        let children: Vec<Place> = self.children.iter().map(|child| child.put(ids, to)).collect();
        let mut fields = Vec::from([
            (flat::Layout::ENCODING, Field::U16(ids.layout(self.id))),
            (flat::Layout::ROW_COUNT, Field::U64(self.rows)),
        ]);
        if !self.metadata.is_empty() {
            fields.push((flat::Layout::METADATA, Field::Place(to.vector(&self.metadata, self.metadata.len(), 1))));
        }
        if !children.is_empty() {
            fields.push((flat::Layout::CHILDREN, Field::Place(to.places(&children))));
        }
        if let Some(segment) = self.segment {
            fields.push((flat::Layout::SEGMENTS, Field::Place(to.vector(&segment.to_le_bytes(), 1, 4))));
        }
        to.table(&fields)
    }
}

/// The position of a segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    at: u64,
    len: u32,
    exponent: u8,
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Container<S> {
    sink: S,
    at: u64,
    segments: Vec<Segment>,
    ids: Ids,
}

type Done<T, S> = Result<T, WriteError<<S as Sink>::Error>>;

impl<S: Sink> Container<S> {
    /// Starts a file.
    pub fn new(sink: S) -> Done<Self, S> {
        let mut file = Container { sink, at: 0, segments: Vec::new(), ids: Ids::default() };
        file.put(&MAGIC)?;
        Ok(file)
    }

    fn put(&mut self, bytes: &[u8]) -> Done<(), S> {
        self.sink.put(bytes).map_err(WriteError::Sink)?;
        self.at = self.at.saturating_add(bytes.len() as u64);
        Ok(())
    }

    fn align(&mut self, exponent: u8) -> Done<(), S> {
        let end = self.at.next_multiple_of(1 << exponent.min(6));
        let pad = usize::try_from(end.saturating_sub(self.at)).unwrap_or(0);
        self.put([0; 64].get(..pad).unwrap_or_default())
    }

    /// Writes an array to a segment of its own. Returns the number of the segment.
    pub fn segment(&mut self, array: &Array) -> Done<u32, S> {
        let (blob, exponent) = array.blob(&mut self.ids)?;
        let len = u32::try_from(blob.len())
            .map_err(|_| Error::needing(Kind::Overflow, What::VORTEX_SEGMENT, self.at, blob.len() as u64))?;
        let number = u32::try_from(self.segments.len())
            .map_err(|_| Error::needing(Kind::Overflow, What::VORTEX_SEGMENT, self.at, self.segments.len() as u64))?;
        self.align(exponent)?;
        self.segments.push(Segment { at: self.at, len, exponent });
        self.put(&blob)?;
        Ok(number)
    }

    /// Writes the metadata. Returns the sink.
    pub fn finish(self, dtype: &[u8], layout: &Layout, statistics: Option<&[u8]>) -> Done<S, S> {
        let arrays: Vec<&str> = self.ids.arrays.iter().map(|id| id.id()).collect();
        self.finish_with(&arrays, dtype, layout, statistics)
    }

    /// Writes the metadata, with `arrays` as the ids of encodings. Returns the sink.
    fn finish_with(mut self, arrays: &[&str], dtype: &[u8], layout: &Layout, statistics: Option<&[u8]>) -> Done<S, S> {
        let mut to = Writer::default();
        let root = layout.put(&mut self.ids, &mut to);
        let layout = to.finish(root);
        let footer = self.footer(arrays);
        let dtype = self.metadata(dtype)?;
        let layout = self.metadata(&layout)?;
        let statistics = statistics.map(|bytes| self.metadata(bytes)).transpose()?;
        let footer = self.metadata(&footer)?;
        let mut to = Writer::default();
        let parts = [
            (flat::Postscript::DTYPE, Some(dtype)),
            (flat::Postscript::LAYOUT, Some(layout)),
            (flat::Postscript::STATISTICS, statistics),
            (flat::Postscript::FOOTER, Some(footer)),
        ];
        let fields: Vec<(u8, Field)> = parts
            .into_iter()
            .filter_map(|(field, part)| {
                let Segment { at, len, exponent } = part?;
                let segment = to.table(&[
                    (flat::PostscriptSegment::OFFSET, Field::U64(at)),
                    (flat::PostscriptSegment::LENGTH, Field::U32(len)),
                    (flat::PostscriptSegment::ALIGNMENT_EXPONENT, Field::U8(exponent)),
                ]);
                Some((field, Field::Place(segment)))
            })
            .collect();
        let root = to.table(&fields);
        let postscript = to.finish(root);
        self.put(&postscript)?;
        self.put(&VERSION.to_le_bytes())?;
        // A few tables of a fixed size.
        self.put(&u16::try_from(postscript.len()).unwrap_or(0).to_le_bytes())?;
        self.put(&MAGIC)?;
        Ok(self.sink)
    }

    /// Writes a FlatBuffer of the metadata.
    fn metadata(&mut self, bytes: &[u8]) -> Done<Segment, S> {
        const EXPONENT: u8 = 3;
        self.align(EXPONENT)?;
        let len = u32::try_from(bytes.len())
            .map_err(|_| Error::needing(Kind::Overflow, What::VORTEX_FOOTER, self.at, bytes.len() as u64))?;
        let segment = Segment { at: self.at, len, exponent: EXPONENT };
        self.put(bytes)?;
        Ok(segment)
    }

    fn footer(&self, arrays: &[&str]) -> Vec<u8> {
        let mut to = Writer::default();
        let spec = |to: &mut Writer, id: &str| {
            let id = to.text(id);
            // The field is the same in both tables.
            to.table(&[(flat::ArraySpec::ID, Field::Place(id))])
        };
        let arrays: Vec<Place> = arrays.iter().map(|id| spec(&mut to, id)).collect();
        let layouts: Vec<Place> = self.ids.layouts.iter().map(|id| spec(&mut to, id.id())).collect();
        let mut segments = Vec::new();
        for Segment { at, len, exponent } in &self.segments {
            segments.extend_from_slice(&at.to_le_bytes());
            segments.extend_from_slice(&len.to_le_bytes());
            segments.extend_from_slice(&[*exponent, 0, 0, 0]);
        }
        let fields = [
            (flat::Footer::ARRAY_SPECS, Field::Place(to.places(&arrays))),
            (flat::Footer::LAYOUT_SPECS, Field::Place(to.places(&layouts))),
            (flat::Footer::SEGMENT_SPECS, Field::Place(to.vector(&segments, self.segments.len(), 8))),
        ];
        let root = to.table(&fields);
        to.finish(root)
    }
}

/// Returns the end of a file whose first `at` bytes hold segments: their offsets and lengths are `segments`, in ascending
/// order, and `arrays` are the ids to which their arrays refer by number.
///
/// # Errors
/// [`Kind::Overflow`] if a part of the metadata has 4 GiB or more.
#[cfg(feature = "unstable")]
pub fn end(at: u64, arrays: &[&str], segments: &[(u64, u32)], dtype: &[u8], layout: &Layout) -> crate::Result<Vec<u8>> {
    let segments = segments.iter().map(|(at, len)| Segment { at: *at, len: *len, exponent: 3 }).collect();
    let file = Container { sink: Vec::new(), at, segments, ids: Ids::default() };
    file.finish_with(arrays, dtype, layout, None).map_err(|e| match e {
        WriteError::Format(e) => e,
        // A vector takes any number of bytes.
        WriteError::Sink(never) => match never {},
    })
}
