//! Files of either byte order, which is detected when they are opened.

use super::extent::Stored;
use super::{End, File, Header, Index, Next, Order, Part, ReadOptions, Table, Trailer, Types};
use crate::bytes::{BigEndian, Endian, FileRange, Input, LittleEndian, Scratch};
use crate::column::{self, Bookmark};
use crate::dataseries::types::ExtentType;
use crate::error::{Error, Result, What};
use crate::limits::Share;

/// A file of either byte order, which its header determines.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Part as _, Table as _};
/// use pilaster::dataseries::{AnyFile, AnyTable, End, ReadOptions, XML_TYPE};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
/// let (options, mut kept) = (ReadOptions::DEFAULT, [0; 4096]);
/// let file = AnyFile::open(bytes, &options, &mut Scratch::new(&mut kept))?;
/// let mut memory = vec![0; file.need()? as usize];
/// file.verify(&mut Scratch::new(&mut memory))?;
/// assert_eq!(file.order().name(), "big");
///
/// // The first 472 bytes are a file whose writer was interrupted before the index.
/// let mut kept = [0; 4096];
/// let log = AnyFile::open_sequential(&bytes[..472], &options, &mut Scratch::new(&mut kept))?;
/// assert!(log.index().is_none() && file.index().is_some());
/// let mut names = Vec::new();
/// let end = log.headers(|header, name| -> pilaster::Result<()> {
///     names.push((name, header.rows));
///     Ok(())
/// })?;
/// assert_eq!((names, end), (vec![(XML_TYPE.as_bytes(), 1), (b"Tiny", 2)], Some(End::File { at: 472 })));
///
/// let mut table: AnyTable<'_> = log.table("Tiny")?;
/// assert_eq!(table.next_part(&mut Scratch::new(&mut memory))?.map(|part| part.rows()), Some(2));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum AnyFile<'a> {
    /// Least significant byte first.
    Little(File<'a, LittleEndian>),
    /// Most significant byte first.
    Big(File<'a, BigEndian>),
}

/// Evaluates the same expression for both byte orders.
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
    /// Errors of [`File::open`].
    pub fn open(bytes: &'a [u8], options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        AnyFile::open_input(Input::whole(bytes), false, options, scratch)
    }

    /// Opens a file as [`File::open_input`] does, or from the front if it is `sequential`, as
    /// [`File::open_sequential`] does.
    ///
    /// # Errors
    /// Errors of [`File::open_input`].
    // So that an image contains only the way in which it opens files.
    #[inline(always)]
    pub(crate) fn open_input(
        input: Input<'a>,
        sequential: bool,
        options: &ReadOptions,
        scratch: &mut Scratch<'a>,
    ) -> Result<Self> {
        let header = FileRange { len: input.len().min(Order::SPAN.len), ..Order::SPAN };
        Ok(match (Order::of(input.get(header, What::DATASERIES_HEADER)?)?, sequential) {
            (Order::Little, false) => AnyFile::Little(File::open_input(input, options, scratch)?),
            (Order::Big, false) => AnyFile::Big(File::open_input(input, options, scratch)?),
            (Order::Little, true) => AnyFile::Little(File::open_front(input, options, scratch)?),
            (Order::Big, true) => AnyFile::Big(File::open_front(input, options, scratch)?),
        })
    }

    /// Returns the file with its rows read through another input, as [`File::with_input`] does.
    #[must_use]
    pub(crate) fn with_input<'w>(&self, input: Input<'w>) -> AnyFile<'w>
    where
        'a: 'w,
    {
        match self {
            AnyFile::Little(file) => AnyFile::Little(file.with_input(input)),
            AnyFile::Big(file) => AnyFile::Big(file.with_input(input)),
        }
    }

    /// Opens `bytes` as [`File::open_sequential`] does.
    ///
    /// # Errors
    /// Errors of [`File::open_sequential`].
    pub fn open_sequential(bytes: &'a [u8], options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        AnyFile::open_input(Input::whole(bytes), true, options, scratch)
    }

    /// Returns the byte order.
    #[must_use]
    pub const fn order(&self) -> Order {
        match self {
            AnyFile::Little(_) => Order::Little,
            AnyFile::Big(_) => Order::Big,
        }
    }

    /// Returns the types of the file.
    #[must_use]
    pub const fn types(&self) -> &Types<'a> {
        both!(self, AnyFile, file => file.types())
    }

    /// Returns index and trailer, or `None` if the file was opened without them.
    #[must_use]
    pub const fn index(&self) -> Option<&(Index<'a>, Trailer)> {
        both!(self, AnyFile, file => file.index())
    }

    /// Returns a table of the rows of all extents of type `name`.
    ///
    /// # Errors
    /// Errors of [`File::table`].
    pub fn table(&self, name: &str) -> Result<AnyTable<'a>> {
        Ok(match self {
            AnyFile::Little(file) => AnyTable::Little(file.table(name)?),
            AnyFile::Big(file) => AnyTable::Big(file.table(name)?),
        })
    }

    /// Calls `each` with the header and the type name of every extent, in file order. Returns what follows the last
    /// extent.
    ///
    /// # Errors
    /// Errors of an invalid header, and errors of `each`.
    pub fn headers<X: From<Error>>(
        &self,
        mut each: impl FnMut(&super::Header, &'a [u8]) -> Result<(), X>,
    ) -> Result<Option<End>, X> {
        both!(self, AnyFile, file => file.each(|extent| {
            // The name must outlive the window of the extent.
            let (header, types) = (extent.header(), file.types());
            let name = match types.find(extent.type_name()) {
                Some(ty) => ty.name().as_bytes(),
                None => file.input().get(header.name_span(), What::DATASERIES_EXTENT)?,
            };
            each(header, name)
        }))
    }

    /// Returns the scratch size in bytes that suffices to unpack any one extent.
    ///
    /// # Errors
    /// Errors of [`File::need`].
    pub fn need(&self) -> Result<u64> {
        both!(self, AnyFile, file => file.need())
    }

    /// Unpacks every extent, with all checks. Returns what follows the last extent.
    ///
    /// # Errors
    /// Errors of [`File::verify`].
    pub fn verify(&self, scratch: &mut Scratch<'_>) -> Result<End> {
        both!(self, AnyFile, file => file.verify(scratch))
    }

    /// Unpacks a share of the extents, and reads the headers of all.
    #[allow(dead_code, reason = "for `unstable`")]
    pub(crate) fn verify_share(&self, share: Share, scratch: &mut Scratch<'_>) -> Result<End> {
        both!(self, AnyFile, file => file.verify_share(share, scratch))
    }
}

/// The rows of all extents of one type, in a file of either byte order.
#[derive(Clone, Debug)]
pub enum AnyTable<'a> {
    /// Least significant byte first.
    Little(Table<'a, LittleEndian>),
    /// Most significant byte first.
    Big(Table<'a, BigEndian>),
}

impl<'a> AnyTable<'a> {
    /// Returns the table, at the same part, with its rows read through another input of the same file. So a walk over a
    /// large file can release the bytes of each part.
    ///
    /// ```
    /// use pilaster::bytes::{Ranges, Scratch};
    /// use pilaster::column::{Part as _, Table as _};
    /// # #[cfg(feature = "std")] {
    /// use pilaster::any::{File, Format, Hints, Table};
    ///
    /// let ranges = Ranges::open("examples/data/tiny.ds").unwrap();
    /// let (mut memory, mut rows) = ([0; 4096], 0);
    /// let file = File::open_input(ranges.input(), Format::DataSeries, &Hints::default(), &mut Scratch::new(&mut memory))?;
    /// let Table::DataSeries(mut table) = file.table(None)? else { unreachable!() };
    /// loop {
    ///     let window = ranges.window();
    ///     let mut step = table.with_input(window.input());
    ///     let mut part = [0; 4096];
    ///     let Some(part) = step.next_part(&mut Scratch::new(&mut part))? else { break };
    ///     rows += part.rows();
    ///     table.seek(step.bookmark())?;
    /// }
    /// assert!(rows > 0);
    /// # }
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    #[must_use]
    pub fn with_input<'w>(&self, input: Input<'w>) -> AnyTable<'w>
    where
        'a: 'w,
    {
        match self {
            AnyTable::Little(table) => AnyTable::Little(table.with_input(input)),
            AnyTable::Big(table) => AnyTable::Big(table.with_input(input)),
        }
    }
}

impl<'a> column::Table for AnyTable<'a> {
    type Part<'p>
        = Part<'p>
    where
        Self: 'p;

    fn next_part<'p>(&'p mut self, outer: &mut Scratch<'p>) -> Result<Option<Part<'p>>>
    where
        Self: 'p,
    {
        both!(self, AnyTable, table => table.next_part(outer))
    }

    fn skip(&mut self, rows: u64) -> Result<u64> {
        both!(self, AnyTable, table => table.skip(rows))
    }

    fn bookmark(&self) -> Bookmark {
        both!(self, AnyTable, table => table.bookmark())
    }

    fn seek(&mut self, to: Bookmark) -> Result<()> {
        both!(self, AnyTable, table => table.seek(to))
    }

    fn choose(&mut self, columns: Option<&[usize]>) -> bool {
        both!(self, AnyTable, table => table.choose(columns))
    }

    fn lists(&self, name: &str) -> bool {
        both!(self, AnyTable, table => table.lists(name))
    }
}

/// Reads parts of a file of this byte order that is fetched range by range.
impl Order {
    /// Returns whether this is the native byte order.
    const fn is_native(self) -> bool {
        matches!(self, Order::Little) == LittleEndian::IS_NATIVE
    }

    /// Reads the trailer, like [`Trailer::of`].
    ///
    /// # Errors
    /// Errors of [`Trailer::of`].
    pub fn trailer(self, bytes: &[u8], at: u64) -> Result<Trailer> {
        Trailer::read(bytes, at, self.is_native())
    }

    /// Reads the header of an extent that begins at offset `at`; `bytes` begin there.
    ///
    /// # Errors
    /// [`Kind::Truncated`](crate::error::Kind::Truncated) for fewer than 28 bytes,
    /// [`Kind::Invalid`](crate::error::Kind::Invalid) with the field that is not valid: a stored size of 512 MiB or
    /// more, a negative number of records, a pool size below 4, an empty type name.
    pub fn header(self, bytes: &[u8], at: u64) -> Result<Header> {
        Header::read(bytes, at, self.is_native())
    }

    /// Returns what begins at offset `at`, like [`Next::of`].
    ///
    /// # Errors
    /// Errors of [`Next::of`].
    pub fn next(self, bytes: &[u8], at: u64) -> Result<Next> {
        Next::read(bytes, at, self.is_native())
    }

    /// Returns the extent at offset `at`, like [`Extent::of`](super::Extent::of).
    ///
    /// # Errors
    /// Errors of [`Extent::of`](super::Extent::of).
    pub fn extent<'a>(self, bytes: &'a [u8], at: u64) -> Result<AnyExtent<'a>> {
        let native = self.is_native();
        Ok(AnyExtent { stored: Stored::of(bytes, at, native)?, native })
    }
}

/// An [`Extent`](super::Extent) of either byte order.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::Part as _;
/// use pilaster::dataseries::{AnyExtent, HEADER_LEN, Next, Order, ReadOptions, Trailer};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny_be.ds"));
/// let mut memory = [0; 4096];
/// let (mut scratch, options) = (Scratch::new(&mut memory), ReadOptions::DEFAULT);
/// let order = Order::of(bytes)?;
/// let extent_at = |at: u64| -> pilaster::Result<AnyExtent<'_>> { order.extent(&bytes[at as usize..], at) };
///
/// let types = extent_at(HEADER_LEN as u64)?.types(&options, &mut scratch)?;
/// let at = Trailer::span(bytes.len() as u64)?.at;
/// let trailer = order.trailer(&bytes[at as usize..], at)?.located(at)?;
/// let index = extent_at(trailer.index.at)?.index(&trailer, &options, &mut scratch)?;
///
/// let row = index.get(1)?;
/// let extent = extent_at(row.span.at)?;
/// let ty = types.find(extent.type_name()).expect("a type of the file");
/// assert_eq!(extent.unpack(&ty, &options, &mut scratch)?.rows(), 2);
/// // Without an index, each header leads to the next one.
/// let next = order.next(&bytes[row.span.at as usize..], row.span.at)?;
/// assert_eq!(next, Next::Extent(*extent.header()));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct AnyExtent<'a> {
    stored: Stored<'a>,
    native: bool,
}

impl<'a> AnyExtent<'a> {
    /// Returns the header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.stored.header
    }

    /// Returns the stored name of its type.
    #[must_use]
    pub fn type_name(&self) -> &'a [u8] {
        self.stored.type_name()
    }

    /// Unpacks the extent, like [`Extent::unpack`](super::Extent::unpack).
    ///
    /// # Errors
    /// Errors of [`Extent::unpack`](super::Extent::unpack).
    pub fn unpack<'s>(&self, ty: &ExtentType<'s>, options: &ReadOptions, scratch: &mut Scratch<'s>) -> Result<Part<'s>>
    where
        'a: 's,
    {
        self.stored.unpack::<ExtentType<'_>>(ty, self.native, options, scratch)
    }

    /// Returns the types in a type extent, like [`Types::open`].
    ///
    /// # Errors
    /// Errors of [`Types::open`].
    pub fn types(&self, options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Types<'a>> {
        Types::stored(&self.stored, self.native, options, scratch)
    }

    /// Returns the index in an index extent, like [`Index::open`].
    ///
    /// # Errors
    /// Errors of [`Index::open`].
    pub fn index(&self, trailer: &Trailer, options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Index<'a>> {
        Index::of(&self.stored, self.native, trailer, options, scratch)
    }
}

impl core::fmt::Debug for AnyExtent<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("AnyExtent").field(&self.stored.header).finish()
    }
}
