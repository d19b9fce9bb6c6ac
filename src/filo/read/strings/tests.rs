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
        let mut spans = std::vec![NA; n];
        for (first, block) in (0..n).step_by(BLOCK).zip(spans.chunks_mut(BLOCK)) {
            assert_eq!(strings.packed_words(4, first, block), Some(true));
            let last = first + block.len() == n;
            assert_eq!(short.packed_words(4, first, &mut block.to_vec()), (!last).then_some(true));
        }
        for (i, span) in spans.iter().enumerate() {
            assert_eq!(Some(*span), strings.find(i), "row {i} of {n}");
        }
    }
}

/// Two FlatBuffers strings after slots at 4: the empty one at 12 and, if slot 1 contains 8, "ab" at 16.
fn flat(slot: u32) -> std::vec::Vec<u8> {
    let mut chunk = std::vec![0; 4];
    for word in [8, slot, 0, 2] {
        chunk.extend(u32::to_le_bytes(word));
    }
    chunk.extend(b"ab");
    chunk
}

#[test]
fn blocks_of_codes_find_what_one_code_finds() {
    let text = Span { at: 20, len: 2 };
    let (mut codes, mut expected, mut spans) = ([1; BLOCK], [text; BLOCK], [NA; BLOCK]);
    let chunk = flat(8);
    let strings = Strings { chunk: &chunk, kind: Kinds::Flat { slots: 4 } };
    assert_eq!((strings.find(0), strings.find(1)), (Some(Span { at: 16, len: 0 }), Some(text)));
    assert_eq!((strings.coded_block(&codes, 2, &mut spans), spans), (Some(true), expected));
    (codes[5], expected[5]) = (0, NA);
    assert_eq!((strings.coded_block(&codes, 2, &mut spans), spans), (Some(false), expected));
    // A code without an entry, and slots with offsets outside the chunk, one of which wraps to the first slot.
    assert_eq!(strings.coded_block(&[2; BLOCK], 2, &mut spans), None);
    for slot in [9, 20, u32::MAX, u32::MAX - 3, 1 << 31] {
        let chunk = flat(slot);
        let strings = Strings { chunk: &chunk, kind: Kinds::Flat { slots: 4 } };
        assert_eq!((strings.find(1), strings.coded_block(&codes, 2, &mut spans)), (None, None), "{slot}");
    }
}
