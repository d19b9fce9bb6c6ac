//! A growing list of offsets of strings or arrays: 32 bits wide until an offset no longer fits.

use alloc::vec::Vec;

use crate::column::{Batch, Spans, Validity, VarBytes};
use crate::error::Result;
use crate::jay::raw::{NA_OFFSET32, NA_OFFSET64};
use crate::simd::are_texts;

/// The end of each row so far. The first entry is 0, or the end of the rows before.
#[derive(Clone, Debug)]
pub(super) enum Ends {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
    /// Only counted: the number of offsets, and the end of the last row.
    Counted(u64, u64),
}

impl Ends {
    pub(super) fn new() -> Self {
        Ends::Narrow(Vec::from([0]))
    }

    /// Creates a list that continues after the end `last`.
    pub(super) fn after(last: u64, is_wide: bool) -> Self {
        match u32::try_from(last) {
            Ok(last) if !is_wide => Ends::Narrow(Vec::from([last])),
            _ => Ends::Wide(Vec::from([last])),
        }
    }

    /// Returns the number of offsets.
    const fn len(&self) -> u64 {
        match self {
            Ends::Narrow(ends) => ends.len() as u64,
            Ends::Wide(ends) => ends.len() as u64,
            Ends::Counted(len, _) => *len,
        }
    }

    /// Returns the size in bytes of the offsets as stored.
    pub(super) const fn size(&self) -> u64 {
        self.len().saturating_mul(if self.is_wide() { 8 } else { 4 })
    }

    /// Forgets the offsets if there are more than `most`.
    pub(super) fn bound(&mut self, most: u64) {
        if self.len() > most {
            *self = Ends::Counted(self.len(), self.last());
        }
    }

    /// Returns the end of the last row, without its flag.
    pub(super) fn last(&self) -> u64 {
        match self {
            Ends::Narrow(ends) => ends.last().map_or(0, |end| u64::from(*end & !NA_OFFSET32)),
            Ends::Wide(ends) => ends.last().map_or(0, |end| *end & !NA_OFFSET64),
            Ends::Counted(_, last) => *last,
        }
    }

    pub(super) const fn is_wide(&self) -> bool {
        match self {
            Ends::Narrow(_) => false,
            Ends::Wide(_) => true,
            Ends::Counted(len, last) => *len > NA_OFFSET32 as u64 || *last >= NA_OFFSET32 as u64,
        }
    }

    /// Appends the lengths of strings. Returns the number of missing ones.
    ///
    /// # Errors
    /// [`Kind::Utf8`](crate::error::Kind::Utf8) if a string is not valid UTF-8.
    pub(super) fn append<C>(&mut self, strings: &VarBytes<'_>, batch: &Batch<'_, C>) -> Result<u64> {
        if let (Validity::All, Spans::Off32(offsets)) = (batch.validity, strings.spans)
            && are_text(strings.data, offsets)
            && self.extend(offsets)
        {
            return Ok(0);
        }
        let mut nulls = 0u64;
        for i in 0..batch.len {
            let there = batch.validity.get(i);
            let len = if there { strings.text(i)?.len() as u64 } else { 0 };
            self.push(len, !there);
            nulls = nulls.saturating_add(u64::from(!there));
        }
        Ok(nulls)
    }

    /// Appends a row of length `len`. `flag` marks it as missing.
    #[inline]
    pub(super) fn push(&mut self, len: u64, flag: bool) {
        let end = self.last().saturating_add(len);
        if let Ends::Narrow(ends) = self {
            // One bit is the flag, so 31 bits remain for offsets. The number of rows has the same limit.
            match u32::try_from(end) {
                Ok(end) if end & NA_OFFSET32 == 0 && ends.len() < NA_OFFSET32 as usize => {
                    return ends.push(if flag { end | NA_OFFSET32 } else { end });
                }
                _ => {}
            }
            let wide = |end: &u32| match end & NA_OFFSET32 {
                0 => u64::from(*end),
                _ => u64::from(end & !NA_OFFSET32) | NA_OFFSET64,
            };
            *self = Ends::Wide(ends.iter().map(wide).collect());
        }
        match self {
            Ends::Narrow(_) => {}
            Ends::Wide(ends) => ends.push(if flag { end | NA_OFFSET64 } else { end }),
            Ends::Counted(len, last) => (*len, *last) = (len.saturating_add(1), end),
        }
    }

    /// Appends rows between `offsets`, none of which is missing. Returns false, without a change, if they do not ascend
    /// or 64-bit offsets are needed.
    pub(super) fn extend(&mut self, offsets: &[u32]) -> bool {
        let (last, [first, rest @ ..]) = (self.last(), offsets) else { return false };
        let descends = offsets.iter().zip(rest).fold(false, |any, (start, end)| any | (start > end));
        let span = rest.last().unwrap_or(first).saturating_sub(*first);
        if let (Ends::Counted(len, last), false) = (&mut *self, descends) {
            (*len, *last) = (len.saturating_add(rest.len() as u64), last.saturating_add(span.into()));
            return true;
        }
        let Ends::Narrow(ends) = self else { return false };
        let (Ok(last), rows) = (u32::try_from(last), ends.len().saturating_add(rest.len())) else { return false };
        if descends || u64::from(last).saturating_add(span.into()) >= NA_OFFSET32.into() || rows > NA_OFFSET32 as usize
        {
            return false;
        }
        let shift = last.wrapping_sub(*first);
        ends.extend(rest.iter().map(|end| end.wrapping_add(shift)));
        true
    }

    /// Passes the bytes of the offsets as stored, except the first `skipped`, to `put`.
    pub(super) fn put<E>(&self, skipped: usize, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        fn from<T>(ends: &[T], skipped: usize) -> &[T] {
            ends.get(skipped..).unwrap_or_default()
        }
        match self {
            Ends::Narrow(ends) if cfg!(target_endian = "little") => put(bytemuck::must_cast_slice(from(ends, skipped))),
            Ends::Wide(ends) if cfg!(target_endian = "little") => put(bytemuck::must_cast_slice(from(ends, skipped))),
            Ends::Narrow(ends) => from(ends, skipped).iter().try_for_each(|end| put(&end.to_le_bytes())),
            Ends::Wide(ends) => from(ends, skipped).iter().try_for_each(|end| put(&end.to_le_bytes())),
            Ends::Counted(..) => Ok(()),
        }
    }
}

/// Returns whether the strings at `offsets`, contiguous in `data`, are all valid UTF-8.
fn are_text(data: &[u8], offsets: &[u32]) -> bool {
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return false };
    // A bound before the first one wraps, and is after the end.
    let bounds = offsets.iter().map(|at| at.wrapping_sub(*first) as usize);
    data.get(*first as usize..*last as usize).is_some_and(|bytes| are_texts(bytes, bounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_are_as_one_by_one() {
        let (mut one, mut many) = (Ends::new(), Ends::new());
        for offsets in [&[7, 7, 9, 20][..], &[0], &[3, 1 << 30]] {
            assert!(many.extend(offsets));
            offsets.windows(2).for_each(|pair| one.push((pair[1] - pair[0]).into(), false));
        }
        assert_eq!(std::format!("{one:?}"), std::format!("{many:?}"));
        assert!(!many.extend(&[0, 1 << 30]) && !many.extend(&[2, 1]) && !many.extend(&[]));
    }

    #[test]
    fn offsets_widen_where_they_must() {
        let mut ends = Ends::new();
        ends.push(5, false);
        ends.push(0, true);
        ends.push((1 << 31) - 6, false);
        assert!(!ends.is_wide() && ends.last() == (1 << 31) - 1);
        ends.push(1, false);
        let Ends::Wide(wide) = ends else { panic!("2^31 does not fit") };
        assert_eq!(wide, [0, 5, 5 | 1 << 63, (1 << 31) - 1, 1 << 31]);
    }
}
