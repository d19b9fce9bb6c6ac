//! The encodings that make the smallest arrays: pco for numbers, zstd for texts. Both store valid rows only.

#[cfg(any(feature = "pco-encode", feature = "zstd-encode"))]
use alloc::vec::Vec;

use super::Encodings;
use super::array::Array;
use super::rows::{Bitmap, Numbers, Texts};
use crate::vortex::raw::Encoding;

/// Number of values in a page of pco or a frame of zstd, which is decoded from its start.
#[cfg(any(feature = "pco-encode", feature = "zstd-encode"))]
const PAGE: usize = 8192;

/// Size in bytes from which texts make a frame, whatever their number is.
#[cfg(feature = "zstd-encode")]
const FRAME: usize = 1 << 20;

/// The level of zstd.
#[cfg(feature = "zstd-encode")]
const LEVEL: u8 = 5;

/// Number of values in a chunk of pco, the maximum that the original reads.
#[cfg(feature = "pco-encode")]
const CHUNK: usize = 1 << 18;

/// Size in bytes of arrays that are left as they are.
const SMALL: u64 = 64;

/// Returns an array of numbers, or the numbers by pco if that is allowed and smaller.
pub(super) fn or_numbers(light: Array, all: &Numbers, valid: Option<&Bitmap>, allowed: Encodings) -> Array {
    let is_tried = allowed.has(Encoding::Pco) && light.size() > SMALL;
    light.or_smaller(is_tried.then(|| numbers(all, valid)).flatten())
}

/// Returns an array of texts, or the texts by zstd if that is allowed and smaller.
pub(super) fn or_texts(light: Array, all: &Texts, valid: Option<&Bitmap>, allowed: Encodings) -> Array {
    let is_tried = allowed.has(Encoding::Zstd) && light.size() > SMALL;
    light.or_smaller(is_tried.then(|| texts(all, valid)).flatten())
}

/// Encodes numbers of 16 to 64 bits by pco.
#[cfg(feature = "pco-encode")]
fn numbers(all: &Numbers, valid: Option<&Bitmap>) -> Option<Array> {
    use crate::encoding::pco::encode;
    use crate::vortex::encodings::{pco, plain};

    macro_rules! encoded {
        ($($name:ident)*) => {
            match all {
                $(Numbers::$name(values) => {
                    present(values, valid).chunks(CHUNK).map(|chunk| encode::numbers(chunk, PAGE)).collect()
                })*
                Numbers::F16(values) => {
                    present(values, valid).chunks(CHUNK).map(|chunk| encode::halves(chunk, PAGE)).collect()
                }
                Numbers::I8(_) | Numbers::U8(_) | Numbers::I128(_) | Numbers::I256(_) => None,
            }
        };
    }
    let chunks: Option<Vec<_>> = encoded!(I16 I32 I64 U16 U32 U64 F32 F64);
    Some(pco::write::chunks(chunks?, plain::write::validity(valid)))
}

#[cfg(not(feature = "pco-encode"))]
fn numbers(_: &Numbers, _: Option<&Bitmap>) -> Option<Array> {
    None
}

/// Encodes texts by zstd, each after its length.
#[cfg(feature = "zstd-encode")]
fn texts(all: &Texts, valid: Option<&Bitmap>) -> Option<Array> {
    use crate::bytes::Scratch;
    use crate::codec::zstd;
    use crate::vortex::encodings::plain;
    use crate::vortex::encodings::zstd::write::{Frame, frames};

    let (mut done, mut bytes, mut values) = (Vec::new(), Vec::new(), 0usize);
    let (mut packed, mut memory) = (Vec::new(), Vec::new());
    let rows = all.iter().enumerate().filter(|(i, _)| valid.is_none_or(|valid| valid.get(*i)));
    let mut rows = rows.map(|(_, text)| text).peekable();
    while let Some(text) = rows.next() {
        bytes.extend_from_slice(&u32::try_from(text.len()).ok()?.to_le_bytes());
        bytes.extend_from_slice(text);
        values = values.saturating_add(1);
        if values == PAGE || bytes.len() >= FRAME || rows.peek().is_none() {
            let size = bytes.len() as u64;
            packed.resize(zstd::max_len(bytes.len()), 0);
            memory.resize(zstd::encode_scratch_len(LEVEL, bytes.len()).max(memory.len()), 0);
            let len = zstd::encode(&bytes, &mut packed, LEVEL, &mut Scratch::new(&mut memory)).ok()?;
            done.push(Frame { bytes: packed.get(..len)?.to_vec(), size, values: values as u64 });
            bytes.clear();
            values = 0;
        }
    }
    Some(frames(done, plain::write::validity(valid)))
}

#[cfg(not(feature = "zstd-encode"))]
fn texts(_: &Texts, _: Option<&Bitmap>) -> Option<Array> {
    None
}

/// Returns the values of rows that have one.
#[cfg(feature = "pco-encode")]
fn present<'v, T: Copy>(values: &'v [T], valid: Option<&Bitmap>) -> alloc::borrow::Cow<'v, [T]> {
    match valid {
        None => values.into(),
        Some(valid) => values.iter().zip(valid.iter()).filter(|(_, there)| *there).map(|(value, _)| *value).collect(),
    }
}
