//! Builds a valid chunk, damages it, reads it: this gets much further into the reader than bytes that
//! must become a chunk by luck.

use pilaster::bytes::Scratch;
use pilaster::filo::Element;
use pilaster::filo::write::{encode, encode_auto};

use super::filo_rows::{CHUNK, Input, Owned};
use super::filo_vector;
use super::walk::Memory;

/// The first bytes are the damage, the rest the rows.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let encoding = input.encoding();
    let (kind, mut damage) = (input.byte(), Input(input.bytes(16)));
    let owned = Owned::of(&mut input);
    let mut dst = [0; CHUNK];
    let mut memory = Memory::filled(0);
    let mut scratch = Scratch::new(&mut memory.0);
    let rows = owned.rows();
    let written =
        encode(encoding, &rows, &mut dst, &mut scratch).or_else(|_| encode_auto(&rows, &mut dst, &mut scratch));
    let Ok(len) = written else { return };

    // Structure is at the front, and much of it in words of four bytes.
    for _ in 0..=kind & 3 {
        let (at, byte) = (damage.number(2) as usize, damage.byte());
        let at = if kind & 4 != 0 { at % len.min(96) } else { at % len };
        dst[at] = match kind >> 3 & 3 {
            0 => byte,
            1 => dst[at] ^ 1 << (byte & 7),
            2 => dst[at].wrapping_add((byte & 31).wrapping_sub(16)),
            _ => [0, 1, 0x7f, 0x80, 0xff][usize::from(byte) % 5],
        };
    }
    let cut = if kind & 0x20 != 0 { usize::from(damage.byte()).min(len) } else { 0 };
    let element = if kind & 0xc0 == 0xc0 { Element::ALL[usize::from(damage.byte()) % 10] } else { owned.element };
    filo_vector::read(&dst[..len - cut], element);
}
