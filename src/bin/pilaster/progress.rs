//! A bar on standard error, for long work on a terminal.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// Counts rows. Says nothing unless standard error is a terminal and the work lasts.
pub struct Progress {
    rows: u64,
    start: Instant,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl Progress {
    /// For work on `rows` rows. `shared`: standard output is being written meanwhile, so a bar must
    /// not appear if that is a terminal, too.
    pub fn new(rows: u64, shared: bool) -> Self {
        let shown = io::stderr().is_terminal() && !(shared && io::stdout().is_terminal());
        Progress { rows, start: Instant::now(), bar: None, shown }
    }

    /// So many rows are done.
    pub fn at(&mut self, row: u64) {
        if self.shown && self.bar.is_none() && self.start.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.rows);
            // The template is a constant: without it the bar looks plainer, nothing else.
            if let Ok(style) = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} rows, {eta} left") {
                bar.set_style(style);
            }
            // What was done without a bar is no measure of the speed from here on.
            bar.set_position(row);
            bar.reset_eta();
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(row);
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
