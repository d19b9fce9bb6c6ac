//! The module behind the npm package: files in, typed arrays out, through plain `extern "C"` functions.
//!
//! It has no imports, so that any runtime of WebAssembly loads it. All input and output is the caller's: a call that
//! lacks bytes says which ones it wants, is given them, and is made again. One instance opens one file; whoever drops
//! it has freed everything.
//!
//! | export | what it does |
//! |---|---|
//! | `input(len)` | lends `len` bytes to write into: names, columns, bytes of the file; 0 if there is no memory |
//! | `file(len, flags, element)` | says what the file is; `input` holds its name |
//! | `open()` | opens it; the reply describes tables and columns |
//! | `give(number, at)` | `input` is what was wanted under that number, from offset `at` on; 0 if there is no memory |
//! | `absent(number)` | there is no such file in the directory; 0 if there is no memory |
//! | `read(table, from, to)` | rows of the columns whose numbers are in `input`; the reply says how many |
//! | `verify()` | walks everything; with the feature `check` |
//! | `info()` | how the file is stored; with the feature `check` |
//! | `reply()`, `reply_len()` | the reply: JSON |
//! | `tape()`, `tape_len()` | after `read`: where the values lie, see `tape.rs` |
//!
//! `open`, `read`, `verify` and `info` give back a status: 0 done, 1 bytes are wanted (a list of `path`, `at`, `len`), 2
//! failed (`kind`, `field`, `offset`, `need`), 3 there is more to do (`done`, `of`).
//!
//! The feature `write` makes another module of it, which `build.sh` keeps apart so that nobody loads it who only reads:
//!
//! | export | what it does |
//! |---|---|
//! | `column(kind, rows)`, `part(which)` | takes a column: 0 its values, 1 its validity, 2 where its strings lie, or the offsets of its instants |
//! | `filo(element)` | makes a Filo vector of the column |
//! | `dataseries(compressed)` | makes a DataSeries file of all columns; `input` describes their type in XML |
//! | `recover()` | makes a DataSeries file of what is whole in the `input` |
//! | `made()`, `made_len()` | the file |
//! | `about()`, `about_len()` | what is to say about it, or what is wrong: JSON |

// On a host it is only linted.
#![cfg_attr(target_family = "wasm", no_std)]
// What formats share, not every one of them uses.
#![cfg_attr(
    not(all(feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex", feature = "check")),
    allow(dead_code, unused_imports, unused_variables, clippy::forget_non_drop, clippy::large_enum_variant)
)]

extern crate alloc;

#[cfg(feature = "bcolz")]
mod bcolz;
mod boundary;
#[cfg(feature = "read")]
mod column;
#[cfg(feature = "dataseries")]
mod dataseries;
mod describe;
#[cfg(feature = "filo")]
mod filo;
mod heap;
#[cfg(feature = "jay")]
mod jay;
mod json;
#[cfg(feature = "read")]
mod pieces;
#[cfg(feature = "write")]
mod recover;
#[cfg(feature = "read")]
mod session;
#[cfg(feature = "read")]
mod tape;
#[cfg(feature = "vortex")]
mod vortex;
#[cfg(feature = "write")]
mod write;
