//! FastLanes: bit packing, frame of reference, delta.

use crate::bytes::{Scratch, product, saturated};
use crate::encoding::cells::Cells;
use crate::encoding::fastlanes::{self, BLOCK};
use crate::encoding::integers;
use crate::error::{Kind, Result, What};
use crate::vortex::node::Node;
use crate::vortex::scalar::Scalar;
use crate::vortex::tree::{Ask, Run, take};

impl<'f> Node<'f> {
    /// `fastlanes.bitpacked`.
    pub(in crate::vortex) fn bit_packed(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        self.integer_cells(out)?;
        let (width, offset) = (self.number32(1)?, self.number(2)?);
        if offset >= BLOCK as u64 {
            return Err(self.error(Kind::Invalid, What::VtxMetadata, offset));
        }
        let packed = self.buffer(0)?;
        let first = at.saturating_add(offset);
        fastlanes::unpack(packed.bytes, width, first, out.again()).map_err(|e| e.moved(packed.at))?;
        self.patch_values(3, 0, &self.dtype.required(), at, out, run, s)
    }

    /// `fastlanes.for`: metadata is the reference itself.
    pub(in crate::vortex) fn frame(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        self.child(0, &self.dtype, self.rows).as_ref()?.cells(Ask::Values, at, out, run, s)?;
        self.integer_cells(out)?;
        integers::add(Scalar::new(self.metadata()?).integer(self.prim()?)?, out.again());
        Ok(())
    }

    /// `fastlanes.delta`: whole blocks, of which the rows are taken that were asked for.
    pub(in crate::vortex) fn delta(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        self.integer_cells(out)?;
        let (width, len, offset) = (out.width(), self.deltas_len()?, self.number(2)?);
        if offset >= BLOCK as u64 || !len.is_multiple_of(BLOCK as u64) {
            return Err(self.error(Kind::Invalid, What::VtxMetadata, offset));
        }
        let lanes = fastlanes::lanes(width);
        let bases_len = product(fastlanes::block_of(len).0, lanes as u64);
        // Old forms have nullable children; whether a null is in them is asked elsewhere.
        let dtype = self.dtype.required();
        let (bases, deltas) = (self.child(0, &dtype, bases_len), self.child(1, &dtype, len));
        let (bases, deltas) = (bases.as_ref()?, deltas.as_ref()?);
        let first = at.saturating_add(offset);
        let mut done = 0usize;
        while done < out.len() {
            let row = first.saturating_add(done as u64);
            let (block, skip) = fastlanes::block_of(row);
            let len = BLOCK.saturating_sub(skip).min(out.len().saturating_sub(done));
            let mut t = s.scope();
            let mut base = take(&mut t, width, lanes);
            let base = base.as_mut()?;
            bases.cells(Ask::Values, product(block, lanes as u64), base, run, &mut t)?;
            let mut delta = take(&mut t, width, BLOCK);
            let delta = delta.as_mut()?;
            deltas.cells(Ask::Values, block.saturating_mul(BLOCK as u64), delta, run, &mut t)?;
            if len == BLOCK {
                fastlanes::undelta(base, delta, &mut out.part(done, len))?;
            } else {
                let mut values = take(&mut t, width, BLOCK);
                let values = values.as_mut()?;
                fastlanes::undelta(base, delta, values)?;
                out.part(done, len).bytes_mut().copy_from(values.part(skip, len).bytes_mut());
            }
            done = done.saturating_add(len);
        }
        Ok(())
    }

    fn deltas_len(&self) -> Result<u64> {
        self.number(1)
    }

    /// Releases up to 0.75 had no validity child but nullable deltas: those can be read only if no row is
    /// null, which takes a look at all of them.
    #[cold]
    pub(in crate::vortex) fn no_nulls_in_deltas(&self, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let len = self.deltas_len()?;
        let deltas = self.child(1, &self.dtype, len);
        let deltas = deltas.as_ref()?;
        let mut row = 0u64;
        let mut valid = [0; 64];
        while row < len {
            let count = saturated(len.saturating_sub(row)).min(64);
            let valid = valid.get_mut(..count).unwrap_or_default();
            deltas.cells(Ask::Valid, row, &mut Cells::W1(valid), run, s)?;
            if valid.iter().fold(1, |all, valid| all & *valid) == 0 {
                return Err(self.undecoded());
            }
            row = row.saturating_add(64);
        }
        Ok(())
    }

    /// Refuses cells that are not those of the integers of this node.
    pub(in crate::vortex) fn integer_cells(&self, out: &Cells<'_>) -> Result<()> {
        if self.prim()?.size() == out.width() { Ok(()) } else { Err(self.mistyped()) }
    }
}

/// Copies as much as both have.
trait CopyFrom {
    fn copy_from(&mut self, bytes: &[u8]);
}

impl CopyFrom for [u8] {
    fn copy_from(&mut self, bytes: &[u8]) {
        for (to, byte) in self.iter_mut().zip(bytes) {
            *to = *byte;
        }
    }
}
