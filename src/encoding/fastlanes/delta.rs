//! Delta over FastLanes blocks: each lane has its own running sum, and the values are transposed.

use super::{BLOCK, ORDER, row_start, small};
use crate::bytes::FAST;
use crate::encoding::cells::Cells;
use crate::error::{Error, Kind, Result, What};

/// Returns the number of lanes, and of bases, of a block with words of `width` bytes: 128 / `width`.
#[must_use]
pub const fn lanes(width: usize) -> usize {
    match 128usize.checked_div(width) {
        Some(lanes) => lanes,
        None => 0,
    }
}

/// Kernels of one word type: prefix sums row by row into 8 rows of 128. Every output run of 8 values is then
/// a column of these rows (section "Delta" of the notes on speed).
macro_rules! word {
    ($name:ident, $word:ty, $bits:literal, $lanes:literal) => {
        fn $name(bases: &[$word], deltas: &mut [$word], out: &mut [$word]) -> Option<()> {
            let mut sums = *bases.first_chunk::<$lanes>()?;
            let deltas = deltas.first_chunk_mut::<BLOCK>()?;
            for r in 0..$bits {
                let row = deltas.get_mut(row_start(r)..)?.first_chunk_mut::<$lanes>()?;
                for l in 0..$lanes {
                    sums[l] = sums[l].wrapping_add(row[l]);
                    row[l] = sums[l];
                }
            }
            let out = out.first_chunk_mut::<BLOCK>()?;
            let (runs, _) = out.as_chunks_mut::<8>();
            let (rows, _) = deltas.as_chunks::<128>();
            let [a, b, c, d, e, f, g, h] = rows.first_chunk::<8>()?;
            // Transposition t(i) (format description, section 9): column 16 * q + lane of row s goes to 64 *
            // lane + 8 * ORDER[q] + s.
            for (lane, runs) in runs.chunks_exact_mut(8).enumerate() {
                for (q, from) in ORDER.iter().zip(0usize..) {
                    let column = from << 4 | lane & 15;
                    let run = runs.get_mut(*q)?;
                    *run = [a[column], b[column], c[column], d[column], e[column], f[column], g[column], h[column]];
                }
            }
            Some(())
        }
    };
}

#[allow(clippy::indexing_slicing, reason = "lanes and columns of arrays of that length")]
mod words {
    use super::{BLOCK, ORDER, row_start};

    word!(of_u8, u8, 8, 128);
    word!(of_u16, u16, 16, 64);
    word!(of_u32, u32, 32, 32);
    word!(of_u64, u64, 64, 16);

    pub(super) fn any(
        bases: &super::Cells<'_>,
        deltas: &mut super::Cells<'_>,
        out: &mut super::Cells<'_>,
    ) -> Option<()> {
        use super::Cells::{W1, W2, W4, W8};
        match (bases, deltas, out) {
            (W1(bases), W1(deltas), W1(out)) => of_u8(bases, deltas, out),
            (W2(bases), W2(deltas), W2(out)) => of_u16(bases, deltas, out),
            (W4(bases), W4(deltas), W4(out)) => of_u32(bases, deltas, out),
            (W8(bases), W8(deltas), W8(out)) => of_u64(bases, deltas, out),
            _ => None,
        }
    }
}

/// Decodes one block from its deltas and the base of each lane, both of which are overwritten.
///
/// # Errors
/// [`Kind::Truncated`] if `bases`, `deltas` or `out` has fewer cells than a block, or their widths differ.
pub fn undelta(bases: &mut Cells<'_>, deltas: &mut Cells<'_>, out: &mut Cells<'_>) -> Result<()> {
    let short = || Error::needing(Kind::Truncated, What::FASTLANES, 0, BLOCK as u64);
    let done = if FAST { words::any(bases, deltas, out) } else { small::undelta(bases, deltas, out) };
    done.ok_or_else(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::fastlanes::tests::noise;
    use std::vec::Vec;

    /// Follows the format description literally.
    fn naive(bits: usize, bases: &[u64], deltas: &[u64]) -> Vec<u64> {
        let mask = u64::MAX >> (64 - bits);
        let (mut sums, mut out) = (std::vec![0; 1024], std::vec![0; 1024]);
        for (l, base) in bases.iter().enumerate() {
            let mut before = *base;
            for r in 0..bits {
                let i = ORDER[r / 8] * 16 + (r % 8) * 128 + l;
                before = before.wrapping_add(deltas[i]) & mask;
                sums[i] = before;
            }
        }
        for (i, sum) in sums.iter().enumerate() {
            out[(i % 16) * 64 + ORDER[(i / 16) % 8] * 8 + i / 128] = *sum;
        }
        out
    }

    #[test]
    fn every_word_like_the_text() {
        macro_rules! check {
            ($($word:ty, $cells:ident;)*) => {$(
                let bits = <$word>::BITS as usize;
                let mut words: Vec<$word> = noise((1024 + 1024 / bits) * bits / 8)
                    .chunks_exact(bits / 8).map(bytemuck::pod_read_unaligned).collect();
                let deltas = words.split_off(1024 / bits);
                let wide = |words: &[$word]| words.iter().map(|word| u64::from(*word)).collect::<Vec<_>>();
                let expected = naive(bits, &wide(&words), &wide(&deltas));
                for kernel in [undelta, |bases: &mut Cells<'_>, deltas: &mut Cells<'_>, out: &mut Cells<'_>| {
                    small::undelta(bases, deltas, out).ok_or_else(|| Error::new(Kind::Truncated, What::FASTLANES, 0))
                }] {
                    let (mut bases, mut deltas, mut out) = (words.clone(), deltas.clone(), std::vec![0; 1024]);
                    let mut bases = Cells::$cells(&mut bases);
                    let [mut deltas, mut cells] = [&mut deltas, &mut out].map(|words| Cells::$cells(words));
                    kernel(&mut bases, &mut deltas, &mut cells).unwrap();
                    let mut short = bases.part(1, usize::MAX);
                    assert!(kernel(&mut short, &mut deltas, &mut cells).is_err());
                    assert_eq!(wide(&out), expected, "u{bits}");
                }
            )*};
        }
        check! { u8, W1; u16, W2; u32, W4; u64, W8; }
    }
}
