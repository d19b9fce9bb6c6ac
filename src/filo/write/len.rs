//! Upper bounds of the length of a chunk, independent of the values.

use super::super::encoding::Encoding;
use super::super::raw::{HEADER_LEN, Packing};

/// Returns the maximum size in bytes of a chunk of `rows` rows, for any values. `text_bytes` is the total length of the
/// strings; it is ignored for numbers.
///
/// Booleans are counted as numbers of 64 bits.
///
/// ```
/// use pilaster::filo::Packing;
/// use pilaster::filo::{Encoding, write};
///
/// const LEN: usize = write::max_len(Encoding::Packed(Packing::U4), 100, 0);
/// assert_eq!(LEN, 58);
/// ```
#[must_use]
pub const fn max_len(encoding: Encoding, rows: usize, text_bytes: usize) -> usize {
    match encoding {
        Encoding::Empty => HEADER_LEN,
        Encoding::Simple(packing) => flat_len(40, packing.bytes(rows), rows),
        Encoding::Const(packing) => flat_len(40, packing.bytes(1), rows),
        Encoding::Diff(packing) => flat_len(52, packing.bytes(rows), rows),
        Encoding::DiffDateTime { millis, zones } => {
            let zones = match zones {
                Some(zones) => zones.bytes(rows).saturating_add(7),
                None => 0,
            };
            flat_len(68, zones.saturating_add(millis.bytes(rows)), rows)
        }
        Encoding::SimpleString => flat_len(28, strings_len(rows, text_bytes), rows),
        Encoding::ConstString => flat_len(32, text_bytes.saturating_add(5), rows),
        // All strings may be different.
        Encoding::DictString(packing) => {
            let block = strings_len(rows.saturating_add(1), text_bytes);
            block.saturating_add(packing.bytes(rows)).saturating_add(HEADER_LEN + 36 + 4 + 3)
        }
        Encoding::Packed(packing) => packed_len(packing, rows),
        Encoding::Masked(packing) => masked_len(packing, rows),
        Encoding::Repeated => {
            let value = if text_bytes < 8 { 8 } else { text_bytes };
            value.saturating_add(HEADER_LEN + 4)
        }
        Encoding::DeltaDelta(packing) => delta_delta_len(packing, rows),
        Encoding::Utf8 => utf8_len(rows, text_bytes),
        Encoding::FixedMaxUtf8 => fixed_max_len(rows, text_bytes),
        // All strings may be long and different.
        Encoding::DictUtf8(packing) => {
            let dictionary = utf8_len(rows.saturating_add(1), text_bytes);
            dictionary.saturating_add(packing.bytes(rows)).saturating_add(8 + 4)
        }
    }
}

/// Returns the exact size in bytes of a [`Packed`](Encoding::Packed) chunk.
#[must_use]
pub(super) const fn packed_len(packing: Packing, rows: usize) -> usize {
    packing.bytes(rows).saturating_add(HEADER_LEN + 4)
}

/// Returns the exact size in bytes of a [`Masked`](Encoding::Masked) chunk.
#[must_use]
pub(super) const fn masked_len(packing: Packing, rows: usize) -> usize {
    packed_len(packing, rows).saturating_add(mask_bytes(rows)).saturating_add(4)
}

/// Returns the exact size in bytes of a [`DeltaDelta`](Encoding::DeltaDelta) chunk.
#[must_use]
pub(super) const fn delta_delta_len(packing: Packing, rows: usize) -> usize {
    packed_len(packing, rows).saturating_add(12)
}

/// Returns the maximum size in bytes of a [`Utf8`](Encoding::Utf8) chunk: the size if all strings have the long form.
#[must_use]
const fn utf8_len(rows: usize, text_bytes: usize) -> usize {
    rows.saturating_mul(8).saturating_add(text_bytes).saturating_add(HEADER_LEN + 4)
}

/// Returns the maximum size in bytes of a [`FixedMaxUtf8`](Encoding::FixedMaxUtf8) chunk: the size if one string has
/// all of the text.
#[must_use]
pub(super) const fn fixed_max_len(rows: usize, text_bytes: usize) -> usize {
    let slot = match text_bytes {
        0 => 2,
        n if n < 254 => n.saturating_add(1),
        _ => 255,
    };
    rows.saturating_mul(slot).saturating_add(HEADER_LEN + 1)
}

/// Returns the size in bytes of the NA words, or of booleans, of `rows` rows.
#[must_use]
pub(super) const fn mask_bytes(rows: usize) -> usize {
    rows.div_ceil(64).saturating_mul(8)
}

/// Rounds `n` up to a multiple of 4.
#[must_use]
pub(super) const fn pad4(n: usize) -> usize {
    n.saturating_add(3) & !3
}

/// Returns the maximum size in bytes of a FlatBuffer kind: header word, `fixed` bytes of the template, data, mask block
/// with words.
const fn flat_len(fixed: usize, data: usize, rows: usize) -> usize {
    let mask = mask_bytes(rows).saturating_add(4 + 24);
    pad4(fixed.saturating_add(data)).saturating_add(HEADER_LEN).saturating_add(mask)
}

/// Returns the maximum size in bytes of a string block: count, then offset, length and text of each string, with NUL
/// and padding.
const fn strings_len(count: usize, text_bytes: usize) -> usize {
    count.saturating_mul(12).saturating_add(text_bytes).saturating_add(4)
}
