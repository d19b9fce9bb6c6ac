//! Kernels for a row of a block: the same bits of all lanes, from one or two rows of words.
//!
//! `one` decodes values that are inside one word, `two` values that continue in the next word. Both shift the
//! word right by `shift` and apply `mask`. The loops are shaped so that the compiler vectorises them, which
//! differs by type.

/// Powers of two. The table keeps the compiler from turning the products into shifts: vector units multiply
/// 16 bits faster than they shift by a count that is unknown at compile time.
static POWERS: [u16; 16] = {
    let mut powers = [1; 16];
    let mut i = 1;
    while i < 16 {
        powers[i] = powers[i - 1] << 1;
        i += 1;
    }
    powers
};

/// Returns the high half of a product: `word >> shift` for the factor `2^(16 - shift)`.
#[inline(always)]
fn high_half(word: u16, factor: u16) -> u16 {
    (u32::from(word).wrapping_mul(factor.into()) >> 16) as u16
}

/// Words of 16 bits: products with one factor give the low part of a value in their high half, and the high
/// part in their low half.
pub(super) mod of_u16 {
    use super::{POWERS, high_half};

    #[inline(always)]
    fn words(row: &[u8; 128]) -> [u16; 64] {
        bytemuck::cast::<[u8; 128], [u16; 64]>(*row)
    }

    #[inline(always)]
    pub fn one(to: &mut [u16; 64], row: &[u8; 128], shift: usize, mask: u16) {
        let row = words(row);
        for l in 0..64 {
            to[l] = u16::from_le(row[l]) >> (shift & 15) & mask;
        }
    }

    #[inline(always)]
    pub fn two(to: &mut [u16; 64], low: &[u8; 128], high: &[u8; 128], shift: usize, mask: u16) {
        let (low, high) = (words(low), words(high));
        let power = POWERS[16usize.wrapping_sub(shift) & 15];
        for l in 0..64 {
            let word = high_half(u16::from_le(low[l]), power) | u16::from_le(high[l]).wrapping_mul(power);
            to[l] = word & mask;
        }
    }
}

macro_rules! wide {
    ($module:ident, $word:ty, $lanes:literal) => {
        pub(super) mod $module {
            #[inline(always)]
            fn words(row: &[u8; 128]) -> [$word; $lanes] {
                bytemuck::cast::<[u8; 128], [$word; $lanes]>(*row)
            }

            #[inline(always)]
            pub fn one(to: &mut [$word; $lanes], row: &[u8; 128], shift: usize, mask: $word) {
                let (row, down) = (words(row), shift as u32 & (<$word>::BITS - 1));
                for l in 0..$lanes {
                    to[l] = <$word>::from_le(row[l]) >> down & mask;
                }
            }

            #[inline(always)]
            pub fn two(to: &mut [$word; $lanes], low: &[u8; 128], high: &[u8; 128], shift: usize, mask: $word) {
                let (low, high) = (words(low), words(high));
                let down = shift as u32 & (<$word>::BITS - 1);
                let up = <$word>::BITS.wrapping_sub(down) & (<$word>::BITS - 1);
                for l in 0..$lanes {
                    to[l] = (<$word>::from_le(low[l]) >> down | <$word>::from_le(high[l]) << up) & mask;
                }
            }
        }
    };
}

wide!(of_u32, u32, 32);
wide!(of_u64, u64, 16);
