//! Output, word by word.

use super::frames::up8;
use crate::bytes::{Sink, len32, low32};
use crate::hash::Lookup2;

/// Receives bytes. A trait object, so that the code that writes FlatBuffers is linked once for all sinks.
pub(super) trait Put {
    fn put(&mut self, bytes: &[u8]);
}

// Without the attributes, an image has 1 KB more: each of these is called from many places.
impl dyn Put + '_ {
    /// Puts a little-endian word.
    #[inline(never)]
    pub fn word(&mut self, word: u32) {
        self.put(&word.to_le_bytes());
    }

    #[inline(never)]
    pub fn words(&mut self, words: &[u32]) {
        for word in words {
            self.word(*word);
        }
    }

    /// Puts a number of 64 bits.
    #[inline(never)]
    pub fn pair(&mut self, pair: u64) {
        self.put(&pair.to_le_bytes());
    }

    /// Puts `count` zeros, at most 8.
    #[inline(never)]
    pub fn zeros(&mut self, count: u32) {
        self.put([0; 8].get(..count as usize).unwrap_or_default());
    }

    /// Puts a string of a FlatBuffer: length, bytes, and one to four zeros.
    #[inline(never)]
    pub fn string(&mut self, text: &str) {
        self.word(len32(text.len()));
        self.put(text.as_bytes());
        self.zeros(4u32.wrapping_sub(len32(text.len()) & 3));
    }
}

/// Returns the size in bytes of a string.
pub(super) const fn string_len(text: &str) -> u32 {
    (len32(text.len()) & !3).wrapping_add(8)
}

/// Rounds up to a multiple of 4.
pub(super) const fn up4(n: u32) -> u32 {
    n.wrapping_add(3) & !3
}

/// A sink, its position, and the check of the current frame. After an error of the sink, nothing more is put.
pub(super) struct Out<S: Sink> {
    pub sink: S,
    pub at: u64,
    pub check: Lookup2,
    pub error: Option<S::Error>,
}

impl<S: Sink> Out<S> {
    pub const fn new(sink: S, at: u64) -> Self {
        Out { sink, at, check: Lookup2::new(0), error: None }
    }

    /// Puts zeros up to a multiple of 8.
    #[inline(never)]
    pub fn align(&mut self) {
        let zeros = low32(up8(self.at).wrapping_sub(self.at));
        (self as &mut dyn Put).zeros(zeros);
    }
}

impl<S: Sink> Put for Out<S> {
    fn put(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.error.is_some() {
            return;
        }
        self.check.update(bytes);
        self.at = self.at.wrapping_add(bytes.len() as u64);
        self.error = self.sink.put(bytes).err();
    }
}
