//! Matches that overlap, and the cheapest choice of them.

use alloc::vec::Vec;

use super::chains::Found;
use crate::bytes::len32;
use crate::codec::greedy::Wire as _;
use crate::codec::lz4::{Block, MIN};

/// Maximum number of matches of a cluster.
const MAX_MATCHES: usize = 256;

/// Returns the bytes that a match takes in the block: a token, a distance, and the rest of its length.
fn cost(len: u32) -> u32 {
    len.checked_sub(len32(MIN + 15)).map_or(3, |rest| (rest / 255).wrapping_add(4))
}

/// The choice at a match. The costs are the bytes that the block takes from a position to the end of the cluster. A literal costs one byte.
/// In a cluster, a run of literals is too short for another byte of length, as a match covers each byte, and costs less than four literals.
#[derive(Clone, Copy, Default)]
struct Choice {
    /// Whether it is used from its start on.
    used: bool,
    /// The cost from its start on.
    from_start: u32,
    /// The cost after its end.
    after_end: u32,
    /// The index of the next match. One that covers the end of this one is used from there on; another one may be used from its start on.
    next: usize,
}

/// Matches in the order of their starts and ends: each begins and ends later than the one before it.
pub(super) struct Cluster {
    matches: Vec<Found>,
    choices: Vec<Choice>,
    /// No match begins here or later.
    starts: u32,
    /// The end of the last match that was written.
    pub(super) literals: usize,
}

impl Cluster {
    pub(super) fn new(starts: usize) -> Self {
        Cluster { matches: Vec::new(), choices: Vec::new(), starts: len32(starts), literals: 0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.matches.len() >= MAX_MATCHES
    }

    /// Adds a match that begins no earlier than the last one, and ends later. It replaces one with the same start.
    #[inline(always)]
    pub(super) fn push(&mut self, found: Found) {
        self.matches.pop_if(|last| last.start >= found.start);
        self.matches.push(found);
    }

    /// Writes the cheapest choice of the matches, and removes them.
    #[inline(always)]
    pub(super) fn write(&mut self, src: &[u8], wire: &mut Block<'_>) -> Option<()> {
        // Most matches overlap no other.
        if let [found] = *self.matches {
            self.matches.clear();
            return self.sequence(src, found, wire);
        }
        self.write_several(src, wire)
    }

    #[inline(never)]
    fn write_several(&mut self, src: &[u8], wire: &mut Block<'_>) -> Option<()> {
        self.choose()?;
        let (mut index, mut at) = (0usize, 0u32);
        while let (Some(&found), Some(&choice)) = (self.matches.get(index), self.choices.get(index)) {
            if found.start < at || choice.used {
                self.sequence(src, Found { start: found.start.max(at), ..found }, wire)?;
                (at, index) = (found.end, choice.next);
            } else {
                index = index.wrapping_add(1);
            }
        }
        self.matches.clear();
        Some(())
    }

    #[inline(always)]
    fn sequence(&mut self, src: &[u8], found: Found, wire: &mut Block<'_>) -> Option<()> {
        let (start, end) = (found.start as usize, found.end as usize);
        wire.sequence(src, self.literals, start, found.distance.into(), end.wrapping_sub(start))?;
        self.literals = end;
        Some(())
    }

    /// Chooses from the last match to the first. A match is used up to its end or not at all, because the bytes after its end cost no more
    /// than those after an earlier position. Only at the end of the block, where no match begins, another choice may take a few bytes
    /// less.
    fn choose(&mut self) -> Option<()> {
        let matches = self.matches.as_slice();
        let all = matches.last().map_or(0, |last| last.end);
        self.choices.clear();
        self.choices.resize(matches.len(), Choice::default());
        // The first match that begins at the end of this one or later, or the number of matches.
        let mut behind = matches.len();
        // The start of the next match, and the cost from there on.
        let (mut next_start, mut next_cost) = (all, 0u32);
        for (index, &Found { start, end, .. }) in matches.iter().enumerate().rev() {
            while matches.get(behind.wrapping_sub(1))?.start >= end {
                behind = behind.wrapping_sub(1);
            }
            // After its end come literals up to the next match,
            let (from, rest) = match (matches.get(behind), self.choices.get(behind)) {
                (Some(found), Some(choice)) => (found.start, choice.from_start),
                _ => (all, 0),
            };
            let literals = from.wrapping_sub(end).wrapping_add(rest);
            // or the rest of a match that covers the end.
            let over = behind.wrapping_sub(1);
            let len = matches.get(over)?.end.wrapping_sub(end);
            let covered = self.choices.get(over)?.after_end.wrapping_add(cost(len));
            let goes_on = len >= len32(MIN) && end < self.starts && covered < literals;
            let (after_end, next) = if goes_on { (covered, over) } else { (literals, behind) };
            let with = after_end.wrapping_add(cost(end.wrapping_sub(start)));
            let without = next_start.wrapping_sub(start).wrapping_add(next_cost);
            (next_start, next_cost) = (start, with.min(without));
            *self.choices.get_mut(index)? = Choice { used: with < without, from_start: next_cost, after_end, next };
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::greedy::Put;

    /// Returns the least cost from `at` on, of all choices.
    fn least(matches: &[Found], at: u32) -> u32 {
        if at == matches.last().unwrap().end {
            return 0;
        }
        let literal = 1 + least(matches, at + 1);
        let covering = matches.iter().filter(|found| found.start <= at && found.end >= at + 4);
        covering.map(|found| cost(found.end - at) + least(matches, found.end)).fold(literal, u32::min)
    }

    #[test]
    fn the_choice_is_the_cheapest() {
        let mut state = 1u32;
        let mut number = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for _ in 0..20_000 {
            let (mut start, mut end) = (0, 0);
            let mut matches = Vec::new();
            for _ in 0..=number(5) {
                end = (end + 1 + number(6)).max(start + 4);
                matches.push(Found { start, end, distance: 1 });
                start = (start + number(8)).min(end - 1);
            }
            let mut cluster = Cluster::new(200);
            matches.iter().for_each(|found| cluster.push(*found));
            let expected = least(&cluster.matches, 0);
            let mut block = [0; 200];
            let mut wire = Block(Put::new(&mut block));
            cluster.write(&[7; 200], &mut wire).unwrap();
            let written = wire.0.at + end as usize - cluster.literals;
            assert_eq!(written, expected as usize, "{matches:?}");
        }
    }

    #[test]
    fn the_last_match_keeps_its_distance_from_the_end() {
        // The rest of the second match would begin at 10.
        for (starts, written) in [(10, (10, 3)), (11, (15, 6))] {
            let mut cluster = Cluster::new(starts);
            for (start, end) in [(0, 10), (6, 15)] {
                cluster.push(Found { start, end, distance: 1 });
            }
            let mut block = [0; 100];
            let mut wire = Block(Put::new(&mut block));
            cluster.write(&[7; 100], &mut wire).unwrap();
            assert_eq!((cluster.literals, wire.0.at), written);
        }
    }
}
