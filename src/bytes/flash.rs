//! NOR flash as a sink: `embedded_storage::nor_flash`, version 0.3.

use core::ops::Range;

use embedded_storage_03::nor_flash::NorFlash;

use super::{Sink, WriteError};
use crate::bytes::len32;
use crate::error::{Error, Kind, Result, What};

/// Puts bytes into erased flash, front to back.
///
/// Flash takes whole words, and each but once between two erases. So bytes are gathered in a page of lent
/// memory, at least one word long; the longer it is, the fewer writes there are. What is in the page is not
/// in the flash before [`sync`](Self::sync).
///
/// ```
/// use embedded_storage::nor_flash::NorFlash;
/// use pilaster::bytes::{FlashSink, Sink, WriteError};
///
/// fn keep<F: NorFlash>(flash: &mut F, chunk: &[u8]) -> Result<(), WriteError<F::Error>> {
///     flash.erase(0, 4096).map_err(WriteError::Sink)?;
///     let mut page = [0; 64];
///     let mut sink = FlashSink::new(flash, 0..4096, &mut page)?;
///     sink.put(chunk)?;
///     sink.sync()
/// }
/// # use embedded_storage_03 as embedded_storage;
/// ```
#[derive(Debug)]
pub struct FlashSink<'p, F> {
    flash: F,
    page: &'p mut [u8],
    /// Bytes in the page, and where the page goes.
    filled: usize,
    at: u32,
    end: u32,
}

impl<'p, F: NorFlash> FlashSink<'p, F> {
    /// Over `range` of the flash, which is erased.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] with the bytes of a word, if the page is shorter; [`Kind::Misuse`] if the range is
    /// not one of whole words within the flash.
    pub fn new(flash: F, range: Range<u32>, page: &'p mut [u8]) -> Result<Self> {
        let word = F::WRITE_SIZE.max(1);
        if page.len() < word {
            return Err(Error::needing(Kind::NoRoom, What::SCRATCH, 0, word as u64));
        }
        let whole = page.len().checked_div(word).unwrap_or(0).saturating_mul(word);
        let page = page.get_mut(..whole).unwrap_or_default();
        let aligned = |at: u32| (at as usize).is_multiple_of(word);
        if !aligned(range.start) || !aligned(range.end) || range.end as usize > flash.capacity() {
            return Err(Error::new(Kind::Misuse, What::FLASH_REGION, range.start.into()));
        }
        Ok(FlashSink { flash, page, filled: 0, at: range.start, end: range.end })
    }

    /// The flash.
    #[cfg(feature = "dataseries")]
    pub(crate) const fn flash(&mut self) -> &mut F {
        &mut self.flash
    }

    /// Where the next byte goes.
    #[must_use]
    pub const fn at(&self) -> u32 {
        self.at.wrapping_add(len32(self.filled))
    }

    /// Goes on elsewhere, in whole words of the flash; what was not synced is forgotten.
    #[cfg(feature = "dataseries")]
    pub(crate) fn go_to(&mut self, range: Range<u32>) {
        (self.at, self.end, self.filled) = (range.start, range.end, 0);
    }

    /// Writes what was gathered. The rest of a word that is begun stays erased, and is passed over.
    ///
    /// # Errors
    /// Those of the flash.
    pub fn sync(&mut self) -> Result<(), WriteError<F::Error>> {
        let len = self.filled.next_multiple_of(F::WRITE_SIZE.max(1));
        self.page.iter_mut().take(len).skip(self.filled).for_each(|byte| *byte = 0xff);
        self.write(len)
    }

    fn write(&mut self, len: usize) -> Result<(), WriteError<F::Error>> {
        let Some(bytes) = self.page.get(..len).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
        self.flash.write(self.at, bytes).map_err(WriteError::Sink)?;
        self.at = self.at.wrapping_add(len32(len));
        self.filled = 0;
        Ok(())
    }
}

impl<F: NorFlash> Sink for FlashSink<'_, F> {
    type Error = WriteError<F::Error>;

    /// # Errors
    /// [`Kind::NoRoom`] if the range ends before, and nothing is put; those of the flash.
    fn put(&mut self, mut bytes: &[u8]) -> Result<(), Self::Error> {
        if bytes.len() as u64 > self.room() {
            let need = u64::from(self.at()).saturating_add(bytes.len() as u64);
            return Err(Error::needing(Kind::NoRoom, What::FLASH_REGION, self.at().into(), need).into());
        }
        loop {
            let room = self.page.get_mut(self.filled..).unwrap_or_default();
            let (now, later) = bytes.split_at_checked(room.len()).unwrap_or((bytes, &[]));
            for (to, byte) in room.iter_mut().zip(now) {
                *to = *byte;
            }
            self.filled = self.filled.saturating_add(now.len());
            if self.filled < self.page.len() {
                return Ok(());
            }
            self.write(self.filled)?;
            bytes = later;
        }
    }

    fn room(&self) -> u64 {
        self.end.saturating_sub(self.at()).into()
    }
}
