//! The metadata of files that were opened, so that each reader of a split file does not fetch them again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use object_store::ObjectStore;
use object_store::path::Path;

use crate::error::Failure;
use crate::store::{Piece, locked};

/// The metadata of files.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    kept: Mutex<Kept>,
    /// The errors of damaged files that were left out.
    left_out: Mutex<HashSet<String>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The files, with the number of their last use.
    files: HashMap<Key, (u64, Head)>,
    /// The files by the number of their last use.
    uses: BTreeMap<u64, Key>,
    size: usize,
    next: u64,
}

/// The metadata of a file. The store stays as long, so that no other one has its address.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pieces: Vec<Piece>,
    _store: Arc<dyn ObjectStore>,
}

impl Head {
    /// Creates the metadata of a file of `store` from ranges of the file.
    pub fn new(pieces: Vec<Piece>, store: &Arc<dyn ObjectStore>) -> Self {
        Head { pieces, _store: Arc::clone(store) }
    }

    /// Returns the number of bytes in memory, including the entry.
    fn size(&self) -> usize {
        self.pieces.iter().fold(512, |sum, (_, bytes)| sum.saturating_add(bytes.len()).saturating_add(64))
    }
}

/// A version of a file of a store, which its address tells from others.
pub(crate) type Key = (usize, Path, (u64, i64, Option<String>));

impl Heads {
    /// Maximum number of errors that are known. Then they are forgotten.
    const MOST_ERRORS: usize = 1 << 16;

    /// Maximum number of bytes. The metadata that were not used for the longest time leave a full cache.
    const MOST: usize = 64 << 20;

    /// Warns of a damaged file that is left out, once for its columns, its statistics and its rows.
    pub fn warn(&self, failure: &Failure) {
        let mut known = locked(&self.left_out);
        if known.len() >= Heads::MOST_ERRORS {
            known.clear();
        }
        if known.insert(failure.to_string()) {
            log::warn!("left out from the damage on: {failure}");
        }
    }

    /// Returns the ranges of a file that were kept.
    pub fn get(&self, key: &Key) -> Option<Vec<Piece>> {
        let mut kept = locked(&self.kept);
        let kept = &mut *kept;
        let (used, head) = kept.files.get_mut(key)?;
        kept.uses.remove(&*used);
        (*used, kept.next) = (kept.next, kept.next.saturating_add(1));
        kept.uses.insert(*used, key.clone());
        Some(head.pieces.clone())
    }

    /// Keeps the ranges of a file.
    pub fn put(&self, key: Key, head: Head) {
        let size = head.size();
        if size > Heads::MOST {
            return;
        }
        let mut kept = locked(&self.kept);
        let kept = &mut *kept;
        kept.remove(&key);
        while kept.size.saturating_add(size) > Heads::MOST {
            let Some((_, oldest)) = kept.uses.pop_first() else { break };
            kept.remove(&oldest);
        }
        kept.size = kept.size.saturating_add(size);
        kept.uses.insert(kept.next, key.clone());
        kept.files.insert(key, (kept.next, head));
        kept.next = kept.next.saturating_add(1);
    }
}

impl Kept {
    fn remove(&mut self, key: &Key) {
        if let Some((used, head)) = self.files.remove(key) {
            self.uses.remove(&used);
            self.size = self.size.saturating_sub(head.size());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_cache_forgets_what_was_not_used() {
        let heads = Heads::default();
        let key = |k: usize| (k, Path::from("a"), (1, 2, None));
        let store: Arc<dyn ObjectStore> = Arc::new(object_store::memory::InMemory::new());
        let head = |len: usize| Head::new(vec![(0, vec![7; len].into())], &store);
        for k in 0..40 {
            heads.put(key(k), head(3 << 20));
            assert!(heads.get(&key(0)).is_some(), "{k}");
        }
        let kept = (0..40).filter(|k| heads.get(&key(*k)).is_some()).collect::<Vec<_>>();
        assert_eq!(kept, [&[0][..], &(20..40).collect::<Vec<_>>()].concat());
        heads.put(key(1), head(65 << 20));
        assert!(heads.get(&key(1)).is_none() && heads.get(&key(39)).is_some());
    }
}
