//! XML, read event by event without a heap, for the type descriptions of DataSeries (section 5.1).
//!
//! [`Xml`] walks a document and returns [`Event`]s: tags with their attributes, and the kinds of content between them.
//! It accepts only well-formed documents: tags match, names are valid, references denote characters, and no element has
//! an attribute twice. Nothing is expanded, so work is proportional to the length of the document.
//!
//! ```
//! use pilaster::unstable::meta::xml::{Event, Xml};
//!
//! let mut xml = Xml::new(b"<?xml version='1.0'?><a x='1 &lt;&#x20;2'><b/></a>\n");
//! let Some(Event::Open(tag)) = xml.next()? else { panic!() };
//! assert!(tag.is("a"));
//! let x = tag.attributes().next().unwrap();
//! assert_eq!((x.name.as_str(), x.value.as_str()), (Some("x"), None), "the value has references");
//! assert!(x.value == *"1 < 2");
//! assert!(matches!(xml.next()?, Some(Event::Open(tag)) if tag.is("b")));
//! assert_eq!((xml.next()?, xml.next()?, xml.next()?), (Some(Event::Close), Some(Event::Close), None));
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! # Errors
//!
//! | cause | kind |
//! |---|---|
//! | the document is not well-formed | [`Kind::Invalid`], [`Kind::Truncated`], [`Kind::Trailing`] |
//! | a character set other than UTF-8, ASCII and ISO-8859-1 | [`Kind::Unsupported`] |
//! | a document type with internal declarations, an entity other than the five predefined ones | [`Kind::Unsupported`] |
//! | elements nest deeper than [`MAX_DEPTH`], more attributes than [`MAX_ATTRIBUTES`] | [`Kind::Limit`] |
//!
//! A document type without internal declarations is skipped; external declarations are never read.
//! Prefixes of names are not resolved.

mod scan;
#[cfg(test)]
mod tests;
mod text;

pub use text::{Chars, Text};

use self::scan::Scan;
use self::text::{Charset, is_space};
use crate::error::{Error, Kind, Result, What};

/// Maximum number of nested elements.
pub const MAX_DEPTH: usize = 16;

/// Maximum number of attributes of one element.
pub const MAX_ATTRIBUTES: usize = 64;

/// An event of a walk over a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// An element begins.
    Open(Tag<'a>),
    /// The innermost element ends. Also follows the `Open` of an empty-element tag.
    Close,
    /// Text inside an element.
    Text {
        /// True if it contains only white space and no reference.
        blank: bool,
    },
    /// A CDATA section.
    Cdata,
    /// A comment.
    Comment,
    /// A processing instruction. There is no event for the XML declaration.
    Instruction,
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tag<'a> {
    name: Text<'a>,
    attributes: Attributes<'a>,
}

impl<'a> Tag<'a> {
    /// The initial value of a tag that is then read.
    const NONE: Self = Tag { name: Attribute::NONE.name, attributes: Attributes { scan: Scan::new(&[]) } };

    /// Returns the name, with its prefix.
    #[must_use]
    pub const fn name(&self) -> Text<'a> {
        self.name
    }

    /// Returns whether the name without its prefix is `local`.
    #[must_use]
    pub fn is(&self, local: &str) -> bool {
        let raw = self.name.raw();
        let prefix = raw.iter().rposition(|byte| *byte == b':').map_or(0, |colon| colon.wrapping_add(1));
        raw.get(prefix..) == Some(local.as_bytes())
    }

    /// Iterates over the attributes, in the order of the document.
    #[must_use]
    pub const fn attributes(&self) -> Attributes<'a> {
        self.attributes
    }
}

/// An attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attribute<'a> {
    /// The name, with its prefix.
    pub name: Text<'a>,
    /// The value, resolved and normalised.
    pub value: Text<'a>,
}

impl<'a> Attribute<'a> {
    /// The initial value of an attribute that is then read.
    pub(crate) const NONE: Self =
        Attribute { name: Text::new(&[], Charset::Utf8, 0), value: Text::new(&[], Charset::Utf8, 0) };
}

/// The attributes of a tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attributes<'a> {
    scan: Scan<'a>,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let mut attribute = Attribute::NONE;
        self.read(&mut attribute).then_some(attribute)
    }
}

impl<'a> Attributes<'a> {
    /// Reads the next attribute into `attribute`. Returns false after the last one.
    pub(crate) fn read(&mut self, attribute: &mut Attribute<'a>) -> bool {
        // Cannot fail: the attributes were checked when the tag was read.
        self.scan.attribute(attribute).unwrap_or_default()
    }
}

/// A walk over a document.
#[derive(Clone, Debug)]
pub struct Xml<'a> {
    scan: Scan<'a>,
    /// The last start tag.
    tag: Tag<'a>,
    place: Place,
    /// Names of the open elements.
    open: [&'a [u8]; MAX_DEPTH],
    depth: usize,
    /// True if the last event was an empty-element tag, so that its end is the next event.
    closing: bool,
    /// True after a document type.
    doctype: bool,
}

/// An [`Event`] without its tag, which is [`Xml::tag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Open,
    Close,
    Text { blank: bool },
    Cdata,
    Comment,
    Instruction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    BeforeRoot,
    InRoot,
    BehindRoot,
    /// After an error.
    Lost,
}

impl<'a> Xml<'a> {
    /// Creates a walk at the start of `document`.
    #[must_use]
    pub const fn new(document: &'a [u8]) -> Self {
        Xml {
            scan: Scan::new(document),
            tag: Tag::NONE,
            place: Place::Start,
            open: [&[]; MAX_DEPTH],
            depth: 0,
            closing: false,
            doctype: false,
        }
    }

    /// Returns the number of open elements.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the offset of the next byte in the document.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.scan.at as u64
    }

    /// Returns the next event; `None` after the last one, and after an error.
    ///
    /// # Errors
    /// See the [module page](self).
    #[allow(clippy::should_implement_trait, reason = "an iterator of results reads worse where it is used")]
    pub fn next(&mut self) -> Result<Option<Event<'a>>> {
        Ok(self.advance()?.map(|piece| match piece {
            Token::Open => Event::Open(self.tag),
            Token::Close => Event::Close,
            Token::Text { blank } => Event::Text { blank },
            Token::Cdata => Event::Cdata,
            Token::Comment => Event::Comment,
            Token::Instruction => Event::Instruction,
        }))
    }

    /// Returns the tag of the last [`Token::Open`].
    #[cfg(feature = "dataseries")]
    pub(crate) const fn tag(&self) -> &Tag<'a> {
        &self.tag
    }

    /// Advances to the next event; see [`next`](Self::next).
    pub(crate) fn advance(&mut self) -> Result<Option<Token>> {
        let piece = self.step();
        if piece.is_err() {
            self.place = Place::Lost;
            self.closing = false;
        }
        piece
    }

    fn step(&mut self) -> Result<Option<Token>> {
        if self.closing {
            self.closing = false;
            return Ok(Some(self.leave()));
        }
        if self.place == Place::Start {
            self.scan.begin()?;
            self.place = Place::BeforeRoot;
        }
        match self.place {
            Place::Start | Place::Lost => Ok(None),
            Place::BeforeRoot | Place::InRoot | Place::BehindRoot => self.piece(),
        }
    }

    /// Reads the next event. Outside the root element, only comments, instructions, white space and one document type
    /// are valid.
    fn piece(&mut self) -> Result<Option<Token>> {
        let (inside, behind) = (self.place == Place::InRoot, self.place == Place::BehindRoot);
        loop {
            if !inside {
                self.scan.spaces();
            }
            let at = self.at();
            if self.scan.eat(b"<!--") {
                return self.comment();
            }
            if self.scan.eat(b"<?") {
                return self.instruction();
            }
            if behind {
                let rest = self.scan.rest;
                // Some writers store the NUL at the end of a C string.
                if rest.iter().all(|byte| *byte == 0) {
                    self.scan.skip(rest.len());
                    return Ok(None);
                }
                return Err(Error::needing(Kind::Trailing, What::XML_TAG, at, rest.len() as u64));
            }
            if inside && self.scan.eat(b"</") {
                return self.end();
            }
            if inside && self.scan.eat(b"<![CDATA[") {
                self.scan.until(b"]]>", What::XML_TEXT)?;
                return Ok(Some(Token::Cdata));
            }
            if !inside && !self.doctype && self.scan.eat(b"<!DOCTYPE") {
                self.doctype = true;
                self.scan.doctype()?;
                continue;
            }
            if self.scan.eat(b"<") {
                self.place = Place::InRoot;
                return self.start(at);
            }
            return if inside { self.text() } else { Err(self.scan.unexpected(What::XML_TAG)) };
        }
    }

    /// Reads a start tag, which begins at `at`. The `<` is already taken.
    fn start(&mut self, at: u64) -> Result<Option<Token>> {
        let scan = &mut self.scan;
        let name = scan.name(What::XML_TAG)?;
        self.tag = Tag { name, attributes: Attributes { scan: *scan } };
        let mut names: [Option<&[u8]>; MAX_ATTRIBUTES] = [None; MAX_ATTRIBUTES];
        let mut attribute = Attribute::NONE;
        while scan.attribute(&mut attribute)? {
            let (name, at) = (attribute.name.raw(), attribute.name.at());
            match names.iter_mut().find(|known| known.is_none_or(|known| known == name)) {
                Some(place @ None) => *place = Some(name),
                Some(_) => return Err(Error::new(Kind::Invalid, What::XML_ATTRIBUTE, at)),
                None => {
                    return Err(Error::needing(Kind::Limit, What::XML_MAX_ATTRIBUTES, at, MAX_ATTRIBUTES as u64));
                }
            }
        }
        let attributes = &mut self.tag.attributes.scan.rest;
        let len = attributes.len().saturating_sub(scan.rest.len());
        *attributes = attributes.get(..len).unwrap_or_default();

        self.closing = scan.eat(b"/");
        if !scan.eat(b">") {
            return Err(scan.unexpected(What::XML_TAG));
        }
        let Some(place) = self.open.get_mut(self.depth) else {
            return Err(Error::needing(Kind::Limit, What::MAX_DEPTH, at, MAX_DEPTH as u64));
        };
        *place = name.raw();
        self.depth = self.depth.wrapping_add(1);
        Ok(Some(Token::Open))
    }

    fn end(&mut self) -> Result<Option<Token>> {
        let at = self.at();
        let name = self.scan.name(What::XML_TAG)?;
        if self.open.get(self.depth.saturating_sub(1)) != Some(&name.raw()) {
            return Err(Error::new(Kind::Invalid, What::XML_TAG, at));
        }
        self.scan.spaces();
        if !self.scan.eat(b">") {
            return Err(self.scan.unexpected(What::XML_TAG));
        }
        Ok(Some(self.leave()))
    }

    fn leave(&mut self) -> Token {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.place = Place::BehindRoot;
        }
        Token::Close
    }

    fn comment(&mut self) -> Result<Option<Token>> {
        self.scan.until(b"--", What::XML_TEXT)?;
        if self.scan.eat(b">") { Ok(Some(Token::Comment)) } else { Err(self.scan.unexpected(What::XML_TEXT)) }
    }

    fn instruction(&mut self) -> Result<Option<Token>> {
        let name = self.scan.name(What::XML_TAG)?;
        // The XML declaration is valid only at the start of the document.
        if name.raw() == b"xml" {
            return Err(Error::new(Kind::Invalid, What::XML_DECLARATION, name.at()));
        }
        if !self.scan.rest.starts_with(b"?>") && !self.scan.spaces() {
            return Err(self.scan.unexpected(What::XML_TAG));
        }
        self.scan.until(b"?>", What::XML_TEXT)?;
        Ok(Some(Token::Instruction))
    }

    fn text(&mut self) -> Result<Option<Token>> {
        let scan = &mut self.scan;
        let mut blank = true;
        loop {
            match scan.rest {
                [] => return Err(scan.truncated(What::XML_TAG)),
                [b'<', ..] => return Ok(Some(Token::Text { blank })),
                [b']', b']', b'>', ..] => return Err(scan.invalid(What::XML_TEXT)),
                [b'&', ..] => {
                    blank = false;
                    scan.reference()?;
                }
                [byte, ..] => {
                    blank &= is_space(*byte);
                    scan.char(What::XML_TEXT)?;
                }
            }
        }
    }
}
