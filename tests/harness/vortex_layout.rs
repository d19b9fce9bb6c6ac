//! A tree of layouts: the input replaces the tree of a small file with chunks and zones, whose segments and
//! type stay.

use pilaster::bytes::Input;
use pilaster::vortex::File;

use super::vortex::{LIMITS, ROOM, columns, verify, walk};

/// Columns i64, nullable f64 and utf8, in three chunks each, and their zones.
const FILE: &[u8] = include_bytes!("../golden/vortex/lay_chunked_zones_a.vortex");

/// Maximum length of the file with the input as its layout.
const LEN: usize = 16 << 10;

/// Offset and length of the layout in the file, and where the postscript has them: found once, as the one place
/// with such a number, so that a new file breaks the test and not the fuzzing.
fn place() -> (usize, usize, usize, usize) {
    let len = usize::from(u16::from_le_bytes([FILE[FILE.len() - 6], FILE[FILE.len() - 5]]));
    let start = FILE.len() - 8 - len;
    let postscript = &FILE[start..FILE.len() - 8];
    let table = |at: usize| at + word(postscript, at) as usize;
    let slot = |table: usize, k: usize| {
        let vtable = (table as i64 - i64::from(word(postscript, table) as i32)) as usize;
        table + usize::from(u16::from_le_bytes([postscript[vtable + 4 + 2 * k], postscript[vtable + 5 + 2 * k]]))
    };
    // Field 1 of the root is the layout; its offset and length are fields 0 and 1.
    let layout = table(slot(table(0), 1));
    let (offset, length) = (slot(layout, 0), slot(layout, 1));
    (word(postscript, offset) as usize, word(postscript, length) as usize, start + offset, start + length)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"))
}

/// The layout of the file, for seeds.
pub fn seed() -> &'static [u8] {
    let (offset, len, ..) = place();
    &FILE[offset..offset + len]
}

/// All of `data` is the layout.
pub fn run(data: &[u8]) {
    let (_, _, offset_at, length_at) = place();
    // The layout is inserted before the postscript.
    let postscript = FILE.len() - 8 - usize::from(u16::from_le_bytes([FILE[FILE.len() - 6], FILE[FILE.len() - 5]]));
    let mut file = [0; LEN];
    let len = FILE.len() + data.len();
    let Some(file) = file.get_mut(..len) else { return };
    let (segments, rest) = FILE.split_at(postscript);
    file[..postscript].copy_from_slice(segments);
    file[postscript..postscript + data.len()].copy_from_slice(data);
    file[postscript + data.len()..].copy_from_slice(rest);
    for (at, number) in [(offset_at, postscript), (length_at, data.len())] {
        file[at + data.len()..at + data.len() + 4].copy_from_slice(&(number as u32).to_le_bytes());
    }
    let Ok(file) = File::open_input(Input::whole(file), None, &LIMITS) else { return };
    walk(&file);
    let mut memory = [0x3c; ROOM];
    let sound = verify(&file, &mut memory);
    assert!(sound || data != seed(), "the layout of the file itself");
    columns(&file, &mut memory, sound);
}
