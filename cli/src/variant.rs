//! Variants as JSON: numbers, booleans, texts, arrays and objects as such, other values as text.

use pilaster::Result;
use pilaster::column::{Batch, Column, Type, Unit, Value};
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;
use pilaster::unstable::encoding::variant::{Array, Keys, Object, Primitive};
use pilaster::unstable::limits::Depth;

use crate::json_text::{float, quoted, string};
use crate::{digits, time};

/// Appends a variant. Bytes that are no variant are shown as such.
pub fn append(out: &mut String, metadata: &[u8], value: &[u8]) {
    let start = out.len();
    let most = metadata.len().saturating_add(value.len()).saturating_mul(LONGER).saturating_add(1 << 16);
    let whole = Keys::parse(metadata).and_then(|keys| {
        Json { out, keys, end: start.saturating_add(most) }.value(value, Depth::new(&Limits::DEFAULT))
    });
    if whole.is_err() {
        out.truncate(start);
        out.push_str("{\"metadata\":\"");
        out.push_str(&digits::hex(metadata));
        out.push_str("\",\"value\":\"");
        out.push_str(&digits::hex(value));
        out.push_str("\"}");
    }
}

/// Maximum length of the JSON text in proportion to the bytes: fields may share their bytes, and names are repeated.
const LONGER: usize = 64;

struct Json<'o, 'v> {
    out: &'o mut String,
    keys: Keys<'v>,
    /// Maximum length of `out`.
    end: usize,
}

impl Json<'_, '_> {
    fn value(&mut self, value: &[u8], depth: Depth) -> Result<()> {
        if self.out.len() > self.end {
            return Err(Error::needing(Kind::Limit, What::VARIANT, 0, self.end as u64));
        }
        if let Some(object) = Object::parse(value)? {
            let depth = depth.child(0)?;
            self.out.push('{');
            for i in 0..object.len() {
                let (id, field) = object.field(i)?;
                self.out.push_str(if i > 0 { "," } else { "" });
                string(self.out, text(self.keys.name(id)?)?);
                self.out.push(':');
                self.value(field, depth)?;
            }
            self.out.push('}');
        } else if let Some(array) = Array::parse(value)? {
            let depth = depth.child(0)?;
            self.out.push('[');
            for i in 0..array.len() {
                self.out.push_str(if i > 0 { "," } else { "" });
                self.value(array.item(i)?, depth)?;
            }
            self.out.push(']');
        } else if let Some(value) = Primitive::parse(value)? {
            self.primitive(&value)?;
        }
        Ok(())
    }

    fn primitive(&mut self, value: &Primitive<'_>) -> Result<()> {
        let zone = |utc: bool| utc.then_some("UTC");
        match *value {
            Primitive::Null => self.out.push_str("null"),
            Primitive::Bool(value) => self.out.push_str(if value { "true" } else { "false" }),
            Primitive::Int(value, _) => digits::put_integer(self.out, value.into()),
            Primitive::Float(value) => float(self.out, value),
            Primitive::Double(value) => float(self.out, value),
            Primitive::Decimal(value) => match i8::try_from(value.scale) {
                Ok(scale) => {
                    self.out.push('"');
                    digits::put_decimal(self.out, value.value, scale);
                    self.out.push('"');
                }
                Err(_) => return Err(Error::needing(Kind::Invalid, What::VARIANT, 0, value.scale.into())),
            },
            Primitive::Date(days) => self.time(days.into(), Type::Date(Unit::Day), None),
            Primitive::Time(micros) => self.time(micros, Type::Time(Unit::Micro), None),
            Primitive::Micros(count, utc) => self.time(count, Type::Timestamp(Unit::Micro), zone(utc)),
            Primitive::Nanos(count, utc) => self.time(count, Type::Timestamp(Unit::Nano), zone(utc)),
            Primitive::Bytes(bytes) => quoted(self.out, format_args!("{}", digits::hex(bytes))),
            Primitive::Text(bytes) => string(self.out, text(bytes)?),
            Primitive::Uuid(bytes) => {
                let hex = digits::hex(&bytes);
                let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| hex.get(part).unwrap_or_default());
                quoted(self.out, format_args!("{}", parts.join("-")));
            }
        }
        Ok(())
    }

    fn time(&mut self, count: i64, ty: Type, zone: Option<&str>) {
        self.out.push('"');
        time::text(self.out, count.into(), ty, zone);
        self.out.push('"');
    }
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::new(Kind::Utf8, What::VARIANT, 0))
}

/// Returns the bytes of row `i` of a batch.
pub fn bytes<'s, C: Column>(batch: &Batch<'s, C>, i: usize) -> Result<&'s [u8]> {
    match batch.value(i)? {
        Value::Bytes(bytes) | Value::Text(bytes) => Ok(bytes),
        _ => Ok(&[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(metadata: &[u8], value: &[u8]) -> String {
        let mut out = String::from("v: ");
        append(&mut out, metadata, value);
        out.split_off(3)
    }

    #[test]
    fn values_of_every_kind() {
        let names = [0x11, 2, 0, 1, 2, b'a', b'b'];
        assert_eq!(shown(&names, &[0x02, 2, 0, 1, 0, 2, 4, 0x0c, 7, 0x05, b'x']), r#"{"a":7,"b":"x"}"#);
        assert_eq!(shown(&names, &[0x03, 3, 0, 1, 2, 3, 0, 4, 8]), "[null,true,false]");
        let one = |value: &[u8]| shown(&[1, 0, 0], value);
        assert_eq!(one(&[0x38, 0, 0, 0xc0, 0x3f]), "1.5");
        assert_eq!(one(&[0x20, 2, 0x87, 0xd6, 0x12, 0]), r#""12345.67""#);
        assert_eq!(one(&[0x2c, 0x56, 0x47, 0, 0]), r#""2020-01-01""#);
        assert_eq!(one(&[0x30, 0, 0, 0, 0, 0, 0, 0, 0]), r#""1970-01-01T00:00:00.000000Z""#);
        assert_eq!(one(&[0x3c, 2, 0, 0, 0, 0xab, 1]), r#""ab01""#);
        let uuid: Vec<u8> = std::iter::once(0x50).chain(0..16).collect();
        assert_eq!(one(&uuid), r#""00010203-0405-0607-0809-0a0b0c0d0e0f""#);
    }

    #[test]
    fn bytes_that_are_no_variant_are_shown() {
        assert_eq!(shown(&[1, 0, 0], &[0x0d, b'x']), r#"{"metadata":"010000","value":"0d78"}"#);
        assert_eq!(shown(&[], &[0]), r#"{"metadata":"","value":"00"}"#);
        // An array in an array …: deeper than the limit.
        let mut deep = vec![0];
        for _ in 0..70 {
            let len = u16::try_from(deep.len()).unwrap().to_le_bytes();
            deep = [&[0x07, 1, 0, 0][..], &len, &deep].concat();
        }
        assert!(shown(&[1, 0, 0], &deep).starts_with("{\"metadata\""));
        // Arrays whose items share their bytes, each twice as long as the one inside.
        let mut shared = vec![0x05, b'x'];
        for _ in 0..40 {
            let len = u16::try_from(shared.len()).unwrap().to_le_bytes();
            shared = [&[0x07, 2, 0, 0, 0, 0][..], &len, &shared].concat();
        }
        assert!(shown(&[1, 0, 0], &shared).starts_with("{\"metadata\""));
    }
}
