//! Strings of up to 16 bytes. For these, a call of `memcmp` or `memcpy` costs more than the work, and so does a
//! mispredicted branch on the length.
//!
//! Four words of 4 bytes, which may overlap, cover a string of any length from 4 to 16 bytes.

/// Length in bytes of the longest string that the words cover.
pub(crate) const SHORT: usize = 16;

/// Returns the offsets of the four words of a string of 4 to 16 bytes.
const fn starts(len: usize) -> [usize; 4] {
    // 0 below 8 bytes, for which two words would suffice; otherwise 4 or 8.
    let mid = (len >> 3) << 2;
    let last = len.saturating_sub(4);
    [0, mid, last, last.saturating_sub(mid)]
}

/// Returns all bytes of a string of up to 16 bytes. Two strings of one length are equal if the results are.
#[cfg_attr(not(pilaster_small), inline(always))]
pub(crate) fn ends(text: &[u8]) -> (u64, u64) {
    // The first and the last word need no other check than that there are four bytes.
    let (Some(a), Some(c)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) else {
        return (text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0);
    };
    let [_, mid, ..] = starts(text.len());
    let b = text.get(mid..).and_then(<[u8]>::first_chunk).unwrap_or(a);
    let d = text.get(..text.len().wrapping_sub(mid)).and_then(<[u8]>::last_chunk).unwrap_or(c);
    let word = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    (word(a) | word(b) << 32, word(c) | word(d) << 32)
}

/// Returns whether two strings are equal.
#[inline]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.len() <= SHORT { ends(a) == ends(b) } else { a == b }
}

/// Returns whether all bytes are below 128.
#[inline]
pub(crate) fn is_ascii(text: &[u8]) -> bool {
    if text.len() > SHORT {
        return text.is_ascii();
    }
    let (low, high) = ends(text);
    (low | high) & 0x8080_8080_8080_8080 == 0
}

/// Copies `bytes` to the front of `to`, as many as fit.
#[inline]
pub(crate) fn copy(to: &mut [u8], bytes: &[u8]) {
    let len = bytes.len().min(to.len());
    let (Some(to), Some(bytes)) = (to.get_mut(..len), bytes.get(..len)) else { return };
    match len {
        0..4 => {
            for (to, byte) in to.iter_mut().zip(bytes) {
                *to = *byte;
            }
        }
        4..=SHORT => {
            for at in starts(len) {
                let word = bytes.get(at..).and_then(<[u8]>::first_chunk::<4>);
                if let (Some(word), Some(to)) = (word, to.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<4>)) {
                    *to = *word;
                }
            }
        }
        _ => copy_long(to, bytes),
    }
}

/// Not inlined, because the compiler would merge this copy with the fixed-length copies into one `memcpy`.
fn copy_long(to: &mut [u8], bytes: &[u8]) {
    if to.len() == bytes.len() {
        to.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn every_byte_counts_at_every_length() {
        let text: Vec<u8> = (1..=40).collect();
        for len in 0..40 {
            let text = &text[..len];
            assert!(same(text, text) && is_ascii(text));
            assert!(!same(text, &text.iter().copied().chain([0]).collect::<Vec<u8>>()));
            for i in 0..len {
                let mut other = text.to_vec();
                other[i] ^= 0x80;
                assert!(!same(text, &other) && !is_ascii(&other), "byte {i} of {len}");
            }
        }
    }

    #[test]
    fn copies_fill_what_there_is_room_for() {
        let text: Vec<u8> = (1..=40).collect();
        for len in 0..40 {
            for room in 0..40 {
                let mut to = [0; 40];
                copy(&mut to[..room], &text[..len]);
                let expected: Vec<u8> = (1..=40).map(|i| if i <= len.min(room) { i as u8 } else { 0 }).collect();
                assert_eq!(to[..], expected[..], "{len} bytes into {room}");
            }
        }
    }
}
