//! `encode_like_original` on the values of every golden: some builder and hint of the original must
//! give its header and width, and for BinaryVectors its very bytes.

use pilaster::bytes::Scratch;
use pilaster::error::Kind;
use pilaster::filo::write::scratch_len;
use pilaster::filo::{Element, Encoding, Vector};
use pilaster::unstable::filo::original::{BuilderFamily, Hint, Original, choose_like_original, encode_like_original};

use crate::common;
use crate::support::{Owned, Values, has_old_header};

/// Goldens that no builder of the last release makes from their values, and why; beside those with old header words.
const NOT_CHOSEN: &[(&str, &str)] = &[
    ("bin_int_frozen", "frozen without optimising: keeps 32 bits"),
    ("bin_int_masked_u4_unfrozen", "an appender written as it is: spare mask words"),
    ("bin_int_unfrozen", "an appender written as it is: spare mask words"),
    ("bin_long_unfrozen", "an appender written as it is: spare mask words"),
    ("utf8_unfrozen", "an appender written as it is: a gap behind the words"),
    ("utf8_largeform_short", "an appender written as it is: words in the long form that need not be"),
    ("fixedmax_explicit_na", "an appender of fixed-max slots, used directly with its own slot size"),
];

/// The ways in which the original may have made a golden, by its name.
fn ways(name: &str) -> Vec<Original> {
    let new = ["bin_", "deltadelta_", "utf8_", "dictutf8_", "fixedmax_", "legacy"];
    let builder = if new.iter().any(|new| name.starts_with(new)) { BuilderFamily::New } else { BuilderFamily::Old };
    let hints = match name.split('_').next() {
        Some("simple" | "utf8") => vec![Hint::Auto, Hint::Simple],
        Some("dict" | "dictutf8") => vec![Hint::Auto, Hint::Dictionary],
        Some("diff") => vec![Hint::Auto, Hint::Diff],
        _ => vec![Hint::Auto],
    };
    hints.into_iter().map(|hint| Original { builder, hint }).collect()
}

fn written(rows: &Owned, original: Original) -> pilaster::Result<Vec<u8>> {
    rows.with(|rows| {
        let mut memory = vec![0; scratch_len(rows.len())];
        let mut chunk = vec![0xa5; 200_000];
        let len = encode_like_original(rows, original, &mut chunk, &mut Scratch::new(&mut memory))?;
        chunk.truncate(len);
        Ok(chunk)
    })
}

/// BinaryVectors have one layout; a FlatBuffer may be laid out in several ways.
fn bytes_are_fixed(encoding: Encoding) -> bool {
    !matches!(
        encoding,
        Encoding::Simple(_)
            | Encoding::Const(_)
            | Encoding::Diff(_)
            | Encoding::DiffDateTime { .. }
            | Encoding::SimpleString
            | Encoding::ConstString
            | Encoding::DictString(_)
    )
}

#[test]
fn some_builder_makes_every_golden() {
    let mut wrong = Vec::new();
    for golden in common::of("filo") {
        let (name, chunk) = (golden.name.strip_prefix("filo/").unwrap(), golden.bytes());
        let element: Element = golden.fact("element_type").parse().unwrap();
        let rows = Owned::of_golden(&golden.expected, &chunk);
        let encoding = Vector::open(&chunk, element).unwrap().encoding();

        let mut tried = Vec::new();
        let made = ways(name).into_iter().any(|original| {
            let Ok(ours) = written(&rows, original) else { return false };
            rows.assert_read(&ours, &(name, original));
            let same = Vector::open(&ours, element).unwrap().encoding() == encoding;
            tried.push(format!("{original:?} {} {}", Vector::open(&ours, element).unwrap().encoding(), ours == chunk));
            same && (ours == chunk || !bytes_are_fixed(encoding))
        });
        if made == (has_old_header(name) || NOT_CHOSEN.iter().any(|(known, _)| *known == name)) {
            wrong.push(format!("{name} {encoding} {made}: {tried:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn chosen(rows: &Owned, builder: BuilderFamily, hint: Hint) -> pilaster::Result<Encoding> {
    rows.with(|rows| {
        let mut memory = vec![0; scratch_len(rows.len())];
        choose_like_original(rows, Original { builder, hint }, &mut Scratch::new(&mut memory))
    })
}

/// Section 13, items 2 to 5, and 9: the row instead of wrong values.
#[test]
fn what_the_original_destroys_is_refused() {
    let text = |words: [&str; 30]| Owned::full(Values::Utf8(words.map(|word| word.as_bytes().to_vec()).to_vec()));
    let mut words = ["word"; 30];
    words[21] = "";
    let nan = f64::NAN;
    let cases = [
        (text(words), BuilderFamily::New, 21),
        (text([""; 30]), BuilderFamily::New, 0),
        (Owned::full(Values::Double(vec![nan, 1.5, 1.5])), BuilderFamily::New, 1),
        (Owned::full(Values::Double(vec![1.5, 1.5, nan])), BuilderFamily::New, 2),
        (Owned::full(Values::Double(vec![0.0, -0.0])), BuilderFamily::New, 1),
        (Owned::full(Values::Double(vec![1.0, -0.0, 2.0])), BuilderFamily::New, 1),
        (Owned::full(Values::Double(vec![-0.0, -0.0, 0.0])), BuilderFamily::Old, 2),
        (Owned::full(Values::Double(vec![1.0, 2.0, -0.0])), BuilderFamily::Old, 2),
        (Owned::full(Values::Float(vec![-0.0, 0.0])), BuilderFamily::Old, 1),
        (Owned::full(Values::Timestamp(vec![-2, 7, i64::MAX])), BuilderFamily::Old, 2),
        (Owned::full(Values::DateTime(vec![(i64::MAX, 0), (-1, 0)])), BuilderFamily::Old, 0),
    ];
    for (rows, builder, row) in cases {
        let e = chosen(&rows, builder, Hint::Auto).unwrap_err();
        assert_eq!((e.kind(), e.at()), (Kind::Lossy, row), "{:?}", rows.values);
    }
    let many = Owned { values: Values::Boolean(vec![false; 1 << 24]), valid: vec![false; 1 << 24] };
    assert_eq!(chosen(&many, BuilderFamily::Old, Hint::Auto).unwrap_err().kind(), Kind::Lossy);
}

/// Rules that no golden touches.
#[test]
fn rules_at_their_edges() {
    use pilaster::filo::Packing::*;
    let doubles = |v: &[f64]| Owned::full(Values::Double(v.to_vec()));
    let longs = |v: &[i64]| Owned::full(Values::Long(v.to_vec()));
    let constant = |n| Owned::full(Values::Utf8(vec![b"constant".to_vec(); n]));
    let (old, new) = (BuilderFamily::Old, BuilderFamily::New);
    let cases = [
        // A NaN is the largest for the old builders, and infinities are never constant.
        (doubles(&[f64::NAN; 3]), old, Hint::Auto, Encoding::Simple(W64)),
        (doubles(&[f64::INFINITY; 3]), old, Hint::Auto, Encoding::Simple(W64)),
        (doubles(&[f64::NEG_INFINITY; 3]), old, Hint::Auto, Encoding::Simple(W64)),
        (doubles(&[2.0; 3]), old, Hint::Auto, Encoding::Const(W64)),
        (doubles(&[2.0; 3]), new, Hint::Auto, Encoding::Repeated),
        (doubles(&[-0.0; 3]), new, Hint::Auto, Encoding::Repeated),
        // Differences must save a class, and the hint allow them.
        (longs(&[1000, 1255]), old, Hint::Auto, Encoding::Diff(U8)),
        (longs(&[1000, 1255]), old, Hint::Simple, Encoding::Simple(I16)),
        (longs(&[1000, 1255]), old, Hint::Dictionary, Encoding::Simple(I16)),
        (longs(&[1, 256]), old, Hint::Diff, Encoding::Diff(U8)),
        (longs(&[0, 256]), old, Hint::Auto, Encoding::Simple(I16)),
        (longs(&[-129, 120]), old, Hint::Auto, Encoding::Diff(U8)),
        (longs(&[-128, 127]), old, Hint::Auto, Encoding::Simple(I8)),
        (longs(&[1 << 32, (1 << 33) - 1]), old, Hint::Auto, Encoding::Diff(U32)),
        (Owned::full(Values::Int(vec![i32::MIN, i32::MAX])), old, Hint::Auto, Encoding::Simple(I32)),
        // A line wants its least value first, its greatest last, five rows and a rising sample.
        (longs(&[10, 21, 29, 40, 50]), new, Hint::Auto, Encoding::DeltaDelta(I8)),
        (longs(&[10, 20, 31, 40, 50]), new, Hint::Auto, Encoding::DeltaDelta(U2)),
        (longs(&[10, 20, 30, 40]), new, Hint::Auto, Encoding::Packed(I8)),
        (longs(&[10, 20, 30, 30, 50]), new, Hint::Auto, Encoding::Packed(I8)),
        (longs(&[10, 20, 30, 51, 50]), new, Hint::Auto, Encoding::Packed(I8)),
        (longs(&[50, 40, 30, 20, 10]), new, Hint::Auto, Encoding::Packed(I8)),
        (longs(&[0, 1, 2, 3, 4 * i64::from(i32::MAX)]), new, Hint::Auto, Encoding::Packed(W64)),
        // 13 rows are too few for any dictionary: limit 1, and the entry for missing rows counts.
        (constant(13), new, Hint::Auto, Encoding::FixedMaxUtf8),
        (constant(14), new, Hint::Auto, Encoding::Repeated),
        (constant(14), new, Hint::Simple, Encoding::Utf8),
        (constant(13), BuilderFamily::Default, Hint::Dictionary, Encoding::Repeated),
        (constant(0), new, Hint::Auto, Encoding::DictUtf8(U2)),
    ];
    for (rows, builder, hint, encoding) in cases {
        assert_eq!(chosen(&rows, builder, hint), Ok(encoding), "{:?} {builder:?} {hint:?}", rows.values);
    }
    let e = chosen(&constant(20), old, Hint::Auto).unwrap_err();
    assert_eq!(e.kind(), Kind::WrongType);
    assert!(chosen(&Owned::full(Values::Boolean(vec![true])), new, Hint::Auto).is_err());
}

/// The sample has few different strings, the rest has many: once begun, the dictionary is kept.
#[test]
fn only_the_sample_decides() {
    let word = |i: usize| (if i <= 30 { i % 3 } else { i }).to_string().into_bytes();
    let rows = Owned::full(Values::Utf8((0..100).map(word).collect()));
    assert_eq!(chosen(&rows, BuilderFamily::New, Hint::Auto), Ok(Encoding::DictUtf8(pilaster::filo::Packing::I8)));
    let turned = Owned::full(Values::Utf8((0..100).rev().map(word).collect()));
    assert_eq!(chosen(&turned, BuilderFamily::New, Hint::Auto), Ok(Encoding::FixedMaxUtf8));
    // 31 entries and the missing one: 1.1 times the sample is 33, 0.6 times is 18.
    assert!(matches!(chosen(&turned, BuilderFamily::New, Hint::Dictionary), Ok(Encoding::DictUtf8(_))));
}
