//! Patches (format description, section 8): values that replace rows of an array, in two of its children.

use super::*;

mod field {
    pub const LEN: u32 = 1;
    pub const OFFSET: u32 = 2;
    pub const INDICES_TYPE: u32 = 3;
    pub const CHUNK_OFFSETS_TYPE: u32 = 5;
}

/// The position of the patches of an array.
#[derive(Clone, Copy)]
pub(in crate::vortex) struct PatchSource {
    /// The field of the metadata that describes the patches.
    pub(super) field: u32,
    /// The child with the indices; the values follow.
    pub(super) first_child: usize,
}

/// Replaces cells of the rows starting at `at` by the patches, if the array has any. Patches have type `dtype`.
pub(super) fn apply(
    node: &Node<'_>,
    place: PatchSource,
    dtype: &Ty,
    at: u64,
    out: &mut Cells<'_>,
    cx: &mut Context<'_, '_>,
) -> Result<()> {
    match Patches::of(node, place)? {
        Some(patches) => patches.apply(dtype, (Ask::Values, at), out, cx),
        None => Ok(()),
    }
}

/// Checks the patches, if the array has any. They have type `dtype`.
pub(super) fn check(node: &Node<'_>, place: PatchSource, dtype: &Ty, checks: &mut Checks<'_, '_>) -> Result<()> {
    Patches::of(node, place)?.map_or(Ok(()), |patches| patches.check(dtype, checks))
}

/// Returns the number of rows starting at `row` that have no patch, at least 1 whether it has one or not.
pub(super) fn unpatched(node: &Node<'_>, place: PatchSource, row: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
    let Some(patches) = Patches::of(node, place)? else { return Ok(u64::MAX) };
    Ok(patches.run_at(row, cx)?.1.err().unwrap_or(1))
}

/// The patches of an array.
#[derive(Clone, Copy)]
pub(in crate::vortex) struct Patches<'n, 'f> {
    node: &'n Node<'f>,
    /// The child with the indices; the values follow.
    first_child: usize,
    len: u64,
    /// The number that is subtracted from every index.
    offset: u64,
    indices_type: u64,
    /// True if a child with chunk offsets follows. Decoding does not need it.
    chunk_offsets: bool,
}

impl<'n, 'f> Patches<'n, 'f> {
    /// Returns the patches, or `None` if the metadata lacks the field.
    pub(in crate::vortex) fn of(
        node: &'n Node<'f>,
        PatchSource { field, first_child }: PatchSource,
    ) -> Result<Option<Self>> {
        let Some(message) = node.metadata()?.message(field)? else { return Ok(None) };
        let [len, offset, indices_type] = message.numbers([field::LEN, field::OFFSET, field::INDICES_TYPE])?;
        let chunk_offsets = message.uint(field::CHUNK_OFFSETS_TYPE)?.is_some();
        Ok(Some(Patches { node, first_child, len, offset, indices_type, chunk_offsets }))
    }

    /// Returns the number of the child after the children of the patches.
    pub(super) fn next_child(&self) -> usize {
        self.first_child.saturating_add(if self.chunk_offsets { 3 } else { 2 })
    }

    /// Returns the number of patches.
    pub(in crate::vortex) const fn len(&self) -> u64 {
        self.len
    }

    /// Returns the indices of the patched rows, in order.
    pub(in crate::vortex) fn indices(&self) -> Result<Node<'f>> {
        self.node.integers(self.first_child, self.indices_type, false, self.len)
    }

    /// Returns the values of the patches, of type `dtype`.
    pub(super) fn values(&self, dtype: &Ty) -> Result<Node<'f>> {
        self.node.child(self.first_child.saturating_add(1), dtype, self.len)
    }

    #[cold]
    fn bad(&self, need: u64) -> crate::error::Error {
        self.node.error(Kind::Invalid, What::PATCHES, need)
    }

    /// Returns the index of row `row`: the row plus the offset.
    fn place(&self, row: u64) -> Result<u64> {
        row.checked_add(self.offset).ok_or_else(|| self.bad(self.offset))
    }

    /// Checks that the patched rows are in order and rows of the array, and reads all values of patches, of type `dtype`.
    pub(super) fn check(&self, dtype: &Ty, checks: &mut Checks<'_, '_>) -> Result<()> {
        let ends = checks.ordered(&self.indices()?, true, &|need| self.bad(need))?;
        if let Some([first, last]) = ends
            && (first < self.offset || last >= self.place(self.node.rows)?)
        {
            return Err(self.bad(last));
        }
        checks.whole(&self.values(dtype)?)
    }

    /// Returns the number of patches of `rows` rows starting at `at`, or `None` if a search takes memory.
    pub(in crate::vortex) fn between(&self, at: u64, rows: u64, cx: &mut Context<'_, '_>) -> Option<u64> {
        let (indices, first) = (self.indices().ok().filter(|indices| !indices.is_paged())?, self.place(at).ok()?);
        let (from, to) = (indices.below(first, cx).ok()?, indices.below(first.saturating_add(rows), cx).ok()?);
        Some(to.saturating_sub(from))
    }

    /// Replaces cells of the rows starting at `at` by their patches, which have type `dtype`.
    pub(super) fn apply(
        &self,
        dtype: &Ty,
        (ask, at): (Ask, u64),
        out: &mut Cells<'_>,
        cx: &mut Context<'_, '_>,
    ) -> Result<()> {
        let indices = &self.indices()?;
        let first = self.place(at)?;
        let end = first.saturating_add(out.len() as u64);
        let (from, to) = (indices.below(first, cx)?, indices.below(end, cx)?);
        // No patch may be before row 0 or after the last row.
        let over = at.saturating_add(out.len() as u64) == self.node.rows && to < self.len;
        if over || at == 0 && from > 0 {
            return Err(self.bad(to));
        }
        let count = to.checked_sub(from).ok_or_else(|| self.bad(to))?;
        let count = usize::try_from(count).ok().filter(|count| *count <= out.len()).ok_or_else(|| self.bad(count))?;
        if count == 0 {
            return Ok(());
        }
        let mut t = cx.scope();
        let places = t.take::<u64>(count)?;
        indices.indices(from, places, &mut t)?;
        let mut least = first;
        for place in places.iter_mut() {
            // The binary search above requires sorted indices.
            if *place < least {
                return Err(self.bad(*place));
            }
            least = place.saturating_add(1);
            *place = place.wrapping_sub(first);
        }
        let mut patch = t.take_cells(out.width(), count)?;
        self.values(dtype)?.cells(ask, from, &mut patch, &mut t)?;
        match out.scatter(&patch, places) {
            None => Ok(()),
            Some(i) => Err(self.bad(from.saturating_add(i as u64))),
        }
    }

    /// Returns the number of the first patch that is not before `row`, and the run of rows starting at `row`: `Ok(n)`
    /// if n rows have patches, `Err(n)` if n rows have none.
    pub(super) fn run_at(&self, row: u64, cx: &mut Context<'_, '_>) -> Result<(u64, Result<u64, u64>)> {
        let indices = &self.indices()?;
        let place = self.place(row)?;
        let first = indices.below(place, cx)?;
        let mut next = [0; TOGETHER];
        let len = crate::bytes::saturated(self.len.saturating_sub(first)).min(TOGETHER);
        let next = next.get_mut(..len).unwrap_or_default();
        indices.indices(first, next, cx)?;
        let patched = |(i, index): (usize, &u64)| index.checked_sub(place) == Some(i as u64);
        let count = next.iter().enumerate().take_while(|next| patched(*next)).count();
        if count > 0 {
            return Ok((first, Ok(count as u64)));
        }
        let unpatched = match next.first() {
            Some(index) => index.checked_sub(place).ok_or_else(|| self.bad(*index))?,
            None => self.node.rows.saturating_sub(row),
        };
        Ok((first, Err(unpatched)))
    }
}

/// Maximum number of patched rows that are found at once.
const TOGETHER: usize = 32;

/// Writes patches.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::field;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::encodings::plain::write::primitive;
    use crate::vortex::write::{Array, Narrow};

    /// Patches, which an array has as children.
    pub struct Patches {
        len: u64,
        indices_type: u8,
        pub indices: Array,
        pub values: Array,
    }

    impl Patches {
        /// The patches of some rows, in order. `None` if there are none.
        pub fn new(rows: &[u64], values: Array) -> Option<Self> {
            let (numbers, prim) = Narrow::unsigned(rows);
            let indices = primitive(&numbers, None);
            let indices_type = number_of_prim(prim);
            (!rows.is_empty()).then_some(Patches { len: rows.len() as u64, indices_type, indices, values })
        }

        /// Returns the message about the patches.
        pub fn message(&self) -> Vec<u8> {
            Writer::default().uint(field::LEN, self.len).some(field::INDICES_TYPE, self.indices_type.into()).finish()
        }
    }
}
