//! The parts of the tool.

pub mod answer;
pub mod args;
pub mod files;
#[cfg(feature = "remote")]
pub mod named;
pub mod query;
pub mod stores;
pub mod workers;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use datafusion::error::{DataFusionError, Result};
use tokio::runtime::Builder;

/// Number of threads per processor, and at least. Batches of some queries take seconds, and others must answer meanwhile that this
/// process is alive.
const THREADS: (usize, usize) = (4, 16);

/// How long what a signal ends may take to remove files that are not complete.
const GRACE: Duration = Duration::from_millis(500);

/// How the tool ended.
pub enum Ended {
    Done(Result<()>),
    /// By a signal: the exit status that tells which.
    Stopped(u8),
}

/// Runs the tool on threads, of which there are more than readers. SIGINT and SIGTERM end it, and remove files that are not complete.
pub fn run(future: impl Future<Output = Result<()>>) -> Ended {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = processors.saturating_mul(THREADS.0).max(THREADS.1);
    let runtime = match Builder::new_multi_thread().worker_threads(threads).enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => return Ended::Done(Err(e.into())),
    };
    let ended = runtime.block_on(async {
        let ended = tokio::select! {
            done = future => return Ended::Done(done),
            signal = stopped() => Ended::Stopped(signal),
        };
        // The writers of files were dropped with the query, and remove them on other threads.
        tokio::time::sleep(GRACE).await;
        ended
    });
    // A thread may wait for a file or a terminal.
    runtime.shutdown_background();
    ended
}

/// Returns the exit status of the first signal that ends the process.
#[cfg(unix)]
async fn stopped() -> u8 {
    use tokio::signal::unix::{SignalKind, signal};

    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        // Then signals end the process at once.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => 130,
        _ = terminate.recv() => 143,
    }
}

#[cfg(not(unix))]
async fn stopped() -> u8 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => 130,
        Err(_) => std::future::pending().await,
    }
}

/// Standard output, which notes that its reader needs no more. Connections to workers and stores break, too, so that the
/// error of a query does not tell.
#[derive(Clone, Debug, Default)]
pub struct Output {
    broken: Arc<AtomicBool>,
}

impl Output {
    /// Whether the reader of the output needs no more.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    fn note<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if done.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe) {
            self.broken.store(true, Ordering::Relaxed);
        }
        done
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.note(io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.note(io::stdout().flush())
    }
}

/// Arguments of the libraries, and the options for them: of files that are named in a query, and of tables that it creates.
const OPTIONS: [(&str, &str); 10] = [
    (": set `Hints::element`", ""),
    ("option element gives it", "--type, or option element of a created table, gives it"),
    ("with option skip_damaged", "with --skip-damaged, or option skip_damaged of a created table,"),
    ("option skip_damaged leaves out", "--skip-damaged, or option skip_damaged of a created table, leaves out"),
    ("option dtype gives", "--dtype, or option dtype of a created table, gives"),
    (": pass a name to `table`", ""),
    ("option table names", "--table, or option table of a created table, names"),
    ("option tolerant reads", "--tolerant, or option tolerant of a created table, reads"),
    ("option sequential reads", "--no-index, or option sequential of a created table, reads"),
    (
        "option binary_as_string 'false' returns",
        "--bytes, or option binary_as_string 'false' of a created table, returns",
    ),
];

/// Returns an error as one line, without the words for errors around it.
pub fn one_line(e: &DataFusionError) -> String {
    let text = e.strip_backtrace().replace("\ncaused by\n", ": ");
    let mut line = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    for prefix in [
        "External error: ",
        "Execution error: ",
        "Error during planning: ",
        "Shared error: ",
        "Object Store error: ",
        "Generic server error: ",
        "This feature is not implemented: ",
    ] {
        line = line.replace(prefix, "");
    }
    with_options(line)
}

/// Returns a text of the libraries with the options of the tool.
fn with_options(mut text: String) -> String {
    for (argument, option) in OPTIONS {
        text = text.replace(argument, option);
    }
    text
}

/// The warnings that were printed for the current statement.
static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Maximum number of these. Then they are forgotten.
const MOST_TOLD: usize = 1 << 16;

/// Forgets which warnings were printed, before a statement.
pub fn forget_warnings() {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Prints warnings on standard error, each of them once for a statement: a file is read for its columns, for statistics and for rows.
/// `served`: a worker prints all.
pub fn warn(served: bool) {
    let mut logger = env_logger::Builder::new();
    logger.filter_level(log::LevelFilter::Warn).format(move |out, record| {
        let line = with_options(record.args().to_string());
        let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= MOST_TOLD {
            told.clear();
        }
        match served || told.insert(line.clone()) {
            true if record.level() == log::Level::Warn => writeln!(out, "pilaster-sql: warning: {line}"),
            true => writeln!(out, "pilaster-sql: {}: {line}", record.level()),
            false => Ok(()),
        }
    });
    logger.init();
}
