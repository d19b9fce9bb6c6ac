//! JSON for the page: descriptions, errors, what is wanted. Without `core::fmt`, which is larger than all else here.

use alloc::vec::Vec;

/// A JSON text that grows.
#[derive(Default)]
pub struct Json {
    text: Vec<u8>,
}

impl Json {
    /// The text.
    pub fn bytes(&self) -> &[u8] {
        &self.text
    }

    pub fn clear(&mut self) {
        self.text.clear();
    }

    /// Begins an object or array.
    pub fn open(&mut self, bracket: u8) -> &mut Self {
        self.comma();
        self.text.push(bracket);
        self
    }

    /// Ends an object or array.
    pub fn close(&mut self, bracket: u8) -> &mut Self {
        self.text.push(bracket);
        self
    }

    /// A key; its value follows.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.string(key);
        self.text.push(b':');
        self
    }

    pub fn number(&mut self, value: u64) -> &mut Self {
        self.comma();
        let mut digits = [0; 20];
        let (mut rest, mut used) = (value, 0usize);
        for digit in digits.iter_mut().rev() {
            *digit = b'0' | rest.rem_euclid(10) as u8;
            rest = rest.div_euclid(10);
            used = used.saturating_add(1);
            if rest == 0 {
                break;
            }
        }
        self.text.extend(digits.get(digits.len().saturating_sub(used)..).unwrap_or_default());
        self
    }

    pub fn signed(&mut self, value: i64) -> &mut Self {
        if value < 0 {
            self.comma();
            self.text.push(b'-');
        }
        self.number(value.unsigned_abs())
    }

    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.comma();
        self.text.extend(if value { &b"true"[..] } else { b"false" });
        self
    }

    pub fn null(&mut self) -> &mut Self {
        self.comma();
        self.text.extend(b"null");
        self
    }

    pub fn string(&mut self, text: &str) -> &mut Self {
        self.comma();
        self.text.push(b'"');
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' => self.text.extend([b'\\', byte]),
                0..0x20 => {
                    let digit = |n: u8| if n < 10 { b'0' | n } else { b'a'.wrapping_add(n.wrapping_sub(10)) };
                    self.text.extend([b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
                }
                _ => self.text.push(byte),
            }
        }
        self.text.push(b'"');
        self
    }

    /// Bytes that should be text, as such if they are.
    pub fn text(&mut self, bytes: &[u8]) -> &mut Self {
        self.string(core::str::from_utf8(bytes).unwrap_or("\u{fffd}"))
    }

    /// A key and a number.
    pub fn count(&mut self, key: &str, value: u64) -> &mut Self {
        self.key(key).number(value)
    }

    /// A key and a string.
    pub fn name(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key).string(value)
    }

    fn comma(&mut self) {
        if !matches!(self.text.last(), None | Some(b'[' | b'{' | b':' | b'-')) {
            self.text.push(b',');
        }
    }
}
