//! Numbers of any width as 64 bits.

/// Returns the number of bits of the largest value.
pub(super) const fn bits(value: u64) -> u32 {
    64u32.saturating_sub(value.leading_zeros())
}
