//! Shared by the tests of encoders of texts: the texts, and what every encoder must do.

use core::fmt::Debug;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::texts::Texts;
use crate::error::Result;

/// Returns the bytes of all texts and their offsets.
pub(super) fn joined(texts: &[Vec<u8>]) -> (Vec<u8>, Vec<u32>) {
    let mut offsets = vec![0];
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend_from_slice(text);
        offsets.push(bytes.len() as u32);
    }
    (bytes, offsets)
}

/// Encodes the texts, checks the bounds, and decodes them one by one. A text has at most `units` units per byte.
pub(super) fn return_with<U: Copy + Debug + From<u8> + PartialEq>(
    texts: &[Vec<u8>],
    units: usize,
    encode: impl Fn(&Texts<'_>, &mut Vec<U>, &mut Vec<u32>),
    decode: impl Fn(&[U], &mut [u8]) -> Result<usize>,
) {
    let (bytes, offsets) = joined(texts);
    let (mut codes, mut ends) = (vec![U::from(7), U::from(8)], Vec::new());
    encode(&Texts::new(&bytes, &offsets).unwrap(), &mut codes, &mut ends);
    assert_eq!(codes[..2], [U::from(7), U::from(8)], "codes are appended");
    let codes = &codes[2..];
    assert_eq!(ends.len(), texts.len());
    assert_eq!(ends.last().map_or(0, |end| *end as usize), codes.len());
    let mut start = 0;
    for (text, end) in texts.iter().zip(ends) {
        let own = &codes[start..end as usize];
        assert!(own.len() <= units * text.len());
        let mut out = vec![0; text.len()];
        assert_eq!(decode(own, &mut out), Ok(text.len()));
        assert_eq!(out, *text);
        start = end as usize;
    }
}

/// Samples of all shapes: none, empty ones, equal ones, every byte, long ones, prefixes.
pub(super) fn shapes() -> [Vec<Vec<u8>>; 7] {
    let long: Vec<u8> = (0..1_000_000u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).take(1_000_000).collect();
    let words = "GET /api/v1/items/17/detail?user=5";
    [
        vec![],
        vec![vec![]],
        vec![vec![], vec![], b"x".to_vec(), vec![]],
        vec![b"the same text".to_vec(); 3000],
        (0..=255u8).map(|byte| vec![byte]).collect(),
        vec![vec![0; 100_000], vec![255; 70_001], long],
        (0..900usize).map(|i| words.as_bytes()[..i % words.len()].to_vec()).collect(),
    ]
}

/// Texts with bytes that few samples have.
pub(super) fn others() -> [Vec<u8>; 4] {
    [(0..=255).collect(), vec![0xfe; 9], vec![255], vec![0, 0, 0]]
}

/// Addresses, which have much in common.
pub(super) fn addresses() -> Vec<Vec<u8>> {
    let address = |i: u32| std::format!("https://example.com/shop/{}?ref={}", i * 7919 % 99_991, i % 50);
    (0..4000).map(|i| address(i).into()).collect()
}

/// Any texts: a sample, and texts that are not in it.
pub(super) fn any_texts() -> impl Strategy<Value = [Vec<Vec<u8>>; 2]> {
    let some = prop::collection::vec(prop::collection::vec(prop_oneof![any::<u8>(), 97u8..100], 0..40), 0..60);
    let others = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20);
    (some, others).prop_map(|(some, others)| [some, others])
}
