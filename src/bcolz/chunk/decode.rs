//! Decodes chunks.

use core::ops::Range;

use crate::bcolz::raw::{self, Compressor, HEADER_LEN, Header, Shuffle, flag};
use crate::bytes::{FAST, LittleEndian, Reader, Scratch};
#[cfg(feature = "deflate")]
use crate::codec::deflate;
use crate::codec::{bitshuffle, blosclz, lz4, shuffle};
use crate::error::{Error, Kind, Result, What};

/// Decodes a stream. Arguments: compressor, stream, destination, temporaries. Returns the decoded length in bytes.
pub(super) type Streams = fn(Compressor, &[u8], &mut [u8], &mut Scratch<'_>) -> Result<usize>;

/// Decodes the streams of all codecs of the build. Like the original, ignores bytes after a zlib stream.
fn every(compressor: Compressor, src: &[u8], dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
    match compressor {
        #[cfg(feature = "deflate")]
        Compressor::Zlib => deflate::decode_front(src, dst, scratch).map(|(len, _)| len),
        compressor => compressor.codec().decode(src, dst, scratch),
    }
}

/// Decodes only streams of blosclz and LZ4, for [`Chunk::decode_with`] in a small image. Other compressors are
/// [`Kind::Unsupported`].
///
/// # Errors
/// Errors of the codecs.
pub fn small(compressor: Compressor, src: &[u8], dst: &mut [u8], _: &mut Scratch<'_>) -> Result<usize> {
    match compressor {
        Compressor::Blosclz => blosclz::decode(src, dst),
        Compressor::Lz4 => lz4::decode(src, dst),
        _ => Err(Error::needing(Kind::Unsupported, What::BLOSC_CODEC, 2, compressor.id().into())),
    }
}

/// A fast decoder writes ahead of its position. With this number of spare bytes it may do so up to the end of the
/// output.
const AHEAD: usize = 128;

/// A chunk whose header and size have been checked. The blocks are checked when they are decoded.
///
/// ```
/// use pilaster::bcolz::chunk::{Chunk, Params, encode, encode_scratch_len, max_len, small};
/// use pilaster::bcolz::{Compressor, Shuffle};
/// use pilaster::bytes::Scratch;
///
/// let items: Vec<u8> = (0..50_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
/// let params = Params { compressor: Compressor::Lz4, level: 1, typesize: 4, ..Params::DEFAULT };
/// # let mut bytes = vec![0; max_len(items.len())];
/// # let mut memory = vec![0; encode_scratch_len(&params, items.len())];
/// let len = encode(&items, &params, &mut bytes, &mut Scratch::new(&mut memory))?;
///
/// let chunk = Chunk::open(&bytes[..len])?;
/// assert_eq!((chunk.ctbytes(), chunk.is_copy()), (len, false));
/// assert_eq!((chunk.compressor()?, chunk.shuffle()), (Compressor::Lz4, Shuffle::Byte));
/// assert_eq!((chunk.blocksize(), chunk.blocks()), (65_536, 4));
///
/// // All bytes, with only the codecs of a small image.
/// let mut all = vec![0; chunk.nbytes()];
/// let mut memory = vec![0; chunk.scratch_len()];
/// chunk.decode_with(&mut all, &mut Scratch::new(&mut memory), small)?;
/// assert_eq!(all, items);
///
/// // Some bytes: this takes a block more, if the range is not a whole block.
/// let mut memory = vec![0; chunk.range_scratch_len()];
/// let mut some = [0; 6];
/// chunk.decode_range(1001..1007, &mut some, &mut Scratch::new(&mut memory))?;
/// assert_eq!(some, items[1001..1007]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The whole chunk, with its header.
    bytes: &'a [u8],
    flags: u8,
    typesize: u8,
    /// Decoded size of the chunk in bytes. Like the block size, it fits an `i32`.
    nbytes: u32,
    blocksize: u32,
}

impl<'a> Chunk<'a> {
    /// Opens `bytes`, which are exactly one chunk.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if `bytes` are shorter than the size in the header; [`Kind::Unsupported`] for another
    /// version, an unknown codec or an unknown version of it; [`Kind::Invalid`] for impossible sizes;
    /// [`Kind::Trailing`] for bytes after the chunk.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let mut r = Reader::<LittleEndian>::new(bytes);
        let chunk = Chunk::split_from(&mut r)?;
        r.end(What::BLOSC_CHUNK)?;
        Ok(chunk)
    }

    /// Reads the chunk at the start of `r`.
    pub(crate) fn split_from(r: &mut Reader<'a, LittleEndian>) -> Result<Self> {
        let (at, whole) = (r.at(), *r);
        let header = r.view::<Header>(What::BLOSC_HEADER)?;
        let wrong =
            |kind, what, field, value: u32| Err(Error::needing(kind, what, at.saturating_add(field), value.into()));
        if header.version != raw::VERSION {
            return wrong(Kind::Unsupported, What::BLOSC_VERSION, 0, header.version.into());
        }
        let (nbytes, blocksize, ctbytes) = (header.nbytes.get(), header.blocksize.get(), header.ctbytes.get());
        if (ctbytes as usize) < HEADER_LEN {
            return wrong(Kind::Invalid, What::BLOSC_SIZE, 12, ctbytes);
        }
        *r = whole;
        let bytes = r.take(ctbytes as usize, What::BLOSC_CHUNK)?;
        let (flags, typesize) = (header.flags, header.typesize);
        let chunk = Chunk { bytes, flags, typesize, nbytes, blocksize };
        if nbytes == 0 {
            // The original does not check the other fields then.
            return Ok(Chunk { flags: flags | flag::COPY, typesize: typesize.max(1), blocksize: 1, ..chunk });
        }
        if flags & flag::RESERVED != 0 {
            return wrong(Kind::Invalid, What::BLOSC_FLAGS, 2, flags.into());
        }
        if typesize == 0 {
            return wrong(Kind::Invalid, What::BLOSC_TYPESIZE, 3, 0);
        }
        if nbytes > raw::MAX_NBYTES {
            return wrong(Kind::Invalid, What::BLOSC_NBYTES, 4, nbytes);
        }
        if blocksize == 0 || blocksize > nbytes || blocksize > raw::MAX_BLOCKSIZE {
            return wrong(Kind::Invalid, What::BLOSC_BLOCKSIZE, 8, blocksize);
        }
        if chunk.is_copy() {
            if u64::from(ctbytes) != u64::from(nbytes).saturating_add(HEADER_LEN as u64) {
                return wrong(Kind::Invalid, What::BLOSC_SIZE, 12, ctbytes);
            }
            return Ok(chunk);
        }
        Compressor::of_flags(flags).map_err(|e| e.moved(at))?;
        if header.codec_version != raw::CODEC_VERSION {
            return wrong(Kind::Unsupported, What::BLOSC_CODEC, 1, header.codec_version.into());
        }
        let table = chunk.blocks().saturating_mul(4);
        if u64::from(table) > (bytes.len() as u64).saturating_sub(HEADER_LEN as u64) {
            return wrong(Kind::Truncated, What::BLOSC_STARTS, 16, table);
        }
        Ok(chunk)
    }

    /// Returns the decoded size in bytes.
    #[must_use]
    pub const fn nbytes(&self) -> usize {
        self.nbytes as usize
    }

    /// Returns the item size in bytes that the shuffles use, 1 to 255.
    #[must_use]
    pub const fn typesize(&self) -> usize {
        self.typesize as usize
    }

    /// Returns the decoded size of a block in bytes. The last block may be shorter.
    #[must_use]
    pub const fn blocksize(&self) -> usize {
        self.blocksize as usize
    }

    /// Returns the number of blocks.
    #[must_use]
    pub const fn blocks(&self) -> u32 {
        self.nbytes.div_ceil(if self.blocksize == 0 { 1 } else { self.blocksize })
    }

    /// Returns the size of the chunk in bytes, with its header.
    #[must_use]
    pub const fn ctbytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether the chunk is a plain copy of the bytes. Its shuffle and compressor have no meaning then.
    #[must_use]
    pub const fn is_copy(&self) -> bool {
        self.flags & flag::COPY != 0
    }

    /// Returns how the items are shuffled.
    #[must_use]
    pub const fn shuffle(&self) -> Shuffle {
        Shuffle::of_flags(self.flags, self.typesize)
    }

    /// Returns the compressor in the flags, which is [`Compressor::Lz4`] for [`Compressor::Lz4hc`], too.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for an unknown number, which a plain copy may have.
    pub fn compressor(&self) -> Result<Compressor> {
        Compressor::of_flags(self.flags)
    }

    /// Returns the scratch size in bytes of [`decode`](Self::decode): a block, if the items are shuffled, and the
    /// memory of the codec.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        let codec = match self.compressor() {
            Ok(compressor) if !self.is_copy() => compressor.codec().workspace_len(self.blocksize()),
            _ => return 0,
        };
        let block = if self.shuffle() == Shuffle::None { 0 } else { self.blocksize() };
        block.saturating_add(codec)
    }

    /// Returns the scratch size in bytes of [`decode_range`](Self::decode_range): one block more than
    /// [`scratch_len`](Self::scratch_len).
    #[must_use]
    pub fn range_scratch_len(&self) -> usize {
        if self.is_copy() { 0 } else { self.scratch_len().saturating_add(self.blocksize()) }
    }

    /// Decodes the chunk into `dst`. Returns the number of bytes: [`nbytes`](Self::nbytes). The rest of a longer `dst`
    /// is unchanged.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if `dst` or the scratch memory is too small; errors of an invalid block, with its offset in the
    /// chunk.
    pub fn decode(&self, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
        self.decode_with(dst, scratch, every)
    }

    /// [`decode`](Self::decode) with the caller's choice of codecs, such as [`small`]. `streams` decodes one stream:
    /// its arguments are the compressor, the stream, the destination and memory for temporaries; it returns the decoded
    /// length.
    ///
    /// # Errors
    /// Errors of [`decode`](Self::decode).
    pub fn decode_with(&self, dst: &mut [u8], scratch: &mut Scratch<'_>, streams: Streams) -> Result<usize> {
        let dst = room(dst, self.nbytes())?;
        if self.is_copy() {
            copy(self.copied()?, dst);
            return Ok(dst.len());
        }
        let (len, mut starts) = (dst.len(), self.starts());
        for out in dst.chunks_mut(self.blocksize().max(1)) {
            self.block(starts.u32(What::BLOSC_STARTS)?, out, scratch, streams)?;
        }
        Ok(len)
    }

    /// Decodes a range of items. Only the blocks that contain them are decoded.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the range ends after the last item; errors of [`decode`](Self::decode).
    pub fn decode_items(&self, items: Range<usize>, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
        let byte = |item: usize| item.saturating_mul(self.typesize());
        self.decode_range(byte(items.start)..byte(items.end), dst, scratch)
    }

    /// Decodes a range of bytes. Only the blocks that contain them are decoded. Returns the number of bytes.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] if the range ends after the last byte; errors of [`decode`](Self::decode).
    pub fn decode_range(&self, bytes: Range<usize>, dst: &mut [u8], scratch: &mut Scratch<'_>) -> Result<usize> {
        let Range { start, end } = bytes;
        if start > end || end > self.nbytes() {
            let outside = start.max(end) as u64;
            return Err(Error::needing(Kind::OutOfRange, What::BLOSC_NBYTES, outside, self.nbytes.into()));
        }
        let dst = room(dst, end.wrapping_sub(start))?;
        let len = dst.len();
        if self.is_copy() {
            copy(self.copied()?.get(start..end).unwrap_or_default(), dst);
            return Ok(len);
        }
        let size = self.blocksize().max(1);
        let (mut rest, mut at) = (dst, start);
        while at < end {
            let number = at.checked_div(size).unwrap_or(0);
            let first = number.saturating_mul(size);
            let block = self.nbytes().min(first.saturating_add(size)).wrapping_sub(first);
            let skip = at.wrapping_sub(first);
            let take = block.wrapping_sub(skip).min(rest.len());
            let Some((out, more)) = core::mem::take(&mut rest).split_at_mut_checked(take) else { break };
            let mut starts = self.starts();
            starts.take(number.saturating_mul(4), What::BLOSC_STARTS)?;
            let block_start = starts.u32(What::BLOSC_STARTS)?;
            if take == block {
                self.block(block_start, out, scratch, every)?;
            } else {
                let mut scratch = scratch.scope();
                let all = scratch.take::<u8>(block)?;
                self.block(block_start, all, &mut scratch, every)?;
                copy(all.get(skip..skip.wrapping_add(take)).unwrap_or_default(), out);
            }
            (rest, at) = (more, at.saturating_add(take));
        }
        Ok(len)
    }

    /// Returns the contents of a plain copy.
    fn copied(&self) -> Result<&'a [u8]> {
        let mut r = Reader::<LittleEndian>::new(self.bytes);
        r.take(HEADER_LEN, What::BLOSC_HEADER)?;
        r.take(self.nbytes(), What::BLOSC_CHUNK)
    }

    /// Returns a cursor at the table of block starts. It continues after the table, up to the end of the chunk.
    fn starts(&self) -> Reader<'a, LittleEndian> {
        Reader::new_at(self.bytes.get(HEADER_LEN..).unwrap_or_default(), HEADER_LEN as u64)
    }

    /// Decodes the block that begins at `start` and fills `out`.
    fn block(&self, start: u32, out: &mut [u8], scratch: &mut Scratch<'_>, streams: Streams) -> Result<()> {
        let typesize = self.typesize();
        let items = out.len().checked_div(typesize).unwrap_or(0);
        let filter = match self.shuffle() {
            Shuffle::Bit if items == 0 || !items.is_multiple_of(8) => Shuffle::None,
            filter => filter,
        };
        if filter == Shuffle::None {
            return self.streams(start, out, scratch, streams, None);
        }
        let mut scratch = scratch.scope();
        let sorted = scratch.take::<u8>(out.len())?;
        if FAST && filter == Shuffle::Byte && self.split(out) {
            let mut planes = [Plane::Decoded; raw::MAX_SPLIT];
            self.streams(start, sorted, &mut scratch, streams, Some(&mut planes))?;
            unshuffle(planes.get(..typesize).unwrap_or_default(), items, sorted, out);
            return Ok(());
        }
        self.streams(start, sorted, &mut scratch, streams, None)?;
        match filter {
            Shuffle::Bit => bitshuffle::unshuffle(typesize, sorted, out),
            _ => shuffle::unshuffle(typesize, sorted, out),
        }
    }

    /// Returns whether the block that decodes to `out` has one stream for each byte of an item.
    fn split(&self, out: &[u8]) -> bool {
        let whole = out.len() >= self.blocksize();
        self.flags & flag::NEVER_SPLIT == 0 && raw::splits(self.typesize, self.blocksize) && whole
    }

    /// Decodes the streams of the block that begins at `start`, in order. `planes` receives the places of uncompressed streams and of
    /// those of one byte; their bytes in `out` are then undefined.
    fn streams(
        &self,
        start: u32,
        out: &mut [u8],
        scratch: &mut Scratch<'_>,
        streams: Streams,
        mut planes: Option<&mut [Plane<'a>; raw::MAX_SPLIT]>,
    ) -> Result<()> {
        let compressor = self.compressor()?;
        let count = if self.split(out) { self.typesize() } else { 1 };
        let each = out.len().checked_div(count).unwrap_or(0);
        if each.wrapping_mul(count) != out.len() {
            return Err(Error::needing(Kind::Invalid, What::BLOSC_BLOCKSIZE, 8, self.blocksize.into()));
        }
        let Some(rest) = self.bytes.get(start as usize..) else {
            return Err(Error::needing(Kind::Invalid, What::BLOSC_STARTS, HEADER_LEN as u64, start.into()));
        };
        let mut r = Reader::<LittleEndian>::new_at(rest, start.into());
        let mut done = 0usize;
        for place in 0..count {
            let at = r.at();
            let wrong = |need: usize| Err(Error::needing(Kind::Invalid, What::BLOSC_STREAM, at, need as u64));
            let len = r.u32(What::BLOSC_STREAM)?;
            if len == 0 || i32::try_from(len).is_err() {
                return wrong(len as usize);
            }
            let stream = r.take(len as usize, What::BLOSC_STREAM)?;
            let end = done.wrapping_add(each);
            let mut note = planes.as_mut().and_then(|planes| planes.get_mut(place));
            if stream.len() == each {
                if let Some(note) = note {
                    *note = Plane::Stored(stream);
                } else if let Some(to) = out.get_mut(done..end) {
                    copy(stream, to);
                }
            } else if let Some((note, byte)) =
                note.as_mut().and_then(|note| Some((note, constant(compressor, stream, each)?)))
            {
                **note = Plane::Constant(byte);
            } else {
                let ahead = end.saturating_add(AHEAD).min(out.len());
                match streams(compressor, stream, out.get_mut(done..ahead).unwrap_or_default(), scratch) {
                    Ok(len) if len == each => {}
                    Ok(len) => return wrong(len),
                    Err(e) if e.kind() == Kind::NoRoom && e.what() == What::DESTINATION => return wrong(each),
                    Err(e) => return Err(e.moved(at.saturating_add(4))),
                }
            }
            done = end;
        }
        Ok(())
    }
}

/// Where the bytes of a plane are.
#[derive(Clone, Copy)]
enum Plane<'a> {
    /// In the scratch memory.
    Decoded,
    /// In the chunk.
    Stored(&'a [u8]),
    /// All are this byte.
    Constant(u8),
}

/// Returns the byte that a stream repeats `len` times, for the codecs whose chunks of small numbers have such planes most often.
fn constant(compressor: Compressor, stream: &[u8], len: usize) -> Option<u8> {
    match compressor {
        Compressor::Blosclz => blosclz::constant(stream, len),
        Compressor::Lz4 | Compressor::Lz4hc => lz4::constant(stream, len),
        _ => None,
    }
}

/// Number of bytes of a constant plane that are in memory: few enough that they stay in the cache.
const SOME: usize = 4096;

/// Writes each byte of planes of `items` bytes to its item. Planes in `sorted` that are constant are written there in part.
///
/// A chunk of 1 MiB whose items of 8 bytes have four constant planes takes 0.76 of the time that it takes if all are decoded first.
fn unshuffle(planes: &[Plane<'_>], items: usize, sorted: &mut [u8], out: &mut [u8]) {
    let mut step = items.max(1);
    for (plane, to) in planes.iter().zip(sorted.chunks_exact_mut(step)) {
        if let Plane::Constant(byte) = plane {
            to.get_mut(..SOME.min(items)).unwrap_or_default().fill(*byte);
        }
    }
    if planes.iter().any(|plane| matches!(plane, Plane::Constant(_))) {
        step = step.min(SOME);
    }
    for (number, out) in out.chunks_mut(step.saturating_mul(planes.len()).max(1)).enumerate() {
        let start = number.saturating_mul(step);
        let end = start.saturating_add(step).min(items);
        let mut slices = [&[][..]; raw::MAX_SPLIT];
        for ((slice, plane), decoded) in slices.iter_mut().zip(planes).zip(sorted.chunks_exact(items.max(1))) {
            *slice = match plane {
                Plane::Decoded => decoded.get(start..end),
                Plane::Stored(bytes) => bytes.get(start..end),
                Plane::Constant(_) => decoded.get(..end.saturating_sub(start)),
            }
            .unwrap_or_default();
        }
        shuffle::unshuffle_planes(slices.get(..planes.len()).unwrap_or_default(), out);
    }
}

/// Copies `from` to `to`, which have equal lengths.
fn copy(from: &[u8], to: &mut [u8]) {
    if from.len() == to.len() {
        to.copy_from_slice(from);
    }
}

fn room(dst: &mut [u8], len: usize) -> Result<&mut [u8]> {
    dst.get_mut(..len).ok_or_else(|| Error::needing(Kind::NoRoom, What::DESTINATION, 0, len as u64))
}
