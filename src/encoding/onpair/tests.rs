use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::finder::Token;
use super::{Dictionary, LONGEST, Tokens};
use crate::encoding::texts::{Texts, mixed};

/// Encodes the texts with a dictionary, checks the bounds, and decodes them one by one.
fn returns_with(dictionary: &Dictionary, texts: &[Vec<u8>]) {
    let (bytes, offsets) = joined(texts);
    let (mut codes, mut ends) = (vec![7, 8], Vec::new());
    dictionary.encode(&Texts::new(&bytes, &offsets).unwrap(), &mut codes, &mut ends);
    assert_eq!(codes[..2], [7, 8], "codes are appended");
    let codes = &codes[2..];
    assert_eq!(ends.len(), texts.len());
    assert_eq!(ends.last().map_or(0, |end| *end as usize), codes.len());
    let tokens = Tokens::new(dictionary.bytes(), dictionary.offsets()).unwrap();
    let mut start = 0;
    for (text, end) in texts.iter().zip(ends) {
        let own = &codes[start..end as usize];
        assert!(own.len() <= text.len());
        let mut out = vec![0; text.len()];
        assert_eq!(tokens.decode(own, &mut out), Ok(text.len()));
        assert_eq!(out, *text);
        start = end as usize;
    }
}

fn joined(texts: &[Vec<u8>]) -> (Vec<u8>, Vec<u32>) {
    let mut offsets = vec![0];
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend_from_slice(text);
        offsets.push(bytes.len() as u32);
    }
    (bytes, offsets)
}

fn trained_to(texts: &[Vec<u8>], bits: u32) -> Dictionary {
    let (bytes, offsets) = joined(texts);
    Dictionary::train(&Texts::new(&bytes, &offsets).unwrap(), bits)
}

fn trained(texts: &[Vec<u8>]) -> Dictionary {
    trained_to(texts, 12)
}

#[test]
fn texts_of_all_shapes_return() {
    let long: Vec<u8> = (0..1_000_000u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).take(1_000_000).collect();
    let words = "GET /api/v1/items/17/detail?user=5";
    for texts in [
        vec![],
        vec![vec![]],
        vec![vec![], vec![], b"x".to_vec(), vec![]],
        vec![b"the same text".to_vec(); 3000],
        (0..=255u8).map(|byte| vec![byte]).collect(),
        vec![vec![0; 100_000], vec![255; 70_001], long],
        (0..900usize).map(|i| words.as_bytes()[..i % words.len()].to_vec()).collect(),
    ] {
        let dictionary = trained(&texts);
        returns_with(&dictionary, &texts);
        // Bytes that the sample never had.
        returns_with(&dictionary, &[(0..=255).collect(), vec![0xfe; 9], vec![255], vec![0, 0, 0]]);
        assert_eq!(dictionary.bytes(), trained(&texts).bytes(), "the same in each run");
    }
}

#[test]
fn texts_become_short() {
    let texts: Vec<Vec<u8>> = (0..4000u32)
        .map(|i| std::format!("https://example.com/shop/{}?ref={}", i * 7919 % 99_991, i % 50).into())
        .collect();
    let (bytes, offsets) = joined(&texts);
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    trained(&texts).encode(&Texts::new(&bytes, &offsets).unwrap(), &mut codes, &mut ends);
    assert!(codes.len() * 5 < bytes.len(), "{} of {}", codes.len(), bytes.len());
}

/// The longest token at the start of a text, by comparison with each.
fn longest(dictionary: &Dictionary, text: &[u8]) -> usize {
    let offsets = dictionary.offsets().windows(2);
    let tokens = offsets.map(|pair| &dictionary.bytes()[pair[0] as usize..pair[1] as usize]);
    tokens.enumerate().filter(|(_, token)| text.starts_with(token)).max_by_key(|(_, token)| token.len()).unwrap().0
}

#[test]
fn the_longest_token_is_found_always() {
    // Tokens that are prefixes of each other, end in zeros, or are the last ones in the order.
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for len in 2..=LONGEST as usize {
        tokens.extend([vec![b'a'; len], vec![0; len], vec![255; len]]);
        tokens.extend((0..30).map(|i| [&vec![b'b'; len - 1][..], &[i * 8]].concat()));
    }
    tokens.sort();
    tokens.dedup();
    let dictionary = Dictionary::new(&tokens.iter().map(|token| Token::of(token)).collect::<Vec<_>>());
    let texts: Vec<Vec<u8>> = (0..6000u64)
        .map(|i| {
            let bytes = [[b'a', b'b', 0, 255][i as usize % 4]; 20];
            let mut text = bytes[..i as usize / 4 % 20].to_vec();
            text.extend_from_slice(&mixed(i).to_le_bytes()[..i as usize % 3]);
            text
        })
        .collect();
    let (bytes, offsets) = joined(&texts);
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    dictionary.encode(&Texts::new(&bytes, &offsets).unwrap(), &mut codes, &mut ends);
    let mut codes = codes.iter().map(|code| usize::from(*code));
    for text in &texts {
        let mut rest = &text[..];
        while !rest.is_empty() {
            let code = codes.next().unwrap();
            assert_eq!(code, longest(&dictionary, rest), "{rest:?}");
            rest = &rest[tokens[code].len()..];
        }
    }
    assert_eq!(codes.next(), None);
    returns_with(&dictionary, &texts);
}

#[test]
fn readers_find_sorted_tokens_with_space_behind() {
    let texts: Vec<Vec<u8>> = (0..30_000u32).map(|i| std::format!("{} of {}", i * 31 % 9973, i % 97).into()).collect();
    for bits in [0, 9, 12, 16, 99] {
        let dictionary = trained_to(&texts, bits);
        let (bytes, offsets) = (dictionary.bytes(), dictionary.offsets());
        let count = offsets.len() - 1;
        assert!((256..=1 << bits.clamp(9, 16)).contains(&count), "{count} of {bits} bits");
        assert_eq!(bytes.len(), offsets[count - 1] as usize + 16);
        let tokens = offsets.windows(2).map(|pair| &bytes[pair[0] as usize..pair[1] as usize]);
        assert!(tokens.clone().is_sorted_by(|a, b| a < b));
        assert_eq!(tokens.filter(|token| token.len() == 1).count(), 256);
        returns_with(&dictionary, &texts);
    }
}

proptest! {
    #[test]
    fn any_texts_return(
        texts in prop::collection::vec(prop::collection::vec(prop_oneof![any::<u8>(), 97u8..100], 0..40), 0..60),
        others in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
    ) {
        let dictionary = trained(&texts);
        returns_with(&dictionary, &texts);
        returns_with(&dictionary, &others);
    }
}
