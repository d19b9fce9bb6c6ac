//! The checks that opening omits: the data, and whether the metadata agrees with it.

use core::cmp::Ordering;

use super::tail::{Tail, check_head};
use super::{Column, File, HEAD_SPAN, Meta, ReadOptions, Stats};
use crate::bytes::Scratch;
use crate::column::{Column as _, Part as _, Value, Values, fit};
use crate::error::{Error, Kind, Result, What};
use crate::jay::raw::SType;
use crate::limits::{Depth, Limits, Share};

impl File<'_> {
    /// Returns the scratch size in bytes with which [`verify`](Self::verify) is fastest. A smaller scratch makes it
    /// slower; the minimum is a few bytes per column.
    #[must_use]
    pub const fn verify_need(&self) -> u64 {
        // A batch of the widest elements, then names and buffers of all columns.
        (self.meta().width() as u64).saturating_mul(64).saturating_add(1 << 18)
    }

    /// Checks the whole file: each value, string and offset, null counts, statistics, and whether rows with a key are
    /// sorted by it. A problem that tolerant opening ignored is an error here.
    ///
    /// # Errors
    /// The first problem found; [`Kind::NoRoom`] if `scratch` is too small.
    pub fn verify(&self, scratch: &mut Scratch<'_>) -> Result<()> {
        self.verify_share(Share::ALL, scratch)
    }

    /// Checks a share of the columns. What concerns no single column is in share 0.
    pub(crate) fn verify_share(&self, share: Share, scratch: &mut Scratch<'_>) -> Result<()> {
        let mut first = None;
        self.problems_of(share, scratch, &mut |_, error| {
            first.get_or_insert(error);
        });
        first.map_or(Ok(()), Err)
    }

    /// Passes the first problem of each column to `each`, with its number, and the problems of the frame, without a
    /// number. A `scratch` that is too small counts as a problem, too ([`Kind::NoRoom`]).
    pub fn problems(&self, scratch: &mut Scratch<'_>, each: &mut dyn FnMut(Option<usize>, Error)) {
        self.problems_of(Share::ALL, scratch, each);
    }

    /// Passes the problems of a share of the columns to `each`. What concerns no single column is in share 0.
    fn problems_of(&self, share: Share, scratch: &mut Scratch<'_>, each: &mut dyn FnMut(Option<usize>, Error)) {
        let options = ReadOptions { tolerant: false, ..ReadOptions::DEFAULT };
        let (tail, meta) = (self.tail(), self.meta());
        let head = self.input().get(HEAD_SPAN, What::JAY_HEAD).and_then(check_head);
        if let Err(e) = head {
            each(None, e);
        }
        let end = Tail::span(tail.file).and_then(|span| self.input().get(span, What::JAY_TAIL));
        if let Err(e) = end.and_then(|end| Tail::of(end, tail.file, &options)) {
            each(None, e);
        }
        if let Err(e) = meta.frame() {
            each(None, e);
        }
        let strict = meta.strict();
        let mut sound = true;
        // With columns that share buffers, which only tolerant mode opens, a few bytes would cause much work.
        let mut left = tail.file.saturating_mul(2);
        let mut fuel = meta.fuel();
        for k in 0..meta.width() {
            let name = strict.stored_name(k).and_then(super::meta::legal);
            let column = name.and_then(|_| strict.field(k)).and_then(|field| Column::new(field, *self.input()));
            let column = column.and_then(|column| {
                column.field().each_buffer(&mut fuel, &mut |span| {
                    let limit = || Error::needing(Kind::Limit, What::MAX_DECODED, span.at, left);
                    left = left.checked_sub(span.len).ok_or_else(limit)?;
                    Ok(())
                })?;
                match share.has((k as u64).saturating_add(1)) {
                    true => column.verify(Depth::new(&Limits::DEFAULT), scratch),
                    false => Ok(()),
                }
            });
            if let Err(e) = column {
                sound = false;
                each(Some(k), e);
            }
        }
        // Relations between columns are checked only if each column is valid.
        if sound
            && share.number == 0
            && let Err(e) = strict.check(tail.meta.len, scratch).and_then(|()| sorted(self, &strict))
        {
            each(None, e);
        }
    }
}

impl Column<'_> {
    /// Reads every row, compares null count and statistics with the values, then verifies the children.
    pub(super) fn verify(&self, depth: Depth, scratch: &mut Scratch<'_>) -> Result<()> {
        let at = self.field().at();
        if self.field().stype() == SType::Void0 {
            // Early releases may not have counted the missing rows.
            let (nulls, rows) = (self.field().null_count(), self.rows());
            return if nulls == rows { Ok(()) } else { Err(wrong(What::JAY_NULLS, at, nulls)) };
        }
        let (mut row, mut nulls, mut seen) = (0u64, 0u64, Stats::Empty);
        // Runs once even without rows, because their first offset must be checked.
        let mut window = self.input().window();
        loop {
            if window.is_full() {
                window = self.input().window();
            }
            let column = self.with_input(window.input());
            let mut inner = scratch.scope();
            let rows = fit(&column, row..self.rows(), inner.room())?;
            let batch = column.read(rows, &mut inner)?;
            nulls = nulls.saturating_add(batch.validity.nulls(batch.len) as u64);
            if let Values::Utf8(_) = batch.values {
                for i in row..row.saturating_add(batch.len as u64) {
                    column.get(i)?;
                }
            }
            seen = seen.with(&batch);
            row = row.saturating_add((batch.len as u64).max(1));
            if row >= self.rows() {
                break;
            }
        }
        if nulls != self.field().null_count() {
            return Err(wrong(What::JAY_NULLS, at, self.field().null_count()));
        }
        match (self.field().stored_stats()?, self.field().stats()?) {
            (None, _) => {}
            (Some(_), Some(stats)) if stats == seen => {}
            (Some(_), _) => return Err(wrong(What::JAY_STATS, at, 0)),
        }
        if self.field().stype().is_array() {
            let child = self.child(0)?;
            return child.verify(depth.child(child.field().at())?, scratch);
        }
        Ok(())
    }
}

/// Checks that the rows of a keyed frame ascend by the columns of the key.
fn sorted(file: &File<'_>, meta: &Meta<'_>) -> Result<()> {
    let mut window = file.input().window();
    for row in 1..if meta.keys() == 0 { 0 } else { meta.rows() } {
        if window.is_full() {
            window = file.input().window();
        }
        let file = file.with_input(window.input());
        let mut order = Ordering::Equal;
        for k in 0..meta.keys() {
            let column = file.column(k)?;
            order = compare(&column.get(row.saturating_sub(1))?, &column.get(row)?);
            if order != Ordering::Equal {
                break;
            }
        }
        if order != Ordering::Less {
            return Err(wrong(What::JAY_KEY, meta.at(), row));
        }
    }
    Ok(())
}

/// Compares two keys. Missing values come first; strings are compared by their bytes.
fn compare(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (a, b) {
        (Value::F32(a), Value::F32(b)) => a.total_cmp(b),
        (Value::F64(a), Value::F64(b)) => a.total_cmp(b),
        (a, b) => a.compare(b).unwrap_or_else(|| (*a != Value::Null).cmp(&(*b != Value::Null))),
    }
}

#[cold]
fn wrong(what: What, at: u64, need: u64) -> Error {
    Error::needing(Kind::Invalid, what, at, need)
}
