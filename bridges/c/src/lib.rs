//! pilaster for C and C++: `include/pilaster.h` declares and documents every function.
//!
//! `raw.rs` has all `unsafe` code: it turns pointers, lengths and functions of C into slices, references and sinks, for safe functions in
//! the other modules. Nothing is allocated.

#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "blosc")]
pub mod blosc;
mod compress;
pub mod dataseries;
pub mod error;
#[cfg(feature = "filo")]
pub mod filo;
#[cfg(feature = "host")]
pub mod host;
pub mod place;
pub mod raw;
#[cfg(feature = "ring")]
pub mod ring;
#[cfg(feature = "verify")]
pub mod verify;
#[cfg(feature = "vortex")]
pub mod vortex;

use dataseries::{Config, Counts, Entry, Extent, ExtentCounts, ExtentMemory, File, Found};
use pilaster::dataseries::write::ForeignField;
use raw::State;

/// Sizes of opaque types in words of eight bytes, as the header has them.
const WIDE: bool = size_of::<usize>() == 8;
const WRITER_WORDS: usize = if WIDE { 20 } else { 14 };
const EXTENT_WORDS: usize = if WIDE { 26 } else { 14 };
const ENTRY_WORDS: usize = if WIDE { 4 } else { 2 };

#[cfg(feature = "ring")]
const RING_WORDS: usize = if WIDE { 40 } else { 28 };
#[cfg(feature = "ring")]
const CURSOR_WORDS: usize = 3;
#[cfg(feature = "vortex")]
const VORTEX_WORDS: usize = if WIDE { 36 } else { 26 };
#[cfg(feature = "vortex")]
const VORTEX_ENTRY_WORDS: usize = if WIDE { 6 } else { 3 };
#[cfg(feature = "vortex")]
const PLACE_WORDS: usize = 3;
#[cfg(feature = "filo")]
const FILO_WORDS: usize = if WIDE { 14 } else { 10 };

const fn fits<T>(words: usize) -> bool {
    size_of::<T>() <= words.saturating_mul(8) && align_of::<T>() <= align_of::<u64>()
}

const _: () = assert!(fits::<State<File>>(WRITER_WORDS), "PILASTER_DS_WRITER_WORDS");
const _: () = assert!(fits::<State<Extent>>(EXTENT_WORDS), "PILASTER_DS_EXTENT_WORDS");
const _: () = assert!(size_of::<ForeignField>() == 24 && size_of::<error::Report>() == 24, "pilaster_sizes_");
const _: () = assert!(size_of::<Entry>() == ENTRY_WORDS * 8, "PILASTER_DS_ENTRY_WORDS");

#[cfg(feature = "ring")]
const _: () = {
    assert!(fits::<State<ring::RingLog>>(RING_WORDS), "PILASTER_RING_WORDS");
    assert!(fits::<State<pilaster::dataseries::flash::Cursor>>(CURSOR_WORDS), "pilaster_ring_cursor");
};

#[cfg(feature = "vortex")]
const _: () = {
    assert!(fits::<State<vortex::VortexLog>>(VORTEX_WORDS), "PILASTER_VORTEX_WORDS");
    assert!(fits::<vortex::Entry>(VORTEX_ENTRY_WORDS), "PILASTER_VORTEX_ENTRY_WORDS");
    assert!(fits::<vortex::Place>(PLACE_WORDS), "pilaster_vortex_place");
};

/// The sizes in bytes that `pilaster_size_of` tells, each at the place that the header says; 0 for a part that is left out.
const SIZES: &[usize] = &[
    size_of::<error::Report>(),
    size_of::<raw::Region>(),
    size_of::<raw::Text>(),
    WRITER_WORDS * 8,
    EXTENT_WORDS * 8,
    ENTRY_WORDS * 8,
    size_of::<ForeignField>(),
    size_of::<dataseries::CType>(),
    size_of::<Config>(),
    size_of::<ExtentMemory>(),
    size_of::<Found>(),
    size_of::<Counts>() + size_of::<ExtentCounts>(),
    RING[0],
    RING[1],
    RING[2],
    VORTEX[0],
    VORTEX[1],
    VORTEX[2],
    VORTEX[3],
    VORTEX[4],
    VORTEX[5],
    FILO,
];

#[cfg(feature = "ring")]
const RING: [usize; 3] = [size_of::<ring::Config>(), RING_WORDS * 8, CURSOR_WORDS * 8];
#[cfg(not(feature = "ring"))]
const RING: [usize; 3] = [0; 3];
#[cfg(feature = "vortex")]
const VORTEX: [usize; 6] = [
    size_of::<vortex::Config>(),
    size_of::<vortex::CField>(),
    size_of::<vortex::CCell>(),
    VORTEX_WORDS * 8,
    VORTEX_ENTRY_WORDS * 8,
    PLACE_WORDS * 8,
];
#[cfg(not(feature = "vortex"))]
const VORTEX: [usize; 6] = [0; 6];
#[cfg(feature = "filo")]
const FILO: usize = FILO_WORDS * 8;
#[cfg(not(feature = "filo"))]
const FILO: usize = 0;

/// Never reached: `.ci/c` links the library with a handler that calls an undefined function.
#[cfg(not(any(feature = "std", test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    raw::stop()
}
