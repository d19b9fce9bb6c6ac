//! The command line tool, which `python -m pilaster` runs.

use std::ffi::OsString;
use std::panic::catch_unwind;

use pyo3::prelude::*;

/// The status of a program of Rust that panics.
const PANICKED: u8 = 101;

/// Runs a command, whose first word is the name of the program, with the streams and signals of the process. Returns the exit
/// status.
#[pyfunction]
pub fn _tool(py: Python<'_>, call: Vec<OsString>) -> u8 {
    py.detach(|| catch_unwind(|| pilaster_cli::run(call)).unwrap_or(PANICKED))
}
