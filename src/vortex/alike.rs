//! Rows that are known to be alike without being decoded: of constants, long runs, and whatever is made of them.

use super::column::Column;
use super::context::{ASIDE, Call, Context};
#[cfg(feature = "vortex-variant")]
use super::dtype::{Shape, Ty};
use super::encodings::{alp, alp_rd, bit_packed, run_end, sparse};
#[cfg(feature = "vortex-preview")]
use super::encodings::{bit_packed_v2, frame_of_reference_v2};
#[cfg(feature = "vortex-variant")]
use super::encodings::{structure, variant};
use super::node::Form;
#[cfg(feature = "vortex-variant")]
use super::node::Node;
use super::raw::Encoding;
use super::rows::Rows;
use super::scheme::{Holds, Validity};
use super::tree::Ask;
use crate::bytes::Scratch;
use crate::column::{Column as _, Type};
use crate::error::{Kind, Result};

impl Column<'_> {
    /// Returns the number of rows starting at `row` that are known to have the same value, at least 1; and whether they
    /// are rather a sequence, which needs no look at the rows between its ends. An error of the file counts as 1:
    /// reading returns it.
    pub(super) fn alike(&self, row: u64, scratch: &mut Scratch<'_>) -> (u64, bool) {
        let mut call = Call::new(self.node().file, 1);
        let cx = &mut Context::new(&mut call, scratch.scope());
        self.find_alike(row, cx).unwrap_or((1, false))
    }

    /// Returns whether row `row` has a value, and the number of rows starting there with the same validity, if this is
    /// known without decoding rows.
    pub(super) fn validity_run(&self, row: u64) -> Result<Option<(bool, u64)>> {
        if row >= self.rows() {
            return Ok(None);
        }
        // Whatever the encoding is.
        if self.ty() == Type::Null {
            return Ok(Some((false, self.rows().saturating_sub(row))));
        }
        let mut call = Call::new(self.node().file, 1);
        let mut aside = [0; ASIDE];
        let mut found = || -> Result<Option<(bool, u64)>> {
            let cx = &mut Context::new(&mut call, Scratch::new(&mut aside));
            let rows = self.located(row, cx)?;
            let alike = rows.alike(Ask::Valid, cx)?;
            Ok(if alike > 1 { Some((rows.node.is_valid(rows.at, cx)?, alike)) } else { None })
        };
        match found() {
            // Rows that are found by decoding others.
            Err(e) if e.kind() == Kind::NoRoom => Ok(None),
            found => found,
        }
    }

    fn find_alike(&self, row: u64, cx: &mut Context<'_, '_>) -> Result<(u64, bool)> {
        let mut rows = self.located(row, cx)?;
        let alike = rows.alike(Ask::Values, cx)?;
        if alike > 1 {
            return Ok((alike.min(rows.alike(Ask::Valid, cx)?), false));
        }
        loop {
            match rows.node.holds() {
                Some(Holds::Chunks(chunk)) => rows = chunk(&rows, cx)?,
                Some(Holds::Wrapped(inner)) if rows.node.encoding() != Some(Encoding::Masked) => {
                    rows.node = inner(&rows.node)?;
                }
                _ => break,
            }
        }
        Ok((if rows.node.encoding() == Some(Encoding::Sequence) { rows.left } else { 1 }, true))
    }
}

impl Rows<'_> {
    /// Returns the number of rows, at least 1, that are known to have the same cells as the first one: validity, or
    /// whatever else the type has.
    pub(super) fn alike(&self, ask: Ask, cx: &mut Context<'_, '_>) -> Result<u64> {
        let node = &self.node;
        node.spend(1, cx)?;
        // The child as these rows; what it means does not matter.
        let child = |k: usize, ask: Ask, cx: &mut Context<'_, '_>| -> Result<u64> {
            Rows { node: node.child(k, &node.dtype, node.rows)?, ..*self }.alike(ask, cx)
        };
        let offsets = |k: usize, cx: &mut Context<'_, '_>| -> Result<u64> {
            Ok(child(k, Ask::Values, cx)?.saturating_sub(1).max(1))
        };
        let scheme = match node.form {
            Form::Scalar(_) | Form::Nothing => return Ok(self.left),
            Form::Items(..) => return Ok(1),
            Form::Layout(_) | Form::Array(_) => node.scheme(),
        };
        let Some(scheme) = scheme else { return Ok(1) };
        if ask == Ask::Valid {
            if !node.dtype.nullable {
                return Ok(self.left);
            }
            match node.validity_of(scheme.validity)? {
                Validity::All => return Ok(self.left),
                Validity::Child(k) => {
                    let Some(validity) = node.validity(k)? else { return Ok(self.left) };
                    return Rows { node: validity, ..*self }.alike(Ask::Values, cx);
                }
                Validity::As(k) => return child(k, ask, cx),
                Validity::Decoded => {}
            }
        }
        #[cfg(feature = "vortex-variant")]
        if let Some(alike) = self.alike_parts(cx)? {
            return Ok(alike);
        }
        match scheme.holds {
            Holds::Nulls | Holds::Constant => return Ok(self.left),
            Holds::Wrapped(inner) => return Rows { node: inner(node)?, ..*self }.alike(ask, cx),
            Holds::Chunks(chunk) => return chunk(self, cx)?.alike(ask, cx),
            Holds::Picked(_, Some(codes)) => {
                let codes = Rows { node: codes(node)?, ..*self };
                return Ok(codes.alike(Ask::Values, cx)?.min(codes.alike(Ask::Valid, cx)?));
            }
            Holds::Picked(_, None) => return run_end::left(node, self.at, cx).map(|left| left.min(self.left)),
            Holds::Patched => {
                let patched = sparse::is_patched(node, self.at, cx)?;
                let part = sparse::part(self, cx)?;
                return if patched { part.alike(ask, cx) } else { Ok(part.left) };
            }
            // Where the rows of the children lie follows from the number of the row.
            Holds::Nested(nested) if (nested.each)(node)?.is_some() => return Ok(self.left),
            _ => {}
        }
        Ok(match node.encoding() {
            Some(Encoding::For | Encoding::ZigZag | Encoding::DecimalByteParts) => child(0, Ask::Values, cx)?,
            Some(Encoding::DateTimeParts) => {
                let (days, seconds) = (child(0, Ask::Values, cx)?, child(1, Ask::Values, cx)?);
                days.min(seconds).min(child(2, Ask::Values, cx)?)
            }
            Some(Encoding::Alp) => child(0, Ask::Values, cx)?.min(alp::unpatched(node, self.at, cx)?),
            Some(Encoding::AlpRd) => {
                let (lefts, rights) = (child(0, Ask::Values, cx)?, child(1, Ask::Values, cx)?);
                lefts.min(rights).min(alp_rd::unpatched(node, self.at, cx)?)
            }
            // Integers of no bits take no bytes.
            Some(Encoding::BitPacked) if !bit_packed::has_bits(node)? => {
                bit_packed::unpatched(node, self.at, cx)?.min(self.left)
            }
            #[cfg(feature = "vortex-preview")]
            Some(Encoding::BitPackedV2) => bit_packed_v2::alike(self, cx)?,
            #[cfg(feature = "vortex-preview")]
            Some(Encoding::ForV2) => frame_of_reference_v2::left_in_block(self)?.min(child(0, Ask::Values, cx)?),
            // Rows that have no value take no bytes.
            Some(Encoding::Zstd | Encoding::Pco) if node.dtype.nullable && !node.is_valid(self.at, cx)? => {
                self.alike(Ask::Valid, cx)?
            }
            Some(Encoding::VarBin) => offsets(0, cx)?,
            Some(Encoding::List) => offsets(1, cx)?,
            Some(Encoding::ListView) => child(1, Ask::Values, cx)?.min(child(2, Ask::Values, cx)?),
            _ => 1,
        })
    }

    /// Returns the number of rows that are known to be put together from the same values, or `None` if the rows of the node
    /// are not put together, nor a part of such rows.
    #[cfg(feature = "vortex-variant")]
    fn alike_parts(&self, cx: &mut Context<'_, '_>) -> Result<Option<u64>> {
        let (node, mut least) = (&self.node, self.left);
        let mut part = |node: &Node<'_>| -> Result<()> {
            let rows = Rows { node: *node, ..*self };
            if least > 1 {
                least = least.min(rows.alike(Ask::Values, cx)?);
                least = least.min(rows.alike(Ask::Valid, cx)?);
            }
            Ok(())
        };
        match (node.dtype.shape, node.encoding()) {
            (Shape::VariantPart { .. }, Some(Encoding::Variant | Encoding::ParquetVariant)) => {
                part(&node.retyped(Ty::variant(true)))?;
            }
            (Shape::Variant, Some(Encoding::Variant | Encoding::ParquetVariant)) if !node.dtype.has_table() => {
                variant::each_part(node, &mut part)?;
            }
            (Shape::Struct(_), Some(Encoding::Struct)) if node.dtype.is_described() => {
                node.each_child_type(&mut |k, ty| part(&structure::child(node, k, ty)?))?;
            }
            _ => return Ok(None),
        }
        Ok(Some(least))
    }
}
