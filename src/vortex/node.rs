//! Nodes: layouts and arrays are one kind, the call stack is the tree.

use core::fmt;

use super::dtype::{DType, Shape, Ty, integer};
use super::file::{File, Root};
use super::raw::{Encoding, LayoutId};
use super::scalar::{Scalar, Steps};
use crate::bytes::{Span, saturated};
use crate::column::Prim;
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex as flat;
use crate::limits::Depth;
use crate::meta::flat::{Flat, Inline, Linked, Table};
use crate::meta::proto::Message;

/// A place in the tree that yields rows of a type: small, `Copy`, and nothing below it looked at.
///
/// It is some 120 bytes on small machines, so a node that somebody gives is looked at where it is (`as_ref()?`)
/// rather than moved out of its result: such moves were 4 KB of the reader's code.
#[derive(Clone, Copy)]
pub(super) struct Node<'f> {
    pub(super) file: &'f File<'f>,
    pub(super) form: Form<'f>,
    pub(super) dtype: Ty,
    pub(super) rows: u64,
    depth: Depth,
    /// Of a layout, or of an array node: for a scalar that of the array which holds it.
    table: Table<'f>,
    /// What arrays and scalars lie in.
    pub(super) blob: Blob<'f>,
}

/// Some rows of a node, on the way down to what holds them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'f> {
    pub(super) node: Node<'f>,
    pub(super) at: u64,
    pub(super) left: u64,
}

/// What a node is made of.
#[derive(Clone, Copy)]
pub(super) enum Form<'f> {
    Layout(LayoutId),
    Array(Encoding),
    /// Every row is this scalar.
    Scalar(Scalar<'f>),
    /// The rows lie in this scalar, at the end of these steps.
    Items(Scalar<'f>, Steps),
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
    buffers: Inline<'f, flat::Buffer>,
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
    /// That of a layout, which has its segments elsewhere.
    const NONE: Blob<'static> = Blob { bytes: &[], at: 0, buffers: Inline::EMPTY };

    /// Buffer `i` of the blob. Buffers follow each other, so this walks over those before.
    fn buffer(&self, i: u16) -> Result<Buffer<'f>> {
        let none = || Error::needing(Kind::OutOfRange, What::VtxBuffer, i.into(), self.buffers.len() as u64);
        let (mut start, mut end, mut compression) = (0, 0u64, flat::Compression::None);
        for k in 0..=usize::from(i) {
            let spec = self.buffers.get(k).ok_or_else(none)?;
            start = end.saturating_add(spec.padding.into());
            end = start.saturating_add(spec.length.into());
            compression = spec.compression;
        }
        let at = self.at.saturating_add(start);
        if compression != flat::Compression::None {
            return Err(Error::needing(Kind::Unsupported, What::VtxBuffer, at, i.into()));
        }
        let bytes = self.bytes.get(saturated(start)..saturated(end));
        let cut = || Error::needing(Kind::Truncated, What::VtxBuffer, at, end.saturating_sub(start));
        Ok(Buffer { bytes: bytes.ok_or_else(cut)?, start: saturated(start), at })
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut show = f.debug_struct("Node");
        show.field("at", &self.at()).field("encoding", &self.encoding()).field("layout", &self.layout());
        show.field("type", &self.dtype().ty()).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<'f> Node<'f> {
    /// The root of a file.
    pub(super) fn root(file: &'f File<'f>) -> Result<Self> {
        let depth = Depth::new(file.limits());
        let (form, table) = match file.root() {
            Root::Layout(layout) => (Form::Layout(LayoutId::Unknown), layout.into()),
            Root::Blob(..) => (Form::Nothing, Table::EMPTY),
        };
        let (dtype, rows) = (file.dtype().ty, file.rows()?);
        let mut root = Node { file, form, dtype, rows, depth, table, blob: Blob::NONE };
        match file.root() {
            Root::Layout(_) => root.identify()?,
            Root::Blob(bytes, _) => root.enter_blob(bytes, 0)?,
        }
        Ok(root)
    }

    /// Number of the layout or encoding: both have it in the same field.
    fn number_of_id(&self) -> Result<u16> {
        self.table.scalar(flat::ArrayNode::ENCODING, 0)
    }

    /// The number of a field that tables of layouts and of arrays have; `None` for other nodes.
    const fn field(&self, of_layout: u8, of_array: u8) -> Option<u8> {
        match self.form {
            Form::Layout(_) => Some(of_layout),
            Form::Array(_) => Some(of_array),
            _ => None,
        }
    }

    /// Looks up which layout or encoding its table is of.
    #[inline(never)]
    fn identify(&mut self) -> Result<()> {
        let number = self.number_of_id()?;
        self.form = match self.form {
            Form::Layout(_) => Form::Layout(self.file.layout(number)?),
            _ => Form::Array(self.file.encoding(number)?),
        };
        Ok(())
    }

    /// Its type.
    pub(super) const fn dtype(&self) -> DType<'f> {
        self.file.dtype().with(self.dtype)
    }

    /// Offset in the file, for errors.
    pub(super) fn at(&self) -> u64 {
        match &self.form {
            Form::Layout(_) | Form::Array(_) => self.table.at(),
            Form::Scalar(scalar) | Form::Items(scalar, _) => scalar.message().at(),
            Form::Nothing => 0,
        }
    }

    /// An error about this node.
    #[cold]
    pub(super) fn error(&self, kind: Kind, what: What, need: u64) -> Error {
        Error::needing(kind, what, self.at(), need)
    }

    /// Becomes what lies in a scalar, in the same blob.
    fn enter_scalar(&mut self, form: Form<'f>, rows: u64) -> Result<()> {
        let at = self.at();
        (self.form, self.rows) = (form, rows);
        self.depth.enter(at)
    }

    /// Becomes a node without rows.
    pub(super) const fn enter_nothing(&mut self) {
        (self.form, self.rows) = (Form::Nothing, 0);
    }

    /// Every row becomes the item `i` of this scalar.
    pub(super) fn enter_item(&mut self, scalar: &Scalar<'f>, i: u64) -> Result<()> {
        self.enter_scalar(Form::Scalar(scalar.field(i)?), self.rows)
    }

    /// Goes on to the rows that lie in this scalar, at the end of `steps`, where those lead so far.
    pub(super) fn enter_items(&mut self, scalar: &Scalar<'f>, steps: Option<Steps>) -> Result<()> {
        let steps = steps.ok_or_else(|| self.error(Kind::Limit, What::MaxDepth, 4))?;
        self.enter_scalar(Form::Items(*scalar, steps), scalar.count(steps)?)
    }

    /// Goes on from a constant array to its scalar, which every row is.
    #[inline(never)]
    pub(super) fn enter_constant(&mut self) -> Result<()> {
        self.enter_scalar(Form::Scalar(self.fill()?), self.rows)
    }

    /// The scalar of a constant array, and that of a sparse one where it has no patches.
    pub(super) fn fill(&self) -> Result<Scalar<'f>> {
        let buffer = self.buffer(0)?;
        Ok(Scalar::new(Message::new_at(buffer.bytes, buffer.at)))
    }

    /// Whether a constant array of bools is one of true ones.
    #[inline(never)]
    pub(super) fn is_filled(&self) -> Result<bool> {
        Ok(self.fill().as_ref()?.cell(Shape::Bool)?.first() == Some(&1))
    }

    // Layouts.

    /// Which layout; `None` for other nodes.
    pub(super) const fn layout(&self) -> Option<LayoutId> {
        match self.form {
            Form::Layout(layout) => Some(layout),
            _ => None,
        }
    }

    /// Goes on from a flat layout to its blob.
    pub(super) fn enter_flat(&mut self) -> Result<()> {
        let Some(span) = self.segment()? else { return Ok(()) };
        let bytes = self.file.source().get(span, What::VtxSegment)?;
        self.depth.enter(self.at())?;
        self.enter_blob(bytes, span.at)
    }

    /// Goes on to the root of the array in the segment `bytes`.
    fn enter_blob(&mut self, bytes: &'f [u8], at: u64) -> Result<()> {
        let short = |need: u64| Error::needing(Kind::Truncated, What::VtxArray, at, need);
        let (rest, len) = bytes.split_last_chunk::<4>().ok_or_else(|| short(4))?;
        let len = u32::from_le_bytes(*len);
        let start = rest.len().checked_sub(len as usize).ok_or_else(|| short(len.into()))?;
        let tree = rest.get(start..).unwrap_or_default();
        self.table.enter_root(Flat::new_at(tree, at.saturating_add(start as u64)).with_depth(self.depth))?;
        let array = flat::Array::from(self.table);
        if !self.table.enter(flat::Array::ROOT)? {
            return Err(Error::new(Kind::Invalid, What::VtxArray, array.at()));
        }
        let buffers = Table::from(array).elements(flat::Array::BUFFERS)?;
        self.blob = Blob { bytes, at, buffers };
        self.form = Form::Array(Encoding::Unknown);
        self.identify()
    }

    /// Where the segment of a flat layout lies.
    pub(super) fn segment(&self) -> Result<Option<Span>> {
        if self.layout().is_none() {
            return Ok(None);
        }
        self.file.segment(self.segment_number()?).map(Some)
    }

    /// The one segment of a flat layout, by number.
    pub(super) fn segment_number(&self) -> Result<u32> {
        let segments = match self.form {
            Form::Layout(_) => flat::Layout::from(self.table).segments()?,
            _ => None,
        };
        let count = segments.map_or(0, |segments| segments.len());
        let only = segments.filter(|_| count == 1).and_then(|segments| segments.get(0));
        only.ok_or_else(|| self.error(Kind::Invalid, What::VtxLayout, count as u64))
    }

    /// Metadata of the encoding or layout.
    pub(super) fn metadata(&self) -> Result<Message<'f>> {
        match self.field(flat::Layout::METADATA, flat::ArrayNode::METADATA) {
            Some(field) => {
                let bytes = self.table.elements::<u8>(field)?;
                Ok(Message::new_at(bytes.bytes(), bytes.at()))
            }
            None => Ok(Message::new_at(&[], self.at())),
        }
    }

    /// Field `number` of the metadata, 0 where it is left out.
    #[inline(never)]
    pub(super) fn number(&self, number: u32) -> Result<u64> {
        Ok(self.metadata().as_ref()?.uint(number)?.unwrap_or(0))
    }

    /// The same of a number that has 32 bits.
    #[inline(never)]
    pub(super) fn number32(&self, number: u32) -> Result<u32> {
        Ok(self.metadata().as_ref()?.uint32(number)?.unwrap_or(0))
    }

    /// The integer type in field `number` of the metadata.
    #[inline(never)]
    pub(super) fn integer(&self, number: u32) -> Result<Prim> {
        let metadata = self.metadata();
        let metadata = metadata.as_ref()?;
        integer(metadata.uint(number)?, metadata.at())
    }

    /// Child `k` as `rows` integers of the type in field `number` of the metadata.
    #[inline(never)]
    pub(super) fn integers(&self, k: usize, number: u32, nullable: bool, rows: u64) -> Result<Node<'f>> {
        self.numbers_of(k, self.integer(number)?, nullable, rows)
    }

    /// Child `k` as offsets: where each row begins, and where the last one ends.
    #[inline(never)]
    pub(super) fn offsets(&self, k: usize, number: u32) -> Result<Node<'f>> {
        let mut offsets = *self;
        offsets.enter_offsets(k, number)?;
        Ok(offsets)
    }

    /// Goes on to child `k`, which are offsets.
    #[inline(never)]
    pub(super) fn enter_offsets(&mut self, k: usize, number: u32) -> Result<()> {
        self.dtype = Ty::prim(self.integer(number)?, false);
        self.enter(k, self.rows.saturating_add(1))
    }

    /// Child `k` as `rows` numbers of a type.
    #[inline(never)]
    pub(super) fn numbers_of(&self, k: usize, prim: Prim, nullable: bool, rows: u64) -> Result<Node<'f>> {
        self.child(k, &Ty::prim(prim, nullable), rows)
    }

    /// The field with the children; `None` for nodes that have none.
    const fn links(&self) -> Option<u8> {
        self.field(flat::Layout::CHILDREN, flat::ArrayNode::CHILDREN)
    }

    /// How many children.
    pub(super) fn children(&self) -> Result<usize> {
        self.links().map_or(Ok(0), |links| self.table.count(links))
    }

    /// The children of a layout.
    pub(super) fn layouts(&self) -> Result<Option<Linked<'f, Table<'f>>>> {
        match self.form {
            Form::Layout(_) => self.table.links(flat::Layout::CHILDREN),
            _ => Ok(None),
        }
    }

    /// Child `k` as `rows` rows of `dtype`; those of a layout know their rows.
    #[inline(never)]
    pub(super) fn child(&self, k: usize, dtype: &Ty, rows: u64) -> Result<Node<'f>> {
        let mut child = Node { dtype: *dtype, ..*self };
        child.enter(k, rows)?;
        Ok(child)
    }

    /// Goes on to child `k`, as `rows` rows of the same type; those of a layout know their rows. Who takes such steps
    /// moves no nodes about.
    #[inline(never)]
    pub(super) fn enter(&mut self, k: usize, rows: u64) -> Result<()> {
        let at = self.at();
        if !self.links().map_or(Ok(false), |links| self.table.enter_element(links, k))? {
            return Err(self.error(Kind::Invalid, What::VtxArray, k as u64));
        }
        self.rows = rows;
        if self.layout().is_some() {
            self.rows = self.table.scalar(flat::Layout::ROW_COUNT, 0)?;
        }
        self.depth.enter(at)?;
        self.identify()
    }

    /// Goes on to child `k`, which must have `rows` rows; those of an array have.
    pub(super) fn enter_exactly(&mut self, k: usize, rows: u64) -> Result<()> {
        self.enter(k, rows)?;
        if self.rows == rows { Ok(()) } else { Err(self.error(Kind::Invalid, What::VtxRows, self.rows)) }
    }

    /// Goes on to the child with the same rows, of a node that only wraps it; whether it did. Of arrays those whose
    /// validity is their own are among them.
    #[inline(never)]
    pub(super) fn enter_wrapped(&mut self) -> Result<bool> {
        match self.form {
            Form::Layout(LayoutId::Flat) => return self.enter_flat().map(|()| true),
            Form::Layout(LayoutId::Zoned | LayoutId::Stats) => {}
            Form::Array(Encoding::Ext) => {
                let mut dtype = self.dtype();
                dtype.enter_storage()?;
                self.dtype = dtype.ty;
            }
            Form::Array(Encoding::Map) => self.dtype = self.dtype.entries()?,
            Form::Array(Encoding::Masked) => self.dtype.nullable = false,
            _ => return Ok(false),
        }
        self.enter_exactly(0, self.rows).map(|()| true)
    }

    /// Goes on to the values that rows repeat or pick from; whether the node is of that kind.
    #[inline(never)]
    pub(super) fn enter_values(&mut self) -> Result<bool> {
        let (k, rows) = match self.form {
            Form::Layout(LayoutId::Dict) => (0, 0),
            Form::Array(Encoding::Dict) => (1, self.number32(1)?.into()),
            Form::Array(Encoding::RunEnd) => (1, self.number(2)?),
            Form::Array(Encoding::Sparse) => (1, self.sparse_patches()?.len()),
            _ => return Ok(false),
        };
        self.enter(k, rows).map(|()| true)
    }

    // Arrays.

    /// Which encoding; `None` for other nodes.
    pub(super) const fn encoding(&self) -> Option<Encoding> {
        match self.form {
            Form::Array(encoding) => Some(encoding),
            _ => None,
        }
    }

    /// The id of the layout or encoding, as the file has it, and where.
    pub(super) fn id(&self) -> Result<(&'f [u8], u64)> {
        match self.form {
            Form::Layout(_) => self.file.layout_id(self.number_of_id()?),
            Form::Array(_) => self.file.array_id(self.number_of_id()?),
            _ => Err(self.error(Kind::Invalid, What::VtxArray, 0)),
        }
    }

    /// The error of an array that is not decoded: its id lies at [`Error::at`].
    #[cold]
    pub(super) fn undecoded(&self) -> Error {
        let what = match self.form {
            Form::Layout(_) => What::VtxLayoutId,
            Form::Array(_) => What::VtxEncoding,
            _ => return self.error(Kind::Unsupported, What::VtxScalar, 0),
        };
        match self.number_of_id().and_then(|number| Ok((number, self.id()?.1))) {
            Ok((number, at)) => Error::needing(Kind::Unsupported, what, at, number.into()),
            Err(e) => e,
        }
    }

    /// Buffer `k` of an array node.
    pub(super) fn buffer(&self, k: usize) -> Result<Buffer<'f>> {
        let numbers = self.buffer_numbers();
        self.blob.buffer(numbers.as_ref()?.get(k).ok_or_else(|| self.error(Kind::Invalid, What::VtxBuffer, k as u64))?)
    }

    /// How many buffers an array node has.
    pub(super) fn buffers(&self) -> Result<usize> {
        Ok(self.buffer_numbers().as_ref()?.len())
    }

    /// The numbers of the buffers of an array node in its blob.
    fn buffer_numbers(&self) -> Result<Inline<'f, u16>> {
        match self.form {
            Form::Array(_) => self.table.elements(flat::ArrayNode::BUFFERS),
            _ => Ok(Inline::EMPTY),
        }
    }

    /// The validity child, at place `k` where there is one.
    pub(super) fn validity(&self, k: usize) -> Result<Option<Node<'f>>> {
        if !self.dtype.nullable || self.children()? <= k {
            return Ok(None);
        }
        self.child(k, &Ty::BOOL, self.rows).map(Some)
    }

    /// The integer or float type of this node.
    pub(super) fn prim(&self) -> Result<Prim> {
        match self.dtype.shape {
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
