//! Opens a file, and hands it to a function on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use datafusion_common::{DataFusionError, Result};
use pilaster::any::File;
use pilaster::bytes::Ranges;
use pilaster::column::Memory;
use pilaster_arrow::ReadOptions;
use tokio::sync::oneshot;

use crate::error::{Failure, Reason};
use crate::heads::Heads;
use crate::help;
use crate::options::Options;
use crate::store::{Remote, locked};

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
    let refused = |e| match remote.failure(&ranges, e) {
        failure @ Failure { reason: Reason::Fetch(_), .. } => failure,
        failure => {
            let help =
                help::opening(options, ranges.input(), e).or_else(|| help::damaged(options, &failure, "the file"));
            failure.helped(help)
        }
    };
    open().map_err(refused)?;
    remote.opened(heads);
    // The memory is large enough now, and the bytes are present.
    let file = File::open_input(ranges.input(), options.format, &hints, &mut memory.scratch()).map_err(refused)?;
    take(&file, &ranges).map_err(|e| {
        let help = help::reading(options, &file, &e);
        e.helped(help)
    })
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
    start(move || {
        // Fails if the caller no longer waits.
        let _ = answer.send(run());
    })?;
    Ok(answered.await.unwrap_or_else(|_| Err(Failure::new(path.to_owned(), Reason::Ended))))
}

/// How long a thread waits for the next function. Allocators keep memory per thread, so that a new thread for each file would
/// take new memory from the system, which clears it: that took up to 40 % of the time of a short query.
const IDLE: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait, each with its number.
static WAITING: Mutex<Vec<(u64, mpsc::Sender<Job>)>> = Mutex::new(Vec::new());

/// Starts a function that may block on a thread of its own, which no other function shares meanwhile. A panic ends the function, and
/// drops what it owns.
pub(crate) fn start(run: impl FnOnce() + Send + 'static) -> Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut job: Job = Box::new(run);
    loop {
        let waiting = locked(&WAITING).pop();
        let Some((_, thread)) = waiting else { break };
        match thread.send(job) {
            Ok(()) => return Ok(()),
            Err(mpsc::SendError(back)) => job = back,
        }
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let started = thread::Builder::new().name("pilaster-scan".to_owned()).spawn(move || work(number, job));
    started.map(|_| ()).map_err(DataFusionError::IoError)
}

/// Runs a function, and then others as long as there are any.
fn work(number: u64, mut job: Job) {
    loop {
        let _ = catch_unwind(AssertUnwindSafe(job));
        let (thread, jobs) = mpsc::channel();
        locked(&WAITING).push((number, thread));
        let next = jobs.recv_timeout(IDLE).ok().or_else(|| {
            let mut waiting = locked(&WAITING);
            let before = waiting.len();
            waiting.retain(|(other, _)| *other != number);
            // Who took the thread from the list sends it a function.
            let taken = waiting.len() == before;
            drop(waiting);
            if taken { jobs.recv().ok() } else { None }
        });
        let Some(next) = next else { return };
        job = next;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn threads_are_used_again_but_not_shared() {
        let (found, all) = mpsc::channel();
        for _ in 0..10 {
            let found = found.clone();
            start(move || found.send(thread::current().id()).unwrap()).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
        // A panic ends the function only.
        start(|| panic!("of a test")).unwrap();
        let ids: HashSet<_> = all.try_iter().collect();
        assert!(ids.len() < 10, "{ids:?}");
        // Each of these waits for all others.
        let together = Arc::new(std::sync::Barrier::new(50));
        for _ in 0..50 {
            let (found, together) = (found.clone(), Arc::clone(&together));
            start(move || {
                together.wait();
                found.send(thread::current().id()).unwrap();
            })
            .unwrap();
        }
        drop(found);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 50);
        // Idle threads end.
        thread::sleep(IDLE * 3);
        assert!(locked(&WAITING).len() < 50);
    }
}
