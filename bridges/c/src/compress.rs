//! The compressor of a file, chosen when the program runs.

use pilaster::bytes::Scratch;
use pilaster::codec::HashTable;
use pilaster::dataseries::Mode;
use pilaster::dataseries::write::AnyMode;
use pilaster::error::{Error, Kind, What};

use crate::error::Failure;

/// Number of slots of the table of an encoder.
const SLOTS: usize = 256;
// Two bytes a slot, and one that may be lost to alignment.
const _: () = assert!(SLOTS * 2 + 1 == 513, "PILASTER_DS_TABLE_LEN");

/// The modes that are built in.
const MODES: u8 = modes();

const fn modes() -> u8 {
    let mut modes = 0;
    if cfg!(feature = "lz4") {
        modes |= Mode::Lz4.bit();
    }
    if cfg!(feature = "lzf") {
        modes |= Mode::Lzf.bit();
    }
    if cfg!(feature = "snappy") {
        modes |= Mode::Snappy.bit();
    }
    modes
}

/// A compressor and its memory.
pub type Codec = AnyMode<'static, SLOTS, MODES>;

/// Creates the compressor with number `mode`, as the format numbers them. `table` and `out` are its memory.
pub fn codec(mode: u32, table: &'static mut [u8], out: &'static mut [u8]) -> Result<Codec, Failure> {
    if mode == 0 {
        return Ok(Codec::stored());
    }
    let unknown = || Error::needing(Kind::Unsupported, What::DATASERIES_MODE, 0, mode.into());
    let mode = u8::try_from(mode).ok().and_then(Mode::of_id).ok_or_else(unknown)?;
    Ok(Codec::new(mode, HashTable::take(&mut Scratch::new(table))?, out)?)
}
