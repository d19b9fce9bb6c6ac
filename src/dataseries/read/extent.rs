//! Extents: what stands in front of the parts (section 3).

use core::fmt;
use core::marker::PhantomData;

use zerocopy::byteorder::I32;

use super::Trailer;
use super::header::word;
use crate::bytes::{Endian, FileRange, NativeEndian, Reader};
use crate::dataseries::raw::{
    self, ADLER_AT, ALIGN, EXTENT_HEADER_LEN, MAX_STORED, Mode, POOL_START, TRAILER_LEN, align,
};
use crate::error::{Error, Kind, Result, What};
use crate::hash::Adler32;

/// What no number of rows or bytes reaches, as it is signed.
const SIGN: u32 = 1 << 31;
/// Bounds of sizes as the header has them.
#[allow(clippy::cast_possible_truncation, reason = "4, and 512 MiB")]
const SIZES: (u32, u32) = (POOL_START as u32, MAX_STORED as u32);

/// The header of an extent: how large it is and what is in it, all structural checks made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// Offset of the extent in the file.
    pub at: u64,
    /// Stored size of the fixed part.
    pub fixed: u32,
    /// Stored size of the variable part.
    pub variable: u32,
    /// Number of records.
    pub rows: u32,
    /// Size of the unpacked pool, its four zero bytes included.
    pub pool: u32,
    /// Adler-32 of the stored extent.
    pub adler: u32,
    /// lookup2 of the partly unpacked parts.
    pub hash: u32,
    /// How the fixed part is stored; means nothing if that is empty.
    pub fixed_mode: Mode,
    /// How the variable part is stored; means nothing if that is empty.
    pub variable_mode: Mode,
    /// Length of the type name.
    pub name_len: u8,
}

impl Header {
    /// As [`Order::header`](super::Order::header).
    pub(crate) fn of<E: Endian>(bytes: &[u8], at: u64) -> Result<Header> {
        Header::read(bytes, at, E::IS_NATIVE)
    }

    /// `native`: whether the extent has the byte order of this machine.
    pub(super) fn read(bytes: &[u8], at: u64, native: bool) -> Result<Header> {
        let header = Reader::<NativeEndian>::new_at(bytes, at)
            .view::<raw::ExtentHeader<NativeEndian>>(What::DATASERIES_EXTENT)?;
        // A negative number is not below any of the limits.
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

    /// The error about what begins `field` bytes behind the start of the extent.
    #[cold]
    pub(super) fn wrong(&self, kind: Kind, what: What, field: usize, value: u32) -> Error {
        Error::needing(kind, what, self.at.saturating_add(field as u64), value.into())
    }

    /// The error that the name of the type is not one that can stand here.
    #[cold]
    #[must_use]
    pub fn unknown_type(&self) -> Error {
        self.wrong(Kind::Invalid, What::DATASERIES_TYPE_NAME, EXTENT_HEADER_LEN, 0)
    }

    /// Where the type name lies.
    #[must_use]
    pub const fn name_span(&self) -> FileRange {
        FileRange { at: self.at.saturating_add(EXTENT_HEADER_LEN as u64), len: self.name_len as u64 }
    }

    /// Where the extent lies, with its padding.
    #[must_use]
    pub const fn span(&self) -> FileRange {
        let variable = self.variable_span();
        let end = variable.at.saturating_add(align(variable.len, ALIGN as u64));
        FileRange { at: self.at, len: end.saturating_sub(self.at) }
    }

    /// Where the stored fixed part lies.
    #[must_use]
    pub const fn fixed_span(&self) -> FileRange {
        let from = align((EXTENT_HEADER_LEN as u64).saturating_add(self.name_len as u64), ALIGN as u64);
        FileRange { at: self.at.saturating_add(from), len: self.fixed as u64 }
    }

    /// Where the stored variable part lies.
    #[must_use]
    pub const fn variable_span(&self) -> FileRange {
        let fixed = self.fixed_span();
        FileRange { at: fixed.at.saturating_add(align(fixed.len, ALIGN as u64)), len: self.variable as u64 }
    }
}

/// What begins at an offset of a file at which an extent may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Next {
    /// An extent.
    Extent(Header),
    /// The end of all extents.
    End(End),
}

/// Why there are no more extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum End {
    /// The trailer, at offset `at`; what follows it, nobody looks at.
    Trailer {
        /// Where it begins.
        at: u64,
        /// What it says.
        trailer: Trailer,
    },
    /// The end of the file: its writer did not finish, and all that it has is whole.
    File {
        /// The length of the file.
        at: u64,
    },
    /// Erased flash, 0xFF throughout as far as it was looked at: the log goes on here.
    Erased {
        /// Where it begins.
        at: u64,
    },
}

impl End {
    /// Offset behind the last extent.
    #[must_use]
    pub const fn at(&self) -> u64 {
        match self {
            End::Trailer { at, .. } | End::File { at } | End::Erased { at } => *at,
        }
    }
}

impl Next {
    /// The range to fetch of a file of `file_len` bytes to know what begins at offset `at`: 28 bytes, or
    /// what is left.
    #[must_use]
    pub const fn span(at: u64, file_len: u64) -> FileRange {
        let left = file_len.saturating_sub(at);
        FileRange { at, len: if left < TRAILER_LEN as u64 { left } else { TRAILER_LEN as u64 } }
    }

    /// Says what begins at offset `at`. `bytes` are those of [`span`](Self::span) or more.
    ///
    /// # Errors
    /// What is wrong with the header or the trailer; [`Kind::Truncated`] for a few bytes that are
    /// neither.
    pub fn of<E: Endian>(bytes: &[u8], at: u64) -> Result<Next> {
        Next::read(bytes, at, E::IS_NATIVE)
    }

    pub(super) fn read(bytes: &[u8], at: u64, native: bool) -> Result<Next> {
        let head = bytes.get(..TRAILER_LEN).unwrap_or(bytes);
        if head.is_empty() {
            return Ok(Next::End(End::File { at }));
        }
        // No trailer looks like this, its size and the complement being equal.
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

/// An extent as it is stored.
#[derive(Clone, Copy)]
pub struct Extent<'a, E> {
    pub(super) stored: Stored<'a>,
    order: PhantomData<E>,
}

/// An extent of either byte order, so that what works on it is compiled once.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub header: Header,
    bytes: &'a [u8],
}

impl<'a, E: Endian> Extent<'a, E> {
    /// The extent at the start of `bytes`, which lie at offset `at` of the file and may go on behind it.
    ///
    /// # Errors
    /// Those of [`Order::header`](super::Order::header), and [`Kind::Truncated`] if the extent ends behind the bytes.
    pub fn of(bytes: &'a [u8], at: u64) -> Result<Self> {
        Ok(Extent { stored: Stored::of(bytes, at, E::IS_NATIVE)?, order: PhantomData })
    }

    /// Its header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.stored.header
    }

    /// All its bytes, with the padding.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.stored.bytes
    }

    /// The name of its type, as it is stored.
    #[must_use]
    pub fn type_name(&self) -> &'a [u8] {
        self.stored.type_name()
    }

    /// The check of the stored bytes: Adler-32 of everything but itself (section 3.3).
    ///
    /// # Errors
    /// [`Kind::Checksum`].
    pub fn check_stored(&self) -> Result<()> {
        self.stored.check()
    }
}

impl<'a> Stored<'a> {
    pub fn of(bytes: &'a [u8], at: u64, native: bool) -> Result<Self> {
        let header = Header::read(bytes, at, native)?;
        let FileRange { len, .. } = header.span();
        let bytes = FileRange { at: 0, len }.of(bytes, What::DATASERIES_EXTENT).map_err(|e| e.moved(at))?;
        Ok(Stored { header, bytes })
    }

    pub fn type_name(&self) -> &'a [u8] {
        self.part(self.header.name_span())
    }

    pub fn fixed(&self) -> &'a [u8] {
        self.part(self.header.fixed_span())
    }

    pub fn variable(&self) -> &'a [u8] {
        self.part(self.header.variable_span())
    }

    /// The length was checked when the extent was made.
    fn part(&self, span: FileRange) -> &'a [u8] {
        let at = span.at.saturating_sub(self.header.at);
        FileRange { at, ..span }.of(self.bytes, What::DATASERIES_EXTENT).unwrap_or_default()
    }

    pub fn check(&self) -> Result<()> {
        let mut sum = Adler32::new();
        sum.update(self.bytes.get(..ADLER_AT).unwrap_or_default());
        sum.update(self.bytes.get(ADLER_AT.saturating_add(4)..).unwrap_or_default());
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
