//! Values of Python as arrays of Arrow.

use pyo3::prelude::*;

use crate::error::Result;

/// Returns the microseconds of a `datetime` since 1970; of one with an offset, in UTC.
pub fn micros(object: &Bound<'_, PyAny>) -> Result<i64> {
    Ok(object.py().import("pilaster._times")?.call_method1("micros", (object,))?.extract()?)
}

/// Returns the days of a `date` since 1970.
pub fn days(object: &Bound<'_, PyAny>) -> Result<i32> {
    Ok(object.py().import("pilaster._times")?.call_method1("days", (object,))?.extract()?)
}
