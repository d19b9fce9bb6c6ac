//! Loops that are compiled once for every processor of the target and once for wider vectors.
//!
//! A loop is a [`Kernel`]. [`run`] chooses the vectors: at run time where there is an operating system to ask, else at compile
//! time. A loop over arithmetic needs nothing more, because the compiler vectorises it for both. [`Lanes`] are the steps of the
//! filters of Blosc, of Zstandard, of Adler-32 and of the check of UTF-8 that are written for each kind of processor.
//!
//! aarch64 needs no choice: each of its processors has NEON, for which the compiler vectorises the plain loops. `.ci/aarch64` sees that
//! it does. Texts are checked by `core` there.

#[cfg(all(target_arch = "x86_64", any(feature = "std", target_feature = "avx2")))]
mod avx2;
mod lanes;
mod text;
#[cfg(all(target_arch = "x86_64", any(feature = "std", target_feature = "avx2")))]
mod utf8;

pub(crate) use lanes::{Lanes, MOST_ROWS, ROW, TILE};
#[cfg(all(feature = "alloc", any(feature = "jay", feature = "vortex")))]
pub(crate) use text::are_texts;
pub(crate) use text::text;

/// A loop. `run` and all that it calls are inlined into a function of its own for each [`Lanes`].
pub(crate) trait Kernel {
    /// What the loop returns.
    type Output;

    /// Runs the loop.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Runs a kernel with the widest vectors of the processor. A function of its own also where the target has them: inside of
/// another, the loop of Zstandard's sequences has fewer registers, and 0.93 of the speed.
#[cfg_attr(target_arch = "x86_64", inline(never))]
#[cfg_attr(not(target_arch = "x86_64"), inline)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(target_arch = "x86_64", any(feature = "std", target_feature = "avx2")))]
    if let Some(avx2) = avx2::Avx2::detect() {
        #[cfg(feature = "unstable")]
        if ONLY_PLAIN.load(core::sync::atomic::Ordering::Relaxed) {
            return plain(kernel);
        }
        return avx2.run(kernel);
    }
    plain(kernel)
}

/// Runs a kernel with what every processor of the target has.
#[inline(never)]
fn plain<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(lanes::Plain)
}

/// Whether kernels use no wider vectors than every processor of the target has: tests and benches run both.
#[cfg(feature = "unstable")]
pub static ONLY_PLAIN: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);

/// Runs a check with the vectors of this processor, and without. One at a time: the choice is one for all threads.
#[cfg(test)]
pub(crate) fn with_each_lanes(mut check: impl FnMut()) {
    use std::sync::{Mutex, PoisonError, atomic::Ordering};

    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for plain in [true, false] {
        ONLY_PLAIN.store(plain, Ordering::Relaxed);
        check();
    }
}
