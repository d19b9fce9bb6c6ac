//! The positions of segments, and the header that numbers them.

use embedded_storage_03::nor_flash::{NorFlash, ReadNorFlash};

use crate::bytes::{WriteError, len32};
use crate::dataseries::raw::{SEGMENT_HEADER_LEN, segment_number};
use crate::error::{Error, Kind, Result, What};

/// The region of the flash that a log uses: contiguous segments of equal size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ring {
    /// Offset of the first segment, a multiple of the erase size.
    pub start: u32,
    /// Size of a segment in bytes: one or more erase units. Each segment begins with the descriptions of the types.
    pub segment: u32,
    /// Number of segments, at least 2.
    pub segments: u32,
}

impl Ring {
    /// Checks that the ring consists of whole erase units of the flash.
    pub(super) fn check<F: NorFlash>(&self, flash: &F) -> Result<()> {
        let Ring { start, segment, segments } = *self;
        let whole = |n: u32| (n as usize).checked_rem(F::ERASE_SIZE) == Some(0);
        let end = segment.checked_mul(segments).and_then(|len| len.checked_add(start));
        let fits = end.is_some_and(|end| end as usize <= flash.capacity());
        // Reads begin and end at multiples of 4, writes at words.
        let words = 4usize.checked_rem(F::READ_SIZE) == Some(0) && F::ERASE_SIZE.checked_rem(F::WRITE_SIZE) == Some(0);
        if segments < 2 || segment <= front::<F>() || !whole(start) || !whole(segment) || !fits || !words {
            return Err(Error::new(Kind::Misuse, What::FLASH_REGION, start.into()));
        }
        Ok(())
    }

    /// The start of segment `k`. It does not wrap: `check` ensures that all segments are in the flash.
    pub(super) const fn at(&self, k: u32) -> u32 {
        self.start.wrapping_add(k.wrapping_mul(self.segment))
    }

    /// The end of segment `k`.
    pub(super) const fn end(&self, k: u32) -> u32 {
        self.at(k).wrapping_add(self.segment)
    }

    /// The segment `steps` before segment `k`; `steps` is at most the number of segments.
    pub(super) const fn before(&self, k: u32, steps: u32) -> u32 {
        if steps > k { k.wrapping_add(self.segments).wrapping_sub(steps) } else { k.wrapping_sub(steps) }
    }

    /// The segment after segment `k`.
    pub(super) const fn after(&self, k: u32) -> u32 {
        let next = k.wrapping_add(1);
        if next < self.segments { next } else { 0 }
    }
}

/// Number of bytes before the file of a segment: the header, padded to a word.
pub(super) const fn front<F: NorFlash>() -> u32 {
    align::<F>(len32(SEGMENT_HEADER_LEN))
}

/// Rounds `at` up to a word of the flash.
pub(super) const fn align<F: NorFlash>(at: u32) -> u32 {
    // Extents are multiples of 4 bytes.
    let word = if F::WRITE_SIZE > 4 { len32(F::WRITE_SIZE) } else { 4 };
    at.next_multiple_of(word)
}

/// The number in the segment header at `at`, or `None` without a valid header.
pub(super) fn number<F: ReadNorFlash>(flash: &mut F, at: u32) -> Result<Option<u32>, WriteError<F::Error>> {
    let mut found = [0; SEGMENT_HEADER_LEN];
    flash.read(at, &mut found).map_err(WriteError::Sink)?;
    Ok(segment_number(&found))
}
