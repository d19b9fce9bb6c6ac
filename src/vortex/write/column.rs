//! A column that is being written: blocks of rows, their zones, a dictionary if it pays, and chunks of about a
//! megabyte.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::WriteOptions;
use super::dictionary::Dictionary;
use super::dtype::{Logical, Shape};
use super::encode::encode;
use super::file::{Container, Layout};
use super::packing::Learned;
use super::rows::{Bitmap, Data, Rows};
use super::statistics::Statistics;
use super::zones::Zones;
use crate::bytes::{Sink, WriteError, saturated};
use crate::vortex::raw::LayoutId;

type Done<T, S> = Result<T, WriteError<<S as Sink>::Error>>;

/// A column, or a field of a struct.
#[derive(Debug)]
pub(super) enum Column {
    Struct {
        rows: u64,
        /// Which rows have a value, if some may be missing.
        valid: Option<Box<Leaf>>,
        fields: Vec<Column>,
        zone_rows: u32,
    },
    Leaf(Box<Leaf>),
}

impl Column {
    /// A column of type `ty`. `zoned`: whether zones are stored; `known`: whether statistics of the column are.
    pub fn new(ty: &Logical, (zoned, known): (bool, bool), options: &WriteOptions) -> Self {
        // Releases up to 0.80 mix up the validity of a struct in a struct that are stored field by field.
        let apart = !ty.nullable || options.profile.edition().struct_validity;
        match &ty.shape {
            Shape::Struct(fields) if apart => {
                let zoned = zoned && !ty.nullable;
                let fields = fields.iter().map(|(_, ty)| Column::new(ty, (zoned, false), options)).collect();
                let bits = Logical::new(Shape::Bool, false);
                let valid = ty.nullable.then(|| Box::new(Leaf::new(&bits, (false, false), options)));
                Column::Struct { rows: 0, valid, fields, zone_rows: options.zone_rows }
            }
            _ => Column::Leaf(Box::new(Leaf::new(ty, (zoned, known), options))),
        }
    }

    /// Returns the number of rows that the next call of [`push`](Self::push) takes at most: those that the zone has not
    /// yet.
    pub fn left(&self) -> usize {
        let (rows, zone) = match self {
            Column::Struct { rows, zone_rows, .. } => (*rows, u64::from(*zone_rows)),
            Column::Leaf(leaf) => (leaf.rows, u64::from(leaf.how.zone_rows)),
        };
        saturated(zone.saturating_sub(rows.checked_rem(zone).unwrap_or(0)))
    }

    /// Adds rows, and writes those that make a chunk.
    pub fn push<S: Sink>(&mut self, rows: Rows, to: &mut Container<S>) -> Done<(), S> {
        match self {
            Column::Leaf(leaf) => leaf.push(rows, to),
            Column::Struct { rows: count, valid, fields, .. } => {
                let Rows { len, valid: present, data } = rows;
                *count = count.saturating_add(len as u64);
                if let Some(leaf) = valid {
                    let bits = present.unwrap_or_else(|| Bitmap::filled(len, true));
                    leaf.push(Rows { len, valid: None, data: Data::Bool(bits) }, to)?;
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
                if let Some(leaf) = valid {
                    children.push(leaf.finish(to)?.0);
                }
                for field in fields {
                    children.push(field.finish(to)?.0);
                }
                Ok((Layout { children, ..Layout::new(LayoutId::Struct, rows) }, Statistics::default()))
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
    statistics: Option<Statistics>,
    parts: Vec<Layout>,
    /// Whether a dictionary is tried: known after the first block.
    dictionary: Try,
    learned: Learned,
    how: WriteOptions,
}

#[derive(Debug)]
enum Try {
    Unknown,
    No,
    Yes(Box<Dictionary>),
}

impl Leaf {
    fn new(ty: &Logical, (zoned, known): (bool, bool), options: &WriteOptions) -> Self {
        Leaf {
            ty: ty.clone(),
            rows: 0,
            pending: Rows::new(ty),
            chunk: Rows::new(ty),
            zones: zoned.then(|| Zones::new(ty, options.zone_rows)),
            statistics: known.then(Statistics::default),
            parts: Vec::new(),
            dictionary: if options.dictionaries { Try::Unknown } else { Try::No },
            learned: Learned::default(),
            how: *options,
        }
    }

    fn push<S: Sink>(&mut self, rows: Rows, to: &mut Container<S>) -> Done<(), S> {
        self.rows = self.rows.saturating_add(rows.len as u64);
        self.pending.append(rows);
        if self.rows.is_multiple_of(self.how.zone_rows.into()) || self.pending.size() >= self.how.block() {
            self.block(to)?;
        }
        Ok(())
    }

    /// Adds the pending rows to the chunk or to the dictionary: the last ones of a zone, or many bytes.
    fn block<S: Sink>(&mut self, to: &mut Container<S>) -> Done<(), S> {
        let rows = core::mem::replace(&mut self.pending, Rows::new(&self.ty));
        if self.zones.is_some() || self.statistics.is_some() {
            let facts = Statistics::of(&rows);
            if let Some(all) = &mut self.statistics {
                all.merge(&facts);
            }
            if let Some(zones) = &mut self.zones {
                zones.add(&facts);
            }
        }
        if matches!(self.dictionary, Try::Unknown) {
            self.dictionary =
                Dictionary::new(&rows, &self.ty, &self.how).map_or(Try::No, |new| Try::Yes(Box::new(new)));
        }
        if let Try::Yes(dictionary) = &mut self.dictionary {
            return dictionary.push(&rows, &self.how, &mut self.parts, to);
        }
        self.chunk.append(rows);
        if self.chunk.size() >= self.how.chunk_size {
            self.write(to)?;
        }
        Ok(())
    }

    fn write<S: Sink>(&mut self, to: &mut Container<S>) -> Done<(), S> {
        let array = encode(&self.chunk, &self.ty, &self.how, &mut self.learned);
        self.parts.push(to.flat(&array, self.chunk.len as u64)?);
        self.chunk.clear(&self.ty);
        Ok(())
    }

    fn finish<S: Sink>(mut self, to: &mut Container<S>) -> Done<(Layout, Statistics), S> {
        if self.pending.len > 0 {
            self.block(to)?;
        }
        if self.chunk.len > 0 {
            self.write(to)?;
        }
        if let Try::Yes(dictionary) = core::mem::replace(&mut self.dictionary, Try::No) {
            self.parts.push(dictionary.finish(&self.how, to)?.0);
        }
        let rows = Layout::chunked(self.parts);
        let layout = match self.zones {
            Some(zones) if self.rows > 0 => {
                let (metadata, table, ty) = zones.finish();
                let table = to.flat(&encode(&table, &ty, &self.how, &mut Learned::default()), table.len as u64)?;
                let children = Vec::from([rows, table]);
                Layout { metadata, children, ..Layout::new(LayoutId::Zoned, self.rows) }
            }
            _ => rows,
        };
        Ok((layout, self.statistics.unwrap_or_default()))
    }
}
