//! Dictionaries (RFC 8878, section 5): bytes that precede a frame, and optionally its initial tables.

use super::frame::Memory;
use crate::bytes::{LittleEndian, Reader};
use crate::error::{Error, Kind, Result, What};

/// The first bytes of a dictionary with tables.
const MAGIC: u32 = 0xec30_a437;

/// The initial state of a frame, except the tables.
pub(super) struct Start<'d> {
    /// The number of the dictionary; 0 if it has no number.
    pub id: u32,
    pub history: &'d [u8],
    pub repeats: [u32; 3],
}

/// Sets the tables to the tables in `dictionary`, or clears them.
pub(super) fn start<'d>(dictionary: &'d [u8], memory: &mut Memory<'_>) -> Result<Start<'d>> {
    memory.clear();
    let mut r = Reader::<LittleEndian>::new(dictionary);
    if r.u32(What::ZSTD_DICTIONARY) != Ok(MAGIC) {
        return Ok(Start { id: 0, history: dictionary, repeats: [1, 4, 8] });
    }
    // Offsets in the dictionary are not offsets in the source.
    let wrong = |e: Error| e.turned(e.kind(), What::ZSTD_DICTIONARY, e.at());
    let id = r.u32(What::ZSTD_DICTIONARY)?;
    memory.read(dictionary, &mut r).map_err(wrong)?;
    let at = r.at();
    let mut repeats = [0; 3];
    for distance in &mut repeats {
        *distance = r.u32(What::ZSTD_DICTIONARY)?;
    }
    let history = r.rest();
    for distance in repeats {
        if distance == 0 || u64::from(distance) > history.len() as u64 {
            return Err(Error::needing(Kind::Invalid, What::ZSTD_DICTIONARY, at, distance.into()));
        }
    }
    Ok(Start { id, history, repeats })
}
