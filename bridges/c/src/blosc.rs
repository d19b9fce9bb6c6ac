//! Blosc chunks, decoded.

use pilaster::bcolz::chunk::Chunk;
use pilaster::bytes::Scratch;

use crate::raw::{In, Out, apart, exports};

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
        apart(&[chunk.bounds(len), to.bounds(room), scratch.bounds(size)], 3)?;
        let chunk = Chunk::open(chunk.items(len, 1)?)?;
        chunk.decode(to.lend(room, 3)?, &mut Scratch::new(scratch.lend(size, 5)?))?;
        Ok(())
    }
}
