//! Byte order, sinks, scratch memory and bits, shared by all formats.
//!
//! | item | purpose |
//! |---|---|
//! | [`Endian`] | byte order as a type, chosen when a file is opened |
//! | [`Sink`], [`Buffered`] | where a writer puts its bytes, front to back, never seeking; in blocks |
//! | [`Scratch`] | caller-provided memory, cut into aligned slices, released at the end of a scope |
//! | [`FileRange`] | a range of a file that may be larger than memory |
//! | [`Input`], [`Piece`] | the bytes of a file: all, some, or fetched when needed |
//! | [`half_to_f32`] | the value of a half-precision float |
//! | [`Bits`] | bits of a byte slice |
//!
//! ```
//! use pilaster::bytes::Scratch;
//!
//! let data = [7, 9];
//! let mut memory = [0u8; 64];
//! let mut scratch = Scratch::new(&mut memory);
//! let squares = scratch.take::<u64>(2)?;
//! for (s, d) in squares.iter_mut().zip(data) {
//!     *s = d * d;
//! }
//! assert_eq!(squares, [49, 81]);
//! # Ok::<(), pilaster::Error>(())
//! ```

#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "each format uses some of it"))]
pub(crate) mod bits;
mod buffered;
mod endian;
mod file_range;
#[cfg(feature = "embedded-storage-03")]
mod flash;
#[cfg(any(feature = "dataseries", feature = "jay", feature = "vortex-variant"))]
mod heap_sort;
mod input;
pub(crate) mod integer;
#[cfg(feature = "std")]
mod ranges;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "each format uses some of it"))]
pub(crate) mod reader;
mod scratch;
#[cfg(feature = "filo")]
pub(crate) mod short_strings;
mod sink;
pub(crate) mod word_list;

#[cfg(feature = "zstd")]
pub(crate) use bits::BitReader;
pub use bits::Bits;
pub use buffered::Buffered;
pub use endian::{BigEndian, Endian, LittleEndian, NativeEndian};
pub use file_range::FileRange;
#[cfg(feature = "embedded-storage-03")]
pub use flash::FlashSink;
#[cfg(any(feature = "dataseries", feature = "jay", feature = "vortex-variant"))]
pub(crate) use heap_sort::sort_by;
#[cfg(feature = "alloc")]
pub use input::Fetch;
#[allow(unused_imports, reason = "formats use it")]
pub(crate) use input::Window;
pub use input::{Input, Piece};
pub use integer::half_to_f32;
#[allow(unused_imports, reason = "each of them some format uses")]
pub(crate) use integer::{checked_product, decimal, len32, little, low8, low16, low32, product, saturated};
#[cfg(feature = "std")]
pub use ranges::{Block, Ranges};
#[allow(unused_imports, reason = "each format uses it")]
pub(crate) use reader::Reader;
pub use scratch::Scratch;
#[cfg(feature = "embedded-io-07")]
pub use sink::EmbeddedIoSink;
#[cfg(feature = "std")]
pub use sink::IoSink;
pub use sink::{Sink, SliceSink, WriteError};

/// True unless the build has `--cfg pilaster_small`: selects unrolled loops and decoding tables, which are faster and
/// take more flash. Both variants give the same results.
pub(crate) const FAST: bool = !cfg!(pilaster_small);

/// True on targets that load an unaligned word byte by byte, such as Cortex-M0. The compiler does not tell, so they are
/// detected by the lack of 32-bit atomics.
pub(crate) const STRICT: bool = cfg!(not(target_has_atomic = "32"));

#[cfg(test)]
mod tests {
    use super::FAST;

    #[test]
    fn small_code_is_tested_where_it_is_asked_for() {
        assert!(!FAST || std::env::var_os("PILASTER_SMALL").is_none());
    }
}
