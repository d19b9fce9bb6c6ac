//! Some of the rows of a batch.

use std::ops::Range;

use pilaster::Result;
use pilaster::column::{Batch, Ranges, Spans, Validity, Values, VarBytes};
use pilaster::error::{Error, Kind, What};

/// Returns `rows` of a batch, counted from its first row.
pub fn slice<'s, C: Copy>(batch: &Batch<'s, C>, rows: Range<usize>) -> Result<Batch<'s, C>> {
    let cut = || Error::needing(Kind::OutOfRange, What::ROW, rows.end as u64, batch.len as u64);
    let len = rows.end.checked_sub(rows.start).filter(|_| rows.end <= batch.len).ok_or_else(cut)?;
    let (first, validity) = (batch.first.saturating_add(rows.start as u64), validity(batch.validity, &rows)?);
    let values = values(batch.values, &rows)?.ok_or_else(cut)?;
    Ok(Batch { first, len, values, validity, of: batch.of })
}

fn validity<'s>(validity: Validity<'s>, rows: &Range<usize>) -> Result<Validity<'s>> {
    Ok(match validity {
        Validity::Bits(bits) => Validity::Bits(bits.slice(rows.start, rows.len())?),
        other => other,
    })
}

/// Returns `None` if there are fewer values.
fn values<'s>(values: Values<'s>, rows: &Range<usize>) -> Result<Option<Values<'s>>> {
    macro_rules! cut {
        ($($number:ident)+) => {
            match values {
                $(Values::$number(values) => values.get(rows.clone()).map(Values::$number),)+
                Values::Null => Some(Values::Null),
                Values::Bool(bits) => Some(Values::Bool(bits.slice(rows.start, rows.len())?)),
                Values::Bytes(strings) => self::strings(strings, rows).map(Values::Bytes),
                Values::Utf8(strings) => self::strings(strings, rows).map(Values::Utf8),
                Values::Nested(ranges) => self::ranges(ranges, rows).map(Values::Nested),
            }
        };
    }
    Ok(cut!(I8 I16 I32 I64 I128 I256 U8 U16 U32 U64 F16 F32 F64))
}

/// Returns the offsets of `rows`: one more than there are rows.
fn offsets<'s, T>(all: &'s [T], rows: &Range<usize>) -> Option<&'s [T]> {
    all.get(rows.start..rows.end.checked_add(1)?)
}

fn strings<'s>(strings: VarBytes<'s>, rows: &Range<usize>) -> Option<VarBytes<'s>> {
    let (mut data, count) = (strings.data, rows.len());
    let spans = match strings.spans {
        Spans::Off32(all) => Spans::Off32(offsets(all, rows)?),
        Spans::Off64(all) => Spans::Off64(offsets(all, rows)?),
        Spans::Each(all) => Spans::Each(all.get(rows.clone())?),
        Spans::Stride { len, .. } => {
            data = data.get(rows.start.checked_mul(usize::try_from(len).ok()?)?..)?;
            Spans::Stride { count, len }
        }
        Spans::Slots { first, size, lens } => {
            let first = first.checked_add(size.checked_mul(u32::try_from(rows.start).ok()?)?)?;
            Spans::Slots { first, size, lens: lens.get(rows.clone())? }
        }
        Spans::Same { .. } => Spans::Same { count },
    };
    Some(VarBytes { data, spans })
}

fn ranges<'s>(ranges: Ranges<'s>, rows: &Range<usize>) -> Option<Ranges<'s>> {
    Some(match ranges {
        Ranges::Stride { first, size, .. } => {
            let first = first.checked_add(size.checked_mul(rows.start as u64)?)?;
            Ranges::Stride { first, size, count: rows.len() }
        }
        Ranges::Off32(all) => Ranges::Off32(offsets(all, rows)?),
        Ranges::Off64(all) => Ranges::Off64(offsets(all, rows)?),
        Ranges::Each(all) => Ranges::Each(all.get(rows.clone())?),
    })
}

#[cfg(test)]
mod tests {
    use pilaster::column::{Column as _, Memory, Part as _, Table as _};

    use super::*;
    use crate::sample;

    #[test]
    fn rows_of_every_kind_of_batch() {
        let mut table = sample::table(&sample::NAMES);
        let mut memory = Memory::with_len(1 << 14).unwrap();
        let mut scratch = memory.scratch();
        let part = table.next_part(&mut scratch).unwrap().unwrap();
        for k in 0..part.width() {
            let column = part.column(k).unwrap();
            let mut memory = Memory::with_len(1 << 24).unwrap();
            let batch = column.read(1..3, &mut memory.scratch()).unwrap();
            for rows in [0..2, 0..1, 1..2, 1..1] {
                let some = slice(&batch, rows.clone()).unwrap();
                assert_eq!((some.first, some.len), (1 + rows.start as u64, rows.len()));
                for (i, row) in rows.enumerate() {
                    assert_eq!(some.value(i).unwrap(), batch.value(row).unwrap(), "column {k}, row {row}");
                }
            }
            assert!(slice(&batch, 1..3).is_err());
        }
    }

    #[test]
    fn strings_and_rows_of_children_by_every_kind_of_span() {
        let data = b"onetwothreefour";
        let spans = [[0, 3], [3, 3], [6, 5], [11, 4]];
        for all in [
            Spans::Off32(&[0, 3, 6, 11, 15]),
            Spans::Off64(&[0, 3, 6, 11, 15]),
            Spans::Each(&spans),
            Spans::Stride { count: 4, len: 3 },
            Spans::Slots { first: 1, size: 3, lens: &[2, 0, 3, 1] },
            Spans::Same { count: 4 },
        ] {
            let all = VarBytes { data, spans: all };
            let some = strings(all, &(1..3)).unwrap();
            assert_eq!((some.len(), some.get(0), some.get(1)), (2, all.get(1), all.get(2)), "{all:?}");
        }
        for all in [
            Ranges::Stride { first: 7, size: 2, count: 4 },
            Ranges::Off32(&[0, 3, 6, 11, 15]),
            Ranges::Off64(&[0, 3, 6, 11, 15]),
            Ranges::Each(&spans),
        ] {
            let some = ranges(all, &(1..3)).unwrap();
            assert_eq!((some.len(), some.get(0), some.get(1)), (2, all.get(1), all.get(2)), "{all:?}");
        }
    }
}
