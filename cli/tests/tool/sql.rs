//! `pilaster sql` runs `pilaster-sql`, which these tests replace by a script.

use std::fs;
use std::process::Command;

/// The tool and a program `pilaster-sql` with this text in a directory of their own.
fn beside(script: Option<&str>) -> (tempfile::TempDir, Command) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let tool = dir.path().join("pilaster");
    // Neither file is opened for writing here: a program that another test starts at that moment would inherit it, and a file
    // that is open for writing cannot be run.
    fs::hard_link(env!("CARGO_BIN_EXE_pilaster"), &tool).unwrap();
    if let Some(script) = script {
        let mut write = Command::new("/bin/sh");
        write.args(["-c", "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"", "sh", script]);
        assert!(write.arg(dir.path().join("pilaster-sql")).status().unwrap().success());
    }
    let mut command = Command::new(tool);
    command.env("PATH", dir.path());
    (dir, command)
}

#[test]
fn all_arguments_are_passed_on() {
    let (_dir, mut tool) = beside(Some("#!/bin/sh\nfor one; do echo \"$one\"; done\n"));
    let output = tool.args(["sql", "--help", "--format", "csv", "select 1", "-x"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--help\n--format\ncsv\nselect 1\n-x\n");
    assert!(output.status.success());
}

#[test]
fn its_status_is_that_of_the_tool() {
    for (code, expected) in [(0, 0), (1, 1), (2, 2), (77, 1)] {
        let (_dir, mut tool) = beside(Some(&format!("#!/bin/sh\nexit {code}\n")));
        let output = tool.args(["sql", "select 1"]).output().unwrap();
        assert_eq!(output.status.code(), Some(expected));
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn a_missing_program_is_named_with_what_installs_it() {
    let (_dir, mut tool) = beside(None);
    let output = tool.args(["sql", "select 1"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("cargo install --locked --path bridges/sql --features tool"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}
