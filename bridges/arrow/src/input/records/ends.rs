//! Where fields end, eight bytes at a time.

/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Returns a word whose bytes are all the same.
const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Returns the word with the highest bit of each byte that is not zero.
const fn set(word: u64) -> u64 {
    ((word & !HIGH).wrapping_add(!HIGH) | word) & HIGH
}

/// Returns the number of the first byte, in the order of memory, whose highest bit is set.
const fn first(mask: u64) -> usize {
    (mask.trailing_zeros() >> 3) as usize
}

/// Iterates over the places of delimiters and of the two bytes that end a line. Up to seven bytes at the end are left out.
pub(super) struct Ends<'b> {
    words: std::slice::Iter<'b, [u8; 8]>,
    delimiters: u64,
    /// The start of the current word, and what is left of it.
    at: usize,
    mask: u64,
}

impl<'b> Ends<'b> {
    pub fn new(bytes: &'b [u8], delimiter: u8) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        // The first word adds eight.
        Ends { words: words.iter(), delimiters: all(delimiter), at: 0usize.wrapping_sub(8), mask: 0 }
    }
}

impl Iterator for Ends<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.mask == 0 {
            let word = u64::from_le_bytes(*self.words.next()?);
            let others = set(word ^ self.delimiters) & set(word ^ all(b'\n')) & set(word ^ all(b'\r'));
            self.mask = others ^ HIGH;
            self.at = self.at.wrapping_add(8);
        }
        let place = self.at.wrapping_add(first(self.mask));
        self.mask &= self.mask.wrapping_sub(1);
        Some(place)
    }
}

/// Returns the place of the first such byte.
pub(super) fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (k, word) in words.iter().enumerate() {
        let found = set(u64::from_le_bytes(*word) ^ all(byte)) ^ HIGH;
        if found != 0 {
            return Some(k.saturating_mul(8).saturating_add(first(found)));
        }
    }
    let place = rest.iter().position(|other| *other == byte)?;
    Some(bytes.len().saturating_sub(rest.len()).saturating_add(place))
}

#[cfg(test)]
mod tests {
    use super::super::super::random::Random;
    use super::*;

    #[test]
    fn ends_are_those_of_a_search_byte_by_byte() {
        // Neighbours of the bytes that are searched, in words of eight.
        let mut random = Random(1);
        for len in 0..200 {
            let bytes = random.bytes(len, b"\x00\x01,-+\xac\xff\x80\x7f\n\r\x0b\x0c\x8d\x8a\"");
            let places = bytes.iter().enumerate().take(len - len % 8);
            let expected = places.filter(|(_, byte)| b",\n\r".contains(byte)).map(|(at, _)| at);
            assert!(Ends::new(&bytes, b',').eq(expected), "{bytes:?}");
            for byte in [b'"', 0, 0xff] {
                assert_eq!(find(&bytes, byte), bytes.iter().position(|other| *other == byte), "{bytes:?}");
            }
        }
    }
}
