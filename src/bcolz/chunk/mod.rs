//! Blosc 1 chunks: what a file of bcolz holds behind its header, and what Zarr v2, HDF5 and N5 hold too.
//!
//! ```text
//! header, 16 bytes     version 2, flags (shuffles, codec), size of an item, decoded size, block size, size
//! block starts         4 bytes each, in any order; absent from a plain copy
//! blocks               each one stream, or one for every byte of an item: a length, and so many bytes
//! ```
//!
//! | feature | read | written |
//! |---|---|---|
//! | blosclz, LZ4, Snappy | without a heap | without a heap |
//! | LZ4 HC | without a heap | with `alloc` |
//! | zlib (feature `deflate`) | in lent memory | with `alloc` |
//! | Zstandard (feature `zstd`) | in lent memory | feature `zstd-encode`, one level |
//! | byte and bit shuffle, items of 1 to 255 bytes | yes | yes |
//! | plain copies, empty chunks | yes | yes |
//! | some of the items, from the blocks that hold them | yes | |
//!
//! What the original refuses is refused, and what it takes is taken, but for
//!
//! * bytes behind the chunk, and a decoded size that is negative as an
//!   `i32`, which it takes for success;
//! * a block whose streams are not equally long, of which it leaves the last bytes out;
//! * a distance of 0 in LZ4, for which it gives out whatever lay in the destination;
//! * Zstandard literals that end before their bits do: RFC 8878 forbids them, and newer releases of the library
//!   overlook it where they decode four streams at once.
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
