//! What an error says, in the error itself.

use core::num::NonZero;

/// Two `u32` and not one `u64`: that keeps the alignment at 4 and the size at 16. The code is not zero, so passing an
/// error on is four words, and one of them says whether there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Parts {
    at: [u32; 2],
    need: u32,
    code: NonZero<u32>,
}

const _: () = assert!(size_of::<Parts>() == 16 && align_of::<Parts>() == 4);

impl Parts {
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of `at` are kept apart")]
    pub const fn new(code: u32, at: u64, need: u64) -> Self {
        let need = super::saturated(need);
        Parts { at: [at as u32, (at >> 32) as u32], need, code: NonZero::<u32>::MIN.saturating_add(code) }
    }

    pub const fn code(self) -> u32 {
        self.code.get().wrapping_sub(1)
    }

    pub const fn at(self) -> u64 {
        let [low, high] = self.at;
        low as u64 | (high as u64) << 32
    }

    pub const fn need(self) -> u32 {
        self.need
    }
}
