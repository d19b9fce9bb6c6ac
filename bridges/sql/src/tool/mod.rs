//! The parts of the tool.

pub mod answer;
pub mod args;
pub mod files;
pub mod query;
pub mod stores;
pub mod workers;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::ObjectStoreUrl;
use object_store::path::Path;
use tokio::runtime::Builder;

/// Number of threads per processor, and at least. Batches of some queries take seconds, and others must answer meanwhile that this
/// process is alive.
const THREADS: (usize, usize) = (4, 16);

/// Runs the tool on threads, of which there are more than readers.
pub fn run(future: impl Future<Output = Result<()>>) -> Result<()> {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = processors.saturating_mul(THREADS.0).max(THREADS.1);
    Builder::new_multi_thread().worker_threads(threads).enable_all().build()?.block_on(future)
}

/// The output of the tool, which notes that its reader needs no more. Connections to workers and stores break, too, so that the
/// error of a query does not tell.
pub struct Output<W> {
    out: W,
    broken: bool,
}

impl<W: Write> Output<W> {
    pub const fn new(out: W) -> Self {
        Output { out, broken: false }
    }

    /// Whether the reader of the output needs no more.
    pub const fn is_broken(&self) -> bool {
        self.broken
    }

    fn note<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        self.broken |= done.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        done
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.note(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.note(done)
    }
}

/// Returns the path of a file for people. Paths in stores begin without a slash.
pub fn shown(store: &ObjectStoreUrl, path: &Path) -> String {
    match store.as_str() {
        "file:///" => format!("/{path}"),
        store => format!("{}/{path}", store.trim_end_matches('/')),
    }
}

/// Returns an error as one line, without the words for errors around it.
pub fn one_line(e: &DataFusionError) -> String {
    let text = e.strip_backtrace();
    let mut line = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    for prefix in ["External error: ", "Execution error: ", "Error during planning: ", "Shared error: "] {
        line = line.replace(prefix, "");
    }
    // The library names its own arguments.
    for (argument, option) in [("set `Hints::element`", "pass --type"), ("to `table`", "to --table")] {
        line = line.replace(argument, option);
    }
    line
}
