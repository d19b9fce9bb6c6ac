//! Columnar file formats over borrowed byte slices, without a heap.
//!
//! Decodes byte slices to columns and encodes columns to byte slices. The crate does no I/O, allocates no memory
//! without the feature `alloc`, and treats every input as untrusted. It reads and writes [Filo](filo),
//! [DataSeries](dataseries), [Jay](jay), [bcolz] and [Vortex](vortex).
//!
//! # A round trip
//!
//! ```
//! # #[cfg(feature = "filo")] {
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Values};
//! use pilaster::filo::{Element, Value, Vector, write};
//!
//! // Write: four ints, in the smallest lossless encoding.
//! let rows = write::Rows::all(write::Plain::Int(&[1, 2, -5, 101]));
//! let mut memory = [0; 64];
//! let len = write::encode_auto(&rows, &mut memory, &mut Scratch::new(&mut []))?;
//! let chunk = &memory[..len];
//! assert_eq!(chunk, [6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101], "one signed byte each");
//!
//! // Read: the bytes do not contain their element type, so it is an argument.
//! let vector = Vector::open(chunk, Element::Int)?;
//! assert_eq!(vector.get(2)?, Some(Value::Int(-5)));
//!
//! // In bulk: rows as a native slice, in caller-provided memory.
//! let mut memory = [0; 64];
//! let batch = vector.column(0)?.read(0..4, &mut Scratch::new(&mut memory))?;
//! assert!(matches!(batch.values, Values::I32([1, 2, -5, 101])));
//!
//! // An error names the field and its offset.
//! let e = Vector::open(chunk, Element::Float).unwrap_err();
//! assert_eq!(e.to_string(), "filo header word at offset 0: 0x00000806 does not fit the requested type");
//! # }
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! # Guarantees
//!
//! For arbitrary bytes, every function that reads returns `Ok` or a typed [`Error`]:
//!
//! * No panic. Bytes of a file are never indexed, and arithmetic on its numbers is checked.
//! * No `unsafe` in this crate except in two files. planus generates `src/generated/owned/jay.rs`: with `jay` and
//!   `alloc` it writes the metadata of Jay files, and contains no reader. `src/simd/avx2.rs` enters functions for AVX2 and BMI2 of
//!   x86-64 processors that have both, with `std`, and makes a `str` of bytes that it has checked to be UTF-8.
//! * Work and memory are bounded by the length of the input and by [`limits::Limits`], never by a number in the input
//!   alone. If a few bytes represent many rows, the work for a row is done only when that row is read.
//! * An [`Error`] is 16 bytes and `Copy`; it contains the kind of the error, the field, its offset, and the required
//!   size of a buffer or of the input.
//! * The caller provides all memory. With `default-features = false` the crate links into an image that
//!   has no allocator.
//!
//! # Modules
//!
//! | module | for |
//! |---|---|
//! | [`filo`], [`dataseries`], [`jay`], [`bcolz`], [`vortex`] | one format each: its types, and the supported features |
//! | [`any`] | a file of any format: its tables, and columns by name |
//! | [`column`](mod@column) | code for all formats: [`Table`](column::Table), [`Part`](column::Part), [`Column`](column::Column), [`Batch`](column::Batch), [`convert`](column::convert) |
//! | [`bytes`], [`limits`], [`error`] | sinks, scratch buffers, byte order, limits, the error type |
//! | [`codec`] | the byte codecs, and the memory of their encoders |
//!
//! # Features
//!
//! | feature | default | enables |
//! |---|---|---|
//! | `filo` | yes | Filo vectors, both directions |
//! | `dataseries` | yes | DataSeries files |
//! | `jay` | yes | Jay files; written with `alloc` |
//! | `bcolz` | yes | Blosc 1 chunks; with `std`, bcolz datasets |
//! | `vortex` | yes | Vortex files, read, and logged without a heap; written with `alloc` |
//! | `lzo` `deflate` `bzip2` | yes | these [codecs](codec); each decodes without a heap and encodes with `alloc` |
//! | `zstd` | yes | Zstandard, decoded without a heap |
//! | `zstd-encode` | yes | Zstandard, encoded without a heap; implies `zstd` |
//! | `pco` | yes | pco arrays of Vortex files, without a heap |
//! | `vortex-preview` | yes | the arrays of Vortex files that are in no edition yet; implies `vortex` |
//! | `vortex-variant` | yes | variants in Vortex files: values of any type; implies `vortex` |
//! | `pco-encode` | yes | pco arrays of Vortex files, encoded by the crate `pco`; implies `pco` and `std` |
//! | `alloc` | yes | `Vec<u8>` as a sink, the writers of Jay and Vortex, the Filo builder; needs a heap |
//! | `std` | yes | `std::io::Write` as a sink; implies `alloc` |
//! | `heapless-09` | | `heapless::Vec` as a sink |
//! | `embedded-io-07` | | `embedded_io::Write` as a sink |
//! | `embedded-io-async-07` | | an asynchronous DataSeries writer, which awaits only `embedded_io_async::Write` |
//! | `embedded-storage-03` | | NOR flash as a sink, and a log in it that survives power cuts |
//! | `defmt` | | `defmt::Format` on errors, options and plain values; use `defmt::Debug2Format` for readers and writers |
//! | `arbitrary` | | `arbitrary::Arbitrary` on options and choices of the formats, for fuzzing; implies `std` |
//! | `unstable` | | internals as module `unstable`, for the tool, benches and fuzz targets; exempt from semantic versioning |
//!
//! Features are additive.
//!
//! # Small or fast
//!
//! Loops are optimised for speed. `RUSTFLAGS="--cfg pilaster_small"`, which can also be set in `.cargo/config.toml`,
//! selects smaller and slower loops for firmware; the results are the same. It is a `cfg` instead of a feature, because
//! no dependency should decide it for an image, and because `--all-features` must not slow down a host. Independent of
//! it, targets without 32-bit atomics (Cortex-M0) get code without unaligned loads.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::cast_possible_truncation,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented
    )
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod any;
pub mod bytes;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "each format uses some of it"))]
pub mod codec;
pub mod column;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, unused_imports, reason = "each format uses some of it"))]
mod encoding;
pub mod error;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, unused_imports, reason = "each format uses some of it"))]
mod generated;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, unused_imports, reason = "each format uses some of it"))]
mod hash;
pub mod limits;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, unused_imports, reason = "each format uses some of it"))]
mod meta;
mod names;
#[cfg_attr(not(feature = "unstable"), allow(dead_code, reason = "each format uses some of it"))]
mod simd;
#[cfg(feature = "unstable")]
pub mod unstable;

#[cfg(feature = "bcolz")]
pub mod bcolz;
#[cfg(feature = "dataseries")]
pub mod dataseries;
#[cfg(feature = "filo")]
pub mod filo;
#[cfg(feature = "jay")]
pub mod jay;
#[cfg(feature = "vortex")]
pub mod vortex;

pub use error::{Error, Result};

/// Asserts at compile time that errors and options of every format implement `defmt::Format`.
#[cfg(feature = "defmt")]
const _: () = {
    const fn logs<T: defmt::Format>() {}
    logs::<(Error, error::Kind, error::What, bytes::WriteError<Error>)>();
    logs::<(limits::Limits, limits::Depth, limits::Fuel)>();
    #[cfg(feature = "std")]
    logs::<(error::Failure, error::Cause)>();
    #[cfg(any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex"))]
    logs::<(any::FileError, any::Hints<'_>, any::Format)>();
    #[cfg(feature = "filo")]
    logs::<filo::Element>();
    #[cfg(feature = "dataseries")]
    logs::<(dataseries::ReadOptions, dataseries::Options, dataseries::Mode)>();
    #[cfg(feature = "jay")]
    logs::<jay::ReadOptions>();
    #[cfg(all(feature = "jay", feature = "alloc"))]
    logs::<jay::write::WriteOptions>();
    #[cfg(feature = "bcolz")]
    logs::<bcolz::chunk::Params>();
    #[cfg(all(feature = "bcolz", feature = "std"))]
    logs::<bcolz::write::WriteOptions>();
};

/// Compiles and runs the examples of the README.
#[cfg(all(doctest, feature = "std", feature = "dataseries"))]
#[doc = include_str!("../README.md")]
struct Readme;
