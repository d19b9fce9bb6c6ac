//! Nodes of the tree of arrays at the end of a segment, emitted front to back (format description, section 8).

use super::put::{Flat, halves, up4};
use crate::bytes::len32;

/// Size in bytes of the vtable of a node.
const VTABLE: u32 = 12;

/// Size in bytes of a node that has a buffer, and neither metadata nor children.
const LEAF: u32 = 32;

impl Flat<'_> {
    /// Puts the start of the tree: the root, and the buffers, each with the exponent of its alignment and its length in
    /// bytes. The first node follows.
    ///
    /// 4 the vtable of the array, 12 the array, 24 its buffers of 8 bytes each.
    pub fn array(&mut self, buffers: &[(u32, u32)]) {
        let count = len32(buffers.len());
        self.words(const { &[12, halves(8, 12), halves(4, 8), 8] });
        self.words(&[count.wrapping_mul(8).wrapping_add(12 + VTABLE), 4, count]);
        for (exponent, len) in buffers {
            self.words(&[exponent << 16, *len]);
        }
    }

    /// Puts a node: the number of its encoding, its metadata, the number of its children, and the number of its buffer.
    ///
    /// The vtable, 12 the table, then the vectors of metadata, children and buffers. What is absent takes no bytes. The
    /// children must follow, and if there are several, they must be leaves.
    #[inline(never)]
    pub fn node(&mut self, encoding: u32, metadata: &[u8], children: u32, buffer: Option<u32>) {
        let len = len32(metadata.len());
        // Sizes of the fields of the table, 0 if they are absent.
        let size = |is_there: bool| u32::from(is_there) << 2;
        let (m, c, b) = (size(len > 0), size(children > 0), size(buffer.is_some()));
        // Where the last two are in the table.
        let of_children = if c > 0 { m.wrapping_add(8) } else { 0 };
        let of_buffers = if b > 0 { m.wrapping_add(c).wrapping_add(8) } else { 0 };
        let table = m.wrapping_add(c).wrapping_add(b).wrapping_add(8);
        self.words(&[halves(VTABLE, table), halves(4, m << 1), halves(of_children, of_buffers), VTABLE, encoding]);
        // The vectors begin at the end of the table.
        let mut vector = self.at.wrapping_add(table).wrapping_sub(8);
        if m > 0 {
            self.word(vector.wrapping_sub(self.at));
            vector = vector.wrapping_add(up4(len)).wrapping_add(4);
        }
        if c > 0 {
            self.word(vector.wrapping_sub(self.at));
            vector = vector.wrapping_add(children.wrapping_mul(4)).wrapping_add(4);
        }
        if b > 0 {
            self.word(vector.wrapping_sub(self.at));
        }
        if len > 0 {
            self.word(len);
            self.bytes(metadata);
            self.align4();
        }
        if children > 0 {
            self.word(children);
            let after = children.wrapping_mul(4).wrapping_add(b << 1);
            self.links(children, self.at.wrapping_add(after).wrapping_add(VTABLE), LEAF);
        }
        if let Some(buffer) = buffer {
            self.words(&[1, buffer]);
        }
    }
}
