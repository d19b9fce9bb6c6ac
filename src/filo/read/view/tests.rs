//! Compares every way to a row with the path of all kinds of data.

use std::fmt::Debug;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::bytes::{Bits, Scratch};
use crate::column::Validity;
use crate::error::Kind;
use crate::filo::Encoding;
use crate::filo::write::{Plain, Rows, Strings, encode, scratch_len};

/// Reads the rows in each encoding, without and with missing rows. Returns how many encodings hold them.
fn all(values: Plain<'_>, len: usize, check: impl Fn(&Vector<'_>)) -> usize {
    let bits: Vec<u8> = (0..len.div_ceil(8)).map(|i| (i as u8).wrapping_mul(37) | 0x12).collect();
    let widths = Packing::ALL.into_iter();
    let encodings: Vec<Encoding> = [Encoding::SimpleString, Encoding::Utf8, Encoding::FixedMaxUtf8]
        .into_iter()
        .chain(widths.clone().flat_map(|packing| {
            [
                Encoding::Simple(packing),
                Encoding::Diff(packing),
                Encoding::Packed(packing),
                Encoding::Masked(packing),
                Encoding::DeltaDelta(packing),
                Encoding::DictString(packing),
                Encoding::DictUtf8(packing),
            ]
        }))
        .collect();
    let mut count = 0;
    for validity in [Validity::All, Validity::Bits(Bits::new(&bits, 0, len).unwrap())] {
        let rows = Rows { values, validity };
        for encoding in &encodings {
            let (mut dst, mut memory) = (vec![0xa5; 1 << 20], vec![0; scratch_len(len)]);
            let Ok(end) = encode(*encoding, &rows, &mut dst, &mut Scratch::new(&mut memory)) else { continue };
            let vector = Vector::open(&dst[..end], values.element()).unwrap();
            check(&vector);
            count += 1;
        }
    }
    count
}

/// Compares each row of a form with the result of `get`.
struct Same<'s, 'a, T> {
    vector: &'s Vector<'a>,
    value: fn(T) -> Value<'a>,
}

impl<T> Visitor<T> for Same<'_, '_, T> {
    type Output = ();

    fn visit<A: Access<T>>(self, rows: A) {
        assert_eq!(rows.rows(), self.vector.rows());
        for row in (0..rows.rows() + 2).chain([1 << 32, u64::MAX]) {
            let expected = self.vector.any(row);
            assert_eq!(
                rows.get(row).map(|found| found.map(self.value)),
                expected,
                "row {row} of {:?}",
                self.vector.encoding()
            );
        }
    }
}

/// Checks that view and `get` return what the path of all kinds of data does, and at the end its error.
fn same<'a, T: Row<'a> + Debug>(vector: &Vector<'a>, value: fn(T) -> Value<'a>) {
    let view = vector.view::<T>().unwrap();
    assert_eq!(view.rows(), vector.rows());
    for row in (0..vector.rows() + 2).chain([1 << 32, u64::MAX]) {
        let expected = vector.any(row);
        assert_eq!(vector.get(row), expected, "row {row} of {:?}", vector.encoding());
        assert_eq!(view.get(row).map(|found| found.map(value)), expected, "row {row} of {:?}", vector.encoding());
    }
    view.visit(Same { vector, value });
}

#[test]
fn a_view_reads_numbers_of_every_width() {
    let mut count = 0;
    for bits in [1u32, 2, 4, 7, 8, 15, 16, 31] {
        for n in [1, 7, 64, 100] {
            let mask = u32::MAX >> (32 - bits);
            let ints: Vec<i32> =
                (0..n).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 3 & mask).cast_signed()).collect();
            let signed: Vec<i32> = ints.iter().map(|v| v - (mask / 2).cast_signed()).collect();
            for ints in [&ints, &signed] {
                let longs: Vec<i64> = ints.iter().enumerate().map(|(i, v)| 1000 * i as i64 + i64::from(*v)).collect();
                let floats: Vec<f32> = ints.iter().map(|v| *v as f32 / 8.0).collect();
                let doubles: Vec<f64> = ints.iter().map(|v| f64::from(*v)).collect();
                count += all(Plain::Int(ints), n as usize, |vector| same(vector, Value::Int));
                count += all(Plain::Long(&longs), n as usize, |vector| same(vector, Value::Long));
                count += all(Plain::Timestamp(&longs), n as usize, |vector| same(vector, Value::Timestamp));
                count += all(Plain::Float(&floats), n as usize, |vector| same(vector, Value::Float));
                count += all(Plain::Double(&doubles), n as usize, |vector| same(vector, Value::Double));
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn a_view_reads_strings_of_every_form() {
    for long in [5, 250, 3000] {
        let texts: Vec<Vec<u8>> = (0..150).map(|i| vec![b'a' + i as u8 % 23; i * 7 % 13 * long / 12]).collect();
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let strings = Strings::Slices(&texts);
        let mut count = 0;
        for values in [Plain::String(strings), Plain::Utf8(strings), Plain::Blob(strings)] {
            count += all(values, texts.len(), |vector| same(vector, Value::Bytes));
        }
        assert!(count > 10, "{count}");
    }
}

#[test]
fn a_view_has_the_type_of_the_rows() {
    let vector = Vector::open(&[6, 8, 0, 0, 8, 0, 1, 0, 1, 2, 0xfb, 101], Element::Int).unwrap();
    assert_eq!(vector.view::<i64>().unwrap_err().kind(), Kind::WrongType);
    assert_eq!(vector.view::<&[u8]>().unwrap_err().kind(), Kind::WrongType);
    // Rows that are all missing, and rows that all have one value.
    same(&Vector::open(&[1, 9, 0, 0], Element::Int).unwrap(), Value::Int);
    same(&Vector::open(&[1, 9, 0, 0], Element::Blob).unwrap(), Value::Bytes);
}
