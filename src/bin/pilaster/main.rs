//! `pilaster`: looks into columnar files from the command line.
//!
//! | module | what it does |
//! |---|---|
//! | `args`, `help` | the command line: its grammar and its help |
//! | `open` | the file: its bytes, its format, its element type |
//! | `walk` | rows of all columns side by side, over the traits of `pilaster::column` alone |
//! | `cell` | one value of one row, and its text |
//! | `csv`, `json` | a row as text |
//! | `bcolz` | the commands on a bcolz dataset, which is a directory, and on a chunk |
//! | `dataseries`, `jay`, `vortex` | what `dump` and `info` say of a file of that format alone |
//! | `rewrite` | the commands that write files: `recover`, `convert` of a DataSeries file to another |
//! | `convert`, `pick` | `convert` between formats, over `pilaster::column` alone; a choice of columns |
//! | `cat`, `dump`, `info`, `verify` | the other commands |
//!
//! Whatever the bytes are, the tool ends with status 0, 1 (the input is bad) or 2 (the call is bad),
//! and says on one line what is wrong.

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
mod cell;
mod convert;
mod csv;
mod dataseries;
mod dump;
mod help;
mod info;
mod jay;
mod json;
mod open;
mod pick;
mod progress;
mod rewrite;
#[cfg(test)]
mod sample;
mod verify;
mod vortex;
mod walk;

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use args::{Call, Command};
use pilaster::any::Format;

/// Why the tool stops.
#[derive(Debug)]
enum Failure {
    /// The call is bad: status 2.
    Usage(String),
    /// The input is bad: status 1.
    Input(String),
    /// Standard output does not take more: status 1, or 0 if its reader has left.
    Output(io::Error),
}

impl Failure {
    /// What is wrong with column `name`, row `row` of the input.
    fn in_row(name: &str, row: u64, error: impl fmt::Display) -> Self {
        Failure::Input(format!("column {name}, row {row}: {error}"))
    }
}

impl From<pilaster::Error> for Failure {
    fn from(error: pilaster::Error) -> Self {
        Failure::Input(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

fn main() -> ExitCode {
    let task = match args::parse(lexopt::Parser::from_env()) {
        Ok(Call::Run(task)) => task,
        Ok(Call::Print(text)) => return end(io::stdout().write_all(text.as_bytes()).map_err(Failure::Output), "-"),
        Err(message) => return end(Err(Failure::Usage(message)), "-"),
    };
    // Locked once, written in large pieces, and flushed here, where a broken pipe is still an error.
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let done = run(&task, &mut out);
    let flushed = out.flush().map_err(Failure::Output);
    end(done.and(flushed), &task.source.to_string())
}

fn run(task: &args::Task, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(dir) = open::dataset(task) {
        return bcolz::run(task, dir, out);
    }
    let input = open::Input::load(task)?;
    // A damaged file need not open.
    if let Command::Recover(how) = &task.command {
        return match input.format {
            Format::Jay => jay::recover(input, task, how, out),
            _ => rewrite::recover(&input, how, out),
        };
    }
    let mut memory = vec![0; input.room(task)];
    let file = input.open(task, &mut memory)?;
    match &task.command {
        Command::Info => info::run(&input, &file, out),
        Command::Cat(how) => cat::run(&input, &file, how, out),
        Command::Dump => dump::run(&input, &file, out),
        Command::Verify => verify::run(&input, &file, out),
        Command::Convert(how) => rewrite::convert(&input, &file, how, out),
        Command::Recover(_) => Ok(()),
    }
}

/// The exit status, and the one line about it.
fn end(done: Result<(), Failure>, name: &str) -> ExitCode {
    let (status, line) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Output(e)) if e.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(e)) => (1, format!("standard output: {e}")),
        Err(Failure::Input(message)) => (1, format!("{name}: {message}")),
        Err(Failure::Usage(message)) => (2, message),
    };
    // Nothing is left to do where even this cannot be written.
    let _ = writeln!(io::stderr(), "pilaster: {line}");
    ExitCode::from(status)
}
