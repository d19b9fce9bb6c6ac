//! Statistics of the whole file (format description, section 11), as they are stored, and their comparison with the
//! values.

use core::cmp::Ordering;
use core::ops::Range;

use super::dtype::{DType, Shape, signed};
use super::file::File;
use super::scalar::Scalar;
use crate::column::{Batch, Prim, Value, Zone};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{ArrayStats, Precision};
use crate::meta::flat::Inline;
use crate::meta::proto::Message;

/// The statistics of all rows of a column, as the file claims them.
///
/// ```
/// use pilaster::vortex::{Bound, File, Scalar, Statistics};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
/// let file = File::open(bytes)?;
/// // The column `s`, with the text `x` in its only row.
/// let statistics: Statistics<'_> = file.column_statistics(1)?.expect("statistics");
/// let Some(Bound { scalar: min, exact: true }) = statistics.min()? else { panic!("no exact bound") };
/// assert_eq!((min.is_null()?, min.bytes()?), (false, &b"x"[..]));
/// let max: Option<Scalar<'_>> = statistics.max()?.map(|bound| bound.scalar);
/// assert_eq!(max.map(|max| max.bytes()), Some(Ok(&b"x"[..])));
///
/// assert_eq!((statistics.null_count()?, statistics.nan_count()?), (Some(0), None));
/// // Texts have no sum, and this writer did not store whether they are sorted.
/// assert!(statistics.sum()?.is_none());
/// assert_eq!(statistics.order()?, [None; 3]);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Statistics<'f> {
    stats: ArrayStats<'f>,
    dtype: DType<'f>,
}

/// A lower or upper bound of the values.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'f> {
    /// The bound, as a value of the type of the column.
    pub scalar: Scalar<'f>,
    /// True if the file claims that the bound is one of the values, not a prefix of one. Use it only to skip rows, not
    /// as a minimum or maximum: the original implementation includes values of runs that were cut off.
    pub exact: bool,
}

impl<'f> File<'f> {
    /// Returns the statistics of column `k`, or `None` if the file has none.
    ///
    /// # Errors
    /// Errors of an invalid table of statistics.
    pub fn column_statistics(&self, k: usize) -> Result<Option<Statistics<'f>>> {
        let Some(statistics) = self.statistics() else { return Ok(None) };
        let dtype = self.dtype();
        let table = matches!(dtype.ty.shape, Shape::Struct(_)) && !dtype.nullable();
        let dtype = if table { dtype.child(k)? } else { dtype };
        match statistics.field_stats()? {
            Some(fields) if k < fields.len() => Ok(Some(Statistics { stats: fields.get(k)?, dtype })),
            _ => Ok(None),
        }
    }
}

impl<'f> Statistics<'f> {
    fn bound(&self, bytes: Option<Inline<'f, u8>>, precision: Precision) -> Option<Bound<'f>> {
        let bytes = bytes?;
        let scalar = Scalar::new(Message::new_at(bytes.bytes(), bytes.at()));
        Some(Bound { scalar, exact: precision == Precision::Exact })
    }

    /// Returns a lower bound of the values, NaN excluded.
    ///
    /// # Errors
    /// Errors of an invalid table.
    pub fn min(&self) -> Result<Option<Bound<'f>>> {
        Ok(self.bound(self.stats.min()?, self.stats.min_precision()?))
    }

    /// Returns an upper bound of the values, NaN excluded.
    ///
    /// # Errors
    /// Errors of an invalid table.
    pub fn max(&self) -> Result<Option<Bound<'f>>> {
        Ok(self.bound(self.stats.max()?, self.stats.max_precision()?))
    }

    /// Returns the sum, as an integer or float of 64 bits. Sums of floats are unreliable (docs/formats/vortex.md,
    /// section 11).
    ///
    /// # Errors
    /// Errors of an invalid table.
    pub fn sum(&self) -> Result<Option<Scalar<'f>>> {
        Ok(self.bound(self.stats.sum()?, Precision::Exact).map(|bound| bound.scalar))
    }

    /// Returns the number of missing rows.
    ///
    /// # Errors
    /// Errors of an invalid table.
    pub fn null_count(&self) -> Result<Option<u64>> {
        self.stats.null_count()
    }

    /// Returns the number of NaN values.
    ///
    /// # Errors
    /// Errors of an invalid table.
    pub fn nan_count(&self) -> Result<Option<u64>> {
        self.stats.nan_count()
    }

    /// Returns whether the values are sorted, strictly sorted, and all equal.
    ///
    /// # Errors
    /// Errors of an invalid table.
    pub fn order(&self) -> Result<[Option<bool>; 3]> {
        Ok([self.stats.is_sorted()?, self.stats.is_strict_sorted()?, self.stats.is_constant()?])
    }

    /// Returns the value of a bound, or null if it is absent or of a type that is not compared here.
    fn value(&self, bound: Option<Bound<'f>>) -> Result<Value<'f>> {
        let Some(Bound { scalar, .. }) = bound else { return Ok(Value::Null) };
        if scalar.is_null()? {
            return Ok(Value::Null);
        }
        let shape = self.dtype.ty.shape;
        let bits = || Ok::<_, Error>(scalar.cell(shape)?.first_chunk().copied().map_or(0, i128::from_le_bytes));
        Ok(match shape {
            Shape::Bool => Value::Bool(bits()? != 0),
            Shape::Prim(Prim::F64) => Value::F64(f64::from_bits(u64::try_from(bits()?).unwrap_or(0))),
            Shape::Prim(Prim::F32) => Value::F32(f32::from_bits(u32::try_from(bits()?).unwrap_or(0))),
            Shape::Prim(Prim::F16) => Value::Null,
            Shape::Prim(prim) => {
                let value = scalar.integer(prim)?;
                Value::Int(if signed(prim) { value.cast_signed().into() } else { value.into() })
            }
            Shape::Decimal { precision, .. } if precision <= 38 => Value::Int(bits()?),
            Shape::Utf8 => Value::Text(scalar.bytes()?),
            Shape::Binary => Value::Bytes(scalar.bytes()?),
            _ => Value::Null,
        })
    }

    /// Returns the claims about the `rows` of the column as a zone.
    pub(super) fn zone(&self, rows: Range<u64>) -> Result<Zone<'f>> {
        let (min, max) = (self.value(self.min()?)?.into(), self.value(self.max()?)?.into());
        Ok(Zone { rows, min, max, nulls: self.null_count()?.into() })
    }
}

/// Compares the rows of a column with its statistics.
///
/// ```
/// # #[cfg(feature = "unstable")] {
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Part};
/// use pilaster::unstable::vortex_statistics::Checker;
/// use pilaster::vortex::File;
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
/// let file = File::open(bytes)?;
/// let (mut memory, column) = ([0; 64], file.part()?.column(0)?);
/// let mut checker = Checker::of(file.column_statistics(0)?.expect("statistics"))?;
/// let mut outside = Vec::new();
/// checker.rows(&column.read(0..1, &mut Scratch::new(&mut memory))?, 1, |row| Ok(outside.push(row)))?;
/// // No row is outside of the bounds; no missing row is claimed, and none was found.
/// assert_eq!((outside, checker.counts()?[0]), (vec![], (Some(0), 0)));
/// # }
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Checker<'f> {
    stats: Statistics<'f>,
    min: Value<'f>,
    max: Value<'f>,
    nulls: u64,
    nans: u64,
}

impl<'f> Checker<'f> {
    /// Starts before the first row of the column with these statistics.
    ///
    /// # Errors
    /// Errors of an invalid table of statistics.
    pub fn of(stats: Statistics<'f>) -> Result<Self> {
        Ok(Checker { stats, min: stats.value(stats.min()?)?, max: stats.value(stats.max()?)?, nulls: 0, nans: 0 })
    }

    /// Compares the next rows with the bounds, and counts nulls and NaN values: each row `times` times. Calls `outside`
    /// with each row whose value is below the minimum or above the maximum.
    ///
    /// # Errors
    /// Errors of values, and those of `outside`.
    pub fn rows<C>(
        &mut self,
        batch: &Batch<'_, C>,
        times: u64,
        mut outside: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.nulls = self.nulls.saturating_add(times.saturating_mul(batch.validity.nulls(batch.len) as u64));
        for i in 0..batch.len {
            let value = batch.value(i)?;
            let nan = match value {
                Value::F16(bits) => bits & 0x7fff > 0x7c00,
                Value::F32(value) => value.is_nan(),
                Value::F64(value) => value.is_nan(),
                _ => false,
            };
            self.nans = self.nans.saturating_add(if nan { times } else { 0 });
            let low = value.compare(&self.min).is_some_and(Ordering::is_lt);
            if low || value.compare(&self.max).is_some_and(Ordering::is_gt) {
                outside(batch.first.saturating_add(i as u64))?;
            }
        }
        Ok(())
    }

    /// Returns the claimed number of nulls and the number that was counted, then those of NaN values.
    ///
    /// # Errors
    /// Errors of an invalid table of statistics.
    pub fn counts(&self) -> Result<[(Option<u64>, u64); 2]> {
        Ok([(self.stats.null_count()?, self.nulls), (self.stats.nan_count()?, self.nans)])
    }

    /// Compares the next rows with the bounds. The first row outside of them is an error.
    pub(super) fn batch<C>(&mut self, batch: &Batch<'_, C>, times: u64) -> Result<()> {
        let at = self.stats.stats.at();
        self.rows(batch, times, |row| Err(wrong(at, row)))
    }

    /// Compares the counts after the last row.
    pub(super) fn end(&self) -> Result<()> {
        for (claim, count) in self.counts()? {
            if let Some(claim) = claim.filter(|claim| *claim != count) {
                return Err(wrong(self.stats.stats.at(), claim));
            }
        }
        Ok(())
    }
}

#[cold]
fn wrong(at: u64, need: u64) -> Error {
    Error::needing(Kind::Invalid, What::VORTEX_STATISTICS, at, need)
}
