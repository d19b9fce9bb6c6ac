//! `vortex.varbinview`: one view per row, in the last buffer. A view contains a short text or refers to another buffer.

use super::*;
use crate::bytes::saturated;
use crate::error::Error;
use crate::vortex::blob::Buffer;
use crate::vortex::text;
use crate::vortex::tree::NOWHERE;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Child(VALIDITY),
    holds: Holds::Texts(|node, at, len, cx| {
        let mut texts = Texts::of(node, at, len)?;
        let mut sum = 0u64;
        for i in 0..len {
            sum = sum.saturating_add(texts.place(i, cx)?.map_or(0, |(_, len)| len as u64));
        }
        Ok(sum)
    }),
    need: need::children,
    cells,
};

/// The only child.
const VALIDITY: usize = 0;

/// Maximum length in bytes of a text inside a view.
const INLINE: u32 = 12;

/// Size of a view in bytes.
const VIEW: usize = 16;

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    let mut texts = Texts::of(node, at, out.len())?;
    for (i, cell) in out.iter_mut().enumerate() {
        // The view of a null row may be invalid. The span of another invalid view is an error when it is read.
        *cell = span_cell(match texts.place(i, cx)? {
            Some((start, len)) => text::put(&node.blob, start, len, cx)?,
            None => NOWHERE,
        });
    }
    Ok(())
}

/// The views of a row range, and the buffers. The buffer used last is cached.
struct Texts<'n, 'f> {
    node: &'n Node<'f>,
    views: Buffer<'f>,
    /// The number of buffers before the views.
    count: usize,
    last: Option<(usize, Buffer<'f>)>,
}

impl<'n, 'f> Texts<'n, 'f> {
    /// Returns the texts of `len` rows starting at `at`.
    fn of(node: &'n Node<'f>, at: u64, len: usize) -> Result<Self> {
        let count = node.buffers()?.checked_sub(1);
        let count = count.ok_or_else(|| node.error(Kind::Invalid, What::VORTEX_BUFFER, 0))?;
        let all = node.buffer(count)?;
        let need = node.rows.saturating_mul(VIEW as u64);
        if all.bytes.len() as u64 != need {
            return Err(Error::needing(Kind::Truncated, What::VORTEX_BUFFER, all.at, need));
        }
        let from = saturated(at).saturating_mul(VIEW);
        let bytes = all.bytes.get(from..from.saturating_add(len.saturating_mul(VIEW)));
        let bytes = bytes.ok_or_else(|| node.error(Kind::OutOfRange, What::VORTEX_ROWS, node.rows))?;
        Ok(Texts { node, views: Buffer { bytes, start: all.start.saturating_add(from), ..all }, count, last: None })
    }

    /// Returns the start in the blob and the length of text `i`, or `None` if its view is invalid.
    fn place(&mut self, i: usize, cx: &mut Context<'_, '_>) -> Result<Option<(usize, usize)>> {
        let at = i.saturating_mul(VIEW);
        let Some([len, _, number, offset]) = self.views.bytes.get(at..).and_then(words) else { return Ok(None) };
        if len <= INLINE {
            return Ok(Some((self.views.start.saturating_add(at).saturating_add(4), len as usize)));
        }
        let number = number as usize;
        let buffer = match self.last {
            Some((last, buffer)) if last == number => buffer,
            _ if number >= self.count => return Ok(None),
            _ => {
                // The time to find a buffer is proportional to its number.
                cx.spend_many((number as u64 >> 8).saturating_add(1), self.node.at())?;
                let buffer = self.node.buffer(number)?;
                self.last = Some((number, buffer));
                buffer
            }
        };
        let (offset, len) = (offset as usize, len as usize);
        let inside = offset.checked_add(len).is_some_and(|end| end <= buffer.bytes.len());
        Ok(inside.then_some((buffer.start.saturating_add(offset), len)))
    }
}

/// Returns the four words of a view.
fn words(bytes: &[u8]) -> Option<[u32; 4]> {
    let (words, _) = bytes.first_chunk::<VIEW>()?.as_chunks::<4>();
    let [a, b, c, d] = words else { return None };
    Some([*a, *b, *c, *d].map(u32::from_le_bytes))
}

/// Writes views.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::{INLINE, VIEW};
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// One view per text. Long texts are in one buffer. `None` if that has 4 GiB or more.
    pub fn views<'t>(texts: impl Iterator<Item = &'t [u8]>, valid: Option<Array>) -> Option<Array> {
        let (mut bytes, mut views) = (Vec::new(), Vec::new());
        for text in texts {
            let len = u32::try_from(text.len()).ok()?;
            let at = views.len().saturating_add(VIEW);
            views.extend_from_slice(&len.to_le_bytes());
            if len <= INLINE {
                views.extend_from_slice(text);
            } else {
                views.extend(text.iter().take(4));
                // The number of the buffer, and the offset in it.
                views.extend_from_slice(&[0; 4]);
                views.extend_from_slice(&u32::try_from(bytes.len()).ok()?.to_le_bytes());
                bytes.extend_from_slice(text);
            }
            views.resize(at, 0);
        }
        let array = Array::new(Encoding::VarBinView);
        let array = if bytes.is_empty() { array } else { array.buffer(bytes, 1) };
        Some(array.buffer(views, VIEW).child(valid))
    }
}
