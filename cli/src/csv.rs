//! Rows as CSV.
//!
//! One rule tells missing values from empty strings: a field is quoted if it holds a comma, a quote
//! or a line break, or if it is equal to the text of a missing value. The text of a missing value is never quoted.
//! (The `csv` crate cannot distinguish the two: it quotes an empty field that is alone in its row.)

use std::io::Write;

use pilaster::Result;
use pilaster::bytes::half_to_f32;
use pilaster::column::{Batch, Column, Type, Value};

use crate::cells::{self, Syntax};
use crate::digits;
use crate::failure::Failure;
use crate::json::{self, Ahead, Style};
use crate::time;
use crate::walk::{Head, Lot, Rows};

pub struct Csv<W> {
    pub out: W,
    header: bool,
    /// The text of a missing value.
    pub missing: String,
    /// True if bytes that are UTF-8 are shown as text.
    pub texts: bool,
    /// The row so far.
    pub line: String,
    ahead: Vec<Ahead>,
    /// Rows that are not written yet.
    page: Vec<u8>,
}

impl<W: Write> Csv<W> {
    pub fn new(out: W, header: bool, missing: &str) -> Self {
        let missing = missing.to_owned();
        Csv { out, header, missing, texts: false, line: String::new(), ahead: Vec::new(), page: Vec::new() }
    }

    /// Prints rows without a header.
    pub fn rows(out: W, missing: &str, texts: bool) -> Self {
        Csv { texts, ..Csv::new(out, false, missing) }
    }
}

impl<W: Write> Rows for Csv<W> {
    fn batches(&mut self, columns: usize) -> std::result::Result<(), Failure> {
        self.ahead = json::ahead(columns);
        Ok(())
    }

    fn head(&mut self, head: &Head) -> std::result::Result<(), Failure> {
        self.texts = head.texts;
        if !std::mem::take(&mut self.header) {
            return Ok(());
        }
        for (k, name) in head.names.iter().enumerate() {
            self.line.push_str(if k > 0 { "," } else { "" });
            let start = self.line.len();
            self.line.push_str(name);
            quote(&mut self.line, start, &self.missing);
        }
        self.end()
    }

    fn value<C: Column>(&mut self, k: usize, _: &str, column: &C, batch: &Batch<'_, C>, i: usize) -> Result<()> {
        self.line.push_str(if k > 0 { "," } else { "" });
        let Some(ahead) = self.ahead.get_mut(k) else { return Ok(()) };
        let fields = Fields { missing: &self.missing, texts: self.texts };
        fields.value(&mut self.line, column, batch, i, ahead)
    }

    fn end(&mut self) -> std::result::Result<(), Failure> {
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }

    fn rows<C: Column>(
        &mut self,
        lot: &Lot<'_, '_, C>,
        rows: &mut dyn Iterator<Item = usize>,
    ) -> std::result::Result<(), Failure> {
        let fields = Fields { missing: &self.missing, texts: self.texts };
        cells::print(&fields, lot, rows, &mut self.page, &mut self.out)
    }
}

/// The fields of rows.
struct Fields<'c> {
    missing: &'c str,
    texts: bool,
}

impl Syntax for Fields<'_> {
    type Ahead = Ahead;

    const QUOTED: bool = false;
    const BEGIN: &'static [u8] = b"";
    const END: &'static [u8] = b"\n";
    const ESCAPED: u8 = b',';

    #[inline]
    fn before(&self, out: &mut Vec<u8>, k: usize) {
        if k > 0 {
            out.push(b',');
        }
    }

    fn texts(&self) -> bool {
        self.texts
    }

    #[inline]
    fn missing(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.missing.as_bytes());
    }

    #[inline]
    fn plain(&self, out: &mut Vec<u8>, text: &[u8]) {
        let start = out.len();
        out.extend_from_slice(text);
        if text.is_empty() {
            out.extend_from_slice(b"\"\"");
        } else {
            self.check(out, start);
        }
    }

    fn text(&self, out: &mut String, text: &str) {
        let start = out.len();
        out.push_str(text);
        quote(out, start, self.missing);
    }

    #[inline]
    fn check(&self, out: &mut Vec<u8>, start: usize) {
        if !self.missing.is_empty() && out.get(start..) == Some(self.missing.as_bytes()) {
            out.truncate(start);
            out.extend_from_slice(quoted(self.missing).as_bytes());
        }
    }

    fn value<C: Column>(
        &self,
        out: &mut String,
        column: &C,
        batch: &Batch<'_, C>,
        i: usize,
        ahead: &mut Ahead,
    ) -> Result<()> {
        let start = out.len();
        match field(out, column, batch, i, self.texts, ahead)? {
            Written::Missing => out.push_str(self.missing),
            Written::Number => quote_if(out, start, |field| field == self.missing),
            Written::Text => quote(out, start, self.missing),
        }
        Ok(())
    }
}

/// What a field has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Missing,
    /// No characters that CSV puts in quotes.
    Number,
    Text,
}

/// Appends a value without quotes.
pub fn field<C: Column>(
    out: &mut String,
    column: &C,
    batch: &Batch<'_, C>,
    i: usize,
    texts: bool,
    ahead: &mut Ahead,
) -> Result<Written> {
    let ty = ahead.ty(column);
    match batch.value(i)? {
        Value::Null => return Ok(Written::Missing),
        text @ Value::Text(_) => {
            out.push_str(text.text()?.unwrap_or_default());
            return Ok(Written::Text);
        }
        Value::Bytes(bytes) => {
            match std::str::from_utf8(bytes) {
                Ok(text) if texts && ty == Type::Bytes => out.push_str(text),
                _ => out.push_str(&digits::hex(bytes)),
            }
            return Ok(Written::Text);
        }
        Value::Int(value) => match ty {
            Type::Decimal { scale, .. } => digits::put_decimal(out, value, scale),
            _ if json::is_time(ty) => time::text(out, value, ty, ahead.zone(column)?),
            _ => digits::put_integer(out, value),
        },
        Value::Int256(words) => match ty {
            Type::Decimal { scale, .. } => digits::decimal(out, &digits::wide(words), scale),
            _ => out.push_str(&digits::wide(words)),
        },
        Value::F16(bits) => digits::put_float(out, half_to_f32(bits)),
        Value::F32(value) => digits::put_float(out, value),
        Value::F64(value) => digits::put_float(out, value),
        Value::Bool(_) | Value::Nested(_) => {
            json::value(out, column, batch, i, (Style::Plain, false), ahead)?;
            return Ok(Written::Text);
        }
    }
    Ok(Written::Number)
}

/// Puts the text that begins at `start` of `line` in quotes, if necessary.
fn quote(line: &mut String, start: usize, missing: &str) {
    // Not `any`: a loop that always goes to the end tests many bytes at once.
    let is_special = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let has_special = |field: &str| field.bytes().fold(false, |found, byte| found | is_special(byte));
    quote_if(line, start, |field| field.is_empty() || field == missing || has_special(field));
}

fn quote_if(line: &mut String, start: usize, must: impl Fn(&str) -> bool) {
    let field = line.get(start..).unwrap_or_default();
    if must(field) {
        let quoted = quoted(field);
        line.truncate(start);
        line.push_str(&quoted);
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::sieve::Conditions;
    use crate::walk::{Choice, rows};

    fn text(names: &[&str], header: bool, missing: &str) -> String {
        let mut out = Vec::new();
        let (all, any) = (0..u64::MAX, Conditions::default());
        let choice = Choice::of(&all, &any);
        rows(&mut sample::table(names), choice, &mut Csv::new(&mut out, header, missing)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn missing_is_nothing_and_empty_is_quoted() {
        assert_eq!(text(&["text", "int"], true, ""), "text,int\n\"a\"\"b\u{1}\n\",1\n,\n\"\",-3\n");
    }

    #[test]
    fn a_value_that_reads_like_a_missing_one_is_quoted() {
        assert_eq!(text(&["int"], false, "-3"), "1\n-3\n\"-3\"\n");
    }

    #[test]
    fn every_kind_of_value() {
        let names = ["bool", "double", "half", "bytes", "decimal", "wide"];
        let rows = text(&names, true, "NA");
        assert_eq!(
            rows,
            "bool,double,half,bytes,decimal,wide\ntrue,1.5,1.0,00ff,123.45,0.01\nNA,NA,NA,NA,NA,NA\nfalse,Infinity,NaN,\"\",-0.05,-0.01\n"
        );
    }

    #[test]
    fn nested_values_are_json() {
        assert_eq!(text(&["list"], false, ""), "\"[1,null]\"\n\n[-3]\n");
        assert!(text(&["struct"], false, "").ends_with("\"{\"\"n\"\":-3,\"\"s\"\":\"\"\"\"}\"\n"));
    }
}
