//! Vortex files, made of the pieces of golden files, which have encodings that the library does not write. Layouts, arrays and
//! buffers are bent as what they are, and assembled to a file again, with new offsets and lengths.

use arbitrary::{Arbitrary, Result, Unstructured};
use pilaster::any::{File, Format, Hints};
use pilaster::bytes::Scratch;
use pilaster::column::{Column as _, Part as _, Table as _};
use pilaster_oracle::planus::{Builder, ReadAsRoot, WriteAsOffset};
use pilaster_oracle::vortex::{
    Array, ArrayNode, ArrayRef, Footer, FooterRef, Layout, LayoutRef, Postscript, PostscriptRef, PostscriptSegment,
};

use super::bend::{Becomes, Bend, bend};
use super::{Reach, bends};
use crate::harness::cell::Cell;
use crate::harness::{any_file, vortex_file};

macro_rules! goldens {
    ($($name:literal)*) => {
        &[$(include_bytes!(concat!("../../golden/vortex/", $name, ".vortex"))),*]
    };
}

/// Small files of most encodings and layouts.
const FILES: &[&[u8]] = goldens! {
    "def_root_i64_a" "def_root_utf8_a" "enc_sequence_a" "lay_inline_array_node_a" "lay_root_primitive_a" "enc_bool_b"
    "enc_runend_b" "enc_pco_b" "enc_bitpacked_sliced_b" "enc_runend_a" "enc_decimal_byte_parts_b" "def_one_row_a"
    "enc_constant_a" "enc_sparse_b" "enc_zstd_b" "enc_varbin_b" "enc_fsst_b" "enc_varbinview_b" "enc_zigzag_b"
    "lay_nullable_struct_a" "enc_onpair_b" "enc_masked_chunked_a" "enc_timestamp_ext_a" "enc_for_b" "enc_rle_b"
    "enc_list_b" "def_allnull_a" "enc_datetimeparts_a" "lay_chunked_zones_a"
};

/// A file to be.
#[derive(Clone, Debug)]
pub struct Made {
    golden: u8,
    layout: Vec<(u8, Turn)>,
    /// Which segment, which node.
    arrays: Vec<(u8, u8, Turn)>,
    /// Which segment; changes of its buffers.
    buffers: Vec<(u8, Vec<Bend>)>,
    late: Vec<Bend>,
}

/// A change of a node.
#[derive(Arbitrary, Clone, Debug)]
enum Turn {
    Encoding(u8),
    Metadata(Bend),
    /// A number of the node: of rows, of a buffer, or of a segment.
    Number {
        which: u8,
        becomes: Becomes,
    },
    Remove(u8),
    Repeat(u8),
    Swap(u8, u8),
    /// The node becomes the child of a copy of itself.
    Wrap(u8),
}

impl<'a> Arbitrary<'a> for Made {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let golden = u.arbitrary()?;
        let layout = (0..u.int_in_range(0..=4)?.max(2) - 2).map(|_| u.arbitrary()).collect::<Result<_>>()?;
        let arrays = (0..u.int_in_range(0..=4)?.max(1) - 1).map(|_| u.arbitrary()).collect::<Result<_>>()?;
        let buffers = (0..u.int_in_range(0..=2)?).map(|_| Ok((u.arbitrary()?, bends(u)?))).collect::<Result<_>>()?;
        let late = if u.ratio(1, 4)? { bends(u)? } else { Vec::new() };
        Ok(Made { golden, layout, arrays, buffers, late })
    }
}

/// A node of a tree.
trait Node: Clone + 'static {
    fn children(&mut self) -> &mut Vec<Self>;
    fn encoding(&mut self) -> &mut u16;
    fn metadata(&mut self) -> &mut Vec<u8>;
    /// Changes one of the numbers.
    fn number(&mut self, which: u8, change: &dyn Fn(u64) -> u64);
}

impl Node for Layout {
    fn children(&mut self) -> &mut Vec<Self> {
        self.children.get_or_insert_default()
    }

    fn encoding(&mut self) -> &mut u16 {
        &mut self.encoding
    }

    fn metadata(&mut self) -> &mut Vec<u8> {
        self.metadata.get_or_insert_default()
    }

    fn number(&mut self, which: u8, change: &dyn Fn(u64) -> u64) {
        match self.segments.as_mut().and_then(|segments| segments.get_mut(usize::from(which))) {
            Some(segment) => *segment = change((*segment).into()) as u32,
            None => self.row_count = change(self.row_count),
        }
    }
}

impl Node for ArrayNode {
    fn children(&mut self) -> &mut Vec<Self> {
        self.children.get_or_insert_default()
    }

    fn encoding(&mut self) -> &mut u16 {
        &mut self.encoding
    }

    fn metadata(&mut self) -> &mut Vec<u8> {
        self.metadata.get_or_insert_default()
    }

    fn number(&mut self, which: u8, change: &dyn Fn(u64) -> u64) {
        if let Some(buffer) = self.buffers.as_mut().and_then(|buffers| buffers.get_mut(usize::from(which % 4))) {
            *buffer = change((*buffer).into()) as u16;
        }
    }
}

fn count<N: Node>(node: &mut N) -> usize {
    1 + node.children().iter_mut().map(count).sum::<usize>()
}

/// Node `k` of the tree in the order of reading, or how many there are too few.
fn nth<N: Node>(node: &mut N, k: usize) -> core::result::Result<&mut N, usize> {
    let Some(mut left) = k.checked_sub(1) else { return Ok(node) };
    for child in node.children() {
        match nth(child, left) {
            Ok(found) => return Ok(found),
            Err(rest) => left = rest,
        }
    }
    Err(left)
}

/// Changes node `k` of a tree.
fn turn<N: Node>(root: &mut N, k: u8, turn: &Turn) {
    let k = usize::from(k) % count(root);
    let Ok(node) = nth(root, k) else { panic!("fewer nodes than were counted") };
    let children = node.children().len();
    let child = |n: &u8| usize::from(*n) % children.max(1);
    match turn {
        Turn::Encoding(n) => *node.encoding() = u16::from(n % 48),
        Turn::Metadata(one) => bend(node.metadata(), core::slice::from_ref(one), &[0]),
        Turn::Number { which, becomes } => node.number(*which, &|old| becomes.of(old)),
        Turn::Wrap(n) => {
            let copy = node.clone();
            *node.encoding() = u16::from(n % 48);
            *node.children() = vec![copy];
        }
        Turn::Remove(_) | Turn::Repeat(_) | Turn::Swap(..) if children == 0 => {}
        Turn::Remove(n) => drop(node.children().remove(child(n))),
        Turn::Repeat(n) => {
            let copy = node.children()[child(n)].clone();
            node.children().push(copy);
        }
        Turn::Swap(a, b) => node.children().swap(child(a), child(b)),
    }
}

/// The bytes of a FlatBuffer.
fn flat<T>(value: impl WriteAsOffset<T>) -> Vec<u8> {
    Builder::new().finish(value, None).to_vec()
}

/// The parts of a golden file.
struct Pieces {
    postscript: Postscript,
    footer: Footer,
    layout: Layout,
    dtype: Vec<u8>,
    statistics: Option<Vec<u8>>,
    segments: Vec<Vec<u8>>,
}

/// A FlatBuffer of a golden file.
macro_rules! table {
    ($read:ident, $bytes:expr) => {
        $read::read_as_root($bytes).and_then(|table| table.try_into()).expect("a table of a golden file")
    };
}

impl Pieces {
    fn of(file: &[u8]) -> Pieces {
        let end = file.len() - 8;
        let len = usize::from(u16::from_le_bytes([file[end + 2], file[end + 3]]));
        let postscript: Postscript = table!(PostscriptRef, &file[end - len..end]);
        let part = |part: &Option<Box<PostscriptSegment>>| {
            let part = part.as_ref()?;
            Some(file[part.offset as usize..][..part.length as usize].to_vec())
        };
        let footer: Footer = table!(FooterRef, &part(&postscript.footer).expect("a footer"));
        let layout = table!(LayoutRef, &part(&postscript.layout).expect("a layout"));
        let specs = footer.segment_specs.iter().flatten();
        let segments = specs.map(|spec| file[spec.offset as usize..][..spec.length as usize].to_vec()).collect();
        let dtype = part(&postscript.dtype).expect("a type");
        let statistics = part(&postscript.statistics);
        Pieces { postscript, footer, layout, dtype, statistics, segments }
    }

    /// The file of these parts.
    fn assembled(mut self) -> Vec<u8> {
        let mut file = b"VTXF".to_vec();
        let specs = self.footer.segment_specs.iter_mut().flatten();
        for (spec, segment) in specs.zip(&self.segments) {
            file.resize(file.len().next_multiple_of(1 << spec.alignment_exponent.min(12)), 0);
            (spec.offset, spec.length) = (file.len() as u64, segment.len() as u32);
            file.extend_from_slice(segment);
        }
        let mut put = |bytes: &[u8], to: &mut Option<Box<PostscriptSegment>>| {
            if let Some(to) = to {
                (to.offset, to.length) = (file.len() as u64, bytes.len() as u32);
            }
            file.extend_from_slice(bytes);
        };
        let postscript = &mut self.postscript;
        put(&self.dtype, &mut postscript.dtype);
        put(&flat(&self.layout), &mut postscript.layout);
        put(self.statistics.as_deref().unwrap_or_default(), &mut postscript.statistics);
        put(&flat(&self.footer), &mut postscript.footer);
        // Its place is not known any more.
        postscript.metadata = None;
        let postscript = flat(&self.postscript);
        file.extend_from_slice(&postscript);
        file.extend_from_slice(&[1, 0]);
        file.extend_from_slice(&(postscript.len() as u16).to_le_bytes());
        file.extend_from_slice(b"VTXF");
        file
    }
}

/// The buffers of a segment and its tree, if it is an array.
fn array(segment: &[u8]) -> Option<(&[u8], Array)> {
    let (rest, len) = segment.split_last_chunk()?;
    let at = rest.len().checked_sub(u32::from_le_bytes(*len) as usize)?;
    Some((&rest[..at], ArrayRef::read_as_root(&rest[at..]).ok()?.try_into().ok()?))
}

impl Made {
    /// The golden file.
    pub fn plain(&self) -> &'static [u8] {
        FILES[usize::from(self.golden) % FILES.len()]
    }

    /// The file, bent.
    pub fn file(&self) -> Vec<u8> {
        let mut pieces = Pieces::of(self.plain());
        self.layout.iter().for_each(|(k, change)| turn(&mut pieces.layout, *k, change));
        let count = pieces.segments.len().max(1);
        for (segment, bends) in &self.buffers {
            let Some(segment) = pieces.segments.get_mut(usize::from(*segment) % count) else { continue };
            let Some((buffers, _)) = array(segment) else { continue };
            // Buffers keep their length, which the array has.
            let (len, mut buffers) = (buffers.len(), buffers.to_vec());
            bend(&mut buffers, bends, &[0]);
            buffers.resize(len, 0);
            segment[..len].copy_from_slice(&buffers);
        }
        for (segment, node, change) in &self.arrays {
            let Some(segment) = pieces.segments.get_mut(usize::from(*segment) % count) else { continue };
            let Some((buffers, mut array)) = array(segment) else { continue };
            let Some(root) = &mut array.root else { continue };
            turn(&mut **root, *node, change);
            let tree = flat(&array);
            *segment = [buffers, &tree[..], &(tree.len() as u32).to_le_bytes()].concat();
        }
        let mut file = pieces.assembled();
        let len = file.len();
        bend(&mut file, &self.late, &[0, len.saturating_sub(64), len.saturating_sub(1024)]);
        file
    }
}

/// Checks that two files have the same first rows.
fn same_rows(one: &File<'_>, other: &File<'_>) {
    let [mut one, mut other] = [one, other].map(|file| file.table(None).expect("a table"));
    let parts = [&mut one, &mut other].map(|table| table.next_part(&mut Scratch::new(&mut [])).expect("a part"));
    let [Some(a), Some(b)] = parts else { return assert!(parts.iter().all(Option::is_none)) };
    assert_eq!((a.rows(), a.width()), (b.rows(), b.width()));
    let (mut first, mut second) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    for k in 0..a.width() {
        let (a, b) = (a.column(k).expect("a column"), b.column(k).expect("a column"));
        for row in 0..a.rows().min(8) {
            let a = a.read(row..row + 1, &mut Scratch::new(&mut first)).expect("a row");
            let b = b.read(row..row + 1, &mut Scratch::new(&mut second)).expect("a row");
            assert_eq!(Cell::of_batch(&a, 0), Cell::of_batch(&b, 0), "row {row} of column {k}");
        }
    }
}

/// Reads a file in all ways. One that is not bent has the rows of the golden file.
pub fn check(made: &Made) -> Reach {
    let unbent = Made { layout: vec![], arrays: vec![], buffers: vec![], late: vec![], ..made.clone() }.file();
    let file = made.file();
    vortex_file::read(&file);
    let open = |bytes| File::open(bytes, Format::Vortex, &Hints::default(), &mut Scratch::new(&mut []));
    let opened = open(&file);
    if file == unbent {
        let golden = open(made.plain()).expect("a golden file");
        same_rows(opened.as_ref().expect("what was put together"), &golden);
    }
    let mut memory = vec![0x5a; any_file::PART];
    let rows = opened.map_or(0, |file| any_file::look(&file, &mut memory));
    Reach { bent: file != unbent, deep: rows > 0 }
}
