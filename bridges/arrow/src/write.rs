//! Record batches as Arrow IPC and Parquet files.
//!
//! ```
//! use pilaster::column::{Borrowed, Once, Prim, Type, Values};
//! use pilaster_arrow::{ReadOptions, read, write};
//!
//! let columns = [("year", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1870, 1848])))];
//! # #[cfg(feature = "ipc")] {
//! let reader = read(Once::new(&columns[..]), ReadOptions::default())?;
//! let stream = write::ipc_stream(reader, Vec::new(), write::Compression::None)?;
//! assert!(!stream.is_empty());
//! # }
//! # #[cfg(feature = "parquet")] {
//! let reader = read(Once::new(&columns[..]), ReadOptions::default())?;
//! let file = write::parquet(reader, Vec::new(), "snappy".parse()?)?;
//! assert!(file.starts_with(b"PAR1"));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use arrow_array::RecordBatchReader;

use crate::Error;

/// How the values in a file are compressed. [`parse`](str::parse) takes the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all: `none`.
    #[default]
    None,
    /// `snappy`; only in Parquet.
    Snappy,
    /// `lz4`.
    Lz4,
    /// The deflate of gzip files: `zlib`; only in Parquet.
    Zlib,
    /// `zstd`; requires the feature of that name.
    Zstd,
}

impl Compression {
    /// Every kind of compression.
    pub const ALL: [Compression; 5] =
        [Compression::None, Compression::Snappy, Compression::Lz4, Compression::Zlib, Compression::Zstd];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Snappy => "snappy",
            Compression::Lz4 => "lz4",
            Compression::Zlib => "zlib",
            Compression::Zstd => "zstd",
        }
    }

    /// Creates the error for a file or a build that has no such compression.
    #[cold]
    fn lacking(self, whose: &str) -> Error {
        Error::Unsupported(format!("compression {self} in {whose}"))
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Compression {
    type Err = Error;

    /// Parses a [`name`](Compression::name).
    ///
    /// # Errors
    /// [`Error::Unsupported`] for any other text.
    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Compression::ALL.into_iter().find(|kind| kind.name() == name);
        known
            .ok_or_else(|| Error::Unsupported(format!("compression {name:?}; there are none, snappy, lz4, zlib, zstd")))
    }
}

/// Maximum number of rows in a row group of a Parquet file.
#[cfg(feature = "parquet")]
const GROUP_ROWS: usize = 1_000_000;

#[cfg(feature = "ipc")]
fn ipc_options(compression: Compression) -> Result<arrow_ipc::writer::IpcWriteOptions, Error> {
    use arrow_ipc::CompressionType;
    let kind = match compression {
        Compression::None => None,
        Compression::Lz4 => Some(CompressionType::LZ4_FRAME),
        Compression::Zstd if cfg!(feature = "zstd") => Some(CompressionType::ZSTD),
        other => return Err(other.lacking("Arrow IPC files of this build")),
    };
    Ok(arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(kind)?)
}

/// Writes an Arrow IPC file, which is also called Feather 2, and returns the sink.
///
/// The file format allows one dictionary per column: a column with several is an error, which
/// [`ReadOptions::flat`](crate::ReadOptions::flat) or [`ipc_stream`] avoids.
///
/// # Errors
/// Errors of the reader and of the sink; a compression that the format or this build lacks.
#[cfg(feature = "ipc")]
pub fn ipc_file<W: Write>(batches: impl RecordBatchReader, sink: W, compression: Compression) -> Result<W, Error> {
    let options = ipc_options(compression)?;
    let mut writer = arrow_ipc::writer::FileWriter::try_new_with_options(sink, &batches.schema(), options)?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    Ok(writer.into_inner()?)
}

/// Writes an Arrow IPC stream, and returns the sink.
///
/// # Errors
/// Errors of [`ipc_file`].
#[cfg(feature = "ipc")]
pub fn ipc_stream<W: Write>(batches: impl RecordBatchReader, sink: W, compression: Compression) -> Result<W, Error> {
    let options = ipc_options(compression)?;
    let mut writer = arrow_ipc::writer::StreamWriter::try_new_with_options(sink, &batches.schema(), options)?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    Ok(writer.into_inner()?)
}

/// Writes a Parquet file with statistics, in row groups of at most 1,000,000 rows, and returns the sink.
///
/// # Errors
/// Errors of the reader and of the sink; a type that Parquet lacks; a compression that this build lacks.
#[cfg(feature = "parquet")]
pub fn parquet<W: Write + Send>(
    batches: impl RecordBatchReader,
    sink: W,
    compression: Compression,
) -> Result<W, Error> {
    use parquet::basic::{Compression as Kind, GzipLevel};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    let kind = match compression {
        Compression::None => Kind::UNCOMPRESSED,
        Compression::Snappy => Kind::SNAPPY,
        Compression::Lz4 => Kind::LZ4_RAW,
        Compression::Zlib => Kind::GZIP(GzipLevel::default()),
        Compression::Zstd if cfg!(feature = "zstd") => Kind::ZSTD(parquet::basic::ZstdLevel::default()),
        Compression::Zstd => return Err(compression.lacking("Parquet files of this build")),
    };
    let properties = WriterProperties::builder()
        .set_compression(kind)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .build();
    let refused = |e: parquet::errors::ParquetError| Error::Arrow(e.into());
    let mut writer = parquet::arrow::ArrowWriter::try_new(sink, batches.schema(), Some(properties)).map_err(refused)?;
    for batch in batches {
        writer.write(&batch?).map_err(refused)?;
    }
    writer.into_inner().map_err(refused)
}
