//! The walk: one function that asks a node for cells, whatever it is made of.
//!
//! What is asked for is one of four things, each a run of cells: values, which rows have one, where texts
//! lie, which rows of the children a nested row has. Dictionaries, runs, patches and chunks treat all four
//! alike, so each encoding is written once.

use super::dtype::Shape;
use super::node::{Form, Node, Rows};
use super::raw::{Encoding, LayoutId};
use super::scalar::{Scalar, Steps};
use super::text;
use crate::bytes::{Scratch, saturated};
use crate::column::Span;
use crate::encoding::cells::{Cells, widen4, widen8};
use crate::error::{Kind, Result, What};
use crate::generated::vortex as flat;
use crate::limits::{Fuel, Limits};

/// What the cells shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Numbers, bools (a byte each) and decimals.
    Values,
    /// A byte per row, 1 where it has a value.
    Valid,
    /// A [`Span`] per row, as a cell of 8 bytes: where its text lies.
    Spans,
    /// A [`Span`] per row: the rows of the children.
    Ranges,
}

/// What one call carries through the tree.
pub(super) struct Run<'t> {
    pub(super) fuel: Fuel,
    pub(super) text: Text<'t>,
}

/// Where texts go.
pub(super) enum Text<'t> {
    /// Nowhere: spans are places in the one blob that holds all texts.
    Borrowed,
    /// Behind each other into an arena, and spans are places in it.
    Copied { arena: &'t mut [u8], used: usize },
}

impl Run<'_> {
    /// The budget of a call for `rows` rows.
    pub(super) fn new(limits: &Limits, rows: u64) -> Self {
        let more = u32::try_from(rows.saturating_mul(16)).unwrap_or(u32::MAX);
        let max_nodes = limits.max_nodes.saturating_add(more);
        Run { fuel: Fuel::new(&Limits { max_nodes, ..*limits }), text: Text::Borrowed }
    }

    /// `len` bytes of the arena from `start` on, as far as there are.
    pub(super) fn arena(&mut self, start: usize, len: usize) -> &mut [u8] {
        match &mut self.text {
            Text::Copied { arena, .. } => arena.get_mut(start..start.saturating_add(len)).unwrap_or_default(),
            Text::Borrowed => &mut [],
        }
    }
}

/// Rows whose work costs as much as a node.
const ROWS_PER_NODE: usize = 256;

impl<'f> Node<'f> {
    /// Fills `out` with what is asked about the rows from `at` on.
    pub(super) fn cells(
        &self,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let work = u32::try_from(out.len() / ROWS_PER_NODE).unwrap_or(u32::MAX).saturating_add(1);
        run.fuel.spend_many(work, self.at())?;
        if at.checked_add(out.len() as u64).is_none_or(|end| end > self.rows) {
            return Err(self.error(Kind::OutOfRange, What::VtxRows, self.rows));
        }
        if ask == Ask::Valid && !self.dtype.nullable {
            out.fill(&ONE);
            return Ok(());
        }
        let own = ask == Ask::Valid && self.encoding() == Some(Encoding::Masked);
        let mut child = *self;
        if !own && child.enter_wrapped()? {
            return child.cells(ask, at, out, run, s);
        }
        match &self.form {
            Form::Layout(layout) => self.of_layout(*layout, ask, at, out, run, s),
            Form::Array(encoding) => self.of_array(*encoding, ask, at, out, run, s),
            Form::Scalar(scalar) => self.scalar(scalar, ask, at, out, run),
            Form::Items(scalar, steps) => self.of_items((scalar, *steps), ask, at, out, run),
            Form::Nothing => Ok(()),
        }
    }

    #[inline(never)]
    fn of_layout(
        &self,
        layout: LayoutId,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        match layout {
            LayoutId::Chunked => self.chunks(ask, at, out, run, s),
            LayoutId::Dict => self.dictionary(ask, at, out, run, s),
            LayoutId::Struct => self.structure(ask, at, out, run, s),
            _ => Err(self.undecoded()),
        }
    }

    #[inline(never)]
    fn of_array(
        &self,
        encoding: Encoding,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        if ask == Ask::Valid {
            // Where a row's validity is a child in a fixed place.
            if let Some(k) = self.validity_place(encoding)? {
                return self.valid(k, at, out, run, s);
            }
            // Where a row is valid if it is in the first of the parts.
            if matches!(
                encoding,
                Encoding::ZigZag
                    | Encoding::For
                    | Encoding::Alp
                    | Encoding::AlpRd
                    | Encoding::DateTimeParts
                    | Encoding::DecimalByteParts
                    | Encoding::Fsst
            ) {
                return self.child(0, &self.dtype, self.rows).as_ref()?.cells(ask, at, out, run, s);
            }
        }
        // Texts and lists hold nothing else; the other encodings look at the type on their own.
        let held = match encoding {
            Encoding::VarBinView | Encoding::VarBin | Encoding::Fsst | Encoding::OnPair => Ask::Spans,
            Encoding::List | Encoding::ListView | Encoding::FixedSizeList => Ask::Ranges,
            _ => ask,
        };
        if held != ask && ask != Ask::Valid {
            return Err(self.mistyped());
        }
        match encoding {
            Encoding::Null => self.nulls(out),
            Encoding::Primitive => self.primitive(at, out),
            Encoding::Bool => self.bools(at, out),
            Encoding::ByteBool => self.byte_bools(at, out),
            Encoding::Decimal => self.decimals(at, out, run, s),
            Encoding::Constant => {
                let mut scalar = *self;
                scalar.enter_constant()?;
                scalar.cells(ask, at, out, run, s)
            }
            Encoding::Chunked => self.chunks(ask, at, out, run, s),

            Encoding::Dict => self.dictionary(ask, at, out, run, s),
            Encoding::RunEnd => self.runs(ask, at, out, run, s),
            Encoding::Sparse => self.sparse(ask, at, out, run, s),
            Encoding::Rle => self.rle(ask, at, out, run, s),

            Encoding::Sequence => self.sequence(at, out),
            Encoding::ZigZag => self.zigzag(at, out, run, s),
            Encoding::For => self.frame(at, out, run, s),
            Encoding::BitPacked => self.bit_packed(at, out, run, s),
            Encoding::Delta => self.delta(at, out, run, s),
            Encoding::Alp => self.alp(at, out, run, s),
            Encoding::AlpRd => self.alp_rd(at, out, run, s),
            Encoding::DateTimeParts => self.date_time(at, out, run, s),
            Encoding::DecimalByteParts => self.decimal_parts(at, out, run, s),

            Encoding::VarBinView => self.views(at, out, run),
            Encoding::VarBin => self.var_bin(at, out, run, s),
            Encoding::Fsst => self.fsst(at, out, run, s),
            Encoding::OnPair => self.onpair(at, out, run, s),

            Encoding::List => self.list(at, out, run, s),
            Encoding::ListView => self.list_view(at, out, run, s),
            Encoding::FixedSizeList => self.fixed_list(at, out),
            Encoding::Struct => self.structure(ask, at, out, run, s),

            #[cfg(feature = "zstd")]
            Encoding::Zstd => self.zstd(ask, at, out, run, s),
            #[cfg(feature = "pco")]
            Encoding::Pco => self.pco(ask, at, out, run, s),
            // Known, and not in this build.
            #[cfg(not(feature = "zstd"))]
            Encoding::Zstd => Err(self.undecoded()),
            #[cfg(not(feature = "pco"))]
            Encoding::Pco => Err(self.undecoded()),
            Encoding::Ext | Encoding::Map | Encoding::Masked | Encoding::Unknown => Err(self.undecoded()),
        }
    }

    /// Which child is the validity of an array; `None` where validity is worked out in another way.
    pub(super) fn validity_place(&self, encoding: Encoding) -> Result<Option<usize>> {
        Ok(match encoding {
            Encoding::Primitive | Encoding::Bool | Encoding::ByteBool | Encoding::VarBinView | Encoding::Decimal => {
                Some(0)
            }
            // A sequence has no child.
            Encoding::Pco | Encoding::Zstd | Encoding::Sequence => Some(0),
            Encoding::VarBin | Encoding::FixedSizeList | Encoding::Masked => Some(1),
            Encoding::List | Encoding::Delta => Some(2),
            Encoding::ListView => Some(3),
            Encoding::OnPair => Some(4),
            Encoding::Fsst => {
                if self.buffers()? == 2 {
                    None
                } else {
                    Some(2)
                }
            }
            Encoding::BitPacked => Some(self.patches(3)?.map_or(0, |patches| patches.children())),
            _ => None,
        })
    }

    /// The validity child `k`, or all valid where there is none.
    fn valid(&self, k: usize, at: u64, out: &mut Cells<'_>, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        match self.validity(k).as_ref()? {
            Some(child) => child.cells(Ask::Values, at, out, run, s),
            None => {
                if self.encoding() == Some(Encoding::Delta) {
                    self.no_nulls_in_deltas(run, s)?;
                }
                out.fill(&ONE);
                Ok(())
            }
        }
    }

    /// Every row the same scalar.
    fn scalar(&self, scalar: &Scalar<'f>, ask: Ask, at: u64, out: &mut Cells<'_>, run: &mut Run<'_>) -> Result<()> {
        match ask {
            Ask::Values => out.fill(&scalar.cell(self.dtype.shape)?),
            Ask::Valid => out.fill(if scalar.is_null()? { &[0; 32] } else { &ONE }),
            Ask::Spans => {
                let span = text::of_scalar(&self.blob, scalar, run)?;
                out.fill(&span_value(span));
            }
            Ask::Ranges => return self.scalar_ranges(scalar, at, out),
        }
        Ok(())
    }

    /// Rows that lie in a scalar.
    fn of_items(
        &self,
        (scalar, steps): (&Scalar<'f>, Steps),
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
    ) -> Result<()> {
        // All of the scalar is walked over, wherever the rows lie in it.
        let len = scalar.message().bytes().len() / ROWS_PER_NODE;
        run.fuel.spend_many(u32::try_from(len).unwrap_or(u32::MAX), self.at())?;
        let ranges = ask == Ask::Ranges;
        if ranges && matches!(self.dtype.shape, Shape::Struct(_) | Shape::Entry) {
            return self.strides(1, at, out);
        }
        let (mut before, mut start, mut i) = (at, 0u64, 0usize);
        scalar.each(steps, &mut move |item| {
            // Items of items follow each other.
            let len = if ranges { self.scalar_len(item)? } else { 0 };
            match before.checked_sub(1) {
                Some(fewer) => before = fewer,
                None if i < out.len() => {
                    let row = &mut out.part(i, 1);
                    if ranges {
                        row.fill(&span_value(span(start, len)));
                    } else {
                        self.scalar(item, ask, at, row, run)?;
                    }
                    i = i.saturating_add(1);
                }
                None => return Ok(false),
            }
            start = start.saturating_add(len);
            Ok(true)
        })?;
        Ok(())
    }

    /// Rows of several chunks.
    fn chunks(&self, ask: Ask, at: u64, out: &mut Cells<'_>, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let mut done = 0usize;
        while done < out.len() {
            let left = out.len().saturating_sub(done) as u64;
            let mut rows = Rows { node: *self, at: at.saturating_add(done as u64), left };
            rows.enter_chunk(run, s)?;
            let len = saturated(rows.left);
            rows.node.cells(ask, rows.at, &mut out.part(done, len), run, s)?;
            done = done.saturating_add(len);
        }
        Ok(())
    }

    // Integers of any width, as what encodings count with.

    /// Integer `k`.
    pub(super) fn index(&self, k: u64, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<u64> {
        let mut word = [0];
        self.indices(k, &mut word, run, s)?;
        let [word] = word;
        Ok(word)
    }

    /// Of offsets where the first of `len` rows from `at` on begins, and the last one ends.
    pub(super) fn ends(&self, at: u64, len: u64, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<[u64; 2]> {
        Ok([self.index(at, run, s)?, self.index(at.saturating_add(len), run, s)?])
    }

    /// Integers from `at` on, sign-extended where they have a sign.
    pub(super) fn indices(&self, at: u64, out: &mut [u64], run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let prim = self.prim()?;
        let size = prim.size();
        let mut narrow = narrow(bytemuck::cast_slice_mut(out), size, 8).ok_or_else(|| self.mistyped())?;
        self.cells(Ask::Values, at, &mut narrow, run, s)?;
        widen8(out, size, super::dtype::signed(prim));
        Ok(())
    }

    /// The same in 32 bits; what has more is `u32::MAX`.
    pub(super) fn indices32(&self, at: u64, out: &mut [u32], run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let size = self.prim()?.size();
        if size < 8 {
            let mut narrow = narrow(bytemuck::cast_slice_mut(out), size, 4).ok_or_else(|| self.mistyped())?;
            self.cells(Ask::Values, at, &mut narrow, run, s)?;
            widen4(out, size);
            return Ok(());
        }
        let mut first = at;
        for part in out.chunks_mut(64) {
            let mut wide = [0u64; 64];
            let wide = wide.get_mut(..part.len()).unwrap_or_default();
            self.cells(Ask::Values, first, &mut Cells::W8(wide), run, s)?;
            for (to, word) in part.iter_mut().zip(wide) {
                *to = u32::try_from(*word).unwrap_or(u32::MAX);
            }
            first = first.saturating_add(64);
        }
        Ok(())
    }

    /// How many integers, which must be in order, are not above `value`.
    pub(super) fn first_above(&self, value: u64, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<u64> {
        self.below(value.saturating_add(1), run, s)
    }

    /// How many integers, which must be in order, are below `value`.
    pub(super) fn below(&self, value: u64, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<u64> {
        let (mut low, mut high) = (0, if value == 0 { 0 } else { self.rows });
        while low < high {
            let middle = low.midpoint(high);
            if self.index(middle, run, s)? < value {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

impl Rows<'_> {
    /// Into the chunk that holds the first of them.
    #[inline(never)]
    pub(super) fn enter_chunk(&mut self, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let (node, row) = (&self.node, self.at);
        let (k, first, end) = 'found: {
            let chunks = node.layouts();
            if let Some(chunks) = chunks.as_ref()? {
                let mut first = 0u64;
                for k in 0..chunks.len() {
                    run.fuel.spend(node.at())?;
                    let end = first.saturating_add(chunks.get(k)?.scalar(flat::Layout::ROW_COUNT, 0)?);
                    if row < end && end <= node.rows {
                        break 'found (k, first, end);
                    }
                    first = end;
                    if row < end {
                        break;
                    }
                }
                return Err(node.error(Kind::Invalid, What::VtxRows, first));
            }
            // An array knows the first rows of its chunks: chunk k is child k + 1.
            let count = node.children()? as u64;
            let offsets = node.child(0, &super::arrays::ROWS, count);
            let offsets = offsets.as_ref()?;
            let bad = |need| node.error(Kind::Invalid, What::VtxChunks, need);
            let k = offsets.first_above(row, run, s)?;
            let before = k.checked_sub(1).ok_or_else(|| bad(0))?;
            if k >= count {
                return Err(bad(k));
            }
            let [first, end] = offsets.ends(before, 1, run, s)?;
            if first > end || end > node.rows {
                return Err(bad(end));
            }
            (usize::try_from(k).map_err(|_| bad(k))?, first, end)
        };
        self.node.enter(k, end.saturating_sub(first))?;
        self.at = row.saturating_sub(first);
        self.left = self.left.min(self.node.rows.saturating_sub(self.at));
        Ok(())
    }
}

/// The last cells of `size` bytes in memory of as many cells of `of` bytes.
fn narrow(bytes: &mut [u8], size: usize, of: usize) -> Option<Cells<'_>> {
    let count = bytes.len().checked_div(of)?;
    let start = count.checked_mul(of.checked_sub(size)?)?;
    Cells::of(bytes.get_mut(start..)?, size)
}

/// Takes cells of a width from scratch memory.
pub(super) fn take<'s>(s: &mut Scratch<'s>, width: usize, len: usize) -> Result<Cells<'s>> {
    let bytes = s.cut(len, width, width.min(align_of::<u128>()))?;
    // There is no other width, and the bytes are cut to fit.
    Ok(Cells::of(bytes, width).unwrap_or(Cells::W1(&mut [])))
}

/// The cell of "valid".
pub(super) const ONE: [u8; 32] = {
    let mut one = [0; 32];
    one[0] = 1;
    one
};

/// A span as a cell.
pub(super) fn span_cell(span: Span) -> u64 {
    bytemuck::cast(span)
}

fn span_value(span: Span) -> [u8; 32] {
    let mut value = [0; 32];
    if let Some(low) = value.first_chunk_mut() {
        *low = span_cell(span).to_le_bytes();
    }
    value
}

/// A span of no place: whoever follows it gets an error. It stands for what only a null row may have.
pub(super) const NOWHERE: Span = Span { at: u32::MAX, len: u32::MAX };

/// A span of `len` from `at`, if 32 bits hold it.
pub(super) fn span(at: u64, len: u64) -> Span {
    match (u32::try_from(at), u32::try_from(len)) {
        (Ok(at), Ok(len)) => Span { at, len },
        _ => NOWHERE,
    }
}
