//! `vortex.alprd`: floats split into two parts. The left parts are codes of a small dictionary.

use super::patches::Place;
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

const PATCHES: Place = Place { field: field::PATCHES, first_child: child::PATCHES };

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let right = match node.prim()? {
        Prim::F32 => Prim::U32,
        Prim::F64 => Prim::U64,
        _ => return Err(node.mistyped()),
    };
    let Metadata { right_width, dictionary, len } = Metadata::of(node)?;
    let lefts = &node.aligned(child::LEFTS, &Ty::prim(LEFT, node.dtype.nullable))?;
    node.child_cells((child::RIGHTS, &Ty::prim(right, false)), (ask, at), out, cx)?;
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
