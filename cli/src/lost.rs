//! Rows of a column that are lost: they are missing in what `recover` writes. What it has saved, and the counts at the end of its
//! report.

use std::ops::Range;

use pilaster::Result;
use pilaster::bytes::{Bits, Scratch};
use pilaster::column::{Prim, Ranges, Spans, Type, Unit, Values, VarBytes};

/// What `recover` has saved.
pub struct Saved {
    pub rows: u64,
    /// The last line of the report.
    pub line: String,
}

/// Returns the first of `rows` that are all lost, or none of which is, and whether they are lost. `lost` ascends.
pub fn split(lost: &[Range<u64>], rows: Range<u64>) -> (Range<u64>, bool) {
    match lost.get(lost.partition_point(|lost| lost.end <= rows.start)) {
        Some(lost) if lost.start <= rows.start => (rows.start..rows.end.min(lost.end), true),
        Some(lost) => (rows.start..rows.end.min(lost.start), false),
        None => (rows, false),
    }
}

/// Returns an upper bound of the memory that [`values`] takes for `rows`.
pub fn need(rows: &Range<u64>) -> u64 {
    // The widest cell has 32 bytes.
    rows.end.saturating_sub(rows.start).saturating_mul(32).saturating_add(64)
}

/// The end of a report without a loss.
pub const NOTHING: &str = "nothing is lost";

/// Returns the end of a report: the counts that are not 0, each as how, count and what; `none` if all are 0. What is counted
/// is given as one and as many.
pub fn counted(counts: &[(u64, &str, [&str; 2])], none: &str) -> String {
    let counts = counts.iter().filter(|(count, ..)| *count > 0);
    let texts: Vec<String> = counts.map(|(count, how, what)| format!("{how}: {}", number(*count, *what))).collect();
    if texts.is_empty() { none.to_owned() } else { texts.join(", ") }
}

/// Returns a number and what is counted, which is given as one and as many.
pub fn number(count: u64, [one, many]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns values of type `ty` for missing rows. A missing list has no elements, a missing struct
/// no fields.
pub fn values<'s>(ty: Type, len: usize, scratch: &mut Scratch<'s>) -> Result<Values<'s>> {
    macro_rules! zeros {
        ($name:ident) => {{
            let zeros = scratch.take(len)?;
            zeros.fill(Default::default());
            Values::$name(zeros)
        }};
    }
    Ok(match ty {
        Type::Bool => {
            let bits = scratch.take::<u8>(len.div_ceil(8))?;
            bits.fill(0);
            Values::Bool(Bits::new(bits, 0, len)?)
        }
        Type::Prim(Prim::I8) => zeros!(I8),
        Type::Prim(Prim::I16) => zeros!(I16),
        Type::Prim(Prim::I32) | Type::Date(Unit::Day) | Type::Time(Unit::Second | Unit::Milli) => zeros!(I32),
        Type::Prim(Prim::I64) | Type::Date(_) | Type::Time(_) | Type::Timestamp(_) => zeros!(I64),
        Type::Prim(Prim::U8) => zeros!(U8),
        Type::Prim(Prim::U16) => zeros!(U16),
        Type::Prim(Prim::U32) => zeros!(U32),
        Type::Prim(Prim::U64) => zeros!(U64),
        Type::Prim(Prim::F16) => zeros!(F16),
        Type::Prim(Prim::F32) => zeros!(F32),
        Type::Prim(Prim::F64) => zeros!(F64),
        Type::Decimal { precision: ..=2, .. } => zeros!(I8),
        Type::Decimal { precision: ..=4, .. } => zeros!(I16),
        Type::Decimal { precision: ..=9, .. } => zeros!(I32),
        Type::Decimal { precision: ..=18, .. } => zeros!(I64),
        Type::Decimal { precision: ..=38, .. } => zeros!(I128),
        Type::Decimal { .. } => zeros!(I256),
        Type::Utf8 | Type::Bytes => {
            let spans = scratch.take::<[u32; 2]>(len)?;
            spans.fill([0, 0]);
            let texts = VarBytes { data: &[], spans: Spans::Each(spans) };
            if ty == Type::Utf8 { Values::Utf8(texts) } else { Values::Bytes(texts) }
        }
        Type::List | Type::FixedList(_) | Type::Struct(_) | Type::Map => {
            Values::Nested(Ranges::Stride { first: 0, size: 0, count: len })
        }
        _ => Values::Null,
    })
}
