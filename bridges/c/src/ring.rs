//! The log ring in NOR flash.

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};
use pilaster::bytes::{NativeEndian, WriteError};
use pilaster::dataseries::flash::{Cursor, Log, Ring};
use pilaster::error::{Error, Kind, What};

use crate::compress::{Codec, codec};
use crate::dataseries::{CType, Entry, Extent, types};
use crate::error::Failure;
use crate::place::Bounds;
use crate::raw::{At, Flash, In, Items, Marked, Out, Region, Text, exports, lend};

/// Size of a word of the flash in bytes, the largest of those that divide it: `PILASTER_FLASH_WORD`.
const WORD: usize = if cfg!(feature = "word-32") {
    32
} else if cfg!(feature = "word-16") {
    16
} else if cfg!(feature = "word-8") {
    8
} else {
    4
};

/// The log of a device.
type DeviceLog = Log<'static, NativeEndian, Flash, Codec>;

/// The log of a device, and where its memory lies.
#[derive(Debug)]
pub struct RingLog {
    log: DeviceLog,
    entries: Items<Entry>,
    table: Region,
    packed: Region,
    page: Region,
}

impl RingLog {
    /// The bounds of the buffers of the caller.
    fn places(&self) -> [Bounds; 4] {
        [self.entries.0.bounds(self.entries.1), self.table.bounds(), self.packed.bounds(), self.page.bounds()]
    }
}

impl Marked for RingLog {
    const MARK: u32 = 0x7a6c_0003;
}

impl Marked for Cursor {
    const MARK: u32 = 0x7a6c_0004;
}

/// A function of the flash has failed, with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed(i32);

impl NorFlashError for Failed {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

/// Returns the result of a function. `None` is a null pointer.
fn done(code: Option<i32>) -> Result<(), Failed> {
    match code {
        Some(0) => Ok(()),
        code => Err(Failed(code.unwrap_or(i32::MIN))),
    }
}

impl ErrorType for Flash {
    type Error = Failed;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), Failed> {
        done(Flash::read(self, at, bytes))
    }

    fn capacity(&self) -> usize {
        self.capacity as usize
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = WORD;
    // `Config::ring` checks that segments consist of erase units.
    const ERASE_SIZE: usize = WORD;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failed> {
        done(Flash::erase(self, from, to))
    }

    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), Failed> {
        done(Flash::write(self, at, bytes))
    }
}

impl From<WriteError<Failed>> for Failure {
    fn from(e: WriteError<Failed>) -> Self {
        match e {
            WriteError::Format(e) => e.into(),
            WriteError::Sink(Failed(code)) => Failure::caller(code),
        }
    }
}

/// `pilaster_ring_config`: what a log is kept in.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Config {
    /// The flash.
    pub flash: Flash,
    /// Offset of the first segment.
    pub start: u32,
    /// Size of a segment in bytes.
    pub segment: u32,
    /// Number of segments.
    pub segments: u32,
    /// Number of types.
    pub type_count: u32,
    /// The types, in ascending order of their names.
    pub types: In<In<CType>>,
    /// Memory for as many entries as types.
    pub entries: Out<Entry>,
    /// The compressor.
    pub mode: u32,
    /// Zero.
    pub zero: u32,
    /// Memory of the compressor: its table.
    pub table: Region,
    /// Memory of the compressor: its output.
    pub packed: Region,
    /// Memory that gathers the bytes of a write: whole words.
    pub page: Region,
}

impl Config {
    /// The ring, which must consist of whole units, of words that this build can write.
    fn ring(&self) -> Result<Ring, Failure> {
        let Config { flash, start, segment, segments, .. } = *self;
        let whole = |n: u32| n.checked_rem(flash.erase_size) == Some(0);
        let words = u32::try_from(WORD).ok().and_then(|word| word.checked_rem(flash.word)) == Some(0);
        if flash.read.is_none() || flash.write.is_none() || flash.erase.is_none() || !words {
            return Err(Failure::too_short(2, WORD as u32));
        }
        if !whole(start) || !whole(segment) {
            return Err(Error::needing(Kind::Misuse, What::FLASH_REGION, start.into(), flash.erase_size.into()).into());
        }
        Ok(Ring { start, segment, segments })
    }

    fn mount(self, own: Bounds) -> Result<RingLog, Failure> {
        let ring = self.ring()?;
        let Config { flash, type_count, types, entries, mode, table, packed, page, .. } = self;
        let count = type_count as usize;
        let (read, items) = (types.bounds(count), (entries, count));
        let lent = lend(own, read, items, table.items(), packed.items(), page.items(), 2)?;
        let types = self::types(types, lent.0, 2)?;
        let log = Log::mount(flash, ring, types, codec(mode, lent.1, lent.2)?, lent.3)?;
        Ok(RingLog { log, entries: items, table, packed, page })
    }
}

/// `pilaster_ring_counts`: how full a ring is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counts {
    /// Number of segments that hold the log.
    pub segments: u32,
    /// Number of segments that were begun since the log exists.
    pub begun: u32,
}

exports! {
    /// Finds the log in the flash, and where it continues.
    fn pilaster_ring_mount(ring: At<RingLog>, config: In<Config>) {
        ring.place(1, || config.load(2)?.mount(ring.bounds()))
    }

    /// Adds a row.
    fn pilaster_ring_row(ring: At<RingLog>, rows: At<Extent>, record: In<u8>, len: usize, texts: In<Text>, count: usize) {
        let (record, texts) = (record.items(len, 3)?, texts.items(count, 5)?);
        for text in texts {
            text.bytes(5)?;
        }
        let texts = texts.iter().map(|text| text.bytes(5).unwrap_or_default());
        ring.with(1, |ring| rows.with(2, |extent| Ok(ring.log.push_foreign(extent, record, texts)?)))
    }

    /// Writes the rows of an extent.
    fn pilaster_ring_flush(ring: At<RingLog>, rows: At<Extent>) {
        ring.with(1, |ring| rows.with(2, |extent| Ok(ring.log.flush(extent)?)))
    }

    /// Gives up the oldest segment.
    fn pilaster_ring_give_up(ring: At<RingLog>) {
        ring.with(1, |ring| {
            ring.log.give_up();
            Ok(())
        })
    }

    /// Returns how full the ring is.
    fn pilaster_ring_count(ring: At<RingLog>, counts: Out<Counts>) {
        let now = |ring: &mut RingLog| Ok(Counts { segments: ring.log.segments(), begun: ring.log.begun() });
        counts.tell(ring.with(1, now)?, 2)
    }

    /// Places a cursor before the oldest extent.
    fn pilaster_ring_begin(cursor: At<Cursor>) {
        cursor.place(1, || Ok(Cursor::new()))
    }

    /// Reads the next extent; its length is 0 after the newest.
    fn pilaster_ring_next(ring: At<RingLog>, cursor: At<Cursor>, to: Out<u8>, room: usize, len: Out<usize>) {
        len.tell(0, 5)?;
        let states = [ring.bounds(), cursor.bounds(), len.bounds(1)];
        let read = |ring: &mut RingLog, cursor: &mut Cursor| {
            to.apart(room, &states, 3)?;
            let memory = to.apart(room, &ring.places(), 3)?;
            Ok(match ring.log.next_extent(cursor, memory)? {
                Some(extent) => extent.bytes()?.len(),
                None => 0,
            })
        };
        let found = ring.with(1, |ring| cursor.with(2, |cursor| read(ring, cursor)))?;
        len.tell(found, 5)
    }
}
