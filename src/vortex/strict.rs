//! What [`File::verify`](super::File::verify) refuses although it can be read: the original implementation requires that
//! the numbers of a FlatBuffer are aligned in it, and has no decimals whose scale exceeds their number of digits.

use super::file::File;
use super::node::Node;
use super::time_zone;
use super::type_numbers::calendar;
use crate::error::{Error, Kind, Result, What};
use crate::generated::vortex::{self as flat, Type as Tag};
use crate::limits::Fuel;
use crate::meta::flat::Table;

/// The fields of a table that have more than one byte.
struct Fields {
    /// Numbers, with their sizes in bytes.
    numbers: &'static [(u8, u32)],
    /// Offsets of tables, vectors and strings.
    offsets: &'static [u8],
}

impl Fields {
    const fn new(numbers: &'static [(u8, u32)], offsets: &'static [u8]) -> Self {
        Fields { numbers, offsets }
    }

    fn check(&self, table: Option<Table<'_>>) -> Result<()> {
        table.map_or(Ok(()), |table| table.check_aligned(self.numbers, self.offsets))
    }
}

const POSTSCRIPT: Fields = Fields::new(
    &[],
    &[
        flat::Postscript::DTYPE,
        flat::Postscript::LAYOUT,
        flat::Postscript::STATISTICS,
        flat::Postscript::FOOTER,
        flat::Postscript::METADATA,
    ],
);

const SEGMENT: Fields = Fields::new(&[(flat::PostscriptSegment::OFFSET, 8), (flat::PostscriptSegment::LENGTH, 4)], &[]);

const FOOTER: Fields =
    Fields::new(&[], &[flat::Footer::ARRAY_SPECS, flat::Footer::LAYOUT_SPECS, flat::Footer::SEGMENT_SPECS]);

/// An id of an array or a layout.
const SPEC: Fields = Fields::new(&[], &[flat::ArraySpec::ID]);

/// The value of a union lies in the field after its tag.
const DTYPE: Fields = Fields::new(&[], &[flat::DType::TYPE + 1]);

const STATISTICS: Fields = Fields::new(
    &[
        (flat::ArrayStats::NULL_COUNT, 8),
        (flat::ArrayStats::UNCOMPRESSED_SIZE_IN_BYTES, 8),
        (flat::ArrayStats::NAN_COUNT, 8),
    ],
    &[flat::ArrayStats::MIN, flat::ArrayStats::MAX, flat::ArrayStats::SUM],
);

const LAYOUT: Fields = Fields::new(
    &[(flat::Layout::ENCODING, 2), (flat::Layout::ROW_COUNT, 8)],
    &[flat::Layout::METADATA, flat::Layout::CHILDREN, flat::Layout::SEGMENTS],
);

const ARRAY: Fields = Fields::new(
    &[(flat::ArrayNode::ENCODING, 2)],
    &[flat::ArrayNode::METADATA, flat::ArrayNode::CHILDREN, flat::ArrayNode::BUFFERS, flat::ArrayNode::STATS],
);

/// Checks the postscript, the footer, the type and the statistics of the file.
pub(super) fn container(file: &File<'_>) -> Result<()> {
    if let Some(postscript) = file.postscript() {
        POSTSCRIPT.check(Some(postscript))?;
        for field in flat::Postscript::DTYPE..=flat::Postscript::FOOTER {
            SEGMENT.check(postscript.table(field)?)?;
        }
        for entry in flat::Postscript::from(postscript).metadata()?.into_iter().flat_map(|all| all.iter()) {
            SEGMENT.check(Some(entry?.segment()?.into()))?;
        }
    }
    if let Some(footer) = file.footer() {
        FOOTER.check(Some(footer))?;
        for specs in [flat::Footer::ARRAY_SPECS, flat::Footer::LAYOUT_SPECS] {
            for spec in footer.links(specs)?.into_iter().flat_map(|all| all.iter()) {
                SPEC.check(Some(spec?))?;
            }
        }
    }
    dtype(file.dtype().table(), &mut Fuel::new(file.limits()))?;
    let Some(statistics) = file.statistics() else { return Ok(()) };
    for field in statistics.field_stats()?.into_iter().flat_map(|fields| fields.iter()) {
        STATISTICS.check(Some(field?.into()))?;
    }
    Ok(())
}

/// Checks a type and all types in it. Each level takes from the depth of the FlatBuffer.
fn dtype(table: Option<Table<'_>>, fuel: &mut Fuel) -> Result<()> {
    let Some(table) = table else { return Ok(()) };
    fuel.spend(table.at())?;
    DTYPE.check(Some(table))?;
    let Some((number, member)) = table.member(flat::DType::TYPE)? else { return Ok(()) };
    // `children` are the fields of single types.
    let (fields, children): (_, &[u8]) = match number {
        Tag::DECIMAL => return decimal(flat::Decimal::from(member)),
        Tag::STRUCT => (Fields::new(&[], &[flat::Struct::NAMES, flat::Struct::DTYPES]), &[]),
        Tag::UNION => (Fields::new(&[], &[flat::Union::NAMES, flat::Union::DTYPES, flat::Union::TYPE_IDS]), &[]),
        Tag::LIST => (Fields::new(&[], &[flat::List::ELEMENT_TYPE]), &[flat::List::ELEMENT_TYPE]),
        Tag::FIXED_SIZE_LIST => (
            Fields::new(&[(flat::FixedSizeList::SIZE, 4)], &[flat::FixedSizeList::ELEMENT_TYPE]),
            &[flat::FixedSizeList::ELEMENT_TYPE],
        ),
        Tag::EXTENSION => (
            Fields::new(&[], &[flat::Extension::ID, flat::Extension::STORAGE_DTYPE, flat::Extension::METADATA]),
            &[flat::Extension::STORAGE_DTYPE],
        ),
        Tag::MAP => (
            Fields::new(&[], &[flat::Map::KEY_TYPE, flat::Map::VALUE_TYPE]),
            &[flat::Map::KEY_TYPE, flat::Map::VALUE_TYPE],
        ),
        _ => (Fields::new(&[], &[]), &[]),
    };
    fields.check(Some(member))?;
    if number == Tag::EXTENSION {
        zone(flat::Extension::from(member))?;
    }
    for child in children {
        dtype(member.table(*child)?, fuel)?;
    }
    let many = match number {
        Tag::STRUCT => member.links(flat::Struct::DTYPES)?,
        Tag::UNION => member.links(flat::Union::DTYPES)?,
        _ => None,
    };
    for child in many.into_iter().flat_map(|many| many.iter()) {
        dtype(Some(child?), fuel)?;
    }
    Ok(())
}

/// Checks that the scale of a decimal is not greater than its number of digits. It may be negative.
fn decimal(ty: flat::Decimal<'_>) -> Result<()> {
    let (precision, scale) = (ty.precision()?, ty.scale()?);
    match u8::try_from(scale) {
        Ok(scale) if scale > precision => Err(Error::needing(Kind::Invalid, What::VORTEX_DTYPE, ty.at(), scale.into())),
        _ => Ok(()),
    }
}

/// Checks the time zone of a timestamp.
fn zone(ty: flat::Extension<'_>) -> Result<()> {
    let (Some(id), Some(metadata)) = (ty.id()?, ty.metadata()?) else { return Ok(()) };
    match calendar(id.bytes(), metadata.bytes()) {
        Some((_, _, zone)) => time_zone::check(zone, ty.at()),
        None => Ok(()),
    }
}

/// Checks a layout or array, without its children.
pub(super) fn node(node: &Node<'_>) -> Result<()> {
    if node.layout().is_some() {
        return LAYOUT.check(Some(*node.table()));
    }
    ARRAY.check(Some(*node.table()))?;
    STATISTICS.check(node.table().table(flat::ArrayNode::STATS)?)
}
