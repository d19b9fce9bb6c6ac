//! Texts and floats as JSON.

use std::fmt::{self, Write as _};

use crate::digits;

/// Appends a string; escapes only the characters that JSON requires.
pub fn string(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
        return;
    }
    // Every string has a JSON form.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Appends a text that needs no escapes, in quotes.
pub fn quoted(out: &mut String, text: fmt::Arguments<'_>) {
    // Writing into a `String` does not fail.
    let _ = write!(out, "\"{text}\"");
}

/// Appends a number, or a string if JSON has no such number.
pub fn float<F: digits::Float>(out: &mut String, value: F) {
    let wide: f64 = value.into();
    if wide.is_finite() { digits::put_float(out, value) } else { quoted(out, format_args!("{}", digits::float(value))) }
}
