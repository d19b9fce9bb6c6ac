//! The initial contents of the scratch buffer have no effect: not on a value, not on a row that is missing, not
//! on whether reading fails.

use pilaster::column::Part as _;
use pilaster::filo::Vector;

use super::cell::Cell;
use super::walk::{Memory, ROOMS, batches, windows};

/// Rows of a batch that are compared.
const ROWS: usize = 512;

/// As for `filo_vector`.
pub fn run(data: &[u8]) {
    let Some((element, chunk)) = super::filo_vector::split(data) else { return };
    let Ok(vector) = Vector::open(chunk, element) else { return };
    let [window, ..] = windows(vector.rows(), ROWS as u64);
    let mut digests = [[(0, 0); 2 * ROOMS.len()]; 2];
    for (dirt, digests) in [0x00, 0xff].into_iter().zip(&mut digests) {
        for (k, digests) in (0..vector.width()).zip(digests.chunks_mut(ROOMS.len())) {
            let column = vector.column(k).expect("a column within the width");
            for (room, digest) in ROOMS.into_iter().zip(digests) {
                let mut sum = 0u64;
                let mut add = |cell: &Cell<'_>, valid: bool| {
                    for byte in digest_bytes(cell).chain([valid.into()]) {
                        sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
                    }
                };
                let read = batches(&column, window.clone(), Memory::filled(dirt).odd(room), |batch| {
                    for i in 0..batch.len {
                        // The stored value, whether the row is missing or not.
                        let cell = Cell::of_values(&batch.values, i).unwrap_or(Cell::Nested);
                        add(&cell, batch.validity.get(i));
                    }
                });
                *digest = (sum, read.map_or_else(|e| u64::from(e.need()) << 32 | e.at() << 1 | 1, |()| 0));
            }
        }
    }
    assert_eq!(digests[0], digests[1], "{:?} as {element:?} shows what the memory held", vector.encoding());
}

/// The bytes of a cell.
fn digest_bytes<'a>(cell: &'a Cell<'a>) -> impl Iterator<Item = u8> + 'a {
    let (number, bytes): (u128, &[u8]) = match cell {
        Cell::Missing => (1, &[]),
        Cell::Nested => (2, &[]),
        Cell::Bool(v) => ((*v).into(), &[]),
        Cell::Int(v) => (v.cast_unsigned(), &[]),
        Cell::Wide(v) => (v.iter().fold(0, |n, word| n.rotate_left(31) ^ u128::from(*word)), &[]),
        Cell::F16(v) => ((*v).into(), &[]),
        Cell::F32(v) => ((*v).into(), &[]),
        Cell::F64(v) => ((*v).into(), &[]),
        Cell::Bytes(v) => (v.len() as u128, v),
    };
    number.to_le_bytes().into_iter().chain(bytes.iter().copied())
}
