//! Encodes chunks.

use zerocopy::IntoBytes;

use crate::bcolz::raw::{self, Compressor, HEADER_LEN, Header, MIN_NBYTES, Shuffle, flag};
use crate::bytes::{FAST, Scratch, len32};
#[cfg(feature = "zstd-encode")]
use crate::codec::zstd;
use crate::codec::{HashTable, bitshuffle, blosclz, lz4, shuffle, snappy};
use crate::error::{Error, Kind, Result, What};

/// The parameters of a chunk to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Params {
    /// The compressor of the streams.
    pub compressor: Compressor,
    /// The level, from 1 (fast) to 9 (small), if the compressor has levels; 0 writes a plain copy. The block size
    /// depends on it, too.
    pub level: u8,
    /// The shuffle before compression.
    pub shuffle: Shuffle,
    /// Size of an item in bytes; 0 counts as 1.
    pub typesize: u8,
    /// Size of a block in bytes; `None` chooses it as the original does.
    pub blocksize: Option<u32>,
}

impl Params {
    /// The defaults of bcolz: blosclz at level 5, byte shuffle, items of one byte.
    pub const DEFAULT: Params =
        Params { compressor: Compressor::Blosclz, level: 5, shuffle: Shuffle::Byte, typesize: 1, blocksize: None };

    /// Returns the size of a block in bytes for `nbytes` bytes (section E.2). It is at least 1.
    fn blocksize(&self, nbytes: u32) -> u32 {
        const BASE: u32 = 32 << 10;
        let typesize = u32::from(self.typesize.max(1));
        if nbytes < typesize {
            return 1;
        }
        let mut size = nbytes;
        if let Some(forced) = self.blocksize {
            size = forced.max(128);
        } else if nbytes >= BASE {
            size = BASE;
            if self.compressor.thorough() {
                size = size.wrapping_mul(2);
            }
            size = match self.level {
                0 => size / 4,
                1 => size / 2,
                2 => size,
                3 => size.wrapping_mul(2),
                4 | 5 => size.wrapping_mul(4),
                _ => size.wrapping_mul(8),
            };
            if self.level >= 9 && self.compressor.thorough() {
                size = size.wrapping_mul(2);
            }
        }
        if self.level > 0 && !self.compressor.unsplit() && raw::splits(self.typesize.max(1), size) {
            size = size.min(256 << 10).saturating_mul(typesize).clamp(64 << 10, 1 << 20);
        }
        let size = size.min(nbytes).min(raw::MAX_BLOCKSIZE);
        size.wrapping_sub(size.checked_rem(typesize).unwrap_or(0)).max(1)
    }

    /// Returns the level of Zstandard: like the original's, ours are about twice as fine at the lower end.
    #[cfg(feature = "zstd-encode")]
    fn zstd_level(&self) -> u8 {
        match self.level {
            0..=3 => self.level,
            4 => 5,
            5 => 7,
            6 => 8,
            7 | 8 => 9,
            _ => zstd::MAX_LEVEL,
        }
    }

    /// Returns the scratch size in bytes of the compressor, but for the table that all have, for a block.
    fn memory_len(&self, block: usize) -> usize {
        match self.compressor {
            #[cfg(feature = "zstd-encode")]
            Compressor::Zstd => zstd::encode_scratch_len(self.zstd_level(), block),
            _ => {
                let _ = block;
                0
            }
        }
    }

    fn flags(&self, blocksize: u32) -> u8 {
        let whole = self.compressor.unsplit() || !raw::splits(self.typesize.max(1), blocksize);
        let never = if whole { flag::NEVER_SPLIT } else { 0 };
        self.compressor.id() << flag::CODEC_SHIFT | never | self.shuffle.flag()
    }
}

impl Default for Params {
    fn default() -> Self {
        Params::DEFAULT
    }
}

/// Returns the maximum size in bytes of a chunk of `n` bytes.
#[must_use]
pub const fn max_len(n: usize) -> usize {
    n.saturating_add(HEADER_LEN)
}

/// Number of slots of the match finder's table, of 2 bytes each: 32 KiB, or 2 KiB with `--cfg pilaster_small`.
const SLOTS: usize = if FAST { 16_384 } else { 1024 };

/// Returns the scratch size in bytes of [`encode`] for `n` bytes: a block if they are shuffled, and the match finder's
/// table; for Zstandard all that its encoder needs for a block, which is up to 19 bytes for each of its bytes, and 9 KB.
#[must_use]
pub fn encode_scratch_len(params: &Params, n: usize) -> usize {
    let block = params.blocksize(u32::try_from(n).unwrap_or(u32::MAX)) as usize;
    let sorted = if params.shuffle == Shuffle::None { 0 } else { block };
    params.memory_len(block).saturating_add(SLOTS.saturating_mul(2).saturating_add(1)).saturating_add(sorted)
}

/// Encodes `src` as one chunk. Returns the number of bytes written.
///
/// A `dst` of [`max_len`] bytes always suffices. A shorter `dst` works if the chunk fits.
///
/// # Errors
/// [`Kind::NoRoom`] if the chunk does not fit (`need`: a sufficient size), or if the scratch memory is too small;
/// [`Kind::Limit`] if `src` is longer than a chunk can be; [`Kind::Unsupported`] for a compressor whose feature is
/// off, or that needs a heap in a build without one.
pub fn encode(src: &[u8], params: &Params, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    let nbytes = match u32::try_from(src.len()) {
        Ok(nbytes) if nbytes <= raw::MAX_NBYTES => nbytes,
        _ => return Err(Error::needing(Kind::Limit, What::BLOSC_NBYTES, 0, raw::MAX_NBYTES.into())),
    };
    let blocksize = params.blocksize(nbytes);
    let flags = params.flags(blocksize);
    if params.level > 0 && src.len() >= MIN_NBYTES {
        let room = dst.len().min(max_len(src.len()));
        let mut out = Out { bytes: dst.get_mut(..room).unwrap_or_default(), at: HEADER_LEN };
        match blocks(src, params, blocksize, &mut out, scratch) {
            Ok(()) => {
                let len = out.at;
                header(dst, params, flags, [nbytes, blocksize], len)?;
                return Ok(len);
            }
            Err(e) if e.kind() == Kind::NoRoom && e.what() == What::DESTINATION => {}
            Err(e) => return Err(e),
        }
    }
    let len = max_len(src.len());
    match dst.get_mut(HEADER_LEN..len) {
        Some(to) => to.copy_from_slice(src),
        None => return Err(no_room(src)),
    }
    header(dst, params, flags | flag::COPY, [nbytes, blocksize], len)?;
    Ok(len)
}

fn header(dst: &mut [u8], params: &Params, flags: u8, [nbytes, blocksize]: [u32; 2], len: usize) -> Result<()> {
    let header = Header {
        version: raw::VERSION,
        codec_version: raw::CODEC_VERSION,
        flags,
        typesize: params.typesize.max(1),
        nbytes: nbytes.into(),
        blocksize: blocksize.into(),
        ctbytes: len32(len).into(),
    };
    let room = || Error::needing(Kind::NoRoom, What::DESTINATION, 0, HEADER_LEN as u64);
    dst.first_chunk_mut::<HEADER_LEN>().ok_or_else(room)?.copy_from_slice(header.as_bytes());
    Ok(())
}

/// Writes block starts and blocks. [`Kind::NoRoom`] if they are larger than a plain copy, or do not fit.
fn blocks(src: &[u8], params: &Params, blocksize: u32, out: &mut Out<'_>, scratch: &mut Scratch<'_>) -> Result<()> {
    let size = blocksize.max(1) as usize;
    let table = src.len().div_ceil(size).saturating_mul(4);
    let mut start_at = out.at;
    out.take(table).ok_or_else(|| no_room(src))?;
    let split = params.flags(blocksize) & flag::NEVER_SPLIT == 0;
    let typesize = usize::from(params.typesize.max(1));
    let mut scratch = scratch.scope();
    let mut streams = Encoder::new(params, size.min(src.len()), &mut scratch)?;
    let sorted = scratch.take::<u8>(if params.shuffle == Shuffle::None { 0 } else { size.min(src.len()) })?;
    for block in src.chunks(size) {
        let start = len32(out.at).to_le_bytes();
        out.put(start_at, &start);
        start_at = start_at.wrapping_add(4);
        let block = match (params.shuffle, sorted.get_mut(..block.len())) {
            (Shuffle::Byte, Some(sorted)) => {
                shuffle::shuffle(typesize, block, sorted)?;
                sorted
            }
            (Shuffle::Bit, Some(sorted)) => {
                bitshuffle::shuffle(typesize, block, sorted)?;
                sorted
            }
            _ => block,
        };
        let count = if split && block.len() == size { typesize } else { 1 };
        let each = block.len().checked_div(count).unwrap_or(0).max(1);
        for stream in block.chunks_exact(each) {
            let len_at = out.at;
            out.take(4).ok_or_else(|| no_room(src))?;
            let room = out.bytes.len().wrapping_sub(out.at).min(stream.len().wrapping_sub(1));
            let to = out.bytes.get_mut(out.at..out.at.wrapping_add(room)).unwrap_or_default();
            let len = match streams.encode(stream, to) {
                // The limit is one byte below the length of the stream: a stream of its full length means uncompressed.
                Ok(len) if len > 0 => {
                    out.at = out.at.wrapping_add(len);
                    len
                }
                Err(e) if e.kind() != Kind::NoRoom => return Err(e),
                _ => {
                    let at = out.at;
                    out.take(stream.len()).ok_or_else(|| no_room(src))?;
                    out.put(at, stream);
                    stream.len()
                }
            };
            out.put(len_at, &len32(len).to_le_bytes());
        }
    }
    Ok(())
}

/// The destination, filled from the front.
struct Out<'o> {
    bytes: &'o mut [u8],
    at: usize,
}

impl Out<'_> {
    /// Advances by `n` bytes, if they fit.
    fn take(&mut self, n: usize) -> Option<()> {
        self.at = self.at.checked_add(n).filter(|end| *end <= self.bytes.len())?;
        Some(())
    }

    /// Stores bytes at a position that [`take`](Self::take) returned.
    fn put(&mut self, at: usize, from: &[u8]) {
        if let Some(to) = self.bytes.get_mut(at..).and_then(|to| to.get_mut(..from.len())) {
            to.copy_from_slice(from);
        }
    }
}

/// The compressor of one chunk, with its table.
struct Encoder<'s> {
    params: Params,
    table: &'s mut HashTable<SLOTS>,
    /// For Zstandard.
    #[allow(dead_code, reason = "used by the feature `zstd-encode`")]
    memory: &'s mut [u8],
}

impl<'s> Encoder<'s> {
    fn new(params: &Params, block: usize, scratch: &mut Scratch<'s>) -> Result<Self> {
        let table = HashTable::take(scratch)?;
        Ok(Encoder { params: *params, table, memory: scratch.take(params.memory_len(block))? })
    }

    fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<usize> {
        match self.params.compressor {
            Compressor::Blosclz => blosclz::encode(src, dst, self.table),
            Compressor::Lz4 => lz4::encode_fast(src, dst, self.table, 10u8.saturating_sub(self.params.level)),
            Compressor::Snappy => snappy::encode(src, dst, self.table),
            #[cfg(feature = "zstd-encode")]
            Compressor::Zstd => zstd::encode(src, dst, self.params.zstd_level(), &mut Scratch::new(self.memory)),
            #[cfg(feature = "alloc")]
            other => other.codec().encode(src, dst, self.params.level.min(9)),
            #[cfg(not(feature = "alloc"))]
            other => Err(Error::needing(Kind::Unsupported, What::BLOSC_CODEC, 2, other.id().into())),
        }
    }
}

#[cold]
fn no_room(src: &[u8]) -> Error {
    Error::needing(Kind::NoRoom, What::DESTINATION, 0, max_len(src.len()) as u64)
}
