//! A complete file: opened through its index or from the front, and walked extent by extent.

use core::marker::PhantomData;

use super::{End, Extent, Index, Next, Order, ReadOptions, Table, Trailer, Types, header};
use crate::bytes::{Endian, FAST, Input, Scratch};
use crate::dataseries::raw::{HEADER_LEN, XML_TYPE};
use crate::dataseries::types::ExtentType;
use crate::dataseries::write::{Descriptions, List};
use crate::error::{Error, Kind, Result, What};
use crate::limits::{Share, Spent};

/// A file of one byte order. A handle on the bytes of the file and on caller-provided memory, cheap to copy.
///
/// ```
/// use pilaster::bytes::{LittleEndian, Scratch};
/// use pilaster::dataseries::{File, ReadOptions};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// let mut kept = [0; 4096];
/// let file = File::<LittleEndian>::open(bytes, &ReadOptions::DEFAULT, &mut Scratch::new(&mut kept))?;
/// let (index, trailer) = file.index().expect("opened through its index");
/// assert_eq!((index.len(), trailer.index.at), (3, 472));
///
/// for extent in file.extents() {
///     let extent = extent?;
///     let ty = file.type_of(&extent)?;
///     assert_eq!(ty.name().as_bytes(), extent.type_name());
/// }
///
/// // One buffer suffices for every extent.
/// let mut memory = vec![0; usize::try_from(file.need()?).expect("within the limits")];
/// let end = file.verify(&mut Scratch::new(&mut memory))?;
/// assert_eq!(Some(end.at()), trailer.index.end());
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Debug)]
pub struct File<'a, E> {
    pub(super) input: Input<'a>,
    types: Types<'a>,
    /// Index and trailer, if the file was opened through them.
    index: Option<(Index<'a>, Trailer)>,
    pub(super) options: ReadOptions,
    order: PhantomData<E>,
}

impl<E> Clone for File<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for File<'_, E> {}

impl<'a, E: Endian> File<'a, E> {
    /// Opens `bytes` through trailer and index. The types and the index go into `scratch`, as far as they must be
    /// unpacked.
    ///
    /// # Errors
    /// Errors of an invalid header, trailer, index or type extent; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn open(bytes: &'a [u8], options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        Self::open_input(Input::whole(bytes), options, scratch)
    }

    /// Opens a file as [`open`](Self::open) does. Of an input that fetches ranges, types and index are fetched here, the
    /// header of an extent when it is walked over, and its rows when it is unpacked.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open); [`Kind::Missing`] if types or index are not present.
    pub(crate) fn open_input(input: Input<'a>, options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        let file = Self::open_front(input, options, scratch)?;
        let span = Trailer::span(input.len())?;
        let trailer = Trailer::of::<E>(input.get(span, What::DATASERIES_TRAILER)?, span.at)?.located(span.at)?;
        input.check(trailer.index, What::DATASERIES_INDEX)?;
        let extent = Extent::<E>::within(input, trailer.index.at, span.at)?;
        let index = Index::open(&extent, &trailer, options, scratch)?;
        Ok(File { index: Some((index, trailer)), ..file })
    }

    /// Opens `bytes` from the front, without trailer and index. For a file whose writer was interrupted, or whose end
    /// is lost. [`Extents`] then finds each extent at the end of the one before.
    ///
    /// # Errors
    /// Errors of an invalid header or type extent; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn open_sequential(bytes: &'a [u8], options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        Self::open_front(Input::whole(bytes), options, scratch)
    }

    /// Opens a file as [`open_sequential`](Self::open_sequential) does.
    pub(super) fn open_front(input: Input<'a>, options: &ReadOptions, scratch: &mut Scratch<'a>) -> Result<Self> {
        header::check(input.get(Order::SPAN, What::DATASERIES_HEADER)?, E::IS_NATIVE)?;
        let types = Types::open(&Self::first(input)?, options, scratch)?;
        Ok(File { input, types, index: None, options: *options, order: PhantomData })
    }

    /// Returns the file with its rows read through `input`, another input of the same bytes. Types and index stay where
    /// they are.
    #[must_use]
    pub(crate) fn with_input<'w>(&self, input: Input<'w>) -> File<'w, E>
    where
        'a: 'w,
    {
        File { input, ..*self }
    }

    /// Opens `bytes`, a log of exactly these `types`, from the front, for use with [`Extent::unpack_as`]. The
    /// descriptions in the file are compared with `types` instead of parsed, which saves 20 KB of flash. The file has
    /// no [`types`](Self::types) of its own then.
    ///
    /// ```
    /// use pilaster::bytes::{LittleEndian, Scratch};
    /// use pilaster::column::Part as _;
    /// use pilaster::dataseries::write::{self, Cell, Descriptions, IndexSlot, Memory, Record as _, Writer};
    /// use pilaster::dataseries::{ExtentType, File, ReadOptions, record};
    ///
    /// record! {
    ///     struct Tick = "Tick" namespace "example.org" version 1.2 {
    ///         time: int64 relative,
    ///         n: int32 nullable,
    ///     }
    /// }
    /// const TYPES: Descriptions<'static> = Descriptions::of::<Tick>();
    /// assert_eq!(ExtentType::of::<Tick>().version(), (1, 2));
    ///
    /// let (mut slots, mut rows) = ([IndexSlot::EMPTY; 1], [0; 64]);
    /// let mut log = Writer::<LittleEndian, _>::new(Vec::new(), TYPES, &mut slots);
    /// let mut extent = write::ExtentBuffer::of::<Tick>(Memory::rows(&mut rows))?;
    /// extent.push(&Tick { time: 1000, n: Some(7) })?;
    /// extent.push(&Tick { time: 1010, n: None })?;
    /// log.flush(&mut extent).unwrap();
    /// let bytes = log.finish().unwrap();
    ///
    /// let file = File::<LittleEndian>::open_known(&bytes, TYPES, &ReadOptions::DEFAULT)?;
    /// let mut memory = [0; 64];
    /// for extent in file.extents() {
    ///     let extent = extent?;
    ///     if extent.type_name() == Tick::NAME.as_bytes() {
    ///         let part = extent.unpack_as::<Tick>(&ReadOptions::DEFAULT, &mut Scratch::new(&mut memory))?;
    ///         assert_eq!(part.column(0)?.get(1)?, Some(Cell::Int64(1010)));
    ///         assert_eq!(part.column(1)?.get(1)?, None);
    ///     }
    /// }
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of an invalid header or type extent; [`Kind::Misuse`] if the file has other types.
    pub fn open_known(bytes: &'a [u8], types: Descriptions<'_>, options: &ReadOptions) -> Result<Self> {
        header::check(bytes, E::IS_NATIVE)?;
        let input = Input::whole(bytes);
        let first = Self::first(input)?;
        if options.verify {
            first.check_stored()?;
        }
        if first.type_name() != XML_TYPE.as_bytes() {
            return Err(first.header().unknown_type());
        }
        if List::types(types.list()).hash::<E>().0 != first.header().hash {
            return Err(Error::new(Kind::Misuse, What::DATASERIES_TYPE, HEADER_LEN as u64));
        }
        Ok(File { input, types: Types::NONE, index: None, options: *options, order: PhantomData })
    }

    /// Returns the first extent of the file, which contains the types.
    fn first(input: Input<'a>) -> Result<Extent<'a, E>> {
        Extent::within(input, HEADER_LEN as u64, input.len())
    }

    /// Returns the bytes of the file.
    pub(super) const fn input(&self) -> &Input<'a> {
        &self.input
    }

    /// Returns the types of the file.
    #[must_use]
    pub const fn types(&self) -> &Types<'a> {
        &self.types
    }

    /// Returns index and trailer, or `None` if the file was opened without them.
    #[must_use]
    pub const fn index(&self) -> Option<&(Index<'a>, Trailer)> {
        self.index.as_ref()
    }

    /// Returns an iterator over all extents in file order, type extent and index extent included.
    #[must_use]
    pub const fn extents(&self) -> Extents<'a, E> {
        Extents { file: *self, at: HEADER_LEN as u64, row: 0, end: None }
    }

    /// Returns the type of an extent.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if the file does not describe it.
    pub fn type_of(&self, extent: &Extent<'_, E>) -> Result<ExtentType<'a>> {
        self.types.find(extent.type_name()).ok_or_else(|| extent.header().unknown_type())
    }

    /// Returns a table of the rows of all extents of type `name`.
    ///
    /// # Errors
    /// [`Kind::Invalid`] if the file has no such type.
    pub fn table(&self, name: &str) -> Result<Table<'a, E>> {
        let ty =
            self.types.find(name.as_bytes()).ok_or_else(|| Error::new(Kind::Invalid, What::DATASERIES_TYPE_NAME, 0))?;
        Ok(Table::new(self.extents(), ty))
    }

    /// Unpacks every extent, with all checks regardless of the options. Returns what follows the last extent. `scratch`
    /// must hold one unpacked extent. If it holds two, 64-bit targets check two at once ([`Extent::unpack_pair`]).
    ///
    /// # Errors
    /// The first error of the file; [`Kind::Limit`] if the whole file exceeds
    /// [`max_file_rows`](crate::limits::Limits::max_file_rows) or
    /// [`max_file_decoded`](crate::limits::Limits::max_file_decoded); [`Kind::NoRoom`] if
    /// `scratch` is too small.
    pub fn verify(&self, scratch: &mut Scratch<'_>) -> Result<End> {
        self.verify_share(Share::ALL, scratch)
    }

    /// Unpacks a share of the extents, and reads the headers of all.
    // An image that verifies files contains no code for shares.
    #[inline(always)]
    pub(crate) fn verify_share(&self, share: Share, scratch: &mut Scratch<'_>) -> Result<End> {
        let options = ReadOptions { verify: true, ..self.options };
        let (mut place, mut spent) = (self.extents(), Spent::NOTHING);
        // Two consecutive extents are in the same share, so that they can be checked together.
        let mine = |extents: &Extents<'_, E>| share.has(extents.row.saturating_sub(1) >> 1);
        let mut window = self.input.window();
        loop {
            if window.is_full() {
                window = self.input.window();
            }
            let mut extents = place.with_input(window.input());
            let Some(extent) = extents.next().transpose()? else {
                let error = || Error::new(Kind::Truncated, What::DATASERIES_EXTENT, extents.at);
                return extents.end().ok_or_else(error);
            };
            let ty = self.type_of(&extent)?;
            extent.spend(&ty, &options, &mut spent)?;
            if !mine(&extents) {
                place.follow(&extents);
                continue;
            }
            let mut scratch = scratch.scope();
            // An error of the next extent is reported when that extent is unpacked.
            let mut ahead = extents.clone();
            if FAST
                && let Some(Ok(next)) = ahead.next()
                && mine(&ahead)
                && let Ok(next_ty) = self.type_of(&next)
                && let (Ok(one), Ok(two)) = (extent.need(&ty, &options), next.need(&next_ty, &options))
                && one.saturating_add(two) <= scratch.room() as u64
                && next.spend(&next_ty, &options, &mut spent).is_ok()
            {
                let [one, two] = Extent::unpack_pair([&extent, &next], [&ty, &next_ty], &options, &mut scratch);
                one.and(two)?;
                extents = ahead;
            } else {
                extent.unpack(&ty, &options, &mut scratch)?;
            }
            place.follow(&extents);
        }
    }

    /// Returns the scratch size in bytes that suffices to unpack any one extent. Unpacks nothing.
    ///
    /// # Errors
    /// Errors of invalid extent headers, and errors of [`Extent::need`].
    pub fn need(&self) -> Result<u64> {
        let mut most = 0;
        self.each(|extent| {
            most = extent.need(&self.type_of(extent)?, &self.options)?.max(most);
            Ok::<_, Error>(())
        })?;
        Ok(most)
    }

    /// Calls `each` with every extent, in file order. Returns what follows the last extent.
    pub(in crate::dataseries) fn each<X: From<Error>>(
        &self,
        mut each: impl FnMut(&Extent<'_, E>) -> Result<(), X>,
    ) -> Result<Option<End>, X> {
        let mut place = self.extents();
        let mut window = self.input.window();
        loop {
            if window.is_full() {
                window = self.input.window();
            }
            let mut extents = place.with_input(window.input());
            let Some(extent) = extents.next().transpose()? else { return Ok(extents.end()) };
            each(&extent)?;
            place.follow(&extents);
        }
    }
}

/// An iterator over the extents of a file, which reads only their headers and type names. It ends after the first
/// error; the extents before the error are usable.
///
/// ```
/// use pilaster::bytes::{LittleEndian, Scratch};
/// use pilaster::dataseries::{End, Extents, File, ReadOptions};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// // The end of the file is lost.
/// let (bytes, options, mut kept) = (&bytes[..472], ReadOptions::DEFAULT, [0; 4096]);
/// assert!(File::<LittleEndian>::open(bytes, &options, &mut Scratch::new(&mut kept)).is_err());
/// let file = File::<LittleEndian>::open_sequential(bytes, &options, &mut Scratch::new(&mut kept))?;
///
/// let mut extents: Extents<'_, _> = file.extents();
/// let mut rows = 0;
/// for extent in extents.by_ref() {
///     rows += extent?.header().rows;
/// }
/// assert_eq!((rows, extents.end()), (1 + 2, Some(End::File { at: 472 })));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Extents<'a, E> {
    pub(super) file: File<'a, E>,
    pub(super) at: u64,
    pub(super) row: u64,
    end: Option<End>,
}

impl<E: Endian> Extents<'_, E> {
    /// Returns what follows the last extent. `None` before the iterator has ended, and after an error.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        self.end
    }
}

impl<'a, E: Endian> Extents<'a, E> {
    /// Returns the iterator with its extents read through another input of the same file.
    pub(super) fn with_input<'w>(&self, input: Input<'w>) -> Extents<'w, E>
    where
        'a: 'w,
    {
        Extents { file: self.file.with_input(input), at: self.at, row: self.row, end: self.end }
    }

    /// Continues where `other` is, an iterator over the same file.
    pub(super) const fn follow(&mut self, other: &Extents<'_, E>) {
        (self.at, self.row, self.end) = (other.at, other.row, other.end);
    }

    fn step(&mut self) -> Result<Option<Extent<'a, E>>> {
        let input = self.file.input;
        let span = match &self.file.index {
            Some((index, trailer)) if self.row == index.len() => {
                let at = trailer.index.end().unwrap_or(self.at);
                self.end = Some(End::Trailer { at, trailer: *trailer });
                return Ok(None);
            }
            Some((index, _)) => {
                let row = index.get(self.row)?;
                let extent = Extent::<E>::within(input, row.span.at, row.span.end().unwrap_or(0))?;
                // The extent must match its row of the index.
                if extent.header().span() != row.span || extent.type_name() != row.type_name {
                    return Err(Error::needing(Kind::Invalid, What::DATASERIES_INDEX, self.row, row.span.at));
                }
                return Ok(Some(extent));
            }
            None => Next::span(self.at, input.len()),
        };
        match Next::of::<E>(input.get(span, What::DATASERIES_EXTENT)?, self.at)? {
            Next::Extent(header) => {
                let extent = Extent::<E>::within(input, self.at, input.len())?;
                if self.row > 0 && extent.type_name() == XML_TYPE.as_bytes() {
                    return Err(header.unknown_type());
                }
                Ok(Some(extent))
            }
            Next::End(end) => {
                self.end = Some(end);
                Ok(None)
            }
        }
    }
}

impl<'a, E: Endian> Iterator for Extents<'a, E> {
    type Item = Result<Extent<'a, E>>;

    fn next(&mut self) -> Option<Self::Item> {
        // Nothing follows the end or an error.
        if self.row == u64::MAX {
            return None;
        }
        let step = self.step();
        match &step {
            Ok(Some(extent)) => {
                self.at = extent.header().span().end().unwrap_or(u64::MAX);
                self.row = self.row.saturating_add(1);
            }
            Ok(None) | Err(_) => self.row = u64::MAX,
        }
        step.transpose()
    }
}
