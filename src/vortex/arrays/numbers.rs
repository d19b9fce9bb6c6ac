//! Numbers in parts and steps: sequence, zigzag, ALP, ALP-RD, datetimeparts, decimal byte parts.

use crate::bytes::Scratch;
use crate::column::Prim;
use crate::encoding::cells::Cells;
use crate::encoding::{alp, integers};
use crate::error::{Kind, Result, What};
use crate::vortex::dtype::{Ty, signed};
use crate::vortex::node::Node;
use crate::vortex::scalar::Scalar;
use crate::vortex::tree::{Ask, Run};

impl<'f> Node<'f> {
    /// `vortex.sequence`: base plus row times multiplier, wrapping.
    pub(in crate::vortex) fn sequence(&self, at: u64, out: &mut Cells<'_>) -> Result<()> {
        self.integer_cells(out)?;
        let metadata = self.metadata();
        let metadata = metadata.as_ref()?;
        let part = |number: u32, prim| -> Result<u64> {
            let missing = || self.error(Kind::Invalid, What::VtxMetadata, number.into());
            Scalar::new(metadata.message(number)?.ok_or_else(missing)?).integer(prim)
        };
        let base = part(1, self.prim()?)?;
        // The step may be negative whatever the type is.
        let step = part(2, Prim::I64).or_else(|_| part(2, Prim::U64))?;
        integers::sequence(base, step, at, out.again());
        Ok(())
    }

    /// `vortex.zigzag`.
    pub(in crate::vortex) fn zigzag(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let unsigned = match self.prim()? {
            Prim::I8 => Prim::U8,
            Prim::I16 => Prim::U16,
            Prim::I32 => Prim::U32,
            Prim::I64 => Prim::U64,
            _ => return Err(self.mistyped()),
        };
        let child = self.numbers_of(0, unsigned, self.dtype.nullable, self.rows);
        child.as_ref()?.cells(Ask::Values, at, out, run, s)?;
        integers::unzigzag(out.again());
        Ok(())
    }

    /// `vortex.alp`: integers times powers of ten.
    pub(in crate::vortex) fn alp(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let encoded = match self.prim()? {
            Prim::F32 => Prim::I32,
            Prim::F64 => Prim::I64,
            _ => return Err(self.mistyped()),
        };
        let child = self.numbers_of(0, encoded, self.dtype.nullable, self.rows);
        child.as_ref()?.cells(Ask::Values, at, out, run, s)?;
        alp::decode(self.number32(1)?, self.number32(2)?, out.again()).map_err(|e| e.moved(self.at()))?;
        self.patch_values(3, 1, &self.dtype.required(), at, out, run, s)
    }

    /// `vortex.alprd`: left parts by a dictionary, and right parts.
    pub(in crate::vortex) fn alp_rd(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let bad = |need| self.error(Kind::Invalid, What::AlpRd, need);
        let left_type = self.integer(4)?;
        let right_type = match self.prim()? {
            Prim::F32 => Prim::U32,
            Prim::F64 => Prim::U64,
            _ => return Err(self.mistyped()),
        };
        if left_type != Prim::U16 {
            return Err(bad(0));
        }
        let lefts = self.numbers_of(0, left_type, self.dtype.nullable, self.rows);
        let lefts = lefts.as_ref()?;
        let width = self.number32(1)?;
        let (mut dictionary, mut len) = ([0u16; alp::LEFTS], 0usize);
        self.metadata().as_ref()?.uints(3, |left| {
            let entry = dictionary.get_mut(len).ok_or_else(|| bad(left))?;
            *entry = u16::try_from(left).map_err(|_| bad(left))?;
            len = len.saturating_add(1);
            Ok(())
        })?;
        if self.number(2)? != len as u64 {
            return Err(bad(len as u64));
        }
        self.numbers_of(1, right_type, false, self.rows).as_ref()?.cells(Ask::Values, at, out, run, s)?;
        let mut t = s.scope();
        let parts = t.take::<u16>(out.len())?;
        lefts.cells(Ask::Values, at, &mut Cells::W2(parts), run, &mut t)?;
        let dictionary = dictionary.get(..len).unwrap_or_default();
        // Codes of null rows may be anything; those of others must be in the dictionary.
        for (i, code) in parts.iter_mut().enumerate().filter(|(_, code)| usize::from(**code) >= len) {
            if lefts.is_valid(at.saturating_add(i as u64), run, &mut t)? {
                return Err(self.error(Kind::Invalid, What::Codes, (*code).into()));
            }
            *code = 0;
        }
        // Nothing is left to fail but an empty dictionary, and then all rows are null.
        let _ = alp::lefts(dictionary, parts);
        self.patch_values(5, 2, &Ty::prim(left_type, false), at, &mut Cells::W2(parts), run, &mut t)?;
        alp::join(parts, width, out.again()).map_err(|e| e.moved(self.at()))
    }

    /// `vortex.datetimeparts`: days, seconds and fractions, each with its sign.
    pub(in crate::vortex) fn date_time(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let days = self.integers(0, 1, self.dtype.nullable, self.rows);
        let days = days.as_ref()?;
        let (Some(second), Cells::W8(out)) = (self.dtype().per_second(), out) else { return Err(self.mistyped()) };
        days.indices(at, out, run, s)?;
        let day = second.wrapping_mul(86_400);
        for word in out.iter_mut() {
            *word = word.wrapping_mul(day);
        }
        for k in 1..3usize {
            let (number, unit) = if k == 1 { (2, second) } else { (3, 1) };
            let mut t = s.scope();
            let parts = t.take::<u64>(out.len())?;
            self.integers(k, number, false, self.rows).as_ref()?.indices(at, parts, run, &mut t)?;
            for (word, part) in out.iter_mut().zip(parts) {
                *word = word.wrapping_add(part.wrapping_mul(unit));
            }
        }
        Ok(())
    }

    /// `vortex.decimal_byte_parts`: the integers as a column of their own.
    pub(in crate::vortex) fn decimal_parts(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let prim = self.integer(1)?;
        if !signed(prim) || self.number(2)? != 0 {
            return Err(self.undecoded());
        }
        let parts = self.numbers_of(0, prim, self.dtype.nullable, self.rows);
        let parts = parts.as_ref()?;
        if out.width() == prim.size() {
            return parts.cells(Ask::Values, at, out, run, s);
        }
        if self.dtype.cell() != Some(out.width()) {
            return Err(self.mistyped());
        }
        let mut t = s.scope();
        let numbers = t.take::<u64>(out.len())?;
        parts.indices(at, numbers, run, &mut t)?;
        for (i, number) in numbers.iter().enumerate() {
            self.put_wide(i, &number.to_le_bytes(), at, out, run, &mut t)?;
        }
        Ok(())
    }
}
