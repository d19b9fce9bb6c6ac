//! Values as they are: null, primitive, bool, bytebool, decimal.

use crate::bytes::{Bits, Scratch, product, saturated};
use crate::encoding::cells::Cells;
use crate::error::{Error, Kind, Result, What};
use crate::vortex::node::Node;
use crate::vortex::scalar::{fits, wide};
use crate::vortex::tree::{Ask, Run};

impl<'f> Node<'f> {
    /// `vortex.null`: nothing, and nobody looks at it.
    pub(in crate::vortex) fn nulls(&self, out: &mut Cells<'_>) -> Result<()> {
        out.fill(&[0; 32]);
        Ok(())
    }

    /// `vortex.primitive`: the bytes of a buffer.
    pub(in crate::vortex) fn primitive(&self, at: u64, out: &mut Cells<'_>) -> Result<()> {
        if self.prim()?.size() != out.width() {
            return Err(self.mistyped());
        }
        out.load(self.fixed(out.width(), at, out.len())?)
    }

    /// Rows `at..at + len` of buffer 0, which has exactly so many cells of `width` as the array rows.
    pub(in crate::vortex) fn fixed(&self, width: usize, at: u64, len: usize) -> Result<&'f [u8]> {
        let buffer = self.buffer(0)?;
        let need = product(self.rows, width as u64);
        if buffer.bytes.len() as u64 != need {
            return Err(Error::needing(Kind::Truncated, What::VtxBuffer, buffer.at, need));
        }
        let start = saturated(at).saturating_mul(width);
        let end = start.saturating_add(len.saturating_mul(width));
        buffer.bytes.get(start..end).ok_or_else(|| self.error(Kind::OutOfRange, What::VtxRows, self.rows))
    }

    /// The bits of a `vortex.bool`.
    pub(in crate::vortex) fn bits(&self, at: u64, len: usize) -> Result<Bits<'f>> {
        let offset = self.number(1)?;
        if offset > 7 {
            return Err(self.error(Kind::Invalid, What::VtxMetadata, offset));
        }
        let buffer = self.buffer(0)?;
        let end = self.rows.saturating_add(offset);
        if end.div_ceil(8) > buffer.bytes.len() as u64 {
            return Err(Error::needing(Kind::Truncated, What::VtxBuffer, buffer.at, end.div_ceil(8)));
        }
        // Inside the buffer, so inside memory.
        let first = saturated(at.saturating_add(offset));
        Bits::new(buffer.bytes, first, len).map_err(|e| e.moved(buffer.at))
    }

    pub(in crate::vortex) fn bools(&self, at: u64, out: &mut Cells<'_>) -> Result<()> {
        let Cells::W1(out) = out else { return Err(self.mistyped()) };
        let bits = self.bits(at, out.len())?;
        for (bytes, word) in out.chunks_mut(64).zip(bits.words()) {
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = u8::from(word >> i & 1 == 1);
            }
        }
        Ok(())
    }

    /// `vortex.bytebool`: any byte but 0 is true.
    pub(in crate::vortex) fn byte_bools(&self, at: u64, out: &mut Cells<'_>) -> Result<()> {
        let Cells::W1(out) = out else { return Err(self.mistyped()) };
        let bytes = self.fixed(1, at, out.len())?;
        for (to, byte) in out.iter_mut().zip(bytes) {
            *to = u8::from(*byte != 0);
        }
        Ok(())
    }

    /// `vortex.decimal`: integers of some width, and the type may have another.
    pub(in crate::vortex) fn decimals(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        if self.dtype.cell() != Some(out.width()) {
            return Err(self.mistyped());
        }
        let size = self.decimal_width()?;
        let bytes = self.fixed(size, at, out.len())?;
        if size == out.width() {
            return out.load(bytes);
        }
        for (i, number) in bytes.chunks_exact(size.max(1)).enumerate() {
            self.put_wide(i, number, at, out, run, s)?;
        }
        Ok(())
    }

    /// Bytes of the stored integers of a `vortex.decimal`.
    pub(in crate::vortex) fn decimal_width(&self) -> Result<usize> {
        match self.number(1)? {
            kind @ 0..=5 => Ok(1usize << kind),
            other => Err(self.error(Kind::Invalid, What::VtxMetadata, other)),
        }
    }

    /// Puts a number of 1 to 32 bytes into cell `i`, which must have room for it unless the row is null.
    pub(in crate::vortex) fn put_wide(
        &self,
        i: usize,
        number: &[u8],
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let Some(value) = &wide(number) else { return Ok(()) };
        if !fits(value, out.width()) && self.is_valid(at.saturating_add(i as u64), run, s)? {
            return Err(self.error(Kind::Overflow, What::VtxBuffer, at.saturating_add(i as u64)));
        }
        out.part(i, 1).fill(value);
        Ok(())
    }

    /// Whether one row has a value.
    #[cold]
    pub(in crate::vortex) fn is_valid(&self, row: u64, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<bool> {
        let mut valid = [0];
        self.cells(Ask::Valid, row, &mut Cells::W1(&mut valid), run, s)?;
        Ok(valid == [1])
    }
}
