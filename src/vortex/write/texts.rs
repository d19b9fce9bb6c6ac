//! The choice of an encoding for texts and byte strings.

use alloc::vec::Vec;

use super::array::Array;
use super::distinct::{Codes, codes};
use super::encode::plain_texts;
use super::integers::{self, Choice};
use super::rows::{Bitmap, Numbers, Texts};
use super::word::bits;
use super::{Profile, WriteOptions, scalar};
use crate::column::Prim;
use crate::encoding::{fsst, onpair, texts};
use crate::hash::xxh64;
use crate::vortex::encodings::{self, constant, dict, plain, wrapped};

/// Encodes texts. At least one row has a value.
pub(in crate::vortex) fn encode(all: &Texts, valid: Option<&Bitmap>, is_text: bool, how: &WriteOptions) -> Array {
    let present = plain::write::validity(valid);
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    let mut each = all.iter().enumerate().filter(|(i, _)| is_valid(*i)).map(|(_, text)| text);
    if let Some(first) = each.next()
        && each.all(|text| text == first)
    {
        let scalar = if is_text { scalar::text(first) } else { scalar::bytes(first) };
        return wrapped::write::masked(constant::write::constant(scalar), present);
    }
    let ways = dictionary(all, valid, how).into_iter().chain(packed(all, valid, how));
    ways.fold(plain_texts(all, valid), |best, way| if way.size() < best.size() { way } else { best })
}

/// Encodes texts as codes of symbols (FSST), or as codes of tokens (OnPair), if a sample is smaller.
fn packed(all: &Texts, valid: Option<&Bitmap>, how: &WriteOptions) -> Option<Array> {
    let offsets = offsets_of(all)?;
    let texts = texts::Texts::new(&all.bytes, &offsets)?;
    if texts.total() < SMALL {
        return None;
    }
    let symbols = fsst::Table::train(&texts);
    if how.profile == Profile::Wide {
        return Some(as_symbols(all, &texts, &symbols, valid));
    }
    let tokens = onpair::Dictionary::train(&texts, TOKEN_BITS);
    // Both encode the first texts, and the smaller one all.
    let some = offsets.get(..offsets.len().min(SAMPLE))?;
    let sample = texts::Texts::new(&all.bytes, some)?;
    let (mut bytes, mut codes, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    symbols.encode(&sample, &mut bytes, &mut ends);
    tokens.encode(&sample, &mut codes, &mut ends);
    let tokens_len = tokens.offsets().len() as u64;
    let width = u64::from(bits(tokens_len));
    // The dictionary is shared by all texts.
    let share = |size: u64| {
        let part = size.saturating_mul(sample.total() as u64).checked_div(texts.total() as u64);
        part.unwrap_or(size)
    };
    let dictionary = (tokens.bytes().len() as u64).saturating_add(tokens_len);
    let by_tokens = (codes.len() as u64).saturating_mul(width).div_ceil(8).saturating_add(share(dictionary));
    if by_tokens < bytes.len() as u64 {
        Some(as_tokens(all, &texts, &tokens, valid))
    } else {
        Some(as_symbols(all, &texts, &symbols, valid))
    }
}

/// Total length in bytes of texts that are not packed.
const SMALL: usize = 256;
/// Number of texts by which the two ways are compared, and 1.
const SAMPLE: usize = 4097;
/// Number of bits of the code of a token.
const TOKEN_BITS: u32 = 12;

/// Returns the offset of each text, followed by the end of the last one; `None` from 4 GiB on.
fn offsets_of(all: &Texts) -> Option<Vec<u32>> {
    core::iter::once(&0).chain(&all.ends).map(|end| u32::try_from(*end).ok()).collect()
}

fn lengths(all: &Texts) -> (Array, Prim) {
    let lengths: Vec<u64> = all.iter().map(|text| text.len() as u64).collect();
    integers::unsigned(&lengths, Choice::ALL)
}

/// Encodes offsets: 0, and the end of each item.
fn offsets(ends: &[u32]) -> (Array, Prim) {
    let all: Vec<u64> = ends.iter().map(|end| u64::from(*end)).collect();
    super::encode::offsets(&all)
}

fn as_symbols(all: &Texts, texts: &texts::Texts<'_>, table: &fsst::Table, valid: Option<&Bitmap>) -> Array {
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    table.encode(texts, &mut codes, &mut ends);
    encodings::fsst::write::symbols(table, codes, lengths(all), offsets(&ends), plain::write::validity(valid))
}

fn as_tokens(all: &Texts, texts: &texts::Texts<'_>, table: &onpair::Dictionary, valid: Option<&Bitmap>) -> Array {
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    table.encode(texts, &mut codes, &mut ends);
    let tokens: Vec<u64> = table.offsets().iter().map(|offset| u64::from(*offset)).collect();
    let codes_len = codes.len() as u64;
    let parts = encodings::onpair::write::Parts {
        tokens: integers::unsigned(&tokens, Choice::LEAF),
        codes: (integers::encode(&Numbers::U16(codes), None, Choice::LEAF), Prim::U16),
        codes_len,
        offsets: offsets(&ends),
        lengths: lengths(all),
    };
    encodings::onpair::write::tokens(table, parts, plain::write::validity(valid))
}

/// Encodes distinct texts and codes, if at most half of the texts are distinct.
fn dictionary(all: &Texts, valid: Option<&Bitmap>, how: &WriteOptions) -> Option<Array> {
    let len = all.ends.len();
    let is_valid = |i: usize| valid.is_none_or(|valid| valid.get(i));
    let hash = |i: usize| xxh64(0, all.get(i));
    let Codes { codes, first, nulls } = codes(len, len / 2, is_valid, hash, |a, b| all.get(a) == all.get(b))?;
    let mut distinct = Texts::default();
    first.iter().for_each(|row| distinct.push(all.get(*row)));
    let present = nulls.then(|| {
        distinct.push(&[]);
        Bitmap::all_but_last(distinct.ends.len())
    });
    let plain = plain_texts(&distinct, present.as_ref());
    let values =
        packed(&distinct, present.as_ref(), how).filter(|packed| packed.size() < plain.size()).unwrap_or(plain);
    Some(dict::write::dictionary(integers::unsigned(&codes, Choice::LEAF), distinct.ends.len(), values))
}
