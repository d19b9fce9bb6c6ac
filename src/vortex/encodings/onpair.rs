//! `vortex.onpair`: texts as codes of 16 bits. Each code stands for a token of a dictionary.

use super::*;
use crate::bytes::{FAST, Scratch, saturated};
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

    /// Where each token starts in the dictionary, and where the last one ends.
    fn tokens<'f>(&self, node: &Node<'f>) -> Result<Node<'f>> {
        node.integers(child::TOKENS, self.tokens_type, false, self.tokens_len.saturating_add(1))
    }

    /// The tokens, their offsets in scratch memory.
    fn read_tokens<'s>(&self, node: &Node<'s>, cx: &mut Context<'_, 's>) -> Result<onpair::Tokens<'s>> {
        if self.tokens_len > TOKENS {
            return Err(node.error(Kind::Invalid, What::ONPAIR_TOKEN, self.tokens_len));
        }
        let offsets = cx.take::<u32>(saturated(self.tokens_len).saturating_add(1))?;
        self.tokens(node)?.indices32(0, offsets, cx)?;
        onpair::Tokens::new(node.buffer(buffer::DICTIONARY)?.bytes, offsets).map_err(|e| e.moved(node.at()))
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

/// Checks that the codes of each row have the length of its text.
pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let metadata = Metadata::of(node)?;
    let offsets = &node.offsets(child::OFFSETS, metadata.offsets_type)?;
    let lengths = &node.integers(child::LENGTHS, metadata.lengths_type, false, node.rows)?;
    let codes = &metadata.codes(node)?;
    checks.node(&metadata.tokens(node)?, false)?;
    for child in [offsets, lengths, codes] {
        checks.node(child, false)?;
    }
    checks.pieces(node, &mut |at, len, cx| {
        let (places, lens) = (cx.take::<u64>(len.saturating_add(1))?, cx.take::<u64>(len)?);
        offsets.indices(at, places, cx)?;
        lengths.indices(at, lens, cx)?;
        let wrong = |end: u64| node.error(Kind::Invalid, What::VORTEX_OFFSETS, end);
        let (Some(first), Some(last)) = (places.first().copied(), places.last().copied()) else { return Ok(()) };
        if last > metadata.codes_len {
            return Err(wrong(last));
        }
        let t = &mut cx.scope();
        let tokens = metadata.read_tokens(node, t)?;
        let count = saturated(last.saturating_sub(first));
        let mut memory = Codes::new(codes, count, t)?;
        let ends = places.get(1..).unwrap_or_default();
        let mut rows = places.iter().zip(ends).zip(lens);
        let (mut end, mut left) = (first, 0u64);
        // The codes of a row follow those of the row before.
        let mut next = |at: u64, end: &mut u64, left: &mut u64| -> Result<()> {
            while *end <= at {
                if *left > 0 {
                    return Err(node.error(Kind::Invalid, What::VORTEX_TEXT, *left));
                }
                let Some(((from, to), len)) = rows.next() else { return Ok(()) };
                if from > to {
                    return Err(wrong(*from));
                }
                (*end, *left) = (*to, *len);
            }
            Ok(())
        };
        let mut at = first;
        while at < last {
            for code in memory.read(codes, (at, last), t)? {
                next(at, &mut end, &mut left)?;
                let token = tokens.len_of(*code).ok_or_else(|| node.error(Kind::Invalid, What::ONPAIR, at))?;
                let fewer = left.checked_sub(token as u64);
                left = fewer.ok_or_else(|| node.error(Kind::Invalid, What::VORTEX_TEXT, left))?;
                at = at.saturating_add(1);
            }
        }
        next(u64::MAX, &mut end, &mut left)
    })
}

/// Whether on this machine codes are decoded in large pieces, because each piece costs more than its own codes.
fn is_slow(codes: &Node<'_>) -> bool {
    FAST && !matches!(codes.encoding(), Some(Encoding::Primitive | Encoding::BitPacked | Encoding::For))
}

/// Size of a code in memory: 2 bytes, and 4 more if it is read in another width.
fn code_size(codes: &Node<'_>) -> Result<u64> {
    Ok(if codes.prim()?.size() == 2 { 2 } else { 6 })
}

/// The number of codes that are decoded at once: more than a block where memory for them is left.
fn piece(codes: &Node<'_>, count: usize, cx: &mut Context<'_, '_>) -> Result<usize> {
    let many = count.min(PAGE);
    if many <= BLOCK || !is_slow(codes) {
        return Ok(BLOCK);
    }
    let others = codes.temporaries(Amount { rows: many as u64, width: 8, at: None }, cx)?;
    let need = others.saturating_add(need::piece(many as u64, code_size(codes)?)).saturating_add(need::SLACK);
    Ok(if cx.scratch.room() as u64 >= need { many } else { BLOCK })
}

fn need(node: &Node<'_>, amount: Amount, cx: &mut Context<'_, '_>) -> Result<u64> {
    let metadata = Metadata::of(node)?;
    let (rows, codes) = (amount.rows, metadata.codes(node)?);
    let tokens = metadata.tokens_len.min(TOKENS).wrapping_add(1);
    // The codes of the rows, if they are known. With at least as many rows as tokens, there are usually more codes.
    let (mut count, mut spread, mut size) = (codes.rows, rows >= tokens, 6);
    if FAST {
        let range = amount.at.and_then(|at| metadata.range(node, at, saturated(rows), cx).ok());
        if let Some((from, to)) = range {
            count = to.saturating_sub(from);
            spread = count >= tokens;
        }
        size = code_size(&codes)?;
    }
    // Codes are decoded in blocks, so that memory does not depend on their number; in larger pieces only on hosts.
    let block = count.min(if is_slow(&codes) { PAGE } else { BLOCK } as u64);
    let mut own = need::piece(tokens, 4).wrapping_add(need::piece(block, size));
    if FAST && spread && (2..=onpair::ROWS as u64).contains(&tokens) {
        own = own.wrapping_add(need::piece(1, size_of::<onpair::Room>() as u64));
    }
    need::with_children(own.wrapping_add(need::SLACK), node, amount.at_least(tokens.max(block)), cx)
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

/// Codes that are decoded at once if pieces are slow: a page of `vortex.pco`.
const PAGE: usize = 1 << 18;

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    let metadata = Metadata::of(node)?;
    let mut t = cx.scope();
    let tokens = metadata.read_tokens(node, &mut t)?;
    let tokens_len = saturated(metadata.tokens_len);

    let range = metadata.range(node, at, out.len(), &mut t)?;
    node.child_indices((child::LENGTHS, metadata.lengths_type), at, out, &mut t)?;
    let (start, total) = node.reserve_texts(out, &mut t)?;
    let codes = &metadata.codes(node)?;
    let count = saturated(range.1.saturating_sub(range.0));
    let mut memory = Codes::new(codes, count, &mut t)?;
    // Spreading tokens into rows pays only if there are more codes than tokens. It also needs memory.
    let spread = FAST && count > tokens_len && {
        let others =
            saturated(codes.temporaries(
                Amount { rows: memory.numbers.len() as u64, width: 8, at: None },
                &mut t.without_texts(),
            )?);
        t.scratch.room() >= saturated(Scratch::cost::<onpair::Room>(1)).saturating_add(others)
    };
    let rows = match spread {
        true => t.take::<onpair::Room>(1)?.first_mut().and_then(|room| tokens.spread(room)),
        false => None,
    };
    let (mut done, mut first) = (0usize, range.0);
    while first < range.1 {
        let numbers = memory.read(codes, (first, range.1), &mut t)?;
        let len = numbers.len();
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

/// Codes of 16 bits, and memory for those of another width.
struct Codes<'s> {
    numbers: &'s mut [u16],
    wide: &'s mut [u32],
}

impl<'s> Codes<'s> {
    /// Memory for at most `count` codes.
    fn new(codes: &Node<'_>, count: usize, cx: &mut Context<'_, 's>) -> Result<Self> {
        let count = count.min(piece(codes, count, cx)?);
        let wide = if codes.prim()?.size() == 2 { 0 } else { count };
        Ok(Codes { numbers: cx.take(count)?, wide: cx.take(wide)? })
    }

    /// Returns the codes starting at `first`, saturating: all up to `end`, or as many as there is memory for.
    fn read(&mut self, codes: &Node<'_>, (first, end): (u64, u64), cx: &mut Context<'_, '_>) -> Result<&[u16]> {
        let len = saturated(end.saturating_sub(first)).min(self.numbers.len());
        let numbers = self.numbers.get_mut(..len).unwrap_or_default();
        if self.wide.is_empty() {
            codes.cells(Ask::Values, first, &mut Cells::W2(numbers), cx)?;
            return Ok(numbers);
        }
        let wide = self.wide.get_mut(..len).unwrap_or_default();
        codes.indices32(first, wide, cx)?;
        for (to, code) in numbers.iter_mut().zip(wide) {
            *to = u16::try_from(*code).unwrap_or(u16::MAX);
        }
        Ok(numbers)
    }
}

/// Writes texts as codes of tokens.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use super::field;
    use crate::column::Prim;
    use crate::encoding::onpair::Dictionary;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Parts of the array, each with the type of its numbers.
    pub struct Parts {
        pub tokens: (Array, Prim),
        pub codes: (Array, Prim),
        /// Number of codes.
        pub codes_len: u64,
        pub offsets: (Array, Prim),
        pub lengths: (Array, Prim),
    }

    /// The codes of all texts.
    pub fn tokens(dictionary: &Dictionary, parts: Parts, valid: Option<Array>) -> Array {
        let Parts { tokens, codes, codes_len, offsets, lengths } = parts;
        let mut message = Writer::default();
        let number = |prim: Prim| u64::from(number_of_prim(prim));
        message.some(field::LENGTHS_TYPE, number(lengths.1));
        message.uint(field::TOKENS_LEN, dictionary.offsets().len().saturating_sub(1) as u64);
        message.uint(field::CODES_LEN, codes_len).some(field::TOKENS_TYPE, number(tokens.1));
        message.some(field::CODES_TYPE, number(codes.1)).some(field::OFFSETS_TYPE, number(offsets.1));
        // Vectors of 8 bytes, as the original aligns it.
        let array = Array::new(Encoding::OnPair).message(&mut message).buffer(dictionary.bytes().to_vec(), 8);
        array.child(tokens.0).child(codes.0).child(offsets.0).child(lengths.0).child(valid)
    }
}
