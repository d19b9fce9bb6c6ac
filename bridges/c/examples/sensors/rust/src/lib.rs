//! The logger of four sensors in Rust, called by C, or the records of a logger in C.

#![no_std]

#[cfg(feature = "rows")]
pub mod rows;
#[cfg(not(feature = "rows"))]
pub mod whole;
