//! The heap: free blocks of linear memory, in a list by address. The first that fits is taken, and what is given back
//! joins its neighbours. A file takes few blocks, so the list stays short; the code is a tenth of a general allocator.

#![cfg_attr(target_family = "wasm", allow(unsafe_code, reason = "an allocator, for one thread"))]

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::error::{Error, Kind, What};

/// `len` bytes of memory, or the error that there are none: the module never traps.
pub fn memory(len: u64) -> Result<Vec<u8>> {
    filled(usize::try_from(len).map_err(|_| no_room(len))?, 0)
}

/// `len` times the same.
pub fn filled<T: Clone>(len: usize, item: T) -> Result<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| no_room(len.saturating_mul(size_of::<T>()) as u64))?;
    all.resize(len, item);
    Ok(all)
}

/// Puts an item behind the others.
pub fn push<T>(all: &mut Vec<T>, item: T) -> Result<()> {
    reserve(all, 1)?;
    all.push(item);
    Ok(())
}

/// Room for `more` items.
pub fn reserve<T>(all: &mut Vec<T>, more: usize) -> Result<()> {
    all.try_reserve(more).map_err(|_| no_room(more.saturating_mul(size_of::<T>()) as u64))
}

/// A copy.
pub fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| no_room(bytes.len() as u64))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// A copy that lasts as long as the module.
pub fn kept(bytes: &[u8]) -> Result<&'static mut [u8]> {
    // A box of the same length: nothing moves.
    copy(bytes).map(|copy| Box::leak(copy.into_boxed_slice()))
}

/// Texts one behind the other.
pub fn joined(parts: &[&str]) -> Result<String> {
    let mut text = String::new();
    for part in parts {
        text.try_reserve(part.len()).map_err(|_| no_room(part.len() as u64))?;
        text.push_str(part);
    }
    Ok(text)
}

#[cold]
fn no_room(len: u64) -> Error {
    Error::needing(Kind::NoRoom, What::INPUT, 0, len)
}

/// Opens something in memory that lasts as long as the module, of which nobody knows beforehand how much it is.
#[cfg(any(feature = "write", feature = "dataseries"))]
pub fn lasting<T>(mut open: impl FnMut(&mut Scratch<'static>) -> Result<T>) -> Result<T> {
    let mut opened = None;
    try_in_more(&mut |scratch| open(scratch).map(|it| opened = Some(it)))?;
    opened.ok_or_else(|| no_room(0))
}

/// The same code for all that is opened.
#[cfg(any(feature = "write", feature = "dataseries"))]
fn try_in_more(open: &mut dyn FnMut(&mut Scratch<'static>) -> Result<()>) -> Result<()> {
    let mut room = 1u64 << 12;
    loop {
        // What a try leaves behind is a third of what the next one takes, in sum.
        match open(&mut Scratch::new(Box::leak(memory(room)?.into_boxed_slice()))) {
            Err(e) if e.kind() == Kind::NoRoom && room < 1 << 30 => {
                room = room.saturating_mul(4).max(u64::from(e.need()).saturating_mul(2));
            }
            opened => return opened,
        }
    }
}

#[cfg(target_family = "wasm")]
mod blocks {
    use core::alloc::{GlobalAlloc, Layout};
    use core::arch::wasm32::{memory_grow, memory_size};
    use core::cell::Cell;
    use core::ptr::{null_mut, without_provenance_mut};

    /// Every block begins at a multiple of it, and is a multiple of it long.
    const GRAIN: usize = 16;
    const PAGE: usize = 1 << 16;

    /// What lies at the front of a free block.
    struct Free {
        len: usize,
        next: *mut Free,
    }

    struct Heap {
        /// The free block of the lowest address.
        first: Cell<*mut Free>,
        /// Where the memory ends that was given out as blocks; 0 before the first.
        end: Cell<usize>,
    }

    // SAFETY: a module of WebAssembly without shared memory has one thread.
    unsafe impl Sync for Heap {}

    #[global_allocator]
    static HEAP: Heap = Heap { first: Cell::new(null_mut()), end: Cell::new(0) };

    const fn grains(len: usize) -> usize {
        len.saturating_add(GRAIN - 1) & !(GRAIN - 1)
    }

    impl Heap {
        /// Takes the first block that has `len` bytes; null if there is none.
        fn take(&self, len: usize) -> *mut u8 {
            let (mut before, mut at) = (null_mut::<Free>(), self.first.get());
            while !at.is_null() {
                // SAFETY: a block of the list is free, and its front is a `Free`; so is what is left behind `len`,
                // which is a multiple of the grain as the block's length is.
                unsafe {
                    let Free { len: has, next } = *at;
                    if has >= len {
                        let rest = if has > len {
                            let rest = at.byte_add(len);
                            *rest = Free { len: has.wrapping_sub(len), next };
                            rest
                        } else {
                            next
                        };
                        if before.is_null() {
                            self.first.set(rest)
                        } else {
                            (*before).next = rest
                        }
                        return at.cast();
                    }
                    (before, at) = (at, next);
                }
            }
            null_mut()
        }

        /// Puts a block into the list.
        ///
        /// # Safety
        /// It is nobody's, and at least a grain long.
        unsafe fn put(&self, block: *mut Free, len: usize) {
            let (mut before, mut next) = (null_mut::<Free>(), self.first.get());
            // SAFETY: all of the list are free blocks, and those that touch `block` become one with it.
            unsafe {
                while !next.is_null() && next < block {
                    (before, next) = (next, (*next).next);
                }
                *block = Free { len, next };
                if !next.is_null() && block.byte_add(len) == next {
                    *block = Free { len: len.wrapping_add((*next).len), next: (*next).next };
                }
                if before.is_null() {
                    self.first.set(block);
                } else if before.byte_add((*before).len) == block {
                    *before = Free { len: (*before).len.wrapping_add((*block).len), next: (*block).next };
                } else {
                    (*before).next = block;
                }
            }
        }

        /// Takes pages from the runtime.
        fn grow(&self, len: usize) -> bool {
            unsafe extern "C" {
                static __heap_base: u8;
            }
            let size = memory_size::<0>().wrapping_mul(PAGE);
            let from = match self.end.get() {
                0 => grains((&raw const __heap_base).addr()),
                end => end,
            };
            let missing = from.saturating_add(len).saturating_sub(size);
            if missing > 0 && memory_grow::<0>(missing.div_ceil(PAGE)) == usize::MAX {
                return false;
            }
            // The last page of 4 GB ends at 0; one grain of it stays unused.
            let end = memory_size::<0>().wrapping_mul(PAGE).wrapping_sub(GRAIN);
            self.end.set(end);
            // SAFETY: what lies between was the runtime's and is nobody's.
            unsafe { self.put(without_provenance_mut(from), end.wrapping_sub(from)) };
            true
        }
    }

    // SAFETY: blocks do not overlap, and every one begins at a multiple of the grain.
    unsafe impl GlobalAlloc for Heap {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if layout.align() > GRAIN {
                return null_mut();
            }
            let len = grains(layout.size());
            let block = self.take(len);
            if !block.is_null() || !self.grow(len.saturating_add(GRAIN)) {
                return block;
            }
            self.take(len)
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: the caller's: the block is one that `alloc` gave for this layout.
            unsafe { self.put(block.cast(), grains(layout.size())) }
        }
    }
}
