//! The XML reader: any bytes as a document.

use pilaster::bytes::Scratch;
use pilaster::error::Kind;
use pilaster::unstable::meta::xml::{Event, MAX_ATTRIBUTES, MAX_DEPTH, Tag, Text, Xml};

use super::walk::{Memory, ROOMS};

/// All of `data` is the document.
pub fn run(data: &[u8]) {
    let mut xml = Xml::new(data);
    let mut memory = Memory::filled(0xa5);
    let (mut depth, mut roots, mut events) = (0usize, 0, 0);
    loop {
        let at = xml.at();
        let event = match xml.next() {
            Ok(Some(event)) => event,
            Ok(None) => {
                assert!(depth == 0 && roots == 1, "a document ends behind its root");
                assert_eq!(xml.at(), data.len() as u64);
                break;
            }
            Err(e) => {
                assert!(e.at() <= data.len() as u64, "{e:?}");
                break;
            }
        };
        match event {
            Event::Open(tag) => {
                roots += usize::from(depth == 0);
                depth += 1;
                self::tag(&tag, memory.odd(ROOMS[2]));
            }
            Event::Close => depth -= 1,
            Event::Text { .. } | Event::Cdata => assert!(depth > 0),
            Event::Comment | Event::Instruction => {}
        }
        assert!(depth == xml.depth() && depth <= MAX_DEPTH);
        assert!(xml.at() > at || event == Event::Close, "{event:?} takes no bytes");
        events += 1;
        assert!(events <= data.len(), "more events than bytes");
    }
    assert_eq!(xml.next(), Ok(None), "nothing follows the end or an error");
}

fn tag(tag: &Tag<'_>, memory: &mut [u8]) {
    text(tag.name(), memory);
    let attributes = tag.attributes();
    assert!(attributes.count() <= MAX_ATTRIBUTES);
    for (k, attribute) in attributes.enumerate() {
        text(attribute.name, memory);
        text(attribute.value, memory);
        assert!(attributes.skip(k + 1).all(|other| other.name.raw() != attribute.name.raw()));
    }
}

/// The three ways of taking a text agree.
fn text(text: Text<'_>, memory: &mut [u8]) {
    assert_eq!(text.len(), text.chars().map(char::len_utf8).sum::<usize>());
    let decoded = match text.decode(&mut Scratch::new(memory)) {
        Ok(decoded) => decoded,
        Err(e) => {
            assert!(e.kind() == Kind::NoRoom && text.len() > ROOMS[2]);
            return;
        }
    };
    assert!(text == *decoded && decoded.len() == text.len());
    assert!(text.as_str().is_none_or(|plain| plain == decoded));
}
