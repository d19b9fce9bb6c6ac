//! Byte codecs.

use pilaster::bytes::Scratch;
use pilaster::codec::HashTable;
use pilaster::error::Result;
use pilaster::unstable::codec::Codec;
use pilaster::unstable::codec::{bitshuffle, blosclz, lz4, lzf, shuffle, snappy};
#[cfg(feature = "codecs")]
use pilaster::unstable::codec::{bzip2, deflate, lzo};

use crate::Call;

macro_rules! decoders {
    ($($(#[$doc:meta])* $name:ident = $module:ident;)*) => {$(
        $(#[$doc])*
        #[inline(never)]
        pub fn $name(call: Call<'_>) -> Result<u32> {
            Ok($module::decode(call.bytes, call.memory)? as u32)
        }
    )*};
}

decoders! {
    /// An LZ4 block.
    lz4_decode = lz4;
    /// An LZF stream.
    lzf_decode = lzf;
    /// A Snappy block.
    snappy_decode = snappy;
}

#[cfg(feature = "codecs")]
decoders! {
    /// An LZO1X stream.
    lzo_decode = lzo;
    /// A blosclz stream.
    blosclz_decode = blosclz;
}

macro_rules! encoders {
    ($($(#[$doc:meta])* $name:ident = $module:ident;)*) => {$(
        $(#[$doc])*
        #[inline(never)]
        pub fn $name(call: Call<'_>) -> Result<u32> {
            Ok($module::encode(call.bytes, call.memory, &mut HashTable::<256>::new())? as u32)
        }
    )*};
}

encoders! {
    /// An LZ4 block, with the smallest table.
    lz4_encode = lz4;
    /// An LZF stream, with the smallest table.
    lzf_encode = lzf;
    /// A Snappy block, with the smallest table.
    snappy_encode = snappy;
    /// A blosclz stream, with the smallest table.
    blosclz_encode = blosclz;
}

/// Both shuffles and their inverses.
#[inline(never)]
pub fn shuffles(call: Call<'_>) -> Result<u32> {
    let size = call.kind as usize;
    shuffle::shuffle(size, call.bytes, call.memory)?;
    shuffle::unshuffle(size, call.bytes, call.memory)?;
    bitshuffle::shuffle(size, call.bytes, call.memory)?;
    bitshuffle::unshuffle(size, call.bytes, call.memory)?;
    Ok(call.memory.first().copied().unwrap_or(0).into())
}

#[cfg(feature = "zstd")]
/// Zstandard frames. The workspace follows the output.
#[inline(never)]
pub fn zstd_decode(call: Call<'_>) -> Result<u32> {
    let (dst, memory) = call.memory.split_at_mut_checked(call.memory.len() / 2).unwrap_or_default();
    Ok(pilaster::unstable::codec::zstd::decode(call.bytes, dst, &mut Scratch::new(memory))? as u32)
}

#[cfg(feature = "codecs")]
/// A zlib stream. The workspace follows the output.
#[inline(never)]
pub fn zlib_decode(call: Call<'_>) -> Result<u32> {
    let (dst, memory) = call.memory.split_at_mut_checked(call.memory.len() / 2).unwrap_or_default();
    Ok(deflate::decode(call.bytes, dst, &mut Scratch::new(memory))? as u32)
}

#[cfg(feature = "codecs")]
/// A bzip2 stream. The workspace follows the output.
#[inline(never)]
pub fn bzip2_decode(call: Call<'_>) -> Result<u32> {
    let (dst, memory) = call.memory.split_at_mut_checked(call.memory.len() / 8).unwrap_or_default();
    Ok(bzip2::decode(call.bytes, dst, &mut Scratch::new(memory))? as u32)
}

/// Any codec.
#[inline(never)]
pub fn decode(call: Call<'_>) -> Result<u32> {
    let codec = Codec::ALL.get(call.kind as usize).copied().unwrap_or(Codec::Lzf);
    let (dst, memory) = call.memory.split_at_mut_checked(call.memory.len() / 8).unwrap_or_default();
    Ok(codec.decode(call.bytes, dst, &mut Scratch::new(memory))? as u32)
}
