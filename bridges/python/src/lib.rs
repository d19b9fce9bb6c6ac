//! The module `pilaster._pilaster` of Python: files of pilaster as streams of Arrow. The package around it is in `python/`.

#![warn(missing_docs)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod blosc;
mod condition;
mod error;
mod exit;
mod file;
mod filo;
mod log;
mod make;
mod options;
mod raw;
mod read;
mod recover;
mod schema;
mod selection;
mod source;
mod times;
mod tool;
mod values;
mod write;

use pyo3::prelude::*;

/// The compiled part of the package `pilaster`.
///
/// It is not tested without the interpreter lock, which a free-threaded Python therefore takes when it imports this.
#[pymodule(gil_used = true)]
mod _pilaster {
    #[pymodule_export]
    use crate::blosc::{_blosc_compress, _blosc_decompress, _blosc_decompress_into, _blosc_info};
    #[pymodule_export]
    use crate::exit::_end;
    #[pymodule_export]
    use crate::file::{File, open};
    #[pymodule_export]
    use crate::filo::_filo_encode;
    #[pymodule_export]
    use crate::log::{_Log, _log_value};
    #[pymodule_export]
    use crate::recover::recover;
    #[pymodule_export]
    use crate::schema::{Batch, Batches, Schema};
    #[pymodule_export]
    use crate::tool::_tool;
    #[pymodule_export]
    use crate::write::_write;
}
