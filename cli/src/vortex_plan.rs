//! The layouts of the new file for arrays without an end (format description, section 7).

use pilaster::Result;
use pilaster::column::{Prim, Type};
use pilaster::unstable::meta::proto::write::Writer;
use pilaster::unstable::vortex_container::Layout;
use pilaster::unstable::vortex_raw::LayoutId;
use pilaster::vortex::DType;

use crate::failure::Failure;
use crate::vortex_blobs::Blob;
use crate::vortex_match::{Leaf, is_table, leaves};

/// The chunks of a leaf: blob and rows each; and the dictionary: blob, rows, and the type of codes.
pub type Chunks = Vec<(Vec<(usize, u64)>, Option<(usize, u64, Prim)>)>;

/// The arrays, and the ids of their encodings.
pub type Arrays<'a> = (&'a [Blob], &'a [&'a str]);

/// Number of rows in a zone.
const ZONE: u64 = 8192;

/// Returns the number of zones of some rows.
pub const fn zones_of(rows: u64) -> u64 {
    rows.div_ceil(ZONE)
}

/// Returns the table of zones of each leaf, and the metadata of its layout: tables are in the order of columns.
pub fn tables((blobs, ids): Arrays<'_>, all: &[Leaf]) -> Vec<Option<(usize, Vec<u8>)>> {
    let mut found = blobs.iter().enumerate().filter(|(_, blob)| is_table(blob, ids));
    let table = |leaf: &Leaf| {
        let (number, blob) = if leaf.is_zoned { found.next()? } else { return None };
        Some((number, metadata(leaf.want.ty, blob.tree.children.len())?))
    };
    all.iter().map(table).collect()
}

/// Returns the metadata of zones with a number of fields, or `None` if the default writer has no such zones.
fn metadata(ty: Type, fields: usize) -> Option<Vec<u8>> {
    const BOUNDS: [&str; 2] = ["vortex.max", "vortex.min"];
    const TEXTS: [&str; 2] = ["vortex.bounded_max", "vortex.bounded_min"];
    const NANS: &str = "vortex.nan_count";
    let is_float = matches!(ty, Type::Prim(Prim::F16 | Prim::F32 | Prim::F64));
    let is_text = matches!(ty, Type::Utf8 | Type::Bytes);
    let mut specs = Vec::new();
    match (is_float, is_text, fields) {
        (true, _, 4) => specs.extend([BOUNDS[0], BOUNDS[1], NANS]),
        (true, _, 2) => specs.push(NANS),
        (_, true, 3) => specs.extend(TEXTS),
        (false, false, 3) => specs.extend(BOUNDS),
        (false, _, 1) => {}
        _ => return None,
    }
    specs.push("vortex.null_count");
    let mut message = Writer::default();
    message.uint(1, ZONE);
    for id in specs {
        let mut spec = Writer::default();
        spec.bytes(1, id.as_bytes());
        message.bytes(2, &spec.finish());
    }
    // A version is before the message.
    Some(std::iter::once(1).chain(message.finish()).collect())
}

/// Returns the number of rows of chunks.
fn sum(chunks: &Chunks) -> u64 {
    chunks.iter().flat_map(|(chunks, _)| chunks).fold(0, |sum, (_, rows)| sum.saturating_add(*rows))
}

/// The layouts of the new file.
pub struct Plan<'p> {
    pub all: &'p [Leaf],
    pub parts: Vec<Result<Chunks, String>>,
    /// The table of zones of each leaf: its blob, and the metadata of its layout.
    pub tables: Vec<Option<(usize, Vec<u8>)>>,
    pub rows: u64,
    /// The next leaf.
    pub next: usize,
    /// The number of an empty segment, for rows that are lost.
    pub hole: u32,
}

impl Plan<'_> {
    /// Returns the layout of the file, and why a column has no rows.
    pub fn root(&mut self, dtype: DType<'_>) -> Result<(Layout, Vec<Option<String>>), Failure> {
        if !matches!(dtype.ty(), Type::Struct(_)) || dtype.nullable() {
            let (layout, why) = self.layout(dtype, 0)?;
            return Ok((layout, vec![why]));
        }
        let (mut children, mut absent) = (Vec::new(), Vec::new());
        for k in 0..dtype.children() {
            let (layout, why) = self.layout(dtype.child(k)?, 1)?;
            children.push(layout);
            absent.push(why);
        }
        Ok((Layout { children, ..Layout::new(LayoutId::Struct, self.rows) }, absent))
    }

    /// Returns the layout of a column or field, and why it has no rows.
    fn layout(&mut self, dtype: DType<'_>, depth: u32) -> Result<(Layout, Option<String>), Failure> {
        let start = self.next;
        let mut fields = Vec::new();
        leaves(dtype, "", depth, &mut fields)?;
        if !matches!(dtype.ty(), Type::Struct(_)) || fields.len() == 1 {
            return Ok(self.leaf(dtype.nullable()));
        }
        let (mut children, mut why) = (Vec::new(), None);
        if dtype.nullable() {
            let (layout, absent) = self.leaf(false);
            children.push(layout);
            why = why.or(absent);
        }
        for k in 0..dtype.children() {
            let (layout, absent) = self.layout(dtype.child(k)?, depth.saturating_add(1))?;
            children.push(layout);
            why = why.or(absent);
        }
        self.next = start.saturating_add(fields.len());
        Ok((Layout { children, ..Layout::new(LayoutId::Struct, self.rows) }, why))
    }

    fn leaf(&mut self, nullable: bool) -> (Layout, Option<String>) {
        let leaf = self.next;
        self.next = leaf.saturating_add(1);
        let chunks = match self.parts.get(leaf) {
            Some(Ok(chunks)) => chunks,
            Some(Err(why)) => {
                let path = self.all.get(leaf).map_or("", |leaf| leaf.path.as_str());
                let why = if path.contains(['.', ' ']) { format!("{path}: {why}") } else { why.clone() };
                return (Layout::flat(self.hole, self.rows), Some(why));
            }
            None => return (Layout::flat(self.hole, self.rows), Some("no such column".to_owned())),
        };
        let flat = |(blob, rows): &(usize, u64)| Layout::flat(u32::try_from(*blob).unwrap_or(u32::MAX), *rows);
        let mut parts = Vec::new();
        for (chunks, dictionary) in chunks {
            let rows = Layout::chunked(chunks.iter().map(flat).collect());
            parts.push(match dictionary {
                None => rows,
                Some((values, entries, codes)) => {
                    let values = Layout::flat(u32::try_from(*values).unwrap_or(u32::MAX), *entries);
                    dict(rows, values, *codes, nullable)
                }
            });
        }
        let lost = self.rows.saturating_sub(sum(chunks));
        if lost > 0 {
            parts.push(Layout::flat(self.hole, lost));
        }
        let rows = Layout::chunked(parts);
        let Some((blob, metadata)) = self.tables.get(leaf).cloned().flatten().filter(|_| lost == 0) else {
            return (rows, None);
        };
        let table = Layout::flat(u32::try_from(blob).unwrap_or(u32::MAX), zones_of(self.rows));
        (Layout { metadata, children: vec![rows, table], ..Layout::new(LayoutId::Zoned, self.rows) }, None)
    }
}

/// Returns the layout of codes and their dictionary.
fn dict(codes: Layout, values: Layout, ty: Prim, nullable: bool) -> Layout {
    let number = match ty {
        Prim::U16 => 1,
        Prim::U32 => 2,
        _ => 0,
    };
    let mut message = Writer::default();
    message.uint(1, number).some(2, nullable.into());
    let rows = codes.rows;
    Layout { metadata: message.finish(), children: vec![values, codes], ..Layout::new(LayoutId::Dict, rows) }
}
