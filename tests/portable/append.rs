//! Vectors written row by row: the same rows come back, a full buffer is an ordinary result, and a
//! refused row changes nothing.

use pilaster::error::{Kind, Result, What};
use pilaster::filo::Encoding;
use pilaster::filo::Packing;
use pilaster::filo::write::Line;
use pilaster::filo::write::append::*;

use crate::support::{Owned, Values, patterns};

const SIZES: [usize; 14] = [0, 1, 2, 3, 5, 7, 8, 9, 63, 64, 65, 127, 130, 1000];

/// Writes the rows into buffers of the length that is said to do, and into longer ones, full of this
/// and that; gives the chunk.
macro_rules! check {
    ($rows:expr, $len:expr, |$buffer:ident| $new:expr, |$w:ident, $i:ident| $push:expr) => {{
        let rows: &Owned = $rows;
        let n = rows.valid.len();
        let mut chunks = Vec::new();
        for (extra, dirt) in [(0, 0x00), (0, 0xff), (1, 0xa5), (777, 0x5a)] {
            let mut memory = vec![dirt; $len + extra];
            let $buffer = &mut memory[..];
            let mut $w = match $new {
                Ok(writer) => writer,
                Err(e) => {
                    assert_eq!((e.kind(), n), (Kind::Misuse, 0), "{e}");
                    continue;
                }
            };
            assert!($w.room() >= n, "{} rows of {n}", $w.room());
            for $i in 0..n {
                let room = $w.room();
                let result: Result<()> = if rows.valid[$i] { $push } else { $w.push_na() };
                result.unwrap();
                assert_eq!(($w.rows(), $w.room()), ($i + 1, room - 1));
            }
            let chunk = $w.finish().unwrap();
            rows.assert_read(chunk, &stringify!($new));
            chunks.push(chunk.to_vec());
        }
        chunks.dedup();
        assert_eq!(chunks.len(), 1, "the bytes depend on the buffer");
        chunks.remove(0)
    }};
}

/// Edges of a width, and numbers between them.
fn numbers(packing: Packing, n: usize) -> Vec<i64> {
    let bits = packing.bits();
    let (low, high) = match packing {
        Packing::W64 => (i64::MIN, i64::MAX),
        _ if packing.signed() => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    };
    let between = |i: usize| {
        (i as i64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64)
            .rem_euclid(high.wrapping_sub(low).max(3))
            .wrapping_add(low)
    };
    (0..n).map(|i| [low, high, between(i).clamp(low, high)][i % 3]).collect()
}

const INTS: [Packing; 7] =
    [Packing::U2, Packing::U4, Packing::I8, Packing::U8, Packing::I16, Packing::U16, Packing::I32];

#[test]
fn binary_vectors_are_byte_for_byte_those_of_slices() {
    for n in SIZES {
        for packing in INTS.into_iter().chain([Packing::W64]) {
            let values = numbers(packing, n);
            for valid in patterns(n) {
                let masked = Encoding::Masked(packing);
                let all = !valid.contains(&false);

                let rows = Owned { values: Values::Long(values.clone()), valid: valid.clone() };
                let len = Longs::max_len(packing, true, n);
                let chunk = check!(&rows, len, |b| Longs::masked(b, packing), |w, i| w.push(values[i]));
                assert_eq!(chunk, rows.write(masked, 0).unwrap());
                assert_eq!(chunk.len(), len);
                if all {
                    let len = Longs::max_len(packing, false, n);
                    let chunk = check!(&rows, len, |b| Longs::new(b, packing), |w, i| w.push(values[i]));
                    assert_eq!(chunk, rows.write(Encoding::Packed(packing), 0).unwrap());
                }

                let doubles: Vec<f64> = match packing {
                    Packing::W64 => values.iter().map(|bits| f64::from_bits(*bits as u64)).collect(),
                    _ => values.iter().map(|value| *value as f64).collect(),
                };
                let rows = Owned { values: Values::Double(doubles.clone()), valid: valid.clone() };
                let len = Doubles::max_len(packing, true, n);
                let chunk = check!(&rows, len, |b| Doubles::masked(b, packing), |w, i| w.push(doubles[i]));
                assert_eq!(chunk, rows.write(masked, 0).unwrap());

                if packing == Packing::W64 {
                    continue;
                }
                let ints: Vec<i32> = values.iter().map(|value| *value as i32).collect();
                let rows = Owned { values: Values::Int(ints.clone()), valid };
                let len = Ints::max_len(packing, true, n);
                let chunk = check!(&rows, len, |b| Ints::masked(b, packing), |w, i| w.push(ints[i]));
                assert_eq!(chunk, rows.write(masked, 0).unwrap());
                if all {
                    let len = Ints::max_len(packing, false, n);
                    let chunk = check!(&rows, len, |b| Ints::new(b, packing), |w, i| w.push(ints[i]));
                    assert_eq!(chunk, rows.write(Encoding::Packed(packing), 0).unwrap());
                }
            }
        }
    }
}

#[test]
fn lines() {
    for packing in INTS {
        for n in SIZES {
            let line = Line { base: i64::MAX - 1000, slope: -1_234_567_890 };
            let on_line = |(i, distance): (usize, &i64)| {
                line.base.wrapping_add(i as i64 * i64::from(line.slope)).wrapping_add(*distance)
            };
            let values: Vec<i64> = numbers(packing, n).iter().enumerate().map(on_line).collect();
            let rows = Owned::full(Values::Long(values.clone()));
            let len = Lines::max_len(packing, n);
            let chunk = check!(&rows, len, |b| Lines::new(b, line, packing), |w, i| w.push(values[i]));
            assert_eq!(chunk.len(), len);
        }
    }
}

#[test]
fn flat_vectors_come_back() {
    for n in SIZES {
        for valid in patterns(n) {
            let floats: Vec<f32> = (0..n).map(|i| f32::from_bits((i as u32).wrapping_mul(0x9e37_79b9))).collect();
            let rows = Owned { values: Values::Float(floats.clone()), valid: valid.clone() };
            check!(&rows, Floats::max_len(n), |b| Floats::new(b), |w, i| w.push(floats[i]));

            let bools: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
            let rows = Owned { values: Values::Boolean(bools.clone()), valid: valid.clone() };
            check!(&rows, Booleans::max_len(n), |b| Booleans::new(b), |w, i| w.push(bools[i]));

            for packing in INTS.into_iter().skip(2).chain([Packing::U32, Packing::W64]) {
                let base = 1_480_000_000_000;
                let values: Vec<i64> = numbers(packing, n).iter().map(|delta| delta.wrapping_add(base)).collect();
                let rows = Owned { values: Values::Timestamp(values.clone()), valid: valid.clone() };
                let len = Timestamps::max_len(packing, n);
                check!(&rows, len, |b| Timestamps::new(b, base, packing), |w, i| w.push(values[i]));

                let pairs = values.iter().map(|value| (*value, -12_600_000)).collect();
                let rows = Owned { values: Values::DateTime(pairs), valid: valid.clone() };
                let len = DateTimes::max_len(packing, n);
                let zone = -12_600_000;
                check!(&rows, len, |b| DateTimes::new(b, base, zone, packing), |w, i| w.push(values[i]));
            }
        }
    }
}

#[test]
fn strings_come_back() {
    for n in SIZES {
        for valid in patterns(n) {
            let text = |i: usize| match i % 7 {
                0 => String::new(),
                1 => "\u{e9}\0".into(),
                2 => "x".repeat(2046 + i % 4),
                _ => i.to_string(),
            };
            let texts: Vec<String> = (0..n).map(text).collect();
            let bytes: Vec<Vec<u8>> = texts.iter().map(|text| text.clone().into_bytes()).collect();
            let present: usize =
                texts.iter().zip(&valid).map(|(text, valid)| if *valid { text.len() } else { 0 }).sum();

            let rows = Owned { values: Values::String(bytes.clone()), valid: valid.clone() };
            let len = SimpleStrings::max_len(n, present);
            check!(&rows, len, |b| SimpleStrings::new(b, n.max(1)), |w, i| w.push(&texts[i]));
            check!(&rows, len + 12 * 99 + 16, |b| SimpleStrings::new(b, n + 99), |w, i| w.push(&texts[i]));

            let long = bytes.iter().zip(&valid).filter(|(text, valid)| **valid && text.len() > 2047).count();
            let rows = Owned { values: Values::Utf8(bytes.clone()), valid: valid.clone() };
            let len = Utf8s::max_len(n, present) + 4 * long;
            let chunk = check!(&rows, len, |b| Utf8s::new(b, n.max(1)), |w, i| w.push(&bytes[i]));
            assert_eq!(chunk, rows.write(Encoding::Utf8, 0).unwrap());
            check!(&rows, len + 4 * 99, |b| Utf8s::new(b, n + 99), |w, i| w.push(&bytes[i]));

            let short: Vec<Vec<u8>> = bytes.iter().map(|text| text[..text.len().min(254)].to_vec()).collect();
            let longest = short.iter().zip(&valid).map(|(text, valid)| if *valid { text.len() } else { 0 }).max();
            let longest = longest.unwrap_or(0).max(1) as u8;
            let rows = Owned { values: Values::Utf8(short.clone()), valid: valid.clone() };
            let len = FixedMax::max_len(longest, n);
            let chunk = check!(&rows, len, |b| FixedMax::new(b, longest), |w, i| w.push(&short[i]));
            assert_eq!(chunk, rows.write(Encoding::FixedMaxUtf8, 0).unwrap());
        }
    }
}

#[test]
fn a_full_buffer_and_a_refused_value_change_nothing() {
    for len in 0..200 {
        for masked in [false, true] {
            let mut memory = vec![0xa5; len];
            let new = if masked { Ints::masked } else { Ints::new };
            let least = Ints::max_len(Packing::U2, masked, 1);
            let mut ints = match new(&mut memory, Packing::U2) {
                Ok(ints) => ints,
                Err(e) => {
                    assert_eq!((e.kind(), e.what(), e.need() as usize), (Kind::Misuse, What::FILO_BUFFER, least));
                    assert!(len < least, "{len} {masked}");
                    continue;
                }
            };
            assert!(len >= least, "{len} {masked}");
            let mut pushed = 0;
            let full = loop {
                if pushed % 5 == 3 {
                    let e = ints.push(4).unwrap_err();
                    assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::Lossy, What::FILO_VALUE_WIDTH, 4, 2));
                }
                match ints.push(pushed % 4) {
                    Ok(()) => pushed += 1,
                    Err(e) => break e,
                }
            };
            assert_eq!((full.kind(), full.at(), ints.room()), (Kind::NoRoom, pushed as u64, 0));
            assert_eq!(full.need() as usize, Ints::max_len(Packing::U2, masked, pushed as usize + 1));
            assert!(full.need() as usize > len);
            assert!(ints.push_na().is_err());
            let (buffer, chunk) = ints.close().unwrap();
            assert_eq!(buffer.len(), len, "all of the buffer");
            let rows = Owned::full(Values::Int((0..pushed).map(|i| i % 4).collect()));
            rows.assert_read(&buffer[..chunk], &(len, masked));
        }
    }
}

#[test]
fn strings_that_do_not_fit_change_nothing() {
    for len in 0..160 {
        let (mut a, mut b) = (vec![0x11; len], vec![0x22; len]);
        let (mut utf8, mut simple) = (Utf8s::new(&mut a, 6), SimpleStrings::new(&mut b, 6));
        let least = (Utf8s::max_len(6, 0), SimpleStrings::max_len(6, 0) - 5 * 8);
        assert_eq!((utf8.is_ok(), simple.is_ok()), (len >= least.0, len >= least.1), "{len}");
        let words = ["one", "", "a longer one", "four", "five", "six", "seven"];
        let mut accepted = (Vec::new(), Vec::new());
        for word in words {
            let of = |done: Result<()>, alone: usize| match done {
                Ok(()) => true,
                Err(e) => {
                    let expected = if alone > len { Kind::Misuse } else { Kind::NoRoom };
                    assert_eq!(e.kind(), expected, "{word}, {len}: {e}");
                    false
                }
            };
            if let Ok(utf8) = &mut utf8
                && of(utf8.push(word.as_bytes()), least.0 + word.len())
            {
                accepted.0.push(word.as_bytes().to_vec());
            }
            let stored = (word.len() + 5).next_multiple_of(4);
            if let Ok(simple) = &mut simple
                && of(simple.push(word), least.1 - 8 + stored)
            {
                accepted.1.push(word.as_bytes().to_vec());
            }
        }
        assert!(accepted.0.len() <= 6 && accepted.1.len() <= 6);
        if let Ok(utf8) = utf8 {
            Owned::full(Values::Utf8(accepted.0)).assert_read(utf8.finish().unwrap(), &len);
        }
        if let Ok(simple) = simple {
            Owned::full(Values::String(accepted.1)).assert_read(simple.finish().unwrap(), &len);
        }
    }
}

#[test]
fn a_buffer_without_a_row_is_refused() {
    let mut memory = [0; 200];
    let least = |need: usize, refused: Option<pilaster::Error>| {
        let e = refused.unwrap();
        assert_eq!((e.kind(), e.what(), e.need() as usize), (Kind::Misuse, What::FILO_BUFFER, need), "{e}");
    };
    let mut check = |need: usize, new: &dyn Fn(&mut [u8]) -> Option<pilaster::Error>| {
        assert_eq!(new(&mut memory[..need]), None);
        least(need, new(&mut memory[..need - 1]));
    };
    check(Ints::max_len(Packing::I32, true, 1), &|b| Ints::masked(b, Packing::I32).err());
    check(Doubles::max_len(Packing::W64, false, 1), &|b| Doubles::new(b, Packing::W64).err());
    check(Lines::max_len(Packing::U2, 1), &|b| Lines::new(b, Line::ZERO, Packing::U2).err());
    check(Floats::max_len(1), &|b| Floats::new(b).err());
    check(Booleans::max_len(1), &|b| Booleans::new(b).err());
    check(Timestamps::max_len(Packing::I8, 1), &|b| Timestamps::new(b, 0, Packing::I8).err());
    check(DateTimes::max_len(Packing::I8, 1), &|b| DateTimes::new(b, 0, 0, Packing::I8).err());
    check(FixedMax::max_len(9, 1), &|b| FixedMax::new(b, 9).err());
    assert_eq!(Utf8s::new(&mut memory, 0).unwrap_err().what(), What::FILO_BUFFER, "not one row");
    assert_eq!(SimpleStrings::new(&mut memory, 0).unwrap_err().what(), What::FILO_BUFFER, "not one row");
}

#[test]
fn refused_values_are_named() {
    let mut memory = [0; 200];
    let (b, bytes) = (1000, Packing::I8);
    let mut times = Timestamps::new(&mut memory, b, bytes).unwrap();
    let e = times.push(b - 129).unwrap_err();
    assert_eq!((e.at().cast_signed(), e.need()), (-129, 8 + 128), "the difference, and a signed width");
    assert_eq!(e.to_string(), "filo difference to line or base: -129 does not fit 8 bits, signed");
    let mut doubles = Doubles::new(&mut memory, bytes).unwrap();
    assert_eq!(doubles.push(128.0).unwrap_err().to_string(), "filo value: 128 does not fit 8 bits, signed");
    assert_eq!(doubles.push(3.0), Ok(()));
    let e = doubles.push_na().unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at()), (Kind::Lossy, What::FILO_MASK, 1), "the row: the vector has no mask");
    assert_eq!(doubles.push(0.5).unwrap_err().to_string(), "filo double: no whole number, and 8 bits hold no other");
    let e = Ints::new(&mut memory[..8], bytes).unwrap_err();
    assert_eq!(e.to_string(), "buffer of a filo vector: row 0 does not fit into an empty one; 9 bytes needed");
}

#[test]
fn widths_and_values_that_the_format_lacks() {
    assert_eq!(Ints::new(&mut [], Packing::U32).unwrap_err().kind(), Kind::WrongType);
    assert_eq!(Ints::masked(&mut [], Packing::W64).unwrap_err().kind(), Kind::WrongType);
    assert_eq!(Timestamps::new(&mut [], 0, Packing::U4).unwrap_err().kind(), Kind::WrongType);
    assert_eq!(Lines::new(&mut [], Line::ZERO, Packing::W64).unwrap_err().kind(), Kind::WrongType);
    for offset in [1, 899_999, 128 * 900_000, -129 * 900_000] {
        assert_eq!(DateTimes::new(&mut [], 0, offset, Packing::I8).unwrap_err().kind(), Kind::Lossy, "{offset}");
    }
    assert!(FixedMax::new(&mut [], 0).is_err() && FixedMax::new(&mut [], 255).is_err());
    let mut memory = [0; 64];
    let mut doubles = Doubles::new(&mut memory, Packing::I8).unwrap();
    for value in [-0.0, 0.5, f64::NAN, 128.0, f64::INFINITY] {
        assert_eq!(doubles.push(value).unwrap_err().kind(), Kind::Lossy, "{value}");
    }
    assert_eq!(doubles.push_na().unwrap_err().kind(), Kind::Lossy, "no mask");
    assert_eq!(doubles.rows(), 0);
}
