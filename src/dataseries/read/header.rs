//! The header (section 2) and the trailer (section 10) of a file.

use crate::bytes::{Endian, FileRange, LittleEndian, NativeEndian, Reader};
use crate::dataseries::raw::{
    self, CHECK_I32, CHECK_I64, CHECK_INF, CHECK_PI, HEADER_LEN, MAGIC, TRAILER_LEN, TRAILER_SEED,
};
use crate::error::{Error, Kind, Result, What};
use crate::hash::lookup2;

/// The byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Order {
    /// The least significant byte comes first.
    Little,
    /// The most significant byte comes first.
    Big,
}

impl Order {
    /// The range of the file header, which is the first to fetch from a file.
    pub const SPAN: FileRange = FileRange { at: 0, len: HEADER_LEN as u64 };

    /// Checks a file header and returns its byte order. Bytes 4 to 8 determine the order; all other check values must
    /// then be correct.
    ///
    /// # Errors
    /// [`Kind::Truncated`] for fewer than 40 bytes; [`Kind::Invalid`] with the first check value that is wrong.
    pub fn of(header: &[u8]) -> Result<Order> {
        let mut r = Reader::<LittleEndian>::new(header);
        let magic = *r.array::<4>(What::MAGIC)?;
        if magic != MAGIC {
            return Err(Error::needing(Kind::Invalid, What::MAGIC, 0, u32::from_le_bytes(magic).into()));
        }
        let order = match r.i32(What::DATASERIES_HEADER)? {
            CHECK_I32 => Order::Little,
            word if word.swap_bytes() == CHECK_I32 => Order::Big,
            word => return Err(Error::needing(Kind::Invalid, What::DATASERIES_HEADER, 4, word.cast_unsigned().into())),
        };
        check_longs(view(header)?, (order == Order::Little) == LittleEndian::IS_NATIVE)?;
        Ok(order)
    }

    /// Returns the name that the tools print: `"little"` or `"big"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Order::Little => "little",
            Order::Big => "big",
        }
    }
}

/// Checks a file header; `native`: whether it must be in native byte order.
pub(super) fn check(header: &[u8], native: bool) -> Result<()> {
    let header = view(header)?;
    if header.magic != MAGIC {
        return Err(Error::new(Kind::Invalid, What::MAGIC, 0));
    }
    if word(header.check32.get().cast_unsigned(), native) != CHECK_I32.cast_unsigned() {
        return Err(Error::new(Kind::Invalid, What::DATASERIES_HEADER, 4));
    }
    check_longs(header, native)
}

fn view(header: &[u8]) -> Result<&raw::FileHeader<NativeEndian>> {
    Reader::<NativeEndian>::new(header).view(What::DATASERIES_HEADER)
}

/// Checks the values after the one that determines the byte order.
fn check_longs(header: &raw::FileHeader<NativeEndian>, native: bool) -> Result<()> {
    let wrong = if long(header.check64.get().cast_unsigned(), native) != CHECK_I64.cast_unsigned() {
        8
    } else if long(header.pi.get(), native) != CHECK_PI {
        16
    } else if long(header.inf.get(), native) != CHECK_INF {
        24
    } else if !f64::from_bits(long(header.nan.get(), native)).is_nan() {
        32
    } else {
        return Ok(());
    };
    Err(Error::new(Kind::Invalid, What::DATASERIES_HEADER, wrong))
}

/// Converts a word of a file; `native`: whether it is in native byte order.
pub(super) const fn word(stored: u32, native: bool) -> u32 {
    if native { stored } else { stored.swap_bytes() }
}

/// Converts a word of 64 bits, like [`word`].
const fn long(stored: u64, native: bool) -> u64 {
    if native { stored } else { stored.swap_bytes() }
}

/// The contents of the trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Trailer {
    /// The range of the index extent, as stored in the trailer.
    pub index: FileRange,
    /// The hash chain of all check values. It is arbitrary in files of older writers, so it is not checked.
    pub chain: u32,
    /// The hash of the trailer itself.
    pub hash: u32,
}

impl Trailer {
    /// Returns the range of the trailer in a file of `file_len` bytes.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the file is too short for a header and a trailer.
    pub fn span(file_len: u64) -> Result<FileRange> {
        let len = TRAILER_LEN as u64;
        match file_len.checked_sub(len) {
            Some(at) if at >= HEADER_LEN as u64 => Ok(FileRange { at, len }),
            _ => Err(Error::needing(Kind::Truncated, What::DATASERIES_TRAILER, file_len, len)),
        }
    }

    /// Reads the trailer in the first 28 of `bytes`, which begin at offset `at`, and checks its marker, complement and
    /// hash. [`located`](Self::located) checks the position of the index.
    ///
    /// # Errors
    /// [`Kind::Truncated`] for fewer than 28 bytes; [`Kind::Invalid`] for a wrong marker or complement, or a negative
    /// size or offset; [`Kind::Checksum`] for a wrong hash.
    pub fn of<E: Endian>(bytes: &[u8], at: u64) -> Result<Trailer> {
        Trailer::read(bytes, at, E::IS_NATIVE)
    }

    /// Reads a trailer; `native`: whether it is in native byte order.
    pub(super) fn read(bytes: &[u8], at: u64, native: bool) -> Result<Trailer> {
        let trailer =
            Reader::<NativeEndian>::new_at(bytes, at).view::<raw::Trailer<NativeEndian>>(What::DATASERIES_TRAILER)?;
        if trailer.marker.get() != -1 {
            return Err(Error::new(Kind::Invalid, What::DATASERIES_TRAILER, at));
        }
        let size = word(trailer.index_size.get().cast_unsigned(), native);
        let not = word(trailer.not_index_size.get().cast_unsigned(), native);
        let (chain, stored) = (word(trailer.chain.get(), native), word(trailer.hash.get(), native));
        let index_at = long(trailer.index_at.get().cast_unsigned(), native);
        let at_size = at.saturating_add(4);
        let wrong = || Err(Error::needing(Kind::Invalid, What::DATASERIES_TRAILER, at_size, size.into()));
        if size != !not {
            return wrong();
        }
        let Some(body) = bytes.get(..TRAILER_LEN.saturating_sub(4)) else {
            return Err(Error::new(Kind::Truncated, What::DATASERIES_TRAILER, at));
        };
        if lookup2(TRAILER_SEED, body) != stored && !cfg!(fuzzing) {
            let at = at.saturating_add(body.len() as u64);
            return Err(Error::needing(Kind::Checksum, What::DATASERIES_TRAILER, at, stored.into()));
        }
        // Both are signed.
        if size.cast_signed() < 0 || index_at.cast_signed() < 0 {
            return wrong();
        }
        Ok(Trailer { index: FileRange { at: index_at, len: size.into() }, chain, hash: stored })
    }

    /// Checks that the index extent ends at `at`, the offset of the trailer.
    ///
    /// # Errors
    /// [`Kind::Invalid`] with the offset of the index that the trailer gives.
    pub fn located(self, at: u64) -> Result<Trailer> {
        if self.index.end() != Some(at) || self.index.at < HEADER_LEN as u64 {
            let field = at.saturating_add(16);
            return Err(Error::needing(Kind::Invalid, What::DATASERIES_TRAILER, field, self.index.at));
        }
        Ok(self)
    }
}
