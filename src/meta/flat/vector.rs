//! Vectors and strings.

use core::marker::PhantomData;

use super::{Fixed, Flat, Pos, Run, Target, whole};
use crate::error::{Error, Kind, Result, What};

/// A vector whose elements, scalars or structs, lie side by side.
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

    /// How many elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.run.bytes.len().checked_div(T::SIZE) {
            Some(len) => len,
            None => 0,
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.run.bytes.is_empty()
    }

    /// Offset in the file of the first element.
    #[must_use]
    pub const fn at(&self) -> u64 {
        whole(self.run.at)
    }

    /// The elements as they are stored: little-endian, at any alignment.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.run.bytes
    }

    /// Element `i`; `None` behind the end.
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> Option<T> {
        T::load(self.run.bytes.get(i.checked_mul(T::SIZE)?..)?)
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let all = *self;
        (0..all.len()).map_while(move |i| all.get(i))
    }
}

/// A vector whose elements, tables or strings, are reached by offsets.
#[derive(Clone, Copy, Debug)]
pub struct Linked<'a, T> {
    flat: Flat<'a>,
    start: u32,
    len: u32,
    of: PhantomData<T>,
}

impl<'a, T> Linked<'a, T> {
    /// The same offsets, to something else.
    #[inline]
    pub(crate) fn retyped<U>(self) -> Linked<'a, U> {
        Linked { flat: self.flat, start: self.start, len: self.len, of: PhantomData }
    }
}

impl<'a, T: Target<'a>> Linked<'a, T> {
    /// The offsets are `run`, which was found at `pos`.
    #[inline]
    pub(super) fn new(flat: Flat<'a>, Pos(pos): Pos, run: Run<'a>) -> Self {
        let len = u32::try_from(run.bytes.len() / 4).unwrap_or(0);
        Linked { flat, start: pos.saturating_add(4), len, of: PhantomData }
    }

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
        T::read(&self.flat, self.pos(i)?)
    }

    /// Where offset `i` leads.
    #[inline]
    pub(super) fn pos(&self, i: usize) -> Result<Pos> {
        element(&self.flat, self.start, self.len, i)
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
    /// Offset in the file of the first byte.
    #[must_use]
    pub const fn at(&self) -> u64 {
        whole(self.run.at)
    }

    /// The bytes, without the zero behind them.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.run.bytes
    }

    /// The text.
    ///
    /// # Errors
    /// [`Kind::Utf8`] at the first wrong byte.
    pub fn text(&self) -> Result<&'a str> {
        core::str::from_utf8(self.run.bytes)
            .map_err(|e| Error::new(Kind::Utf8, What::FLAT_STRING, self.at().saturating_add(e.valid_up_to() as u64)))
    }
}

/// Where the offset `i` of a vector of `len` offsets leads.
fn element(flat: &Flat<'_>, start: u32, len: u32, i: usize) -> Result<Pos> {
    match u32::try_from(i) {
        // The vector is inside the buffer, so no sum here overflows.
        Ok(i) if i < len => flat.follow(start.saturating_add(i.saturating_mul(4))),
        _ => Err(Error::needing(Kind::OutOfRange, What::FLAT_VECTOR, i as u64, len.into())),
    }
}
