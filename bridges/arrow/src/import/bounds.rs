//! Bounds of rows that a file stores as arrays.

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::Field;
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Fact, Value, Zone};

use super::column::Column;
use super::node::{self, Node};
use crate::Error;

/// Minimum, maximum and number of missing rows of consecutive ranges of rows.
#[derive(Debug)]
pub(crate) struct Bounds {
    mins: Node,
    maxes: Node,
    nulls: UInt64Array,
}

impl Bounds {
    pub fn new(field: &Field, mins: &ArrayRef, maxes: &ArrayRef, nulls: &UInt64Array) -> Result<Self, Error> {
        node::check(field)?;
        // The arrays of bounds have the type of the values of a dictionary.
        let of = |array: &ArrayRef| {
            let field =
                Field::new(field.name(), array.data_type().clone(), true).with_metadata(field.metadata().clone());
            node::node(&field, array)
        };
        Ok(Bounds { mins: of(mins)?, maxes: of(maxes)?, nulls: nulls.clone() })
    }

    /// Size in bytes of the scratch memory for one zone.
    pub const ROOM: usize = 512;

    /// Returns what is known about range `k`, which has `rows` rows.
    pub fn zone<'z>(&'z self, k: usize, rows: u64, memory: &'z mut [u8]) -> Result<Zone<'z>, Error> {
        let mut scratch = Scratch::new(memory);
        let nulls = (k < self.nulls.len() && self.nulls.is_valid(k)).then(|| self.nulls.value(k));
        Ok(Zone {
            rows: 0..rows,
            min: value(&self.mins, k, &mut scratch)?.into(),
            max: value(&self.maxes, k, &mut scratch)?.into(),
            nulls: Fact::from(nulls),
        })
    }
}

fn value<'s>(node: &'s Node, k: usize, scratch: &mut Scratch<'s>) -> Result<Value<'s>, Error> {
    let k = k as u64;
    Ok(Column::new(node).read(k..k.saturating_add(1), scratch)?.value(0)?)
}
