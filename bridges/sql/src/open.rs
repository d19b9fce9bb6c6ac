//! Opens a file, and hands it to a function on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use datafusion_common::{DataFusionError, Result};
use pilaster::any::File;
use pilaster::bytes::Ranges;
use pilaster::column::Memory;
use pilaster_arrow::ReadOptions;
use tokio::sync::oneshot;

use crate::error::{Failure, Reason};
use crate::options::Options;
use crate::store::{Heads, Remote};

/// Opens a file and passes it to `take`. Blocks.
pub(crate) fn with_file<R>(
    remote: &Arc<Remote>,
    options: &Options,
    heads: &Heads,
    take: impl FnOnce(&File<'_>, &Ranges) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let (ranges, hints) = (remote.ranges(), options.hints());
    let mut memory = Memory::default();
    remote.open(heads);
    let mut open = || -> pilaster::Result<()> {
        while let Err(e) = File::open_input(ranges.input(), options.format, &hints, &mut memory.scratch()) {
            memory.grow(e)?;
        }
        Ok(())
    };
    open().map_err(|e| remote.failure(&ranges, e))?;
    remote.opened(heads);
    // The memory is large enough now, and the bytes are present.
    let file = File::open_input(ranges.input(), options.format, &hints, &mut memory.scratch());
    take(&file.map_err(|e| remote.failure(&ranges, e))?, &ranges)
}

/// Returns the options with which files are read: the types depend on no row, so that files of one schema have one, and texts are
/// views, which DataFusion groups and sorts faster.
pub(crate) fn read_options() -> ReadOptions<'static> {
    ReadOptions { flat: true, offsets: true, views: true, ..ReadOptions::default() }
}

/// Runs a function that blocks on a thread of its own.
pub(crate) async fn on_thread<R: Send + 'static>(
    path: &str,
    run: impl FnOnce() -> Result<R, Failure> + Send + 'static,
) -> Result<Result<R, Failure>> {
    let (answer, answered) = oneshot::channel();
    start(SCAN, move || {
        // Fails if the caller no longer waits.
        let _ = answer.send(run());
    })?;
    Ok(answered.await.unwrap_or_else(|_| Err(Failure { path: path.to_owned(), reason: Reason::Ended })))
}

/// The name of threads that read.
pub(crate) const SCAN: &str = "pilaster-scan";

/// Starts a thread. A panic ends it, and drops what it owns.
pub(crate) fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let quiet = move || {
        let _ = catch_unwind(AssertUnwindSafe(run));
    };
    let started = thread::Builder::new().name(name.to_owned()).spawn(quiet);
    started.map(|_| ()).map_err(DataFusionError::IoError)
}
