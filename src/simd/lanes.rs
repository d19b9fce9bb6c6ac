//! The steps that byte and bit shuffle share, on tiles of items, two of Zstandard, the comparison of bytes of its search and the mask of
//! its sequences, the sums of Adler-32 and the check of UTF-8, for each kind of processor.

use core::str::Utf8Error;

use crate::bytes::low32;

/// Number of items per step of a fast loop: few enough to stay in registers and small arrays, and many enough
/// for the compiler to vectorise the loop.
pub(crate) const TILE: usize = 64;

/// Bytes of a row of [`Lanes::sums`].
pub(crate) const ROW: usize = 64;
/// Rows of [`Lanes::sums`] at most: of 86, both sums fit 32 bits.
pub(crate) const MOST_ROWS: usize = 7 * MOST_IN_COLUMNS;

/// The most rows for which the sum of sums of a column fits 16 bits: two lines of each.
const MOST_IN_COLUMNS: usize = 11;

/// Steps, most of them on a tile of items of `S` bytes: 1, 2, 4, 8 or 16.
pub(crate) trait Lanes: Copy {
    /// Returns the lowest `n` bits of a word. Only the lowest byte of `n` counts, which is at most 31. A shift by `n` would wait for
    /// the word.
    #[cfg(feature = "zstd")]
    fn lowest(self, word: u32, n: u32) -> u32;

    /// Joins items from their planes.
    fn join<const S: usize>(self, planes: [&[u8; TILE]; S], items: &mut [[u8; S]; TILE]);

    /// Returns the planes of items.
    fn deal<const S: usize>(self, items: &[[u8; S]; TILE]) -> [[u8; TILE]; S];

    /// Joins bytes from eight rows, one for each bit of the byte; each byte of a row has bits of eight bytes, the first in the
    /// lowest.
    fn join_bits(self, rows: [&[u8; TILE]; 8], bytes: &mut [[u8; 8]; TILE]);

    /// Reverses [`join_bits`](Self::join_bits).
    fn deal_bits(self, bytes: &[[u8; 8]; TILE]) -> [[u8; TILE]; 8];

    /// Returns a bit for each of the bytes that equals `byte`, the lowest bit for the first.
    #[cfg(feature = "zstd-encode")]
    fn equal(self, bytes: &[u8; 32], byte: u8) -> u32;

    /// Returns the sum of the bytes of at most [`MOST_ROWS`] rows, and the sum of each byte times the number of bytes from it to the
    /// end.
    fn sums(self, rows: &[[u8; ROW]]) -> [u32; 2];

    /// Returns bytes as text, with the error of `str::from_utf8`.
    fn text(self, bytes: &[u8]) -> Result<&str, Utf8Error>;
}

/// Loops that the compiler vectorises for the target.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Lanes for Plain {
    /// The mask is loaded before the word is known.
    #[cfg(feature = "zstd")]
    #[inline(always)]
    fn lowest(self, word: u32, n: u32) -> u32 {
        word & MASKS.get((n & 31) as usize).copied().unwrap_or(0)
    }

    /// In steps: pairs of bytes, pairs of pairs. Each step is a loop with two instructions per vector.
    #[inline(always)]
    fn join<const S: usize>(self, planes: [&[u8; TILE]; S], items: &mut [[u8; S]; TILE]) {
        let items = items.as_flattened_mut();
        match &planes[..] {
            [only] => items.copy_from_slice(&only[..]),
            [a, b] => {
                for (item, v) in items.as_chunks_mut().0.iter_mut().zip(join16(a, b)) {
                    *item = v.to_le_bytes();
                }
            }
            [a, b, c, d] => {
                for (item, v) in items.as_chunks_mut().0.iter_mut().zip(join32([a, b, c, d])) {
                    *item = v.to_le_bytes();
                }
            }
            [a, b, c, d, e, f, g, h] => {
                for (item, v) in items.as_chunks_mut().0.iter_mut().zip(join64([a, b, c, d, e, f, g, h])) {
                    *item = v.to_le_bytes();
                }
            }
            [a, b, c, d, e, f, g, h, more @ ..] => {
                let &[i, j, k, l, m, n, o, p] = more else { return };
                let low = join64([a, b, c, d, e, f, g, h]);
                let high = join64([i, j, k, l, m, n, o, p]);
                for ([to_low, to_high], (low, high)) in
                    items.as_chunks_mut().0.as_chunks_mut().0.iter_mut().zip(low.iter().zip(&high))
                {
                    (*to_low, *to_high) = (low.to_le_bytes(), high.to_le_bytes());
                }
            }
            _ => {}
        }
    }

    #[inline(always)]
    fn deal<const S: usize>(self, items: &[[u8; S]; TILE]) -> [[u8; TILE]; S] {
        let mut planes = [[0; TILE]; S];
        if let [only] = &mut planes[..] {
            only.copy_from_slice(items.as_flattened());
            return planes;
        }
        if S == 2 {
            halve(items.as_flattened(), planes.as_flattened_mut());
            return planes;
        }
        let each = const { DECK / S };
        for (k, deck) in items.as_flattened().as_chunks::<DECK>().0.iter().enumerate() {
            let dealt = shuffles::<S>(*deck);
            for (plane, bytes) in planes.iter_mut().zip(dealt.chunks_exact(each)) {
                if let Some(to) = plane.chunks_exact_mut(each).nth(k) {
                    to.copy_from_slice(bytes);
                }
            }
        }
        planes
    }

    #[inline(always)]
    fn join_bits(self, rows: [&[u8; TILE]; 8], bytes: &mut [[u8; 8]; TILE]) {
        let mut words = rows.map(|row| bytemuck::must_cast(*row));
        transpose(&mut words);
        let rows: &[[u8; TILE]; 8] = bytemuck::must_cast_ref(&words);
        self.join(rows.each_ref(), bytes);
    }

    #[inline(always)]
    fn deal_bits(self, bytes: &[[u8; 8]; TILE]) -> [[u8; TILE]; 8] {
        let mut words: Rows = bytemuck::must_cast(self.deal(bytes));
        transpose(&mut words);
        bytemuck::must_cast(words)
    }

    #[cfg(feature = "zstd-encode")]
    #[inline(always)]
    fn equal(self, bytes: &[u8; 32], byte: u8) -> u32 {
        const LOW: u64 = 0x0101_0101_0101_0101;
        const REST: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let mut bits = 0;
        for eight in bytes.as_chunks::<8>().0.iter().rev() {
            let differ = u64::from_le_bytes(*eight) ^ u64::from(byte).wrapping_mul(LOW);
            let others = ((differ & REST).wrapping_add(REST) | differ) >> 7 & LOW;
            // Gathers the lowest bits of all bytes in the highest byte.
            let [.., gathered] = others.wrapping_mul(0x0102_0408_1020_4080).to_le_bytes();
            bits = bits << 8 | u32::from(gathered);
        }
        !bits
    }

    #[inline(always)]
    fn sums(self, rows: &[[u8; ROW]]) -> [u32; 2] {
        rows.chunks(MOST_IN_COLUMNS).fold([0; 2], sums_in_columns)
    }

    #[inline(always)]
    fn text(self, bytes: &[u8]) -> Result<&str, Utf8Error> {
        str::from_utf8(bytes)
    }
}

#[cfg(feature = "zstd")]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "computed when compiled")]
const MASKS: [u32; 32] = {
    let mut masks = [0; 32];
    let mut n = 0;
    while n < masks.len() {
        masks[n] = (1 << n) - 1;
        n += 1;
    }
    masks
};

/// Eight rows of a tile, as words with their bytes in any order.
type Rows = [[u64; TILE / 8]; 8];

/// Transposes the eight by eight bits at each byte position of the rows. Its own inverse.
#[inline(always)]
fn transpose(rows: &mut Rows) {
    let [a, b, c, d, e, f, g, h] = rows;
    for (x, y) in [(&mut *a, &mut *e), (&mut *b, &mut *f), (&mut *c, &mut *g), (&mut *d, &mut *h)] {
        swap::<4>(x, y, 0x0f0f_0f0f_0f0f_0f0f);
    }
    for (x, y) in [(&mut *a, &mut *c), (&mut *b, &mut *d), (&mut *e, &mut *g), (&mut *f, &mut *h)] {
        swap::<2>(x, y, 0x3333_3333_3333_3333);
    }
    for (x, y) in [(a, b), (c, d), (e, f), (g, h)] {
        swap::<1>(x, y, 0x5555_5555_5555_5555);
    }
}

/// Swaps the upper bits of `x` with the lower bits of `y`, in groups of `BY` bits.
#[inline(always)]
fn swap<const BY: u32>(x: &mut [u64; TILE / 8], y: &mut [u64; TILE / 8], low: u64) {
    for (x, y) in x.iter_mut().zip(y) {
        let t = ((*x >> BY) ^ *y) & low;
        *y ^= t;
        *x ^= t << BY;
    }
}

#[inline(always)]
fn join16(low: &[u8; TILE], high: &[u8; TILE]) -> [u16; TILE] {
    let mut out = [0; TILE];
    for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(high)) {
        *out = u16::from(*low) | u16::from(*high) << 8;
    }
    out
}

#[inline(always)]
fn join32([a, b, c, d]: [&[u8; TILE]; 4]) -> [u32; TILE] {
    let (low, high) = (join16(a, b), join16(c, d));
    let mut out = [0; TILE];
    for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(&high)) {
        *out = u32::from(*low) | u32::from(*high) << 16;
    }
    out
}

#[inline(always)]
fn join64([a, b, c, d, e, f, g, h]: [&[u8; TILE]; 8]) -> [u64; TILE] {
    let (low, high) = (join32([a, b, c, d]), join32([e, f, g, h]));
    let mut out = [0; TILE];
    for (out, (low, high)) in out.iter_mut().zip(low.iter().zip(&high)) {
        *out = u64::from(*low) | u64::from(*high) << 32;
    }
    out
}

/// Number of bytes that [`shuffles`] moves at once.
const DECK: usize = 2 * TILE;

/// Returns the planes of a deck of items, by perfect shuffles.
///
/// Each shuffle moves byte `k` to `2 * k` modulo `DECK - 1`. The shuffles that double 1 to the number of items
/// together move byte `item * S + place` to `place * items + item`.
#[inline(always)]
fn shuffles<const S: usize>(mut deck: [u8; DECK]) -> [u8; DECK] {
    let mut items = const { DECK / S };
    while items > 1 {
        let halves: [[u8; TILE]; 2] = bytemuck::must_cast(deck);
        let mut pairs = [0u16; TILE];
        for (pair, (a, b)) in pairs.iter_mut().zip(halves[0].iter().zip(&halves[1])) {
            *pair = u16::from_ne_bytes([*a, *b]);
        }
        deck = bytemuck::must_cast(pairs);
        items /= 2;
    }
    deck
}

/// [`shuffles`] for items of two bytes. The compiler vectorises this form better.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the two halves")]
fn halve(items: &[u8], planes: &mut [u8]) {
    let Some((low, high)) = planes.split_first_chunk_mut::<TILE>() else { return };
    let mut pairs = [0; TILE];
    for (pair, item) in pairs.iter_mut().zip(items.as_chunks::<2>().0) {
        *pair = u16::from_le_bytes(*item);
    }
    for (low, pair) in low.iter_mut().zip(&pairs) {
        *low = *pair as u8;
    }
    for (high, pair) in high.iter_mut().zip(&pairs) {
        *high = (*pair >> 8) as u8;
    }
}

/// Adds rows to the sums of [`Lanes::sums`], in columns of 16 bits. A column counts a byte once for its line and for each line below.
#[inline(always)]
fn sums_in_columns([mut sum, mut sums]: [u32; 2], rows: &[[u8; ROW]]) -> [u32; 2] {
    /// Columns: two vectors of 16 bytes.
    const LINE: u32 = 32;
    const LINES: usize = MOST_IN_COLUMNS * ROW / LINE as usize;
    const _: () = assert!(LINES * (LINES + 1) / 2 * 255 <= u16::MAX as usize);

    let bytes = rows.as_flattened();
    let (mut plain, mut below) = ([0u16; LINE as usize], [0u16; LINE as usize]);
    for line in bytes.as_chunks::<{ LINE as usize }>().0 {
        for ((plain, below), byte) in plain.iter_mut().zip(&mut below).zip(line) {
            *plain = plain.wrapping_add((*byte).into());
            *below = below.wrapping_add(*plain);
        }
    }
    sums = sums.wrapping_add(sum.wrapping_mul(low32(bytes.len() as u64)));
    for (k, (plain, below)) in (0u32..).zip(plain.iter().zip(&below)) {
        // From a byte of column `k`, there are `k` bytes less to the end than from column 0.
        let less = k.wrapping_mul((*plain).into());
        sums = sums.wrapping_add(LINE.wrapping_mul((*below).into())).wrapping_sub(less);
        sum = sum.wrapping_add((*plain).into());
    }
    [sum, sums]
}
