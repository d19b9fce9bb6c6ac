//! `vortex.fsst`: texts as codes of symbols. All codes of a read are decoded at once; the lengths divide the result.

use super::*;
use crate::bytes::saturated;
use crate::encoding::fsst;
use crate::vortex::blob::Buffer;

pub(super) const SCHEME: Scheme = Scheme {
    validity: Validity::Depends(|node| {
        Ok(if is_old(node)? { Validity::As(old_child::CODES) } else { Validity::Child(child::VALIDITY) })
    }),
    holds: Holds::PackedTexts(bound),
    need: need::children,
    cells,
};

mod child {
    pub const LENGTHS: usize = 0;
    pub const OFFSETS: usize = 1;
    pub const VALIDITY: usize = 2;
}

/// Children of the old form, which stores the codes as a `vortex.varbin`.
mod old_child {
    pub const CODES: usize = 0;
    pub const LENGTHS: usize = 1;
}

mod buffer {
    pub const SYMBOLS: usize = 0;
    pub const SYMBOL_LENGTHS: usize = 1;
    /// The codes of all rows; absent in the old form.
    pub const CODES: usize = 2;
}

mod field {
    pub const LENGTHS_TYPE: u32 = 1;
    pub const OFFSETS_TYPE: u32 = 2;
}

struct Metadata {
    lengths_type: u64,
    /// Type of the offsets into the codes; 0 in the old form.
    offsets_type: u64,
}

impl Metadata {
    fn of(node: &Node<'_>) -> Result<Self> {
        let [lengths_type, offsets_type] = node.numbers(&[field::LENGTHS_TYPE, field::OFFSETS_TYPE])?;
        Ok(Metadata { lengths_type, offsets_type })
    }
}

/// Returns whether an array has the old form, which has two buffers. With fewer buffers, later accesses fail.
fn is_old(node: &Node<'_>) -> Result<bool> {
    Ok(node.buffers()? == buffer::CODES)
}

/// Returns the codes of all rows, and the offsets of the rows in them.
fn codes<'f>(node: &Node<'f>) -> Result<(Buffer<'f>, Node<'f>)> {
    if !is_old(node)? {
        let ptype = Metadata::of(node)?.offsets_type;
        return Ok((node.buffer(buffer::CODES)?, node.offsets(child::OFFSETS, ptype)?));
    }
    let codes = &node.aligned(old_child::CODES, &Ty::binary(node.dtype.nullable))?;
    if codes.encoding() != Some(Encoding::VarBin) {
        return Err(codes.undecoded());
    }
    Ok((codes.buffer(var_bin::BYTES)?, var_bin::offsets(codes)?))
}

/// Returns the codes of `len` rows starting at `at`.
fn codes_of<'f>(
    (codes, offsets): &(Buffer<'f>, Node<'_>),
    at: u64,
    len: usize,
    cx: &mut Context<'_, '_>,
) -> Result<&'f [u8]> {
    let ends = offsets.ends(at, len as u64, cx)?;
    let [from, to] = ends.map(|end| usize::try_from(end).unwrap_or(usize::MAX));
    let wrong = || offsets.error(Kind::Invalid, What::VORTEX_OFFSETS, ends.into_iter().fold(0, u64::max));
    codes.bytes.get(from..to).ok_or_else(wrong)
}

/// The lengths of the texts.
fn lengths<'f>(node: &Node<'f>) -> Result<Node<'f>> {
    let k = if is_old(node)? { old_child::LENGTHS } else { child::LENGTHS };
    node.integers(k, Metadata::of(node)?.lengths_type, false, node.rows)
}

/// The symbols.
fn table<'f>(node: &Node<'f>) -> Result<fsst::Symbols<'f>> {
    let (symbols, lengths) = (node.buffer(buffer::SYMBOLS)?, node.buffer(buffer::SYMBOL_LENGTHS)?);
    fsst::Symbols::new(symbols.bytes, lengths.bytes).map_err(|e| e.moved(node.at()))
}

/// Checks that the codes of each row have the length of its text.
pub(super) fn check(node: &Node<'_>, checks: &mut Checks<'_, '_>) -> Result<()> {
    let (codes, offsets) = codes(node)?;
    let (table, lengths) = (table(node)?, lengths(node)?);
    if is_old(node)? {
        checks.node(&node.aligned(old_child::CODES, &Ty::binary(node.dtype.nullable))?, false)?;
    } else {
        checks.node(&offsets, false)?;
    }
    checks.node(&lengths, false)?;
    checks.pieces(node, &mut |at, len, cx| {
        let (places, lens) = (cx.take::<u64>(len.saturating_add(1))?, cx.take::<u64>(len)?);
        offsets.indices(at, places, cx)?;
        lengths.indices(at, lens, cx)?;
        let ends = places.get(1..).unwrap_or_default();
        for ((from, to), len) in places.iter().zip(ends).zip(lens) {
            let (from, to) = (saturated(*from), saturated(*to));
            let row = codes.bytes.get(from..to);
            let row = row.ok_or_else(|| offsets.error(Kind::Invalid, What::VORTEX_OFFSETS, to as u64))?;
            if table.decoded_len(row).map_err(|e| e.moved(codes.at))? != *len {
                return Err(node.error(Kind::Invalid, What::VORTEX_TEXT, *len));
            }
        }
        Ok(())
    })
}

/// Returns an upper bound of the decoded bytes: a code stands for at most eight.
fn bound(node: &Node<'_>, at: u64, len: usize, cx: &mut Context<'_, '_>) -> Result<u64> {
    let codes = &codes(node)?;
    let count = match codes_of(codes, at, len, cx) {
        Ok(codes) => codes.len(),
        // Decoding the offsets takes more memory than is available here.
        Err(e) if e.kind() == Kind::NoRoom => codes.0.bytes.len(),
        Err(e) => return Err(e),
    };
    Ok((count as u64).saturating_mul(8))
}

fn cells(node: &Node<'_>, _: Ask, at: u64, out: &mut Cells<'_>, cx: &mut Context<'_, '_>) -> Result<()> {
    let Cells::W8(out) = out else { return Err(node.mistyped()) };
    let codes = &codes(node)?;
    let bytes = codes_of(codes, at, out.len(), cx)?;
    let table = table(node)?;
    lengths(node)?.indices(at, out, cx)?;
    let (start, total) = node.reserve_texts(out, cx)?;
    let done = table.decode(bytes, cx.arena(start, total).0).map_err(|e| node.text_error(e, codes.0.at))?;
    node.all_decoded(done, total)
}

/// Writes texts as codes of symbols.
#[cfg(feature = "alloc")]
pub(in crate::vortex) mod write {
    use alloc::vec::Vec;

    use super::field;
    use crate::column::Prim;
    use crate::encoding::fsst::Table;
    use crate::meta::proto::write::Writer;
    use crate::vortex::dtype::number_of_prim;
    use crate::vortex::encodings::var_bin;
    use crate::vortex::raw::Encoding;
    use crate::vortex::write::Array;

    /// Parts of the array, each with the type of its numbers.
    pub struct Parts {
        /// The codes of all texts.
        pub codes: Vec<u8>,
        /// The length of each text.
        pub lengths: (Array, Prim),
        /// The offset of the codes of each text, followed by the end of the last ones.
        pub offsets: (Array, Prim),
        pub valid: Option<Array>,
    }

    /// The codes of all texts.
    pub fn symbols(table: &Table, parts: Parts) -> Array {
        let Parts { codes, lengths: (lengths, lengths_prim), offsets: (offsets, prim), valid } = parts;
        let mut message = Writer::default();
        message.some(field::LENGTHS_TYPE, number_of_prim(lengths_prim).into());
        message.some(field::OFFSETS_TYPE, number_of_prim(prim).into());
        with_table(table).message(&mut message).buffer(codes, 1).child(lengths).child(offsets).child(valid)
    }

    /// The old form: the codes are byte strings, which have the validity of the array.
    pub fn old_symbols(table: &Table, parts: Parts) -> Array {
        let Parts { codes, lengths: (lengths, lengths_prim), offsets, valid } = parts;
        let mut message = Writer::default();
        message.some(field::LENGTHS_TYPE, number_of_prim(lengths_prim).into());
        with_table(table).message(&mut message).child(var_bin::write::texts(codes, offsets, valid)).child(lengths)
    }

    fn with_table(table: &Table) -> Array {
        Array::new(Encoding::Fsst).buffer(table.symbols().to_vec(), 8).buffer(table.lengths().to_vec(), 1)
    }
}
