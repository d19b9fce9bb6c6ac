//! Byte codecs: bytes to fewer bytes and back, over slices. None of them knows a format.
//!
//! | module | codec | decodes | encodes |
//! |---|---|---|---|
//! | `lz4` | LZ4 blocks | without a heap | with a [`HashTable`]; thoroughly with `alloc` |
//! | `lzf` | LZF streams | without a heap | with a [`HashTable`] |
//! | `snappy` | Snappy blocks | without a heap | with a [`HashTable`] |
//! | `blosclz` | blosclz streams | without a heap | with a [`HashTable`] |
//! | `lzo` | LZO1X streams | without a heap | with `alloc` |
//! | `deflate` | zlib streams | in lent memory | with `alloc` |
//! | `bzip2` | bzip2 streams | in lent memory | with `alloc` |
//! | `zstd` | Zstandard frames | in lent memory | feature `zstd-encode` |
//!
//! `shuffle` and `bitshuffle` sort bytes and bits so that a codec finds more; they change no length.
//!
//! Every decoder stops at the end of its destination, takes all of its input or says that some is
//! left over, and works in proportion to the two. What the destination held before is never read.
//! After an error its content is arbitrary.
//!
//! Whoever finds the codec named in a file goes through `Codec`.

pub(crate) mod bitshuffle;
pub(crate) mod blosclz;
#[cfg(feature = "bzip2")]
pub(crate) mod bzip2;
pub(crate) mod choice;
#[cfg(feature = "deflate")]
pub(crate) mod deflate;
mod greedy;
mod lz;
pub(crate) mod lz4;
pub(crate) mod lzf;
#[cfg(feature = "lzo")]
pub(crate) mod lzo;
pub(crate) mod shuffle;
pub(crate) mod snappy;
#[cfg(feature = "zstd")]
pub(crate) mod zstd;

#[cfg(any(feature = "dataseries", feature = "bcolz", all(feature = "vortex", feature = "zstd"), test))]
pub(crate) use choice::Codec;
pub use greedy::HashTable;

#[cfg(test)]
pub(crate) mod tests;
mod what;

pub(crate) use what::FIELDS;
