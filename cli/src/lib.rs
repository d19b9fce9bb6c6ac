//! `pilaster`: reads, verifies, converts and recovers columnar files from the command line. A library, as the package for Python
//! contains the tool, too; only [`run`], `print_rows`, conditions on rows and what recovers files are for callers.
//!
//! | module | contents |
//! |---|---|
//! | `args`, `sources`, `manual` | the command line: its grammar and help; completions and manual pages |
//! | `budget`, `failure` | how much a file may cost; errors and exit status |
//! | `open`, `detect`, `foreign` | the file: its bytes, its element type, its tables; its format; names of other formats |
//! | `columns` | a choice of columns, with their names |
//! | `walk`, `filter`, `sieve` | row by row over all columns; the language of conditions; conditions, and the rows that meet them |
//! | `digits`, `time`, `grid`, `csv`, `json`, `json_text`, `lines`, `variant`, `doubles` | values and rows as text; names that occur twice |
//! | `cells`, `figures`, `moments` | rows of batches as text, fast: their cells; the digits of numbers; dates and times |
//! | `escape` | control characters in names and texts |
//! | `content`, `spool` | the bytes of a file: in memory, or by positions; a pipe as a temporary file |
//! | `files` | several files, one by one, for `info` and `verify` |
//! | `pieces`, `threads` | a table cut into pieces; work on several threads, with results in order |
//! | `feed`, `slice`, `parts` | the rows of a table for a writer, and for `dump` and `info`, in bounded memory; some rows of a batch |
//! | `conversion` | all rows of a table to the writer of a format |
//! | `cat`, `dump`, `info` | the commands that print rows and columns, over the traits of `pilaster::column` alone |
//! | `convert`, `verify` | the commands that choose by the format: a writer, shares of the work |
//! | `extents`, `ahead`, `owned` | DataSeries files by several threads; columns that several threads read; a batch for another thread |
//! | `storable`, `noting` | the types that the target of `convert` stores; the column and row of an error |
//! | `tables` | tables and columns, as far as they are known without reading rows |
//! | `many` | many files to a directory |
//! | `goal`, `to_text` | what `convert` writes, by option or name; CSV and JSON lines to a file |
//! | `arrow` | Parquet, Arrow, CSV and JSON lines as sources; Parquet and Arrow as targets |
//! | `edit` | bcolz datasets changed in place |
//! | `sql` | runs the program that answers SQL |
//! | `special` | the trait for everything that is specific to a format |
//! | `filo`, `dataseries`, `jay`, `bcolz`, `vortex` | one format each: `info`, `dump`, `verify`; a bcolz chunk as a target |
//! | `vortex_dtype` | the type of a Vortex file or array that does not store it |
//! | `type_name`, `jay_layout`, `dataseries_facts` | types and facts in the words of the goldens; the tests of the library compare them, too |
//! | `dataseries_about` | the firmware that wrote a DataSeries file, units and comments of fields: attributes that no reader needs |
//! | `dataseries_tables` | the tables of a DataSeries file, in one walk over its extents |
//! | `receive`, `frames` | the command `receive`; frames of a serial line |
//! | `ring`, `runs` | a copy of a log in flash as one file; the runs of a device in a file, for `info` and `cat` |
//! | `recover` | the command `recover`, and the same for callers of the library |
//! | `rewrite`, `vortex_recover`, `vortex_claims`, `vortex_end`, `lost` | DataSeries to DataSeries, and `recover` for it; `recover` for Vortex |
//! | `vortex_blobs`, `vortex_counts`, `vortex_ids`, `vortex_match` | a Vortex file without its end: its arrays, their rows, their encodings, their columns |
//! | `vortex_rebuilt`, `vortex_plan`, `vortex_zoned` | a new end for it: what is saved, its layouts, the comparison with zones |
//! | `vortex_torn`, `vortex_frames`, `vortex_log_ids` | a Vortex log that is damaged or without its end: its checkpoints, its row groups, its encodings |
//! | `jay_recover` | `recover` for Jay |
//! | `target`, `interrupt`, `own` | the file to write; the removal of an incomplete one; whether signals are for this tool |
//!
//! Imports between modules form no cycle. Whatever the bytes are, the tool ends with status 0, 1 (the input is bad) or
//! 2 (the call is bad), and prints one line that says what is wrong.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    // All output goes to the writers that `run` creates.
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::dbg_macro
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation
    )
)]

mod ahead;
mod args;
#[cfg(feature = "arrow")]
mod arrow;
mod bcolz;
mod beside;
mod budget;
mod cat;
mod cells;
mod collected;
mod columns;
mod content;
mod conversion;
mod convert;
mod csv;
mod dataseries;
mod dataseries_about;
mod dataseries_facts;
mod dataseries_tables;
mod detect;
mod digits;
mod doubles;
mod dump;
mod edit;
mod escape;
mod extents;
mod failure;
mod feed;
mod figures;
mod files;
mod filo;
mod filter;
mod foreign;
mod frames;
mod goal;
mod grid;
mod info;
mod interrupt;
mod jay;
mod jay_layout;
mod jay_recover;
mod json;
mod json_text;
mod lines;
mod lost;
mod manual;
mod many;
mod moments;
mod noting;
mod open;
mod own;
mod owned;
mod parts;
mod pieces;
mod printers;
mod progress;
mod receive;
mod recover;
mod rewrite;
mod ring;
mod runs;
#[cfg(test)]
mod sample;
mod sieve;
mod slice;
mod sources;
mod special;
mod spool;
mod sql;
mod step;
mod storable;
mod tables;
mod target;
mod threads;
mod time;
mod to_text;
mod type_name;
mod variant;
mod verify;
mod vortex;
mod vortex_blobs;
mod vortex_claims;
mod vortex_counts;
mod vortex_dtype;
mod vortex_end;
mod vortex_frames;
mod vortex_ids;
mod vortex_log_ids;
mod vortex_match;
mod vortex_plan;
mod vortex_rebuilt;
mod vortex_recover;
mod vortex_torn;
mod vortex_zoned;
mod walk;

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, Write};

use pilaster::any::{File, Format};
use pilaster::dataseries::write::Repack;

use args::{Command, Stop};
use escape::Shown;
use failure::end;
use files::{Failed, each};
use goal::Goal;
use open::Input;
use serde_json::json;
use special::{special, with_file};

pub use args::Form;
#[cfg(feature = "arrow")]
pub use arrow::print_rows;
pub use content::Held;
pub use failure::Failure;
pub use filter::{Constant, Expression, Filter, Found, Literal, Operator, Test, constant, parse};
pub use foreign::name as foreign_name;
pub use recover::{Damaged, Options, Report, saved};

/// Runs a command as the program does, with the streams and signals of the process. The first argument is the name of the
/// program. Returns the exit status.
pub fn run(call: impl IntoIterator<Item = OsString>) -> u8 {
    let _own = own::own();
    let command = match args::parse(call) {
        Ok(cli) => cli.command,
        Err(Stop::Help(text)) => return end(print(&text)),
        Err(Stop::Error(line)) => return end(Err(Failure::Usage(line))),
    };
    // Locked once, written in large pieces, and flushed here, where a broken pipe is still an error.
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    // Rows go to a program as they are, but not to a terminal.
    let raw = matches!(command, Command::Cat(_) | Command::Head(_) | Command::Dump(_)) && !io::stdout().is_terminal();
    let done = if raw { act(&command, &mut out) } else { act(&command, &mut Shown::new(&mut out)) };
    let flushed = out.flush().map_err(Failure::Output);
    end(done.and(flushed))
}

/// Runs a command as [`run`] does, without what it prints on standard output. The first argument is the name of the program.
///
/// # Errors
/// The error of the call, or of the command, which is not printed.
pub fn run_quietly(call: impl IntoIterator<Item = OsString>) -> Result<(), Failure> {
    let _own = own::own();
    match args::parse(call) {
        Ok(cli) => act(&cli.command, &mut io::sink()),
        Err(Stop::Help(_)) => Ok(()),
        Err(Stop::Error(line)) => Err(Failure::Usage(line)),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn act(command: &Command, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Command::Info(how) => {
            let failed = |file: &str, error: &str| json!({ "file": file, "error": error });
            let json = how.json.then_some(&failed as Failed<'_>);
            each(&how.sources, json, out, |source, out| {
                #[cfg(feature = "arrow")]
                if let Some(foreign) = arrow::opened(source)? {
                    return arrow::info(foreign, how, out);
                }
                with_file(source, |input, file, special| info::run(input, file, special, how, out))
            })
        }
        Command::Verify(how) => {
            let failed = |file: &str, error: &str| json!({ "file": file, "ok": false, "error": error });
            let json = how.json.then_some(&failed as Failed<'_>);
            each(&how.sources, json, out, |source, out| {
                #[cfg(feature = "arrow")]
                if let Some(foreign) = arrow::opened(source)? {
                    return arrow::verify(foreign, how, out);
                }
                with_file(source, |input, file, special| verify::run(input, file, special, how, out))
            })
        }
        Command::Head(how) => cat::run(how, Some(10), out),
        Command::Cat(how) => cat::run(how, None, out),
        Command::Dump(how) => with_file(&how.source, |input, file, special| dump::run(input, file, special, out)),
        Command::Convert(how) => match (&how.out_dir, how.format_out) {
            (Some(dir), Some(goal)) => many::run(how, dir, goal, out, &mut converted),
            _ => converted(&how.single(), out),
        },
        Command::Recover(how) => recover::run(how, out),
        Command::Receive(how) => receive::run(how, out),
        Command::Edit(how) => edit::run(how, out),
        Command::Sql { arguments } => sql::run(arguments),
        Command::Completions { .. } | Command::Man { .. } => manual::run(command, out),
    }
}

/// Converts one file to one target.
fn converted(how: &args::Convert, out: &mut dyn Write) -> Result<(), Failure> {
    let goal = goal::goal(how, HINT)?;
    #[cfg(feature = "arrow")]
    let goal = goal.or_else(|| arrow::own_goal(&how.source));
    #[cfg(feature = "arrow")]
    if let Some(to) = goal
        && !matches!(to, Goal::Text(_))
        && arrow::convert(how, to, out)?
    {
        return Ok(());
    }
    match goal {
        Some(Goal::Text(form)) => to_text::convert(how, form, out),
        _ => with_file(&how.source, |input, file, _| convert(input, file, how, out)),
    }
}

/// What helps with a target whose extension is unknown.
const HINT: &str = "; --format-out names the format to write";

/// Copies complete DataSeries files to DataSeries extent by extent; every other conversion is row by row.
fn convert(input: &Input, file: &File<'_>, how: &args::Convert, out: &mut dyn Write) -> Result<(), Failure> {
    let to = goal::goal(how, HINT)?.unwrap_or(Goal::Format(input.format));
    if how.is_choice() && how.dataseries.repack() != Repack::KEEP {
        let why =
            "--plain, --compact, --pad and --ordering are for complete files, not for a choice of rows or columns";
        return Err(Failure::Usage(why.to_owned()));
    }
    let (target, mut err) = (&convert::open_target(how, to)?, Shown::new(io::stderr()));
    let out: &mut dyn Write = if target.is_stdout() { &mut err } else { out };
    match (file, to) {
        (File::DataSeries(series), Goal::Format(Format::DataSeries)) if !how.is_choice() => {
            rewrite::convert(input, series, (how, target), out)
        }
        (_, to) => {
            special(file).before_convert(input)?;
            convert::run(input, file, special(file).keys(), (how, target), to, out)
        }
    }
}
