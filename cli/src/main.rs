//! The program `pilaster`. All of it is in the library, which the package for Python contains, too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(pilaster_cli::run(std::env::args_os()))
}
