//! Minimum and maximum of some rows, and bounds of at most 64 bytes for texts (format description, section 11).

use alloc::vec::Vec;

use super::rows::{Data, Numbers, Rows};

/// What is known about the rows of a zone or a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extremes {
    /// The rows with the minimum and the maximum; NaN has no place in the order.
    pub rows: Option<(usize, usize)>,
    pub nans: u64,
    pub nulls: u64,
}

/// Maximum length in bytes of a bound of texts.
pub(super) const MOST: usize = 64;

impl Extremes {
    /// Looks at all rows.
    pub fn of(rows: &Rows) -> Self {
        let nulls = rows.nulls() as u64;
        match &rows.data {
            Data::Bool(values) => Extremes { rows: ends(rows, values.iter()), nans: 0, nulls },
            // The first eight bytes decide most comparisons.
            Data::Texts(texts) => {
                let keys = texts.iter_from().map(|(text, bytes)| (start(text, bytes), text));
                Extremes { rows: ends(rows, keys), nans: 0, nulls }
            }
            Data::Numbers(numbers) => Extremes { nulls, ..Self::of_numbers(numbers, rows) },
            Data::Null | Data::List(..) | Data::Fixed(..) | Data::Struct(_) => Extremes { rows: None, nans: 0, nulls },
        }
    }

    fn of_numbers(numbers: &Numbers, rows: &Rows) -> Self {
        let of = |rows| Extremes { rows, nans: 0, nulls: 0 };
        macro_rules! ordered {
            ($($name:ident)*) => {
                match numbers {
                    $(Numbers::$name(values) => of(ends(rows, values.iter().copied())),)*
                    // The highest word has the sign.
                    Numbers::I256(values) => {
                        of(ends(rows, values.iter().map(|[a, b, c, d]| (d.cast_signed(), *c, *b, *a))))
                    }
                    Numbers::F16(values) => {
                        let float = |bits: &u16| ordered_bits(crate::bytes::half_to_f32(*bits).into());
                        Self::of_floats(values, rows, float)
                    }
                    Numbers::F32(values) => Self::of_floats(values, rows, |v| ordered_bits((*v).into())),
                    Numbers::F64(values) => Self::of_floats(values, rows, |v| ordered_bits(*v)),
                }
            };
        }
        ordered!(I8 I16 I32 I64 U8 U16 U32 U64 I128)
    }

    fn of_floats<T>(values: &[T], rows: &Rows, key: impl Fn(&T) -> Option<i64>) -> Self {
        let (mut found, mut nans) = (None::<((usize, i64), (usize, i64))>, 0u64);
        for (i, value) in values.iter().enumerate().filter(|(i, _)| rows.has(*i)) {
            let Some(key) = key(value) else {
                nans = nans.wrapping_add(1);
                continue;
            };
            let (least, most) = found.get_or_insert(((i, key), (i, key)));
            if key < least.1 {
                *least = (i, key);
            }
            if key > most.1 {
                *most = (i, key);
            }
        }
        Extremes { rows: found.map(|((least, _), (most, _))| (least, most)), nans, nulls: 0 }
    }
}

/// Returns the rows with the least and the greatest key, of those that have a value.
fn ends<K: Ord + Copy>(rows: &Rows, keys: impl Iterator<Item = K>) -> Option<(usize, usize)> {
    let mut all = keys.enumerate().filter(|(i, _)| rows.has(*i));
    let first = all.next()?;
    let (mut least, mut most) = (first, first);
    for next in all {
        if next.1 < least.1 {
            least = next;
        } else if next.1 > most.1 {
            most = next;
        }
    }
    Some((least.0, most.0))
}

/// Returns the first eight bytes of a text as a number that has the order of texts; zeros follow a shorter text. `bytes`
/// start with the text, and others follow: to load eight and mask them is faster than to load each.
fn start(text: &[u8], bytes: &[u8]) -> u64 {
    let word = match bytes.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => (0..8).fold(0, |word, i| word << 8 | bytes.get(i).map_or(0, |byte| u64::from(*byte))),
    };
    let behind = u64::MAX.unbounded_shr(u32::try_from(text.len()).unwrap_or(u32::MAX).saturating_mul(8));
    word & !behind
}

/// Returns an integer with the order of floats, in which -0.0 is below 0.0; `None` for NaN.
fn ordered_bits(value: f64) -> Option<i64> {
    let bits = value.to_bits().cast_signed();
    (!value.is_nan()).then_some(bits ^ (bits >> 63).cast_unsigned().wrapping_shr(1).cast_signed())
}

/// Returns a text of at most 64 bytes that is not greater than `text`.
pub(super) fn lower(text: &[u8], is_text: bool) -> &[u8] {
    text.get(..cut(text, is_text)).unwrap_or_default()
}

/// Returns a text of at most 64 bytes that is not less than `text`, or `None` if there is none.
pub(super) fn upper(text: &[u8], is_text: bool) -> Option<Vec<u8>> {
    if text.len() <= MOST {
        return Some(text.to_vec());
    }
    let cut = text.get(..cut(text, is_text))?;
    if !is_text {
        // The last byte that can grow.
        let last = cut.iter().rposition(|byte| *byte < 0xff)?;
        let (mut bound, byte) = (cut.get(..last)?.to_vec(), *cut.get(last)?);
        bound.push(byte.wrapping_add(1));
        return Some(bound);
    }
    let mut prefix = core::str::from_utf8(cut).ok()?;
    while let Some(last) = prefix.chars().next_back() {
        let rest = prefix.len().saturating_sub(last.len_utf8());
        let after = (u32::from(last).saturating_add(1)..=0x10_ffff).find_map(char::from_u32);
        prefix = prefix.get(..rest)?;
        if let Some(after) = after
            && rest.saturating_add(after.len_utf8()) <= MOST
        {
            let mut bound = prefix.as_bytes().to_vec();
            bound.extend_from_slice(after.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(bound);
        }
    }
    None
}

/// Returns the length of the longest prefix of at most 64 bytes; a text is cut before a character.
fn cut(text: &[u8], is_text: bool) -> usize {
    let mut len = text.len().min(MOST);
    while is_text && len > 0 && text.get(len).is_some_and(|byte| byte & 0xc0 == 0x80) {
        len = len.saturating_sub(1);
    }
    len
}
