//! `vortex.pco`: the valid rows, in chunks of pages.

use super::*;
use crate::bytes::saturated;
use crate::column::Prim;
use crate::encoding::pco::{Chunk, Number, Page, Version};
use crate::meta::proto::{Fields, Message, Value};
use crate::vortex::tree::BYTES_PER_NODE;

/// Buffer `k` is the metadata of chunk `k`. The buffers of the pages follow.
pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Child(dense::VALIDITY),
    holds: Holds::Values,
    need: |node, amount, cx| {
        let own = largest(node, cx)?;
        dense::need(own, node, amount, cx)
    },
    cells,
};

mod field {
    /// The header of the format.
    pub const HEADER: u32 = 1;
    /// One message per chunk.
    pub const CHUNKS: u32 = 2;
}

mod chunk {
    /// One message per page.
    pub const PAGES: u32 = 1;
}

mod page {
    pub const VALUES_LEN: u32 = 1;
}

/// Returns the number of values in a page.
fn values_of(page: Message<'_>) -> Result<u64> {
    let [values] = page.numbers([page::VALUES_LEN])?;
    Ok(values)
}

/// Iterates over the messages in one field of a message.
struct Messages<'f> {
    fields: Fields<'f>,
    number: u32,
}

impl<'f> Messages<'f> {
    const fn new(of: Message<'f>, number: u32) -> Self {
        Messages { fields: of.fields(), number }
    }

    /// Returns the next message, which costs as much as a node.
    fn next(&mut self, cx: &mut Context<'_, '_>) -> Result<Option<Message<'f>>> {
        while let Some((number, value)) = self.fields.take()? {
            if let (true, Value::Bytes(message)) = (number == self.number, value) {
                cx.spend(message.at())?;
                return Ok(Some(message));
            }
        }
        Ok(None)
    }
}

/// Returns the number of values in the largest page of a chunk.
fn largest_page(of: Message<'_>, cx: &mut Context<'_, '_>) -> Result<u64> {
    let mut most = 0;
    let mut pages = Messages::new(of, chunk::PAGES);
    while let Some(page) = pages.next(cx)? {
        most = values_of(page)?.max(most);
    }
    Ok(most)
}

/// Returns chunk `k`, whose metadata is buffer `k`, and spends the budget for parsing it.
fn chunk_meta<'f>(node: &Node<'f>, k: usize, number: Number, cx: &mut Context<'_, '_>) -> Result<Chunk<'f>> {
    let header = node.metadata()?.message(field::HEADER)?;
    let version = Version::new(header.map_or(&[], |header| header.bytes()));
    let meta = node.buffer(k)?;
    dense::spend(node, k, meta.bytes.len(), cx)?;
    let chunk = version.and_then(|version| Chunk::new(version, meta.bytes, number));
    chunk.map_err(|e| e.moved(meta.at))
}

fn number_of(node: &Node<'_>) -> Result<Number> {
    match node.prim()? {
        prim @ (Prim::F16 | Prim::F32 | Prim::F64) => Number::float(prim.size()),
        prim if signed(prim) => Number::signed(prim.size()),
        prim => Number::unsigned(prim.size()),
    }
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    prim_cells(node, out)?;
    dense::spread(node, at, out, cx, values)
}

/// Reading values one by one, from pages that are kept.
#[cfg(feature = "vortex-variant")]
mod kept {
    use core::ops::Range;

    use super::*;
    use crate::vortex::kept::Kept;

    /// Fills `out` with the stored values starting at `first`. Returns `false` if no page can be kept.
    pub fn values(node: &Node<'_>, first: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<bool> {
        cx.with_kept(|kept, cx| kept_values(node, first, out, kept, cx))
    }

    fn kept_values(
        node: &Node<'_>,
        first: u64,
        out: &mut Cells<'_>,
        kept: &mut Kept<'_>,
        cx: &mut Context<'_, '_>,
    ) -> Result<bool> {
        let (prim, width, mut done) = (node.prim()?, out.width(), 0usize);
        while done < out.len() && !kept.is_none() {
            let value = first.saturating_add(done as u64);
            let Some((slot, bytes)) = kept.slot((node, Some(prim)), cx)? else { return Ok(false) };
            if !slot.has(value) {
                let page = page_of(node, value, cx)?;
                let len = page.end.saturating_sub(page.start).saturating_mul(width as u64);
                slot.set((0, 0), 0);
                let page_bytes = bytes.get_mut(..saturated(len)).unwrap_or_default();
                let mut cells = Cells::of(page_bytes, width).ok_or_else(|| node.mistyped())?;
                super::values(node, page.start, &mut cells, cx)?;
                slot.set((page.start, page.end), len);
            }
            let skip = saturated(value.saturating_sub(slot.start)).saturating_mul(width);
            let len = saturated(slot.end.saturating_sub(value)).min(out.len().saturating_sub(done));
            let from = bytes.get(skip..saturated(slot.len)).unwrap_or_default();
            for (to, byte) in out.part(done, len).bytes_mut().iter_mut().zip(from) {
                *to = *byte;
            }
            done = done.saturating_add(len);
        }
        Ok(done == out.len())
    }

    /// Returns the numbers of the values in the page with value `value`.
    fn page_of(node: &Node<'_>, value: u64, cx: &mut Context<'_, '_>) -> Result<Range<u64>> {
        let (mut chunks, mut start) = (Messages::new(node.metadata()?, field::CHUNKS), 0u64);
        while let Some(message) = chunks.next(cx)? {
            let mut pages = Messages::new(message, chunk::PAGES);
            while let Some(page) = pages.next(cx)? {
                let end = start.saturating_add(values_of(page)?);
                if value < end {
                    return Ok(start..end);
                }
                start = end;
            }
        }
        Err(dense::too_few(node, start))
    }
}

/// Returns the bytes that hold the values of any page.
#[cfg(feature = "vortex-variant")]
pub(super) fn room_to_keep(node: &Node<'_>, cx: &mut Context<'_, '_>) -> Result<u64> {
    let (mut chunks, mut most) = (Messages::new(node.metadata()?, field::CHUNKS), 0u64);
    while let Some(message) = chunks.next(cx)? {
        most = largest_page(message, cx)?.max(most);
    }
    Ok(most.saturating_mul(8))
}

/// Fills `out` with the stored values starting at `first`.
fn values(node: &Node<'_>, first: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    #[cfg(feature = "vortex-variant")]
    if crate::vortex::kept::KEEPS && kept::values(node, first, out, cx)? {
        return Ok(());
    }
    let (metadata, number) = (node.metadata()?, number_of(node)?);
    // The buffers of the pages follow the buffers of all chunks.
    let (mut chunks, mut buffer) = (Messages::new(metadata, field::CHUNKS), 0usize);
    while chunks.next(cx)?.is_some() {
        buffer = buffer.saturating_add(1);
    }
    let mut chunks = Messages::new(metadata, field::CHUNKS);
    let (mut k, mut start, mut done) = (0usize, 0u64, 0usize);
    while done < out.len() {
        let Some(message) = chunks.next(cx)? else { return Err(dense::too_few(node, start)) };
        // The tables that the pages share are built for the first page that is needed.
        let (mut t, mut opened) = (cx.scope(), None);
        let mut pages = Messages::new(message, chunk::PAGES);
        while let Some(page) = pages.next(&mut t)? {
            let values = values_of(page)?;
            let mut skip = first.saturating_add(done as u64).saturating_sub(start);
            if values > skip && done < out.len() {
                let (tables, chunk) = match &mut opened {
                    Some(opened) => opened,
                    none => {
                        let chunk = chunk_meta(node, k, number, &mut t)?;
                        t.spend_many(chunk.need(values) / BYTES_PER_NODE, node.at())?;
                        none.insert((chunk.tables(&mut t.scratch)?, chunk))
                    }
                };
                let bytes = node.buffer(buffer)?;
                dense::spend(node, buffer, 0, &mut t)?;
                let mut inner = t.scope();
                let page = Page::new(chunk, tables, bytes.bytes, values, &mut inner.scratch);
                let mut page = page.map_err(|e| e.moved(bytes.at))?;
                while done < out.len() {
                    inner.spend(bytes.at)?;
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

/// Returns the scratch bytes for the largest chunk and page. The type of the numbers is not known here, so every type
/// is tried; the metadata of a chunk is rarely valid for another type than its own.
fn largest(node: &Node<'_>, cx: &mut Context<'_, '_>) -> Result<u64> {
    let mut chunks = Messages::new(node.metadata()?, field::CHUNKS);
    let (mut k, mut most) = (0usize, 0u64);
    while let Some(message) = chunks.next(cx)? {
        let values = largest_page(message, cx)?;
        let types = [1, 2, 4, 8].into_iter().flat_map(|size| [Number::unsigned(size), Number::float(size)]);
        for number in types.flatten() {
            match chunk_meta(node, k, number, cx) {
                Ok(chunk) => most = chunk.need(values).max(most),
                Err(e) if e.kind() == Kind::Limit => return Err(e),
                // Reading returns the error of an invalid chunk.
                Err(_) => {}
            }
        }
        k = k.saturating_add(1);
    }
    Ok(most)
}

/// Writes numbers by pco.
#[cfg(feature = "pco-encode")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::{chunk, field, page};
    use crate::encoding::pco::encode::Encoded;
    use crate::meta::proto::write::Writer;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// The values of valid rows, in chunks.
    pub fn chunks(chunks: Vec<Encoded>, valid: Option<Array>) -> Array {
        let mut message = Writer::default();
        let (mut array, mut all) = (Array::new(Encoding::Pco), Vec::new());
        for (k, Encoded { header, meta, pages }) in chunks.into_iter().enumerate() {
            // All chunks have the same header, which is stored once.
            if k == 0 {
                message.bytes(field::HEADER, &header);
            }
            let mut of = Writer::default();
            for page in &pages {
                of.bytes(chunk::PAGES, &Writer::default().some(page::VALUES_LEN, page.numbers as u64).finish());
            }
            message.bytes(field::CHUNKS, &of.finish());
            array = array.buffer(meta, 1);
            all.extend(pages);
        }
        let array = all.into_iter().fold(array, |array, page| array.buffer(page.bytes, 1));
        array.message(&mut message).child(valid)
    }
}
