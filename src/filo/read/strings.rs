//! Strings: the four places where they lie, and codes into them (sections 8.5 to 8.7, 9.3 and 10).

use super::packed::Packed;
use crate::bytes::{Bits, Scratch};
use crate::column::{Span, Spans, Validity, VarBytes};
use crate::encoding::Out;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{FIXED_NA, UTF8_LEN_BITS, UTF8_MAX_LEN, UTF8_MAX_OFFSET, UTF8_NA};

/// A list of strings inside a chunk. Spans count from the start of the chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    /// The chunk up to the end of the list.
    pub(super) chunk: &'a [u8],
    pub(super) kind: Kinds,
}

/// How the strings of a list are found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kinds {
    /// FlatBuffers: at `slots`, one offset per string, counted from the offset itself.
    Flat { slots: u32 },
    /// UTF8: behind the row count at `base`, one word per string.
    Words { base: u32 },
    /// FixedMaxUTF8: slots of `size` bytes.
    Slots { at: u32, size: u8 },
    /// One string for all rows.
    One(Span),
}

/// The span of a missing string. No other starts at 0, where the header word lies.
const NA: Span = Span { at: 0, len: 0 };

/// Rows per turn of the batch loops.
const BLOCK: usize = 64;

impl<'a> Strings<'a> {
    /// Where string `i` lies; [`NA`] if it is missing.
    #[inline]
    pub(super) fn span(&self, i: usize) -> Result<Span> {
        let i = i as u64;
        match self.kind {
            Kinds::Flat { slots } => {
                let slot = i.saturating_mul(4).saturating_add(slots.into());
                let at = slot.saturating_add(self.u32(slot, What::FiloString)?.into());
                self.with_length(at)
            }
            Kinds::Words { base } => {
                let at = i.saturating_mul(4).saturating_add(4).saturating_add(base.into());
                self.word_span(base, self.u32(at, What::FiloWords)?)
            }
            Kinds::Slots { at, size } => {
                let at = i.saturating_mul(size.into()).saturating_add(at.into());
                self.slot_span(at, size)
            }
            Kinds::One(span) => Ok(span),
        }
    }

    /// The bytes of a span that [`span`](Self::span) gave; `None` if it is [`NA`].
    pub(super) fn bytes(&self, span: Span) -> Option<&'a [u8]> {
        if span == NA {
            return None;
        }
        let start = usize::try_from(span.at).ok()?;
        self.chunk.get(start..start.checked_add(usize::try_from(span.len).ok()?)?)
    }

    /// Batch of rows `first..first + len`, without regard to a mask.
    pub(super) fn read<'s>(
        &self,
        first: usize,
        len: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<(VarBytes<'s>, Validity<'s>)>
    where
        'a: 's,
    {
        if let Kinds::One(span) = self.kind {
            let data = self.bytes(span).unwrap_or_default();
            return Ok((VarBytes { data, spans: Spans::Same { count: len } }, Validity::All));
        }
        let spans = scratch.take::<Span>(len)?;
        let mut row = first;
        for block in spans.chunks_mut(BLOCK) {
            if !self.packed_words(row, block) {
                for (i, span) in block.iter_mut().enumerate() {
                    *span = self.span(row.saturating_add(i))?;
                }
            }
            row = row.saturating_add(BLOCK);
        }
        self.finish(spans, scratch)
    }

    /// Batch of the strings that `codes` name from row `first` on; code 0 is NA.
    pub(super) fn gather<'s>(
        &self,
        count: u32,
        codes: &Packed<'_>,
        first: usize,
        len: usize,
        scratch: &mut Scratch<'s>,
    ) -> Result<(VarBytes<'s>, Validity<'s>)>
    where
        'a: 's,
    {
        let spans = scratch.take::<Span>(len)?;
        let mut row = first;
        for block in spans.chunks_mut(BLOCK) {
            let mut code = [0u32; BLOCK];
            codes.read(row, Out::W4(code.get_mut(..block.len()).unwrap_or_default()))?;
            for (span, code) in block.iter_mut().zip(code) {
                *span = self.coded(code, count, codes)?;
            }
            row = row.saturating_add(BLOCK);
        }
        self.finish(spans, scratch)
    }

    /// The string of a code.
    #[inline]
    pub(super) fn coded(&self, code: u32, count: u32, codes: &Packed<'_>) -> Result<Span> {
        if code == 0 {
            return Ok(NA);
        }
        if code >= count {
            return Err(Error::new(Kind::Invalid, What::FiloCodes, codes.at.into()).with_need(code.into()));
        }
        self.span(usize::try_from(code).unwrap_or(usize::MAX))
    }

    /// Whether the strings themselves can say that they are missing.
    pub(super) const fn may_miss(&self) -> bool {
        matches!(self.kind, Kinds::Words { .. } | Kinds::Slots { .. })
    }

    /// Whether one string stands for all rows.
    pub(super) const fn is_one(&self) -> bool {
        matches!(self.kind, Kinds::One(_))
    }

    /// An upper bound of the scratch that a batch takes.
    pub(super) fn need(&self, rows: u64) -> u64 {
        match self.kind {
            Kinds::One(_) => 0,
            _ => Scratch::cost::<Span>(rows).saturating_add(super::mask::validity_need(rows)),
        }
    }

    fn finish<'s>(&self, spans: &'s [Span], scratch: &mut Scratch<'s>) -> Result<(VarBytes<'s>, Validity<'s>)>
    where
        'a: 's,
    {
        let all = spans.iter().fold(true, |all, span| all & (span.at != 0));
        let strings = VarBytes { data: self.chunk, spans: Spans::Each(spans) };
        if all {
            return Ok((strings, Validity::All));
        }
        let valid = scratch.take::<u8>(spans.len().div_ceil(8))?;
        for (byte, spans) in valid.iter_mut().zip(spans.chunks(8)) {
            *byte = spans.iter().rev().fold(0, |byte, span| byte << 1 | u8::from(span.at != 0));
        }
        Ok((strings, Validity::Bits(Bits::new(valid, 0, spans.len())?)))
    }

    /// Spans of a block of UTF8 words, if all are of the packed form and inside; else false.
    /// Without branches, so that the compiler vectorises it.
    fn packed_words(&self, first: usize, out: &mut [Span]) -> bool {
        let Kinds::Words { base } = self.kind else { return false };
        let (Ok(table), Ok(limit)) = (usize::try_from(base), u32::try_from(self.chunk.len())) else { return false };
        let start = table.saturating_add(4).saturating_add(first.saturating_mul(4));
        let words = self.chunk.get(start..).unwrap_or_default().as_chunks::<4>().0;
        if words.len() < out.len() {
            return false;
        }
        let (mut all, mut end) = (u32::MAX, 0u32);
        for (span, word) in out.iter_mut().zip(words) {
            let word = u32::from_le_bytes(*word);
            let Span { at, len } = packed_word(base, word);
            *span = Span { at, len };
            end = end.max(at.wrapping_add(len));
            all &= word;
        }
        all & UTF8_NA != 0 && end <= limit
    }

    fn word_span(&self, base: u32, word: u32) -> Result<Span> {
        if word & UTF8_NA != 0 {
            let span = packed_word(base, word);
            let end = u64::from(span.at).saturating_add(span.len.into());
            return if end <= self.chunk.len() as u64 {
                Ok(span)
            } else {
                Err(self.cut(span.at.into(), span.len.into()))
            };
        }
        self.with_length(u64::from(base).saturating_add(word.into()))
    }

    /// A string behind its 32-bit length.
    fn with_length(&self, at: u64) -> Result<Span> {
        let len = self.u32(at, What::FiloString)?;
        let start = at.saturating_add(4);
        if start.saturating_add(len.into()) > self.chunk.len() as u64 {
            return Err(self.cut(start, len.into()));
        }
        Ok(Span { at: super::packed::position(start)?, len })
    }

    #[inline]
    fn slot_span(&self, at: u64, size: u8) -> Result<Span> {
        let slot = usize::try_from(at).ok().and_then(|at| self.chunk.get(at..)?.get(..size.into()));
        let Some([len, next, ..]) = slot else { return Err(self.cut(at, size.into())) };
        if *len >= size {
            return Err(Error::new(Kind::Invalid, What::FiloSlot, at).with_need((*len).into()));
        }
        if *len == 0 && *next == FIXED_NA {
            return Ok(NA);
        }
        Ok(Span { at: super::packed::position(at.saturating_add(1))?, len: (*len).into() })
    }

    fn u32(&self, at: u64, what: What) -> Result<u32> {
        let bytes = usize::try_from(at).ok().and_then(|at| self.chunk.get(at..)?.first_chunk::<4>());
        bytes.map(|bytes| u32::from_le_bytes(*bytes)).ok_or(Error::new(Kind::Truncated, what, at).with_need(4))
    }

    #[cold]
    fn cut(&self, at: u64, len: u64) -> Error {
        Error::new(Kind::Truncated, What::FiloString, at).with_need(len)
    }
}

/// A word of the packed form: 20 bits of offset and 11 of length (section 10.1).
#[inline(always)]
fn packed_word(base: u32, word: u32) -> Span {
    let at = base.wrapping_add(word >> UTF8_LEN_BITS & UTF8_MAX_OFFSET);
    Span { at: if word == UTF8_NA { 0 } else { at }, len: word & UTF8_MAX_LEN }
}
