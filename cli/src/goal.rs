//! What `convert` writes: a format of the library, Arrow and Parquet, or text.

use std::fmt;
use std::path::Path;

use pilaster::any::Format;
#[cfg(feature = "arrow")]
use pilaster_arrow::input::FileKind;
#[cfg(feature = "arrow")]
use pilaster_arrow::write::Kind;

use crate::args::{Convert, Form};
use crate::failure::Failure;
use crate::foreign::remedy;

/// The extension of a target that is one Blosc chunk.
pub const CHUNK: &str = "blosc";

/// The format that `convert` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Format(Format),
    #[cfg(feature = "arrow")]
    Arrow(Kind),
    /// CSV or JSON lines.
    Text(Form),
}

impl Goal {
    /// Returns the extensions of targets. Text is written in one dialect, hence not to `.tsv`.
    fn extensions() -> impl Iterator<Item = (&'static str, Goal)> {
        let others = [("ds", Goal::Format(Format::DataSeries)), (CHUNK, Goal::Format(Format::Bcolz))];
        let all = Goal::all().chain(others);
        #[cfg(feature = "arrow")]
        let all = {
            let of = |(kind, goal): (FileKind, Kind)| kind.extensions().map(move |name| (name, Goal::Arrow(goal)));
            // The first extension is the name.
            let kinds = [(FileKind::Parquet, Kind::Parquet), (FileKind::IpcFile, Kind::IpcFile)];
            all.chain(kinds.into_iter().flat_map(move |kind| of(kind).skip(1)))
        };
        all.chain([("ndjson", Goal::Text(Form::JsonLines))])
    }

    /// Returns what a file with this extension has.
    pub fn of_extension(extension: &str) -> Option<Goal> {
        Goal::extensions().find(|(known, _)| extension.eq_ignore_ascii_case(known)).map(|(_, goal)| goal)
    }

    /// Returns the names of `--format-out`, which are extensions, too.
    pub fn all() -> impl Iterator<Item = (&'static str, Goal)> {
        let formats = Format::ALL.into_iter().map(|format| (format.name(), Goal::Format(format)));
        #[cfg(feature = "arrow")]
        let formats = formats.chain([
            ("parquet", Goal::Arrow(Kind::Parquet)),
            ("arrow", Goal::Arrow(Kind::IpcFile)),
            ("arrows", Goal::Arrow(Kind::IpcStream)),
        ]);
        formats.chain([("csv", Goal::Text(Form::Csv)), ("jsonl", Goal::Text(Form::JsonLines))])
    }

    /// Returns whether time zones of timestamps are kept.
    pub const fn has_zones(self) -> bool {
        match self {
            Goal::Format(format) => matches!(format, Format::Vortex),
            #[cfg(feature = "arrow")]
            Goal::Arrow(_) => true,
            Goal::Text(_) => false,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Format(format) => format.fmt(f),
            #[cfg(feature = "arrow")]
            Goal::Arrow(Kind::Parquet) => f.write_str("Parquet"),
            #[cfg(feature = "arrow")]
            Goal::Arrow(_) => f.write_str("Arrow"),
            Goal::Text(Form::JsonLines) => f.write_str("JSON lines"),
            Goal::Text(_) => f.write_str("CSV"),
        }
    }
}

/// Returns what to write: the option, else by the extension of the target; `None` if the target has no extension. `hint`
/// follows an unknown extension.
///
/// # Errors
/// [`Failure::Usage`] for an extension that no format has.
pub fn goal(how: &Convert, hint: &str) -> Result<Option<Goal>, Failure> {
    // The option decides whatever the name is.
    if how.format_out.is_some() {
        return Ok(how.format_out);
    }
    let Some(extension) = extension(&how.target) else { return Ok(None) };
    if let Some(goal) = Goal::of_extension(&extension) {
        return unpacked(how, goal).map(Some);
    }
    Err({
        let names = Goal::extensions().map(|(known, _)| format!(".{known}")).collect::<Vec<_>>();
        let why = format!("the extension is none of {}", names.join(", "));
        Failure::Usage(format!("{}: {why}{hint}{}", how.target.display(), remedy(&extension)))
    })
}

/// Refuses a target that would be compressed as a whole, unless it is text.
fn unpacked(how: &Convert, goal: Goal) -> Result<Goal, Failure> {
    if !is_gzip(&how.target) || matches!(goal, Goal::Text(_)) {
        return Ok(goal);
    }
    let name = how.target.with_extension("");
    let why = match goal {
        #[cfg(feature = "arrow")]
        Goal::Arrow(_) => " (--compression chooses how the values in it are compressed)",
        _ => "",
    };
    let text = "only .csv.gz and .jsonl.gz are compressed as a whole";
    Err(Failure::Usage(format!("{}: {text}; name the file of {goal} {}{why}", how.target.display(), name.display())))
}

/// Returns the extension of files that are written.
pub fn extension_of(goal: Goal) -> &'static str {
    match goal {
        Goal::Format(Format::DataSeries) => "ds",
        goal => Goal::all().find(|(_, known)| *known == goal).map_or("out", |(name, _)| name),
    }
}

/// Returns the extension that tells the format: for `x.csv.gz` it is `csv`.
fn extension(path: &Path) -> Option<String> {
    let last = path.extension()?;
    let inner = if is_gzip(path) { Path::new(path.file_stem()?).extension().unwrap_or(last) } else { last };
    Some(inner.to_string_lossy().into_owned())
}

/// Returns whether the name says that the file is compressed by gzip.
pub fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|last| last.eq_ignore_ascii_case("gz"))
}

/// Returns whether the target is one Blosc chunk.
pub fn is_chunk(how: &Convert) -> bool {
    how.target.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(CHUNK))
}
