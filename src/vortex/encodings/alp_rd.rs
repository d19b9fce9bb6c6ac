//! `vortex.alprd`: floats split into two parts. The left parts are codes of a small dictionary.

use super::patches::PatchSource;
use super::*;
use crate::column::Prim;
use crate::encoding::alp;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::As(child::LEFTS),
    holds: Holds::Values,
    need: |node, amount, cx| need::with_patches(need::piece(amount.rows, 2), PATCHES, node, amount, cx),
    cells,
};

mod child {
    pub const LEFTS: usize = 0;
    pub const RIGHTS: usize = 1;
    /// Patches of the left parts.
    pub const PATCHES: usize = 2;
}

mod field {
    pub const RIGHT_WIDTH: u32 = 1;
    pub const DICTIONARY_LEN: u32 = 2;
    pub const DICTIONARY: u32 = 3;
    pub const LEFTS_TYPE: u32 = 4;
    pub const PATCHES: u32 = 5;
}

struct Metadata {
    /// Width of a right part in bits.
    right_width: u32,
    dictionary: [u16; alp::LEFTS],
    len: usize,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let bad = |need| node.error(Kind::Invalid, What::ALP_RD, need);
        let [right_width, dictionary_len, lefts] =
            node.numbers(&[field::RIGHT_WIDTH, field::DICTIONARY_LEN, field::LEFTS_TYPE])?;
        if node.integer(lefts)? != LEFT {
            return Err(bad(0));
        }
        let (mut dictionary, mut len) = ([0; alp::LEFTS], 0usize);
        node.metadata()?.uints(field::DICTIONARY, |left| {
            let entry = dictionary.get_mut(len).ok_or_else(|| bad(left))?;
            *entry = u16::try_from(left).map_err(|_| bad(left))?;
            len = len.saturating_add(1);
            Ok(())
        })?;
        if dictionary_len != len as u64 {
            return Err(bad(len as u64));
        }
        Ok(Metadata { right_width: narrow(right_width), dictionary, len })
    }
}

/// The only type of left parts.
const LEFT: Prim = Prim::U16;

const PATCHES: PatchSource = PatchSource { field: field::PATCHES, first_child: child::PATCHES };

/// The left parts, as codes, and the right ones.
fn parts<'f>(node: &Node<'f>) -> Result<[Node<'f>; 2]> {
    let right = match node.prim()? {
        Prim::F32 => Prim::U32,
        Prim::F64 => Prim::U64,
        _ => return Err(node.mistyped()),
    };
    let lefts = node.aligned(child::LEFTS, &Ty::prim(LEFT, node.dtype.nullable))?;
    Ok([lefts, node.aligned(child::RIGHTS, &Ty::prim(right, false))?])
}

/// Returns the number of rows starting at `row` without a patch, at least 1.
pub(in crate::vortex) fn unpatched(node: &Node<'_>, row: u64, cx: &mut Context<'_, '_>) -> Result<u64> {
    patches::unpatched(node, PATCHES, row, cx)
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    parts(node)?.iter().try_for_each(|part| checks.node(part, false))?;
    patches::check(node, PATCHES, &Ty::prim(LEFT, false), checks)
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let [lefts, rights] = &parts(node)?;
    let Metadata { right_width, dictionary, len } = Metadata::of(node)?;
    rights.cells(ask, at, out, cx)?;
    let mut t = cx.scope();
    let parts = t.take::<u16>(out.len())?;
    lefts.cells(ask, at, &mut Cells::W2(parts), &mut t)?;
    // A null row may have any code. The code of a valid row must be in the dictionary.
    for (i, code) in parts.iter_mut().enumerate().filter(|(_, code)| usize::from(**code) >= len) {
        if lefts.is_valid(at.saturating_add(i as u64), &mut t)? {
            return Err(node.error(Kind::Invalid, What::CODES, (*code).into()));
        }
        *code = 0;
    }
    // The only possible error is an empty dictionary, and then all rows are null.
    let _ = alp::lefts(dictionary.get(..len).unwrap_or_default(), parts);
    patches::apply(node, PATCHES, &Ty::prim(LEFT, false), at, &mut Cells::W2(parts), &mut t)?;
    alp::join(parts, right_width, out.again()).map_err(|e| e.moved(node.at()))
}

/// Writes floats in two parts.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::{LEFT, field};
    use crate::encoding::alp::Cut;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::encodings::patches::write::Patches;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Codes of left parts, right parts, and the left parts without a code.
    pub fn parts(cut: &Cut, codes: Array, rights: Array, patches: Option<Patches>) -> Array {
        let dictionary = cut.dictionary();
        let mut packed = Writer::default();
        dictionary.iter().for_each(|left| packed.varint((*left).into()));
        let mut message = Writer::default();
        message.uint(field::RIGHT_WIDTH, cut.width.into()).uint(field::DICTIONARY_LEN, dictionary.len() as u64);
        message.bytes(field::DICTIONARY, &packed.finish());
        message.some(field::LEFTS_TYPE, number_of_prim(LEFT).into());
        let array = Array::new(Encoding::AlpRd);
        let Some(patches) = patches else { return array.message(&mut message).child(codes).child(rights) };
        message.bytes(field::PATCHES, &patches.message());
        array.message(&mut message).child(codes).child(rights).child(patches.indices).child(patches.values)
    }
}
