//! The compressor of a file, chosen when the program runs.

use pilaster::bytes::Scratch;
use pilaster::codec::HashTable;
use pilaster::dataseries::Mode;
#[cfg(feature = "lz4")]
use pilaster::dataseries::write::Lz4;
#[cfg(feature = "lzf")]
use pilaster::dataseries::write::Lzf;
#[cfg(feature = "snappy")]
use pilaster::dataseries::write::Snappy;
use pilaster::dataseries::write::{Compress, Compressed};
use pilaster::error::{Error, Kind, What};

use crate::error::Failure;

/// Number of slots of the table of an encoder.
const SLOTS: usize = 256;
// Two bytes a slot, and one that may be lost to alignment.
const _: () = assert!(SLOTS * 2 + 1 == 513, "PILASTER_DS_TABLE_LEN");

/// A compressor and its memory.
#[derive(Debug)]
pub enum Codec {
    /// None.
    Stored,
    /// LZ4.
    #[cfg(feature = "lz4")]
    Lz4(Lz4<'static, SLOTS>),
    /// LZF.
    #[cfg(feature = "lzf")]
    Lzf(Lzf<'static, SLOTS>),
    /// Snappy.
    #[cfg(feature = "snappy")]
    Snappy(Snappy<'static, SLOTS>),
}

impl Codec {
    /// Creates the compressor with number `mode`, as the format numbers them. `table` and `out` are its memory.
    #[cfg_attr(not(any(feature = "lz4", feature = "lzf", feature = "snappy")), allow(unused_variables))]
    pub fn new(mode: u32, table: &'static mut [u8], out: &'static mut [u8]) -> Result<Codec, Failure> {
        if mode == 0 {
            return Ok(Codec::Stored);
        }
        let table = HashTable::<SLOTS>::take(&mut Scratch::new(table))?;
        match mode {
            #[cfg(feature = "lzf")]
            4 => Ok(Codec::Lzf(Lzf::new(table, out))),
            #[cfg(feature = "snappy")]
            5 => Ok(Codec::Snappy(Snappy::new(table, out))),
            #[cfg(feature = "lz4")]
            6 => Ok(Codec::Lz4(Lz4::new(table, out))),
            _ => Err(Error::needing(Kind::Unsupported, What::DATASERIES_MODE, 0, mode.into()).into()),
        }
    }
}

impl Compress for Codec {
    fn compress<'c>(&'c mut self, fixed: &'c [u8], variable: &'c [u8]) -> Compressed<'c> {
        match self {
            Codec::Stored => Compressed { fixed: (Mode::None, fixed), variable: (Mode::None, variable) },
            #[cfg(feature = "lz4")]
            Codec::Lz4(lz4) => lz4.compress(fixed, variable),
            #[cfg(feature = "lzf")]
            Codec::Lzf(lzf) => lzf.compress(fixed, variable),
            #[cfg(feature = "snappy")]
            Codec::Snappy(snappy) => snappy.compress(fixed, variable),
        }
    }
}
