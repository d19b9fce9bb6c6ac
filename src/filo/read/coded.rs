//! Strings by code: the rows of a dictionary (sections 8.7 and 10.3).

use super::packed::Packed;
use super::strings::{BLOCK, Kinds, NA, Strings, packed_spans};
use crate::bytes::{FAST, Scratch};
use crate::column::{Span, Validity, VarBytes};
use crate::error::{Error, Kind, Result, What};
use crate::filo::raw::UTF8_NA;

/// Maximum number of entries whose spans are looked up once per batch, in a table on the stack.
const ENTRIES: usize = 1024;

impl<'a> Strings<'a> {
    /// Returns a batch of the strings of `len` codes starting at row `first`. Code 0 marks a missing row.
    pub(super) fn gather<'s>(
        &self,
        count: u32,
        codes: &Packed<'_>,
        first: usize,
        len: usize,
        validity: &mut Validity<'s>,
        scratch: &mut Scratch<'s>,
    ) -> Result<VarBytes<'s>>
    where
        'a: 's,
    {
        let spans = scratch.take::<[u32; 2]>(len)?;
        if FAST
            && count as usize <= ENTRIES.min(len / 2)
            && let Some(all) = self.by_table(count, codes, first, spans)
        {
            return self.finish(spans, all, validity, scratch);
        }
        let (mut row, mut all) = (first, true);
        for block in spans.chunks_mut(BLOCK) {
            let mut code = [0u32; BLOCK];
            codes.read(row, code.get_mut(..block.len()).unwrap_or_default())?;
            match if FAST { self.coded_block(&code, count, block) } else { None } {
                Some(present) => all &= present,
                None => {
                    for (span, code) in block.iter_mut().zip(&code) {
                        let found = self.coded(*code, count, codes)?;
                        *span = found.into();
                        all &= found.at != NA.at;
                    }
                }
            }
            row = row.saturating_add(BLOCK);
        }
        self.finish(spans, all, validity, scratch)
    }

    /// Computes the spans of codes starting at row `first` by a table of all entries. Returns whether none is missing, or
    /// `None` if a code or an entry is invalid.
    #[inline(never)]
    fn by_table(&self, count: u32, codes: &Packed<'_>, first: usize, out: &mut [[u32; 2]]) -> Option<bool> {
        let na = NA.into();
        let mut table = [na; ENTRIES];
        for (i, entry) in table.iter_mut().enumerate().take(count as usize).skip(1) {
            // Words of UTF8 can mark an entry as missing.
            *entry = self.find(i).filter(|span| span.at != NA.at)?.into();
        }
        // The code of a missing row has an entry, even if the dictionary is empty.
        let last = count.max(1).wrapping_sub(1);
        let (mut row, mut wrong, mut all) = (first, 0, true);
        for block in out.chunks_mut(BLOCK) {
            // Rows after the end of a short block are not missing.
            let mut code = [last; BLOCK];
            codes.read(row, code.get_mut(..block.len())?).ok()?;
            let mut missing = 0;
            for code in &code {
                // Bit 31 is set if the code exceeds the last one.
                wrong |= last.wrapping_sub(*code) | code;
                missing |= u32::from(*code == 0);
            }
            for (span, code) in block.iter_mut().zip(&code) {
                *span = table.get(*code as usize % ENTRIES).copied().unwrap_or(na);
            }
            all &= missing == 0;
            row = row.saturating_add(BLOCK);
        }
        (wrong >> 31 == 0).then_some(all)
    }

    /// Computes the spans of a block of codes. Returns whether none is missing, or `None` if a code or string is
    /// invalid or its form has no fast path.
    fn coded_block(&self, codes: &[u32; BLOCK], count: u32, out: &mut [[u32; 2]]) -> Option<bool> {
        match self.kind {
            Kinds::Flat { slots } => self.coded_flat(slots, codes, count, out),
            Kinds::Words { base } => self.coded_words(base, codes, count, out),
            _ => None,
        }
    }

    /// [`coded_block`](Self::coded_block) for FlatBuffers strings.
    fn coded_flat(&self, slots: u32, codes: &[u32; BLOCK], count: u32, out: &mut [[u32; 2]]) -> Option<bool> {
        let text = self.chunk.get(slots as usize..)?;
        let entries = text.as_chunks::<4>().0.get(..count as usize)?;
        // Chunks are shorter than 2 GiB, so no number here is near its limits before it is compared.
        let limit = i64::from(i32::try_from(text.len()).ok()?).wrapping_sub(4);
        let (start, mut left, mut least) = (slots.wrapping_add(4), 0, u32::MAX);
        for (span, code) in out.iter_mut().zip(codes) {
            let entry = u32::from_le_bytes(*entries.get(*code as usize)?);
            let at = code.wrapping_mul(4).wrapping_add(entry);
            let len = u32::from_le_bytes(*text.get(at as usize..)?.first_chunk()?);
            // If `at` has wrapped, this is negative.
            left |= limit.wrapping_sub(i64::from(entry)).wrapping_sub(i64::from(*code) << 2).wrapping_sub(len.into());
            // Code 0 means a missing string. The mask is computed without a branch, which would often be mispredicted.
            let there = u32::from(*code == 0).wrapping_sub(1);
            *span = [start.wrapping_add(at) & there, len & there];
            least = least.min(*code);
        }
        (left >= 0).then_some(least > 0)
    }

    /// [`coded_block`](Self::coded_block) for UTF8 words.
    fn coded_words(&self, base: u32, codes: &[u32; BLOCK], count: u32, out: &mut [[u32; 2]]) -> Option<bool> {
        let entries = self.words(base)?.get(..count as usize)?;
        // Entry 0 always means missing. This fast path requires its word to be `UTF8_NA`, so that the loop need not
        // compare each code with 0.
        if u32::from_le_bytes(*entries.first()?) != UTF8_NA {
            return None;
        }
        let mut words = [UTF8_NA; BLOCK];
        for ((word, code), _) in words.iter_mut().zip(codes).zip(&*out) {
            *word = u32::from_le_bytes(*entries.get(*code as usize)?);
        }
        packed_spans(base, self.chunk.len(), &words, out)
    }

    /// Returns the span of the string of a code.
    #[cfg_attr(not(pilaster_small), inline(always))]
    fn coded(&self, code: u32, count: u32, codes: &Packed<'_>) -> Result<Span> {
        if code == 0 {
            return Ok(NA);
        }
        if code >= count {
            return Err(bad_code(code, codes));
        }
        let i = code as usize;
        match self.find(i) {
            Some(span) => Ok(span),
            None => Err(self.explain(i)),
        }
    }
}

/// Creates the error for a code without a dictionary entry.
#[cold]
pub(super) fn bad_code(code: u32, codes: &Packed<'_>) -> Error {
    Error::needing(Kind::Invalid, What::FILO_CODES, codes.at.into(), code.into())
}

#[cfg(test)]
mod tests;
