//! Encodes numbers by the crate that defines the format: one chunk, whose modes and deltas it chooses.
//!
//! ```
//! use pilaster::bytes::Scratch;
//! use pilaster::unstable::encoding::pco::{Chunk, Number, Page, Version, encode};
//!
//! let encoded = encode::numbers(&[5u32, 8, 6], 2).unwrap();
//! assert_eq!(encoded.pages.iter().map(|page| page.numbers).collect::<Vec<_>>(), [2, 1]);
//! let chunk = Chunk::new(Version::new(&encoded.header)?, &encoded.meta, Number::unsigned(4)?)?;
//! let mut memory = vec![0; chunk.need(2) as usize];
//! let mut s = Scratch::new(&mut memory);
//! let tables = chunk.tables(&mut s)?;
//! assert_eq!(Page::new(&chunk, &tables, &encoded.pages[0].bytes, 2, &mut s)?.next()?, [5, 8]);
//! # Ok::<(), pilaster::Error>(())
//! ```

use alloc::vec::Vec;

use half::f16;
use pco::wrapped::FileCompressor;
use pco::{ChunkConfig, PagingSpec};

/// A chunk.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The header of the format.
    pub header: Vec<u8>,
    /// The metadata of the chunk.
    pub meta: Vec<u8>,
    /// Its pages.
    pub pages: Vec<Bytes>,
}

/// The bytes of a page.
#[derive(Clone, Debug)]
pub struct Bytes {
    /// The number of numbers.
    pub numbers: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Encodes numbers in pages of at most `page` numbers, at least 1. Returns `None` for no numbers, or more
/// than 2^24.
#[must_use]
pub fn numbers<T: pco::data_types::Number>(all: &[T], page: usize) -> Option<Encoded> {
    let config = ChunkConfig::default().with_paging_spec(PagingSpec::EqualPagesUpTo(page.max(1)));
    let file = FileCompressor::default();
    let (mut header, mut meta, mut done) = (Vec::new(), Vec::new(), Vec::new());
    // A vector takes all bytes.
    file.write_header(&mut header).ok()?;
    let mut chunk = file.chunk_compressor(all, &config).ok()?;
    chunk.write_meta(&mut meta).ok()?;
    for (k, numbers) in chunk.n_per_page().into_iter().enumerate() {
        let mut bytes = Vec::new();
        chunk.write_page(k, &mut bytes).ok()?;
        done.push(Bytes { numbers, bytes });
    }
    Some(Encoded { header, meta, pages: done })
}

/// Encodes half floats, from their bits, as [`numbers`] does.
#[must_use]
pub fn halves(bits: &[u16], page: usize) -> Option<Encoded> {
    let all: Vec<f16> = bits.iter().map(|bits| f16::from_bits(*bits)).collect();
    numbers(&all, page)
}
