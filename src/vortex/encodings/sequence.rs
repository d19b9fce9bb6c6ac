//! `vortex.sequence`: row `i` is `base + i * step`, wrapping.

use super::*;
use crate::column::Prim;
use crate::encoding::integers;
use crate::vortex::scalar::Scalar;

pub(super) const SCHEME: Scheme = Scheme { validity: Validity::All, holds: Holds::Values, need: need::nothing, cells };

mod field {
    pub const BASE: u32 = 1;
    pub const STEP: u32 = 2;
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, _: &mut Context<'_, '_>) -> Result<()> {
    prim_cells(node, out)?;
    let metadata = node.metadata()?;
    let part = |number: u32, prim| -> Result<u64> {
        let missing = || node.error(Kind::Invalid, What::VORTEX_METADATA, number.into());
        Scalar::new(metadata.message(number)?.ok_or_else(missing)?).integer(prim)
    };
    let base = part(field::BASE, node.prim()?)?;
    // The step may be negative for every type of the rows.
    let step = part(field::STEP, Prim::I64).or_else(|_| part(field::STEP, Prim::U64))?;
    integers::sequence(base, step, at, out.again());
    Ok(())
}

/// Writes sequences.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::meta::proto::write::Writer;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::{Array, scalar};

    /// Row `i` is `base + i * step`; `base` is a scalar of the type of the rows.
    pub fn sequence(base: &[u8], step: i64) -> Array {
        let mut message = Writer::default();
        message.bytes(field::BASE, base).bytes(field::STEP, &scalar::signed(step));
        Array::new(Encoding::Sequence).message(&mut message)
    }
}
