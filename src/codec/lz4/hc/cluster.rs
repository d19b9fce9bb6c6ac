//! Matches that overlap, and the cheapest choice of them.

use alloc::vec::Vec;

use super::chains::Found;
use crate::bytes::len32;
use crate::codec::greedy::Wire as _;
use crate::codec::lz4::{Block, MIN};

/// Maximum number of matches of a cluster.
const MOST: usize = 256;

/// What the bytes from a position to the end of the cluster take in the block.
#[derive(Clone, Copy, Default)]
struct Rest {
    /// In bytes.
    cost: u32,
    /// Number of literals with which they begin.
    run: u32,
}

impl Rest {
    /// Adds literals in front. A run of literals takes another byte from length 15 on. The further ones, after every 255, are left out:
    /// they hardly change the choice.
    const fn with_literals(self, len: u32) -> Self {
        let run = self.run.wrapping_add(len);
        let longer = (self.run < 15 && run >= 15) as u32;
        Rest { cost: self.cost.wrapping_add(len).wrapping_add(longer), run }
    }

    /// Adds a match in front.
    fn with_match(self, len: u32) -> Self {
        Rest { cost: self.cost.wrapping_add(3).wrapping_add(length_bytes(len)), run: 0 }
    }
}

/// Returns the number of bytes that the length of a match takes in addition to the token.
fn length_bytes(len: u32) -> u32 {
    len.checked_sub(len32(MIN + 15)).map_or(0, |rest| (rest / 255).wrapping_add(1))
}

/// The choice at a match.
#[derive(Clone, Copy, Default)]
struct Choice {
    /// Whether it is used from its start on.
    used: bool,
    /// From its start on.
    begin: Rest,
    /// After its end.
    end: Rest,
    /// The index of the next match. One that covers the end of this one is used from there on; another one may be used from its start on.
    next: usize,
}

/// Matches in the order of their starts and ends: each begins and ends later than the one before it.
pub(super) struct Cluster {
    matches: Vec<Found>,
    choices: Vec<Choice>,
    /// The first position where no match may begin.
    starts: u32,
    /// The end of the last match that was written.
    pub(super) literals: usize,
}

impl Cluster {
    pub(super) fn new(starts: usize) -> Self {
        Cluster { matches: Vec::new(), choices: Vec::new(), starts: len32(starts), literals: 0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.matches.len() >= MOST
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
    /// than those after an earlier position.
    fn choose(&mut self) -> Option<()> {
        let matches = self.matches.as_slice();
        let all = matches.last().map_or(0, |last| last.end);
        self.choices.clear();
        self.choices.resize(matches.len(), Choice::default());
        // The first match that begins at the end of this one or later, or the number of matches.
        let mut behind = matches.len();
        // The start of the next match, and what follows from there on.
        let (mut next_start, mut next) = (all, Rest::default());
        for (index, &Found { start, end, .. }) in matches.iter().enumerate().rev() {
            while matches.get(behind.wrapping_sub(1))?.start >= end {
                behind = behind.wrapping_sub(1);
            }
            // After its end come literals up to the next match,
            let after = match (matches.get(behind), self.choices.get(behind)) {
                (Some(found), Some(choice)) => choice.begin.with_literals(found.start.wrapping_sub(end)),
                _ => Rest::default().with_literals(all.wrapping_sub(end)),
            };
            let mut choice = Choice { end: after, next: behind, ..Choice::default() };
            // or the rest of a match that covers the end.
            let over = behind.wrapping_sub(1);
            let len = matches.get(over)?.end.wrapping_sub(end);
            let rest = self.choices.get(over)?.end.with_match(len);
            if len >= len32(MIN) && end < self.starts && rest.cost < after.cost {
                (choice.end, choice.next) = (rest, over);
            }
            let used = choice.end.with_match(end.wrapping_sub(start));
            let unused = next.with_literals(next_start.wrapping_sub(start));
            choice.used = used.cost < unused.cost;
            choice.begin = if choice.used { used } else { unused };
            (next_start, next) = (start, choice.begin);
            *self.choices.get_mut(index)? = choice;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the least cost from `at` on, of all choices.
    fn least(matches: &[Found], at: u32, run: u32) -> u32 {
        let end = matches.last().unwrap().end;
        if at == end {
            return 0;
        }
        let literal = 1 + u32::from(run == 14) + least(matches, at + 1, run + 1);
        let covering = matches.iter().filter(|found| found.start <= at && found.end >= at + 4);
        covering.map(|found| 3 + length_bytes(found.end - at) + least(matches, found.end, 0)).fold(literal, u32::min)
    }

    #[test]
    fn the_choice_is_the_cheapest() {
        let mut state = 1u32;
        let mut number = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for _ in 0..20_000 {
            let mut cluster = Cluster::new(1000);
            let (mut start, mut end) = (0, 0);
            for _ in 0..=number(5) {
                end = (end + 1 + number(6)).max(start + 4);
                cluster.push(Found { start, end, distance: 1 });
                start = (start + number(8)).min(end - 1);
            }
            cluster.choose().unwrap();
            let first = cluster.choices[0].begin.cost;
            assert_eq!(first, least(&cluster.matches, 0, 0), "{:?}", cluster.matches);
        }
    }

    #[test]
    fn the_last_match_keeps_its_distance_from_the_end() {
        // The rest of the second match would begin at 10.
        for (starts, matches) in [(10, 1), (11, 2)] {
            let mut cluster = Cluster::new(starts);
            for (start, end) in [(0, 10), (6, 15)] {
                cluster.push(Found { start, end, distance: 1 });
            }
            let mut block = [0; 100];
            let mut wire = Block(crate::codec::greedy::Put::new(&mut block));
            cluster.write(&[7; 100], &mut wire).unwrap();
            assert_eq!((cluster.literals, wire.0.at), if matches == 1 { (10, 3) } else { (15, 6) });
        }
    }
}
