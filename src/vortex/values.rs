//! Rows of one node as a batch: cells get the names of their types, and what lies ready is borrowed.

use super::column::ASIDE;
use super::dtype::Shape;
use super::node::{Form, Node, Rows};
use super::raw::{Encoding, LayoutId};
use super::text::Plan;
use super::tree::{Ask, NOWHERE, Run, Text, take};
use crate::bytes::{Bits, Scratch, product};
use crate::column::{Prim, Ranges, Span, Spans, Validity, Values, VarBytes, aligned};
use crate::encoding::cells::{Cells, each};
use crate::error::{Kind, Result, What};

impl<'f> Node<'f> {
    /// The values of some rows, which all lie in this node. Nested ones are ranges of
    /// the children of `concrete`, which begins as the same rows.
    #[inline(never)]
    pub(super) fn values<'s>(
        &self,
        shape: Shape,
        at: u64,
        len: usize,
        concrete: &mut Rows<'f>,
        run: &mut Run<'_>,
        s: &mut Scratch<'s>,
    ) -> Result<Values<'s>>
    where
        'f: 's,
    {
        match shape {
            Shape::Null => Ok(Values::Null),
            Shape::Bool => self.bool_values(at, len, run, s),
            Shape::Prim(prim) => self.numbers(prim, at, len, run, s),
            Shape::Decimal { .. } => self.decimal_values(at, len, run, s),
            Shape::Utf8 => self.texts(at, len, run, s).map(Values::Utf8),
            Shape::Binary => self.texts(at, len, run, s).map(Values::Bytes),
            Shape::Other => {
                // Some array may say more about why it cannot be read.
                Err(if self.encoding().is_some() { self.undecoded() } else { self.mistyped() })
            }
            _ => self.nested(at, len, concrete, run, s).map(Values::Nested),
        }
    }

    #[inline(never)]
    fn bool_values<'s>(&self, at: u64, len: usize, run: &mut Run<'_>, s: &mut Scratch<'s>) -> Result<Values<'s>>
    where
        'f: 's,
    {
        if self.encoding() == Some(Encoding::Bool) {
            return self.bits(at, len).map(Values::Bool);
        }
        let bytes = s.take::<u8>(len.div_ceil(8))?;
        self.pack(Ask::Values, at, len, bytes, run, s).map(Values::Bool)
    }

    /// Bytes of 0 and 1 as bits in `to`.
    fn pack<'s>(
        &self,
        ask: Ask,
        at: u64,
        len: usize,
        to: &'s mut [u8],
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<Bits<'s>> {
        let mut t = s.scope();
        let bytes = t.take::<u8>(len)?;
        self.cells(ask, at, &mut Cells::W1(bytes), run, &mut t)?;
        for (to, eight) in to.iter_mut().zip(bytes.chunks(8)) {
            *to = eight.iter().rev().fold(0, |bits, bit| bits << 1 | (bit & 1));
        }
        Bits::new(to, 0, len)
    }

    #[inline(never)]
    fn numbers<'s>(&self, prim: Prim, at: u64, len: usize, run: &mut Run<'_>, s: &mut Scratch<'s>) -> Result<Values<'s>>
    where
        'f: 's,
    {
        if cfg!(target_endian = "little") && self.encoding() == Some(Encoding::Primitive) {
            let bytes = self.fixed(prim.size(), at, len)?;
            if let Some(values) = named(prim, bytes) {
                return Ok(values);
            }
        }
        let mut cells = take(s, prim.size(), len)?;
        self.cells(Ask::Values, at, &mut cells, run, s)?;
        named(prim, into_bytes(cells)).ok_or_else(|| self.mistyped())
    }

    #[inline(never)]
    fn decimal_values<'s>(&self, at: u64, len: usize, run: &mut Run<'_>, s: &mut Scratch<'s>) -> Result<Values<'s>>
    where
        'f: 's,
    {
        let width = self.dtype.cell().ok_or_else(|| self.mistyped())?;
        let mut cells = take(s, width, len)?;
        self.cells(Ask::Values, at, &mut cells, run, s)?;
        Ok(match cells {
            Cells::W1(cells) => Values::I8(bytemuck::cast_slice(cells)),
            Cells::W2(cells) => Values::I16(bytemuck::cast_slice(cells)),
            Cells::W4(cells) => Values::I32(bytemuck::cast_slice(cells)),
            Cells::W8(cells) => Values::I64(bytemuck::cast_slice(cells)),
            Cells::W16(cells) => Values::I128(bytemuck::cast_slice(cells)),
            Cells::W32(cells) => Values::I256(cells),
        })
    }

    fn texts<'s>(&self, at: u64, len: usize, run: &mut Run<'_>, s: &mut Scratch<'s>) -> Result<VarBytes<'s>>
    where
        'f: 's,
    {
        let cells = s.take::<u64>(len)?;
        let plan = self.plan(at, len, run, &mut Scratch::new(&mut [0; ASIDE]))?;
        let data: &'s [u8] = match plan {
            Plan::Borrowed(blob) => {
                self.cells(Ask::Spans, at, &mut Cells::W8(cells), run, s)?;
                blob
            }
            Plan::Copied(bound) => {
                let bound = usize::try_from(bound).map_err(|_| self.error(Kind::Overflow, What::VtxText, bound))?;
                let arena = s.take::<u8>(bound)?;
                let limits = self.file.limits();
                let mut copied = Run::new(limits, len as u64);
                copied.text = Text::Copied { arena: &mut *arena, used: 0 };
                self.cells(Ask::Spans, at, &mut Cells::W8(cells), &mut copied, s)?;
                arena
            }
        };
        Ok(VarBytes { data, spans: Spans::Each(bytemuck::cast_slice::<u64, Span>(cells)) })
    }

    #[inline(never)]
    fn nested<'s>(
        &self,
        at: u64,
        len: usize,
        concrete: &mut Rows<'f>,
        run: &mut Run<'_>,
        s: &mut Scratch<'s>,
    ) -> Result<Ranges<'s>>
    where
        'f: 's,
    {
        if len == 0 {
            return Ok(Ranges::Stride { first: 0, size: 0, count: 0 });
        }
        concrete.enter_concrete(run, &mut Scratch::new(&mut [0; ASIDE]))?;
        let stride = |size: u64| Ranges::Stride { first: product(at, size), size, count: len };
        let same = matches!(self.form, Form::Layout(LayoutId::Struct) | Form::Array(_));
        Ok(match (concrete.node.form, self.form) {
            (Form::Layout(LayoutId::Struct), _) if same => stride(1),
            (Form::Array(Encoding::Struct), Form::Array(Encoding::Struct)) => stride(1),
            (Form::Array(Encoding::FixedSizeList), Form::Array(Encoding::FixedSizeList)) => match self.dtype.shape {
                Shape::FixedList(size) => stride(size.into()),
                _ => return Err(self.mistyped()),
            },
            _ => {
                let cells = s.take::<u64>(len)?;
                self.cells(Ask::Ranges, at, &mut Cells::W8(cells), run, s)?;
                let spans = bytemuck::cast_slice::<u64, Span>(cells);
                if spans.contains(&NOWHERE) {
                    return Err(self.error(Kind::Overflow, What::VtxOffsets, u32::MAX.into()));
                }
                Ranges::Each(spans)
            }
        })
    }

    /// Which of some rows have a value.
    #[inline(never)]
    pub(super) fn valid_rows<'s>(
        &self,
        at: u64,
        len: usize,
        run: &mut Run<'_>,
        s: &mut Scratch<'s>,
    ) -> Result<Validity<'s>>
    where
        'f: 's,
    {
        if !self.dtype.nullable || len == 0 {
            return Ok(Validity::All);
        }
        // Most validity is a bitmap, one constant, or missing: then nothing is decoded.
        if let Some(encoding) = self.encoding()
            && let Some(k) = self.validity_place(encoding)?
            && encoding != Encoding::Delta
        {
            let child = self.validity(k);
            let Some(child) = child.as_ref()? else { return Ok(Validity::All) };
            match child.encoding() {
                Some(Encoding::Bool) => return child.bits(at, len).map(Validity::Bits),
                Some(Encoding::Constant) => {
                    return Ok(if child.is_filled()? { Validity::All } else { Validity::None });
                }
                _ => {}
            }
        }
        let bytes = s.take::<u8>(len.div_ceil(8))?;
        let bits = self.pack(Ask::Valid, at, len, bytes, run, s)?;
        Ok(match bits.count_ones() {
            ones if ones == len => Validity::All,
            0 => Validity::None,
            _ => Validity::Bits(bits),
        })
    }
}

/// The bytes of cells, for as long as their memory lives.
fn into_bytes(cells: Cells<'_>) -> &[u8] {
    each!(cells, words => bytemuck::cast_slice(words))
}

/// Bytes as numbers; `None` if they are not aligned for that.
fn named(prim: Prim, bytes: &[u8]) -> Option<Values<'_>> {
    aligned(bytes, prim.size()).then(|| Values::numbers(prim, bytes))
}
