//! Offsets of strings and arrays as they grow: narrow until they no longer fit.

use alloc::vec::Vec;

use crate::error::Result;
use crate::jay::raw::{NA_OFFSET32, NA_OFFSET64};

/// The end of each row so far.
#[derive(Clone, Debug)]
pub(super) enum Ends {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Ends {
    pub(super) fn new() -> Self {
        Ends::Narrow(Vec::from([0]))
    }

    /// The end of the last row, without its flag.
    pub(super) fn last(&self) -> u64 {
        match self {
            Ends::Narrow(ends) => ends.last().map_or(0, |end| u64::from(*end & !NA_OFFSET32)),
            Ends::Wide(ends) => ends.last().map_or(0, |end| *end & !NA_OFFSET64),
        }
    }

    pub(super) const fn is_wide(&self) -> bool {
        matches!(self, Ends::Wide(_))
    }

    /// The next row is so long. `flag`: it is missing, and that is said here.
    #[inline]
    pub(super) fn push(&mut self, len: u64, flag: bool) {
        let end = self.last().saturating_add(len);
        if let Ends::Narrow(ends) = self {
            // Flag and sign leave 31 bits, also to the number of rows.
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

    /// Shows the offsets as they are stored.
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
