//! Columnar file formats over borrowed byte slices, without a heap.
//!
//! A chunk of bytes goes in, columns come out, and the other way round. The crate does no I/O, takes
//! all memory from its caller, and believes nothing that the bytes say. It reads and writes
//! [Filo](filo), [DataSeries](dataseries), [Jay](jay) and [bcolz], and reads [Vortex](vortex).
//!
//! # A round trip
//!
//! ```
//! # #[cfg(feature = "filo")] {
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Values};
//! use pilaster::filo::{Element, Value, Vector, write};
//!
//! // Out: four ints, in the smallest encoding that loses nothing, into memory that we lend.
//! let rows = write::Rows::all(write::Plain::Int(&[1, 2, -5, 101]));
//! let mut memory = [0; 64];
//! let len = write::encode_auto(&rows, &mut memory, &mut Scratch::new(&mut []))?;
//! let chunk = &memory[..len];
//! assert_eq!(chunk, [6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101], "one signed byte each");
//!
//! // In: the bytes do not hold their element type, so the reader is told.
//! let vector = Vector::open(chunk, Element::Int)?;
//! assert_eq!(vector.get(2)?, Some(Value::Int(-5)));
//!
//! // In bulk: rows as a native slice, in memory that we lend.
//! let mut memory = [0; 64];
//! let batch = vector.column(0)?.read(0..4, &mut Scratch::new(&mut memory))?;
//! assert!(matches!(batch.values, Values::I32([1, 2, -5, 101])));
//!
//! // Wrong: an error that says what and where.
//! let e = Vector::open(chunk, Element::Float).unwrap_err();
//! assert_eq!(e.to_string(), "filo header word at offset 0: 0x00000806 cannot be read as the type asked for");
//! # }
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! # What is promised
//!
//! Any bytes whatever, handed to any function that reads, give `Ok` or a typed [`Error`]:
//!
//! * No panic. Bytes of a file are never indexed, and arithmetic on its numbers is checked.
//! * No `unsafe` in this crate but in one file that planus generates, `src/generated/owned/jay.rs`: with `jay` and
//!   `alloc` it writes the metadata of Jay files. It contains no reader.
//! * Work and memory are bounded by the length of the input and by [`limits::Limits`], never by a
//!   number that the input claims. Where a few bytes stand for many rows, nothing is done per row
//!   before somebody asks for that row.
//! * An [`Error`] is 16 bytes and `Copy`; it names the field, the offset, what is wrong, and how much
//!   room or input is needed.
//! * Memory is lent by the caller. With `default-features = false` the crate links into an image that
//!   has no allocator.
//!
//! # Where to enter
//!
//! | module | for |
//! |---|---|
//! | [`filo`], [`dataseries`], [`jay`], [`bcolz`], [`vortex`] | one format each: its own types, and what it supports |
//! | [`any`] | a file of whichever format: its tables, and columns by their name |
//! | [`column`](mod@column) | code that serves every format: [`Table`](column::Table), [`Part`](column::Part), [`Column`](column::Column), [`Batch`](column::Batch), [`convert`](column::convert) |
//! | [`bytes`], [`limits`], [`error`] | the ground: cursors, sinks, lent memory, budgets, the error |
//! | [`codec`] | which byte codecs there are, and the memory that their encoders are lent |
//!
//! # Features
//!
//! | feature | default | brings |
//! |---|---|---|
//! | `filo` | yes | Filo vectors, both directions |
//! | `dataseries` | yes | DataSeries files |
//! | `jay` | yes | Jay files; written with `alloc` |
//! | `bcolz` | yes | Blosc 1 chunks; with `std`, bcolz datasets |
//! | `vortex` | yes | Vortex files, read |
//! | `lzo` `deflate` `bzip2` | yes | these [codecs](codec); each decodes without a heap and encodes with `alloc` |
//! | `zstd` | yes | Zstandard, decoded without a heap |
//! | `zstd-encode` | yes | Zstandard, encoded by ruzstd; implies `zstd` and `alloc` |
//! | `pco` | yes | pco arrays of Vortex files, without a heap |
//! | `alloc` | yes | `Vec<u8>` as a sink, the Jay writer, the Filo builder; needs a heap |
//! | `std` | yes | `std::io::Write` as a sink; implies `alloc` |
//! | `heapless-09` | | `heapless::Vec` as a sink |
//! | `embedded-io-07` | | `embedded_io::Write` as a sink |
//! | `embedded-io-async-07` | | a DataSeries writer that awaits, at `embedded_io_async::Write` alone |
//! | `embedded-storage-03` | | NOR flash as a sink, and a log in it that survives power cuts |
//! | `defmt` | | `defmt::Format` on errors, options and plain values; a handle prints through `defmt::Debug2Format` |
//! | `unstable` | | the insides as module `unstable`, for benches and fuzz targets; exempt from semantic versioning |
//!
//! Features only add.
//!
//! # Small or fast
//!
//! Kernels are built for speed. `RUSTFLAGS="--cfg pilaster_small"`, or the same in `.cargo/config.toml`, builds smaller
//! code with slower loops for firmware; the results are the same. It is a `cfg` and no feature, because the builder of
//! the image decides and no dependency, and because `--all-features` must not slow a host down. Independent of it,
//! targets without atomic exchange of 32 bits (Cortex-M0) get code without unaligned loads.

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

/// Errors and options of every format can be logged by firmware: else this does not compile.
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

/// The examples of the README, which are compiled with the documentation.
#[cfg(all(doctest, feature = "std", feature = "dataseries"))]
#[doc = include_str!("../README.md")]
struct Readme;
