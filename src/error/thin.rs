//! What an error says, beside it: the error itself is nothing but that there is one.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Of the last error: code; where, low half first; how much.
static LAST: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

#[derive(Clone, Copy)]
pub(super) struct Parts(());

impl Parts {
    #[cold]
    #[inline(never)]
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of `at` are kept apart")]
    pub fn new(code: u32, at: u64, need: u64) -> Self {
        let words = [code, at as u32, (at >> 32) as u32, super::saturated(need)];
        for (said, word) in LAST.iter().zip(words) {
            said.store(word, Relaxed);
        }
        Parts(())
    }

    pub fn code(self) -> u32 {
        self.said(0)
    }

    pub fn at(self) -> u64 {
        u64::from(self.said(1)) | u64::from(self.said(2)) << 32
    }

    pub fn need(self) -> u32 {
        self.said(3)
    }

    fn said(self, k: usize) -> u32 {
        LAST.get(k).map_or(0, |word| word.load(Relaxed))
    }
}
