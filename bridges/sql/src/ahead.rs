//! Read-ahead: fetches whole segments of Vortex, and larger ranges of files that are read in order.

use std::collections::VecDeque;
use std::ops::Range;

use pilaster::any::File;
use pilaster::bytes::FileRange;

/// Maximum number of bytes that are fetched because a part of them is wanted.
const MOST: u64 = 1 << 20;

/// Least maximum of what is fetched after a range. The maximum is a 64th of the file, as the last range of each column that a reader of a
/// part of the file fetches can be larger than what it reads.
const LEAST: u64 = 64 << 10;

/// Ranges begin and end at multiples of this many bytes, so that they may begin before a segment and end after it.
const GRAIN: u64 = 64;

/// Number of ranges for each column whose ends are known: missing values, offsets and characters.
const EACH: usize = 3;

/// Number of ranges at least, of few columns.
const FEW: usize = 8;

/// What the ranges of a file that were fetched tell about the next ones.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// The segments of a Vortex file, by their starts. Readers fetch parts of one: its end, which describes it, and its buffers.
    segments: Vec<Range<u64>>,
    /// The number of ranges that are read by turns.
    turns: usize,
    /// The last ranges that were fetched.
    last: VecDeque<Range<u64>>,
}

impl Ahead {
    /// Creates the read-ahead of a file for a scan of `columns` columns.
    pub fn new(file: &File<'_>, columns: usize) -> Self {
        let mut segments = Vec::new();
        if let File::Vortex(file) = file {
            // A segment that cannot be placed is an error of the column that needs it.
            let count = u32::try_from(file.segments()).unwrap_or(u32::MAX);
            let range = |range: FileRange| Some(range.at..range.at.checked_add(range.len)?);
            segments.extend((0..count).filter_map(|k| range(file.segment(k).ok()?)).filter(|range| !range.is_empty()));
            segments.sort_unstable_by_key(|range| range.start);
        }
        Ahead { segments, turns: columns.saturating_mul(EACH), last: VecDeque::new() }
    }

    /// Returns the number of ranges that are read by turns.
    pub fn turns(&self) -> usize {
        self.turns.max(FEW)
    }

    /// Returns the range to fetch for one that is wanted. `len`: the length of the file.
    pub fn of(&mut self, wanted: &Range<u64>, len: u64) -> Range<u64> {
        let found = self.segment(wanted).unwrap_or_else(|| wanted.clone());
        let found = found.start..found.end.max(found.start.saturating_add(self.more(found.start, len)));
        let found = found.start..found.end.min(len).max(wanted.end);
        self.last.push_front(found.clone());
        self.last.truncate(self.turns());
        found
    }

    /// Returns the segment of a range.
    fn segment(&self, wanted: &Range<u64>) -> Option<Range<u64>> {
        let at = wanted.start.saturating_add(GRAIN.saturating_sub(1)).min(wanted.end.saturating_sub(1));
        let k = self.segments.partition_point(|segment| segment.start <= at).checked_sub(1)?;
        let segment = self.segments.get(k).filter(|segment| at < segment.end)?;
        let start = segment.start.min(wanted.start);
        let start = start.saturating_sub(start.checked_rem(GRAIN)?);
        let end = segment.end.checked_next_multiple_of(GRAIN)?.max(wanted.end);
        (end.saturating_sub(start) <= MOST).then_some(start..end)
    }

    /// Returns how much to fetch of a range that begins where another one ends: twice as much as of that. After a segment, other columns
    /// may follow.
    fn more(&self, start: u64, len: u64) -> u64 {
        let last = self.last.iter().find(|last| last.start < start && start <= last.end);
        let last = last.filter(|_| self.segments.is_empty());
        last.map_or(0, |last| last.end.saturating_sub(last.start).saturating_mul(2).min((len >> 6).clamp(LEAST, MOST)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_fetched_whole() {
        let segments = vec![100..1100, 1100..3000, 4000..4000 + (2 << 20)];
        let mut ahead = Ahead { segments, ..Ahead::default() };
        for (wanted, fetched) in [
            (64..128, 64..1152),
            (1024..1100, 64..1152),
            // Its first byte is at 1100.
            (1088..1152, 1088..3008),
            (2944..3000, 1088..3008),
            // Between segments, and a part of a large one.
            (3100..3164, 3100..3164),
            (100_032..100_096, 100_032..100_096),
        ] {
            ahead.last.clear();
            assert_eq!(ahead.of(&wanted, 1 << 30), fetched, "{wanted:?}");
        }
    }

    #[test]
    fn what_is_read_in_order_is_fetched_by_more_at_once() {
        let (mut ahead, len) = (Ahead::default(), 1 << 30);
        let (mut start, mut requests) = (1 << 12, 0);
        while start < 8 << 20 {
            // Another column, by turns.
            assert_eq!(ahead.of(&((1 << 29) + start..(1 << 29) + start + 64), len).start, (1 << 29) + start);
            let found = ahead.of(&(start..start + (1 << 17)), len);
            (start, requests) = (found.end, requests + 1);
        }
        assert_eq!(requests, 11);
    }
}
