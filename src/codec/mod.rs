//! Byte codecs: compression and decompression of byte slices. They are independent of the file formats.
//!
//! | module | codec | decodes | encodes |
//! |---|---|---|---|
//! | `lz4` | LZ4 blocks | without a heap | with a [`HashTable`]; thoroughly with `alloc` |
//! | `lzf` | LZF streams | without a heap | with a [`HashTable`] |
//! | `snappy` | Snappy blocks | without a heap | with a [`HashTable`] |
//! | `blosclz` | blosclz streams | without a heap | with a [`HashTable`] |
//! | `lzo` | LZO1X streams | without a heap | with `alloc` |
//! | `deflate` | zlib streams | with a scratch buffer | with `alloc` |
//! | `bzip2` | bzip2 streams | with a scratch buffer | with `alloc` |
//! | `zstd` | Zstandard frames | with a scratch buffer | with a scratch buffer (feature `zstd-encode`) |
//!
//! `shuffle` and `bitshuffle` reorder bytes and bits so that a codec compresses better; they change no
//! length.
//!
//! Every decoder stops at the end of its destination. It decodes all of its input or reports the remaining
//! bytes, in time proportional to input and output. It never reads the previous contents of the destination.
//! After an error, the contents of the destination are arbitrary.
//!
//! `Codec` selects the codec that a file names.

#[cfg(any(feature = "zstd-encode", all(feature = "deflate", feature = "alloc")))]
mod bit_writer;
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
#[cfg(any(feature = "zstd-encode", all(feature = "deflate", feature = "alloc")))]
mod prefix;
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
