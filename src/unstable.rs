//! Internals of the crate, for its own tool, benches, fuzz targets, tests and the images whose size is measured.
//!
//! Exempt from semantic versioning: anything here may change in any release.

/// Makes the public items of private modules public.
macro_rules! expose {
    ($($(#[$attribute:meta])* $name:ident: $($segment:ident)::+;)*) => {$(
        $(#[$attribute])*
        pub mod $name {
            pub use crate::$($segment)::+::*;
        }
    )*};
}

expose! {
    /// Value encodings.
    encoding: encoding;
    /// Views of FlatBuffers.
    #[cfg(any(feature = "filo", feature = "jay", feature = "vortex"))]
    generated: generated;
    /// Checksums and hashes.
    hash: hash;
    /// FlatBuffers, Protocol Buffers, XML, JSON.
    meta: meta;
    /// The choice of vectors.
    simd: simd;
}

/// Cursors over bytes.
pub mod bytes {
    pub use crate::bytes::bits::BitReader;
    pub use crate::bytes::integer::{checked_product, product};
    pub use crate::bytes::reader::Reader;
}

/// Counters of nesting and of visited nodes.
pub mod limits {
    pub use crate::limits::budget::{Depth, Fuel};
    pub use crate::limits::share::Share;
}

/// Checks of files by several threads.
#[cfg(any(feature = "filo", feature = "dataseries", feature = "jay", feature = "bcolz", feature = "vortex"))]
pub mod any {
    pub use crate::any::file::verify_share;
}

/// Byte codecs with their specific parameters.
pub mod codec {
    pub use crate::codec::choice::Codec;

    expose! {
        /// Bitshuffle.
        bitshuffle: codec::bitshuffle;
        /// blosclz streams.
        blosclz: codec::blosclz;
        /// bzip2 streams.
        #[cfg(feature = "bzip2")]
        bzip2: codec::bzip2;
        /// zlib streams.
        #[cfg(feature = "deflate")]
        deflate: codec::deflate;
        /// LZ4 blocks.
        lz4: codec::lz4;
        /// LZF streams.
        lzf: codec::lzf;
        /// LZO1X streams.
        #[cfg(feature = "lzo")]
        lzo: codec::lzo;
        /// Byte shuffle.
        shuffle: codec::shuffle;
        /// Snappy blocks.
        snappy: codec::snappy;
        /// Zstandard frames.
        #[cfg(feature = "zstd")]
        zstd: codec::zstd;
    }
}

/// Parts of DataSeries files.
#[cfg(feature = "dataseries")]
pub mod dataseries {
    #[cfg(feature = "alloc")]
    pub use crate::dataseries::write::rewrite::{join, rewrite_share};

    expose! {
        /// The layout of the fields in a record.
        layout: dataseries::layout;
        /// Numbers of the format.
        raw: dataseries::raw;
        /// Extent types.
        types: dataseries::types;
        /// XML descriptions of extent types.
        xml: dataseries::write::xml;
    }
}

/// Parts of Filo vectors.
#[cfg(feature = "filo")]
pub mod filo {
    expose! {
        /// Encoding choices of the builders of the original implementation.
        original: filo::write::original;
        /// Numbers of the format.
        raw: filo::raw;
    }
}

expose! {
    /// The files that a bcolz dataset is read from.
    #[cfg(all(feature = "bcolz", feature = "std"))]
    bcolz_store: bcolz::store;
    /// Recovery of bcolz datasets, to any disk.
    #[cfg(all(feature = "bcolz", feature = "std"))]
    bcolz_recover: bcolz::write::recover;
    /// Numbers of the Jay format.
    #[cfg(feature = "jay")]
    jay_raw: jay::raw;
    /// The end of a Vortex file.
    #[cfg(all(feature = "vortex", feature = "alloc"))]
    vortex_container: vortex::write::file;
    /// Numbers of the Vortex format.
    #[cfg(feature = "vortex")]
    vortex_raw: vortex::raw;
    /// Statistics of Vortex columns, and their comparison with the values.
    #[cfg(feature = "vortex")]
    vortex_statistics: vortex::statistics;
}

/// The steps in which a Jay file is opened.
#[cfg(feature = "jay")]
pub mod jay {
    use crate::Result;
    use crate::bytes::{FileRange, Scratch};
    use crate::jay::{Meta, ReadOptions, Tail};

    /// Checks the start signature.
    ///
    /// # Errors
    /// Errors of an invalid signature.
    pub fn check_head(bytes: &[u8]) -> Result<()> {
        crate::jay::check_head(bytes)
    }

    /// Returns the range of the tail of a file of `len` bytes.
    ///
    /// # Errors
    /// The file is too short.
    pub fn tail_span(len: u64) -> Result<FileRange> {
        Tail::span(len)
    }

    /// Parses the tail of a file of `len` bytes.
    ///
    /// # Errors
    /// Errors of an invalid tail.
    pub fn tail(bytes: &[u8], len: u64, options: &ReadOptions) -> Result<Tail> {
        Tail::of(bytes, len, options)
    }

    /// Checks metadata.
    ///
    /// # Errors
    /// Errors of invalid metadata.
    pub fn meta<'a>(
        bytes: &'a [u8],
        tail: &Tail,
        options: &ReadOptions,
        scratch: &mut Scratch<'_>,
    ) -> Result<Meta<'a>> {
        Meta::open(bytes, tail, options, scratch)
    }
}
