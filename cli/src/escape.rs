//! Control characters, which a file may hold in names and texts, are shown and not sent to a terminal.

use std::borrow::Cow;
use std::io::{self, Write};

/// Returns `text` with its control characters as escapes: `\n`, `\u{1b}`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Maximum number of characters that [`named`] shows of a name.
const SHOWN: usize = 60;

/// Returns a name that may be damaged, for a message: control characters and bytes that are not UTF-8 as escapes, and
/// only the start of a long name.
pub fn named(name: impl AsRef<[u8]>) -> String {
    let mut out = String::new();
    let mut shown = 0usize;
    for chunk in name.as_ref().utf8_chunks() {
        for c in chunk.valid().chars() {
            if shown == SHOWN {
                return format!("{out}...");
            }
            if c.is_control() {
                out.extend(c.escape_default())
            } else {
                out.push(c)
            }
            shown = shown.saturating_add(1);
        }
        for byte in chunk.invalid() {
            if shown == SHOWN {
                return format!("{out}...");
            }
            out.push_str(&format!("\\x{byte:02x}"));
            shown = shown.saturating_add(1);
        }
    }
    out
}

/// A terminal: control characters other than line feed and tab are written as escapes.
pub struct Shown<W> {
    to: W,
    /// The last byte was 0xc2, which begins a control character of two bytes.
    lead: bool,
}

impl<W: Write> Shown<W> {
    pub const fn new(to: W) -> Self {
        Shown { to, lead: false }
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        let lead = std::mem::take(&mut self.lead);
        match byte {
            0x80..=0x9f if lead => write!(self.to, "\\u{{{byte:x}}}"),
            _ => {
                if lead {
                    self.to.write_all(&[0xc2])?;
                }
                match byte {
                    0xc2 => {
                        self.lead = true;
                        Ok(())
                    }
                    b'\n' | b'\t' => self.to.write_all(&[byte]),
                    0..0x20 | 0x7f => write!(self.to, "\\u{{{byte:x}}}"),
                    _ => self.to.write_all(&[byte]),
                }
            }
        }
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let harmless = |byte: &u8| matches!(byte, b'\n' | b'\t' | 0x20..=0x7e | 0x80..=0xc1 | 0xc3..);
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let clean = if self.lead { 0 } else { rest.iter().take_while(|byte| harmless(byte)).count() };
            match rest.split_at_checked(clean) {
                Some((text, behind)) if clean > 0 => {
                    self.to.write_all(text)?;
                    rest = behind;
                }
                _ => {
                    self.byte(*first)?;
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.lead) {
            self.to.write_all(&[0xc2])?;
        }
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escapes() {
        assert_eq!(escaped("a\u{1b}[2J\u{9b}\n"), "a\\u{1b}[2J\\u{9b}\\n");
        assert!(matches!(escaped("Gürtel °"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_damaged_name_is_short_and_has_no_raw_bytes() {
        assert_eq!(named("Gürtel °"), "Gürtel °");
        assert_eq!(named(b"a\n\xff\xfe\x1b\xc3"), "a\\n\\xff\\xfe\\u{1b}\\xc3");
        assert_eq!(named("x".repeat(60)), "x".repeat(60));
        assert_eq!(named("é".repeat(61)), "é".repeat(60) + "...");
        assert_eq!(named([0xff; 255]), "\\xff".repeat(60) + "...");
    }

    #[test]
    fn a_terminal_gets_no_control_characters_however_the_bytes_are_cut() {
        let text = "a\u{1b}[2J\u{9b}b\u{a0}°\r\n\tç\u{c2}".as_bytes();
        let wanted = "a\\u{1b}[2J\\u{9b}b\u{a0}°\\u{d}\n\tç\u{c2}";
        for cut in 0..text.len() {
            let mut out = Shown::new(Vec::new());
            out.write_all(&text[..cut]).unwrap();
            out.write_all(&text[cut..]).unwrap();
            out.flush().unwrap();
            assert_eq!(String::from_utf8(out.to).unwrap(), wanted, "cut at {cut}");
        }
        let mut out = Shown::new(Vec::new());
        out.write_all(&[0xc2]).unwrap();
        out.flush().unwrap();
        assert_eq!(out.to, [0xc2]);
    }
}
