//! The metadata of every encoding: a node with metadata and children out of the input, and four buffers, as the
//! valid FlatBuffer that a fuzzer of bytes seldom finds.

use pilaster::column::Part as _;
use pilaster::limits::Limits;
use pilaster::vortex::{DType, File};

use super::vortex::{ROOM, column, verify, walk};
use super::vortex_array::{IDS, TYPES, dtype};

const LIMITS: Limits = Limits { max_nodes: 20_000, max_depth: 16, ..Limits::DEFAULT };

/// Children that a node may get, at most.
const CHILDREN: usize = 5;

const ROWS: [u64; 4] = [1, 5, 64, 1100];

/// Encoding, type, rows, number of children, kinds of the children, length of the metadata; then metadata and what
/// the buffers hold, a quarter each.
pub fn run(data: &[u8]) {
    let Some((&[encoding, ty, rows, count, kinds, len], rest)) = data.split_first_chunk() else { return };
    let (metadata, buffers) = rest.split_at(rest.len().min(usize::from(len)));
    let mut blob = Blob { bytes: [0; 4096], len: 0 };
    let quarter = buffers.len().min(2048) / 4;
    blob.put(&buffers[..4 * quarter]);
    let start = blob.len;
    // Root at 20; vtables of nodes (20 bytes: encoding +4, metadata +8, children +12, buffers +16) and of the array
    // (12 bytes: root +4, buffers +8).
    blob.put(&[24, 0, 0, 0, 12, 0, 20, 0, 4, 0, 8, 0, 12, 0, 16, 0, 8, 0, 12, 0, 4, 0, 8, 0]);
    // The array, its vector of buffers, and then the root.
    blob.words(&[24 - 16, 8 + 4 * 9, 4, 4]);
    for _ in 0..4 {
        // Aligned enough for numbers of any width.
        blob.words(&[5 << 16, quarter as u32]);
    }
    let count = usize::from(count) % (CHILDREN + 1);
    node(&mut blob, start, encoding % IDS.len() as u8, metadata, count, &[0, 1]);
    for k in 0..count {
        // A child is plain, constant, bits, or counts from the number of its place on.
        let id = |wanted: &str| IDS.iter().position(|id| *id == wanted).expect("an id") as u8;
        let buffers = [k as u8 % 4];
        match kinds >> (k % 4 * 2) & 3 {
            0 => node(&mut blob, start, id("vortex.primitive"), &[], 0, &buffers),
            1 => node(&mut blob, start, id("vortex.constant"), &[], 0, &buffers),
            2 => node(&mut blob, start, id("vortex.bool"), &[], 0, &buffers),
            _ => node(&mut blob, start, id("vortex.sequence"), &[0x0a, 2, 0x20, k as u8, 0x12, 2, 0x18, 2], 0, &[]),
        }
    }
    let flat = blob.len - start;
    blob.words(&[flat as u32]);

    let (tag, number) = TYPES[usize::from(ty) % TYPES.len()];
    let dtype = dtype(tag, number, ty & 0x80 != 0);
    let dtype = DType::parse(&dtype).expect("a type");
    let bytes = &blob.bytes[..blob.len];
    let rows = ROWS[usize::from(rows) % ROWS.len()];
    let Ok(file) = File::of_array(bytes, dtype, rows, &IDS, &LIMITS) else { return };
    walk(&file);
    let mut nodes = 0;
    let walked = file.visit(false, &mut |_| {
        nodes += 1;
        Ok(())
    });
    assert!(walked == Ok(()) && nodes == 1 + count, "{walked:?} after {nodes} of {count} children");
    let mut memory = [0xc3; ROOM];
    let sound = verify(&file, &mut memory);
    if let Ok(only) = file.part().and_then(|part| part.column(0)) {
        column(&only, &mut memory, sound, 0);
    }
}

struct Blob {
    bytes: [u8; 4096],
    len: usize,
}

impl Blob {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn words(&mut self, words: &[u32]) {
        words.iter().for_each(|word| self.put(&word.to_le_bytes()));
    }
}

/// Bytes of a child: its table, two buffer numbers, no children, eight bytes of metadata.
const LEAF: u32 = 20 + 8 + 4 + 12;

/// Writes a node of up to two buffers; its children, as many as `children`, follow it, each of [`LEAF`] bytes.
fn node(blob: &mut Blob, start: usize, encoding: u8, metadata: &[u8], children: usize, buffers: &[u8]) {
    let at = (blob.len - start) as u32;
    let (buffers_at, children_at) = (20, 28);
    let metadata_at = children_at + 4 + 4 * children as u32;
    let end = metadata_at + 4 + metadata.len().max(8) as u32;
    blob.words(&[at - 4, encoding.into(), metadata_at - 8, children_at - 12, buffers_at - 16]);
    let number = |k: usize| buffers.get(k).copied().unwrap_or(0).into();
    let [low, high]: [u32; 2] = [number(0), number(1)];
    blob.words(&[buffers.len() as u32, low | high << 16, children as u32]);
    for k in 0..children as u32 {
        blob.words(&[end + LEAF * k - (children_at + 4 + 4 * k)]);
    }
    blob.words(&[metadata.len() as u32]);
    blob.put(metadata);
    blob.put(&[0; 8][metadata.len().min(8)..]);
}
