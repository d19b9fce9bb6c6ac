//! `vortex.zstd`: the rows that have a value, in frames of some values each.

use core::ops::Range;

use crate::bytes::{Scratch, product};
use crate::codec::zstd;
use crate::encoding::cells::Cells;
use crate::error::{Error, Kind, Result, What};
use crate::meta::proto::{Fields, Value};
use crate::vortex::node::{Buffer, Node};
use crate::vortex::raw::field::zstd as field;
use crate::vortex::tree::{Ask, Run, span, span_cell};

/// Bytes whose decoding costs as much as a node.
const BYTES_PER_NODE: u64 = 1 << 12;

/// Most that a block of a frame unpacks to (RFC 8878 section 3.1.1.2.4).
const BLOCK_MAX: u64 = 128 << 10;

/// Fewest bytes that such a block takes: a header of three, and the byte that it repeats.
const BLOCK_MIN: usize = 4;

/// A frame: its bytes, what they unpack to, and which of the stored values it holds.
struct Frame<'f> {
    packed: Buffer<'f>,
    size: u64,
    values: Range<u64>,
}

/// The frames of an array, one after the other.
struct Frames<'n, 'f> {
    node: &'n Node<'f>,
    fields: Fields<'f>,
    /// What lies before each frame, or nothing.
    dictionary: Buffer<'f>,
    /// Bytes of a value, where all have as many.
    width: Option<u64>,
    buffer: usize,
    first: u64,
}

impl<'f> Frames<'_, 'f> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Option<Frame<'f>>> {
        while let Some((number, value)) = self.fields.take()? {
            let (field::FRAMES, Value::Bytes(frame)) = (number, value) else { continue };
            run.fuel.spend_many(u32::try_from(self.buffer >> 8).unwrap_or(u32::MAX).saturating_add(1), frame.at())?;
            let size = frame.uint(field::SIZE)?.unwrap_or(0);
            let count = match (frame.uint(field::VALUES)?.unwrap_or(0), self.width) {
                // Old files have no count; of texts there are as many as there are.
                (0, Some(width)) => size.checked_div(width).unwrap_or(0),
                (0, None) if size > 0 => u64::MAX,
                (count, _) => count,
            };
            let packed = self.node.buffer(self.buffer)?;
            let most = (packed.bytes.len().div_ceil(BLOCK_MIN) as u64).saturating_mul(BLOCK_MAX);
            if size > most {
                return Err(Error::new(Kind::Invalid, What::VtxMetadata, frame.at()).with_need(size));
            }
            if size > self.node.file.limits().max_decoded {
                let limit = self.node.file.limits().max_decoded;
                return Err(Error::new(Kind::Limit, What::MaxDecoded, frame.at()).with_need(limit));
            }
            let values = self.first..self.first.saturating_add(count);
            self.first = values.end;
            self.buffer = self.buffer.saturating_add(1);
            return Ok(Some(Frame { packed, size, values }));
        }
        Ok(None)
    }

    /// Unpacks a frame, which has exactly so many bytes.
    fn unpack(&self, frame: &Frame<'f>, bytes: &mut [u8], s: &mut Scratch<'_>) -> Result<()> {
        let differs = || self.node.error(Kind::Invalid, What::VtxBuffer, frame.size);
        let len = zstd::decode_with(frame.packed.bytes, bytes, self.dictionary.bytes, s);
        let len = len.map_err(|e| match (e.kind(), e.what()) {
            // More than the metadata says; too little scratch is another matter.
            (Kind::NoRoom, what) if what != What::Scratch => differs(),
            // Wrong, and not just another than the frame asks for.
            (Kind::Invalid | Kind::Truncated, What::ZstdDictionary) => e.moved(self.dictionary.at),
            _ => e.moved(frame.packed.at),
        })?;
        if len == bytes.len() { Ok(()) } else { Err(differs()) }
    }
}

impl<'f> Node<'f> {
    fn zstd_frames(&self, width: Option<u64>) -> Result<Frames<'_, 'f>> {
        let metadata = self.metadata();
        let metadata = metadata.as_ref()?;
        let size = metadata.uint(field::DICTIONARY_SIZE)?.unwrap_or(0);
        let dictionary = match size {
            0 => Buffer::EMPTY,
            _ => self.buffer(0)?,
        };
        if dictionary.bytes.len() as u64 != size {
            return Err(Error::new(Kind::Invalid, What::ZstdDictionary, dictionary.at).with_need(size));
        }
        Ok(Frames { node: self, fields: metadata.fields(), dictionary, width, buffer: usize::from(size > 0), first: 0 })
    }

    /// `vortex.zstd`.
    pub(in crate::vortex) fn zstd(
        &self,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let fill = match ask {
            Ask::Values => Node::zstd_numbers,
            Ask::Spans => Node::zstd_texts,
            _ => return Err(self.mistyped()),
        };
        self.dense(at, out, run, s, fill)
    }

    /// Stored values from `first` on that are numbers.
    fn zstd_numbers(&self, first: u64, out: &mut Cells<'_>, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let width = self.prim()?.size();
        if width != out.width() {
            return Err(self.mistyped());
        }
        let mut frames = self.zstd_frames(Some(width as u64))?;
        let mut done = 0usize;
        while done < out.len() {
            let Some(frame) = frames.next(run)? else { return Err(self.too_few(frames.first)) };
            let value = first.saturating_add(done as u64);
            if frame.values.end <= value {
                continue;
            }
            let mut t = s.scope();
            let bytes = t.take::<u8>(usize::try_from(frame.size).unwrap_or(usize::MAX))?;
            self.spend(&frame, run)?;
            frames.unpack(&frame, bytes, &mut t)?;
            if product(frame.values.end.saturating_sub(frame.values.start), width as u64) != frame.size {
                return Err(self.error(Kind::Invalid, What::VtxMetadata, frame.size));
            }
            let skip = usize::try_from(value.saturating_sub(frame.values.start)).unwrap_or(usize::MAX);
            let left = usize::try_from(frame.values.end.saturating_sub(value)).unwrap_or(usize::MAX);
            let len = left.min(out.len().saturating_sub(done));
            out.part(done, len).load(bytes.get(skip.saturating_mul(width)..).unwrap_or_default())?;
            done = done.saturating_add(len);
        }
        Ok(())
    }

    /// Stored values from `first` on that are texts: frames are unpacked into the arena, and each text lies
    /// behind its length.
    fn zstd_texts(&self, first: u64, out: &mut Cells<'_>, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        let mut frames = self.zstd_frames(None)?;
        let mut done = 0usize;
        while done < out.len() {
            let Some(frame) = frames.next(run)? else { return Err(self.too_few(frames.first)) };
            let wanted = first.saturating_add(done as u64);
            if frame.values.end <= wanted {
                continue;
            }
            let size = usize::try_from(frame.size).unwrap_or(usize::MAX);
            let start = self.room(size, run)?;
            self.spend(&frame, run)?;
            let bytes = run.arena(start, size);
            frames.unpack(&frame, bytes, s)?;
            let (mut value, mut at) = (frame.values.start, 0usize);
            while value < frame.values.end && done < out.len() && at < bytes.len() {
                let text = at.saturating_add(4);
                let len = bytes.get(at..text).and_then(<[u8]>::first_chunk).map(|len| u32::from_le_bytes(*len));
                let end = len.map(|len| text.saturating_add(len as usize)).filter(|end| *end <= bytes.len());
                let (len, end) = len.zip(end).ok_or_else(|| self.error(Kind::Invalid, What::VtxText, value))?;
                if value >= wanted
                    && let Some(cell) = out.get_mut(done)
                {
                    *cell = span_cell(span(start.saturating_add(text) as u64, len.into()));
                    done = done.saturating_add(1);
                }
                (value, at) = (value.saturating_add(1), end);
            }
            // The frame ends before its last value, unless it did not say how many it has.
            if done < out.len() && value < frame.values.end {
                return Err(self.error(Kind::Invalid, What::VtxText, value));
            }
        }
        Ok(())
    }

    fn spend(&self, frame: &Frame<'f>, run: &mut Run<'_>) -> Result<()> {
        run.fuel.spend_many(u32::try_from(frame.size / BYTES_PER_NODE).unwrap_or(u32::MAX), frame.packed.at)
    }

    /// Bytes of the frames that the texts of some rows are unpacked from.
    pub(in crate::vortex) fn zstd_bound(
        &self,
        at: u64,
        len: usize,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<u64> {
        let mut stored = |row: u64| self.values_before(row, run, s);
        let range = stored(at).and_then(|first| Ok(first..stored(at.saturating_add(len as u64))?));
        let range = match range {
            // Counting takes more memory than there is here.
            Err(e) if e.kind() == Kind::NoRoom => 0..u64::MAX,
            range => range?,
        };
        let (mut frames, mut sum) = (self.zstd_frames(None)?, 0u64);
        while let Some(frame) = frames.next(run)? {
            if frame.values.start < range.end && frame.values.end > range.start {
                sum = sum.saturating_add(frame.size);
            }
        }
        Ok(sum)
    }

    /// Bytes of the largest frame.
    pub(in crate::vortex) fn zstd_largest(&self, run: &mut Run<'_>) -> Result<u64> {
        let (mut frames, mut most) = (self.zstd_frames(None)?, 0u64);
        while let Some(frame) = frames.next(run)? {
            most = most.max(frame.size);
        }
        Ok(most)
    }
}
