//! Appends a measured ratio to the file of results, from which `peers/results.py` makes the tables of docs/performance.md.

use std::io::Write;

/// Appends a line to the file that the environment variable PILASTER_RESULTS names, if it is set. `ratio`: theirs by
/// ours in time, or ours by theirs in bytes.
pub fn record(table: &str, row: &str, column: &str, ratio: f64) {
    let Some(path) = std::env::var_os("PILASTER_RESULTS") else { return };
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("the file of results");
    // The empty columns have the two measured figures where a script knows them.
    writeln!(file, "{table}\t{row}\t{column}\t\t\t\t{ratio:.3}").expect("the file of results");
}
