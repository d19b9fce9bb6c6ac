//! The parts of the tool.

pub mod answer;
pub mod args;
pub mod files;
pub mod query;
pub mod workers;

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use datafusion::error::{DataFusionError, Result};
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

/// Whether the reader of the output needs no more.
pub fn is_broken_pipe(e: &DataFusionError) -> bool {
    matches!(e.find_root(), DataFusionError::IoError(e) if e.kind() == io::ErrorKind::BrokenPipe)
}

/// Returns an error as one line, without the words for errors around it.
pub fn one_line(e: &DataFusionError) -> String {
    let text = e.strip_backtrace();
    let mut line = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    for prefix in ["External error: ", "Execution error: ", "Error during planning: ", "Shared error: "] {
        line = line.replace(prefix, "");
    }
    line
}
