//! Texts: views, offsets, FSST, OnPair.

use crate::bytes::{FAST, Scratch, saturated};
use crate::encoding::cells::Cells;
use crate::encoding::fastlanes::BLOCK;
use crate::encoding::{fsst, onpair};
use crate::error::{Error, Kind, Result, What};
use crate::vortex::dtype::Ty;
use crate::vortex::node::{Buffer, Node};
use crate::vortex::text;
use crate::vortex::tree::{Ask, NOWHERE, Run, Text, span, span_cell};

/// Longest text that a view holds itself.
const INLINE: u32 = 12;

impl<'f> Node<'f> {
    /// `vortex.varbinview`: views, the last buffer, name bytes of their own or of the other buffers.
    pub(in crate::vortex) fn views(&self, at: u64, out: &mut Cells<'_>, run: &mut Run<'_>) -> Result<()> {
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        let mut data = Data::new(self)?;
        let views = data.views(at, out.len())?;
        for (i, cell) in out.iter_mut().enumerate() {
            // A view of a null row may name anything; that of another is an error to whoever follows it.
            let place = data.place(views.bytes, views.start, i, run)?;
            *cell = span_cell(match place {
                Some((at, len)) => text::put(&self.blob, at, len, run)?,
                None => NOWHERE,
            });
        }
        Ok(())
    }

    /// `vortex.varbin`: one buffer, cut by offsets.
    pub(in crate::vortex) fn var_bin(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let buffer = self.buffer(0)?;
        self.between(self.var_bin_offsets().as_ref()?, buffer.bytes.len() as u64, at, out, run, s)?;
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        for cell in out.iter_mut() {
            let inside: crate::column::Span = bytemuck::cast(*cell);
            let start = buffer.start.saturating_add(inside.at as usize);
            *cell = span_cell(text::put(&self.blob, start, inside.len as usize, run)?);
        }
        Ok(())
    }

    /// The offsets of a `vortex.varbin`.
    pub(in crate::vortex) fn var_bin_offsets(&self) -> Result<Node<'f>> {
        self.offsets(0, 1)
    }

    /// Whether a `vortex.fsst` has the old form, with its codes as a varbin array.
    fn fsst_is_old(&self) -> Result<bool> {
        Ok(self.buffers()? == 2)
    }

    /// Goes on from a `vortex.fsst` to the offsets of its codes; the bytes of those.
    pub(in crate::vortex) fn enter_fsst_codes(&mut self) -> Result<Buffer<'f>> {
        let (mut k, mut number, mut buffer) = (1, 2, 2);
        if self.fsst_is_old()? {
            self.dtype = Ty::binary(self.dtype.nullable);
            self.enter(0, self.rows)?;
            if self.encoding() != Some(crate::vortex::raw::Encoding::VarBin) {
                return Err(self.undecoded());
            }
            (k, number, buffer) = (0, 1, 0);
        }
        let codes = *self;
        self.enter_offsets(k, number)?;
        codes.buffer(buffer)
    }

    /// Which bytes of `codes` the `len` rows from `at` on have, by these offsets.
    pub(in crate::vortex) fn fsst_range(
        &self,
        codes: &[u8],
        at: u64,
        len: usize,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<(usize, usize)> {
        let ends = self.ends(at, len as u64, run, s)?;
        let inside = ends.map(|end| usize::try_from(end).ok().filter(|end| *end <= codes.len()));
        match inside {
            [Some(from), Some(to)] if from <= to => Ok((from, to)),
            [_, _] => Err(self.error(Kind::Invalid, What::VtxOffsets, ends.into_iter().fold(0, u64::max))),
        }
    }

    /// `vortex.fsst`: the codes of all rows together, cut by the lengths afterwards.
    pub(in crate::vortex) fn fsst(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        let mut offsets = *self;
        let codes = offsets.enter_fsst_codes()?;
        let (from, to) = offsets.fsst_range(codes.bytes, at, out.len(), run, s)?;
        let table = fsst::Table::new(self.buffer(0)?.bytes, self.buffer(1)?.bytes).map_err(|e| e.moved(self.at()))?;
        // The lengths are the first child, behind the codes where those are one.
        let lengths = self.integers(self.fsst_is_old()?.into(), 1, false, self.rows);
        lengths.as_ref()?.indices(at, out, run, s)?;
        let total = self.cut(out, run)?;
        let start = self.room(total, run)?;
        let bytes = codes.bytes.get(from..to).unwrap_or_default();
        let done = table.decode(bytes, run.arena(start, total)).map_err(|e| self.decoded(e, codes.at))?;
        self.all_of(done, total)
    }

    /// `vortex.onpair`.
    pub(in crate::vortex) fn onpair(
        &self,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        let Cells::W8(out) = out else { return Err(self.mistyped()) };
        let (tokens, codes_len) = (self.number(3)?, self.number(4)?);
        if tokens > 1 << 16 {
            return Err(self.error(Kind::Invalid, What::OnPairToken, tokens));
        }
        let mut t = s.scope();
        let tokens_len = usize::try_from(tokens).unwrap_or(0);
        let offsets = t.take::<u32>(tokens_len.saturating_add(1))?;
        self.integers(0, 5, false, tokens.saturating_add(1)).as_ref()?.indices32(0, offsets, run, &mut t)?;
        let tokens = onpair::Tokens::new(self.buffer(0)?.bytes, offsets).map_err(|e| e.moved(self.at()))?;

        let range = self.onpair_range(at, out.len(), run, &mut t)?;
        if range.1 > codes_len {
            return Err(self.error(Kind::Invalid, What::VtxOffsets, range.1));
        }
        self.integers(3, 1, false, self.rows).as_ref()?.indices(at, out, run, &mut t)?;
        let total = self.cut(out, run)?;
        let codes = self.integers(1, 6, false, codes_len);
        let codes = codes.as_ref()?;
        let count = saturated(range.1.saturating_sub(range.0));
        let narrow = codes.prim()?.size() == 2;
        let piece = if narrow { BLOCK } else { CODES };
        let numbers = t.take::<u16>(count.min(piece))?;
        let start = self.room(total, run)?;
        // Rows of tokens pay where there are more codes than tokens, if memory for them is left.
        let spread = FAST && count > tokens_len && {
            let others = saturated(codes.temporaries(piece as u64, 8, run)?);
            t.room() >= size_of::<onpair::Room>().saturating_add(others)
        };
        let rows = match spread {
            true => t.take::<onpair::Room>(1)?.first_mut().and_then(|room| tokens.spread(room)),
            false => None,
        };
        let (mut done, mut first) = (0usize, range.0);
        while first < range.1 {
            let len = saturated(range.1.saturating_sub(first)).min(piece);
            let numbers = numbers.get_mut(..len).unwrap_or_default();
            if narrow {
                codes.cells(Ask::Values, first, &mut Cells::W2(numbers), run, &mut t)?;
            } else {
                let mut wide = [0u32; CODES];
                let wide = wide.get_mut(..len).unwrap_or_default();
                codes.indices32(first, wide, run, &mut t)?;
                for (to, code) in numbers.iter_mut().zip(wide) {
                    *to = u16::try_from(*code).unwrap_or(u16::MAX);
                }
            }
            let left = run.arena(start.saturating_add(done), total.saturating_sub(done));
            let written = match &rows {
                Some(rows) => rows.decode(numbers, left),
                None => tokens.decode(numbers, left),
            };
            let written = written.map_err(|e| self.decoded(e, self.at()))?;
            done = done.saturating_add(written);
            first = first.saturating_add(len as u64);
        }
        self.all_of(done, total)
    }

    /// Codes of the rows `at..at + len` of a `vortex.onpair`.
    pub(in crate::vortex) fn onpair_range(
        &self,
        at: u64,
        len: usize,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<(u64, u64)> {
        let offsets = self.offsets(2, 7);
        let offsets = offsets.as_ref()?;
        let [from, to] = offsets.ends(at, len as u64, run, s)?;
        if from > to { Err(self.error(Kind::Invalid, What::VtxOffsets, from)) } else { Ok((from, to)) }
    }

    /// Lengths become spans behind each other at the end of the arena; how long they are together.
    fn cut(&self, lengths: &mut [u64], run: &Run<'_>) -> Result<usize> {
        let Text::Copied { used, .. } = run.text else {
            return Err(self.error(Kind::Misuse, What::VtxText, 0));
        };
        let mut end = used as u64;
        for cell in lengths {
            let len = *cell;
            let span = span(end, len);
            end = end.saturating_add(len);
            if span == NOWHERE {
                return Err(self.error(Kind::Invalid, What::VtxText, len));
            }
            *cell = span_cell(span);
        }
        usize::try_from(end.saturating_sub(used as u64)).map_err(|_| self.error(Kind::Invalid, What::VtxText, end))
    }

    /// Sets so many bytes of the arena aside; where they begin.
    pub(super) fn room(&self, len: usize, run: &mut Run<'_>) -> Result<usize> {
        let Text::Copied { arena, used } = &mut run.text else {
            return Err(self.error(Kind::Misuse, What::VtxText, 0));
        };
        let start = *used;
        let end = start.saturating_add(len);
        // The arena was measured by the codes, which cannot give more; so the lengths are wrong.
        if end > arena.len() {
            return Err(self.error(Kind::Invalid, What::VtxText, len as u64));
        }
        *used = end;
        Ok(start)
    }

    /// The error of a decoder that counts from the start of its input.
    #[cold]
    fn decoded(&self, e: Error, at: u64) -> Error {
        // It has the room that the lengths ask for.
        if e.kind() == Kind::NoRoom { self.error(Kind::Invalid, What::VtxText, e.need().into()) } else { e.moved(at) }
    }

    fn all_of(&self, done: usize, total: usize) -> Result<()> {
        if done == total { Ok(()) } else { Err(self.error(Kind::Invalid, What::VtxText, done as u64)) }
    }
}

/// Codes of another width than 16 bits that are decoded at once.
const CODES: usize = 64;

/// The buffers of a `vortex.varbinview`, the one looked at last remembered.
#[derive(Clone, Copy)]
pub(in crate::vortex) struct Data<'f, 'n> {
    node: &'n Node<'f>,
    /// How many buffers before the views.
    count: usize,
    last: Option<(usize, Buffer<'f>)>,
}

impl<'f, 'n> Data<'f, 'n> {
    pub(in crate::vortex) fn new(node: &'n Node<'f>) -> Result<Self> {
        let count = node.buffers()?.checked_sub(1);
        let count = count.ok_or_else(|| node.error(Kind::Invalid, What::VtxBuffer, 0))?;
        Ok(Data { node, count, last: None })
    }

    /// The views of `len` rows from `at` on.
    pub(in crate::vortex) fn views(&self, at: u64, len: usize) -> Result<Buffer<'f>> {
        let views = self.node.buffer(self.count)?;
        let need = self.node.rows.saturating_mul(16);
        if views.bytes.len() as u64 != need {
            return Err(Error::needing(Kind::Truncated, What::VtxBuffer, views.at, need));
        }
        let from = saturated(at.saturating_mul(16));
        let to = from.saturating_add(len.saturating_mul(16));
        let bytes = views.bytes.get(from..to);
        let bytes = bytes.ok_or_else(|| self.node.error(Kind::OutOfRange, What::VtxRows, self.node.rows))?;
        Ok(Buffer { bytes, start: views.start.saturating_add(from), at: views.at })
    }

    /// Start in the blob and length of the text of view `i` of `views`, which begin at `start`; `None` if it
    /// names no place.
    pub(in crate::vortex) fn place(
        &mut self,
        views: &[u8],
        start: usize,
        i: usize,
        run: &mut Run<'_>,
    ) -> Result<Option<(usize, usize)>> {
        let at = i.saturating_mul(16);
        let Some([len, _, number, offset]) = views.get(at..).and_then(words) else { return Ok(None) };
        if len <= INLINE {
            return Ok(Some((start.saturating_add(at).saturating_add(4), len as usize)));
        }
        let number = number as usize;
        let buffer = match self.last {
            Some((last, buffer)) if last == number => buffer,
            _ if number >= self.count => return Ok(None),
            _ => {
                // Finding a buffer is work that grows with its number.
                let work = u32::try_from(number).unwrap_or(u32::MAX) >> 8;
                run.fuel.spend_many(work.saturating_add(1), self.node.at())?;
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

/// The four words of a view.
fn words(bytes: &[u8]) -> Option<[u32; 4]> {
    let (words, _) = bytes.first_chunk::<16>()?.as_chunks::<4>();
    let [a, b, c, d] = words else { return None };
    Some([*a, *b, *c, *d].map(u32::from_le_bytes))
}
