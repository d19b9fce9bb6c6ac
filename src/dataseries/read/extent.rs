//! Extents: the header before the parts (section 3).

use core::fmt;
use core::marker::PhantomData;

use zerocopy::byteorder::I32;

use super::Trailer;
use super::header::word;
use crate::bytes::{Endian, FileRange, Input, NativeEndian, Piece, Reader};
use crate::dataseries::raw::{
    self, ADLER_AT, ALIGN, EXTENT_HEADER_LEN, MAX_STORED, Mode, POOL_START, TRAILER_LEN, align,
};
use crate::error::{Error, Kind, Result, What};
use crate::hash::Adler32;

/// Exclusive upper bound of counts and sizes, which are signed.
const SIGN: u32 = 1 << 31;
/// Minimum size of a pool, and exclusive upper bound of the stored size of a part, in bytes.
#[allow(clippy::cast_possible_truncation, reason = "4, and 512 MiB")]
const SIZES: (u32, u32) = (POOL_START as u32, MAX_STORED as u32);

/// Size in bytes of an extent whose check value is computed piece by piece. Below it, the bytes are read at once, as the
/// decoder needs them next.
#[cfg(feature = "alloc")]
const PIECES: u64 = 8 << 20;

/// The header of an extent, after all structural checks.
///
/// ```
/// use pilaster::bytes::FileRange;
/// use pilaster::dataseries::{EXTENT_HEADER_LEN, Mode, Order};
/// use pilaster::error::Kind;
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// let at = 376;
/// let header = Order::Little.header(&bytes[at..][..EXTENT_HEADER_LEN], at as u64)?;
/// assert_eq!((header.rows, header.fixed_mode, header.pool), (2, Mode::None, 20));
///
/// // The ranges of the whole extent and of its type name.
/// assert_eq!(header.span(), FileRange { at: 376, len: 96 });
/// assert_eq!(header.name_span(), FileRange { at: 404, len: 4 });
///
/// // The error of a reader that does not know the type named there.
/// let error = header.unknown_type();
/// assert_eq!((error.kind(), error.at()), (Kind::Invalid, 404));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// Offset of the extent in the file.
    pub at: u64,
    /// Stored size of the fixed part in bytes.
    pub fixed: u32,
    /// Stored size of the variable part in bytes.
    pub variable: u32,
    /// Number of records.
    pub rows: u32,
    /// Size of the unpacked pool in bytes, its four zero bytes included.
    pub pool: u32,
    /// Adler-32 of the stored extent.
    pub adler: u32,
    /// lookup2 of the partly unpacked parts.
    pub hash: u32,
    /// How the fixed part is stored; has no meaning if the part is empty.
    pub fixed_mode: Mode,
    /// How the variable part is stored; has no meaning if the part is empty.
    pub variable_mode: Mode,
    /// Length of the type name in bytes.
    pub name_len: u8,
}

impl Header {
    /// Reads a header, like [`Order::header`](super::Order::header).
    pub(crate) fn of<E: Endian>(bytes: &[u8], at: u64) -> Result<Header> {
        Header::read(bytes, at, E::IS_NATIVE)
    }

    /// Reads a header; `native`: whether the extent is in native byte order.
    pub(super) fn read(bytes: &[u8], at: u64, native: bool) -> Result<Header> {
        let header = Reader::<NativeEndian>::new_at(bytes, at)
            .view::<raw::ExtentHeader<NativeEndian>>(What::DATASERIES_EXTENT)?;
        // As an unsigned number, a negative number exceeds all limits.
        let number = |value: I32<NativeEndian>| word(value.get().cast_unsigned(), native);
        let (fixed, variable) = (number(header.fixed), number(header.variable));
        let (rows, pool) = (number(header.rows), number(header.pool));
        let (what, field, value) = if header.name_len == 0 {
            (What::DATASERIES_TYPE_NAME, 26, 0)
        } else if fixed >= SIZES.1 {
            (What::DATASERIES_SIZE, 0, fixed)
        } else if variable >= SIZES.1 {
            (What::DATASERIES_SIZE, 4, variable)
        } else if rows >= SIGN {
            (What::DATASERIES_ROWS, 8, rows)
        } else if !(SIZES.0..SIGN).contains(&pool) {
            (What::DATASERIES_POOL, 12, pool)
        } else {
            return Ok(Header {
                at,
                fixed,
                variable,
                rows,
                pool,
                adler: word(header.adler.get(), native),
                hash: word(header.hash.get(), native),
                fixed_mode: Mode::of(header.fixed_mode),
                variable_mode: Mode::of(header.variable_mode),
                name_len: header.name_len,
            });
        };
        Err(Error::needing(Kind::Invalid, what, at.saturating_add(field), value.into()))
    }

    /// Creates the error about the field that begins `field` bytes after the start of the extent.
    #[cold]
    pub(super) fn wrong(&self, kind: Kind, what: What, field: usize, value: u32) -> Error {
        Error::needing(kind, what, self.at.saturating_add(field as u64), value.into())
    }

    /// Creates the error for a type name that is unknown or not allowed for this extent.
    #[cold]
    #[must_use]
    pub fn unknown_type(&self) -> Error {
        self.wrong(Kind::Invalid, What::DATASERIES_TYPE_NAME, EXTENT_HEADER_LEN, 0)
    }

    /// Returns the range of the type name.
    #[must_use]
    pub const fn name_span(&self) -> FileRange {
        FileRange { at: self.at.saturating_add(EXTENT_HEADER_LEN as u64), len: self.name_len as u64 }
    }

    /// Returns the range of the extent, padding included.
    #[must_use]
    pub const fn span(&self) -> FileRange {
        let variable = self.variable_span();
        let end = variable.at.saturating_add(align(variable.len, ALIGN as u64));
        FileRange { at: self.at, len: end.saturating_sub(self.at) }
    }

    /// Returns the range of the stored fixed part, without padding.
    #[must_use]
    pub(crate) const fn fixed_span(&self) -> FileRange {
        let from = align((EXTENT_HEADER_LEN as u64).saturating_add(self.name_len as u64), ALIGN as u64);
        FileRange { at: self.at.saturating_add(from), len: self.fixed as u64 }
    }

    /// Returns the range of the stored variable part, without padding.
    #[must_use]
    pub(crate) const fn variable_span(&self) -> FileRange {
        let fixed = self.fixed_span();
        FileRange { at: fixed.at.saturating_add(align(fixed.len, ALIGN as u64)), len: self.variable as u64 }
    }
}

/// The item at an offset of a file where an extent may begin.
///
/// ```
/// use pilaster::bytes::LittleEndian;
/// use pilaster::dataseries::{End, HEADER_LEN, Next, TRAILER_LEN};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// // Walks a file and fetches only short ranges of it.
/// let (mut at, mut rows) = (HEADER_LEN as u64, 0);
/// let end = loop {
///     let span = Next::span(at, bytes.len() as u64);
///     let fetched = &bytes[span.at as usize..][..span.len as usize];
///     match Next::of::<LittleEndian>(fetched, at)? {
///         Next::Extent(header) => {
///             rows += header.rows;
///             at = header.span().end().expect("below 2^64");
///         }
///         Next::End(end) => break end,
///     }
/// };
/// assert_eq!(rows, 1 + 2 + 3, "types, data, index");
/// assert!(matches!(end, End::Trailer { trailer, .. } if trailer.index.at == 472));
/// assert_eq!(end.at() as usize + TRAILER_LEN, bytes.len());
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Next {
    /// An extent.
    Extent(Header),
    /// The end of all extents.
    End(End),
}

/// The reason why no more extents follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum End {
    /// The trailer. Bytes after it are ignored.
    Trailer {
        /// Offset of the trailer.
        at: u64,
        /// The contents of the trailer.
        trailer: Trailer,
    },
    /// The end of the file. The writer did not finish, but all extents of the file are complete.
    File {
        /// The length of the file.
        at: u64,
    },
    /// Erased flash: all inspected bytes are 0xFF. A log resumes here.
    Erased {
        /// Offset of the first erased byte.
        at: u64,
    },
}

impl End {
    /// Returns the offset after the last extent.
    #[must_use]
    pub const fn at(&self) -> u64 {
        match self {
            End::Trailer { at, .. } | End::File { at } | End::Erased { at } => *at,
        }
    }
}

impl Next {
    /// Returns the range to fetch from a file of `file_len` bytes to determine what begins at offset `at`: 28 bytes, or
    /// the rest of the file.
    #[must_use]
    pub const fn span(at: u64, file_len: u64) -> FileRange {
        let left = file_len.saturating_sub(at);
        FileRange { at, len: if left < TRAILER_LEN as u64 { left } else { TRAILER_LEN as u64 } }
    }

    /// Returns what begins at offset `at`. `bytes` begin there and have at least the length of [`span`](Self::span).
    ///
    /// # Errors
    /// Errors of an invalid header or trailer; [`Kind::Truncated`] for less than 28 bytes, unless all are 0xFF.
    pub fn of<E: Endian>(bytes: &[u8], at: u64) -> Result<Next> {
        Next::read(bytes, at, E::IS_NATIVE)
    }

    pub(super) fn read(bytes: &[u8], at: u64, native: bool) -> Result<Next> {
        let head = bytes.get(..TRAILER_LEN).unwrap_or(bytes);
        if head.is_empty() {
            return Ok(Next::End(End::File { at }));
        }
        // No valid trailer: its size and the complement would be equal.
        if head.iter().all(|byte| *byte == 0xff) {
            return Ok(Next::End(End::Erased { at }));
        }
        if head.starts_with(&[0xff; 4]) {
            let trailer = Trailer::read(head, at, native)?;
            return Ok(Next::End(End::Trailer { at, trailer }));
        }
        Header::read(head, at, native).map(Next::Extent)
    }
}

/// A stored extent.
///
/// ```
/// use pilaster::bytes::{LittleEndian, Scratch};
/// use pilaster::column::Part as _;
/// use pilaster::dataseries::{Extent, ExtentType, ReadOptions, record};
/// use pilaster::error::Kind;
///
/// record! {
///     struct Tiny<'a> = "Tiny" { flag: bool, b: byte, i: int32 nullable, s: variable32, d: double }
/// }
///
/// # let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tiny.ds"));
/// let (ty, options) = (ExtentType::of::<Tiny<'_>>(), ReadOptions::DEFAULT);
/// let extent = Extent::<LittleEndian>::of(&bytes[376..], 376)?;
/// assert_eq!((extent.type_name(), extent.bytes()?.len()), (&b"Tiny"[..], 96));
/// let mut memory = vec![0; extent.need(&ty, &options)? as usize];
/// assert_eq!(extent.unpack(&ty, &options, &mut Scratch::new(&mut memory))?.rows(), 2);
/// // Gives the same rows. Only the code for the fields of `Tiny` is linked.
/// assert_eq!(extent.unpack_as::<Tiny<'_>>(&options, &mut Scratch::new(&mut memory))?.rows(), 2);
///
/// bytes[420] ^= 1;
/// let damaged = Extent::<LittleEndian>::of(&bytes[376..], 376)?;
/// assert_eq!(damaged.check_stored().unwrap_err().kind(), Kind::Checksum);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Extent<'a, E> {
    pub(super) stored: Stored<'a>,
    order: PhantomData<E>,
}

/// An extent of either byte order. Its functions are not generic over the order, so they are compiled once.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub header: Header,
    /// Header and type name or, without a heap, all bytes. Then nothing fetches ranges, and a handle of half the size
    /// matters.
    bytes: &'a [u8],
    #[cfg(feature = "alloc")]
    input: Input<'a>,
}

impl<'a, E: Endian> Extent<'a, E> {
    /// Creates the extent at the start of `bytes`. `bytes` begin at offset `at` of the file and may be longer than the
    /// extent.
    ///
    /// # Errors
    /// Errors of [`Order::header`](super::Order::header); [`Kind::Truncated`] if `bytes` end before the extent.
    pub fn of(bytes: &'a [u8], at: u64) -> Result<Self> {
        Ok(Extent { stored: Stored::of(bytes, at, E::IS_NATIVE)?, order: PhantomData })
    }

    /// Creates the extent at offset `at` of a file. Reads its header and type name. An extent that ends after the
    /// offset `end` is an error.
    pub(in crate::dataseries) fn within(input: Input<'a>, at: u64, end: u64) -> Result<Self> {
        Ok(Extent { stored: Stored::within(input, at, end, E::IS_NATIVE)?, order: PhantomData })
    }

    /// Returns the header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.stored.header
    }

    /// Returns all bytes of the extent, padding included.
    ///
    /// # Errors
    /// [`Kind::Missing`] if the file is an [`Input`] of ranges and the bytes are not present. Never for an extent in
    /// memory.
    pub fn bytes(&self) -> Result<&'a [u8]> {
        self.stored.bytes()
    }

    /// Returns the stored name of its type.
    #[must_use]
    pub fn type_name(&self) -> &'a [u8] {
        self.stored.type_name()
    }

    /// Checks the Adler-32 of the stored bytes, which covers everything except itself (section 3.3).
    ///
    /// # Errors
    /// [`Kind::Checksum`] if it is wrong; errors of [`bytes`](Self::bytes).
    pub fn check_stored(&self) -> Result<()> {
        self.stored.check()
    }
}

impl<'a> Stored<'a> {
    pub fn of(bytes: &'a [u8], at: u64, native: bool) -> Result<Self> {
        let end = at.saturating_add(bytes.len() as u64);
        Stored::within(Input::piece(Piece { at, bytes }, end), at, end, native)
    }

    fn within(input: Input<'a>, at: u64, end: u64, native: bool) -> Result<Self> {
        let check = |span: FileRange| match span.end() {
            Some(to) if to <= end => Ok(span),
            _ => Err(Error::needing(Kind::Truncated, What::DATASERIES_EXTENT, at, span.len)),
        };
        let head = check(FileRange { at, len: EXTENT_HEADER_LEN as u64 })?;
        let header = Header::read(input.get(head, What::DATASERIES_EXTENT)?, at, native)?;
        let mut span = check(header.span())?;
        if cfg!(feature = "alloc") {
            span.len = (EXTENT_HEADER_LEN as u64).saturating_add(header.name_len.into());
        }
        Ok(Stored {
            header,
            bytes: input.get(span, What::DATASERIES_EXTENT)?,
            #[cfg(feature = "alloc")]
            input,
        })
    }

    pub fn type_name(&self) -> &'a [u8] {
        let name = self.bytes.get(EXTENT_HEADER_LEN..).unwrap_or_default();
        name.get(..usize::from(self.header.name_len)).unwrap_or_default()
    }

    pub fn bytes(&self) -> Result<&'a [u8]> {
        self.part(self.header.span())
    }

    pub fn fixed(&self) -> Result<&'a [u8]> {
        self.part(self.header.fixed_span())
    }

    pub fn variable(&self) -> Result<&'a [u8]> {
        self.part(self.header.variable_span())
    }

    /// Returns the bytes of `span`, which are in the file: [`within`](Self::within) has checked the length.
    fn part(&self, span: FileRange) -> Result<&'a [u8]> {
        #[cfg(feature = "alloc")]
        let part = self.input.get(span, What::DATASERIES_EXTENT);
        #[cfg(not(feature = "alloc"))]
        let part = {
            let at = span.at.saturating_sub(self.header.at);
            FileRange { at, ..span }.of(self.bytes, What::DATASERIES_EXTENT)
        };
        part
    }

    /// Adds the bytes that the check value covers to `sum`: all but the check value.
    fn add_to(&self, sum: &mut Adler32) -> Result<()> {
        let rest = ADLER_AT.saturating_add(4);
        // A damaged header can state sizes of a gigabyte.
        #[cfg(feature = "alloc")]
        if self.header.span().len > PIECES {
            let FileRange { at, len } = self.header.span();
            let (from, left) = (at.saturating_add(rest as u64), len.saturating_sub(rest as u64));
            for span in [FileRange { at, len: ADLER_AT as u64 }, FileRange { at: from, len: left }] {
                self.input.each_piece(span, What::DATASERIES_EXTENT, &mut |bytes| sum.update(bytes))?;
            }
            return Ok(());
        }
        let bytes = self.bytes()?;
        sum.update(bytes.get(..ADLER_AT).unwrap_or_default());
        sum.update(bytes.get(rest..).unwrap_or_default());
        Ok(())
    }

    pub fn check(&self) -> Result<()> {
        let mut sum = Adler32::new();
        self.add_to(&mut sum)?;
        if sum.value() != self.header.adler && !cfg!(fuzzing) {
            return Err(self.header.wrong(Kind::Checksum, What::DATASERIES_ADLER, ADLER_AT, self.header.adler));
        }
        Ok(())
    }
}

impl<E> fmt::Debug for Extent<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Extent").field(&self.stored.header).finish()
    }
}
