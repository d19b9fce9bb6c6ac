//! JSON, read piece by piece without a heap: what metadata of bcolz needs (RFC 8259). Of writing, the one thing
//! that takes care: [`quote`].
//!
//! [`Json`] walks one document and gives [`Event`]s. It is strict, but for what Python writes without
//! being asked: the bare words `NaN`, `Infinity` and `-Infinity` are numbers. Nothing is expanded, so
//! work is proportional to the length of the document.
//!
//! ```
//! use pilaster::meta::json::Json;
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
//! # What is refused
//!
//! | refused | with |
//! |---|---|
//! | what is not well-formed | [`Kind::Invalid`], [`Kind::Truncated`], [`Kind::Trailing`] |
//! | strings that are not UTF-8, half of a surrogate pair | [`Kind::Utf8`] |
//! | objects and arrays nested deeper than [`MAX_DEPTH`] | [`Kind::Limit`] |
//! | another kind of value than the caller asks for | [`Kind::WrongType`] |

mod quote;
mod text;

pub use quote::quote;
pub use text::{Chars, Text};

use crate::bytes::{LittleEndian, Reader, decimal};
use crate::error::{Error, Kind, Result, What};

/// Objects and arrays inside each other.
pub const MAX_DEPTH: u32 = 64;

/// A piece of a document.
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
    /// A number as it stands there; also `NaN`, `Infinity` and `-Infinity`.
    Number(&'a str),
    /// True or false.
    Bool(bool),
    /// Null.
    Null,
}

/// A walk over a document.
#[derive(Clone, Debug)]
pub struct Json<'a> {
    r: Reader<'a, LittleEndian>,
    place: Place,
    depth: u32,
    /// Which of the open ones are objects; the innermost is the lowest bit.
    objects: u64,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Value,
    FirstItem,
    FirstKey,
    Key,
    /// A comma, or an end.
    Behind,
    /// Behind the end, or an error.
    Over,
}

impl<'a> Json<'a> {
    /// At the start of `document`.
    #[must_use]
    pub const fn new(document: &'a [u8]) -> Self {
        Json { r: Reader::new(document), place: Place::Value, depth: 0, objects: 0 }
    }

    /// Offset of what comes next; white space may come before it.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.r.at()
    }

    /// How many objects and arrays are open.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// The next piece; `None` behind the last, and after an error.
    ///
    /// # Errors
    /// What the [module](self) says.
    #[allow(clippy::should_implement_trait, reason = "an iterator of results reads worse where it is used")]
    pub fn next(&mut self) -> Result<Option<Event<'a>>> {
        let event = self.event();
        if !matches!(event, Ok(Some(_))) {
            self.place = Place::Over;
        }
        event
    }

    fn event(&mut self) -> Result<Option<Event<'a>>> {
        if self.place == Place::Over {
            return Ok(None);
        }
        self.space();
        if self.place == Place::Behind {
            if self.depth == 0 {
                return self.r.end(What::Json).map(|()| None);
            }
            let at = self.r.at();
            match (self.r.u8(What::Json)?, self.in_object()) {
                (b',', true) => self.place = Place::Key,
                (b',', false) => self.place = Place::Value,
                (b'}', true) | (b']', false) => return Ok(Some(self.close())),
                (byte, _) => return Err(wrong(at, byte)),
            }
            self.space();
        }
        let before = self.r;
        let at = before.at();
        let byte = self.r.u8(What::Json)?;
        match (self.place, byte) {
            (Place::FirstKey, b'}') | (Place::FirstItem, b']') => Ok(Some(self.close())),
            (Place::FirstKey | Place::Key, b'"') => {
                let key = self.text()?;
                self.space();
                let at = self.r.at();
                match self.r.u8(What::Json)? {
                    b':' => self.place = Place::Value,
                    byte => return Err(wrong(at, byte)),
                }
                Ok(Some(Event::Key(key)))
            }
            (Place::FirstKey | Place::Key, byte) => Err(wrong(at, byte)),
            (_, byte) => self.value(before, byte).map(Some),
        }
    }

    /// The value that begins at `before`, with `byte`.
    fn value(&mut self, before: Reader<'a, LittleEndian>, byte: u8) -> Result<Event<'a>> {
        let at = before.at();
        self.place = Place::Behind;
        Ok(match byte {
            b'{' => {
                self.open(at, true)?;
                self.place = Place::FirstKey;
                Event::Object
            }
            b'[' => {
                self.open(at, false)?;
                self.place = Place::FirstItem;
                Event::Array
            }
            b'"' => Event::String(self.text()?),
            b't' => self.word(b"rue", Event::Bool(true))?,
            b'f' => self.word(b"alse", Event::Bool(false))?,
            b'n' => self.word(b"ull", Event::Null)?,
            b'N' => self.word(b"aN", Event::Number("NaN"))?,
            b'I' => self.word(b"nfinity", Event::Number("Infinity"))?,
            b'-' if self.r.rest().first() == Some(&b'I') => self.word(b"Infinity", Event::Number("-Infinity"))?,
            b'-' | b'0'..=b'9' => self.number(before.rest(), byte)?,
            byte => return Err(wrong(at, byte)),
        })
    }

    fn word(&mut self, rest: &[u8], event: Event<'a>) -> Result<Event<'a>> {
        let at = self.r.at();
        let found = self.r.take(rest.len(), What::Json)?;
        if found != rest {
            return Err(wrong(at, found.first().copied().unwrap_or(0)));
        }
        Ok(event)
    }

    /// A number at the start of `rest`, of which the first byte is taken: sign, digits without a zero in
    /// front, fraction, exponent.
    fn number(&mut self, rest: &'a [u8], first: u8) -> Result<Event<'a>> {
        let leading = if first == b'-' { self.digit()? } else { first };
        if leading != b'0' {
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
        let number = rest.get(..len).and_then(|number| core::str::from_utf8(number).ok());
        // Digits, signs, points are ASCII.
        number.map(Event::Number).ok_or(Error::new(Kind::Utf8, What::JsonNumber, self.r.at()))
    }

    fn digit(&mut self) -> Result<u8> {
        let at = self.r.at();
        match self.r.u8(What::JsonNumber)? {
            digit @ b'0'..=b'9' => Ok(digit),
            byte => Err(Error::new(Kind::Invalid, What::JsonNumber, at).with_need(byte.into())),
        }
    }

    fn digits(&mut self) {
        while self.passed(b"0123456789") {}
    }

    /// Passes over the next byte if it is one of these; whether it was.
    fn passed(&mut self, bytes: &[u8]) -> bool {
        let passed = self.r.rest().first().is_some_and(|next| bytes.iter().any(|byte| byte == next));
        passed && self.r.u8(What::Json).is_ok()
    }

    fn text(&mut self) -> Result<Text<'a>> {
        Text::take(&mut self.r)
    }

    fn space(&mut self) {
        while self.passed(b" \t\n\r") {}
    }

    const fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    fn open(&mut self, at: u64, object: bool) -> Result<()> {
        if self.depth == MAX_DEPTH {
            return Err(Error::new(Kind::Limit, What::MaxDepth, at).with_need(MAX_DEPTH.into()));
        }
        self.depth = self.depth.wrapping_add(1);
        self.objects = self.objects << 1 | u64::from(object);
        Ok(())
    }

    fn close(&mut self) -> Event<'a> {
        self.depth = self.depth.wrapping_sub(1);
        self.objects >>= 1;
        self.place = Place::Behind;
        Event::End
    }

    /// Goes into an object; its keys follow.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if something else comes next; what is not well-formed.
    pub fn object(&mut self) -> Result<()> {
        match self.step()? {
            (Event::Object, _) => Ok(()),
            (_, start) => start.unexpected(),
        }
    }

    /// Goes into an array; its items follow.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if something else comes next; what is not well-formed.
    pub fn array(&mut self) -> Result<()> {
        match self.step()? {
            (Event::Array, _) => Ok(()),
            (_, start) => start.unexpected(),
        }
    }

    /// The next key of an object, or `None` at its end.
    ///
    /// # Errors
    /// What is not well-formed.
    pub fn key(&mut self) -> Result<Option<Text<'a>>> {
        match self.step()? {
            (Event::Key(key), _) => Ok(Some(key)),
            (Event::End, _) => Ok(None),
            (_, start) => start.unexpected(),
        }
    }

    /// A string.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if something else comes next; what is not well-formed.
    pub fn string(&mut self) -> Result<Text<'a>> {
        match self.step()? {
            (Event::String(text), _) => Ok(text),
            (_, start) => start.unexpected(),
        }
    }

    /// The next string of an array, or `None` at its end.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if something else comes next; what is not well-formed.
    pub fn item_string(&mut self) -> Result<Option<Text<'a>>> {
        match self.step()? {
            (Event::String(text), _) => Ok(Some(text)),
            (Event::End, _) => Ok(None),
            (_, start) => start.unexpected(),
        }
    }

    /// A whole number, not negative.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if something else comes next; what is not well-formed.
    pub fn u64(&mut self) -> Result<u64> {
        match self.item_number()? {
            (Some(number), _) => Ok(number),
            (None, start) => start.unexpected(),
        }
    }

    /// The next whole number of an array, or `None` at its end.
    ///
    /// # Errors
    /// [`Kind::WrongType`] if something else comes next; what is not well-formed.
    pub fn item_u64(&mut self) -> Result<Option<u64>> {
        Ok(self.item_number()?.0)
    }

    /// Passes over a value, whatever it is.
    ///
    /// # Errors
    /// What is not well-formed.
    pub fn skip(&mut self) -> Result<()> {
        let depth = self.depth;
        loop {
            let at = self.r.at();
            match self.next()? {
                Some(Event::Key(_)) => {}
                Some(_) if self.depth <= depth => return Ok(()),
                Some(_) => {}
                None => return Err(Error::new(Kind::Truncated, What::Json, at).with_need(1)),
            }
        }
    }

    /// Behind the document: only white space is left.
    ///
    /// # Errors
    /// [`Kind::Trailing`], or [`Kind::WrongType`] inside of it.
    pub fn end(&mut self) -> Result<()> {
        let at = self.r.at();
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(Error::new(Kind::WrongType, What::Json, at)),
        }
    }

    fn item_number(&mut self) -> Result<(Option<u64>, Start)> {
        match self.step()? {
            (Event::Number(number), start) => match decimal(number) {
                Some(number) => Ok((Some(number), start)),
                None => start.unexpected(),
            },
            (Event::End, start) => Ok((None, start)),
            (_, start) => start.unexpected(),
        }
    }

    /// The next event, which must be there, and where it begins.
    fn step(&mut self) -> Result<(Event<'a>, Start)> {
        self.space();
        let start = Start { at: self.r.at(), byte: self.r.rest().first().copied().unwrap_or(0) };
        match self.next()? {
            Some(event) => Ok((event, start)),
            None => Err(Error::new(Kind::Truncated, What::Json, start.at).with_need(1)),
        }
    }
}

/// Where an event begins, and with what.
struct Start {
    at: u64,
    byte: u8,
}

impl Start {
    /// It is another than was expected.
    #[cold]
    fn unexpected<T>(&self) -> Result<T> {
        Err(Error::new(Kind::WrongType, What::Json, self.at).with_need(self.byte.into()))
    }
}

#[cold]
fn wrong(at: u64, byte: u8) -> Error {
    Error::new(Kind::Invalid, What::Json, at).with_need(byte.into())
}

#[cfg(test)]
mod tests;
