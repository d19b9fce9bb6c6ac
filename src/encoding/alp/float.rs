//! What encoding needs of doubles and singles. The loops are written once per type, so that the compiler
//! vectorises them.

use super::{DOUBLES, SINGLES};

/// Number of values that are encoded together, and of bits in a mask of them.
pub(super) const CHUNK: usize = 64;

/// The factors of encoding and of decoding for one pair of exponents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale<F> {
    up: F,
    down: F,
    back_up: F,
    back_down: F,
}

/// What encoding made of a sample: the number of exceptions, minimum and maximum of the integers.
#[derive(Clone, Copy, Debug)]
pub struct Trial<F> {
    pub(super) exceptions: u64,
    pub(super) min: F,
    pub(super) max: F,
}

/// Masks of a chunk.
#[derive(Clone, Copy, Debug)]
pub struct Wrong {
    /// Values whose integer does not decode to the same bits.
    pub(super) all: u64,
    /// Wrong values that may have another integer: [`Float::chunk`] encodes only values near zero.
    pub(super) far: u64,
}

/// Returns the flags, 0 or 1, as bits.
fn mask(flags: &[u8; CHUNK]) -> u64 {
    let (eights, _) = flags.as_chunks::<8>();
    // The product moves bit 0 of byte `k` to bit `56 + k`.
    eights
        .iter()
        .rev()
        .fold(0, |mask, eight| mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56)
}

/// A float of 4 or 8 bytes.
pub trait Float: bytemuck::Pod + PartialOrd {
    /// The signed integer of the same size.
    type Int: bytemuck::Pod;
    /// The unsigned integer of the same size.
    type Word: bytemuck::Pod;
    /// Number of bits.
    const BITS: u32;
    /// Number of powers of ten with which floats are encoded.
    const POWERS: u32;

    /// Returns the bits, extended by zeros.
    fn wide(self) -> u64;
    /// Returns the factors for `e` and `f`, if both are allowed.
    fn scale(e: u32, f: u32) -> Option<Scale<Self>>;
    /// Encodes one value; `None` if the integer does not decode to the same bits.
    fn one(self, scale: Scale<Self>) -> Option<Self::Int>;
    /// Encodes a chunk. Returns which integers are wrong.
    fn chunk(values: &[Self; CHUNK], scale: Scale<Self>, out: &mut [Self::Int; CHUNK]) -> Wrong;
    /// Returns a trial without values.
    fn untried() -> Trial<Self>;
    /// Encodes more values of a sample.
    fn attempt(values: &[Self], scale: Scale<Self>, trial: &mut Trial<Self>);
    /// Returns the number of bits of `max - min`.
    fn width(trial: Trial<Self>) -> u32;
    /// Cuts floats into the bits from `width` up, and the bits below.
    fn cut(values: &[Self], width: u32, lefts: &mut [u16], rights: &mut [Self::Word]);
}

macro_rules! float {
    ($float:ident, $int:ident, $word:ident, $sweet:expr, $limit:expr, $beyond:expr, $table:expr, $powers:literal) => {
        impl Float for $float {
            type Int = $int;
            type Word = $word;
            const BITS: u32 = $word::BITS;
            const POWERS: u32 = $powers;

            fn wide(self) -> u64 {
                self.to_bits().into()
            }

            fn scale(e: u32, f: u32) -> Option<Scale<Self>> {
                let ((up, back_down), (back_up, down)) = (*$table.get(e as usize)?, *$table.get(f as usize)?);
                Some(Scale { up, down, back_up, back_down })
            }

            #[allow(clippy::cast_possible_truncation, reason = "saturates, and the comparison then fails")]
            fn one(self, scale: Scale<Self>) -> Option<$int> {
                let int = (self * scale.up * scale.down + $sweet - $sweet) as $int;
                let back = int as $float * scale.back_up * scale.back_down;
                (back.to_bits() == self.to_bits()).then_some(int)
            }

            fn chunk(values: &[Self; CHUNK], scale: Scale<Self>, out: &mut [$int; CHUNK]) -> Wrong {
                let mut wrong = [0 as $word; CHUNK];
                for ((value, int), wrong) in values.iter().zip(out).zip(&mut wrong) {
                    // The sum has the integer in its lowest bits.
                    let sum = value * scale.up * scale.down + $sweet;
                    let rounded = sum - $sweet;
                    let back = rounded * scale.back_up * scale.back_down;
                    *int = sum.to_bits().wrapping_sub(($sweet as $float).to_bits()).cast_signed();
                    *wrong = if rounded.abs() < $limit { back.to_bits() ^ value.to_bits() } else { $word::MAX };
                }
                if wrong.iter().fold(0, |any, wrong| any | wrong) == 0 {
                    return Wrong { all: 0, far: 0 };
                }
                Wrong {
                    all: mask(&wrong.map(|wrong| u8::from(wrong != 0))),
                    far: mask(&wrong.map(|wrong| u8::from(wrong == $word::MAX))),
                }
            }

            fn untried() -> Trial<Self> {
                Trial { exceptions: 0, min: $float::INFINITY, max: $float::NEG_INFINITY }
            }

            fn attempt(values: &[Self], scale: Scale<Self>, trial: &mut Trial<Self>) {
                let Trial { mut exceptions, mut min, mut max } = *trial;
                for value in values {
                    let rounded = value * scale.up * scale.down + $sweet - $sweet;
                    let back = rounded * scale.back_up * scale.back_down;
                    let right = back.to_bits() == value.to_bits() && rounded.abs() < $beyond;
                    exceptions = exceptions.wrapping_add(u64::from(!right));
                    let (low, high) = if right { (rounded, rounded) } else { (min, max) };
                    min = if low < min { low } else { min };
                    max = if high > max { high } else { max };
                }
                *trial = Trial { exceptions, min, max };
            }

            #[allow(clippy::cast_possible_truncation, reason = "whole numbers of that type")]
            fn width(trial: Trial<Self>) -> u32 {
                let range = (trial.max as $int).wrapping_sub(trial.min as $int).cast_unsigned();
                $word::BITS.saturating_sub(range.leading_zeros())
            }

            #[allow(clippy::cast_possible_truncation, reason = "the left part, which is short")]
            fn cut(values: &[Self], width: u32, lefts: &mut [u16], rights: &mut [$word]) {
                let mask = !$word::MAX.checked_shl(width).unwrap_or(0);
                let width = width & ($word::BITS - 1);
                for (value, left) in values.iter().zip(lefts) {
                    *left = (value.to_bits() >> width) as u16;
                }
                for (value, right) in values.iter().zip(rights) {
                    *right = value.to_bits() & mask;
                }
            }
        }
    };
}

// Sums with the first constant are rounded to whole numbers: 1.5 * 2^52 and 1.5 * 2^23 have no bits below one. The
// second is where the sum leaves the power of two of the constant, the third is beyond the integers.
float!(f64, i64, u64, 6_755_399_441_055_744.0, 2_251_799_813_685_248.0, 9_223_372_036_854_775_808.0, DOUBLES, 18);
float!(f32, i32, u32, 12_582_912.0, 4_194_304.0, 2_147_483_648.0, SINGLES, 10);

/// Returns ranges of a slice of `len` values: all of it, or `most / run` runs at even distances. `run` is a
/// divisor of `most`, and `most` is above `run`.
// A fixed distance between single values could always meet the same phase of periodic values.
pub(super) fn sample(len: usize, most: usize, run: usize) -> impl Iterator<Item = core::ops::Range<usize>> {
    let (runs, run) = if len <= most { (1, len) } else { (most.checked_div(run).unwrap_or(1), run) };
    let distance = len.saturating_sub(run).checked_div(runs.saturating_sub(1)).unwrap_or(0);
    (0..runs).map(move |i| {
        let first = i.saturating_mul(distance);
        first..first.saturating_add(run)
    })
}
