//! The memory of earlier batches, for later ones.

use std::collections::VecDeque;

use arrow_buffer::{ArrowNativeType, Buffer};

use crate::held::tight;

/// Maximum number of buffers, and of their bytes, that are kept for another batch.
const MOST: usize = 256;
const MOST_BYTES: usize = 32 << 20;

/// What bytes are copied as.
type Word = i128;

/// The buffers of the last batches. A buffer is used again as soon as the pool has the only reference to it.
///
/// New memory comes as pages that the operating system fills with zeros one by one, which costs as much as decoding: with a consumer
/// that drops each batch before the next, columns of integers and decimals are read in 0.3 to 0.4 of the time without this.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    buffers: VecDeque<Buffer>,
    bytes: usize,
}

impl Pool {
    /// Returns memory for `len` values, and not for many more. It may have old values.
    pub fn take<T: ArrowNativeType>(&mut self, len: usize) -> Vec<T> {
        let bytes = len.saturating_mul(size_of::<T>());
        for k in 0..self.buffers.len() {
            let fits =
                |buffer: &Buffer| (bytes..=tight(bytes)).contains(&buffer.capacity()) && buffer.strong_count() == 1;
            if !self.buffers.get(k).is_some_and(fits) {
                continue;
            }
            let Some(buffer) = self.buffers.remove(k) else { continue };
            self.bytes = self.bytes.saturating_sub(buffer.capacity());
            match buffer.into_vec() {
                Ok(values) => return values,
                // Allocated for values of another alignment.
                Err(buffer) => self.keep(&buffer),
            }
        }
        Vec::with_capacity(roomy(len))
    }

    /// Keeps a reference to a buffer, for `take`.
    pub fn keep(&mut self, buffer: &Buffer) {
        self.bytes = self.bytes.saturating_add(buffer.capacity());
        self.buffers.push_back(buffer.clone());
        while self.bytes > MOST_BYTES || self.buffers.len() > MOST {
            let Some(first) = self.buffers.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(first.capacity());
        }
    }

    /// Returns values as a buffer, which is kept.
    pub fn buffer<T: ArrowNativeType>(&mut self, values: Vec<T>) -> Buffer {
        let buffer = Buffer::from_vec(values);
        self.keep(&buffer);
        buffer
    }

    /// Returns a copy of bytes, which is kept. It is aligned for values of any type.
    pub fn copy(&mut self, bytes: &[u8]) -> Buffer {
        let (words, rest) = bytes.as_chunks::<{ size_of::<Word>() }>();
        let mut copy: Vec<Word> = self.take(bytes.len().div_ceil(size_of::<Word>()));
        copy.clear();
        copy.extend(words.iter().map(|word| Word::from_ne_bytes(*word)));
        if !rest.is_empty() {
            let mut last = [0; size_of::<Word>()];
            last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            copy.push(Word::from_ne_bytes(last));
        }
        self.buffer(copy).slice_with_length(0, bytes.len())
    }
}

/// Returns a number of values that is larger than `len` by a sixteenth at most, and the same for most similar numbers: the next
/// batch often takes slightly more.
const fn roomy(len: usize) -> usize {
    match len.checked_next_power_of_two() {
        Some(power) if power >= 1 << 12 => match len.checked_next_multiple_of(power >> 5) {
            Some(roomy) => roomy,
            None => len,
        },
        _ => len,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_aligned_for_all_types() {
        for len in [0u8, 1, 15, 16, 17, 200] {
            let bytes: Vec<u8> = (0..len).collect();
            let copy = Pool::default().copy(&bytes);
            assert_eq!(copy.as_slice(), bytes);
            assert!(copy.into_vec::<i128>().is_ok() || usize::from(len) % size_of::<Word>() > 0);
        }
    }

    #[test]
    fn memory_is_used_again_when_nobody_has_it() {
        let mut pool = Pool::default();
        let first = pool.copy(&[1; 1000]);
        let place = first.as_ptr();
        let second = pool.copy(&[2; 1000]);
        assert_ne!(second.as_ptr(), place, "in use");
        drop(first);
        assert_ne!(pool.copy(&[3; 500]).as_ptr(), place, "too large");
        assert_ne!(pool.copy(&[3; 1200]).as_ptr(), place, "too small");
        let wide = pool.take::<u64>(125);
        assert_ne!(wide.as_ptr().cast::<u8>(), place, "of another alignment");
        let again = pool.copy(&[4; 990]);
        assert_eq!((again.as_ptr(), again.as_slice()), (place, &[4; 990][..]));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut pool = Pool::default();
        let all: Vec<_> = (0..2 * MOST).map(|_| pool.copy(&[0; 112])).collect();
        assert_eq!((all.len(), pool.buffers.len(), pool.bytes), (2 * MOST, MOST, 112 * MOST));
        let large = pool.buffer(vec![0u8; MOST_BYTES + 1]);
        assert_eq!((large.strong_count(), pool.buffers.len(), pool.bytes), (1, 0, 0));
    }
}
