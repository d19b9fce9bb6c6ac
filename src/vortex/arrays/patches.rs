//! Patches: rows whose values lie apart (section 8), and sparse arrays, which are nothing else.

use crate::bytes::{Scratch, saturated};
use crate::encoding::cells::Cells;
use crate::error::{Kind, Result, What};
use crate::vortex::dtype::{Ty, integer};
use crate::vortex::node::{Node, Rows};
use crate::vortex::raw::field::patches as field;
use crate::vortex::tree::{Ask, ONE, Run, take};

/// The patches of an array: how many, and which children they are.
#[derive(Clone, Copy)]
pub(in crate::vortex) struct Patches {
    len: u64,
    offset: u64,
    indices: Ty,
    /// Whether a child with chunk offsets follows, which decoding does not need.
    chunk_offsets: bool,
}

impl Patches {
    /// How many children they are.
    pub(in crate::vortex) const fn children(&self) -> usize {
        if self.chunk_offsets { 3 } else { 2 }
    }

    /// How many patches.
    pub(in crate::vortex) const fn len(&self) -> u64 {
        self.len
    }
}

impl<'f> Node<'f> {
    /// The patches in field `number` of the metadata.
    #[inline(never)]
    pub(in crate::vortex) fn patches(&self, number: u32) -> Result<Option<Patches>> {
        let message = self.metadata().as_ref()?.message(number);
        let Some(message) = message.as_ref()? else { return Ok(None) };
        let len = message.uint(field::LEN)?.unwrap_or(0);
        let prim = integer(message.uint(field::INDICES)?, message.at())?;
        Ok(Some(Patches {
            len,
            offset: message.uint(field::OFFSET)?.unwrap_or(0),
            indices: Ty::prim(prim, false),
            chunk_offsets: message.uint(field::CHUNK_OFFSETS)?.is_some(),
        }))
    }

    /// Puts the patches in field `number` of the metadata, if there are any, into values: as `patch` does.
    #[allow(clippy::too_many_arguments, reason = "the walk, and which children")]
    #[inline(never)]
    pub(in crate::vortex) fn patch_values(
        &self,
        number: u32,
        k: usize,
        dtype: &Ty,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        match self.patches(number).as_ref()? {
            Some(patches) => self.patch(patches, k, dtype, Ask::Values, at, out, run, s),
            None => Ok(()),
        }
    }

    /// Puts the patches for the rows from `at` on into `out`. They are children `k` and `k + 1`, the values
    /// of type `dtype`.
    #[allow(clippy::too_many_arguments, reason = "the walk, and which children")]
    #[inline(never)]
    pub(in crate::vortex) fn patch(
        &self,
        patches: &Patches,
        k: usize,
        dtype: &Ty,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let bad = |need| self.error(Kind::Invalid, What::Patches, need);
        let indices = self.child(k, &patches.indices, patches.len);
        let values = self.child(k.saturating_add(1), dtype, patches.len);
        let (indices, values) = (indices.as_ref()?, values.as_ref()?);
        let first = at.checked_add(patches.offset).ok_or_else(|| bad(patches.offset))?;
        let end = first.saturating_add(out.len() as u64);
        let (from, to) = (indices.below(first, run, s)?, indices.below(end, run, s)?);
        // The last rows must have the last patches, the first rows the first: nothing is left outside.
        let over = at.saturating_add(out.len() as u64) == self.rows && to < patches.len;
        if over || at == 0 && from > 0 {
            return Err(bad(to));
        }
        let Some(count) = to.checked_sub(from) else { return Err(bad(to)) };
        let count = usize::try_from(count).ok().filter(|count| *count <= out.len()).ok_or_else(|| bad(count))?;
        if count == 0 {
            return Ok(());
        }
        let mut t = s.scope();
        let places = t.take::<u64>(count)?;
        indices.indices(from, places, run, &mut t)?;
        let mut least = first;
        for place in places.iter_mut() {
            // Out of order, other rows would find other patches.
            if *place < least {
                return Err(bad(*place));
            }
            least = place.saturating_add(1);
            *place = place.wrapping_sub(first);
        }
        let mut patch = take(&mut t, out.width(), count);
        let patch = patch.as_mut()?;
        values.cells(ask, from, patch, run, &mut t)?;
        match out.scatter(patch, places) {
            None => Ok(()),
            Some(i) => Err(bad(from.saturating_add(i as u64))),
        }
    }

    /// The patches of a `vortex.sparse`.
    pub(in crate::vortex) fn sparse_patches(&self) -> Result<Patches> {
        let patches = self.patches(1)?;
        patches.ok_or_else(|| self.error(Kind::Invalid, What::VtxMetadata, 1))
    }

    /// `vortex.sparse`: one value everywhere, but for the patches.
    pub(in crate::vortex) fn sparse(
        &self,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let patches = self.sparse_patches();
        let patches = patches.as_ref()?;
        let fill = self.fill();
        let fill = fill.as_ref()?;
        match ask {
            Ask::Valid => out.fill(if fill.is_null()? { &[0; 32] } else { &ONE }),
            Ask::Ranges if fill.is_null()? => out.fill(&[0; 32]),
            // Of rows that are all patched, or none of them: see `sparse_part`.
            Ask::Values | Ask::Spans | Ask::Ranges => {
                let mut scalar = *self;
                scalar.enter_constant()?;
                scalar.cells(ask, at, out, run, s)?;
            }
        }
        self.patch(patches, 0, &self.dtype, ask, at, out, run, s)
    }
}

impl Rows<'_> {
    /// Into what of a `vortex.sparse` holds the first of them: the patches, or the scalar that all others are. Items
    /// of nested rows lie in the one or in the other.
    pub(in crate::vortex) fn enter_sparse(&mut self, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let (node, row) = (&self.node, self.at);
        let bad = |need| node.error(Kind::Invalid, What::Patches, need);
        let patches = node.sparse_patches();
        let patches = patches.as_ref()?;
        let indices = node.child(0, &patches.indices, patches.len);
        let indices = indices.as_ref()?;
        let place = row.checked_add(patches.offset).ok_or_else(|| bad(patches.offset))?;
        let first = indices.below(place, run, s)?;
        let mut next = [0; PATCHED];
        let len = saturated(patches.len.saturating_sub(first)).min(PATCHED);
        let next = next.get_mut(..len).unwrap_or_default();
        indices.indices(first, next, run, s)?;
        let patched = |(i, index): (usize, &u64)| index.checked_sub(place) == Some(i as u64);
        let count = next.iter().enumerate().take_while(|next| patched(*next)).count();
        if count > 0 {
            self.node.enter_values()?;
            (self.at, self.left) = (first, self.left.min(count as u64));
            return Ok(());
        }
        let left = match next.first() {
            Some(index) => index.checked_sub(place).ok_or_else(|| bad(*index))?,
            None => node.rows.saturating_sub(row),
        };
        self.left = self.left.min(left);
        self.node.enter_constant()
    }
}

/// Patched rows that are looked for together.
const PATCHED: usize = 32;
