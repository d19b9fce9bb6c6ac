//! NOR flash as a sink: `embedded_storage::nor_flash`, version 0.3.

use core::ops::Range;

use embedded_storage_03::nor_flash::NorFlash;

use super::{Sink, WriteError};
use crate::bytes::len32;
use crate::error::{Error, Kind, Result, What};

/// Puts bytes into erased flash, front to back.
///
/// Flash is written in whole words, each at most once between two erases. The sink therefore gathers bytes in a
/// caller-provided page of at least one word; a longer page means fewer writes. Bytes in the page are not in the flash
/// before [`sync`](Self::sync), or [`flush`](Sink::flush), which leaves an incomplete word in the page.
///
/// ```
/// use embedded_storage::nor_flash::NorFlash;
/// use pilaster::bytes::{FlashSink, Sink, WriteError};
///
/// /// Stores `chunk` in the first erase unit; returns the offset of the first free word after it.
/// fn store<F: NorFlash>(flash: &mut F, chunk: &[u8]) -> Result<u32, WriteError<F::Error>> {
///     flash.erase(0, 4096).map_err(WriteError::Sink)?;
///     let mut page = [0; 64];
///     let mut sink = FlashSink::new(flash, 0..4096, &mut page)?;
///     sink.put(chunk)?;
///     sink.sync()?;
///     Ok(sink.at())
/// }
/// # use embedded_storage_03 as embedded_storage;
/// # use embedded_storage::nor_flash::{ErrorType, ReadNorFlash};
/// # struct Ram([u8; 4096]);
/// # impl ErrorType for Ram {
/// #     type Error = core::convert::Infallible;
/// # }
/// # impl ReadNorFlash for Ram {
/// #     const READ_SIZE: usize = 1;
/// #     fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
/// #         Ok(bytes.copy_from_slice(&self.0[at as usize..][..bytes.len()]))
/// #     }
/// #     fn capacity(&self) -> usize { 4096 }
/// # }
/// # impl NorFlash for Ram {
/// #     const WRITE_SIZE: usize = 4;
/// #     const ERASE_SIZE: usize = 4096;
/// #     fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
/// #         Ok(self.0[from as usize..to as usize].fill(0xff))
/// #     }
/// #     fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), Self::Error> {
/// #         Ok(self.0[at as usize..][..bytes.len()].copy_from_slice(bytes))
/// #     }
/// # }
///
/// // A simulated flash with words of 4 bytes.
/// let mut flash = Ram([0; 4096]);
/// assert_eq!(store(&mut flash, b"abcde")?, 8);
/// assert_eq!(flash.0[..8], *b"abcde\xff\xff\xff");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FlashSink<'p, F> {
    flash: F,
    page: &'p mut [u8],
    /// Number of bytes in the page.
    filled: usize,
    /// Flash offset of the first byte of the page.
    at: u32,
    end: u32,
}

impl<'p, F: NorFlash> FlashSink<'p, F> {
    /// Creates a sink over `range` of the flash, in bytes. The range must be erased.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if the page is shorter than a word (`need`: the size of a word in bytes); [`Kind::Misuse`] if
    /// an end of the range is not a multiple of the word size, or is outside the flash.
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

    /// Returns the flash.
    #[cfg(feature = "dataseries")]
    pub(crate) const fn flash(&mut self) -> &mut F {
        &mut self.flash
    }

    /// Returns the flash offset of the next byte.
    #[must_use]
    pub const fn at(&self) -> u32 {
        self.at.wrapping_add(len32(self.filled))
    }

    /// Continues in another range of whole words. Bytes that were not synced are dropped.
    #[cfg(feature = "dataseries")]
    pub(crate) fn go_to(&mut self, range: Range<u32>) {
        (self.at, self.end, self.filled) = (range.start, range.end, 0);
    }

    /// Writes the gathered bytes. The rest of an incomplete word stays erased (0xFF), and the next byte goes to the
    /// word after it.
    ///
    /// # Errors
    /// Errors of the flash.
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
    /// [`Kind::NoRoom`] if `bytes` do not fit into the range; nothing is put then. Errors of the flash.
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

    /// Writes the gathered whole words; the bytes of an incomplete one stay in the page.
    ///
    /// # Errors
    /// Errors of the flash.
    fn flush(&mut self) -> Result<(), Self::Error> {
        let rest = self.filled.checked_rem(F::WRITE_SIZE).unwrap_or(0);
        let whole = self.filled.saturating_sub(rest);
        if whole > 0 {
            self.write(whole)?;
            for i in 0..rest {
                let byte = self.page.get(whole.saturating_add(i)).copied();
                if let (Some(to), Some(byte)) = (self.page.get_mut(i), byte) {
                    *to = byte;
                }
            }
            self.filled = rest;
        }
        Ok(())
    }

    fn room(&self) -> u64 {
        self.end.saturating_sub(self.at()).into()
    }
}
