//! `vortex.decimal_byte_parts.v2`: decimals in up to four children, of 64 bits each. The highest one is signed.

use super::*;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::As(child::HIGH),
    holds: Holds::Values,
    need: |node, amount, cx| {
        need::with_children(need::piece(amount.rows, 40).wrapping_add(need::SLACK), node, amount.in_words(), cx)
    },
    cells,
};

mod child {
    /// The part with the sign. The lower parts follow, the highest first.
    pub const HIGH: usize = 0;
}

mod field {
    pub const HIGH_TYPE: u32 = 1;
    pub const LOWER_TYPES: u32 = 2;
}

/// Maximum number of lower parts: decimals have at most 256 bits.
const LOWER: usize = 3;

/// The parts, the highest first.
struct Parts<'f> {
    high: Node<'f>,
    lower: [Option<Node<'f>>; LOWER],
}

impl<'f> Parts<'f> {
    fn of(node: &Node<'f>) -> Result<Self> {
        let bad = |need| node.error(Kind::Invalid, What::VORTEX_METADATA, need);
        let [high] = node.numbers(&[field::HIGH_TYPE])?;
        let prim = node.integer(high)?;
        if !signed(prim) {
            return Err(bad(high));
        }
        let high = node.aligned(child::HIGH, &Ty::prim(prim, node.dtype.nullable))?;
        let (mut lower, mut count) = ([None; LOWER], 0usize);
        node.metadata()?.uints(field::LOWER_TYPES, |number| {
            let prim = node.integer(number)?;
            let part = lower.get_mut(count).filter(|_| !signed(prim)).ok_or_else(|| bad(number))?;
            count = count.saturating_add(1);
            *part = Some(node.aligned(child::HIGH.saturating_add(count), &Ty::prim(prim, false))?);
            Ok(())
        })?;
        Ok(Parts { high, lower })
    }

    /// Returns all parts, the lowest first.
    fn ascending(&self) -> impl Iterator<Item = &Node<'f>> {
        self.lower.iter().rev().flatten().chain([&self.high])
    }
}

pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    Parts::of(node)?.ascending().try_for_each(|part| checks.node(part, false))
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    if node.dtype.cell() != Some(out.width()) {
        return Err(node.mistyped());
    }
    let parts = &Parts::of(node)?;
    let mut t = cx.scope();
    let (numbers, part) = (t.take::<[u64; LOWER + 1]>(out.len())?, t.take::<u64>(out.len())?);
    for (k, column) in parts.ascending().enumerate() {
        column.indices(at, part, &mut t)?;
        for (number, word) in numbers.iter_mut().zip(part.iter()) {
            // Each later part replaces its own word and the words after it, so that the highest one extends its sign.
            let sign = (word.cast_signed() >> 63).cast_unsigned();
            let words = number.get_mut(k..).unwrap_or_default();
            words.fill(sign);
            words.first_mut().into_iter().for_each(|first| *first = *word);
        }
    }
    for (i, number) in numbers.iter().enumerate() {
        let mut bytes = [0; 32];
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(number) {
            *to = word.to_le_bytes();
        }
        decimal::put(node, &bytes, (i, at), out, &mut t)?;
    }
    Ok(())
}
