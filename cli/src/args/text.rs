//! The options of `head` and `cat`.

use std::ops::Range;

use clap::Args;

use super::{Convert, Wanted};
use crate::failure::Failure;
use crate::sieve::Conditions;
use crate::sources::{Sources, one_of};
use crate::threads::Threads;

pub const TEXT_FORMS: &str = "\
Table: aligned, with the types below the names; the first 1000 rows decide the
widths. On a terminal, long values are cut.
CSV: a field is quoted if it contains a comma, a quote or a line break, or if it
is equal to the text of a missing value. An empty field is missing, \"\" is an
empty string.
A nested value is its JSON text.
JSON lines: one object per row, null for a missing value. Numbers that JSON does
not have are the strings \"NaN\", \"Infinity\" and \"-Infinity\"; decimals are
strings.
Conditions: NAME = != < <= > >= VALUE, NAME in (VALUE, VALUE), NAME is missing,
joined by and, or, not and parentheses. Names with spaces are in double quotes,
texts in single quotes. A time is compared with a date, a date and time, or its
stored integer. A condition on a missing value is unknown; rows are kept if the
condition is true.
All: dates and times are ISO 8601; a timestamp with a zone is the local time
with its offset. Bytes are hexadecimal (those of DataSeries and bcolz only if
they are not UTF-8). A range of rows counts all rows, also those that conditions
leave out, and so does -n in cat. head -n N --where prints the first N rows that
meet the condition, and reads no more than is needed to find them.

Examples:
  pilaster head -n 3 prices.jay
  pilaster head -n 3 --where 'price > 99.5' prices.jay
  pilaster cat --rows 100..200 --columns time,price trades.ds
  pilaster cat --where 'price > 99.5 and size is not missing' trades.ds
  pilaster cat --from 1700000000 --until 1700003600 --json-lines trades.ds";

/// Options for the text form of rows.
#[derive(Args, Debug)]
pub struct Text {
    #[command(flatten)]
    pub sources: Sources,
    /// The number of rows, or a range: 100..200, 100.., ..200 [default: 10 for head, all for cat]. Rows are counted before
    /// conditions; only the number of head counts the rows that meet them
    #[arg(short = 'n', long, value_name = "N", value_parser = rows)]
    pub rows: Option<Which>,
    #[command(flatten)]
    pub wanted: Wanted,
    /// The table, if the file has several
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub table: Option<String>,
    /// The run of a device, as info lists them; rows are counted from its first
    #[arg(long, value_name = "N")]
    pub run: Option<usize>,
    #[command(flatten)]
    pub conditions: Conditions,
    /// The form of the text [default: table on a terminal, else csv]
    #[arg(long, value_name = "FORM")]
    #[arg(value_parser = one_of([("table", Form::Table), ("csv", Form::Csv), ("jsonl", Form::JsonLines)]))]
    pub format_out: Option<Form>,
    /// Short for --format-out jsonl
    #[arg(long, visible_alias = "json")]
    json_lines: bool,
    /// Print dates and times as the stored integers
    #[arg(long)]
    pub stored_times: bool,
    /// Table and CSV: omit the names of the columns
    #[arg(long)]
    pub no_header: bool,
    /// Table and CSV: the text of a missing value [default: null in a table, nothing in CSV]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub missing: String,
    #[command(flatten)]
    pub threads: Threads,
}

impl Text {
    /// Returns the options of `cat` that print what `convert` is to write.
    ///
    /// # Errors
    /// [`Failure::Usage`] for an option that text does not have.
    pub fn of(how: &Convert, form: Form) -> Result<Self, Failure> {
        if how.bytes_as_text {
            let why = "--bytes-as-text is for formats with types; text shows bytes in hexadecimal".to_owned();
            return Err(Failure::Usage(why));
        }
        Ok(Text {
            sources: Sources { paths: vec![how.source.path.clone()], only: None, hints: how.source.hints.clone() },
            rows: None,
            wanted: how.wanted.clone(),
            table: how.table.clone(),
            run: None,
            conditions: how.conditions.clone(),
            format_out: Some(form),
            json_lines: false,
            stored_times: how.stored_times,
            no_header: false,
            missing: String::new(),
            threads: how.threads,
        })
    }

    /// Returns the form to print, on a terminal or not.
    pub fn form(&self, terminal: bool) -> Form {
        let default = if terminal { Form::Table } else { Form::Csv };
        if self.json_lines { Form::JsonLines } else { self.format_out.unwrap_or(default) }
    }
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An aligned table, for people; as wide as the terminal if standard output is one.
    Table,
    /// Comma-separated values with a line of names.
    Csv,
    /// An object per line.
    JsonLines,
}

/// A choice of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first rows, at most this number.
    First(u64),
    /// The rows with these numbers.
    Range(Range<u64>),
}

/// Parses a number of rows, or a range of rows.
fn rows(text: &str) -> Result<Which, String> {
    let bad = |e: std::num::ParseIntError| format!("neither a number nor a range of rows: {e}");
    let Some((from, to)) = text.split_once("..") else { return Ok(Which::First(text.parse().map_err(bad)?)) };
    let from = if from.is_empty() { 0 } else { from.parse().map_err(bad)? };
    let to = if to.is_empty() { u64::MAX } else { to.parse().map_err(bad)? };
    Ok(Which::Range(from..to))
}
