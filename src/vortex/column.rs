//! Columns.

use core::fmt;
use core::ops::Range;

use super::dtype::{DType, Shape, Ty};
use super::node::{Form, Node, Rows};
use super::raw::{Encoding, LayoutId};
use super::text::Plan;
use super::tree::{Run, Text};
use crate::bytes::{Scratch, product};
use crate::column::{self, Batch, Dictionary, Type, Validity, Values};
use crate::encoding::fastlanes::BLOCK;
use crate::error::{Error, Kind, Result, What};

/// Fields of structs that a column goes down through, once its rows are looked at.
const PATH: usize = 4;

/// A column, also of every child: rows of a type, and a place in the tree that yields them.
#[derive(Clone, Copy)]
pub struct Column<'f> {
    node: Node<'f>,
    /// Below `node`, through structs that are not looked at yet.
    path: [u16; PATH],
    steps: u8,
    dtype: Ty,
}

impl<'f> Column<'f> {
    pub(super) const fn new(node: Node<'f>) -> Self {
        Column { node, path: [0; PATH], steps: 0, dtype: node.dtype }
    }

    pub(super) const fn node(&self) -> &Node<'f> {
        &self.node
    }

    /// Fields below the node.
    pub(super) const fn steps(&self) -> u8 {
        self.steps
    }

    /// The logical type as the file has it.
    #[must_use]
    pub const fn dtype(&self) -> DType<'f> {
        self.node.file.dtype().with(self.dtype)
    }

    /// One row, as a batch: what [`read`](column::Column::read) gives for it alone.
    ///
    /// The work does not grow with the rows around it: a step for each node on the way, a search in run ends and
    /// patches, one block of 1024 for delta. Only pco decodes the page of the row, zstd its frame, both after
    /// counting the rows with a value before it; and chunks of a layout are passed one by one.
    ///
    /// # Errors
    /// As [`read`](column::Column::read).
    pub fn scalar_at<'s>(&self, row: u64, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        'f: 's,
    {
        column::Column::read(self, row..row.saturating_add(1), scratch)
    }

    /// Shows the segments that reading `rows` takes, each once or more often: dictionaries, codes and data, not
    /// zones. What they hold is not looked at, so none need be there.
    ///
    /// # Errors
    /// What is wrong with the layouts, and what `show` says.
    pub fn segments(&self, rows: Range<u64>, show: &mut dyn FnMut(crate::bytes::Span) -> Result<()>) -> Result<()> {
        let mut run = Run::new(self.node.file.limits(), 0);
        let path = self.path.get(..self.steps.into()).unwrap_or_default();
        self.node.segments(path, rows, &mut run, show)
    }

    /// The field `k` of a struct.
    pub(super) fn field(&self, k: usize) -> Result<Self> {
        let dtype = self.node.file.child_type(&self.dtype, k)?;
        let node = if self.steps == 0 { self.node.nested_child(k)? } else { self.node.nothing(&dtype) };
        if !matches!(node.form, Form::Nothing) {
            return Ok(Column::new(node));
        }
        // The struct is behind chunks or codes: which one is known when a row is asked for.
        let mut deeper = Column { dtype, ..*self };
        let step = deeper.path.get_mut(usize::from(self.steps));
        match (step, u16::try_from(k)) {
            (Some(step), Ok(k)) => *step = k,
            _ => return Err(self.node.error(Kind::Limit, What::MaxDepth, PATH as u64)),
        }
        deeper.steps = self.steps.saturating_add(1);
        Ok(deeper)
    }

    /// The rows from `row` on, as far as one node holds them.
    fn resolve(&self, row: u64, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<Rows<'f>> {
        let path = self.path.get(..self.steps.into()).unwrap_or_default();
        let mut rows = Rows { node: self.node, at: row, left: self.node.rows.saturating_sub(row) };
        rows.enter(path, run, s)?;
        Ok(rows)
    }

    /// The rows of `rows` that are read at once, and how many: those of one chunk, and of many no part of a block.
    fn window(&self, rows: &Range<u64>, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<(Rows<'f>, usize)> {
        if rows.start > rows.end || rows.end > self.node.rows {
            return Err(Error::new(Kind::OutOfRange, What::Row, rows.end).with_need(self.node.rows));
        }
        let mut window = self.resolve(rows.start, run, s)?;
        if self.dtype.children() > 0 {
            window.left = window.unbroken(run, s)?;
        }
        let mut len = rows.end.saturating_sub(rows.start).min(window.left);
        let block = BLOCK as u64;
        if len >= block.saturating_mul(4) {
            len = len.saturating_sub(window.at.saturating_add(len) & block.wrapping_sub(1));
        }
        let bad = |_| self.node.error(Kind::OutOfRange, What::Row, self.node.rows);
        Ok((window, usize::try_from(len).map_err(bad)?))
    }
}

impl Rows<'_> {
    /// Into what holds the first of them: of structs the field at the end of `path`.
    fn enter(&mut self, mut path: &[u16], run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        loop {
            run.fuel.spend(self.node.at())?;
            if (self.node.layout().is_some() || !path.is_empty() && self.left > 0)
                && let Some(child) = self.node.wrapped().as_ref()?
            {
                self.node = *child;
                continue;
            }
            if self.left == 0 {
                return Ok(());
            }
            match self.node.form {
                Form::Layout(LayoutId::Chunked) | Form::Array(Encoding::Chunked) => self.enter_chunk(run, s)?,
                Form::Array(Encoding::Constant) if !path.is_empty() => self.node = *self.node.constant().as_ref()?,
                Form::Array(Encoding::Sparse) if !path.is_empty() => self.enter_sparse(run, s)?,
                _ => {
                    let Some((k, rest)) = path.split_first() else { return Ok(()) };
                    path = rest;
                    let field = self.node.nested_child((*k).into());
                    let field = field.as_ref()?;
                    if matches!(field.form, Form::Nothing) {
                        return Err(self.node.undecoded());
                    }
                    self.node = *field;
                }
            }
        }
    }
}

/// Memory to find chunks and offsets with, where none is lent.
pub(super) const ASIDE: usize = 512;

impl fmt::Debug for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("node", &self.node).field("type", &self.dtype().ty()).finish_non_exhaustive()
    }
}

impl<'f> column::Column for Column<'f> {
    fn ty(&self) -> Type {
        self.dtype().ty()
    }

    fn nullable(&self) -> bool {
        self.dtype.nullable
    }

    fn rows(&self) -> u64 {
        self.node.rows
    }

    fn zone(&self) -> Result<Option<&str>> {
        self.dtype().zone()
    }

    fn child(&self, k: usize) -> Result<Self> {
        if let Type::Struct(_) = self.ty() {
            return self.field(k);
        }
        let dtype = self.node.file.child_type(&self.dtype, k)?;
        match self.steps {
            0 => self.node.nested_child(k).map(Column::new),
            _ => Ok(Column::new(self.node.nothing(&dtype))),
        }
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        self.dtype().name(k)
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        let limits = self.node.file.limits();
        let mut run = Run::new(limits, rows.end.saturating_sub(rows.start));
        let mut aside = [0; ASIDE];
        let s = &mut Scratch::new(&mut aside);
        let window = self.window(&rows, &mut run, s);
        let (Rows { node, at, .. }, len) = window.as_ref()?;
        let (at, len) = (*at, *len);
        let n = len as u64;
        let (width, spans) = match node.dtype.cell() {
            Some(width) => (width as u64, false),
            None => (8, matches!(node.dtype.shape, Shape::Utf8 | Shape::Binary)),
        };
        let mut need = Scratch::cost::<u64>(product(n.div_ceil(8), width)).saturating_add(n.div_ceil(4));
        if spans && let Plan::Copied(bound) = node.plan(at, len, &mut run, s)? {
            need = need.saturating_add(bound);
            run.text = Text::Copied { arena: &mut [], used: 0 };
        }
        let on_the_way = node.temporaries(n, width, &mut run)?;
        // Validity, a byte per row on the way.
        Ok(need.saturating_add(on_the_way).saturating_add(n).saturating_add(64))
    }

    fn read<'s>(&self, rows: Range<u64>, s: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let limits = self.node.file.limits();
        let mut run = Run::new(limits, rows.end.saturating_sub(rows.start));
        let window = self.window(&rows, &mut run, &mut Scratch::new(&mut [0; ASIDE]));
        let (Rows { node, at, .. }, len) = window.as_ref()?;
        let (at, len) = (*at, *len);
        let mut of = Column::new(*node);
        let values = node.values(self.dtype.shape, at, len, &mut of, &mut run, s)?;
        let validity = match values {
            Values::Null => Validity::None,
            _ => node.valid_rows(at, len, &mut run, s)?,
        };
        Ok(Batch { first: rows.start, len, values, validity, of })
    }

    fn dictionary(&self, row: u64) -> Result<Option<Dictionary<Self>>> {
        let mut run = Run::new(self.node.file.limits(), 1);
        let Rows { node, at, left } = self.resolve(row, &mut run, &mut Scratch::new(&mut [0; ASIDE]))?;
        let (codes, values) = match node.form {
            Form::Layout(LayoutId::Dict) | Form::Array(Encoding::Dict) => node.dict()?,
            _ => return Ok(None),
        };
        let (first, len) = (row.saturating_sub(at), left.saturating_add(at));
        Ok(Some(Dictionary { first, len, codes: Column::new(codes), values: Column::new(values) }))
    }
}
