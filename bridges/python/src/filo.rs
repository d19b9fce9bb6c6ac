//! Filo vectors.

use pilaster_arrow::{Batches, Kept};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{Failure, Result, detached, guarded};
use crate::write::vector;
use crate::{make, raw};

/// Returns values as a vector in the smallest encoding.
#[pyfunction]
#[pyo3(signature = (values, /))]
pub fn _filo_encode<'py>(py: Python<'py>, values: &Bound<'py, PyAny>) -> Result<Bound<'py, PyBytes>> {
    let columns = PyDict::new(py);
    columns.set_item("v", values)?;
    let mut reader = guarded(|| make::reader(&columns))?;
    let batch = reader.next().ok_or_else(|| Failure::Value("no values".to_owned()))??;
    let chunk = detached(py, || {
        let mut table = Batches::from_source(Kept::new(batch.schema(), [batch]))?;
        vector(&mut table)
    })?;
    Ok(raw::new_bytes(py, &chunk)?)
}
