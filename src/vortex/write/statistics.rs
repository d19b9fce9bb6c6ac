//! Facts about rows: of a block, a zone, or a column (format description, sections 7 and 11).

use alloc::vec::Vec;

use super::bounds::{self, Extremes};
use super::dtype::{Logical, Shape};
use super::rows::{Data, Rows, Texts};
use super::{Profile, scalar};
use crate::generated::vortex as flat;
use crate::meta::flat::write::{Field, Place, Writer};

/// Counts and bounds of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Statistics {
    pub rows: u64,
    pub nulls: u64,
    pub nans: u64,
    /// Minimum and maximum, as two rows of the column; NaN has no place in the order. Texts are cut to 65 bytes, which
    /// changes no bound of 64 bytes.
    pub bounds: Option<Rows>,
}

impl Statistics {
    /// Looks at all rows.
    pub fn of(rows: &Rows) -> Self {
        let Extremes { rows: found, nans, nulls } = Extremes::of(rows);
        Statistics { rows: rows.len as u64, nulls, nans, bounds: found.map(|found| pair(rows, found)) }
    }

    /// Adds the facts about more rows.
    pub fn merge(&mut self, more: &Statistics) {
        self.rows = self.rows.saturating_add(more.rows);
        self.nulls = self.nulls.saturating_add(more.nulls);
        self.nans = self.nans.saturating_add(more.nans);
        let Some(bounds) = &more.bounds else { return };
        let mut all = bounds.clone();
        if let Some(before) = self.bounds.take() {
            all.append(before);
        }
        self.bounds = Extremes::of(&all).rows.map(|found| pair(&all, found));
    }

    /// Writes the table about the column.
    pub fn put(&self, ty: &Logical, profile: Profile, to: &mut Writer) -> Place {
        let mut fields = Vec::new();
        let is_text = ty.shape == Shape::Utf8;
        let cut = |bound: Vec<u8>| if is_text { scalar::text(&bound) } else { scalar::bytes(&bound) };
        // Bounds are cut to 64 bytes; then they are not the minimum and the maximum.
        let (least, most) = match self.bounds.as_ref() {
            None => (None, None),
            Some(Rows { data: Data::Texts(texts), .. }) => {
                let (least, most) = (texts.get(0), texts.get(1));
                let low = bounds::lower(least, is_text);
                let high = bounds::upper(most, is_text);
                let exact = high.as_deref() == Some(most);
                (Some((cut(low.to_vec()), low == least)), high.map(|high| (cut(high), exact)))
            }
            Some(bounds) => {
                let exact = |row| bounds.scalar(row, ty, profile).map(|scalar| (scalar, true));
                (exact(0), exact(1))
            }
        };
        let numbers = [
            (least, flat::ArrayStats::MIN, flat::ArrayStats::MIN_PRECISION),
            (most, flat::ArrayStats::MAX, flat::ArrayStats::MAX_PRECISION),
        ];
        for (bound, field, precision) in numbers {
            if let Some((scalar, exact)) = bound {
                fields.push((field, Field::Place(to.vector(&scalar, scalar.len(), 1))));
                fields.push((precision, Field::U8(exact.into())));
            }
        }
        if self.rows > 0 {
            fields.push((flat::ArrayStats::NULL_COUNT, Field::U64(self.nulls)));
        }
        if self.rows > 0 && ty.is_float() {
            fields.push((flat::ArrayStats::NAN_COUNT, Field::U64(self.nans)));
        }
        to.table(&fields)
    }
}

/// Returns copies of two rows; texts are cut.
fn pair(rows: &Rows, (least, most): (usize, usize)) -> Rows {
    if let Data::Texts(texts) = &rows.data {
        let mut ends = Texts::default();
        for text in [texts.get(least), texts.get(most)] {
            ends.push(text.get(..bounds::MOST.saturating_add(1)).unwrap_or(text));
        }
        return Rows { len: 2, valid: None, data: Data::Texts(ends) };
    }
    let mut bounds = rows.slice(least..least.saturating_add(1));
    bounds.append(rows.slice(most..most.saturating_add(1)));
    bounds
}
