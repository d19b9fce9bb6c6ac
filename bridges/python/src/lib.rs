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

mod condition;
mod error;
mod file;
mod make;
mod raw;
mod read;
mod schema;
mod source;
mod values;

use pyo3::prelude::*;

/// The compiled part of the package `pilaster`.
#[pymodule(gil_used = false)]
mod _pilaster {
    #[pymodule_export]
    use crate::file::{File, open};
    #[pymodule_export]
    use crate::schema::{Batch, Batches, Schema};
}
