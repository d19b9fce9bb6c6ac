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
    // All of a Filo vector would be fetched. Such a vector was fetched already.
    if options.format == Format::Filo && input.len() > WHOLE {
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
    let e = failure.of_library()?;
    match e.what() {
        What::TABLE | What::TABLE_CHOICE => tables(file),
        What::DATASERIES_INDEX if !options.sequential => Some(SEQUENTIAL.to_owned()),
        _ => damaged(options, failure),
    }
}

/// Returns what reads the rows before damage, if damage is the reason of an error.
pub(crate) fn damaged(options: &Options, failure: &Failure) -> Option<String> {
    (failure.is_damage() && !options.skip_damaged).then(|| {
        "option skip_damaged leaves out what follows the damage; pilaster recover saves what is intact".to_owned()
    })
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
