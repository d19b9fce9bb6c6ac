//! NA masks: 1 = the row is missing (sections 7 and 9.2).

use crate::bytes::{Bits, Scratch};
use crate::column::Validity;
use crate::error::Result;

/// The missing rows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mask<'a> {
    /// No row is missing.
    None,
    /// All rows are missing.
    All,
    /// A bitmap of missing rows, 1 = missing; rows after the last bit have a value. The format's 64-bit little-endian
    /// words are read as bytes: row `i` is bit `i & 7` of byte `i >> 3`.
    Words(&'a [u8]),
}

impl<'a> Mask<'a> {
    #[inline]
    pub(super) fn is_na(self, row: usize) -> bool {
        match self {
            Mask::None => false,
            Mask::All => true,
            Mask::Words(bytes) => bytes.get(row >> 3).is_some_and(|byte| byte >> (row & 7) & 1 == 1),
        }
    }

    /// Returns an upper bound of the scratch size in bytes that [`validity`](Self::validity) takes.
    pub(super) fn need(self, rows: u64) -> u64 {
        match self {
            Mask::Words(_) => validity_need(rows),
            _ => 0,
        }
    }

    /// Returns the validity of `len` rows starting at `first`: `All` if none of them is missing.
    pub(super) fn validity<'s>(self, first: usize, len: usize, scratch: &mut Scratch<'s>) -> Result<Validity<'s>>
    where
        'a: 's,
    {
        let bytes = match self {
            Mask::None => return Ok(Validity::All),
            Mask::All => return Ok(Validity::None),
            Mask::Words(bytes) => bytes.get(first >> 3..).unwrap_or_default(),
        };
        let bit = first & 7;
        let size = bit.saturating_add(len).div_ceil(8);
        let bytes = bytes.get(..size).unwrap_or(bytes);
        let valid = scratch.take::<u8>(size)?;
        let mut any = 0;
        let mut rest = valid.iter_mut();
        // `rest` must be the second iterator, because `zip` takes an item from the first before it finds that the
        // second has ended.
        for (na, valid) in bytes.iter().zip(rest.by_ref()) {
            *valid = !na;
            any |= na;
        }
        rest.for_each(|valid| *valid = 0xff);
        if any == 0 {
            return Ok(Validity::All);
        }
        Ok(Validity::Bits(Bits::new(valid, bit, len)?))
    }
}

/// Returns an upper bound of the size in bytes of a bitmap of `rows` rows that starts inside a byte.
pub(super) const fn validity_need(rows: u64) -> u64 {
    (rows >> 3).saturating_add(2)
}
