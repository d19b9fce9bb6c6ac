//! Nodes: layouts and arrays are one kind, the call stack is the tree.

use core::fmt;

use super::dtype::{DType, Shape, integer};
use super::file::{File, Root};
use super::raw::{Encoding, LayoutId};
use super::scalar::{Scalar, Steps};
use crate::bytes::Span;
use crate::column::Prim;
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex as flat;
use crate::limits::Depth;
use crate::meta::flat::{Flat, Inline, Linked, Table};
use crate::meta::proto::Message;

/// A place in the tree that yields rows of a type: small, `Copy`, and nothing below it looked at.
///
/// It is 120 bytes on small machines, so a node that somebody gives is looked at where it is (`as_ref()?`) rather
/// than moved out of its result: such moves were 4 KB of the reader's code.
#[derive(Clone, Copy)]
pub(super) struct Node<'f> {
    pub(super) file: &'f File<'f>,
    pub(super) tree: Tree<'f>,
    pub(super) dtype: DType<'f>,
    pub(super) rows: u64,
    depth: Depth,
    layout: Option<LayoutId>,
    encoding: Option<Encoding>,
}

/// What a node is made of.
#[derive(Clone, Copy)]
pub(super) enum Tree<'f> {
    Layout(flat::Layout<'f>),
    Array(Blob<'f>, flat::ArrayNode<'f>),
    /// Every row is this scalar, whose bytes lie in the blob.
    Scalar(Blob<'f>, Scalar<'f>),
    /// The rows lie in this scalar, at the end of these steps.
    Items(Blob<'f>, Scalar<'f>, Steps),
    /// A type without rows.
    Nothing,
}

/// A flat segment (section 8).
#[derive(Clone, Copy)]
pub(super) struct Blob<'f> {
    /// All of it.
    pub(super) bytes: &'f [u8],
    /// Where it lies in the file.
    pub(super) at: u64,
    buffers: Option<Inline<'f, flat::Buffer>>,
}

/// A buffer: its bytes, and where they begin in the blob.
#[derive(Clone, Copy)]
pub(super) struct Buffer<'f> {
    pub(super) bytes: &'f [u8],
    pub(super) start: usize,
    /// Offset in the file.
    pub(super) at: u64,
}

#[cfg(feature = "zstd")]
impl Buffer<'_> {
    /// No bytes.
    pub(super) const EMPTY: Buffer<'static> = Buffer { bytes: &[], start: 0, at: 0 };
}

impl<'f> Blob<'f> {
    /// The segment in `bytes`, and the root of its array.
    fn open(bytes: &'f [u8], at: u64, depth: Depth) -> Result<(Self, flat::ArrayNode<'f>)> {
        let short = |need: u64| Error::new(Kind::Truncated, What::VtxArray, at).with_need(need);
        let (rest, len) = bytes.split_last_chunk::<4>().ok_or_else(|| short(4))?;
        let len = u32::from_le_bytes(*len);
        let start = rest.len().checked_sub(len as usize).ok_or_else(|| short(len.into()))?;
        let tree = rest.get(start..).unwrap_or_default();
        let flat = Flat::new_at(tree, at.saturating_add(start as u64)).with_depth(depth);
        let array: flat::Array<'f> = flat.root()?;
        let root = array.root()?.ok_or(Error::new(Kind::Invalid, What::VtxArray, array.at()))?;
        Ok((Blob { bytes, at, buffers: array.buffers()? }, root))
    }

    /// Buffer `i` of the blob. Buffers follow each other, so this walks over those before.
    fn buffer(&self, i: u16) -> Result<Buffer<'f>> {
        let none = || Error::new(Kind::OutOfRange, What::VtxBuffer, i.into());
        let buffers = self.buffers.ok_or_else(none)?;
        let mut end = 0u64;
        for k in 0..=usize::from(i) {
            let spec = buffers.get(k).ok_or_else(|| none().with_need(buffers.len() as u64))?;
            let start = end.saturating_add(spec.padding.into());
            end = start.saturating_add(spec.length.into());
            if k < usize::from(i) {
                continue;
            }
            let at = self.at.saturating_add(start);
            if spec.compression != flat::Compression::None {
                return Err(Error::new(Kind::Unsupported, What::VtxBuffer, at).with_need(i.into()));
            }
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let bytes = range.and_then(|(start, end)| Some((start, self.bytes.get(start..end)?)));
            let cut = Error::new(Kind::Truncated, What::VtxBuffer, at).with_need(spec.length.into());
            let (start, bytes) = bytes.ok_or(cut)?;
            return Ok(Buffer { bytes, start, at });
        }
        Err(none())
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut show = f.debug_struct("Node");
        show.field("at", &self.at()).field("encoding", &self.encoding()).field("layout", &self.layout());
        show.field("type", &self.dtype.ty()).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<'f> Node<'f> {
    /// The root of a file.
    pub(super) fn root(file: &'f File<'f>) -> Result<Self> {
        let depth = Depth::new(file.limits());
        let dtype = &file.dtype();
        match file.root() {
            Root::Layout(layout) => Node::new(file, Tree::Layout(layout), dtype, layout.row_count()?, depth),
            Root::Blob(bytes, rows) => {
                let (blob, array) = Blob::open(bytes, 0, depth)?;
                Node::new(file, Tree::Array(blob, array), dtype, rows, depth)
            }
        }
    }

    #[inline(never)]
    fn new(file: &'f File<'f>, tree: Tree<'f>, dtype: &DType<'f>, rows: u64, depth: Depth) -> Result<Self> {
        let (mut layout, mut encoding) = (None, None);
        match &tree {
            Tree::Layout(node) => layout = Some(file.layout(node.encoding()?)?),
            Tree::Array(_, node) => encoding = Some(file.encoding(node.encoding()?)?),
            _ => {}
        }
        Ok(Node { file, tree, dtype: *dtype, rows, depth, layout, encoding })
    }

    /// Offset in the file, for errors.
    pub(super) fn at(&self) -> u64 {
        match &self.tree {
            Tree::Layout(layout) => layout.at(),
            Tree::Array(_, array) => array.at(),
            Tree::Scalar(_, scalar) | Tree::Items(_, scalar, _) => scalar.message().at(),
            Tree::Nothing => 0,
        }
    }

    /// An error about this node.
    #[cold]
    pub(super) fn error(&self, kind: Kind, what: What, need: u64) -> Error {
        Error::new(kind, what, self.at()).with_need(need)
    }

    #[inline(never)]
    fn with(&self, tree: Tree<'f>, dtype: &DType<'f>, rows: u64) -> Result<Self> {
        Node::new(self.file, tree, dtype, rows, self.depth.child(self.at())?)
    }

    /// A node of this type without rows.
    pub(super) fn nothing(&self, dtype: &DType<'f>) -> Self {
        Node { tree: Tree::Nothing, dtype: *dtype, rows: 0, layout: None, encoding: None, ..*self }
    }

    /// Every row the item `i` of this scalar.
    pub(super) fn item(&self, blob: &Blob<'f>, scalar: Scalar<'f>, i: u64, dtype: &DType<'f>) -> Result<Self> {
        self.with(Tree::Scalar(*blob, scalar.field(i)?), dtype, self.rows)
    }

    /// The rows that lie in this scalar, at the end of `steps`, where those lead so far.
    pub(super) fn items(
        &self,
        blob: &Blob<'f>,
        scalar: Scalar<'f>,
        steps: Option<Steps>,
        dtype: &DType<'f>,
    ) -> Result<Self> {
        let steps = steps.ok_or_else(|| self.error(Kind::Limit, What::MaxDepth, 4))?;
        self.with(Tree::Items(*blob, scalar, steps), dtype, scalar.count(steps)?)
    }

    /// A constant array: every row its scalar.
    #[inline(never)]
    pub(super) fn constant(&self) -> Result<Self> {
        self.with(Tree::Scalar(self.blob()?, self.fill()?), &self.dtype, self.rows)
    }

    /// The scalar of a constant array, and that of a sparse one where it has no patches.
    pub(super) fn fill(&self) -> Result<Scalar<'f>> {
        let buffer = self.buffer(0)?;
        Ok(Scalar::new(Message::new_at(buffer.bytes, buffer.at)))
    }

    // Layouts.

    /// Which layout; `None` for other nodes.
    pub(super) const fn layout(&self) -> Option<LayoutId> {
        self.layout
    }

    /// The blob of a flat layout, as a node.
    pub(super) fn flat(&self) -> Result<Self> {
        let Some(span) = self.segment()? else { return Ok(*self) };
        let bytes = self.file.source().get(span, What::VtxSegment)?;
        let depth = self.depth.child(self.at())?;
        let (blob, array) = Blob::open(bytes, span.at, depth)?;
        Node::new(self.file, Tree::Array(blob, array), &self.dtype, self.rows, depth)
    }

    /// Where the segment of a flat layout lies.
    pub(super) fn segment(&self) -> Result<Option<Span>> {
        if !matches!(self.tree, Tree::Layout(_)) {
            return Ok(None);
        }
        self.file.segment(self.segment_number()?).map(Some)
    }

    /// The one segment of a flat layout, by number.
    pub(super) fn segment_number(&self) -> Result<u32> {
        let segments = match &self.tree {
            Tree::Layout(layout) => layout.segments()?,
            _ => None,
        };
        match [0, 1].map(|i| segments.and_then(|segments| segments.get(i))) {
            [Some(segment), None] => Ok(segment),
            _ => Err(self.error(Kind::Invalid, What::VtxLayout, segments.map_or(0, |s| s.len() as u64))),
        }
    }

    /// Metadata of the encoding or layout.
    pub(super) fn metadata(&self) -> Result<Message<'f>> {
        let bytes = match &self.tree {
            Tree::Layout(layout) => layout.metadata()?,
            Tree::Array(_, array) => array.metadata()?,
            _ => None,
        };
        Ok(bytes.map_or(Message::new_at(&[], self.at()), |bytes| Message::new_at(bytes.bytes(), bytes.at())))
    }

    /// Field `number` of the metadata, 0 where it is left out.
    #[inline(never)]
    pub(super) fn number(&self, number: u32) -> Result<u64> {
        Ok(self.metadata()?.uint(number)?.unwrap_or(0))
    }

    /// The same of a number that has 32 bits.
    #[inline(never)]
    pub(super) fn number32(&self, number: u32) -> Result<u32> {
        Ok(self.metadata()?.uint32(number)?.unwrap_or(0))
    }

    /// The integer type in field `number` of the metadata.
    #[inline(never)]
    pub(super) fn integer(&self, number: u32) -> Result<Prim> {
        let metadata = self.metadata()?;
        integer(metadata.uint(number)?, metadata.at())
    }

    /// Child `k` as `rows` integers of the type in field `number` of the metadata.
    #[inline(never)]
    pub(super) fn integers(&self, k: usize, number: u32, nullable: bool, rows: u64) -> Result<Node<'f>> {
        self.child(k, &DType::prim(self.integer(number)?, nullable), rows)
    }

    #[inline(never)]
    fn links(&self) -> Result<Option<Linked<'f, Table<'f>>>> {
        Ok(match &self.tree {
            Tree::Layout(layout) => layout.children()?.map(Linked::as_other),
            Tree::Array(_, array) => array.children()?.map(Linked::as_other),
            _ => None,
        })
    }

    /// How many children.
    pub(super) fn children(&self) -> Result<usize> {
        Ok(self.links()?.map_or(0, |links| links.len()))
    }

    /// Child `k` as `rows` rows of `dtype`; those of a layout know their rows.
    #[inline(never)]
    pub(super) fn child(&self, k: usize, dtype: &DType<'f>, rows: u64) -> Result<Node<'f>> {
        let none = || self.error(Kind::Invalid, What::VtxArray, k as u64);
        let child = self.links()?.filter(|links| k < links.len()).ok_or_else(none)?.get(k)?;
        let (tree, rows) = match self.tree {
            Tree::Array(blob, _) => (Tree::Array(blob, child.into()), rows),
            _ => {
                let layout = flat::Layout::from(child);
                (Tree::Layout(layout), layout.row_count()?)
            }
        };
        self.with(tree, dtype, rows)
    }

    /// Child `k` of a layout that must have as many rows as this one.
    pub(super) fn equal_child(&self, k: usize, dtype: &DType<'f>) -> Result<Node<'f>> {
        let found = self.child(k, dtype, self.rows);
        match &found {
            Ok(child) if child.rows != self.rows => Err(child.error(Kind::Invalid, What::VtxRows, child.rows)),
            _ => found,
        }
    }

    /// The child with the same rows, of a node that only wraps it. Of arrays those whose validity is their own
    /// are among them.
    #[inline(never)]
    pub(super) fn wrapped(&self) -> Result<Option<Node<'f>>> {
        let child = match (self.layout, self.encoding) {
            (Some(LayoutId::Flat), _) => self.flat(),
            (Some(LayoutId::Zoned | LayoutId::Stats), _) => self.equal_child(0, &self.dtype),
            (_, Some(Encoding::Ext)) => self.child(0, self.dtype.storage().as_ref()?, self.rows),
            (_, Some(Encoding::Map)) => self.child(0, self.dtype.entries().as_ref()?, self.rows),
            (_, Some(Encoding::Masked)) => self.child(0, &self.dtype.required(), self.rows),
            _ => return Ok(None),
        };
        child.map(Some)
    }

    /// The values that rows repeat or pick from, of a node of that kind.
    #[inline(never)]
    pub(super) fn repeated(&self) -> Result<Option<Node<'f>>> {
        Ok(Some(match (self.layout, self.encoding) {
            (Some(LayoutId::Dict), _) => self.dict_layout()?.1,
            (_, Some(Encoding::Dict)) => self.dict_array()?.1,
            (_, Some(Encoding::RunEnd)) => self.run_ends()?.1,
            (_, Some(Encoding::Sparse)) => self.child(1, &self.dtype, self.sparse_patches()?.len())?,
            _ => return Ok(None),
        }))
    }

    // Arrays.

    /// Which encoding; `None` for other nodes.
    pub(super) const fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// The error of an array that is not decoded.
    #[cold]
    pub(super) fn undecoded(&self) -> Error {
        match &self.tree {
            Tree::Array(_, array) => match array.encoding() {
                Ok(i) => self.file.undecoded(i),
                Err(e) => e,
            },
            Tree::Layout(layout) => match layout.encoding().and_then(|i| Ok((i, self.file.layout_id(i)?.1))) {
                Ok((i, at)) => Error::new(Kind::Unsupported, What::VtxLayoutId, at).with_need(i.into()),
                Err(e) => e,
            },
            _ => self.error(Kind::Unsupported, What::VtxScalar, 0),
        }
    }

    pub(super) fn blob(&self) -> Result<Blob<'f>> {
        match self.tree {
            Tree::Array(blob, _) | Tree::Scalar(blob, _) | Tree::Items(blob, ..) => Ok(blob),
            _ => Err(self.error(Kind::Invalid, What::VtxArray, 0)),
        }
    }

    /// Buffer `k` of an array node.
    pub(super) fn buffer(&self, k: usize) -> Result<Buffer<'f>> {
        let Tree::Array(blob, array) = &self.tree else {
            return Err(self.error(Kind::Invalid, What::VtxBuffer, k as u64));
        };
        let indices = array.buffers()?;
        let none = || self.error(Kind::Invalid, What::VtxBuffer, k as u64);
        blob.buffer(indices.and_then(|indices| indices.get(k)).ok_or_else(none)?)
    }

    /// How many buffers an array node has.
    pub(super) fn buffers(&self) -> Result<usize> {
        match &self.tree {
            Tree::Array(_, array) => Ok(array.buffers()?.map_or(0, |buffers| buffers.len())),
            _ => Ok(0),
        }
    }

    /// The validity child, at place `k` where there is one.
    pub(super) fn validity(&self, k: usize) -> Result<Option<Node<'f>>> {
        if !self.dtype.nullable || self.children()? <= k {
            return Ok(None);
        }
        self.child(k, &DType::BOOL, self.rows).map(Some)
    }

    /// The integer or float type of this node.
    pub(super) fn prim(&self) -> Result<Prim> {
        match self.dtype.storage()?.shape {
            Shape::Prim(prim) => Ok(prim),
            _ => Err(self.mistyped()),
        }
    }

    /// The error of an encoding that does not go with the type.
    #[cold]
    pub(super) fn mistyped(&self) -> Error {
        self.error(Kind::Invalid, What::VtxDType, 0)
    }
}
