//! What the Filo writers write, the reader reads: every element type in every encoding, every bit.

use pilaster::bytes::Scratch;
use pilaster::error::{Kind, What};
use pilaster::filo::Packing;
use pilaster::filo::write::{choose, encode, encode_auto, holds, max_len, scratch_len};
use pilaster::filo::{Element, Encoding, Value, Vector};
use proptest::prelude::*;

use crate::support::{self, Owned, Values, encodings, patterns};

const SIZES: [usize; 13] = [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 1000];

/// Element types that `Owned` has; blobs are written as UTF8.
fn elements() -> impl Iterator<Item = Element> {
    Element::ALL.into_iter().filter(|element| *element != Element::Blob)
}

fn takes_missing_rows(encoding: Encoding) -> bool {
    !matches!(encoding, Encoding::Packed(_) | Encoding::Repeated | Encoding::DeltaDelta(_))
}

/// The smallest and largest number of a width.
fn range(packing: Packing) -> (i128, i128) {
    let bits = packing.bits();
    match packing {
        Packing::W64 => (i64::MIN.into(), i64::MAX.into()),
        _ if packing.signed() => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    }
}

/// Numbers from `low` to `high`, both among them, in no order.
fn spread(low: i128, high: i128, i: usize) -> i128 {
    match i % 5 {
        0 => low,
        1 => high,
        _ => low + (i as i128 + 1) * 0x9e37_79b9_7f4a_7c15 % (high - low + 1),
    }
}

/// Rows that the encoding holds, the widest that it does.
fn fitting(element: Element, encoding: Encoding, valid: &[bool]) -> Owned {
    let rows = 0..valid.len();
    let packing = encoding.packing().unwrap_or(Packing::I32);
    let (low, high) = range(packing);
    let number = |i: usize| match encoding {
        // The value is the same in all rows that have one.
        Encoding::Const(_) if valid[i] => low,
        Encoding::Repeated => -7,
        // Differences are counted from the smallest value.
        Encoding::Diff(_) | Encoding::DiffDateTime { .. } if packing != Packing::W64 => spread(-5, high - 5, i),
        // First and last row lie on the line.
        Encoding::DeltaDelta(_) => {
            let residual = if i == 0 || i + 1 == valid.len() { 0 } else { spread(low, high, i) };
            10_i128.pow(12) + 2_000_000_000 * i as i128 + residual
        }
        _ => spread(low, high, i),
    };
    let text = |i: usize| -> Vec<u8> {
        // Three different strings fit the narrowest codes.
        let kind = match encoding {
            Encoding::ConstString | Encoding::Repeated => 1,
            Encoding::DictString(_) | Encoding::DictUtf8(_) => i % 3,
            _ => i % 11,
        };
        match kind {
            0 => vec![],
            1 if element == Element::String => "\u{e9}one\0".into(),
            1 => b"\xffone".to_vec(),
            2 => "zw\u{f6}lf".into(),
            5 if encoding != Encoding::FixedMaxUtf8 => vec![b'x'; 2047 + i % 2],
            6 => vec![i as u8 & 0x7f; i % 254],
            _ => format!("{i}").into_bytes(),
        }
    };
    let double = |i: usize| match encoding {
        Encoding::Packed(Packing::W64) | Encoding::Masked(Packing::W64) | Encoding::Simple(_) => {
            let bits = [0x8000_0000_0000_0000, 0x7ff8_0000_0000_0123, 0x7ff0_0000_0000_0000, 1, 0x3ff8_0000_0000_0000];
            f64::from_bits(bits[i % 5])
        }
        Encoding::Const(_) | Encoding::Repeated => -0.0,
        _ => number(i) as f64,
    };
    let values = match element {
        Element::Boolean => {
            Values::Boolean(rows.map(|i| matches!(encoding, Encoding::Const(_)) || i % 3 == 0).collect())
        }
        Element::Int => Values::Int(rows.map(|i| number(i) as i32).collect()),
        Element::Long => Values::Long(rows.map(|i| number(i) as i64).collect()),
        Element::Timestamp => Values::Timestamp(rows.map(|i| number(i) as i64).collect()),
        Element::Float => Values::Float(
            rows.map(|i| match encoding {
                Encoding::Const(_) => f32::from_bits(0x7fc0_0123),
                _ => f32::from_bits([0x8000_0000, 0x7fc0_0123, 1, 0x3fc0_0000][i % 4]),
            })
            .collect(),
        ),
        Element::Double => Values::Double(rows.map(double).collect()),
        Element::DateTime => {
            let zone = |i: usize| match encoding {
                Encoding::DiffDateTime { zones: Some(zones), .. } => {
                    spread(-128, range(zones).1.min(255) - 128, i) as i32
                }
                _ => -14,
            };
            Values::DateTime(rows.map(|i| (number(i) as i64, zone(i) * 900_000)).collect())
        }
        Element::String => Values::String(rows.map(text).collect()),
        Element::Utf8 | Element::Blob => Values::Utf8(rows.map(text).collect()),
    };
    Owned { values, valid: valid.to_vec() }
}

#[test]
fn every_element_in_every_encoding_and_size() {
    let mut written = 0;
    for encoding in encodings() {
        for element in elements().filter(|element| holds(encoding, *element)) {
            for n in SIZES {
                for valid in patterns(n) {
                    let rows = fitting(element, encoding, &valid);
                    let context = (element, encoding, n, valid.iter().filter(|valid| !**valid).count());
                    let refused = match encoding {
                        Encoding::Empty => valid.iter().position(|valid| *valid),
                        _ if takes_missing_rows(encoding) => None,
                        _ => valid.iter().position(|valid| !*valid),
                    };
                    let result = rows.write(encoding, 0xa5);
                    if let Some(row) = refused {
                        let e = result.expect_err(&format!("{context:?}"));
                        assert_eq!((e.kind(), e.at()), (Kind::Lossy, row as u64), "{context:?}");
                        continue;
                    }
                    let chunk = result.unwrap_or_else(|e| panic!("{context:?}: {e}"));
                    rows.assert_read(&chunk, &context);
                    assert_eq!(chunk, rows.write(encoding, 0x5a).unwrap(), "{context:?}: a byte was left as it was");
                    written += 1;
                }
            }
        }
    }
    assert!(written > 5000, "{written}");
}

#[test]
fn every_other_pair_is_a_wrong_type() {
    for encoding in encodings() {
        for element in elements().filter(|element| !holds(encoding, *element)) {
            let e = fitting(element, Encoding::Empty, &[true]).write(encoding, 0).unwrap_err();
            assert_eq!((e.kind(), e.need()), (Kind::WrongType, encoding.header().word()), "{element} {encoding:?}");
        }
    }
}

#[test]
fn a_short_buffer_is_told_the_length() {
    for encoding in encodings() {
        for element in elements().filter(|element| holds(encoding, *element)) {
            for n in [0, 1, 9, 65] {
                let valid = vec![encoding != Encoding::Empty; n];
                let rows = fitting(element, encoding, &valid);
                let chunk = rows.write(encoding, 0).unwrap();
                let mut memory = vec![0; scratch_len(n)];
                let mut write =
                    |dst: &mut [u8]| rows.with(|rows| encode(encoding, rows, dst, &mut Scratch::new(&mut memory)));
                let mut exact = vec![0xee; chunk.len() + 3];
                for len in [0, chunk.len() / 2, chunk.len() - 1] {
                    let e = write(&mut exact[..len]).unwrap_err();
                    assert_eq!((e.kind(), e.what(), e.need() as usize), (Kind::NoRoom, What::DESTINATION, chunk.len()));
                    assert!(exact.iter().all(|byte| *byte == 0xee), "{element} {encoding:?} {len}");
                }
                assert_eq!(write(&mut exact), Ok(chunk.len()), "{element} {encoding:?}");
                assert_eq!(exact[chunk.len()..], [0xee; 3], "{element} {encoding:?}: bytes behind the chunk");
                assert!(chunk.len() <= max_len(encoding, n, rows.text_bytes()));
            }
        }
    }
}

#[track_caller]
fn refused(encoding: Encoding, values: Values, row: u64) {
    let e = Owned::full(values).write(encoding, 0).unwrap_err();
    assert_eq!((e.kind(), e.at()), (Kind::Lossy, row), "{encoding:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_row() {
    let far = |n: usize, value: i32| (0..n).map(|i| if i + 1 == n { value } else { 1 }).collect::<Vec<_>>();
    refused(Encoding::Packed(Packing::U2), Values::Int(far(100, 4)), 99);
    refused(Encoding::Packed(Packing::U2), Values::Int(far(100, -1)), 99);
    refused(Encoding::Masked(Packing::I16), Values::Int(far(64, 32768)), 63);
    refused(Encoding::Simple(Packing::U16), Values::Int(far(1, 65536)), 0);
    refused(Encoding::Simple(Packing::U32), Values::Long(vec![0, -1]), 1);
    refused(Encoding::Packed(Packing::I32), Values::Long(vec![0, 1 << 31]), 1);
    refused(Encoding::Const(Packing::I8), Values::Long(vec![128, 128]), 0);
    refused(Encoding::Const(Packing::I8), Values::Int(far(70, 2)), 69);
    refused(Encoding::Const(Packing::W64), Values::Boolean(vec![false, false, true]), 2);
    refused(Encoding::Const(Packing::W64), Values::Double(vec![0.0, -0.0]), 1);
    refused(Encoding::Const(Packing::U32), Values::Float(vec![f32::NAN, -f32::NAN]), 1);
    refused(Encoding::Repeated, Values::Int(far(65, 2)), 64);
    refused(Encoding::Repeated, Values::Utf8(vec![b"a".to_vec(), b"a".to_vec(), vec![]]), 2);
    refused(Encoding::ConstString, Values::String(vec![b"a".to_vec(), b"b".to_vec()]), 1);
    for wrong in [-0.0, 0.5, f64::NAN, f64::INFINITY, 2_147_483_648.0, -2_147_483_649.0, 1e18, 6_755_399_441_055_744.0]
    {
        refused(Encoding::Packed(Packing::I32), Values::Double(vec![-2_147_483_648.0, 2_147_483_647.0, wrong]), 2);
    }
    refused(Encoding::Packed(Packing::U4), Values::Double(vec![0.0, 16.0]), 1);
    refused(Encoding::Diff(Packing::I8), Values::Timestamp(vec![i64::MIN, i64::MIN + 128]), 1);
    refused(Encoding::Diff(Packing::I32), Values::Long(vec![i64::MAX, i64::MIN, 0]), 2);
    refused(Encoding::DeltaDelta(Packing::I32), Values::Long(vec![0, 1 << 40]), 1);
    refused(Encoding::DeltaDelta(Packing::I32), Values::Long(vec![i64::MIN, 0, i64::MAX]), 2);
    refused(Encoding::DeltaDelta(Packing::U2), Values::Long(vec![0, 14, 20]), 1);
    let date = |zones| Encoding::DiffDateTime { millis: Packing::I8, zones };
    refused(date(None), Values::DateTime(vec![(0, 0), (0, 900_000)]), 1);
    refused(date(None), Values::DateTime(vec![(0, 900_001); 2]), 0);
    refused(date(Some(Packing::I8)), Values::DateTime(vec![(0, 0), (0, 900_001)]), 1);
    refused(date(Some(Packing::I8)), Values::DateTime(vec![(0, 0), (0, -129 * 900_000)]), 1);
    refused(date(Some(Packing::I8)), Values::DateTime(vec![(0, 0), (0, 128 * 900_000)]), 1);
    refused(Encoding::FixedMaxUtf8, Values::Utf8(vec![vec![], vec![b'x'; 255]]), 1);
    let no_text = || Values::String(vec![b"text".to_vec(), b"\xff".to_vec(), b"\xff".to_vec()]);
    refused(Encoding::SimpleString, no_text(), 1);
    refused(Encoding::DictString(Packing::I8), no_text(), 1);
    refused(Encoding::ConstString, Values::String(vec![b"\xff".to_vec()]), 0);
    let letters: Vec<Vec<u8>> = (0..20).map(|i| vec![b'a' + i]).collect();
    refused(Encoding::DictUtf8(Packing::U2), Values::Utf8(letters.clone()), 3);
    refused(Encoding::DictUtf8(Packing::U4), Values::Utf8(letters), 15);
}

#[test]
fn utf8_is_text_and_blobs_are_any_bytes() {
    use pilaster::bytes::Bits;
    use pilaster::column::Validity;
    use pilaster::filo::write::{Plain, Rows, Strings};
    use pilaster::unstable::filo::original::{BuilderFamily, Hint, Original, encode_like_original};
    let strings: [&[u8]; 4] = [b"text", b"\xff", b"text", b"\xffe"];
    let strings = Strings::Slices(&strings);
    let missing = Bits::new(&[0b1101], 0, 4).unwrap();
    let (mut chunk, mut memory) = ([0; 400], [0; 2000]);
    let mut scratch = Scratch::new(&mut memory);
    let no_text = |e: pilaster::Error| (e.kind(), e.what(), e.at());
    let family = |hint| Original { builder: BuilderFamily::Default, hint };
    for (validity, row) in [(Validity::All, 1), (Validity::Bits(missing), 3)] {
        let text = Rows { values: Plain::Utf8(strings), validity };
        let blob = Rows { values: Plain::Blob(strings), validity };
        assert_eq!((text.values.element(), blob.values.element()), (Element::Utf8, Element::Blob));
        let wrong = (Kind::Lossy, What::FILO_STRING, row);
        for encoding in [Encoding::Utf8, Encoding::FixedMaxUtf8, Encoding::DictUtf8(Packing::U4)] {
            assert_eq!(encode(encoding, &text, &mut chunk, &mut scratch).map_err(no_text), Err(wrong), "{encoding}");
            let len = encode(encoding, &blob, &mut chunk, &mut scratch).unwrap();
            let vector = Vector::open(&chunk[..len], Element::Blob).unwrap();
            assert_eq!(vector.get(3), Ok(Some(Value::Bytes(b"\xffe"))), "{encoding}");
        }
        assert_eq!(choose(&text, &mut scratch).map_err(no_text), Err(wrong));
        assert_eq!(encode_auto(&text, &mut chunk, &mut scratch).map_err(no_text), Err(wrong));
        assert!(encode_auto(&blob, &mut chunk, &mut scratch).is_ok());
        for hint in [Hint::Auto, Hint::Simple, Hint::Dictionary] {
            let like = |rows, chunk: &mut [u8], scratch: &mut Scratch<'_>| {
                encode_like_original(rows, family(hint), chunk, scratch).map_err(no_text)
            };
            assert_eq!(like(&text, &mut chunk, &mut scratch), Err(wrong));
            assert!(like(&blob, &mut chunk, &mut scratch).is_ok());
        }
    }
}

#[test]
fn ranges_beyond_63_bits_survive() {
    let values = Values::Timestamp(vec![i64::MIN, i64::MAX, 0, -1]);
    let rows = Owned { values, valid: vec![true, true, false, true] };
    rows.assert_read(&rows.write(Encoding::Diff(Packing::W64), 0).unwrap(), &"diff");
    let values = Values::DateTime(vec![(i64::MIN, 3_600_000), (i64::MAX, 0), (0, 7)]);
    let rows = Owned { values, valid: vec![true, true, false] };
    let encoding = Encoding::DiffDateTime { millis: Packing::W64, zones: Some(Packing::U8) };
    rows.assert_read(&rows.write(encoding, 0).unwrap(), &"datetime");
}

#[test]
fn long_utf8_vectors_change_to_long_words() {
    // The packed word ends at an offset of 1 MiB; the last rows are after it.
    let strings: Vec<Vec<u8>> =
        (0..700).map(|i| vec![i as u8; 1600 + i % 3]).chain([vec![], b"end".to_vec()]).collect();
    let n = strings.len();
    let rows = Owned { values: Values::Utf8(strings), valid: (0..n).map(|i| i % 50 != 7).collect() };
    rows.assert_read(&rows.write(Encoding::Utf8, 0).unwrap(), &"long words");
}

#[test]
fn a_validity_of_another_length_is_misuse() {
    use pilaster::bytes::Bits;
    use pilaster::column::Validity;
    use pilaster::filo::write::{Plain, Rows};
    let rows = Rows { values: Plain::Int(&[1, 2, 3]), validity: Validity::Bits(Bits::new(&[7], 0, 4).unwrap()) };
    let e = encode(Encoding::Masked(Packing::I8), &rows, &mut [0; 64], &mut Scratch::new(&mut [])).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Misuse, What::FILO_MASK));
    let rows = Rows::all(Plain::DateTime { millis: &[1, 2], offsets: &[0] });
    let encoding = Encoding::DiffDateTime { millis: Packing::I8, zones: None };
    let e = encode(encoding, &rows, &mut [0; 256], &mut Scratch::new(&mut [])).unwrap_err();
    assert_eq!((e.kind(), e.what()), (Kind::Misuse, What::FILO_ZONE));
}

#[test]
fn the_form_of_the_rows_does_not_matter() {
    use pilaster::bytes::Bits;
    use pilaster::column::{Spans, Validity, VarBytes};
    use pilaster::filo::write::{Plain, Rows, Strings};

    let write = |encoding, rows: Rows<'_>| {
        let (mut chunk, mut memory) = ([0xcc; 2000], [0; 4000]);
        let len = encode(encoding, &rows, &mut chunk, &mut Scratch::new(&mut memory)).unwrap();
        chunk[..len].to_vec()
    };
    // Equal strings as slices, by offsets and by spans.
    let data = b"onetwoonethree";
    let slices: Vec<&[u8]> = [0..3, 3..6, 6..9, 9..14, 9..9].map(|range| &data[range]).to_vec();
    let spans = [[0, 3], [3, 3], [0, 3], [9, 5], [2, 0]];
    let forms = [
        Strings::Slices(&slices),
        Strings::Spans(VarBytes { data, spans: Spans::Off32(&[0, 3, 6, 9, 14, 14]) }),
        Strings::Spans(VarBytes { data, spans: Spans::Each(&spans) }),
    ];
    for encoding in [Encoding::Utf8, Encoding::FixedMaxUtf8, Encoding::DictUtf8(Packing::U4)] {
        let chunks = forms.map(|strings| write(encoding, Rows::all(Plain::Utf8(strings))));
        assert!(chunks[0] == chunks[1] && chunks[0] == chunks[2], "{encoding}");
    }
    // Equal validity and booleans, starting at any bit of a byte.
    let pattern: Vec<bool> = (0..150).map(|i| i * i % 7 != 2).collect();
    let values: Vec<i64> = (0..150).collect();
    let shifted = (0..70).map(|first| {
        let bytes = support::bitmap(&[vec![true; first], pattern.clone(), vec![true; 3]].concat());
        let bits = Bits::new(&bytes, first, pattern.len()).unwrap();
        let longs = Rows { values: Plain::Long(&values), validity: Validity::Bits(bits) };
        (
            write(Encoding::Masked(Packing::U8), longs),
            write(Encoding::Simple(Packing::W64), Rows::all(Plain::Boolean(bits))),
        )
    });
    let mut shifted: Vec<_> = shifted.collect();
    shifted.dedup();
    assert_eq!(shifted.len(), 1);
    // All missing, said in two ways.
    let none = Bits::new(&[0; 19], 0, 150).unwrap();
    for validity in [Validity::None, Validity::Bits(none)] {
        let chunk = write(Encoding::Empty, Rows { values: Plain::Long(&values), validity });
        assert_eq!(chunk, [1, 150, 0, 0]);
    }
}

#[test]
fn dictionaries_of_the_caller() {
    use pilaster::filo::write::{Strings, dict_string, dict_utf8};
    let entries = Strings::Slices(&[b"z", b"", b"a"]);
    let (codes, texts) = ([3u32, 0, 2, 1, 3], ["a", "?", "", "z", "a"]);
    let strings: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let valid: Vec<bool> = codes.iter().map(|code| *code != 0).collect();
    let mut chunk = [0xcc; 200];
    let len = dict_utf8(entries, &codes, Packing::U2, &mut chunk).unwrap();
    Owned { values: Values::Utf8(strings.clone()), valid: valid.clone() }.assert_read(&chunk[..len], &"utf8");
    let len = dict_string(entries, &codes, Packing::U8, &mut chunk).unwrap();
    Owned { values: Values::String(strings), valid }.assert_read(&chunk[..len], &"string");

    let e = dict_utf8(entries, &[1, 4, 0], Packing::U4, &mut chunk).unwrap_err();
    assert_eq!((e.kind(), e.at(), e.need()), (Kind::OutOfRange, 1, 3));
    assert_eq!(dict_utf8(entries, &codes, Packing::W64, &mut chunk).unwrap_err().kind(), Kind::WrongType);
    assert_eq!(dict_string(entries, &codes, Packing::U4, &mut chunk).unwrap_err().kind(), Kind::WrongType);
    let five = Strings::Slices(&[b"1", b"2", b"3", b"4", b"5"]);
    let e = dict_utf8(five, &[1, 4], Packing::U2, &mut chunk).unwrap_err();
    assert_eq!((e.kind(), e.at()), (Kind::Lossy, 1));
}

/// Numbers near the edges of all widths, and any others.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        -3i64..20,
        (0u32..64, -2i64..3).prop_map(|(shift, near)| (1i64 << shift).wrapping_add(near)),
        (0u32..64, -2i64..3).prop_map(|(shift, near)| (1i64 << shift).wrapping_neg().wrapping_add(near)),
        any::<i64>(),
    ]
}

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        number().prop_map(|n| n as f64),
        any::<u64>().prop_map(f64::from_bits),
        Just(-0.0),
        (-9i32..9).prop_map(f64::from)
    ]
}

fn strings() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let string =
        prop_oneof![Just(vec![]), prop::collection::vec(b'a'..=b'c', 0..3), prop::collection::vec(any::<u8>(), 0..300)];
    prop::collection::vec(string, 0..100)
}

fn values() -> impl Strategy<Value = Values> {
    let offset = prop_oneof![Just(0), (-60i32..60).prop_map(|q| q * 900_000), any::<i32>()];
    prop_oneof![
        prop::collection::vec(any::<bool>(), 0..200).prop_map(Values::Boolean),
        prop::collection::vec(number().prop_map(|n| n as i32), 0..200).prop_map(Values::Int),
        (number(), prop::collection::vec(0i64..4, 0..200))
            .prop_map(|(base, small)| Values::Int(small.iter().map(|n| base.wrapping_add(*n) as i32).collect())),
        prop::collection::vec(number(), 0..200).prop_map(Values::Long),
        (number(), number(), prop::collection::vec(-9i64..9, 0..200)).prop_map(|(base, slope, noise)| {
            let on_line = |(i, n): (usize, &i64)| slope.wrapping_mul(i as i64).wrapping_add(base).wrapping_add(*n);
            Values::Long(noise.iter().enumerate().map(on_line).collect())
        }),
        prop::collection::vec(any::<u32>().prop_map(f32::from_bits), 0..200).prop_map(Values::Float),
        prop::collection::vec(double(), 0..200).prop_map(Values::Double),
        prop::collection::vec(number(), 0..200).prop_map(Values::Timestamp),
        prop::collection::vec((number(), offset), 0..200).prop_map(Values::DateTime),
        strings().prop_map(|strings| {
            Values::String(strings.iter().map(|text| String::from_utf8_lossy(text).into_owned().into()).collect())
        }),
        strings().prop_map(Values::Utf8),
    ]
}

fn owned() -> impl Strategy<Value = Owned> {
    (values(), prop_oneof![Just(10u32), 0u32..=10], any::<u64>()).prop_map(|(values, present, seed)| {
        let n = values.len();
        let noise = |i: usize| (seed ^ i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        Owned { values, valid: (0..n).map(|i| noise(i) % 10 < present.into()).collect() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// No encoding loses anything: it says so, or the rows come back, every bit of them.
    #[test]
    fn lossy_or_exact(rows in owned()) {
        let element = rows.element();
        for encoding in encodings().into_iter().filter(|encoding| holds(*encoding, element)) {
            match rows.write(encoding, 0x77) {
                Ok(chunk) => rows.assert_read(&chunk, &encoding),
                Err(e) => {
                    prop_assert_eq!(e.kind(), Kind::Lossy, "{:?}: {}", encoding, e);
                    prop_assert!((e.at() as usize) < rows.valid.len());
                }
            }
        }
    }
}
