//! Tables, parts and columns of any format, for consumers that support all formats.

use core::ops::Range;

#[cfg(feature = "bcolz")]
use crate::bcolz;
use crate::bytes::Scratch;
use crate::column::{self, Batch, Bookmark, Dictionary, Place, Type, Zone};
#[cfg(feature = "dataseries")]
use crate::dataseries;
use crate::error::Result;
#[cfg(feature = "filo")]
use crate::filo;
#[cfg(feature = "jay")]
use crate::jay;
#[cfg(feature = "vortex")]
use crate::vortex;

/// Evaluates `$call` with the contents of any variant of an enum over the formats. `+ Dataset`: the enum has a variant
/// for datasets.
macro_rules! each {
    ($any:expr, $of:ident $(+ $dataset:ident)?, $inner:ident => $call:expr) => {
        match $any {
            #[cfg(feature = "filo")]
            $of::Filo($inner) => $call,
            #[cfg(feature = "dataseries")]
            $of::DataSeries($inner) => $call,
            #[cfg(feature = "bcolz")]
            $of::Bcolz($inner) => $call,
            $(
                #[cfg(all(feature = "bcolz", feature = "std"))]
                $of::$dataset($inner) => $call,
            )?
            #[cfg(feature = "jay")]
            $of::Jay($inner) => $call,
            #[cfg(feature = "vortex")]
            $of::Vortex($inner) => $call,
        }
    };
}

/// Defines an enum over types of the formats, with a conversion from each type.
macro_rules! any {
    ($(#[$meta:meta])* $any:ident: $($(#[$on:meta])+ $variant:ident($inner:ty),)+) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "the names say it")]
        #[allow(clippy::large_enum_variant, reason = "a heap would be needed to make it small")]
        pub enum $any<'p> {
            $($(#[$on])+ $variant($inner),)+
        }

        $(
            $(#[$on])+
            impl<'p> From<$inner> for $any<'p> {
                fn from(inner: $inner) -> Self {
                    $any::$variant(inner)
                }
            }
        )+
    };
}

/// A table of any format.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
#[allow(clippy::large_enum_variant, reason = "one per walk, and a heap would be needed to make it small")]
pub enum Table<'f> {
    #[cfg(feature = "filo")]
    Filo(column::Once<filo::Vector<'f>>),
    #[cfg(feature = "dataseries")]
    DataSeries(dataseries::AnyTable<'f>),
    /// The items of one chunk.
    #[cfg(feature = "bcolz")]
    Bcolz(bcolz::Items<'f>),
    /// A dataset. After an error, [`bcolz::Table::failed`] returns it with the path of the file.
    #[cfg(all(feature = "bcolz", feature = "std"))]
    Dataset(bcolz::Table<'f>),
    #[cfg(feature = "jay")]
    Jay(column::Once<jay::File<'f>>),
    #[cfg(feature = "vortex")]
    Vortex(column::Once<vortex::Part<'f>>),
}

impl<'f> column::Table for Table<'f> {
    type Part<'p>
        = Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&'p mut self, outer: &mut Scratch<'p>) -> Result<Option<Part<'p>>>
    where
        Self: 'p,
    {
        each!(self, Table + Dataset, table => Ok(table.next_part(outer)?.map(Part::from)))
    }

    fn skip(&mut self, rows: u64) -> Result<u64> {
        each!(self, Table + Dataset, table => table.skip(rows))
    }

    fn bookmark(&self) -> Bookmark {
        each!(self, Table + Dataset, table => table.bookmark())
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        each!(self, Table + Dataset, table => table.seek(to))
    }

    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        each!(self, Table + Dataset, table => table.choose(columns))
    }

    fn lists(&self, name: &str) -> bool {
        each!(self, Table + Dataset, table => table.lists(name))
    }
}

any! {
    /// A part of a table of any format. `Bcolz` has the items of one chunk, `Dataset` rows of a dataset.
    Part:
    #[cfg(feature = "filo")] Filo(filo::Vector<'p>),
    #[cfg(feature = "dataseries")] DataSeries(dataseries::Part<'p>),
    #[cfg(feature = "bcolz")] Bcolz(bcolz::ItemsPart<'p>),
    #[cfg(all(feature = "bcolz", feature = "std"))] Dataset(bcolz::Part<'p>),
    #[cfg(feature = "jay")] Jay(jay::File<'p>),
    #[cfg(feature = "vortex")] Vortex(vortex::Part<'p>),
}

impl<'p> column::Part for Part<'p> {
    type Col = Column<'p>;

    fn rows(&self) -> u64 {
        each!(self, Part + Dataset, part => column::Part::rows(part))
    }

    fn width(&self) -> usize {
        each!(self, Part + Dataset, part => part.width())
    }

    fn name(&self, k: usize) -> Result<&str> {
        each!(self, Part + Dataset, part => part.name(k))
    }

    fn column(&self, k: usize) -> Result<Column<'p>> {
        each!(self, Part + Dataset, part => column::Part::column(part, k).map(Column::from))
    }
}

any! {
    /// A column of any format.
    Column:
    #[cfg(feature = "filo")] Filo(filo::Column<'p>),
    #[cfg(feature = "dataseries")] DataSeries(dataseries::Column<'p>),
    #[cfg(feature = "bcolz")] Bcolz(bcolz::Column<'p>),
    #[cfg(feature = "jay")] Jay(jay::Column<'p>),
    #[cfg(feature = "vortex")] Vortex(vortex::Column<'p>),
}

impl column::Column for Column<'_> {
    fn ty(&self) -> Type {
        each!(self, Column, column => column.ty())
    }

    fn nullable(&self) -> bool {
        each!(self, Column, column => column.nullable())
    }

    fn rows(&self) -> u64 {
        each!(self, Column, column => column::Column::rows(column))
    }

    fn zone(&self) -> Result<Option<&str>> {
        each!(self, Column, column => column.zone())
    }

    fn is_variant(&self) -> bool {
        each!(self, Column, column => column.is_variant())
    }

    fn child(&self, k: usize) -> Result<Self> {
        each!(self, Column, column => column.child(k).map(Column::from))
    }

    fn child_name(&self, k: usize) -> Result<&str> {
        each!(self, Column, column => column.child_name(k))
    }

    fn need(&self, rows: Range<u64>) -> Result<u64> {
        each!(self, Column, column => column.need(rows))
    }

    fn read<'s>(&self, rows: Range<u64>, scratch: &mut Scratch<'s>) -> Result<Batch<'s, Self>>
    where
        Self: 's,
    {
        each!(self, Column, column => column.read(rows, scratch).map(|batch| batch.map(Column::from)))
    }

    fn zone_around<'s>(&self, row: u64, scratch: &mut Scratch<'s>) -> Result<Option<Zone<'s>>>
    where
        Self: 's,
    {
        each!(self, Column, column => column.zone_around(row, scratch))
    }

    fn place(&self, row: u64) -> Result<Place> {
        each!(self, Column, column => column.place(row))
    }

    fn at_place(self, place: Place) -> Self {
        each!(self, Column, column => Column::from(column.at_place(place)))
    }

    fn known_validity(&self, row: u64) -> Result<Option<(bool, u64)>> {
        each!(self, Column, column => column.known_validity(row))
    }

    fn dictionary(&self, row: u64) -> Result<Option<Dictionary<Self>>> {
        each!(self, Column, column => Ok(column.dictionary(row)?.map(|found| found.map(Column::from))))
    }
}
