//! The options of `convert`, which has some for each target format.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};
use pilaster::any::Format;
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::dataseries::write::Repack;
use pilaster::dataseries::{Mode, Order, Ordering, Pad};
use pilaster::jay::Layout;
use pilaster::jay::write::Sentinels;
use pilaster::vortex::Encoding;
use pilaster::vortex::write::{Encodings, Profile, WriteOptions};
#[cfg(feature = "arrow")]
use pilaster_arrow::write::Compression;

use super::Wanted;
use crate::budget::number;
use crate::goal::Goal;
use crate::sieve::Conditions;
use crate::sources::{Hints, Location, Source, one_of};
use crate::threads::Threads;

/// Options of `convert`.
#[derive(Args, Clone, Debug, Default)]
#[command(
    override_usage = "pilaster convert [OPTIONS] FILE TARGET
       pilaster convert [OPTIONS] --to FORMAT --out-dir DIR FILE...",
    after_help = "\
Examples:
  pilaster convert trades.ds trades.jay
  pilaster convert --columns age --format-out filo people.jay ages.filo
  pilaster convert --compress lz4 --order little old.ds new.ds
  pilaster convert --encodings compact trades.jay trades.vortex
  pilaster convert --compression lz4 trades.vortex trades.parquet
  pilaster convert --to arrows trades.ds - | python3 plot.py
  pilaster convert --to parquet --out-dir new old-files/"
)]
pub struct Convert {
    /// FILE and TARGET: a file, the directory of a bcolz dataset, or - for standard input and output; a TARGET x.blosc is a
    /// single Blosc chunk of one column. With --out-dir only files to read, and directories of these
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath, required = true)]
    pub paths: Vec<Location>,
    #[command(flatten)]
    pub hints: Hints,
    /// The file to read.
    #[arg(skip)]
    pub source: Source,
    /// The file to write.
    #[arg(skip)]
    pub target: PathBuf,
    /// Write every table of every FILE to a file of its own in this directory, which is created; files that are refused are
    /// listed at the end
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "format_out")]
    pub out_dir: Option<PathBuf>,
    /// With --out-dir: read only the files of these formats in directories
    #[arg(long, value_name = "FORMAT,FORMAT", value_delimiter = ',', ignore_case = true, requires = "out_dir")]
    #[arg(value_parser = one_of(Format::ALL.map(|f| (f.name(), f))))]
    pub only: Option<Vec<Format>>,
    /// Replace TARGET if it is a file that exists
    #[arg(long)]
    pub force: bool,
    /// The format to write [default: by the extension of TARGET (.filo .ds .jay .bcolz .blosc .vortex .parquet .arrow
    /// .arrows .csv .jsonl, the last two also with .gz), or without one the format of FILE]
    #[arg(long, visible_alias = "to", value_name = "FORMAT", ignore_case = true)]
    #[arg(value_parser = one_of(Goal::all()))]
    pub format_out: Option<Goal>,
    #[command(flatten)]
    pub wanted: Wanted,
    /// The table to read if FILE has several, else the name of the table to write
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub table: Option<String>,
    #[command(flatten)]
    pub conditions: Conditions,
    /// Write dates and times as the stored integers
    #[arg(long)]
    pub stored_times: bool,
    /// Write bytes as strings; bytes that are not UTF-8 are an error
    #[arg(long)]
    pub bytes_as_text: bool,
    /// Jay: convert timestamps of any unit to nanoseconds. Jay, bcolz, DataSeries and Filo: drop the time zone. Durations of Arrow
    /// become integers of their units
    #[arg(long)]
    pub any_time: bool,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub jay: ToJay,
    #[command(flatten)]
    pub bcolz: ToBcolz,
    #[command(flatten)]
    pub dataseries: ToDataSeries,
    #[command(flatten)]
    pub vortex: ToVortex,
    #[cfg(feature = "arrow")]
    #[command(flatten)]
    pub arrow: ToArrow,
}

#[cfg(feature = "arrow")]
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "To Parquet and Arrow")]
pub struct ToArrow {
    /// The compression of the values; Arrow has none, lz4 and zstd [default: snappy for Parquet, none for Arrow]
    #[arg(long, value_name = "NAME", value_parser = one_of(Compression::ALL.map(|c| (c.name(), c))))]
    pub compression: Option<Compression>,
}

impl Convert {
    /// Checks the number of paths.
    pub fn check(&self) -> Result<(), String> {
        match &self.paths[..] {
            _ if self.out_dir.is_some() => Ok(()),
            [_, _] => Ok(()),
            [only] => Err(format!("<TARGET> is missing, the file to write the rows of {only} to")),
            _ => Err("several files are converted with --to FORMAT --out-dir DIR".to_owned()),
        }
    }

    /// Returns the options with FILE and TARGET.
    pub fn single(&self) -> Self {
        let mut paths = self.paths.iter();
        let (source, target) = (paths.next().cloned().unwrap_or_default(), paths.next());
        Convert {
            source: Source { path: source, hints: self.hints.clone() },
            target: match target {
                Some(Location::Path(path)) => path.clone(),
                Some(Location::Stdin) | None => PathBuf::from("-"),
            },
            ..self.clone()
        }
    }

    /// Returns whether the target has other rows, columns or types than the source.
    pub fn is_choice(&self) -> bool {
        let chosen = self.conditions.are_given() || !self.wanted.is_all() || self.table.is_some();
        chosen || self.stored_times || self.bytes_as_text
    }
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
    /// Treatment of the minimum of an integer type, which means missing in Jay: an error, a missing value, or for int8,
    /// int16 and int32 a column of the next wider type [default: error]
    #[arg(long, value_parser = one_of(SENTINELS))]
    pub sentinels: Option<Sentinels>,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "To Vortex")]
pub struct ToVortex {
    /// The releases of the original that open the file, as far as they know its types: those since 0.84, or since 0.36
    /// (wide), which then have no zone maps; 0.36 reads no structs that may be missing, and no time zones to Arrow, and maps
    /// need 0.90 [default: 2026]
    #[arg(long, value_parser = one_of([("2026", Profile::Edition2026), ("wide", Profile::Wide)]))]
    pub profile: Option<Profile>,
    /// The encodings to choose from: default, compact (also vortex.pco and vortex.zstd, for smaller files that take longer
    /// to read and write), or ids such as fastlanes.bitpacked; encodings without an alternative are always used
    #[arg(long, value_name = "ID,ID", value_delimiter = ',', value_parser = encodings)]
    pub encodings: Option<Vec<Encodings>>,
    /// Encodings not to choose
    #[arg(long, value_name = "ID,ID", value_delimiter = ',', value_parser = optional)]
    pub without_encodings: Option<Vec<Encoding>>,
    /// The size of the values of a chunk in bytes, such as 64k, at most 1G [default: 1M]
    #[arg(long, value_name = "BYTES", value_parser = chunk_size)]
    pub chunk_size: Option<u64>,
    /// Rows that share a minimum and a maximum, a multiple of 1024 [default: 8192]
    #[arg(long, value_name = "N", value_parser = zone_rows)]
    pub zone_rows: Option<u32>,
    /// No dictionaries over all chunks of a column
    #[arg(long)]
    pub no_dictionaries: bool,
    /// No minimum, maximum and counts: neither of columns nor of zones
    #[arg(long)]
    pub no_statistics: bool,
}

impl ToVortex {
    pub fn options(&self) -> WriteOptions {
        let default = WriteOptions::DEFAULT;
        let mut encodings = match &self.encodings {
            None => default.encodings,
            Some(all) => all.iter().flat_map(|set| set.iter()).fold(Encodings::BASIC, Encodings::with),
        };
        encodings = self.without_encodings.iter().flatten().fold(encodings, |set, one| set.without(*one));
        WriteOptions {
            chunk_size: self.chunk_size.unwrap_or(default.chunk_size),
            zone_rows: self.zone_rows.unwrap_or(default.zone_rows),
            dictionaries: !self.no_dictionaries,
            statistics: !self.no_statistics,
            encodings,
            profile: self.profile.unwrap_or_default(),
            ..default
        }
    }
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
    /// The modes to try; the smallest result is kept for each extent: none, lzo, zlib, bz2, lzf, snappy, lz4, lz4hc, or
    /// smallest for all of them, which is slow [default: lz4]
    #[arg(long, value_name = "MODE,MODE", value_delimiter = ',', value_parser = attempt)]
    pub compress: Option<Vec<Try>>,
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

/// A compression mode to try, or all modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Try {
    Mode(Mode),
    Smallest,
}

impl ToDataSeries {
    pub fn repack(&self) -> Repack {
        Repack { plain: self.plain, compact: self.compact, pad: self.pad, ordering: self.ordering }
    }
}

const SENTINELS: [(&str, Sentinels); 3] =
    [("widen", Sentinels::Widen), ("missing", Sentinels::Missing), ("error", Sentinels::Error)];

pub const ORDERS: [(&str, Order); 2] = [("little", Order::Little), ("big", Order::Big)];

fn attempt(name: &str) -> Result<Try, &'static str> {
    match name {
        "smallest" => Ok(Try::Smallest),
        name => Mode::of_name(name).map(Try::Mode).ok_or("not a compression mode"),
    }
}

/// Parses the name of a set of encodings or the id of one.
fn encodings(name: &str) -> Result<Encodings, String> {
    match name {
        "default" => Ok(Encodings::DEFAULT),
        "compact" => Ok(Encodings::COMPACT),
        id => Ok(Encodings::BASIC.with(written(id)?)),
    }
}

/// Parses the id of an encoding that the writer can do without.
fn optional(id: &str) -> Result<Encoding, String> {
    match written(id)? {
        basic if Encodings::BASIC.has(basic) => Err("an encoding that has no alternative".to_owned()),
        found => Ok(found),
    }
}

fn written(id: &str) -> Result<Encoding, String> {
    match Encoding::of(id.as_bytes()) {
        found if Encodings::COMPACT.has(found) => Ok(found),
        _ => {
            let all = Encodings::COMPACT.iter().filter(|one| !Encodings::BASIC.has(*one)).map(Encoding::id);
            Err(format!("not an encoding that is written; these are: {}", all.collect::<Vec<_>>().join(", ")))
        }
    }
}

/// The largest `--chunk-size`, in bytes.
const MAX_CHUNK: u64 = 1 << 30;

fn chunk_size(text: &str) -> Result<u64, String> {
    let size = number(text)?;
    if size > MAX_CHUNK { Err(format!("the maximum is {MAX_CHUNK}")) } else { Ok(size) }
}

fn zone_rows(number: &str) -> Result<u32, String> {
    let zone_rows = number.parse().map_err(|_| "not a number")?;
    match (WriteOptions { zone_rows, ..WriteOptions::DEFAULT }).check() {
        Ok(()) => Ok(zone_rows),
        Err(_) => Err("not a multiple of 1024 up to 1048576".to_owned()),
    }
}
