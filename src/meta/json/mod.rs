//! JSON (RFC 8259), read event by event without a heap, for the metadata of bcolz. For writers there is only
//! [`quote`], which writes a string.
//!
//! [`Json`] walks one document and returns [`Event`]s. It is strict, except for the words `NaN`, `Infinity` and
//! `-Infinity`, which Python writes by default: they are numbers. Nothing is expanded, so work is proportional to the
//! length of the document.
//!
//! ```
//! use pilaster::unstable::meta::json::Json;
//!
//! let mut json = Json::new(br#"{"shape": [25, 3], "skipped": {"a": []}, "name": "\u00e9"}"#);
//! let (mut rows, mut named) = (0, false);
//! json.object()?;
//! while let Some(key) = json.key()? {
//!     if key == *"shape" {
//!         json.array()?;
//!         while let Some(length) = json.item_u64()? {
//!             rows = rows.max(length);
//!         }
//!     } else if key == *"name" {
//!         named = json.string()? == *"é";
//!     } else {
//!         json.skip()?;
//!     }
//! }
//! json.end()?;
//! assert!(rows == 25 && named);
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! # Errors
//!
//! | cause | kind |
//! |---|---|
//! | the document is not well-formed | [`Kind::Invalid`], [`Kind::Truncated`], [`Kind::Trailing`] |
//! | a string is invalid UTF-8 or has half of a surrogate pair | [`Kind::Utf8`] |
//! | objects and arrays nest deeper than [`MAX_DEPTH`] | [`Kind::Limit`] |
//! | a value has another type than the caller requests | [`Kind::WrongType`] |

mod quote;
mod text;

pub use quote::quote;
pub use text::{Chars, Text};

use crate::bytes::{LittleEndian, Reader, decimal};
use crate::error::{Error, Kind, Result, What};

/// Maximum number of levels of objects and arrays.
pub const MAX_DEPTH: u32 = 64;

/// An event of a walk over a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// An object begins: keys and values follow in turn, then [`End`](Event::End).
    Object,
    /// An array begins: values follow, then [`End`](Event::End).
    Array,
    /// The innermost object or array ends.
    End,
    /// The key of the value that follows.
    Key(Text<'a>),
    /// A string.
    String(Text<'a>),
    /// The text of a number; also `NaN`, `Infinity` and `-Infinity`.
    Number(&'a str),
    /// True or false.
    Bool(bool),
    /// Null.
    Null,
}

/// The kind of an event. If the event has a text, it is in [`Json::text`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Object,
    Array,
    End,
    Key,
    String,
    Number,
    True,
    False,
    Null,
    /// The end of the document.
    Over,
}

/// All words without quotes.
const WORDS: [(&str, Token); 6] = [
    ("true", Token::True),
    ("false", Token::False),
    ("null", Token::Null),
    ("NaN", Token::Number),
    ("Infinity", Token::Number),
    ("-Infinity", Token::Number),
];

/// A walk over a document.
#[derive(Clone, Debug)]
pub struct Json<'a> {
    r: Reader<'a, LittleEndian>,
    place: Place,
    depth: u32,
    /// One bit per open object or array: 1 for an object. The innermost is the lowest bit.
    objects: u64,
    /// The document from the requested value or key on, or from the comma before it.
    start: Reader<'a, LittleEndian>,
    text: Text<'a>,
}

/// The position in the grammar: what may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Value,
    FirstItem,
    FirstKey,
    Key,
    /// A comma, or an end: the position after a value.
    Behind,
    /// Nothing: the position after the end, or after an error.
    Over,
}

impl<'a> Json<'a> {
    /// Creates a walk at the start of `document`.
    #[must_use]
    pub const fn new(document: &'a [u8]) -> Self {
        let r = Reader::new(document);
        Json { r, place: Place::Value, depth: 0, objects: 0, start: r, text: Text::EMPTY }
    }

    /// Returns the offset of the next byte, which may be white space.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.r.at()
    }

    /// Returns the number of open objects and arrays.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the next event; `None` after the last one, and after an error.
    ///
    /// # Errors
    /// See the [module page](self).
    #[allow(clippy::should_implement_trait, reason = "an iterator of results reads worse where it is used")]
    pub fn next(&mut self) -> Result<Option<Event<'a>>> {
        Ok(Some(match self.token()? {
            Token::Object => Event::Object,
            Token::Array => Event::Array,
            Token::End => Event::End,
            Token::Key => Event::Key(self.text),
            Token::String => Event::String(self.text),
            Token::Number => Event::Number(self.text.raw),
            Token::True => Event::Bool(true),
            Token::False => Event::Bool(false),
            Token::Null => Event::Null,
            Token::Over => return Ok(None),
        }))
    }

    fn token(&mut self) -> Result<Token> {
        // Stays `Over` after an error.
        let mut place = core::mem::replace(&mut self.place, Place::Over);
        if place == Place::Over {
            return Ok(Token::Over);
        }
        self.space();
        if place == Place::Behind {
            if self.depth == 0 {
                return self.r.end(What::JSON).map(|()| Token::Over);
            }
            let at = self.r.at();
            place = match (self.r.u8(What::JSON)?, self.in_object()) {
                (b',', true) => Place::Key,
                (b',', false) => Place::Value,
                (b'}', true) | (b']', false) => return Ok(self.close()),
                (byte, _) => return Err(wrong(at, byte)),
            };
            self.space();
        }
        let before = self.r;
        let byte = self.r.u8(What::JSON)?;
        match (place, byte) {
            (Place::FirstKey, b'}') | (Place::FirstItem, b']') => Ok(self.close()),
            (Place::FirstKey | Place::Key, b'"') => {
                self.text.read(&mut self.r)?;
                self.space();
                let at = self.r.at();
                match self.r.u8(What::JSON)? {
                    b':' => self.place = Place::Value,
                    byte => return Err(wrong(at, byte)),
                }
                Ok(Token::Key)
            }
            (Place::FirstKey | Place::Key, byte) => Err(wrong(before.at(), byte)),
            (_, byte) => self.value(before, byte),
        }
    }

    /// Reads the value that begins at `before`, with `byte`.
    fn value(&mut self, before: Reader<'a, LittleEndian>, byte: u8) -> Result<Token> {
        let at = before.at();
        let token = match byte {
            b'{' => self.open(at, Token::Object)?,
            b'[' => self.open(at, Token::Array)?,
            b'"' => {
                self.text.read(&mut self.r)?;
                Token::String
            }
            b'-' if self.r.rest().first() != Some(&b'I') => self.number(before.rest(), byte)?,
            b'0'..=b'9' => self.number(before.rest(), byte)?,
            _ => match WORDS.iter().find(|(word, _)| word.as_bytes().first() == Some(&byte)) {
                Some((word, token)) => self.word(word, *token)?,
                None => return Err(wrong(at, byte)),
            },
        };
        self.place = match token {
            Token::Object => Place::FirstKey,
            Token::Array => Place::FirstItem,
            _ => Place::Behind,
        };
        Ok(token)
    }

    /// Takes a word, whose first byte is already taken.
    fn word(&mut self, word: &'static str, token: Token) -> Result<Token> {
        let at = self.r.at();
        let rest = word.as_bytes().get(1..).unwrap_or_default();
        let found = self.r.take(rest.len(), What::JSON)?;
        if found != rest {
            return Err(wrong(at, found.first().copied().unwrap_or(0)));
        }
        self.text.raw = word;
        Ok(token)
    }

    /// Reads the number at the start of `rest`, whose first byte is already taken: sign, digits without a leading zero,
    /// fraction, exponent.
    fn number(&mut self, rest: &'a [u8], first: u8) -> Result<Token> {
        let zero = if first == b'-' { self.digit()? } else { first == b'0' };
        if !zero {
            self.digits();
        }
        if self.passed(b".") {
            self.digit()?;
            self.digits();
        }
        if self.passed(b"eE") {
            self.passed(b"+-");
            self.digit()?;
            self.digits();
        }
        let len = rest.len().wrapping_sub(self.r.rest().len());
        // Always valid: digits, signs and points are ASCII.
        self.text.raw = core::str::from_utf8(rest.get(..len).unwrap_or_default()).unwrap_or_default();
        Ok(Token::Number)
    }

    /// Takes a digit. Returns whether it is zero.
    fn digit(&mut self) -> Result<bool> {
        let at = self.r.at();
        match self.r.u8(What::JSON_NUMBER)? {
            digit @ b'0'..=b'9' => Ok(digit == b'0'),
            byte => Err(Error::needing(Kind::Invalid, What::JSON_NUMBER, at, byte.into())),
        }
    }

    fn digits(&mut self) {
        while self.passed(b"0123456789") {}
    }

    /// Skips the next byte if it is one of `bytes`. Returns whether it was.
    fn passed(&mut self, bytes: &[u8]) -> bool {
        let passed = self.r.rest().first().is_some_and(|next| bytes.iter().any(|byte| byte == next));
        passed && self.r.u8(What::JSON).is_ok()
    }

    fn space(&mut self) {
        while self.passed(b" \t\n\r") {}
    }

    const fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    fn open(&mut self, at: u64, token: Token) -> Result<Token> {
        if self.depth == MAX_DEPTH {
            return Err(Error::needing(Kind::Limit, What::MAX_DEPTH, at, MAX_DEPTH.into()));
        }
        self.depth = self.depth.wrapping_add(1);
        self.objects = self.objects << 1 | u64::from(token == Token::Object);
        Ok(token)
    }

    fn close(&mut self) -> Token {
        self.depth = self.depth.wrapping_sub(1);
        self.objects >>= 1;
        self.place = Place::Behind;
        Token::End
    }

    /// Enters an object; its keys follow.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the next value is not an object; errors of [`next`](Self::next).
    pub fn object(&mut self) -> Result<()> {
        self.expect(Token::Object)
    }

    /// Enters an array; its items follow.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the next value is not an array; errors of [`next`](Self::next).
    pub fn array(&mut self) -> Result<()> {
        self.expect(Token::Array)
    }

    /// Returns the next key of an object, or `None` at its end.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the next event is not a key; errors of [`next`](Self::next).
    pub fn key(&mut self) -> Result<Option<Text<'a>>> {
        Ok(if self.item(Token::Key)? { Some(self.text) } else { None })
    }

    /// Returns a string.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the next value is not a string; errors of [`next`](Self::next).
    pub fn string(&mut self) -> Result<Text<'a>> {
        self.expect(Token::String)?;
        Ok(self.text)
    }

    /// Returns the next string of an array, or `None` at its end.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the next item is not a string; errors of [`next`](Self::next).
    pub fn item_string(&mut self) -> Result<Option<Text<'a>>> {
        Ok(if self.item(Token::String)? { Some(self.text) } else { None })
    }

    /// Returns an unsigned integer.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the next value is not an integer from 0 to `u64::MAX`; errors of [`next`](Self::next).
    pub fn u64(&mut self) -> Result<u64> {
        self.expect(Token::Number)?;
        decimal(self.text.raw).ok_or_else(|| self.unexpected())
    }

    /// Returns the next unsigned integer of an array, or `None` at its end.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if the next item is not an integer from 0 to `u64::MAX`; errors of [`next`](Self::next).
    pub fn item_u64(&mut self) -> Result<Option<u64>> {
        if !self.item(Token::Number)? {
            return Ok(None);
        }
        decimal(self.text.raw).ok_or_else(|| self.unexpected()).map(Some)
    }

    /// Skips a value of any type.
    ///
    /// # Errors
    /// [`Kind::Truncated`] if there is no value; errors of [`next`](Self::next).
    pub fn skip(&mut self) -> Result<()> {
        let depth = self.depth;
        loop {
            let at = self.r.at();
            match self.token()? {
                Token::Key => {}
                Token::Over => return Err(Error::needing(Kind::Truncated, What::JSON, at, 1)),
                _ if self.depth <= depth => return Ok(()),
                _ => {}
            }
        }
    }

    /// Checks that the document has ended and only white space follows.
    ///
    /// # Errors
    /// [`Kind::Trailing`] for other bytes after the document; [`Kind::WrongType`] if the document has not ended; errors
    /// of [`next`](Self::next).
    pub fn end(&mut self) -> Result<()> {
        let at = self.r.at();
        match self.token()? {
            Token::Over => Ok(()),
            _ => Err(Error::new(Kind::WrongType, What::JSON, at)),
        }
    }

    /// Advances to the next event, which must be of this kind.
    fn expect(&mut self, token: Token) -> Result<()> {
        if self.step()? == token { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Advances to the next event, which must be of this kind or the end of the object or array. Returns false at the
    /// end.
    fn item(&mut self, token: Token) -> Result<bool> {
        match self.step()? {
            Token::End => Ok(false),
            found if found == token => Ok(true),
            _ => Err(self.unexpected()),
        }
    }

    /// Advances to the next event, which must not be the end of the document.
    fn step(&mut self) -> Result<Token> {
        self.space();
        self.start = self.r;
        match self.token()? {
            Token::Over => Err(Error::needing(Kind::Truncated, What::JSON, self.start.at(), 1)),
            token => Ok(token),
        }
    }

    /// Creates the error for an event of another kind than requested.
    #[cold]
    fn unexpected(&self) -> Error {
        let byte = self.start.rest().first().copied().unwrap_or(0);
        Error::needing(Kind::WrongType, What::JSON, self.start.at(), byte.into())
    }
}

#[cold]
fn wrong(at: u64, byte: u8) -> Error {
    Error::needing(Kind::Invalid, What::JSON, at, byte.into())
}

#[cfg(test)]
mod tests;
