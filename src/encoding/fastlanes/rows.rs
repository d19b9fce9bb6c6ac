//! A row of a block: the same bits of all lanes, out of one or two rows of words.
//!
//! `one` takes values that lie in one word, `two` those that reach into the next. Both write all that is in
//! the word down from `shift`, under `mask`. The shapes of the loops are those of which the compiler makes
//! vectors, which differ by type.

/// Powers of two from a table, where the compiler does not make shifts of the products again: vector units
/// multiply 16 bits faster than they shift by a count that is not known before.
static POWERS: [u16; 16] = {
    let mut powers = [1; 16];
    let mut i = 1;
    while i < 16 {
        powers[i] = powers[i - 1] << 1;
        i += 1;
    }
    powers
};

/// The high half of a product: `word` without its `shift` lowest bits, for the factor `2^(16 - shift)`.
fn high_half(word: u16, factor: u16) -> u16 {
    (u32::from(word).wrapping_mul(factor.into()) >> 16) as u16
}

/// Bytes, two of them in each word: what crosses from one to the other is masked out.
pub(super) mod of_u8 {
    use super::{POWERS, high_half};

    const BOTH: u16 = 0x0101;

    fn words(row: &[u8; 128]) -> [u16; 64] {
        bytemuck::cast::<[u8; 128], [u16; 64]>(*row)
    }

    pub fn one(to: &mut [u8; 128], row: &[u8; 128], shift: usize, mask: u8) {
        let (row, mut made) = (words(row), [0; 64]);
        let (shift, mask) = (shift & 7, u16::from(mask) * BOTH);
        for l in 0..64 {
            made[l] = (u16::from_le(row[l]) >> shift & mask).to_le();
        }
        *to = bytemuck::cast::<[u16; 64], [u8; 128]>(made);
    }

    pub fn two(to: &mut [u8; 128], low: &[u8; 128], high: &[u8; 128], shift: usize, mask: u8) {
        let (low, high, mut made) = (words(low), words(high), [0; 64]);
        let (down, up) = (POWERS[16usize.wrapping_sub(shift) & 15], POWERS[8usize.wrapping_sub(shift) & 7]);
        let (below, above) = (0xff >> (shift & 7) & u16::from(mask), u16::from(mask) & 0u16.wrapping_sub(up));
        let (below, above) = (below * BOTH, above * BOTH);
        for l in 0..64 {
            let (low, high) = (high_half(u16::from_le(low[l]), down), u16::from_le(high[l]).wrapping_mul(up));
            made[l] = (low & below | high & above).to_le();
        }
        *to = bytemuck::cast::<[u16; 64], [u8; 128]>(made);
    }
}

/// Words of 16 bits: the two halves of one product are the ends of a value.
pub(super) mod of_u16 {
    use super::{POWERS, high_half};

    fn words(row: &[u8; 128]) -> [u16; 64] {
        bytemuck::cast::<[u8; 128], [u16; 64]>(*row)
    }

    pub fn one(to: &mut [u16; 64], row: &[u8; 128], shift: usize, mask: u16) {
        let row = words(row);
        for l in 0..64 {
            to[l] = u16::from_le(row[l]) >> (shift & 15) & mask;
        }
    }

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
            pub fn one(to: &mut [$word; $lanes], row: &[u8; 128], shift: usize, mask: $word) {
                let shift = shift as u32 & (<$word>::BITS - 1);
                for (to, word) in to.iter_mut().zip(row.as_chunks().0) {
                    *to = <$word>::from_le_bytes(*word) >> shift & mask;
                }
            }

            pub fn two(to: &mut [$word; $lanes], low: &[u8; 128], high: &[u8; 128], shift: usize, mask: $word) {
                let down = shift as u32 & (<$word>::BITS - 1);
                let up = <$word>::BITS.wrapping_sub(down) & (<$word>::BITS - 1);
                for ((to, low), high) in to.iter_mut().zip(low.as_chunks().0).zip(high.as_chunks().0) {
                    *to = (<$word>::from_le_bytes(*low) >> down | <$word>::from_le_bytes(*high) << up) & mask;
                }
            }
        }
    };
}

wide!(of_u32, u32, 32);
wide!(of_u64, u64, 16);
