//! Vectors and strings.

use core::marker::PhantomData;

use super::{Fixed, Flat, Place, Target, halves, whole};
use crate::error::{Error, Kind, Result, What};

/// A vector whose elements, scalars or structs, lie side by side.
#[derive(Debug)]
pub struct Inline<'a, T> {
    bytes: &'a [u8],
    at: [u32; 2],
    of: PhantomData<T>,
}

impl<T> Clone for Inline<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Inline<'_, T> {}

impl<'a, T: Fixed> Target<'a> for Inline<'a, T> {
    #[inline]
    fn read(place: Place<'a>) -> Result<Self> {
        let (bytes, at) = run(place, stride::<T>(), What::FlatVector)?;
        Ok(Inline { bytes, at, of: PhantomData })
    }
}

impl<'a, T: Fixed> Inline<'a, T> {
    /// How many elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.bytes.len().checked_div(T::SIZE) {
            Some(len) => len,
            None => 0,
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Offset in the file of the first element.
    #[must_use]
    pub const fn at(&self) -> u64 {
        whole(self.at)
    }

    /// The elements as they are stored: little-endian, at any alignment.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Element `i`; `None` behind the end.
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> Option<T> {
        T::load(self.bytes.get(i.checked_mul(T::SIZE)?..)?)
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let all = *self;
        (0..all.len()).map_while(move |i| all.get(i))
    }
}

/// A vector whose elements, tables or strings, are reached by offsets.
#[derive(Debug)]
pub struct Linked<'a, T> {
    flat: Flat<'a>,
    start: u32,
    len: u32,
    of: PhantomData<T>,
}

impl<T> Clone for Linked<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Linked<'_, T> {}

impl<'a, T: Target<'a>> Target<'a> for Linked<'a, T> {
    #[inline]
    fn read(place: Place<'a>) -> Result<Self> {
        let (len, start) = place.vector(4, What::FlatVector)?;
        Ok(Linked { flat: place.flat, start, len, of: PhantomData })
    }
}

impl<'a, T: Target<'a>> Linked<'a, T> {
    /// How many elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Offset in the file of the first offset.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.flat.at(self.start)
    }

    /// Element `i`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] behind the end, and those of the element.
    #[inline]
    pub fn get(&self, i: usize) -> Result<T> {
        T::read(element(self.flat, self.start, self.len, i)?)
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<T>> + use<'a, T> {
        let all = *self;
        (0..all.len()).map(move |i| all.get(i))
    }
}

/// A string: bytes that are text only once somebody has looked at them.
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    bytes: &'a [u8],
    at: [u32; 2],
}

impl<'a> Target<'a> for Str<'a> {
    #[inline(never)]
    fn read(place: Place<'a>) -> Result<Self> {
        let (bytes, at) = run(place, 1, What::FlatString)?;
        // The zero behind a string is not part of its length. Verifiers demand it, as C readers need it.
        let end = place.pos.saturating_add(4).saturating_add(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        match place.flat.load::<u8>(end) {
            Some(0) => Ok(Str { bytes, at }),
            Some(other) => Err(place.flat.error(Kind::Invalid, What::FlatString, end, other.into())),
            None => Err(place.flat.error(Kind::Truncated, What::FlatString, end, 1)),
        }
    }
}

impl<'a> Str<'a> {
    /// Offset in the file of the first byte.
    #[must_use]
    pub const fn at(&self) -> u64 {
        whole(self.at)
    }

    /// The bytes, without the zero behind them.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The text.
    ///
    /// # Errors
    /// [`Kind::Utf8`] at the first wrong byte.
    pub fn text(&self) -> Result<&'a str> {
        core::str::from_utf8(self.bytes)
            .map_err(|e| Error::new(Kind::Utf8, What::FlatString, self.at().saturating_add(e.valid_up_to() as u64)))
    }
}

/// The bytes of the vector at `place` and their offset in the file.
#[inline(never)]
fn run(place: Place<'_>, stride: u32, what: What) -> Result<(&[u8], [u32; 2])> {
    let (count, start) = place.vector(stride, what)?;
    // Neither can fail: the vector is inside the buffer.
    let bytes = place.flat.bytes.get(start as usize..).unwrap_or(&[]);
    let bytes = bytes.get(..count.saturating_mul(stride) as usize).unwrap_or(bytes);
    Ok((bytes, halves(place.flat.at(start))))
}

/// Where the offset `i` of a vector of `len` offsets leads.
#[inline(never)]
fn element(flat: Flat<'_>, start: u32, len: u32, i: usize) -> Result<Place<'_>> {
    match u32::try_from(i) {
        // The vector is inside the buffer, so no sum here overflows.
        Ok(i) if i < len => flat.follow(start.saturating_add(i.saturating_mul(4))),
        _ => Err(Error::new(Kind::OutOfRange, What::FlatVector, i as u64).with_need(len.into())),
    }
}

const fn stride<T: Fixed>() -> u32 {
    #[allow(clippy::cast_possible_truncation, reason = "structs are far smaller, and the assertion holds them to it")]
    const fn narrow(size: usize) -> u32 {
        assert!(size > 0 && size < 1 << 16);
        size as u32
    }
    const { narrow(T::SIZE) }
}
