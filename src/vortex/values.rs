//! Rows of one node as a batch. Cells are cast to their types; values that are stored as they are in memory are
//! borrowed.

use super::context::{ASIDE, Call, Context};
use super::dtype::Shape;
use super::encodings::{constant, plain, sparse};
use super::node::{Form, Node};
use super::raw::Encoding;
use super::scheme::{self, Holds};
use super::text::Plan;
use super::tree::{Ask, NOWHERE};
use crate::bytes::{Bits, FAST, product, saturated};
use crate::column::{Prim, Ranges, Spans, Validity, Values, VarBytes, aligned};
use crate::encoding::cells::{Cells, each};
use crate::error::{Kind, Result, What};

impl<'f> Node<'f> {
    /// Returns the values of rows that are all in this node. Nested rows are ranges of the children of the node that
    /// [`concrete`](super::rows::Rows::concrete) returns.
    pub(super) fn values<'s>(&self, shape: Shape, at: u64, len: usize, cx: &mut Context<'_, 's>) -> Result<Values<'s>>
    where
        'f: 's,
    {
        match shape {
            Shape::Null => Ok(Values::Null),
            Shape::Bool => self.bool_values(at, len, cx),
            Shape::Prim(prim) => self.number_values(prim, at, len, cx),
            Shape::Decimal { .. } => self.decimal_values(at, len, cx),
            Shape::Utf8 => self.texts(at, len, cx).map(Values::Utf8),
            Shape::Binary => self.texts(at, len, cx).map(Values::Bytes),
            #[cfg(feature = "vortex-variant")]
            Shape::VariantPart { .. } => self.texts(at, len, cx).map(Values::Bytes),
            #[cfg(feature = "vortex-variant")]
            Shape::Variant => self.ranges(at, len, cx).map(Values::Nested),
            // The error of an array names its encoding.
            Shape::Other => Err(if self.encoding().is_some() { self.undecoded() } else { self.mistyped() }),
            Shape::List | Shape::FixedList(_) | Shape::Struct(_) | Shape::Map | Shape::Entries | Shape::Entry => {
                self.ranges(at, len, cx).map(Values::Nested)
            }
        }
    }

    fn bool_values<'s>(&self, at: u64, len: usize, cx: &mut Context<'_, 's>) -> Result<Values<'s>>
    where
        'f: 's,
    {
        if self.encoding() == Some(Encoding::Bool) {
            return plain::bits(self, at, len).map(Values::Bool);
        }
        self.packed(Ask::Values, at, len, cx).map(Values::Bool)
    }

    /// Packs cells of 0 and 1 into bits.
    fn packed<'s>(&self, ask: Ask, at: u64, len: usize, cx: &mut Context<'_, 's>) -> Result<Bits<'s>> {
        let to = cx.take::<u8>(len.div_ceil(8))?;
        let mut t = cx.scope();
        let bytes = t.take::<u8>(len)?;
        self.cells(ask, at, &mut Cells::W1(bytes), &mut t)?;
        let mut fast = &[][..];
        if FAST {
            (fast, _) = bytes.as_chunks::<8>();
        }
        for (to, eight) in to.iter_mut().zip(fast) {
            // The product moves the lowest bit of byte k to bit 56 + k.
            let word = u64::from_le_bytes(*eight) & 0x0101_0101_0101_0101;
            [.., *to] = word.wrapping_mul(0x0102_0408_1020_4080).to_le_bytes();
        }
        for (to, eight) in to.iter_mut().zip(bytes.chunks(8)).skip(fast.len()) {
            *to = eight.iter().rev().fold(0, |bits, bit| bits << 1 | (bit & 1));
        }
        Bits::new(to, 0, len)
    }

    /// Returns numbers that are in the file as they are in memory.
    // Small builds call this once, and the two below; without these attributes they take 72 bytes more.
    #[inline(always)]
    pub(super) fn borrowed(&self, prim: Prim, at: u64, len: usize) -> Result<Option<Values<'f>>> {
        if cfg!(target_endian = "little") && self.encoding() == Some(Encoding::Primitive) {
            return plain::fixed(self, prim.size(), at, len).map(|bytes| named(prim, bytes));
        }
        Ok(None)
    }

    fn number_values<'s>(&self, prim: Prim, at: u64, len: usize, cx: &mut Context<'_, 's>) -> Result<Values<'s>>
    where
        'f: 's,
    {
        if let Some(values) = self.borrowed(prim, at, len)? {
            return Ok(values);
        }
        let mut cells = cx.take_cells(prim.size(), len)?;
        self.cells(Ask::Values, at, &mut cells, cx)?;
        named(prim, into_bytes(cells)).ok_or_else(|| self.mistyped())
    }

    fn decimal_values<'s>(&self, at: u64, len: usize, cx: &mut Context<'_, 's>) -> Result<Values<'s>> {
        let width = self.dtype.cell().ok_or_else(|| self.mistyped())?;
        let mut cells = cx.take_cells(width, len)?;
        self.cells(Ask::Values, at, &mut cells, cx)?;
        Ok(match cells {
            Cells::W1(cells) => Values::I8(bytemuck::cast_slice(cells)),
            Cells::W2(cells) => Values::I16(bytemuck::cast_slice(cells)),
            Cells::W4(cells) => Values::I32(bytemuck::cast_slice(cells)),
            Cells::W8(cells) => Values::I64(bytemuck::cast_slice(cells)),
            Cells::W16(cells) => Values::I128(bytemuck::cast_slice(cells)),
            Cells::W32(cells) => Values::I256(cells),
        })
    }

    fn texts<'s>(&self, at: u64, len: usize, cx: &mut Context<'_, 's>) -> Result<VarBytes<'s>>
    where
        'f: 's,
    {
        let cells = cx.take::<u64>(len)?;
        let plan = self.plan(at, len, &mut cx.aside(&mut [0; ASIDE]))?;
        let data: &'s [u8] = match plan {
            Plan::Borrowed(blob) => {
                self.cells(Ask::Spans, at, &mut Cells::W8(cells), cx)?;
                blob
            }
            Plan::Copied(bound) => {
                let bound = usize::try_from(bound).map_err(|_| self.error(Kind::Overflow, What::VORTEX_TEXT, bound))?;
                let arena = cx.take::<u8>(bound)?;
                let mut call = Call::new(self.file, len as u64);
                let mut copying = Context::new(&mut call, cx.scratch.scope());
                copying.copy_texts_to(arena);
                self.cells(Ask::Spans, at, &mut Cells::W8(cells), &mut copying)?;
                arena
            }
        };
        Ok(VarBytes { data, spans: Spans::Each(bytemuck::cast_slice::<u64, [u32; 2]>(cells)) })
    }

    /// Returns the number of child rows per row if it is constant and the child rows are in order, otherwise `None`.
    #[inline(always)]
    pub(super) fn stride(&self) -> Result<Option<u64>> {
        match self.holds() {
            Some(Holds::Nested(nested)) => (nested.each)(self),
            _ => Ok(None),
        }
    }

    fn ranges<'s>(&self, at: u64, len: usize, cx: &mut Context<'_, 's>) -> Result<Ranges<'s>> {
        if len == 0 {
            return Ok(Ranges::Stride { first: 0, size: 0, count: 0 });
        }
        if let Some(size) = self.stride()? {
            return Ok(Ranges::Stride { first: product(at, size), size, count: len });
        }
        let cells = cx.take::<u64>(len)?;
        self.cells(Ask::Ranges, at, &mut Cells::W8(cells), cx)?;
        let spans = bytemuck::cast_slice::<u64, [u32; 2]>(cells);
        if spans.contains(&NOWHERE.into()) {
            return Err(self.error(Kind::Overflow, What::VORTEX_OFFSETS, u32::MAX.into()));
        }
        Ok(Ranges::Each(spans))
    }

    /// Returns the validity of the rows.
    pub(super) fn valid_rows<'s>(&self, at: u64, len: usize, cx: &mut Context<'_, 's>) -> Result<Validity<'s>>
    where
        'f: 's,
    {
        if !self.dtype.nullable || len == 0 {
            return Ok(Validity::All);
        }
        let below;
        let node = if FAST {
            // An error is found again when the validity is decoded.
            if self.all_valid(at, len, cx).unwrap_or(false) {
                return Ok(Validity::All);
            }
            below = self.with_validity()?;
            &below
        } else {
            self
        };
        if let Some(validity) = node.stored_validity(at, len)? {
            return Ok(validity);
        }
        let bits = node.packed(Ask::Valid, at, len, cx)?;
        Ok(match bits.count_ones() {
            ones if ones == len => Validity::All,
            0 => Validity::None,
            _ => Validity::Bits(bits),
        })
    }

    /// Returns the validity of the rows if it is a bitmap, a constant, or absent, as in most arrays. Then nothing is decoded.
    #[inline(always)]
    fn stored_validity(&self, at: u64, len: usize) -> Result<Option<Validity<'f>>> {
        if let Some(scheme) = self.scheme()
            && let scheme::Validity::Child(k) = self.validity_of(scheme.validity)?
        {
            let Some(child) = &self.validity(k)? else { return Ok(Some(Validity::All)) };
            match child.encoding() {
                Some(Encoding::Bool) => return plain::bits(child, at, len).map(|bits| Some(Validity::Bits(bits))),
                Some(Encoding::Constant) => {
                    let all = constant::is_true(child)?;
                    return Ok(Some(if all { Validity::All } else { Validity::None }));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns the node whose cells are the validity of the rows; `None` if [`valid_rows`](Self::valid_rows) decodes none.
    pub(super) fn decoded_validity(&self, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<Option<Self>> {
        if !self.dtype.nullable || len == 0 || self.all_valid(at, len, cx).unwrap_or(false) {
            return Ok(None);
        }
        let node = self.with_validity()?;
        Ok(if node.stored_validity(at, len)?.is_some() { None } else { Some(node) })
    }

    /// Returns the node that stores the validity of the rows: this one, or a child with the same rows.
    fn with_validity(&self) -> Result<Self> {
        let mut node = *self;
        while let Some(scheme) = node.scheme() {
            node = match (node.validity_of(scheme.validity)?, scheme.holds) {
                (scheme::Validity::As(k), _) => node.aligned(k, &node.dtype)?,
                (scheme::Validity::Decoded, Holds::Wrapped(inner)) => inner(&node)?,
                _ => break,
            };
        }
        Ok(node)
    }

    /// Returns whether every row is known to have a value from the encodings alone, in a time that does not depend on the
    /// rows. [`all_valid`](Self::all_valid) looks at the bits of some rows, too.
    #[cfg(feature = "vortex-variant")]
    pub(super) fn is_never_null(&self) -> Result<bool> {
        if !self.dtype.nullable {
            return Ok(true);
        }
        let Some(scheme) = self.scheme() else { return Ok(false) };
        Ok(match self.validity_of(scheme.validity)? {
            scheme::Validity::All => true,
            scheme::Validity::Child(k) => self.validity(k)?.is_none(),
            scheme::Validity::As(k) => self.aligned(k, &self.dtype)?.is_never_null()?,
            _ => matches!(scheme.holds, Holds::Constant) && !constant::scalar(self)?.is_null()?,
        })
    }

    /// Returns whether all of the rows are known to have a value, without decoding them.
    pub(super) fn all_valid(&self, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<bool> {
        cx.spend(self.at())?;
        if !self.dtype.nullable {
            return Ok(true);
        }
        let Some(scheme) = self.scheme() else {
            return if let Form::Scalar(scalar) = &self.form { Ok(!scalar.is_null()?) } else { Ok(false) };
        };
        let whole = |values: Node<'f>, cx: &mut Context<'_, '_>| values.all_valid(0, saturated(values.rows), cx);
        Ok(match (self.validity_of(scheme.validity)?, scheme.holds) {
            (scheme::Validity::All, _) => true,
            (scheme::Validity::Child(k), _) => match self.validity(k)? {
                None => true,
                Some(valid) if valid.encoding() == Some(Encoding::Bool) => {
                    plain::bits(&valid, at, len)?.count_ones() == len
                }
                Some(valid) => valid.encoding() == Some(Encoding::Constant) && constant::is_true(&valid)?,
            },
            (scheme::Validity::As(k), _) => self.aligned(k, &self.dtype)?.all_valid(at, len, cx)?,
            (_, Holds::Wrapped(inner)) => inner(self)?.all_valid(at, len, cx)?,
            (_, Holds::Constant) => !constant::scalar(self)?.is_null()?,
            (_, Holds::Picked(values, codes)) => {
                let coded = match codes {
                    Some(codes) => codes(self)?.all_valid(at, len, cx)?,
                    None => true,
                };
                coded && whole(values(self)?, cx)?
            }
            (_, Holds::Patched) => !constant::scalar(self)?.is_null()? && whole(sparse::values(self)?, cx)?,
            (_, Holds::Chunks(_)) => {
                let rows = self.chunk_at(at, len, cx)?;
                rows.left == len as u64 && rows.node.all_valid(rows.at, len, cx)?
            }
            _ => false,
        })
    }
}

/// Returns the bytes of cells with the lifetime of their memory.
fn into_bytes(cells: Cells<'_>) -> &[u8] {
    each!(cells, words => bytemuck::cast_slice(words))
}

/// Casts bytes to numbers; returns `None` if they are not aligned.
fn named(prim: Prim, bytes: &[u8]) -> Option<Values<'_>> {
    aligned(bytes, prim.size()).then(|| Values::numbers(prim, bytes))
}
