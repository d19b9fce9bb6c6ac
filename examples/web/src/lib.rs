//! The WebAssembly module of the npm package: files in, typed arrays out, by plain `extern "C"` functions.
//!
//! It has no imports, so that any WebAssembly runtime can load it. The caller does all input and output: a call that
//! lacks bytes returns a list of requests, and the caller repeats it with these bytes. One instance opens one file;
//! dropping the instance frees everything.
//!
//! | export | effect |
//! |---|---|
//! | `input(len)` | returns the address of `len` bytes for input (names, columns, bytes of the file), or 0 if there is
//! no memory |
//! | `file(len, flags, element)` | sets the file to open; its name is in `input` |
//! | `open()` | opens the file; the reply describes tables and columns |
//! | `give(number, at)` | stores `input` as the requested bytes `number`, starting at offset `at`; returns 0 if there
//! is no memory |
//! | `absent(number)` | the requested file `number` does not exist in the directory; returns 0 if there is no memory |
//! | `read(table, from, to)` | reads rows of the columns whose numbers are in `input`; the reply is the number of rows
//! |
//! | `verify()` | verifies the file; with the feature `verify` |
//! | `info()` | describes how the file is stored; with the feature `info` |
//! | `reply()`, `reply_len()` | address and length of the reply, which is JSON |
//! | `tape()`, `tape_len()` | address and length of the addresses of the values after `read`; see `tape.rs` |
//!
//! `open`, `read`, `verify` and `info` return a status: 0 done, 1 bytes are requested (the reply is a list of `path`,
//! `at`, `len`), 2 failed (`kind`, `field`, `offset`, `need`), 3 more steps are required (`done`, `of`).
//!
//! The feature `verifier` builds a module that opens and verifies Vortex files only: its `open` replies `true`, and it has
//! no `read`, `info` and `tape`.
//!
//! The feature `write` builds another module, so that readers need not load the code for writing:
//!
//! | export | effect |
//! |---|---|
//! | `column(kind, rows)`, `part(which)` | adds a column and its parts from `input`: 0 values, 1 validity, 2 spans of
//! strings, or UTC offsets of date-times |
//! | `filo(element)` | writes the column as a Filo vector |
//! | `dataseries(compressed)` | writes all columns as a DataSeries file; `input` describes their type in XML |
//! | `recover()` | writes the intact extents of the DataSeries file in `input` as a new file |
//! | `made()`, `made_len()` | address and length of the file |
//! | `about()`, `about_len()` | address and length of JSON about the file, or of the error |

// On a host, the crate is linted only.
#![cfg_attr(target_family = "wasm", no_std)]
// Not every format uses all of the shared code.
#![cfg_attr(
    not(all(
        feature = "dataseries",
        feature = "jay",
        feature = "bcolz",
        feature = "vortex",
        feature = "info",
        feature = "verify"
    )),
    allow(dead_code, unused_imports, unused_variables, clippy::forget_non_drop, clippy::large_enum_variant)
)]

extern crate alloc;

#[cfg(feature = "bcolz")]
mod bcolz;
mod boundary;
#[cfg(feature = "dataseries")]
mod dataseries;
mod describe;
mod heap;
mod json;
#[cfg(feature = "read")]
mod pieces;
#[cfg(feature = "write")]
mod recover;
#[cfg(feature = "read")]
mod session;
#[cfg(any(feature = "filo", feature = "jay", feature = "vortex", feature = "verifier"))]
mod single;
#[cfg(feature = "rows")]
mod tape;
#[cfg(feature = "write")]
mod write;
