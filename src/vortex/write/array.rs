//! A tree of encoded arrays, and its blob (format description, section 8).

use alloc::vec::Vec;

use super::ids::Ids;
use crate::bytes::len32;
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex as flat;
use crate::meta::flat::write::{Field, Place, Writer};
use crate::meta::proto::write as proto;
use crate::vortex::raw::Encoding;

/// An encoded array. Neither its type nor its number of rows are stored in it.
#[derive(Clone, Debug)]
pub(in crate::vortex) struct Array {
    pub encoding: Encoding,
    metadata: Vec<u8>,
    buffers: Vec<Buffer>,
    children: Vec<Array>,
}

#[derive(Clone, Debug)]
struct Buffer {
    bytes: Vec<u8>,
    /// The alignment of its items, as an exponent of two.
    exponent: u8,
}

impl Array {
    pub const fn new(encoding: Encoding) -> Self {
        Array { encoding, metadata: Vec::new(), buffers: Vec::new(), children: Vec::new() }
    }

    /// Sets the metadata to a message.
    pub fn message(self, message: &mut proto::Writer) -> Self {
        self.metadata(message.finish())
    }

    pub fn metadata(mut self, metadata: Vec<u8>) -> Self {
        self.metadata = metadata;
        self
    }

    /// Appends a buffer of items of `size` bytes. Items above 16 bytes are aligned to 16.
    #[allow(clippy::cast_possible_truncation, reason = "at most 4")]
    pub fn buffer(mut self, bytes: Vec<u8>, size: usize) -> Self {
        self.buffers.push(Buffer { bytes, exponent: size.clamp(1, 16).ilog2() as u8 });
        self
    }

    /// Appends a child, if there is one.
    pub fn child(mut self, child: impl Into<Option<Array>>) -> Self {
        self.children.extend(child.into());
        self
    }

    /// Returns the number of bytes of all buffers and metadata.
    pub fn size(&self) -> u64 {
        let own = self.buffers.iter().map(|buffer| buffer.bytes.len() as u64);
        let below = self.children.iter().map(Array::size);
        own.chain(below).fold(self.metadata.len() as u64, u64::saturating_add)
    }

    /// Returns the smaller one of two arrays of the same rows.
    pub fn or_smaller(self, other: impl Into<Option<Array>>) -> Self {
        match other.into() {
            Some(other) if other.size() < self.size() => other,
            _ => self,
        }
    }

    /// Returns the smallest of some arrays of the same rows, or the plain one, which takes `least` bytes or more and is
    /// only made if it can be as small.
    pub fn smallest(ways: impl IntoIterator<Item = Array>, least: usize, plain: impl FnOnce() -> Array) -> Array {
        match ways.into_iter().min_by_key(Array::size) {
            Some(best) if best.size() < least as u64 => best,
            best => plain().or_smaller(best),
        }
    }

    /// Returns the blob of the array, and its alignment as an exponent of two.
    ///
    /// # Errors
    /// [`Kind::Overflow`] if a buffer has 4 GiB or more, or the tree has more than 65,535 buffers.
    pub fn blob(&self, ids: &mut Ids) -> Result<(Vec<u8>, u8)> {
        /// Largest alignment in use, and that of the FlatBuffer at the end.
        const FLAT: u8 = 3;
        /// About the size in bytes of a node with its buffer's padding.
        const NODE: usize = 128;
        let mut all = Vec::new();
        self.list(&mut all);
        let size = all.iter().fold(0usize, |sum, buffer| sum.saturating_add(buffer.bytes.len()).saturating_add(NODE));
        let mut blob = Vec::with_capacity(size);
        let (mut exponent, mut descriptions) = (FLAT, Vec::new());
        for buffer in &all {
            let align = 1usize << buffer.exponent;
            let start = blob.len().next_multiple_of(align);
            let padding = u16::try_from(start.saturating_sub(blob.len())).unwrap_or(0);
            let len = u32::try_from(buffer.bytes.len())
                .map_err(|_| Error::needing(Kind::Overflow, What::VORTEX_BUFFER, 0, buffer.bytes.len() as u64))?;
            blob.resize(start, 0);
            blob.extend_from_slice(&buffer.bytes);
            descriptions.extend_from_slice(&padding.to_le_bytes());
            descriptions.extend_from_slice(&[buffer.exponent, 0]);
            descriptions.extend_from_slice(&len.to_le_bytes());
            exponent = exponent.max(buffer.exponent);
        }
        if all.len() > usize::from(u16::MAX) {
            return Err(Error::needing(Kind::Overflow, What::VORTEX_ARRAY, 0, all.len() as u64));
        }
        let mut to = Writer::default();
        let root = self.node(&mut 0, ids, &mut to);
        let descriptions = to.vector(&descriptions, all.len(), 4);
        let root =
            to.table(&[(flat::Array::ROOT, Field::Place(root)), (flat::Array::BUFFERS, Field::Place(descriptions))]);
        let tree = to.finish(root);
        blob.resize(blob.len().next_multiple_of(1 << FLAT), 0);
        blob.extend_from_slice(&tree);
        blob.extend_from_slice(&len32(tree.len()).to_le_bytes());
        Ok((blob, exponent))
    }

    /// Appends all buffers, depth first.
    fn list<'b>(&'b self, to: &mut Vec<&'b Buffer>) {
        to.extend(&self.buffers);
        self.children.iter().for_each(|child| child.list(to));
    }

    /// Writes the node; `next` is the number of its first buffer.
    fn node(&self, next: &mut u16, ids: &mut Ids, to: &mut Writer) -> Place {
        let encoding = Field::U16(ids.array(self.encoding));
        let numbers: Vec<u8> = self
            .buffers
            .iter()
            .flat_map(|_| {
                let number = next.to_le_bytes();
                *next = next.saturating_add(1);
                number
            })
            .collect();
        let children: Vec<Place> = self.children.iter().map(|child| child.node(next, ids, to)).collect();
        let mut fields = Vec::from([(flat::ArrayNode::ENCODING, encoding)]);
        if !self.metadata.is_empty() {
            fields.push((flat::ArrayNode::METADATA, Field::Place(to.vector(&self.metadata, self.metadata.len(), 1))));
        }
        if !children.is_empty() {
            fields.push((flat::ArrayNode::CHILDREN, Field::Place(to.places(&children))));
        }
        if !self.buffers.is_empty() {
            fields.push((flat::ArrayNode::BUFFERS, Field::Place(to.vector(&numbers, self.buffers.len(), 2))));
        }
        to.table(&fields)
    }
}
