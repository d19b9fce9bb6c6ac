//! Tokens of a document: names, references, attributes, the XML declaration and the document type.

use super::Attribute;
use super::text::{Charset, Text, continues_name, is_space, reference, starts_name};
use crate::error::{Error, Kind, Result, What};

/// The possible first two bytes of a document in UTF-16.
const UTF_16: [[u8; 2]; 4] = [[0xfe, 0xff], [0xff, 0xfe], [0, b'<'], [b'<', 0]];

/// The attributes of the XML declaration, in their order.
const DECLARED: [&str; 3] = ["version", "encoding", "standalone"];

/// The rest of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scan<'a> {
    pub(super) rest: &'a [u8],
    /// Offset of `rest` in the document.
    pub(super) at: usize,
    pub(super) charset: Charset,
}

impl<'a> Scan<'a> {
    pub(super) const fn new(document: &'a [u8]) -> Self {
        Scan { rest: document, at: 0, charset: Charset::Utf8 }
    }

    pub(super) fn skip(&mut self, n: usize) {
        self.rest = self.rest.get(n..).unwrap_or_default();
        self.at = self.at.wrapping_add(n);
    }

    pub(super) fn eat(&mut self, bytes: &[u8]) -> bool {
        let there = self.rest.starts_with(bytes);
        if there {
            self.skip(bytes.len());
        }
        there
    }

    /// Skips white space. Returns whether there was any.
    pub(super) fn spaces(&mut self) -> bool {
        let n = self.rest.iter().take_while(|byte| is_space(**byte)).count();
        self.skip(n);
        n > 0
    }

    pub(super) fn char(&mut self, what: What) -> Result<char> {
        let Some((c, len)) = self.charset.first(self.rest) else { return Err(self.unexpected(what)) };
        self.skip(len);
        Ok(c)
    }

    pub(super) fn reference(&mut self) -> Result<()> {
        let (_, len) = reference(self.rest).map_err(|kind| Error::new(kind, What::XML_ENTITY, self.at as u64))?;
        self.skip(len);
        Ok(())
    }

    /// Skips everything up to and including `end`.
    pub(super) fn until(&mut self, end: &[u8], what: What) -> Result<()> {
        while !self.eat(end) {
            self.char(what)?;
        }
        Ok(())
    }

    pub(super) fn name(&mut self, what: What) -> Result<Text<'a>> {
        let start = *self;
        match self.charset.first(self.rest) {
            Some((c, len)) if starts_name(c) => self.skip(len),
            _ => return Err(self.unexpected(what)),
        }
        while let Some((_, len)) = self.charset.first(self.rest).filter(|(c, _)| continues_name(*c)) {
            self.skip(len);
        }
        Ok(start.text_to(self))
    }

    /// Returns the text between this position and `end`.
    pub(super) fn text_to(&self, end: &Scan<'a>) -> Text<'a> {
        let len = self.rest.len().saturating_sub(end.rest.len());
        Text::new(self.rest.get(..len).unwrap_or_default(), self.charset, self.at)
    }

    /// Reads the next attribute of a tag into `attribute`. Returns false at the end of the tag.
    pub(super) fn attribute(&mut self, attribute: &mut Attribute<'a>) -> Result<bool> {
        let apart = self.spaces();
        if matches!(self.rest, [] | [b'/' | b'>' | b'?', ..]) {
            return Ok(false);
        }
        if !apart {
            return Err(self.invalid(What::XML_TAG));
        }
        attribute.name = self.name(What::XML_ATTRIBUTE)?;
        self.spaces();
        if !self.eat(b"=") {
            return Err(self.unexpected(What::XML_ATTRIBUTE));
        }
        self.spaces();
        attribute.value = self.value()?;
        Ok(true)
    }

    /// Reads the value of an attribute, with its quotes.
    pub(super) fn value(&mut self) -> Result<Text<'a>> {
        let quote = match self.rest {
            [quote @ (b'"' | b'\''), ..] => *quote,
            _ => return Err(self.unexpected(What::XML_ATTRIBUTE)),
        };
        self.skip(1);
        let start = *self;
        let value = loop {
            match self.rest {
                [byte, ..] if *byte == quote => break start.text_to(self),
                [b'<', ..] => return Err(self.invalid(What::XML_ATTRIBUTE)),
                [b'&', ..] => self.reference()?,
                _ => {
                    self.char(What::XML_ATTRIBUTE)?;
                }
            }
        };
        self.skip(1);
        Ok(value)
    }

    /// Reads the byte order mark and the XML declaration, if they are present.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.rest.first_chunk().is_some_and(|two| UTF_16.contains(two)) {
            return Err(Error::needing(Kind::Unsupported, What::XML_ENCODING, self.at as u64, 16));
        }
        let marked = self.eat(b"\xef\xbb\xbf");
        let before = *self;
        if !self.eat(b"<?xml") || !self.rest.first().is_some_and(|byte| is_space(*byte)) {
            *self = before;
            return Ok(());
        }
        let mut charset = self.charset;
        let mut attribute = Attribute::NONE;
        for (k, known) in DECLARED.iter().enumerate() {
            let before = *self;
            if !self.attribute(&mut attribute)? {
                break;
            }
            let Attribute { name, value } = &attribute;
            match (k, name.raw() == known.as_bytes()) {
                (1, true) => {
                    let unknown = || Error::new(Kind::Unsupported, What::XML_ENCODING, value.at());
                    charset = Charset::named(value.raw()).ok_or_else(unknown)?;
                }
                (_, true) => {}
                // The first attribute is required, the others are optional.
                (0, false) => return Err(before.invalid(What::XML_DECLARATION)),
                (_, false) => *self = before,
            }
        }
        self.spaces();
        if !self.eat(b"?>") {
            return Err(self.unexpected(What::XML_DECLARATION));
        }
        // A byte order mark takes precedence over a declaration.
        self.charset = if marked { Charset::Utf8 } else { charset };
        Ok(())
    }

    /// Skips a document type without internal declarations.
    pub(super) fn doctype(&mut self) -> Result<()> {
        if !self.spaces() {
            return Err(self.unexpected(What::XML_DOCTYPE));
        }
        self.name(What::XML_DOCTYPE)?;
        loop {
            if self.eat(b">") {
                return Ok(());
            }
            match self.rest {
                [b'[', ..] => return Err(Error::new(Kind::Unsupported, What::XML_DOCTYPE, self.at as u64)),
                [b'<', ..] => return Err(self.invalid(What::XML_DOCTYPE)),
                [quote @ (b'"' | b'\''), ..] => {
                    let quote = [*quote];
                    self.skip(1);
                    self.until(&quote, What::XML_DOCTYPE)?;
                }
                _ => {
                    self.char(What::XML_DOCTYPE)?;
                }
            }
        }
    }

    /// Creates the error for an unexpected byte, or for the end of the document.
    #[cold]
    pub(super) fn unexpected(&self, what: What) -> Error {
        if self.rest.is_empty() { self.truncated(what) } else { self.invalid(what) }
    }

    #[cold]
    pub(super) fn invalid(&self, what: What) -> Error {
        Error::needing(Kind::Invalid, what, self.at as u64, self.rest.first().map_or(0, |byte| u64::from(*byte)))
    }

    #[cold]
    pub(super) fn truncated(&self, what: What) -> Error {
        Error::needing(Kind::Truncated, what, self.at as u64, 1)
    }
}

impl<'a> Text<'a> {
    /// Returns the attribute value at offset `at` of `document`, which must be the document of this text.
    ///
    /// # Errors
    /// [`Kind::Invalid`] or [`Kind::Truncated`] if no value begins at `at`.
    pub fn other(&self, document: &'a [u8], at: u32) -> Result<Text<'a>> {
        // The quote before the value.
        let at = (at as usize).saturating_sub(1);
        Scan { rest: document.get(at..).unwrap_or_default(), at, charset: self.charset() }.value()
    }
}
