//! The choice of an encoding for texts and byte strings.

use alloc::vec::Vec;

use super::array::Array;
use super::distinct::{Codes, codes, is_same_text, text_hash};
use super::encode::{constant, distinct_texts, plain_texts};
use super::packing::{Learned, Packing};
use super::rows::{Bitmap, Numbers, Texts};
use super::{Encodings, WriteOptions, compact, integers, scalar};
use crate::bytes::low32;
use crate::column::Prim;
use crate::encoding::{fsst, onpair, texts};
use crate::vortex::encodings::{self, dict, plain};
use crate::vortex::raw::Encoding;

/// Encodes texts. At least one row has a value.
pub(super) fn encode(
    all: &Texts,
    valid: Option<&Bitmap>,
    is_text: bool,
    how: &WriteOptions,
    learned: &mut Learned,
) -> Array {
    let allowed = how.allowed();
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    let mut each = all.iter().enumerate().filter(|(i, _)| is_valid(*i)).map(|(_, text)| text);
    if let Some(first) = each.next()
        && each.all(|text| text == first)
        && let scalar = if is_text { scalar::text(first) } else { scalar::bytes(first) }
        && let Some(constant) = constant(scalar, valid, allowed)
    {
        return constant;
    }
    let by_codes = dictionary(all, valid, how, learned);
    let ways = by_codes.into_iter().chain(packed(all, valid, how, learned));
    let light = Array::smallest(ways, all.bytes.len(), || plain_texts(all, valid, allowed));
    compact::or_texts(light, all, valid, allowed)
}

/// Encodes texts as codes of symbols (FSST), or as codes of tokens (OnPair).
fn packed(all: &Texts, valid: Option<&Bitmap>, how: &WriteOptions, learned: &mut Learned) -> Option<Array> {
    let offsets = offsets_of(all)?;
    let texts = texts::Texts::new(&all.bytes, &offsets)?;
    if texts.total() < SMALL {
        return None;
    }
    Some(match learned.packing(&texts, how.allowed())? {
        Packing::Symbols(table) => as_symbols(all, &texts, table, valid, how),
        Packing::Tokens(table) => as_tokens(all, &texts, table, valid, how.allowed()),
    })
}

/// Total length in bytes of texts that are not packed.
const SMALL: usize = 256;

/// Returns the offset of each text, followed by the end of the last one; `None` without texts, and from 4 GiB on.
fn offsets_of(all: &Texts) -> Option<Vec<u32>> {
    u32::try_from(*all.ends.last()?).ok()?;
    let mut offsets = Vec::with_capacity(all.ends.len().saturating_add(1));
    offsets.push(0);
    offsets.extend(all.ends.iter().map(|end| low32(*end)));
    Some(offsets)
}

fn lengths(all: &Texts, allowed: Encodings) -> (Array, Prim) {
    let mut before = 0;
    let lengths = all.ends.iter().map(|end| end.wrapping_sub(core::mem::replace(&mut before, *end)));
    let lengths: Vec<u64> = lengths.collect();
    integers::unsigned(&lengths, allowed)
}

/// Encodes offsets: 0, and the end of each item.
fn offsets(ends: &[u32], allowed: Encodings) -> (Array, Prim) {
    let all: Vec<u64> = ends.iter().map(|end| u64::from(*end)).collect();
    super::encode::offsets(&all, allowed)
}

fn as_symbols(
    all: &Texts,
    texts: &texts::Texts<'_>,
    table: &fsst::Table,
    valid: Option<&Bitmap>,
    how: &WriteOptions,
) -> Array {
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    table.encode(texts, &mut codes, &mut ends);
    let allowed = how.allowed();
    let (lengths, offsets) = (lengths(all, allowed), offsets(&ends, allowed));
    let parts = encodings::fsst::write::Parts { codes, lengths, offsets, valid: plain::write::validity(valid) };
    if how.profile.edition().fsst_codes {
        encodings::fsst::write::symbols(table, parts)
    } else {
        encodings::fsst::write::old_symbols(table, parts)
    }
}

fn as_tokens(
    all: &Texts,
    texts: &texts::Texts<'_>,
    table: &onpair::Dictionary,
    valid: Option<&Bitmap>,
    allowed: Encodings,
) -> Array {
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    table.encode(texts, &mut codes, &mut ends);
    let tokens: Vec<u64> = table.offsets().iter().map(|offset| u64::from(*offset)).collect();
    let codes_len = codes.len() as u64;
    let parts = encodings::onpair::write::Parts {
        tokens: integers::unsigned(&tokens, allowed.leaf()),
        codes: (integers::encode(&Numbers::U16(codes), None, allowed.leaf()), Prim::U16),
        codes_len,
        offsets: offsets(&ends, allowed),
        lengths: lengths(all, allowed),
    };
    encodings::onpair::write::tokens(table, parts, plain::write::validity(valid))
}

/// Encodes distinct texts and codes, if at most half of the texts are distinct.
fn dictionary(all: &Texts, valid: Option<&Bitmap>, how: &WriteOptions, learned: &mut Learned) -> Option<Array> {
    let allowed = how.allowed();
    if !allowed.has(Encoding::Dict) {
        return None;
    }
    let len = all.ends.len();
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    let hash = |i: usize| text_hash(all.get(i));
    let Codes { codes, first, nulls } =
        codes(len, len / 2, is_valid, hash, |a, b| is_same_text(all.get(a), all.get(b)))?;
    let mut distinct = Texts::default();
    first.iter().for_each(|row| distinct.push(all.get(*row)));
    let present = nulls.then(|| {
        distinct.push(&[]);
        Bitmap::all_but_last(distinct.ends.len())
    });
    let packed = packed(&distinct, present.as_ref(), how, learned.fields(1).first_mut()?);
    let plain = || distinct_texts(&distinct, present.as_ref(), allowed);
    let values = Array::smallest(packed, distinct.bytes.len(), plain);
    Some(dict::write::dictionary(integers::unsigned(&codes, allowed.leaf()), distinct.ends.len(), values))
}
