//! Compares the builder with one by a hash map, and its bounds with those that the rules of the format give.

use super::*;
use crate::bytes::Bits;
use crate::bytes::short_strings::SHORT;
use crate::column::{Spans, Validity, VarBytes};
use crate::filo::write::Plain;
use std::collections::HashMap;
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

fn words(n: usize, distinct: usize) -> Vec<String> {
    (0..n).map(|i| "x".repeat(i * 7 % distinct % 23) + &(i * 7 % distinct).to_string()).collect()
}

#[test]
fn codes_are_those_of_a_hash_map() {
    for (n, distinct) in [(0, 1), (1, 1), (2, 2), (1000, 1), (1000, 37), (1000, 1000), (5000, 3001), (40_000, 33_333)] {
        let words = words(n, distinct);
        let slices: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        let text = slices.concat();
        let ends = slices.iter().scan(0, |end, text| {
            *end += text.len() as u32;
            Some(*end)
        });
        let offsets: Vec<u32> = [0].into_iter().chain(ends).collect();
        let spans = VarBytes { data: &text, spans: Spans::Off32(&offsets) };
        // No row is missing, or each third, or all.
        for bits in [0xff_u8, 0b0110_1101, 0] {
            let bits = vec![bits; n.div_ceil(8)];
            let validity = Validity::Bits(Bits::new(&bits, 0, n).unwrap());
            for strings in [Strings::Slices(&slices), Strings::Spans(spans)] {
                let rows = Rows { values: Plain::String(strings), validity };
                let mut memory = vec![0xa5; scratch_len(n)];
                let dictionary = Dictionary::of(&rows, &mut Scratch::new(&mut memory)).unwrap();
                let entry = |code: u32| dictionary.entries().get(code as usize).unwrap_or(None);
                let mut map = HashMap::new();
                for (i, word) in slices.iter().enumerate() {
                    let next = map.len() as u32 + 1;
                    let code = if validity.get(i) { *map.entry(*word).or_insert(next) } else { 0 };
                    assert_eq!(dictionary.codes[i], code);
                    assert_eq!(entry(code), validity.get(i).then_some(*word));
                }
                assert_eq!(dictionary.len(), map.len());
                assert!(entry(0).is_none() && entry(map.len() as u32 + 1).is_none());
            }
        }
    }
}

#[test]
fn bounds_are_those_of_the_sample() {
    for (n, distinct) in [(1000, 37), (5000, 3001), (40_000, 33_333)] {
        let words = words(n, distinct);
        let slices: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        let mask = Mask::all(n);
        let mut memory = vec![0xa5; scratch_len(n)];
        for sample in [1, n / 3, n] {
            let inside = slices[..sample].iter().collect::<std::collections::HashSet<_>>().len();
            for entries in [0, inside / 2, inside - 1, inside, inside + 1] {
                let bounds = Bounds { entries, sample, ..Bounds::NONE };
                let scratch = &mut Scratch::new(&mut memory);
                let found = Dictionary::find(Strings::Slices(&slices), &mask, Element::Utf8, bounds, scratch);
                let len = found.unwrap().map(|dictionary| dictionary.len());
                assert_eq!(len, (inside <= entries).then_some(distinct), "{entries} of {inside} in {sample}");
            }
        }
    }
}

/// The hash of all of these is 0: a factor of its last product is 0.
#[test]
fn long_strings_of_one_hash_are_told_apart() {
    let mut tail = [7; SHORT];
    tail[0..4].copy_from_slice(&0x85a3_08d3_u32.to_le_bytes());
    tail[8..12].copy_from_slice(&0x243f_6a88_u32.to_le_bytes());
    let words: Vec<Vec<u8>> = (0..300).map(|i| [format!("{i:030}").as_bytes(), &tail].concat()).collect();
    let hash = Text::of(&words[0]).hash;
    assert!(words.iter().all(|word| Text::of(word).hash == hash));
    let slices: Vec<&[u8]> = (0..900).map(|i| &*words[i * 7 % 300]).collect();
    let rows = Rows::all(Plain::Utf8(Strings::Slices(&slices)));
    let mut memory = vec![0xa5; scratch_len(900)];
    let dictionary = Dictionary::of(&rows, &mut Scratch::new(&mut memory)).unwrap();
    let expected: Vec<u32> = (0..900).map(|i| i % 300 + 1).collect();
    assert_eq!(dictionary.codes, expected);
}

#[test]
fn missing_rows_count_for_no_bound_and_are_not_read() {
    let text = b"a0a1a2a3a4a5a6a7a8a9";
    // Every other row is missing: its span is beyond the text.
    let spans: Vec<[u32; 2]> = (0..5000).map(|i| if i % 2 == 0 { [i % 10 * 2, 2] } else { [i * 100, 50] }).collect();
    let strings = Strings::Spans(VarBytes { data: text, spans: Spans::Each(&spans) });
    let bits = vec![0x55; 625];
    let rows = Rows { values: Plain::Utf8(strings), validity: Validity::Bits(Bits::new(&bits, 0, 5000).unwrap()) };
    let (mask, mut memory) = (Mask::new(&rows).unwrap(), vec![0xa5; scratch_len(5000)]);
    let mut len = |bounds| {
        let found = Dictionary::find(strings, &mask, Element::Utf8, bounds, &mut Scratch::new(&mut memory));
        found.unwrap().map(|dictionary| dictionary.len())
    };
    assert_eq!(len(Bounds { entries: 4, sample: 5000, ..Bounds::NONE }), None);
    assert_eq!(len(Bounds { entries: 5, sample: 5000, ..Bounds::NONE }), Some(5));
    assert_eq!(len(Bounds { bytes: 5 * 6 + codes_len(5, 5000), ..Bounds::NONE }), Some(5));
}

#[test]
fn bounds_of_bytes_refuse_no_dictionary_that_pays() {
    for (n, distinct) in [(5000, 5000), (5000, 3001), (40_000, 300)] {
        let words = words(n, distinct);
        let slices: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        let size: usize = slices[..distinct].iter().map(|text| text.len() + 4).sum();
        for (bytes, found) in [(0, false), (size - 1, false), (size + codes_len(distinct, n), true)] {
            let (bounds, mut memory) = (Bounds { bytes, ..Bounds::NONE }, vec![0xa5; scratch_len(n)]);
            let (mask, scratch) = (Mask::all(n), &mut Scratch::new(&mut memory));
            let some = Dictionary::find(Strings::Slices(&slices), &mask, Element::Utf8, bounds, scratch).unwrap();
            assert_eq!(some.is_some(), found, "{bytes} bytes, {distinct} of {n}");
        }
    }
}

#[test]
fn less_scratch_serves_fewer_entries() {
    let words = words(1000, 20);
    let slices: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
    let rows = Rows::all(Plain::String(Strings::Slices(&slices)));
    let mut memory = vec![0; 4000 + 32 * SLOT_COST + 16];
    assert_eq!(Dictionary::of(&rows, &mut Scratch::new(&mut memory)).unwrap().len(), 20);
    for len in [0, 100, 4000, 4100, 4000 + 16 * SLOT_COST + 16] {
        let e = Dictionary::of(&rows, &mut Scratch::new(&mut memory[..len])).unwrap_err();
        assert_eq!(e.kind(), Kind::NoRoom, "{len}");
        assert!(e.need() as usize > len);
    }
}
