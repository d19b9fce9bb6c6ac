//! The default value of new rows as the bytes of an item: `dflt` of `meta/storage` (section A.1).

use crate::bcolz::Dtype;
use crate::column::Prim;
use crate::error::{Error, Kind, Result, What};
use crate::meta::json::{Event, Json, Text};

/// Fills `row`, which has `dims` items, with the default value `json`: one item for all, or nested lists of items.
///
/// # Errors
/// [`Kind::Unsupported`] for objects, which have no default value; [`Kind::Invalid`] if `json` is not a value of the
/// type.
pub(super) fn put_row(dtype: &Dtype<'_>, dims: &[u64], json: &[u8], row: &mut [u8]) -> Result<()> {
    let size = dtype.size() as usize;
    if size == 0 {
        return Err(Error::new(Kind::Unsupported, What::BCOLZ_DTYPE, 0));
    }
    // A record is a list, too, so the value of one item is tried first.
    let mut one = Json::new(json);
    if let Some((item, rest)) = row.split_at_mut_checked(size)
        && put(dtype, &mut one, item).and_then(|()| one.end()).is_ok()
    {
        rest.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(item));
        return Ok(());
    }
    let mut all = Json::new(json);
    lists(dtype, dims, &mut all, row)?;
    all.end()
}

fn lists(dtype: &Dtype<'_>, dims: &[u64], json: &mut Json<'_>, row: &mut [u8]) -> Result<()> {
    let Some((length, dims)) = dims.split_first() else { return put(dtype, json, row) };
    let each = usize::try_from(*length).ok().and_then(|length| row.len().checked_div(length)).unwrap_or(0);
    json.array()?;
    for part in row.chunks_exact_mut(each.max(1)) {
        lists(dtype, dims, json, part)?;
    }
    match json.next()? {
        Some(Event::End) => Ok(()),
        _ => Err(invalid(json)),
    }
}

/// Writes the next value as an item. The depth is bounded, because parsing the text of the type checked it.
fn put(dtype: &Dtype<'_>, json: &mut Json<'_>, item: &mut [u8]) -> Result<()> {
    item.fill(0);
    if let Dtype::Struct(fields) = dtype {
        json.array()?;
        for field in fields.iter() {
            let at = field.at as usize;
            let to = item.get_mut(at..).and_then(|item| item.get_mut(..field.dtype.size() as usize));
            put(&field.dtype, json, to.unwrap_or_default())?;
        }
        return match json.next()? {
            Some(Event::End) => Ok(()),
            _ => Err(invalid(json)),
        };
    }
    let done = match (dtype, json.next()?) {
        (Dtype::Bool, Some(Event::Bool(value))) => fill(item, &[u8::from(value)], false),
        (Dtype::Bool, Some(Event::Number("0"))) => Some(()),
        (Dtype::Bool, Some(Event::Number("1"))) => fill(item, &[1], false),
        (Dtype::Number { prim, big }, Some(Event::Number(text))) => number(*prim, text, *big, item),
        (Dtype::Number { prim, big }, Some(Event::Bool(value))) => {
            number(*prim, if value { "1" } else { "0" }, *big, item)
        }
        (Dtype::Time { big, .. }, Some(Event::Number(text))) => number(Prim::I64, text, *big, item),
        // Not a time.
        (Dtype::Time { big, .. }, Some(Event::Null)) => fill(item, &i64::MIN.to_le_bytes(), *big),
        (Dtype::Bytes(_), Some(Event::String(text))) => characters(&text, 0x7f, item, |c| [c as u8]),
        (Dtype::Void(_), Some(Event::String(text))) => characters(&text, 0xff, item, |c| [c as u8]),
        (Dtype::Text { big, .. }, Some(Event::String(text))) => characters(&text, u32::MAX, item, |c| {
            if *big { u32::from(c).to_be_bytes() } else { u32::from(c).to_le_bytes() }
        }),
        _ => None,
    };
    done.ok_or_else(|| invalid(json))
}

fn number(prim: Prim, text: &str, big: bool, item: &mut [u8]) -> Option<()> {
    let float = text.parse::<f64>();
    match prim {
        Prim::I8 => fill(item, &text.parse::<i8>().ok()?.to_le_bytes(), big),
        Prim::I16 => fill(item, &text.parse::<i16>().ok()?.to_le_bytes(), big),
        Prim::I32 => fill(item, &text.parse::<i32>().ok()?.to_le_bytes(), big),
        Prim::I64 => fill(item, &text.parse::<i64>().ok()?.to_le_bytes(), big),
        Prim::U8 => fill(item, &text.parse::<u8>().ok()?.to_le_bytes(), big),
        Prim::U16 => fill(item, &text.parse::<u16>().ok()?.to_le_bytes(), big),
        Prim::U32 => fill(item, &text.parse::<u32>().ok()?.to_le_bytes(), big),
        Prim::U64 => fill(item, &text.parse::<u64>().ok()?.to_le_bytes(), big),
        Prim::F16 => fill(item, &half(float.ok()?).to_le_bytes(), big),
        // The value was a float of 32 bits, which is printed with the digits of one of 64.
        Prim::F32 => fill(item, &text.parse::<f32>().ok()?.to_le_bytes(), big),
        Prim::F64 => fill(item, &float.ok()?.to_le_bytes(), big),
    }
}

fn fill(item: &mut [u8], bytes: &[u8], big: bool) -> Option<()> {
    if item.len() != bytes.len() {
        return None;
    }
    item.copy_from_slice(bytes);
    if big {
        item.reverse();
    }
    Some(())
}

/// Writes each character as a unit of `N` bytes, if none is above `most` and all fit.
fn characters<const N: usize>(
    text: &Text<'_>,
    most: u32,
    item: &mut [u8],
    unit: impl Fn(char) -> [u8; N],
) -> Option<()> {
    let mut units = item.as_chunks_mut::<N>().0.iter_mut();
    for c in text.chars() {
        if u32::from(c) > most {
            return None;
        }
        *units.next()? = unit(c);
    }
    Some(())
}

/// Rounds to a float of 16 bits.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the ranges are checked")]
fn half(value: f64) -> u16 {
    let sign = (value.to_bits() >> 48) as u16 & 0x8000;
    let size = value.abs();
    let bits = if size.is_nan() {
        0x7e00
    } else if size >= 65520.0 {
        0x7c00
    } else {
        // The distance of neighbours is 2^-24 for subnormal numbers, and depends on the exponent for others.
        let exponent = ((value.to_bits() >> 52) as i32 & 0x7ff).wrapping_sub(1023).max(-14);
        let count = (size / f64::exp2(f64::from(exponent.wrapping_sub(10)))).round_ties_even() as u16;
        // A normal number counts from 1024, and the exponent has a bias of 15; a carry into the exponent is right.
        ((exponent.wrapping_add(14) as u16) << 10).wrapping_add(count)
    };
    sign | bits
}

#[cold]
fn invalid(json: &Json<'_>) -> Error {
    Error::new(Kind::Invalid, What::BCOLZ_DFLT, json.at())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    fn row(dtype: &str, dims: &[u64], json: &str) -> Result<Vec<u8>> {
        let dtype = Dtype::parse(dtype).unwrap();
        let mut row = vec![0xee; dtype.size() as usize * dims.iter().product::<u64>() as usize];
        put_row(&dtype, dims, json.as_bytes(), &mut row).map(|()| row)
    }

    #[test]
    fn defaults_of_every_type() {
        for (dtype, dims, json, expected) in [
            ("bool", &[][..], "true", &[1][..]),
            ("bool", &[], "0", &[0]),
            ("int16", &[], "-2", &[0xfe, 0xff]),
            (">u4", &[], "258", &[0, 0, 1, 2]),
            ("float64", &[], "NaN", &f64::NAN.to_le_bytes()),
            (">f4", &[], "-Infinity", &[0xff, 0x80, 0, 0]),
            ("float32", &[], "0.10000000149011612", &0.1f32.to_le_bytes()),
            ("float16", &[], "1.5", &[0, 0x3e]),
            ("datetime64[D]", &[], "0", &[0; 8]),
            (">M8[D]", &[], "null", &[0x80, 0, 0, 0, 0, 0, 0, 0]),
            ("|S3", &[], "\"ab\"", b"ab\0"),
            ("<U2", &[], "\"\\u00e9\"", &[0xe9, 0, 0, 0, 0, 0, 0, 0]),
            (">U1", &[], "\"z\"", &[0, 0, 0, b'z']),
            ("|V2", &[], "\"\\u0000\\u00ff\"", &[0, 0xff]),
            ("[('a', '<i2'), ('b', '|S1')]", &[], "[1, \"x\"]", &[1, 0, b'x']),
            ("[('a', 'i1'), ('b', [('c', 'i1')])]", &[2], "[1, [2]]", &[1, 2, 1, 2]),
            ("[('a', 'i1'), ('b', 'i1')]", &[2], "[[1, 2], [3, 4]]", &[1, 2, 3, 4]),
            ("{'names': ['a'], 'formats': ['i1'], 'offsets': [1], 'itemsize': 3}", &[], "[7]", &[0, 7, 0]),
            ("int8", &[2, 3], "4", &[4; 6]),
            ("int8", &[2, 3], "[[1, 2, 3], [4, 5, 6]]", &[1, 2, 3, 4, 5, 6]),
        ] {
            assert_eq!(row(dtype, dims, json).as_deref(), Ok(expected), "{dtype} {dims:?} {json}");
        }
    }

    #[test]
    fn defaults_that_are_none() {
        for (dtype, dims, json) in [
            ("int8", &[][..], "128"),
            ("int8", &[], "0.5"),
            ("int8", &[], "\"\""),
            ("float64", &[], "null"),
            ("|S1", &[], "\"ab\""),
            ("|S4", &[], "\"\\u00e9\""),
            ("<U1", &[], "0"),
            ("[('a', '<i2')]", &[], "[]"),
            ("[('a', '<i2')]", &[], "[1, 2]"),
            ("int8", &[2], "[1]"),
            ("int8", &[2], "[1, 2, 3]"),
            ("int8", &[], "1 2"),
            ("int8", &[], ""),
        ] {
            assert!(row(dtype, dims, json).is_err(), "{dtype} {dims:?} {json}");
        }
        let e = put_row(&Dtype::Object, &[], b"0", &mut []).unwrap_err();
        assert_eq!((e.kind(), e.what()), (Kind::Unsupported, What::BCOLZ_DTYPE));
    }

    #[test]
    fn halves() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (f64::INFINITY, 0x7c00),
            (6.103515625e-5, 0x0400),
            (5.960464477539063e-8, 1),
            (2.9802322387695312e-8, 0),
            (2.98023224e-8, 1),
            (2047.5, 0x6800),
            (1.0 / 3.0, 0x3555),
        ] {
            assert_eq!(half(value), bits, "{value}");
        }
    }
}
