//! Conversion of tables of any format to DataSeries files.

use super::xml::{Attributes, TypeXml};
use super::{Compress, ExtentBuffer, Writer};
use crate::bytes::{Endian, Sink, WriteError};
use crate::column::{Batch, Build, Column, Feed, Part, Type, Unit};
use crate::dataseries::FieldType;
use crate::dataseries::layout::Options;
use crate::dataseries::types::{ExtentType, Field};
use crate::error::{Error, Kind, Result, What};

/// Writes the description of a type whose fields are the columns of `part`, with the same names.
///
/// # Errors
/// [`Kind::WrongType`] with the number of a column that no field can hold; errors of `part` and of the sink.
pub fn describe<P: Part, S: Sink>(name: &str, part: &P, sink: S) -> Result<S, WriteError<S::Error>> {
    let mut xml = TypeXml::begin(sink, name, "", (0, 0), Options::DEFAULT)?;
    for k in 0..part.width() {
        let column = part.column(k)?;
        let Some(ty) = FieldType::of_column(column.ty()) else {
            return Err(Error::new(Kind::WrongType, What::COLUMN, k as u64).into());
        };
        let field = Field { nullable: column.nullable(), ..Field::new(part.name(k)?, ty) };
        let units: &[(&str, &str)] = match column.ty() {
            Type::Timestamp(Unit::Nano) => &[("units", "nanoseconds"), ("epoch", "unix")],
            Type::Timestamp(Unit::Micro) => &[("units", "microseconds"), ("epoch", "unix")],
            Type::Timestamp(Unit::Milli) => &[("units", "milliseconds"), ("epoch", "unix")],
            Type::Timestamp(Unit::Second) => &[("units", "seconds"), ("epoch", "unix")],
            _ => &[],
        };
        xml.field(&field, &Attributes { base: "", more: units })?;
    }
    xml.end()
}

/// Receives the rows of a table from [`convert`](crate::column::convert), and writes each group as an extent.
///
/// ```
/// # #[cfg(feature = "filo")] {
/// use pilaster::bytes::{BigEndian, Scratch};
/// use pilaster::column::{Once, Table as _, convert};
/// use pilaster::dataseries::write::{Builder, Description, Descriptions, ExtentBuffer, IndexSlot, Writer, describe};
/// use pilaster::dataseries::ExtentType;
/// use pilaster::filo::{Element, Vector};
///
/// // 32-bit ints of a Filo vector.
/// let chunk = [6, 8, 0, 0, 32, 0, 1, 0, 3, 0, 0, 0, 1, 0, 0, 0];
/// let vector = Vector::open(&chunk, Element::Int)?;
///
/// let xml = describe("Numbers", &vector, Vec::new()).unwrap();
/// let mut memory = [0; 512];
/// let ty = ExtentType::parse(&xml, &Default::default(), &mut Scratch::new(&mut memory))?;
/// let (types, mut slots) = ([Description::from(&ty)], [IndexSlot::EMPTY; 1]);
/// let writer = Writer::<BigEndian, _>::new(Vec::new(), Descriptions::new(&types)?, &mut slots);
///
/// let mut builder = Builder::new(writer, ExtentBuffer::growing(ty)?, 1000);
/// convert(&mut Once::new(vector), &mut builder, &mut Scratch::new(&mut [0; 256])).unwrap();
/// let file = builder.finish().unwrap();
/// assert!(file.starts_with(b"DSv1\x12\x34\x56\x78"));
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct Builder<'w, 'm, 't, E, S: Sink, C> {
    writer: Writer<'w, E, S, C>,
    extent: ExtentBuffer<'m, E, ExtentType<'t>>,
    rows: u64,
    /// Number of rows of the open group.
    open: u64,
    /// True if an extent may have the rows of several groups.
    join: bool,
}

impl<'w, 'm, 't, E: Endian, S: Sink, C: Compress> Builder<'w, 'm, 't, E, S, C> {
    /// Creates a builder that writes extents of the type of `extent` into `writer`. An extent has at most `rows`
    /// rows, or fewer if the memory of `extent` holds fewer.
    pub fn new(writer: Writer<'w, E, S, C>, extent: ExtentBuffer<'m, E, ExtentType<'t>>, rows: u64) -> Self {
        Builder { writer, extent, rows, open: 0, join: false }
    }

    /// Makes one extent of consecutive groups that have few rows.
    #[cfg(feature = "unstable")]
    #[must_use]
    pub fn join(self) -> Self {
        Builder { join: true, ..self }
    }

    /// Writes index and trailer, and returns the sink.
    ///
    /// # Errors
    /// Errors of [`Writer::finish`].
    pub fn finish(mut self) -> Result<S, WriteError<S::Error>> {
        if self.join {
            self.writer.flush(&mut self.extent)?;
        }
        self.writer.finish()
    }
}

impl<E: Endian, S: Sink, C: Compress> Build for Builder<'_, '_, '_, E, S, C> {
    type Error = WriteError<S::Error>;

    fn feed(&self) -> Feed {
        Feed::Groups { rows: self.rows.min(self.extent.room() as u64) }
    }

    fn open(&mut self, rows: u64) -> Result<(), Self::Error> {
        if self.join && u64::from(self.extent.len()).saturating_add(rows) > self.rows {
            self.writer.flush(&mut self.extent)?;
        }
        self.extent.open_group(rows)?;
        self.open = rows;
        Ok(())
    }

    fn batch<C2: Column>(
        &mut self,
        k: usize,
        _name: &str,
        at: u64,
        _col: &C2,
        batch: &Batch<'_, C2>,
    ) -> Result<(), Self::Error> {
        Ok(self.extent.put_column(k, at, batch)?)
    }

    fn close(&mut self) -> Result<(), Self::Error> {
        self.extent.close_group(self.open);
        if self.join { Ok(()) } else { self.writer.flush(&mut self.extent) }
    }
}
