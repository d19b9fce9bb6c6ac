//! `vortex.zstd`: the rows that have a value, in frames of some values each.

use core::ops::Range;

use crate::bytes::{Scratch, product, saturated};
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

/// The frames of an array, one after the other.
struct Frames<'n, 'f> {
    node: &'n Node<'f>,
    fields: Fields<'f>,
    /// What lies before each frame, or nothing.
    dictionary: Buffer<'f>,
    /// Bytes of a value, where all have as many.
    width: Option<u64>,
    /// The buffer of the next frame.
    buffer: usize,
    /// The frame taken last: its bytes, what they unpack to, and which of the stored values it holds.
    packed: Buffer<'f>,
    size: u64,
    values: Range<u64>,
}

impl<'f> Frames<'_, 'f> {
    /// Takes the next frame; whether there is one.
    fn next(&mut self, run: &mut Run<'_>) -> Result<bool> {
        while let Some((number, value)) = self.fields.take()? {
            let (field::FRAMES, Value::Bytes(frame)) = (number, value) else { continue };
            run.fuel.spend_many(u32::try_from(self.buffer >> 8).unwrap_or(u32::MAX).saturating_add(1), frame.at())?;
            self.size = frame.uint(field::SIZE)?.unwrap_or(0);
            let count = match (frame.uint(field::VALUES)?.unwrap_or(0), self.width) {
                // Old files have no count; of texts there are as many as there are.
                (0, Some(width)) => self.size.checked_div(width).unwrap_or(0),
                (0, None) if self.size > 0 => u64::MAX,
                (count, _) => count,
            };
            self.packed = self.node.buffer(self.buffer)?;
            let most = (self.packed.bytes.len().div_ceil(BLOCK_MIN) as u64).saturating_mul(BLOCK_MAX);
            if self.size > most {
                return Err(Error::needing(Kind::Invalid, What::VtxMetadata, frame.at(), self.size));
            }
            let limit = self.node.file.limits().max_decoded;
            if self.size > limit {
                return Err(Error::needing(Kind::Limit, What::MaxDecoded, frame.at(), limit));
            }
            self.values = self.values.end..self.values.end.saturating_add(count);
            self.buffer = self.buffer.saturating_add(1);
            return Ok(true);
        }
        Ok(false)
    }

    /// Takes frames up to the next one that reaches beyond a value, and pays for unpacking that.
    fn find(&mut self, value: u64, run: &mut Run<'_>) -> Result<()> {
        while self.next(run)? {
            if self.values.end > value {
                let work = u32::try_from(self.size / BYTES_PER_NODE).unwrap_or(u32::MAX);
                return run.fuel.spend_many(work, self.packed.at);
            }
        }
        Err(self.node.too_few(self.values.end))
    }

    /// Unpacks the frame, which has exactly so many bytes.
    fn unpack(&self, bytes: &mut [u8], s: &mut Scratch<'_>) -> Result<()> {
        let differs = || self.node.error(Kind::Invalid, What::VtxBuffer, self.size);
        let len = zstd::decode_with(self.packed.bytes, bytes, self.dictionary.bytes, s);
        let len = len.map_err(|e| match (e.kind(), e.what()) {
            // More than the metadata says; too little scratch is another matter.
            (Kind::NoRoom, what) if what != What::Scratch => differs(),
            // Wrong, and not just another than the frame asks for.
            (Kind::Invalid | Kind::Truncated, What::ZstdDictionary) => e.moved(self.dictionary.at),
            _ => e.moved(self.packed.at),
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
            return Err(Error::needing(Kind::Invalid, What::ZstdDictionary, dictionary.at, size));
        }
        let (fields, buffer) = (metadata.fields(), usize::from(size > 0));
        Ok(Frames { node: self, fields, dictionary, width, buffer, packed: Buffer::EMPTY, size: 0, values: 0..0 })
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
            let value = first.saturating_add(done as u64);
            frames.find(value, run)?;
            let mut t = s.scope();
            let bytes = t.take::<u8>(saturated(frames.size))?;
            frames.unpack(bytes, &mut t)?;
            if product(frames.values.end.saturating_sub(frames.values.start), width as u64) != frames.size {
                return Err(self.error(Kind::Invalid, What::VtxMetadata, frames.size));
            }
            let skip = saturated(value.saturating_sub(frames.values.start));
            let left = saturated(frames.values.end.saturating_sub(value));
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
            let wanted = first.saturating_add(done as u64);
            frames.find(wanted, run)?;
            let size = saturated(frames.size);
            let start = self.room(size, run)?;
            let bytes = run.arena(start, size);
            frames.unpack(bytes, s)?;
            let (mut value, mut at) = (frames.values.start, 0usize);
            while value < frames.values.end && done < out.len() && at < bytes.len() {
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
            if done < out.len() && value < frames.values.end {
                return Err(self.error(Kind::Invalid, What::VtxText, value));
            }
        }
        Ok(())
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
        while frames.next(run)? {
            if frames.values.start < range.end && frames.values.end > range.start {
                sum = sum.saturating_add(frames.size);
            }
        }
        Ok(sum)
    }

    /// Bytes of the largest frame.
    pub(in crate::vortex) fn zstd_largest(&self, run: &mut Run<'_>) -> Result<u64> {
        let (mut frames, mut most) = (self.zstd_frames(None)?, 0u64);
        while frames.next(run)? {
            most = most.max(frames.size);
        }
        Ok(most)
    }
}
