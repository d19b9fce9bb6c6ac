//! A growing list of offsets of strings or arrays: 32 bits wide until an offset no longer fits.

use alloc::vec::Vec;

use crate::error::Result;
use crate::jay::raw::{NA_OFFSET32, NA_OFFSET64};

/// Offset 0, then the end of each row so far.
#[derive(Clone, Debug)]
pub(super) enum Ends {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Ends {
    pub(super) fn new() -> Self {
        Ends::Narrow(Vec::from([0]))
    }

    /// Returns the end of the last row, without its flag.
    pub(super) fn last(&self) -> u64 {
        match self {
            Ends::Narrow(ends) => ends.last().map_or(0, |end| u64::from(*end & !NA_OFFSET32)),
            Ends::Wide(ends) => ends.last().map_or(0, |end| *end & !NA_OFFSET64),
        }
    }

    pub(super) const fn is_wide(&self) -> bool {
        matches!(self, Ends::Wide(_))
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
        if let Ends::Wide(ends) = self {
            ends.push(if flag { end | NA_OFFSET64 } else { end });
        }
    }

    /// Appends rows between `offsets`, none of which is missing. Returns false, without a change, if they do not ascend
    /// or 64-bit offsets are needed.
    pub(super) fn extend(&mut self, offsets: &[u32]) -> bool {
        let last = self.last();
        let (Ends::Narrow(ends), [first, rest @ ..]) = (self, offsets) else { return false };
        let descends = offsets.iter().zip(rest).fold(false, |any, (start, end)| any | (start > end));
        let span = rest.last().unwrap_or(first).saturating_sub(*first);
        let (Ok(last), rows) = (u32::try_from(last), ends.len().saturating_add(rest.len())) else { return false };
        if descends || u64::from(last).saturating_add(span.into()) >= NA_OFFSET32.into() || rows > NA_OFFSET32 as usize
        {
            return false;
        }
        let shift = last.wrapping_sub(*first);
        ends.extend(rest.iter().map(|end| end.wrapping_add(shift)));
        true
    }

    /// Passes the bytes of the offsets as stored to `put`.
    pub(super) fn put<E>(&self, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Ends::Narrow(ends) if cfg!(target_endian = "little") => put(bytemuck::must_cast_slice(ends)),
            Ends::Wide(ends) if cfg!(target_endian = "little") => put(bytemuck::must_cast_slice(ends)),
            Ends::Narrow(ends) => ends.iter().try_for_each(|end| put(&end.to_le_bytes())),
            Ends::Wide(ends) => ends.iter().try_for_each(|end| put(&end.to_le_bytes())),
        }
    }
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
