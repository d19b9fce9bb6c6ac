//! Deltas: differences of latents from a prediction by earlier latents.
//!
//! The first latents of a page are its state, so the output of a batch lags its input.

use super::stream::Stream;
use super::{BATCH, LOOKBACKS, SECONDARY, mask, middle};
use crate::bytes::{Scratch, checked_product, saturated};
use crate::error::{Error, Kind, Result, What};

/// Maximum number of weights of a convolution.
pub(super) const MAX_ORDER: usize = 32;

/// Maximum order of consecutive deltas.
const MAX_MOMENTS: usize = 7;

/// How latents are stored as deltas.
#[derive(Clone, Copy, Debug)]
pub(super) enum Delta {
    None,
    /// Differences of differences, `order` times.
    Consecutive {
        order: usize,
        secondary: bool,
    },
    /// The difference from an earlier latent, at most 2 to the power of `window` places before.
    Lookback {
        window: u32,
        state: u32,
        secondary: bool,
    },
    /// The difference from a weighted sum of the latents before.
    Conv(Conv),
}

/// Parameters of a prediction from the last latents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conv {
    pub(super) quantization: u32,
    pub(super) bias: i64,
    pub(super) order: usize,
    pub(super) weights: [i32; MAX_ORDER],
}

impl Conv {
    /// Returns whether every sum fits the type in which it is computed, which has twice the bits of a latent.
    pub(super) fn fits(&self, bits: u32) -> bool {
        let wide = bits.saturating_mul(2);
        if wide > 64 || self.quantization >= wide {
            return false;
        }
        let weights = self.weights.iter().fold(0u64, |sum, w| sum.saturating_add(w.unsigned_abs().into()));
        let most = checked_product(weights, 1 << bits).and_then(|most| most.checked_add(self.bias.unsigned_abs()));
        most.is_some_and(|most| most < 1 << wide.wrapping_sub(1))
    }
}

impl Delta {
    /// Returns the delta of variable `k`.
    pub(super) const fn of(&self, k: usize) -> &Delta {
        match self {
            _ if k == LOOKBACKS => &Delta::None,
            Delta::Consecutive { secondary: false, .. } | Delta::Lookback { secondary: false, .. } | Delta::Conv(_)
                if k == SECONDARY =>
            {
                &Delta::None
            }
            delta => delta,
        }
    }

    /// Returns the number of latents in the state of a page.
    pub(super) const fn state_len(&self) -> usize {
        match self {
            Delta::None => 0,
            Delta::Consecutive { order, .. } => *order,
            Delta::Lookback { state, .. } => 1 << *state,
            Delta::Conv(conv) => conv.order,
        }
    }

    /// Returns the number of latents kept in the scratch buffer while a page of `numbers` numbers is read.
    pub(super) fn kept(&self, numbers: u64) -> u64 {
        match self {
            Delta::Lookback { window, state, .. } => {
                // A power of two, so that an index wraps by a mask.
                let most = (1u64 << window).saturating_add(BATCH as u64);
                most.min(numbers).max(1 << state).next_power_of_two()
            }
            Delta::Conv(conv) => conv.order as u64,
            Delta::None | Delta::Consecutive { .. } => 0,
        }
    }
}

/// The latents from which deltas are undone.
#[derive(Debug, Default)]
pub(super) enum Undo<'s> {
    #[default]
    None,
    Consecutive {
        moments: [u64; MAX_MOMENTS],
        order: usize,
    },
    Lookback {
        /// The last latents; latent `i` is at `i` modulo the length.
        ring: &'s mut [u64],
        known: u64,
        given: u64,
        most: u64,
    },
    /// The last latents.
    Conv {
        state: &'s mut [u64],
    },
}

impl<'s> Undo<'s> {
    /// Reads the state of a page of `numbers` numbers.
    pub(super) fn start(
        &mut self,
        delta: &Delta,
        bits: u32,
        numbers: u64,
        stream: &mut Stream<'_>,
        s: &mut Scratch<'s>,
    ) -> Result<()> {
        let mut fill = |latents: &mut [u64], count: usize| {
            for latent in latents.iter_mut().take(count) {
                *latent = stream.take(bits);
            }
        };
        let count = delta.state_len();
        match delta {
            Delta::None => {}
            Delta::Consecutive { order, .. } => {
                let mut moments = [0; MAX_MOMENTS];
                fill(&mut moments, count);
                *self = Undo::Consecutive { moments, order: *order };
            }
            Delta::Lookback { window, state, .. } => {
                let len = saturated(delta.kept(numbers));
                let ring = s.take::<u64>(len)?;
                fill(ring, count);
                *self = Undo::Lookback { ring, known: 1 << state, given: 0, most: 1 << window };
            }
            Delta::Conv(_) => {
                let state = s.take::<u64>(count)?;
                fill(state, count);
                *self = Undo::Conv { state };
            }
        }
        Ok(())
    }

    /// Converts deltas to latents. `delta` must be the argument of [`start`](Self::start). Only the first
    /// `read` deltas were read from the page.
    pub(super) fn apply(
        &mut self,
        delta: &Delta,
        bits: u32,
        lookbacks: &[u64],
        read: usize,
        latents: &mut [u64],
    ) -> Result<()> {
        let (mask, middle) = (mask(bits), middle(bits));
        if let Undo::None = self {
            return Ok(());
        }
        // Deltas are signed: `middle` represents zero.
        for latent in latents.iter_mut() {
            *latent = latent.wrapping_add(middle) & mask;
        }
        match self {
            Undo::None => {}
            Undo::Consecutive { moments, order } => {
                for moment in moments.iter_mut().take(*order).rev() {
                    for latent in latents.iter_mut() {
                        let delta = core::mem::replace(latent, *moment & mask);
                        *moment = moment.wrapping_add(delta);
                    }
                }
            }
            Undo::Lookback { ring, known, given, most } => {
                let wrap = (ring.len() as u64).wrapping_sub(1);
                let place = |at: u64| saturated(at & wrap);
                for (delta, back) in latents.iter().zip(lookbacks).take(read) {
                    if !(1..=*most).contains(back) {
                        return Err(Error::needing(Kind::Invalid, What::PCO_PAGE, 0, *back));
                    }
                    // Zeros precede the first latent.
                    let before = known.checked_sub(*back).and_then(|at| ring.get(place(at))).copied().unwrap_or(0);
                    if let Some(latent) = ring.get_mut(place(*known)) {
                        *latent = before.wrapping_add(*delta) & mask;
                    }
                    *known = known.wrapping_add(1);
                }
                for latent in latents.iter_mut() {
                    *latent = ring.get(place(*given)).copied().unwrap_or(0);
                    *given = given.wrapping_add(1);
                }
            }
            Undo::Conv { state } => {
                let Delta::Conv(conv) = delta else { return Ok(()) };
                for latent in latents.iter_mut() {
                    // No sum overflows: the chunk was checked by `Conv::fits`.
                    let terms = conv.weights.iter().zip(state.iter());
                    let sum = terms.fold(conv.bias, |sum, (weight, latent)| {
                        sum.wrapping_add(i64::from(*weight).wrapping_mul(latent.cast_signed()))
                    });
                    let predicted = (sum.max(0) >> conv.quantization).cast_unsigned();
                    let next = predicted.wrapping_add(*latent) & mask;
                    let [first, later @ ..] = &mut **state else { return Ok(()) };
                    *latent = *first;
                    // The window moves by one: each latent takes the value of the next.
                    let mut before = first;
                    for behind in later {
                        *before = *behind;
                        before = behind;
                    }
                    *before = next;
                }
            }
        }
        Ok(())
    }
}
