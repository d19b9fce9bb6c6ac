//! Nodes: layouts, arrays and scalars as one type. The call stack takes the place of a tree in memory.

use core::fmt;

use super::blob::{Blob, Buffer};
use super::dtype::{DType, Shape, Ty, prim_of};
#[cfg(feature = "vortex-variant")]
use super::encodings::variant;
use super::file::{File, Root};
use super::raw::{Encoding, LayoutId};
use super::scalar::{Scalar, Steps};
use super::scheme::{Holds, Scheme};
#[cfg(feature = "vortex-variant")]
use super::stored_type::StoredType;
use crate::bytes::FileRange;
use crate::column::Prim;
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex as flat;
use crate::limits::Depth;
use crate::meta::flat::{Flat, Inline, Linked, Table};
use crate::meta::proto::Message;

/// A layout, array or scalar as rows of a type. It is `Copy`, and nothing below it is parsed.
#[derive(Clone, Copy)]
pub(super) struct Node<'f> {
    pub(super) file: &'f File<'f>,
    pub(super) form: Form<'f>,
    pub(super) dtype: Ty,
    pub(super) rows: u64,
    /// The table of a layout or array node; for a scalar, the table of the array that contains it. It carries the
    /// remaining depth for nodes below.
    table: Table<'f>,
    /// The segment with the buffers of arrays and scalars.
    pub(super) blob: Blob<'f>,
}

/// The kind of a node.
#[derive(Clone, Copy)]
pub(super) enum Form<'f> {
    Layout(LayoutId),
    Array(Encoding),
    /// Every row is this scalar.
    Scalar(Scalar<'f>),
    /// The rows are items inside this scalar, at the end of these steps.
    Items(Scalar<'f>, Steps),
    /// A type without rows.
    Nothing,
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut show = f.debug_struct("Node");
        show.field("at", &self.at()).field("encoding", &self.encoding()).field("layout", &self.layout());
        show.field("type", &self.dtype().ty()).field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// Returns the number of the layout or encoding. Both tables have it in the same field.
fn number_of_id(table: &Table<'_>) -> Result<u16> {
    const { assert!(flat::ArrayNode::ENCODING == flat::Layout::ENCODING) };
    table.scalar(flat::ArrayNode::ENCODING, 0)
}

// The kind and type of a node.
impl<'f> Node<'f> {
    /// Returns the type of the rows.
    pub(super) const fn dtype(&self) -> DType<'f> {
        self.file.dtype().with(self.dtype)
    }

    /// Returns the layout, or `None` for other nodes.
    pub(super) const fn layout(&self) -> Option<LayoutId> {
        match self.form {
            Form::Layout(layout) => Some(layout),
            _ => None,
        }
    }

    /// Returns the encoding, or `None` for other nodes.
    pub(super) const fn encoding(&self) -> Option<Encoding> {
        match self.form {
            Form::Array(encoding) => Some(encoding),
            _ => None,
        }
    }

    /// Returns the description of the layout or encoding, or `None` for other nodes.
    pub(super) fn scheme(&self) -> Option<&'static Scheme> {
        match self.form {
            Form::Layout(layout) => Some(layout.scheme()),
            Form::Array(encoding) => Some(self.scheme_of(encoding)),
            Form::Scalar(_) | Form::Items(..) | Form::Nothing => None,
        }
    }

    /// Returns the description of the encoding of this node. That of variants also depends on their parts, and on which of
    /// these the node is about.
    #[cfg(feature = "vortex-variant")]
    pub(super) fn scheme_of(&self, encoding: Encoding) -> &'static Scheme {
        match encoding {
            Encoding::Variant | Encoding::ParquetVariant => variant::scheme(self, encoding),
            _ => encoding.scheme(),
        }
    }

    #[cfg(not(feature = "vortex-variant"))]
    #[allow(clippy::unused_self, reason = "like the other one")]
    pub(super) const fn scheme_of(&self, encoding: Encoding) -> &'static Scheme {
        encoding.scheme()
    }

    /// Returns the kind of the rows, or `None` for scalars and for nodes without rows.
    pub(super) fn holds(&self) -> Option<Holds> {
        self.scheme().map(|scheme| scheme.holds)
    }

    /// Returns the id of the layout or encoding as stored in the file, and the offset of the id.
    pub(super) fn id(&self) -> Result<(&'f [u8], u64)> {
        match self.form {
            Form::Layout(_) => self.file.layout_id(number_of_id(&self.table)?),
            Form::Array(_) => self.file.array_id(number_of_id(&self.table)?),
            _ => Err(self.error(Kind::Invalid, What::VORTEX_ARRAY, 0)),
        }
    }

    /// Returns the integer or float type of this node.
    pub(super) fn prim(&self) -> Result<Prim> {
        match self.dtype.shape {
            Shape::Prim(prim) => Ok(prim),
            _ => Err(self.mistyped()),
        }
    }

    /// Returns the offset in the file, for errors.
    pub(super) fn at(&self) -> u64 {
        match &self.form {
            Form::Layout(_) | Form::Array(_) => self.table.at(),
            Form::Scalar(scalar) | Form::Items(scalar, _) => scalar.message().at(),
            Form::Nothing => 0,
        }
    }

    /// Creates an error about this node.
    #[cold]
    pub(super) fn error(&self, kind: Kind, what: What, need: u64) -> Error {
        Error::needing(kind, what, self.at(), need)
    }

    /// Creates the error for an encoding that does not match the type.
    #[cold]
    pub(super) fn mistyped(&self) -> Error {
        self.error(Kind::Invalid, What::VORTEX_DTYPE, 0)
    }

    /// Creates the error for a node that is not decoded. [`Error::at`] is the offset of its id.
    #[cold]
    pub(super) fn undecoded(&self) -> Error {
        let what = match self.form {
            Form::Layout(_) => What::VORTEX_LAYOUT_ID,
            Form::Array(_) => What::VORTEX_ENCODING,
            _ => return self.error(Kind::Unsupported, What::VORTEX_SCALAR, 0),
        };
        match number_of_id(&self.table).and_then(|number| Ok((number, self.id()?.1))) {
            Ok((number, at)) => Error::needing(Kind::Unsupported, what, at, number.into()),
            Err(e) => e,
        }
    }
}

// The contents of the table of a node.
impl<'f> Node<'f> {
    /// Returns the metadata of the encoding or layout.
    pub(super) fn metadata(&self) -> Result<Message<'f>> {
        let field = match self.form {
            Form::Layout(_) => flat::Layout::METADATA,
            Form::Array(_) => flat::ArrayNode::METADATA,
            _ => return Ok(Message::new_at(&[], self.at())),
        };
        let bytes = self.table.elements::<u8>(field)?;
        Ok(Message::new_at(bytes.bytes(), bytes.at()))
    }

    /// Returns fields of the metadata as unsigned integers, 0 if a field is absent.
    pub(super) fn numbers<const N: usize>(&self, fields: &[u32; N]) -> Result<[u64; N]> {
        let mut found = [0; N];
        self.find_numbers(fields, &mut found)?;
        Ok(found)
    }

    fn find_numbers(&self, fields: &[u32], found: &mut [u64]) -> Result<()> {
        self.metadata()?.find(fields, found)
    }

    /// Returns the integer type with number `ptype` in the metadata.
    pub(super) fn integer(&self, ptype: u64) -> Result<Prim> {
        match prim_of(ptype) {
            Some(Prim::F16 | Prim::F32 | Prim::F64) | None => {
                Err(Error::needing(Kind::Invalid, What::VORTEX_METADATA, self.metadata()?.at(), ptype))
            }
            Some(prim) => Ok(prim),
        }
    }

    /// Returns buffer `k` of an array node.
    pub(super) fn buffer(&self, k: usize) -> Result<Buffer<'f>> {
        let number = self.buffer_numbers()?.get(k);
        let number = number.ok_or_else(|| self.error(Kind::Invalid, What::VORTEX_BUFFER, k as u64))?;
        self.blob.buffer(&self.table.root()?.elements(flat::Array::BUFFERS)?, number)
    }

    /// Returns the number of steps that finding buffer `k` takes: its number in the blob, which does not follow from `k`.
    #[cfg(any(feature = "pco", feature = "zstd"))]
    pub(super) fn buffer_steps(&self, k: usize) -> Result<usize> {
        Ok(self.buffer_numbers()?.get(k).map_or(0, usize::from))
    }

    /// Returns the alignment of buffer `k` that the file claims, as an exponent of two.
    pub(super) fn alignment(&self, k: usize) -> Result<u8> {
        let number = self.buffer_numbers()?.get(k).map(usize::from);
        let specs = self.table.root()?.elements::<flat::Buffer>(flat::Array::BUFFERS)?;
        let spec = number.and_then(|number| specs.get(number));
        Ok(spec.ok_or_else(|| self.error(Kind::Invalid, What::VORTEX_BUFFER, k as u64))?.alignment_exponent)
    }

    /// Returns the table of a layout or array.
    pub(super) const fn table(&self) -> &Table<'f> {
        &self.table
    }

    /// Returns the number of buffers of an array node.
    pub(super) fn buffers(&self) -> Result<usize> {
        Ok(self.buffer_numbers()?.len())
    }

    /// Returns the numbers of the buffers of an array node in its blob.
    fn buffer_numbers(&self) -> Result<Inline<'f, u16>> {
        match self.form {
            Form::Array(_) => self.table.elements(flat::ArrayNode::BUFFERS),
            _ => Ok(Inline::EMPTY),
        }
    }

    /// Returns the number of the only segment of a flat layout.
    pub(super) fn segment_number(&self) -> Result<u32> {
        let segments = match self.form {
            Form::Layout(_) => flat::Layout::from(self.table).segments()?,
            _ => None,
        };
        let count = segments.map_or(0, |segments| segments.len());
        let only = segments.filter(|_| count == 1).and_then(|segments| segments.get(0));
        only.ok_or_else(|| self.error(Kind::Invalid, What::VORTEX_LAYOUT, count as u64))
    }

    /// Returns the byte range of the segment of a flat layout.
    pub(super) fn segment(&self) -> Result<FileRange> {
        self.file.segment(self.segment_number()?)
    }

    /// Returns the field with the children, or `None` for nodes that have none.
    const fn links(&self) -> Option<u8> {
        match self.form {
            Form::Layout(_) => Some(flat::Layout::CHILDREN),
            Form::Array(_) => Some(flat::ArrayNode::CHILDREN),
            _ => None,
        }
    }

    /// Returns the number of children.
    pub(super) fn children(&self) -> Result<usize> {
        self.links().map_or(Ok(0), |links| self.table.count(links))
    }

    /// Returns where the metadata of the node are: no other node of an open file has the same.
    #[cfg(feature = "std")]
    pub(super) fn identity(&self) -> (usize, u64) {
        self.table.identity()
    }

    /// Returns the children of a layout.
    pub(super) fn layouts(&self) -> Result<Option<Linked<'f, Table<'f>>>> {
        match self.form {
            Form::Layout(_) => self.table.links(flat::Layout::CHILDREN),
            _ => Ok(None),
        }
    }
}

// Other nodes that can be reached from a node.
impl<'f> Node<'f> {
    /// Returns the root of a file.
    pub(super) fn root(file: &'f File<'f>) -> Result<Self> {
        let depth = Depth::new(file.limits());
        let (dtype, rows) = (file.dtype().ty, file.rows()?);
        let nothing = Node { file, form: Form::Nothing, dtype, rows, table: Table::EMPTY, blob: Blob::NONE };
        match file.root() {
            Root::Layout(layout) => {
                let table = Table::from(layout).with_depth(depth);
                Ok(Node { form: Form::Layout(file.layout(number_of_id(&table)?)?), table, ..nothing })
            }
            Root::Blob(bytes, _) => nothing.array_in(bytes, 0, depth),
        }
    }

    /// Returns the root of the array in the segment `bytes`, which starts at offset `at`, with the rows of this node.
    fn array_in(&self, bytes: &'f [u8], at: u64, depth: Depth) -> Result<Self> {
        let short = |need: u64| Error::needing(Kind::Truncated, What::VORTEX_ARRAY, at, need);
        let (rest, len) = bytes.split_last_chunk::<4>().ok_or_else(|| short(4))?;
        let len = u32::from_le_bytes(*len);
        let start = rest.len().checked_sub(len as usize).ok_or_else(|| short(len.into()))?;
        let tree = rest.get(start..).unwrap_or_default();
        let array: Table<'f> = Flat::new_at(tree, at.saturating_add(start as u64)).with_depth(depth).root()?;
        let root = array.table::<Table<'f>>(flat::Array::ROOT)?;
        let table = root.ok_or_else(|| Error::new(Kind::Invalid, What::VORTEX_ARRAY, array.at()))?.with_depth(depth);
        let blob = Blob { bytes, at };
        Ok(Node { form: Form::Array(self.file.encoding(number_of_id(&table)?)?), table, blob, ..*self })
    }

    /// Returns this node of another handle on the file.
    pub(super) fn with_file<'w>(&self, file: &'w File<'w>) -> Node<'w>
    where
        'f: 'w,
    {
        let node: Node<'w> = *self;
        Node { file, ..node }
    }

    /// Returns the remaining depth for a node below this one.
    fn depth(&self) -> Result<Depth> {
        self.table.depth().child(self.at())
    }

    /// Returns the array in the segment of a flat layout.
    pub(super) fn array(&self) -> Result<Self> {
        let span = self.segment()?;
        let bytes = self.file.input().get(span, What::VORTEX_SEGMENT)?;
        self.array_in(bytes, span.at, self.depth()?)
    }

    /// Returns child `k` as `rows` rows of `dtype`. The child of a layout has its own number of rows instead.
    pub(super) fn child(&self, k: usize, dtype: &Ty, rows: u64) -> Result<Self> {
        let table = self.links().map_or(Ok(None), |links| self.table.element(links, k))?;
        let table = table.ok_or_else(|| self.error(Kind::Invalid, What::VORTEX_ARRAY, k as u64))?;
        let (mut rows, number) = (rows, number_of_id(&table)?);
        let form = if self.layout().is_some() {
            rows = table.scalar(flat::Layout::ROW_COUNT, 0)?;
            Form::Layout(self.file.layout(number)?)
        } else {
            Form::Array(self.file.encoding(number)?)
        };
        Ok(Node { form, dtype: *dtype, rows, table, ..*self })
    }

    /// Returns child `k` as rows of `dtype`. Fails unless it has as many rows as this node.
    pub(super) fn aligned(&self, k: usize, dtype: &Ty) -> Result<Self> {
        let child = self.child(k, dtype, self.rows);
        match &child {
            Ok(other) if other.rows != self.rows => Err(other.error(Kind::Invalid, What::VORTEX_ROWS, other.rows)),
            _ => child,
        }
    }

    /// Returns child `k` as `rows` integers of the type with number `ptype` in the metadata.
    pub(super) fn integers(&self, k: usize, ptype: u64, nullable: bool, rows: u64) -> Result<Self> {
        self.child(k, &Ty::prim(self.integer(ptype)?, nullable), rows)
    }

    /// Returns child `k` as offsets: the start of each row, followed by the end of the last row.
    pub(super) fn offsets(&self, k: usize, ptype: u64) -> Result<Self> {
        self.integers(k, ptype, false, self.rows.saturating_add(1))
    }

    /// Returns the validity in child `k`, or `None` if the type has no nulls or the child is absent.
    pub(super) fn validity(&self, k: usize) -> Result<Option<Self>> {
        if !self.dtype.nullable || self.children()? <= k {
            return Ok(None);
        }
        self.aligned(k, &Ty::BOOL).map(Some)
    }

    /// Returns the node for child `k` of the type, or `None` if this node is not nested itself but only stores nested
    /// rows in a node below.
    pub(super) fn nested(&self, k: usize) -> Result<Option<Self>> {
        self.nested_of(k, || self.child_type(&self.dtype, k))
    }

    /// Returns the type of child `k` of `ty`, a type of this node or of rows below it.
    pub(super) fn child_type(&self, ty: &Ty, k: usize) -> Result<Ty> {
        #[cfg(feature = "vortex-variant")]
        if let Some(ty) = StoredType::child_of(ty, k, &self.blob)? {
            return Ok(ty);
        }
        self.file.child_type(ty, k)
    }

    /// Like [`nested`](Self::nested); `dtype` returns the type of the child.
    #[inline]
    pub(super) fn nested_of(&self, k: usize, dtype: impl Fn() -> Result<Ty>) -> Result<Option<Self>> {
        let field = self.dtype.shape.is_struct().then_some(k);
        match (&self.form, self.holds()) {
            (_, Some(Holds::Nested(nested))) => (nested.child)(self, k, &dtype()?),
            (Form::Scalar(scalar), _) => match field {
                Some(k) => self.scalar(&scalar.field(k as u64)?, &dtype()?),
                None => self.items(scalar, Some(Steps::ITEMS), &dtype()?),
            },
            (Form::Items(scalar, steps), _) => self.items(scalar, steps.then(field), &dtype()?),
            _ => return Ok(None),
        }
        .map(Some)
    }

    /// Returns a node with the same rows; each row is `scalar` of type `dtype`.
    pub(super) fn scalar(&self, scalar: &Scalar<'f>, dtype: &Ty) -> Result<Self> {
        Ok(Node { form: Form::Scalar(*scalar), dtype: *dtype, table: self.table.with_depth(self.depth()?), ..*self })
    }

    /// Returns the rows inside `scalar` at the end of `steps`. Fails if `steps` is `None`, which means too many steps.
    fn items(&self, scalar: &Scalar<'f>, steps: Option<Steps>, dtype: &Ty) -> Result<Self> {
        let steps = steps.ok_or_else(|| self.error(Kind::Limit, What::MAX_DEPTH, Steps::MOST))?;
        let (rows, table) = (scalar.count(steps)?, self.table.with_depth(self.depth()?));
        Ok(Node { form: Form::Items(*scalar, steps), dtype: *dtype, rows, table, ..*self })
    }

    /// Returns this node as rows of another type.
    #[cfg(feature = "vortex-variant")]
    pub(super) const fn retyped(&self, dtype: Ty) -> Self {
        Node { dtype, ..*self }
    }

    /// Returns a node of type `dtype` without rows.
    pub(super) const fn nothing(&self, dtype: Ty) -> Self {
        Node { form: Form::Nothing, rows: 0, dtype, ..*self }
    }
}
