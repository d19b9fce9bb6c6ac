//! What measuring rows that are put together takes, of one call or of all calls for a file.

#[cfg(feature = "vortex-variant")]
use super::context::Call;
use super::file::File;
#[cfg(feature = "vortex-variant")]
use crate::bytes::Scratch;
#[cfg(feature = "vortex-variant")]
use crate::error::{Error, Kind, Result, What};

/// The budget, and memory on the heap that is used again: clearing it takes long.
pub(super) struct Measuring {
    #[cfg(feature = "vortex-variant")]
    pub(super) call: Call,
    #[cfg(all(feature = "vortex-variant", feature = "alloc"))]
    memory: alloc::vec::Vec<u8>,
}

/// Size in bytes of the memory on the stack.
#[cfg(feature = "vortex-variant")]
const ON_STACK: usize = if cfg!(feature = "alloc") { 8 << 10 } else { super::context::ASIDE };

/// Maximum size in bytes of the memory: a file of a few bytes may claim frames of any size.
#[cfg(feature = "vortex-variant")]
pub(super) const MOST_MEMORY: u64 = if cfg!(feature = "alloc") { 1 << 28 } else { ON_STACK as u64 };

impl Measuring {
    /// The budget of one call for a file.
    pub(super) fn new(file: &File<'_>) -> Self {
        let _ = file;
        Measuring {
            #[cfg(feature = "vortex-variant")]
            call: Call::new(file, 1),
            #[cfg(all(feature = "vortex-variant", feature = "alloc"))]
            memory: alloc::vec::Vec::new(),
        }
    }

    /// Calls `measure` with the budget and memory of `len` bytes for an array at offset `at`. Without a heap, there are at
    /// most [`ON_STACK`].
    #[cfg(feature = "vortex-variant")]
    pub(super) fn with_memory<R>(
        &mut self,
        (len, at): (u64, u64),
        measure: impl FnOnce(&mut Call, Scratch<'_>) -> Result<R>,
    ) -> Result<R> {
        #[cfg(feature = "alloc")]
        if len > ON_STACK as u64 {
            let (memory, bytes) = (&mut self.memory, crate::bytes::saturated(len));
            if memory.len() < bytes {
                // What it contained is not copied.
                memory.clear();
                if len > MOST_MEMORY || memory.try_reserve_exact(bytes).is_err() {
                    return Err(no_memory(at));
                }
                memory.resize(bytes, 0);
            }
            return measure(&mut self.call, Scratch::new(memory.get_mut(..bytes).unwrap_or_default()));
        }
        let _ = (len, at);
        measure(&mut self.call, Scratch::new(&mut [0; ON_STACK]))
    }
}

/// Returns the error for measuring that takes more memory than there is, for an array at offset `at`. More of the caller's
/// memory would not help.
#[cfg(feature = "vortex-variant")]
#[cold]
pub(super) fn no_memory(at: u64) -> Error {
    Error::needing(Kind::Limit, What::VORTEX_MEASURING, at, MOST_MEMORY)
}
