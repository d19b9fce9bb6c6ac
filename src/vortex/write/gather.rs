//! Copies batches to rows in memory.

use alloc::vec;
use core::ops::Range;

use super::rows::{Bitmap, Data, Numbers, Rows};
use crate::bytes::Scratch;
use crate::column::{Batch, Column, Type, Validity, Values, fit};
use crate::error::{Error, Kind, Result};

/// Scratch size in bytes for batches of children, unless one row takes more.
const ROOM: usize = 1 << 16;

impl Rows {
    /// Appends the rows of a batch of `column`, children included.
    ///
    /// # Errors
    /// Errors of the column, among them of a text that is not valid UTF-8.
    pub fn gather<C: Column>(&mut self, column: &C, batch: &Batch<'_, C>) -> Result<()> {
        let (len, validity) = (batch.len, batch.validity);
        let wrong = || Error::new(Kind::WrongType, column.ty().what(), 0);
        match (&mut self.data, batch.values) {
            (Data::Null, _) | (_, Values::Null) if len == 0 => {}
            (Data::Null, _) => {}
            (Data::Bool(to), Values::Bool(bits)) => {
                (0..len).for_each(|i| to.push(validity.get(i) && bits.get(i) == Some(true)));
            }
            (Data::Numbers(to), values) => numbers(to, &values, len, &validity).ok_or_else(wrong)?,
            (Data::Texts(to), Values::Utf8(texts) | Values::Bytes(texts)) => {
                let is_text = column.ty() == Type::Utf8;
                for i in 0..len {
                    match (validity.get(i), is_text) {
                        (true, true) => to.push(texts.text(i)?.as_bytes()),
                        (true, false) => to.push(texts.get(i)?),
                        (false, _) => to.push(&[]),
                    }
                }
            }
            (Data::List(ends, items), Values::Nested(ranges)) => {
                let child = batch.of.child(0)?;
                let mut runs = Runs { items, child: &child, run: 0..0, waiting: 0 };
                for i in 0..len {
                    if validity.get(i) {
                        runs.take(ranges.get(i)?)?;
                    }
                    ends.push((runs.items.len as u64).saturating_add(runs.waiting));
                }
                runs.flush()?;
            }
            (Data::Fixed(size, items), Values::Nested(ranges)) => {
                let size = *size;
                let child = batch.of.child(0)?;
                let mut runs = Runs { items, child: &child, run: 0..0, waiting: 0 };
                for i in 0..len {
                    if validity.get(i) {
                        runs.take(ranges.get(i)?)?;
                    } else {
                        runs.flush()?;
                        runs.items.blank(size);
                    }
                }
                runs.flush()?;
            }
            (Data::Struct(fields), Values::Nested(ranges)) => {
                for (k, field) in fields.iter_mut().enumerate() {
                    let child = batch.of.child(k)?;
                    let mut runs = Runs { items: field, child: &child, run: 0..0, waiting: 0 };
                    for i in 0..len {
                        if validity.get(i) {
                            runs.take(ranges.get(i)?)?;
                        } else {
                            runs.flush()?;
                            runs.items.blank(1);
                        }
                    }
                    runs.flush()?;
                }
            }
            _ => return Err(wrong()),
        }
        let valid = match validity {
            _ if matches!(self.data, Data::Null) => None,
            Validity::All => None,
            Validity::None => Some(Bitmap::filled(len, false)),
            Validity::Bits(_) if validity.nulls(len) == 0 => None,
            Validity::Bits(_) => {
                let mut valid = Bitmap::default();
                (0..len).for_each(|i| valid.push(validity.get(i)));
                Some(valid)
            }
        };
        self.append_validity(len, valid);
        Ok(())
    }

    /// Appends rows whose values nobody reads, because a row above is missing: 0, or empty.
    pub(super) fn blank(&mut self, len: usize) {
        match &mut self.data {
            Data::Null => {}
            Data::Bool(to) => (0..len).for_each(|_| to.push(false)),
            Data::Numbers(to) => super::rows::each_number!(to, values => {
                values.resize(values.len().saturating_add(len), Default::default());
            }),
            Data::Texts(to) => (0..len).for_each(|_| to.push(&[])),
            Data::List(ends, items) => ends.resize(ends.len().saturating_add(len), items.len as u64),
            Data::Fixed(size, items) => items.blank(size.saturating_mul(len)),
            Data::Struct(fields) => fields.iter_mut().for_each(|field| field.blank(len)),
        }
        self.append_validity(len, None);
    }
}

/// Child rows that are read in runs as long as possible.
struct Runs<'r, C> {
    items: &'r mut Rows,
    child: &'r C,
    run: Range<u64>,
    /// Length of the run.
    waiting: u64,
}

impl<C: Column> Runs<'_, C> {
    fn take(&mut self, rows: Range<u64>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        if self.run.end != rows.start || self.waiting == 0 {
            self.flush()?;
            self.run = rows;
        } else {
            self.run.end = rows.end;
        }
        self.waiting = self.run.end.saturating_sub(self.run.start);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let rows = core::mem::replace(&mut self.run, 0..0);
        self.waiting = 0;
        if rows.is_empty() {
            return Ok(());
        }
        let mut memory = vec![0; ROOM];
        let mut row = rows.start;
        while row < rows.end {
            let fitting = match fit(self.child, row..rows.end, memory.len()) {
                Err(e) if e.kind() == Kind::NoRoom && (e.need() as usize) > memory.len() => {
                    memory = vec![0; e.need() as usize];
                    continue;
                }
                fitting => fitting?,
            };
            let batch = self.child.read(fitting, &mut Scratch::new(&mut memory))?;
            self.items.gather(self.child, &batch)?;
            row = row.saturating_add((batch.len as u64).max(1));
        }
        Ok(())
    }
}

/// Appends the numbers of a batch. Returns `None` if they have another type.
fn numbers(to: &mut Numbers, values: &Values<'_>, len: usize, validity: &Validity<'_>) -> Option<()> {
    macro_rules! push {
        ($($name:ident)*) => {
            match (to, values) {
                $((Numbers::$name(to), Values::$name(values)) => push(to, values.get(..len)?, validity),)*
                (Numbers::I8(to), Values::Null) => to.resize(to.len().saturating_add(len), 0),
                _ => return None,
            }
        };
    }
    push!(I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 I128 I256);
    Some(())
}

fn push<T: Copy + Default>(to: &mut alloc::vec::Vec<T>, values: &[T], validity: &Validity<'_>) {
    match validity {
        Validity::All => to.extend_from_slice(values),
        _ => to.extend(values.iter().enumerate().map(|(i, value)| if validity.get(i) { *value } else { T::default() })),
    }
}
