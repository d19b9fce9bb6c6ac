//! A bar on standard error, for long work on a terminal.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// Counts rows or bytes. Says nothing unless standard error is a terminal and the work lasts.
pub struct Progress {
    most: u64,
    template: &'static str,
    start: Instant,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl Progress {
    /// For work on `rows` rows. `shared`: standard output is being written meanwhile, so a bar must
    /// not appear if that is a terminal, too.
    pub fn new(rows: u64, shared: bool) -> Self {
        let shown = io::stderr().is_terminal() && !(shared && io::stdout().is_terminal());
        let template = "{wide_bar} {human_pos}/{human_len} rows, {eta} left";
        Progress { most: rows, template, start: Instant::now(), bar: None, shown }
    }

    /// For work on `bytes` bytes, while nothing is printed.
    pub fn bytes(bytes: u64) -> Self {
        let template = "{wide_bar} {bytes}/{total_bytes}, {eta} left";
        let mut progress = Progress::new(bytes, false);
        progress.template = template;
        progress
    }

    /// So many are done.
    pub fn at(&mut self, done: u64) {
        if self.shown && self.bar.is_none() && self.start.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.most);
            // The templates are constants: without it the bar looks plainer, nothing else.
            if let Ok(style) = ProgressStyle::with_template(self.template) {
                bar.set_style(style);
            }
            // What was done without a bar is no measure of the speed from here on.
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
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
