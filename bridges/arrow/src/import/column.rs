//! Columns over the nodes of a record batch.

use std::ops::Range;

use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{self, Batch, Dictionary, Ranges, Spans, Type, Validity, Values, VarBytes};
use pilaster::error::{Error, Kind, Result, What};

use super::node::{Node, Nulls, Stored};
use super::{pick, text};

/// A column of a record batch. Values stay in the buffers of Arrow; dictionaries, runs, views and wide decimals take
/// scratch memory when they are read.
#[derive(Clone, Copy, Debug)]
pub struct Column<'p> {
    node: &'p Node,
}

impl<'p> Column<'p> {
    pub(super) const fn new(node: &'p Node) -> Self {
        Column { node }
    }

    /// Returns the bounds of rows, which exist.
    fn rows_in(&self, rows: &Range<u64>) -> Result<Range<usize>> {
        let out = || Error::needing(Kind::OutOfRange, What::ROW, rows.end, self.node.rows as u64);
        if rows.start > rows.end || rows.end > self.node.rows as u64 {
            return Err(out());
        }
        let end = usize::try_from(rows.end).map_err(|_| out())?;
        Ok(usize::try_from(rows.start).map_err(|_| out())?..end)
    }

    fn wrong(&self) -> Error {
        Error::new(Kind::WrongType, self.node.ty.what(), 0)
    }

    /// Returns the values of rows of a node that is neither dictionary nor runs.
    fn plain<'s>(&self, rows: Range<usize>, valid: &Validity<'s>, scratch: &mut Scratch<'s>) -> Result<Values<'s>>
    where
        Self: 's,
    {
        let (len, node) = (rows.len(), self.node);
        let offsets = rows.start..rows.end.saturating_add(1);
        let wrong = || self.wrong();
        Ok(match &node.values {
            Stored::Null => Values::Null,
            Stored::Bool(bits) => {
                Values::Bool(Bits::new(bits.values(), bits.offset(), bits.len())?.slice(rows.start, len)?)
            }
            Stored::Number(bytes, number) => {
                let at = |row: usize| row.saturating_mul(number.size());
                let bytes = bytes.get(at(rows.start)..at(rows.end)).ok_or_else(wrong)?;
                number.values(bytes, rows.start as u64, |i| valid.get(i), scratch)?
            }
            Stored::Off32(ends, data) => {
                let ends = ends.get(offsets).ok_or_else(wrong)?;
                self.texts(VarBytes { data, spans: Spans::Off32(bytemuck::must_cast_slice(ends)) })
            }
            Stored::Off64(ends, data) => {
                let ends = ends.get(offsets).ok_or_else(wrong)?;
                self.texts(VarBytes { data, spans: Spans::Off64(bytemuck::must_cast_slice(ends)) })
            }
            Stored::Fixed(data, size) => {
                let data = data.get(rows.start.saturating_mul(*size as usize)..).ok_or_else(wrong)?;
                self.texts(VarBytes { data, spans: Spans::Stride { count: len, len: *size } })
            }
            Stored::Views(..) => self.texts(text::gathered(node, pick::Picks::Rows(rows), valid, scratch)?),
            Stored::Stride(size) => {
                let first = size.checked_mul(rows.start as u64).ok_or_else(wrong)?;
                Values::Nested(Ranges::Stride { first, size: *size, count: len })
            }
            Stored::List32(ends) => {
                Values::Nested(Ranges::Off32(bytemuck::must_cast_slice(ends.get(offsets).ok_or_else(wrong)?)))
            }
            Stored::List64(ends) => {
                Values::Nested(Ranges::Off64(bytemuck::must_cast_slice(ends.get(offsets).ok_or_else(wrong)?)))
            }
            Stored::Views32(..) | Stored::Views64(..) => {
                Values::Nested(self.ranges(pick::Picks::Rows(rows), valid, scratch)?)
            }
            Stored::Coded | Stored::Runs(..) => return Err(wrong()),
        })
    }

    /// Returns the values of the rows at `picks`.
    fn picked<'s>(
        &self,
        picks: &'s [u32],
        valid: &Validity<'s>,
        first: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<Values<'s>>
    where
        Self: 's,
    {
        Ok(match &self.node.values {
            Stored::Null => Values::Null,
            Stored::Bool(bits) => {
                let to = scratch.take::<u8>(picks.len().div_ceil(8))?;
                to.fill(0);
                for (i, pick) in picks.iter().enumerate() {
                    let at = *pick as usize;
                    // The place of a missing row may not exist.
                    if at < bits.len() && bits.value(at) {
                        pick::set(to, i, true);
                    }
                }
                Values::Bool(Bits::new(to, 0, picks.len())?)
            }
            Stored::Number(bytes, number) => {
                let bytes = super::number::gathered(bytes, number.size(), picks, scratch)?;
                number.values(bytes, first as u64, |i| valid.get(i), scratch)?
            }
            Stored::Off32(..) | Stored::Off64(..) | Stored::Fixed(..) | Stored::Views(..) => {
                self.texts(text::gathered(self.node, pick::Picks::Each(picks), valid, scratch)?)
            }
            _ => Values::Nested(self.ranges(pick::Picks::Each(picks), valid, scratch)?),
        })
    }

    fn texts<'s>(&self, texts: VarBytes<'s>) -> Values<'s> {
        match self.node.ty {
            Type::Utf8 => Values::Utf8(texts),
            _ => Values::Bytes(texts),
        }
    }

    /// Returns the child rows of each row.
    fn ranges<'s>(
        &self,
        picks: pick::Picks<'_>,
        valid: &Validity<'_>,
        scratch: &mut Scratch<'s>,
    ) -> Result<Ranges<'s>> {
        let spans = scratch.take::<[u32; 2]>(picks.len())?;
        for (i, to) in spans.iter_mut().enumerate() {
            *to = match picks.get(i) {
                Some(row) if valid.get(i) => self.node.range(row).ok_or_else(|| self.too_large(row))?,
                _ => [0, 0],
            };
        }
        Ok(Ranges::Each(spans))
    }

    #[cold]
    fn too_large(&self, row: usize) -> Error {
        Error::new(Kind::Overflow, self.node.ty.what(), row as u64)
    }
}

impl Node {
    /// Returns the span of the child rows of row `row`, or `None` if they do not fit 32 bits.
    fn range(&self, row: usize) -> Option<[u32; 2]> {
        let span = |start: u64, len: u64| Some([start.try_into().ok()?, len.try_into().ok()?]);
        match &self.values {
            Stored::Stride(size) => span(size.checked_mul(row as u64)?, *size),
            Stored::List32(ends) => {
                let (start, end) = (*ends.get(row)?, *ends.get(row.checked_add(1)?)?);
                span(start.try_into().ok()?, end.checked_sub(start)?.try_into().ok()?)
            }
            Stored::List64(ends) => {
                let (start, end) = (*ends.get(row)?, *ends.get(row.checked_add(1)?)?);
                span(start.try_into().ok()?, end.checked_sub(start)?.try_into().ok()?)
            }
            Stored::Views32(starts, sizes) => {
                span((*starts.get(row)?).try_into().ok()?, (*sizes.get(row)?).try_into().ok()?)
            }
            Stored::Views64(starts, sizes) => {
                span((*starts.get(row)?).try_into().ok()?, (*sizes.get(row)?).try_into().ok()?)
            }
            _ => None,
        }
    }
}

impl<'p> column::Column for Column<'p> {
    fn ty(&self) -> Type {
        self.node.ty
    }

    fn nullable(&self) -> bool {
        self.node.nullable
    }

    fn rows(&self) -> u64 {
        self.node.rows as u64
    }

    fn is_variant(&self) -> bool {
        self.node.is_variant
    }

    fn zone(&self) -> Result<Option<&str>> {
        Ok(self.node.zone.as_deref())
    }

    fn child(&self, k: usize) -> Result<Self> {
        let children = &self.node.leaf().children;
        let none = || Error::needing(Kind::OutOfRange, What::CHILD, k as u64, children.len() as u64);
        children.get(k).map(|(_, node)| Column { node }).ok_or_else(none)
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        let children = &self.node.leaf().children;
        let none = || Error::needing(Kind::OutOfRange, What::CHILD, k as u64, children.len() as u64);
        children.get(k).map(|(name, _)| name.as_str()).ok_or_else(none)
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        let rows = self.rows_in(&rows)?;
        let len = rows.len() as u64;
        let leaf = self.node.leaf();
        let picks = match leaf.rows == self.node.rows && std::ptr::eq(leaf, self.node) {
            true => 0,
            false => pick::cost(len),
        };
        let values = match &leaf.values {
            Stored::Number(_, number) if picks > 0 => {
                number.cost(len).saturating_add(len.saturating_mul(number.size() as u64)).saturating_add(16)
            }
            Stored::Number(_, number) => number.cost(len),
            Stored::Bool(_) if picks > 0 => len.div_ceil(8),
            Stored::Views(..) => text::cost(self.node, leaf, rows)?,
            Stored::Off32(..) | Stored::Off64(..) | Stored::Fixed(..) if picks > 0 => {
                text::cost(self.node, leaf, rows)?
            }
            Stored::Views32(..) | Stored::Views64(..) => Scratch::cost::<[u32; 2]>(len),
            Stored::Stride(_) | Stored::List32(_) | Stored::List64(_) if picks > 0 => Scratch::cost::<[u32; 2]>(len),
            _ => 0,
        };
        Ok(picks.saturating_add(values))
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        let (first, rows) = (rows.start, self.rows_in(&rows)?);
        let len = rows.len();
        let node: &'s Node = self.node;
        let (values, validity) = match &node.values {
            Stored::Coded | Stored::Runs(..) => {
                let (picks, validity) = pick::picks(node, rows.clone(), scratch)?;
                (Column { node: node.leaf() }.picked(picks, &validity, rows.start, scratch)?, validity)
            }
            _ => {
                let validity = match &node.nulls {
                    Nulls::None => Validity::All,
                    Nulls::All => Validity::None,
                    Nulls::Bits(nulls) => {
                        let bits = Bits::new(nulls.validity(), nulls.offset(), nulls.len())?;
                        Validity::Bits(bits.slice(rows.start, len)?)
                    }
                };
                (Column { node }.plain(rows, &validity, scratch)?, validity)
            }
        };
        let validity = if matches!(values, Values::Null) { Validity::None } else { validity };
        Ok(Batch { first, len, values, validity, of: *self })
    }

    fn known_validity(&self, row: u64) -> Result<Option<(bool, u64)>> {
        let plain = !matches!(self.node.values, Stored::Coded | Stored::Runs(..));
        let left = (self.node.rows as u64).checked_sub(row).filter(|left| *left > 0);
        Ok(left.and_then(|left| match self.node.nulls {
            Nulls::None if plain || !self.node.nullable => Some((true, left)),
            Nulls::All if plain => Some((false, left)),
            _ => None,
        }))
    }

    fn dictionary(&self, _: u64) -> Result<Option<Dictionary<Self>>> {
        let Stored::Coded = self.node.values else { return Ok(None) };
        let [(_, values), (_, codes)] = self.node.children.as_slice() else { return Ok(None) };
        // The codes have the validity of the rows only if no value is missing.
        if values.may_be_missing() || codes.rows == 0 {
            return Ok(None);
        }
        let (values, codes) = (Column { node: values }, Column { node: codes });
        Ok(Some(Dictionary { first: 0, len: self.node.rows as u64, codes, values }))
    }
}
