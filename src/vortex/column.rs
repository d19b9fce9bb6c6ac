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
    pub(super) const fn new(node: &Node<'f>) -> Self {
        Column { node: *node, path: [0; PATH], steps: 0, dtype: node.dtype }
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
        let mut deeper = *self;
        self.node.file.enter_type(&mut deeper.dtype, k)?;
        if self.steps == 0 && deeper.node.enter_nested(k)? {
            return Ok(deeper);
        }
        // The struct is behind chunks or codes: which one is known when a row is asked for.
        let step = deeper.path.get_mut(usize::from(self.steps));
        match (step, u16::try_from(k)) {
            (Some(step), Ok(k)) => *step = k,
            _ => return Err(self.node.error(Kind::Limit, What::MaxDepth, PATH as u64)),
        }
        deeper.steps = self.steps.saturating_add(1);
        Ok(deeper)
    }

    /// All rows from `row` on.
    const fn rows_from(&self, row: u64) -> Rows<'f> {
        Rows { node: self.node, at: row, left: self.node.rows.saturating_sub(row) }
    }

    /// Into the node that holds the first of these rows.
    fn enter(&self, rows: &mut Rows<'f>, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        rows.enter(self.path.get(..self.steps.into()).unwrap_or_default(), run, s)
    }

    /// Takes a window of those rows of `rows`, from the first on, that are read at once: rows of one chunk, and of many
    /// no part of a block. How many they are.
    fn narrow(
        &self,
        window: &mut Rows<'f>,
        rows: &Range<u64>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<usize> {
        if rows.start > rows.end || rows.end > self.node.rows {
            return Err(Error::needing(Kind::OutOfRange, What::Row, rows.end, self.node.rows));
        }
        self.enter(window, run, s)?;
        if self.dtype.children() > 0 {
            window.left = window.unbroken(run, s)?;
        }
        let mut len = rows.end.saturating_sub(rows.start).min(window.left);
        let block = BLOCK as u64;
        if len >= block.saturating_mul(4) {
            len = len.saturating_sub(window.at.saturating_add(len) & block.wrapping_sub(1));
        }
        window.left = len;
        let bad = |_| self.node.error(Kind::OutOfRange, What::Row, self.node.rows);
        usize::try_from(len).map_err(bad)
    }
}

impl Rows<'_> {
    /// Into what holds the first of them: of structs the field at the end of `path`.
    fn enter(&mut self, mut path: &[u16], run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        loop {
            run.fuel.spend(self.node.at())?;
            let down = self.node.layout().is_some() || !path.is_empty() && self.left > 0;
            if down && self.node.enter_wrapped()? {
                continue;
            }
            if self.left == 0 {
                return Ok(());
            }
            match self.node.form {
                Form::Layout(LayoutId::Chunked) | Form::Array(Encoding::Chunked) => self.enter_chunk(run, s)?,
                Form::Array(Encoding::Constant) if !path.is_empty() => self.node.enter_constant()?,
                Form::Array(Encoding::Sparse) if !path.is_empty() => self.enter_sparse(run, s)?,
                _ => {
                    let Some((k, rest)) = path.split_first() else { return Ok(()) };
                    path = rest;
                    if !self.node.enter_nested((*k).into())? {
                        return Err(self.node.undecoded());
                    }
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
        let mut child = Column::new(&self.node);
        child.dtype = self.dtype;
        self.node.file.enter_type(&mut child.dtype, k)?;
        if !(self.steps == 0 && child.node.enter_nested(k)?) {
            child.node.enter_nothing();
            child.node.dtype = child.dtype;
        }
        Ok(child)
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        self.dtype().name(k)
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        let limits = self.node.file.limits();
        let mut run = Run::new(limits, rows.end.saturating_sub(rows.start));
        let mut aside = [0; ASIDE];
        let s = &mut Scratch::new(&mut aside);
        let mut window = self.rows_from(rows.start);
        let len = self.narrow(&mut window, &rows, &mut run, s)?;
        let Rows { node, at, left: n } = &window;
        let (at, n) = (*at, *n);
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
        let mut window = self.rows_from(rows.start);
        let len = self.narrow(&mut window, &rows, &mut run, &mut Scratch::new(&mut [0; ASIDE]))?;
        let (node, at, mut concrete) = (&window.node, window.at, window);
        let values = node.values(self.dtype.shape, at, len, &mut concrete, &mut run, s)?;
        let validity = match values {
            Values::Null => Validity::None,
            _ => node.valid_rows(at, len, &mut run, s)?,
        };
        Ok(Batch { first: rows.start, len, values, validity, of: Column::new(&concrete.node) })
    }

    fn dictionary(&self, row: u64) -> Result<Option<Dictionary<Self>>> {
        let mut run = Run::new(self.node.file.limits(), 1);
        let mut rows = self.rows_from(row);
        self.enter(&mut rows, &mut run, &mut Scratch::new(&mut [0; ASIDE]))?;
        let Rows { mut node, at, left } = rows;
        if !matches!(node.form, Form::Layout(LayoutId::Dict) | Form::Array(Encoding::Dict)) {
            return Ok(None);
        }
        let codes = Column::new(&node.codes()?);
        node.enter_values()?;
        let (first, len) = (row.saturating_sub(at), left.saturating_add(at));
        Ok(Some(Dictionary { first, len, codes, values: Column::new(&node) }))
    }
}
