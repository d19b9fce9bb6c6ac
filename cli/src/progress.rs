//! A progress bar on standard error, for long work on a terminal.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::own::is_own;

/// The bar appears after this time.
const PATIENCE: Duration = Duration::from_millis(700);

/// The time between two looks at the work of another thread.
const MOMENT: Duration = Duration::from_millis(20);

/// Counts rows or bytes. Shows nothing unless the process is the tool, standard error is a terminal and the work takes longer than
/// [`PATIENCE`].
pub struct Progress {
    most: u64,
    template: &'static str,
    start: Instant,
    bar: Option<ProgressBar>,
    shown: bool,
    /// Whether it is a bar over several files.
    outer: bool,
}

/// Whether a bar over several files lives.
static OUTER: AtomicBool = AtomicBool::new(false);

const ROWS: &str = "{wide_bar} {human_pos}/{human_len} rows, {eta} left";
const FILES: &str = "{wide_bar} {pos}/{len} files, {eta} left";
const BYTES: &str = "{wide_bar} {bytes}/{total_bytes}, {eta} left";

impl Progress {
    /// Creates a bar for `rows` rows. `shared`: standard output is written at the same time, so the bar must not appear
    /// if that is a terminal, too.
    pub fn new(rows: u64, shared: bool) -> Self {
        Progress::of(|| rows, ROWS, shared)
    }

    /// Creates a bar for a number of rows that is computed only if the bar may appear.
    pub fn counted(rows: impl FnOnce() -> u64, shared: bool) -> Self {
        Progress::of(rows, ROWS, shared)
    }

    /// Creates a bar for `bytes` bytes, for work that prints nothing.
    pub fn bytes(bytes: u64) -> Self {
        Progress::of(|| bytes, BYTES, false)
    }

    /// Creates a bar for `bytes` bytes that are read. `shared`: see [`new`](Self::new).
    #[cfg(feature = "arrow")]
    pub fn read(bytes: u64, shared: bool) -> Self {
        Progress::of(|| bytes, BYTES, shared)
    }

    /// Creates a bar for `files` files, for work that prints nothing. As long as it lives, there are no other bars.
    pub fn files(files: u64) -> Self {
        let mut progress = Progress::of(|| files, FILES, false);
        OUTER.store(true, Ordering::Relaxed);
        progress.outer = true;
        progress
    }

    fn of(most: impl FnOnce() -> u64, template: &'static str, shared: bool) -> Self {
        let alone = is_own() && !OUTER.load(Ordering::Relaxed);
        let shown = alone && io::stderr().is_terminal() && !(shared && io::stdout().is_terminal());
        let most = if shown { most() } else { 0 };
        Progress { most, template, start: Instant::now(), bar: None, shown, outer: false }
    }

    /// Does `work` on another thread, if the bar may appear, and asks `done` now and then for the number of rows or bytes
    /// that are done.
    pub fn watch<T: Send>(&mut self, done: &dyn Fn() -> u64, work: &(dyn Fn() -> T + Sync)) -> T {
        if !self.shown {
            return work();
        }
        thread::scope(|scope| {
            let Ok(worker) = thread::Builder::new().spawn_scoped(scope, work) else { return work() };
            while !worker.is_finished() {
                thread::sleep(MOMENT);
                self.at(done());
            }
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Sets the number of rows or bytes that are done.
    pub fn at(&mut self, done: u64) {
        if self.shown && self.bar.is_none() && self.start.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.most);
            // The templates are constants. An error only means the default style.
            if let Ok(style) = ProgressStyle::with_template(self.template) {
                bar.set_style(style);
            }
            // Without the reset, the estimate would count all earlier work as done in an instant.
            bar.set_position(done);
            bar.reset_eta();
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.outer {
            OUTER.store(false, Ordering::Relaxed);
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
