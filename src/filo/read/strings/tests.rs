//! Compares the fast paths of a block with the path of one string.

use super::*;

/// A UTF8 chunk of `n` short strings, all in the packed form.
fn packed(n: usize) -> std::vec::Vec<u8> {
    let mut chunk = std::vec![6, 2, 0, 0];
    chunk.extend((n as u32).to_le_bytes());
    for i in 0..n {
        let (offset, len) = (4 + 4 * n + 2 * i, 2);
        chunk.extend((UTF8_NA | (offset as u32) << UTF8_LEN_BITS | len).to_le_bytes());
    }
    chunk.extend(std::iter::repeat_n(b'x', 2 * n));
    chunk
}

#[test]
fn blocks_of_packed_words_take_the_fast_path() {
    for n in [1, 63, 64, 65, 200] {
        let chunk = packed(n);
        let strings = Strings { chunk: &chunk, kind: Kinds::Words { base: 4 } };
        let short = Strings { chunk: &chunk[..chunk.len() - 1], kind: Kinds::Words { base: 4 } };
        let mut spans = std::vec![[NA.at, NA.len]; n];
        for (first, block) in (0..n).step_by(BLOCK).zip(spans.chunks_mut(BLOCK)) {
            assert_eq!(strings.packed_words(4, first, block), Some(true));
            let last = first + block.len() == n;
            assert_eq!(short.packed_words(4, first, &mut block.to_vec()), (!last).then_some(true));
        }
        for (i, span) in spans.iter().enumerate() {
            assert_eq!(Some(Span::from(*span)), strings.find(i), "row {i} of {n}");
        }
    }
}
