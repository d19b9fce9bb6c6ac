//! JSON for the page: descriptions, errors, requests. Does not use `core::fmt`, which is larger than the rest of the
//! module.

use alloc::vec::Vec;

/// A JSON text that grows.
pub struct Json {
    text: Vec<u8>,
    /// True if there was no memory for all of the text.
    cut: bool,
}

/// Replaces a text for which there was no memory.
const CUT: &[u8] = br#"{"kind":"NoRoom","field":"memory","offset":0,"need":0}"#;

impl Json {
    pub const fn new() -> Self {
        Json { text: Vec::new(), cut: false }
    }

    /// Returns the text.
    pub fn bytes(&self) -> &[u8] {
        if self.cut { CUT } else { &self.text }
    }

    /// Returns whether the text is complete.
    pub const fn is_whole(&self) -> bool {
        !self.cut
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.cut = false;
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.text.try_reserve(bytes.len()).is_ok() {
            self.text.extend_from_slice(bytes);
        } else {
            self.cut = true;
            self.text = Vec::new();
        }
    }

    /// Begins an object or array.
    pub fn open(&mut self, bracket: u8) -> &mut Self {
        self.comma();
        self.put(&[bracket]);
        self
    }

    /// Ends an object or array.
    pub fn close(&mut self, bracket: u8) -> &mut Self {
        self.put(&[bracket]);
        self
    }

    /// Adds a key; its value follows.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.string(key);
        self.put(b":");
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
        self.put(digits.get(digits.len().saturating_sub(used)..).unwrap_or_default());
        self
    }

    pub fn signed(&mut self, value: i64) -> &mut Self {
        if value < 0 {
            self.comma();
            self.put(b"-");
        }
        self.number(value.unsigned_abs())
    }

    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.comma();
        self.put(if value { b"true" } else { b"false" });
        self
    }

    pub fn null(&mut self) -> &mut Self {
        self.comma();
        self.put(b"null");
        self
    }

    pub fn string(&mut self, text: &str) -> &mut Self {
        self.comma();
        self.put(b"\"");
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' => self.put(&[b'\\', byte]),
                0..0x20 => {
                    let digit = |n: u8| if n < 10 { b'0' | n } else { b'a'.wrapping_add(n.wrapping_sub(10)) };
                    self.put(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
                }
                _ => self.put(&[byte]),
            }
        }
        self.put(b"\"");
        self
    }

    /// Adds bytes as a string, or U+FFFD if they are not UTF-8.
    pub fn text(&mut self, bytes: &[u8]) -> &mut Self {
        self.string(core::str::from_utf8(bytes).unwrap_or("\u{fffd}"))
    }

    /// Adds a key and a number.
    pub fn count(&mut self, key: &str, value: u64) -> &mut Self {
        self.key(key).number(value)
    }

    /// Adds a key and a string.
    pub fn name(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key).string(value)
    }

    fn comma(&mut self) {
        if !matches!(self.text.last(), None | Some(b'[' | b'{' | b':' | b'-')) {
            self.put(b",");
        }
    }
}
