//! A column of strings in a Jay file with valid metadata.

use super::jay_file::read;

/// A file of the original with one column of strings and a bitmap: its metadata is the pattern.
const GOLDEN: &[u8; 320] = include_bytes!("../golden/jay/arrow_str32_validity.jay");
const META: usize = 120;
const META_LEN: usize = 184;

/// Where in the data section things lie.
const OFFSETS: usize = 8;
const CHARACTERS: usize = OFFSETS + 61 * 8;
const DATA: usize = CHARACTERS + 512;

/// The first byte chooses wide offsets (1), a bitmap (2), and a null count (4); the second is the number of
/// rows, the third how much is missing of the characters. The data section follows.
pub fn run(data: &[u8]) {
    let [flags, rows, short, rest @ ..] = data else { return };
    let (rows, width) = (usize::from(rows % 61).min(60), if flags & 1 == 1 { 8 } else { 4 });
    let mut file = [0u8; 8 + DATA + META_LEN + 16];
    file[..8].copy_from_slice(&GOLDEN[..8]);
    let len = rest.len().min(DATA);
    file[8..8 + len].copy_from_slice(&rest[..len]);
    let meta = &mut file[8 + DATA..][..META_LEN + 16];
    meta.copy_from_slice(&GOLDEN[META..]);
    let bitmap = if flags & 2 == 2 { 8 } else { 0 };
    let text = 512 - usize::from(*short);
    let buffers = [0, bitmap, OFFSETS, width * (rows + 1), CHARACTERS, text];
    patch(meta, &[0, 3, 8, 76, 88, 18], &buffers);
    // Twice: of the frame and of the column.
    patch(meta, &[18], &[rows]);
    patch(meta, &[18], &[rows]);
    patch(meta, &[6], &[if flags & 4 == 4 { 1.min(rows) } else { 0 }]);
    stype(meta, if width == 8 { 8 } else { 7 });
    read(&file);
}

/// Replaces the first run of 64-bit numbers `from` by `to`.
fn patch(meta: &mut [u8], from: &[usize], to: &[usize]) {
    let words = |at: usize, k: usize| &meta[at + 8 * k..][..8];
    let is_here = |at: &usize| from.iter().enumerate().all(|(k, word)| words(*at, k) == (*word as u64).to_le_bytes());
    let last = META_LEN - 8 * from.len();
    let at = (0..=last).step_by(4).find(is_here).expect("a number of the golden file");
    for (k, word) in to.iter().enumerate() {
        meta[at + 8 * k..][..8].copy_from_slice(&(*word as u64).to_le_bytes());
    }
}

/// Sets the storage type: the only byte 7 that follows three NUL and precedes a string of length 1.
fn stype(meta: &mut [u8], stype: u8) {
    let is_here = |at: &usize| meta[*at..].starts_with(&[0, 0, 0, 7, 1, 0, 0, 0]);
    let at = (0..META_LEN - 8).find(is_here).expect("the type of the golden file");
    meta[at + 3] = stype;
}
