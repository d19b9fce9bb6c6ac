//! The command line: its grammar.

use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use lexopt::prelude::*;
use pilaster::any::Format;
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::dataseries::layout::{Ordering, Pad};
use pilaster::dataseries::write::Repack;
use pilaster::dataseries::{Mode, Order};
use pilaster::filo::Element;
use pilaster::jay::Layout;

use crate::help::{CAT, COMMON, CONVERT, DUMP, HEAD, INFO, MAIN, RECOVER, RULES, TEXT, VERIFY};

/// What a command line asks for.
#[derive(Debug)]
pub enum Call {
    Run(Box<Task>),
    /// Print a text and be done: help, version.
    Print(String),
}

/// One command on one file.
#[derive(Debug)]
pub struct Task {
    pub command: Command,
    pub source: Source,
    pub format: Option<Format>,
    pub element: Option<Element>,
    /// What a Blosc chunk holds, as numpy spells it.
    pub dtype: Option<String>,
    /// A DataSeries file is read from the front, without trailer and index.
    pub sequential: bool,
    /// Of a Jay file whatever can be read is read.
    pub tolerant: bool,
}

#[derive(Debug)]
pub enum Command {
    Info,
    /// `head` and `cat`.
    Cat(Text),
    Dump,
    Verify,
    Recover(Recover),
    Convert(Convert),
}

/// How a damaged file becomes a clean one.
#[derive(Debug, Default)]
pub struct Recover {
    pub target: PathBuf,
    /// A sound file with the same types.
    pub types: Option<PathBuf>,
    /// The byte order, if the header does not tell.
    pub order: Option<Order>,
}

/// How a file is stored anew.
#[derive(Clone, Debug)]
pub struct Convert {
    pub target: PathBuf,
    /// The modes to try; all if nothing was said.
    pub modes: Option<Vec<Mode>>,
    pub level: u8,
    /// As it is, if nothing was said.
    pub order: Option<Order>,
    pub repack: Repack,
    /// The format to write; that of the target's name, or of the source, if nothing was said.
    pub to: Option<Format>,
    /// Which columns, in this order; all if nothing was said.
    pub columns: Option<Vec<String>>,
    /// Which of several tables, or the name of the one to write.
    pub table: Option<String>,
    /// Dates and times become the integers that are stored.
    pub stored_times: bool,
    /// Jay: how columns are described.
    pub layout: Layout,
    /// Jay: how many of the first columns are the key.
    pub keys: Option<usize>,
    /// Jay: whether least and greatest values are stored.
    pub stats: bool,
    /// Jay: bytes that are text become strings.
    pub bytes_as_text: bool,
    /// Jay: timestamps of any unit become nanoseconds. bcolz: they lose their zone.
    pub any_time: bool,
    /// bcolz: how new chunks are compressed; LZ4 at level 5, bytes shuffled, if nothing was said.
    pub codec: Option<Compressor>,
    pub clevel: Option<u8>,
    pub shuffle: Option<Shuffle>,
    /// bcolz: rows of a chunk; as the original would choose, if nothing was said.
    pub chunklen: Option<u64>,
    /// bcolz: rows without a value get one.
    pub fill_missing: bool,
    /// bcolz: structs become records.
    pub records: bool,
    /// bcolz: the rows go behind those of the target.
    pub append: bool,
}

/// Where the bytes come from.
#[derive(Debug)]
pub enum Source {
    Stdin,
    Path(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("-"),
            Source::Path(path) => path.display().fmt(f),
        }
    }
}

/// How rows become text.
#[derive(Debug)]
pub struct Text {
    pub to: To,
    /// Which rows.
    pub rows: Range<u64>,
    /// Which columns, in this order; all if nothing was said.
    pub columns: Option<Vec<String>>,
    /// Which of several tables.
    pub table: Option<String>,
    /// Rows whose value in a column lies in a range.
    pub time: Time,
    /// CSV: whether the first line names the columns.
    pub header: bool,
    /// CSV: what stands for a missing value.
    pub missing: String,
}

/// A range of stored times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Time {
    /// The column; the first of 64 bits if nothing was said.
    pub column: Option<String>,
    /// The first value.
    pub from: Option<Instant>,
    /// Behind the last.
    pub to: Option<Instant>,
}

/// A stored time. Integers are kept as such: nanoseconds have more digits than a double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instant {
    Whole(i128),
    Real(f64),
}

impl Time {
    /// Whether it is a choice at all.
    pub fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Csv,
    JsonLines,
}

/// What a command line asks for, or what is wrong with it.
pub fn parse(mut parser: lexopt::Parser) -> Result<Call, String> {
    read(&mut parser).map_err(|e| format!("{e}; see pilaster --help"))
}

fn read(parser: &mut lexopt::Parser) -> Result<Call, lexopt::Error> {
    let name = match parser.next()? {
        None => return Err("a command is missing".into()),
        Some(Short('h') | Long("help")) => return Ok(Call::Print([MAIN, COMMON].concat())),
        Some(Short('V') | Long("version")) => return Ok(Call::Print(version())),
        Some(Value(name)) => name.string()?,
        Some(other) => return Err(other.unexpected()),
    };
    let text = |rows| Text {
        to: To::Csv,
        rows: 0..rows,
        columns: None,
        table: None,
        time: Time::default(),
        header: true,
        missing: String::new(),
    };
    let (mut command, help) = match name.as_str() {
        "info" => (Command::Info, [INFO, COMMON].concat()),
        "head" => (Command::Cat(text(10)), [HEAD, TEXT, RULES, COMMON].concat()),
        "cat" => (Command::Cat(text(u64::MAX)), [CAT, TEXT, RULES, COMMON].concat()),
        "dump" => (Command::Dump, [DUMP, COMMON].concat()),
        "verify" => (Command::Verify, [VERIFY, COMMON].concat()),
        "recover" => (Command::Recover(Recover::default()), [RECOVER, COMMON].concat()),
        "convert" => (Command::Convert(Convert::new()), [CONVERT, COMMON].concat()),
        "help" => return Ok(Call::Print([MAIN, COMMON].concat())),
        other => return Err(format!("unknown command {other:?}").into()),
    };
    let (mut source, mut format, mut element, mut dtype) = (None, None, None, None);
    let (mut sequential, mut tolerant) = (false, false);
    while let Some(arg) = parser.next()? {
        match (arg, &mut command) {
            (Short('h') | Long("help"), _) => return Ok(Call::Print(help)),
            (Short('V') | Long("version"), _) => return Ok(Call::Print(version())),
            (Long("format"), _) => {
                format = Some(format_of(parser, "format")?);
            }
            (Long("type"), _) => {
                let all = Element::ALL.map(Element::name).join(", ");
                element = Some(
                    parser
                        .value()?
                        .parse_with(|name| name.parse::<Element>().map_err(|_| format!("--type is one of {all}")))?,
                );
            }
            (Long("dtype"), _) => dtype = Some(parser.value()?.string()?),
            (Long("no-index"), _) => sequential = true,
            (Long("tolerant"), _) => tolerant = true,
            (Short('n') | Long("rows"), Command::Cat(text)) => text.rows = parser.value()?.parse_with(rows)?,
            (Long("columns"), Command::Cat(text)) => {
                text.columns = Some(parser.value()?.string()?.split(',').map(str::to_owned).collect());
            }
            (Long("table"), Command::Cat(text)) => text.table = Some(parser.value()?.string()?),
            (Long("time"), Command::Cat(text)) => text.time.column = Some(parser.value()?.string()?),
            (Long("from"), Command::Cat(text)) => text.time.from = Some(parser.value()?.parse_with(time)?),
            (Long("to"), Command::Cat(text)) => {
                // A form of text is no time, and a time no form.
                let value = parser.value()?.string()?;
                match (form(&value), time(&value)) {
                    (Ok(form), _) => text.to = form,
                    (Err(_), Ok(time)) => text.time.to = Some(time),
                    (Err(e), Err(_)) => return Err(e.into()),
                }
            }
            (Long("json-lines"), Command::Cat(text)) => text.to = To::JsonLines,
            (Long("no-header"), Command::Cat(text)) => text.header = false,
            (Long("missing"), Command::Cat(text)) => text.missing = parser.value()?.string()?,
            (Long("json"), Command::Dump) => {}
            (Long("types"), Command::Recover(how)) => how.types = Some(parser.value()?.into()),
            (Long("order"), Command::Recover(how)) => how.order = Some(one_of(parser, "order", &ORDERS)?),
            (Long("order"), Command::Convert(how)) => how.order = Some(one_of(parser, "order", &ORDERS)?),
            (Long("compress"), Command::Convert(how)) => how.modes = Some(parser.value()?.parse_with(modes)?),
            (Long("level"), Command::Convert(how)) => {
                how.level = parser.value()?.parse_with(|text| match text.parse() {
                    Ok(level @ 1..=9) => Ok(level),
                    _ => Err("--level is 1 to 9"),
                })?;
            }
            (Long("to"), Command::Convert(how)) => how.to = Some(format_of(parser, "to")?),
            (Long("columns"), Command::Convert(how)) => {
                how.columns = Some(parser.value()?.string()?.split(',').map(str::to_owned).collect());
            }
            (Long("table"), Command::Convert(how)) => how.table = Some(parser.value()?.string()?),
            (Long("stored-times"), Command::Convert(how)) => how.stored_times = true,
            (Long("layout"), Command::Convert(how)) => how.layout = one_of(parser, "layout", &LAYOUTS)?,
            (Long("keys"), Command::Convert(how)) => how.keys = Some(parser.value()?.parse()?),
            (Long("no-stats"), Command::Convert(how)) => how.stats = false,
            (Long("bytes-as-text"), Command::Convert(how)) => how.bytes_as_text = true,
            (Long("any-time"), Command::Convert(how)) => how.any_time = true,
            (Long("codec"), Command::Convert(how)) => how.codec = Some(parser.value()?.parse_with(codec)?),
            (Long("clevel"), Command::Convert(how)) => {
                how.clevel = Some(parser.value()?.parse_with(|text| match text.parse() {
                    Ok(level @ 0..=9) => Ok(level),
                    _ => Err("--clevel is 0 to 9"),
                })?);
            }
            (Long("shuffle"), Command::Convert(how)) => {
                how.shuffle = Some(parser.value()?.parse_with(|text| match text {
                    "none" => Ok(Shuffle::None),
                    "bytes" => Ok(Shuffle::Byte),
                    "bits" => Ok(Shuffle::Bit),
                    _ => Err("--shuffle is none, bytes or bits"),
                })?);
            }
            (Long("chunklen"), Command::Convert(how)) => {
                how.chunklen = Some(parser.value()?.parse::<std::num::NonZeroU64>()?.get());
            }
            (Long("fill-missing"), Command::Convert(how)) => how.fill_missing = true,
            (Long("records"), Command::Convert(how)) => how.records = true,
            (Long("append"), Command::Convert(how)) => how.append = true,
            (Long("plain"), Command::Convert(how)) => how.repack.plain = true,
            (Long("compact"), Command::Convert(how)) => how.repack.compact = Some(one_of(parser, "compact", &YES)?),
            (Long("pad"), Command::Convert(how)) => how.repack.pad = Some(one_of(parser, "pad", &PADS)?),
            (Long("ordering"), Command::Convert(how)) => {
                how.repack.ordering = Some(one_of(parser, "ordering", &ORDERINGS)?);
            }
            (Value(path), _) if source.is_none() => source = Some(from(path)),
            (Value(path), Command::Recover(Recover { target, .. }) | Command::Convert(Convert { target, .. }))
                if target.as_os_str().is_empty() =>
            {
                *target = path.into();
            }
            (other, _) => return Err(other.unexpected()),
        }
    }
    let source = source.ok_or("a FILE is missing, or - for standard input")?;
    if let Command::Recover(Recover { target, .. }) | Command::Convert(Convert { target, .. }) = &command
        && target.as_os_str().is_empty()
    {
        return Err("a TARGET is missing: the file to write".into());
    }
    Ok(Call::Run(Box::new(Task { command, source, format, element, dtype, sequential, tolerant })))
}

impl Convert {
    pub fn new() -> Self {
        Convert {
            target: PathBuf::new(),
            modes: None,
            level: 9,
            order: None,
            repack: Repack::KEEP,
            to: None,
            columns: None,
            table: None,
            stored_times: false,
            layout: Layout::New,
            keys: None,
            stats: true,
            bytes_as_text: false,
            any_time: false,
            codec: None,
            clevel: None,
            shuffle: None,
            chunklen: None,
            fill_missing: false,
            records: false,
            append: false,
        }
    }
}

const ORDERS: [(&str, Order); 2] = [("little", Order::Little), ("big", Order::Big)];
const YES: [(&str, bool); 2] = [("yes", true), ("no", false)];
const PADS: [(&str, Pad); 2] = [("original", Pad::Original), ("max_column_size", Pad::MaxColumnSize)];
const ORDERINGS: [(&str, Ordering); 2] =
    [("small_to_big", Ordering::SmallToBig), ("big_to_small", Ordering::BigToSmall)];

const LAYOUTS: [(&str, Layout); 2] = [("new", Layout::New), ("old", Layout::Old)];

/// The format that an option names.
fn format_of(parser: &mut lexopt::Parser, option: &str) -> Result<Format, lexopt::Error> {
    let all = Format::ALL.map(Format::name).join(", ");
    parser.value()?.parse_with(|name| name.parse::<Format>().map_err(|_| format!("--{option} is one of {all}")))
}

/// The value of an option that has two.
fn one_of<T: Copy>(parser: &mut lexopt::Parser, option: &str, all: &[(&str, T); 2]) -> Result<T, lexopt::Error> {
    parser.value()?.parse_with(|text| {
        let found = all.iter().find(|(name, _)| *name == text);
        let [(first, _), (second, _)] = all;
        found.map(|(_, value)| *value).ok_or_else(|| format!("--{option} is {first} or {second}"))
    })
}

/// A compressor of bcolz.
fn codec(name: &str) -> Result<Compressor, String> {
    let all = Compressor::ALL.map(Compressor::name).join(", ");
    Compressor::from_name(name).ok_or_else(|| format!("--codec is one of {all}"))
}

/// Names of compression modes, between commas.
fn modes(text: &str) -> Result<Vec<Mode>, String> {
    let mode = |name| Mode::of_name(name).ok_or_else(|| format!("{name:?} is no compression mode"));
    text.split(',').map(mode).collect()
}

fn from(path: OsString) -> Source {
    if path == "-" { Source::Stdin } else { Source::Path(path.into()) }
}

fn form(name: &str) -> Result<To, &'static str> {
    match name {
        "csv" => Ok(To::Csv),
        "jsonl" | "json-lines" => Ok(To::JsonLines),
        _ => Err("--to is csv or jsonl, or a number"),
    }
}

/// A number of rows, or a range of them.
fn rows(text: &str) -> Result<Range<u64>, String> {
    let bad = |e: std::num::ParseIntError| format!("{text:?} is neither a number nor a range of rows: {e}");
    let Some((from, to)) = text.split_once("..") else { return Ok(0..text.parse().map_err(bad)?) };
    let from = if from.is_empty() { 0 } else { from.parse().map_err(bad)? };
    let to = if to.is_empty() { u64::MAX } else { to.parse().map_err(bad)? };
    Ok(from..to)
}

fn time(text: &str) -> Result<Instant, String> {
    let whole = text.parse().map(Instant::Whole);
    whole.or_else(|_| text.parse().map(Instant::Real)).map_err(|_| format!("{text:?} is no stored time: a number"))
}

fn version() -> String {
    format!("pilaster {}\n", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Result<Call, String> {
        parse(lexopt::Parser::from_iter(["pilaster"].into_iter().chain(line.split_whitespace())))
    }

    fn task(line: &str) -> Task {
        match call(line) {
            Ok(Call::Run(task)) => *task,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn options_before_and_behind_the_file() {
        let t = task("cat --type INT x --to=jsonl -n3");
        let Command::Cat(text) = &t.command else { panic!() };
        assert_eq!((text.to, &text.rows, t.element), (To::JsonLines, &(0..3), Some(Element::Int)));
        assert_eq!(t.source.to_string(), "x");
    }

    #[test]
    fn choices_of_rows_and_columns() {
        let text = |line: &str| match task(line).command {
            Command::Cat(text) => text,
            other => panic!("{other:?}"),
        };
        for (line, rows) in [("-n 3", 0..3), ("--rows 5..9", 5..9), ("--rows 5..", 5..u64::MAX), ("--rows ..9", 0..9)] {
            assert_eq!(text(&format!("head {line} x")).rows, rows);
        }
        let all = text("cat --columns a,b --table T --time t --from -3 --to 1e9 --to jsonl x");
        assert_eq!(
            (all.columns, all.table, all.to),
            (Some(vec!["a".into(), "b".into()]), Some("T".into()), To::JsonLines)
        );
        assert_eq!(
            all.time,
            Time { column: Some("t".into()), from: Some(Instant::Whole(-3)), to: Some(Instant::Real(1e9)) }
        );
    }

    #[test]
    fn standard_input_is_a_dash_or_an_odd_file() {
        assert!(matches!(task("info --format filo -").source, Source::Stdin));
        assert!(matches!(task("info -- --type").source, Source::Path(p) if p.as_os_str() == "--type"));
    }

    #[test]
    fn every_command_helps_itself() {
        for name in ["info", "head", "cat", "dump", "verify", "recover", "convert"] {
            let Ok(Call::Print(text)) = call(&format!("{name} --help")) else { panic!("{name}") };
            assert!(text.contains(&format!("Usage: pilaster {name} ")) && text.ends_with("the call is bad.\n"));
            let widest = text.lines().map(str::len).max();
            assert!(widest <= Some(80), "{name}: {widest:?} columns");
        }
    }

    #[test]
    fn bad_calls_say_what_is_wrong() {
        for (line, part) in [
            ("", "a command is missing"),
            ("frobnicate x", "unknown command \"frobnicate\""),
            ("cat", "a FILE is missing"),
            ("cat a b", "unexpected argument \"b\""),
            ("info -n 3 x", "invalid option '-n'"),
            ("cat --to xml x", "--to is csv or jsonl, or a number"),
            ("cat --from noon x", "\"noon\" is no stored time"),
            ("cat --rows 1..x f", "\"1..x\" is neither a number nor a range"),
            ("cat --rows many x", "many"),
            ("dump --type number x", "--type is one of boolean, int, long"),
            ("dump --format feather x", "--format is one of filo, dataseries"),
            ("recover x", "a TARGET is missing"),
            ("convert x y z", "unexpected argument \"z\""),
            ("convert --compress lzma x y", "\"lzma\" is no compression mode"),
            ("convert --order middle x y", "--order is little or big"),
            ("convert --level 10 x y", "--level is 1 to 9"),
        ] {
            let message = call(line).unwrap_err();
            assert!(message.contains(part), "{line}: {message}");
        }
    }
}
