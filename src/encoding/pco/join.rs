//! Modes: how a number is joined from a primary and a secondary latent.

use super::{Class, Number, mask, middle};
use crate::bytes::{half_to_f32, little};
use crate::error::{Error, Kind, Result, What};

/// How numbers are split into latents.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mode<'a> {
    /// One latent, the number itself.
    Classic,
    /// A multiple of the base, plus the secondary latent.
    IntMult(u64),
    /// A multiple of the base, and the number of floats from there to the number. The base is stored as its
    /// rank.
    FloatMult(u64),
    /// The upper bits, and the given number of lower bits.
    FloatQuant(u32),
    /// Indices into a dictionary: the bytes of the ranks of numbers.
    Dict(&'a [u8]),
}

impl Mode<'_> {
    /// Replaces the primary latents by the bits of the numbers.
    pub(super) fn join(&self, number: Number, primary: &mut [u64], secondary: &[u64]) -> Result<()> {
        let (bits, mask) = (number.bits, mask(number.bits));
        match *self {
            Mode::Classic if number.class == Class::Unsigned => {}
            Mode::Classic => primary.iter_mut().for_each(|latent| *latent = number.of_order(*latent)),
            Mode::IntMult(base) => {
                for (latent, more) in primary.iter_mut().zip(secondary) {
                    *latent = number.of_order(latent.wrapping_mul(base).wrapping_add(*more) & mask);
                }
            }
            Mode::FloatMult(base) => {
                let base = number.of_order(base);
                match bits {
                    16 => multiply::<16>(base, primary, secondary),
                    32 => multiply::<32>(base, primary, secondary),
                    _ => multiply::<64>(base, primary, secondary),
                }
            }
            Mode::FloatQuant(k) => {
                let (upper, sign) = (mask & !super::mask(k), middle(bits));
                for (latent, more) in primary.iter_mut().zip(secondary) {
                    // The rank inverts all bits of negative numbers. The lower bits are inverted twice.
                    let turn = if *latent < sign >> k { upper } else { sign };
                    *latent = (*latent << k ^ *more ^ turn) & mask;
                }
            }
            Mode::Dict(values) => {
                let size = (bits >> 3) as usize;
                for latent in primary {
                    let at = usize::try_from(*latent).ok().and_then(|index| index.checked_mul(size));
                    let value = at.and_then(|at| values.get(at..at.checked_add(size)?));
                    let value = value.ok_or_else(|| Error::needing(Kind::Invalid, What::PCO_PAGE, 0, *latent))?;
                    *latent = number.of_order(little(value));
                }
            }
        }
        Ok(())
    }
}

/// Joins multiples of `base` and distances, for floats of `BITS` bits.
fn multiply<const BITS: u32>(base: u64, primary: &mut [u64], secondary: &[u64]) {
    let number = Number { bits: BITS, class: Class::Float };
    for (latent, more) in primary.iter_mut().zip(secondary) {
        let near = number.order(product(BITS, number.whole(*latent), base));
        *latent = number.of_order(near.wrapping_add(*more).wrapping_add(middle(BITS)) & mask(BITS));
    }
}

/// Returns whether a number, given by its rank, may be the base of multiples: finite and not zero.
pub(super) fn is_base(number: Number, ordered: u64) -> bool {
    let magnitude = number.of_order(ordered) & !middle(number.bits);
    magnitude != 0 && magnitude < exponents(number)
}

/// The bits of infinity.
const fn exponents(number: Number) -> u64 {
    mask(number.bits) >> 1 & !mask(number.precision())
}

impl Number {
    /// Returns the bits of a number from its rank in the order of numbers.
    #[inline]
    const fn of_order(self, ordered: u64) -> u64 {
        let sign = middle(self.bits);
        match self.class {
            Class::Unsigned => ordered,
            Class::Signed => ordered ^ sign,
            // Without the sign bit, all bits are inverted. There is no branch, so that the compiler vectorises loops.
            Class::Float => (ordered ^ (self.sign_bit(ordered).wrapping_sub(1) | sign)) & mask(self.bits),
        }
    }

    /// Returns the rank of a float in the order of floats.
    #[inline]
    const fn order(self, float: u64) -> u64 {
        (float ^ (self.sign_bit(float).wrapping_neg() | middle(self.bits))) & mask(self.bits)
    }

    /// Returns the highest bit of a number: 0 or 1.
    const fn sign_bit(self, number: u64) -> u64 {
        number.wrapping_shr(self.bits.wrapping_sub(1)) & 1
    }

    /// Returns the float with the rank `ordered` among the floats without a fraction.
    #[inline]
    fn whole(self, ordered: u64) -> u64 {
        let sign = middle(self.bits);
        let (turn, sign_bit) = if ordered & sign == 0 { (mask(self.bits), sign) } else { (0, 0) };
        let magnitude = (ordered ^ turn) & !sign;
        // Every float of this magnitude or more is a whole number.
        let all = 2u64 << self.precision();
        let float = if magnitude < all {
            float_of(self.bits, magnitude)
        } else {
            magnitude.wrapping_sub(all).wrapping_add(float_of(self.bits, all)) & mask(self.bits)
        };
        float | sign_bit
    }
}

/// Converts an integer to a float that holds it without rounding.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "integers below two to the precision")]
fn float_of(bits: u32, integer: u64) -> u64 {
    match bits {
        16 => narrow(integer as f32).into(),
        32 => (integer as f32).to_bits().into(),
        _ => (integer as f64).to_bits(),
    }
}

/// Returns the product of two floats of `bits` bits, the second of which is finite.
#[allow(clippy::cast_possible_truncation, reason = "the bits of a float of that width")]
fn product(bits: u32, a: u64, b: u64) -> u64 {
    match bits {
        16 => {
            let (a, b) = (a as u16, b as u16);
            // A NaN keeps its payload, whatever the target's arithmetic does.
            if a & 0x7fff > 0x7c00 {
                return u64::from(a | 0x0200);
            }
            // The product of half floats is exact as a single, and is rounded once.
            narrow(half_to_f32(a) * half_to_f32(b)).into()
        }
        32 => {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            if a.is_nan() { u64::from(a.to_bits() | 1 << 22) } else { (a * b).to_bits().into() }
        }
        _ => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            if a.is_nan() { a.to_bits() | 1 << 51 } else { (a * b).to_bits() }
        }
    }
}

/// Rounds to the nearest half float, ties to even.
fn narrow(float: f32) -> u16 {
    let bits = float.to_bits();
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    let half = if magnitude >= 143 << 23 {
        // Too large, or infinite.
        0x7c00
    } else if magnitude < 113 << 23 {
        // The last bit of 0.5 is 2^-24, the step of subnormal half floats: the sum is rounded to such steps.
        let half = f32::from_bits(magnitude) + 0.5;
        half.to_bits().wrapping_sub(0.5f32.to_bits())
    } else {
        let odd = magnitude >> 13 & 1;
        magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff).wrapping_add(odd) >> 13
    };
    u16::try_from(sign | half).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_round_to_even() {
        for half in 0..=u16::MAX {
            if half & 0x7fff <= 0x7c00 {
                assert_eq!(narrow(half_to_f32(half)), half);
            }
        }
        // Halfway between two neighbours, and a little to each side.
        for half in (0..0x7bffu16).step_by(7) {
            let (low, high) = (half_to_f32(half), half_to_f32(half + 1));
            let between = low.midpoint(high);
            assert_eq!(narrow(between), half + (half & 1), "{half:x}");
            assert_eq!(narrow(f32::from_bits(between.to_bits() - 1)), half);
            assert_eq!(narrow(-f32::from_bits(between.to_bits() + 1)), (half + 1) | 0x8000);
        }
        assert_eq!((narrow(65519.9), narrow(65520.0), narrow(f32::INFINITY)), (0x7bff, 0x7c00, 0x7c00));
    }

    #[test]
    fn numbers_keep_their_order() {
        let float = Number::float(4).unwrap();
        let mut before = 0;
        for value in [f32::NEG_INFINITY, -2.5, -0.0, 0.0, 1e-40, 2.5, f32::INFINITY] {
            let ordered = float.order(value.to_bits().into());
            assert!(ordered > before);
            assert_eq!(float.of_order(ordered), u64::from(value.to_bits()));
            before = ordered;
        }
        assert_eq!(Number::signed(2).unwrap().of_order(0x7fff), 0xffff, "-1 is before 0");
        assert_eq!(float.whole(0x8000_0003), u64::from(3f32.to_bits()));
        assert_eq!(float.whole(0x7fff_ffff), u64::from((-0f32).to_bits()));
        assert_eq!(
            float.whole(0x8100_0001),
            u64::from(16_777_218f32.to_bits()),
            "the next float, not the next integer"
        );
    }
}
