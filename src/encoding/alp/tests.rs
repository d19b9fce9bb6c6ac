//! Decoding is compared with the text, encoding with decoding and with one value at a time.

use super::*;
use std::format;
use std::vec::Vec;

#[test]
fn powers_are_the_nearest_floats() {
    for i in 0..24u32 {
        let (up, down) = powers(i, i, 24).unwrap();
        let (ten, tenth) = (format!("1e{i}"), format!("1e-{i}"));
        assert_eq!((Ok(up), Ok(down)), (ten.parse(), tenth.parse()));
        assert!(i >= 11 || (Ok(up as f32), Ok(down as f32)) == (ten.parse(), tenth.parse()));
    }
}

#[test]
fn exponents_without_a_power_are_refused() {
    assert_eq!(decode(24, 0, Cells::W8(&mut [1])).unwrap_err().need(), 24);
    assert_eq!(decode(0, 11, Cells::W4(&mut [1])).unwrap_err().need(), 11);
    assert!(decode(0, 0, Cells::W2(&mut [1])).is_err());
}

#[test]
fn parts_join() {
    let value = 1.2345f64.to_bits();
    let (left, right) = ((value >> 48) as u16, value & 0xffff_ffff_ffff);
    let mut codes = [1, 0, 9];
    assert_eq!(lefts(&[7, left], &mut codes), Some(2));
    let mut words = [right];
    join(&codes[..1], 48, Cells::W8(&mut words)).unwrap();
    assert_eq!(f64::from_bits(words[0]), 1.2345);
    assert!(join(&[1], 64, Cells::W8(&mut words)).is_err() && join(&[1], 32, Cells::W4(&mut [0])).is_err());
}

#[test]
fn singles_decode() {
    let mut words = [15u32];
    decode(1, 0, Cells::W4(&mut words)).unwrap();
    assert_eq!(f32::from_bits(words[0]), 1.5);
}

/// Numbers of values: none, one, and numbers near whole chunks and blocks.
const LENGTHS: [usize; 9] = [0, 1, 63, 64, 65, 1023, 1024, 1025, 3333];

fn noise(i: usize) -> u64 {
    let word = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ word >> 32
}

macro_rules! of_float {
    ($module:ident, $float:ident, $int:ident, $word:ident, $cells:ident, $digits:literal, $percent:literal) => {
        mod $module {
            use super::*;

            /// Values that have no integer, or whose integer is at the end of a range.
            fn special(i: usize) -> $float {
                let whole = |bits: u32| (1u64 << bits) as $float;
                let values = [
                    -0.0,
                    0.0,
                    $float::NAN,
                    -$float::NAN,
                    $float::from_bits($float::NAN.to_bits() | 77),
                    $float::from_bits($float::INFINITY.to_bits() | 1),
                    $float::INFINITY,
                    $float::NEG_INFINITY,
                    $float::MIN_POSITIVE,
                    $float::from_bits(1),
                    $float::MAX,
                    $float::MIN,
                    whole($float::MANTISSA_DIGITS - 2),
                    whole($float::MANTISSA_DIGITS - 2) - 0.5,
                    whole($float::MANTISSA_DIGITS - 1),
                    whole($float::MANTISSA_DIGITS) + 2.0,
                    -whole($float::MANTISSA_DIGITS - 2),
                    -whole($word::BITS - 1),
                    whole($word::BITS - 1),
                    whole($word::BITS - 2),
                ];
                values[i % values.len()]
            }

            /// Values of several kinds, and exponents for most of them.
            fn kinds(len: usize) -> [(Vec<$float>, Exponents); 7] {
                let scaled = |i: usize| (noise(i) % 100_000) as $float / 100.0;
                let some = |rare: u64, i: usize| noise(i + 9).is_multiple_of(rare);
                let of = |value: &dyn Fn(usize) -> $float| (0..len).map(value).collect::<Vec<_>>();
                let hundredths = Exponents { e: $digits, f: $digits - 2 };
                [
                    (of(&scaled), hundredths),
                    (of(&|i| if some(50, i) { special(i) } else { scaled(i) }), hundredths),
                    (of(&|i| if some(3, i) { special(i) } else { scaled(i) }), hundredths),
                    (of(&special), Exponents { e: 0, f: 0 }),
                    (of(&|i| $float::from_bits(noise(i) as $word)), Exponents { e: 3, f: 1 }),
                    (of(&|i| (1u64 << ($word::BITS - 4)) as $float * (1.0 + (i % 9) as $float)), Exponents { e: 0, f: 0 }),
                    // Only the last ones have an integer.
                    (of(&|i| if i + 5 < len { $float::NAN } else { i as $float }), Exponents { e: 1, f: 1 }),
                ]
            }

            #[test]
            fn what_encodes_decodes_to_the_same_bits() {
                let mut exceptions_in_all = 0;
                for (values, exponents) in LENGTHS.iter().flat_map(|len| kinds(*len)) {
                    for exponents in [exponents, choose(&values)] {
                        // One value at a time.
                        let scale = <$float>::scale(exponents.e, exponents.f).unwrap();
                        let ints: Vec<Option<$int>> = values.iter().map(|value| value.one(scale)).collect();
                        let fill = ints.iter().flatten().next().copied().unwrap_or(0);
                        let expected: Vec<$int> = ints.iter().map(|int| int.unwrap_or(fill)).collect();

                        let mut out = std::vec![77; values.len() + 1];
                        let mut found = Vec::new();
                        let count = encode(&values, exponents, &mut out, |i, value| found.push((i, value))).unwrap();
                        assert_eq!(out.pop(), Some(77));
                        assert_eq!((count, &out), (found.len(), &expected), "{exponents:?}");
                        assert!((0..values.len()).filter(|i| ints[*i].is_none()).eq(found.iter().map(|(i, _)| *i)));

                        let words: &mut [$word] = bytemuck::cast_slice_mut(&mut out);
                        decode(exponents.e, exponents.f, Cells::$cells(words)).unwrap();
                        for (i, value) in found {
                            words[i] = value.to_bits();
                        }
                        assert!(values.iter().map(|value| value.to_bits()).eq(words.iter().copied()), "{exponents:?}");
                        exceptions_in_all += count;
                    }
                }
                assert!(exceptions_in_all > 1000, "{exceptions_in_all}");
            }

            /// Up to 256 values are not sampled, so that no other pair of exponents is better.
            #[test]
            fn the_choice_is_the_best_of_all() {
                for (values, _) in [2, 64, 100, 256].iter().flat_map(|len| kinds(*len)) {
                    let size = |Exponents { e, f }: Exponents| {
                        let scale = <$float>::scale(e, f).unwrap();
                        let ints: Vec<$int> = values.iter().filter_map(|value| value.one(scale)).collect();
                        let range = ints.iter().max().map(|max| max.wrapping_sub(*ints.iter().min().unwrap()));
                        let width = range.map_or($word::BITS, |range| $word::BITS - range.leading_zeros());
                        values.len() as u32 * width + (values.len() - ints.len()) as u32 * ($word::BITS + 16)
                    };
                    let pairs = (0..<$float>::POWERS).flat_map(|e| (0..=e).map(move |f| Exponents { e, f }));
                    let best = pairs.map(|pair| (size(pair), pair.e - pair.f)).min();
                    let choice = choose(&values);
                    assert_eq!(Some((size(choice), choice.e - choice.f)), best, "{choice:?}");
                }
            }

            #[test]
            fn decimals_of_two_digits_are_hundredths() {
                for len in LENGTHS.into_iter().skip(2) {
                    let values: Vec<$float> = (0..len).map(|i| (noise(i) % 1000) as $float / 100.0).collect();
                    let exponents = choose(&values);
                    assert_eq!(exponents.e - exponents.f, 2);
                    let count = encode(&values, exponents, &mut std::vec![0; len], |_, _| {}).unwrap();
                    assert!(count * 100 <= len * $percent, "{count}");
                }
            }

            #[test]
            fn parts_join_to_the_same_bits() {
                let mut seen = 0;
                let near = (0..3333).map(|i| 1.0 + noise(i) as $float / 1e25).collect();
                let many = (0..3333).map(|i| (noise(i) % 977) as $float * 1.1).collect();
                let kinds = LENGTHS.iter().flat_map(|len| kinds(*len)).map(|(values, _)| values);
                for values in kinds.chain([near, many]) {
                    let cut = choose_cut(&values);
                    let len = values.len();
                    assert!((1..=LEFTS).contains(&cut.dictionary().len()));
                    let (mut codes, mut rights) = (std::vec![9; len + 1], std::vec![9; len + 1]);
                    let mut found = Vec::new();
                    let count = split(&values, &cut, &mut codes, &mut rights, |i, left| found.push((i, left))).unwrap();
                    assert_eq!((codes.pop(), rights.pop(), count), (Some(9), Some(9), found.len()));
                    assert!(found.is_sorted_by(|a, b| a.0 < b.0));
                    assert!(rights.iter().all(|right| right >> cut.width == 0));

                    assert_eq!(lefts(cut.dictionary(), &mut codes), None);
                    for (i, left) in found {
                        assert!(!cut.dictionary().contains(&left));
                        codes[i] = left;
                    }
                    join(&codes, cut.width, Cells::$cells(&mut rights)).unwrap();
                    assert!(values.iter().map(|value| value.to_bits()).eq(rights));
                    seen += count;
                }
                assert!(seen > 100, "{seen}");
            }

            #[test]
            fn a_cut_keeps_frequent_left_parts() {
                // Signs and exponents of two kinds, and rarely of a third.
                let values: Vec<$float> = (0..4096)
                    .map(|i| {
                        let fraction = 1.0 + (noise(i) >> 12) as $float / (1u64 << 52) as $float;
                        fraction.clamp(1.0, 1.99) * [1.0, -8.0, 1.0, 1e30][if i % 100 == 0 { 3 } else { i % 3 }]
                    })
                    .collect();
                let cut = choose_cut(&values);
                let exponent = $word::BITS - ($float::MANTISSA_DIGITS - 1);
                assert_eq!((cut.width, cut.dictionary().len()), ($word::BITS - exponent, 2));
                let count = split(&values, &cut, &mut [0; 4096], &mut [0; 4096], |_, _| {}).unwrap();
                assert_eq!(count, 41);
            }

            #[test]
            fn what_does_not_fit_is_refused() {
                let (values, mut out) = ([1.5 as $float; 3], [0; 3]);
                let e = encode(&values, Exponents { e: 24, f: 0 }, &mut out, |_, _| {}).unwrap_err();
                assert_eq!((e.kind(), e.need()), (Kind::Invalid, 24));
                let e = encode(&values, Exponents { e: 1, f: 0 }, &mut out[..2], |_, _| {}).unwrap_err();
                assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 3 * $word::BITS / 8));
                let (cut, mut rights) = (choose_cut(&values), [0; 3]);
                let e = split(&values, &cut, &mut [0; 2], &mut rights, |_, _| {}).unwrap_err();
                assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 3));
                let e = split(&values, &cut, &mut [0; 3], &mut rights[..2], |_, _| {}).unwrap_err();
                assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 3));
            }
        }
    };
}

// Products of singles are rounded more coarsely, so that some hundredths have no integer.
of_float!(doubles, f64, i64, u64, W8, 14, 0);
of_float!(singles, f32, i32, u32, W4, 5, 6);

#[test]
fn a_cut_of_doubles_is_no_cut_of_singles() {
    let cut = choose_cut(&[1.5f64]);
    assert_eq!(split(&[1.5f32], &cut, &mut [0], &mut [0], |_, _| {}).unwrap_err().kind(), Kind::Invalid);
}
