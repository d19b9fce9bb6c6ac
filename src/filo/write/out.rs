//! Writes one chunk to a caller-provided buffer from front to back.

use crate::bytes::short_strings::copy;
use crate::encoding::bitpack::Packing;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{HEADER_LEN, Header};

/// Maximum length of a chunk in bytes and maximum number of rows: offsets and counts are signed 32-bit numbers in the
/// format (section 12).
pub(super) const MAX_LEN: usize = i32::MAX as usize;

/// The remaining bytes of a chunk. Its length is known before the first byte is written, so a buffer that is too small
/// is an error before anything is stored, and every byte of the chunk is written.
#[derive(Debug)]
pub(super) struct Out<'d> {
    rest: &'d mut [u8],
    payload: usize,
}

impl<'d> Out<'d> {
    /// Starts a chunk of a header word and `payload` bytes in `dst`.
    pub fn chunk(header: Header, payload: usize, dst: &'d mut [u8]) -> Result<Self> {
        Out::chunk_of_word(header.word(), payload, dst)
    }

    /// Starts a chunk with a header word that may also contain a row count.
    pub fn chunk_of_word(word: u32, payload: usize, dst: &'d mut [u8]) -> Result<Self> {
        let len = payload.saturating_add(HEADER_LEN);
        if len > MAX_LEN {
            return Err(Error::needing(Kind::Overflow, What::DESTINATION, 0, len as u64));
        }
        let Some(rest) = dst.get_mut(..len) else {
            return Err(no_room(len));
        };
        let mut out = Out { rest, payload };
        out.u32(word)?;
        Ok(out)
    }

    /// Ends the chunk. Returns its length.
    pub fn finish(self) -> Result<usize> {
        debug_assert!(self.rest.is_empty(), "{} bytes of the chunk were not put", self.rest.len());
        Ok(self.payload.saturating_add(HEADER_LEN))
    }

    /// Returns the number of bytes written after the header word: the offsets of FlatBuffers and BinaryVectors count
    /// these.
    pub fn at(&self) -> usize {
        self.payload.saturating_sub(self.rest.len())
    }

    /// Returns the next `n` bytes, to be filled by the caller.
    pub fn take(&mut self, n: usize) -> Result<&'d mut [u8]> {
        match core::mem::take(&mut self.rest).split_at_mut_checked(n) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(no_room(n)),
        }
    }

    pub fn put<const N: usize>(&mut self, bytes: [u8; N]) -> Result<()> {
        match core::mem::take(&mut self.rest).split_first_chunk_mut::<N>() {
            Some((head, rest)) => {
                *head = bytes;
                self.rest = rest;
                Ok(())
            }
            None => Err(no_room(N)),
        }
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        copy(self.take(bytes.len())?, bytes);
        Ok(())
    }

    /// Writes zeros up to `end`, counted from the start of the payload.
    pub fn zeros_to(&mut self, end: usize) -> Result<()> {
        self.take(end.saturating_sub(self.at()))?.fill(0);
        Ok(())
    }

    /// Writes a count, length or offset.
    pub fn u32(&mut self, number: impl TryInto<u32>) -> Result<()> {
        let number = number.try_into().map_err(|_| Error::new(Kind::Overflow, What::DESTINATION, 0))?;
        self.put(number.to_le_bytes())
    }

    /// Writes the header of a packed vector of `n` values (section 9.1).
    pub fn packed_header(&mut self, packing: Packing, n: usize) -> Result<()> {
        self.put(packed_header(packing, n))
    }
}

/// Returns the header of a packed vector of `n` values: width, sign, number of bits used in the last byte (0 = all).
#[allow(clippy::cast_possible_truncation, reason = "widths are at most 64, used bits below 8")]
pub(super) const fn packed_header(packing: Packing, n: usize) -> [u8; 4] {
    let bits = packing.bits();
    // Vectors of 64 bits are marked as signed (`40 00 01 00`), although no reader uses this flag.
    let signed = packing.signed() || matches!(packing, Packing::W64);
    let used = (n as u32 & 7).wrapping_mul(bits) & 7;
    [bits as u8, 0, signed as u8, used as u8]
}

#[cold]
fn no_room(need: usize) -> Error {
    Error::needing(Kind::NoRoom, What::DESTINATION, 0, need as u64)
}
