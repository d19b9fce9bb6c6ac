//! A value as JSON, in two styles.

use std::ops::Range;

use pilaster::Result;
use pilaster::bytes::half_to_f32;
use pilaster::column::{Batch, Column, Type, Value};
use pilaster::error::{Error, Kind, What};

use crate::cells::{Cells, Syntax};
use crate::digits;
use crate::json_text::{float, quoted, string};
use crate::time;
use crate::variant;
use crate::walk::batches;

/// The form of numbers and bytes, which JSON cannot represent exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Exact with every JSON parser: integers are decimal strings, floats `bits:` and bytes `hex:`; dates, times and
    /// decimals are the stored integers.
    Exact,
    /// Readable: numbers are JSON numbers, decimals have a decimal point, dates and times are ISO 8601 text.
    Plain,
}

/// Appends the value of row `i` of `batch`, a batch of `column`. If `texts`, bytes that are UTF-8 are written as text.
/// `ahead` belongs to the batch.
pub fn value<C: Column>(
    out: &mut String,
    column: &C,
    batch: &Batch<'_, C>,
    i: usize,
    (style, texts): (Style, bool),
    ahead: &mut Ahead,
) -> Result<()> {
    let (exact, ty) = (style == Style::Exact, ahead.ty(column));
    match batch.value(i)? {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Int(value) if exact => quoted(out, format_args!("{value}")),
        Value::Int(value) => match ty {
            Type::Decimal { scale, .. } => {
                out.push('"');
                digits::put_decimal(out, value, scale);
                out.push('"');
            }
            _ if is_time(ty) => {
                out.push('"');
                time::text(out, value, ty, ahead.zone(column)?);
                out.push('"');
            }
            _ => digits::put_integer(out, value),
        },
        Value::Int256(words) => match ty {
            Type::Decimal { scale, .. } if !exact => {
                out.push('"');
                digits::decimal(out, &digits::wide(words), scale);
                out.push('"');
            }
            _ if exact => quoted(out, format_args!("{}", digits::wide(words))),
            _ => out.push_str(&digits::wide(words)),
        },
        Value::F16(bits) if exact => quoted(out, format_args!("bits:{bits:04x}")),
        Value::F32(value) if exact => quoted(out, format_args!("bits:{:08x}", value.to_bits())),
        Value::F64(value) if exact => quoted(out, format_args!("bits:{:016x}", value.to_bits())),
        Value::F16(bits) => float(out, half_to_f32(bits)),
        Value::F32(value) => float(out, value),
        Value::F64(value) => float(out, value),
        text @ Value::Text(_) => string(out, text.text()?.unwrap_or_default()),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if texts && ty == Type::Bytes => string(out, text),
            _ => {
                out.push_str(if exact { "\"hex:" } else { "\"" });
                out.push_str(&digits::hex(bytes));
                out.push('"');
            }
        },
        Value::Nested(rows) => return nested(out, batch, (i, rows), style, ahead),
    }
    Ok(())
}

/// Returns whether values of a type are dates or times.
pub const fn is_time(ty: Type) -> bool {
    matches!(ty, Type::Date(_) | Type::Time(_) | Type::Timestamp(_))
}

/// Maximum size in bytes of the memory for rows of children that are read ahead.
const AHEAD: u64 = 1 << 25;

/// The type and the time zone of the column of a batch, and the JSON text of the children of some of its rows. Children are read
/// together, because a column may unpack far more than the children of one row to read them.
#[derive(Debug, Default)]
pub struct Ahead {
    /// The type and the time zone, which take a search of the metadata.
    ty: Option<Type>,
    zone: Option<Option<String>>,
    /// The shape of a nested column.
    shape: Option<Shape>,
    /// The rows of the batch.
    rows: Range<usize>,
    /// True if the children of these rows are read row by row: they take too much memory, or one of them is invalid.
    one_by_one: bool,
    /// The first row of the children.
    first: u64,
    children: Vec<Child>,
}

/// What the rows of a nested column have in common.
#[derive(Debug)]
struct Shape {
    is_variant: bool,
    /// What precedes the value of each field of a struct: a comma after the first, and the name.
    names: Option<Vec<String>>,
    children: usize,
}

impl Shape {
    fn new<C: Column>(of: &C) -> Result<Self> {
        let ty = of.ty();
        let name = |k: usize| {
            let mut text = String::from(if k > 0 { "," } else { "" });
            string(&mut text, of.child_name(k)?);
            text.push(':');
            Ok(text)
        };
        let names = matches!(ty, Type::Struct(_)).then(|| (0..ty.children()).map(name).collect::<Result<Vec<_>>>());
        Ok(Shape { is_variant: of.is_variant(), names: names.transpose()?, children: ty.children() })
    }
}

/// Consecutive rows of a child.
#[derive(Debug, Default)]
struct Child {
    text: String,
    /// The end of each row in the text.
    ends: Vec<usize>,
}

impl Child {
    /// Appends the values of a batch in the style [`Plain`](Style::Plain).
    fn values<C: Column>(&mut self, of: &C, batch: &Batch<'_, C>) -> Result<()> {
        let syntax = Json { names: &[], texts: false };
        let (mut cells, mut page) = (Cells::new(&syntax, of, batch), Vec::new());
        for i in 0..batch.len {
            cells.put(&mut page, i)?;
            self.ends.push(self.text.len().saturating_add(page.len()));
        }
        // It is valid UTF-8, so nothing is replaced or copied first.
        self.text.push_str(&String::from_utf8_lossy(&page));
        Ok(())
    }

    /// Reads variants: metadata and values of the same rows.
    fn variants<C: Column>(&mut self, of: &C, rows: &Range<u64>) -> Result<()> {
        // Most rows have the metadata of the row before.
        let (mut metadata, mut places, mut row) = (Vec::new(), Vec::<Range<usize>>::new(), 0);
        batches(&of.child(0)?, rows.clone(), |batch| -> Result<()> {
            for i in 0..batch.len {
                let bytes = variant::bytes(batch, i)?;
                let last = places.last().filter(|last| metadata.get(Range::clone(last)) == Some(bytes));
                let place = last.cloned().unwrap_or_else(|| {
                    let start = metadata.len();
                    metadata.extend_from_slice(bytes);
                    start..metadata.len()
                });
                places.push(place);
                if metadata.len() as u64 > AHEAD {
                    // These rows are then read one by one.
                    return Err(Error::new(Kind::Limit, What::MAX_DECODED, 0));
                }
            }
            Ok(())
        })?;
        batches(&of.child(1)?, rows.clone(), |batch| -> Result<()> {
            for i in 0..batch.len {
                let names = places.get(row).and_then(|place| metadata.get(place.clone())).unwrap_or_default();
                variant::append(&mut self.text, names, variant::bytes(batch, i)?);
                self.ends.push(self.text.len());
                row = row.saturating_add(1);
            }
            Ok(())
        })
    }
}

impl Ahead {
    /// Returns the type of the column of the batch.
    pub fn ty<C: Column>(&mut self, column: &C) -> Type {
        *self.ty.get_or_insert_with(|| column.ty())
    }

    /// Returns the time zone of the column of the batch, if it has timestamps.
    pub fn zone<C: Column>(&mut self, column: &C) -> Result<Option<&str>> {
        if self.zone.is_none() {
            self.zone = Some(column.zone()?.map(str::to_owned));
        }
        Ok(self.zone.as_ref().and_then(Option::as_deref))
    }

    /// Returns the shape of a nested column, and itself without it.
    fn shape<C: Column>(&mut self, of: &C) -> Result<Shape> {
        match self.shape.take() {
            Some(shape) => Ok(shape),
            None => Shape::new(of),
        }
    }

    /// Reads the children of row `i` and of rows after it.
    fn fill<C: Column>(&mut self, batch: &Batch<'_, C>, i: usize, style: Style) {
        // The whole batch if possible, because its rows may refer to rows of the children in any order.
        let len = if self.rows.is_empty() { batch.len } else { self.rows.len().saturating_mul(2) };
        let mut end = batch.len.min(i.saturating_add(len));
        self.one_by_one = loop {
            match range(batch, i..end).filter(|range| fits(&batch.of, range)) {
                Some(range) => break self.read(&batch.of, &range, style).is_err(),
                None if end.saturating_sub(i) <= 1 => break true,
                None => end = i.saturating_add(end.saturating_sub(i) >> 1),
            }
        };
        self.rows = i..end;
    }

    fn read<C: Column>(&mut self, of: &C, rows: &Range<u64>, style: Style) -> Result<()> {
        self.children.clear();
        self.first = rows.start;
        if style == Style::Plain && of.is_variant() {
            let mut to = Child::default();
            to.variants(of, rows)?;
            self.children.push(to);
            return Ok(());
        }
        for k in 0..of.ty().children() {
            let (child, mut to) = (of.child(k)?, Child::default());
            batches(&child, rows.clone(), |batch| match style {
                Style::Plain => to.values(&child, batch),
                Style::Exact => {
                    let mut below = Ahead::default();
                    for i in 0..batch.len {
                        value(&mut to.text, &child, batch, i, (style, false), &mut below)?;
                        to.ends.push(to.text.len());
                    }
                    Ok(())
                }
            })?;
            self.children.push(to);
        }
        Ok(())
    }

    /// Returns the text of row `row` of child `k`.
    fn text(&self, k: usize, row: u64) -> &str {
        let text = || {
            let Child { text, ends } = self.children.get(k)?;
            let row = usize::try_from(row.checked_sub(self.first)?).ok()?;
            let start = row.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
            text.get(start..*ends.get(row)?)
        };
        text().unwrap_or_default()
    }
}

/// Returns the rows of the children that some rows of a batch have, or `None` if many others lie among them.
fn range<C>(batch: &Batch<'_, C>, rows: Range<usize>) -> Option<Range<u64>> {
    let (mut first, mut end, mut sum) = (u64::MAX, 0, 0u64);
    for i in rows {
        if let Ok(Value::Nested(range)) = batch.value(i)
            && !range.is_empty()
        {
            (first, end) = (first.min(range.start), end.max(range.end));
            sum = sum.saturating_add(range.end.saturating_sub(range.start));
        }
    }
    let many = end.saturating_sub(first) > sum.saturating_mul(SPREAD);
    (!many).then_some(first.min(end)..end)
}

/// Maximum number of rows of children that are read for each row that is shown.
const SPREAD: u64 = 16;

/// Returns whether the rows of all children can be read ahead.
fn fits<C: Column>(of: &C, rows: &Range<u64>) -> bool {
    (0..of.ty().children()).all(|k| {
        let need = of.child(k).and_then(|child| child.need(rows.start..rows.end));
        need.is_ok_and(|need| need <= AHEAD)
    })
}

/// Appends row `i` of a batch, whose children have the rows `rows`: a list or a map as an array, a struct as an object.
fn nested<C: Column>(
    out: &mut String,
    batch: &Batch<'_, C>,
    (i, rows): (usize, Range<u64>),
    style: Style,
    ahead: &mut Ahead,
) -> Result<()> {
    let of = &batch.of;
    if !ahead.rows.contains(&i) {
        ahead.fill(batch, i, style);
    }
    let shape = ahead.shape(of)?;
    let done = match style {
        Style::Plain if shape.is_variant && ahead.one_by_one => {
            let mut one = Child::default();
            one.variants(of, &rows).map(|()| out.push_str(&one.text))
        }
        Style::Plain if shape.is_variant => {
            out.push_str(ahead.text(0, rows.start));
            Ok(())
        }
        _ => children(out, of, (&shape, rows), style, ahead),
    };
    ahead.shape = Some(shape);
    done
}

/// Appends the children of a row of a list, a map or a struct.
fn children<C: Column>(
    out: &mut String,
    of: &C,
    (shape, rows): (&Shape, Range<u64>),
    style: Style,
    ahead: &Ahead,
) -> Result<()> {
    out.push(if shape.names.is_some() { '{' } else { '[' });
    for k in 0..shape.children {
        out.push_str(shape.names.as_ref().and_then(|names| names.get(k)).map_or("", String::as_str));
        if !ahead.one_by_one {
            for row in rows.clone() {
                out.push_str(if row > rows.start { "," } else { "" });
                out.push_str(ahead.text(k, row));
            }
            continue;
        }
        let child = of.child(k)?;
        batches(&child, rows.clone(), |batch| -> Result<()> {
            let mut below = Ahead::default();
            for i in 0..batch.len {
                let first = batch.first == rows.start && i == 0;
                out.push_str(if first { "" } else { "," });
                value(out, &child, batch, i, (style, false), &mut below)?;
            }
            Ok(())
        })?;
    }
    out.push(if shape.names.is_some() { '}' } else { ']' });
    Ok(())
}

/// Returns the children of new batches of `columns` columns: none are read.
pub fn ahead(columns: usize) -> Vec<Ahead> {
    (0..columns).map(|_| Ahead::default()).collect()
}

/// The syntax of values.
pub struct Json<'l> {
    /// What precedes the value of each column.
    pub names: &'l [String],
    /// True if bytes that are UTF-8 are written as text.
    pub texts: bool,
}

impl Syntax for Json<'_> {
    type Ahead = Ahead;

    const QUOTED: bool = true;
    const BEGIN: &'static [u8] = b"{";
    const END: &'static [u8] = b"}\n";
    const ESCAPED: u8 = b'\\';

    #[inline]
    fn before(&self, out: &mut Vec<u8>, k: usize) {
        out.extend_from_slice(self.names.get(k).map_or(&[], String::as_bytes));
    }

    fn texts(&self) -> bool {
        self.texts
    }

    #[inline]
    fn missing(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }

    #[inline]
    fn plain(&self, out: &mut Vec<u8>, text: &[u8]) {
        out.push(b'"');
        out.extend_from_slice(text);
        out.push(b'"');
    }

    fn text(&self, out: &mut String, text: &str) {
        string(out, text);
    }

    #[inline]
    fn check(&self, _: &mut Vec<u8>, _: usize) {}

    fn value<C: Column>(
        &self,
        out: &mut String,
        column: &C,
        batch: &Batch<'_, C>,
        i: usize,
        ahead: &mut Ahead,
    ) -> Result<()> {
        value(out, column, batch, i, (Style::Plain, self.texts), ahead)
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
                value(&mut out, &column, batch, i, (style, false), &mut Ahead::default())?;
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
