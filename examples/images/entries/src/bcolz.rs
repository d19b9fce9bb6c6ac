//! Blosc 1 chunks.

use pilaster::bcolz::chunk::{Chunk, Params, encode, small};
use pilaster::bcolz::{Compressor, Shuffle};
use pilaster::bytes::Scratch;
use pilaster::error::Result;

use crate::Call;

/// Decodes a chunk of blosclz or LZ4 with either shuffle. The workspace follows the output.
#[inline(never)]
pub fn chunk(call: Call<'_>) -> Result<u32> {
    let (dst, memory) = call.memory.split_at_mut_checked(call.memory.len() / 2).unwrap_or_default();
    let chunk = Chunk::open(call.bytes)?;
    Ok(chunk.decode_with(dst, &mut Scratch::new(memory), small)? as u32)
}

/// Decodes some items of a chunk of any compressor.
#[inline(never)]
pub fn items(call: Call<'_>) -> Result<u32> {
    let (dst, memory) = call.memory.split_at_mut_checked(call.memory.len() / 4).unwrap_or_default();
    let chunk = Chunk::open(call.bytes)?;
    let from = call.row as usize;
    Ok(chunk.decode_items(from..from.saturating_add(8), dst, &mut Scratch::new(memory))? as u32)
}

/// Encodes a chunk.
#[inline(never)]
pub fn write(call: Call<'_>) -> Result<u32> {
    let (dst, memory) = call.memory.split_at_mut_checked(call.memory.len() / 4).unwrap_or_default();
    let params = Params {
        compressor: *Compressor::ALL.get(call.kind as usize).unwrap_or(&Compressor::Lz4),
        shuffle: if call.row == 0 { Shuffle::Byte } else { Shuffle::Bit },
        typesize: call.bytes.first().copied().unwrap_or(4),
        ..Params::DEFAULT
    };
    Ok(encode(call.bytes, &params, dst, &mut Scratch::new(memory))? as u32)
}
