//! The end of a segment: the FlatBuffer with the tree of arrays, emitted front to back (format description, section 8).

use super::field::{Id, Uses};
use super::put::{Put, up4};
use super::scalar::Short;
use crate::bytes::len32;

/// A node of the tree: an encoding, its metadata, and the number of its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub id: Id,
    pub metadata: Short,
    pub buffer: Option<u32>,
}

/// A buffer: its length in bytes, and the alignment of its items as an exponent of two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffer {
    pub len: u32,
    pub exponent: u32,
}

/// Maximum number of nodes and of buffers.
const NODES: usize = 4;
const BUFFERS: usize = 3;

/// An array: a chain of nodes, each the only child of the one before; then the children of the last node of the chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    nodes: [Node; NODES],
    len: usize,
    /// Number of nodes of the chain.
    chain: usize,
    buffers: [Buffer; BUFFERS],
    buffers_len: usize,
}

/// Size in bytes of a vtable of a node.
const VTABLE: u32 = 12;

impl Tree {
    pub fn new() -> Self {
        let node = Node { id: Id::Primitive, metadata: Short::default(), buffer: None };
        Tree { nodes: [node; NODES], len: 0, chain: 0, buffers: [Buffer::default(); BUFFERS], buffers_len: 0 }
    }

    /// Appends a node to the chain.
    pub fn link(&mut self, id: Id, metadata: Short, buffer: Option<u32>) {
        self.leaf(id, metadata, buffer);
        self.chain = self.len;
    }

    /// Appends a child of the last node of the chain.
    pub fn leaf(&mut self, id: Id, metadata: Short, buffer: Option<u32>) {
        if let Some(to) = self.nodes.get_mut(self.len) {
            *to = Node { id, metadata, buffer };
            self.len = self.len.wrapping_add(1);
        }
    }

    /// Appends a buffer. Returns its number.
    pub fn buffer(&mut self, len: u32, exponent: u32) -> u32 {
        let number = self.buffers_len;
        if let Some(to) = self.buffers.get_mut(number) {
            *to = Buffer { len, exponent };
            self.buffers_len = number.wrapping_add(1);
        }
        len32(number)
    }

    fn buffers(&self) -> &[Buffer] {
        self.buffers.get(..self.buffers_len).unwrap_or_default()
    }

    /// Returns the size in bytes of all buffers, and of zeros after them to a multiple of 4.
    pub fn buffers_len(&self) -> u32 {
        up4(self.buffers().iter().fold(0, |sum: u32, buffer| sum.saturating_add(buffer.len)))
    }

    /// Returns the number of zeros after the buffers, to a multiple of 4.
    pub fn padding(&self) -> u32 {
        let sum = self.buffers().iter().fold(0, |sum: u32, buffer| sum.saturating_add(buffer.len));
        up4(sum).wrapping_sub(sum)
    }

    fn nodes(&self) -> &[Node] {
        self.nodes.get(..self.len).unwrap_or_default()
    }

    /// Returns the numbers of the first child of a node and of its children.
    fn children(&self, k: usize) -> (usize, usize) {
        let next = k.wrapping_add(1);
        match next.cmp(&self.chain) {
            core::cmp::Ordering::Less => (next, 1),
            core::cmp::Ordering::Equal => (next, self.len.wrapping_sub(self.chain)),
            core::cmp::Ordering::Greater => (next, 0),
        }
    }

    /// Returns the size in bytes of a node: vtable, table, and vectors of metadata, children and buffers.
    #[inline(never)]
    fn node_len(&self, k: usize, node: &Node) -> u32 {
        let mut len = VTABLE + 8;
        let metadata = len32(node.metadata.bytes().len());
        if metadata > 0 {
            len = len.wrapping_add(8).wrapping_add(up4(metadata));
        }
        match self.children(k) {
            (_, 0) => {}
            (_, count) => len = len.wrapping_add(8).wrapping_add(len32(count).wrapping_mul(4)),
        }
        if node.buffer.is_some() {
            len = len.wrapping_add(12);
        }
        len
    }

    /// Returns the offset of node `k`.
    #[inline(never)]
    fn node_at(&self, k: usize) -> u32 {
        let start = len32(self.buffers_len).wrapping_mul(8).wrapping_add(28);
        let before = self.nodes().iter().enumerate().take(k);
        before.fold(start, |at, (k, node)| at.wrapping_add(self.node_len(k, node)))
    }

    /// Returns the size in bytes of the FlatBuffer.
    pub fn flat_len(&self) -> u32 {
        self.node_at(self.len)
    }

    /// Writes the FlatBuffer and its length. 4 the vtable of the array, 12 the array, 24 its buffers, then its nodes.
    /// `uses` are the encodings that the footer lists.
    pub fn put(&self, uses: Uses, to: &mut dyn Put) {
        let buffers = len32(self.buffers_len);
        let root = buffers.wrapping_mul(8).wrapping_add(12 + VTABLE);
        to.words(&[12, 8 | 12 << 16, 4 | 8 << 16, 8, root, 4, buffers]);
        for buffer in self.buffers() {
            to.words(&[buffer.exponent << 16, buffer.len]);
        }
        for (k, node) in self.nodes().iter().enumerate() {
            self.put_node(k, node, uses, to);
        }
        to.word(self.flat_len());
    }

    #[inline(never)]
    fn put_node(&self, k: usize, node: &Node, uses: Uses, to: &mut dyn Put) {
        let metadata = node.metadata.bytes();
        let (first, count) = self.children(k);
        // The place of each field in the table, or 0, and the distance from it to its vector.
        let mut table = 8u32;
        let mut place = |is_there: bool| {
            let at = if is_there { table } else { 0 };
            table = table.wrapping_add(if is_there { 4 } else { 0 });
            at
        };
        let (of_metadata, of_children, of_buffers) =
            (place(!metadata.is_empty()), place(count > 0), place(node.buffer.is_some()));
        to.words(&[VTABLE | table << 16, 4 | of_metadata << 16, of_children | of_buffers << 16, VTABLE]);
        to.word(uses.number(node.id));
        let mut vector = table;
        let mut field = |at: u32, len: u32| {
            if at > 0 {
                to.word(vector.wrapping_sub(at));
                vector = vector.wrapping_add(len);
            }
        };
        field(of_metadata, up4(len32(metadata.len())).wrapping_add(4));
        let children = vector_len(count);
        field(of_children, children);
        field(of_buffers, 8);
        if of_metadata > 0 {
            let len = len32(metadata.len());
            to.word(len);
            to.put(metadata);
            to.zeros(up4(len).wrapping_sub(len));
        }
        if of_children > 0 {
            to.word(len32(count));
            let start = self.node_at(k).wrapping_add(VTABLE).wrapping_add(table);
            let skipped = if of_metadata > 0 { up4(len32(metadata.len())).wrapping_add(4) } else { 0 };
            let mut here = start.wrapping_add(skipped).wrapping_add(4);
            for child in first..first.wrapping_add(count) {
                to.word(self.node_at(child).wrapping_add(VTABLE).wrapping_sub(here));
                here = here.wrapping_add(4);
            }
        }
        if let Some(buffer) = node.buffer {
            to.words(&[1, buffer]);
        }
    }
}

fn vector_len(count: usize) -> u32 {
    len32(count).wrapping_mul(4).wrapping_add(4)
}
