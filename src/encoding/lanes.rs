//! Greedy encoding of many texts. Each code starts where the one before ends, so one text is a chain of
//! dependent lookups; four texts at a time keep the processor busy.

use alloc::vec::Vec;

use super::texts::Texts;

/// Number of texts that are encoded in turns.
pub(super) const LANES: usize = 4;

/// Bytes of text per batch: the codes of a batch stay in the cache until they are joined.
const BATCH: usize = 1 << 15;

/// Finds the next code of a text.
pub(super) trait Longest {
    /// A unit of output.
    type Unit: Copy + Default;
    /// Maximum number of units per byte of text, 1 or 2.
    const UNITS: usize;

    /// Returns the code of the longest symbol at the start of `window`: 16 bytes as a number, the first lowest. The first
    /// `left` of them belong to the text; `left` is 1 or more.
    fn longest(&self, window: u128, left: usize) -> Found<Self::Unit>;

    /// Returns the same for the windows of several texts.
    #[inline(always)]
    fn longest_of_each(&self, windows: [(u128, usize); LANES]) -> [Found<Self::Unit>; LANES] {
        windows.map(|(window, left)| self.longest(window, left))
    }
}

/// A code, in the first `count` units, for `len` bytes of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<U> {
    pub units: [U; 2],
    pub count: usize,
    pub len: usize,
}

/// Appends the codes of all texts to `codes`, and to `ends` the number of units up to the end of each text, counted
/// from the first unit that this call appends.
pub(super) fn encode<M: Longest>(by: &M, texts: &Texts<'_>, codes: &mut Vec<M::Unit>, ends: &mut Vec<u32>) {
    let (mut memory, mut first, start) = (Vec::new(), 0, codes.len());
    ends.reserve(texts.len());
    while first < texts.len() {
        let until = texts.end(first).saturating_add(BATCH);
        let last = texts.from(until).max(first.saturating_add(1));
        batch(by, texts, first..last, &mut memory, (codes, ends), start);
        first = last;
    }
}

/// One of the texts in turn.
struct Lane<'m, U> {
    /// Position in the bytes, and end of the text.
    at: usize,
    end: usize,
    /// The text, and the end of the lane's texts.
    text: usize,
    last: usize,
    /// Memory for the units, and how many there are.
    units: &'m mut [U],
    count: usize,
}

fn batch<M: Longest>(
    by: &M,
    texts: &Texts<'_>,
    range: core::ops::Range<usize>,
    memory: &mut Vec<M::Unit>,
    (codes, ends): (&mut Vec<M::Unit>, &mut Vec<u32>),
    start: usize,
) {
    let (from, to) = (texts.end(range.start), texts.end(range.end));
    let bytes = to.saturating_sub(from);
    // Two units for the last store of each lane.
    let need = bytes.saturating_mul(M::UNITS).saturating_add(LANES.saturating_mul(2));
    if memory.len() < need {
        memory.resize(need, M::Unit::default());
    }
    let done = ends.len();
    ends.resize(done.saturating_add(range.len()), 0);
    let ends = ends.get_mut(done..).unwrap_or_default();
    let mut rest = &mut memory[..];
    let mut next = range.start;
    let mut lanes: [Lane<'_, M::Unit>; LANES] = core::array::from_fn(|k| {
        let text = next;
        let share = bytes.saturating_mul(k.saturating_add(1)).checked_div(LANES).unwrap_or(0);
        let last = texts.from(from.saturating_add(share)).clamp(text, range.end);
        next = if k.saturating_add(1) == LANES { range.end } else { last };
        let len = texts.end(next).saturating_sub(texts.end(text));
        let len = len.saturating_mul(M::UNITS).saturating_add(2).min(rest.len());
        let (units, after) = core::mem::take(&mut rest).split_at_mut(len);
        rest = after;
        let at = texts.end(text);
        // A lane may have no text.
        let end = if text == next { at } else { texts.end(text.saturating_add(1)) };
        Lane { at, end, text, last: next, units, count: 0 }
    });
    together(by, texts, range.start, &mut lanes, ends);
    for lane in &mut lanes {
        alone(by, texts, range.start, lane, ends);
    }
    let mut rest = ends;
    let mut text = range.start;
    for lane in &lanes {
        let base = u32::try_from(codes.len().saturating_sub(start)).unwrap_or(u32::MAX);
        let (own, after) = rest.split_at_mut(lane.last.saturating_sub(text).min(rest.len()));
        own.iter_mut().for_each(|end| *end = end.saturating_add(base));
        (rest, text) = (after, lane.last);
        codes.extend_from_slice(lane.units.get(..lane.count).unwrap_or_default());
    }
}

/// Encodes one code of each lane at a time, until one lane has no more texts.
fn together<M: Longest>(
    by: &M,
    texts: &Texts<'_>,
    first: usize,
    lanes: &mut [Lane<'_, M::Unit>; LANES],
    ends: &mut [u32],
) {
    for lane in &mut *lanes {
        if !lane.settle(texts, first, ends) {
            return;
        }
    }
    loop {
        let mut more = true;
        let found = by.longest_of_each(lanes.each_ref().map(|lane| lane.window(texts)));
        for (lane, found) in lanes.iter_mut().zip(found) {
            lane.take(found);
        }
        for lane in &mut *lanes {
            if lane.at == lane.end {
                more &= lane.settle(texts, first, ends);
            }
        }
        if !more {
            return;
        }
    }
}

fn alone<M: Longest>(by: &M, texts: &Texts<'_>, first: usize, lane: &mut Lane<'_, M::Unit>, ends: &mut [u32]) {
    while lane.settle(texts, first, ends) {
        while lane.at < lane.end {
            let (window, left) = lane.window(texts);
            lane.take(by.longest(window, left));
        }
    }
}

impl<U: Copy> Lane<'_, U> {
    /// Moves on to the next text with bytes left. Returns whether there is one.
    #[allow(clippy::cast_possible_truncation, reason = "less than 2^32 units, as `Texts` are limited")]
    #[inline]
    fn settle(&mut self, texts: &Texts<'_>, first: usize, ends: &mut [u32]) -> bool {
        while self.at >= self.end {
            if self.text >= self.last {
                return false;
            }
            if let Some(end) = ends.get_mut(self.text.wrapping_sub(first)) {
                *end = self.count as u32;
            }
            self.text = self.text.wrapping_add(1);
            if self.text >= self.last {
                return false;
            }
            (self.at, self.end) = (texts.end(self.text), texts.end(self.text.wrapping_add(1)));
        }
        true
    }

    /// Returns the next 16 bytes as a number, and how many bytes of the text are left.
    #[inline(always)]
    fn window(&self, texts: &Texts<'_>) -> (u128, usize) {
        let window = match texts.bytes().get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(window) => *window,
            None => tail(texts.bytes(), self.at),
        };
        (u128::from_le_bytes(window), self.end.wrapping_sub(self.at))
    }

    /// Appends one code.
    #[inline(always)]
    fn take(&mut self, found: Found<U>) {
        if let Some(to) = self.units.get_mut(self.count..).and_then(<[U]>::first_chunk_mut::<2>) {
            *to = found.units;
        }
        self.count = self.count.wrapping_add(found.count);
        self.at = self.at.wrapping_add(found.len);
    }
}

/// Returns the last bytes, padded. A separate function, as the compiler would make one copy of variable length out of
/// both.
#[cold]
#[inline(never)]
fn tail(bytes: &[u8], at: usize) -> [u8; 16] {
    let mut window = [0; 16];
    for (to, byte) in window.iter_mut().zip(bytes.get(at..).unwrap_or_default()) {
        *to = *byte;
    }
    window
}
