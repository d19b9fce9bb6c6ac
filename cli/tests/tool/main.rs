//! The command-line tool, run as a process on every golden file.

#[path = "../../../tests/common/mod.rs"]
mod common;

#[cfg(feature = "arrow")]
mod arrow_files;
mod bcolz;
#[path = "../../../tests/support/vortex.rs"]
mod build;
mod conversions;
#[cfg(feature = "arrow")]
mod convert_page;
mod damaged;
mod dataseries;
mod dataseries_verdicts;
mod documents;
mod edit;
#[cfg(feature = "arrow")]
mod every_way;
mod filo;
mod head;
mod jay;
mod matrix;
#[cfg(all(feature = "arrow", target_os = "linux"))]
mod memory;
mod people;
mod ranges;
#[cfg(unix)]
mod receive;
mod recover_nothing;
mod refusals;
mod runs;
#[cfg(unix)]
mod sql;
mod targets;
mod threads;
#[cfg(feature = "arrow")]
mod to_arrow;
mod vortex;
mod vortex_convert;
mod vortex_endless;
mod vortex_logs;
mod vortex_options;
mod vortex_recover;
mod vortex_torn;
mod where_in_convert;
mod write;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pilaster_cli::Failure;
use serde_json::Value;
use sha2::{Digest, Sha256};

fn pilaster() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pilaster"))
}

fn run(args: &[&str]) -> Output {
    pilaster().args(args).output().unwrap()
}

/// Runs a command in this process: another one takes 6 ms of CPU to start, which tests that cut files at every byte do not need. Returns
/// whether it succeeded; if not, the input must be bad.
fn succeeds_in_process(args: &[&str]) -> bool {
    let call = ["pilaster"].iter().chain(args).map(Into::into);
    match pilaster_cli::run_quietly(call) {
        Ok(()) => true,
        Err(Failure::Format(_) | Failure::Input(_)) => false,
        Err(other) => panic!("{args:?}: {other:?}"),
    }
}

fn run_on(args: &[&str], input: &[u8]) -> Output {
    let mut child =
        pilaster().args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn out(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

/// Returns standard output of a call that must succeed and print nothing on standard error.
fn good(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!((output.status.code(), str::from_utf8(&output.stderr)), (Some(0), Ok("")), "{args:?}");
    out(&output).to_owned()
}

/// Returns the one line on standard error of a call that must fail with `status` and print nothing else.
fn bad(status: i32, args: &[&str]) -> String {
    failed(status, &run(args))
}

fn failed(status: i32, output: &Output) -> String {
    let line = str::from_utf8(&output.stderr).unwrap();
    assert_eq!((output.status.code(), out(output)), (Some(status), ""), "{line}");
    assert!(line.starts_with("pilaster: ") && line.ends_with('\n') && line.lines().count() == 1, "{line:?}");
    line.trim_end().to_owned()
}

/// Returns what `dump` prints.
fn dump(args: &[&str]) -> Value {
    let text = good(&[&["dump"], args].concat());
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}"))
}

/// Returns the path of a file or directory that one test writes. Removes what an earlier run left there.
fn target(name: &str) -> String {
    let path = common::tmp().join(name);
    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    path.to_str().unwrap().to_owned()
}

/// Returns a new empty directory for one test.
fn place(name: &str) -> PathBuf {
    let place = common::tmp().join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

/// Returns the digest of the expectations: over the JSON texts of the values, joined by line feeds.
fn digest(values: &[Value]) -> String {
    let text = values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
