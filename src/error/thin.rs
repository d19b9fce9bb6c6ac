//! What an error says, in a table: the error itself is one word, its code and its number.

use core::num::NonZero;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bits of the number; above them is the code.
const NUMBER: u32 = 18;
/// Errors that the table holds.
const LEN: u32 = 1 << 10;

#[derive(Clone, Copy)]
pub(super) struct Parts(NonZero<u32>);

/// Number of the error; where, low half first; how much.
type Slot = [AtomicU32; 4];

static TABLE: [Slot; LEN as usize] = [const { [const { AtomicU32::new(0) }; 4] }; LEN as usize];
static NEXT: AtomicU32 = AtomicU32::new(0);

fn slot(number: u32) -> Option<&'static Slot> {
    TABLE.get((number & (LEN - 1)) as usize)
}

impl Parts {
    #[cold]
    #[inline(never)]
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of `at` are kept apart")]
    pub fn new(code: u32, at: u64, need: u32) -> Self {
        let number = NEXT.fetch_add(1, Relaxed) & ((1 << NUMBER) - 1);
        for (word, value) in slot(number).into_iter().flatten().zip([number, at as u32, (at >> 32) as u32, need]) {
            word.store(value, Relaxed);
        }
        Parts(NonZero::<u32>::MIN.saturating_add(code << NUMBER | number))
    }

    pub const fn code(self) -> u32 {
        self.word() >> NUMBER
    }

    const fn word(self) -> u32 {
        self.0.get().wrapping_sub(1)
    }

    pub fn at(self) -> u64 {
        u64::from(self.said(1)) | u64::from(self.said(2)) << 32
    }

    pub fn need(self) -> u32 {
        self.said(3)
    }

    /// A word of its slot, 0 if that has become another's.
    #[inline(never)]
    fn said(self, k: usize) -> u32 {
        let number = self.word() & ((1 << NUMBER) - 1);
        let words = slot(number).filter(|[holder, ..]| holder.load(Relaxed) == number);
        words.and_then(|words| words.get(k)).map_or(0, |word| word.load(Relaxed))
    }
}
