//! The literals of a block (RFC 8878, section 3.1.1.3.1).

use super::bits::size;
use super::huffman::Code;
use crate::bytes::{LittleEndian, Reader, little, saturated};
use crate::error::{Error, Kind, Result, What};

/// How the literals of a block are stored.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// Stored bytes, or one repeated byte.
    Plain,
    /// Huffman codes: in four streams or one, with or without their description before them.
    Huffman { four: bool, described: bool },
}

/// A literals section: its header, and the range of its contents.
pub(super) struct Literals {
    form: Form,
    /// Number of literals.
    pub len: usize,
    /// Range of the contents in the source.
    start: usize,
    end: usize,
}

impl Literals {
    /// Reads the section at the start of `r`.
    pub(super) fn read(r: &mut Reader<'_, LittleEndian>) -> Result<Self> {
        let head = r.rest().first().copied().unwrap_or(0);
        let (kind, format) = (head & 3, head >> 2 & 3);
        // Bytes of the header, bits before the sizes, bits of each size.
        let (bytes, skip, width) = match (kind, format) {
            (0 | 1, 0 | 2) => (1, 3, 5),
            (0 | 1, 1) => (2, 4, 12),
            (0 | 1, _) => (3, 4, 20),
            (_, 0 | 1) => (3, 4, 10),
            (_, 2) => (4, 4, 14),
            (_, _) => (5, 4, 18),
        };
        let word = little(r.take(bytes, What::ZSTD_LITERALS)?);
        let mask = (1u64 << width).wrapping_sub(1);
        let len = size(word >> skip & mask);
        let (form, stored) = match kind {
            0 => (Form::Plain, len),
            1 => (Form::Plain, 1),
            _ => {
                let form = Form::Huffman { four: format != 0, described: kind == 2 };
                (form, size(word >> skip >> width & mask))
            }
        };
        let start = saturated(r.at());
        r.take(stored, What::ZSTD_LITERALS)?;
        Ok(Literals { form, len, start, end: start.saturating_add(stored) })
    }

    /// Decodes the literals to all of `dst`, which has exactly their length.
    pub(super) fn decode(&self, src: &[u8], code: &mut Code<'_>, dst: &mut [u8]) -> Result<()> {
        let stored = src.get(self.start..self.end).unwrap_or_default();
        match self.form {
            Form::Plain => {
                plain(stored, dst);
                Ok(())
            }
            Form::Huffman { four, described } => {
                let mut r = Reader::new_at(stored, self.start as u64);
                let wrong = |need: u64| Error::needing(Kind::Invalid, What::ZSTD_LITERALS, self.start as u64, need);
                if described {
                    code.read(src, &mut r)?;
                } else if !code.holds() {
                    return Err(wrong(3));
                }
                let start = saturated(r.at());
                // Fewer literals are never split into four streams.
                if four && dst.len() < 6 {
                    return Err(wrong(dst.len() as u64));
                }
                code.decode(src, start, self.end, four, dst)
            }
        }
    }
}

/// Fills `dst` with the stored bytes, or with the only stored byte repeatedly.
pub(super) fn plain(stored: &[u8], dst: &mut [u8]) {
    if stored.len() == dst.len() {
        dst.copy_from_slice(stored);
    } else {
        dst.fill(stored.first().copied().unwrap_or(0));
    }
}
