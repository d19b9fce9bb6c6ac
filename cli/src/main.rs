//! `pilaster`: reads, verifies, converts and recovers columnar files from the command line.
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
//! | `spool` | a pipe as a temporary file |
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
//! | `dataseries_tables` | the tables of a DataSeries file, in one walk over its extents |
//! | `rewrite`, `vortex_recover`, `vortex_claims`, `vortex_end`, `lost` | DataSeries to DataSeries, and `recover` for it; `recover` for Vortex |
//! | `vortex_blobs`, `vortex_counts`, `vortex_ids`, `vortex_match` | a Vortex file without its end: its arrays, their rows, their encodings, their columns |
//! | `vortex_rebuilt`, `vortex_plan`, `vortex_zoned` | a new end for it: what is saved, its layouts, the comparison with zones |
//! | `vortex_torn`, `vortex_frames`, `vortex_log_ids` | a Vortex log that is damaged or without its end: its checkpoints, its row groups, its encodings |
//! | `jay_recover` | `recover` for Jay |
//! | `target`, `interrupt` | the file to write; the removal of an incomplete one |
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
    // All output goes to the writers that `main` creates.
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
mod budget;
mod cat;
mod cells;
mod columns;
mod conversion;
mod convert;
mod csv;
mod dataseries;
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
mod owned;
mod parts;
mod pieces;
mod progress;
mod rewrite;
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

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::process::ExitCode;

use pilaster::any::{File, Format};
use pilaster::dataseries::write::Repack;

use args::{Command, Recover, Stop};
use escape::Shown;
use failure::{Failure, end};
use files::{Failed, each};
use goal::Goal;
use open::Input;
use serde_json::json;
use special::{special, with_file};
use target::Target;

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os()) {
        Ok(cli) => cli.command,
        Err(Stop::Help(text)) => return end(print(&text)),
        Err(Stop::Error(line)) => return end(Err(Failure::Usage(line))),
    };
    // Locked once, written in large pieces, and flushed here, where a broken pipe is still an error.
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    // Rows go to a program as they are, but not to a terminal.
    let raw = matches!(command, Command::Cat(_) | Command::Head(_) | Command::Dump(_)) && !io::stdout().is_terminal();
    let done = if raw { run(&command, &mut out) } else { run(&command, &mut Shown::new(&mut out)) };
    let flushed = out.flush().map_err(Failure::Output);
    end(done.and(flushed))
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn run(command: &Command, out: &mut dyn Write) -> Result<(), Failure> {
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
        Command::Recover(how) => {
            let input = detect::load(&how.source, Some(how)).map_err(|failure| failure.of(&how.source.path))?;
            let done = recover(&input, how, out);
            input.report();
            done.map_err(|failure| input.failure(failure).of(&how.source.path))
        }
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

/// The input may be so damaged that it cannot be opened.
fn recover(input: &Input, how: &Recover, out: &mut dyn Write) -> Result<(), Failure> {
    let only = || {
        let why = format!("--types and --order are for DataSeries files; {} is {}", input.path, input.format);
        if how.types.is_some() || how.order.is_some() { Err(Failure::Usage(why)) } else { Ok(()) }
    };
    match (input.format, input.dataset()) {
        (_, Some(dataset)) => only().and_then(|()| bcolz::recover(dataset, how, out)),
        (format, _) => {
            if matches!(format, Format::DataSeries | Format::Jay | Format::Vortex) {
                input.check(true)?;
            }
            let (conversion, mut err) = (vortex_recover::conversion(how), Shown::new(io::stderr()));
            let (target, to) = match format {
                Format::Vortex => {
                    let to = goal::goal(&conversion, "")?.unwrap_or(Goal::Format(format));
                    if matches!(to, Goal::Text(_)) {
                        let why = "recover does not write text: recover to .vortex, and convert that";
                        return Err(Failure::Usage(why.to_owned()));
                    }
                    (&convert::open_target(&conversion, to)?, to)
                }
                _ => (&Target::file(&how.target, how.force)?, Goal::Format(format)),
            };
            let out: &mut dyn Write = if target.is_stdout() { &mut err } else { out };
            match format {
                Format::Vortex => only().and_then(|()| vortex_recover::recover(input, &conversion, (to, target), out)),
                Format::Jay => only().and_then(|()| jay_recover::recover(input, (how, target), out)),
                _ => rewrite::recover(input, (how, target), out),
            }
        }
    }
}
