//! Memory of ranges that were fetched, used again for other ranges of the same file.
//!
//! The system clears memory that it hands out, which takes about as long as reading the range. Allocators return large blocks to the
//! system within milliseconds.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::store::locked;

/// Maximum number of bytes that wait. A reader of a file has about as many in use at the same time.
const MOST: usize = 32 << 20;

/// A block may be larger than what is wanted by one part in this number.
const WASTE: usize = 4;

/// Blocks of memory that are not in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

impl Buffers {
    /// Returns a block without bytes, whose capacity is `len` or more.
    pub fn take(&self, len: usize) -> Vec<u8> {
        let mut waiting = locked(&self.0);
        let fits = |block: &Vec<u8>| block.capacity() >= len && block.capacity() <= len.saturating_add(len / WASTE);
        let found = waiting.iter().rposition(fits);
        let found = found.map(|k| waiting.swap_remove(k));
        drop(waiting);
        found.unwrap_or_else(|| {
            let mut block = Vec::new();
            // A file may claim any length; without memory, the read is an error.
            let _ = block.try_reserve_exact(len);
            block
        })
    }

    /// Returns bytes whose memory comes back when the last part of them is dropped.
    pub fn lend(&self, block: Vec<u8>) -> Bytes {
        Bytes::from_owner(Lent { block, home: self.clone() })
    }

    fn put(&self, mut block: Vec<u8>) {
        block.clear();
        let mut waiting = locked(&self.0);
        let size = waiting.iter().fold(block.capacity(), |sum, block| sum.saturating_add(block.capacity()));
        if size <= MOST {
            waiting.push(block);
        }
    }
}

/// Bytes whose memory comes back.
struct Lent {
    block: Vec<u8>,
    home: Buffers,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.block
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.home.put(std::mem::take(&mut self.block));
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_within_bounds() {
        let buffers = Buffers::default();
        let mut block = buffers.take(1000);
        block.extend([7; 1000]);
        let at = block.as_ptr();
        let bytes = buffers.lend(block);
        let part = bytes.slice(10..20);
        drop(bytes);
        let other = buffers.take(1000);
        assert!(other.as_ptr() != at, "a part is still in use");
        assert_eq!(part[..], [7; 10]);
        drop(part);
        for len in [1001, 500] {
            let other = buffers.take(len);
            assert!(other.as_ptr() != at, "too small, or much too large");
        }
        let again = buffers.take(900);
        assert!(again.is_empty() && again.as_ptr() == at);
        for _ in 0..3 {
            drop(buffers.lend(Vec::with_capacity(MOST / 2)));
        }
        let kept: Vec<_> = (0..100).map(|_| Vec::with_capacity(MOST / 64)).map(|block| buffers.lend(block)).collect();
        drop(kept);
        let waiting = locked(&buffers.0).iter().map(Vec::capacity).sum::<usize>();
        assert!((MOST / 2..=MOST).contains(&waiting), "{waiting}");
    }
}
