//! Writes strings.

use crate::bytes::Sink;

/// Digits of `\u` escapes.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Writes `text` as a string in quotes. The output is ASCII: other characters become a `\u` escape, or two above
/// U+FFFF. Python writes the same bytes.
///
/// ```
/// use pilaster::unstable::meta::json::quote;
///
/// let mut json = Vec::new();
/// quote("a\"é\n", &mut json).unwrap();
/// assert_eq!(json, br#""a\"\u00e9\n""#);
/// ```
///
/// # Errors
/// Errors of the sink.
pub fn quote<S: Sink>(text: &str, sink: &mut S) -> Result<(), S::Error> {
    sink.put(b"\"")?;
    for c in text.chars() {
        match c {
            '"' => sink.put(b"\\\"")?,
            '\\' => sink.put(b"\\\\")?,
            '\n' => sink.put(b"\\n")?,
            '\r' => sink.put(b"\\r")?,
            '\t' => sink.put(b"\\t")?,
            '\x08' => sink.put(b"\\b")?,
            '\x0c' => sink.put(b"\\f")?,
            ' '..='~' => sink.put(c.encode_utf8(&mut [0; 4]).as_bytes())?,
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let digit = |shift: u32| DIGITS.get(usize::from(*unit >> shift & 15)).copied().unwrap_or(b'0');
                    sink.put(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)])?;
                }
            }
        }
    }
    sink.put(b"\"")
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use crate::meta::json::Json;
    use std::string::String;
    use std::vec::Vec;

    #[test]
    fn every_kind_of_character_is_read_again() {
        let text: String = ('\0'..='\u{120}').chain("\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}".chars()).collect();
        let mut json = Vec::new();
        quote(&text, &mut json).unwrap();
        assert!(json.iter().all(|byte| (b' '..=b'~').contains(byte)));
        assert!(Json::new(&json).string().unwrap() == *text);
        assert!(serde_json::from_slice::<String>(&json).unwrap() == text);
    }
}
