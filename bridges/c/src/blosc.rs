//! Blosc chunks, decoded.

use pilaster::bcolz::chunk::Chunk;
use pilaster::bytes::Scratch;

use crate::raw::{In, Out, exports};

/// `pilaster_blosc_info`: what a chunk says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Info {
    /// Size of the decoded bytes.
    pub decoded: u64,
    /// Size of the memory that decoding takes.
    pub scratch: u64,
    /// Size of an item in bytes.
    pub item: u64,
}

exports! {
    /// Returns what a chunk says of itself.
    fn pilaster_blosc_examine(chunk: In<u8>, len: usize, info: Out<Info>) {
        let chunk = Chunk::open(chunk.items(len, 1)?)?;
        let (decoded, scratch, item) = (chunk.nbytes() as u64, chunk.scratch_len() as u64, chunk.typesize() as u64);
        info.tell(Info { decoded, scratch, item }, 3)
    }

    /// Decodes a chunk.
    fn pilaster_blosc_decode(chunk: In<u8>, len: usize, to: Out<u8>, room: usize, scratch: Out<u8>, size: usize) {
        let bytes = chunk.items(len, 1)?;
        let memory = to.apart(room, &[chunk.bounds(len)], 3)?;
        let scratch = scratch.apart(size, &[chunk.bounds(len), to.bounds(room)], 5)?;
        Chunk::open(bytes)?.decode(memory, &mut Scratch::new(scratch))?;
        Ok(())
    }
}
