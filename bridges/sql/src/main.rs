//! `pilaster-sql`: SQL over columnar files. `pilaster sql` runs it.
//!
//! | module | contents |
//! |---|---|
//! | `args` | the command line |
//! | `files` | files named in a query as tables |
//! | `query` | runs a query, on this machine or on workers |
//! | `stores`, `named` | stores of files, also servers, whose errors name the URL |
//! | `answer` | prints rows, or writes them to a file |
//! | `workers` | a worker, and connections to workers |

#![forbid(unsafe_code)]
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

mod tool;

/// Threads that read pass batches to threads that compute. The allocator of the C library returns memory that another thread frees to
/// the system: queries take up to 1.5 times the CPU time with it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use tool::args::{Args, Command};
use tool::{Ended, Output};

fn main() -> ExitCode {
    let args = Args::parse();
    tool::warn(args.command.is_some());
    let out = Output::default();
    let done = match &args.command {
        Some(Command::Worker { listen }) => tool::run(tool::workers::serve(listen, &mut out.clone())),
        None => tool::run(tool::query::run(&args, out.clone())),
    };
    match done {
        Ended::Stopped(status) => ExitCode::from(status),
        Ended::Done(Ok(())) => ExitCode::SUCCESS,
        Ended::Done(Err(_)) if out.is_broken() => ExitCode::SUCCESS,
        Ended::Done(Err(e)) => {
            // Nothing can be done if this fails.
            let _ = writeln!(io::stderr(), "pilaster-sql: {}", tool::one_line(&e));
            ExitCode::FAILURE
        }
    }
}
