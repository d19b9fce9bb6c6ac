//! The description of the command line, from which parser, help, completions and manual pages are generated.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use pilaster::dataseries::Order;
use pilaster::unstable::meta::json::Json;

use crate::foreign::remedy;
use crate::sources::{Location, Source, Sources, one_of};
use crate::threads::Threads;

mod convert;
mod text;

use convert::ORDERS;
pub use convert::{Convert, ToBcolz, ToJay, Try};
use text::TEXT_FORMS;
pub use text::{Form, Text, Which};

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

/// The choice of columns.
#[derive(Args, Clone, Debug, Default)]
pub struct Wanted {
    /// The columns, in this order [default: all]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', allow_hyphen_values = true)]
    pub columns: Option<Vec<String>>,
    /// Columns to leave out; all others are taken
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(conflicts_with = "columns")]
    pub except: Vec<String>,
}

impl Wanted {
    /// Returns whether all columns are chosen, in their order.
    pub const fn is_all(&self) -> bool {
        self.columns.is_none() && self.except.is_empty()
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Describes files: format, size, tables, columns and their types
    ///
    /// With --verbose also how they are stored, and how many values are missing.
    Info(Info),
    /// Prints the first rows
    ///
    /// The rows of several files are one table, as in cat, of which these are the first ones. With a condition, these are
    /// the first rows that meet it.
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
    /// Checks every row, string and code of files
    ///
    /// Prints for each file what was checked, or the first error and its offset. `pilaster recover` saves the intact part
    /// of a damaged file.
    ///
    /// Only DataSeries files contain check values (lookup2 and Adler-32), which are compared. Filo, Jay, bcolz and Vortex
    /// have none: a changed number in such a file may go unnoticed.
    Verify(Verify),
    /// Writes the intact parts of a damaged file to a new file
    ///
    /// Prints what is lost. DataSeries: keeps every intact extent and writes a new index. Jay: keeps every readable
    /// column; strings that are not UTF-8 become missing. Vortex: keeps every column of which rows can be read, in any
    /// format (by the extension of TARGET); other rows of it become missing. Changed numbers are noticed only if they
    /// contradict the statistics of the file, as Vortex has no check values. Of a log of pilaster, also without its end,
    /// the row groups whose check values agree are saved, and the others are named. Of another Vortex file without its
    /// end, the arrays are found; with --dtype, columns are saved to which they fit in one way only, and without it they
    /// are listed.
    /// bcolz: keeps the rows that all columns with readable metadata have.
    Recover(Recover),
    /// Collects a file that a device sends over a serial line or a radio, in frames
    ///
    /// A frame is a chunk of the file with its offset and a CRC, encoded by COBS. Damaged frames are left out, and repeated
    /// ones are taken once. Each chunk is in TARGET as soon as it came. At the end, chunks that are missing are listed; their
    /// bytes in TARGET are zero, and recover saves the rows around them. If the device begins again, the next file is
    /// TARGET with a number before its extension.
    Receive(Receive),
    /// Writes the rows of a table to another file, in any format that can be written
    ///
    /// From DataSeries to DataSeries, the file is copied extent by extent, with other compression and packing; with a
    /// condition, the rows of one table are written to new extents, whose type keeps its name and byte order, and not its
    /// namespace, version and options of fields (such as pack_scale). If the target format does not have the type of a
    /// column, the error names the column and the type.
    Convert(Box<Convert>),
    /// Changes a bcolz dataset in place: its rows, columns and attributes
    ///
    /// Each option is a change of its own. Changes are made in the order of the list below; the first that fails ends
    /// the command, and those before it stay. After a crash, a dataset is as it was before or after a change.
    Edit(Edit),
    /// Answers questions in SQL: files, globs and directories in quotes are tables
    ///
    /// Runs the program pilaster-sql, which is installed apart, with all arguments: `pilaster sql --help` lists them.
    #[command(disable_help_flag = true, disable_version_flag = true)]
    #[command(after_help = "Example:\n  pilaster sql \"select host, count(*) from 'logs/*.ds' group by host\"")]
    Sql {
        /// The arguments of pilaster-sql
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Prints the completions for a shell
    #[command(after_help = "Example:\n  pilaster completions bash > /etc/bash_completion.d/pilaster")]
    Completions { shell: Shell },
    /// Prints the manual page of pilaster, or of one command
    #[command(after_help = "Example:\n  pilaster man cat | man -l -")]
    Man { command: Option<String> },
}

/// Options of `info`.
#[derive(Args, Debug)]
pub struct Info {
    #[command(flatten)]
    pub sources: Sources,
    /// Also print how the file is stored, and count the missing values, which reads all rows
    #[arg(short, long)]
    pub verbose: bool,
    /// Print one JSON document per line and file, with "error" if the file cannot be read
    #[arg(long)]
    pub json: bool,
}

/// Options of `verify`.
#[derive(Args, Debug)]
pub struct Verify {
    #[command(flatten)]
    pub sources: Sources,
    /// Print one JSON document per line and file, with "ok", and "verified" or "error"
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub threads: Threads,
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
#[command(after_help = "\
Exit status: 0 if rows were saved, also if others are lost, or if FILE has no
rows; 1 if nothing can be saved, and then no TARGET is written; 2 if the call is
bad.

Example:
  pilaster recover --types intact.ds damaged.ds new.ds")]
pub struct Recover {
    #[command(flatten)]
    pub source: Source,
    /// The file to write, or - for standard output; the report is then on standard error. From Vortex, the extension
    /// chooses the format, as in convert
    #[arg(value_hint = ValueHint::AnyPath)]
    pub target: PathBuf,
    /// Replace TARGET if it is a file that exists
    #[arg(long)]
    pub force: bool,
    /// DataSeries: an intact file with the same types, if the description of FILE is lost
    #[arg(long, value_name = "INTACT", value_hint = ValueHint::FilePath)]
    pub types: Option<PathBuf>,
    /// DataSeries: the byte order, if the header of FILE is lost
    #[arg(long, value_parser = one_of(ORDERS))]
    pub order: Option<Order>,
}

/// Options of `receive`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  pilaster receive --baud 115200 /dev/ttyACM0 log.ds")]
pub struct Receive {
    /// A serial line, a pipe or a file, or - for standard input; read until its end, or until the device says that the file is complete
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub source: Location,
    /// The file to write
    #[arg(value_hint = ValueHint::FilePath)]
    pub target: PathBuf,
    /// The speed of a serial line, in bits per second [default: as it is]
    #[arg(long, value_name = "N")]
    pub baud: Option<u32>,
    /// Replace TARGET if it exists
    #[arg(long)]
    pub force: bool,
}

/// The changes of a dataset, in the order in which they are made.
#[derive(Args, Clone, Debug, Default)]
#[command(mut_arg("path", |file| file.help("The directory of a bcolz dataset").long_help(None)))]
#[command(after_help = "\
The hints are about the files of --add-column and --overwrite.

Examples:
  pilaster edit --trim 1000 --set-attr unit='\"m\"' prices.bcolz
  pilaster edit --drop-column old --add-column new=prices.jay prices.bcolz
  pilaster edit --overwrite 500=corrected.ds prices.bcolz")]
pub struct Edit {
    #[command(flatten)]
    pub source: Source,
    /// Remove a column of a table
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub drop_column: Vec<String>,
    /// Remove the last N rows
    #[arg(long, value_name = "N")]
    pub trim: Option<u64>,
    /// Remove rows at the end, or add rows with the default value of each column, until there are N
    #[arg(long, value_name = "N")]
    pub resize: Option<u64>,
    /// Add a column to a table: the column NAME of FILE, or its only one
    #[arg(long, value_name = "NAME=FILE", value_parser = pair, allow_hyphen_values = true)]
    pub add_column: Vec<(String, String)>,
    /// Overwrite rows from START on with the rows of FILE, in the columns that FILE has. They are kept in memory
    #[arg(long, value_name = "START=FILE", value_parser = start)]
    pub overwrite: Vec<(u64, PathBuf)>,
    /// With --add-column and --overwrite: write NaN, 0, false and empty texts for missing values
    #[arg(long)]
    pub fill_missing: bool,
    /// Remove an attribute
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub remove_attr: Vec<String>,
    /// Set an attribute to a value in JSON; a text is in double quotes: 'unit="m"'
    #[arg(long, value_name = "NAME=JSON", value_parser = attribute, allow_hyphen_values = true)]
    pub set_attr: Vec<(String, String)>,
}

/// A name, and the text after the first equals sign.
fn pair(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("there is no = in it")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A name, and the JSON text after the first equals sign.
fn attribute(text: &str) -> Result<(String, String), String> {
    let (name, value) = pair(text)?;
    let mut json = Json::new(value.as_bytes());
    if json.skip().and_then(|()| json.end()).is_ok() {
        return Ok((name, value));
    }
    let quoted = format!("{name}={}", serde_json::Value::from(&*value)).replace('\'', "'\\''");
    Err(format!("{value:?} is not JSON; a text is in double quotes: --set-attr '{quoted}'"))
}

fn start(text: &str) -> Result<(u64, PathBuf), String> {
    let (start, file) = pair(text)?;
    Ok((start.parse().map_err(|e| format!("{start:?} is not a row: {e}"))?, file.into()))
}

/// Parses a call. The error is one line, or help that was asked for.
pub fn parse(call: impl IntoIterator<Item = OsString>) -> Result<Cli, Stop> {
    let call: Vec<OsString> = call.into_iter().collect();
    let cli = Cli::try_parse_from(&call).map_err(|e| match e.use_stderr() {
        false => Stop::Help(e.render().to_string()),
        true => Stop::Error(one_line(&e, call.get(1).and_then(|first| first.to_str()))),
    })?;
    match &cli.command {
        Command::Convert(how) => match how.check() {
            Ok(()) => Ok(cli),
            Err(why) => Err(Stop::Error(format!("{why}; see pilaster convert --help"))),
        },
        _ => Ok(cli),
    }
}

/// Why a call has no command.
#[derive(Debug)]
pub enum Stop {
    /// Help or the version, which was asked for.
    Help(String),
    /// The line about a bad call.
    Error(String),
}

/// Joins the first paragraph of an error of the parser, its description, to one line. `first`: the first argument, which
/// is the command in a correct call.
fn one_line(error: &clap::Error, first: Option<&str>) -> String {
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let command = first.filter(|first| Cli::command().find_subcommand(first).is_some());
    let command = command.map(|command| format!(" {command}")).unwrap_or_default();
    let remedy = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => remedy(value),
        _ => "",
    };
    format!("{}{remedy}; see pilaster{command} --help", lines.join(" ").trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use pilaster::filo::Element;

    use super::*;
    use crate::sieve::Time;
    use crate::sources::Location;

    fn call(line: &str) -> Result<Command, String> {
        match parse(["pilaster"].into_iter().chain(line.split_whitespace()).map(OsString::from)) {
            Ok(cli) => Ok(cli.command),
            Err(Stop::Help(text) | Stop::Error(text)) => Err(text),
        }
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
        assert_eq!(
            (t.form(true), t.rows, t.sources.hints.element),
            (Form::JsonLines, Some(Which::First(3)), Some(Element::Int))
        );
        assert_eq!(t.sources.paths[0].to_string(), "x");
    }

    #[test]
    fn choices_of_rows_and_columns() {
        for (line, rows) in [("--rows 5..9", 5..9), ("--rows 5..", 5..u64::MAX), ("--rows ..9", 0..9)] {
            assert_eq!(text(&format!("head {line} x")).rows, Some(Which::Range(rows)));
        }
        let all = text("cat --columns a,b --table T --time t --from -3 --until 1e9 --json-lines x");
        assert_eq!(
            (all.form(false), all.wanted.columns, all.table),
            (Form::JsonLines, Some(vec!["a".into(), "b".into()]), Some("T".into()))
        );
        assert_eq!(
            all.conditions.time,
            Time { column: Some("t".into()), from: Some("-3".into()), until: Some("1e9".into()) }
        );
    }

    #[test]
    fn standard_input_is_a_dash_or_an_odd_file() {
        let path = |line| match call(line) {
            Ok(Command::Info(how)) => how.sources.paths[0].clone(),
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
    fn a_bad_call_names_the_help_of_its_command() {
        for (line, help) in [
            ("cat --bad x", "see pilaster cat --help"),
            ("convert x", "see pilaster convert --help"),
            ("recover --order middle x y", "see pilaster recover --help"),
            ("frobnicate x", "see pilaster --help"),
            ("--bad cat x", "see pilaster --help"),
            ("", "see pilaster --help"),
        ] {
            let message = call(line).unwrap_err();
            assert!(message.ends_with(&format!("; {help}")), "{line}: {message}");
        }
    }

    #[test]
    fn bad_calls_say_what_is_wrong() {
        for (line, parts) in [
            ("", ["requires a subcommand", "info, head, cat"]),
            ("frobnicate x", ["unrecognized subcommand", "'frobnicate'"]),
            ("cat", ["not provided", "<FILE>"]),
            ("info -n 3 x", ["unexpected argument", "'-n'"]),
            ("cat --format-out xml x", ["'xml'", "table, csv, jsonl"]),
            ("convert --format-out ds x y", ["'ds'", "filo, dataseries, jay, bcolz, vortex"]),
            ("cat --max-rows 10x y", ["'10x'", "10k is 10 * 1024, also M, G and T"]),
            ("cat --until noon x", ["'noon' for '--until <T>'", "a time is a date"]),
            ("cat --rows 1..x f", ["'1..x'", "neither a number nor a range"]),
            ("cat --rows many x", ["'many'", "--rows <N>"]),
            ("dump --type number x", ["'number' for '--type", "boolean, int, long"]),
            ("dump --format feather x", ["'feather' for '--format", "filo, dataseries"]),
            ("recover x", ["not provided", "<TARGET>"]),
            ("convert x y z", ["several files", "--out-dir DIR"]),
            ("convert x", ["<TARGET> is missing", "x"]),
            ("convert --out-dir d x", ["not provided", "--format-out"]),
            ("convert --compress zlib,lzma x y", ["'lzma' for '--compress", "not a compression mode"]),
            ("convert --order middle x y", ["'middle'", "little, big"]),
            ("convert --level 10 x y", ["'10' for '--level", "1..=9"]),
            ("edit --set-attr a x", ["'a' for '--set-attr <NAME=JSON>'", "there is no = in it"]),
            ("edit --overwrite a=b x", ["'a=b' for '--overwrite <START=FILE>'", "\"a\" is not a row"]),
        ] {
            let message = call(line).unwrap_err();
            for part in parts {
                assert!(message.contains(part) && message.lines().count() == 1, "{line}: {message}");
            }
        }
    }
}
