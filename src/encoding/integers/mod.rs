//! Operations on integers, in place: adding a reference value, zigzag, arithmetic sequences.
//!
//! ```
//! use pilaster::unstable::encoding::{cells::Cells, integers};
//!
//! let mut words = [0u16; 3];
//! integers::sequence(10, 3u64.wrapping_neg(), 2, Cells::W2(&mut words));
//! assert_eq!(words.map(|word| word as i16), [4, 1, -2]);
//! ```

mod encode;

pub use encode::{progression, run_ends, sign_extended, zigzag};

use super::cells::Cells;

/// Adds `reference` to every word, wrapping.
pub fn add(reference: u64, mut cells: Cells<'_>) {
    cells.words(|word| word.wrapping_add(reference));
}

/// Decodes zigzag: unsigned words become signed ones.
pub fn unzigzag(mut cells: Cells<'_>) {
    cells.words(|word| word >> 1 ^ (word & 1).wrapping_neg());
}

/// Writes the items `first`, `first + 1` and so on of the sequence `base + i * step`, wrapping.
pub fn sequence(base: u64, step: u64, first: u64, mut cells: Cells<'_>) {
    let mut next = base.wrapping_add(first.wrapping_mul(step));
    cells.words(|_| {
        let word = next;
        next = next.wrapping_add(step);
        word
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_wrap_in_every_width() {
        let mut words = [250u8, 5];
        add(10, Cells::W1(&mut words));
        assert_eq!(words, [4, 15]);
        let mut words = [0u64, 1, 2, u64::MAX];
        unzigzag(Cells::W8(&mut words));
        assert_eq!(words.map(u64::cast_signed), [0, -1, 1, i64::MIN]);
        let mut words = [0u8, 1, 2, 255];
        unzigzag(Cells::W1(&mut words));
        assert_eq!(words.map(u8::cast_signed), [0, -1, 1, i8::MIN]);
        let mut words = [0u64; 2];
        sequence(u64::MAX, 2, u64::MAX, Cells::W8(&mut words));
        assert_eq!(words, [u64::MAX - 2, u64::MAX]);
    }
}
