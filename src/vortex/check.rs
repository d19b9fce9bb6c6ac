//! What [`File::verify`](super::File::verify) checks besides the rows of the columns: that a row of any array reads to
//! the same value alone and in every batch. Values that rows name (dictionaries, runs, patches, items of lists) are
//! read in full, and what a search relies on is in order.

use core::ops::Range;

use super::column::Column;
use super::context::{Call, Context};
use super::encodings::{constant, structure};
use super::file::File;
use super::layouts::{self, dict_codes, dict_values};
use super::measuring::Measuring;
use super::node::{Form, Node};
use super::raw::LayoutId;
use super::scheme::Validity;
use super::statistics::Checker;
use super::zones;
use crate::bytes::{Scratch, Window, saturated};
use crate::column::{Batch, Column as _, Type, Value, Values, fit};
use crate::error::{Error, Kind, Result, What};
use crate::limits::{Limits, Spent};

/// Maximum number of rows per batch.
pub(super) const BATCH: u64 = 1 << 16;

/// Maximum number of rows whose lengths and offsets are compared at once.
const PIECE: u64 = 1 << 12;

/// Minimum number of equal rows. Only one of them is read.
const LONG: u64 = 1 << 12;

/// A walk over all arrays that reads what rows name, or only measures the memory that this takes.
pub(super) struct Checks<'c, 'm> {
    task: Task<'c, 'm>,
}

enum Task<'c, 'm> {
    Read {
        scratch: &'c mut Scratch<'m>,
        /// Rows that may be read.
        budget: Budget,
        /// Nodes that may be visited to measure rows that are put together, which takes about as long as reading them.
        nodes: Budget,
        /// The budget of the batch that is measured.
        measuring: Measuring,
        /// The limits of the file, and what was taken of them.
        limits: Limits,
        spent: Spent,
    },
    Measure {
        /// Scratch bytes of the batch that takes most.
        most: u64,
        /// Nodes and batches that are looked at.
        left: u32,
        /// The budget of all rows that are put together.
        measuring: Measuring,
    },
}

/// What may be spent for a file, and what is left of it.
struct Budget {
    all: u64,
    left: u64,
}

impl Budget {
    const fn new(all: u64) -> Self {
        Budget { all, left: all }
    }

    /// Spends `count` for row `at`. `what` is the limit.
    fn spend(&mut self, count: u64, what: What, at: u64) -> Result<()> {
        let left = self.left.checked_sub(count);
        self.left = left.ok_or_else(|| Error::needing(Kind::Limit, what, at, self.all))?;
        Ok(())
    }
}

impl<'c, 'm> Checks<'c, 'm> {
    /// Reads, at most `budget` rows and `nodes` nodes of variants, and what `limits` allow of a whole file.
    pub(super) fn reading(
        file: &File<'_>,
        scratch: &'c mut Scratch<'m>,
        [budget, nodes]: [u64; 2],
        limits: Limits,
    ) -> Self {
        let (budget, nodes, measuring) = (Budget::new(budget), Budget::new(nodes), Measuring::new(file));
        Checks { task: Task::Read { scratch, budget, nodes, measuring, limits, spent: Spent::NOTHING } }
    }

    /// Measures the first `left` nodes and batches of a file; `most` bytes are known to be taken.
    pub(super) fn measuring(file: &File<'_>, most: u64, left: u32) -> Self {
        Checks { task: Task::Measure { most, left, measuring: Measuring::new(file) } }
    }

    /// The number of scratch bytes that were measured.
    pub(super) const fn measured(&self) -> u64 {
        match self.task {
            Task::Read { .. } => 0,
            Task::Measure { most, .. } => most,
        }
    }

    /// Reads all rows of a column, without those of its children.
    pub(super) fn rows(&mut self, column: &Column<'_>, checker: Option<&mut Checker<'_>>) -> Result<()> {
        self.rows_from(column, 0, None, checker).map(drop)
    }

    /// Reads the rows of a column from `row` on, without those of its children, until `window` is full. Returns the row
    /// after those that were read.
    pub(super) fn rows_from(
        &mut self,
        column: &Column<'_>,
        row: u64,
        window: Option<&Window<'_>>,
        mut checker: Option<&mut Checker<'_>>,
    ) -> Result<u64> {
        self.batches(column, row, window, &mut |batch, times| {
            if let Some(checker) = &mut checker {
                checker.batch(batch, times)?;
            }
            cells(batch, column.ty())
        })
    }

    /// Shows the rows of a column from `row` on, until `window` is full. Returns the row after them. Of many rows that are
    /// alike, the first one is shown and counts several times; of a
    /// sequence the first and the last one.
    fn batches(
        &mut self,
        column: &Column<'_>,
        mut row: u64,
        window: Option<&Window<'_>>,
        each: &mut dyn FnMut(&Batch<'_, Column<'_>>, u64) -> Result<()>,
    ) -> Result<u64> {
        let (first, end) = (row, column.rows());
        match &mut self.task {
            Task::Read { scratch, budget, nodes, measuring, limits, spent } => {
                let mut most = BATCH;
                while row < end && (row == first || !window.is_some_and(Window::is_full)) {
                    let mut inner = scratch.scope();
                    let (alike, sequence) = column.alike(row, &mut inner);
                    let one = alike >= LONG;
                    let wanted = row..end.min(row.saturating_add(if one { 1 } else { BATCH }));
                    budget.spend(wanted.end.saturating_sub(row), What::MAX_ROWS, row)?;
                    let room = inner.room();
                    let batch =
                        column.read(fitting(column, (wanted, &mut most), room, (nodes, measuring))?, &mut inner)?;
                    if batch.len == 0 {
                        return Err(Error::new(Kind::Truncated, What::ROW, row));
                    }
                    let decoded = room.saturating_sub(inner.room()) as u64;
                    spent.part(0, decoded, column.node().at(), limits)?;
                    let (times, step) = match (one, sequence) {
                        (false, _) => (1, batch.len as u64),
                        (true, false) => (alike, alike),
                        (true, true) => (1, alike.saturating_sub(1)),
                    };
                    each(&batch, times)?;
                    row = row.saturating_add(step);
                }
                Ok(row)
            }
            Task::Measure { most, left, measuring } => {
                while row < end && *left > 0 {
                    *left = left.saturating_sub(1);
                    match column.need_and_len(row..end.min(row.saturating_add(BATCH)), Some(measuring)) {
                        Ok((need, len)) => {
                            *most = need.max(*most);
                            row = row.saturating_add(len.max(1) as u64);
                        }
                        // Other arrays are still measured.
                        Err(e) if e.kind() == Kind::Limit => break,
                        Err(e) => return Err(e),
                    }
                }
                Ok(row)
            }
        }
    }

    /// Checks that the alignment of buffer `k`, which contains numbers of `size` bytes, is not below their size, or 16
    /// bytes. The original implementation does not read such numbers.
    pub(super) fn aligned(&self, node: &Node<'_>, k: usize, size: usize) -> Result<()> {
        let Task::Read { .. } = &self.task else { return Ok(()) };
        let exponent = node.alignment(k)?;
        match 1usize.checked_shl(exponent.into()) {
            Some(alignment) if alignment < size.min(16) => {
                Err(Error::needing(Kind::Invalid, What::VORTEX_ALIGNMENT, node.buffer(k)?.at, exponent.into()))
            }
            _ => Ok(()),
        }
    }

    /// Calls `look` with a budget and memory, unless only memory is measured.
    pub(super) fn read(
        &mut self,
        file: &File<'_>,
        look: &mut dyn FnMut(&mut Context<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let Task::Read { scratch, .. } = &mut self.task else { return Ok(()) };
        look(&mut Context::new(&mut Call::new(file, BATCH), scratch.scope()))
    }

    /// Calls `compare` with rows of a node, all of them in turn, and memory.
    pub(super) fn pieces(
        &mut self,
        node: &Node<'_>,
        compare: &mut dyn FnMut(u64, usize, &mut Context<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let Task::Read { scratch, budget, .. } = &mut self.task else { return Ok(()) };
        let (mut at, mut most) = (0u64, PIECE);
        while at < node.rows {
            let (alike, _) = Column::new(node).alike(at, scratch);
            let len = if alike >= LONG { 1 } else { most.min(node.rows.saturating_sub(at)) };
            let mut call = Call::new(node.file, len);
            match compare(at, saturated(len), &mut Context::new(&mut call, scratch.scope())) {
                Err(e) if e.kind() == Kind::NoRoom && len > 1 => {
                    most = len >> 1;
                    continue;
                }
                done => done?,
            }
            budget.spend(len, What::MAX_ROWS, at)?;
            at = at.saturating_add(if alike >= LONG { alike } else { len });
        }
        Ok(())
    }

    /// Checks that integers are in order, each greater than the one before if `strict`. Returns the first and the last
    /// one, `None` if there are none; otherwise what `bad` returns for an integer.
    pub(super) fn ordered(
        &mut self,
        node: &Node<'_>,
        strict: bool,
        bad: &dyn Fn(u64) -> Error,
    ) -> Result<Option<[u64; 2]>> {
        self.node(node, false)?;
        let mut ends = None::<[u64; 2]>;
        self.batches(&Column::new(node), 0, None, &mut |batch, times| {
            for i in 0..batch.len {
                let Value::Int(value) = batch.value(i)? else { return Err(node.mistyped()) };
                let value = u64::try_from(value).map_err(|_| bad(u64::MAX))?;
                let last = ends.map_or(value, |[_, last]| last);
                if value < last || strict && (times > 1 || ends.is_some() && value == last) {
                    return Err(bad(value));
                }
                ends = Some([ends.map_or(value, |[first, _]| first), value]);
            }
            Ok(())
        })?;
        Ok(ends)
    }

    /// Checks an array and reads all of its rows: any of them may be named by rows of another.
    pub(super) fn whole(&mut self, node: &Node<'_>) -> Result<()> {
        self.rows(&Column::new(node), None)?;
        self.node(node, false)
    }

    /// Checks a node whose rows are read elsewhere, and what lies below it. `top`: its rows are those of the table, so
    /// that fields are read as columns.
    pub(super) fn node(&mut self, node: &Node<'_>, top: bool) -> Result<()> {
        if let Task::Measure { left, .. } = &mut self.task {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return Ok(());
            }
        }
        if node.rows == 0 {
            return Ok(());
        }
        if let Some(scheme) = node.scheme()
            && let Validity::Child(k) = node.validity_of(scheme.validity)?
        {
            match &node.validity(k)? {
                Some(validity) => self.node(validity, false)?,
                // Rows may be missing, and the type says that none is. Their values would be read.
                None if node.children()? > k => return Err(node.mistyped()),
                None => {}
            }
        }
        match &node.form {
            Form::Array(encoding) => encoding.check(node, top, self),
            Form::Layout(LayoutId::Flat) => {
                let window = node.file.input().window();
                let file = node.file.with_input(window.input());
                self.node(&node.with_file(&file).array()?, top)
            }
            Form::Layout(LayoutId::Zoned | LayoutId::Stats) => {
                zones::check(node)?;
                self.node(&layouts::data(node)?, top)
            }
            Form::Layout(LayoutId::Chunked) => {
                (0..node.children()?).try_for_each(|k| self.node(&node.child(k, &node.dtype, 0)?, top))
            }
            Form::Layout(LayoutId::Struct) => self.fields(node, top),
            Form::Layout(LayoutId::Dict) => {
                let window = node.file.input().window();
                let file = node.file.with_input(window.input());
                let node = &node.with_file(&file);
                self.node(&dict_codes(node)?, false)?;
                self.whole(&dict_values(node)?)
            }
            Form::Scalar(_) | Form::Items(..) => {
                let mut children = node.nested_nodes()?;
                node.each_child_type(&mut |_, ty| self.whole(&children.take(ty)?))
            }
            Form::Layout(LayoutId::Unknown) | Form::Nothing => Ok(()),
        }
    }

    /// Checks the children of a struct. `top`: their rows are read as columns of the table.
    pub(super) fn fields(&mut self, node: &Node<'_>, top: bool) -> Result<()> {
        node.each_child_type(&mut |k, ty| {
            let field = &structure::child(node, k, ty)?;
            if top { self.node(field, false) } else { self.whole(field) }
        })
    }

    /// Checks the scalar in the rows of a constant array, or of a sparse one.
    pub(super) fn scalar(&mut self, node: &Node<'_>) -> Result<()> {
        if !node.dtype.nullable && constant::scalar(node)?.is_null()? {
            return Err(node.mistyped());
        }
        if node.dtype.children() > 0 { self.node(&constant::value(node)?, false) } else { Ok(()) }
    }
}

/// Returns the first of `rows` that can be read in `room` bytes, at most about `most`, which is set to what to try next.
/// Measuring rows that are put together is taken from the budget `nodes`.
#[cfg(feature = "vortex-variant")]
fn fitting(
    column: &Column<'_>,
    (rows, most): (Range<u64>, &mut u64),
    room: usize,
    (nodes, measuring): (&mut Budget, &mut Measuring),
) -> Result<Range<u64>> {
    if !column.is_put_together() {
        return fit(column, rows, room);
    }
    let Range { start, end } = rows;
    loop {
        let asked = end.saturating_sub(start).min(*most);
        measuring.call = Call::measuring(column.node().file, 1);
        let all = measuring.call.left();
        let measured = column.need_and_len(start..start.saturating_add(asked), Some(measuring));
        nodes.spend(all.saturating_sub(measuring.call.left()).into(), What::MAX_NODES, start)?;
        let (need, len) = match measured {
            // A row may be read in memory that is not enough to measure it. It may take all of its budget.
            Err(e) if e.what() == What::VORTEX_MEASURING && asked <= 1 => {
                nodes.spend(all.into(), What::MAX_NODES, start)?;
                return Ok(start..end.min(start.saturating_add(1)));
            }
            Err(e) if e.what() == What::VORTEX_MEASURING => {
                *most = 1;
                continue;
            }
            measured => measured?,
        };
        if need <= room as u64 {
            *most = most.saturating_mul(2).min(BATCH);
            return Ok(start..start.saturating_add(len as u64));
        }
        // One row may take less, although only one of more rows was measured: nothing is kept for the next rows.
        if asked <= 1 {
            return Err(Error::needing(Kind::NoRoom, What::SCRATCH, start, need));
        }
        *most = (asked.min(len as u64) >> 1).max(1);
    }
}

/// Returns the first of `rows` that can be read in `room` bytes. No rows are put together.
#[cfg(not(feature = "vortex-variant"))]
fn fitting(
    column: &Column<'_>,
    (rows, _): (Range<u64>, &mut u64),
    room: usize,
    _: (&mut Budget, &mut Measuring),
) -> Result<Range<u64>> {
    fit(column, rows, room)
}

/// Looks at what a batch only names: texts, and rows of the children.
fn cells(batch: &Batch<'_, Column<'_>>, ty: Type) -> Result<()> {
    let mut valid = (0..batch.len).filter(|i| batch.validity.get(*i));
    match batch.values {
        Values::Utf8(texts) => valid.try_for_each(|i| texts.text(i).map(drop)),
        Values::Bytes(strings) => valid.try_for_each(|i| strings.get(i).map(drop)),
        Values::Nested(rows) => {
            let mut end = 0;
            for i in valid {
                let range = rows.get(i)?;
                end = if range.is_empty() { end } else { end.max(range.end) };
            }
            // The time to find a field of a described struct or of a scalar is proportional to its number. All have the
            // same rows.
            let of = batch.of.node();
            let seen = matches!(ty, Type::Struct(_)) && (of.dtype.is_described() || matches!(of.form, Form::Scalar(_)));
            for k in 0..if end > 0 && !seen { ty.children() } else { 0 } {
                let child = batch.of.child(k)?;
                if end > child.rows() {
                    return Err(Error::needing(Kind::OutOfRange, What::CHILD, end, child.rows()));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
