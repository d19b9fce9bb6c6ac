//! Readers and scratch memory.

use pilaster::bytes::{BigEndian, LittleEndian, Scratch, Sink, SliceSink};
use pilaster::error::{Result, What};
use pilaster::unstable::bytes::{BitReader, Reader};

use crate::Call;

/// Reads numbers in both byte orders, a part with its own bounds, and bits.
#[inline(never)]
pub fn reader(call: Call<'_>) -> Result<u32> {
    let mut little = Reader::<LittleEndian>::new(call.bytes);
    let n = little.u16(What::INPUT)?;
    let part = little.split(n.into(), What::INPUT)?;
    let mut big = Reader::<BigEndian>::new(part.rest());
    let mut bits = BitReader::new(big.take(8, What::INPUT)?);
    Ok(big.u32(What::INPUT)? ^ bits.take(call.kind)? as u32)
}

/// Divides memory into slices, and writes bytes to a buffer.
#[inline(never)]
pub fn scratch(call: Call<'_>) -> Result<u32> {
    let mut scratch = Scratch::new(call.memory);
    let words = scratch.take::<u64>(call.kind as usize)?;
    words.fill(call.row.into());
    let mut sink = SliceSink::new(scratch.take::<u8>(call.bytes.len())?);
    sink.put(call.bytes)?;
    Ok(sink.len() as u32 ^ words.len() as u32)
}
