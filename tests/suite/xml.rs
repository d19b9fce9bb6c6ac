//! The XML reader against an XML crate: of random token soup both accept the same documents, and give
//! the same elements, attributes and kinds of content.

use pilaster::unstable::meta::xml::{Event, Xml};
use proptest::prelude::*;

/// What a document is made of. No prefixes, which we do not resolve, and no declared entities.
const TOKENS: &[&str] = &[
    "<a>",
    "</a>",
    "<b",
    "</b>",
    "/>",
    ">",
    " x='1'",
    " y=\"a&lt;b\"",
    " x = '&#x41;\n\t\r\nz'",
    "\n",
    " ",
    "text",
    "&amp;",
    "&#10;",
    "&nope;",
    "&",
    "<!--c-->",
    "<!--",
    "-->",
    "<?pi d?>",
    "<?p?>",
    "<![CDATA[<x>]]>",
    "]]>",
    "<?xml version='1.0' encoding='UTF-8'?>",
    "<!DOCTYPE a>",
    "<",
    "'",
    "é",
    "<é>",
    "</é>",
    "\u{1}",
];

/// Elements and attributes in order; blank text, which the crate joins to its neighbours, left out.
fn ours(document: &str) -> Option<Vec<String>> {
    let mut xml = Xml::new(document.as_bytes());
    let mut all = Vec::new();
    loop {
        match xml.next().ok()? {
            None => return Some(all),
            Some(Event::Open(tag)) => {
                let attributes: String =
                    tag.attributes().map(|a| format!(" {}={:?}", a.name, a.value.to_string())).collect();
                all.push(format!("<{}{attributes}", tag.name()));
            }
            Some(Event::Close) => all.push("/".into()),
            Some(Event::Comment) => all.push("comment".into()),
            Some(Event::Instruction) => all.push("pi".into()),
            Some(Event::Text { .. } | Event::Cdata) => {}
        }
    }
}

fn theirs(document: &str) -> Option<Vec<String>> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let parsed = roxmltree::Document::parse_with_options(document, options).ok()?;
    let mut all = Vec::new();
    visit(parsed.root(), &mut all);
    Some(all)
}

fn visit(node: roxmltree::Node<'_, '_>, all: &mut Vec<String>) {
    if node.is_element() {
        let attributes: String = node.attributes().map(|a| format!(" {}={:?}", a.name(), a.value())).collect();
        all.push(format!("<{}{attributes}", node.tag_name().name()));
    } else if node.is_comment() {
        all.push("comment".into());
    } else if node.is_pi() {
        all.push("pi".into());
    }
    node.children().for_each(|child| visit(child, all));
    if node.is_element() {
        all.push("/".into());
    }
}

/// Documents that are mostly well-formed: elements around soup.
fn soup() -> impl Strategy<Value = String> {
    let tokens = prop::collection::vec(prop::sample::select(TOKENS), 0..12);
    (tokens, 0..4).prop_map(|(tokens, wrap)| match wrap {
        0 => tokens.concat(),
        1 => format!("<a{}</a>", tokens.concat()),
        _ => format!("<a>{}</a>", tokens.concat()),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]
    #[test]
    fn accepts_and_says_the_same(document in soup()) {
        prop_assert_eq!(ours(&document), theirs(&document), "{:?}", document);
    }
}
