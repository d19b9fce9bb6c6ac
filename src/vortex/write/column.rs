//! A column that is being written: its rows become blocks, which the encoders of its leaves get.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::WriteOptions;
use super::dtype::{Logical, Shape};
use super::file::Layout;
use super::lanes::Lanes;
use super::leaf::Encoder;
use super::rows::{Bitmap, Data, Rows};
use super::statistics::Statistics;
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
    /// A column of type `ty`, whose leaves get encoders in `lanes`. `zoned`: whether zones are stored; `known`: whether
    /// statistics of the column are.
    pub fn new<S: Sink>(
        ty: &Logical,
        (zoned, known): (bool, bool),
        options: &WriteOptions,
        lanes: &mut Lanes<S>,
    ) -> Self {
        // Releases up to 0.80 mix up the validity of a struct in a struct that are stored field by field.
        let apart = !ty.nullable || options.profile.edition().struct_validity;
        match &ty.shape {
            Shape::Struct(fields) if apart => {
                let zoned = zoned && !ty.nullable;
                let bits = Logical::new(Shape::Bool, false);
                let valid = ty.nullable.then(|| Box::new(Leaf::new(&bits, (false, false), options, lanes)));
                let fields = fields.iter().map(|(_, ty)| Column::new(ty, (zoned, false), options, lanes)).collect();
                Column::Struct { rows: 0, valid, fields, zone_rows: options.zone_rows }
            }
            _ => Column::Leaf(Box::new(Leaf::new(ty, (zoned, known), options, lanes))),
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

    /// Adds rows, and passes on those that make a block.
    pub fn push<S: Sink>(&mut self, rows: Rows, to: &mut Lanes<S>) -> Done<(), S> {
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

    /// Passes on the rest of the rows.
    pub fn end<S: Sink>(&mut self, to: &mut Lanes<S>) -> Done<(), S> {
        match self {
            Column::Leaf(leaf) => leaf.end(to),
            Column::Struct { valid, fields, .. } => {
                valid.iter_mut().try_for_each(|leaf| leaf.end(to))?;
                fields.iter_mut().try_for_each(|field| field.end(to))
            }
        }
    }

    /// Returns the layout and the statistics of the column, after [`Lanes::wait`].
    pub fn finish<S: Sink>(self, from: &mut Lanes<S>) -> (Layout, Statistics) {
        match self {
            Column::Leaf(leaf) => from.finished(leaf.lane),
            Column::Struct { rows, valid, fields, .. } => {
                let mut children: Vec<Layout> = valid.into_iter().map(|leaf| from.finished(leaf.lane).0).collect();
                children.extend(fields.into_iter().map(|field| field.finish(from).0));
                (Layout { children, ..Layout::new(LayoutId::Struct, rows) }, Statistics::default())
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
    /// The number of its encoder.
    lane: usize,
    how: WriteOptions,
}

impl Leaf {
    fn new<S: Sink>(ty: &Logical, facts: (bool, bool), options: &WriteOptions, lanes: &mut Lanes<S>) -> Self {
        let lane = lanes.add(Encoder::new(ty, facts, options));
        Leaf { ty: ty.clone(), rows: 0, pending: Rows::new(ty), lane, how: *options }
    }

    /// Adds rows. A block ends with a zone, or when it has many bytes.
    fn push<S: Sink>(&mut self, rows: Rows, to: &mut Lanes<S>) -> Done<(), S> {
        self.rows = self.rows.saturating_add(rows.len as u64);
        self.pending.append(rows);
        if self.rows.is_multiple_of(self.how.zone_rows.into()) || self.pending.size() >= self.how.block() {
            let block = core::mem::replace(&mut self.pending, Rows::new(&self.ty));
            to.block(self.lane, block)?;
        }
        Ok(())
    }

    fn end<S: Sink>(&mut self, to: &mut Lanes<S>) -> Done<(), S> {
        let rest = core::mem::replace(&mut self.pending, Rows::new(&self.ty));
        to.end(self.lane, rest)
    }
}
