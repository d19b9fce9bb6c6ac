//! Filo vectors of 10,000 values: encoded, opened, read by batches, and one row at a time.

use std::hint::black_box;

use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Column as _, Validity, fit};
use pilaster::filo::write::{Plain, Rows, Strings, encode_auto, scratch_len};
use pilaster::filo::{Access, Element, Vector, Visitor};
use pilaster::unstable::filo::original::{BuilderFamily, Hint, Original, encode_like_original};
use pilaster_counts::Run;
use pilaster_counts::data::Random;

const N: usize = 10_000;

const NEW: Original = Original { builder: BuilderFamily::New, hint: Hint::Auto };
const NEW_SIMPLE: Original = Original { builder: BuilderFamily::New, hint: Hint::Simple };
const OLD_SIMPLE: Original = Original { builder: BuilderFamily::Old, hint: Hint::Simple };
const OLD_DIFF: Original = Original { builder: BuilderFamily::Old, hint: Hint::Diff };
const OLD_DICTIONARY: Original = Original { builder: BuilderFamily::Old, hint: Hint::Dictionary };

pub fn all(run: &Run) {
    numbers(run);
    texts(run);
}

fn numbers(run: &Run) {
    let mut random = Random(N as u64);
    let ints: Vec<i32> = (0..N).map(|_| random.next() as i32).collect();
    let nibbles: Vec<i32> = (0..N).map(|_| random.below(16) as i32).collect();
    let near: Vec<i32> = (0..N).map(|_| 1_000_000 + random.below(256) as i32).collect();
    let mut valid = vec![0u8; N / 8];
    for row in 0..N {
        valid[row / 8] |= u8::from(random.below(10) != 0) << (row % 8);
    }
    let longs: Vec<i64> = (0..N).map(|_| random.next() as i64).collect();
    let mut times: Vec<i64> = (0..N as i64).map(|i| 1_480_000_000_000 + 1000 * i + random.below(200) as i64).collect();
    (times[0], times[N - 1]) = (1_480_000_000_000, 1_480_000_000_000 + 1000 * (N as i64 - 1));
    let doubles: Vec<f64> = longs.iter().map(|v| *v as f64 / 1e9).collect();
    let whole: Vec<f64> = nibbles.iter().map(|v| f64::from(*v) * 50.0).collect();
    let validity = Validity::Bits(Bits::new(&valid, 0, N).expect("a bit for each row"));
    vector(run, "int random32", Rows::all(Plain::Int(&ints)), NEW);
    vector(run, "int 0..15", Rows::all(Plain::Int(&nibbles)), NEW);
    vector(run, "int 10 % missing", Rows { values: Plain::Int(&ints), validity }, NEW);
    vector(run, "int diff8, flat", Rows::all(Plain::Int(&near)), OLD_DIFF);
    vector(run, "long random64", Rows::all(Plain::Long(&longs)), NEW);
    vector(run, "long random64, flat", Rows::all(Plain::Long(&longs)), OLD_SIMPLE);
    vector(run, "long timestamps", Rows::all(Plain::Long(&times)), NEW);
    vector(run, "double any", Rows::all(Plain::Double(&doubles)), NEW);
    vector(run, "double whole", Rows::all(Plain::Double(&whole)), NEW);
}

fn texts(run: &Run) {
    let mut random = Random(N as u64 + 1);
    let words: Vec<String> = (0..500).map(|_| format!("{:x}", random.next() >> (4 * random.below(10)))).collect();
    let words: Vec<&[u8]> = (0..N).map(|_| words[random.below(500) as usize].as_bytes()).collect();
    let different: Vec<String> =
        (0..N).map(|_| format!("{:08x}{}", random.next() as u32, "x".repeat(random.below(12) as usize))).collect();
    let different: Vec<&[u8]> = different.iter().map(|text| text.as_bytes()).collect();
    let hex: Vec<&[u8]> = different.iter().map(|text| &text[..8]).collect();
    let utf8 = |texts| Rows::all(Plain::Utf8(Strings::Slices(texts)));
    let strings = |texts| Rows::all(Plain::String(Strings::Slices(texts)));
    vector(run, "strings by dictionary, flat", strings(&words), OLD_DICTIONARY);
    vector(run, "strings, flat", strings(&words), OLD_SIMPLE);
    vector(run, "UTF8 variable", utf8(&different), NEW_SIMPLE);
    vector(run, "UTF8 fixed-max", utf8(&hex), NEW);
    vector(run, "UTF8 by dictionary", utf8(&words), NEW);
}

/// All operations on the rows in one encoding, and the automatic choice.
fn vector(run: &Run, name: &str, rows: Rows<'_>, like: Original) {
    let (mut dst, mut memory) = (vec![0; 40 * N], vec![0; scratch_len(N)]);
    run.case(&format!("Filo, {name}, encode_auto"), || {
        black_box(encode_auto(black_box(&rows), &mut dst, &mut Scratch::new(&mut memory))).expect("enough space");
    });
    let mut encode = || {
        encode_like_original(black_box(&rows), like, &mut dst[1..], &mut Scratch::new(&mut memory))
            .expect("enough space")
    };
    let len = encode();
    run.case(&format!("Filo, {name}, encode"), || _ = black_box(encode()));
    let element = rows.values.element();
    // At an odd address, so that no batch can borrow its values.
    let chunk = &dst[1..=len];
    run.case(&format!("Filo, {name}, open"), || _ = black_box(Vector::open(black_box(chunk), element)));
    let mut memory = vec![0; 32 << 10];
    run.case(&format!("Filo, {name}, batches"), || batches(black_box(chunk), element, &mut memory));
    let vector = Vector::open(chunk, element).expect("a valid chunk");
    run.case(&format!("Filo, {name}, get"), || {
        for row in 0..vector.rows() {
            black_box(black_box(&vector).get(row)).expect("a valid row");
        }
    });
    /// Adds all rows, or their lengths, by a view.
    macro_rules! view {
        ($ty:ty, $number:expr) => {{
            run.case(&format!("Filo, {name}, visit"), || {
                let view = black_box(&vector).view::<$ty>().expect("rows of this type");
                black_box(view.visit(Sum($number)));
            });
            run.case(&format!("Filo, {name}, view"), || {
                let view = black_box(&vector).view::<$ty>().expect("rows of this type");
                let mut sum = 0i64;
                for row in 0..view.rows() {
                    sum = sum.wrapping_add(view.get(row).expect("a valid row").map_or(1, $number));
                }
                black_box(sum);
            })
        }};
    }
    match element {
        Element::Int => view!(i32, |v: i32| v.into()),
        Element::Long => view!(i64, |v: i64| v),
        Element::Double => view!(f64, |v: f64| v.to_bits().cast_signed()),
        _ => view!(&[u8], |v: &[u8]| v.len() as i64),
    }
    run.case(&format!("Filo, {name}, verify"), || black_box(&vector).verify().expect("a valid chunk"));
}

/// Adds all rows, or their lengths.
struct Sum<F>(F);

impl<T, F: Fn(T) -> i64> Visitor<T> for Sum<F> {
    type Output = i64;

    fn visit<A: Access<T>>(self, rows: A) -> i64 {
        let number = |row| rows.get(row).expect("a valid row").map_or(1, &self.0);
        (0..rows.rows()).fold(0i64, |sum, row| sum.wrapping_add(number(row)))
    }
}

fn batches(chunk: &[u8], element: Element, memory: &mut [u8]) {
    let column = Vector::open(chunk, element).and_then(|vector| vector.column(0)).expect("a valid chunk");
    let mut row = 0;
    while row < column.rows() {
        let mut scratch = Scratch::new(memory);
        let rows = fit(&column, row..column.rows(), scratch.room()).expect("memory for a row");
        row += black_box(column.read(rows, &mut scratch)).expect("valid rows").len as u64;
    }
}
