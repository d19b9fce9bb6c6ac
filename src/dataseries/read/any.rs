//! A file of either byte order: which one it is, the file says.

use super::extent::Stored;
use super::{End, Extent, File, Header, Index, Next, Order, Part, ReadOptions, Table, Trailer, Types};
use crate::bytes::{BigEndian, Endian, LittleEndian, Scratch};
use crate::column;
use crate::dataseries::types::ExtentType;
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

    fn lists(&self, name: &str) -> bool {
        both!(self, AnyTable, table => table.lists(name))
    }
}

/// What lies at an offset of a file of this order: for whoever fetches a file range by range.
impl Order {
    /// Whether it is that of this machine.
    const fn is_native(self) -> bool {
        matches!(self, Order::Little) == LittleEndian::IS_NATIVE
    }

    /// The trailer, as [`Trailer::of`] reads it.
    ///
    /// # Errors
    /// Those of [`Trailer::of`].
    pub fn trailer(self, bytes: &[u8], at: u64) -> Result<Trailer> {
        Trailer::read(bytes, at, self.is_native())
    }

    /// Reads the header of an extent that begins at offset `at`; `bytes` begin there.
    ///
    /// # Errors
    /// [`Kind::Truncated`](crate::error::Kind::Truncated), or [`Kind::Invalid`](crate::error::Kind::Invalid) with the field
    /// that no extent has so: a part of 512 MiB, a negative number of records, a pool without its start, a type without a
    /// name.
    pub fn header(self, bytes: &[u8], at: u64) -> Result<Header> {
        Header::read(bytes, at, self.is_native())
    }

    /// An extent or the end, as [`Next::of`] tells.
    ///
    /// # Errors
    /// Those of [`Next::of`].
    pub fn next(self, bytes: &[u8], at: u64) -> Result<Next> {
        Next::read(bytes, at, self.is_native())
    }

    /// The extent, as [`Extent::of`] takes it.
    ///
    /// # Errors
    /// Those of [`Extent::of`].
    pub fn extent<'a>(self, bytes: &'a [u8], at: u64) -> Result<AnyExtent<'a>> {
        let native = self.is_native();
        Ok(AnyExtent { stored: Stored::of(bytes, at, native)?, native })
    }
}

/// An [`Extent`] of either byte order.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::Part as _;
/// use pilaster::unstable::dataseries::raw::HEADER_LEN;
/// use pilaster::dataseries::{Order, ReadOptions};
///
/// # let bytes = std::fs::read("tests/golden/dataseries/large_zlib.ds").unwrap();
/// let mut memory = vec![0; 1 << 20];
/// let (mut scratch, options) = (Scratch::new(&mut memory), ReadOptions::DEFAULT);
/// let (order, at) = (Order::of(&bytes)?, HEADER_LEN as u64);
/// // The first extent are the types.
/// let first = order.extent(&bytes[HEADER_LEN..], at)?;
/// let types = first.types(&options, &mut scratch)?;
/// let at = first.header().span().end().expect("a place in the file");
/// let extent = order.extent(&bytes[at as usize..], at)?;
/// let ty = types.find(extent.type_name()).expect("a type of the file");
/// assert!(extent.unpack(&ty, &options, &mut scratch)?.rows() > 0);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct AnyExtent<'a> {
    stored: Stored<'a>,
    native: bool,
}

impl<'a> AnyExtent<'a> {
    /// Its header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.stored.header
    }

    /// The name of its type, as it is stored.
    #[must_use]
    pub fn type_name(&self) -> &'a [u8] {
        self.stored.type_name()
    }

    /// What [`Extent::unpack`] gives.
    ///
    /// # Errors
    /// Those of [`Extent::unpack`].
    pub fn unpack<'s>(&self, ty: &ExtentType<'s>, options: &ReadOptions, scratch: &mut Scratch<'s>) -> Result<Part<'s>>
    where
        'a: 's,
    {
        self.stored.unpack::<ExtentType<'_>>(ty, self.native, options, scratch)
    }

    /// The types that it holds, as [`Types::open`] reads them.
    ///
    /// # Errors
    /// Those of [`Types::open`].
    pub fn types(&self, options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Types<'a>> {
        Types::stored(&self.stored, self.native, options, scratch)
    }

    /// The index that it is, as [`Index::open`] reads it.
    ///
    /// # Errors
    /// Those of [`Index::open`].
    pub fn index(&self, trailer: &Trailer, options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Index<'a>> {
        Index::of(&self.stored, self.native, trailer, options, scratch)
    }
}

impl core::fmt::Debug for AnyExtent<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("AnyExtent").field(&self.stored.header).finish()
    }
}
