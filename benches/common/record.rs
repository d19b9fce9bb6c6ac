//! Appends a measured ratio to the file of results, from which `peers/results.py` makes the tables of docs/performance.md.

use std::io::Write;

/// Both measured figures. A unit that ends with `/s` is a speed.
#[allow(dead_code, reason = "each bench uses a part of it")]
pub struct Pair {
    pub theirs: f64,
    pub ours: f64,
    pub unit: &'static str,
}

/// Appends a line to the file that the environment variable PILASTER_RESULTS names, if it is set. `ratio`: theirs by
/// ours in time, or ours by theirs in speed and in bytes.
#[allow(dead_code, reason = "each bench uses a part of it")]
pub fn record(table: &str, row: &str, column: &str, ratio: f64) {
    append(table, row, column, "\t\t", ratio);
}

/// Appends a line with both figures. The ratio is given, since it may regard that the figures are of different machines.
#[allow(dead_code, reason = "each bench uses a part of it")]
pub fn record_pair(table: &str, row: &str, column: &str, pair: Pair, ratio: f64) {
    append(table, row, column, &format!("{:.4}\t{:.4}\t{}", pair.theirs, pair.ours, pair.unit), ratio);
}

fn append(table: &str, row: &str, column: &str, figures: &str, ratio: f64) {
    let Some(path) = std::env::var_os("PILASTER_RESULTS") else { return };
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("the file of results");
    writeln!(file, "{table}\t{row}\t{column}\t{figures}\t{ratio:.3}").expect("the file of results");
}
