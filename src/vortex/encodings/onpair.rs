//! `vortex.onpair`: texts as codes of 16 bits. Each code stands for a token of a dictionary.

use super::*;
use crate::bytes::{FAST, saturated};
use crate::encoding::fastlanes::BLOCK;
use crate::encoding::onpair;

pub(super) const SCHEME: Scheme =
    Scheme { validity: Validity::Child(child::VALIDITY), holds: Holds::PackedTexts(bound), need, cells };

mod child {
    /// The start of each token in the dictionary, followed by the end of the last token.
    pub const TOKENS: usize = 0;
    pub const CODES: usize = 1;
    /// The offset of the first code of each row, followed by the end of the codes of the last row.
    pub const OFFSETS: usize = 2;
    pub const LENGTHS: usize = 3;
    pub const VALIDITY: usize = 4;
}

mod buffer {
    pub const DICTIONARY: usize = 0;
}

mod field {
    pub const LENGTHS_TYPE: u32 = 1;
    pub const TOKENS_LEN: u32 = 3;
    pub const CODES_LEN: u32 = 4;
    pub const TOKENS_TYPE: u32 = 5;
    pub const CODES_TYPE: u32 = 6;
    pub const OFFSETS_TYPE: u32 = 7;
}

struct Metadata {
    lengths_type: u64,
    tokens_len: u64,
    codes_len: u64,
    tokens_type: u64,
    codes_type: u64,
    offsets_type: u64,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [lengths_type, tokens_len, codes_len, tokens_type, codes_type, offsets_type] = node.numbers(&[
            field::LENGTHS_TYPE,
            field::TOKENS_LEN,
            field::CODES_LEN,
            field::TOKENS_TYPE,
            field::CODES_TYPE,
            field::OFFSETS_TYPE,
        ])?;
        Ok(Metadata { lengths_type, tokens_len, codes_len, tokens_type, codes_type, offsets_type })
    }

    /// Returns all codes.
    fn codes<'f>(&self, node: &Node<'f>) -> Result<Node<'f>> {
        node.integers(child::CODES, self.codes_type, false, self.codes_len)
    }

    /// Returns the range of the codes of `len` rows starting at `at`: its start and its end.
    fn range(&self, node: &Node<'_>, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<(u64, u64)> {
        let [from, to] = node.offsets(child::OFFSETS, self.offsets_type)?.ends(at, len as u64, cx)?;
        if from <= to && to <= self.codes_len {
            return Ok((from, to));
        }
        Err(node.error(Kind::Invalid, What::VORTEX_OFFSETS, from.max(to)))
    }
}

fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    let block = BLOCK as u64;
    let tokens = Metadata::of(node)?.tokens_len.min(TOKENS).wrapping_add(1);
    // Codes are decoded in blocks, so that memory does not depend on their number.
    let mut own = need::piece(tokens, 4).wrapping_add(need::piece(block, 4));
    // With at least this number of rows, there are usually more codes than tokens.
    if FAST && amount.rows >= tokens && (2..=onpair::ROWS as u64).contains(&tokens) {
        own = own.wrapping_add(need::piece(1, size_of::<onpair::Room>() as u64));
    }
    need::with_children(own, node, amount.at_least(tokens.max(block)), cx)
}

fn bound(node: &Node<'_>, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<u64> {
    let metadata = Metadata::of(node)?;
    let (from, to, rows) = match metadata.range(node, at, len, cx) {
        Ok((from, to)) => (from, to, len as u64),
        // Decoding the offsets takes more memory than is available here. Any row may have all codes.
        Err(e) if e.kind() == Kind::NoRoom => (0, metadata.codes_len, 1),
        Err(e) => return Err(e),
    };
    let Some(last) = to.checked_sub(1).filter(|last| *last >= from) else { return Ok(0) };
    // The number of codes is a claim. Each code decodes to at least one byte, so the limit of decoded bytes applies. If
    // the claim is wrong, reading the last code fails, unless codes are repeated.
    let (count, limit) = (to.saturating_sub(from), node.file.limits().max_decoded);
    if count > limit.saturating_mul(rows) {
        return Err(node.error(Kind::Limit, What::MAX_DECODED, limit));
    }
    match metadata.codes(node)?.index(last, cx) {
        Err(e) if e.kind() != Kind::NoRoom => Err(e),
        _ => Ok(count.saturating_mul(onpair::LONGEST.into())),
    }
}

/// Maximum number of tokens: codes have 16 bits.
const TOKENS: u64 = 1 << 16;

/// Maximum number of codes that are decoded at once if their width is not 16 bits.
const CODES: usize = 64;

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    let metadata = Metadata::of(node)?;
    if metadata.tokens_len > TOKENS {
        return Err(node.error(Kind::Invalid, What::ONPAIR_TOKEN, metadata.tokens_len));
    }
    let tokens_len = saturated(metadata.tokens_len);
    let mut t = cx.scope();
    let offsets = t.take::<u32>(tokens_len.saturating_add(1))?;
    let ends = &node.integers(child::TOKENS, metadata.tokens_type, false, offsets.len() as u64)?;
    ends.indices32(0, offsets, &mut t)?;
    let dictionary = node.buffer(buffer::DICTIONARY)?;
    let tokens = onpair::Tokens::new(dictionary.bytes, offsets).map_err(|e| e.moved(node.at()))?;

    let range = metadata.range(node, at, out.len(), &mut t)?;
    node.child_indices((child::LENGTHS, metadata.lengths_type), at, out, &mut t)?;
    let (start, total) = node.reserve_texts(out, &mut t)?;
    let codes = &metadata.codes(node)?;
    let piece = if codes.prim()?.size() == 2 { BLOCK } else { CODES };
    let count = saturated(range.1.saturating_sub(range.0));
    let numbers = t.take::<u16>(count.min(piece))?;
    // Spreading tokens into rows pays only if there are more codes than tokens. It also needs memory.
    let spread = FAST && count > tokens_len && {
        let others = saturated(codes.temporaries(Amount { rows: piece as u64, width: 8 }, &mut t)?);
        t.scratch.room() >= size_of::<onpair::Room>().saturating_add(others)
    };
    let rows = match spread {
        true => t.take::<onpair::Room>(1)?.first_mut().and_then(|room| tokens.spread(room)),
        false => None,
    };
    let (mut done, mut first) = (0usize, range.0);
    while first < range.1 {
        let len = saturated(range.1.saturating_sub(first)).min(piece);
        let numbers = numbers.get_mut(..len).unwrap_or_default();
        codes16(codes, first, numbers, &mut t)?;
        let (left, _) = t.arena(start.saturating_add(done), total.saturating_sub(done));
        let written = match &rows {
            Some(rows) => rows.decode(numbers, left),
            None => tokens.decode(numbers, left),
        };
        done = done.saturating_add(written.map_err(|e| node.text_error(e, node.at()))?);
        first = first.saturating_add(len as u64);
    }
    node.all_decoded(done, total)
}

/// Fills `numbers` with the codes starting at `first`, saturated to 16 bits. If their width is not 16 bits, at most
/// [`CODES`] of them.
fn codes16(codes: &Node<'_>, first: u64, numbers: &mut [u16], cx: &mut Context<'_, '_>) -> Result<()> {
    if codes.prim()?.size() == 2 {
        return codes.cells(Ask::Values, first, &mut Cells::W2(numbers), cx);
    }
    let mut wide = [0u32; CODES];
    let wide = wide.get_mut(..numbers.len()).unwrap_or_default();
    codes.indices32(first, wide, cx)?;
    for (to, code) in numbers.iter_mut().zip(wide) {
        *to = u16::try_from(*code).unwrap_or(u16::MAX);
    }
    Ok(())
}
