//! `pilaster.File`: a file that is open, and the rows and columns that were chosen.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatchReader;
use pilaster::any::{File as AnyFile, FileError, Format};
use pilaster::column::Memory;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyString};

use crate::error::{Failure, Result, detached, guarded};
use crate::read::{self, Stream};
use crate::recover::Saving;
use crate::schema::{Batches, Schema, capsule};
use crate::selection::{Selection, chosen};
use crate::source::{Options, Source};
use crate::values;

/// A file of any format, opened by :func:`pilaster.open`: a table, or several.
///
/// It is a stream of Arrow record batches: ``polars.DataFrame(file)``, ``pyarrow.table(file)``,
/// ``pandas.DataFrame.from_arrow(file)`` and ``duckdb.sql("select * from file")`` take it as it is, as often as needed.
#[pyclass(frozen, module = "pilaster")]
pub struct File {
    /// `None` after `close`.
    source: Mutex<Option<Arc<Source>>>,
    selection: Selection,
}

/// Opens a file: a path, a URL whose ranges are read, bytes or another buffer, a binary file, or an object with ``size`` and
/// ``read_at(offset, count)``.
///
/// ``table``, ``columns``, ``rows`` and ``where`` choose as :meth:`File.select` does. Other arguments, of which a format refuses those
/// that it lacks:
///
/// ==================== ========================================================================================
/// ``format``           the format, if neither the bytes nor the name tell it
/// ``type``             of a Filo vector, the element type, which it does not store; of a Blosc chunk or a Vortex file, the type
/// ``tolerant``         the readable part of a damaged Jay file or bcolz dataset is read
/// ``sequential``       a DataSeries file is read from the front, without its index
/// ``mmap``             a file is mapped into memory, and so is an object of the module ``mmap`` used: nobody may write to the file or
///                      shorten it meanwhile. ``False`` reads ranges, and copies the object. (Bytes are used as they are, and all
///                      other buffers are copied, since their owner may write to them.)
/// ``dictionaries``     texts that are stored with a dictionary remain so
/// ``trust_statistics`` rows are left out by minima and maxima that the file states, which nothing checks
/// ``batch_rows``       the greatest number of rows of a batch
/// ``threads``          the number of threads that decode; a file of Python has at least one of its own
/// ==================== ========================================================================================
#[pyfunction]
#[pyo3(signature = (source, *, table=None, columns=None, rows=None, r#where=None, r#type=None, format=None, tolerant=false,
    sequential=false, mmap=true, dictionaries=false, trust_statistics=false, batch_rows=None, threads=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn open(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    table: Option<String>,
    columns: Option<&Bound<'_, PyAny>>,
    rows: Option<&Bound<'_, PyAny>>,
    r#where: Option<&Bound<'_, PyAny>>,
    r#type: Option<String>,
    format: Option<&str>,
    tolerant: bool,
    sequential: bool,
    mmap: bool,
    dictionaries: bool,
    trust_statistics: bool,
    batch_rows: Option<i64>,
    threads: Option<i64>,
) -> Result<File> {
    let format = format.map(format_of).transpose()?;
    let count = |name: &str, count: Option<i64>| match count.map(usize::try_from) {
        None => Ok(None),
        Some(Ok(count)) if count > 0 => Ok(Some(count)),
        _ => Err(Failure::Value(format!("{name}={}; at least 1 is needed", count.unwrap_or_default()))),
    };
    let (batch_rows, threads) = (count("batch_rows", batch_rows)?, count("threads", threads)?);
    let options = Options { format, ty: r#type, tolerant, sequential, mmap, damaged: false };
    let default = Selection::default();
    let selection = Selection {
        dictionaries,
        trust: trust_statistics,
        batch_rows: batch_rows.unwrap_or(default.batch_rows),
        threads: threads.unwrap_or(default.threads),
        ..default
    };
    let selection = guarded(|| chosen(&selection, table, columns, rows, r#where))?;
    let source = guarded(|| opened(py, source, options))?;
    let file = File { source: Mutex::new(Some(Arc::new(source))), selection };
    file.check(py)?;
    Ok(file)
}

/// Opens what a caller passes: a path, a URL, a buffer, or an object that reads.
pub fn opened(py: Python<'_>, source: &Bound<'_, PyAny>, options: Options) -> Result<Source> {
    if let Ok(text) = source.cast::<PyString>()
        && text.to_str()?.contains("://")
    {
        if text.to_str()?.starts_with("file://") {
            let path: PathBuf = py.import("pilaster._http")?.call_method1("local", (text,))?.extract()?;
            return detached(py, || Source::path(&path, options));
        }
        let object = py.import("pilaster._http")?.call_method1("Http", (text,))?;
        return Source::object(&object, options);
    }
    if let Ok(path) = source.extract::<PathBuf>()
        && !source.is_instance_of::<PyBytes>()
    {
        return detached(py, || Source::path(&path, options));
    }
    if source.hasattr("read_at")? || source.hasattr("seek")? && source.hasattr("read")? {
        // A map of the module mmap has both, and is memory already.
        match crate::raw::buffered(source, options.mmap) {
            Ok(bytes) => return detached(py, || Source::memory(bytes, options)),
            Err(e) if e.is_instance_of::<PyMemoryError>(py) => return Err(e.into()),
            Err(_) => return Source::object(source, options),
        }
    }
    match crate::raw::buffered(source, options.mmap) {
        Ok(bytes) => detached(py, || Source::memory(bytes, options)),
        Err(e) if e.is_instance_of::<PyMemoryError>(py) => Err(e.into()),
        Err(_) => {
            let ty = source.get_type();
            Err(Failure::Type(format!(
                "open takes a path, a URL, bytes, a buffer or a binary file, not {}",
                ty.name()?
            )))
        }
    }
}

/// Returns the format with a name.
pub fn format_of(name: &str) -> Result<Format> {
    let known = match name {
        "ds" => Some(Format::DataSeries),
        name => name.parse().ok(),
    };
    let names = Format::ALL.map(Format::name).join(", ");
    known.ok_or_else(|| Failure::Value(format!("no format {name:?}; there are {names}")))
}

impl File {
    pub fn source(&self) -> Result<Arc<Source>> {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        source.clone().ok_or_else(|| Failure::Value("the file is closed".to_owned()))
    }

    fn stream(&self, py: Python<'_>) -> Result<Stream> {
        let (source, selection) = (self.source()?, self.selection.clone());
        detached(py, || read::stream(source, selection))
    }

    /// Checks the choice of columns, unless the table is still to be chosen.
    fn check(&self, py: Python<'_>) -> Result<()> {
        let Selection { table, columns, conditions, .. } = &self.selection;
        if table.is_none() && columns.is_none() && conditions.is_empty() {
            return Ok(());
        }
        let (source, selection) = (self.source()?, self.selection.clone());
        detached(py, || read::check(source, selection))
    }

    fn with<R: Send>(&self, py: Python<'_>, take: impl FnOnce(&AnyFile<'_>) -> Result<R> + Send) -> Result<R> {
        let source = self.source()?;
        detached(py, || source.with_file(take))
    }

    /// Passes the file to a consumer of streams. Its error is replaced by ours, if the reason is the file.
    fn consumed<'py>(
        &self,
        py: Python<'py>,
        take: impl FnOnce(Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let stream = self.stream(py)?;
        let note = stream.note();
        let once = Bound::new(py, Once { stream: Mutex::new(Some(stream)) })?.into_any();
        take(once).map_err(|e| {
            let noted = note.lock().unwrap_or_else(PoisonError::into_inner).take();
            noted.map_or(e, PyErr::from)
        })
    }
}

#[pymethods]
impl File {
    /// The format: ``"jay"``, ``"vortex"``, ``"dataseries"``, ``"bcolz"`` or ``"filo"``.
    #[getter]
    fn format(&self) -> Result<&'static str> {
        Ok(self.source()?.format().name())
    }

    /// The path or URL; ``None`` for bytes.
    #[getter]
    fn name(&self) -> Result<Option<String>> {
        Ok(self.source()?.name.clone())
    }

    /// The names of the tables. Only DataSeries files have named tables; another file has one, whose name is empty.
    #[getter]
    fn tables(&self, py: Python<'_>) -> Result<Vec<String>> {
        self.with(py, |file| Ok(file.tables().map(str::to_owned).collect()))
    }

    /// The names and Arrow types of the chosen columns.
    #[getter]
    fn schema(&self, py: Python<'_>) -> Result<Schema> {
        let (source, selection) = (self.source()?, self.selection.clone());
        Ok(Schema(detached(py, || read::schema(&source, &selection))?))
    }

    /// The names of the chosen columns.
    #[getter]
    fn columns(&self, py: Python<'_>) -> Result<Vec<String>> {
        Ok(self.schema(py)?.names())
    }

    /// The number of rows that are chosen, of which ``where`` may leave out some: conditions are not counted. (The file has no length: it is an iterable of batches.)
    #[getter]
    fn num_rows(&self, py: Python<'_>) -> Result<u64> {
        let rows = self.with(py, |file| read::count(&mut read::table(file, self.selection.table.as_deref())?))?;
        let Range { start, end } = self.selection.rows.clone().unwrap_or(0..u64::MAX);
        Ok(rows.min(end).saturating_sub(start))
    }

    /// Returns the same file with other columns, rows or conditions; what is not given stays.
    ///
    /// ``rows`` is a number, a pair or a slice, and counts from the first of the rows chosen before. ``where`` is a text in the language of
    /// ``--where`` of the tool, such as ``"k > 900 and not (s = 'a' or v is missing)"``, a condition ``(column, operator, value)``, or a
    /// list of these, all of which are to be met; they are added to those before, and do not change which rows are counted. In
    /// conditions, operators are ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``is`` and ``is not`` (``None``). ``=`` is
    /// ``==``. NaN is equal to NaN. A tuple has a value of the column's type: a time with an offset only if the column has a time
    /// zone, and no digits that the column lacks. A text may have more digits, and a time with an offset anywhere.
    ///
    /// >>> import pilaster
    /// >>> file = pilaster.open("examples/data/keyed_1.jay")
    /// >>> file.select("k", where=("k", ">", 900)).to_pydict()
    /// {'k': [923, 935, 984]}
    /// >>> file.select("k", where="k > 900 and k not in (935, 936)").to_pydict()
    /// {'k': [923, 984]}
    /// >>> file.select(["k"], rows=(1, 3)).to_pydict()
    /// {'k': [-982, -955]}
    #[pyo3(signature = (columns=None, *, table=None, rows=None, r#where=None))]
    fn select(
        &self,
        py: Python<'_>,
        columns: Option<&Bound<'_, PyAny>>,
        table: Option<String>,
        rows: Option<&Bound<'_, PyAny>>,
        r#where: Option<&Bound<'_, PyAny>>,
    ) -> Result<File> {
        let selection = guarded(|| chosen(&self.selection, table, columns, rows, r#where))?;
        let file = File { source: Mutex::new(Some(self.source()?)), selection };
        file.check(py)?;
        Ok(file)
    }

    /// Describes the file: format, size, tables with their rows, columns and types.
    fn info<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let source = self.source()?;
        let described = detached(py, || {
            source.with_file(|file| {
                let names: Vec<String> = file.tables().map(str::to_owned).collect();
                let about = |name: String| {
                    let selection = Selection { table: Some(name.clone()), ..Selection::default() };
                    let rows = read::count(&mut read::table(file, Some(&name))?)?;
                    Ok((name, rows, Schema(read::schema(&source, &selection)?)))
                };
                names.into_iter().map(about).collect::<Result<Vec<_>>>()
            })
        })?;
        let info = PyDict::new(py);
        info.set_item("file", source.name.as_deref())?;
        info.set_item("format", source.format().name())?;
        if source.len() > 0 {
            info.set_item("size", source.len())?;
        }
        let tables = PyList::empty(py);
        for (name, rows, schema) in described {
            let table = PyDict::new(py);
            table.set_item("name", name)?;
            table.set_item("rows", rows)?;
            table.set_item("columns", schema.described(py)?)?;
            tables.append(table)?;
        }
        info.set_item("tables", tables)?;
        Ok(info)
    }

    /// Checks the whole file: every row, text and check value. Raises :class:`pilaster.Error` for the first problem, and returns
    /// what was checked.
    fn verify<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let source = self.source()?;
        let (bytes, rows) = detached(py, || {
            source.with_file(|file| {
                let mut memory = Memory::default();
                loop {
                    match file.verify(&mut memory.scratch()) {
                        Err(FileError::Format(e)) => memory.grow(e)?,
                        done => break done?,
                    }
                }
                let names: Vec<&str> = file.tables().collect();
                let counts = names.iter().map(|name| read::count(&mut file.table(Some(name))?));
                Ok((source.len(), counts.sum::<Result<u64>>()?))
            })
        })?;
        let report = PyDict::new(py);
        report.set_item("file", source.name.as_deref())?;
        report.set_item("format", source.format().name())?;
        report.set_item("size", bytes)?;
        report.set_item("rows", rows)?;
        Ok(report)
    }

    /// Writes the intact part of the file to another one, as :func:`pilaster.recover` does for files that cannot be opened.
    fn recover<'py>(&self, py: Python<'py>, to: PathBuf) -> Result<Bound<'py, PyDict>> {
        let source = self.source()?;
        crate::recover::report(py, &source, &to, Saving::default())
    }

    /// Iterates over record batches, which are Arrow arrays.
    fn batches(&self, py: Python<'_>) -> Result<Batches> {
        Ok(Batches::new(self.stream(py)?))
    }

    fn __iter__(&self, py: Python<'_>) -> Result<Batches> {
        self.batches(py)
    }

    /// Returns the rows as a stream of Arrow record batches, in a capsule. ``requested_schema`` is a wish, which is not met.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        capsule(py, self.stream(py)?)
    }

    /// Returns the schema of Arrow, in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.schema(py)?.__arrow_c_schema__(py)
    }

    /// Returns a polars ``DataFrame``.
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let frame = py.import("polars")?.getattr("DataFrame")?;
        self.consumed(py, |once| frame.call1((once,)))
    }

    /// Returns a pandas ``DataFrame``. With pandas before 3 it goes through pyarrow.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let frame = py.import("pandas")?.getattr("DataFrame")?;
        match frame.hasattr("from_arrow")? {
            true => self.consumed(py, |once| frame.call_method1("from_arrow", (once,))),
            false => self.to_arrow(py)?.call_method0("to_pandas"),
        }
    }

    /// Returns a pyarrow ``Table``.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let table = py.import("pyarrow")?.getattr("table")?;
        self.consumed(py, |once| table.call1((once,)))
    }

    /// Returns one column as a numpy array. Missing floats are NaN, missing times NaT; other numbers with missing values are a
    /// masked array, and texts, bytes and nested values an array of objects.
    fn to_numpy<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyAny>> {
        let one = PyString::new(py, column).into_any();
        let file = self.select(py, Some(&one), None, None, None)?;
        let file = Bound::new(py, file)?;
        py.import("pilaster._numpy")?.call_method1("column", (file,))
    }

    /// Returns a dict of a list for each column, without any other library. No two columns may have the same name.
    ///
    /// Dates and times are values of ``datetime``. A column with one that it does not have, such as of odd nanoseconds or after year
    /// 9999, is a list of integers instead: the counts since 1970 in the unit of the column.
    fn to_pydict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let mut stream = self.stream(py)?;
        let schema = RecordBatchReader::schema(&stream);
        let batches = detached(py, || std::iter::from_fn(|| stream.batch()).collect::<Result<Vec<_>>>())?;
        guarded(|| values::dict(py, &schema, &batches))
    }

    /// Releases the file. Arrays that refer to its memory keep it until they are gone.
    fn close(&self) {
        self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn __enter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyAny>) {
        self.close();
    }

    /// Shows the collector of garbage the file of Python, which may refer to this one.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A source that others hold, too, is in use. A lock that is taken is a call that runs.
        let Ok(held) = self.source.try_lock() else { return Ok(()) };
        match held.as_ref().filter(|source| Arc::strong_count(source) == 1).and_then(|source| source.object.as_deref())
        {
            Some(object) => visit.call(object),
            None => Ok(()),
        }
    }

    fn __clear__(&self) {
        self.close();
    }

    fn __repr__(&self) -> Result<String> {
        let source = match self.source() {
            Ok(source) => source,
            Err(_) => return Ok("<pilaster.File, closed>".to_owned()),
        };
        let name = source.name.as_deref().map_or_else(|| "bytes".to_owned(), |name| format!("{name:?}"));
        Ok(format!("<pilaster.File {name}, {}>", source.format()))
    }
}

/// A stream that is read once, so that its error can be found.
#[pyclass(frozen)]
struct Once {
    stream: Mutex<Option<Stream>>,
}

#[pymethods]
impl Once {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        capsule(py, stream.ok_or_else(|| PyValueError::new_err("the stream was read already"))?)
    }
}
