//! Logarithms, by which the lengths of codes are estimated.

use crate::codec::zstd::bits::size;

/// Number of fraction bits of a logarithm.
pub(super) const FRACTION: u32 = 8;

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed when compiled")]
#[allow(clippy::cast_possible_truncation, reason = "at most 256")]
const FRACTIONS: [u16; 257] = {
    let mut table = [0; 257];
    let mut i = 0;
    while i < table.len() {
        // The square of a number has twice its logarithm: each squaring yields one bit.
        let mut x: u64 = (256 + i as u64) << 22;
        let (mut log, mut bit) = (0u32, 0);
        while bit < 12 {
            x = (x * x) >> 30;
            log <<= 1;
            if x >= 2 << 30 {
                x >>= 1;
                log |= 1;
            }
            bit += 1;
        }
        table[i] = ((log + 8) >> 4) as u16;
        i += 1;
    }
    table[256] = 256;
    table
};

/// Returns the binary logarithm of `n`, with [`FRACTION`] fraction bits; 0 for 0.
#[inline]
#[allow(clippy::indexing_slicing, reason = "eight bits are in bounds")]
pub(super) const fn log2(n: u32) -> u32 {
    let whole = if n == 0 { 0 } else { n.ilog2() };
    let mantissa = size(((n as u64) << FRACTION >> whole) & 0xff);
    (whole << FRACTION).wrapping_add(FRACTIONS[mantissa] as u32)
}

/// Returns an estimate of the length in bits of all symbols with these counts, by the best code there is.
pub(super) fn entropy(counts: &[u32]) -> u64 {
    let total = counts.iter().fold(0u32, |sum, count| sum.wrapping_add(*count));
    let log = log2(total);
    let bits = |count: &u32| u64::from(*count).wrapping_mul(log.wrapping_sub(log2(*count)).into());
    counts.iter().map(bits).fold(0u64, u64::wrapping_add) >> FRACTION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_close() {
        for n in (1..5000).chain([65_535, 65_536, 1 << 20, u32::MAX]) {
            let exact = f64::from(n).log2();
            assert!((f64::from(log2(n)) / 256.0 - exact).abs() < 0.01, "{n}: {} {exact}", log2(n));
        }
        assert_eq!(log2(0), 0);
        assert_eq!(entropy(&[4, 0, 4, 8]), 8 + 8 + 8);
    }
}
