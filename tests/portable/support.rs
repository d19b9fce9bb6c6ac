//! Rows that a test owns, and the way from a golden's expectation to them and from a reader.
#![allow(dead_code, reason = "each test file uses a part")]

use pilaster::bytes::{Bits, Scratch};
use pilaster::column::Validity;
use pilaster::filo::write::{Plain, Rows, Strings, encode, max_len, scratch_len};
use pilaster::filo::{Element, Encoding, Packing, Value, Vector};

/// Values of one element type; in missing rows they are arbitrary.
#[derive(Clone, Debug)]
pub enum Values {
    Boolean(Vec<bool>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Timestamp(Vec<i64>),
    DateTime(Vec<(i64, i32)>),
    String(Vec<Vec<u8>>),
    Utf8(Vec<Vec<u8>>),
}

#[derive(Clone, Debug)]
pub struct Owned {
    pub values: Values,
    pub valid: Vec<bool>,
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::Boolean(v) => v.len(),
            Values::Int(v) => v.len(),
            Values::Long(v) | Values::Timestamp(v) => v.len(),
            Values::Float(v) => v.len(),
            Values::Double(v) => v.len(),
            Values::DateTime(v) => v.len(),
            Values::String(v) | Values::Utf8(v) => v.len(),
        }
    }
}

/// Whether a golden of Filo has the header word of a release before 0.3.3; constants have the same word in all releases.
pub fn has_old_header(name: &str) -> bool {
    name.starts_with("legacy") && name != "legacy032_int_const"
}

/// Every encoding in every width, legal or not.
pub fn encodings() -> Vec<Encoding> {
    let mut all = vec![
        Encoding::Empty,
        Encoding::SimpleString,
        Encoding::ConstString,
        Encoding::Repeated,
        Encoding::Utf8,
        Encoding::FixedMaxUtf8,
    ];
    for p in Packing::ALL {
        all.extend([
            Encoding::Simple(p),
            Encoding::Const(p),
            Encoding::Diff(p),
            Encoding::DictString(p),
            Encoding::Packed(p),
            Encoding::Masked(p),
            Encoding::DeltaDelta(p),
            Encoding::DictUtf8(p),
            Encoding::DiffDateTime { millis: p, zones: None },
        ]);
        all.extend(Packing::ALL.map(|zones| Encoding::DiffDateTime { millis: p, zones: Some(zones) }));
    }
    all
}

/// Bits, the first in the lowest place.
pub fn bitmap(bits: &[bool]) -> Vec<u8> {
    let mut bytes = vec![0; bits.len().div_ceil(8)];
    for (i, bit) in bits.iter().enumerate() {
        bytes[i / 8] |= u8::from(*bit) << (i % 8);
    }
    bytes
}

impl Owned {
    /// Rows that all have a value.
    pub fn full(values: Values) -> Owned {
        Owned { valid: vec![true; values.len()], values }
    }

    /// Lends the rows to a writer.
    pub fn with<R>(&self, f: impl FnOnce(&Rows<'_>) -> R) -> R {
        let valid = bitmap(&self.valid);
        let validity = match self.valid.contains(&false) {
            true => Validity::Bits(Bits::new(&valid, 0, self.valid.len()).unwrap()),
            false => Validity::All,
        };
        fn slices(strings: &[Vec<u8>]) -> Vec<&[u8]> {
            strings.iter().map(Vec::as_slice).collect()
        }
        let run = |values| f(&Rows { values, validity });
        match &self.values {
            Values::Boolean(v) => run(Plain::Boolean(Bits::new(&bitmap(v), 0, v.len()).unwrap())),
            Values::Int(v) => run(Plain::Int(v)),
            Values::Long(v) => run(Plain::Long(v)),
            Values::Float(v) => run(Plain::Float(v)),
            Values::Double(v) => run(Plain::Double(v)),
            Values::Timestamp(v) => run(Plain::Timestamp(v)),
            Values::DateTime(v) => {
                let (millis, offsets): (Vec<_>, Vec<_>) = v.iter().copied().unzip();
                run(Plain::DateTime { millis: &millis, offsets: &offsets })
            }
            Values::String(v) => run(Plain::String(Strings::Slices(&slices(v)))),
            Values::Utf8(v) if v.iter().all(|text| std::str::from_utf8(text).is_ok()) => {
                run(Plain::Utf8(Strings::Slices(&slices(v))))
            }
            Values::Utf8(v) => run(Plain::Blob(Strings::Slices(&slices(v)))),
        }
    }

    /// What a reader must say of each row.
    pub fn value(&self, i: usize) -> Option<Value<'_>> {
        self.valid[i].then(|| match &self.values {
            Values::Boolean(v) => Value::Boolean(v[i]),
            Values::Int(v) => Value::Int(v[i]),
            Values::Long(v) => Value::Long(v[i]),
            Values::Float(v) => Value::Float(v[i]),
            Values::Double(v) => Value::Double(v[i]),
            Values::Timestamp(v) => Value::Timestamp(v[i]),
            Values::DateTime(v) => Value::DateTime { millis: v[i].0, offset_ms: v[i].1 },
            Values::String(v) | Values::Utf8(v) => Value::Bytes(&v[i]),
        })
    }

    pub fn element(&self) -> Element {
        self.with(|rows| rows.values.element())
    }

    /// Writes the rows into a buffer full of `dirt`, with as much scratch as may be needed.
    pub fn write(&self, encoding: Encoding, dirt: u8) -> pilaster::Result<Vec<u8>> {
        self.with(|rows| {
            let mut memory = vec![dirt; scratch_len(rows.len())];
            let mut chunk = vec![dirt; max_len(encoding, rows.len(), self.text_bytes())];
            let len = encode(encoding, rows, &mut chunk, &mut Scratch::new(&mut memory))?;
            chunk.truncate(len);
            Ok(chunk)
        })
    }

    pub fn text_bytes(&self) -> usize {
        match &self.values {
            Values::String(strings) | Values::Utf8(strings) => strings.iter().map(Vec::len).sum(),
            _ => 0,
        }
    }

    /// Opens `chunk` and compares every row, numbers by their bits.
    #[track_caller]
    pub fn assert_read(&self, chunk: &[u8], context: &dyn std::fmt::Debug) {
        // Our strings need not be text.
        let element = if self.element() == Element::Utf8 { Element::Blob } else { self.element() };
        let vector = Vector::open(chunk, element).unwrap_or_else(|e| panic!("{context:?}: {e}"));
        vector.verify().unwrap_or_else(|e| panic!("{context:?}: {e}"));
        assert_eq!(vector.rows(), self.valid.len() as u64, "{context:?}: rows");
        for (i, got) in vector.iter().enumerate() {
            let got = got.unwrap_or_else(|e| panic!("{context:?}, row {i}: {e}"));
            assert!(same(got, self.value(i)), "{context:?}, row {i}: {got:?} instead of {:?}", self.value(i));
        }
    }

    /// The rows of a chunk.
    fn read(chunk: &[u8], element: Element) -> pilaster::Result<Owned> {
        let rows: Vec<Option<Value<'_>>> = Vector::open(chunk, element)?.iter().collect::<Result<_, _>>()?;
        macro_rules! column {
            ($kind:ident, $default:expr, $pattern:pat => $value:expr) => {{
                let cell = |row: &Option<Value<'_>>| match *row {
                    Some($pattern) => $value,
                    None => $default,
                    Some(other) => panic!("{other:?} in a column of {element}"),
                };
                Values::$kind(rows.iter().map(cell).collect())
            }};
        }
        let values = match element {
            Element::Boolean => column!(Boolean, true, Value::Boolean(v) => v),
            Element::Int => column!(Int, 77, Value::Int(v) => v),
            Element::Long => column!(Long, 77, Value::Long(v) => v),
            Element::Float => column!(Float, f32::NAN, Value::Float(v) => v),
            Element::Double => column!(Double, f64::NAN, Value::Double(v) => v),
            Element::Timestamp => column!(Timestamp, 77, Value::Timestamp(v) => v),
            Element::DateTime => {
                column!(DateTime, (77, 77), Value::DateTime { millis, offset_ms } => (millis, offset_ms))
            }
            Element::String => column!(String, b"?".to_vec(), Value::Bytes(v) => v.to_vec()),
            Element::Utf8 | Element::Blob => column!(Utf8, b"?".to_vec(), Value::Bytes(v) => v.to_vec()),
        };
        Ok(Owned { values, valid: rows.iter().map(Option::is_some).collect() })
    }

    /// The rows of a golden, from its expectation; rows of a long column come from our reader.
    pub fn of_golden(expected: &serde_json::Value, chunk: &[u8]) -> Owned {
        let element: Element = expected["facts"]["element_type"].as_str().unwrap().parse().unwrap();
        Owned::expected(expected).unwrap_or_else(|| Owned::read(chunk, element).unwrap())
    }

    /// The rows of a golden's expectation; `None` where the column is too long to be listed.
    fn expected(json: &serde_json::Value) -> Option<Owned> {
        use serde_json::Value as Json;
        let rows = json["columns"][0]["values"].as_array()?;
        let element: Element = json["facts"]["element_type"].as_str().unwrap().parse().unwrap();
        let text = |v: &Json| v.as_str().unwrap_or_else(|| panic!("{v} is no text")).to_owned();
        let bits = |v: &Json| u64::from_str_radix(text(v).strip_prefix("bits:").unwrap(), 16).unwrap();
        let long = |v: &Json| if v.is_null() { 77 } else { text(v).parse::<i64>().unwrap() };
        let bytes = |v: &Json| match text(v).strip_prefix("hex:") {
            Some(hex) if element == Element::Blob => {
                (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
            }
            _ => text(v).into_bytes(),
        };
        let or =
            |v: &Json, missing: &str, f: &dyn Fn(&Json) -> Vec<u8>| if v.is_null() { missing.into() } else { f(v) };
        let values = match element {
            Element::Boolean => Values::Boolean(rows.iter().map(|v| v.as_bool().unwrap_or(true)).collect()),
            Element::Int => Values::Int(rows.iter().map(|v| long(v) as i32).collect()),
            Element::Long => Values::Long(rows.iter().map(long).collect()),
            Element::Timestamp => Values::Timestamp(rows.iter().map(long).collect()),
            Element::Float => Values::Float(
                rows.iter().map(|v| f32::from_bits(if v.is_null() { 7 } else { bits(v) as u32 })).collect(),
            ),
            Element::Double => {
                Values::Double(rows.iter().map(|v| f64::from_bits(if v.is_null() { 7 } else { bits(v) })).collect())
            }
            Element::DateTime => {
                let offsets = json["columns"][1]["values"].as_array().unwrap();
                Values::DateTime(rows.iter().zip(offsets).map(|(m, o)| (long(m), long(o) as i32)).collect())
            }
            Element::String => Values::String(rows.iter().map(|v| or(v, "?", &bytes)).collect()),
            Element::Utf8 | Element::Blob => Values::Utf8(rows.iter().map(|v| or(v, "?", &bytes)).collect()),
        };
        Some(Owned { values, valid: rows.iter().map(|v| !v.is_null()).collect() })
    }
}

/// Equal, and floats bit by bit.
pub fn same(a: Option<Value<'_>>, b: Option<Value<'_>>) -> bool {
    match (a, b) {
        (Some(Value::Float(a)), Some(Value::Float(b))) => a.to_bits() == b.to_bits(),
        (Some(Value::Double(a)), Some(Value::Double(b))) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

/// Which rows have a value.
pub fn patterns(n: usize) -> Vec<Vec<bool>> {
    let by = |f: &dyn Fn(usize) -> bool| (0..n).map(f).collect::<Vec<bool>>();
    let mut all = vec![
        by(&|_| true),
        by(&|_| false),
        by(&|i| i * 7 % 10 != 3),
        by(&|i| i % 2 == 1),
        by(&|i| i != 0),
        by(&|i| i + 1 != n),
        by(&|i| i == n / 2),
    ];
    // The edges are at word boundaries: more rows have no others.
    all.truncate(if n > 200 { 3 } else { 7 });
    all.dedup();
    all
}
