//! Characters of a document, and names and attribute values.

use core::fmt;

use crate::bytes::{Scratch, word_list};
use crate::error::{Error, Kind, Result, What};

/// A character encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub(super) enum Charset {
    /// UTF-8 and ASCII.
    Utf8,
    /// ISO 8859-1: a byte is the code point.
    Latin1,
}

/// The names of the encodings: the first four mean UTF-8, the others ISO 8859-1.
const CHARSETS: &str = "UTF-8 UTF8 US-ASCII ASCII ISO-8859-1 ISO_8859-1 ISO-LATIN-1 LATIN1";

impl Charset {
    /// Returns the charset of an `encoding` attribute, in upper or lower case; `None` if it is not supported.
    pub(super) fn named(name: &[u8]) -> Option<Charset> {
        let mut names = CHARSETS.as_bytes().split(|byte| *byte == b' ');
        let place = names.position(|known| name.eq_ignore_ascii_case(known))?;
        Some(if place < 4 { Charset::Utf8 } else { Charset::Latin1 })
    }

    /// Returns the first character of `bytes` and its size in bytes; `None` at the end, for an invalid encoding, or for
    /// a character that XML does not allow.
    #[inline]
    pub(super) fn first(self, bytes: &[u8]) -> Option<(char, usize)> {
        let first = *bytes.first()?;
        let len = match first {
            _ if self == Charset::Latin1 => 1,
            0..0x80 => 1,
            0xf0.. => 4,
            0xe0.. => 3,
            _ => 2,
        };
        let c = if len == 1 { char::from(first) } else { utf8(bytes.get(..len)?)? };
        is_char(c).then_some((c, len))
    }
}

/// Returns the character that `bytes` encode; `None` if they are invalid UTF-8.
fn utf8(bytes: &[u8]) -> Option<char> {
    core::str::from_utf8(bytes).ok()?.chars().next()
}

/// Returns whether XML 1.0 allows the character. Surrogates, which it does not allow, are not `char`s.
const fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// Returns whether the byte is white space.
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns whether a name may begin with the character.
pub(super) const fn starts_name(c: char) -> bool {
    matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

/// Returns whether the character may follow the first one of a name.
pub(super) const fn continues_name(c: char) -> bool {
    starts_name(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
}

/// Maximum length in bytes of a reference, which may have leading zeros: `&#x0010FFFF;`.
const LONGEST: usize = 64;

/// The predefined entities: their names, and their characters in the same order.
const ENTITIES: (&str, &[u8]) = ("amp lt gt quot apos", b"&<>\"'");

/// Returns the character of the reference at the start of `bytes`, which begin with `&`, and its length in bytes.
pub(super) fn reference(bytes: &[u8]) -> Result<(char, usize), Kind> {
    let end = bytes.iter().take(LONGEST).position(|byte| *byte == b';').ok_or(Kind::Invalid)?;
    let c = match bytes.get(1..end).unwrap_or_default() {
        [b'#', b'x', digits @ ..] => numbered(digits, 16)?,
        [b'#', digits @ ..] => numbered(digits, 10)?,
        // Only a document type could declare another entity.
        name => word_list::place(ENTITIES.0, name)
            .and_then(|place| ENTITIES.1.get(place))
            .map(|byte| char::from(*byte))
            .ok_or(Kind::Unsupported)?,
    };
    Ok((c, end.saturating_add(1)))
}

fn numbered(digits: &[u8], radix: u32) -> Result<char, Kind> {
    let digit = |n: u32, byte: &u8| {
        let digit = char::from(*byte).to_digit(radix)?;
        // Numbers above the largest character are refused. A number up to it does not wrap in the next step.
        Some(n.wrapping_mul(radix).wrapping_add(digit)).filter(|n| *n <= u32::from(char::MAX))
    };
    let number = digits.iter().try_fold(0, digit).filter(|_| !digits.is_empty());
    number.and_then(char::from_u32).filter(|c| is_char(*c)).ok_or(Kind::Invalid)
}

/// A name or an attribute value, with references resolved and white space normalised.
///
/// It borrows the document. [`chars`](Self::chars) iterates over the characters, [`as_str`](Self::as_str) borrows a
/// text that needs no change, and [`decode`](Self::decode) or [`copy_to`](Self::copy_to) writes it to caller-provided
/// memory.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    raw: &'a [u8],
    charset: Charset,
    at: usize,
}

impl<'a> Text<'a> {
    pub(super) const fn new(raw: &'a [u8], charset: Charset, at: usize) -> Self {
        Text { raw, charset, at }
    }

    pub(super) const fn charset(&self) -> Charset {
        self.charset
    }

    /// Returns the offset of the first byte in the document.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at as u64
    }

    /// Returns the unresolved bytes of the document.
    #[must_use]
    pub const fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Iterates over the characters, with references resolved and white space normalised.
    #[must_use]
    pub const fn chars(&self) -> Chars<'a> {
        Chars { rest: self.raw, charset: self.charset }
    }

    /// Returns the text if the document contains it as UTF-8, without references or white space to normalise.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        let replaced = |byte: &u8| {
            matches!(byte, b'&' | b'\t' | b'\n' | b'\r' | 0x80..) && (*byte < 0x80 || self.charset == Charset::Latin1)
        };
        if self.raw.iter().any(replaced) { None } else { core::str::from_utf8(self.raw).ok() }
    }

    /// Returns the length in bytes as UTF-8, with references resolved.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chars().fold(0, |n, c| n.saturating_add(c.len_utf8()))
    }

    /// Returns whether this is the empty text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Returns the text: borrowed from the document if [`as_str`](Self::as_str) returns it, otherwise in `scratch`.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if `scratch` has less than [`len`](Self::len) bytes and the text cannot be borrowed.
    pub fn decode<'s>(&self, scratch: &mut Scratch<'s>) -> Result<&'s str>
    where
        'a: 's,
    {
        if let Some(text) = self.as_str() {
            return Ok(text);
        }
        let to = scratch.take::<u8>(self.len())?;
        self.copy_to(to);
        core::str::from_utf8(to).map_err(|_| Error::new(Kind::Utf8, What::XML_TEXT, self.at()))
    }

    /// Writes the text as UTF-8 to the front of `to`, as many whole characters as fit. Returns the number of bytes
    /// written.
    pub fn copy_to(&self, to: &mut [u8]) -> usize {
        let mut len = 0usize;
        for c in self.chars() {
            let end = len.saturating_add(c.len_utf8());
            let Some(place) = to.get_mut(len..end) else { break };
            encode(c, place);
            len = end;
        }
        len
    }
}

/// Writes a character as UTF-8 into `place`, whose length must be its size in bytes. The function of the standard
/// library can panic.
#[allow(clippy::cast_possible_truncation, reason = "six bits, or what is left of 21")]
fn encode(c: char, place: &mut [u8]) {
    let mark = match place.len() {
        0 | 1 => 0,
        2 => 0xc0,
        3 => 0xe0,
        _ => 0xf0,
    };
    let mut rest = u32::from(c);
    if let [first, more @ ..] = place {
        for byte in more.iter_mut().rev() {
            *byte = 0x80 | (rest & 0x3f) as u8;
            rest >>= 6;
        }
        *first = mark | rest as u8;
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.chars().eq(other.chars())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|c| fmt::Write::write_char(f, c))
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// The characters of a [`Text`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    rest: &'a [u8],
    charset: Charset,
}

impl Iterator for Chars<'_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        // The text was checked when the tag was read, so `None` below is always the end.
        let (c, len) = match self.rest {
            [] => return None,
            [b'&', ..] => reference(self.rest).ok()?,
            // Every kind of line end becomes one space.
            [b'\r', b'\n', ..] => (' ', 2),
            [b'\t' | b'\n' | b'\r', ..] => (' ', 1),
            bytes => self.charset.first(bytes)?,
        };
        self.rest = self.rest.get(len..).unwrap_or_default();
        Some(c)
    }
}
