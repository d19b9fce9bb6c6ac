//! The header of an object or array, in both directions.

use super::{bad, kind, number, split};
use crate::bytes::low8;
use crate::error::{Kind, Result};

/// The sizes of the numbers in the header of an object or array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Size of the count in bytes, 1 or 4.
    count: usize,
    /// Size of the number of a name in bytes, 1 to 4; 0 in an array.
    pub(super) id: usize,
    /// Size of an offset in bytes, 1 to 4.
    pub(super) offset: usize,
}

/// Returns the number of bytes that hold a number.
const fn size_of(number: u32) -> usize {
    match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

/// Returns the size in the lowest two bits, in bytes.
const fn size(bits: u8) -> usize {
    ((bits & 3) as usize).wrapping_add(1)
}

/// Returns the size of the count in bytes, which the lowest bit tells.
const fn size_of_count(bits: u8) -> usize {
    if bits & 1 == 1 { 4 } else { 1 }
}

impl Header {
    /// Maximum size in bytes of a header without its names and offsets, which have up to 4 bytes each.
    pub const MOST: usize = 9;

    /// Returns the smallest header for `count` items of `len` bytes in all. `id`: the largest number of a name, or `None`
    /// for an array.
    #[must_use]
    pub const fn smallest(count: u32, id: Option<u32>, len: u32) -> Self {
        let id = match id {
            Some(id) => size_of(id),
            None => 0,
        };
        Header { count: if count > 0xff { 4 } else { 1 }, id, offset: size_of(len) }
    }

    /// Returns the header of the object with this first byte.
    pub(super) const fn of_object(first: u8) -> Self {
        Header { count: size_of_count(first >> 6), id: size(first >> 4), offset: size(first >> 2) }
    }

    /// Returns the header of the array with this first byte.
    pub(super) const fn of_array(first: u8) -> Self {
        Header { count: size_of_count(first >> 4), id: 0, offset: size(first >> 2) }
    }

    /// Returns the number of items, and the bytes after it.
    pub(super) fn count<'a>(&self, bytes: &'a [u8]) -> Result<(usize, &'a [u8])> {
        let (count, rest) = split(bytes, self.count)?;
        Ok((number(count, 0, self.count)?, rest))
    }

    /// Returns the size in bytes of the header of `count` items: the first byte, the count, names and offsets.
    #[must_use]
    pub const fn len(&self, count: usize) -> usize {
        let offsets = count.saturating_add(1).saturating_mul(self.offset);
        count.saturating_mul(self.id).saturating_add(offsets).saturating_add(self.count).saturating_add(1)
    }

    const fn first(&self) -> u8 {
        let offset = low8(self.offset.wrapping_sub(1));
        let large = (self.count == 4) as u8;
        match self.id {
            0 => kind::ARRAY | offset << 2 | large << 4,
            id => kind::OBJECT | offset << 2 | low8(id.wrapping_sub(1)) << 4 | large << 6,
        }
    }

    /// Writes the header of items with `names` and `offsets`. The last offset is the end of the last item in memory.
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] with the length of the header if `to` is shorter.
    pub fn write(
        &self,
        count: u32,
        names: impl Iterator<Item = u32>,
        offsets: impl Iterator<Item = u32>,
        to: &mut [u8],
    ) -> Result<usize> {
        let len = self.len(count as usize);
        let to = to.get_mut(..len).ok_or_else(|| bad(Kind::NoRoom, len))?;
        let numbers = core::iter::once((u32::from(self.first()), 1)).chain(core::iter::once((count, self.count)));
        let numbers = numbers.chain(names.map(|id| (id, self.id))).chain(offsets.map(|offset| (offset, self.offset)));
        let mut rest = to;
        for (number, size) in numbers {
            let Some((place, after)) = core::mem::take(&mut rest).split_at_mut_checked(size) else { break };
            for (to, byte) in place.iter_mut().zip(number.to_le_bytes()) {
                *to = byte;
            }
            rest = after;
        }
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_read_back() {
        for (count, id, len) in
            [(0, Some(0), 0), (3, Some(300), 70_000), (256, Some(0xff_ffff), 20_000_000), (255, None, 255)]
        {
            let header = Header::smallest(count, id, len);
            let first = header.first();
            assert_eq!(if id.is_some() { Header::of_object(first) } else { Header::of_array(first) }, header);
        }
        let mut bytes = [0; 7];
        let header = Header::smallest(2, Some(1), 4);
        assert_eq!(header.write(2, [0, 1].into_iter(), [0, 2, 4].into_iter(), &mut bytes), Ok(7));
        assert_eq!(bytes, [0x02, 2, 0, 1, 0, 2, 4]);
        assert_eq!(
            header.write(2, [0, 1].into_iter(), [0, 2, 4].into_iter(), &mut [0; 6]).unwrap_err().kind(),
            Kind::NoRoom
        );
    }
}
