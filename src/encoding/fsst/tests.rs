use std::vec::Vec;

use proptest::prelude::*;

use super::{Symbols, Table};
use crate::encoding::text_tests::{addresses, any_texts, joined, others, return_with, shapes};
use crate::encoding::texts::Texts;

fn returns_with(table: &Table, texts: &[Vec<u8>]) {
    let symbols = Symbols::new(table.symbols(), table.lengths()).unwrap();
    let encode = |texts: &Texts<'_>, codes: &mut Vec<u8>, ends: &mut Vec<u32>| table.encode(texts, codes, ends);
    return_with(texts, 2, encode, |codes, out| symbols.decode(codes, out));
}

fn trained(texts: &[Vec<u8>]) -> Table {
    let (bytes, offsets) = joined(texts);
    Table::train(&Texts::new(&bytes, &offsets).unwrap())
}

#[test]
fn texts_of_all_shapes_return() {
    for texts in shapes() {
        let table = trained(&texts);
        returns_with(&table, &texts);
        returns_with(&table, &others());
        assert_eq!(table.symbols(), trained(&texts).symbols(), "the same in each run");
    }
}

#[test]
fn texts_become_short() {
    let texts = addresses();
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
    fn any_texts_return([texts, others] in any_texts()) {
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
