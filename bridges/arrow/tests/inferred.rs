//! Types of CSV that the first rows tell, and that the others refute or not.
#![cfg(feature = "csv")]

#[allow(dead_code, reason = "only the random numbers are used")]
mod arrays;

use arrays::Rng;
use pilaster_arrow::Source;
use pilaster_arrow::input::{FileKind, Inferred, Input, InputFile, InputOptions, open};

fn inferred(text: &str, inferred: Inferred) -> InputFile {
    let options = InputOptions { kind: Some(FileKind::Csv), inferred, batch_rows: 3, ..InputOptions::default() };
    open(Input::from(text.as_bytes().to_vec()), options).unwrap()
}

/// Texts of each kind; a column has one or two of them, so that its type may change at any row.
const KINDS: [&[&str]; 9] = [
    &["1", "-20", "0", ""],
    &["18446744073709551615", "9007199254740993", ""],
    &["0.5", "1e300", "NaN", "-0", ".25"],
    &["true", "FALSE", ""],
    &["2024-02-29", "1969-12-31", ""],
    &["2024-02-29T01:02:03", "2024-02-29 01:02:03.25", ""],
    &["2024-02-29T01:02:03Z", "2024-02-29T01:02:03.123456+02:00"],
    &["007", "x", "\"\"", "\"1\"", "Zürich"],
    &["", ""],
];

#[test]
fn types_of_the_first_rows_are_those_of_all_rows_or_refuted() {
    let mut rng = Rng(7);
    let mut below = |n: usize| rng.below(n as u64) as usize;
    let (mut kept, mut refuted) = (0, 0);
    for _ in 0..3000 {
        let rows = 1 + below(12);
        let kinds = [0; 3].map(|_| [KINDS[below(9)], KINDS[below(9)]]);
        let turns = [0; 3].map(|_| below(2 * rows));
        let mut text = "a,b,c\n".to_owned();
        for row in 0..rows {
            let cells = kinds.iter().zip(turns).map(|(kinds, turn)| {
                let texts = kinds[usize::from(row >= turn)];
                texts[below(texts.len())]
            });
            text += &(cells.collect::<Vec<_>>().join(",") + "\n");
        }
        let (mut all, mut first) = (inferred(&text, Inferred::FromAll), inferred(&text, Inferred::FromFirst));
        let (wanted, found) = (all.reader().unwrap().collect::<Vec<_>>(), first.reader().unwrap());
        let found = found.collect::<Result<Vec<_>, _>>();
        match (found, first.refuted().is_true()) {
            (Ok(found), false) => {
                assert_eq!(all.schema(), first.schema(), "{text}");
                assert_eq!(wanted.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), found, "{text}");
                kept += 1;
            }
            (Err(_), true) => {
                assert_ne!(all.schema(), first.schema(), "{text}");
                refuted += 1;
            }
            (found, refuted) => panic!("{text}: {found:?}, refuted: {refuted}"),
        }
    }
    assert!(kept > 500 && refuted > 500, "{kept} {refuted}");
}
