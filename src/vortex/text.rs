//! The destination of texts: in place if one blob contains them all, otherwise copied consecutively into an arena.

use super::blob::Blob;
use super::context::Context;
use super::encodings::{constant, sparse};
use super::node::{Form, Node};
use super::rows::Rows;
use super::scalar::Scalar;
use super::scheme::Holds;
use super::tree::{NOWHERE, span, span_cell};
use crate::bytes::saturated;
use crate::column::Span;
use crate::error::{Error, Kind, Result, What};

/// The plan for the texts of some rows, made before they are read.
#[derive(Clone, Copy)]
pub(super) enum Plan<'f> {
    /// All texts are in these bytes, which are a blob.
    Borrowed(&'f [u8]),
    /// The texts are copied into an arena, of which they take at most this number of bytes.
    Copied(u64),
}

/// Returns the span of the text at `start` of a blob, or [`NOWHERE`] if a text to be copied exceeds the blob. Copies
/// the text if the call copies texts.
pub(super) fn put(blob: &Blob<'_>, start: usize, len: usize, cx: &mut Context<'_, '_>) -> Result<Span> {
    if !cx.copies_texts() {
        return Ok(span(start as u64, len as u64));
    }
    let Some(bytes) = blob.bytes.get(start..start.saturating_add(len)) else { return Ok(NOWHERE) };
    let full = || Error::needing(Kind::Invalid, What::VORTEX_TEXT, blob.at, len as u64);
    let at = cx.reserve(len).ok_or_else(full)?;
    for (to, byte) in cx.arena(at, len).0.iter_mut().zip(bytes) {
        *to = *byte;
    }
    Ok(span(at as u64, len as u64))
}

/// Returns the span of the text of a scalar.
pub(super) fn put_scalar(blob: &Blob<'_>, scalar: &Scalar<'_>, cx: &mut Context<'_, '_>) -> Result<Span> {
    let bytes = scalar.located_bytes()?;
    // A scalar is stored in a buffer of a blob.
    let start = saturated(bytes.at().saturating_sub(blob.at));
    put(blob, start, bytes.bytes().len(), cx)
}

impl<'f> Node<'f> {
    /// Returns the plan for the texts of `len` rows starting at `at`.
    pub(super) fn plan(&self, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<Plan<'f>> {
        cx.spend(self.at())?;
        let Some(holds) = self.holds() else {
            return match self.form {
                Form::Nothing => Err(self.undecoded()),
                _ => Ok(Plan::Borrowed(self.blob.bytes)),
            };
        };
        match holds {
            Holds::Wrapped(inner) => inner(self)?.plan(at, len, cx),
            Holds::Picked(values, _) => {
                let values = &values(self)?;
                values.plan(0, saturated(values.rows), cx)
            }
            Holds::Patched => {
                let values = &sparse::values(self)?;
                match values.plan(0, saturated(values.rows), cx)? {
                    Plan::Copied(bound) => Ok(Plan::Copied(bound.saturating_add(constant::text_len(self)?))),
                    borrowed => Ok(borrowed),
                }
            }
            Holds::Chunks(_) => self.plan_chunks(at, len, cx),
            Holds::Constant | Holds::Texts(_) => Ok(Plan::Borrowed(self.blob.bytes)),
            Holds::PackedTexts(bound) | Holds::Packed(bound) => Ok(Plan::Copied(bound(self, at, len, cx)?)),
            Holds::Nulls | Holds::Values | Holds::Nested(_) | Holds::Unknown => Err(self.undecoded()),
        }
    }

    /// Rows in one chunk have the plan of that chunk. Texts of several chunks are copied, unless all are in one blob.
    fn plan_chunks(&self, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<Plan<'f>> {
        let (mut done, mut bound, mut blob, mut same) = (0usize, Ok(0u64), None, true);
        while done < len {
            let rows = self.chunk_at(at.saturating_add(done as u64), len.saturating_sub(done), cx)?;
            let part = saturated(rows.left);
            let plan = rows.node.plan(rows.at, part, cx)?;
            if part == len {
                return Ok(plan);
            }
            let more = match plan {
                Plan::Copied(bound) => {
                    same = false;
                    Ok(bound)
                }
                Plan::Borrowed(own) => {
                    same &= core::ptr::eq(*blob.get_or_insert(own), own);
                    rows.node.text_len(rows.at, part, cx)
                }
            };
            bound = bound.and_then(|bound| Ok(bound.saturating_add(more?)));
            done = done.saturating_add(part);
        }
        match blob {
            Some(blob) if same => Ok(Plan::Borrowed(blob)),
            _ => bound.map(Plan::Copied),
        }
    }

    /// Returns the chunk with row `at` of a chunked node, and at most `len` of its rows from there.
    pub(super) fn chunk_at(&self, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<Rows<'f>> {
        let rows = Rows { node: *self, at, left: len as u64 };
        match self.holds() {
            Some(Holds::Chunks(chunk)) => chunk(&rows, cx),
            _ => Ok(rows),
        }
    }

    /// Returns the sum of the lengths of texts in a blob, with every repetition.
    fn text_len(&self, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<u64> {
        match self.holds() {
            Some(Holds::Wrapped(inner)) => inner(self)?.text_len(at, len, cx),
            Some(Holds::Texts(sum)) => sum(self, at, len, cx),
            Some(Holds::Constant) => Ok(constant::text_len(self)?.saturating_mul(len as u64)),
            // Texts of other forms cannot be measured without reading them.
            Some(
                Holds::Nulls
                | Holds::Values
                | Holds::PackedTexts(_)
                | Holds::Packed(_)
                | Holds::Nested(_)
                | Holds::Picked(..)
                | Holds::Patched
                | Holds::Chunks(_)
                | Holds::Unknown,
            )
            | None => Err(self.undecoded()),
        }
    }

    /// Replaces lengths by consecutive spans at the end of the arena, and reserves their bytes. Returns the start and
    /// the number of these bytes.
    pub(super) fn reserve_texts(&self, lengths: &mut [u64], cx: &mut Context<'_, '_>) -> Result<(usize, usize)> {
        let used = cx.used().ok_or_else(|| self.error(Kind::Misuse, What::VORTEX_TEXT, 0))?;
        let mut end = used as u64;
        for cell in lengths {
            let len = *cell;
            let span = span(end, len);
            end = end.saturating_add(len);
            if span == NOWHERE {
                return Err(self.error(Kind::Invalid, What::VORTEX_TEXT, len));
            }
            *cell = span_cell(span);
        }
        let total = saturated(end.saturating_sub(used as u64));
        Ok((self.reserve(total, cx)?, total))
    }

    /// Reserves `len` bytes of the arena and returns their start.
    pub(super) fn reserve(&self, len: usize, cx: &mut Context<'_, '_>) -> Result<usize> {
        let kind = if cx.copies_texts() { Kind::Invalid } else { Kind::Misuse };
        // The size of the arena is an upper bound computed from the codes, so the lengths are wrong.
        cx.reserve(len).ok_or_else(|| self.error(kind, What::VORTEX_TEXT, len as u64))
    }

    /// Converts an error of a text decoder, whose offset is relative to its input at offset `at`.
    #[cold]
    pub(super) fn text_error(&self, e: Error, at: u64) -> Error {
        // The destination has exactly as many bytes as the lengths add up to.
        if e.kind() == Kind::NoRoom {
            self.error(Kind::Invalid, What::VORTEX_TEXT, e.need().into())
        } else {
            e.moved(at)
        }
    }

    /// Returns an error if the texts do not have the total length that the lengths add up to.
    pub(super) fn all_decoded(&self, done: usize, total: usize) -> Result<()> {
        if done == total { Ok(()) } else { Err(self.error(Kind::Invalid, What::VORTEX_TEXT, done as u64)) }
    }
}
