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
    pub fn new(code: u32, at: u64) -> Self {
        let [said_code, low, high, _] = &LAST;
        said_code.store(code, Relaxed);
        low.store(at as u32, Relaxed);
        high.store((at >> 32) as u32, Relaxed);
        Parts(()).with_need(0)
    }

    pub fn with_need(self, need: u32) -> Self {
        let [.., said_need] = &LAST;
        said_need.store(need, Relaxed);
        self
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
