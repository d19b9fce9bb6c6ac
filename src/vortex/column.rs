//! Columns.

use core::fmt;
use core::ops::Range;

use super::context::{ASIDE, Call, Context};
#[cfg(feature = "vortex-variant")]
use super::dtype::Shape;
use super::dtype::{DType, Ty};
use super::measuring::Measuring;
use super::need::Amount;
use super::node::Node;
use super::raw::LayoutId;
use super::rows::Rows;
use super::scheme::Holds;
use super::text::Plan;
use crate::bytes::{FAST, Scratch, product};
#[cfg(feature = "std")]
use crate::column::Place;
use crate::column::{self, Batch, Dictionary, Type, Validity, Values, Zone};
use crate::encoding::fastlanes::BLOCK;
use crate::error::{Error, Kind, Result, What};

/// Maximum number of nested struct fields that are resolved only when rows are read.
const PATH: usize = 4;

/// A column of a file or a child of a column: a type, and the node of the tree that stores the rows.
///
/// ```
/// use pilaster::bytes::{FileRange, Scratch};
/// use pilaster::column::{Part, Value};
/// use pilaster::vortex::File;
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/lay_chunked_zones_a.vortex"));
/// let file = File::open(bytes)?;
/// let column = file.part()?.named("b")?;
/// assert_eq!(column.dtype().to_string(), "f64?");
///
/// // One row out of 250 that are stored in three chunks.
/// let mut memory = [0; 256];
/// let row = column.scalar_at(2, &mut Scratch::new(&mut memory))?;
/// assert_eq!((row.first, row.len, row.value(0)?), (2, 1, Value::F64(360.0)));
///
/// // It is in the first chunk.
/// let mut ranges = vec![];
/// column.segments(2..3, &mut |range| Ok(ranges.push(range)))?;
/// assert_eq!(ranges, [FileRange { at: 2536, len: 1076 }]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Column<'f> {
    node: Node<'f>,
    /// The fields below `node`, through structs that are resolved when rows are read.
    path: [u16; PATH],
    steps: u8,
    dtype: Ty,
    /// The number of the column in the file plus 1; 0 for a child of a column.
    number: u16,
    /// Where the search of chunks begins.
    #[cfg(feature = "std")]
    place: Place,
}

impl<'f> Column<'f> {
    pub(super) const fn new(node: &Node<'f>) -> Self {
        Column {
            node: *node,
            path: [0; PATH],
            steps: 0,
            dtype: node.dtype,
            number: 0,
            #[cfg(feature = "std")]
            place: Place::NONE,
        }
    }

    /// Returns the budget of a call for `rows` rows.
    fn call(&self, rows: u64) -> Call {
        let call = Call::new(self.node.file, rows);
        #[cfg(feature = "std")]
        let call = call.at_place(self.place);
        call
    }

    /// Returns the column as column `k` of the file, so that it finds the statistics of that column.
    pub(super) fn numbered(self, k: usize) -> Self {
        Column { number: u16::try_from(k).ok().and_then(|k| k.checked_add(1)).unwrap_or(0), ..self }
    }

    /// Returns the number of the column in the file, or `None` for a child of a column.
    pub(super) fn number(&self) -> Option<usize> {
        self.number.checked_sub(1).map(usize::from)
    }

    pub(super) const fn node(&self) -> &Node<'f> {
        &self.node
    }

    /// Returns whether rows are parts of variants, which may be put together.
    #[cfg(feature = "vortex-variant")]
    pub(super) const fn is_put_together(&self) -> bool {
        matches!(self.dtype.shape, Shape::VariantPart { .. })
    }

    /// Returns the number of fields below the node.
    pub(super) const fn steps(&self) -> u8 {
        self.steps
    }

    /// Returns the logical type as the file stores it.
    #[must_use]
    pub const fn dtype(&self) -> DType<'f> {
        self.node.file.dtype().with(self.dtype)
    }

    /// Reads one row as a batch, equal to what [`read`](column::Column::read) returns for that row alone.
    ///
    /// The cost does not grow with the number of rows: one step per node between the root and the row, a binary
    /// search in run ends and patches, one block of 1024 values for delta. Exceptions: pco decodes the page of the
    /// row and zstd its frame, both after counting the valid rows before it; chunks of a layout are skipped one by one.
    ///
    /// # Errors
    /// Errors of [`read`](column::Column::read).
    pub fn scalar_at<'s>(&self, row: u64, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        'f: 's,
    {
        column::Column::read(self, row..row.saturating_add(1), scratch)
    }

    /// Calls `show` with the byte range of each segment that is required to read `rows`: dictionaries, codes and data,
    /// not zones. A segment may be shown more than once. No segment is read, so that none need be present.
    ///
    /// # Errors
    /// Errors of invalid layouts, and every error that `show` returns.
    pub fn segments(
        &self,
        rows: Range<u64>,
        show: &mut dyn FnMut(crate::bytes::FileRange) -> Result<()>,
    ) -> Result<()> {
        let mut call = Call::new(self.node.file, 0);
        self.node.segments(self.path(), rows, &mut Context::new(&mut call, Scratch::new(&mut [])), show)
    }

    fn path(&self) -> &[u16] {
        self.path.get(..self.steps.into()).unwrap_or_default()
    }

    /// Returns field `k` of a struct.
    pub(super) fn field(&self, k: usize) -> Result<Self> {
        if self.steps == 0
            && let Some(field) = self.node.nested(k)?
        {
            return Ok(Column::new(&field));
        }
        // The struct is below chunks or dictionary codes. Which one depends on the row, so it is resolved when a row is
        // read.
        let mut deeper = Column { dtype: self.node.child_type(&self.dtype, k)?, number: 0, ..*self };
        let step = deeper.path.get_mut(usize::from(self.steps));
        match (step, u16::try_from(k)) {
            (Some(step), Ok(k)) => *step = k,
            _ => return Err(self.node.error(Kind::Limit, What::MAX_DEPTH, PATH as u64)),
        }
        deeper.steps = self.steps.saturating_add(1);
        Ok(deeper)
    }

    /// Returns the node that stores row `row`, and the rows starting there.
    pub(super) fn located(&self, row: u64, cx: &mut Context<'_, '_>) -> Result<Rows<'f>> {
        Rows { node: self.node, at: row, left: self.node.rows.saturating_sub(row) }.located(self.path(), cx)
    }

    /// Returns the first of `rows` that can be read at once, and their number: rows of one chunk; if there are many,
    /// whole blocks only.
    fn window(&self, rows: &Range<u64>, cx: &mut Context<'_, '_>) -> Result<(Rows<'f>, usize)> {
        if rows.start > rows.end || rows.end > self.node.rows {
            return Err(Error::needing(Kind::OutOfRange, What::ROW, rows.end, self.node.rows));
        }
        let mut window = self.located(rows.start, cx)?;
        // The chunks of codes are segments of their own.
        if let (Some(LayoutId::Dict), Some(Holds::Picked(_, Some(codes)))) = (window.node.layout(), window.node.holds())
        {
            let codes = Rows { node: codes(&window.node)?, at: window.at, left: window.left };
            window.left = window.left.min(codes.located(&[], cx)?.left);
        }
        if self.dtype.children() > 0 {
            window.left = window.unbroken(cx)?;
        }
        let mut len = rows.end.saturating_sub(rows.start).min(window.left);
        let block = BLOCK as u64;
        if len >= block.saturating_mul(4) {
            len = len.saturating_sub(window.at.saturating_add(len) & block.wrapping_sub(1));
        }
        // Rows that are put together are measured first, and a batch may end early.
        #[cfg(feature = "vortex-variant")]
        if window.node.is_put_together() {
            len = len.min(super::shredded::ROWS);
        }
        window.left = len;
        let bad = |_| self.node.error(Kind::OutOfRange, What::ROW, self.node.rows);
        Ok((window, usize::try_from(len).map_err(bad)?))
    }

    /// Returns the scratch bytes that reading the first of `rows` takes, and how many those are. Rows that are put together
    /// are measured within the budget of `shared`, if there is one, otherwise within one of their own.
    pub(super) fn need_and_len(&self, rows: Range<u64>, shared: Option<&mut Measuring>) -> Result<(u64, usize)> {
        let (file, count) = (self.node.file, rows.end.saturating_sub(rows.start));
        let call = if FAST { Call::measuring(file, count) } else { Call::new(file, count) };
        #[cfg(feature = "std")]
        let call = call.at_place(self.place);
        let mut call = call;
        let mut aside = [0; ASIDE];
        let cx = &mut Context::new(&mut call, Scratch::new(&mut aside));
        let (Rows { node, at, left: n }, len) = self.window(&rows, cx)?;
        #[cfg(feature = "vortex-variant")]
        if node.is_put_together() {
            let (need, rows) = super::shredded::measure(&node, at, len, shared)?;
            return Ok((need.saturating_add(Scratch::cost::<u64>(n)), rows));
        }
        let _ = shared;
        if FAST {
            return Ok((node.read_need(self.dtype.shape, at, n, cx)?, len));
        }
        let (width, spans) = match node.dtype.cell() {
            Some(width) => (width as u64, false),
            None => (8, node.dtype.shape.is_text()),
        };
        let mut need = Scratch::cost::<u64>(product(n.div_ceil(8), width)).saturating_add(n.div_ceil(4));
        if spans && let Plan::Copied(bound) = node.plan(at, len, cx)? {
            need = need.saturating_add(bound);
            cx.copy_texts_to(&mut []);
        }
        let temporaries = node.temporaries(Amount { rows: n, width, at: Some(at) }, cx)?;
        // The validity takes one byte per row.
        Ok((need.saturating_add(temporaries).saturating_add(n).saturating_add(64), len))
    }

    /// Reads the rows of a window, which starts at row `first` of the column.
    fn batch<'s>(
        &self,
        first: u64,
        (window, len): (Rows<'f>, usize),
        cx: &mut Context<'_, 's>,
    ) -> Result<Batch<'s, Self>>
    where
        'f: 's,
    {
        let Rows { node, at, .. } = &window;
        let of = match self.dtype.shape.is_nested() && len > 0 {
            true => Column::new(&window.concrete(&mut cx.aside(&mut [0; ASIDE]))?),
            false => Column::new(node),
        };
        #[cfg(feature = "vortex-variant")]
        if node.is_put_together() {
            let (texts, len) = node.put_together(*at, len, cx)?;
            return Ok(Batch { first, len, values: Values::Bytes(texts), validity: Validity::All, of });
        }
        let values = node.values(self.dtype.shape, *at, len, cx)?;
        let validity = match values {
            Values::Null => Validity::None,
            _ => node.valid_rows(*at, len, cx)?,
        };
        Ok(Batch { first, len, values, validity, of })
    }
}

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

    #[cfg(feature = "vortex-variant")]
    fn is_variant(&self) -> bool {
        matches!(self.dtype.shape, Shape::Variant)
    }

    fn child(&self, k: usize) -> Result<Self> {
        if let Type::Struct(_) = self.ty() {
            return self.field(k);
        }
        let nested = if self.steps == 0 { self.node.nested(k)? } else { None };
        Ok(Column::new(&match nested {
            Some(child) => child,
            None => self.node.nothing(self.node.child_type(&self.dtype, k)?),
        }))
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        self.dtype().name(k)
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        self.need_and_len(rows, None).map(|(need, _)| need)
    }

    fn read<'s>(&self, rows: Range<u64>, s: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let mut call = self.call(rows.end.saturating_sub(rows.start));
        let window = self.window(&rows, &mut Context::new(&mut call, Scratch::new(&mut [0; ASIDE])))?;
        let mut cx = Context::new(&mut call, core::mem::replace(s, Scratch::new(&mut [])));
        let batch = self.batch(rows.start, window, &mut cx);
        *s = cx.scratch;
        batch
    }

    fn dictionary(&self, row: u64) -> Result<Option<Dictionary<Self>>> {
        let mut call = self.call(1);
        let mut aside = [0; ASIDE];
        let rows = self.located(row, &mut Context::new(&mut call, Scratch::new(&mut aside)))?;
        let Rows { node, at, left } = rows;
        let Some(Holds::Picked(values, Some(codes))) = node.holds() else { return Ok(None) };
        let (codes, values) = (codes(&node)?, values(&node)?);
        let (first, len) = (row.saturating_sub(at), left.saturating_add(at));
        Ok(Some(Dictionary { first, len, codes: Column::new(&codes), values: Column::new(&values) }))
    }

    #[cfg(feature = "std")]
    fn place(&self, row: u64) -> Result<Place> {
        if row >= self.node.rows {
            return Ok(self.place);
        }
        let mut call = self.call(1);
        self.located(row, &mut Context::new(&mut call, Scratch::new(&mut [0; ASIDE])))?;
        Ok(call.place())
    }

    #[cfg(feature = "std")]
    fn at_place(self, place: Place) -> Self {
        Column { place, ..self }
    }

    fn known_validity(&self, row: u64) -> Result<Option<(bool, u64)>> {
        self.validity_run(row)
    }

    fn zone_around<'s>(&self, row: u64, scratch: &mut Scratch<'s>) -> Result<Option<Zone<'s>>>
    where
        Self: 's,
    {
        self.zone_of(row, scratch)
    }
}
