//! A file of either byte order: which one it is, the file says.

use super::{End, Extent, File, Index, Order, Part, ReadOptions, Table, Trailer, Types};
use crate::bytes::{BigEndian, LittleEndian, Scratch};
use crate::column;
use crate::error::{Error, Result};

/// A file of either byte order.
#[derive(Clone, Copy, Debug)]
pub enum AnyFile<'a> {
    /// Least significant byte first.
    Little(File<'a, LittleEndian>),
    /// Most significant byte first.
    Big(File<'a, BigEndian>),
}

/// The same call for both orders.
macro_rules! both {
    ($any:expr, $of:ident, $file:ident => $call:expr) => {
        match $any {
            $of::Little($file) => $call,
            $of::Big($file) => $call,
        }
    };
}

impl<'a> AnyFile<'a> {
    /// Opens `bytes` as [`File::open`] does.
    ///
    /// # Errors
    /// Those of [`File::open`].
    pub fn open(bytes: &'a [u8], options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        Ok(match Order::of(bytes)? {
            Order::Little => AnyFile::Little(File::open(bytes, options, scratch)?),
            Order::Big => AnyFile::Big(File::open(bytes, options, scratch)?),
        })
    }

    /// Opens `bytes` as [`File::open_sequential`] does.
    ///
    /// # Errors
    /// Those of [`File::open_sequential`].
    pub fn open_sequential(bytes: &'a [u8], options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        Ok(match Order::of(bytes)? {
            Order::Little => AnyFile::Little(File::open_sequential(bytes, options, scratch)?),
            Order::Big => AnyFile::Big(File::open_sequential(bytes, options, scratch)?),
        })
    }

    /// The byte order.
    #[must_use]
    pub const fn order(&self) -> Order {
        match self {
            AnyFile::Little(_) => Order::Little,
            AnyFile::Big(_) => Order::Big,
        }
    }

    /// The types of the file.
    #[must_use]
    pub const fn types(&self) -> &Types<'a> {
        both!(self, AnyFile, file => file.types())
    }

    /// Index and trailer; `None` if the file was opened without them.
    #[must_use]
    pub const fn index(&self) -> Option<&(Index<'a>, Trailer)> {
        both!(self, AnyFile, file => file.index())
    }

    /// The rows of all extents of the type `name`.
    ///
    /// # Errors
    /// Those of [`File::table`].
    pub fn table(&self, name: &str) -> Result<AnyTable<'a>> {
        Ok(match self {
            AnyFile::Little(file) => AnyTable::Little(file.table(name)?),
            AnyFile::Big(file) => AnyTable::Big(file.table(name)?),
        })
    }

    /// Shows the headers of all extents, in their order; gives back what follows the last.
    ///
    /// # Errors
    /// What is wrong with a header, and those of `each`.
    pub fn headers<X: From<Error>>(
        &self,
        mut each: impl FnMut(&super::Header, &'a [u8]) -> Result<(), X>,
    ) -> Result<Option<End>, X> {
        both!(self, AnyFile, file => {
            let mut extents = file.extents();
            for extent in extents.by_ref() {
                let extent: Extent<'a, _> = extent?;
                each(extent.header(), extent.type_name())?;
            }
            Ok(extents.end())
        })
    }

    /// The most scratch that unpacking any one extent takes.
    ///
    /// # Errors
    /// Those of [`File::need`].
    pub fn need(&self) -> Result<u64> {
        both!(self, AnyFile, file => file.need())
    }

    /// Unpacks every extent, with all checks on.
    ///
    /// # Errors
    /// Those of [`File::verify`].
    pub fn verify(&self, scratch: &mut Scratch<'_>) -> Result<End> {
        both!(self, AnyFile, file => file.verify(scratch))
    }
}

/// The rows of all extents of one type, of a file of either byte order.
#[derive(Clone, Debug)]
pub enum AnyTable<'a> {
    /// Least significant byte first.
    Little(Table<'a, LittleEndian>),
    /// Most significant byte first.
    Big(Table<'a, BigEndian>),
}

impl<'a> column::Table for AnyTable<'a> {
    type Part<'p>
        = Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&mut self, outer: &mut Scratch<'p>) -> Result<Option<Part<'p>>>
    where
        Self: 'p,
    {
        both!(self, AnyTable, table => table.next_part(outer))
    }

    fn skip(&mut self, rows: u64) -> Result<u64> {
        both!(self, AnyTable, table => table.skip(rows))
    }

    fn restart(&mut self) -> Result<()> {
        both!(self, AnyTable, table => table.restart())
    }
}
