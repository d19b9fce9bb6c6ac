//! Lists, list views, fixed-size lists, structs: which rows of their children each row has.

use crate::bytes::{Scratch, checked_product, product};
use crate::encoding::cells::Cells;
use crate::error::{Kind, Result, What};
use crate::vortex::dtype::{Shape, Ty};
use crate::vortex::node::{Form, Node, Rows};
use crate::vortex::raw::{Encoding, LayoutId};
use crate::vortex::scalar::{Scalar, Steps};
use crate::vortex::tree::{Ask, ONE, Run, span, span_cell};

impl<'f> Node<'f> {
    /// The place of field 0: behind a validity child where there is one.
    pub(in crate::vortex) fn fields_from(&self) -> Result<usize> {
        let (children, fields) = (self.children()?, self.dtype.children());
        match children.checked_sub(fields) {
            Some(0) => Ok(0),
            Some(1) if self.dtype.nullable => Ok(1),
            _ => Err(self.error(Kind::Invalid, What::VtxRows, children as u64)),
        }
    }

    /// A struct, as a layout or as an array.
    pub(in crate::vortex) fn structure(
        &self,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        match ask {
            // A nullable struct of 0.36 has no validity child: all rows are there.
            Ask::Valid if self.fields_from()? == 0 => out.fill(&ONE),
            Ask::Valid => {
                let mut validity = *self;
                validity.dtype = Ty::BOOL;
                validity.enter_exactly(0, self.rows)?;
                return validity.cells(Ask::Values, at, out, run, s);
            }
            Ask::Ranges => self.strides(1, at, out)?,
            Ask::Values | Ask::Spans => return Err(self.mistyped()),
        }
        Ok(())
    }

    /// Rows of `size` rows of the child each.
    pub(in crate::vortex) fn strides(&self, size: u64, at: u64, out: &mut Cells<'_>) -> Result<()> {
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        for (i, cell) in out.iter_mut().enumerate() {
            let row = at.saturating_add(i as u64);
            *cell = span_cell(span(product(row, size), size));
        }
        Ok(())
    }

    /// `vortex.fixed_size_list`.
    pub(in crate::vortex) fn fixed_list(&self, at: u64, out: &mut Cells<'_>) -> Result<()> {
        match self.dtype.shape {
            Shape::FixedList(size) => self.strides(size.into(), at, out),
            _ => Err(self.mistyped()),
        }
    }

    /// The ranges of a scalar list, whose items are rows of their own.
    pub(in crate::vortex) fn scalar_ranges(&self, scalar: &Scalar<'f>, at: u64, out: &mut Cells<'_>) -> Result<()> {
        if matches!(self.dtype.shape, Shape::Struct(_) | Shape::Entry) {
            return self.strides(1, at, out);
        }
        let cell = span_cell(span(0, self.scalar_len(scalar)?));
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        out.fill(cell);
        Ok(())
    }

    /// Items of a scalar list; of a fixed-size list as many as its type says, unless it is null.
    pub(in crate::vortex) fn scalar_len(&self, scalar: &Scalar<'f>) -> Result<u64> {
        let len = scalar.items().as_ref()?.len()?;
        match self.dtype.shape {
            Shape::FixedList(size) if !scalar.is_null()? && len != u64::from(size) => {
                Err(self.error(Kind::Invalid, What::VtxScalar, len))
            }
            _ => Ok(len),
        }
    }

    /// `vortex.list`: row `i` reaches from offset `i` to the next.
    pub(in crate::vortex) fn list(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let offsets = self.offsets(1, 2);
        self.between(offsets.as_ref()?, self.number(1)?, at, out, run, s)
    }

    /// Spans between offsets that follow each other, none beyond `end`.
    pub(in crate::vortex) fn between(
        &self,
        offsets: &Node<'f>,
        end: u64,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        if out.is_empty() {
            return Ok(());
        }
        let last = offsets.index(at.saturating_add(out.len() as u64), run, s)?;
        offsets.indices(at, out, run, s)?;
        let mut next = last;
        for cell in out.iter_mut().rev() {
            let start = *cell;
            let len = next.checked_sub(start).filter(|_| next <= end);
            let len = len.ok_or_else(|| self.error(Kind::Invalid, What::VtxOffsets, next))?;
            *cell = span_cell(span(start, len));
            next = start;
        }
        Ok(())
    }

    /// `vortex.listview`: offsets and sizes, in any order.
    pub(in crate::vortex) fn list_view(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        let end = self.number(1)?;
        self.integers(1, 2, false, self.rows).as_ref()?.indices(at, out, run, s)?;
        let mut t = s.scope();
        let sizes = t.take::<u64>(out.len())?;
        self.integers(2, 3, false, self.rows).as_ref()?.indices(at, sizes, run, &mut t)?;
        for (i, (cell, size)) in out.iter_mut().zip(sizes).enumerate() {
            let inside = cell.checked_add(*size).is_some_and(|stop| stop <= end);
            if !inside && self.is_valid(at.saturating_add(i as u64), run, &mut t)? {
                return Err(self.error(Kind::Invalid, What::VtxOffsets, *cell));
            }
            *cell = if inside { span_cell(span(*cell, *size)) } else { 0 };
        }
        Ok(())
    }

    /// Goes on to child `k` of a concrete nested node, or of one whose rows are not looked at; whether it is one.
    pub(in crate::vortex) fn enter_nested(&mut self, k: usize) -> Result<bool> {
        let field = matches!(self.dtype.shape, Shape::Struct(_) | Shape::Entry).then_some(k);
        match self.form {
            Form::Layout(LayoutId::Struct) | Form::Array(Encoding::Struct) => {
                self.enter_exactly(self.fields_from()?.saturating_add(k), self.rows)?;
            }
            Form::Array(Encoding::List | Encoding::ListView) => self.enter(0, self.number(1)?)?,
            Form::Array(Encoding::FixedSizeList) => match self.dtype.shape {
                Shape::FixedList(size) => {
                    let rows = checked_product(self.rows, size.into());
                    self.enter(0, rows.ok_or_else(|| self.error(Kind::Overflow, What::VtxRows, size.into()))?)?;
                }
                _ => return Err(self.mistyped()),
            },
            Form::Scalar(scalar) => match field {
                Some(k) => self.enter_item(&scalar, k as u64)?,
                None => self.enter_items(&scalar, Some(Steps::ITEMS))?,
            },
            Form::Items(scalar, steps) => self.enter_items(&scalar, steps.then(field))?,
            _ => return Ok(false),
        }
        self.file.enter_type(&mut self.dtype, k).map(|()| true)
    }
}

impl Rows<'_> {
    /// Into the node whose children the ranges of the rows count: behind dictionaries, runs and whatever else repeats
    /// nested rows.
    pub(in crate::vortex) fn enter_concrete(&mut self, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let (len, mut repeated) = (self.left, false);
        loop {
            run.fuel.spend(self.node.at())?;
            if self.node.enter_wrapped()? {
                continue;
            }
            let sparse = self.node.encoding() == Some(Encoding::Sparse) && !self.node.fill().as_ref()?.is_null()?;
            if !sparse && self.node.enter_values()? {
                (self.at, repeated) = (0, true);
                continue;
            }
            match self.node.form {
                Form::Layout(LayoutId::Chunked) | Form::Array(Encoding::Chunked | Encoding::Sparse) => {
                    let mut part = *self;
                    // Rows of several parts count different children; and below what repeats rows, they would be of
                    // both parts of a sparse array.
                    let whole = match (sparse, repeated) {
                        (true, true) => false,
                        (true, false) => {
                            part.enter_sparse(run, s)?;
                            part.left == len
                        }
                        (false, _) => {
                            part.enter_chunk(run, s)?;
                            part.left == len && !repeated || part.node.rows == self.node.rows
                        }
                    };
                    if !whole {
                        return Err(self.node.undecoded());
                    }
                    *self = part;
                }
                Form::Array(Encoding::Constant) => return self.node.enter_constant(),
                Form::Layout(LayoutId::Struct)
                | Form::Array(Encoding::List | Encoding::ListView | Encoding::FixedSizeList | Encoding::Struct) => {
                    return Ok(());
                }
                Form::Layout(_) | Form::Array(_) => return Err(self.node.undecoded()),
                _ => return Ok(()),
            }
        }
    }

    /// How many of them lie in one chunk, or in one part of a sparse array, whatever those lie under.
    pub(in crate::vortex) fn unbroken(mut self, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<u64> {
        while self.left > 0 {
            run.fuel.spend(self.node.at())?;
            if self.node.enter_wrapped()? {
                continue;
            }
            match self.node.form {
                Form::Array(Encoding::Chunked) => self.enter_chunk(run, s)?,
                Form::Array(Encoding::Sparse) => self.enter_sparse(run, s)?,
                _ => break,
            }
        }
        Ok(self.left)
    }
}
