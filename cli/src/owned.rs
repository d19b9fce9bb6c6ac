//! A batch that owns its values, to pass it to another thread.

use pilaster::Result;
use pilaster::bytes::Bits;
use pilaster::column::{Batch, Spans, Validity, Values, VarBytes};

use crate::slice::slice;

/// A batch without nested values.
#[derive(Debug)]
pub struct Owned {
    first: u64,
    len: usize,
    values: Content,
    /// The presence bitmap; `Ok` with whether all rows have a value if there is none.
    validity: std::result::Result<bool, Vec<u8>>,
}

macro_rules! owned {
    ($($number:ident($ty:ty))+) => {
        #[derive(Debug)]
        enum Content {
            Null,
            Bool(Vec<u8>),
            $($number(Vec<$ty>),)+
            /// Whether they are text, the end of each, and the bytes of all.
            Strings(bool, Vec<u64>, Vec<u8>),
            /// Whether they are text, and the bytes of each.
            Same(bool, Vec<u8>),
        }

        impl Content {
            fn of<C>(batch: &Batch<'_, C>) -> Result<Option<Self>> {
                Ok(Some(match &batch.values {
                    Values::Null => Content::Null,
                    Values::Bool(bits) => Content::Bool(bytes(*bits)),
                    $(Values::$number(values) => Content::$number(values.to_vec()),)+
                    Values::Bytes(strings) => copied(false, strings, &batch.validity)?,
                    Values::Utf8(strings) => copied(true, strings, &batch.validity)?,
                    Values::Nested(_) => return Ok(None),
                }))
            }

            /// Returns how many of the first rows take about `most` bytes together.
            fn fitting<C>(batch: &Batch<'_, C>, most: usize) -> Result<usize> {
                let len = batch.len;
                Ok(match &batch.values {
                    $(Values::$number(_) => most.checked_div(size_of::<$ty>()).unwrap_or(len),)+
                    Values::Bytes(strings) | Values::Utf8(strings) => fitting(strings, &batch.validity, most)?,
                    Values::Null | Values::Bool(_) | Values::Nested(_) => len,
                })
            }

            fn values(&self, len: usize) -> Result<Values<'_>> {
                let text = |is_text: bool, strings| if is_text { Values::Utf8(strings) } else { Values::Bytes(strings) };
                Ok(match self {
                    Content::Null => Values::Null,
                    Content::Bool(bytes) => Values::Bool(Bits::new(bytes, 0, len)?),
                    $(Content::$number(values) => Values::$number(values),)+
                    Content::Strings(is_text, ends, data) => {
                        text(*is_text, VarBytes { data, spans: Spans::Off64(ends) })
                    }
                    Content::Same(is_text, data) => text(*is_text, VarBytes { data, spans: Spans::Same { count: len } }),
                })
            }
        }
    };
}

owned! {
    I8(i8) I16(i16) I32(i32) I64(i64) I128(i128) I256([u64; 4]) U8(u8) U16(u16) U32(u32) U64(u64) F16(u16) F32(f32) F64(f64)
}

fn bytes(bits: Bits<'_>) -> Vec<u8> {
    bits.words().flat_map(u64::to_le_bytes).collect()
}

/// Returns string `i`, and no bytes for a missing row, whose span may be invalid.
fn string<'s>(strings: &VarBytes<'s>, validity: &Validity<'_>, i: usize) -> Result<&'s [u8]> {
    if validity.get(i) { strings.get(i) } else { Ok(&[]) }
}

fn copied(is_text: bool, strings: &VarBytes<'_>, validity: &Validity<'_>) -> Result<Content> {
    if let Spans::Same { .. } = strings.spans {
        return Ok(Content::Same(is_text, strings.data.to_vec()));
    }
    let (mut ends, mut data) = (Vec::with_capacity(strings.len().saturating_add(1)), Vec::new());
    ends.push(0);
    for i in 0..strings.len() {
        data.extend_from_slice(string(strings, validity, i)?);
        ends.push(data.len() as u64);
    }
    Ok(Content::Strings(is_text, ends, data))
}

fn fitting(strings: &VarBytes<'_>, validity: &Validity<'_>, most: usize) -> Result<usize> {
    if let Spans::Same { count } = strings.spans {
        return Ok(count);
    }
    let mut sum = 0usize;
    for i in 0..strings.len() {
        sum = sum.saturating_add(string(strings, validity, i)?.len()).saturating_add(size_of::<u64>());
        if sum > most {
            return Ok(i);
        }
    }
    Ok(strings.len())
}

impl Owned {
    /// Copies the first rows of a batch: as many as take about `most` bytes, at least one if there is one. `None` if its
    /// values are nested, because they are rows of other columns.
    pub fn of<C: Copy>(batch: &Batch<'_, C>, most: usize) -> Result<Option<Self>> {
        let len = Content::fitting(batch, most)?.max(1).min(batch.len);
        let batch = slice(batch, 0..len)?;
        let validity = match batch.validity {
            Validity::All => Ok(true),
            Validity::None => Ok(false),
            Validity::Bits(bits) => Err(bytes(bits)),
        };
        let values = Content::of(&batch)?;
        Ok(values.map(|values| Owned { first: batch.first, len, values, validity }))
    }

    /// Returns the number of rows.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns the batch, as one of the column `of`.
    pub fn batch<C>(&self, of: C) -> Result<Batch<'_, C>> {
        let validity = match &self.validity {
            Ok(true) => Validity::All,
            Ok(false) => Validity::None,
            Err(bytes) => Validity::Bits(Bits::new(bytes, 0, self.len)?),
        };
        Ok(Batch { first: self.first, len: self.len, values: self.values.values(self.len)?, validity, of })
    }
}

#[cfg(test)]
mod tests {
    use pilaster::column::{Column as _, Memory, Part as _, Table as _};

    use super::*;
    use crate::sample;

    #[test]
    fn every_kind_of_batch() {
        let (mut table, mut copied) = (sample::table(&sample::NAMES), 0);
        let mut memory = Memory::with_len(1 << 14).unwrap();
        let mut scratch = memory.scratch();
        let part = table.next_part(&mut scratch).unwrap().unwrap();
        for k in 0..part.width() {
            let column = part.column(k).unwrap();
            let mut memory = Memory::with_len(1 << 24).unwrap();
            let batch = column.read(1..column.rows(), &mut memory.scratch()).unwrap();
            for most in [0, 20, 1 << 20] {
                let Some(owned) = Owned::of(&batch, most).unwrap() else {
                    assert!(column.ty().children() > 0, "column {k}");
                    continue;
                };
                let same = owned.batch(column).unwrap();
                assert_eq!((same.first, same.len), (1, owned.len()));
                assert!(most < 1 << 20 || same.len == batch.len);
                for row in 0..same.len {
                    assert_eq!(same.value(row).unwrap(), batch.value(row).unwrap(), "column {k}, row {row}");
                }
                copied += same.len;
            }
        }
        assert!(copied > 30, "{copied}");
    }

    #[test]
    fn the_span_of_a_missing_text_may_be_invalid() {
        let spans = [[0, 2], [u32::MAX, u32::MAX], [2, 1]];
        let values = Values::Utf8(VarBytes { data: b"abc", spans: Spans::Each(&spans) });
        let mut batch = Batch { first: 0, len: 3, values, validity: Validity::All, of: () };
        assert!(Owned::of(&batch, 99).is_err());
        batch.validity = Validity::Bits(Bits::new(&[0b101], 0, 3).unwrap());
        let owned = Owned::of(&batch, 99).unwrap().unwrap();
        let copy = owned.batch(()).unwrap();
        for row in 0..3 {
            assert_eq!(copy.value(row).unwrap(), batch.value(row).unwrap(), "row {row}");
        }
    }

    #[test]
    fn a_text_of_all_rows_is_copied_once() {
        let strings = VarBytes { data: b"same", spans: Spans::Same { count: 1 << 20 } };
        let batch = Batch { first: 7, len: 1 << 20, values: Values::Utf8(strings), validity: Validity::All, of: () };
        let owned = Owned::of(&batch, 9).unwrap().unwrap();
        assert!(matches!(&owned.values, Content::Same(true, data) if data.len() == 4));
        assert_eq!(owned.len(), 1 << 20);
        let batch = owned.batch(()).unwrap();
        assert!(matches!(batch.values, Values::Utf8(strings) if strings.text(1 << 19) == Ok("same")));
    }
}
