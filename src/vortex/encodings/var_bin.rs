//! `vortex.varbin`: one buffer with all texts, and their offsets.

use super::*;
use crate::vortex::text;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Child(child::VALIDITY),
    holds: Holds::Texts(|node, at, len, cx| {
        let [from, to] = offsets(node)?.ends(at, len as u64, cx)?;
        Ok(to.saturating_sub(from))
    }),
    need: need::children,
    cells,
};

mod child {
    pub const OFFSETS: usize = 0;
    pub const VALIDITY: usize = 1;
}

/// The buffer with all texts.
pub(super) const BYTES: usize = 0;

mod field {
    pub const OFFSETS_TYPE: u32 = 1;
}

/// Returns the start of each text in the buffer, followed by the end of the last text.
pub(super) fn offsets<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    let [offsets_type] = node.numbers(&[field::OFFSETS_TYPE])?;
    node.offsets(child::OFFSETS, offsets_type)
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let buffer = node.buffer(BYTES)?;
    list::between(node, &offsets(node)?, buffer.bytes.len() as u64, (at, out), cx)?;
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    for cell in out.iter_mut() {
        let inside = span_of(*cell);
        let start = buffer.start.saturating_add(inside.at as usize);
        *cell = span_cell(text::put(&node.blob, start, inside.len as usize, cx)?);
    }
    Ok(())
}

/// Writes texts with their offsets.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::field;
    use crate::column::Prim;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// All texts, and the offset of each, followed by the end of the last one.
    pub fn texts(bytes: Vec<u8>, (offsets, prim): (Array, Prim), valid: Option<Array>) -> Array {
        let mut message = Writer::default();
        message.some(field::OFFSETS_TYPE, number_of_prim(prim).into());
        Array::new(Encoding::VarBin).message(&mut message).buffer(bytes, 1).child(offsets).child(valid)
    }
}
