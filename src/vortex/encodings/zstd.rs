//! `vortex.zstd`: the valid rows, in frames of several values each.

use core::ops::Range;

use super::*;
use crate::bytes::{FAST, Scratch, product, saturated};
use crate::codec::{Codec, zstd};
use crate::error::Error;
use crate::meta::proto::{Fields, Value};
use crate::vortex::blob::Buffer;
use crate::vortex::tree;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::Child(dense::VALIDITY), holds: Holds::Packed(bound), need, cells };

mod buffer {
    /// The dictionary, if present. The frames follow; they start at buffer 0 if it is absent.
    pub const DICTIONARY: usize = 0;
}

mod field {
    /// Size of the dictionary in bytes.
    pub const DICTIONARY_SIZE: u32 = 1;
    /// One message per frame.
    pub const FRAMES: u32 = 2;
}

mod frame {
    /// Unpacked size in bytes.
    pub const SIZE: u32 = 1;
    pub const VALUES_LEN: u32 = 2;
}

/// Number of unpacked bytes whose decoding costs as much as a node.
const BYTES_PER_NODE: u64 = 1 << 12;

/// Maximum unpacked size in bytes of a block of a frame (RFC 8878, section 3.1.1.2.4).
const BLOCK_MAX: u64 = 128 << 10;

/// Minimum size in bytes of a block that unpacks to this size: a header of three bytes, and one byte that is repeated.
const BLOCK_MIN: usize = 4;

/// The consecutive frames of an array.
struct Frames<'n, 'f> {
    node: &'n Node<'f>,
    fields: Fields<'f>,
    /// The dictionary of all frames; empty if there is no dictionary.
    dictionary: Buffer<'f>,
    /// Size of a value in bytes; `None` for texts.
    width: Option<u64>,
    /// The buffer of the next frame.
    buffer: usize,
    /// The current frame: its bytes, their unpacked size, and the numbers of its values.
    packed: Buffer<'f>,
    size: u64,
    values: Range<u64>,
}

impl<'f> Frames<'_, 'f> {
    /// Moves to the next frame. Returns `false` after the last one.
    fn next(&mut self, cx: &mut Context<'_, '_>) -> Result<bool> {
        while let Some((number, value)) = self.fields.take()? {
            let (field::FRAMES, Value::Bytes(frame)) = (number, value) else { continue };
            cx.spend(frame.at())?;
            dense::spend(self.node, self.buffer, 0, cx)?;
            let [size, count] = frame.numbers([frame::SIZE, frame::VALUES_LEN])?;
            self.size = size;
            let count = match (count, self.width) {
                // Old files store no count. The number of texts is then unknown until they are unpacked.
                (0, Some(width)) => self.size.checked_div(width).unwrap_or(0),
                (0, None) if self.size > 0 => u64::MAX,
                (count, _) => count,
            };
            self.packed = self.node.buffer(self.buffer)?;
            let most = (self.packed.bytes.len().div_ceil(BLOCK_MIN) as u64).saturating_mul(BLOCK_MAX);
            if self.size > most {
                return Err(Error::needing(Kind::Invalid, What::VORTEX_METADATA, frame.at(), self.size));
            }
            let limit = self.node.file.limits().max_decoded;
            if self.size > limit {
                return Err(Error::needing(Kind::Limit, What::MAX_DECODED, frame.at(), limit));
            }
            self.values = self.values.end..self.values.end.saturating_add(count);
            self.buffer = self.buffer.saturating_add(1);
            return Ok(true);
        }
        Ok(false)
    }

    /// Moves to the next frame that ends after stored value `value`, and spends the budget for unpacking it.
    fn find(&mut self, value: u64, cx: &mut Context<'_, '_>) -> Result<()> {
        while self.next(cx)? {
            if self.values.end > value {
                return self.spend(cx);
            }
        }
        Err(dense::too_few(self.node, self.values.end))
    }

    /// Returns an error if the frame does not have as many bytes as its numbers, of `width` bytes.
    fn check_size(&self, width: usize) -> Result<()> {
        let count = self.values.end.saturating_sub(self.values.start);
        match product(count, width as u64) == self.size {
            true => Ok(()),
            false => Err(self.node.error(Kind::Invalid, What::VORTEX_METADATA, self.size)),
        }
    }

    /// Spends the budget for unpacking the frame: for its unpacked size, and for what is parsed to unpack it.
    fn spend(&self, cx: &mut Context<'_, '_>) -> Result<()> {
        let parsed = self.packed.bytes.len().saturating_add(self.dictionary.bytes.len()) as u64 / tree::BYTES_PER_NODE;
        cx.spend_many((self.size / BYTES_PER_NODE).saturating_add(parsed), self.packed.at)
    }

    /// Unpacks the frame into `bytes`, which has its exact unpacked size.
    fn unpack(&self, bytes: &mut [u8], s: &mut Scratch<'_>) -> Result<()> {
        let differs = || self.node.error(Kind::Invalid, What::VORTEX_BUFFER, self.size);
        let len = zstd::decode_with(self.packed.bytes, bytes, self.dictionary.bytes, s);
        let len = len.map_err(|e| match (e.kind(), e.what()) {
            // The frame unpacks to more than the metadata claims. A scratch that is too small is an error of the
            // caller.
            (Kind::NoRoom, what) if what != What::SCRATCH => differs(),
            // The dictionary is invalid. A dictionary with another id than the frame requires is an error of the frame.
            (Kind::Invalid | Kind::Truncated, What::ZSTD_DICTIONARY) => e.moved(self.dictionary.at),
            _ => e.moved(self.packed.at),
        })?;
        if len == bytes.len() { Ok(()) } else { Err(differs()) }
    }
}

fn frames<'n, 'f>(node: &'n Node<'f>, width: Option<u64>) -> Result<Frames<'n, 'f>> {
    let [size] = node.numbers(&[field::DICTIONARY_SIZE])?;
    let dictionary = match size {
        0 => Buffer::EMPTY,
        _ => node.buffer(buffer::DICTIONARY)?,
    };
    if dictionary.bytes.len() as u64 != size {
        return Err(Error::needing(Kind::Invalid, What::ZSTD_DICTIONARY, dictionary.at, size));
    }
    let (fields, buffer) =
        (node.metadata()?.fields(), if size > 0 { buffer::DICTIONARY.saturating_add(1) } else { buffer::DICTIONARY });
    Ok(Frames { node, fields, dictionary, width, buffer, packed: Buffer::EMPTY, size: 0, values: 0..0 })
}

fn cells(node: &Node<'_>, ask: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    dense::spread(node, at, out, cx, if ask == Ask::Spans { texts } else { numbers })
}

/// Fills `out` with the stored numbers starting at `first`.
fn numbers(node: &Node<'_>, first: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let width = node.prim()?.size();
    if width != out.width() {
        return Err(node.mistyped());
    }
    #[cfg(feature = "vortex-variant")]
    if crate::vortex::kept::KEEPS && kept::numbers(node, first, out, cx)? {
        return Ok(());
    }
    let mut frames = frames(node, Some(width as u64))?;
    let mut done = 0usize;
    while done < out.len() {
        let value = first.saturating_add(done as u64);
        frames.find(value, cx)?;
        let mut t = cx.scope();
        let bytes = t.take::<u8>(saturated(frames.size))?;
        frames.unpack(bytes, &mut t.scratch)?;
        frames.check_size(width)?;
        let skip = saturated(value.saturating_sub(frames.values.start));
        let left = saturated(frames.values.end.saturating_sub(value));
        let len = left.min(out.len().saturating_sub(done));
        out.part(done, len).load(bytes.get(skip.saturating_mul(width)..).unwrap_or_default())?;
        done = done.saturating_add(len);
    }
    Ok(())
}

/// Unpacks frames with the texts of stored values starting at `first` into the arena. Each text follows its length.
fn texts(node: &Node<'_>, first: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    #[cfg(feature = "vortex-variant")]
    if crate::vortex::kept::KEEPS && kept::texts(node, first, out, cx)? {
        return Ok(());
    }
    let mut frames = frames(node, None)?;
    let mut done = 0usize;
    while done < out.len() {
        let wanted = first.saturating_add(done as u64);
        frames.find(wanted, cx)?;
        let size = saturated(frames.size);
        let start = node.reserve(size, cx)?;
        let (bytes, s) = cx.arena(start, size);
        frames.unpack(bytes, s)?;
        let (mut value, mut at) = (frames.values.start, 0usize);
        while value < frames.values.end && done < out.len() && at < bytes.len() {
            let (text, len) = text_at(bytes, at).ok_or_else(|| node.error(Kind::Invalid, What::VORTEX_TEXT, value))?;
            let end = text.saturating_add(len as usize);
            if value >= wanted
                && let Some(cell) = out.get_mut(done)
            {
                *cell = span_cell(span(start.saturating_add(text) as u64, len.into()));
                done = done.saturating_add(1);
            }
            (value, at) = (value.saturating_add(1), end);
        }
        // Too few values in the frame. If the metadata has no count, the loop continues with the next frame instead.
        if done < out.len() && value < frames.values.end {
            return Err(node.error(Kind::Invalid, What::VORTEX_TEXT, value));
        }
    }
    Ok(())
}

/// Returns the offset and the length of the text whose length is at `at`.
fn text_at(bytes: &[u8], at: usize) -> Option<(usize, u32)> {
    let text = at.saturating_add(4);
    let len = bytes.get(at..text).and_then(<[u8]>::first_chunk).map(|len| u32::from_le_bytes(*len))?;
    (text.saturating_add(len as usize) <= bytes.len()).then_some((text, len))
}

/// Reading values one by one, from frames that are kept. Each function returns `false` if no frame can be kept.
#[cfg(feature = "vortex-variant")]
mod kept {
    use super::*;
    use crate::column::Prim;
    use crate::vortex::kept::{Kept, Slot};

    /// Number of texts whose lengths are read in the time that a node takes.
    const TEXTS_PER_NODE: u64 = 256;

    /// Returns the kept frame with stored value `value`, which is a number of type `prim` or a text.
    fn frame<'k>(
        node: &Node<'_>,
        prim: Option<Prim>,
        value: u64,
        kept: &'k mut Kept<'_>,
        cx: &mut Context<'_, '_>,
    ) -> Result<Option<(&'k mut Slot, &'k mut [u8])>> {
        let Some((slot, bytes)) = kept.slot((node, prim), cx)? else { return Ok(None) };
        if !slot.has(value) {
            let mut frames = frames(node, prim.map(|prim| prim.size() as u64))?;
            frames.find(value, cx)?;
            slot.set((0, 0), 0);
            let unpacked = bytes.get_mut(..saturated(frames.size)).unwrap_or_default();
            frames.unpack(unpacked, &mut cx.scratch)?;
            if let Some(prim) = prim {
                frames.check_size(prim.size())?;
            }
            slot.set((frames.values.start, frames.values.end), frames.size);
        }
        let bytes = bytes.get_mut(..saturated(slot.len)).unwrap_or_default();
        Ok(Some((slot, bytes)))
    }

    pub fn numbers(node: &Node<'_>, first: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<bool> {
        cx.with_kept(|kept, cx| kept_numbers(node, first, out, kept, cx))
    }

    fn kept_numbers(
        node: &Node<'_>,
        first: u64,
        out: &mut Cells<'_>,
        kept: &mut Kept<'_>,
        cx: &mut Context<'_, '_>,
    ) -> Result<bool> {
        let (prim, width, mut done) = (node.prim()?, out.width(), 0usize);
        while done < out.len() && !kept.is_none() {
            let value = first.saturating_add(done as u64);
            let Some((slot, bytes)) = frame(node, Some(prim), value, kept, cx)? else { return Ok(false) };
            let skip = saturated(value.saturating_sub(slot.start)).saturating_mul(width);
            let len = saturated(slot.end.saturating_sub(value)).min(out.len().saturating_sub(done));
            out.part(done, len).load(bytes.get(skip..).unwrap_or_default())?;
            done = done.saturating_add(len);
        }
        Ok(done == out.len())
    }

    /// If texts are not copied, only the lengths of the spans are set. A frame that is not kept is unpacked for each text.
    pub fn texts(node: &Node<'_>, first: u64, out: &mut [u64], cx: &mut Context<'_, '_>) -> Result<bool> {
        cx.with_kept(|kept, cx| {
            let has_rows = kept.has_rows();
            for (value, cell) in (first..).zip(out).take_while(|_| has_rows) {
                *cell = text(node, value, kept, cx)?;
            }
            Ok(has_rows)
        })
    }

    /// Returns the span of a text.
    fn text(node: &Node<'_>, value: u64, kept: &mut Kept<'_>, cx: &mut Context<'_, '_>) -> Result<u64> {
        if let Some((slot, bytes)) = frame(node, None, value, kept, cx)? {
            return text_in(node, value, (slot, bytes), cx);
        }
        let mut frames = frames(node, None)?;
        frames.find(value, cx)?;
        let mut t = cx.scope();
        let bytes = t.take::<u8>(saturated(frames.size))?;
        frames.unpack(bytes, &mut t.scratch)?;
        let mut slot = Slot::default();
        slot.set((frames.values.start, frames.values.end), frames.size);
        text_in(node, value, (&mut slot, bytes), &mut t)
    }

    /// Returns the span of a text in an unpacked frame.
    fn text_in(
        node: &Node<'_>,
        value: u64,
        (slot, bytes): (&mut Slot, &[u8]),
        cx: &mut Context<'_, '_>,
    ) -> Result<u64> {
        if slot.value > value {
            (slot.value, slot.at) = (slot.start, 0);
        }
        cx.spend_many(value.saturating_sub(slot.value) / TEXTS_PER_NODE, node.at())?;
        loop {
            let bad = || node.error(Kind::Invalid, What::VORTEX_TEXT, slot.value);
            let (start, len) = text_at(bytes, saturated(slot.at)).ok_or_else(bad)?;
            let end = start.saturating_add(len as usize);
            if slot.value < value {
                (slot.value, slot.at) = (slot.value.saturating_add(1), end as u64);
                continue;
            }
            let mut at = 0;
            if cx.copies_texts() {
                at = node.reserve(len as usize, cx)?;
                cx.arena(at, len as usize).0.copy_from_slice(bytes.get(start..end).unwrap_or_default());
            }
            return Ok(span_cell(span(at as u64, len.into())));
        }
    }
}

/// Returns the unpacked size in bytes of all frames with texts of the rows.
fn bound(node: &Node<'_>, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<u64> {
    let mut stored = |row: u64| dense::values_before(node, row, cx);
    let range = stored(at).and_then(|first| Ok(first..stored(at.saturating_add(len as u64))?));
    let range = match range {
        // Counting takes more memory than is available here.
        Err(e) if e.kind() == Kind::NoRoom => 0..u64::MAX,
        range => range?,
    };
    let (mut frames, mut sum) = (frames(node, None)?, 0u64);
    while frames.next(cx)? {
        if frames.values.start < range.end && frames.values.end > range.start {
            sum = sum.saturating_add(frames.size);
        }
    }
    Ok(sum)
}

/// Returns the unpacked size of the largest frame.
pub(super) fn largest(node: &Node<'_>, cx: &mut Context<'_, '_>) -> Result<u64> {
    let (mut frames, mut largest) = (frames(node, None)?, 0u64);
    while frames.next(cx)? {
        largest = largest.max(frames.size);
    }
    Ok(largest)
}

/// Returns the bytes for the largest frame.
fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    let largest = largest(node, cx)?;
    let workspace = Codec::Zstd.workspace_len(saturated(largest)) as u64;
    let mut own = workspace.saturating_add(need::SLACK);
    // Texts are unpacked directly to the arena, whose size includes them. Small builds do not tell them from other values.
    if !FAST || !cx.copies_texts() {
        own = own.saturating_add(need::piece(largest, 1));
    }
    dense::need(own, node, amount, cx)
}

/// Writes texts by zstd.
#[cfg(all(feature = "alloc", feature = "zstd-encode"))]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::{field, frame};
    use crate::meta::proto::write::Writer;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// A frame: its bytes, their unpacked size, and the number of values.
    pub struct Frame {
        pub bytes: Vec<u8>,
        pub size: u64,
        pub values: u64,
    }

    /// The texts of valid rows, each after its length.
    pub fn frames(frames: Vec<Frame>, valid: Option<Array>) -> Array {
        let mut message = Writer::default();
        let mut array = Array::new(Encoding::Zstd);
        for Frame { bytes, size, values } in frames {
            let mut of = Writer::default();
            message.bytes(field::FRAMES, &of.uint(frame::SIZE, size).uint(frame::VALUES_LEN, values).finish());
            array = array.buffer(bytes, 1);
        }
        array.message(&mut message).child(valid)
    }
}
