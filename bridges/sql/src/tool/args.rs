//! The command line.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Parser, Subcommand};
use pilaster::any::Format;
use pilaster::filo::Element;
use pilaster_cli::Form;
use pilaster_datafusion::Options;
use url::Url;

/// SQL over columnar files: DataSeries, Jay, Vortex, Filo, bcolz.
///
/// Files, globs and directories in quotes are tables:
///
///   pilaster-sql "select host, count(*) from 'logs/*.ds' group by host"
///
/// Names of columns that are not in lower case need double quotes.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, verbatim_doc_comment)]
pub struct Args {
    /// One or more SQL statements, separated by semicolons.
    #[arg(required = true, value_name = "SQL")]
    pub sql: Option<String>,
    /// How rows are printed: as an aligned table, as comma-separated values with a line of names, or as an object per line. `pilaster cat`
    /// prints the same forms.
    #[arg(long, default_value = "table", value_parser = PossibleValuesParser::new(["table", "csv", "json"]).map(|name| form(&name)))]
    pub format: Form,
    /// Writes the rows of the last statement to a file: .vortex, .jay, .ds, .bcolz, .filo, .parquet, .arrow,
    /// .arrows, .csv, .json.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces the file of --output if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Workers that read the files, as host:port, separated by commas. They must have the files under the same paths.
    #[arg(long, value_delimiter = ',', value_name = "HOST:PORT,…", value_parser = address)]
    pub workers: Vec<Url>,
    /// Number of bytes of files that each reader of a worker gets at least.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20)]
    pub split: usize,
    /// Number of readers on this machine, or on each worker; as many as it has processors by default. Workers take two at least.
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// How files are read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Reading {
    /// The table of files that have several: the type of a DataSeries file.
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    /// The element type of Filo vectors: boolean, int, long, float, double, string, utf8, blob, timestamp, datetime.
    #[arg(long = "type", value_name = "TYPE", value_parser = element)]
    pub element: Option<Element>,
    /// The type of the rows of Vortex files that do not store it.
    #[arg(long, value_name = "TYPE", value_parser = dtype)]
    pub dtype: Option<String>,
    /// Reads DataSeries files from the front, without trailer and index.
    #[arg(long = "no-index")]
    pub sequential: bool,
    /// Reads the readable part of damaged Jay files and bcolz datasets.
    #[arg(long)]
    pub tolerant: bool,
    /// Returns the byte strings of DataSeries and bcolz as bytes rather than text.
    #[arg(long)]
    pub bytes: bool,
    /// Leaves out rows by statistics that the format does not check.
    #[arg(long)]
    pub trust_statistics: bool,
    /// Leaves out damaged files from the damage on, with a warning.
    #[arg(long)]
    pub skip_damaged: bool,
}

impl Reading {
    /// Returns the options for files of a format.
    pub fn options(&self, format: Format) -> Options {
        Options {
            table: self.table.clone(),
            element: self.element,
            dtype: self.dtype.clone(),
            sequential: self.sequential,
            tolerant: self.tolerant,
            binary_as_string: matches!(format, Format::DataSeries | Format::Bcolz) && !self.bytes,
            trust_statistics: self.trust_statistics,
            skip_damaged: self.skip_damaged,
            ..Options::new(format)
        }
    }
}

/// Returns the URL of a worker.
fn address(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let url = Url::parse(&format!("http://{text}/")).map_err(|e| format!("no HOST:PORT: {e}"))?;
    let port = text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if port && url.path() == "/" { Ok(url) } else { Err("no HOST:PORT".to_owned()) }
}

fn element(name: &str) -> Result<Element, String> {
    let known: Vec<_> = Element::ALL.iter().map(ToString::to_string).collect();
    name.parse().map_err(|_| format!("no such element type; they are: {}", known.join(", ")))
}

fn dtype(text: &str) -> Result<String, String> {
    let given = HashMap::from([("dtype".to_owned(), text.to_owned())]);
    Options::new(Format::Vortex).with(&given).map(|_| text.to_owned()).map_err(|e| super::one_line(&e))
}

/// Returns the form that `--format` names.
fn form(name: &str) -> Form {
    match name {
        "csv" => Form::Csv,
        "json" => Form::JsonLines,
        _ => Form::Table,
    }
}

/// What the tool does beside queries.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reads files for coordinators until it is stopped, and prints the address that it listens on.
    Worker {
        /// The address. Port 0 is a free one. A caller who reaches it can read all files that this process can read.
        #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
        listen: String,
    },
}
