//! Random texts for tests, the same in each run.

pub(super) struct Random(pub u64);

impl Random {
    /// Returns a number below `most`, which is not zero.
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0).checked_rem(most).unwrap_or(0)
    }

    /// Returns one of some items.
    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        let k = self.below(items.len());
        items.iter().copied().cycle().nth(k).unwrap_or_else(|| unreachable!("no items"))
    }

    /// Returns some bytes of an alphabet.
    pub fn bytes(&mut self, len: usize, all: &[u8]) -> Vec<u8> {
        (0..len).map(|_| self.one_of(all)).collect()
    }
}

/// Calls `check` with every text of up to `most` bytes of an alphabet.
pub(super) fn each_text(most: u32, all: &[u8], mut check: impl FnMut(&[u8])) {
    for len in 0..=most {
        for mut number in 0..all.len().pow(len) {
            let mut digit = || {
                let digit = all.get(number.checked_rem(all.len())?).copied();
                number = number.checked_div(all.len())?;
                digit
            };
            let text: Vec<u8> = (0..len).filter_map(|_| digit()).collect();
            check(&text);
        }
    }
}
