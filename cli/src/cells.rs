//! Rows of batches as text, cell by cell. How the values of a column are printed is decided once per batch, not for each value.
//!
//! The usual kinds of values are printed here, and all others value by value, as in [`Rows::value`](crate::walk::Rows::value).

use std::io::Write;

use pilaster::Result;
use pilaster::bytes::Bits;
use pilaster::column::{Batch, Column, Type, Value, Values, VarBytes};

use crate::digits;
use crate::failure::Failure;
use crate::figures::{Places, put_integer};
use crate::moments::Moments;
use crate::walk::Lot;

/// The syntax of rows of text.
pub trait Syntax {
    /// State that [`value`](Self::value) keeps for the values of a batch.
    type Ahead: Default;

    /// Whether decimals and dates are in quotes.
    const QUOTED: bool;
    /// What begins a row without columns; otherwise [`before`](Self::before) does.
    const BEGIN: &'static [u8];
    /// What ends a row.
    const END: &'static [u8];
    /// The printable character that is escaped in texts, besides quotes.
    const ESCAPED: u8;

    /// Appends what precedes the value of column `k`.
    fn before(&self, out: &mut Vec<u8>, k: usize);

    /// Returns whether bytes that are UTF-8 are printed as text.
    fn texts(&self) -> bool;

    /// Appends a missing value.
    fn missing(&self, out: &mut Vec<u8>);

    /// Appends a text without characters that are escaped.
    fn plain(&self, out: &mut Vec<u8>, text: &[u8]);

    /// Appends any text.
    fn text(&self, out: &mut String, text: &str);

    /// Changes the number or boolean that begins at `start` if it could be confused with a missing value.
    fn check(&self, out: &mut Vec<u8>, start: usize);

    /// Appends row `i` of a batch with values of any kind.
    fn value<C: Column>(
        &self,
        out: &mut String,
        column: &C,
        batch: &Batch<'_, C>,
        i: usize,
        ahead: &mut Self::Ahead,
    ) -> Result<()>;
}

/// Size in bytes of the text that is written at once.
const PAGE: usize = 1 << 16;

/// Prints rows. `page` is empty before and after.
pub fn print<C: Column, S: Syntax>(
    syntax: &S,
    lot: &Lot<'_, '_, C>,
    rows: &mut dyn Iterator<Item = usize>,
    page: &mut Vec<u8>,
    out: &mut impl Write,
) -> std::result::Result<(), Failure> {
    let columns = lot.columns.iter().zip(lot.batches);
    let mut all: Vec<_> = columns.map(|(column, batch)| Cells::new(syntax, column, batch)).collect();
    let mut done = Ok(());
    for i in rows {
        let start = page.len();
        let row = all.iter_mut().enumerate().try_for_each(|(k, cells)| {
            syntax.before(page, k);
            cells.put(page, i).map_err(|e| lot.failure(k, i, e))
        });
        if row.is_err() {
            // The rows before it are printed.
            page.truncate(start);
            done = row;
            break;
        }
        if lot.columns.is_empty() {
            page.extend_from_slice(S::BEGIN);
        }
        page.extend_from_slice(S::END);
        if page.len() >= PAGE {
            out.write_all(page)?;
            page.clear();
        }
    }
    let written = out.write_all(page);
    page.clear();
    Ok(written?).and(done)
}

/// The values of a batch.
pub struct Cells<'l, 'm, C, S: Syntax> {
    syntax: &'l S,
    column: &'l C,
    batch: &'l Batch<'m, C>,
    kind: Kind<'m>,
    /// For values of other kinds.
    ahead: S::Ahead,
    line: String,
}

/// How values are printed.
enum Kind<'m> {
    Texts(VarBytes<'m>),
    /// Bytes that are printed as text if they are UTF-8.
    Bytes(VarBytes<'m>),
    Integers(Integers<'m>),
    Decimals(Integers<'m>, Places),
    Moments(Integers<'m>, Moments),
    F32(&'m [f32]),
    F64(&'m [f64]),
    Bool(Bits<'m>),
    Other,
}

impl<'m> Kind<'m> {
    fn new<C: Column>(column: &C, batch: &Batch<'m, C>, texts: bool) -> Self {
        let (ty, values) = (column.ty(), batch.values);
        match (ty, values, Integers::of(values)) {
            (Type::Decimal { scale, .. }, _, Some(integers)) => {
                Places::of(scale).map_or(Kind::Other, |places| Kind::Decimals(integers, places))
            }
            (Type::Date(_) | Type::Time(_) | Type::Timestamp(_), _, Some(integers)) => {
                let moments = column.zone().ok().and_then(|zone| Moments::of(ty, zone));
                moments.map_or(Kind::Other, |moments| Kind::Moments(integers, moments))
            }
            (_, _, Some(integers)) => Kind::Integers(integers),
            (_, Values::Utf8(texts), _) => Kind::Texts(texts),
            (Type::Bytes, Values::Bytes(bytes), _) if texts => Kind::Bytes(bytes),
            (_, Values::F32(values), _) => Kind::F32(values),
            (_, Values::F64(values), _) => Kind::F64(values),
            (_, Values::Bool(bits), _) => Kind::Bool(bits),
            _ => Kind::Other,
        }
    }
}

impl<'l, 'm, C: Column, S: Syntax> Cells<'l, 'm, C, S> {
    /// Decides how the values of `batch`, a batch of `column`, are printed.
    pub fn new(syntax: &'l S, column: &'l C, batch: &'l Batch<'m, C>) -> Self {
        let kind = Kind::new(column, batch, syntax.texts());
        Cells { syntax, column, batch, kind, ahead: S::Ahead::default(), line: String::new() }
    }

    /// Appends the value of row `i`.
    #[inline]
    pub fn put(&mut self, out: &mut Vec<u8>, i: usize) -> Result<()> {
        if !self.batch.validity.get(i) {
            self.syntax.missing(out);
            return Ok(());
        }
        let start = out.len();
        let is_put = match &self.kind {
            Kind::Texts(texts) => {
                let text = texts.get(i)?;
                if !is_plain::<S>(text) {
                    return self.escaped(out, text);
                }
                self.syntax.plain(out, text);
                return Ok(());
            }
            Kind::Bytes(bytes) => match bytes.get(i)? {
                text if is_plain::<S>(text) => {
                    self.syntax.plain(out, text);
                    return Ok(());
                }
                _ => false,
            },
            Kind::Integers(integers) => integers.get(i).map(|value| put_integer(out, value)).is_some(),
            Kind::Decimals(integers, places) => integers.get(i).is_some_and(|value| {
                quoted::<S>(out, |out| {
                    places.put(out, value);
                    true
                })
            }),
            Kind::Moments(integers, moments) => {
                integers.get(i).is_some_and(|value| quoted::<S>(out, |out| moments.put(out, value)))
            }
            Kind::F32(values) => values.get(i).is_some_and(|value| float(out, *value)),
            Kind::F64(values) => values.get(i).is_some_and(|value| float(out, *value)),
            Kind::Bool(bits) => {
                let text = bits.get(i).map(|value| if value { "true" } else { "false" });
                text.map(|text| out.extend_from_slice(text.as_bytes())).is_some()
            }
            Kind::Other => false,
        };
        if is_put {
            self.syntax.check(out, start);
            return Ok(());
        }
        out.truncate(start);
        self.line.clear();
        self.syntax.value(&mut self.line, self.column, self.batch, i, &mut self.ahead)?;
        out.extend_from_slice(self.line.as_bytes());
        Ok(())
    }

    /// Appends a text that may have characters that are escaped.
    fn escaped(&mut self, out: &mut Vec<u8>, text: &[u8]) -> Result<()> {
        self.line.clear();
        self.syntax.text(&mut self.line, Value::Text(text).text()?.unwrap_or_default());
        out.extend_from_slice(self.line.as_bytes());
        Ok(())
    }
}

/// Appends a value in quotes, if the syntax puts it in quotes. Returns whether `put` appends one.
#[inline]
fn quoted<S: Syntax>(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
    if !S::QUOTED {
        return put(out);
    }
    out.push(b'"');
    let is_put = put(out);
    out.push(b'"');
    is_put
}

/// Appends a float. Returns false, and appends nothing, if its text has an exponent or is not a number.
#[inline]
fn float<F: digits::Float>(out: &mut Vec<u8>, value: F) -> bool {
    let mut buffer = zmij::Buffer::new();
    let text = digits::simple_float(&mut buffer, value);
    text.map(|text| out.extend_from_slice(text.as_bytes())).is_some()
}

/// Returns whether no byte of a text is escaped, or not of ASCII, or a control character.
#[inline]
fn is_plain<S: Syntax>(text: &[u8]) -> bool {
    let all = u64::from_ne_bytes([1; 8]);
    let (quote, other) = (all.wrapping_mul(b'"'.into()), all.wrapping_mul(S::ESCAPED.into()));
    // The highest bit of each byte is 1 if the byte is outside ASCII, below a space, or equal to one of the two
    // characters. Only such a byte causes a borrow.
    let found = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        let is_control = word.wrapping_sub(all.wrapping_mul(b' '.into()));
        word | is_control | (word ^ quote).wrapping_sub(all) | (word ^ other).wrapping_sub(all)
    };
    let (words, rest) = text.as_chunks::<8>();
    let bits = words.iter().fold(0, |bits, word| bits | found(word));
    // The last bytes once more are faster than the rest alone.
    let last = match text.last_chunk::<8>() {
        Some(last) => found(last),
        None => {
            let mut word = [b' '; 8];
            word.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
            found(&word)
        }
    };
    (bits | last) & all.wrapping_mul(0x80) == 0
}

/// Whole numbers.
enum Integers<'m> {
    I8(&'m [i8]),
    I16(&'m [i16]),
    I32(&'m [i32]),
    I64(&'m [i64]),
    I128(&'m [i128]),
    U8(&'m [u8]),
    U16(&'m [u16]),
    U32(&'m [u32]),
    U64(&'m [u64]),
}

impl<'m> Integers<'m> {
    const fn of(values: Values<'m>) -> Option<Self> {
        Some(match values {
            Values::I8(values) => Integers::I8(values),
            Values::I16(values) => Integers::I16(values),
            Values::I32(values) => Integers::I32(values),
            Values::I64(values) => Integers::I64(values),
            Values::I128(values) => Integers::I128(values),
            Values::U8(values) => Integers::U8(values),
            Values::U16(values) => Integers::U16(values),
            Values::U32(values) => Integers::U32(values),
            Values::U64(values) => Integers::U64(values),
            _ => return None,
        })
    }

    /// Returns number `i`, or `None` if it has more than 64 bits.
    #[inline]
    fn get(&self, i: usize) -> Option<i64> {
        match self {
            Integers::I8(values) => values.get(i).copied().map(i64::from),
            Integers::I16(values) => values.get(i).copied().map(i64::from),
            Integers::I32(values) => values.get(i).copied().map(i64::from),
            Integers::I64(values) => values.get(i).copied(),
            Integers::I128(values) => values.get(i).copied().and_then(|value| value.try_into().ok()),
            Integers::U8(values) => values.get(i).copied().map(i64::from),
            Integers::U16(values) => values.get(i).copied().map(i64::from),
            Integers::U32(values) => values.get(i).copied().map(i64::from),
            Integers::U64(values) => values.get(i).copied().and_then(|value| value.try_into().ok()),
        }
    }
}
