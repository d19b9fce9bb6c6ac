//! What [`File::verify`](super::File::verify) refuses although it can be read: the original implementation requires that
//! the numbers of a FlatBuffer are aligned in it.

use super::file::File;
use super::node::Node;
use crate::error::Result;
use crate::generated::vortex as flat;
use crate::meta::flat::Table;

/// Fields of a table, with their sizes in bytes. Fields of one byte are always aligned.
type Fields = [(u8, u32)];

/// Size in bytes of the offset of a table, vector or string.
const OFFSET: u32 = 4;

const POSTSCRIPT: &Fields = &[
    (flat::Postscript::DTYPE, OFFSET),
    (flat::Postscript::LAYOUT, OFFSET),
    (flat::Postscript::STATISTICS, OFFSET),
    (flat::Postscript::FOOTER, OFFSET),
    (flat::Postscript::METADATA, OFFSET),
];

const SEGMENT: &Fields = &[(flat::PostscriptSegment::OFFSET, 8), (flat::PostscriptSegment::LENGTH, 4)];

const STATISTICS: &Fields = &[
    (flat::ArrayStats::MIN, OFFSET),
    (flat::ArrayStats::MAX, OFFSET),
    (flat::ArrayStats::SUM, OFFSET),
    (flat::ArrayStats::NULL_COUNT, 8),
    (flat::ArrayStats::UNCOMPRESSED_SIZE_IN_BYTES, 8),
    (flat::ArrayStats::NAN_COUNT, 8),
];

const LAYOUT: &Fields = &[
    (flat::Layout::ENCODING, 2),
    (flat::Layout::ROW_COUNT, 8),
    (flat::Layout::METADATA, OFFSET),
    (flat::Layout::CHILDREN, OFFSET),
    (flat::Layout::SEGMENTS, OFFSET),
];

const ARRAY: &Fields = &[
    (flat::ArrayNode::ENCODING, 2),
    (flat::ArrayNode::METADATA, OFFSET),
    (flat::ArrayNode::CHILDREN, OFFSET),
    (flat::ArrayNode::BUFFERS, OFFSET),
    (flat::ArrayNode::STATS, OFFSET),
];

/// Checks the postscript and the statistics of the file.
pub(super) fn container(file: &File<'_>) -> Result<()> {
    if let Some(postscript) = file.postscript() {
        postscript.check_aligned(POSTSCRIPT)?;
        for field in flat::Postscript::DTYPE..=flat::Postscript::FOOTER {
            check(postscript.table(field)?, SEGMENT)?;
        }
        for entry in flat::Postscript::from(postscript).metadata()?.into_iter().flat_map(|all| all.iter()) {
            check(Some(entry?.segment()?.into()), SEGMENT)?;
        }
    }
    let Some(statistics) = file.statistics() else { return Ok(()) };
    for field in statistics.field_stats()?.into_iter().flat_map(|fields| fields.iter()) {
        check(Some(field?.into()), STATISTICS)?;
    }
    Ok(())
}

/// Checks a layout or array, without its children.
pub(super) fn node(node: &Node<'_>) -> Result<()> {
    if node.layout().is_some() {
        return node.table().check_aligned(LAYOUT);
    }
    node.table().check_aligned(ARRAY)?;
    check(node.table().table(flat::ArrayNode::STATS)?, STATISTICS)
}

fn check(table: Option<Table<'_>>, fields: &Fields) -> Result<()> {
    table.map_or(Ok(()), |table| table.check_aligned(fields))
}
