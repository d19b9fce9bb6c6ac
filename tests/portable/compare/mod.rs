//! Compares what a reader returns with the expectation of a golden file.

pub mod bcolz;
pub mod dataseries;
pub mod expect;
pub mod jay;
pub mod table;
pub mod vortex;
