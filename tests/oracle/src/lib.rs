//! The types that planus generates from `codegen/schemas`, with readers and writers.
//!
//! Tests compare the heapless views of pilaster with them, and build metadata that no writer of pilaster makes.
//! `cargo run -p codegen` writes the modules.

#![allow(
    clippy::len_without_is_empty,
    reason = "an accessor `len` of a generated type reads the schema's field of that name"
)]

pub mod filo;
pub mod jay;
pub mod vortex;

/// The run time of these types.
pub use planus;
