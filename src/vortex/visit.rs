//! Visits the layouts and arrays of a file, to show how it is stored.

use core::ops::Range;

use super::context::Context;
use super::dtype::{DType, Ty};
use super::encodings::structure;
use super::file::{File, Root};
use super::layouts::{self, dict_child, zoned_child};
use super::node::{Form, Node};
use super::raw::LayoutId;
use crate::bytes::FileRange;
use crate::error::Result;
use crate::limits::Fuel;

/// The role of a node in the node above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<'f> {
    /// The root of the file, or of the array in a flat layout.
    Root,
    /// A field of a struct.
    Field(&'f str),
    /// The validity of a struct.
    Validity,
    /// A chunk, by number.
    Chunk(usize),
    /// The values of a dictionary.
    Values,
    /// The codes of a dictionary.
    Codes,
    /// The rows that the zones describe.
    Data,
    /// A table with one row per zone.
    Zones,
    /// A child of an array or of an unknown layout, by number.
    Child(usize),
}

/// A layout or array of a file.
///
/// ```
/// use pilaster::bytes::FileRange;
/// use pilaster::vortex::{File, Role, Visit};
///
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enc_sequence_a.vortex"));
/// let file = File::open(bytes)?;
/// // The layout and the array of column 1.
/// let mut shown = 0;
/// file.visit(false, &mut |node: &Visit<'_>| {
///     match (node.column, node.is_array) {
///         (Some(1), false) => {
///             assert_eq!((node.role, node.id, node.rows), (Role::Field("i64"), &b"vortex.flat"[..], Some(1100)));
///             assert_eq!(node.segment_number()?, Some(1));
///             assert_eq!(node.segment, Some(FileRange { at: 184, len: 180 }));
///         }
///         (Some(1), true) => {
///             assert_eq!((node.role, node.id, node.depth), (Role::Root, &b"vortex.sequence"[..], 2));
///             // It has no buffers: all values follow from the first one and the step in its metadata.
///             assert_eq!((node.buffers()?, node.metadata()?.len()), (0, 10));
///             assert!(node.buffer(0).is_err());
///         }
///         _ => return Ok(()),
///     }
///     shown += 1;
///     Ok(())
/// })?;
/// assert_eq!(shown, 2);
/// # Ok::<(), pilaster::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Visit<'f> {
    /// Number of nodes above.
    pub depth: u16,
    /// The role in the node above.
    pub role: Role<'f>,
    /// True for an array, false for a layout.
    pub is_array: bool,
    /// True for a node in a table of zones, which stores no rows of a column.
    pub in_zones: bool,
    /// The id of the layout or encoding, which may be unknown.
    pub id: &'f [u8],
    /// Number of rows of a layout or of the root array of a flat layout. `None` for the children of an array, whose
    /// number of rows may differ.
    pub rows: Option<u64>,
    /// The byte range of the segment of a flat layout.
    pub segment: Option<FileRange>,
    /// Size in bytes of the metadata and buffers of an array, without its children; 0 for a layout.
    pub bytes: u64,
    /// The number of the field of the root that the node belongs to, or `None` for a node above the fields.
    pub column: Option<usize>,
    /// The type of the rows of a layout; `None` for arrays and in tables of zones.
    pub dtype: Option<DType<'f>>,
    pub(super) node: Node<'f>,
}

impl<'f> Visit<'f> {
    /// Returns the metadata of the layout or encoding.
    ///
    /// # Errors
    /// Errors of invalid offsets in the metadata of the file.
    pub fn metadata(&self) -> Result<&'f [u8]> {
        self.node.metadata().map(|metadata| metadata.bytes())
    }

    /// Returns the number of buffers of an array, without its children.
    ///
    /// # Errors
    /// Errors of an invalid node.
    pub fn buffers(&self) -> Result<usize> {
        self.node.buffers()
    }

    /// Returns the byte range of buffer `k` of an array in the file.
    ///
    /// # Errors
    /// Errors of an invalid node, segment or buffer.
    pub fn buffer(&self, k: usize) -> Result<FileRange> {
        self.node.buffer(k).map(|buffer| FileRange { at: buffer.at, len: buffer.bytes.len() as u64 })
    }

    /// Returns the segment number of a flat layout, or `None` for any other node.
    ///
    /// # Errors
    /// Errors of an invalid layout.
    pub fn segment_number(&self) -> Result<Option<u32>> {
        match self.segment {
            Some(_) => self.node.segment_number().map(Some),
            None => Ok(None),
        }
    }
}

impl File<'_> {
    /// Calls `show` for every layout and, unless `layouts_only`, every array of the file. Parents come before their
    /// children. All types are checked first. The bytes of an array are released after it and its children are shown.
    ///
    /// # Errors
    /// Errors of an invalid tree, and every error that `show` returns.
    pub fn visit(&self, layouts_only: bool, show: &mut dyn FnMut(&Visit<'_>) -> Result<()>) -> Result<()> {
        let (fuel, root) = (&mut Fuel::new(self.limits()), Node::root(self)?);
        self.dtype().walk(fuel)?;
        let rows = match self.root() {
            Root::Layout(_) => None,
            Root::Blob(_, rows) => Some(rows),
        };
        let at = At { depth: 0, role: Role::Root, column: None, in_zones: false, rows };
        Walk { fuel, layouts_only, show }.node(&root, at)
    }
}

#[derive(Clone, Copy)]
struct At<'f> {
    depth: u16,
    role: Role<'f>,
    column: Option<usize>,
    in_zones: bool,
    rows: Option<u64>,
}

struct Walk<'w> {
    fuel: &'w mut Fuel,
    layouts_only: bool,
    show: &'w mut dyn FnMut(&Visit<'_>) -> Result<()>,
}

impl Walk<'_> {
    /// Visits the array of a flat layout through an input of its own.
    fn flat(&mut self, node: &Node<'_>, at: At<'_>) -> Result<()> {
        if self.layouts_only {
            return Ok(());
        }
        let window = node.file.input().window();
        let file = node.file.with_input(window.input());
        self.node(&node.with_file(&file).array()?, at)
    }

    fn node<'f>(&mut self, node: &Node<'f>, at: At<'f>) -> Result<()> {
        self.fuel.spend(node.at())?;
        let visit = Visit {
            depth: at.depth,
            role: at.role,
            is_array: node.layout().is_none(),
            in_zones: at.in_zones,
            id: node.id()?.0,
            rows: at.rows,
            segment: None,
            bytes: 0,
            column: at.column,
            dtype: None,
            node: *node,
        };
        let below = At { depth: at.depth.saturating_add(1), rows: None, ..at };
        match node.form {
            Form::Layout(_) => self.layout(node, visit, below),
            _ => self.array(node, visit, below),
        }
    }

    fn layout<'f>(&mut self, node: &Node<'f>, visit: Visit<'f>, below: At<'f>) -> Result<()> {
        let is_flat = node.layout() == Some(LayoutId::Flat);
        let segment = if is_flat { Some(node.segment()?) } else { None };
        let dtype = if visit.in_zones { None } else { Some(node.dtype()) };
        (self.show)(&Visit { rows: Some(node.rows), segment, dtype, ..visit })?;
        if is_flat {
            return self.flat(node, At { role: Role::Root, rows: Some(node.rows), ..below });
        }
        for k in 0..node.children()? {
            let (role, dtype) = role(node, k)?;
            let column = match role {
                Role::Field(_) => below.column.or(Some(k.saturating_sub(structure::first_field(node)?))),
                _ => below.column,
            };
            let in_zones = below.in_zones || role == Role::Zones;
            self.node(&node.child(k, &dtype, 0)?, At { role, column, in_zones, ..below })?;
        }
        Ok(())
    }

    fn array<'f>(&mut self, node: &Node<'f>, visit: Visit<'f>, below: At<'f>) -> Result<()> {
        let mut bytes = node.metadata()?.bytes().len() as u64;
        for k in 0..node.buffers()? {
            // Finding a buffer takes the longer the more there are.
            self.fuel.spend_many(u32::try_from(k >> 8).unwrap_or(u32::MAX), node.at())?;
            bytes = bytes.saturating_add(node.buffer(k)?.bytes.len() as u64);
        }
        (self.show)(&Visit { bytes, ..visit })?;
        for k in 0..node.children()? {
            self.node(&node.child(k, &node.dtype, 0)?, At { role: Role::Child(k), ..below })?;
        }
        Ok(())
    }
}

/// Returns the role of child `k` in a layout, and the type of the child.
fn role<'f>(node: &Node<'f>, k: usize) -> Result<(Role<'f>, Ty)> {
    Ok(match node.layout() {
        Some(LayoutId::Struct) => match k.checked_sub(structure::first_field(node)?) {
            Some(field) => (Role::Field(node.dtype().name(field)?), node.dtype().child(field)?.ty),
            None => (Role::Validity, Ty::BOOL),
        },
        Some(LayoutId::Chunked) => (Role::Chunk(k), node.dtype),
        Some(LayoutId::Dict) if k == dict_child::VALUES => (Role::Values, node.dtype),
        Some(LayoutId::Dict) => (Role::Codes, layouts::dict_codes(node)?.dtype),
        Some(LayoutId::Zoned | LayoutId::Stats) if k == zoned_child::DATA => (Role::Data, node.dtype),
        Some(LayoutId::Zoned | LayoutId::Stats) => (Role::Zones, node.dtype),
        Some(LayoutId::Flat | LayoutId::Unknown) | None => (Role::Child(k), node.dtype),
    })
}

impl<'f> Node<'f> {
    /// Calls `show` with the segments of the layouts below that contain `rows` of the field at the end of `path`.
    pub(super) fn segments(
        &self,
        path: &[u16],
        rows: Range<u64>,
        cx: &mut Context<'_, '_>,
        show: &mut dyn FnMut(FileRange) -> Result<()>,
    ) -> Result<()> {
        cx.spend(self.at())?;
        if rows.is_empty() {
            return Ok(());
        }
        match self.layout() {
            // An array is stored in the segment of the layout above.
            None => Ok(()),
            Some(LayoutId::Flat) => show(self.segment()?),
            Some(LayoutId::Zoned | LayoutId::Stats) => layouts::data(self)?.segments(path, rows, cx, show),
            Some(LayoutId::Chunked) => {
                let mut first = 0u64;
                for k in 0..self.children()? {
                    let chunk = &self.child(k, &self.dtype, 0)?;
                    let end = first.saturating_add(chunk.rows);
                    let within = |row: u64| row.min(end).saturating_sub(first);
                    chunk.segments(path, within(rows.start)..within(rows.end), cx, show)?;
                    first = end;
                }
                Ok(())
            }
            Some(LayoutId::Dict) => {
                let values = &layouts::dict_values(self)?;
                values.segments(path, 0..values.rows, cx, show)?;
                layouts::dict_codes(self)?.segments(&[], rows, cx, show)
            }
            Some(LayoutId::Struct) => {
                let field = |k: usize| self.nested(k)?.ok_or_else(|| self.undecoded());
                if let Some((k, rest)) = path.split_first() {
                    return field((*k).into())?.segments(rest, rows, cx, show);
                }
                let first = structure::first_field(self)?;
                for k in 0..self.children()? {
                    let child = match k.checked_sub(first) {
                        Some(k) => field(k),
                        None => self.aligned(k, &Ty::BOOL),
                    };
                    child?.segments(&[], rows.clone(), cx, show)?;
                }
                Ok(())
            }
            Some(LayoutId::Unknown) => Err(self.undecoded()),
        }
    }
}
