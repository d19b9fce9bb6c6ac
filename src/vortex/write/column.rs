//! A column that is being written: blocks of 8,192 rows, their zones, a dictionary if it pays, and chunks of about a
//! megabyte.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::bounds::{self, Extremes};
use super::dictionary::Dictionary;
use super::dtype::{Logical, Shape};
use super::encode::encode;
use super::file::{Container, Layout};
use super::rows::{Bitmap, Data, Rows};
use super::scalar;
use super::zones::{ZONE, Zones};
use super::{Profile, WriteOptions};
use crate::bytes::{Sink, WriteError};
use crate::generated::vortex as flat;
use crate::meta::flat::write::{Field, Place, Writer};
use crate::vortex::raw::LayoutId;

type Done<T, S> = Result<T, WriteError<<S as Sink>::Error>>;

/// A column, or a field of a struct.
#[derive(Debug)]
pub(super) enum Column {
    /// The fields of a struct, and which rows have a value.
    Struct {
        rows: u64,
        valid: Option<Bitmap>,
        fields: Vec<Column>,
    },
    Leaf(Box<Leaf>),
}

impl Column {
    /// A column of type `ty`; `zoned`: whether zones are stored.
    pub fn new(ty: &Logical, zoned: bool, options: &WriteOptions) -> Self {
        // Releases up to 0.80 mix up the validity of a struct in a struct that are stored field by field.
        let apart = !ty.nullable || options.profile != Profile::Wide;
        match &ty.shape {
            Shape::Struct(fields) if apart => {
                let zoned = zoned && !ty.nullable;
                let fields = fields.iter().map(|(_, ty)| Column::new(ty, zoned, options)).collect();
                let valid = ty.nullable.then(Bitmap::default);
                Column::Struct { rows: 0, valid, fields }
            }
            _ => Column::Leaf(Box::new(Leaf::new(ty, zoned, options))),
        }
    }

    /// Adds rows, and writes those that make a chunk.
    pub fn push<S: Sink>(&mut self, rows: Rows, to: &mut Container<S>) -> Done<(), S> {
        match self {
            Column::Leaf(leaf) => leaf.push(rows, to),
            Column::Struct { rows: count, valid, fields, .. } => {
                *count = count.saturating_add(rows.len as u64);
                let Rows { len, valid: present, data } = rows;
                if let Some(valid) = valid {
                    valid.append(&present.unwrap_or_else(|| Bitmap::filled(len, true)));
                }
                let Data::Struct(columns) = data else { return Ok(()) };
                fields.iter_mut().zip(columns).try_for_each(|(field, rows)| field.push(rows, to))
            }
        }
    }

    /// Writes the rest. Returns the layout, and the statistics of the column.
    pub fn finish<S: Sink>(self, to: &mut Container<S>) -> Done<(Layout, Statistics), S> {
        match self {
            Column::Leaf(leaf) => leaf.finish(to),
            Column::Struct { rows, valid, fields, .. } => {
                let mut children = Vec::new();
                let nulls = valid.as_ref().map_or(0, |valid| valid.len.saturating_sub(valid.ones()) as u64);
                if let Some(valid) = valid {
                    let all = Rows { len: valid.len, valid: None, data: Data::Bool(valid) };
                    let ty = Logical::new(Shape::Bool, false);
                    children.push(match rows {
                        0 => Layout::new(LayoutId::Chunked, 0),
                        _ => to.flat(&encode(&all, &ty, &WriteOptions::DEFAULT), rows)?,
                    });
                }
                for field in fields {
                    children.push(field.finish(to)?.0);
                }
                let layout = Layout { children, ..Layout::new(LayoutId::Struct, rows) };
                Ok((layout, Statistics { nulls, ..Statistics::default() }))
            }
        }
    }
}

/// A column that is not a struct.
#[derive(Debug)]
pub(super) struct Leaf {
    ty: Logical,
    rows: u64,
    /// Rows that make no block yet.
    pending: Rows,
    /// Blocks that make no chunk yet.
    chunk: Rows,
    zones: Option<Zones>,
    statistics: Statistics,
    parts: Vec<Layout>,
    /// Whether a dictionary is tried: known after the first block.
    dictionary: Try,
    how: WriteOptions,
}

#[derive(Debug)]
enum Try {
    Unknown,
    No,
    Yes(Box<Dictionary>),
}

impl Leaf {
    fn new(ty: &Logical, zoned: bool, options: &WriteOptions) -> Self {
        Leaf {
            ty: ty.clone(),
            rows: 0,
            pending: Rows::new(ty),
            chunk: Rows::new(ty),
            zones: zoned.then(|| Zones::new(ty)),
            statistics: Statistics::default(),
            parts: Vec::new(),
            dictionary: if options.dictionaries { Try::Unknown } else { Try::No },
            how: *options,
        }
    }

    fn push<S: Sink>(&mut self, rows: Rows, to: &mut Container<S>) -> Done<(), S> {
        self.rows = self.rows.saturating_add(rows.len as u64);
        self.pending.append(rows);
        let whole = self.pending.len.saturating_sub(self.pending.len % ZONE);
        if whole == 0 {
            return Ok(());
        }
        let pending = core::mem::replace(&mut self.pending, Rows::new(&self.ty));
        let mut at = 0usize;
        while at < whole {
            let end = at.saturating_add(ZONE);
            self.block(pending.slice(at..end), to)?;
            at = end;
        }
        self.pending = pending.slice(whole..pending.len);
        Ok(())
    }

    /// Adds a block of 8,192 rows, or the last rows.
    fn block<S: Sink>(&mut self, rows: Rows, to: &mut Container<S>) -> Done<(), S> {
        if let Some(zones) = &mut self.zones {
            zones.add(&rows);
        }
        self.statistics.add(&rows, &self.ty);
        if matches!(self.dictionary, Try::Unknown) {
            self.dictionary =
                Dictionary::new(&rows, &self.ty, &self.how).map_or(Try::No, |new| Try::Yes(Box::new(new)));
        }
        if let Try::Yes(dictionary) = &mut self.dictionary {
            if !dictionary.takes(&rows) {
                let full = core::mem::replace(&mut **dictionary, Dictionary::empty(&self.ty));
                self.parts.push(full.finish(&self.how, to)?);
            }
            return dictionary.push(&rows, &self.how, to);
        }
        self.chunk.append(rows);
        if self.chunk.size() >= self.how.chunk_size {
            self.write(to)?;
        }
        Ok(())
    }

    fn write<S: Sink>(&mut self, to: &mut Container<S>) -> Done<(), S> {
        let rows = core::mem::replace(&mut self.chunk, Rows::new(&self.ty));
        self.parts.push(to.flat(&encode(&rows, &self.ty, &self.how), rows.len as u64)?);
        Ok(())
    }

    fn finish<S: Sink>(mut self, to: &mut Container<S>) -> Done<(Layout, Statistics), S> {
        let rest = core::mem::replace(&mut self.pending, Rows::new(&self.ty));
        if rest.len > 0 {
            self.block(rest, to)?;
        }
        if self.chunk.len > 0 {
            self.write(to)?;
        }
        if let Try::Yes(dictionary) = core::mem::replace(&mut self.dictionary, Try::No) {
            self.parts.push(dictionary.finish(&self.how, to)?);
        }
        let rows = Layout::chunked(self.parts);
        let layout = match self.zones {
            Some(zones) if self.rows > 0 => {
                let (metadata, table, ty) = zones.finish();
                let table = to.flat(&encode(&table, &ty, &self.how), table.len as u64)?;
                let children = Vec::from([rows, table]);
                Layout { metadata, children, ..Layout::new(LayoutId::Zoned, self.rows) }
            }
            _ => rows,
        };
        Ok((layout, self.statistics))
    }
}

/// The statistics of a column.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    pub rows: u64,
    pub nulls: u64,
    nans: Option<u64>,
    /// Minimum and maximum so far, as rows of the column.
    bounds: Option<Rows>,
}

impl Statistics {
    fn add(&mut self, rows: &Rows, ty: &Logical) {
        let Extremes { rows: found, nans, nulls } = Extremes::of(rows);
        self.rows = self.rows.saturating_add(rows.len as u64);
        self.nulls = self.nulls.saturating_add(nulls);
        if ty.is_float() {
            self.nans = Some(self.nans.unwrap_or(0).saturating_add(nans));
        }
        let Some((least, most)) = found else { return };
        let mut all = rows.slice(least..least.saturating_add(1));
        all.append(rows.slice(most..most.saturating_add(1)));
        if let Some(before) = self.bounds.take() {
            all.append(before);
        }
        if let Some((least, most)) = Extremes::of(&all).rows {
            let mut bounds = all.slice(least..least.saturating_add(1));
            bounds.append(all.slice(most..most.saturating_add(1)));
            self.bounds = Some(bounds);
        }
    }

    /// Writes the table about the column.
    pub fn put(&self, ty: &Logical, to: &mut Writer) -> Place {
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
                let exact = |row| bounds.scalar(row, ty).map(|scalar| (scalar, true));
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
        if let Some(nans) = self.nans {
            fields.push((flat::ArrayStats::NAN_COUNT, Field::U64(nans)));
        }
        to.table(&fields)
    }
}
