//! Reads a log, extent by extent.

use embedded_storage_03::nor_flash::NorFlash;

use super::Log;
use super::ring::front;
use super::scan::{self, Found, Front};
use crate::bytes::{Endian, WriteError};
use crate::dataseries::Extent;
use crate::dataseries::write::Compress;
use crate::error::{Error, Kind, What};

/// A position in a log. A new cursor is before the oldest extent.
///
/// [`Log::give_up`] invalidates a cursor: start again with a new one.
///
/// ```
/// use pilaster::bytes::{LittleEndian, Scratch, WriteError};
/// use pilaster::column::Part as _;
/// use pilaster::dataseries::flash::{Cursor, Log, Ring};
/// use pilaster::dataseries::write::{Descriptions, ExtentBuffer, Memory, Stored};
/// use pilaster::dataseries::{ReadOptions, record};
/// # use embedded_storage_03 as embedded_storage;
/// # use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
/// # struct Ram([u8; 4096]);
/// # impl ErrorType for Ram {
/// #     type Error = core::convert::Infallible;
/// # }
/// # impl ReadNorFlash for Ram {
/// #     const READ_SIZE: usize = 1;
/// #     fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
/// #         bytes.copy_from_slice(&self.0[at as usize..][..bytes.len()]);
/// #         Ok(())
/// #     }
/// #     fn capacity(&self) -> usize {
/// #         self.0.len()
/// #     }
/// # }
/// # impl NorFlash for Ram {
/// #     const WRITE_SIZE: usize = 4;
/// #     const ERASE_SIZE: usize = 1024;
/// #     fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
/// #         self.0[from as usize..to as usize].fill(0xff);
/// #         Ok(())
/// #     }
/// #     fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), Self::Error> {
/// #         self.0[at as usize..][..bytes.len()].copy_from_slice(bytes);
/// #         Ok(())
/// #     }
/// # }
///
/// record! {
///     struct Tick = "Tick" { time: int64 relative }
/// }
///
/// let mut flash = Ram([0xff; 4096]); // An `embedded_storage::nor_flash::NorFlash`.
/// let ring = Ring { start: 0, segment: 1024, segments: 4 };
/// let (types, mut page, mut memory) = (Descriptions::of::<Tick>(), [0; 64], [0; 80]);
/// let mut log = Log::<LittleEndian, _, _>::mount(&mut flash, ring, types, Stored, &mut page)?;
/// let mut extent = ExtentBuffer::of::<Tick>(Memory::rows(&mut memory))?;
/// for time in 0..25 {
///     log.push(&mut extent, &Tick { time })?; // Flushes after every tenth row.
/// }
///
/// // After a reset, all but the five rows that were not flushed are in the log.
/// let mut log = Log::<LittleEndian, _, _>::mount(&mut flash, ring, types, Stored, &mut page)?;
/// let (mut cursor, mut bytes, mut unpacked, mut rows) = (Cursor::new(), [0; 256], [0; 256], 0);
/// while let Some(extent) = log.next_extent(&mut cursor, &mut bytes)? {
///     let part = extent.unpack_as::<Tick>(&ReadOptions::DEFAULT, &mut Scratch::new(&mut unpacked))?;
///     rows += part.rows();
/// }
/// assert_eq!((rows, cursor.torn()), (20, 0));
/// # Ok::<(), WriteError<core::convert::Infallible>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cursor {
    /// Number of segments that were read to the end.
    passed: u32,
    /// Offset in the flash, in the next segment; 0 if the front of that segment was not checked yet.
    at: u32,
    torn: u32,
}

impl Cursor {
    /// Creates a cursor before the oldest extent.
    #[must_use]
    pub const fn new() -> Self {
        Cursor { passed: 0, at: 0, torn: 0 }
    }

    /// The number of segments read so far that end with incomplete bytes, as a power cut leaves them.
    #[must_use]
    pub const fn torn(&self) -> u32 {
        self.torn
    }
}

impl<E: Endian, F: NorFlash, C: Compress> Log<'_, E, F, C> {
    /// Reads the next intact extent into `memory`. Returns `None` after the newest extent. Rows that were
    /// not flushed are not read. Offsets in the extent are offsets in the flash.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if `memory` is shorter than the extent; `need` is the size of the extent in bytes, and
    /// the cursor stays. [`Kind::Misuse`] at a segment with other types, as an older firmware leaves it; the
    /// cursor moves to the next segment. Errors of the flash.
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
