use super::*;
use crate::bytes::Scratch;
use std::format;
use std::string::String;
use std::vec::Vec;

fn events(document: &[u8]) -> Result<Vec<Event<'_>>> {
    let mut json = Json::new(document);
    let mut events = Vec::new();
    while let Some(event) = json.next()? {
        events.push(event);
    }
    Ok(events)
}

fn fails(document: &[u8]) -> (Kind, What, u64) {
    let e = events(document).unwrap_err();
    (e.kind(), e.what(), e.at())
}

#[test]
fn every_kind_of_value() {
    let got = events(b" {\"a\" : [1, -2.5e+3,true ,false,null], \"b\":{ }, \"c\":\t\"x\\n\"}\n").unwrap();
    let kinds: Vec<String> = got.iter().map(|event| format!("{event:?}")).collect();
    let names: Vec<&str> = kinds.iter().map(|kind| kind.split(['(', ' ']).next().unwrap()).collect();
    assert_eq!(names.join(" "), "Object Key Array Number Number Bool Bool Null End Key Object End Key String End");
    assert_eq!(got[4], Event::Number("-2.5e+3"));
    assert!(matches!(got[13], Event::String(text) if text == *"x\n"));
    for alone in [&b"7"[..], b"\"\"", b"[]", b"{}", b" null "] {
        assert!(events(alone).is_ok());
    }
}

#[test]
fn words_of_python() {
    for word in ["NaN", "Infinity", "-Infinity"] {
        assert_eq!(events(word.as_bytes()), Ok([Event::Number(word)].to_vec()));
    }
    assert_eq!(fails(b"[-Inf]"), (Kind::Truncated, What::JSON, 2));
    assert_eq!(fails(b"[+Infinity]"), (Kind::Invalid, What::JSON, 1));
}

#[test]
fn what_is_not_well_formed() {
    let table: [(&[u8], Kind, What, u64); 21] = [
        (b"", Kind::Truncated, What::JSON, 0),
        (b"[", Kind::Truncated, What::JSON, 1),
        (b"[1", Kind::Truncated, What::JSON, 2),
        (b"[1,]", Kind::Invalid, What::JSON, 3),
        (b"[,1]", Kind::Invalid, What::JSON, 1),
        (b"[1}", Kind::Invalid, What::JSON, 2),
        (b"{]", Kind::Invalid, What::JSON, 1),
        (b"{\"a\"}", Kind::Invalid, What::JSON, 4),
        (b"{\"a\":1,}", Kind::Invalid, What::JSON, 7),
        (b"{1:2}", Kind::Invalid, What::JSON, 1),
        (b"1 2", Kind::Trailing, What::JSON, 2),
        (b"01", Kind::Trailing, What::JSON, 1),
        (b"-", Kind::Truncated, What::JSON_NUMBER, 1),
        (b"1.", Kind::Truncated, What::JSON_NUMBER, 2),
        (b"1e+x", Kind::Invalid, What::JSON_NUMBER, 3),
        (b"tru", Kind::Truncated, What::JSON, 1),
        (b"\"\n\"", Kind::Invalid, What::JSON_STRING, 1),
        (b"\"\\x\"", Kind::Invalid, What::JSON_STRING, 1),
        (b"\"\\u12g4\"", Kind::Invalid, What::JSON_STRING, 1),
        (b"\"abc", Kind::Truncated, What::JSON_STRING, 4),
        (b"\"a\xff\"", Kind::Utf8, What::JSON_STRING, 2),
    ];
    for (document, kind, what, at) in table {
        assert_eq!(fails(document), (kind, what, at), "{}", String::from_utf8_lossy(document));
    }
}

#[test]
fn surrogates_come_in_pairs() {
    let text = |document: &'static str| Json::new(document.as_bytes()).string();
    assert!(text(r#""\ud83d\ude00\u00E9""#).unwrap() == *"😀é");
    assert!(text(r#""\udbff\udfff\ud800\udc00""#).unwrap() == *"\u{10ffff}\u{10000}");
    for half in [r#""\ud83d""#, r#""\ude00""#, r#""\ud83dx""#, r#""\ud83d\n""#, r#""\ud83d\ud83d\ude00""#] {
        assert_eq!(text(half).unwrap_err().kind(), Kind::Utf8, "{half}");
    }
}

#[test]
fn texts_in_every_way() {
    let mut json = Json::new(br#"["plain", "\"\\\/\b\f\n\r\t\u0041", "\u00e9"]"#);
    json.array().unwrap();
    let mut memory = [0; 16];
    for (expected, plain) in [("plain", true), ("\"\\/\u{8}\u{c}\n\r\tA", false), ("é", false)] {
        let text = json.item_string().unwrap().unwrap();
        assert!(text == *expected && text.len() == expected.len());
        assert_eq!(text.as_str().is_some(), plain);
        assert_eq!(text.decode(&mut Scratch::new(&mut memory)), Ok(expected));
        assert_eq!(text.decode(&mut Scratch::new(&mut [])).is_ok(), plain);
    }
    assert!(json.item_string().unwrap().is_none());
    json.end().unwrap();
}

#[test]
fn depth_is_bounded() {
    let deep = |n: usize| [&b"[".repeat(n)[..], &b"]".repeat(n)].concat();
    assert_eq!(events(&deep(MAX_DEPTH as usize)).unwrap().len(), 2 * MAX_DEPTH as usize);
    let e = events(&deep(MAX_DEPTH as usize + 1)).unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::Limit, What::MAX_DEPTH, 64, 64));
}

#[test]
fn asked_for_something_else() {
    let e = Json::new(b" [1]").object().unwrap_err();
    assert_eq!((e.kind(), e.what(), e.at(), e.need()), (Kind::WrongType, What::JSON, 1, u32::from(b'[')));
    assert!(Json::new(b"-1").u64().is_err() && Json::new(b"1.5").u64().is_err());
    assert!(Json::new(b"18446744073709551616").u64().is_err());
    let mut json = Json::new(b"{\"a\": [{}, [[]]], \"b\": 1}");
    json.object().unwrap();
    assert!(json.key().unwrap().unwrap() == *"a");
    json.skip().unwrap();
    assert!(json.key().unwrap().unwrap() == *"b");
    assert_eq!((json.u64(), json.key()), (Ok(1), Ok(None)));
    assert!(json.skip().is_err(), "nothing is left");
}
