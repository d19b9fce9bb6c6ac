//! The log read back, extent by extent.

use embedded_storage_03::nor_flash::NorFlash;

use super::Log;
use super::ring::front;
use super::scan::{self, Found, Front};
use crate::bytes::{Endian, WriteError};
use crate::dataseries::Extent;
use crate::dataseries::write::Compress;
use crate::error::{Error, Kind, What};

/// A place in a log, from its oldest extent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cursor {
    /// Segments that were passed, and the place in the next; 0 before its front.
    passed: u32,
    at: u32,
    torn: u32,
}

impl Cursor {
    /// In front of the oldest extent.
    #[must_use]
    pub const fn new() -> Self {
        Cursor { passed: 0, at: 0, torn: 0 }
    }

    /// Segments so far that ended with something torn, which a power cut leaves.
    #[must_use]
    pub const fn torn(&self) -> u32 {
        self.torn
    }
}

impl<E: Endian, F: NorFlash, C: Compress> Log<'_, E, F, C> {
    /// Reads the next whole extent into `memory`; `None` behind the newest. What was not flushed is not
    /// read. The offsets in it are those of the flash.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] with the bytes of the extent, if `memory` has fewer: then the cursor stays.
    /// [`Kind::Misuse`] at a segment of other types, which an older firmware has written: then the cursor
    /// goes on behind it. Those of the flash.
    pub fn next_extent<'m>(
        &mut self,
        cursor: &mut Cursor,
        memory: &'m mut [u8],
    ) -> Result<Option<Extent<'m, E>>, WriteError<F::Error>> {
        while cursor.passed < self.live {
            let back = self.live.saturating_sub(cursor.passed).saturating_sub(1);
            let k = self.ring.before(self.newest, back);
            let (start, end) = (self.ring.at(k), self.ring.end(k));
            let types = self.types;
            let flash = self.flash();
            if cursor.at == 0 {
                let file = start.wrapping_add(front::<F>());
                match scan::front::<E, F>(flash, file, end, types)? {
                    Front::Whole(at) => cursor.at = at,
                    Front::Others => {
                        cursor.pass(false);
                        return Err(Error::new(Kind::Misuse, What::DATASERIES_TYPE, start.into()).into());
                    }
                    Front::Erased => cursor.pass(false),
                    Front::Torn => cursor.pass(true),
                }
                continue;
            }
            match scan::extent::<E, F>(flash, cursor.at, end)? {
                Found::Extent(header) => {
                    let len = header.span().len;
                    let memory = usize::try_from(len).ok().and_then(|len| memory.get_mut(..len));
                    let Some(memory) = memory else {
                        return Err(Error::needing(Kind::NoRoom, What::DESTINATION, cursor.at.into(), len).into());
                    };
                    flash.read(cursor.at, memory).map_err(WriteError::Sink)?;
                    let extent = Extent::of(memory, cursor.at.into())?;
                    cursor.at = scan::after::<F>(&header);
                    return Ok(Some(extent));
                }
                Found::Erased => cursor.pass(false),
                Found::Torn => cursor.pass(true),
            }
        }
        Ok(None)
    }
}

impl Cursor {
    fn pass(&mut self, torn: bool) {
        (self.passed, self.at) = (self.passed.saturating_add(1), 0);
        self.torn = self.torn.saturating_add(u32::from(torn));
    }
}
