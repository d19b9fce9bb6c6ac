//! [`Lanes`] of x86-64 processors with AVX2, found at run time.
//!
//! This is the only hand-written file of the crate with `unsafe`. A function that is compiled for AVX2 may run only on a
//! processor that has it, and the compiler cannot know: a value of [`Avx2`] is the proof, as only [`Avx2::detect`] makes one.
//! The intrinsics themselves take no pointers, so they are safe. [`Plain`](super::lanes::Plain) is the twin of this file, and
//! the tests run both.

#![allow(unsafe_code, reason = "entering functions for AVX2 of a processor that has it")]

use core::arch::x86_64::{__m256i, _mm256_permute2x128_si256, _mm256_unpackhi_epi8, _mm256_unpacklo_epi8};

use super::lanes::{Kernel, Lanes, TILE};

/// Bytes of a vector.
const WIDTH: usize = 32;

/// The proof that the processor has AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Returns the proof, if the processor has AVX2. The answer is kept, so this is one load.
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let has = std::is_x86_feature_detected!("avx2");
        #[cfg(not(feature = "std"))]
        let has = cfg!(target_feature = "avx2");
        has.then_some(Avx2(()))
    }

    /// Runs a kernel, compiled for AVX2.
    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> usize {
        #[target_feature(enable = "avx2")]
        fn run<K: Kernel>(kernel: K, lanes: Avx2) -> usize {
            kernel.run(lanes)
        }
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { run(kernel, self) }
    }
}

impl Lanes for Avx2 {
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
}

#[inline]
#[target_feature(enable = "avx2")]
fn join<const S: usize>(planes: [&[u8; TILE]; S], items: &mut [[u8; S]; TILE]) {
    for (half, items) in items.as_chunks_mut::<WIDTH>().0.iter_mut().enumerate() {
        let plane = |plane: &[u8; TILE]| -> __m256i {
            let halves: [[u8; WIDTH]; 2] = bytemuck::must_cast(*plane);
            bytemuck::must_cast(halves[half & 1])
        };
        let joined = interleave(planes.map(plane), S);
        // Each lane of 16 bytes holds items of its own half. The vectors of the first half come first.
        let (vectors, _) = items.as_flattened_mut().as_chunks_mut::<WIDTH>();
        for (to, vector) in vectors.iter_mut().zip(halves(joined)) {
            *to = bytemuck::must_cast(vector);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn deal<const S: usize>(items: &[[u8; S]; TILE]) -> [[u8; TILE]; S] {
    let mut planes = [[0; TILE]; S];
    for (half, items) in items.as_chunks::<WIDTH>().0.iter().enumerate() {
        let mut vectors = [bytemuck::must_cast([0u8; WIDTH]); S];
        for (vector, bytes) in vectors.iter_mut().zip(items.as_flattened().as_chunks::<WIDTH>().0) {
            *vector = bytemuck::must_cast(*bytes);
        }
        // All 16 * S bytes of a lane are in order again after as many steps as their number has bits, and S of them
        // join: the other four deal.
        let dealt = interleave(lanes(vectors), 16);
        for (plane, vector) in planes.iter_mut().zip(dealt) {
            if let Some(to) = plane.as_chunks_mut::<WIDTH>().0.get_mut(half) {
                *to = bytemuck::must_cast(vector);
            }
        }
    }
    planes
}

/// Interleaves the vectors of the lower half with those of the upper half, byte by byte within each lane of 16 bytes, as
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
