//! Vectors and strings.

use core::marker::PhantomData;

use super::{Fixed, Flat, Pos, Run, Target, whole};
use crate::error::{Error, Kind, Result, What};

/// A vector of contiguous elements: scalars or structs.
#[derive(Clone, Copy, Debug)]
pub struct Inline<'a, T> {
    run: Run<'a>,
    of: PhantomData<T>,
}

impl<'a, T> From<Run<'a>> for Inline<'a, T> {
    #[inline]
    fn from(run: Run<'a>) -> Self {
        Inline { run, of: PhantomData }
    }
}

impl<'a, T: Fixed> Inline<'a, T> {
    /// No elements.
    #[cfg(feature = "vortex")]
    pub(crate) const EMPTY: Inline<'static, T> = Inline { run: Run { bytes: &[], at: [0; 2] }, of: PhantomData };

    /// Returns the number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.run.bytes.len().checked_div(T::SIZE) {
            Some(len) => len,
            None => 0,
        }
    }

    /// Returns whether the number of elements is 0.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.run.bytes.is_empty()
    }

    /// Returns the offset of the first element in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        whole(self.run.at)
    }

    /// Returns the elements as they are stored: little-endian, at any alignment.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.run.bytes
    }

    /// Returns element `i`, or `None` if `i` is not below [`len`](Self::len).
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> Option<T> {
        T::load(self.run.bytes.get(i.checked_mul(T::SIZE)?..)?)
    }

    /// Iterates over the elements.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let all = *self;
        (0..all.len()).map_while(move |i| all.get(i))
    }
}

/// A vector of offsets to tables or strings.
#[derive(Clone, Copy, Debug)]
pub struct Linked<'a, T> {
    flat: Flat<'a>,
    start: u32,
    len: u32,
    of: PhantomData<T>,
}

impl<'a, T> Linked<'a, T> {
    /// Returns a vector of the same offsets, whose targets have another type.
    #[inline]
    pub(crate) fn retyped<U>(self) -> Linked<'a, U> {
        Linked { flat: self.flat, start: self.start, len: self.len, of: PhantomData }
    }
}

impl<'a, T: Target<'a>> Linked<'a, T> {
    /// Creates the vector of the offsets `run`, whose count is at `pos`.
    #[inline]
    pub(super) fn new(flat: Flat<'a>, Pos(pos): Pos, run: Run<'a>) -> Self {
        let len = u32::try_from(run.bytes.len() / 4).unwrap_or(0);
        Linked { flat, start: pos.saturating_add(4), len, of: PhantomData }
    }

    /// Returns the number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether the number of elements is 0.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the offset in the file of the first stored offset.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.flat.at(self.start)
    }

    /// Returns element `i`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if `i` is not below [`len`](Self::len); errors of the element.
    #[inline]
    pub fn get(&self, i: usize) -> Result<T> {
        T::read(&self.flat, self.pos(i)?)
    }

    /// Returns the position that offset `i` leads to.
    #[inline]
    pub(super) fn pos(&self, i: usize) -> Result<Pos> {
        element(&self.flat, self.start, self.len, i)
    }

    /// Iterates over the elements.
    pub fn iter(&self) -> impl Iterator<Item = Result<T>> + use<'a, T> {
        let all = *self;
        (0..all.len()).map(move |i| all.get(i))
    }
}

#[cfg(all(feature = "vortex", feature = "std"))]
impl<'a> Linked<'a, super::Table<'a>> {
    /// Adds field `field`, a `u64`, of the tables starting at `k` to `sum`, while the sum is at most `most`. Ends before a table
    /// whose vtable does not equal the vtable of table `k`, before a damaged one, and at once if the vtable is unusually long.
    /// Returns the number of the first table that was not added, and the sum.
    ///
    /// Takes a third of the instructions of reading each field, because the vtable is checked once.
    pub(crate) fn sum_up_to(&self, field: u8, (k, sum): (usize, u64), most: u64) -> (usize, u64) {
        let (mut k, mut sum) = (k, sum);
        let Some(frame) = self.get(k).ok().and_then(|table| table.frame::<u64>(field)) else { return (k, sum) };
        while k < self.len() {
            // The vector is inside the buffer, so no sum here overflows.
            let slot = self.start.saturating_add(crate::bytes::low32(k as u64).saturating_mul(4));
            match frame.field_of::<u64>(&self.flat, slot).and_then(|value| sum.checked_add(value)) {
                Some(more) if more <= most => (k, sum) = (k.saturating_add(1), more),
                _ => break,
            }
        }
        (k, sum)
    }
}

/// A string, not yet checked to be UTF-8.
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    run: Run<'a>,
}

impl<'a> Target<'a> for Str<'a> {
    #[inline]
    fn read(flat: &Flat<'a>, pos: Pos) -> Result<Self> {
        Ok(Str::from(flat.run(pos, 1, What::FLAT_STRING)?))
    }
}

impl<'a> From<Run<'a>> for Str<'a> {
    #[inline]
    fn from(run: Run<'a>) -> Self {
        Str { run }
    }
}

impl<'a> Str<'a> {
    /// Returns the offset of the first byte in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        whole(self.run.at)
    }

    /// Returns the bytes, without the zero after them.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.run.bytes
    }

    /// Returns the text.
    ///
    /// # Errors
    /// [`Kind::Utf8`] with the offset of the first invalid byte.
    pub fn text(&self) -> Result<&'a str> {
        core::str::from_utf8(self.run.bytes)
            .map_err(|e| Error::new(Kind::Utf8, What::FLAT_STRING, self.at().saturating_add(e.valid_up_to() as u64)))
    }
}

/// Returns the position that offset `i` leads to, in a vector of `len` offsets that starts at `start`.
fn element(flat: &Flat<'_>, start: u32, len: u32, i: usize) -> Result<Pos> {
    match u32::try_from(i) {
        // The vector is inside the buffer, so no sum here overflows.
        Ok(i) if i < len => flat.follow(start.saturating_add(i.saturating_mul(4))),
        _ => Err(Error::needing(Kind::OutOfRange, What::FLAT_VECTOR, i as u64, len.into())),
    }
}
