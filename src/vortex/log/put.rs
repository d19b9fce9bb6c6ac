//! Output: bytes, the words of FlatBuffers, and the sink of a log.

use super::WriteError;
use crate::bytes::{Sink, len32, low32};
use crate::hash::Lookup2;

/// Receives bytes. A trait object, so that the code that writes FlatBuffers is linked once for all sinks.
pub trait Put {
    /// Takes all of `bytes`.
    fn put(&mut self, bytes: &[u8]);
}

/// Rounds up to a multiple of 4.
pub(super) const fn up4(n: u32) -> u32 {
    n.wrapping_add(3) & !3
}

/// Joins two fields of 16 bits of a vtable.
pub(super) const fn halves(low: u32, high: u32) -> u32 {
    low | high << 16
}

/// A FlatBuffer that is emitted front to back.
pub struct Flat<'p> {
    /// The output; without one, bytes are only counted.
    pub to: Option<&'p mut dyn Put>,
    /// Number of bytes so far.
    pub at: u32,
}

// Not inlined: each of these is called from many places, and an image would have 1 KB more.
impl<'p> Flat<'p> {
    pub const fn new(to: &'p mut dyn Put) -> Self {
        Flat { to: Some(to), at: 0 }
    }

    #[inline(never)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.at = self.at.wrapping_add(len32(bytes.len()));
        if let Some(to) = &mut self.to {
            to.put(bytes);
        }
    }

    /// Puts a little-endian word.
    #[inline(never)]
    pub fn word(&mut self, word: u32) {
        self.bytes(&word.to_le_bytes());
    }

    /// Puts the low `size` bytes of a number, at most 8.
    #[inline(never)]
    pub fn number(&mut self, number: u64, size: usize) {
        self.bytes(number.to_le_bytes().get(..size).unwrap_or_default());
    }

    #[inline(never)]
    pub fn words(&mut self, words: &[u32]) {
        for word in words {
            self.word(*word);
        }
    }

    /// Puts the start of a table: the distance to its vtable, which is at `vtable`.
    pub fn table(&mut self, vtable: u32) {
        self.word(self.at.wrapping_sub(vtable));
    }

    /// Puts `count` distances to tables that are `step` bytes apart, the first of them at `first`.
    #[inline(never)]
    pub fn links(&mut self, count: u32, mut first: u32, step: u32) {
        for _ in 0..count {
            self.word(first.wrapping_sub(self.at));
            first = first.wrapping_add(step);
        }
    }

    /// Puts zeros to the next multiple of 4.
    #[inline(never)]
    pub fn align4(&mut self) {
        let zeros = up4(self.at).wrapping_sub(self.at);
        self.bytes([0; 4].get(..zeros as usize).unwrap_or_default());
    }

    /// Puts a word of zeros if the offset is a multiple of 8; it is a multiple of 4.
    pub fn align_tables(&mut self) {
        if self.at & 4 == 0 {
            self.word(0);
        }
    }
}

/// A sink, its position, and the check of the current frame. After an error, nothing more is put.
pub(super) struct Out<S: Sink> {
    pub sink: S,
    pub at: u64,
    pub check: Lookup2,
    pub error: Option<WriteError<S::Error>>,
}

impl<S: Sink> Out<S> {
    /// Returns whether the sink has failed.
    pub const fn has_failed(&self) -> bool {
        matches!(self.error, Some(WriteError::Sink(_)))
    }

    /// Makes what was put survive a power cut.
    pub fn flush(&mut self) {
        if !self.has_failed()
            && let Err(e) = self.sink.flush()
        {
            self.error = Some(WriteError::Sink(e));
        }
    }

    /// Puts zeros up to a multiple of 8.
    #[inline(never)]
    pub fn align(&mut self) {
        let zeros = 0u32.wrapping_sub(low32(self.at)) & 7;
        self.put([0; 8].get(..zeros as usize).unwrap_or_default());
    }

    /// Puts a little-endian word.
    #[inline(never)]
    pub fn word(&mut self, word: u32) {
        self.put(&word.to_le_bytes());
    }

    /// Puts the check of the bytes since the start of the frame.
    #[inline(never)]
    pub fn put_check(&mut self) {
        self.word(self.check.value());
    }
}

impl<S: Sink> Put for Out<S> {
    fn put(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.has_failed() {
            return;
        }
        self.check.update(bytes);
        self.at = self.at.wrapping_add(bytes.len() as u64);
        if let Err(e) = self.sink.put(bytes) {
            self.error = Some(WriteError::Sink(e));
        }
    }
}
