//! Several files, one by one, for `info` and `verify`.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::escape::escaped;
use crate::failure::{self, Failure};
use crate::sources::{Source, Sources};

/// Returns the document about a file that has an error: of its path, and the error.
pub type Failed<'f> = &'f dyn Fn(&str, &str) -> Value;

/// Calls `act` for each file, and continues after errors. For several files, the last line has their number. A directory
/// without files is an error. `json`: the output is for a program, with a document for each error, too; the last line is then
/// on standard error, as the errors always are.
pub fn each(
    sources: &Sources,
    json: Option<Failed<'_>>,
    out: &mut dyn Write,
    mut act: impl FnMut(&Source, &mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let found = sources.find()?;
    if let Some(only) = found.only() {
        let done = act(only, out).map_err(|failure| failure.of(&only.path));
        return done.or_else(|failure| document(json, &only.path.to_string(), &failure, out).and(Err(failure)));
    }
    let barren = |dir: &Path, out: &mut dyn Write| {
        let failure = found.no_files(dir);
        document(json, &dir.display().to_string(), &failure, out).map(|()| failure)
    };
    if let (true, [dir]) = (found.files.is_empty() && found.unknown.is_empty(), &found.empty[..]) {
        return Err(barren(dir, out)?);
    }
    let (mut bad, mut untyped) = (0usize, 0usize);
    for source in &found.files {
        match act(source, out).map_err(|failure| failure.of(&source.path)) {
            Err(failure @ Failure::Output(_)) => return Err(failure),
            Err(failure) => {
                document(json, &source.path.to_string(), &failure, out)?;
                // In the order of the files, wherever the two streams go.
                out.flush()?;
                failure::print(&failure);
                let count = if matches!(failure, Failure::Untyped(_)) { &mut untyped } else { &mut bad };
                *count = count.saturating_add(1);
            }
            Ok(()) => {}
        }
    }
    for dir in &found.empty {
        let failure = barren(dir, out)?;
        out.flush()?;
        failure::print(&failure);
    }
    out.flush()?;
    let files = found.files.len();
    let mut line = format!("{files} files: {} ok, {bad} bad", files.saturating_sub(bad).saturating_sub(untyped));
    if untyped > 0 {
        line.push_str(&format!(", {untyped} need --type"));
    }
    if let Some(first) = found.unknown.first() {
        line.push_str(&format!("; {} of unknown format, as {}", found.unknown.len(), first.display()));
    }
    match json {
        Some(_) => failure::warn(&line),
        None => writeln!(out, "{}", escaped(&line))?,
    }
    match (bad > 0 || !found.empty.is_empty(), untyped > 0) {
        (false, false) => Ok(()),
        (false, true) => Err(Failure::PrintedUsage),
        (true, _) => Err(Failure::Printed),
    }
}

/// Prints the document about a failure. If standard output failed, there is none.
fn document(json: Option<Failed<'_>>, path: &str, failure: &Failure, out: &mut dyn Write) -> Result<(), Failure> {
    let (Some(json), Some(text)) = (json, failure.text()) else { return Ok(()) };
    // The document has the path already.
    let error = text.strip_prefix(path).and_then(|text| text.strip_prefix(": ")).unwrap_or(&text);
    Ok(writeln!(out, "{}", json(path, error))?)
}
