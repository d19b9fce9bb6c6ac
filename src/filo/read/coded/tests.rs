//! Compares the fast paths of codes with the path of one code.

use super::*;
use crate::filo::raw::Packing;

const MISSING: [u32; 2] = [NA.at, NA.len];

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
    let (mut codes, mut expected, mut spans) = ([1; BLOCK], [text.into(); BLOCK], [MISSING; BLOCK]);
    let chunk = flat(8);
    let strings = Strings { chunk: &chunk, kind: Kinds::Flat { slots: 4 } };
    assert_eq!((strings.find(0), strings.find(1)), (Some(Span { at: 16, len: 0 }), Some(text)));
    assert_eq!((strings.coded_block(&codes, 2, &mut spans), spans), (Some(true), expected));
    (codes[5], expected[5]) = (0, MISSING);
    assert_eq!((strings.coded_block(&codes, 2, &mut spans), spans), (Some(false), expected));
    // A code without an entry, and slots with offsets outside the chunk, one of which wraps to the first slot.
    assert_eq!(strings.coded_block(&[2; BLOCK], 2, &mut spans), None);
    for slot in [9, 20, u32::MAX, u32::MAX - 3, 1 << 31] {
        let chunk = flat(slot);
        let strings = Strings { chunk: &chunk, kind: Kinds::Flat { slots: 4 } };
        assert_eq!((strings.find(1), strings.coded_block(&codes, 2, &mut spans)), (None, None), "{slot}");
    }
}

/// Codes of one byte.
fn codes(data: &[u8]) -> Packed<'_> {
    Packed { packing: Packing::U8, at: 0, data, unused: 0 }
}

#[test]
fn a_table_of_entries_finds_what_one_code_finds() {
    let text = Span { at: 20, len: 2 };
    let chunk = flat(8);
    let strings = Strings { chunk: &chunk, kind: Kinds::Flat { slots: 4 } };
    for n in [1, 63, 64, 65, 200] {
        let rows: std::vec::Vec<u8> = (0..n + 3).map(|i| u8::from(i % 5 != 2)).collect();
        let mut spans = std::vec![MISSING; n];
        let all = strings.by_table(2, &codes(&rows), 3, &mut spans);
        assert_eq!(all, Some(!rows[3..].contains(&0)), "{n}");
        for (span, code) in spans.iter().zip(&rows[3..]) {
            assert_eq!(Span::from(*span), if *code == 0 { NA } else { text });
        }
    }
    let mut spans = [MISSING; 4];
    // A code without an entry, beyond the table, and one of an entry outside the chunk.
    assert_eq!(strings.by_table(2, &codes(&[1, 1, 2, 1]), 0, &mut spans), None);
    assert_eq!(strings.by_table(0, &codes(&[0, 0, 0, 0]), 0, &mut spans), Some(false));
    let wide: std::vec::Vec<u8> = [1, 1025, 1, 1].into_iter().flat_map(u16::to_le_bytes).collect();
    let wide = Packed { packing: Packing::U16, ..codes(&wide) };
    assert_eq!(strings.by_table(2, &wide, 0, &mut spans), None);
    let chunk = flat(20);
    let strings = Strings { chunk: &chunk, kind: Kinds::Flat { slots: 4 } };
    assert_eq!(strings.by_table(2, &codes(&[0, 1, 0, 0]), 0, &mut spans), None);
    // An invalid entry that no row has is left to the path of one code, which does not read it.
    assert_eq!(strings.by_table(2, &codes(&[0, 0, 0, 0]), 0, &mut spans), None);
    // Codes whose sign bit is set, and an entry that is marked as missing.
    let signed = Packed { packing: Packing::I8, ..codes(&[1, 0xff, 1, 1]) };
    assert_eq!(strings.by_table(2, &signed, 0, &mut spans), None);
    let words: std::vec::Vec<u8> = [2, UTF8_NA, UTF8_NA].into_iter().flat_map(u32::to_le_bytes).collect();
    let strings = Strings { chunk: &words, kind: Kinds::Words { base: 0 } };
    assert_eq!(strings.by_table(2, &codes(&[1; 4]), 0, &mut spans), None);
}
