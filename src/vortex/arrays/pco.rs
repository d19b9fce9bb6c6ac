//! `vortex.pco`: the rows that have a value, in chunks of pages.

use crate::bytes::{Scratch, saturated};
use crate::column::Prim;
use crate::encoding::cells::Cells;
use crate::encoding::pco::{Chunk, Number, Page, Version};
use crate::error::Result;
use crate::meta::proto::{Fields, Message, Value};
use crate::vortex::dtype::signed;
use crate::vortex::node::Node;
use crate::vortex::raw::field::pco as field;
use crate::vortex::tree::{Ask, Run};

/// The messages in a field of a message.
struct Messages<'f> {
    fields: Fields<'f>,
    number: u32,
}

impl<'f> Messages<'f> {
    const fn new(of: Message<'f>, number: u32) -> Self {
        Messages { fields: of.fields(), number }
    }

    /// The next one, which costs as much as a node.
    fn next(&mut self, run: &mut Run<'_>) -> Result<Option<Message<'f>>> {
        while let Some((number, value)) = self.fields.take()? {
            if let (true, Value::Bytes(message)) = (number == self.number, value) {
                run.fuel.spend(message.at())?;
                return Ok(Some(message));
            }
        }
        Ok(None)
    }
}

/// Pages of a chunk, the values in all of them, and the most in one.
fn count(chunk: Message<'_>, run: &mut Run<'_>) -> Result<(usize, u64, u64)> {
    let (mut pages, mut sum, mut most) = (0usize, 0u64, 0u64);
    let mut messages = Messages::new(chunk, field::PAGES);
    while let Some(page) = messages.next(run)? {
        let values = page.uint(field::VALUES)?.unwrap_or(0);
        (pages, sum, most) = (pages.saturating_add(1), sum.saturating_add(values), most.max(values));
    }
    Ok((pages, sum, most))
}

impl<'f> Node<'f> {
    /// Chunk `k`, whose metadata is buffer `k`.
    fn pco_chunk(&self, k: usize, number: Number) -> Result<Chunk<'f>> {
        let header = self.metadata().as_ref()?.message(field::HEADER)?;
        let version = Version::new(header.map_or(&[], |header| header.bytes()));
        let meta = self.buffer(k)?;
        let chunk = version.and_then(|version| Chunk::new(version, meta.bytes, number));
        chunk.map_err(|e| e.moved(meta.at))
    }

    fn pco_number(&self) -> Result<Number> {
        match self.prim()? {
            prim @ (Prim::F16 | Prim::F32 | Prim::F64) => Number::float(prim.size()),
            prim if signed(prim) => Number::signed(prim.size()),
            prim => Number::unsigned(prim.size()),
        }
    }

    /// `vortex.pco`.
    pub(in crate::vortex) fn pco(
        &self,
        ask: Ask,
        at: u64,
        out: &mut Cells<'_>,
        run: &mut Run<'_>,
        s: &mut Scratch<'_>,
    ) -> Result<()> {
        if ask != Ask::Values || self.prim()?.size() != out.width() {
            return Err(self.mistyped());
        }
        self.dense(at, out, run, s, Node::pco_values)
    }

    /// Stored values from `first` on.
    fn pco_values(&self, first: u64, out: &mut Cells<'_>, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<()> {
        let (metadata, number) = (self.metadata()?, self.pco_number()?);
        // The buffers of pages follow those of all chunks.
        let (mut chunks, mut buffer) = (Messages::new(metadata, field::CHUNKS), 0usize);
        while chunks.next(run)?.is_some() {
            buffer = buffer.saturating_add(1);
        }
        let mut chunks = Messages::new(metadata, field::CHUNKS);
        let (mut k, mut start, mut done) = (0usize, 0u64, 0usize);
        while done < out.len() {
            let Some(message) = chunks.next(run)? else { return Err(self.too_few(start)) };
            // What its pages share is made for the first of them that is wanted.
            let (mut t, mut opened) = (s.scope(), None);
            let mut pages = Messages::new(message, field::PAGES);
            while let Some(page) = pages.next(run)? {
                let values = page.uint(field::VALUES)?.unwrap_or(0);
                let mut skip = first.saturating_add(done as u64).saturating_sub(start);
                if values > skip && done < out.len() {
                    let (tables, chunk) = match &mut opened {
                        Some(opened) => opened,
                        none => {
                            let chunk = self.pco_chunk(k, number)?;
                            none.insert((chunk.tables(&mut t)?, chunk))
                        }
                    };
                    let bytes = self.buffer(buffer)?;
                    let page = Page::new(chunk, tables, bytes.bytes, values, &mut t.scope());
                    let mut page = page.map_err(|e| e.moved(bytes.at))?;
                    while done < out.len() {
                        run.fuel.spend(bytes.at)?;
                        let batch = page.next().map_err(|e| e.moved(bytes.at))?;
                        if batch.is_empty() {
                            break;
                        }
                        let passed = saturated(skip).min(batch.len());
                        skip = skip.saturating_sub(passed as u64);
                        let batch = batch.get(passed..).unwrap_or_default();
                        out.put(done, batch);
                        done = done.saturating_add(batch.len()).min(out.len());
                    }
                }
                start = start.saturating_add(values);
                buffer = buffer.saturating_add(1);
            }
            k = k.saturating_add(1);
        }
        Ok(())
    }

    /// Scratch that the largest chunk and page take. Of what type the numbers are is not known here; that the
    /// metadata of a chunk is all there, and no more, holds for hardly any type but its own.
    pub(in crate::vortex) fn pco_need(&self, run: &mut Run<'_>) -> Result<u64> {
        let mut chunks = Messages::new(self.metadata()?, field::CHUNKS);
        let (mut k, mut most) = (0usize, 0u64);
        while let Some(message) = chunks.next(run)? {
            let (_, _, values) = count(message, run)?;
            let types = [1, 2, 4, 8].into_iter().flat_map(|size| [Number::unsigned(size), Number::float(size)]);
            for number in types.flatten() {
                // What is wrong with it, reading says.
                most = self.pco_chunk(k, number).map_or(0, |chunk| chunk.need(values)).max(most);
            }
            k = k.saturating_add(1);
        }
        Ok(most)
    }
}
