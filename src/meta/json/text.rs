//! Strings with their escapes.

use core::str;

use crate::bytes::{LittleEndian, Reader, Scratch};
use crate::error::{Error, Kind, Result, What};

/// A string of a document. Its escapes are checked, but not resolved.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    pub(super) raw: &'a str,
    escaped: bool,
}

impl<'a> Text<'a> {
    pub(super) const EMPTY: Self = Text { raw: "", escaped: false };

    /// Reads a string up to its closing quote and stores it in `self`. The opening quote is already taken.
    pub(super) fn read(&mut self, r: &mut Reader<'a, LittleEndian>) -> Result<()> {
        let (from, start) = (r.at(), r.rest());
        let mut escaped = false;
        // The last escape was the first half of a surrogate pair.
        let mut half = false;
        loop {
            let at = r.at();
            let wrong = |kind, byte: u8| Err(Error::needing(kind, What::JSON_STRING, at, byte.into()));
            let byte = r.u8(What::JSON_STRING)?;
            let mut unit = 0;
            match byte {
                b'"' if half => return wrong(Kind::Utf8, byte),
                b'"' => break,
                0..=0x1f => return wrong(Kind::Invalid, byte),
                b'\\' => {
                    escaped = true;
                    match r.u8(What::JSON_STRING)? {
                        b'u' => match hex(*r.array(What::JSON_STRING)?) {
                            Ok(number) => unit = number,
                            Err(byte) => return wrong(Kind::Invalid, byte),
                        },
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                        byte => return wrong(Kind::Invalid, byte),
                    }
                }
                _ => {}
            }
            match (half, unit) {
                (false, 0xd800..=0xdbff) => half = true,
                (true, 0xdc00..=0xdfff) => half = false,
                (false, 0xdc00..=0xdfff) | (true, _) => return wrong(Kind::Utf8, byte),
                (false, _) => {}
            }
        }
        let len = start.len().wrapping_sub(r.rest().len()).wrapping_sub(1);
        match str::from_utf8(start.get(..len).unwrap_or_default()) {
            Ok(raw) => {
                *self = Text { raw, escaped };
                Ok(())
            }
            Err(e) => Err(Error::new(Kind::Utf8, What::JSON_STRING, from.saturating_add(e.valid_up_to() as u64))),
        }
    }

    /// Returns the string if it has no escapes.
    #[must_use]
    pub const fn as_str(&self) -> Option<&'a str> {
        if self.escaped { None } else { Some(self.raw) }
    }

    /// Iterates over the characters, with escapes resolved.
    #[must_use]
    pub fn chars(&self) -> Chars<'a> {
        Chars { rest: self.raw.chars() }
    }

    /// Returns the length in bytes as UTF-8, with escapes resolved.
    #[must_use]
    pub fn len(&self) -> usize {
        if self.escaped { self.chars().map(char::len_utf8).sum() } else { self.raw.len() }
    }

    /// Returns whether this is the empty string.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Returns the string: in `scratch` if it has escapes, otherwise borrowed from the document.
    ///
    /// # Errors
    /// [`Kind::NoRoom`] if `scratch` has less than [`len`](Self::len) bytes and the string has escapes.
    pub fn decode<'s>(&self, scratch: &mut Scratch<'s>) -> Result<&'s str>
    where
        'a: 's,
    {
        if !self.escaped {
            return Ok(self.raw);
        }
        let room = scratch.take::<u8>(self.len())?;
        let mut rest = &mut *room;
        for c in self.chars() {
            let Some((to, more)) = rest.split_at_mut_checked(c.len_utf8()) else { break };
            c.encode_utf8(to);
            rest = more;
        }
        // Always valid: the characters fill the buffer.
        str::from_utf8(room).map_err(|_| Error::new(Kind::Utf8, What::JSON_STRING, 0))
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.chars().eq(other.chars())
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }
}

/// The characters of a [`Text`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    rest: str::Chars<'a>,
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c != '\\' {
            return Some(c);
        }
        Some(match self.rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let high = self.unit()?;
                let code = match high {
                    0xd800..=0xdbff => {
                        // Skips the backslash and the `u` of the second half, which the check has found.
                        self.rest.nth(1)?;
                        let low = self.unit()?;
                        ((high & 0x3ff) << 10 | low & 0x3ff).wrapping_add(0x1_0000)
                    }
                    unit => unit,
                };
                // Always a character: the string is checked.
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            c => c,
        })
    }
}

impl Chars<'_> {
    /// Returns the number of the next four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit << 4 | self.rest.next()?.to_digit(16)?;
        }
        Some(unit)
    }
}

/// Returns the number of four hexadecimal digits; as the error, the first byte that is not a digit.
fn hex(digits: [u8; 4]) -> Result<u32, u8> {
    digits.into_iter().try_fold(0, |unit, byte| match char::from(byte).to_digit(16) {
        Some(digit) => Ok(unit << 4 | digit),
        None => Err(byte),
    })
}
