//! The table of zones of a column: bounds and counts for a number of rows each (format description, section 7).

use alloc::string::String;
use alloc::vec::Vec;

use super::bounds::{self, MOST};
use super::dtype::{Logical, Shape};
use super::rows::{Bitmap, Data, Numbers, Rows, Texts};
use super::statistics::Statistics;
use super::{Profile, scalar};
use crate::column::Prim;
use crate::meta::proto::write::Writer;

/// The zones of a column so far.
#[derive(Debug)]
pub(super) struct Zones {
    ty: Logical,
    /// Number of rows in a zone.
    zone_rows: u32,
    /// The current zone.
    open: Statistics,
    zones: usize,
    most: Rows,
    least: Rows,
    nans: Vec<u64>,
    nulls: Vec<u64>,
    /// For texts: whether a zone has values, and no upper bound of 64 bytes.
    unbounded: Vec<Option<bool>>,
}

/// Which facts a type has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Counts,
    Values,
    Floats,
    Texts,
}

fn kind(ty: &Logical) -> Kind {
    match ty.shape {
        Shape::Prim(Prim::F16 | Prim::F32 | Prim::F64) => Kind::Floats,
        Shape::Bool | Shape::Prim(_) | Shape::Decimal { .. } => Kind::Values,
        Shape::Utf8 | Shape::Binary => Kind::Texts,
        Shape::Null | Shape::List(_) | Shape::FixedList(..) | Shape::Struct(_) | Shape::Map(_) => Kind::Counts,
        #[cfg(feature = "vortex-variant")]
        Shape::Variant(_) => Kind::Counts,
    }
}

impl Zones {
    pub fn new(ty: &Logical, zone_rows: u32) -> Self {
        let empty = || Rows::new(ty);
        let (nans, nulls) = (Vec::new(), Vec::new());
        Zones {
            ty: ty.clone(),
            zone_rows,
            open: Statistics::default(),
            zones: 0,
            most: empty(),
            least: empty(),
            nans,
            nulls,
            unbounded: Vec::new(),
        }
    }

    /// Adds the facts about the next rows, none of which is after the end of the current zone.
    pub fn add(&mut self, facts: &Statistics) {
        self.open.merge(facts);
        if self.open.rows >= u64::from(self.zone_rows) {
            self.close();
        }
    }

    /// Ends the current zone.
    fn close(&mut self) {
        let Statistics { nulls, nans, bounds, .. } = core::mem::take(&mut self.open);
        self.zones = self.zones.saturating_add(1);
        self.nans.push(nans);
        self.nulls.push(nulls);
        if kind(&self.ty) == Kind::Counts {
            return;
        }
        let is_text = self.ty.shape == Shape::Utf8;
        match bounds {
            None => {
                self.least.missing(&self.ty);
                self.most.missing(&self.ty);
                self.unbounded.push(None);
            }
            Some(Rows { data: Data::Texts(texts), .. }) => {
                self.least.append(one_text(bounds::lower(texts.get(0), is_text)));
                let bound = bounds::upper(texts.get(1), is_text);
                self.unbounded.push(Some(bound.is_none()));
                match bound {
                    Some(bound) => self.most.append(one_text(&bound)),
                    None => self.most.missing(&self.ty),
                }
            }
            Some(bounds) => {
                self.least.append(bounds.slice(0..1));
                self.most.append(bounds.slice(1..2));
            }
        }
    }

    /// Returns the metadata of the layout, and the table with its type.
    pub fn finish(mut self) -> (Vec<u8>, Rows, Logical) {
        if self.open.rows > 0 {
            self.close();
        }
        let mut message = Writer::default();
        message.uint(field::ZONE_LEN, self.zone_rows.into());
        let mut spec = |id: &str, options: &[u8]| {
            let mut spec = Writer::default();
            spec.bytes(field::SPEC_ID, id.as_bytes());
            if !options.is_empty() {
                spec.bytes(field::SPEC_OPTIONS, options);
            }
            message.bytes(field::SPECS, &spec.finish());
        };
        let mut table: Vec<(String, Logical, Rows)> = Vec::new();
        let count = |values: Vec<u64>| {
            let len = values.len();
            let ty = Logical::new(Shape::Prim(Prim::U64), true);
            (ty, Rows { len, valid: None, data: Data::Numbers(Numbers::U64(values)) })
        };
        let (kind, bound) = (kind(&self.ty), self.ty.optional());
        let is_known = self.least.nulls() < self.least.len;
        match kind {
            Kind::Texts if is_known => {
                let limit = (MOST as u64).to_le_bytes();
                spec("vortex.bounded_max", &limit);
                spec("vortex.bounded_min", &limit);
                let (mut valid, mut unknown) = (Bitmap::default(), Bitmap::default());
                for unbounded in &self.unbounded {
                    valid.push(unbounded.is_some());
                    unknown.push(*unbounded == Some(true));
                }
                let unknown = Rows { len: self.zones, valid: None, data: Data::Bool(unknown) };
                let data = Data::Struct(Vec::from([self.most, unknown]));
                let fields = [("bound", bound.clone()), ("unknown", Logical::new(Shape::Bool, false))];
                let fields = fields.map(|(name, ty)| (String::from(name), ty));
                let ty = Logical::new(Shape::Struct(Vec::from(fields)), true);
                table.push(("vortex.bounded_max(64)".into(), ty, Rows { len: self.zones, valid: Some(valid), data }));
                table.push(("vortex.bounded_min(64)".into(), bound, self.least));
            }
            Kind::Values | Kind::Floats if is_known => {
                let skip_nans = Writer::default().uint(field::SKIP_NANS, 1).finish();
                spec("vortex.max", &skip_nans);
                spec("vortex.min", &skip_nans);
                table.push(("vortex.max()".into(), bound.clone(), self.most));
                table.push(("vortex.min()".into(), bound, self.least));
            }
            _ => {}
        }
        if kind == Kind::Floats {
            spec("vortex.nan_count", &[]);
            let (ty, rows) = count(self.nans);
            table.push(("vortex.nan_count()".into(), ty, rows));
        }
        spec("vortex.null_count", &[]);
        let (ty, rows) = count(self.nulls);
        table.push(("vortex.null_count()".into(), ty, rows));
        let metadata = core::iter::once(field::VERSION).chain(message.finish()).collect();
        let mut types = Vec::new();
        let mut columns = Vec::new();
        for (name, ty, rows) in table {
            types.push((name, ty));
            columns.push(rows);
        }
        let rows = Rows { len: self.zones, valid: None, data: Data::Struct(columns) };
        (metadata, rows, Logical::new(Shape::Struct(types), false))
    }
}

/// The metadata of the layout: a version, and a message.
mod field {
    pub const VERSION: u8 = 1;
    pub const ZONE_LEN: u32 = 1;
    pub const SPECS: u32 = 2;
    pub const SPEC_ID: u32 = 1;
    pub const SPEC_OPTIONS: u32 = 2;
    pub const SKIP_NANS: u32 = 1;
}

fn one_text(text: &[u8]) -> Rows {
    let mut texts = Texts::default();
    texts.push(text);
    Rows { len: 1, valid: None, data: Data::Texts(texts) }
}

impl Rows {
    /// Appends a row without a value.
    pub(super) fn missing(&mut self, ty: &Logical) {
        let mut row = Rows::new(ty);
        row.blank(1);
        row.valid = Some(Bitmap::filled(1, false));
        self.append(row);
    }

    /// Returns the value of a row as a scalar, for types that have an order.
    pub(super) fn scalar(&self, row: usize, ty: &Logical, profile: Profile) -> Option<Vec<u8>> {
        let signed = |value: i64| Some(scalar::signed(value));
        let is_decimal = matches!(ty.shape, Shape::Decimal { .. });
        match &self.data {
            Data::Bool(values) => Some(scalar::boolean(values.get(row))),
            Data::Texts(texts) if ty.shape == Shape::Utf8 => Some(scalar::text(texts.get(row))),
            Data::Texts(texts) => Some(scalar::bytes(texts.get(row))),
            Data::Numbers(numbers) if is_decimal => {
                let (bytes, size) = numbers.stored();
                let start = row.checked_mul(size)?;
                Some(scalar::bytes(bytes.get(start..start.checked_add(size)?)?))
            }
            Data::Numbers(numbers) => match numbers {
                Numbers::I8(values) => signed((*values.get(row)?).into()),
                Numbers::I16(values) => signed((*values.get(row)?).into()),
                Numbers::I32(values) => signed((*values.get(row)?).into()),
                Numbers::I64(values) => signed(*values.get(row)?),
                Numbers::U8(values) => Some(scalar::unsigned((*values.get(row)?).into())),
                Numbers::U16(values) => Some(scalar::unsigned((*values.get(row)?).into())),
                Numbers::U32(values) => Some(scalar::unsigned((*values.get(row)?).into())),
                Numbers::U64(values) => Some(scalar::unsigned(*values.get(row)?)),
                Numbers::F16(values) => Some(scalar::half(*values.get(row)?, profile)),
                Numbers::F32(values) => Some(scalar::single(*values.get(row)?)),
                Numbers::F64(values) => Some(scalar::double(*values.get(row)?)),
                Numbers::I128(_) | Numbers::I256(_) => None,
            },
            _ => None,
        }
    }
}
