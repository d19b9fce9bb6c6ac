//! What helps against an error, by the names of options in SQL.
//!
//! Errors of workers arrive as texts, so the tool replaces the names in the text by its own options: `OPTIONS` of the tool has the same
//! words.

use std::path::Path;

use pilaster::any::{File, Format, Help};
use pilaster::bcolz;
use pilaster::bytes::Input;
use pilaster::error::{Error, What};

use crate::error::Failure;
use crate::options::Options;
use crate::store::WHOLE;

/// Maximum number of tables that an error names.
const NAMED: usize = 8;

/// What helps if bytes are not valid UTF-8.
pub(crate) const BYTES: &str = "option binary_as_string 'false' returns bytes";

const SEQUENTIAL: &str = "option sequential reads the file from the start, with option skip_damaged up to the damage; pilaster \
                          recover saves what is intact";

const TOLERANT: &str = "option tolerant reads the readable part";

/// Returns what opens a file that was refused.
pub(crate) fn opening(options: &Options, input: Input<'_>, e: Error) -> Option<String> {
    // All of a Filo vector would be fetched to name the types that fit.
    if options.format == Format::Filo && options.element.is_none() && input.len() > WHOLE {
        return Some("option element gives it".to_owned());
    }
    Some(match options.hints().help(input, options.format, e)? {
        Help::Tolerant => TOLERANT.to_owned(),
        Help::Sequential => SEQUENTIAL.to_owned(),
        Help::Dtype => {
            "the file does not store the type of its rows: option dtype gives it, as '{a=i64, b=utf8?}'".to_owned()
        }
        Help::Element(fitting) if fitting.is_empty() => "no element type fits".to_owned(),
        Help::Element(fitting) => {
            let names: Vec<_> = fitting.iter().map(ToString::to_string).collect();
            format!("option element gives it; types that fit: {}", names.join(", "))
        }
        Help::Recover => {
            "the end of the file is lost, or bytes follow it: pilaster recover saves what is before it".to_owned()
        }
        _ => return None,
    })
}

/// Returns what reads the rows of an open file, which may have several tables.
pub(crate) fn reading(options: &Options, file: &File<'_>, failure: &Failure) -> Option<String> {
    match failure.of_library().map(|e| e.what()) {
        Some(What::TABLE | What::TABLE_CHOICE) => tables(file),
        Some(What::DATASERIES_INDEX) if !options.sequential => Some(SEQUENTIAL.to_owned()),
        _ => damaged(options, failure, "what follows the damage"),
    }
}

/// Returns what leaves out damage, if it is the reason of an error: `part` is what is left out.
pub(crate) fn damaged(options: &Options, failure: &Failure, part: &str) -> Option<String> {
    let recover = match options.format {
        Format::Filo => "",
        _ => "; pilaster recover saves what is intact",
    };
    let damaged = failure.is_damage() && !options.skip_damaged;
    damaged.then(|| format!("option skip_damaged leaves out {part}{recover}"))
}

fn tables(file: &File<'_>) -> Option<String> {
    let names: Vec<_> = file.tables().take(NAMED).map(|name| format!("{name:?}")).collect();
    let more = if file.tables().nth(NAMED).is_some() { ", …" } else { "" };
    (!names.is_empty()).then(|| format!("option table names one of {}{more}", names.join(", ")))
}

/// Returns what reads a damaged dataset.
pub(crate) fn dataset(options: &Options, dir: &Path, failure: &Failure) -> Option<String> {
    let damaged = failure.is_damage() && !options.tolerant;
    (damaged && bcolz::Dataset::open_tolerant(dir, |_| {}).is_ok()).then(|| TOLERANT.to_owned())
}
