//! The heap: a list of free blocks of linear memory, sorted by address. Allocation is first-fit; a freed block is
//! merged with its neighbours. A file takes few blocks, so the list stays short. The code has a tenth of the size of a
//! general allocator.

#![cfg_attr(target_family = "wasm", allow(unsafe_code, reason = "an allocator, for one thread"))]

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bytes::Scratch;
use pilaster::error::{Error, Kind, What};

/// Returns `len` bytes of memory, or an error if there is no memory: the module never traps.
pub fn memory(len: u64) -> Result<Vec<u8>> {
    filled(usize::try_from(len).map_err(|_| no_room(len))?, 0)
}

/// Returns `len` copies of `item`.
pub fn filled<T: Clone>(len: usize, item: T) -> Result<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| no_room(len.saturating_mul(size_of::<T>()) as u64))?;
    all.resize(len, item);
    Ok(all)
}

/// Appends an item.
pub fn push<T>(all: &mut Vec<T>, item: T) -> Result<()> {
    reserve(all, 1)?;
    all.push(item);
    Ok(())
}

/// Reserves capacity for `more` items.
pub fn reserve<T>(all: &mut Vec<T>, more: usize) -> Result<()> {
    all.try_reserve(more).map_err(|_| no_room(more.saturating_mul(size_of::<T>()) as u64))
}

/// Returns a copy of `bytes`.
pub fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| no_room(bytes.len() as u64))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Returns a copy that is never freed.
pub fn kept(bytes: &[u8]) -> Result<&'static mut [u8]> {
    // The capacity is exact, so this does not reallocate.
    copy(bytes).map(|copy| Box::leak(copy.into_boxed_slice()))
}

/// Concatenates texts.
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

/// Opens something in memory that is never freed. Retries with more memory, because the required size is not known
/// before.
pub fn lasting<T>(mut open: impl FnMut(&mut Scratch<'static>) -> Result<T>) -> Result<T> {
    let mut opened = None;
    try_in_more(&mut |scratch| open(scratch).map(|it| opened = Some(it)))?;
    opened.ok_or_else(|| no_room(0))
}

/// The part of [`lasting`] that does not depend on the type.
fn try_in_more(open: &mut dyn FnMut(&mut Scratch<'static>) -> Result<()>) -> Result<()> {
    let mut room = 1u64 << 12;
    loop {
        // Failed tries leak at most a third of the memory of the last one, in sum.
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

    /// Address and length of every block are multiples of this.
    const GRAIN: usize = 16;
    const PAGE: usize = 1 << 16;

    /// The first bytes of a free block.
    struct Free {
        len: usize,
        next: *mut Free,
    }

    struct Heap {
        /// The free block with the lowest address.
        first: Cell<*mut Free>,
        /// The end of the memory that belongs to the heap; 0 before the first allocation.
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
        /// Takes `len` bytes from the first block that is large enough. Returns null if no block is.
        fn take(&self, len: usize) -> *mut u8 {
            let (mut before, mut at) = (null_mut::<Free>(), self.first.get());
            while !at.is_null() {
                // SAFETY: every block of the list is free and begins with a `Free`. The rest after `len` bytes is a
                // block, too, because both lengths are multiples of the grain.
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

        /// Adds a block to the list.
        ///
        /// # Safety
        /// The block is not in use, and has at least the length of a grain.
        unsafe fn put(&self, block: *mut Free, len: usize) {
            let (mut before, mut next) = (null_mut::<Free>(), self.first.get());
            // SAFETY: all blocks of the list are free. Those adjacent to `block` are merged with it.
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

        /// Requests pages from the runtime.
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
            // The end of the last page of 4 GB is 0 as a 32-bit address, so one grain at the end stays unused.
            let end = memory_size::<0>().wrapping_mul(PAGE).wrapping_sub(GRAIN);
            self.end.set(end);
            // SAFETY: the memory between is new and not in use.
            unsafe { self.put(without_provenance_mut(from), end.wrapping_sub(from)) };
            true
        }
    }

    // SAFETY: blocks do not overlap, and their addresses are multiples of the grain.
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
            // SAFETY: the caller guarantees that `alloc` returned this block for this layout.
            unsafe { self.put(block.cast(), grains(layout.size())) }
        }
    }
}
