//! Schemas and record batches as objects of Python.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi::{FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use pilaster_arrow::arrow_schema::{Schema as Arrow, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};

use crate::error::{Failure, guarded};
use crate::read::Stream;
use crate::values;

/// Returns a stream of Arrow in a capsule, which releases it if no consumer takes it.
pub fn capsule(py: Python<'_>, reader: impl RecordBatchReader + Send + 'static) -> PyResult<Bound<'_, PyCapsule>> {
    // A schema that C cannot have is an error here rather than in a callback.
    guarded(|| exported(&reader.schema()))?;
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

fn exported(schema: &SchemaRef) -> PyResult<FFI_ArrowSchema> {
    FFI_ArrowSchema::try_from(schema.as_ref()).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Checks that one column has the name.
pub fn unambiguous(schema: &Arrow, name: &str) -> Result<(), Failure> {
    match schema.fields().iter().filter(|field| field.name() == name).count() {
        1 => Ok(()),
        0 => {
            let names: Vec<String> = schema.fields().iter().map(|field| format!("{:?}", field.name())).collect();
            let text = format!("column {name:?}: the table has {}, and not this one", names.join(", "));
            Err(Failure::other("Unknown", text).of_field("column"))
        }
        several => Err(Failure::other("Invalid", format!("column {name:?}: {several} columns have this name"))),
    }
}

/// The columns of a table: names and types of Arrow.
///
/// >>> import pilaster
/// >>> schema = pilaster.open("examples/data/keyed_1.jay").schema
/// >>> schema.names
/// ['k', 's', 'v']
/// >>> schema["k"]
/// 'Int32'
#[pyclass(frozen, module = "pilaster")]
pub struct Schema(pub SchemaRef);

impl Schema {
    pub fn described<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = PyList::empty(py);
        for field in self.0.fields() {
            let column = PyDict::new(py);
            column.set_item("name", field.name())?;
            column.set_item("type", field.data_type().to_string())?;
            column.set_item("nullable", field.is_nullable())?;
            columns.append(column)?;
        }
        Ok(columns)
    }
}

#[pymethods]
impl Schema {
    /// The names of the columns.
    #[getter]
    pub fn names(&self) -> Vec<String> {
        self.0.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The types of the columns, in the notation of Arrow's Rust library.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.0.fields().iter().map(|field| field.data_type().to_string()).collect()
    }

    /// Returns the type of a column.
    fn __getitem__(&self, name: &str) -> PyResult<String> {
        let field = self.0.field_with_name(name).map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        Ok(field.data_type().to_string())
    }

    fn __len__(&self) -> usize {
        self.0.fields().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.names())?.try_iter()?.into_any())
    }

    /// Returns the schema of Arrow, in a capsule.
    pub fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, exported(&self.0)?, c"arrow_schema")
    }

    fn __repr__(&self) -> String {
        let fields = self.0.fields().iter();
        let fields: Vec<_> = fields
            .map(|field| {
                format!("{}: {}{}", field.name(), field.data_type(), if field.is_nullable() { "?" } else { "" })
            })
            .collect();
        format!("<pilaster.Schema {}>", fields.join(", "))
    }
}

/// An iterator over record batches.
#[pyclass(frozen, module = "pilaster")]
pub struct Batches(Mutex<Stream>);

impl Batches {
    pub const fn new(stream: Stream) -> Self {
        Batches(Mutex::new(stream))
    }
}

#[pymethods]
impl Batches {
    const fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> Result<Option<Batch>, Failure> {
        // The lock is taken without the interpreter, which the holder may need.
        let next = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).batch());
        next.transpose().map(|batch| batch.map(Batch))
    }
}

/// Some rows of all chosen columns.
#[pyclass(frozen, module = "pilaster")]
pub struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    const fn __bool__(&self) -> bool {
        true
    }

    /// The names and types of the columns.
    #[getter]
    fn schema(&self) -> Schema {
        Schema(self.0.schema())
    }

    /// Returns the rows as an array of structs, in two capsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let (array, _) = guarded(|| {
            let rows = StructArray::from(self.0.clone());
            to_ffi(&rows.to_data()).map_err(|e| PyValueError::new_err(e.to_string()))
        })?;
        let schema = PyCapsule::new_with_value(py, exported(&self.0.schema())?, c"arrow_schema")?;
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        PyTuple::new(py, [schema, array])
    }

    /// Returns the rows as a stream of this batch alone, in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        capsule(py, RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema()))
    }

    /// Returns a dict of a list for each column, as :meth:`File.to_pydict` does of all batches.
    fn to_pydict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        guarded(|| values::dict(py, &self.0.schema(), std::slice::from_ref(&self.0)))
    }

    /// Copies the numbers of column ``k`` into a buffer, and those that are present into a buffer of bytes. Returns how many are
    /// missing.
    fn _numbers(&self, k: usize, values: &Bound<'_, PyAny>, present: &Bound<'_, PyAny>) -> PyResult<usize> {
        let array = self.0.columns().get(k).ok_or_else(|| PyValueError::new_err("no such column"))?;
        guarded(|| values::numbers(&Arc::clone(array), values, present))
    }

    fn __repr__(&self) -> String {
        format!("<pilaster.Batch of {} rows, {} columns>", self.0.num_rows(), self.0.num_columns())
    }
}
