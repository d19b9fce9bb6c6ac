//! The variant encoding of Apache Parquet, version 1: a value of any type as bytes.
//!
//! A variant consists of two byte strings. The metadata is a dictionary of field names ([`Keys`]). The value is a tree of
//! primitives, arrays and objects, whose fields have the numbers of their names. Each value is contiguous, and its first
//! byte tells its type:
//!
//! ```text
//! first byte: 2 bits kind (0 primitive, 1 short text, 2 object, 3 array), 6 bits that depend on it
//! object:     first byte | count | number of each name | offset of each value, and their end | values
//! array:      first byte | count | offset of each value, and their end | values
//! ```
//!
//! The offsets of an object follow the order of the names. The values need not, so that their offsets may descend.
//!
//! ```
//! use pilaster::unstable::encoding::variant::{Keys, Object, len_of};
//!
//! // {"a": 7, "b": "x"}
//! let keys = Keys::parse(&[0x11, 2, 0, 1, 2, b'a', b'b'])?;
//! let value = [0x02, 2, 0, 1, 0, 2, 4, 0x0c, 7, 0x05, b'x'];
//! assert_eq!(len_of(&value)?, value.len());
//! let object = Object::parse(&value)?.unwrap();
//! let (name, field) = object.field(1)?;
//! assert_eq!((keys.name(name)?, field), (&b"b"[..], &[0x05, b'x'][..]));
//! assert_eq!(keys.find(b"b")?, Some(1));
//! # Ok::<(), pilaster::Error>(())
//! ```

mod header;
mod primitive;

pub use header::Header;
pub use primitive::{MOST, Primitive, Scaled};

use crate::bytes::saturated;
use crate::error::{Error, Kind, Result, What};

/// The kinds of values, in the lowest two bits of the first byte.
mod kind {
    pub const PRIMITIVE: u8 = 0;
    pub const SHORT_TEXT: u8 = 1;
    pub const OBJECT: u8 = 2;
    pub const ARRAY: u8 = 3;
}

/// The value null.
pub const NULL: u8 = 0;

/// The metadata without names.
pub const NO_NAMES: [u8; 3] = [1, 0, 0];

/// Creates an error about a value.
#[cold]
fn bad(kind: Kind, need: usize) -> Error {
    Error::needing(kind, What::VARIANT, 0, need as u64)
}

/// Returns little-endian number `i` of numbers of `size` bytes, 1 to 4.
fn number(bytes: &[u8], i: usize, size: usize) -> Result<usize> {
    let start = i.saturating_mul(size);
    let bytes = bytes.get(start..start.saturating_add(size)).ok_or_else(|| bad(Kind::Truncated, size))?;
    Ok(saturated(bytes.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte))))
}

/// Returns the first `len` bytes, and the rest.
fn split(bytes: &[u8], len: usize) -> Result<(&[u8], &[u8])> {
    bytes.split_at_checked(len).ok_or_else(|| bad(Kind::Truncated, len))
}

/// The field names of a variant: its metadata.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    /// Whether the names claim to be sorted and distinct.
    sorted: bool,
    size: usize,
    count: usize,
    offsets: &'a [u8],
    names: &'a [u8],
}

impl<'a> Keys<'a> {
    /// Parses the metadata of a variant. Names are checked when they are read.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for another version than 1, [`Kind::Truncated`] if the offsets of the names end early.
    pub fn parse(metadata: &'a [u8]) -> Result<Self> {
        let (first, rest) = metadata.split_first().ok_or_else(|| bad(Kind::Truncated, 1))?;
        if first & 0xf != 1 {
            return Err(bad(Kind::Unsupported, usize::from(first & 0xf)));
        }
        let size = usize::from(first >> 6).saturating_add(1);
        let count = number(rest, 0, size)?;
        let (_, rest) = split(rest, size)?;
        let (offsets, names) = split(rest, count.saturating_add(1).saturating_mul(size))?;
        Ok(Keys { sorted: first >> 4 & 1 == 1, size, count, offsets, names })
    }

    /// Returns the number of names.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no names.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the name with number `id`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if no name has it, [`Kind::Invalid`] if its offsets descend or exceed the names.
    pub fn name(&self, id: usize) -> Result<&'a [u8]> {
        if id >= self.count {
            return Err(bad(Kind::OutOfRange, id));
        }
        let start = number(self.offsets, id, self.size)?;
        let end = number(self.offsets, id.saturating_add(1), self.size)?;
        self.names.get(start..end).ok_or_else(|| bad(Kind::Invalid, end))
    }

    /// Returns an upper bound of the steps that [`find`](Self::find) takes for a name of `len` bytes; comparing up to 16
    /// bytes is one step.
    #[must_use]
    pub const fn steps(&self, len: usize) -> usize {
        let names =
            if self.sorted { usize::BITS.saturating_sub(self.count.leading_zeros()) as usize } else { self.count };
        names.saturating_mul((len >> 4).saturating_add(1))
    }

    /// Checks that the names are sorted and distinct, if they claim to be. Otherwise [`find`](Self::find) may miss some.
    ///
    /// ```
    /// use pilaster::unstable::encoding::variant::Keys;
    ///
    /// // "b" and "a", once as they are and once as if they were sorted.
    /// assert_eq!(Keys::parse(&[0x01, 2, 0, 1, 2, b'b', b'a'])?.check_order(), Ok(()));
    /// let keys = Keys::parse(&[0x11, 2, 0, 1, 2, b'b', b'a'])?;
    /// assert_eq!(keys.find(b"b")?, None);
    /// assert!(keys.check_order().is_err());
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::Invalid`] with the number of a name that is not greater than the one before it, and errors of
    /// [`name`](Self::name).
    pub fn check_order(&self) -> Result<()> {
        for id in 1..if self.sorted { self.count } else { 0 } {
            if self.name(id)? <= self.name(id.saturating_sub(1))? {
                return Err(bad(Kind::Invalid, id));
            }
        }
        Ok(())
    }

    /// Returns the number of a name, or `None` if it is absent. The names are searched one by one, unless they claim to be
    /// sorted ([`check_order`](Self::check_order)).
    ///
    /// # Errors
    /// Errors of [`name`](Self::name).
    pub fn find(&self, name: &[u8]) -> Result<Option<usize>> {
        if !self.sorted {
            for id in 0..self.count {
                if self.name(id)? == name {
                    return Ok(Some(id));
                }
            }
            return Ok(None);
        }
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle)?.cmp(name) {
                core::cmp::Ordering::Less => low = middle.saturating_add(1),
                core::cmp::Ordering::Equal => return Ok(Some(middle)),
                core::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }
}

/// The fields of an object.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    count: usize,
    ids: &'a [u8],
    id_size: usize,
    /// Size in bytes of the header.
    start: usize,
    items: Items<'a>,
}

impl<'a> Object<'a> {
    /// Parses the object at the start of `value`. Returns `None` if the value is no object.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the object ends early.
    pub fn parse(value: &'a [u8]) -> Result<Option<Self>> {
        let Some((first, rest)) = value.split_first().filter(|(first, _)| *first & 3 == kind::OBJECT) else {
            return Ok(None);
        };
        let header = Header::of_object(*first);
        let (count, rest) = header.count(rest)?;
        let (ids, rest) = split(rest, count.saturating_mul(header.id))?;
        Ok(Some(Object {
            count,
            ids,
            id_size: header.id,
            start: header.len(count),
            items: Items::parse(rest, count, header.offset)?,
        }))
    }

    /// Returns the number of fields.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no fields.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns where the value of field `i` starts in the object.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the offset is absent.
    pub fn start_of(&self, i: usize) -> Result<usize> {
        Ok(self.start.saturating_add(number(self.items.offsets, i, self.items.size)?))
    }

    /// Returns the number of the name of field `i`, in the order of the names, and its value.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such field, [`Kind::Truncated`] if its value ends early.
    pub fn field(&self, i: usize) -> Result<(usize, &'a [u8])> {
        if i >= self.count {
            return Err(bad(Kind::OutOfRange, i));
        }
        Ok((number(self.ids, i, self.id_size)?, self.items.value(i)?))
    }
}

/// The items of an array.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    count: usize,
    items: Items<'a>,
}

impl<'a> Array<'a> {
    /// Parses the array at the start of `value`. Returns `None` if the value is no array.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if the array ends early.
    pub fn parse(value: &'a [u8]) -> Result<Option<Self>> {
        let Some((first, rest)) = value.split_first().filter(|(first, _)| *first & 3 == kind::ARRAY) else {
            return Ok(None);
        };
        let header = Header::of_array(*first);
        let (count, rest) = header.count(rest)?;
        Ok(Some(Array { count, items: Items::parse(rest, count, header.offset)? }))
    }

    /// Returns the number of items.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns item `i`.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if there is no such item, [`Kind::Truncated`] if it ends early.
    pub fn item(&self, i: usize) -> Result<&'a [u8]> {
        if i >= self.count {
            return Err(bad(Kind::OutOfRange, i));
        }
        self.items.value(i)
    }
}

/// Contiguous values, and their offsets.
#[derive(Clone, Copy, Debug)]
struct Items<'a> {
    offsets: &'a [u8],
    size: usize,
    values: &'a [u8],
}

impl<'a> Items<'a> {
    fn parse(bytes: &'a [u8], count: usize, size: usize) -> Result<Self> {
        let (offsets, values) = split(bytes, count.saturating_add(1).saturating_mul(size))?;
        let end = number(offsets, count, size)?;
        Ok(Items { offsets, size, values: split(values, end)?.0 })
    }

    /// Returns value `i`.
    fn value(&self, i: usize) -> Result<&'a [u8]> {
        let start = number(self.offsets, i, self.size)?;
        let from = self.values.get(start..).ok_or_else(|| bad(Kind::Truncated, start))?;
        Ok(split(from, len_of(from)?)?.0)
    }
}

/// Returns the length in bytes of the value at the start of `bytes`. Values inside of it are not checked.
///
/// # Errors
/// [`Kind::Truncated`] if the value ends early, [`Kind::Unsupported`] for a primitive of an unknown type.
pub fn len_of(bytes: &[u8]) -> Result<usize> {
    let (first, rest) = bytes.split_first().ok_or_else(|| bad(Kind::Truncated, 1))?;
    let inside = match first & 3 {
        kind::PRIMITIVE => primitive::len(first >> 2, rest)?,
        kind::SHORT_TEXT => usize::from(first >> 2),
        more => {
            let header = if more == kind::OBJECT { Header::of_object(*first) } else { Header::of_array(*first) };
            let (count, offsets) = header.count(rest)?;
            let end = number(split(offsets, count.saturating_mul(header.id))?.1, count, header.offset)?;
            return split(bytes, header.len(count).saturating_add(end)).map(|(value, _)| value.len());
        }
    };
    split(rest, inside).map(|(value, _)| value.len().saturating_add(1))
}
