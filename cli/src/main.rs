//! `pilaster`: reads, verifies, converts and recovers columnar files from the command line.
//!
//! | module | what it does |
//! |---|---|
//! | `args`, `manual` | the command line: its grammar and help; completions and manual pages |
//! | `failure` | why a command stops |
//! | `open` | the file: its bytes, its format, its element type, its tables |
//! | `columns` | a choice of columns, with their names |
//! | `walk` | rows of all columns side by side |
//! | `digits`, `csv`, `json` | a value and a row as text |
//! | `cat`, `convert`, `dump`, `info` | the commands, over the traits of `pilaster::column` alone |
//! | `edit` | bcolz datasets changed in place |
//! | `special` | what a command has to ask of each format |
//! | `filo`, `dataseries`, `jay`, `bcolz`, `vortex` | what is particular to a format, for `info`, `dump`, `verify` |
//! | `type_name`, `jay_layout`, `dataseries_facts` | types and facts in the words of the goldens; the tests of the library compare them, too |
//! | `rewrite`, `target` | DataSeries to DataSeries, and its `recover`; the file to write |
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
mod edit;
mod failure;
mod filo;
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
mod type_name;
mod vortex;
mod walk;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use pilaster::any::{File, Format};
use pilaster::column::Memory;

use args::{Cli, Command, Recover, Source};
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
    // Locked once, written in large pieces, and flushed here, where a broken pipe is still an error.
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let done = run(&command, &mut out);
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
        Command::Edit(how) => &how.source,
        Command::Completions { .. } | Command::Man { .. } => return None,
    })
}

fn run(command: &Command, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(source) = source(command) else { return manual::run(command, out) };
    if let Command::Edit(how) = command {
        return edit::run(how, out);
    }
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
        Command::Recover(_) | Command::Edit(_) | Command::Completions { .. } | Command::Man { .. } => Ok(()),
    };
    done.map_err(|failure| match failure {
        Failure::Format(e) => special.explain(e),
        other => other,
    })
}

/// Returns what is particular to the format of `file`.
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

/// A file of the format that it has already is packed anew, extent by extent, if the format is DataSeries.
fn convert(input: &Input, file: &File<'_>, how: &args::Convert, out: &mut dyn Write) -> Result<(), Failure> {
    match (file, convert::target(input.format, how)) {
        (File::DataSeries(series), Format::DataSeries) => rewrite::convert(input, series, how, out),
        (_, to) => {
            special(file).before_convert(input)?;
            convert::run(input, file, special(file).keys(), how, to, out)
        }
    }
}

/// A damaged file need not open.
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
