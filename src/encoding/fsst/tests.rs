use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::{Symbols, Table};
use crate::encoding::texts::Texts;

/// Encodes the texts with a table, checks the bounds, and decodes them one by one.
fn returns_with(table: &Table, texts: &[Vec<u8>]) {
    let (bytes, offsets) = joined(texts);
    let (mut codes, mut ends) = (vec![7, 8], Vec::new());
    table.encode(&Texts::new(&bytes, &offsets).unwrap(), &mut codes, &mut ends);
    assert_eq!(codes[..2], [7, 8], "codes are appended");
    let codes = &codes[2..];
    assert_eq!(ends.len(), texts.len());
    assert_eq!(ends.last().map_or(0, |end| *end as usize), codes.len());
    let symbols = Symbols::new(table.symbols(), table.lengths()).unwrap();
    let mut start = 0;
    for (text, end) in texts.iter().zip(ends) {
        let own = &codes[start..end as usize];
        assert!(own.len() <= 2 * text.len());
        let mut out = vec![0; text.len()];
        assert_eq!(symbols.decode(own, &mut out), Ok(text.len()));
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

fn trained(texts: &[Vec<u8>]) -> Table {
    let (bytes, offsets) = joined(texts);
    Table::train(&Texts::new(&bytes, &offsets).unwrap())
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
        let table = trained(&texts);
        returns_with(&table, &texts);
        // Bytes that the sample never had.
        returns_with(&table, &[(0..=255).collect(), vec![0xfe; 9], vec![255], vec![0, 0, 0]]);
        assert_eq!(table.symbols(), trained(&texts).symbols(), "the same in each run");
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
    assert!(codes.len() * 4 < bytes.len(), "{} of {}", codes.len(), bytes.len());
}

#[test]
fn symbols_of_two_bytes_come_first_and_single_ones_last() {
    let texts: Vec<Vec<u8>> = (0..3000u32).map(|i| std::format!("{i} and then {}", i % 7).into()).collect();
    let table = trained(&texts);
    assert!(table.lengths().is_sorted_by_key(|len| len.wrapping_sub(2)) && table.lengths().contains(&1));
}

proptest! {
    #[test]
    fn any_texts_return(
        texts in prop::collection::vec(prop::collection::vec(prop_oneof![any::<u8>(), 97u8..100], 0..40), 0..60),
        others in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
    ) {
        let table = trained(&texts);
        returns_with(&table, &texts);
        returns_with(&table, &others);
    }
}

#[test]
fn no_symbol_of_several_bytes_ends_in_a_zero() {
    let texts: Vec<Vec<u8>> = (0..3000u32).map(|i| [i % 5, i % 3].map(u32::to_le_bytes).concat()).collect();
    let table = trained(&texts);
    let symbols = table.symbols().as_chunks::<8>().0.iter().zip(table.lengths());
    assert!(symbols.clone().all(|(symbol, len)| *len == 1 || symbol[usize::from(*len) - 1] != 0));
    assert!(symbols.filter(|(_, len)| **len > 1).count() > 3, "several zeros, then another byte");
    returns_with(&table, &texts);
}
