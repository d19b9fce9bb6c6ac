//! The random numbers of all programs: a counter with a step of the golden ratio, whose bits are then mixed.

/// A generator of 64-bit numbers; the field is the seed.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`, or 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }

    /// Returns a number of `low..=high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        let width = (i128::from(high) - i128::from(low) + 1) as u128;
        (i128::from(low) + (u128::from(self.next()) % width) as i128) as i64
    }

    /// Returns one of `items`.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
