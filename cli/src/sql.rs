//! `sql`: runs `pilaster-sql`, a program of its own, as an SQL engine is some twenty times as large as this tool.

use std::env::consts::EXE_SUFFIX;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::Failure;

/// How the program is installed.
const INSTALL: &str = "cargo install --locked --path bridges/sql --features tool";

pub fn run(arguments: &[OsString]) -> Result<(), Failure> {
    let name = format!("pilaster-sql{EXE_SUFFIX}");
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(&name)).filter(|path| path.is_file());
    ask(beside.unwrap_or_else(|| PathBuf::from(name)).as_os_str(), arguments)
}

/// Runs the program. Its errors are printed by itself.
fn ask(program: &OsStr, arguments: &[OsString]) -> Result<(), Failure> {
    match Command::new(program).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) if status.code() == Some(2) => Err(Failure::PrintedUsage),
        Ok(status) if status.code().is_some() => Err(Failure::Printed),
        Ok(status) => Err(Failure::Input(format!("pilaster-sql was stopped: {status}"))),
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Failure::Usage(format!(
            "pilaster-sql is not installed; {INSTALL:?} in the sources of pilaster installs it"
        ))),
        Err(e) => Err(Failure::Input(format!("pilaster-sql cannot be run: {e}"))),
    }
}
