//! A file that is Parquet, Arrow, CSV or JSON lines.

use std::fs::{self, File};
use std::io::{self, BufRead as _, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use clap::Args;
use pilaster::any;
use pilaster_arrow::arrow_schema::Schema;
use pilaster_arrow::input::{FileKind, Inferred, Input, InputFile, InputOptions, open};
use pilaster_arrow::{Source as _, schema};

use crate::extents::LEAVE_OUT;
use crate::failure::{Failure, warn};
use crate::sources::{Known, Location, Source};
use crate::spool::in_file;

/// The names of `--format`.
pub const KINDS: [(&str, FileKind); 5] = [
    ("parquet", FileKind::Parquet),
    ("arrow", FileKind::IpcFile),
    ("arrows", FileKind::IpcStream),
    ("csv", FileKind::Csv),
    ("jsonl", FileKind::JsonLines),
];

/// Delimiters of CSV beside the comma, and how `--delimiter` has them.
const OTHERS: [(char, &str); 3] = [(';', "';'"), ('\t', "tab"), ('|', "'|'")];

/// Facts that a file of text does not contain.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Hints about CSV and JSON lines")]
pub struct TextHints {
    /// The types of some columns; the others are inferred from all rows: 'id: uint32, price: decimal(10,2), at: timestamp[ms, UTC]'
    #[arg(long, value_name = "COLUMNS", allow_hyphen_values = true)]
    pub schema: Vec<String>,
    /// The separator of CSV, one character or tab [default: a comma, a tab for .tsv and .tab]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// The first line of CSV is a row; the columns are called column_1 and so on
    #[arg(long)]
    pub headerless: bool,
    /// A text of CSV that means a missing value, beside an empty one: NA,-
    #[arg(long, value_name = "TEXT,TEXT", value_delimiter = ',', allow_hyphen_values = true)]
    pub null_text: Vec<String>,
}

fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [one] => Ok(*one),
        _ => Err("not a single ASCII character, or tab"),
    }
}

/// An open file.
pub struct Foreign {
    pub kind: FileKind,
    /// The path as given on the command line, or `-`.
    pub path: String,
    /// The size in bytes.
    pub len: u64,
    pub files: InputFile,
    /// The bytes of `files`.
    pub input: Input,
}

impl Foreign {
    /// Returns the number of rows; reads the file if it does not say so.
    pub fn rows(&mut self) -> Result<u64, Failure> {
        if let Some(rows) = self.files.rows() {
            return Ok(rows);
        }
        let (batches, _) = self.files.open(Some(&[]), 0).map_err(failed)?;
        let mut rows = 0u64;
        for batch in batches {
            rows = rows.saturating_add(batch.map_err(|e| failed(e.into()))?.num_rows() as u64);
        }
        Ok(rows)
    }
}

/// Returns the failure of a file.
pub fn failed(e: pilaster_arrow::Error) -> Failure {
    match e {
        pilaster_arrow::Error::File(e) => Failure::Format(e),
        e => {
            let why = e.to_string();
            let help = if why.contains("give the type") { " (--schema 'NAME: utf8' does)" } else { "" };
            Failure::Input(format!("{why}{help}"))
        }
    }
}

/// Returns the failure of reading rows, with what helps against a column of a type that nothing stores.
pub fn refused(e: &pilaster_arrow::Error) -> Failure {
    let error = match e {
        pilaster_arrow::Error::Column { error, .. } => error,
        e => e,
    };
    let help = match error {
        pilaster_arrow::Error::Refused(ty, _) if ty.starts_with("Duration") => {
            " (--any-time does; --columns leaves it out)"
        }
        pilaster_arrow::Error::Refused(..) => LEAVE_OUT,
        _ => "",
    };
    Failure::Input(format!("{e}{help}"))
}

/// Opens a file of these kinds; `None` for any other. The types of text are those that fit all rows.
pub fn opened(source: &Source) -> Result<Option<Foreign>, Failure> {
    opened_by(source, Inferred::FromAll)
}

/// Opens a file of these kinds; `None` for any other. `inferred`: the rows that tell the types of text.
pub fn opened_by(source: &Source, inferred: Inferred) -> Result<Option<Foreign>, Failure> {
    let Some(kind) = kind(source) else { return Ok(None) };
    let hints = &source.hints;
    let others = hints.element.is_some() || hints.dtype.is_some() || hints.sequential || hints.tolerant;
    if others || hints.budget.is_given() {
        let why = format!("--type, --dtype, --no-index, --tolerant and limits are not for {kind}, which it is");
        return Err(Failure::Usage(format!("{}: {why}", source.path)));
    }
    let is_text = matches!(kind, FileKind::Csv | FileKind::JsonLines);
    if hints.text != TextHints::default() && !is_text {
        let why = "--schema, --delimiter, --headerless and --null-text are for CSV and JSON lines";
        return Err(Failure::Usage(format!("{}: {why}; it is {kind}", source.path)));
    }
    let schemas = Some(&hints.text.schema).filter(|schemas| !schemas.is_empty());
    let schema = schemas.map(|schemas| schema::parse(&schemas.join(", "))).transpose();
    let options = InputOptions {
        kind: Some(kind),
        schema: schema.map_err(|e| Failure::Usage(format!("--schema: {e}")))?,
        delimiter: hints.text.delimiter,
        header: !hints.text.headerless,
        missing: hints.text.null_text.clone(),
        inferred,
        ..InputOptions::default()
    };
    let input = match &source.path {
        Location::Path(path) => Input::path(path).map_err(failed)?,
        Location::Stdin => spooled()?,
    };
    let (path, len) = (source.path.to_string(), input.len());
    let files = open(input.clone(), options).map_err(|e| failed(e).of(&path))?;
    if kind == FileKind::Csv && hints.text.delimiter.is_none() {
        warn_of_delimiter(&path, &input, &files.schema());
    }
    Ok(Some(Foreign { kind, path, len, files, input }))
}

/// Warns of a file with one column if the header has several names with another separator than a comma. A separator within
/// quotes separates nothing.
fn warn_of_delimiter(path: &str, input: &Input, schema: &Schema) {
    let [only] = &schema.fields()[..] else { return };
    let named = OTHERS.into_iter().filter(|(delimiter, _)| only.name().contains(*delimiter));
    // Names and one row are read again.
    let count = |delimiter: char| {
        let options = InputOptions {
            kind: Some(FileKind::Csv),
            delimiter: u8::try_from(delimiter).ok(),
            inferred: Inferred::FromFirst,
            batch_rows: 1,
            ..InputOptions::default()
        };
        open(input.clone(), options).map_or(1, |files| files.schema().fields().len())
    };
    let mut counted = named.map(|(delimiter, option)| (option, count(delimiter)));
    let Some((option, names)) = counted.find(|(_, names)| *names > 1) else { return };
    warn(&format!("{path}: the only column is called {:?}; with --delimiter {option} there are {names}", only.name()));
}

/// Returns whether a file is called Parquet or Arrow, and does not begin or end so. `first` and `last`: its bytes at both ends.
pub fn is_damaged(first: &[u8], last: &[u8], path: &Path) -> bool {
    let (named, found) = (FileKind::of_name(&path.to_string_lossy()), FileKind::detect(first, ""));
    let is_whole = match named {
        Some(FileKind::Parquet) => last.ends_with(b"PAR1"),
        Some(FileKind::IpcFile) => last.ends_with(b"ARROW1") || found == Some(FileKind::IpcStream),
        Some(FileKind::IpcStream) => true,
        _ => return false,
    };
    found.is_none() || !is_whole
}

/// Returns whether a file is of these kinds.
pub fn is_known(source: &Source) -> bool {
    kind(source).is_some()
}

/// Returns the kind of a file: by the option, else by its magic number, else by its name if no format of the library has its
/// magic number.
pub fn kind(source: &Source) -> Option<FileKind> {
    match (source.format, &source.path) {
        (Some(Known::Arrow(kind)), _) => Some(kind),
        (Some(_), _) => None,
        (None, Location::Stdin) => {
            // Bytes that are looked at stay in the buffer of standard input, which everything reads.
            let mut stdin = io::stdin().lock();
            FileKind::detect(stdin.fill_buf().ok()?, "")
        }
        (None, Location::Path(path)) => {
            let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
            let (mut file, len) = (File::open(path).ok()?, found.len());
            let (mut first, mut last) = (Vec::new(), Vec::new());
            file.by_ref().take(16).read_to_end(&mut first).ok()?;
            file.seek(SeekFrom::Start(len.saturating_sub(4))).ok()?;
            file.take(4).read_to_end(&mut last).ok()?;
            let name = path.to_string_lossy();
            match any::detect_ends(&first, &last, len, Some(&name)) {
                Ok(_) => None,
                Err(_) => FileKind::detect(&first, &name),
            }
        }
    }
}

/// Copies standard input to a temporary file, since these formats are not read from start to end.
fn spooled() -> Result<Input, Failure> {
    let file = in_file(&[], io::stdin().lock()).map_err(|e| Failure::Input(format!("temporary file: {e}")))?;
    Ok(Input::seekable(file).map_err(failed)?.with_name("-"))
}
