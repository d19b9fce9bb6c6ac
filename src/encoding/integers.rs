//! Small steps on integers, in place: sums with a reference, zigzag, arithmetic sequences.
//!
//! ```
//! use pilaster::encoding::{cells::Cells, integers};
//!
//! let mut words = [0u16; 3];
//! integers::sequence(10, 3u64.wrapping_neg(), 2, Cells::W2(&mut words));
//! assert_eq!(words.map(|word| word as i16), [4, 1, -2]);
//! ```

use super::cells::Cells;

/// The same loop for words of 8 to 64 bits; nothing happens to wider cells, which no caller has.
macro_rules! words {
    ($cells:expr, $words:ident : $word:ident => $body:expr) => {
        match $cells {
            Cells::W1($words) => {
                type $word = u8;
                $body
            }
            Cells::W2($words) => {
                type $word = u16;
                $body
            }
            Cells::W4($words) => {
                type $word = u32;
                $body
            }
            Cells::W8($words) => {
                type $word = u64;
                $body
            }
            Cells::W16(_) | Cells::W32(_) => {}
        }
    };
}

/// Adds `reference` to every word; sums wrap.
#[allow(clippy::cast_possible_truncation, reason = "the low bits, as sums wrap")]
pub fn add(reference: u64, cells: Cells<'_>) {
    words!(cells, words: Word => words.iter_mut().for_each(|word| *word = word.wrapping_add(reference as Word)));
}

/// Unsigned zigzag words become signed ones.
pub fn unzigzag(cells: Cells<'_>) {
    words!(cells, words: Word => words.iter_mut().for_each(|word| *word = *word >> 1 ^ (*word & 1 as Word).wrapping_neg()));
}

/// Words `first`, `first + 1` and so on of the sequence `base + i * step`, all wrapping.
#[allow(clippy::cast_possible_truncation, reason = "the low bits, as sums and products wrap")]
pub fn sequence(base: u64, step: u64, first: u64, cells: Cells<'_>) {
    let mut next = base.wrapping_add(first.wrapping_mul(step));
    words!(cells, words: Word => for word in words {
        *word = next as Word;
        next = next.wrapping_add(step);
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
