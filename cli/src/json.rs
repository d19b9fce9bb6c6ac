//! A value as JSON, in two styles, and rows as JSON lines.

use std::fmt::{self, Write as _};
use std::io::Write;

use pilaster::Result;
use pilaster::bytes::half_to_f32;
use pilaster::column::{Batch, Column, Type, Value};

use crate::digits;
use crate::failure::Failure;
use crate::time;
use crate::walk::{Rows, batches};

/// The form of numbers and bytes, which JSON cannot represent exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Exact with every JSON parser: integers are decimal strings, floats `bits:` and bytes `hex:`; dates, times and
    /// decimals are the stored integers.
    Exact,
    /// Readable: numbers are JSON numbers, decimals have a decimal point, dates and times are ISO 8601 text.
    Plain,
}

/// Appends the value of row `i` of `batch`, a batch of `column`. `texts`: bytes that are UTF-8 become text.
pub fn value<C: Column>(
    out: &mut String,
    column: &C,
    batch: &Batch<'_, C>,
    i: usize,
    style: Style,
    texts: bool,
) -> Result<()> {
    let exact = style == Style::Exact;
    match batch.value(i)? {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Int(value) if !exact && is_time(column.ty()) => {
            out.push('"');
            time::text(out, value, column.ty(), column.zone()?);
            out.push('"');
        }
        Value::Int(value) => integer(out, value, column.ty(), style),
        Value::Int256(words) => integer(out, digits::wide(words), column.ty(), style),
        Value::F16(bits) if exact => quoted(out, format_args!("bits:{bits:04x}")),
        Value::F32(value) if exact => quoted(out, format_args!("bits:{:08x}", value.to_bits())),
        Value::F64(value) if exact => quoted(out, format_args!("bits:{:016x}", value.to_bits())),
        Value::F16(bits) => float(out, &digits::float(half_to_f32(bits))),
        Value::F32(value) => float(out, &digits::float(value)),
        Value::F64(value) => float(out, &digits::float(value)),
        text @ Value::Text(_) => string(out, text.text()?.unwrap_or_default()),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if texts && column.ty() == Type::Bytes => string(out, text),
            _ => {
                out.push_str(if exact { "\"hex:" } else { "\"" });
                out.push_str(&digits::hex(bytes));
                out.push('"');
            }
        },
        Value::Nested(rows) => return nested(out, &batch.of, rows, style),
    }
    Ok(())
}

/// Appends a string; escapes only the characters that JSON requires.
pub fn string(out: &mut String, text: &str) {
    // Every string has a JSON form.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

const fn is_time(ty: Type) -> bool {
    matches!(ty, Type::Date(_) | Type::Time(_) | Type::Timestamp(_))
}

fn quoted(out: &mut String, text: fmt::Arguments<'_>) {
    // Writing into a `String` does not fail.
    let _ = write!(out, "\"{text}\"");
}

fn integer(out: &mut String, value: impl fmt::Display, ty: Type, style: Style) {
    // Writing into a `String` does not fail.
    let _ = match (style, ty) {
        (Style::Exact, _) => write!(out, "\"{value}\""),
        (Style::Plain, Type::Decimal { scale, .. }) => {
            write!(out, "\"{}\"", digits::decimal(&value.to_string(), scale))
        }
        (Style::Plain, _) => write!(out, "{value}"),
    };
}

/// Appends a number, or a string if JSON has no such number.
fn float(out: &mut String, text: &str) {
    if text.ends_with(['N', 'y']) { quoted(out, format_args!("{text}")) } else { out.push_str(text) }
}

/// Appends a list or a map as an array, a struct as an object.
fn nested<C: Column>(out: &mut String, of: &C, rows: std::ops::Range<u64>, style: Style) -> Result<()> {
    let object = matches!(of.ty(), Type::Struct(_));
    out.push(if object { '{' } else { '[' });
    for k in 0..of.ty().children() {
        let child = of.child(k)?;
        if object {
            out.push_str(if k > 0 { "," } else { "" });
            string(out, of.child_name(k)?);
            out.push(':');
        }
        batches(&child, rows.clone(), |batch| -> Result<()> {
            for i in 0..batch.len {
                let first = batch.first == rows.start && i == 0;
                out.push_str(if first { "" } else { "," });
                value(out, &child, batch, i, style, false)?;
            }
            Ok(())
        })?;
    }
    out.push(if object { '}' } else { ']' });
    Ok(())
}

/// Prints one object per row, each on its own line.
pub struct Lines<W> {
    out: W,
    line: String,
    /// True if bytes that are UTF-8 are shown as text.
    texts: bool,
}

impl<W: Write> Lines<W> {
    pub fn new(out: W, texts: bool) -> Self {
        Lines { out, line: String::new(), texts }
    }
}

impl<W: Write> Rows for Lines<W> {
    fn value<C: Column>(&mut self, k: usize, name: &str, column: &C, batch: &Batch<'_, C>, i: usize) -> Result<()> {
        self.line.push(if k > 0 { ',' } else { '{' });
        string(&mut self.line, name);
        self.line.push(':');
        value(&mut self.line, column, batch, i, Style::Plain, self.texts)
    }

    fn end(&mut self) -> std::result::Result<(), Failure> {
        self.line.push_str("}\n");
        self.out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn texts(name: &str, style: Style) -> Vec<String> {
        let mut all = Vec::new();
        let column = sample::column(name);
        batches(&column, 0..column.rows(), |batch| -> Result<()> {
            for i in 0..batch.len {
                let mut out = String::new();
                value(&mut out, &column, batch, i, style, false)?;
                all.push(out);
            }
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn exact_values_are_strings() {
        assert_eq!(texts("int", Style::Exact), ["\"1\"", "null", "\"-3\""]);
        assert_eq!(texts("double", Style::Exact), ["\"bits:3ff8000000000000\"", "null", "\"bits:7ff0000000000000\""]);
        assert_eq!(texts("half", Style::Exact), ["\"bits:3c00\"", "null", "\"bits:7e00\""]);
        assert_eq!(texts("text", Style::Exact), [r#""a\"b\u0001\n""#, "null", "\"\""]);
        assert_eq!(texts("bytes", Style::Exact), ["\"hex:00ff\"", "null", "\"hex:\""]);
        assert_eq!(texts("decimal", Style::Exact), ["\"12345\"", "null", "\"-5\""]);
        assert_eq!(texts("list", Style::Exact), [r#"["1",null]"#, "null", r#"["-3"]"#]);
        assert_eq!(texts("struct", Style::Exact)[2], r#"{"n":"-3","s":""}"#);
    }

    #[test]
    fn plain_values_are_numbers_where_json_has_them() {
        assert_eq!(texts("int", Style::Plain), ["1", "null", "-3"]);
        assert_eq!(texts("double", Style::Plain), ["1.5", "null", "\"Infinity\""]);
        assert_eq!(texts("half", Style::Plain), ["1.0", "null", "\"NaN\""]);
        assert_eq!(texts("bool", Style::Plain), ["true", "null", "false"]);
        assert_eq!(texts("bytes", Style::Plain), ["\"00ff\"", "null", "\"\""]);
        assert_eq!(texts("decimal", Style::Plain), ["\"123.45\"", "null", "\"-0.05\""]);
        assert_eq!(texts("wide", Style::Plain), ["\"0.01\"", "null", "\"-0.01\""]);
    }

    #[test]
    fn control_characters_take_the_short_escape_where_there_is_one() {
        let mut out = String::new();
        string(&mut out, "\u{8}\t\n\u{c}\r\u{1f}\u{7f}/\\å");
        assert_eq!(out, "\"\\b\\t\\n\\f\\r\\u001f\u{7f}/\\\\å\"");
    }
}
