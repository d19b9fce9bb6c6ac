//! One array: a blob, read as a column of some type.

use pilaster::limits::Limits;
use pilaster::vortex::{Array, DType};

use super::vortex::{ROOM, column, verify, walk};

const LIMITS: Limits = Limits { max_nodes: 20_000, max_depth: 16, ..Limits::DEFAULT };

/// Ids that nodes refer to by index: the ids in files of the original, in alphabetical order, and rarer ones.
pub const IDS: [&str; 38] = [
    "fastlanes.bitpacked",
    "fastlanes.for",
    "fastlanes.rle",
    "vortex.alp",
    "vortex.alprd",
    "vortex.bool",
    "vortex.bytebool",
    "vortex.chunked",
    "vortex.constant",
    "vortex.datetimeparts",
    "vortex.decimal",
    "vortex.decimal_byte_parts",
    "vortex.dict",
    "vortex.ext",
    "vortex.fixed_size_list",
    "vortex.fsst",
    "vortex.list",
    "vortex.listview",
    "vortex.map",
    "vortex.masked",
    "vortex.null",
    "vortex.onpair",
    "vortex.parquet.variant",
    "vortex.pco",
    "vortex.primitive",
    "vortex.runend",
    "vortex.sequence",
    "vortex.sparse",
    "vortex.struct",
    "vortex.varbin",
    "vortex.varbinview",
    "vortex.variant",
    "vortex.zigzag",
    "fastlanes.delta",
    "vortex.zstd",
    "fastlanes.bitpacked.v2",
    "fastlanes.for.v2",
    "vortex.decimal_byte_parts.v2",
];

/// Types of the values, as tag and number of the schema: numbers, text, bytes, bool, variant.
pub const TYPES: [(u8, u8); 11] =
    [(3, 0), (3, 2), (3, 3), (3, 6), (3, 7), (3, 9), (3, 10), (5, 0), (6, 0), (2, 0), (11, 0)];

/// Claimed numbers of rows: of the goldens, and more than any blob holds.
const ROWS: [u64; 4] = [260, 44, 1100, 1 << 35];

/// Two bytes say type and rows, the rest is the blob.
pub fn run(data: &[u8]) {
    let Some((&[kind, rows], blob)) = data.split_first_chunk() else { return };
    let ty = TYPES[usize::from(kind) % TYPES.len()];
    array(blob, ty, kind >= 0x80, ROWS[usize::from(rows) % ROWS.len()]);
}

/// Reads a blob as an array of every type; how many of them could be looked at.
pub fn read(blob: &[u8]) -> usize {
    usize::from(TYPES.iter().filter(|ty| array(blob, **ty, true, ROWS[0])).count() > 0)
}

/// Reads a blob as `rows` rows; returns whether it is an array at all.
fn array(blob: &[u8], (tag, number): (u8, u8), nullable: bool, rows: u64) -> bool {
    let dtype = dtype(tag, number, nullable);
    let Ok(dtype) = DType::parse(&dtype) else { return false };
    let Ok(array) = Array::parse_with(blob, dtype, rows, &IDS, &LIMITS) else { return false };
    let file = array.as_file();
    walk(file);
    let mut memory = [0x5a; ROOM];
    let only = array.column().expect("the root was parsed");
    let sound = verify(file, &mut memory);
    column(&only, &mut memory, sound, 0);
    true
}

/// A dtype FlatBuffer: a DType and the table of its union, whose fields are number and null, or null alone.
pub fn dtype(tag: u8, number: u8, nullable: bool) -> [u8; 40] {
    let (first, second) = if tag == 3 { (6, 7) } else { (7, 6) };
    bytemuck::must_cast([
        [12, 0, 0, 0], // the root is at 12
        [8, 0, 12, 0], // the vtable of the DType: tag at +7, value at +8
        [7, 0, 8, 0],
        [8, 0, 0, 0], // the DType
        [0, 0, 0, tag],
        [12, 0, 0, 0], // its value at 20 + 12
        [8, 0, 8, 0],  // the vtable of the table
        [first, 0, second, 0],
        [8, 0, 0, 0], // the table
        [0, 0, number, u8::from(nullable)],
    ])
}
