//! `File.recover`: the intact part of a damaged file, which the command `recover` of the tool saves.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

use pilaster::any::Format;
use pilaster::bytes::{FileRange, Ranges};
use pilaster::dataseries::Order;
use pilaster::error::What;
use pilaster_arrow::Buffer;
pub use pilaster_cli::Options as Saving;
use pilaster_cli::{Damaged, Report, saved};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Failure, Result, detached, guarded};
use crate::file::{format_of, opened};
use crate::source::{Options, Source};

/// The memory of a source.
struct Memory(Buffer);

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Writes the intact part of a damaged file to another one, as the command ``python -m pilaster recover`` does.
///
/// DataSeries keeps all extents whose check values agree; Jay and Vortex the columns that can be read, in which rows that
/// cannot are missing; bcolz the rows that all columns have. The new file has the same format, except that Vortex files are saved
/// in the format of the extension of ``to``.
///
/// ``types``, the path of an intact file with the same types, and ``order``, ``"little"`` or ``"big"``, replace what a DataSeries file
/// has lost, and ``type`` the type of a Vortex file. Returns a dict of ``rows``, the number of rows, and ``lost``, a line for each loss.
///
/// >>> import pathlib, pilaster, tempfile
/// >>> data = pathlib.Path("examples/data/tiny.ds").read_bytes()
/// >>> report = pilaster.recover(data[:-30], tempfile.mkdtemp() + "/saved.ds")
/// >>> report["rows"], len(report["lost"])
/// (2, 1)
#[pyfunction]
#[pyo3(signature = (source, to, *, format=None, r#type=None, types=None, order=None))]
pub fn recover<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    to: PathBuf,
    format: Option<&str>,
    r#type: Option<String>,
    types: Option<PathBuf>,
    order: Option<&str>,
) -> Result<Bound<'py, PyDict>> {
    let order = match order {
        None => None,
        Some("little") => Some(Order::Little),
        Some("big") => Some(Order::Big),
        Some(order) => return Err(Failure::Value(format!("order is 'little' or 'big', not {order:?}"))),
    };
    // Only DataSeries has types and an order, and damage may have hit the magic number.
    let series = (types.is_some() || order.is_some()).then_some(Format::DataSeries);
    let format = format.map(format_of).transpose()?.or(series);
    let options = Options { format, ty: r#type, tolerant: true, mmap: true, damaged: true, ..Options::default() };
    let source = Arc::new(guarded(|| opened(py, source, options))?);
    report(py, &source, &to, Saving { types, order, ..Saving::default() })
}

/// Saves what is intact. Returns the number of rows, and what is lost.
pub fn report<'py>(py: Python<'py>, source: &Arc<Source>, to: &Path, how: Saving) -> Result<Bound<'py, PyDict>> {
    let done = detached(py, || save(source, to, how)).map_err(|failure| failure.of(source.name.as_deref()))?;
    let report = PyDict::new(py);
    report.set_item("rows", done.rows)?;
    report.set_item("lost", done.lost)?;
    Ok(report)
}

/// Writes what can be read of a file to `to`.
fn save(source: &Arc<Source>, to: &Path, how: Saving) -> Result<Report> {
    refuse_directory(to)?;
    let name = source.name.clone().unwrap_or_else(|| "the bytes".to_owned());
    let failed = Arc::new(Mutex::new(None));
    let (damaged, format) = match (source.is_dataset(), source.buffer()) {
        // It is opened again, so that its problems are reported.
        (true, _) => (Damaged::Path(name.into()), None),
        (_, Some(buffer)) => (Damaged::Memory(Arc::new(Memory(buffer.clone())), name), Some(source.format())),
        _ => (Damaged::Ranges(Box::new(ranges(source, &failed)), name), Some(source.format())),
    };
    let dtype = source.ty().filter(|_| source.format() == Format::Vortex).map(str::to_owned);
    saved(damaged, to, Saving { format, dtype, ..how }).map_err(|failure| {
        // An error of reading is the reason for all others.
        let reason = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        reason.unwrap_or_else(|| match failure {
            pilaster_cli::Failure::Target(_, e) => Failure::Io(e, to.display().to_string()),
            failure => failure.into(),
        })
    })
}

/// Refuses a target that is a directory as Python does.
fn refuse_directory(to: &Path) -> Result<()> {
    match fs::metadata(to) {
        Ok(found) if found.is_dir() => {
            let e = io::Error::new(io::ErrorKind::AlreadyExists, "a directory, which is not replaced");
            Err(Failure::Io(e, to.display().to_string()))
        }
        _ => Ok(()),
    }
}

/// Returns the ranges of a source. The last error of reading goes to `failed`.
fn ranges(source: &Arc<Source>, failed: &Arc<Mutex<Option<Failure>>>) -> Ranges {
    let (source, failed) = (Arc::clone(source), Arc::clone(failed));
    Ranges::new(source.len(), move |at, to: &mut [u8]| {
        let window = source.window();
        let input = window.as_ref().map_or_else(|| source.input(), Ranges::input);
        let e = match input.get(FileRange { at, len: to.len() as u64 }, What::INPUT) {
            Ok(bytes) => {
                to.copy_from_slice(bytes);
                return Ok(());
            }
            Err(e) => window.as_ref().and_then(Ranges::failed).map_or_else(|| Failure::from(e), Failure::from),
        };
        let text = e.text();
        *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
        Err(io::Error::other(text))
    })
}
