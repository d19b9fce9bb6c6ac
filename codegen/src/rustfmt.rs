//! Formats code like the project, so that `cargo fmt` does not change a generated file.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::Result;

/// Formats `text` with `rustfmt` of the pinned toolchain and the `rustfmt.toml` of the project.
pub fn format(text: &str) -> Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path", "."])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("rustfmt: {e}"))?;
    // Dropping the pipe ends the input. rustfmt reads all of it before it writes.
    let mut stdin = child.stdin.take().ok_or("rustfmt has no input")?;
    stdin.write_all(text.as_bytes()).map_err(|e| format!("rustfmt: {e}"))?;
    drop(stdin);
    let output = child.wait_with_output().map_err(|e| format!("rustfmt: {e}"))?;
    if !output.status.success() {
        return Err(format!("rustfmt: {}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|e| format!("rustfmt: {e}"))
}
