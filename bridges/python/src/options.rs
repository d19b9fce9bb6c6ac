//! Options of the writers.

use pilaster::any::Format;
use pilaster::bcolz::chunk::Params;
use pilaster::bcolz::write::Missing;
use pilaster::bcolz::{self, Compressor, Shuffle};
use pilaster::dataseries::Mode;
use pilaster::dataseries::write::Smallest;
use pilaster::jay::Layout;
use pilaster::jay::write::Sentinels;
use pilaster::vortex::write::{Encodings, Profile};
use pilaster::{jay, vortex};
use pilaster_arrow::SeriesOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::{Failure, Result};

/// What the caller chose; the rest are defaults of the formats.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub any_time: bool,
    pub append: bool,
    bytes_as_text: bool,
    layout: Option<String>,
    keys: usize,
    no_statistics: bool,
    sentinels: Option<String>,
    encodings: Option<String>,
    profile: Option<String>,
    chunk_size: Option<u64>,
    zone_rows: Option<u32>,
    no_dictionaries: bool,
    codec: Option<String>,
    level: Option<u8>,
    shuffle: Option<String>,
    chunklen: Option<u64>,
    fill_missing: bool,
    compress: Option<Vec<String>>,
    table: Option<String>,
    extent_rows: Option<u64>,
}

/// The names of the options of a format.
const fn names(format: Format) -> &'static [&'static str] {
    match format {
        Format::Jay => &["any_time", "bytes_as_text", "keys", "layout", "sentinels", "statistics"],
        Format::Vortex => {
            &["any_time", "chunk_size", "dictionaries", "encodings", "profile", "statistics", "zone_rows"]
        }
        Format::DataSeries => &["any_time", "compress", "extent_rows", "level", "table"],
        Format::Bcolz => &["any_time", "append", "chunklen", "codec", "fill_missing", "level", "shuffle"],
        Format::Filo => &["any_time"],
    }
}

impl Options {
    /// Reads keyword arguments.
    pub fn new(format: Format, given: &Bound<'_, PyDict>) -> Result<Self> {
        let mut options = Options::default();
        for (name, value) in given {
            let name: String = name.extract()?;
            if !names(format).contains(&name.as_str()) {
                let known = names(format).join(", ");
                return Err(Failure::Type(format!("{format} has no option {name:?}; it has {known}")));
            }
            options.set(&name, &value).map_err(|e| of_option(e, &name, &value))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> Result<()> {
        match name {
            "any_time" => self.any_time = value.extract()?,
            "append" => self.append = value.extract()?,
            "bytes_as_text" => self.bytes_as_text = value.extract()?,
            "layout" => self.layout = value.extract()?,
            "keys" => self.keys = value.extract()?,
            "statistics" => self.no_statistics = !value.extract::<bool>()?,
            "sentinels" => self.sentinels = value.extract()?,
            "encodings" => self.encodings = value.extract()?,
            "profile" => self.profile = value.extract()?,
            "chunk_size" => self.chunk_size = value.extract()?,
            "zone_rows" => self.zone_rows = value.extract()?,
            "dictionaries" => self.no_dictionaries = !value.extract::<bool>()?,
            "codec" => self.codec = value.extract()?,
            "level" => self.level = value.extract()?,
            "shuffle" => self.shuffle = value.extract()?,
            "chunklen" => self.chunklen = value.extract()?,
            "fill_missing" => self.fill_missing = value.extract()?,
            "compress" => {
                self.compress = Some(match value.cast::<PyString>() {
                    Ok(one) => vec![one.extract()?],
                    Err(_) => value.try_iter()?.map(|name| name?.extract()).collect::<PyResult<_>>()?,
                });
            }
            "table" => self.table = value.extract()?,
            "extent_rows" => self.extent_rows = value.extract()?,
            _ => {}
        }
        Ok(())
    }
}

/// Returns an error that names the option, for a value of another type or out of range.
fn of_option(e: Failure, name: &str, value: &Bound<'_, PyAny>) -> Failure {
    let Failure::Python(e) = e else { return e };
    let (py, shown) = (value.py(), value.repr().map_or_else(|_| String::new(), |shown| shown.to_string()));
    let text = format!("{name}={shown}: {}", e.value(py));
    match e.is_instance_of::<PyTypeError>(py) {
        true => Failure::Type(text),
        false => Failure::Value(text),
    }
}

/// Returns the value of a name, or the first one without a name.
fn one_of<T: Copy>(option: &str, name: Option<&str>, known: &[(&str, T)], default: T) -> Result<T> {
    let Some(name) = name else { return Ok(default) };
    let found = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(|(_, value)| *value).ok_or_else(|| Failure::Value(format!("{option}={name:?}; there are {}", names())))
}

pub fn jay_options(options: &Options) -> Result<jay::write::WriteOptions> {
    let layouts = [("new", Layout::New), ("old", Layout::Old)];
    let sentinels = [("error", Sentinels::Error), ("missing", Sentinels::Missing), ("widen", Sentinels::Widen)];
    Ok(jay::write::WriteOptions {
        layout: one_of("layout", options.layout.as_deref(), &layouts, Layout::New)?,
        keys: options.keys,
        stats: !options.no_statistics,
        bytes_as_text: options.bytes_as_text,
        any_time: options.any_time,
        sentinels: one_of("sentinels", options.sentinels.as_deref(), &sentinels, Sentinels::default())?,
    })
}

pub fn vortex_options(options: &Options) -> Result<vortex::write::WriteOptions> {
    let default = vortex::write::WriteOptions::DEFAULT;
    let encodings = [("default", default.encodings), ("compact", Encodings::COMPACT)];
    let profiles = [("2026", Profile::Edition2026), ("wide", Profile::Wide)];
    Ok(vortex::write::WriteOptions {
        chunk_size: options.chunk_size.unwrap_or(default.chunk_size),
        zone_rows: options.zone_rows.unwrap_or(default.zone_rows),
        dictionaries: !options.no_dictionaries,
        statistics: !options.no_statistics,
        encodings: one_of("encodings", options.encodings.as_deref(), &encodings, default.encodings)?,
        profile: one_of("profile", options.profile.as_deref(), &profiles, default.profile)?,
        ..default
    })
}

/// Returns the parameters of a chunk. `names`: of the options for the codec and the level.
pub fn chunk_params(
    names: (&str, &str),
    codec: Option<&str>,
    level: u8,
    shuffle: Option<&str>,
    default: Params,
) -> Result<Params> {
    if level > 9 {
        return Err(Failure::Value(format!("{}={level}; the levels are 0 to 9", names.1)));
    }
    let codecs = Compressor::ALL.map(|compressor| (compressor.name(), compressor));
    let shuffles = [("none", Shuffle::None), ("bytes", Shuffle::Byte), ("bits", Shuffle::Bit)];
    Ok(Params {
        compressor: one_of(names.0, codec, &codecs, default.compressor)?,
        level,
        shuffle: one_of("shuffle", shuffle, &shuffles, default.shuffle)?,
        ..default
    })
}

pub fn bcolz_options(options: &Options, rows: u64) -> Result<bcolz::write::WriteOptions> {
    let default = bcolz::write::WriteOptions::DEFAULT;
    let level = options.level.unwrap_or(default.params.level);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(bcolz::write::WriteOptions {
        params: chunk_params(
            ("codec", "level"),
            options.codec.as_deref(),
            level,
            options.shuffle.as_deref(),
            default.params,
        )?,
        chunklen: options.chunklen.filter(|rows| *rows > 0),
        expectedlen: Some(rows),
        missing: if options.fill_missing { Missing::Fill } else { Missing::Refuse },
        threads,
    })
}

/// Number of rows of an extent.
const EXTENT_ROWS: u64 = 1 << 14;

/// Number of extents that an index has at most: their places are kept in memory.
const EXTENTS: usize = 1 << 18;

pub fn series_options(options: &Options) -> Result<SeriesOptions> {
    let known = Mode::ALL.map(|mode| (mode.name(), mode));
    let modes = match options.compress.as_deref() {
        None => vec![Mode::Lz4],
        Some([only]) if only == "smallest" => Mode::ALL.to_vec(),
        Some(names) => {
            names.iter().map(|name| one_of("compress", Some(name), &known, Mode::Lz4)).collect::<Result<_>>()?
        }
    };
    let level = options.level.unwrap_or(9);
    if !(1..=9).contains(&level) {
        return Err(Failure::Value(format!("level={level}; the levels are 1 to 9")));
    }
    Ok(SeriesOptions {
        name: options.table.clone().unwrap_or_else(|| "Table".to_owned()),
        compress: Smallest::of(&modes, level)?,
        rows: options.extent_rows.unwrap_or(EXTENT_ROWS).max(1),
        extents: EXTENTS,
        join: false,
    })
}
