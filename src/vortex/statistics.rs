//! Statistics of the whole file (section 11): exposed as they are stored, and held against the values.

use core::cmp::Ordering;

use super::dtype::{DType, Shape, signed};
use super::file::File;
use super::scalar::Scalar;
use crate::column::{Batch, Prim, Values};
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{ArrayStats, Precision};
use crate::meta::flat::Inline;
use crate::meta::proto::Message;

/// What the file says about all rows of a column.
#[derive(Clone, Copy, Debug)]
pub struct Statistics<'f> {
    stats: ArrayStats<'f>,
    dtype: DType<'f>,
}

/// A bound of the values.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'f> {
    /// The bound; its type is that of the column.
    pub scalar: Scalar<'f>,
    /// Whether it is said to be one of the values, and not cut. Good for skipping rows, not for an answer:
    /// the original counts values of runs that were cut off.
    pub exact: bool,
}

impl<'f> File<'f> {
    /// The statistics of column `k`; `None` where the file has none.
    ///
    /// # Errors
    /// What is wrong with their table.
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

    /// No value is below; NaN is left out.
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn min(&self) -> Result<Option<Bound<'f>>> {
        Ok(self.bound(self.stats.min()?, self.stats.min_precision()?))
    }

    /// No value is above.
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn max(&self) -> Result<Option<Bound<'f>>> {
        Ok(self.bound(self.stats.max()?, self.stats.max_precision()?))
    }

    /// The sum, as integer or float of 64 bits. Those of floats are not to be relied on (section 11).
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn sum(&self) -> Result<Option<Scalar<'f>>> {
        Ok(self.bound(self.stats.sum()?, Precision::Exact).map(|bound| bound.scalar))
    }

    /// How many rows have no value.
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn null_count(&self) -> Result<Option<u64>> {
        self.stats.null_count()
    }

    /// How many values are NaN.
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn nan_count(&self) -> Result<Option<u64>> {
        self.stats.nan_count()
    }

    /// Whether values are in order; in strict order; all the same.
    ///
    /// # Errors
    /// What is wrong with the table.
    pub fn order(&self) -> Result<[Option<bool>; 3]> {
        Ok([self.stats.is_sorted()?, self.stats.is_strict_sorted()?, self.stats.is_constant()?])
    }

    pub(super) fn checker(&self) -> Result<Checker<'f>> {
        let limit = |bound: Option<Bound<'f>>| match bound {
            Some(bound) => Limit::of(bound.scalar, self.dtype),
            None => Ok(Limit::None),
        };
        Ok(Checker { stats: *self, min: limit(self.min()?)?, max: limit(self.max()?)?, nulls: 0, nans: 0 })
    }
}

/// A bound in the form that values are compared in.
#[derive(Clone, Copy, Debug)]
enum Limit<'f> {
    /// None, or of a type without comparison here.
    None,
    Integer(i128),
    Float(f64),
    Bytes(&'f [u8]),
}

impl<'f> Limit<'f> {
    fn of(scalar: Scalar<'f>, dtype: DType<'f>) -> Result<Self> {
        if scalar.is_null()? {
            return Ok(Limit::None);
        }
        let low = || -> Result<i128> {
            let cell = scalar.cell(dtype.ty.shape)?;
            let low = cell.first_chunk::<16>().copied().unwrap_or_default();
            Ok(i128::from_le_bytes(low))
        };
        let bits = |bits: i128| u64::try_from(bits).unwrap_or(0);
        Ok(match dtype.ty.shape {
            Shape::Bool => Limit::Integer(low()?),
            Shape::Prim(Prim::F64) => Limit::Float(f64::from_bits(bits(low()?))),
            Shape::Prim(Prim::F32) => Limit::Float(f32::from_bits(u32::try_from(bits(low()?)).unwrap_or(0)).into()),
            Shape::Prim(Prim::F16) => Limit::None,
            Shape::Prim(prim) => {
                let value = scalar.integer(prim)?;
                Limit::Integer(if signed(prim) { value.cast_signed().into() } else { value.into() })
            }
            Shape::Decimal { precision, .. } if precision <= 38 => Limit::Integer(low()?),
            Shape::Utf8 | Shape::Binary => Limit::Bytes(scalar.bytes()?.bytes()),
            _ => Limit::None,
        })
    }

    /// How a value stands to the bound; `None` where they do not compare.
    fn beside(&self, value: &Limit<'_>) -> Option<Ordering> {
        match (value, self) {
            (Limit::Integer(value), Limit::Integer(bound)) => Some(value.cmp(bound)),
            (Limit::Float(value), Limit::Float(bound)) => value.partial_cmp(bound),
            (Limit::Bytes(value), Limit::Bytes(bound)) => Some(value.cmp(bound)),
            _ => None,
        }
    }
}

/// Counts and compares what goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checker<'f> {
    stats: Statistics<'f>,
    min: Limit<'f>,
    max: Limit<'f>,
    nulls: u64,
    nans: u64,
}

impl Checker<'_> {
    #[cold]
    fn wrong(&self, need: u64) -> Error {
        Error::needing(Kind::Invalid, What::VtxStatistics, self.stats.stats.at(), need)
    }

    /// Takes the next rows.
    pub(super) fn batch<C>(&mut self, batch: &Batch<'_, C>) -> Result<()> {
        self.nulls = self.nulls.saturating_add(batch.validity.nulls(batch.len) as u64);
        for i in (0..batch.len).filter(|i| batch.validity.get(*i)) {
            let integer = |value: Option<i128>| value.map_or(Limit::None, Limit::Integer);
            let value = match batch.values {
                Values::Bool(v) => integer(v.get(i).map(i128::from)),
                Values::I8(v) => integer(v.get(i).map(|v| (*v).into())),
                Values::I16(v) => integer(v.get(i).map(|v| (*v).into())),
                Values::I32(v) => integer(v.get(i).map(|v| (*v).into())),
                Values::I64(v) => integer(v.get(i).map(|v| (*v).into())),
                Values::I128(v) => integer(v.get(i).copied()),
                Values::U8(v) => integer(v.get(i).map(|v| (*v).into())),
                Values::U16(v) => integer(v.get(i).map(|v| (*v).into())),
                Values::U32(v) => integer(v.get(i).map(|v| (*v).into())),
                Values::U64(v) => integer(v.get(i).map(|v| (*v).into())),
                Values::F32(v) => v.get(i).map_or(Limit::None, |v| Limit::Float((*v).into())),
                Values::F64(v) => v.get(i).map_or(Limit::None, |v| Limit::Float(*v)),
                Values::F16(v) => {
                    self.nans = self.nans.saturating_add(v.get(i).is_some_and(|v| v & 0x7fff > 0x7c00).into());
                    Limit::None
                }
                Values::Bytes(v) | Values::Utf8(v) => Limit::Bytes(v.get(i)?),
                _ => Limit::None,
            };
            if matches!(value, Limit::Float(value) if value.is_nan()) {
                self.nans = self.nans.saturating_add(1);
            }
            let low = self.min.beside(&value).is_some_and(Ordering::is_lt);
            if low || self.max.beside(&value).is_some_and(Ordering::is_gt) {
                return Err(self.wrong(batch.first.saturating_add(i as u64)));
            }
        }
        Ok(())
    }

    /// Compares the counts.
    pub(super) fn end(&self) -> Result<()> {
        for (claim, count) in [(self.stats.null_count()?, self.nulls), (self.stats.nan_count()?, self.nans)] {
            if let Some(claim) = claim.filter(|claim| *claim != count) {
                return Err(self.wrong(claim));
            }
        }
        Ok(())
    }
}
