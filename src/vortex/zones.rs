//! Zone maps (format description, section 7): bounds of the values per range of rows, which allow rows to be skipped.

use super::column::Column;
use super::dtype::{Shape, Ty};
use super::encodings::constant;
use super::layouts::zoned_child;
use super::node::{Form, Node};
use super::raw::{Encoding, LayoutId};
use crate::bytes::Scratch;
use crate::column::{Column as _, Fact, Prim, Value, Zone};
use crate::error::{Error, Kind, Result, What};
use crate::meta::proto::{self, Message};
use core::ops::Range;

/// The zones of a column. Each bound is a column of its own with one row per zone. A null means that the bound is
/// unknown or that the zone has no value.
///
/// ```
/// use pilaster::bytes::Scratch;
/// use pilaster::column::{Column, Part, Value};
/// use pilaster::vortex::{File, Zones};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/lay_chunked_zones_a.vortex"));
/// let file = File::open(bytes)?;
/// let column = file.part()?.named("b")?;
/// let zones: Zones<'_> = column.zones()?.expect("zones");
/// assert_eq!((zones.len(), zones.is_empty()), (3, false));
/// assert_eq!((zones.rows(0), zones.rows(2)), (0..96, 192..250));
///
/// let (Some(min), Some(max)) = (zones.min(), zones.max()) else { panic!("no bounds") };
/// let mut memory = [0; 256];
/// let mut scratch = Scratch::new(&mut memory);
/// assert_eq!(min.scalar_at(0, &mut scratch)?.value(0)?, Value::F64(0.22));
/// assert_eq!(max.scalar_at(0, &mut scratch)?.value(0)?, Value::F64(990.07));
/// let nulls = zones.null_count().expect("counts");
/// assert_eq!(nulls.scalar_at(0, &mut scratch)?.value(0)?, Value::Int(13));
/// // NaN is outside the bounds: they hold for all values of a zone without NaN.
/// let nans = zones.nan_count().expect("counts");
/// assert_eq!(nans.scalar_at(0, &mut scratch)?.value(0)?, Value::Int(0));
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Zones<'f> {
    rows: u64,
    zone_len: u64,
    zones: u64,
    min: Option<Column<'f>>,
    max: Option<Column<'f>>,
    null_count: Option<Column<'f>>,
    nan_count: Option<Column<'f>>,
}

/// The state that a field of a zone map stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Min,
    Max,
    /// A struct of a bound and a flag: true if the bound is unknown.
    BoundedMax,
    NullCount,
    NanCount,
    /// A state that is not used here.
    Other,
}

/// Maximum number of fields in the table of zones: the fields of the default writer and of old releases.
const FIELDS: usize = 16;

impl<'f> Column<'f> {
    /// Returns the zones of the column, or `None` if its layout has no zones, or zones with an unknown aggregate:
    /// then the type of their table is unknown, too.
    ///
    /// # Errors
    /// Errors of an invalid layout of the zones.
    pub fn zones(&self) -> Result<Option<Zones<'f>>> {
        let Some(node) = self.whole() else { return Ok(None) };
        let mut fields = Fields::NONE;
        let mut push =
            |state| fields.push(state).ok_or_else(|| node.error(Kind::Invalid, What::VORTEX_ZONES, FIELDS as u64));
        match described(node, &mut push)? {
            Described::Zones(zone_len) if zone_len > 0 => Zones::of(node, zone_len, &fields).map(Some),
            _ => Ok(None),
        }
    }
}

/// Takes the state of each field of a table of zones.
type EachField<'e> = &'e mut dyn FnMut(State) -> Result<()>;

/// What a layout says of its zones.
enum Described {
    /// The number of rows per zone. The fields of the table are known.
    Zones(u64),
    /// An aggregate that the original knows, and that is not read here: the fields of the table are unknown.
    Unread,
    /// The place and the length of the id of an aggregate that no release knows.
    Unknown(u64, u64),
    /// The layout has no zones.
    Nothing,
}

/// Describes the zones of a layout. Calls `field` with the state of each field of their table.
fn described(node: &Node<'_>, field: EachField<'_>) -> Result<Described> {
    match node.layout() {
        Some(LayoutId::Zoned) => zoned(node, field),
        Some(LayoutId::Stats) => stats(node, field),
        Some(LayoutId::Flat | LayoutId::Struct | LayoutId::Chunked | LayoutId::Dict | LayoutId::Unknown) | None => {
            Ok(Described::Nothing)
        }
    }
}

/// Checks what a layout says of its zones. Their bounds and counts are not looked at.
///
/// # Errors
/// Errors of an invalid layout; [`Kind::Unsupported`] in `What::VORTEX_AGGREGATE` if no release of the original knows an
/// aggregate.
pub(super) fn check(node: &Node<'_>) -> Result<()> {
    match described(node, &mut |_| Ok(()))? {
        Described::Zones(zone_len) if zone_len > 0 => table_of(node, zone_len).map(|_| ()),
        Described::Unknown(at, len) => Err(Error::needing(Kind::Unsupported, What::VORTEX_AGGREGATE, at, len)),
        Described::Zones(_) | Described::Unread | Described::Nothing => Ok(()),
    }
}

/// Returns the table of zones, which has a row for each of them.
fn table_of<'f>(node: &Node<'f>, zone_len: u64) -> Result<Node<'f>> {
    let table = node.child(zoned_child::ZONES, &Ty::BOOL, 0)?;
    match table.rows {
        zones if zones == node.rows.div_ceil(zone_len) => Ok(table),
        zones => Err(table.error(Kind::Invalid, What::VORTEX_ZONES, zones)),
    }
}

impl<'f> Zones<'f> {
    fn of(node: &Node<'f>, zone_len: u64, fields: &Fields) -> Result<Self> {
        let table = table_of(node, zone_len)?;
        let zones = table.rows;
        let table = if table.layout() == Some(LayoutId::Flat) { table.array()? } else { table };
        // If all zones are equal, the table is one constant struct.
        let rows = if table.encoding() == Some(Encoding::Constant) { constant::value(&table)? } else { table };
        let count = match &rows.form {
            Form::Scalar(scalar) => scalar.items()?.len()?,
            Form::Array(Encoding::Struct) => table.children()? as u64,
            _ => return Err(table.undecoded()),
        };
        if count != fields.len() as u64 {
            return Err(table.error(Kind::Invalid, What::VORTEX_ZONES, count));
        }
        let child = |k: usize, dtype: Ty| -> Result<Node<'f>> {
            match &rows.form {
                Form::Scalar(scalar) => rows.scalar(&scalar.field(k as u64)?, &dtype),
                _ => rows.child(k, &dtype, zones),
            }
        };
        let (dtype, count) = (node.dtype.optional(), Ty::prim(Prim::U64, true));
        let mut found =
            Zones { rows: node.rows, zone_len, zones, min: None, max: None, null_count: None, nan_count: None };
        for (k, state) in fields.iter().enumerate() {
            match state {
                State::Min => found.min = Some(Column::new(&child(k, dtype)?)),
                State::Max => found.max = Some(Column::new(&child(k, dtype)?)),
                State::BoundedMax => found.max = bounded(&child(k, dtype)?)?,
                State::NullCount => found.null_count = Some(Column::new(&child(k, count)?)),
                State::NanCount => found.nan_count = Some(Column::new(&child(k, count)?)),
                State::Other => {}
            }
        }
        Ok(found)
    }
}

/// Returns the bound in a struct of bound and flag. The validity of the struct, if present, is before the bound.
fn bounded<'f>(node: &Node<'f>) -> Result<Option<Column<'f>>> {
    if node.encoding() != Some(Encoding::Struct) {
        return Ok(None);
    }
    let Some(place) = node.children()?.checked_sub(2) else {
        return Err(node.error(Kind::Invalid, What::VORTEX_ZONES, 0));
    };
    Ok(Some(Column::new(&node.child(place, &node.dtype, node.rows)?)))
}

/// The fields of a table of zones, in order.
#[derive(Clone, Copy, Debug)]
struct Fields {
    states: [State; FIELDS],
    len: usize,
}

impl Fields {
    const NONE: Fields = Fields { states: [State::Other; FIELDS], len: 0 };

    fn push(&mut self, state: State) -> Option<()> {
        *self.states.get_mut(self.len)? = state;
        self.len = self.len.saturating_add(1);
        Some(())
    }

    const fn len(&self) -> usize {
        self.len
    }

    fn iter(&self) -> impl Iterator<Item = &State> {
        self.states.iter().take(self.len)
    }
}

/// Metadata of a `vortex.zoned`, after a byte with its version.
mod zoned_field {
    /// Number of rows per zone.
    pub const ZONE_LEN: u32 = 1;
    /// One message per aggregate.
    pub const AGGREGATES: u32 = 2;
    /// The id of an aggregate.
    pub const ID: u32 = 1;
    /// The options of an aggregate.
    pub const OPTIONS: u32 = 2;
}

/// Statistics of a `vortex.stats`, by the numbers of their bits.
mod stat {
    pub const MAX: usize = 3;
    pub const MIN: usize = 4;
    pub const NULL_COUNT: usize = 6;
    pub const NAN_COUNT: usize = 8;
    /// The number of statistics.
    pub const COUNT: usize = 9;
}

/// Describes the zones of a `vortex.zoned`. The fields of its table are the aggregates that exist for the type.
fn zoned(node: &Node<'_>, field: EachField<'_>) -> Result<Described> {
    let metadata = node.metadata()?;
    let bad = |need: u64| node.error(Kind::Invalid, What::VORTEX_ZONES, need);
    let Some((1, rest)) = metadata.bytes().split_first() else { return Err(bad(0)) };
    let message = Message::new_at(rest, metadata.at().saturating_add(1));
    let kind = kind(node.dtype.shape);
    let mut is_read = true;
    let mut all = message.fields();
    while let Some((number, value)) = all.take()? {
        if number != zoned_field::AGGREGATES {
            continue;
        }
        let proto::Value::Bytes(spec) = value else { return Err(bad(zoned_field::AGGREGATES.into())) };
        let id = spec.message(zoned_field::ID)?.unwrap_or(Message::new_at(&[], spec.at()));
        let (id, at) = (id.bytes(), id.at());
        let known = id.strip_prefix(b"vortex.").and_then(|name| AGGREGATES.iter().find(|(known, ..)| *known == name));
        let Some((_, state, kinds)) = known else {
            return Ok(Described::Unknown(at, id.len() as u64));
        };
        is_read &= *kinds != 0;
        if id.starts_with(b"vortex.bounded_") {
            // The greatest length of a bound, 64 bits.
            let options = spec.message(zoned_field::OPTIONS)?.map_or(&[][..], |options| options.bytes());
            if options.len() != 8 || options.iter().all(|byte| *byte == 0) {
                return Err(bad(options.len() as u64));
            }
        }
        if kinds & kind > 0 {
            field(*state)?;
        }
    }
    let [zone_len] = message.numbers([zoned_field::ZONE_LEN])?;
    Ok(if is_read { Described::Zones(zone_len) } else { Described::Unread })
}

/// Kinds of types, one bit each: texts and byte strings, floats, other numbers, the others.
const TEXT: u8 = 1;
const FLOAT: u8 = 2;
const NUMBER: u8 = 4;
const OTHER: u8 = 8;

const fn kind(shape: Shape) -> u8 {
    match shape {
        Shape::Utf8 | Shape::Binary => TEXT,
        Shape::Prim(Prim::F16 | Prim::F32 | Prim::F64) => FLOAT,
        Shape::Prim(_) | Shape::Bool | Shape::Decimal { .. } => NUMBER,
        _ => OTHER,
    }
}

/// Aggregates by their ids without `vortex.`, with the kinds of types for which the table has a field. Those without kinds are not read here;
/// writers of the original may be told to store them.
const AGGREGATES: [(&[u8], State, u8); 14] = [
    (b"max", State::Max, TEXT | FLOAT | NUMBER),
    (b"min", State::Min, TEXT | FLOAT | NUMBER),
    (b"bounded_max", State::BoundedMax, TEXT),
    (b"bounded_min", State::Min, TEXT),
    (b"nan_count", State::NanCount, FLOAT),
    (b"null_count", State::NullCount, TEXT | FLOAT | NUMBER | OTHER),
    // No longer written by the newest releases.
    (b"sum", State::Other, FLOAT | NUMBER),
    (b"all_nan", State::Other, 0),
    (b"all_non_nan", State::Other, 0),
    (b"all_non_null", State::Other, 0),
    (b"all_null", State::Other, 0),
    (b"count", State::Other, 0),
    (b"first", State::Other, 0),
    (b"last", State::Other, 0),
];

/// Describes the zones of a `vortex.stats`. The metadata has one bit per statistic; each bound is followed by a flag.
fn stats(node: &Node<'_>, field: EachField<'_>) -> Result<Described> {
    let metadata = node.metadata()?;
    let bad = || node.error(Kind::Invalid, What::VORTEX_ZONES, 0);
    let (zone_len, bits) = metadata.bytes().split_first_chunk::<4>().ok_or_else(bad)?;
    for bit in 0..stat::COUNT {
        let set = bits.get(bit >> 3).is_some_and(|byte| byte >> (bit & 7) & 1 == 1);
        let state = match bit {
            _ if !set => continue,
            stat::MAX => State::Max,
            stat::MIN => State::Min,
            stat::NULL_COUNT => State::NullCount,
            stat::NAN_COUNT => State::NanCount,
            _ => State::Other,
        };
        let flag = matches!(state, State::Max | State::Min);
        field(state)?;
        if flag {
            field(State::Other)?;
        }
    }
    Ok(Described::Zones(u32::from_le_bytes(*zone_len).into()))
}

impl<'f> Zones<'f> {
    /// Returns the number of zones.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.zones
    }

    /// Returns whether there are no zones.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.zones == 0
    }

    /// Returns the rows of zone `i`. The last zone may be shorter.
    #[must_use]
    pub fn rows(&self, i: u64) -> Range<u64> {
        let start = i.saturating_mul(self.zone_len).min(self.rows);
        start..start.saturating_add(self.zone_len).min(self.rows)
    }

    /// Returns the number of the zone of a row; `None` if the row does not exist.
    #[must_use]
    pub fn around(&self, row: u64) -> Option<u64> {
        row.checked_div(self.zone_len).filter(|_| row < self.rows)
    }

    /// Returns the facts about zone `i`. Many zones of a column are found faster than by
    /// [`zone_around`](crate::column::Column::zone_around), which finds the zone map each time.
    ///
    /// # Errors
    /// [`Kind::OutOfRange`] of the bounds if the zone does not exist, [`Kind::NoRoom`] if `scratch` is too small; errors of invalid bounds.
    pub fn zone<'s>(&self, i: u64, scratch: &mut Scratch<'s>) -> Result<Zone<'s>>
    where
        'f: 's,
    {
        let mut of = |bound: Option<Column<'f>>| match bound {
            Some(bound) => bound.scalar_at(i, scratch)?.value(0),
            None => Ok(Value::Null),
        };
        let (min, max) = (of(self.min)?.into(), of(self.max)?.into());
        let nulls = match of(self.null_count)? {
            Value::Int(count) => u64::try_from(count).ok().into(),
            _ => Fact::Unknown,
        };
        Ok(Zone { rows: self.rows(i), min, max, nulls })
    }

    /// Returns the lower bounds of the zones. The bound of a text may be a prefix.
    #[must_use]
    pub const fn min(&self) -> Option<Column<'f>> {
        self.min
    }

    /// Returns the upper bounds of the zones.
    #[must_use]
    pub const fn max(&self) -> Option<Column<'f>> {
        self.max
    }

    /// Returns the number of missing rows per zone.
    #[must_use]
    pub const fn null_count(&self) -> Option<Column<'f>> {
        self.null_count
    }

    /// Returns the number of NaN per zone, of a column of floats. Bounds leave out NaN.
    #[must_use]
    pub const fn nan_count(&self) -> Option<Column<'f>> {
        self.nan_count
    }
}

impl<'f> Column<'f> {
    /// Returns the zone of `row` in the zone map. Without a zone map, returns the statistics of the file for all rows.
    pub(super) fn zone_of<'s>(&self, row: u64, scratch: &mut Scratch<'s>) -> Result<Option<Zone<'s>>>
    where
        'f: 's,
    {
        let Some(zones) = self.zones()? else {
            let number = self.number().filter(|_| row < self.rows());
            let statistics = number.map_or(Ok(None), |k| self.node().file.column_statistics(k))?;
            return statistics.map(|statistics| statistics.zone(0..self.rows())).transpose();
        };
        zones.around(row).map_or(Ok(None), |i| zones.zone(i, scratch).map(Some))
    }

    /// Returns the node if it is a layout that stores exactly the rows of the column, otherwise `None`.
    fn whole(&self) -> Option<&Node<'f>> {
        (self.steps() == 0 && self.node().layout().is_some()).then_some(self.node())
    }
}
