//! A log in NOR flash that loses power and goes on: `embedded_storage::nor_flash`, version 0.3.
//!
//! The region is a ring of segments of one or more erase units. A segment is a header and, behind it, a
//! DataSeries file without index and trailer:
//!
//! ```text
//!   +0   magic "pseg"              4 bytes
//!    4   number of the segment     u32, little-endian: one more than that of the segment before
//!    8   its complement            u32
//!   12   0xFFFFFFFF                erased, and so on to a whole word of the flash
//!        file header, type extent, extents: each begins at a whole word of the flash
//!        0xFF                      erased: here the log goes on
//! ```
//!
//! Where a word of the flash has at most 4 bytes, the bytes behind a segment's header are a file as it is:
//! dumped with a debugger, `pilaster cat --no-index` reads them.
//!
//! # What holds
//!
//! * What was flushed stays, whatever is cut off at whatever moment. No word is written twice between two
//!   erases, which flash with check bits (ECC) wants, and no segment is erased before it was given up.
//! * After a cut, [`Log::mount`] finds where the log goes on. What a cut left behind a segment's last whole
//!   extent is passed over, and the log goes on in the next segment: so a cut costs at most the rest of one
//!   segment. A segment without a whole extent is used again.
//! * Segments are used in turn, so each erase unit is erased once per round.
//! * A full log is an ordinary result: [`Kind::NoRoom`](crate::error::Kind::NoRoom), and the rows are still
//!   in their extent. Whoever would rather lose the oldest rows calls [`Log::give_up`], and flushes again.
//!
//! ```
//! use embedded_storage::nor_flash::NorFlash;
//! use pilaster::bytes::{LittleEndian, WriteError};
//! use pilaster::dataseries::flash::{Log, Ring};
//! use pilaster::dataseries::record;
//! use pilaster::dataseries::write::{Descriptions, ExtentBuffer, Memory, Stored};
//! use pilaster::error::Kind;
//!
//! record! {
//!     /// What the sensor says.
//!     struct Reading = "Sensor" namespace "example.org" version 1.0 {
//!         time: int64 relative,
//!         temp: double scaled 0.01,
//!     }
//! }
//!
//! fn run<F: NorFlash>(flash: F, sensor: impl Iterator<Item = Reading>) -> Result<(), WriteError<F::Error>> {
//!     let (mut page, mut memory) = ([0; 64], [0; 512]);
//!     let ring = Ring { start: 0, segment: 16 << 10, segments: 8 };
//!     let types = Descriptions::of::<Reading>();
//!     let mut log = Log::<LittleEndian, _, _>::mount(flash, ring, types, Stored, &mut page)?;
//!     let mut extent = ExtentBuffer::of::<Reading>(Memory::rows(&mut memory))?;
//!     for reading in sensor {
//!         match log.push(&mut extent, &reading) {
//!             // Full: the oldest rows go.
//!             Err(WriteError::Format(e)) if e.kind() == Kind::NoRoom => {
//!                 log.give_up();
//!                 log.push(&mut extent, &reading)?;
//!             }
//!             done => done?,
//!         }
//!     }
//!     log.flush(&mut extent)
//! }
//! # use embedded_storage_03 as embedded_storage;
//! ```

mod cursor;
mod log;
mod ring;
mod scan;

pub use cursor::Cursor;
pub use log::Log;
pub use ring::Ring;
