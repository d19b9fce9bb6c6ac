//! Blosc 1 chunks: the contents of a bcolz file after its header. Zarr v2, HDF5 and N5 contain them, too.
//!
//! ```text
//! header, 16 bytes     version 2, flags (shuffles, codec), size of an item, decoded size, block size, size
//! block starts         4 bytes each, in any order; absent from a plain copy
//! blocks               one stream each, or one per byte of an item: a length, and that number of bytes
//! ```
//!
//! | feature | read | written |
//! |---|---|---|
//! | blosclz, LZ4, Snappy | without a heap | without a heap |
//! | LZ4 HC | without a heap | with `alloc` |
//! | zlib (feature `deflate`) | in scratch memory | with `alloc` |
//! | Zstandard (feature `zstd`) | in scratch memory | in scratch memory (feature `zstd-encode`) |
//! | byte and bit shuffle, items of 1 to 255 bytes | yes | yes |
//! | plain copies, empty chunks | yes | yes |
//! | some of the items, from the blocks that hold them | yes | |
//!
//! The decoder accepts and refuses the same chunks as the original, except for these, which it refuses:
//!
//! * bytes after the chunk, and a decoded size that is negative as an `i32`, which the original treats as success;
//! * a block whose streams differ in length: the original omits the last bytes;
//! * a distance of 0 in LZ4, for which the original returns the previous contents of the destination;
//! * Zstandard literals that end before their bits do: RFC 8878 forbids them, and newer releases of the library
//!   accept them if they decode four streams at once.
//!
//! ```
//! use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len, max_len};
//! use pilaster::bytes::Scratch;
//!
//! let items: Vec<u8> = (0..200u32).flat_map(|i| (i * 3).to_le_bytes()).collect();
//! let params = Params { typesize: 4, ..Params::DEFAULT };
//! let mut bytes = vec![0; max_len(items.len())];
//! let mut memory = vec![0; encode_scratch_len(&params, items.len())];
//! let len = encode(&items, &params, &mut bytes, &mut Scratch::new(&mut memory))?;
//! assert!(len < items.len());
//!
//! let chunk = Chunk::open(&bytes[..len])?;
//! assert_eq!((chunk.nbytes(), chunk.typesize()), (800, 4));
//! let mut memory = vec![0; chunk.range_scratch_len()];
//! let mut scratch = Scratch::new(&mut memory);
//! let mut all = [0; 800];
//! assert_eq!(chunk.decode(&mut all, &mut scratch)?, 800);
//! assert_eq!(all[..], items);
//! let mut two = [0; 8];
//! chunk.decode_items(7..9, &mut two, &mut scratch)?;
//! assert_eq!(two, [21, 0, 0, 0, 24, 0, 0, 0]);
//! # Ok::<(), pilaster::Error>(())
//! ```

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub use decode::{Chunk, small};
pub use encode::{Params, encode, encode_scratch_len, max_len};
