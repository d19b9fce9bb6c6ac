//! Frames and their blocks (RFC 8878, section 3.1).

use super::bits::size;
use super::dictionary::{self, Start};
use super::huffman::{self, Code};
use super::literals::{Literals, plain};
use super::sequences::{self, Output, Tables};
use crate::bytes::{LittleEndian, Reader, Scratch, little, low32, saturated};
use crate::codec::lz::{SLACK, no_room};
use crate::error::{Error, Kind, Result, What};
use crate::hash::xxh64;

/// The magic numbers of a frame, and of a skippable frame without its low four bits.
pub(super) const MAGIC: u32 = 0xfd2f_b528;
const SKIP: u32 = 0x184d_2a50;
/// Maximum decoded length of a block in bytes, whatever the window.
const BLOCK: u64 = 128 << 10;

/// Scratch size in bytes of [`Memory`], including alignment.
pub(super) const MEMORY_LEN: usize =
    size_of::<sequences::Entries>().saturating_add(huffman::ENTRIES.saturating_mul(2)).saturating_add(7);

/// The tables for decoding a frame.
pub(super) struct Memory<'w> {
    pub tables: Tables<'w>,
    pub huffman: Code<'w>,
}

impl Memory<'_> {
    /// Clears all tables.
    pub(super) const fn clear(&mut self) {
        self.tables.clear();
        self.huffman.clear();
    }

    /// Reads all tables, in the order of a dictionary.
    pub(super) fn read(&mut self, dictionary: &[u8], r: &mut Reader<'_, LittleEndian>) -> Result<()> {
        self.huffman.read(dictionary, r)?;
        self.tables.read(r)
    }
}

/// The header of a frame (RFC 8878, section 3.1.1.1).
struct Header {
    content: Option<u64>,
    /// Maximum decoded length of a block in bytes.
    block: usize,
    checksum: bool,
    /// Number of the dictionary; 0 if the header has no number.
    dictionary: u32,
}

/// Reads a header after its magic number.
fn header(r: &mut Reader<'_, LittleEndian>) -> Result<Header> {
    let at = r.at();
    let descriptor = r.u8(What::ZSTD_FRAME)?;
    if descriptor & 8 != 0 {
        return Err(Error::needing(Kind::Unsupported, What::ZSTD_FRAME, at, descriptor.into()));
    }
    let single = descriptor & 0x20 != 0;
    let window = match single {
        true => None,
        false => {
            let byte = u64::from(r.u8(What::ZSTD_FRAME)?);
            Some(8u64.wrapping_add(byte & 7) << (byte >> 3).wrapping_add(7))
        }
    };
    let mut number = |bytes: usize| r.take(bytes, What::ZSTD_FRAME).map(little);
    let dictionary = low32(number(1usize << (descriptor & 3) >> 1)?);
    let len = match descriptor >> 6 {
        0 => usize::from(single),
        log => 1 << log,
    };
    let content = match (len, number(len)?) {
        (0, _) => None,
        (2, number) => Some(number.wrapping_add(256)),
        (_, number) => Some(number),
    };
    let block = size(window.or(content).unwrap_or(0).min(BLOCK));
    Ok(Header { content, block, checksum: descriptor & 4 != 0, dictionary })
}

/// Decodes all frames of `src`. Returns the number of bytes written.
pub(super) fn all<const FAST: bool>(
    src: &[u8],
    dst: &mut [u8],
    dictionary: &[u8],
    scratch: &mut Scratch<'_>,
) -> Result<usize> {
    let mut scratch = scratch.scope();
    let entries = scratch.take(1)?.first_mut();
    let mut memory = Memory {
        tables: Tables::new(entries.ok_or_else(|| Error::new(Kind::NoRoom, What::SCRATCH, 0))?),
        huffman: Code::new(scratch.take(huffman::ENTRIES)?),
    };
    let mut r = Reader::<LittleEndian>::new(src);
    let mut len = 0;
    while !r.rest().is_empty() {
        let at = r.at();
        match r.u32(What::ZSTD_FRAME)? {
            MAGIC => len = frame::<FAST>(src, &mut r, dst, len, dictionary, &mut memory)?,
            magic if magic & !15 == SKIP => {
                let len = r.u32(What::ZSTD_FRAME)?;
                r.take(saturated(len.into()), What::ZSTD_FRAME)?;
            }
            magic => return Err(Error::needing(Kind::Invalid, What::ZSTD_FRAME, at, magic.into())),
        }
    }
    Ok(len)
}

/// Decodes a frame after its magic number; the output begins at `start`. Returns the end of the output.
fn frame<const FAST: bool>(
    src: &[u8],
    r: &mut Reader<'_, LittleEndian>,
    dst: &mut [u8],
    start: usize,
    dictionary: &[u8],
    memory: &mut Memory<'_>,
) -> Result<usize> {
    let at = r.at();
    let header = header(r)?;
    let room = dst.len().wrapping_sub(start) as u64;
    if let Some(content) = header.content.filter(|content| *content > room) {
        return Err(no_room(start, saturated(content)));
    }
    let Start { id, history, mut repeats } = dictionary::start(dictionary, memory)?;
    if header.dictionary != 0 && header.dictionary != id {
        return Err(Error::needing(Kind::Unsupported, What::ZSTD_DICTIONARY, at, header.dictionary.into()));
    }
    let mut out = Output { bytes: dst, history, frame: start, at: start, literals: 0, literals_end: 0, limit: 0 };
    loop {
        let at = r.at();
        let [a, b, c] = *r.array(What::ZSTD_BLOCK)?;
        let head = u32::from_le_bytes([a, b, c, 0]);
        let (kind, size) = (head >> 1 & 3, (head >> 3) as usize);
        if kind == 3 || size > header.block {
            return Err(Error::needing(Kind::Invalid, What::ZSTD_BLOCK, at, head.into()));
        }
        let stored = if kind == 1 { 1 } else { size };
        let stored = r.split(stored, What::ZSTD_BLOCK)?;
        if kind == 2 {
            block::<FAST>(src, stored, header.block, memory, &mut repeats, &mut out)?;
        } else {
            plain(stored.rest(), out.room(size)?);
            out.at = out.at.wrapping_add(size);
        }
        if head & 1 != 0 {
            break;
        }
    }
    let (bytes, end) = (out.bytes, out.at);
    if header.content.is_some_and(|content| content != end.wrapping_sub(start) as u64) {
        let claimed = header.content.unwrap_or(0);
        return Err(Error::needing(Kind::Invalid, What::ZSTD_FRAME, at, claimed));
    }
    if header.checksum {
        let at = r.at();
        let stored = r.u32(What::ZSTD_CHECKSUM)?;
        let hash = xxh64(0, bytes.get(start..end).unwrap_or_default());
        // A fuzzer would never get past the checksum.
        if low32(hash) != stored && !cfg!(fuzzing) {
            return Err(Error::needing(Kind::Checksum, What::ZSTD_CHECKSUM, at, stored.into()));
        }
    }
    Ok(end)
}

/// Decodes a compressed block (RFC 8878, section 3.1.1.3) of at most `most` bytes.
fn block<const FAST: bool>(
    src: &[u8],
    mut r: Reader<'_, LittleEndian>,
    most: usize,
    memory: &mut Memory<'_>,
    repeats: &mut [u32; 3],
    out: &mut Output<'_>,
) -> Result<()> {
    let at = r.at();
    let literals = Literals::read(&mut r)?;
    if literals.len > most {
        return Err(Error::needing(Kind::Invalid, What::ZSTD_LITERALS, at, literals.len as u64));
    }
    out.room(literals.len)?;
    out.limit = out.at.saturating_add(most).min(out.bytes.len());
    let count = sequences::count(&mut r)?;
    // Without matches the literals are decoded to their final place, else to the end of the block's space,
    // plus some free bytes for the fast copies if available.
    let end = match count {
        0 => out.at.wrapping_add(literals.len),
        _ => out.at.saturating_add(most).saturating_add(SLACK).min(out.bytes.len()),
    };
    out.literals_end = end;
    out.literals = end.wrapping_sub(literals.len);
    let to = out.bytes.get_mut(out.literals..end).unwrap_or_default();
    literals.decode(src, &mut memory.huffman, to)?;
    if count == 0 {
        out.at = end;
        return r.end(What::ZSTD_SEQUENCES);
    }
    sequences::decode::<FAST>(src, &mut r, count, &mut memory.tables, repeats, out)
}

impl Output<'_> {
    /// Returns the next `len` bytes of the destination.
    fn room(&mut self, len: usize) -> Result<&mut [u8]> {
        let at = self.at;
        self.bytes.get_mut(at..).and_then(|room| room.get_mut(..len)).ok_or_else(|| no_room(at, len))
    }
}
