//! The JSON reader: any bytes as a document.

use pilaster::bytes::Scratch;
use pilaster::error::Kind;
use pilaster::unstable::meta::json::{Event, Json, MAX_DEPTH, Text};

use super::walk::{Memory, ROOMS};

/// All of `data` is the document.
pub fn run(data: &[u8]) {
    let mut json = Json::new(data);
    let mut memory = Memory::filled(0xa5);
    let (mut depth, mut events, mut key) = (0u32, 0, false);
    let well_formed = loop {
        let at = json.at();
        let event = match json.next() {
            Ok(Some(event)) => event,
            Ok(None) => {
                assert!(depth == 0 && events > 0);
                assert_eq!(json.at(), data.len() as u64);
                break true;
            }
            Err(e) => {
                assert!(e.at() <= data.len() as u64, "{e:?}");
                break false;
            }
        };
        assert!(!key || !matches!(event, Event::Key(_) | Event::End), "a key has a value");
        key = false;
        match event {
            Event::Object | Event::Array => depth += 1,
            Event::End => depth -= 1,
            Event::Key(text) => {
                key = true;
                self::text(text, memory.odd(ROOMS[2]));
            }
            Event::String(text) => self::text(text, memory.odd(ROOMS[2])),
            Event::Number(number) => assert!(number.parse::<f64>().is_ok(), "{number}"),
            Event::Bool(_) | Event::Null => {}
        }
        assert!(depth == json.depth() && depth <= MAX_DEPTH);
        assert!(json.at() > at, "{event:?} takes no bytes");
        events += 1;
    };
    assert_eq!(json.next(), Ok(None), "nothing follows the end or an error");
    let mut json = Json::new(data);
    assert_eq!(json.skip().and_then(|()| json.end()).is_ok(), well_formed, "skipping sees the same");
}

/// The ways of taking a text agree.
fn text(text: Text<'_>, memory: &mut [u8]) {
    assert_eq!(text.len(), text.chars().map(char::len_utf8).sum::<usize>());
    let decoded = match text.decode(&mut Scratch::new(memory)) {
        Ok(decoded) => decoded,
        Err(e) => {
            assert!(e.kind() == Kind::NoRoom && text.len() > ROOMS[2]);
            return;
        }
    };
    assert!(text == *decoded && decoded.len() == text.len() && text.is_empty() == decoded.is_empty());
    assert!(text.as_str().is_none_or(|plain| plain == decoded));
}
