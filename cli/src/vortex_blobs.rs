//! The array blobs of a Vortex file whose end is lost: each ends with the FlatBuffer of its array and the length of that, so
//! a walk over the bytes finds them (format description, section 8).

use std::fmt;
use std::ops::Range;

use pilaster::unstable::generated::vortex as flat;
use pilaster::unstable::meta::flat::{Flat, Table};
use pilaster::unstable::meta::proto::Message;

use crate::failure::Failure;
use crate::open::Input;

/// Maximum length in bytes of the FlatBuffer of an array.
const TREE: usize = 1 << 20;

/// Number of bytes that are read at once.
const STEP: usize = 1 << 20;

/// Alignment of segments in bytes, in the files of all known writers.
const ALIGNED: u64 = 8;

/// Size in bytes of the length that follows the FlatBuffer.
const LENGTH: usize = 4;

/// Maximum number of blobs.
const MOST: usize = 1 << 20;

/// Maximum depth of a tree of encodings.
const DEPTH: u32 = 64;

/// The member of a scalar that is an unsigned integer.
const UINT: u32 = 4;

/// A node of a tree of encodings.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The number of the encoding in a list at the end of the file.
    pub encoding: u16,
    pub metadata: Vec<u8>,
    /// The length in bytes of each buffer.
    pub buffers: Vec<u64>,
    pub children: Vec<Tree>,
    /// The size in bytes of the decoded rows, if the writer stored it.
    pub unpacked: Option<u64>,
    /// The maximum of the rows, if the writer stored it and it is an unsigned integer.
    pub max: Option<u64>,
    /// Empty vectors are absent, as pilaster writes them. The original writes them.
    pub is_terse: bool,
}

impl Tree {
    /// Reads a node. `fuel` bounds the number of nodes, because nodes may share children.
    fn of(node: flat::ArrayNode<'_>, lens: &[u64], depth: u32, fuel: &mut usize) -> Option<Self> {
        *fuel = fuel.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let mut buffers = Vec::new();
        for number in node.buffers().ok()?.iter().flat_map(|numbers| numbers.iter()) {
            *fuel = fuel.checked_sub(1)?;
            buffers.push(*lens.get(usize::from(number))?);
        }
        let mut children = Vec::new();
        for child in node.children().ok()?.iter().flat_map(|children| children.iter()) {
            children.push(Tree::of(child.ok()?, lens, depth, fuel)?);
        }
        let metadata: Vec<u8> = node.metadata().ok()?.iter().flat_map(|bytes| bytes.iter()).take(*fuel).collect();
        let stats = node.stats().ok()?;
        let unpacked = stats.and_then(|stats| stats.uncompressed_size_in_bytes().ok().flatten());
        let max: Option<Vec<u8>> = stats.and_then(|stats| Some(stats.max().ok()??.iter().collect()));
        let max = max.and_then(|max| Message::new(&max).uint(UINT).ok().flatten());
        let is_terse =
            node.metadata().ok()?.is_none() || node.children().ok()?.is_none() || node.buffers().ok()?.is_none();
        Some(Tree { encoding: node.encoding().ok()?, metadata, buffers, children, unpacked, max, is_terse })
    }

    /// Returns the tree of the array in a segment, which ends where `bytes` end; `None` if no array ends there.
    pub fn of_segment(bytes: &[u8]) -> Option<Self> {
        // The buffers are before the tree. Their offsets do not matter here.
        Some(Blob::of(candidate(bytes)?, u64::MAX >> 1)?.tree)
    }

    /// Calls `each` with every node.
    pub fn walk(&self, each: &mut dyn FnMut(&Tree)) {
        each(self);
        self.children.iter().for_each(|child| child.walk(each));
    }

    /// Returns the tree with the names of its encodings: `alp(bitpacked)`.
    pub fn shown<'t>(&'t self, ids: &'t [&'t str]) -> Named<'t> {
        Named(self, ids)
    }
}

/// A tree with the names of its encodings.
pub struct Named<'t>(&'t Tree, &'t [&'t str]);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Named(tree, ids) = self;
        match ids.get(usize::from(tree.encoding)) {
            Some(id) => f.write_str(id.split_once('.').map_or(*id, |(_, name)| name))?,
            None => write!(f, "encoding {}", tree.encoding)?,
        }
        for (k, child) in tree.children.iter().enumerate() {
            write!(f, "{}{}", if k == 0 { "(" } else { "," }, Named(child, ids))?;
        }
        if tree.children.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

/// An array blob.
#[derive(Clone, Debug)]
pub struct Blob {
    /// Offset in the file.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
    pub tree: Tree,
}

impl Blob {
    pub const fn end(&self) -> u64 {
        self.at.saturating_add(self.len)
    }

    /// Returns the blob whose FlatBuffer is `tree`, at offset `at` of the file.
    fn of(tree: &[u8], at: u64) -> Option<Self> {
        let root: Table<'_> = Flat::new(tree).root().ok()?;
        let array = flat::Array::from(root);
        let (mut lens, mut sum) = (Vec::new(), 0u64);
        for buffer in array.buffers().ok()?.iter().flat_map(|buffers| buffers.iter()) {
            if buffer.compression != flat::Compression::None || buffer.alignment_exponent > 16 {
                return None;
            }
            sum = sum.checked_add(buffer.padding.into())?.checked_add(buffer.length.into())?;
            lens.push(u64::from(buffer.length));
        }
        let start = at.checked_sub(sum)? & !ALIGNED.saturating_sub(1);
        let mut fuel = tree.len().saturating_add(16);
        let node = array.root().ok()??;
        let tree_len = (tree.len() as u64).saturating_add(LENGTH as u64);
        let len = at.saturating_sub(start).saturating_add(tree_len);
        Some(Blob { at: start, len, tree: Tree::of(node, &lens, DEPTH, &mut fuel)? })
    }
}

/// The blobs of a file, in order, and the other ranges of bytes that are not only zeros.
#[derive(Debug, Default)]
pub struct Blobs {
    pub found: Vec<Blob>,
    pub others: Vec<Range<u64>>,
}

impl Blobs {
    /// Searches bytes `from..` of the file, in time that is linear in their number.
    pub fn search(input: &Input<'_>, from: u64) -> Result<Self, Failure> {
        let (len, reader) = (input.len(), input.reader());
        let (mut held, mut at) = (Vec::new(), from);
        let mut candidates: Vec<Blob> = Vec::new();
        // Number of bytes of FlatBuffers that may still be parsed: values can look like the length of one.
        let mut fuel = len.saturating_add(TREE as u64);
        while at < len {
            let step = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX).min(STEP);
            let kept = held.len().saturating_sub(TREE.saturating_add(LENGTH)) & !3;
            held.drain(..kept);
            let before = held.len();
            held.resize(before.saturating_add(step), 0);
            reader(at, held.get_mut(before..).unwrap_or_default()).map_err(|e| Failure::Input(e.to_string()))?;
            let base = at.saturating_sub(before as u64);
            let mut end = before.next_multiple_of(4);
            while end <= held.len() {
                if let Some(tree) = candidate(held.get(..end).unwrap_or_default()) {
                    fuel = fuel.saturating_sub(tree.len() as u64);
                    let place = base.saturating_add(end.saturating_sub(tree.len().saturating_add(LENGTH)) as u64);
                    let blob = Blob::of(tree, place).filter(|blob| blob.at >= from);
                    candidates.extend(blob);
                }
                if fuel == 0 || candidates.len() > MOST {
                    let why = "too many bytes of the file look like the ends of arrays";
                    return Err(Failure::Input(why.to_owned()));
                }
                end = end.saturating_add(4);
            }
            at = at.saturating_add(step as u64);
        }
        Ok(Blobs::chain(candidates, from, len))
    }

    /// Chooses blobs that do not overlap: the one that starts first. What looks like a blob inside of another one is part of
    /// its values.
    fn chain(mut candidates: Vec<Blob>, from: u64, len: u64) -> Self {
        candidates.sort_by_key(|blob| (blob.at, blob.len));
        let (mut blobs, mut at) = (Blobs::default(), from);
        for blob in candidates {
            if blob.at < at {
                continue;
            }
            if blob.at > at.next_multiple_of(ALIGNED) {
                blobs.others.push(at..blob.at);
            }
            at = blob.end();
            blobs.found.push(blob);
        }
        if len > at {
            blobs.others.push(at..len);
        }
        blobs
    }
}

/// Returns the FlatBuffer of an array that ends with its length at the end of `bytes`, if it looks like one.
fn candidate(bytes: &[u8]) -> Option<&[u8]> {
    let (rest, length) = bytes.split_last_chunk::<LENGTH>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if length % 4 != 0 || !(24..=TREE).contains(&length) {
        return None;
    }
    let tree = rest.get(rest.len().checked_sub(length)?..)?;
    // The root table, whose vtable has two fields or more.
    let root = usize::try_from(u32::from_le_bytes(*tree.first_chunk()?)).ok()?;
    let vtable = i32::from_le_bytes(*tree.get(root..)?.first_chunk()?);
    let vtable = usize::try_from(i64::try_from(root).ok()?.checked_sub(vtable.into())?).ok()?;
    let [size, _, table, _] = *tree.get(vtable..)?.first_chunk::<4>()?;
    ((4..=32).contains(&size) && (8..=64).contains(&table)).then_some(tree)
}
