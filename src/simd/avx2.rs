//! [`Lanes`] of x86-64 processors with AVX2, BMI1 and BMI2, found at run time.
//!
//! This is the only hand-written file of the crate with `unsafe`. A function that is compiled for them may run only on a
//! processor that has them, and the compiler cannot know: a value of [`Avx2`] is the proof, as only [`Avx2::detect`] makes one.
//! The intrinsics themselves take no pointers, so they are safe. Bytes that the check of UTF-8 accepts become a `str` here, because
//! `core` would check them again. [`Plain`](super::lanes::Plain) is the twin of this file, and
//! the tests run both.

#![allow(
    unsafe_code,
    reason = "entering functions for AVX2 and BMI of a processor that has them; text that was checked"
)]

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_permute2x128_si256,
    _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_slli_epi32, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_unpackhi_epi8, _mm256_unpacklo_epi8, _mm256_xor_si256,
};
use core::str::Utf8Error;

use super::utf8::{self, BEFORE, TABLES, Windows};
use super::{Kernel, Lanes, ROW, TILE};

/// Bytes of a vector.
const WIDTH: usize = 32;

/// The proof that the processor has AVX2, BMI1 and BMI2. The level x86-64-v3 has all three.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Returns the proof, if the processor has all three. The answers are kept, so each is one load.
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let has = std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2");
        #[cfg(not(feature = "std"))]
        let has = cfg!(all(target_feature = "avx2", target_feature = "bmi1", target_feature = "bmi2"));
        has.then_some(Avx2(()))
    }

    /// Runs a kernel, compiled for all three.
    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn run<K: Kernel>(kernel: K, lanes: Avx2) -> K::Output {
            kernel.run(lanes)
        }
        // SAFETY: `self` proves that the processor has all three.
        unsafe { run(kernel, self) }
    }
}

impl Lanes for Avx2 {
    #[cfg(feature = "zstd")]
    #[inline(always)]
    fn lowest(self, word: u32, n: u32) -> u32 {
        // SAFETY: `self` proves that the processor has BMI2.
        unsafe { core::arch::x86_64::_bzhi_u32(word, n) }
    }

    #[inline(always)]
    fn join<const S: usize>(self, planes: [&[u8; TILE]; S], items: &mut [[u8; S]; TILE]) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { join(planes, items) }
    }

    #[inline(always)]
    fn deal<const S: usize>(self, items: &[[u8; S]; TILE]) -> [[u8; TILE]; S] {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { deal(items) }
    }

    #[inline(always)]
    fn join_bits(self, rows: [&[u8; TILE]; 8], bytes: &mut [[u8; 8]; TILE]) {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { join_bits(rows, bytes) }
    }

    #[inline(always)]
    fn deal_bits(self, bytes: &[[u8; 8]; TILE]) -> [[u8; TILE]; 8] {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { deal_bits(bytes) }
    }

    #[cfg(feature = "zstd-encode")]
    #[inline(always)]
    fn equal(self, bytes: &[u8; 32], byte: u8) -> u32 {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { equal(bytes, byte) }
    }

    #[inline(always)]
    fn sums(self, rows: &[[u8; ROW]]) -> [u32; 2] {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { sums(rows) }
    }

    #[inline(always)]
    fn text(self, bytes: &[u8]) -> Result<&str, Utf8Error> {
        if utf8::is_utf8(bytes, self) {
            // SAFETY: the bytes are UTF-8. Windows check all of them, each with the three before, and no character is cut by the
            // end; the tests of `utf8` compare the check with `core` for each pair and each range of bytes.
            return Ok(unsafe { str::from_utf8_unchecked(bytes) });
        }
        str::from_utf8(bytes)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn sums(rows: &[[u8; ROW]]) -> [u32; 2] {
    // The number of bytes from each one to the end of its row. The sum of two neighbours' products fits 16 bits with a sign.
    const COUNTS: [[i8; WIDTH]; 2] = {
        let (mut counts, mut count) = ([0; ROW], 64i8);
        let mut rest: &mut [i8] = &mut counts;
        while let Some((first, others)) = rest.split_first_mut() {
            *first = count;
            count = count.wrapping_sub(1);
            rest = others;
        }
        assert!(count == 0);
        bytemuck::must_cast(counts)
    };
    let counts: [__m256i; 2] = bytemuck::must_cast(COUNTS);
    let (zero, ones) = (_mm256_setzero_si256(), _mm256_set1_epi16(1));
    let [mut plain, mut above, mut within] = [zero; 3];
    for row in rows {
        let halves: [__m256i; 2] = bytemuck::must_cast(*row);
        above = _mm256_add_epi32(above, plain);
        for (half, counts) in halves.into_iter().zip(counts) {
            plain = _mm256_add_epi32(plain, _mm256_sad_epu8(half, zero));
            within = _mm256_add_epi32(within, _mm256_madd_epi16(_mm256_maddubs_epi16(half, counts), ones));
        }
    }
    let total = |vector| bytemuck::must_cast::<__m256i, [u32; 8]>(vector).iter().fold(0u32, |a, b| a.wrapping_add(*b));
    // All rows above count once for each byte of a row.
    let sums = _mm256_add_epi32(within, _mm256_slli_epi32::<{ ROW.ilog2() as i32 }>(above));
    [total(plain), total(sums)]
}

impl Windows for Avx2 {
    #[inline(always)]
    fn is_wrong<const N: usize>(self, window: &[u8; N]) -> bool {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { is_wrong(window) }
    }

    #[inline(always)]
    fn is_wrong_first(self, bytes: &[u8; WIDTH]) -> bool {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { is_wrong_first(bytes) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn is_wrong<const N: usize>(window: &[u8; N]) -> bool {
    use core::arch::x86_64::{_mm256_movemask_epi8, _mm256_or_si256, _mm256_setzero_si256, _mm256_testz_si256};

    // The bytes of vector `k`, or the 32 bytes that begin `before` bytes earlier.
    let load = |k: usize, before: usize| -> __m256i {
        let from = k.saturating_mul(WIDTH).saturating_add(BEFORE).saturating_sub(before);
        bytemuck::must_cast(window.get(from..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; WIDTH]))
    };
    const { assert!(N > BEFORE && (N - BEFORE).is_multiple_of(WIDTH)) };
    let vectors = const { (N - BEFORE) / WIDTH };
    let all = (1..vectors).fold(load(0, 0), |all, k| _mm256_or_si256(all, load(k, 0)));
    let before = window.first_chunk().map_or(0, |four| u32::from_ne_bytes(*four));
    if _mm256_movemask_epi8(all).cast_unsigned() | before & 0x8080_8080 == 0 {
        return false;
    }
    let mut wrong = _mm256_setzero_si256();
    for k in 0..vectors {
        wrong = _mm256_or_si256(wrong, wrong_bytes([load(k, 0), load(k, 1), load(k, 2), load(k, 3)]));
    }
    _mm256_testz_si256(wrong, wrong) == 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn is_wrong_first(bytes: &[u8; WIDTH]) -> bool {
    use core::arch::x86_64::{_mm256_alignr_epi8, _mm256_movemask_epi8, _mm256_testz_si256};

    let this = bytemuck::must_cast(*bytes);
    if _mm256_movemask_epi8(this) == 0 {
        return false;
    }
    // Zeros, and the lower lane.
    let before = _mm256_permute2x128_si256::<0x08>(this, this);
    let wrong = wrong_bytes([
        this,
        _mm256_alignr_epi8::<15>(this, before),
        _mm256_alignr_epi8::<14>(this, before),
        _mm256_alignr_epi8::<13>(this, before),
    ]);
    _mm256_testz_si256(wrong, wrong) == 0
}

/// Returns zeros for the bytes that may be where they are in UTF-8. The other vectors are what is one, two and three bytes before each.
#[inline]
#[target_feature(enable = "avx2")]
fn wrong_bytes([this, first, second, third]: [__m256i; 4]) -> __m256i {
    use core::arch::x86_64::{
        _mm256_broadcastsi128_si256, _mm256_or_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_subs_epu8,
    };

    let low = |v| _mm256_and_si256(v, _mm256_set1_epi8(0x0f));
    let look_up =
        |table: &[u8; 16], at| _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytemuck::must_cast(*table)), low(at));
    let pairs = _mm256_and_si256(
        _mm256_and_si256(look_up(&TABLES.first_high, _mm256_srli_epi16::<4>(first)), look_up(&TABLES.first_low, first)),
        look_up(&TABLES.second_high, _mm256_srli_epi16::<4>(this)),
    );
    // The highest bit of a byte that is the third, after 0xe0 and above, or the fourth, after 0xf0 and above.
    let needed = _mm256_or_si256(
        _mm256_subs_epu8(second, _mm256_set1_epi8((0xe0_u8 - 0x80).cast_signed())),
        _mm256_subs_epu8(third, _mm256_set1_epi8((0xf0_u8 - 0x80).cast_signed())),
    );
    _mm256_xor_si256(pairs, _mm256_and_si256(needed, _mm256_set1_epi8(i8::MIN)))
}

#[cfg(feature = "zstd-encode")]
#[inline]
#[target_feature(enable = "avx2")]
fn equal(bytes: &[u8; 32], byte: u8) -> u32 {
    use core::arch::x86_64::{_mm256_cmpeq_epi8, _mm256_movemask_epi8};

    _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytemuck::must_cast(*bytes), _mm256_set1_epi8(byte.cast_signed())))
        .cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx2")]
fn join<const S: usize>(planes: [&[u8; TILE]; S], items: &mut [[u8; S]; TILE]) {
    for (half, items) in items.as_chunks_mut().0.iter_mut().enumerate() {
        store(halves(interleave(load(planes, half), S)), items);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn deal<const S: usize>(items: &[[u8; S]; TILE]) -> [[u8; TILE]; S] {
    let mut planes = [[0; TILE]; S];
    for (half, items) in items.as_chunks().0.iter().enumerate() {
        put(planes_of(items), &mut planes, half);
    }
    planes
}

#[inline]
#[target_feature(enable = "avx2")]
fn join_bits(rows: [&[u8; TILE]; 8], bytes: &mut [[u8; 8]; TILE]) {
    for (half, bytes) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
        store(halves(interleave(transpose(load(rows, half)), 8)), bytes);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn deal_bits(bytes: &[[u8; 8]; TILE]) -> [[u8; TILE]; 8] {
    let mut rows = [[0; TILE]; 8];
    for (half, bytes) in bytes.as_chunks().0.iter().enumerate() {
        put(transpose(planes_of(bytes)), &mut rows, half);
    }
    rows
}

/// Returns one half of each plane.
#[inline]
#[target_feature(enable = "avx2")]
fn load<const S: usize>(planes: [&[u8; TILE]; S], half: usize) -> [__m256i; S] {
    planes.map(|plane| {
        let [low, high]: [[u8; WIDTH]; 2] = bytemuck::must_cast(*plane);
        bytemuck::must_cast(if half == 0 { low } else { high })
    })
}

/// Writes one half of each plane.
#[inline]
#[target_feature(enable = "avx2")]
fn put<const S: usize>(vectors: [__m256i; S], planes: &mut [[u8; TILE]; S], half: usize) {
    for (plane, vector) in planes.iter_mut().zip(vectors) {
        let [low, high]: &mut [[u8; WIDTH]; 2] = bytemuck::must_cast_mut(plane);
        *(if half == 0 { low } else { high }) = bytemuck::must_cast(vector);
    }
}

/// Writes items.
#[inline]
#[target_feature(enable = "avx2")]
fn store<const S: usize>(vectors: [__m256i; S], items: &mut [[u8; S]; WIDTH]) {
    for (to, vector) in items.as_flattened_mut().as_chunks_mut().0.iter_mut().zip(vectors) {
        *to = bytemuck::must_cast::<__m256i, [u8; WIDTH]>(vector);
    }
}

/// Returns the planes of items.
#[inline]
#[target_feature(enable = "avx2")]
fn planes_of<const S: usize>(items: &[[u8; S]; WIDTH]) -> [__m256i; S] {
    let mut vectors = [bytemuck::must_cast([0u8; WIDTH]); S];
    for (vector, bytes) in vectors.iter_mut().zip(items.as_flattened().as_chunks::<WIDTH>().0) {
        *vector = bytemuck::must_cast(*bytes);
    }
    // All 16 * S bytes of a lane are in order again after as many steps as their number has bits, and the steps for S join: the
    // other four deal.
    interleave(lanes(vectors), 16)
}

/// Transposes the eight by eight bits at each byte position of the rows. Its own inverse.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d, e, f, g, h]: [__m256i; 8]) -> [__m256i; 8] {
    let low = _mm256_set1_epi8(0x0f);
    let ((a, e), (b, f)) = (swap::<4>(a, e, low), swap::<4>(b, f, low));
    let ((c, g), (d, h)) = (swap::<4>(c, g, low), swap::<4>(d, h, low));
    let low = _mm256_set1_epi8(0x33);
    let ((a, c), (b, d)) = (swap::<2>(a, c, low), swap::<2>(b, d, low));
    let ((e, g), (f, h)) = (swap::<2>(e, g, low), swap::<2>(f, h, low));
    let low = _mm256_set1_epi8(0x55);
    let ((a, b), (c, d)) = (swap::<1>(a, b, low), swap::<1>(c, d, low));
    let ((e, f), (g, h)) = (swap::<1>(e, f, low), swap::<1>(g, h, low));
    [a, b, c, d, e, f, g, h]
}

/// Swaps the upper bits of `x` with the lower bits of `y`, in groups of `BY` bits.
#[inline]
#[target_feature(enable = "avx2")]
fn swap<const BY: i32>(x: __m256i, y: __m256i, low: __m256i) -> (__m256i, __m256i) {
    let t = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<BY>(x), y), low);
    (_mm256_xor_si256(x, _mm256_slli_epi64::<BY>(t)), _mm256_xor_si256(y, t))
}

/// Interleaves the vectors of the lower half with the vectors of the upper half, byte by byte within each lane of 16 bytes, as
/// often as `count` can be halved.
#[inline]
#[target_feature(enable = "avx2")]
fn interleave<const S: usize>(mut vectors: [__m256i; S], mut count: usize) -> [__m256i; S] {
    while count > 1 && S > 1 {
        let mut next = vectors;
        let (low, high) = vectors.split_at(const { S / 2 });
        for ([first, second], (a, b)) in next.as_chunks_mut().0.iter_mut().zip(low.iter().zip(high)) {
            (*first, *second) = (_mm256_unpacklo_epi8(*a, *b), _mm256_unpackhi_epi8(*a, *b));
        }
        (vectors, count) = (next, count / 2);
    }
    vectors
}

/// Orders vectors: first the lower lanes of all, then the upper lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn halves<const S: usize>(vectors: [__m256i; S]) -> [__m256i; S] {
    let mut ordered = vectors;
    let (low, high) = ordered.split_at_mut(const { S / 2 });
    for ([a, b], (low, high)) in vectors.as_chunks().0.iter().zip(low.iter_mut().zip(high)) {
        (*low, *high) = (_mm256_permute2x128_si256::<0x20>(*a, *b), _mm256_permute2x128_si256::<0x31>(*a, *b));
    }
    ordered
}

/// Reverses [`halves`].
#[inline]
#[target_feature(enable = "avx2")]
fn lanes<const S: usize>(vectors: [__m256i; S]) -> [__m256i; S] {
    let mut ordered = vectors;
    let (low, high) = vectors.split_at(const { S / 2 });
    for ([first, second], (a, b)) in ordered.as_chunks_mut().0.iter_mut().zip(low.iter().zip(high)) {
        (*first, *second) = (_mm256_permute2x128_si256::<0x20>(*a, *b), _mm256_permute2x128_si256::<0x31>(*a, *b));
    }
    ordered
}
