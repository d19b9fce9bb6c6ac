use std::io::BufReader;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field, Fields};

use super::super::Refuted;
use super::super::random::{Random, each_text};
use super::*;

/// A store of texts.
fn texts(width: usize) -> Values {
    let fields = (0..width).map(|_| Field::new("", DataType::Utf8, true)).collect::<Fields>();
    Values::new(&fields, (0..width).map(|_| None), Refuted::default())
}

/// The records of a text in batches of two, read in pieces of each size.
fn records(text: &str) -> Result<Vec<Vec<Option<String>>>, String> {
    let mut all = Vec::new();
    for size in [1, 2, 3, 1000] {
        let dialect = Dialect { delimiter: b',', missing: vec!["NA".to_owned()], rows: 2 };
        let mut records = Records::new(BufReader::with_capacity(size, text.as_bytes()), dialect);
        let width = records.head()?.len();
        let mut records = records.choose(width, &(0..width).collect::<Vec<_>>(), texts(width));
        let mut rows = Vec::new();
        while let Some(batch) = records.next_batch()? {
            for row in 0..batch.lines.len() {
                let text =
                    |texts: &ArrayRef| texts.is_valid(row).then(|| texts.as_string::<i32>().value(row).to_owned());
                rows.push(batch.columns.iter().map(text).collect::<Vec<_>>());
            }
        }
        all.push(rows);
    }
    assert!(all.windows(2).all(|pair| pair.first() == pair.last()), "{all:?}");
    Ok(all.pop().unwrap_or_default())
}

fn rows(rows: &[&[Option<&str>]]) -> Result<Vec<Vec<Option<String>>>, String> {
    Ok(rows.iter().map(|row| row.iter().map(|text| text.map(str::to_owned)).collect()).collect())
}

#[test]
fn quotes_and_ends_of_lines() {
    assert_eq!(records("a,b\n1,\"x\"\"y\nz, \"\r\n,\"\"\r\"NA\",NA"), {
        rows(&[&[Some("1"), Some("x\"y\nz, ")], &[None, Some("")], &[Some("NA"), None]])
    });
    // Text after the quotes belongs to the field; a quote within a field is one.
    assert_eq!(records("\n\na,b\n\"x\" y,z\"\n\n\n,\n"), rows(&[&[Some("x y"), Some("z\"")], &[None, None]]));
    assert_eq!(records("a\n\n\"\"\n\nx\n"), rows(&[&[None], &[Some("")], &[None], &[Some("x")]]));
    assert_eq!((records(""), records("\n\n"), records("a,b")), (rows(&[]), rows(&[]), rows(&[])));
    assert_eq!(records("a,b\r\n1,").map(|rows| rows.len()), Ok(1));
}

#[test]
fn names_are_not_missing() {
    let dialect = Dialect { delimiter: b',', missing: vec!["NA".to_owned()], rows: 10 };
    let mut records = Records::new(&b"NA,,b\nNA,1,\n"[..], dialect);
    assert_eq!(records.head(), Ok(vec!["NA".to_owned(), String::new(), "b".to_owned()]));
}

#[test]
fn the_number_of_fields_has_a_limit() {
    let dialect = Dialect { delimiter: b',', missing: Vec::new(), rows: 10 };
    let head = |fields: usize| {
        let names = ",".repeat(fields - 1);
        let mut records = Records::new(names.as_bytes(), dialect.clone());
        let width = records.head()?.len();
        let start = std::time::Instant::now();
        records.choose(width, &(0..width).collect::<Vec<_>>(), texts(width));
        assert!(start.elapsed().as_secs() < 2);
        Ok::<_, String>(width)
    };
    assert_eq!(head(FIELDS), Ok(FIELDS));
    assert_eq!(head(FIELDS + 1), Err("line 1: more than 100000 fields".to_owned()));
}

#[test]
fn errors_name_the_line() {
    assert_eq!(records("a,b\n1,\"\n\n\"\n3\n"), Err("line 5: 1 fields instead of 2".to_owned()));
    assert_eq!(records("a,b\n1,2,3\n"), Err("line 2: more than 2 fields".to_owned()));
    assert_eq!(records("a,b\n1,2\n3,\"4\n5,6\n"), Err("line 3: the quote is not closed".to_owned()));
}

#[test]
fn bytes_that_are_no_text_are_an_error() {
    let dialect = Dialect { delimiter: b',', missing: Vec::new(), rows: 10 };
    let mut records = Records::new(&b"a,b\nx,y\nz,\xff\n"[..], dialect);
    assert_eq!(records.head().map(|head| head.len()), Ok(2));
    let mut records = records.choose(2, &[0, 1], texts(2));
    assert_eq!(records.next_batch().err(), Some("line 3: no UTF-8".to_owned()));
}

#[test]
fn a_character_in_two_fields_is_an_error_of_the_first() {
    let text = b"a\nb\n\xc3\n\xa4\nc\n";
    let expected = Some("line 3: no UTF-8".to_owned());
    assert_eq!((read(text, 100).err(), kinds(text, 100).err()), (expected.clone(), expected));
}

/// What a text is read as, in pieces of some size: the records of batches of three, or an error.
fn read(text: &[u8], size: usize) -> Result<Vec<String>, String> {
    let dialect = Dialect { delimiter: b',', missing: vec!["1".to_owned()], rows: 3 };
    let mut records = Records::new(BufReader::with_capacity(size, text), dialect);
    let width = records.head()?.len();
    let mut records = records.choose(width, &(0..width).collect::<Vec<_>>(), texts(width));
    let mut batches = Vec::new();
    while let Some(batch) = records.next_batch()? {
        batches.push(format!("{:?} {:?}", batch.lines, batch.columns));
    }
    Ok(batches)
}

/// The types of the columns of a text, read in pieces of some size.
fn kinds(text: &[u8], size: usize) -> Result<Vec<String>, String> {
    let dialect = Dialect { delimiter: b',', missing: vec!["1".to_owned()], rows: 3 };
    let mut records = Records::new(BufReader::with_capacity(size, text), dialect);
    let width = records.head()?.len();
    let mut records = records.choose(width, &(0..width).collect::<Vec<_>>(), Kinds::new(width));
    while records.next_batch()?.is_some() {}
    Ok(records.into_store().columns().iter().map(|texts| texts.ty().to_string()).collect())
}

/// The state machine reads pieces of one byte, and longer ones are read by words.
fn check(text: &[u8]) {
    let (expected, types) = (read(text, 1), kinds(text, 1));
    for size in [8, 9, 17, 1000] {
        assert_eq!(read(text, size), expected, "{size}, {:?}", text.escape_ascii().to_string());
        assert_eq!(kinds(text, size), types, "{size}, {:?}", text.escape_ascii().to_string());
    }
    // Both find the same errors.
    assert_eq!(expected.err(), types.err(), "{:?}", text.escape_ascii().to_string());
}

#[test]
fn words_and_bytes_are_read_alike() {
    each_text(4, b",\"\r\na1", |text| {
        for (head, tail) in [("a\n", ""), ("a,b\r\n", "aaaaaaaa,1\n"), ("", "1111111,\r\n,2222222")] {
            check(&[head.as_bytes(), text, tail.as_bytes()].concat());
        }
    });
}

#[test]
fn long_texts_are_read_alike() {
    let mut random = Random(7);
    for _ in 0..3000 {
        let (width, mut text) = (1 + random.below(3), Vec::new());
        for _ in 0..1 + random.below(8) {
            for column in 0..width {
                let is_usual = random.below(60) > 0;
                let separator = if is_usual { "," } else { random.one_of(&["\n", "", "\r"]) };
                text.extend_from_slice(if column == 0 { "" } else { separator }.as_bytes());
                let quote: &[u8] = if random.below(5) == 0 { b"\"" } else { b"" };
                text.extend_from_slice(quote);
                for _ in 0..random.below(12) {
                    match random.below(40) {
                        0 => text.extend_from_slice(b"\"\""),
                        1 => text.extend_from_slice("ä".as_bytes()),
                        2 if quote == b"\"" => text.push(random.one_of(b"\n\r,")),
                        3 if random.below(20) == 0 => text.push(random.one_of(b"\xff\"")),
                        _ => text.push(random.one_of(b"1234567890.-aZ")),
                    }
                }
                text.extend_from_slice(quote);
            }
            let end = if random.below(4) > 0 { "\n" } else { random.one_of(&["\r\n", "\r", "\n\n"]) };
            text.extend_from_slice(end.as_bytes());
        }
        check(&text);
    }
}
