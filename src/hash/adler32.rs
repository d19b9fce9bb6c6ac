//! Adler-32, as in zlib (RFC 1950) and DataSeries extents.

use crate::bytes::{FAST, low32};
use crate::simd::{self, Kernel, Lanes, MOST_ROWS, ROW};

/// The modulus: the largest prime below 2^16.
const MOD: u32 = 65_521;

/// Bytes that the plain loop adds between two divisions: the maximum for which neither sum can exceed 32
/// bits, when both start just below the modulus.
const PLAIN: usize = 5552;

/// Returns the Adler-32 of `bytes`.
///
/// ```
/// assert_eq!(pilaster::unstable::hash::adler32(b""), 1);
/// assert_eq!(pilaster::unstable::hash::adler32(b"abc"), 0x024d_0127);
/// ```
#[must_use]
pub fn adler32(bytes: &[u8]) -> u32 {
    let mut state = Adler32::new();
    state.update(bytes);
    state.value()
}

/// A running Adler-32, for input in pieces.
///
/// ```
/// use pilaster::unstable::hash::Adler32;
///
/// let mut state = Adler32::new();
/// for piece in [&b"a"[..], b"", b"bc"] {
///     state.update(piece);
/// }
/// assert_eq!(state.value(), 0x024d_0127);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Adler32 {
    /// 1 plus the sum of the bytes; below the modulus between calls.
    sum: u32,
    /// The sum of all values of `sum` so far; below the modulus between calls.
    sums: u32,
}

impl Default for Adler32 {
    fn default() -> Self {
        Adler32::new()
    }
}

impl Adler32 {
    /// Creates the state of an empty input.
    #[must_use]
    pub const fn new() -> Self {
        Adler32 { sum: 1, sums: 0 }
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        // Lanes gain nothing on targets without vectors, and cost flash.
        if FAST {
            let (rows, rest) = bytes.as_chunks();
            if !rows.is_empty() {
                simd::run(Wide { state: self, rows });
            }
            self.plain(rest);
        } else {
            self.small(bytes);
        }
    }

    /// Returns the Adler-32 of all bytes so far.
    #[must_use]
    pub const fn value(&self) -> u32 {
        self.sums << 16 | self.sum
    }

    /// Adds byte by byte.
    fn plain(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PLAIN) {
            for byte in piece {
                self.sum = self.sum.wrapping_add((*byte).into());
                self.sums = self.sums.wrapping_add(self.sum);
            }
            self.reduce();
        }
    }

    /// Adds byte by byte, without a division.
    fn small(&mut self, bytes: &[u8]) {
        let (mut sum, mut sums) = (self.sum, self.sums);
        for byte in bytes {
            sum = sum.wrapping_add((*byte).into());
            sums = sums.wrapping_add(sum);
            // Seldom true. Until then neither sum exceeds 32 bits, as `sums` is the larger one.
            if sums >= 1 << 31 {
                (sum, sums) = (fold(sum), fold(sums));
            }
        }
        let below = |n: u32| if n < MOD { n } else { n.wrapping_sub(MOD) };
        (self.sum, self.sums) = (below(fold(fold(sum))), below(fold(fold(sums))));
    }

    /// Adds whole rows.
    #[inline(always)]
    fn wide(&mut self, rows: &[[u8; ROW]], lanes: impl Lanes) {
        for rows in rows.chunks(MOST_ROWS) {
            let [sum, sums] = lanes.sums(rows);
            let len = low32(rows.as_flattened().len() as u64);
            self.sums = self.sums.wrapping_add(self.sum.wrapping_mul(len)).wrapping_add(sums);
            self.sum = self.sum.wrapping_add(sum);
            self.reduce();
        }
    }

    const fn reduce(&mut self) {
        self.sum %= MOD;
        self.sums %= MOD;
    }
}

/// [`Adler32::wide`] for each kind of processor.
struct Wide<'s, 'b> {
    state: &'s mut Adler32,
    rows: &'b [[u8; ROW]],
}

impl Kernel for Wide<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        self.state.wide(self.rows, lanes);
    }
}

// `PLAIN` bytes, and the fewer bytes of `MOST_ROWS`, add at most this to `sums`, which must fit 32 bits.
const _: () = assert!(
    MOST_ROWS * ROW <= PLAIN
        && MOD as u64 + (PLAIN as u64 * (PLAIN as u64 + 1) / 2) * 255 + PLAIN as u64 * MOD as u64 <= u32::MAX as u64
);

/// Returns a smaller number with the same remainder: 2^16 is 15 more than the modulus.
const fn fold(n: u32) -> u32 {
    (n & 0xffff).wrapping_add((n >> 16).wrapping_mul(15))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    /// The definition, one division per byte.
    fn naive(bytes: &[u8]) -> u32 {
        let (mut a, mut b) = (1u64, 0u64);
        for byte in bytes {
            a = (a + u64::from(*byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        (b << 16 | a) as u32
    }

    fn noise(n: usize) -> Vec<u8> {
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            x ^= x << 7;
            x ^= x >> 9;
            x as u8
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn known_answers() {
        // RFC 1950 defines the value of the empty input; the others are from zlib.
        for (text, value) in [("", 1), ("a", 0x0062_0062), ("abc", 0x024d_0127), ("message digest", 0x2975_0586)] {
            assert_eq!(adler32(text.as_bytes()), value, "{text}");
        }
        assert_eq!(adler32(&vec![0xff; 1_000_000]), naive(&vec![0xff; 1_000_000]));
    }

    #[test]
    fn all_loops_agree_with_the_definition_at_every_length() {
        let most = MOST_ROWS * ROW;
        for n in (0..1500).chain([most - 1, most, most + ROW, 5551, 5552, 5553, 2 * most + 1, 20_000]) {
            for bytes in [noise(n), vec![0xff; n], vec![0; n]] {
                let (mut small, mut plain) = (Adler32::new(), Adler32::new());
                small.small(&bytes);
                plain.plain(&bytes);
                assert_eq!([small, plain].map(|state| state.value()), [naive(&bytes); 2], "{n} bytes");
                simd::with_each_lanes(|| assert_eq!(adler32(&bytes), naive(&bytes), "{n} bytes"));
            }
        }
    }

    #[test]
    fn the_largest_state_survives_the_largest_bytes() {
        let top = Adler32 { sum: MOD - 1, sums: MOD - 1 };
        let bytes = [0xff; PLAIN];
        let (mut small, mut plain) = (top, top);
        small.small(&bytes);
        plain.plain(&bytes);
        let (mut a, mut b) = (u64::from(MOD) - 1, u64::from(MOD) - 1);
        for byte in bytes {
            a += u64::from(byte);
            b += a;
        }
        let expected = (((b % u64::from(MOD)) << 16) | (a % u64::from(MOD))) as u32;
        assert_eq!([small, plain].map(|state| state.value()), [expected; 2]);
        simd::with_each_lanes(|| {
            let mut wide = top;
            wide.update(&bytes);
            assert_eq!(wide.value(), expected);
        });
    }

    #[test]
    fn pieces_of_any_size() {
        let bytes = noise(4000);
        for size in [1, 3, 31, 63, 64, 65, 703, 704, 705, 3999] {
            let mut state = Adler32::default();
            bytes.chunks(size).for_each(|piece| state.update(piece));
            assert_eq!(state.value(), naive(&bytes), "pieces of {size}");
        }
    }
}
