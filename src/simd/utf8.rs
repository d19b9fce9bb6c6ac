//! The check of UTF-8 for vectors of bytes in which a lookup in 16 entries is one instruction.
//!
//! Two neighbours tell most of what is wrong, by three lookups: for the high and for the low half of the first byte, and for the high
//! half of the second. Each entry has a bit for each of [`RULES`], and a pair of bytes breaks a rule if all three have its bit. The third and
//! the fourth byte of a character need one comparison each, with the byte that begins it. The method was published by Keiser and Lemire, "Validating UTF-8 in less than one
//! instruction per byte" (2021); which bytes are well formed is in table 3-7 of the Unicode standard.
//!
//! Windows check 32 or 128 bytes, and contain the three bytes before these. No window needs to know what another one found, so the last
//! one overlaps others where the length is no multiple.

/// Number of bytes before those that a window checks. They tell what its first ones must be.
pub(super) const BEFORE: usize = 3;
/// Bytes of the windows.
const NARROW: usize = BEFORE + 32;
const WIDE: usize = BEFORE + 128;

/// What each kind of vectors does for itself.
pub(super) trait Windows: Copy {
    /// Returns whether a byte of a window, after the first [`BEFORE`], cannot be where it is in UTF-8. A character that the end of
    /// the window cuts is not wrong. A window has a multiple of 32 bytes after the first [`BEFORE`].
    fn is_wrong<const N: usize>(self, window: &[u8; N]) -> bool;

    /// As [`is_wrong`](Self::is_wrong), for the first bytes of a text, which have none before.
    fn is_wrong_first(self, bytes: &[u8; 32]) -> bool;
}

/// Returns whether a text is UTF-8; `false` also for one of fewer than 35 bytes.
#[inline(always)]
pub(super) fn is_utf8(bytes: &[u8], windows: impl Windows) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<32>(), bytes.last_chunk::<NARROW>()) else { return false };
    // No character of four, three or two bytes is cut by the end.
    let [.., third, second, only] = *last;
    if third >= 0xf0 || second >= 0xe0 || only >= 0xc0 || windows.is_wrong_first(first) || windows.is_wrong(last) {
        return false;
    }
    // Each window begins with the last three bytes that were checked.
    let mut rest = bytes.get(const { 32 - BEFORE }..).unwrap_or_default();
    while let Some(window) = rest.first_chunk::<WIDE>() {
        if windows.is_wrong(window) {
            return false;
        }
        rest = rest.get(const { WIDE - BEFORE }..).unwrap_or_default();
    }
    while let Some(window) = rest.first_chunk::<NARROW>() {
        if windows.is_wrong(window) {
            return false;
        }
        rest = rest.get(const { NARROW - BEFORE }..).unwrap_or_default();
    }
    // Fewer than 32 bytes are left, and the last window has checked them.
    true
}

/// For each half of a byte, a bit per rule, the lowest for the first.
pub(super) struct Tables {
    /// For the high half of the first byte of a pair.
    pub first_high: [u8; 16],
    /// For its low half.
    pub first_low: [u8; 16],
    /// For the high half of the second byte.
    pub second_high: [u8; 16],
}

/// The first bytes of pairs, from and to, and the second bytes.
type Rule = ([[u8; 2]; 2], [[u8; 2]; 2]);

/// Which pairs are wrong. Those of the last rule are right where a character of three or four bytes needs them.
const RULES: [Rule; 8] = [
    // A character lacks its second byte.
    ([[0xc0, 0xff]; 2], [[0x00, 0x7f], [0xc0, 0xff]]),
    // A second byte has no first one.
    ([[0x00, 0x7f]; 2], [[0x80, 0xbf]; 2]),
    // Two bytes where one is enough, three where two are.
    ([[0xc0, 0xc1]; 2], [[0x80, 0xbf]; 2]),
    ([[0xe0, 0xe0]; 2], [[0x80, 0x9f]; 2]),
    // A surrogate.
    ([[0xed, 0xed]; 2], [[0xa0, 0xbf]; 2]),
    // Four bytes where three are enough, or more than U+13FFFF.
    ([[0xf0, 0xf0], [0xf5, 0xff]], [[0x80, 0x8f]; 2]),
    // More than U+10FFFF.
    ([[0xf4, 0xff]; 2], [[0x90, 0xbf]; 2]),
    // A third or fourth byte. This bit is the highest one, as is the bit by which vectors say that one is needed.
    ([[0x80, 0xbf]; 2], [[0x80, 0xbf]; 2]),
];

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "computed when compiled"
)]
pub(super) const TABLES: Tables = {
    const fn has([[a, b], [c, d]]: [[u8; 2]; 2], byte: u8) -> bool {
        a <= byte && byte <= b || c <= byte && byte <= d
    }
    let mut tables = Tables { first_high: [0; 16], first_low: [0; 16], second_high: [0; 16] };
    let mut rule = 0;
    while rule < RULES.len() {
        let (first, second) = RULES[rule];
        let mut byte = 0;
        while byte < 256 {
            let (high, low, bit) = (byte >> 4, byte & 15, 1 << rule);
            if has(first, byte as u8) {
                tables.first_high[high] |= bit;
                tables.first_low[low] |= bit;
            }
            if has(second, byte as u8) {
                tables.second_high[high] |= bit;
            }
            byte += 1;
        }
        rule += 1;
    }
    tables
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::avx2::Avx2;
    use std::vec;

    /// Both ends of every range of bytes that UTF-8 tells apart, and some between.
    const BYTES: [u8; 30] = [
        0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
        0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xfb, 0xfe, 0xff,
    ];

    #[test]
    fn halves_tell_the_pairs_of_each_rule() {
        for (first, second) in (0..=0xffff_u16).map(|pair| pair.to_be_bytes().into()) {
            let [a, b, c] = [
                TABLES.first_high[usize::from(first >> 4)],
                TABLES.first_low[usize::from(first & 15)],
                TABLES.second_high[usize::from(second >> 4)],
            ];
            let has = |ranges: [[u8; 2]; 2], byte: u8| ranges.iter().any(|[a, b]| (*a..=*b).contains(&byte));
            for (k, rule) in RULES.iter().enumerate() {
                let wanted = has(rule.0, first) && has(rule.1, second);
                assert_eq!(a & b & c & 1 << k != 0, wanted, "{first:x} {second:x}, rule {k}");
            }
        }
    }

    /// Puts bytes into texts at both ends and across each end of a window, and compares the answers with `core`. The answer
    /// of `core` follows from the bytes, as ASCII surrounds them.
    fn compare(bytes: &[u8]) {
        let Some(avx2) = Avx2::detect() else { return };
        let wanted = str::from_utf8(bytes).is_ok();
        for (len, places) in [(35, [0, 1, 29, 30]), (67, [0, 28, 30, 32]), (300, [156, 158, 160, 287])] {
            let mut text = vec![b'x'; len];
            for at in places.into_iter().chain([len - bytes.len()]) {
                text[at..at + bytes.len()].copy_from_slice(bytes);
                assert_eq!(is_utf8(&text, avx2), wanted, "{bytes:x?} at {at} of {len}");
                text[at..at + bytes.len()].fill(b'x');
            }
        }
    }

    #[test]
    fn every_pair_is_wrong_where_core_says_so() {
        if Avx2::detect().is_none() {
            std::eprintln!("SKIPPED, NOT CHECKED: no AVX2 on this processor");
        }
        (0..=0xffff_u16).for_each(|pair| compare(&pair.to_be_bytes()));
    }

    #[test]
    fn characters_are_wrong_where_core_says_so() {
        for first in BYTES {
            for second in BYTES {
                for third in [b'A', 0x80, 0xbf, 0xc3, 0xe1, 0xf1, 0xff] {
                    compare(&[first, second, third]);
                    for fourth in [b'A', 0x80, 0xbf, 0xc3, 0xe1, 0xf1, 0xff] {
                        compare(&[first, second, third, fourth]);
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_is_before_the_first_byte() {
        let Some(avx2) = Avx2::detect() else { return };
        // A shift within half of a vector would bring its last bytes to the front.
        for (character, at) in ["é", "中", "𝄞"].into_iter().flat_map(|character| (8..32).map(move |at| (character, at)))
        {
            let mut text = vec![b'x'; 35];
            text[at..at + character.len()].copy_from_slice(character.as_bytes());
            assert!(is_utf8(&text, avx2), "{character} at {at}");
            for front in [[0x80; 3], [b'x', 0x80, 0x80], [b'x', b'x', 0x80]] {
                text[..3].copy_from_slice(&front);
                assert!(!is_utf8(&text, avx2), "{front:x?} and {character} at {at}");
            }
        }
    }
}
