//! `pilaster`: reads, verifies, converts and recovers columnar files from the command line.
//!
//! | module | contents |
//! |---|---|
//! | `args`, `manual` | the command line: its grammar and help; completions and manual pages |
//! | `failure` | errors and exit status |
//! | `open` | the file: its bytes, its format, its element type, its tables |
//! | `columns` | a choice of columns, with their names |
//! | `walk`, `filter` | row by row over all columns; conditions on rows |
//! | `digits`, `time`, `grid`, `csv`, `json` | values and rows as text |
//! | `escape` | control characters in names and texts |
//! | `cat`, `convert`, `dump`, `info` | the commands, over the traits of `pilaster::column` alone |
//! | `special` | the trait for everything that is specific to a format |
//! | `filo`, `dataseries`, `jay`, `bcolz`, `vortex` | one format each: `info`, `dump`, `verify` |
//! | `type_name`, `jay_layout`, `dataseries_facts` | types and facts in the words of the goldens; the tests of the library compare them, too |
//! | `rewrite`, `target` | DataSeries to DataSeries, and `recover` for it; the file to write |
//!
//! Imports between modules form no cycle. Whatever the bytes are, the tool ends with status 0, 1 (the input is bad) or
//! 2 (the call is bad), and prints one line that says what is wrong.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
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

mod args;
mod bcolz;
mod cat;
mod columns;
mod convert;
mod csv;
mod dataseries;
mod dataseries_facts;
mod digits;
mod dump;
mod escape;
mod failure;
mod filo;
mod filter;
mod grid;
mod info;
mod jay;
mod jay_layout;
mod json;
mod manual;
mod open;
mod progress;
mod rewrite;
#[cfg(test)]
mod sample;
mod special;
mod target;
mod time;
mod type_name;
mod vortex;
mod walk;

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::process::ExitCode;

use clap::Parser;
use pilaster::any::{File, Format};
use pilaster::column::Memory;

use args::{Cli, Command, Recover, Source};
use escape::Shown;
use failure::{Failure, end};
use open::Input;
use special::Special;

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        // Help and version.
        Err(e) if !e.use_stderr() => return end(print(&e.render().to_string()), "-"),
        Err(e) => return end(Err(Failure::Usage(args::one_line(&e))), "-"),
    };
    let name = source(&command).map_or_else(|| "-".to_owned(), |source| source.path.to_string());
    // Locked once and buffered. Flushed here, so that a broken pipe is an error and not lost on drop.
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    // Rows go to a program as they are, but not to a terminal.
    let raw = matches!(command, Command::Cat(_) | Command::Head(_) | Command::Dump(_)) && !io::stdout().is_terminal();
    let done = if raw { run(&command, &mut out) } else { run(&command, &mut Shown::new(&mut out)) };
    let flushed = out.flush().map_err(Failure::Output);
    end(done.and(flushed), &name)
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(io::stdout().write_all(text.as_bytes())?)
}

/// Returns the file that a command reads, if it reads one.
const fn source(command: &Command) -> Option<&Source> {
    Some(match command {
        Command::Info(source) | Command::Verify(source) => source,
        Command::Head(how) | Command::Cat(how) => &how.source,
        Command::Dump(how) => &how.source,
        Command::Recover(how) => &how.source,
        Command::Convert(how) => &how.source,
        Command::Completions { .. } | Command::Man { .. } => return None,
    })
}

fn run(command: &Command, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(source) = source(command) else { return manual::run(command, out) };
    let input = Input::load(source, matches!(command, Command::Recover(_)))?;
    if let Command::Recover(how) = command {
        return recover(&input, how, out);
    }
    let mut memory = Memory::default();
    let file = input.open(&mut memory)?;
    let special = special(&file);
    let done = match command {
        Command::Info(_) => info::run(&input, special, out),
        Command::Head(how) => cat::run(&input, &file, how, 10, out),
        Command::Cat(how) => cat::run(&input, &file, how, u64::MAX, out),
        Command::Dump(_) => dump::run(&input, &file, special, out),
        Command::Verify(_) => special.verify(&input, &file).and_then(|()| {
            let verified = special.verified(&input, &file)?;
            Ok(writeln!(out, "{}: ok, {verified}", input.path)?)
        }),
        Command::Convert(how) => convert(&input, &file, how, out),
        Command::Recover(_) | Command::Completions { .. } | Command::Man { .. } => Ok(()),
    };
    done.map_err(|failure| match failure {
        Failure::Format(e) => special.explain(e),
        other => other,
    })
}

/// Returns the implementation for the format of `file`.
fn special<'f>(file: &'f File<'f>) -> &'f dyn Special {
    match file {
        File::Filo(vector) => vector,
        File::DataSeries(series) => series,
        File::Bcolz(chunk, _) => chunk,
        File::Dataset(dataset) => *dataset,
        File::Jay(frame) => frame,
        File::Vortex(vortex) => vortex,
    }
}

/// Copies DataSeries to DataSeries extent by extent; every other conversion is row by row.
fn convert(input: &Input, file: &File<'_>, how: &args::Convert, out: &mut dyn Write) -> Result<(), Failure> {
    match (file, convert::target(input.format, how)) {
        (File::DataSeries(series), Format::DataSeries) => rewrite::convert(input, series, how, out),
        (_, to) => {
            special(file).before_convert(input)?;
            convert::run(input, file, special(file).keys(), how, to, out)
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
        (Format::Jay, _) => only().and_then(|()| jay::recover(input, how, out)),
        _ => rewrite::recover(input, how, out),
    }
}
