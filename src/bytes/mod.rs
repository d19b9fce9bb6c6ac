//! Bytes in and bytes out, below every format: byte order, cursor, sink, scratch memory, bits.
//!
//! | item | what it is for |
//! |---|---|
//! | [`Endian`] | byte order as a type, chosen at the door |
//! | [`Reader`] | the one way in which bytes of a file are taken: checked, and aware of its offset |
//! | [`Sink`] | where a writer puts its bytes, front to back, never seeking |
//! | [`Scratch`] | memory lent by the caller, cut into aligned slices, given back by scope |
//! | [`Span`] | a range of a file that may be larger than memory |
//! | [`product`] | what two numbers of a file make, if 64 bits hold it |
//! | [`Bits`], [`BitReader`] | bits of a byte slice, by index and in sequence |
//!
//! ```
//! use pilaster::bytes::{LittleEndian, Reader, Scratch};
//! use pilaster::error::What;
//!
//! let mut r = Reader::<LittleEndian>::new(&[2, 0, 0, 0, 7, 9]);
//! let n = r.u32(What::Input)?;
//! let data = r.take(n as usize, What::Input)?;
//! r.end(What::Input)?;
//!
//! let mut memory = [0u8; 64];
//! let mut scratch = Scratch::new(&mut memory);
//! let squares = scratch.take::<u64>(2)?;
//! for (s, d) in squares.iter_mut().zip(data) {
//!     *s = u64::from(*d) * u64::from(*d);
//! }
//! assert_eq!(squares, [49, 81]);
//! # Ok::<(), pilaster::Error>(())
//! ```

mod bits;
mod endian;
#[cfg(feature = "embedded-storage-03")]
mod flash;
mod number;
mod reader;
mod scratch;
#[cfg(feature = "filo")]
pub(crate) mod short;
mod sink;
#[cfg(any(feature = "dataseries", feature = "jay"))]
mod sort;
mod span;
pub(crate) mod words;

pub use bits::{BitReader, Bits};
pub use endian::{BigEndian, Endian, LittleEndian, NativeEndian};
#[cfg(feature = "embedded-storage-03")]
pub use flash::FlashSink;
pub use number::{checked_product, product};
pub(crate) use number::{decimal, little, saturated};
pub use reader::Reader;
pub use scratch::Scratch;
#[cfg(feature = "embedded-io-07")]
pub use sink::EmbeddedIoSink;
#[cfg(feature = "std")]
pub use sink::IoSink;
pub use sink::{Sink, SliceSink, WriteError};
#[cfg(any(feature = "dataseries", feature = "jay"))]
pub(crate) use sort::sort_by;
pub use span::Span;

/// Whether loops and tables that buy nothing but speed are worth their flash and their memory: on hosts, which have
/// 64 bits. What takes the other way gives the same results.
pub(crate) const FAST: bool = cfg!(target_pointer_width = "64");

/// Whether a word at any address takes a load for each of its bytes. So it is on the smallest machines, as a
/// Cortex-M0. They are known here by what else they lack, an exchange that nothing interrupts.
pub(crate) const STRICT: bool = cfg!(not(target_has_atomic = "32"));
