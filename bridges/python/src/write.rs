//! `pilaster.write`: streams of Arrow, and dicts of arrays and lists, as files of any format.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use pilaster::any::Format;
use pilaster::bcolz::write::FileSystem;
use pilaster::bytes::IoSink;
use pilaster::{bcolz, filo, jay, vortex};
use pilaster_arrow::arrow_schema::{ArrowError, SchemaRef};
use pilaster_arrow::durations::{as_integers, schema_of_integers};
use pilaster_arrow::{Batches, Kept, convert, times, write_series};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::error::{Failure, Result, detached, guarded};
use crate::file::format_of;
use crate::make;
use crate::options::{Options, bcolz_options, jay_options, series_options, vortex_options};
use crate::raw;

/// Writes a table to a file. Returns the number of rows.
#[pyfunction]
#[pyo3(signature = (path, data, format, progress, options))]
pub fn _write(
    py: Python<'_>,
    path: PathBuf,
    data: &Bound<'_, PyAny>,
    format: Option<&str>,
    progress: Option<Py<PyAny>>,
    options: &Bound<'_, PyDict>,
) -> Result<u64> {
    let format = match format {
        Some(name) => format_of(name)?,
        None => by_extension(&path)?,
    };
    let options = Options::new(format, options)?;
    let data = guarded(|| data_of(data))?;
    let name = path.display().to_string();
    let run = || store(format, &path, Counted { data, progress, rows: 0 }, &options);
    detached(py, run).map_err(|failure| failure.of(Some(&name)))
}

/// Returns the format that the name of a file tells.
fn by_extension(path: &Path) -> Result<Format> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let known = match extension.to_ascii_lowercase().as_str() {
        "jay" => Format::Jay,
        "vortex" | "vtx" => Format::Vortex,
        "ds" => Format::DataSeries,
        "bcolz" => Format::Bcolz,
        "filo" => Format::Filo,
        _ => {
            let text = format!("{}: the name tells no format; format= names it", path.display());
            return Err(Failure::Value(text));
        }
    };
    Ok(known)
}

/// Returns the batches of an object.
pub fn data_of(data: &Bound<'_, PyAny>) -> Result<Box<dyn RecordBatchReader + Send>> {
    if data.hasattr("__arrow_c_stream__")? {
        let capsule = data.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>().map_err(|e| Failure::Type(e.to_string()))?;
        return Ok(Box::new(raw::stream(capsule)?));
    }
    if let Ok(columns) = data.cast::<PyDict>() {
        return Ok(Box::new(make::reader(columns)?));
    }
    let text = format!(
        "write takes a table that is a stream of Arrow (polars, pyarrow, pandas 3, duckdb, pilaster.File), or a dict of arrays \
         and lists, not {}",
        data.get_type().name()?
    );
    Err(Failure::Type(text))
}

/// Batches that are counted, and told to a function of Python.
struct Counted {
    data: Box<dyn RecordBatchReader + Send>,
    progress: Option<Py<PyAny>>,
    rows: u64,
}

impl Counted {
    /// Tells the number of rows. A signal, such as Ctrl-C, ends the call.
    fn tell(&self) -> Result<(), ArrowError> {
        let told = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) => progress.call1(py, (self.rows,)).map(|_| ()),
                None => Ok(()),
            }
        });
        told.map_err(|e: PyErr| ArrowError::ExternalError(Box::new(e)))
    }
}

impl Iterator for Counted {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.data.next()?.and_then(|batch| {
            self.rows = self.rows.saturating_add(batch.num_rows() as u64);
            self.tell().map(|()| batch)
        });
        Some(next)
    }
}

impl RecordBatchReader for Counted {
    fn schema(&self) -> SchemaRef {
        self.data.schema()
    }
}

/// Durations as integers, if the options say so.
struct Integers<'a> {
    data: &'a mut Counted,
    schema: SchemaRef,
}

impl Iterator for Integers<'_> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.data.next()?;
        Some(next.and_then(|batch| as_integers(&batch, &self.schema).map_err(ArrowError::from)))
    }
}

impl RecordBatchReader for Integers<'_> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn store(format: Format, path: &Path, mut data: Counted, options: &Options) -> Result<u64> {
    let schema = data.schema();
    let schema = if options.any_time { schema_of_integers(&schema) } else { schema };
    if !options.any_time {
        times::check(&schema, format)?;
    }
    if let Some(name) = twice(&schema).filter(|_| !matches!(format, Format::Vortex | Format::Filo)) {
        let text = format!("column {name:?}: {format} cannot store several columns of the same name; rename them");
        return Err(Failure::other("Unsupported", text));
    }
    let reader = Integers { data: &mut data, schema };
    match format {
        Format::Vortex => {
            let target = Target::new(path)?;
            let mut table = Batches::new(reader)?;
            target.fill(|sink| {
                let mut builder = vortex::write::Builder::new(sink, &vortex_options(options)?)?;
                convert(&mut table, &mut builder)?;
                Ok(builder.finish()?)
            })?;
        }
        Format::DataSeries => {
            let target = Target::new(path)?;
            let mut table = Batches::new(reader)?;
            target.fill(|sink| Ok(write_series(&mut table, &series_options(options)?, sink)?))?;
        }
        Format::Jay => {
            let target = Target::new(path)?;
            let mut table = kept(reader)?;
            target.fill(|sink| {
                let mut builder = jay::write::Builder::new(sink, &jay_options(options)?)?;
                convert(&mut table, &mut builder)?;
                Ok(builder.finish()?)
            })?;
        }
        Format::Filo => {
            let target = Target::new(path)?;
            let mut table = kept(reader)?;
            let width = table.schema().fields().len();
            if width != 1 {
                return Err(Failure::Value(format!("a Filo vector is one column, and there are {width}")));
            }
            let chunk = vector(&mut table)?;
            target.fill(|mut sink| {
                sink.0.write_all(&chunk)?;
                Ok(sink)
            })?;
        }
        Format::Bcolz => dataset(path, reader, options)?,
    }
    Ok(data.rows)
}

/// Returns a name that several columns have.
fn twice(schema: &SchemaRef) -> Option<&str> {
    let mut known = HashSet::new();
    schema.fields().iter().map(|field| field.name().as_str()).find(|name| !known.insert(*name))
}

/// The table of all batches, for a format that is written column by column.
fn kept<R: RecordBatchReader>(reader: R) -> Result<Batches<Kept>> {
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    Ok(Batches::from_source(Kept::new(schema, batches))?)
}

/// Encodes the only column of a table.
pub fn vector(table: &mut Batches<Kept>) -> Result<Vec<u8>> {
    let mut all = Ok(Vec::new());
    let mut builder = filo::Builder::new(|_, _: &str, _, chunk: &[u8]| {
        all = raw::copied(chunk);
        Ok(())
    });
    convert(table, &mut builder)?;
    Ok(all?)
}

/// Writes a dataset beside its place, and moves it there; or appends to one.
fn dataset<R: RecordBatchReader>(path: &Path, reader: R, options: &Options) -> Result<()> {
    let mut table = kept(reader)?;
    let rows = pilaster_arrow::Source::rows(table.source()).unwrap_or(0);
    let options_of = bcolz_options(options, rows)?;
    let mut fill = |mut builder: bcolz::write::Builder<FileSystem>| -> Result<()> {
        convert(&mut table, &mut builder)?;
        Ok(builder.finish()?)
    };
    if options.append {
        return fill(bcolz::write::Builder::append(FileSystem::default(), path, &options_of)?);
    }
    directory(path, |dir| fill(bcolz::write::Builder::create(FileSystem::default(), dir, &options_of)))
}

/// Writes a new directory beside its place, and moves it there when it is complete.
pub fn directory<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    if fs::symlink_metadata(path).is_ok() {
        let text = "exists, and is not replaced; append=True of write appends to a dataset";
        return Err(Failure::Io(io::Error::new(io::ErrorKind::AlreadyExists, text), String::new()));
    }
    let place = tempfile::Builder::new().prefix(".pilaster-").suffix(".partial").tempdir_in(beside(path))?;
    // The temporary directory is for its owner alone, the one in it for all that the process grants.
    let within = place.path().join("dataset");
    let done = fill(&within)?;
    fs::rename(&within, path)?;
    sync(beside(path))?;
    Ok(done)
}

/// Waits until the names in a directory are on the medium.
fn sync(directory: &Path) -> Result<()> {
    // Only Unix opens directories as files, and only those that may be read.
    match cfg!(unix).then(|| fs::File::open(directory)) {
        Some(Ok(directory)) => Ok(directory.sync_all()?),
        _ => Ok(()),
    }
}

type Sink = IoSink<BufWriter<fs::File>>;

/// A file that is written beside its place, and replaces an older one when it is complete.
pub struct Target {
    path: PathBuf,
    /// The file that is replaced.
    old: Option<fs::Metadata>,
}

impl Target {
    /// Looks at the place, before any row is read: a file that another program makes there meanwhile is not replaced.
    pub fn new(path: &Path) -> Result<Self> {
        // A link stays, and the file that it names is replaced.
        let path = match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => fs::canonicalize(path)
                .map_err(|e| io::Error::new(e.kind(), format!("a link whose file cannot be replaced: {e}")))?,
            _ => path.to_owned(),
        };
        let old = match fs::metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            old => Some(old?),
        };
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let text = "a directory, a device or a pipe, which is not replaced";
            return Err(Failure::Io(io::Error::new(io::ErrorKind::AlreadyExists, text), String::new()));
        }
        Ok(Target { path, old })
    }

    pub fn fill(self, write: impl FnOnce(Sink) -> Result<Sink>) -> Result<()> {
        let Target { path, old } = self;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".pilaster-").suffix(".partial");
        #[cfg(unix)]
        if old.is_none() {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let (out, temporary) = builder.tempfile_in(beside(&path))?.into_parts();
        let IoSink(out) = write(IoSink(BufWriter::with_capacity(1 << 16, out)))?;
        let out = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(old) = &old {
            out.set_permissions(old.permissions())?;
        }
        out.sync_all()?;
        let put = match old {
            Some(_) => temporary.persist(&path),
            None => temporary.persist_noclobber(&path),
        };
        put.map_err(|e| e.error)?;
        sync(beside(&path))
    }
}

/// Returns the directory of `path`.
fn beside(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
