//! The cursor that readers take the bytes of a file from.

use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned, byteorder};

use super::Endian;
use crate::error::{Error, Kind, Result, What};

/// A cursor over borrowed bytes, with its offset in the file.
///
/// No method panics. A read past the end is [`Kind::Truncated`] with the offset of the field and the number of bytes
/// that it needs, and does not move the cursor.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a, E> {
    rest: &'a [u8],
    // The offset of the end, because every `take` would have to update the offset of the next byte. The sum wraps,
    // which is the smallest code; the difference in `at` wraps back.
    end: u64,
    order: PhantomData<E>,
}

/// Methods that take plain numbers, through zerocopy's wrapper of the byte order.
macro_rules! numbers {
    ($($name:ident by $wrapper:ident;)*) => {$(
        #[doc = concat!("Takes the next `", stringify!($name), "`.")]
        ///
        /// # Errors
        /// [`Kind::Truncated`] at the end of the input.
        #[inline]
        pub fn $name(&mut self, what: What) -> Result<$name> {
            Ok(byteorder::$wrapper::<E>::from_bytes(*self.array(what)?).get())
        }
    )*};
}

impl<'a, E: Endian> Reader<'a, E> {
    /// Creates a cursor at the start of `bytes`, which are the start of the file.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Reader::new_at(bytes, 0)
    }

    /// Creates a cursor at the start of `bytes`, which lie at offset `at` of the file.
    #[must_use]
    pub const fn new_at(bytes: &'a [u8], at: u64) -> Self {
        Reader { rest: bytes, end: at.wrapping_add(bytes.len() as u64), order: PhantomData }
    }

    /// Returns the offset of the next byte in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.end.wrapping_sub(self.rest.len() as u64)
    }

    /// Returns the remaining bytes.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Takes the next `n` bytes.
    ///
    /// # Errors
    /// [`Kind::Truncated`] at the end of the input.
    #[inline]
    pub fn take(&mut self, n: usize, what: What) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(self.truncated(n, what)),
        }
    }

    /// Takes the next `N` bytes as an array.
    ///
    /// # Errors
    /// [`Kind::Truncated`] at the end of the input.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: What) -> Result<&'a [u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(self.truncated(N, what)),
        }
    }

    /// Borrows the next bytes as an on-disk structure.
    ///
    /// # Errors
    /// [`Kind::Truncated`] at the end of the input.
    #[inline]
    pub fn view<T: FromBytes + KnownLayout + Immutable + Unaligned>(&mut self, what: What) -> Result<&'a T> {
        match T::ref_from_prefix(self.rest) {
            Ok((view, rest)) => {
                self.rest = rest;
                Ok(view)
            }
            Err(_) => Err(self.truncated(size_of::<T>(), what)),
        }
    }

    /// Takes the next `n` bytes as a separate cursor, which ends with them.
    ///
    /// # Errors
    /// [`Kind::Truncated`] at the end of the input.
    pub fn split(&mut self, n: usize, what: What) -> Result<Self> {
        let at = self.at();
        Ok(Reader::new_at(self.take(n, what)?, at))
    }

    /// Checks that no bytes remain.
    ///
    /// # Errors
    /// [`Kind::Trailing`] if bytes remain; `need` is their number.
    pub fn end(self, what: What) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(Error::needing(Kind::Trailing, what, self.at(), self.rest.len() as u64))
    }

    /// Takes the next byte.
    ///
    /// # Errors
    /// [`Kind::Truncated`] at the end of the input.
    #[inline]
    pub fn u8(&mut self, what: What) -> Result<u8> {
        let [byte] = *self.array(what)?;
        Ok(byte)
    }

    numbers! { u16 by U16; u32 by U32; u64 by U64; i32 by I32; i64 by I64; }

    #[cold]
    fn truncated(&self, n: usize, what: What) -> Error {
        Error::needing(Kind::Truncated, what, self.at(), n as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{BigEndian, LittleEndian};

    #[test]
    fn numbers_in_both_orders() {
        let bytes = [1, 2, 3, 4, 5, 6];
        let mut le = Reader::<LittleEndian>::new(&bytes);
        assert_eq!((le.u16(What::INPUT), le.u32(What::INPUT)), (Ok(0x0201), Ok(0x0605_0403)));
        let mut be = Reader::<BigEndian>::new(&bytes);
        assert_eq!((be.u16(What::INPUT), be.i32(What::INPUT)), (Ok(0x0102), Ok(0x0304_0506)));
        assert_eq!(be.end(What::INPUT), Ok(()));
    }

    #[test]
    fn a_failed_take_leaves_the_cursor() {
        let mut r = Reader::<LittleEndian>::new_at(&[1, 2, 3], 100);
        assert_eq!(r.u8(What::INPUT), Ok(1));
        let e = r.u32(What::INPUT).unwrap_err();
        assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::Truncated, What::INPUT, 101, 4));
        assert_eq!(r.take(2, What::INPUT), Ok(&[2u8, 3][..]));
    }

    #[test]
    fn a_fenced_part_ends_at_its_fence() {
        let mut r = Reader::<LittleEndian>::new(&[1, 2, 3, 4]);
        let mut part = r.split(2, What::INPUT).unwrap();
        assert!(part.u32(What::INPUT).is_err());
        assert_eq!(part.end(What::INPUT).unwrap_err().kind(), Kind::Trailing);
        assert_eq!(r.at(), 2);
    }
}
