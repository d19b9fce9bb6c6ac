//! The encoder of a leaf: the zones of its blocks, a dictionary if it pays, and chunks of about a megabyte. It owns its state
//! and knows nothing of the file, so that the encoders of several leaves can work at the same time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::WriteOptions;
use super::array::Array;
use super::dictionary::Dictionary;
use super::dtype::Logical;
use super::encode::encode;
use super::file::Layout;
use super::packing::Learned;
use super::rows::Rows;
use super::statistics::Statistics;
use super::zones::Zones;
use crate::vortex::raw::LayoutId;

/// The encoded arrays of a leaf, each of which becomes a segment.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// The arrays that are not in the file yet.
    arrays: Vec<Array>,
    /// Number of all arrays.
    count: u32,
}

impl Segments {
    /// Adds an array of `rows` rows. Returns its flat layout, whose segment is numbered among the segments of the leaf.
    pub fn flat(&mut self, array: Array, rows: u64) -> Layout {
        let number = self.count;
        // A file refuses the segment with the first number that is too large.
        self.count = number.saturating_add(1);
        self.arrays.push(array);
        Layout::flat(number, rows)
    }
}

/// Encodes the blocks of a column that is not a struct.
#[derive(Debug)]
pub(super) struct Encoder {
    ty: Logical,
    rows: u64,
    /// Blocks that make no chunk yet.
    chunk: Rows,
    zones: Option<Zones>,
    statistics: Option<Statistics>,
    parts: Vec<Layout>,
    /// Whether a dictionary is tried: known after the first block.
    dictionary: Try,
    learned: Learned,
    made: Segments,
    /// The layout, after the last block.
    layout: Option<Layout>,
    how: WriteOptions,
}

#[derive(Debug)]
enum Try {
    Unknown,
    No,
    Yes(Box<Dictionary>),
}

impl Encoder {
    /// The encoder of a leaf of type `ty`. `zoned`: whether zones are stored; `known`: whether statistics of the column are.
    pub fn new(ty: &Logical, (zoned, known): (bool, bool), options: &WriteOptions) -> Self {
        Encoder {
            ty: ty.clone(),
            rows: 0,
            chunk: Rows::new(ty),
            zones: zoned.then(|| Zones::new(ty, options.zone_rows)),
            statistics: known.then(Statistics::default),
            parts: Vec::new(),
            dictionary: if options.dictionaries { Try::Unknown } else { Try::No },
            learned: Learned::default(),
            made: Segments::default(),
            layout: None,
            how: *options,
        }
    }

    /// Adds a block to the chunk or to the dictionary: the last rows of a zone, or many bytes. Returns the arrays that are
    /// complete.
    pub fn block(&mut self, rows: Rows) -> Vec<Array> {
        self.add(rows);
        core::mem::take(&mut self.made.arrays)
    }

    fn add(&mut self, rows: Rows) {
        self.rows = self.rows.saturating_add(rows.len as u64);
        if self.zones.is_some() || self.statistics.is_some() {
            let facts = Statistics::of(&rows);
            if let Some(all) = &mut self.statistics {
                all.merge(&facts);
            }
            if let Some(zones) = &mut self.zones {
                zones.add(&facts);
            }
        }
        if matches!(self.dictionary, Try::Unknown) {
            self.dictionary =
                Dictionary::new(&rows, &self.ty, &self.how).map_or(Try::No, |new| Try::Yes(Box::new(new)));
        }
        if let Try::Yes(dictionary) = &mut self.dictionary {
            dictionary.push(&rows, &self.how, &mut self.parts, &mut self.made);
            return;
        }
        self.chunk.append(rows);
        if self.chunk.size() >= self.how.chunk_size {
            self.write();
        }
    }

    fn write(&mut self) {
        let array = encode(&self.chunk, &self.ty, &self.how, &mut self.learned);
        self.parts.push(self.made.flat(array, self.chunk.len as u64));
        self.chunk.clear(&self.ty);
    }

    /// Adds the last rows, and encodes all that remains. Returns the arrays.
    pub fn end(&mut self, rest: Rows) -> Vec<Array> {
        if rest.len > 0 {
            self.add(rest);
        }
        if self.chunk.len > 0 {
            self.write();
            // The encoders of other leaves still have theirs.
            self.chunk = Rows::new(&self.ty);
        }
        if let Try::Yes(dictionary) = core::mem::replace(&mut self.dictionary, Try::No) {
            self.parts.push(dictionary.finish(&self.how, &mut self.made).0);
        }
        let rows = Layout::chunked(core::mem::take(&mut self.parts));
        self.layout = Some(match self.zones.take() {
            Some(zones) if self.rows > 0 => {
                let (metadata, table, ty) = zones.finish();
                let array = encode(&table, &ty, &self.how, &mut Learned::default());
                let children = Vec::from([rows, self.made.flat(array, table.len as u64)]);
                Layout { metadata, children, ..Layout::new(LayoutId::Zoned, self.rows) }
            }
            _ => rows,
        });
        core::mem::take(&mut self.made.arrays)
    }

    /// Returns the layout after [`end`](Self::end), and the statistics. The segments have the numbers of the leaf.
    pub fn finish(self) -> (Layout, Statistics) {
        (self.layout.unwrap_or_else(|| Layout::chunked(Vec::new())), self.statistics.unwrap_or_default())
    }
}
