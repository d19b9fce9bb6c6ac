//! Frames in the encoding `raw` of defmt: the index of a format string, then its arguments. All numbers are
//! little-endian. Nothing separates the frames.

use std::collections::BTreeMap;

use defmt_parser::{DisplayHint, Fragment, ParserMode, Type};

use crate::Result;
use crate::table::Table;

/// The frames that are still to be decoded.
pub struct Frames<'a> {
    table: &'a Table,
    bytes: &'a [u8],
}

impl<'a> Frames<'a> {
    pub fn new(table: &'a Table, bytes: &'a [u8]) -> Self {
        Frames { table, bytes }
    }

    /// Returns the next message after its level, e.g. `INFO 3 rows`, or `None` after the last frame.
    ///
    /// # Errors
    /// If the frame is incomplete or invalid, or has an argument of a type that no image here sends.
    pub fn next(&mut self) -> Result<Option<String>> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let format = self.table.get(u16::from_le_bytes(self.take()?))?;
        let level = format.tag.trim_start_matches("defmt_").to_uppercase();
        Ok(Some(format!("{level} {}", self.arguments(&format.text)?)))
    }

    fn slice(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or("the last frame is incomplete")?;
        self.bytes = rest;
        Ok(taken)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.slice(N)?.try_into()?)
    }

    /// Decodes a length, which has 32 bits on both chips.
    fn len(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(self.take()?).try_into()?)
    }

    /// Decodes a value with its format string. Bars separate the variants of an enum, whose index comes first.
    fn format(&mut self, text: &str) -> Result<String> {
        let variants: Vec<&str> = text.split('|').collect();
        let variant = match variants.len() {
            1 => 0,
            2..=255 => usize::from(u8::from_le_bytes(self.take()?)),
            _ => return Err("an enum has more than 255 variants".into()),
        };
        self.arguments(variants.get(variant).ok_or_else(|| format!("{text} has no variant {variant}"))?)
    }

    /// Decodes the arguments of a format string, and inserts them.
    fn arguments(&mut self, text: &str) -> Result<String> {
        let fragments = defmt_parser::parse(text, ParserMode::Strict)?;
        // An argument is encoded once, even if the text contains it twice.
        let mut arguments = BTreeMap::new();
        for fragment in &fragments {
            if let Fragment::Parameter(parameter) = fragment {
                arguments.entry(parameter.index).or_insert((&parameter.ty, String::new()));
            }
        }
        for (ty, value) in arguments.values_mut() {
            *value = self.value(ty)?;
        }
        let mut message = String::new();
        for fragment in &fragments {
            match fragment {
                Fragment::Literal(literal) => message.push_str(literal),
                Fragment::Parameter(parameter) => match (&parameter.hint, arguments.get(&parameter.index)) {
                    (None | Some(DisplayHint::Debug), Some((_, value))) => message.push_str(value),
                    (hint, _) => return Err(format!("the hint {hint:?} is not supported").into()),
                },
            }
        }
        Ok(message)
    }

    fn value(&mut self, ty: &Type) -> Result<String> {
        Ok(match ty {
            Type::Bool => (u8::from_le_bytes(self.take()?) != 0).to_string(),
            Type::U8 => u8::from_le_bytes(self.take()?).to_string(),
            Type::U16 => u16::from_le_bytes(self.take()?).to_string(),
            Type::U32 | Type::Usize => u32::from_le_bytes(self.take()?).to_string(),
            Type::U64 => u64::from_le_bytes(self.take()?).to_string(),
            Type::I8 => i8::from_le_bytes(self.take()?).to_string(),
            Type::I16 => i16::from_le_bytes(self.take()?).to_string(),
            Type::I32 | Type::Isize => i32::from_le_bytes(self.take()?).to_string(),
            Type::I64 => i64::from_le_bytes(self.take()?).to_string(),
            Type::Str => {
                let len = self.len()?;
                str::from_utf8(self.slice(len)?)?.to_owned()
            }
            Type::IStr => self.interned()?.to_owned(),
            Type::Format => {
                let text = self.interned()?;
                self.format(text)?
            }
            Type::FormatSlice => {
                let len = self.len()?;
                self.elements(len)?
            }
            Type::FormatArray(len) => self.elements(*len)?,
            // The output of `defmt::write!`, terminated by the index 0.
            Type::FormatSequence => {
                let mut message = String::new();
                loop {
                    match u16::from_le_bytes(self.take()?) {
                        0 => break message,
                        index => message += &self.arguments(&self.table.get(index)?.text)?,
                    }
                }
            }
            _ => return Err(format!("arguments of the type {ty:?} are not supported").into()),
        })
    }

    fn interned(&mut self) -> Result<&'a str> {
        Ok(&self.table.get(u16::from_le_bytes(self.take()?))?.text)
    }

    /// Decodes elements, which have one format string.
    fn elements(&mut self, len: usize) -> Result<String> {
        let text = self.interned()?;
        let elements = (0..len).map(|_| self.format(text)).collect::<Result<Vec<_>>>()?;
        Ok(format!("[{}]", elements.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Interned;

    /// Decodes frames of an image with `texts`, whose indices begin at 1. Returns the messages or the error.
    fn decoded(texts: &[&str], bytes: &[u8]) -> String {
        let interned = |text: &&str| Interned { tag: "defmt_info".to_owned(), text: (*text).to_owned() };
        let table = Table((1..).zip(texts.iter().map(interned)).collect());
        let mut frames = Frames::new(&table, bytes);
        let mut all = Vec::new();
        loop {
            match frames.next() {
                Ok(Some(message)) => all.push(message),
                Ok(None) => return all.join("; "),
                Err(e) => return format!("error: {e}"),
            }
        }
    }

    #[test]
    fn numbers_and_strings() {
        let bytes = b"\x01\0\xff\x02\x01\0\0\x02\0\0\0ab\x01\0\x05\0\0\0\0\0\0\0\0";
        assert_eq!(decoded(&["{=i8} {{{=u32}}} {=str}"], bytes), "INFO -1 {258} ab; INFO 5 {0} ");
        assert_eq!(decoded(&["{1=u8} {0=u8} {1=u8}"], b"\x01\0\x07\x08"), "INFO 8 7 8");
        assert_eq!(decoded(&["a|b"], b"\x01\0\x01\0"), "INFO a|b; INFO a|b");
    }

    #[test]
    fn nested_values() {
        let texts = [
            "{}",
            "{=u16}",
            "A|B({=?})|C {{ d: {=u8:?} }}",
            "{=__internal_FormatSequence}",
            "{=istr}!",
            "{=[?;2]}",
            "{=[?]}",
        ];
        for (bytes, message) in [
            (&b"\x01\0\x02\0\x05\x01"[..], "INFO 261"),
            (b"\x01\0\x03\0\0", "INFO A"),
            (b"\x01\0\x03\0\x01\x03\0\x02\x09", "INFO B(C { d: 9 })"),
            (b"\x01\0\x04\0\x02\0\x01\0\x05\0\x02\0\0\0", "INFO 1{=u16}!"),
            (b"\x01\0\x06\0\x02\0\x01\0\x02\0", "INFO [1, 2]"),
            (b"\x01\0\x07\0\x01\0\0\0\x03\0\0", "INFO [A]"),
        ] {
            assert_eq!(decoded(&texts, bytes), message);
        }
    }

    #[test]
    fn invalid_frames() {
        assert_eq!(decoded(&["{=u32}"], b"\x01\0\x01"), "error: the last frame is incomplete");
        assert_eq!(decoded(&["{=u32}"], b"\x02\0"), "error: no string has the index 2");
        assert_eq!(decoded(&["{}", "A|B"], b"\x01\0\x02\0\x02"), "error: A|B has no variant 2");
        assert_eq!(decoded(&["{=f32}"], b"\x01\0\0\0\0\0"), "error: arguments of the type F32 are not supported");
        let hint = "error: the hint Some(Binary { alternate: false, zero_pad: 0 }) is not supported";
        assert_eq!(decoded(&["{=u8:b}"], b"\x01\0\0"), hint);
    }
}
