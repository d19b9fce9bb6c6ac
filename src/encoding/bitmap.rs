//! One bit per value of a slice, set if the value passes a test. Used for missing values that a sentinel of
//! the type represents, and for booleans of one byte each.
//!
//! The loops are shaped so that the compiler vectorises them: 64 results are stored as bytes, then a
//! multiplication packs eight of them into one byte.
//!
//! ```
//! use pilaster::unstable::encoding::bitmap;
//!
//! let values = [3, i32::MIN, 5];
//! assert!(bitmap::any(&values, |v| v == i32::MIN));
//! let mut bits = [0u8; 1];
//! assert_eq!(bitmap::pack(&values, &mut bits, |v| v != i32::MIN), 2);
//! assert_eq!(bits, [0b101]);
//! ```

/// Number of values tested before the results are evaluated.
const BLOCK: usize = 64;

/// True if the blocks pay. Small targets have no vectors and test value by value.
const WIDE: bool = !cfg!(pilaster_small);

/// Returns whether any value passes.
#[inline]
pub fn any<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> bool {
    if !WIDE {
        return values.iter().any(|value| test(*value));
    }
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    // No exit inside a block, so that the compiler vectorises it.
    let found = |block: &[T]| block.iter().fold(false, |any, value| any | test(*value));
    blocks.iter().any(|block| found(block)) || found(rest)
}

/// Returns the number of values that pass.
#[inline]
pub fn count<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> usize {
    let mut sum = 0usize;
    for block in values.chunks(BLOCK) {
        // At most 64, so a byte holds it.
        let passed = block.iter().fold(0u8, |n, value| n.wrapping_add(u8::from(test(*value))));
        sum = sum.wrapping_add(passed.into());
    }
    sum
}

/// Sets bit `i & 7` of byte `i >> 3` if value `i` passes, and clears it otherwise, up to the end of `bits`.
/// Unused bits of the last byte are 0. Returns the number of bits set.
#[inline]
pub fn pack<T: Copy>(values: &[T], bits: &mut [u8], test: impl Fn(T) -> bool) -> usize {
    if !WIDE {
        let mut values = values.iter();
        return one_by_one(&mut || values.next().is_some_and(|value| test(*value)), bits);
    }
    let mut ones = 0u32;
    let mut staged = [0u8; BLOCK];
    for (bytes, block) in bits.chunks_mut(BLOCK / 8).zip(values.chunks(BLOCK)) {
        match block.first_chunk::<BLOCK>() {
            Some(block) => {
                for (flag, value) in staged.iter_mut().zip(block) {
                    *flag = u8::from(test(*value));
                }
            }
            None => {
                staged = [0; BLOCK];
                for (flag, value) in staged.iter_mut().zip(block) {
                    *flag = u8::from(test(*value));
                }
            }
        }
        for (byte, flags) in bytes.iter_mut().zip(staged.as_chunks::<8>().0) {
            *byte = gathered(u64::from_le_bytes(*flags));
            ones = ones.wrapping_add(byte.count_ones());
        }
    }
    ones as usize
}

/// Packs value by value. Takes a trait object, so that all types of values share the code.
fn one_by_one(next: &mut dyn FnMut() -> bool, bits: &mut [u8]) -> usize {
    let mut ones = 0u32;
    for byte in bits {
        *byte = (0..8).fold(0, |byte, i| byte | u8::from(next()) << i);
        ones = ones.wrapping_add(byte.count_ones());
    }
    ones as usize
}

/// Packs the lowest bits of eight bytes: flag `i`, at bit `8 i`, times the factor's bit `56 - 7 i` is bit
/// `56 + i`. No other products reach the top byte.
const fn gathered(flags: u64) -> u8 {
    let [.., top] = flags.wrapping_mul(0x0102_0408_1020_4080).to_le_bytes();
    top
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn as_one_by_one() {
        let values: Vec<u16> = (0..300u16).map(|i| i.wrapping_mul(40_503)).collect();
        for first in [0, 1, 63] {
            for len in [0, 1, 7, 8, 9, 63, 64, 65, 128, 200] {
                let values = &values[first..first + len];
                let test = |v: u16| v & 5 == 1;
                let naive: Vec<bool> = values.iter().map(|v| test(*v)).collect();
                let ones = naive.iter().filter(|b| **b).count();
                let mut bits = [0xffu8; 26];
                assert_eq!(pack(values, &mut bits[..len.div_ceil(8)], test), ones);
                for (i, bit) in naive.iter().enumerate() {
                    assert_eq!(bits[i / 8] >> (i % 8) & 1 == 1, *bit, "{first}+{len}: {i}");
                }
                assert!(len % 8 == 0 || bits[len / 8] >> (len % 8) == 0, "no bits behind the last value");
                assert_eq!((any(values, test), count(values, test)), (ones > 0, ones));
            }
        }
    }

    #[test]
    fn every_byte_of_flags() {
        for byte in 0..=255u8 {
            let flags: [u8; 8] = core::array::from_fn(|i| byte >> i & 1);
            assert_eq!(gathered(u64::from_le_bytes(flags)), byte);
        }
    }
}
