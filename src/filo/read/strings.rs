//! Strings: their four storage forms, and dictionary codes (sections 8.5 to 8.7, 9.3 and 10).

// Without the inline attributes of this file, simple strings are decoded at 0.46 of the speed (bench `filo`).

use crate::bytes::{Bits, FAST, Scratch};
use crate::column::{Span, Spans, Validity, VarBytes};
use crate::encoding::bitmap;
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::{FIXED_NA, UTF8_LEN_BITS, UTF8_MAX_LEN, UTF8_MAX_OFFSET, UTF8_NA};

/// A list of strings inside a chunk. Spans count from the start of the chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    /// The chunk up to the end of the list.
    pub(super) chunk: &'a [u8],
    pub(super) kind: Kinds,
}

/// The storage form of a list of strings.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kinds {
    /// FlatBuffers: at `slots`, one offset per string, counted from the offset itself.
    Flat { slots: u32 },
    /// UTF8: one word per string, after the row count at `base`.
    Words { base: u32 },
    /// FixedMaxUTF8: slots of `size` bytes.
    Slots { at: u32, size: u8 },
    /// One string for all rows.
    One(Span),
}

/// The span of a missing string. No other span starts at 0, the offset of the header word.
pub(super) const NA: Span = Span { at: 0, len: 0 };

/// Number of rows per iteration of the batch loops.
pub(super) const BLOCK: usize = 64;

impl<'a> Strings<'a> {
    /// Returns string `i`, or `None` if it is missing.
    #[inline(never)]
    pub(super) fn get(&self, i: usize) -> Result<Option<&'a [u8]>> {
        Ok(self.bytes(self.span(i)?))
    }

    /// Returns the span of string `i`, [`NA`] if it is missing.
    pub(super) fn span(&self, i: usize) -> Result<Span> {
        self.find(i).ok_or_else(|| self.explain(i))
    }

    /// Returns the bytes of a result of [`span`](Self::span), or `None` if it is [`NA`].
    #[inline]
    pub(super) fn bytes(&self, span: Span) -> Option<&'a [u8]> {
        if span.at == NA.at {
            return None;
        }
        let start = usize::try_from(span.at).ok()?;
        self.chunk.get(start..start.checked_add(usize::try_from(span.len).ok()?)?)
    }

    /// Reads the rows `first..first + len` and ignores the mask. `validity` has all rows set; it changes only if the
    /// strings themselves mark rows as missing.
    pub(super) fn read<'s>(
        &self,
        first: usize,
        len: usize,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<VarBytes<'s>>
    where
        'a: 's,
    {
        if let Kinds::One(span) = self.kind {
            let data = self.bytes(span).unwrap_or_default();
            return Ok(VarBytes { data, spans: Spans::Same { count: len } });
        }
        if let Kinds::Slots { at, size } = self.kind {
            return self.slots(at, size, first, len, validity, scratch);
        }
        let spans = scratch.take::<[u32; 2]>(len)?;
        // One loop over all rows, so that cache misses of different blocks overlap.
        if let Kinds::Words { base } = self.kind
            && FAST
            && let Some(words) = self.words(base).and_then(|words| words.get(first..))
            && words.len() >= len
            && self.long_words(base, words, spans)
        {
            return self.finish(spans, true, validity, scratch);
        }
        let all = match self.kind {
            Kinds::Words { base } if FAST => {
                let (mut row, mut all) = (first, true);
                for block in spans.chunks_mut(BLOCK) {
                    all &= match self.packed_words(base, row, block) {
                        Some(all) => all,
                        None => self.one_by_one(row, block)?,
                    };
                    row = row.saturating_add(BLOCK);
                }
                all
            }
            _ => self.one_by_one(first, spans)?,
        };
        self.finish(spans, all, validity, scratch)
    }

    /// Returns whether this form can mark a string as missing.
    pub(super) const fn may_miss(&self) -> bool {
        matches!(self.kind, Kinds::Words { .. } | Kinds::Slots { .. })
    }

    /// Returns whether all rows have one string.
    pub(super) const fn is_one(&self) -> bool {
        matches!(self.kind, Kinds::One(_))
    }

    /// Returns an upper bound of the scratch size in bytes that a batch of `rows` rows takes.
    pub(super) fn need(&self, rows: u64) -> u64 {
        match self.kind {
            Kinds::One(_) => 0,
            Kinds::Slots { .. } => rows.saturating_add(super::mask::validity_need(rows)),
            _ => Scratch::cost::<[u32; 2]>(rows).saturating_add(super::mask::validity_need(rows)),
        }
    }

    /// Returns the batch of `spans`. `all` is true if no string is missing.
    pub(super) fn finish<'s>(
        &self,
        spans: &'s [[u32; 2]],
        all: bool,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<VarBytes<'s>>
    where
        'a: 's,
    {
        if !all {
            let valid = scratch.take::<u8>(spans.len().div_ceil(8))?;
            bitmap::pack(spans, valid, |[at, _]| at != NA.at);
            *validity = Validity::Bits(Bits::new(valid, 0, spans.len())?);
        }
        Ok(VarBytes { data: self.chunk, spans: Spans::Each(spans) })
    }

    fn one_by_one(&self, first: usize, out: &mut [[u32; 2]]) -> Result<bool> {
        let (mut row, mut all) = (first, true);
        for span in out {
            let Some(found) = self.find(row) else { return Err(self.explain(row)) };
            *span = found.into();
            all &= found.at != NA.at;
            row = row.wrapping_add(1);
        }
        Ok(all)
    }

    /// Computes the spans of a block of UTF8 words. Returns whether none is missing, or `None` if a word is invalid.
    #[inline(never)]
    fn packed_words(&self, base: u32, first: usize, out: &mut [[u32; 2]]) -> Option<bool> {
        let stored = self.words(base)?.get(first..)?.get(..out.len())?;
        // After 1 MiB of text all words have the long form.
        let long = u32::from_le_bytes(*stored.first()?) & UTF8_NA == 0;
        if long && self.long_words(base, stored, out) {
            return Some(true);
        }
        let words = match stored.first_chunk::<BLOCK>() {
            Some(full) => full.map(u32::from_le_bytes),
            None => {
                // Fills the end of a short block with the first word.
                let mut words = [u32::from_le_bytes(*stored.first()?); BLOCK];
                for (word, stored) in words.iter_mut().zip(stored) {
                    *word = u32::from_le_bytes(*stored);
                }
                words
            }
        };
        let done = if long { None } else { packed_spans(base, self.chunk.len(), &words, out) };
        done.or_else(|| self.long_spans(base, &words, out))
    }

    /// Decodes the spans of `words` of the long form, whose lengths are stored before the strings. Returns false if a
    /// word has the packed form or is invalid.
    #[inline(never)]
    fn long_words(&self, base: u32, words: &[[u8; 4]], out: &mut [[u32; 2]]) -> bool {
        let text = self.chunk.get(base as usize..).unwrap_or_default();
        // Chunks are shorter than 2 GiB, so a word of the packed form is an offset beyond the end of any chunk.
        let Ok(len) = i32::try_from(text.len()) else { return false };
        let limit = i64::from(len).wrapping_sub(4);
        let (start, mut left) = (base.wrapping_add(4), 0);
        for (span, word) in out.iter_mut().zip(words) {
            let word = u32::from_le_bytes(*word);
            let at = word as usize;
            let Some(len) = text.get(at..at.wrapping_add(4)).and_then(|text| text.first_chunk()) else {
                return false;
            };
            let len = u32::from_le_bytes(*len);
            *span = [start.wrapping_add(word), len];
            // Collects the signs of all words, which needs no branch per word. No number here is near its limits.
            left |= limit.wrapping_sub(word.into()).wrapping_sub(len.into());
        }
        left >= 0
    }

    /// Computes the spans of words of either form one by one. Returns whether none is missing, or `None` if a word is
    /// invalid.
    fn long_spans(&self, base: u32, words: &[u32; BLOCK], out: &mut [[u32; 2]]) -> Option<bool> {
        let mut all = true;
        for (span, word) in out.iter_mut().zip(words) {
            let found = self.word_span(base, *word)?;
            *span = found.into();
            all &= found.at != NA.at;
        }
        Some(all)
    }

    /// Returns the span of a word of either form, or `None` if it exceeds the chunk.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn word_span(&self, base: u32, word: u32) -> Option<Span> {
        if word & UTF8_NA == 0 {
            return self.with_length((base as usize).checked_add(word as usize)?);
        }
        self.packed_span(base, word)
    }

    /// Returns the span of a word of the packed form.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn packed_span(&self, base: u32, word: u32) -> Option<Span> {
        let span = packed_word(base, word);
        (span.at.wrapping_add(span.len) as usize <= self.chunk.len()).then_some(span)
    }

    /// Returns the table of UTF8 words, up to the end of the chunk.
    pub(super) fn words(&self, base: u32) -> Option<&'a [[u8; 4]]> {
        Some(self.chunk.get((base as usize).checked_add(4)?..)?.as_chunks::<4>().0)
    }

    /// Returns the words or offsets of the strings, up to the end of the chunk, if their form has such a table.
    pub(super) fn table(&self) -> Option<&'a [[u8; 4]]> {
        match self.kind {
            Kinds::Words { base } => self.words(base),
            Kinds::Flat { slots } => Some(self.chunk.get(slots as usize..)?.as_chunks().0),
            Kinds::Slots { .. } | Kinds::One(_) => None,
        }
    }

    /// Returns string `i` of a list whose [`table`](Self::table) is `texts`, `Some(None)` if it is missing, or `None` if it
    /// takes [`get`](Self::get), as long or invalid ones do.
    #[inline(always)]
    pub(super) fn quick(&self, texts: &[[u8; 4]], i: usize) -> Option<Option<&'a [u8]>> {
        let bytes = match self.kind {
            Kinds::Words { base } => return text_of_word(self.chunk, base, u32::from_le_bytes(*texts.get(i)?)),
            Kinds::Flat { slots } => {
                let slot = u64::from(slots).wrapping_add((i as u64) << 2);
                let at = slot.wrapping_add(u32::from_le_bytes(*texts.get(i)?).into());
                let (len, rest) = self.chunk.get(usize::try_from(at).ok()?..)?.split_first_chunk()?;
                rest.get(..u32::from_le_bytes(*len) as usize)?
            }
            Kinds::Slots { at, size } => {
                let (at, size) = (at as usize, usize::from(size));
                let at = i.checked_mul(size)?.checked_add(at)?;
                let [len, text @ ..] = self.chunk.get(at..at.checked_add(size)?)? else { return None };
                if *len == 0 && text.first() == Some(&FIXED_NA) {
                    return Some(None);
                }
                text.get(..(*len).into())?
            }
            Kinds::One(_) => return None,
        };
        Some(Some(bytes))
    }

    /// Returns a batch of fixed-max slots: the length byte of each.
    // If inlined, its loop runs out of registers and reaches 0.66 of the speed (bench `filo`).
    #[inline(never)]
    fn slots<'s>(
        &self,
        at: u32,
        size: u8,
        first: usize,
        len: usize,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<VarBytes<'s>>
    where
        'a: 's,
    {
        let lens = scratch.take::<u8>(len)?;
        let start = first.saturating_mul(size.into()).saturating_add(at as usize);
        let text = u32::try_from(start).unwrap_or(u32::MAX).wrapping_add(1);
        let strings =
            |lens| VarBytes { data: self.chunk, spans: Spans::Slots { first: text, size: size.into(), lens } };
        if FAST {
            let slots = self.chunk.get(start..).unwrap_or_default().chunks_exact(size.max(1).into());
            for (len, slot) in lens.iter_mut().zip(slots) {
                *len = slot.first().copied().unwrap_or_default();
            }
            // One comparison detects both 0, which may be a missing string, and a length that is too large.
            let odd = lens.iter().fold(false, |odd, len| odd | (len.wrapping_sub(1) >= size.wrapping_sub(1)));
            if !odd {
                return Ok(strings(lens));
            }
        }
        let valid = scratch.take::<u8>(len.div_ceil(8))?;
        let (mut row, mut all) = (first, true);
        for (byte, lens) in valid.iter_mut().zip(lens.chunks_mut(8)) {
            *byte = 0;
            for (bit, len) in (0..8).zip(lens) {
                let span = self.span(row)?;
                let [low, ..] = span.len.to_le_bytes();
                *len = low;
                *byte |= u8::from(span.at != NA.at) << bit;
                all &= span.at != NA.at;
                row = row.wrapping_add(1);
            }
        }
        if !all {
            *validity = Validity::Bits(Bits::new(valid, 0, len)?);
        }
        Ok(strings(lens))
    }

    /// Returns the span of string `i`, or `None` if it is invalid.
    #[cfg_attr(not(pilaster_small), inline(always))]
    pub(super) fn find(&self, i: usize) -> Option<Span> {
        match self.kind {
            Kinds::Flat { slots: base } | Kinds::Words { base } => {
                let words = matches!(self.kind, Kinds::Words { .. });
                let slot = i.checked_add(words.into())?.checked_mul(4)?.checked_add(base as usize)?;
                let word = self.u32(slot)?;
                if words && word & UTF8_NA != 0 {
                    return self.packed_span(base, word);
                }
                let from = if words { base as usize } else { slot };
                self.with_length(from.checked_add(word as usize)?)
            }
            Kinds::Slots { at, size } => {
                let at = i.checked_mul(size.into())?.checked_add(at as usize)?;
                let [len, next, ..] = self.chunk.get(at..)?.get(..size.into())? else { return None };
                if *len == 0 && *next == FIXED_NA {
                    return Some(NA);
                }
                let at = u32::try_from(at.checked_add(1)?).ok()?;
                (*len < size).then_some(Span { at, len: (*len).into() })
            }
            Kinds::One(span) => Some(span),
        }
    }

    /// Returns the span of a string after its 32-bit length.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn with_length(&self, at: usize) -> Option<Span> {
        let len = self.u32(at)?;
        let start = at.checked_add(4)?;
        let end = start.checked_add(len as usize)?;
        (end <= self.chunk.len()).then_some(Span { at: u32::try_from(start).ok()?, len })
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn u32(&self, at: usize) -> Option<u32> {
        self.chunk.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Creates the error for string `i`, for which [`find`](Self::find) returned `None`: an invalid offset, or a length
    /// beyond the end of the chunk.
    #[cold]
    pub(super) fn explain(&self, i: usize) -> Error {
        // String `i` is one of a list whose frame lies in the chunk, so no product here wraps.
        let i = u32::try_from(i).unwrap_or(u32::MAX);
        let (what, at) = match self.kind {
            Kinds::Flat { slots } => (What::FILO_STRING, i.wrapping_mul(4).wrapping_add(slots)),
            Kinds::Words { base } => (What::FILO_WORDS, i.wrapping_add(1).wrapping_mul(4).wrapping_add(base)),
            Kinds::Slots { at, size } => (What::FILO_SLOT, i.wrapping_mul(size.into()).wrapping_add(at)),
            Kinds::One(span) => (What::FILO_STRING, span.at),
        };
        Error::needing(Kind::Invalid, what, at.into(), self.u32(at as usize).unwrap_or(0).into())
    }
}

/// Returns the string of a word whose offset counts from `base`, or `Some(None)` if it is missing. Returns `None` if the string
/// exceeds `chunk`.
#[inline(always)]
pub(super) fn text_of_word(chunk: &[u8], base: u32, word: u32) -> Option<Option<&[u8]>> {
    if word > UTF8_NA {
        // Chunks are shorter than 2 GiB, so no sum here wraps.
        let at = base.wrapping_add(word >> UTF8_LEN_BITS & UTF8_MAX_OFFSET) as usize;
        return chunk.get(at..at.wrapping_add((word & UTF8_MAX_LEN) as usize)).map(Some);
    }
    if word == UTF8_NA {
        return Some(None);
    }
    // Offsets of the long form have 31 bits, and the string follows its length.
    let (len, rest) = chunk.get(base.wrapping_add(word) as usize..)?.split_first_chunk()?;
    rest.get(..u32::from_le_bytes(*len) as usize).map(Some)
}

/// Computes the spans of words of the packed form in a chunk of `len` bytes. Returns whether none is missing, or `None`
/// if a word has the long form or is invalid.
///
/// The checks have no branch per word and use 32-bit lanes up to the last loop, so that the compiler vectorises them.
/// Chunks are shorter than 2 GiB, so bit 31 of a difference is set if a span exceeds the chunk.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn packed_spans(base: u32, len: usize, words: &[u32; BLOCK], out: &mut [[u32; 2]]) -> Option<bool> {
    let limit = i32::try_from(len).ok()?.cast_unsigned();
    let (mut starts, mut lens) = ([0; BLOCK], [0; BLOCK]);
    let (mut wrong, mut packed, mut missing) = (0, u32::MAX, 0);
    for ((word, start), len) in words.iter().zip(&mut starts).zip(&mut lens) {
        let offset = base.wrapping_add(word >> UTF8_LEN_BITS & UTF8_MAX_OFFSET);
        (*start, *len) = (offset, word & UTF8_MAX_LEN);
        wrong |= limit.wrapping_sub(offset.wrapping_add(*len));
        packed &= word;
        missing |= u32::from(*word == UTF8_NA);
    }
    for ((span, at), len) in out.iter_mut().zip(&starts).zip(&lens) {
        *span = [*at, *len];
    }
    let mut all = true;
    if missing != 0 {
        for (span, word) in out.iter_mut().zip(words).filter(|(_, word)| **word == UTF8_NA) {
            (*span, all) = (packed_word(base, *word).into(), false);
        }
    }
    ((wrong | !packed) >> 31 == 0).then_some(all)
}

/// Returns the span of a word of the packed form: 20 bits of offset and 11 of length (section 10.1). It may exceed the
/// chunk.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn packed_word(base: u32, word: u32) -> Span {
    let at = base.wrapping_add(word >> UTF8_LEN_BITS & UTF8_MAX_OFFSET);
    Span { at: at & !na_lanes(word), len: word & UTF8_MAX_LEN }
}

/// Returns all ones for the word of a missing string, else zero. `word` has the packed form. Computed arithmetically,
/// because the compiler turns a conditional into a branch and then does not vectorise the loop.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
const fn na_lanes(word: u32) -> u32 {
    let rest = word & !UTF8_NA;
    !(rest.wrapping_neg().cast_signed() >> 31).cast_unsigned()
}

#[cfg(test)]
mod tests;
