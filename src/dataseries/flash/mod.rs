//! A log in NOR flash that survives power cuts: `embedded_storage::nor_flash`, version 0.3.
//!
//! The region is a ring of segments of one or more erase units. A segment is a header, followed by a
//! DataSeries file without index and trailer. A word of the flash has `NorFlash::WRITE_SIZE` bytes.
//!
//! ```text
//!   +0   magic "pseg"              4 bytes
//!    4   number of the segment     u32, little-endian: one more than in the previous segment
//!    8   its complement            u32
//!   12   0xFFFFFFFF                erased, padded to a whole word of the flash
//!        file header, type extent, extents: each begins at a whole word of the flash
//!        0xFF                      erased: the next extent is written here
//! ```
//!
//! If a word of the flash has at most 4 bytes, the bytes after the header of a segment are a valid file:
//! `pilaster cat --no-index` reads them from a dump made with a debugger.
//!
//! # Guarantees
//!
//! * Flushed rows survive a power cut at any moment. No word is written twice between two erases, as flash
//!   with check bits (ECC) requires. A segment with rows is erased only after it was given up.
//! * After a cut, [`Log::mount`] finds the position where writing resumes. If the cut left incomplete bytes
//!   after the last intact extent of a segment, the log skips them and continues in the next segment. So a
//!   cut costs at most the rest of one segment. A segment without an intact extent is used again.
//! * Segments are used in turn, so each erase unit is erased once per round.
//! * A full log is an ordinary result: [`Kind::NoRoom`](crate::error::Kind::NoRoom), and the rows stay in
//!   their extent. To drop the oldest rows instead, call [`Log::give_up`] and flush again.
//!
//! ```
//! use pilaster::bytes::{LittleEndian, WriteError};
//! use pilaster::dataseries::flash::{Log, Ring};
//! use pilaster::dataseries::record;
//! use pilaster::dataseries::write::{Descriptions, ExtentBuffer, Memory, Stored};
//! use pilaster::error::Kind;
//! # use embedded_storage_03 as embedded_storage;
//! # use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
//! # struct Ram([u8; 4096]);
//! # impl ErrorType for Ram {
//! #     type Error = core::convert::Infallible;
//! # }
//! # impl ReadNorFlash for Ram {
//! #     const READ_SIZE: usize = 1;
//! #     fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
//! #         bytes.copy_from_slice(&self.0[at as usize..][..bytes.len()]);
//! #         Ok(())
//! #     }
//! #     fn capacity(&self) -> usize {
//! #         self.0.len()
//! #     }
//! # }
//! # impl NorFlash for Ram {
//! #     const WRITE_SIZE: usize = 4;
//! #     const ERASE_SIZE: usize = 1024;
//! #     fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
//! #         self.0[from as usize..to as usize].fill(0xff);
//! #         Ok(())
//! #     }
//! #     fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), Self::Error> {
//! #         self.0[at as usize..][..bytes.len()].copy_from_slice(bytes);
//! #         Ok(())
//! #     }
//! # }
//!
//! record! {
//!     struct Reading = "Sensor" { time: int64 relative, temp: double scaled 0.01 }
//! }
//!
//! let flash = Ram([0xff; 4096]); // An `embedded_storage::nor_flash::NorFlash`.
//! let (mut page, mut memory) = ([0; 64], [0; 160]);
//! let ring = Ring { start: 0, segment: 1024, segments: 4 };
//! let types = Descriptions::of::<Reading>();
//! let mut log = Log::<LittleEndian, _, _>::mount(flash, ring, types, Stored, &mut page)?;
//! let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(&mut memory))?;
//! for time in 0..200 {
//!     let reading = Reading { time, temp: 21.5 };
//!     match log.push(&mut extent, &reading) {
//!         // The log is full: drop the oldest rows.
//!         Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom => {
//!             log.give_up();
//!             log.push(&mut extent, &reading)?;
//!         }
//!         done => done?,
//!     }
//! }
//! log.flush(&mut extent)?;
//! assert_eq!((log.segments(), log.begun()), (4, 7), "three of seven segments were given up");
//! # Ok::<(), WriteError<core::convert::Infallible>>(())
//! ```

mod cursor;
mod log;
mod ring;
mod scan;

pub use cursor::Cursor;
pub use log::Log;
pub use ring::Ring;
