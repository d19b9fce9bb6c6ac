//! Record batches as Arrow IPC and Parquet files.
//!
//! ```
//! use pilaster::column::{Borrowed, Once, Prim, Type, Values};
//! use pilaster_arrow::{ReadOptions, read, write};
//!
//! let columns = [("year", Borrowed::new(Type::Prim(Prim::I32), Values::I32(&[1870, 1848])))];
//! # #[cfg(feature = "ipc")] {
//! let reader = read(Once::new(&columns[..]), ReadOptions::default())?;
//! let stream = write::all(reader, Vec::new(), write::Kind::IpcStream, write::Compression::None)?;
//! assert!(!stream.is_empty());
//! # }
//! # #[cfg(feature = "parquet")] {
//! let reader = read(Once::new(&columns[..]), ReadOptions::default())?;
//! let file = write::all(reader, Vec::new(), write::Kind::Parquet, "snappy".parse()?)?;
//! assert!(file.starts_with(b"PAR1"));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;

use crate::Error;
#[cfg(feature = "parquet")]
use crate::parquet_types;

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

/// Maximum size in bytes of a row group while it is in memory, as estimated by the writer of Parquet.
#[cfg(feature = "parquet")]
const GROUP_SIZE: usize = 64 << 20;

/// A file format that holds record batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An Arrow IPC file, which is also called Feather 2.
    ///
    /// The format allows one dictionary per column: a column with several is an error, which
    /// [`dictionaries`](crate::dictionaries), [`ReadOptions::flat`](crate::ReadOptions::flat) or
    /// [`IpcStream`](Kind::IpcStream) avoids.
    #[cfg(feature = "ipc")]
    IpcFile,
    /// An Arrow IPC stream.
    #[cfg(feature = "ipc")]
    IpcStream,
    /// A Parquet file with statistics, in row groups of at most 1,000,000 rows, or fewer where these take over 64 MiB. As
    /// Parquet lacks them, seconds become milliseconds, and dates in milliseconds become days. Dictionaries of other values than
    /// texts and bytes are stored as their values. Columns, or fields of a struct, with the same name are
    /// errors, because readers refuse them.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Writes record batches to a file of any [`Kind`].
///
/// ```
/// # #[cfg(feature = "ipc")] {
/// use arrow_array::{RecordBatch, record_batch};
/// use pilaster_arrow::write::{Compression, Kind, Writer};
///
/// let batch = record_batch!(("year", Int32, [1870, 1848]))?;
/// let mut writer = Writer::new(Vec::new(), &batch.schema(), Kind::IpcFile, Compression::None)?;
/// writer.put(&batch)?;
/// assert!(writer.finish()?.starts_with(b"ARROW1"));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer<W: Write + Send>(Inner<W>);

enum Inner<W: Write + Send> {
    #[cfg(feature = "ipc")]
    IpcFile(Box<arrow_ipc::writer::FileWriter<W>>),
    #[cfg(feature = "ipc")]
    IpcStream(Box<arrow_ipc::writer::StreamWriter<W>>),
    #[cfg(feature = "parquet")]
    Parquet {
        writer: Box<parquet::arrow::ArrowWriter<W>>,
        /// The schema of the batches, and the one that is stored.
        schemas: (SchemaRef, SchemaRef),
    },
}

impl<W: Write + Send> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Writer").finish_non_exhaustive()
    }
}

impl<W: Write + Send> Writer<W> {
    /// Creates a file of batches with this schema.
    ///
    /// # Errors
    /// Errors of the sink; a type that the format lacks; a compression that the format or this build lacks.
    pub fn new(sink: W, schema: &SchemaRef, kind: Kind, compression: Compression) -> Result<Self, Error> {
        Ok(Writer(match kind {
            #[cfg(feature = "ipc")]
            Kind::IpcFile => {
                let options = ipc_options(compression)?;
                Inner::IpcFile(Box::new(arrow_ipc::writer::FileWriter::try_new_with_options(sink, schema, options)?))
            }
            #[cfg(feature = "ipc")]
            Kind::IpcStream => {
                let options = ipc_options(compression)?;
                let writer = arrow_ipc::writer::StreamWriter::try_new_with_options(sink, schema, options)?;
                Inner::IpcStream(Box::new(writer))
            }
            #[cfg(feature = "parquet")]
            Kind::Parquet => {
                parquet_types::check(schema)?;
                let (properties, stored) = (parquet_properties(compression)?, parquet_types::stored(schema));
                let writer = parquet::arrow::ArrowWriter::try_new(sink, SchemaRef::clone(&stored), Some(properties));
                let writer = Box::new(writer.map_err(refused)?);
                Inner::Parquet { writer, schemas: (SchemaRef::clone(schema), stored) }
            }
        }))
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// Errors of the sink; a batch of another schema; rows without columns, which Parquet does not store.
    pub fn put(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        match &mut self.0 {
            #[cfg(feature = "ipc")]
            Inner::IpcFile(writer) => Ok(writer.write(batch)?),
            #[cfg(feature = "ipc")]
            Inner::IpcStream(writer) => Ok(writer.write(batch)?),
            #[cfg(feature = "parquet")]
            Inner::Parquet { writer, schemas: (given, stored) } => {
                if batch.num_columns() == 0 && batch.num_rows() > 0 {
                    return Err(Error::Lacking { format: "Parquet", what: "rows without columns".to_owned() });
                }
                if given == stored {
                    writer.write(batch).map_err(refused)?;
                } else {
                    writer.write(&parquet_types::converted(batch, stored)?).map_err(refused)?;
                }
                // Otherwise wide rows would take any amount of memory.
                if writer.memory_size() > GROUP_SIZE {
                    writer.flush().map_err(refused)?;
                }
                Ok(())
            }
        }
    }

    /// Writes the end of the file, and returns the sink.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn finish(self) -> Result<W, Error> {
        match self.0 {
            #[cfg(feature = "ipc")]
            Inner::IpcFile(mut writer) => {
                writer.finish()?;
                Ok(writer.into_inner()?)
            }
            #[cfg(feature = "ipc")]
            Inner::IpcStream(mut writer) => {
                writer.finish()?;
                Ok(writer.into_inner()?)
            }
            #[cfg(feature = "parquet")]
            Inner::Parquet { writer, .. } => writer.into_inner().map_err(refused),
        }
    }
}

/// Writes all batches to a file, and returns the sink.
///
/// # Errors
/// Errors of the reader and of [`Writer`].
pub fn all<W: Write + Send>(
    batches: impl RecordBatchReader,
    sink: W,
    kind: Kind,
    compression: Compression,
) -> Result<W, Error> {
    let mut writer = Writer::new(sink, &batches.schema(), kind, compression)?;
    for batch in batches {
        writer.put(&batch?)?;
    }
    writer.finish()
}

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

#[cfg(feature = "parquet")]
fn parquet_properties(compression: Compression) -> Result<parquet::file::properties::WriterProperties, Error> {
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
    Ok(WriterProperties::builder()
        .set_compression(kind)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .build())
}

#[cfg(feature = "parquet")]
fn refused(e: parquet::errors::ParquetError) -> Error {
    Error::Arrow(match e {
        // An error of the sink stays one.
        parquet::errors::ParquetError::External(e) => arrow_schema::ArrowError::ExternalError(e),
        e => e.into(),
    })
}
