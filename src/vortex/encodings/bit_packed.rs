//! `fastlanes.bitpacked`: integers of a few bits, with patches for integers that need more bits.

use super::patches::{PatchSource, Patches};
use super::*;
use crate::encoding::fastlanes::{self, BLOCK};

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Depends(|node| {
        Ok(Validity::Child(Patches::of(node, PATCHES)?.map_or(child::PATCHES, |patches| patches.next_child())))
    }),
    holds: Holds::Values,
    need: |node, amount, cx| need::with_patches(0, PATCHES, node, amount, cx),
    cells,
};

mod child {
    /// The patches. The validity follows; it is child 0 if the patches are absent.
    pub const PATCHES: usize = 0;
}

mod buffer {
    pub const PACKED: usize = 0;
}

mod field {
    pub const WIDTH: u32 = 1;
    pub const OFFSET: u32 = 2;
    pub const PATCHES: u32 = 3;
}

struct Metadata {
    /// Width of an integer in bits.
    width: u32,
    /// Number of rows at the start of the first block that were cut off.
    offset: u64,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [width, offset] = node.numbers(&[field::WIDTH, field::OFFSET])?;
        if offset >= BLOCK as u64 {
            return Err(node.error(Kind::Invalid, What::VORTEX_METADATA, offset));
        }
        Ok(Metadata { width: narrow(width), offset })
    }
}

const PATCHES: PatchSource = PatchSource { field: field::PATCHES, first_child: child::PATCHES };

/// Whether the integers take any bits.
pub(in crate::vortex) fn has_bits(node: &Node<'_>) -> Result<bool> {
    Metadata::of(node).map(|metadata| metadata.width > 0)
}

/// Returns the number of rows starting at `row` without a patch, at least 1.
pub(in crate::vortex) fn unpatched(node: &Node<'_>, row: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
    patches::unpatched(node, PATCHES, row, cx)
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    patches::check(node, PATCHES, &node.dtype.required(), checks)
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    prim_cells(node, out)?;
    let Metadata { width, offset } = Metadata::of(node)?;
    let packed = node.buffer(buffer::PACKED)?;
    let first = at.saturating_add(offset);
    fastlanes::unpack(packed.bytes, width, first, out.again()).map_err(|e| e.moved(packed.at))?;
    patches::apply(node, PATCHES, &node.dtype.required(), at, out, cx)
}

/// Writes packed integers.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::field;
    use crate::meta::proto::write::Writer;
    use crate::vortex::encodings::patches::write::Patches;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Whole blocks of integers of `width` bits, which are `size` bytes in memory, and the integers that have more bits.
    pub fn packed(blocks: Vec<u8>, width: u32, size: usize, patches: Option<Patches>, valid: Option<Array>) -> Array {
        let mut message = Writer::default();
        message.some(field::WIDTH, width.into());
        let array = Array::new(Encoding::BitPacked).buffer(blocks, size);
        match patches {
            None => array.message(&mut message).child(valid),
            Some(patches) => {
                message.bytes(field::PATCHES, &patches.message());
                array.message(&mut message).child(patches.indices).child(patches.values).child(valid)
            }
        }
    }
}
