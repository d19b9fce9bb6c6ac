//! `encode_like_original` on the values of every golden: some builder and hint of the original must
//! give its header and width, and for BinaryVectors its very bytes.
#![cfg(feature = "filo")]

mod common;
mod support;

use pilaster::bytes::Scratch;
use pilaster::filo::write::{Builder, Hint, Original, encode_like_original, scratch_len};
use pilaster::filo::{Element, Encoding, Vector};
use support::Owned;

/// Goldens that no builder of the last release makes from their values, and why.
const NOT_CHOSEN: &[(&str, &str)] = &[
    ("bin_int_frozen", "frozen without optimising: keeps 32 bits"),
    ("bin_int_masked_u4_unfrozen", "an appender written as it is: spare mask words"),
    ("bin_int_unfrozen", "an appender written as it is: spare mask words"),
    ("bin_long_unfrozen", "an appender written as it is: spare mask words"),
    ("utf8_unfrozen", "an appender written as it is: a gap behind the words"),
    ("utf8_largeform_short", "an appender written as it is: words in the long form that need not be"),
    ("fixedmax_explicit_na", "an appender of fixed-max slots, used directly with its own slot size"),
    ("legacy0302_int_s16", "header words before 0.3.3"),
    ("legacy0302_int_s32", "header words before 0.3.3"),
    ("legacy0302_int_s8", "header words before 0.3.3"),
    ("legacy0302_int_u16_na", "header words before 0.3.3"),
    ("legacy0302_int_u8_na", "header words before 0.3.3"),
    ("legacy032_double_as_int", "header words before 0.3.3"),
    ("legacy032_int_s16", "header words before 0.3.3"),
    ("legacy032_int_s32", "header words before 0.3.3"),
    ("legacy032_int_s8", "header words before 0.3.3"),
    ("legacy032_int_u16_na", "header words before 0.3.3"),
    ("legacy032_int_u2", "header words before 0.3.3"),
    ("legacy032_int_u4_na", "header words before 0.3.3"),
    ("legacy032_int_u8_na", "header words before 0.3.3"),
];

/// The ways in which the original may have made a golden, by its name.
fn ways(name: &str) -> Vec<Original> {
    let new = ["bin_", "deltadelta_", "utf8_", "dictutf8_", "fixedmax_", "legacy"];
    let builder = if new.iter().any(|new| name.starts_with(new)) { Builder::New } else { Builder::Old };
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
        let rows = Owned::expected(&golden.expected).unwrap_or_else(|| Owned::read(&chunk, element).unwrap());
        let encoding = Vector::open(&chunk, element).unwrap().encoding();

        let mut tried = Vec::new();
        let made = ways(name).into_iter().any(|original| {
            let Ok(ours) = written(&rows, original) else { return false };
            rows.assert_read(&ours, &(name, original));
            let same = Vector::open(&ours, element).unwrap().encoding() == encoding;
            tried.push(format!("{original:?} {} {}", Vector::open(&ours, element).unwrap().encoding(), ours == chunk));
            same && (ours == chunk || !bytes_are_fixed(encoding))
        });
        if made == NOT_CHOSEN.iter().any(|(known, _)| *known == name) {
            wrong.push(format!("{name} {encoding} {made}: {tried:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
