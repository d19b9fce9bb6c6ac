//! The width rules (section 11): the first width of a list that fits every number.

use crate::encoding::bitpack::Packing;
use crate::encoding::bitpack::pack::fits;
use crate::encoding::min_max::MinMax;

/// Widths of longs in FlatBuffer data vectors, rule "FB".
const FLAT: [Packing; 7] =
    [Packing::I8, Packing::U8, Packing::I16, Packing::U16, Packing::I32, Packing::U32, Packing::W64];

/// Widths of packed BinaryVectors, rule "BV".
const PACKED: [Packing; 7] =
    [Packing::U2, Packing::U4, Packing::I8, Packing::U8, Packing::I16, Packing::U16, Packing::I32];

/// Returns the width by rule "FB". The range of 32-bit numbers never requires a width for longs.
pub(super) fn flat(range: MinMax<i64>) -> Packing {
    first(FLAT, range).unwrap_or(Packing::W64)
}

/// Returns the width by rule "BV", or `None` if the range exceeds 32 bits.
pub(super) fn packed(range: MinMax<i64>) -> Option<Packing> {
    first(PACKED, range)
}

/// Returns the width by rule "FB" for differences from 0 to `distance`, which may exceed `i64::MAX`.
pub(super) fn differences(distance: u64) -> Packing {
    i64::try_from(distance).map_or(Packing::W64, |max| flat(MinMax { min: 0, max }))
}

fn first(widths: [Packing; 7], range: MinMax<i64>) -> Option<Packing> {
    let holds = |packing: &Packing| [range.min, range.max].iter().all(|end| fits(*packing, end.cast_unsigned()));
    widths.into_iter().find(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_of_both_rules() {
        let edges: [(i64, i64, Packing, Option<Packing>); 15] = [
            (0, 3, Packing::I8, Some(Packing::U2)),
            (0, 4, Packing::I8, Some(Packing::U4)),
            (0, 15, Packing::I8, Some(Packing::U4)),
            (-1, 3, Packing::I8, Some(Packing::I8)),
            (-128, 127, Packing::I8, Some(Packing::I8)),
            (0, 128, Packing::U8, Some(Packing::U8)),
            (-1, 128, Packing::I16, Some(Packing::I16)),
            (0, 256, Packing::I16, Some(Packing::I16)),
            (0, 32_768, Packing::U16, Some(Packing::U16)),
            (-1, 32_768, Packing::I32, Some(Packing::I32)),
            (0, 65_536, Packing::I32, Some(Packing::I32)),
            (i32::MIN as i64, i32::MAX as i64, Packing::I32, Some(Packing::I32)),
            (0, u32::MAX as i64, Packing::U32, None),
            (-1, u32::MAX as i64, Packing::W64, None),
            (i64::MIN, i64::MAX, Packing::W64, None),
        ];
        for (min, max, in_flat, in_packed) in edges {
            let range = MinMax { min, max };
            assert_eq!((flat(range), packed(range)), (in_flat, in_packed), "{min}..={max}");
        }
        assert_eq!(differences(255), Packing::U8);
        assert_eq!(differences(1 << 63), Packing::W64);
    }
}
