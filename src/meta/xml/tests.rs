use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::*;
use crate::bytes::Scratch;

/// Returns the events and attributes of a document as one line of text.
fn told(document: &[u8]) -> Result<String> {
    let mut xml = Xml::new(document);
    let mut all = Vec::new();
    while let Some(event) = xml.next()? {
        all.push(match event {
            Event::Open(tag) => {
                let attributes: String = tag.attributes().map(|a| format!(" {}={}", a.name, a.value)).collect();
                format!("<{}{attributes}>", tag.name())
            }
            Event::Close => "/".to_string(),
            Event::Text { blank } => if blank { "_" } else { "text" }.to_string(),
            Event::Cdata => "cdata".to_string(),
            Event::Comment => "comment".to_string(),
            Event::Instruction => "pi".to_string(),
        });
    }
    assert_eq!(xml.next(), Ok(None));
    Ok(all.join(" "))
}

fn refused(document: impl AsRef<[u8]>) -> (Kind, What, u64) {
    let document = document.as_ref();
    let mut xml = Xml::new(document);
    let e = loop {
        match xml.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("{:?} is taken", String::from_utf8_lossy(document)),
            Err(e) => break e,
        }
    };
    assert_eq!(xml.next(), Ok(None), "nothing follows an error");
    (e.kind(), e.what(), e.at())
}

#[test]
fn elements_and_attributes() {
    assert_eq!(told(b"<a/>").unwrap(), "<a> /");
    assert_eq!(told(b"<a ></a >").unwrap(), "<a> /");
    assert_eq!(told(b"<a b='1'\n c = \"it's\"><d/> <e>x</e></a>").unwrap(), "<a b=1 c=it's> <d> / _ <e> text / /");
    assert_eq!(told("<é ñ='日本'/>".as_bytes()).unwrap(), "<é ñ=日本> /");
}

#[test]
fn what_may_stand_around_the_root() {
    let document =
        b"\xef\xbb\xbf<?xml version=\"1.0\" encoding='utf-8' standalone='yes' ?> <!-- -c- --><?pi x?><a/>\n<!----> \0";
    assert_eq!(told(document).unwrap(), "comment pi <a> / comment");
    assert_eq!(told(b" \n<a/>").unwrap(), "<a> /");
    assert_eq!(told(b"<!DOCTYPE a PUBLIC \"x>\" '[y'><a/>").unwrap(), "<a> /");
}

#[test]
fn what_stands_inside() {
    let document = b"<a> <!--x--><?p?><![CDATA[<]]>]]&#32;</a>";
    assert_eq!(told(document).unwrap(), "<a> _ comment pi cdata text /");
}

#[test]
fn values_are_resolved_and_normalised() {
    let document = b"<a v='&lt;&gt;&amp;&quot;&apos;' w='\t\n\r\n\r ' x='&#10;&#x9;&#xe9;&#0065;' y='' z='a>b'/>";
    assert_eq!(told(document).unwrap(), "<a v=<>&\"' w=      x=\n\téA y= z=a>b> /");
    let mut xml = Xml::new(document);
    let Ok(Some(Event::Open(tag))) = xml.next() else { panic!() };
    let plain: Vec<_> = tag.attributes().map(|a| a.value.as_str()).collect();
    assert_eq!(plain, [None, None, None, Some(""), Some("a>b")]);
    let mut memory = [0; 9];
    let value = tag.attributes().nth(2).unwrap().value;
    assert_eq!((value.len(), value.decode(&mut Scratch::new(&mut memory))), (5, Ok("\n\téA")));
    let e = value.decode(&mut Scratch::new(&mut memory[..4])).unwrap_err();
    assert_eq!((e.kind(), e.need()), (Kind::NoRoom, 5));
    assert_eq!(tag.attributes().nth(4).unwrap().value.decode(&mut Scratch::new(&mut [])), Ok("a>b"));
}

#[test]
fn latin_1_is_decoded() {
    let document = b"<?xml version='1.0' encoding='iso-8859-1'?><caf\xe9 n='\xfc\x85'/>";
    assert_eq!(told(document).unwrap(), "<café n=ü\u{85}> /");
    let mut xml = Xml::new(document);
    let Ok(Some(Event::Open(tag))) = xml.next() else { panic!() };
    let mut memory = [0; 4];
    let value = tag.attributes().next().unwrap().value;
    assert_eq!((value.as_str(), value.decode(&mut Scratch::new(&mut memory))), (None, Ok("ü\u{85}")));
    assert!(tag.name().as_str().is_none() && tag.name() == *"café");
}

#[test]
fn prefixes_are_passed_over_where_asked() {
    let mut xml = Xml::new(b"<ds:field/>");
    let Ok(Some(Event::Open(tag))) = xml.next() else { panic!() };
    assert!(tag.is("field") && !tag.is("ds:field") && !tag.is("ield"));
    assert_eq!(tag.name().as_str(), Some("ds:field"));
}

#[test]
fn bad_documents_are_refused_where_they_are_bad() {
    use Kind::{Invalid, Trailing, Truncated, Unsupported};
    for (document, kind, what, at) in [
        (&b""[..], Truncated, What::XML_TAG, 0),
        (b" ", Truncated, What::XML_TAG, 1),
        (b"x", Invalid, What::XML_TAG, 0),
        (b"<a", Truncated, What::XML_TAG, 2),
        (b"<a>", Truncated, What::XML_TAG, 3),
        (b"<a><b></a>", Invalid, What::XML_TAG, 8),
        (b"</a>", Invalid, What::XML_TAG, 1),
        (b"<1/>", Invalid, What::XML_TAG, 1),
        (b"< a/>", Invalid, What::XML_TAG, 1),
        (b"<a/ >", Invalid, What::XML_TAG, 3),
        (b"<a/><a/>", Trailing, What::XML_TAG, 4),
        (b"<a/>x", Trailing, What::XML_TAG, 4),
        (b"<a/>\0x", Trailing, What::XML_TAG, 4),
        (b"<a b='1'c='2'/>", Invalid, What::XML_TAG, 8),
        (b"<a b='1' b='1'/>", Invalid, What::XML_ATTRIBUTE, 9),
        (b"<a b=1/>", Invalid, What::XML_ATTRIBUTE, 5),
        (b"<a b/>", Invalid, What::XML_ATTRIBUTE, 4),
        (b"<a b='<'/>", Invalid, What::XML_ATTRIBUTE, 6),
        (b"<a b='\x01'/>", Invalid, What::XML_ATTRIBUTE, 6),
        (b"<a b='", Truncated, What::XML_ATTRIBUTE, 6),
        (b"<a b='\xff'/>", Invalid, What::XML_ATTRIBUTE, 6),
        (b"<a b='&'/>", Invalid, What::XML_ENTITY, 6),
        (b"<a b='&x;'/>", Unsupported, What::XML_ENTITY, 6),
        (b"<a b='&#0;'/>", Invalid, What::XML_ENTITY, 6),
        (b"<a b='&#xD800;'/>", Invalid, What::XML_ENTITY, 6),
        (b"<a b='&#;'/>", Invalid, What::XML_ENTITY, 6),
        (b"<a b='&#99999999999;'/>", Invalid, What::XML_ENTITY, 6),
        (b"<a>&nbsp;</a>", Unsupported, What::XML_ENTITY, 3),
        (b"<a>]]></a>", Invalid, What::XML_TEXT, 3),
        (b"<a><!-- -- --></a>", Invalid, What::XML_TEXT, 10),
        (b"<a><!--", Truncated, What::XML_TEXT, 7),
        (b"<a><![CDATA[", Truncated, What::XML_TEXT, 12),
        (b"<a><?p", Truncated, What::XML_TAG, 6),
        (b"<a><?xml version='1.0'?></a>", Invalid, What::XML_DECLARATION, 5),
        (b" <?xml version='1.0'?><a/>", Invalid, What::XML_DECLARATION, 3),
        (b"<?xml encoding='utf-8'?><a/>", Invalid, What::XML_DECLARATION, 5),
        (b"<?xml version='1.0'><a/>", Invalid, What::XML_DECLARATION, 19),
        (b"<?xml version='1.0' encoding='utf-16'?><a/>", Unsupported, What::XML_ENCODING, 30),
        (b"\xff\xfe<\0", Unsupported, What::XML_ENCODING, 0),
        (b"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", Unsupported, What::XML_DOCTYPE, 12),
        (b"<!DOCTYPE a><!DOCTYPE a><a/>", Invalid, What::XML_TAG, 13),
        (b"<!DOCTYPE a", Truncated, What::XML_DOCTYPE, 11),
    ] {
        assert_eq!(refused(document), (kind, what, at), "{:?}", String::from_utf8_lossy(document));
    }
}

#[test]
fn nesting_and_attributes_have_limits() {
    let nested = |n: usize| ["<a>".repeat(n), "</a>".repeat(n)].concat();
    assert!(told(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(refused(nested(MAX_DEPTH + 1)).0, Kind::Limit);
    let wide = |n: usize| format!("<a{}/>", (0..n).map(|i| format!(" x{i}=''")).collect::<String>());
    assert!(told(wide(MAX_ATTRIBUTES).as_bytes()).is_ok());
    assert_eq!(refused(wide(MAX_ATTRIBUTES + 1)).1, What::XML_MAX_ATTRIBUTES);
}

#[test]
fn every_front_part_of_a_document_is_refused() {
    let document = "<?xml version='1.0'?><!DOCTYPE a><é b='&#x41;&amp;日'> <!--c--><?p q?><![CDATA[x]]></é>".as_bytes();
    assert!(told(document).is_ok());
    for end in 0..document.len() {
        refused(&document[..end]);
    }
}
