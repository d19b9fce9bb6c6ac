//! Decoding: one function that fills cells from a node of any kind.
//!
//! Cells are requested for one of four purposes: values, validity, spans of texts, and child rows of nested rows.
//! Dictionaries, runs, patches and chunks handle all four alike, so that each encoding is implemented once.

use super::context::Context;
use super::dtype::{Ty, signed};
use super::encodings::constant;
use super::need;
use super::node::{Form, Node};
use super::raw::Encoding;
use super::scheme::{Answer, Validity};
use crate::bytes::{FAST, saturated};
use crate::column::Span;
use crate::encoding::cells::{Cells, narrow, widen4, widen8};
use crate::error::{Kind, Result, What};

/// The requested contents of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Numbers, booleans (one byte each) and decimals.
    Values,
    /// One byte per row, 1 if the row has a value.
    Valid,
    /// One [`Span`] per row, as a cell of 8 bytes: the position of its text.
    Spans,
    /// One [`Span`] per row, as a cell of 8 bytes: its child rows.
    Ranges,
}

/// Number of rows whose decoding costs as much as a node.
pub(super) const ROWS_PER_NODE: usize = 256;

/// Number of bytes of metadata, scalars or packed data whose parsing costs as much as a node.
pub(super) const BYTES_PER_NODE: u64 = 256;

impl Node<'_> {
    /// Fills `out` with the cells for the rows starting at `at`.
    pub(super) fn cells(&self, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
        self.spend(out.len(), cx)?;
        if at.checked_add(out.len() as u64).is_none_or(|end| end > self.rows) {
            return Err(self.error(Kind::OutOfRange, What::VORTEX_ROWS, self.rows));
        }
        if ask == Ask::Valid && !self.dtype.nullable {
            out.fill(&ONE);
            return Ok(());
        }
        let scheme = match &self.form {
            Form::Layout(layout) => layout.scheme(),
            Form::Array(encoding) => self.scheme_of(*encoding),
            Form::Scalar(scalar) => return constant::scalar_cells(self, scalar, (ask, at), out, cx),
            Form::Items(scalar, steps) => return constant::item_cells(self, (scalar, *steps), (ask, at), out, cx),
            Form::Nothing => return Ok(()),
        };
        if ask == Ask::Valid {
            match self.validity_of(scheme.validity)? {
                Validity::Child(k) => {
                    if let Some(child) = &self.validity(k)? {
                        return child.cells(Ask::Values, at, out, cx);
                    }
                    out.fill(&ONE);
                    return Ok(());
                }
                Validity::As(k) => return self.child_cells((k, &self.dtype), (ask, at), out, cx),
                Validity::All => {
                    out.fill(&ONE);
                    return Ok(());
                }
                Validity::Decoded => {}
            }
        }
        if !scheme.holds.has(ask) {
            return Err(self.mistyped());
        }
        (scheme.cells)(self, ask, at, out, cx)
    }

    /// Spends the budget for reading `rows` rows of this node, and if rows are read one by one for parsing its metadata or
    /// scalar, which this takes each time.
    pub(super) fn spend(&self, rows: usize, cx: &mut Context<'_, '_>) -> Result<()> {
        let own = match &self.form {
            Form::Array(_) if cx.is_one_by_one() => self.metadata()?.bytes().len(),
            Form::Scalar(scalar) if cx.is_one_by_one() => scalar.steps(),
            // The walk visits the whole scalar, whatever the position of the rows.
            Form::Items(scalar, _) => scalar.message().bytes().len(),
            _ => 0,
        };
        let nodes = (rows / ROWS_PER_NODE) as u64;
        cx.spend_many(nodes.saturating_add(own as u64 / BYTES_PER_NODE).saturating_add(1), self.at())
    }

    /// Returns the location of the validity of this node.
    pub(super) fn validity_of(&self, validity: Validity) -> Result<Answer> {
        Ok(match validity {
            Validity::All => Validity::All,
            Validity::Child(k) => Validity::Child(k),
            Validity::As(k) => Validity::As(k),
            Validity::Decoded => Validity::Decoded,
            Validity::Depends(of) => of(self)?,
        })
    }

    /// Fills `out` with the cells of child `k`, which has the same rows and type `dtype`.
    pub(super) fn child_cells(
        &self,
        (k, dtype): (usize, &Ty),
        (ask, at): (Ask, u64),
        out: &mut Cells<'_>,
        cx: &mut Context<'_, '_>,
    ) -> Result<()> {
        self.aligned(k, dtype)?.cells(ask, at, out, cx)
    }

    /// Fills `out` with the integers of child `k` starting at row `at`. The child has the same rows and no nulls; its
    /// type has number `ptype` in the metadata.
    pub(super) fn child_indices(
        &self,
        (k, ptype): (usize, u64),
        at: u64,
        out: &mut [u64],
        cx: &mut Context<'_, '_>,
    ) -> Result<()> {
        self.integers(k, ptype, false, self.rows)?.indices(at, out, cx)
    }

    /// Returns whether row `row` has a value.
    #[cold]
    pub(super) fn is_valid(&self, row: u64, cx: &mut Context<'_, '_>) -> Result<bool> {
        let mut valid = [0];
        cx.read_one_by_one();
        self.cells(Ask::Valid, row, &mut Cells::W1(&mut valid), cx)?;
        Ok(valid == [1])
    }
}

// Integers of any width: offsets, indices and codes of encodings.
impl Node<'_> {
    /// Returns integer `k`.
    pub(super) fn index(&self, k: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
        let mut word = [0];
        self.indices(k, &mut word, cx)?;
        let [word] = word;
        Ok(word)
    }

    /// For a node of offsets: returns the start of the first and the end of the last of `len` rows starting at `at`.
    pub(super) fn ends(&self, at: u64, len: u64, cx: &mut Context<'_, '_>) -> Result<[u64; 2]> {
        Ok([self.index(at, cx)?, self.index(at.saturating_add(len), cx)?])
    }

    /// Fills `out` with the integers starting at `at`. Signed types are sign-extended.
    pub(super) fn indices(&self, at: u64, out: &mut [u64], cx: &mut Context<'_, '_>) -> Result<()> {
        let prim = self.prim()?;
        let size = prim.size();
        let mut narrow = narrow(bytemuck::cast_slice_mut(out), size, 8).ok_or_else(|| self.mistyped())?;
        self.cells(Ask::Values, at, &mut narrow, cx)?;
        widen8(out, size, signed(prim));
        Ok(())
    }

    /// Fills `out` with the integers starting at `at`, saturated to 32 bits.
    pub(super) fn indices32(&self, at: u64, out: &mut [u32], cx: &mut Context<'_, '_>) -> Result<()> {
        let size = self.prim()?.size();
        if size < 8 {
            let mut narrow = narrow(bytemuck::cast_slice_mut(out), size, 4).ok_or_else(|| self.mistyped())?;
            self.cells(Ask::Values, at, &mut narrow, cx)?;
            widen4(out, size);
            return Ok(());
        }
        let mut first = at;
        for part in out.chunks_mut(64) {
            let mut wide = [0u64; 64];
            let wide = wide.get_mut(..part.len()).unwrap_or_default();
            self.cells(Ask::Values, first, &mut Cells::W8(wide), cx)?;
            for (to, word) in part.iter_mut().zip(wide) {
                *to = u32::try_from(*word).unwrap_or(u32::MAX);
            }
            first = first.saturating_add(64);
        }
        Ok(())
    }

    /// Returns the number of integers that are at most `value`. The integers must be sorted.
    pub(super) fn first_above(&self, value: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
        self.below(value.saturating_add(1), cx)
    }

    /// Returns the number of integers that are below `value`. The integers must be sorted.
    pub(super) fn below(&self, value: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
        let (mut low, mut high) = (0, if value == 0 { 0 } else { self.rows });
        if self.is_paged() {
            while high.saturating_sub(low) > PAGE {
                let middle = (low.midpoint(high) & !PAGE.wrapping_sub(1)).max(low.saturating_add(PAGE));
                match self.index(middle, cx)? < value {
                    true => low = middle,
                    false => high = middle,
                }
            }
            let mut t = cx.scope();
            let integers = t.take::<u64>(saturated(high.saturating_sub(low)));
            match integers.and_then(|integers| self.indices(low, integers, &mut t).map(|()| &*integers)) {
                // The search below takes no memory.
                Err(e) if e.kind() == Kind::NoRoom => {}
                integers => {
                    let count = integers?.partition_point(|integer| *integer < value);
                    return Ok(low.saturating_add(count as u64));
                }
            }
        }
        while low < high {
            let middle = low.midpoint(high);
            if self.index(middle, cx)? < value {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns the scratch bytes that a fast search in sorted integers takes, in addition to the bytes for reading them.
    pub(super) fn search_need(&self) -> u64 {
        if self.is_paged() { need::piece(self.rows.min(PAGE), 8) } else { 0 }
    }

    /// Returns whether all values before a value in its page are decoded to read it. A search then compares only first
    /// values of pages, and decodes one page.
    pub(super) fn is_paged(&self) -> bool {
        FAST && self.encoding() == Some(Encoding::Pco)
    }
}

/// Number of values per page of the original writer.
const PAGE: u64 = 1 << 13;

/// The cell of a row with a value, for [`Ask::Valid`].
pub(super) const ONE: [u8; 32] = {
    let mut one = [0; 32];
    one[0] = 1;
    one
};

/// Converts a span to a cell.
pub(super) fn span_cell(span: Span) -> u64 {
    bytemuck::cast(<[u32; 2]>::from(span))
}

/// Converts a cell to a span.
pub(super) fn span_of(cell: u64) -> Span {
    bytemuck::cast::<_, [u32; 2]>(cell).into()
}

/// Converts a span to the value of a cell of any width.
pub(super) fn span_value(span: Span) -> [u8; 32] {
    let mut value = [0; 32];
    if let Some(low) = value.first_chunk_mut() {
        *low = span_cell(span).to_le_bytes();
    }
    value
}

/// A span outside every blob, which is an error when it is read. Only null rows may have it.
pub(super) const NOWHERE: Span = Span { at: u32::MAX, len: u32::MAX };

/// Returns the span of `len` starting at `at`, or [`NOWHERE`] if one of them exceeds 32 bits.
pub(super) fn span(at: u64, len: u64) -> Span {
    match (u32::try_from(at), u32::try_from(len)) {
        (Ok(at), Ok(len)) => Span { at, len },
        _ => NOWHERE,
    }
}
