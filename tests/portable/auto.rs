//! `encode_auto`: reads back bit by bit, and no other legal encoding of the rows is shorter.

use pilaster::bytes::Scratch;
use pilaster::error::Kind;
use pilaster::filo::Packing;
use pilaster::filo::write::{choose, encode, encode_auto, holds, scratch_len};
use pilaster::filo::{Element, Encoding, Vector};
use proptest::prelude::*;

use crate::support::{Owned, Values, encodings};

/// Every encoding that the format has for an element type.
fn legal(element: Element) -> Vec<Encoding> {
    encodings().into_iter().filter(|encoding| holds(*encoding, element)).collect()
}

/// From the least value to the greatest.
fn distance(rows: &Owned) -> u64 {
    let values: Vec<i64> = match &rows.values {
        Values::Long(v) | Values::Timestamp(v) => v.clone(),
        Values::DateTime(v) => v.iter().map(|v| v.0).collect(),
        _ => vec![],
    };
    let there = || values.iter().zip(&rows.valid).filter(|(_, valid)| **valid).map(|(value, _)| *value);
    there().max().zip(there().min()).map_or(0, |(max, min)| max.wrapping_sub(min) as u64)
}

/// The chunk of `encode_auto`, after all the claims about it were checked.
fn smallest(rows: &Owned) -> Vec<u8> {
    let element = rows.element();
    let wraps = distance(rows) > i64::MAX as u64;
    let (chunk, chosen) = rows.with(|rows| {
        let mut memory = vec![0xa5; scratch_len(rows.len())];
        let mut scratch = Scratch::new(&mut memory);
        let mut dst = vec![0xa5; 100_000];
        let chosen = choose(rows, &mut scratch).unwrap();
        let len = encode_auto(rows, &mut dst, &mut scratch).unwrap();

        let mut again = vec![0x5a; 100_000];
        assert_eq!(encode(chosen, rows, &mut again, &mut scratch), Ok(len), "{chosen}");
        assert_eq!(dst[..len], again[..len], "{chosen}");
        for encoding in legal(element) {
            match encode(encoding, rows, &mut again, &mut scratch) {
                // A difference beyond 2^63 may be near to 0 from below: `encode` takes it at its word,
                // the choice does not look for it.
                Ok(other) if len > other && wraps => {
                    assert!(matches!(encoding, Encoding::Diff(_) | Encoding::DiffDateTime { .. }))
                }
                Ok(other) => assert!(len <= other, "{chosen} takes {len} bytes, {encoding} {other}"),
                Err(e) => assert_eq!(e.kind(), Kind::Lossy, "{encoding}: {e}"),
            }
        }
        dst.truncate(len);
        (dst, chosen)
    });
    rows.assert_read(&chunk, &chosen);
    let read_as = if element == Element::Utf8 { Element::Blob } else { element };
    assert_eq!(Vector::open(&chunk, read_as).unwrap().encoding(), chosen);
    chunk
}

/// Integers of many shapes: constant, narrow, around a base, on a line, anywhere.
fn integers() -> impl Strategy<Value = Vec<i64>> {
    let base = prop_oneof![Just(0), any::<i64>(), -300i64..300, Just(i64::MIN), Just(i64::MAX - 3)];
    let width = prop_oneof![Just(0u32), 1u32..12, 1u32..34, Just(64)];
    let slope = prop_oneof![Just(0i64), -2000i64..2000, any::<i32>().prop_map(i64::from), any::<i64>()];
    (base, width, slope, prop::collection::vec(any::<u64>(), 0..150)).prop_map(|(base, width, slope, noise)| {
        let cut = |noise: u64| if width == 0 { 0 } else { noise >> (64 - width) };
        let line = |i: usize| base.wrapping_add(slope.wrapping_mul(i as i64));
        noise.iter().enumerate().map(|(i, noise)| line(i).wrapping_add(cut(*noise) as i64)).collect()
    })
}

fn doubles() -> impl Strategy<Value = Vec<f64>> {
    let special = [0u64, 1 << 63, 0x7ff8_0000_0000_0000, 0x7ff8_0000_0000_0123, 0x7ff0_0000_0000_0000, 1, 0x3ff8 << 48];
    let odd = prop::sample::select(special.to_vec()).prop_map(f64::from_bits);
    let any = prop_oneof![any::<u64>().prop_map(f64::from_bits), odd.clone()];
    let few = (odd.clone(), odd).prop_flat_map(|(a, b)| prop::collection::vec(prop::sample::select(vec![a, b]), 0..40));
    prop_oneof![
        integers().prop_map(|ints| ints.into_iter().map(|int| f64::from(int as i32)).collect()),
        (integers(), prop::num::f64::ANY)
            .prop_map(|(ints, last)| { ints.into_iter().map(|int| f64::from(int as i32)).chain([last]).collect() }),
        prop::collection::vec(any, 0..100),
        few,
    ]
}

fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let text = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..12),
        1 => prop::collection::vec(any::<u8>(), 250..260),
    ];
    let few = prop::collection::vec(text.clone(), 1..20)
        .prop_flat_map(|entries| prop::collection::vec(prop::sample::select(entries), 0..150));
    prop_oneof![few, prop::collection::vec(text, 0..80)]
}

fn values() -> impl Strategy<Value = Values> {
    let quarters = prop_oneof![Just(0i32..1), Just(-48..57), Just(-128..128)];
    let zones = quarters.prop_flat_map(|quarters| prop::collection::vec(quarters, 150));
    prop_oneof![
        prop::collection::vec(any::<bool>(), 0..150).prop_map(Values::Boolean),
        (any::<bool>(), 0usize..150).prop_map(|(one, n)| Values::Boolean(vec![one; n])),
        integers().prop_map(|v| Values::Int(v.into_iter().map(|v| v as i32).collect())),
        integers().prop_map(Values::Long),
        integers().prop_map(Values::Timestamp),
        doubles().prop_map(Values::Double),
        doubles().prop_map(|v| Values::Float(v.into_iter().map(|v| v as f32).collect())),
        (integers(), zones).prop_map(|(millis, zones)| {
            Values::DateTime(millis.into_iter().zip(zones.into_iter().map(|zone| zone * 900_000)).collect())
        }),
        // Strings must be text, UTF8 need not.
        texts()
            .prop_map(|v| Values::String(v.into_iter().map(|v| v.into_iter().map(|b| b & 0x7f).collect()).collect())),
        texts().prop_map(Values::Utf8),
    ]
}

fn columns() -> impl Strategy<Value = Owned> {
    // None missing, some, nearly all, all.
    let missing = prop::sample::select(vec![0u32, 0, 0, 10, 50, 97, 100]);
    (values(), missing, prop::collection::vec(0u32..100, 160)).prop_map(|(values, missing, dice)| {
        let valid = dice.iter().map(|dice| *dice >= missing).take(values.len()).collect();
        Owned { values, valid }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn auto_is_exact_and_smallest(rows in columns()) {
        smallest(&rows);
    }
}

/// From the greatest number it is a step to the least: lines, flat and steep, lead over that edge.
#[test]
fn lines_around_the_edge() {
    let (least, greatest) = (i64::MIN, i64::MAX);
    for values in [vec![least, greatest - 3, least], vec![greatest, least + 5, greatest, greatest - 1]] {
        let chunk = smallest(&Owned::full(Values::Long(values)));
        let encoding = Vector::open(&chunk, Element::Long).unwrap().encoding();
        assert!(matches!(encoding, Encoding::DeltaDelta(_)), "{encoding}");
    }
    smallest(&Owned::full(Values::Long((0..99).map(|i| (greatest - 50_000).wrapping_add(i * 1000)).collect())));
}

/// What the original's writers lose (section 13).
#[test]
fn nothing_is_lost_that_the_original_loses() {
    let nan = f64::from_bits(0x7ff8_0000_0000_0123);
    for doubles in [[nan, 1.5, 1.5], [1.5, 1.5, nan], [0.0, -0.0, 0.0], [-0.0; 3], [nan; 3], [3.0, -0.0, 1.0]] {
        smallest(&Owned::full(Values::Double(doubles.to_vec())));
        smallest(&Owned::full(Values::Float(doubles.map(|v| v as f32).to_vec())));
    }
    smallest(&Owned::full(Values::Timestamp(vec![i64::MIN, 0, i64::MAX])));
    smallest(&Owned::full(Values::DateTime(vec![(i64::MIN, 0), (i64::MAX, 900_000)])));
    let empties: Vec<Vec<u8>> = (0..60).map(|i| if i % 3 == 0 { vec![] } else { b"word".to_vec() }).collect();
    let mut some = Owned { valid: (0..60).map(|i| i % 7 != 0).collect(), values: Values::Utf8(empties.clone()) };
    smallest(&some);
    some.values = Values::String(empties.clone());
    smallest(&some);
    smallest(&Owned::full(Values::Utf8(empties)));
}

/// Strings whose offsets pass 20 bits, beyond the reach of the property test.
#[test]
fn long_text_is_counted_exactly() {
    let strings: Vec<Vec<u8>> = (0..700u32).map(|i| vec![i as u8; 1500 + (i % 3) as usize * 400]).collect();
    for missing in [0, 5] {
        let values = Values::Utf8(strings.clone());
        let rows = Owned { valid: (0..700).map(|i| missing == 0 || i % missing != 0).collect(), values };
        rows.with(|rows| {
            let mut memory = vec![0; scratch_len(700)];
            let mut dst = vec![0; 2_000_000];
            let mut scratch = Scratch::new(&mut memory);
            let len = encode_auto(rows, &mut dst, &mut scratch).unwrap();
            for encoding in [Encoding::Utf8, Encoding::DictUtf8(Packing::I16)] {
                assert!(len <= encode(encoding, rows, &mut dst, &mut scratch).unwrap());
            }
        });
    }
}

/// Without scratch a dictionary is not considered, and nothing fails.
#[test]
fn a_dictionary_needs_scratch() {
    let strings = (0..400u32).map(|i| vec![b'a' + (i % 5) as u8; 9]).collect();
    Owned::full(Values::Utf8(strings)).with(|rows| {
        let with = |memory: &mut [u8]| choose(rows, &mut Scratch::new(memory)).unwrap();
        assert_eq!(with(&mut []), Encoding::FixedMaxUtf8);
        assert_eq!(with(&mut vec![0; scratch_len(400)]), Encoding::DictUtf8(Packing::U4));
        // Five entries need a small table only, beside the codes.
        assert_eq!(with(&mut [0; 1800]), Encoding::DictUtf8(Packing::U4));
    });
}

#[test]
fn all_missing_is_a_header_word_while_the_word_can_count_them() {
    let missing = |values: Values| Owned { valid: vec![false; values.len()], values };
    assert_eq!(smallest(&missing(Values::Long(vec![7; 3]))), [1, 3, 0, 0]);
    assert_eq!(smallest(&missing(Values::Utf8(vec![]))), [1, 0, 0, 0]);
}
