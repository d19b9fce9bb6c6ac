//! The description of the command line, from which parser, help, completions and manual pages are generated.

use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueHint, value_parser};
use clap_complete::Shell;
use pilaster::any::Format;
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::dataseries::write::Repack;
use pilaster::dataseries::{Mode, Order};
use pilaster::dataseries::{Ordering, Pad};
use pilaster::filo::Element;
use pilaster::jay::Layout;

use crate::filter::{self, Expression, Test};

const HINTS: &str = "Hints about FILE";

/// Reads, verifies, converts and recovers columnar files: Filo, DataSeries, Jay, bcolz and Vortex
#[derive(Debug, Parser)]
#[command(
    name = "pilaster",
    version,
    propagate_version = true,
    args_override_self = true,
    term_width = 80,
    subcommand_required = true,
    arg_required_else_help = false
)]
#[command(after_help = "\
FILE is a path, or - for standard input. `pilaster COMMAND --help` explains a
command.

Examples:
  pilaster head prices.jay
  pilaster cat --columns time,price --format-out jsonl trades.ds
  pilaster convert trades.ds trades.jay
  pilaster verify --type int ages.filo

Exit status: 0 success, 1 the input is bad, 2 the call is bad.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Describes a file: format, encoding, sizes, columns
    ///
    /// For each column, prints its type, its number of rows, and how many of them are missing.
    Info(Source),
    /// Prints the first rows
    #[command(after_long_help = TEXT_FORMS)]
    Head(Text),
    /// Prints all rows, as a table, CSV or JSON lines
    #[command(after_long_help = TEXT_FORMS)]
    Cat(Text),
    /// Prints every value exactly, as one JSON document
    ///
    /// Integers are decimal strings, floats the hexadecimal digits of their bits, bytes hexadecimal, missing values
    /// null. A column of up to 2000 rows is printed in full, a longer one as its first and last 20 rows. The SHA-256
    /// digest covers all values, joined by line feeds. Prints nothing if `pilaster verify` fails on the file.
    Dump(Dump),
    /// Checks every row, string and code of a file
    ///
    /// Prints what was checked, or fails with the first error and its offset.
    Verify(Source),
    /// Writes the intact parts of a damaged file to a new file
    ///
    /// Prints what is lost. DataSeries: keeps every intact extent and writes a new index. Jay: keeps every readable
    /// column; strings that are not UTF-8 become missing. bcolz: keeps the rows that all columns with readable
    /// metadata have.
    Recover(Recover),
    /// Writes the rows of a table to another file, in any format that can be written
    ///
    /// From DataSeries to DataSeries, the file is copied extent by extent, with other compression and packing. If the
    /// target format does not have the type of a column, the error names the column and the type.
    Convert(Box<Convert>),
    /// Prints the completions for a shell
    #[command(after_help = "Example:\n  pilaster completions bash > /etc/bash_completion.d/pilaster")]
    Completions { shell: Shell },
    /// Prints the manual page of pilaster, or of one command
    #[command(after_help = "Example:\n  pilaster man cat | man -l -")]
    Man { command: Option<String> },
}

const TEXT_FORMS: &str = "\
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
they are not UTF-8). --rows counts all rows, also those that conditions leave
out.

Examples:
  pilaster head -n 3 prices.jay
  pilaster cat --rows 100..200 --columns time,price trades.ds
  pilaster cat --where 'price > 99.5 and size is not missing' trades.ds
  pilaster cat --from 1700000000 --until 1700003600 --json-lines trades.ds";

/// The file to read, and hints about it.
#[derive(Args, Clone, Debug, Default)]
pub struct Source {
    /// The file, the directory of a bcolz dataset, or - for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub path: Location,
    /// The format [default: detected from the content, or from the extension .filo]
    #[arg(long, help_heading = HINTS, ignore_case = true, value_parser = one_of(Format::ALL.map(|f| (f.name(), f))))]
    pub format: Option<Format>,
    /// The element type of a Filo vector
    #[arg(long = "type", value_name = "ELEMENT", help_heading = HINTS, ignore_case = true)]
    #[arg(value_parser = one_of(Element::ALL.map(|e| (e.name(), e))))]
    pub element: Option<Element>,
    /// The numpy name of the item type of a single Blosc chunk: int32, '>f8', '|S5' [default: byte items, printed in
    /// hexadecimal]
    #[arg(long, help_heading = HINTS, allow_hyphen_values = true)]
    pub dtype: Option<String>,
    /// Read a DataSeries file from the start, without its trailer and index
    #[arg(long = "no-index", help_heading = HINTS)]
    pub sequential: bool,
    /// Read the readable part of a damaged or unusual Jay file or bcolz dataset, and print the problems as warnings
    #[arg(long, help_heading = HINTS)]
    pub tolerant: bool,
}

/// The source of the bytes.
#[derive(Clone, Debug, Default)]
pub enum Location {
    #[default]
    Stdin,
    Path(PathBuf),
}

impl From<OsString> for Location {
    fn from(path: OsString) -> Self {
        if path == "-" { Location::Stdin } else { Location::Path(path.into()) }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Stdin => f.write_str("-"),
            Location::Path(path) => path.display().fmt(f),
        }
    }
}

/// Options for the text form of rows.
#[derive(Args, Debug)]
pub struct Text {
    #[command(flatten)]
    pub source: Source,
    /// The maximum number of rows, or a range: 100..200, 100.., ..200 [default: 10 for head, all for cat]
    #[arg(short = 'n', long, value_name = "N", value_parser = rows)]
    pub rows: Option<Range<u64>>,
    /// The columns, in this order [default: all]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', allow_hyphen_values = true)]
    pub columns: Option<Vec<String>>,
    /// The table, if the file has several
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub table: Option<String>,
    /// Only rows that meet a condition: 'time >= 2026-01-01 and (level > 3 or note is missing)'
    #[arg(long = "where", value_name = "CONDITION", value_parser = filter::parse, allow_hyphen_values = true)]
    pub condition: Option<Expression<Test>>,
    /// Skip rows by statistics in the file that nothing checks. Faster, but in a file with wrong statistics rows are lost
    #[arg(long)]
    pub trust_statistics: bool,
    #[command(flatten)]
    pub time: Time,
    /// The form of the text [default: table on a terminal, else csv]
    #[arg(long, value_name = "FORM")]
    #[arg(value_parser = one_of([("table", Form::Table), ("csv", Form::Csv), ("jsonl", Form::JsonLines)]))]
    pub format_out: Option<Form>,
    /// Short for --format-out jsonl
    #[arg(long)]
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
}

impl Text {
    /// Returns the form to print, on a terminal or not.
    pub fn form(&self, terminal: bool) -> Form {
        let default = if terminal { Form::Table } else { Form::Csv };
        if self.json_lines { Form::JsonLines } else { self.format_out.unwrap_or(default) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Table,
    Csv,
    JsonLines,
}

/// A range of times.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// The column of the times [default: the first of 64 bits]
    #[arg(long = "time", value_name = "COLUMN", allow_hyphen_values = true)]
    pub column: Option<String>,
    /// Only rows whose time is T or later: a date, a date and time, or a stored integer
    #[arg(long, value_name = "T", value_parser = time, allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Only rows whose time is before T
    #[arg(long, value_name = "T", value_parser = time, allow_hyphen_values = true)]
    pub until: Option<String>,
}

impl Time {
    /// Returns whether a bound is given.
    pub fn is_given(&self) -> bool {
        self.from.is_some() || self.until.is_some()
    }
}

#[derive(Args, Debug)]
pub struct Dump {
    #[command(flatten)]
    pub source: Source,
    /// Print JSON (the default, and the only form)
    #[arg(long)]
    json: bool,
}

/// Options of `recover`.
#[derive(Args, Debug, Default)]
#[command(after_help = "Example:\n  pilaster recover --types intact.ds damaged.ds new.ds")]
pub struct Recover {
    #[command(flatten)]
    pub source: Source,
    /// The file to write
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,
    /// DataSeries: an intact file with the same types, if the description of FILE is lost
    #[arg(long, value_name = "INTACT", value_hint = ValueHint::FilePath)]
    pub types: Option<PathBuf>,
    /// DataSeries: the byte order, if the header of FILE is lost
    #[arg(long, value_parser = one_of(ORDERS))]
    pub order: Option<Order>,
}

/// Options of `convert`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  pilaster convert trades.ds trades.jay
  pilaster convert --columns age --format-out filo people.jay ages.filo
  pilaster convert --compress lz4 --order little old.ds new.ds")]
pub struct Convert {
    #[command(flatten)]
    pub source: Source,
    /// The file to write, or the new directory of a bcolz dataset; x.blosc is a single Blosc chunk of one column
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,
    /// The format to write [default: by the extension of TARGET (.filo .ds .jay .bcolz), or the format of FILE]
    #[arg(long, alias = "to", value_name = "FORMAT", ignore_case = true)]
    #[arg(value_parser = one_of(Format::ALL.map(|f| (f.name(), f))))]
    pub format_out: Option<Format>,
    /// The columns, in this order [default: all]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', allow_hyphen_values = true)]
    pub columns: Option<Vec<String>>,
    /// The table to read if FILE has several, else the name of the table to write
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub table: Option<String>,
    /// Write dates and times as the stored integers
    #[arg(long)]
    pub stored_times: bool,
    /// Jay: convert timestamps of any unit to nanoseconds. Jay and bcolz: drop the time zone
    #[arg(long)]
    pub any_time: bool,
    #[command(flatten)]
    pub jay: ToJay,
    #[command(flatten)]
    pub bcolz: ToBcolz,
    #[command(flatten)]
    pub dataseries: ToDataSeries,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "To Jay")]
pub struct ToJay {
    /// The layout of the column descriptions; early releases of datatable read only the old one [default: new]
    #[arg(long, value_parser = one_of([("new", Layout::New), ("old", Layout::Old)]))]
    pub layout: Option<Layout>,
    /// The number of leading columns that are the key; rows must be in ascending order of the key
    #[arg(long, value_name = "N")]
    pub keys: Option<usize>,
    /// Omit the minimum and maximum of each column
    #[arg(long)]
    pub no_stats: bool,
    /// Write bytes as strings; bytes that are not UTF-8 are an error
    #[arg(long)]
    pub bytes_as_text: bool,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "To bcolz")]
pub struct ToBcolz {
    /// The compressor [default: lz4]
    #[arg(long, value_name = "NAME", value_parser = one_of(Compressor::ALL.map(|c| (c.name(), c))))]
    pub codec: Option<Compressor>,
    /// The compression level, 0 to 9 [default: 5]
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=9))]
    pub clevel: Option<u8>,
    /// The shuffle filter before compression [default: bytes]
    #[arg(long, value_parser = one_of([("none", Shuffle::None), ("bytes", Shuffle::Byte), ("bits", Shuffle::Bit)]))]
    pub shuffle: Option<Shuffle>,
    /// Rows per chunk [default: the choice of the original program]
    #[arg(long, value_name = "N")]
    pub chunklen: Option<NonZeroU64>,
    /// Write missing values as NaN, 0, false or an empty text
    #[arg(long)]
    pub fill_missing: bool,
    /// Write structs as records, which the original program itself cannot open again
    #[arg(long)]
    pub records: bool,
    /// Append the rows to an existing TARGET
    #[arg(long)]
    pub append: bool,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "To DataSeries")]
pub struct ToDataSeries {
    /// The modes to try; the smallest result is kept for each extent: none, lzo, zlib, bz2, lzf, snappy, lz4, lz4hc
    /// [default: all]
    #[arg(long, value_name = "MODE,MODE", value_delimiter = ',', value_parser = mode)]
    pub compress: Option<Vec<Mode>>,
    /// The level of zlib, bz2 and lz4hc, 1 to 9
    #[arg(long, value_name = "N", default_value = "9", value_parser = value_parser!(u8).range(1..=9))]
    pub level: u8,
    /// The byte order to write [default: the byte order of FILE if FILE is DataSeries, else little]
    #[arg(long, value_parser = one_of(ORDERS))]
    pub order: Option<Order>,
    /// From DataSeries: store plain values, without the options relative, scale and unique
    #[arg(long)]
    plain: bool,
    /// From DataSeries: omit null cells [default: as in FILE]
    #[arg(long, value_parser = one_of([("yes", true), ("no", false)]))]
    compact: Option<bool>,
    /// From DataSeries: the rule of padding [default: as in FILE]
    #[arg(long, value_parser = one_of([("original", Pad::Original), ("max_column_size", Pad::MaxColumnSize)]))]
    pad: Option<Pad>,
    /// From DataSeries: the order of the fields in a record [default: as in FILE]
    #[arg(long, value_parser = one_of([("small_to_big", Ordering::SmallToBig), ("big_to_small", Ordering::BigToSmall)]))]
    ordering: Option<Ordering>,
}

impl ToDataSeries {
    pub fn repack(&self) -> Repack {
        Repack { plain: self.plain, compact: self.compact, pad: self.pad, ordering: self.ordering }
    }
}

const ORDERS: [(&str, Order); 2] = [("little", Order::Little), ("big", Order::Big)];

/// Returns a parser of the names in `all`, which the help lists.
fn one_of<T, const N: usize>(all: [(&'static str, T); N]) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.each_ref().map(|(name, _)| *name)).try_map(move |text| {
        let found = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        found.map(|(_, value)| value.clone()).ok_or("an unknown name")
    })
}

fn mode(name: &str) -> Result<Mode, &'static str> {
    Mode::of_name(name).ok_or("not a compression mode")
}

/// Parses a number of rows, or a range of rows.
fn rows(text: &str) -> Result<Range<u64>, String> {
    let bad = |e: std::num::ParseIntError| format!("neither a number nor a range of rows: {e}");
    let Some((from, to)) = text.split_once("..") else { return Ok(0..text.parse().map_err(bad)?) };
    let from = if from.is_empty() { 0 } else { from.parse().map_err(bad)? };
    let to = if to.is_empty() { u64::MAX } else { to.parse().map_err(bad)? };
    Ok(from..to)
}

fn time(text: &str) -> Result<String, &'static str> {
    if filter::is_time(text) {
        Ok(text.to_owned())
    } else {
        Err("a time is a date, a date and time, or a stored integer")
    }
}

/// Joins the first paragraph of an error of the parser, its description, to one line.
pub fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    format!("{}; see pilaster --help", lines.join(" ").trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn call(line: &str) -> Result<Command, String> {
        let parsed = Cli::try_parse_from(["pilaster"].into_iter().chain(line.split_whitespace()));
        parsed.map(|cli| cli.command).map_err(|e| one_line(&e))
    }

    fn text(line: &str) -> Text {
        match call(line) {
            Ok(Command::Head(text) | Command::Cat(text)) => text,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_description_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_before_and_after_the_file() {
        let t = text("cat --type INT x --format-out=jsonl -n3");
        assert_eq!((t.form(true), t.rows, t.source.element), (Form::JsonLines, Some(0..3), Some(Element::Int)));
        assert_eq!(t.source.path.to_string(), "x");
    }

    #[test]
    fn choices_of_rows_and_columns() {
        for (line, rows) in [("-n 3", 0..3), ("--rows 5..9", 5..9), ("--rows 5..", 5..u64::MAX), ("--rows ..9", 0..9)] {
            assert_eq!(text(&format!("head {line} x")).rows, Some(rows));
        }
        let all = text("cat --columns a,b --table T --time t --from -3 --until 1e9 --json-lines x");
        assert_eq!(
            (all.form(false), all.columns, all.table),
            (Form::JsonLines, Some(vec!["a".into(), "b".into()]), Some("T".into()))
        );
        assert_eq!(all.time, Time { column: Some("t".into()), from: Some("-3".into()), until: Some("1e9".into()) });
    }

    #[test]
    fn standard_input_is_a_dash_or_an_odd_file() {
        let path = |line| match call(line) {
            Ok(Command::Info(source)) => source.path,
            other => panic!("{other:?}"),
        };
        assert!(matches!(path("info --format filo -"), Location::Stdin));
        assert!(matches!(path("info -- --type"), Location::Path(p) if p.as_os_str() == "--type"));
    }

    #[test]
    fn every_command_has_a_help_of_80_columns() {
        let mut cli = Cli::command();
        cli.build();
        for command in cli.get_subcommands_mut().filter(|command| command.get_name() != "help") {
            let (name, text) = (command.get_name().to_owned(), command.render_long_help().to_string());
            assert!(text.contains(&format!("Usage: pilaster {name} ")), "{text}");
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{name}: {widest:?} columns\n{text}");
        }
    }

    #[test]
    fn bad_calls_say_what_is_wrong() {
        for (line, parts) in [
            ("", ["requires a subcommand", "info, head, cat"]),
            ("frobnicate x", ["unrecognized subcommand", "'frobnicate'"]),
            ("cat", ["not provided", "<FILE>"]),
            ("cat a b", ["unexpected argument", "'b'"]),
            ("info -n 3 x", ["unexpected argument", "'-n'"]),
            ("cat --format-out xml x", ["'xml'", "table, csv, jsonl"]),
            ("cat --until noon x", ["'noon' for '--until <T>'", "a time is a date"]),
            ("cat --rows 1..x f", ["'1..x'", "neither a number nor a range"]),
            ("cat --rows many x", ["'many'", "--rows <N>"]),
            ("dump --type number x", ["'number' for '--type", "boolean, int, long"]),
            ("dump --format feather x", ["'feather' for '--format", "filo, dataseries"]),
            ("recover x", ["not provided", "<TARGET>"]),
            ("convert x y z", ["unexpected argument", "'z'"]),
            ("convert --compress zlib,lzma x y", ["'lzma' for '--compress", "not a compression mode"]),
            ("convert --order middle x y", ["'middle'", "little, big"]),
            ("convert --level 10 x y", ["'10' for '--level", "1..=9"]),
        ] {
            let message = call(line).unwrap_err();
            for part in parts {
                assert!(message.contains(part) && message.lines().count() == 1, "{line}: {message}");
            }
        }
    }
}
