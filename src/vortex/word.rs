//! Numbers of any width as 64 bits.

/// Returns the value of `bits` bits as a number of 64 bits, sign-extended if `signed`.
pub(super) const fn extended(value: u64, bits: u32, signed: bool) -> u64 {
    let shift = 64u32.saturating_sub(bits);
    if signed { (((value << shift).cast_signed()) >> shift).cast_unsigned() } else { value }
}

/// Returns the number of bits of the largest value.
pub(super) const fn bits(value: u64) -> u32 {
    64u32.saturating_sub(value.leading_zeros())
}
