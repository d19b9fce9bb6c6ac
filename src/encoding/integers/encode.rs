//! Numbers for the decoders beside this file: zigzag, the step of a sequence, the ends of runs.

use crate::encoding::cells::Cells;
use crate::encoding::fastlanes::Lane;

/// Encodes zigzag: signed words become unsigned ones, with the sign in the lowest bit.
pub fn zigzag(mut cells: Cells<'_>) {
    let shift = 64usize.saturating_sub(cells.width().saturating_mul(8));
    cells.words(|word| word << 1 ^ ((word << shift).cast_signed() >> 63).cast_unsigned());
}

/// Returns the value of `bits` bits as a number of 64 bits, sign-extended if `signed`.
#[must_use]
pub const fn sign_extended(value: u64, bits: u32, signed: bool) -> u64 {
    let shift = 64u32.saturating_sub(bits);
    if signed { (((value << shift).cast_signed()) >> shift).cast_unsigned() } else { value }
}

/// Returns the step if each of at least two values is the value before it plus the same number, without overflow.
pub fn progression<T: Lane + PartialEq>(values: &[T], signed: bool) -> Option<i64> {
    let wide = |value: &T| {
        let bits = sign_extended(value.wide(), T::BITS, signed);
        if signed { i128::from(bits.cast_signed()) } else { i128::from(bits) }
    };
    let [first, second, .., last] = values else { return None };
    let step = wide(second).checked_sub(wide(first))?;
    let count = i128::try_from(values.len().saturating_sub(1)).ok()?;
    if wide(last).checked_sub(wide(first))? != step.checked_mul(count)? {
        return None;
    }
    let (same, others) = (second.minus(*first), values.get(1..).unwrap_or_default());
    let is_one = values.iter().zip(others).all(|(value, next)| next.minus(*value) == same);
    is_one.then(|| i64::try_from(step).ok()).flatten()
}

/// Calls `found` with the index of the last of each run of equal rows.
pub fn run_ends<R: PartialEq>(rows: impl Iterator<Item = R>, mut found: impl FnMut(usize)) {
    let mut rows = rows.enumerate().peekable();
    while let Some((i, row)) = rows.next() {
        if rows.peek().is_none_or(|(_, next)| *next != row) {
            found(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::encoding::integers::{sequence, unzigzag};

    proptest! {
        #[test]
        fn zigzag_is_decoded(words: Vec<u64>) {
            macro_rules! each {
                ($($cells:ident $word:ty)*) => {$(
                    let values: Vec<$word> = words.iter().map(|word| *word as $word).collect();
                    let mut folded = values.clone();
                    zigzag(Cells::$cells(&mut folded));
                    let signed = values.iter().map(|word| word.cast_signed());
                    for (folded, value) in folded.iter().zip(signed) {
                        let least = if value < 0 { -(i128::from(value)) * 2 - 1 } else { i128::from(value) * 2 };
                        prop_assert_eq!(i128::from(*folded), least);
                    }
                    unzigzag(Cells::$cells(&mut folded));
                    prop_assert_eq!(folded, values);
                )*};
            }
            each!(W1 u8 W2 u16 W4 u32 W8 u64);
        }

        #[test]
        fn the_step_of_a_sequence_is_found(base: i64, step in -1000i64..1000, len in 3usize..40) {
            let mut words = vec![0; len];
            sequence(base.cast_unsigned(), step.cast_unsigned(), 0, Cells::W8(&mut words));
            let end = i128::from(base) + i128::from(step) * (len as i128 - 1);
            let expected = i64::try_from(end).is_ok().then_some(step);
            prop_assert_eq!(progression(&words, true), expected);
            let last = words.len() / 2;
            words[last] ^= 1;
            prop_assert_eq!(progression(&words, true), None);
        }

        #[test]
        fn runs_are_expanded(values in prop::collection::vec(0u16..3, 1..200)) {
            let (mut ends, mut kept) = (Vec::new(), Vec::new());
            run_ends(values.iter(), |i| {
                ends.push(i as u64 + 1);
                kept.push(values[i]);
            });
            prop_assert!(kept.windows(2).all(|pair| pair[0] != pair[1]));
            let mut all = vec![9; values.len()];
            prop_assert_eq!(Cells::W2(&mut all).expand(&Cells::W2(&mut kept), &ends), Ok(()));
            prop_assert_eq!(all, values);
        }
    }

    #[test]
    fn a_progression_does_not_overflow() {
        assert_eq!(progression(&[254u8, 255, 0], false), None);
        assert_eq!(progression(&[254u8, 255, 0], true), Some(1));
        assert_eq!(progression(&[3u8, 2, 1], false), Some(-1));
        assert_eq!(progression(&[0u64, 1 << 63, 0], false), None);
    }
}
