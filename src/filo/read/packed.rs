//! Dense arrays of numbers: packed vectors (section 9.1) and FlatBuffer data vectors (section 6).

use crate::bytes::{LittleEndian, Reader, low32};
use crate::encoding::bitpack::Width;
use crate::encoding::{Word, bitpack};
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{Packing, packing_of_packed};

/// A dense array of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<'a> {
    pub(super) packing: Packing,
    /// Position of the data in the chunk.
    pub(super) at: u32,
    pub(super) data: &'a [u8],
    /// Number of unused bits in the last byte, at most 7. Only packed vectors can have unused bits.
    pub(super) unused: u8,
}

impl<'a> Packed<'a> {
    /// An empty array.
    pub(super) const NONE: Self = Packed { packing: Packing::U8, at: 0, data: &[], unused: 0 };

    /// Opens a packed vector that extends to the end of `r`.
    pub(super) fn open(&mut self, r: &mut Reader<'a, LittleEndian>) -> Result<()> {
        let start = r.at();
        let [low, high, signed, last] = *r.array(What::FILO_PACKED)?;
        let nbits = u16::from_le_bytes([low, high]);
        let Some(packing) = packing_of_packed(nbits, signed != 0) else {
            return Err(Error::needing(Kind::Invalid, What::FILO_PACKED, start, nbits.into()));
        };
        let data = r.rest();
        // `last` is the number of used bits in the last byte; 0 stands for 8. The original ignores it in vectors of 64
        // bits.
        let unused = match last & 7 {
            0 => 0,
            _ if packing == Packing::W64 => 0,
            used => 8u8.saturating_sub(used),
        };
        if data.is_empty() && unused != 0 {
            return Err(Error::needing(Kind::Invalid, What::FILO_PACKED, start.wrapping_add(3), last.into()));
        }
        *self = Packed { packing, at: position(r.at()), data, unused };
        Ok(())
    }

    /// Returns the number of numbers in the data.
    pub(super) fn rows(&self) -> Result<u32> {
        // Opening has checked that there are fewer than 8 unused bits. Widths are powers of two.
        let bits = ((self.data.len() as u64) << 3).wrapping_sub(self.unused.into());
        let rows = bits >> self.packing.bits().trailing_zeros();
        u32::try_from(rows).map_err(|_| Error::needing(Kind::Overflow, What::FILO_ROWS, self.at.into(), rows))
    }

    /// Creates the error for numbers of 64 bits, which are not valid here.
    #[cold]
    pub(super) fn too_wide(&self) -> Error {
        Error::needing(Kind::Invalid, What::FILO_PACKED, self.at.into(), 64)
    }

    /// Checks that the data have at least `rows` numbers.
    pub(super) fn check(&self, rows: u32) -> Result<()> {
        let need = self.packing.bytes(rows as usize);
        if need <= self.data.len() {
            return Ok(());
        }
        Err(Error::needing(Kind::Truncated, What::FILO_DATA, self.at.into(), need as u64))
    }

    /// Returns number `i`, extended to 64 bits, or `None` if it takes [`get`](Self::get).
    #[inline(always)]
    pub(super) fn quick(&self, i: usize) -> Option<u64> {
        Width::known(self.packing)?.get(self.data, i)
    }

    /// Returns number `i`, extended to 64 bits.
    #[cfg_attr(not(pilaster_small), inline)]
    pub(super) fn get(&self, i: usize) -> Result<u64> {
        match bitpack::get(self.packing, self.data, i) {
            Some(word) => Ok(word),
            // Opening has checked the number of rows, so this cannot happen.
            None => Err(Error::new(Kind::Truncated, What::FILO_DATA, self.at.into())),
        }
    }

    /// Decodes numbers starting at `first` until `out` is full.
    pub(super) fn read<W: Word>(&self, first: usize, out: &mut [W]) -> Result<()> {
        bitpack::unpack(self.packing, self.data, first, out)
    }
}

/// Converts a position in a chunk to the 32 bits in which it is stored. Opening has checked that the chunk is shorter
/// than 2 GiB.
pub(super) const fn position(at: u64) -> u32 {
    low32(at)
}
