//! Conversion of record batches by the writer of a format, with errors that name the column.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt::{Debug, Display};

use pilaster::bytes::WriteError;
use pilaster::column::{self, Batch, Build, Column, Feed, Memory};
use pilaster::error::{Cause as FailureCause, Error as FileError, Failure, Kind, What};

use super::{Batches, Source};
use crate::Error;

/// Size in bytes of the scratch memory of a conversion. A single row takes far less, as texts are gathered only where
/// several lie in several buffers.
const ROOM: u64 = 1 << 20;

/// The errors of writers.
pub trait Cause: From<FileError> {
    /// Returns the error of the format, or `None` if the sink failed.
    fn of_format(&self) -> Option<FileError>;

    /// Returns the error as a value of the bridge.
    fn boxed(self) -> Box<dyn StdError + Send + Sync>;
}

impl Cause for FileError {
    fn of_format(&self) -> Option<FileError> {
        Some(*self)
    }

    fn boxed(self) -> Box<dyn StdError + Send + Sync> {
        Box::new(self)
    }
}

impl<E: Debug + Display + Send + Sync + 'static> Cause for WriteError<E> {
    fn of_format(&self) -> Option<FileError> {
        match self {
            WriteError::Format(e) => Some(*e),
            // The writer of a dataset adds the path of the file.
            WriteError::Sink(e) => match (e as &dyn Any).downcast_ref::<Failure>().map(|failure| &failure.cause) {
                Some(FailureCause::Format(e)) => Some(*e),
                _ => None,
            },
        }
    }

    fn boxed(self) -> Box<dyn StdError + Send + Sync> {
        Box::new(self)
    }
}

/// Passes all rows of `table` to `build`, the writer of any format. One batch is in memory at a time.
///
/// ```
/// use std::sync::Arc;
/// use pilaster::jay::write::{Builder, WriteOptions};
/// use pilaster_arrow::arrow_array::{Float64Array, RecordBatch};
/// use pilaster_arrow::{Batches, Kept, convert};
///
/// let prices: Float64Array = vec![1.5, 2.5].into();
/// let batch = RecordBatch::try_from_iter([("price", Arc::new(prices) as _)])?;
/// let mut table = Batches::from_source(Kept::new(batch.schema(), [batch]))?;
/// let mut builder = Builder::new(Vec::new(), &WriteOptions::DEFAULT)?;
/// convert(&mut table, &mut builder)?;
/// assert!(builder.finish()?.starts_with(b"JAY1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of the source; [`Error::Once`] if the writer is fed column by column and the source can be read only once;
/// [`Error::Target`] with the column, its type and a remedy if the format cannot store it; errors of the sink.
pub fn convert<S: Source, B: Build<Error: Cause>>(table: &mut Batches<S>, build: &mut B) -> Result<(), Error> {
    let mut memory = Memory::with_len(ROOM)?;
    let mut noting = Noting { build, column: None };
    let done = column::convert(table, &mut noting, &mut memory.scratch());
    let column = noting.column.take();
    done.map_err(|e| match (table.failed.take(), column) {
        (Some(e), _) => e,
        (None, column) => {
            let (column, ty) = column.unwrap_or_default();
            let remedy = e.of_format().map_or("", remedy);
            Error::Target { column, ty, remedy, error: e.boxed() }
        }
    })
}

fn remedy(e: FileError) -> &'static str {
    match e.kind() {
        Kind::Invalid if matches!(e.what(), What::JAY_NAME | What::BCOLZ_NAME) => "rename the column",
        Kind::WrongType | Kind::Unsupported => "cast the column to a type of the format, or leave it out",
        Kind::Lossy => "replace such values, or cast the column to a wider type",
        Kind::Utf8 => "cast the column to binary",
        _ => "",
    }
}

/// A builder that notes the column of its first error.
struct Noting<'b, B> {
    build: &'b mut B,
    column: Option<(String, String)>,
}

impl<B: Build> Build for Noting<'_, B> {
    type Error = B::Error;

    fn feed(&self) -> Feed {
        self.build.feed()
    }

    fn passes<C: Column>(&self, col: &C) -> u32 {
        self.build.passes(col)
    }

    fn again(&self) -> bool {
        self.build.again()
    }

    fn no_columns(&mut self, rows: u64) -> Result<(), B::Error> {
        self.build.no_columns(rows)
    }

    fn open(&mut self, rows: u64) -> Result<(), B::Error> {
        self.build.open(rows)
    }

    fn batch<C: Column>(
        &mut self,
        k: usize,
        name: &str,
        at: u64,
        col: &C,
        batch: &Batch<'_, C>,
    ) -> Result<(), B::Error> {
        let done = self.build.batch(k, name, at, col, batch);
        if done.is_err() {
            self.column = Some((name.to_owned(), col.ty().to_string()));
        }
        done
    }

    fn close(&mut self) -> Result<(), B::Error> {
        self.build.close()
    }
}
