//! The state of one call that is passed through the tree: its budget, the arena for texts, the scratch memory.

use super::file::File;
#[cfg(feature = "vortex-variant")]
use super::kept::Kept;
use super::node::Node;
use super::tree::BYTES_PER_NODE;
use crate::bytes::{FAST, Scratch};
#[cfg(feature = "std")]
use crate::column::Place;
use crate::encoding::cells::Cells;
use crate::error::Result;
use crate::limits::{Fuel, Limits};

/// The budget of one call, and the number of bytes of its arena that are used.
pub(super) struct Call {
    fuel: Fuel,
    used: usize,
    one_by_one: bool,
    /// The chunk that was found last, of the column that is read.
    #[cfg(feature = "std")]
    place: Place,
}

impl Call {
    /// The budget of a call for `rows` rows of a file: in proportion to the rows and to the bytes that are present.
    pub(super) fn new(file: &File<'_>, rows: u64) -> Self {
        let limits = file.limits();
        let more = rows.saturating_mul(16).saturating_add(file.input().len() / BYTES_PER_NODE);
        let max_nodes = limits.max_nodes.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        Call::of(Fuel::new(&Limits { max_nodes, ..*limits }))
    }

    /// The budget for measuring `rows` rows: as much for the memory of their parts as for the rows, as reading them has.
    pub(super) fn measuring(file: &File<'_>, rows: u64) -> Self {
        let max_nodes = Call::new(file, rows).left().saturating_mul(2);
        Call::of(Fuel::new(&Limits { max_nodes, ..*file.limits() }))
    }

    fn of(fuel: Fuel) -> Self {
        Call {
            fuel,
            used: 0,
            one_by_one: false,
            #[cfg(feature = "std")]
            place: Place::default(),
        }
    }

    /// Sets where the search of chunks begins.
    #[cfg(feature = "std")]
    pub(super) const fn at_place(self, place: Place) -> Self {
        Call { place, ..self }
    }

    /// Returns the chunk that was found last.
    #[cfg(feature = "std")]
    pub(super) const fn place(&self) -> Place {
        self.place
    }

    /// Returns the number of nodes that are left.
    pub(super) const fn left(&self) -> u32 {
        self.fuel.left()
    }

    /// Calls `first` and `second` with the same budget. Both visit the same arrays, so that only the longer walk is charged.
    #[cfg(feature = "vortex-variant")]
    pub(super) fn both<A, B>(
        &mut self,
        first: impl FnOnce(&mut Call) -> Result<A>,
        second: impl FnOnce(&mut Call) -> Result<B>,
    ) -> Result<(A, B)> {
        let mut again = Call::of(self.fuel.again());
        let a = first(self)?;
        let b = second(&mut again);
        self.fuel.leave(again.left());
        Ok((a, b?))
    }
}

/// The argument of every function below a read, besides its node.
pub(super) struct Context<'c, 's> {
    call: &'c mut Call,
    /// The destination of copied texts, stored consecutively. `None`: spans are offsets in the blob that contains all
    /// texts.
    arena: Option<&'c mut [u8]>,
    pub(super) scratch: Scratch<'s>,
    /// The last frame or page of each array, while rows are read one by one.
    #[cfg(feature = "vortex-variant")]
    pub(super) kept: Kept<'c>,
}

/// Size in bytes of memory on the stack for finding chunks and offsets, if the caller provides none.
pub(super) const ASIDE: usize = 512;

impl<'c, 's> Context<'c, 's> {
    pub(super) fn new(call: &'c mut Call, scratch: Scratch<'s>) -> Self {
        Context {
            call,
            arena: None,
            scratch,
            #[cfg(feature = "vortex-variant")]
            kept: Kept::default(),
        }
    }

    /// Returns this context with other scratch memory.
    pub(super) fn aside<'a>(&'a mut self, memory: &'a mut [u8]) -> Context<'a, 'a> {
        Context {
            call: self.call,
            arena: self.arena.as_deref_mut(),
            scratch: Scratch::new(memory),
            #[cfg(feature = "vortex-variant")]
            kept: self.kept.again(),
        }
    }

    /// Returns this context with a scope of the scratch memory: what is allocated from the result is released with it.
    pub(super) fn scope(&mut self) -> Context<'_, '_> {
        Context {
            call: self.call,
            arena: self.arena.as_deref_mut(),
            scratch: self.scratch.scope(),
            #[cfg(feature = "vortex-variant")]
            kept: self.kept.again(),
        }
    }

    /// Calls `read` with what is kept, and with this context, whose reads keep nothing until then.
    #[cfg(all(feature = "vortex-variant", any(feature = "zstd", feature = "pco")))]
    pub(super) fn with_kept<R>(&mut self, read: impl FnOnce(&mut Kept<'c>, &mut Self) -> R) -> R {
        let mut kept = core::mem::take(&mut self.kept);
        let done = read(&mut kept, self);
        self.kept = kept;
        done
    }

    /// Makes later reads copy texts into `arena`.
    pub(super) fn copy_texts_to(&mut self, arena: &'c mut [u8]) {
        self.arena = Some(arena);
    }

    /// Returns this context with a scope of the scratch memory, for reading other things than texts.
    pub(super) fn without_texts(&mut self) -> Context<'_, '_> {
        Context { arena: None, ..self.scope() }
    }

    /// Returns whether texts are copied into an arena.
    pub(super) const fn copies_texts(&self) -> bool {
        self.arena.is_some()
    }

    /// Makes later reads spend the budget for what they parse, because rows are read one by one.
    pub(super) const fn read_one_by_one(&mut self) {
        self.call.one_by_one = FAST || cfg!(feature = "vortex-variant");
    }

    /// Calls `read`, whose reads spend the budget for what they parse: it visits the same nodes many times.
    pub(super) fn one_by_one<R>(&mut self, read: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.call.one_by_one;
        self.read_one_by_one();
        let done = read(self);
        if FAST {
            self.call.one_by_one = before;
        }
        done
    }

    /// Returns whether rows are read one by one, so that metadata are parsed for each row.
    pub(super) const fn is_one_by_one(&self) -> bool {
        self.call.one_by_one
    }

    /// Returns a chunk of a node that does not begin after row `at`, and its first row. Without `std`, code is to be small.
    pub(super) fn known_chunk(&self, node: &Node<'_>, at: u64) -> (usize, u64) {
        let _ = (node, at);
        #[cfg(feature = "std")]
        if self.call.place.of == node.identity() && self.call.place.chunk.1 <= at {
            return self.call.place.chunk;
        }
        (0, 0)
    }

    /// Remembers a chunk, and its first row.
    pub(super) fn found_chunk(&mut self, node: &Node<'_>, k: usize, first: u64) {
        let _ = (node, k, first);
        #[cfg(feature = "std")]
        {
            self.call.place = Place { of: node.identity(), chunk: (k, first) };
        }
    }

    /// Spends the budget for one node at offset `at`.
    pub(super) fn spend(&mut self, at: u64) -> Result<()> {
        self.call.fuel.spend(at)
    }

    /// Spends the budget for work that takes as long as `nodes` nodes.
    pub(super) fn spend_many(&mut self, nodes: u64, at: u64) -> Result<()> {
        self.call.fuel.spend_many(u32::try_from(nodes).unwrap_or(u32::MAX), at)
    }

    /// Takes `n` values from the scratch memory.
    pub(super) fn take<T: bytemuck::Pod>(&mut self, n: usize) -> Result<&'s mut [T]> {
        self.scratch.take(n)
    }

    /// Takes `len` cells of `width` bytes from the scratch memory.
    pub(super) fn take_cells(&mut self, width: usize, len: usize) -> Result<Cells<'s>> {
        let bytes = self.scratch.cut(len, width, width.min(align_of::<u128>()))?;
        // `width` is one of the supported widths, and the number of bytes is a multiple of it.
        Ok(Cells::of(bytes, width).unwrap_or(Cells::W1(&mut [])))
    }

    /// Returns the number of used bytes of the arena, or `None` if texts are not copied.
    pub(super) fn used(&self) -> Option<usize> {
        self.arena.is_some().then_some(self.call.used)
    }

    /// Reserves the next `len` bytes of the arena and returns their start, or `None` if they do not fit.
    pub(super) fn reserve(&mut self, len: usize) -> Option<usize> {
        let start = self.call.used;
        let end = start.checked_add(len).filter(|end| self.arena.as_ref().is_some_and(|arena| *end <= arena.len()))?;
        self.call.used = end;
        Some(start)
    }

    /// Releases the bytes of the arena from `end` on.
    #[cfg(feature = "vortex-variant")]
    pub(super) fn release_to(&mut self, end: usize) {
        self.call.used = self.call.used.min(end);
    }

    /// Returns `len` bytes of the arena starting at `start` (none if they exceed the arena), and the scratch memory.
    pub(super) fn arena(&mut self, start: usize, len: usize) -> (&mut [u8], &mut Scratch<'s>) {
        let arena = self.arena.as_deref_mut().unwrap_or_default();
        (arena.get_mut(start..start.saturating_add(len)).unwrap_or_default(), &mut self.scratch)
    }
}
