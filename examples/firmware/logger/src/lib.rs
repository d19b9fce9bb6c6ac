//! The loggers, which are the same for every chip. They use no pins, files or clocks; the output is an
//! `embedded_io::Write`.

#![no_std]
#![forbid(unsafe_code)]

pub mod flash;
pub mod interrupts;
pub mod read;
pub mod sensors;
pub mod serial;
pub mod typed;
pub mod vectors;
pub mod vortex;
pub mod vortex_flash;
