//! The check of UTF-8 for vectors of bytes in which a lookup in 16 entries is one instruction.
//!
//! Two neighbours tell most of what is wrong, by three lookups: for the high and for the low half of the first byte, and for the high
//! half of the second. Each entry has a bit for each of [`RULES`], and a pair of bytes breaks a rule if all three have its bit. What is left
//! to see are the third and the fourth byte of a character. The method is that of Keiser and Lemire, "Validating UTF-8 in less than one
//! instruction per byte" (2021); which bytes are well formed is in table 3-7 of the Unicode standard.
//!
//! There are windows of 32 and of 64 bytes, each with the three bytes before. No window needs to know what another one found, so the last
//! one overlaps others, and the rest of a text needs no loop of its own.

/// Number of bytes before those that a window checks. They tell what its first ones must be.
pub(super) const BEFORE: usize = 3;
/// Bytes of the windows.
const NARROW: usize = BEFORE + 32;
const WIDE: usize = BEFORE + 64;

/// What each kind of vectors does for itself.
pub(super) trait Windows: Copy {
    /// Returns whether a byte of a window, after the first [`BEFORE`], cannot be where it is in UTF-8. What the end of a window
    /// cuts is not seen.
    fn is_wrong<const N: usize>(self, window: &[u8; N]) -> bool;
}

/// Returns whether a text is UTF-8; `false` also for one of less than 35 bytes.
#[inline(always)]
pub(super) fn is_utf8(bytes: &[u8], windows: impl Windows) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<32>(), bytes.last_chunk::<NARROW>()) else { return false };
    // Zeros say that nothing is before the first byte.
    let mut opening = [0; NARROW];
    for (to, byte) in opening.iter_mut().skip(BEFORE).zip(first) {
        *to = *byte;
    }
    // Characters of four, three and two bytes that the end cuts.
    let [.., third, second, only] = *last;
    if third >= 0xf0 || second >= 0xe0 || only >= 0xc0 || windows.is_wrong(&opening) || windows.is_wrong(last) {
        return false;
    }
    let mut rest = bytes.get(const { 32 - BEFORE }..).unwrap_or_default();
    while let Some(window) = rest.first_chunk::<WIDE>() {
        if windows.is_wrong(window) {
            return false;
        }
        rest = rest.get(const { WIDE - BEFORE }..).unwrap_or_default();
    }
    // The last window covers what is left after this one.
    rest.first_chunk::<NARROW>().is_none_or(|window| !windows.is_wrong(window))
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

/// Which pairs are wrong, by their halves. The last ones are wrong only where no character of three or four bytes needs them.
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
    // A third or fourth byte. The highest bit, which is that of the bytes that need one in `Windows`.
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
}
