//! What a device logs, and how: the same for every chip. It knows of no pin, file or clock; where bytes
//! go is an `embedded_io::Write`.

#![no_std]
#![forbid(unsafe_code)]

pub mod flash;
pub mod read;
pub mod sensors;
pub mod typed;
pub mod vectors;
