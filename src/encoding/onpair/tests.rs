use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::finder::Token;
use super::{Dictionary, LONGEST, Tokens};
use crate::encoding::text_tests::{addresses, any_texts, joined, others, return_with, shapes};
use crate::encoding::texts::{Texts, mixed};

fn returns_with(dictionary: &Dictionary, texts: &[Vec<u8>]) {
    let tokens = Tokens::new(dictionary.bytes(), dictionary.offsets()).unwrap();
    let encode = |texts: &Texts<'_>, codes: &mut Vec<u16>, ends: &mut Vec<u32>| dictionary.encode(texts, codes, ends);
    return_with(texts, 1, encode, |codes, out| tokens.decode(codes, out));
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
    for texts in shapes() {
        let dictionary = trained(&texts);
        returns_with(&dictionary, &texts);
        returns_with(&dictionary, &others());
        assert_eq!(dictionary.bytes(), trained(&texts).bytes(), "the same in each run");
    }
}

#[test]
fn texts_become_short() {
    let texts = addresses();
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
    fn any_texts_return([texts, others] in any_texts()) {
        let dictionary = trained(&texts);
        returns_with(&dictionary, &texts);
        returns_with(&dictionary, &others);
    }
}
