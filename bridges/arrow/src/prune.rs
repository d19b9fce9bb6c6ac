//! The rows of a part that filters leave.

use std::ops::Range;

use pilaster::column::{Column, Memory, Part};

use crate::options::Filter;
use crate::{Error, held};

/// Maximum number of zones that are asked before some rows are returned: a few bytes of a file can claim any number of zones.
const MOST: u32 = 1 << 20;

/// The rows of a part in which no filter excludes a zone, found range by range.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The rows that are found and not yet taken.
    found: Range<u64>,
    /// The end of the rows.
    end: u64,
    /// The end of the zone that each filter asked last, and whether rows of it may be wanted.
    zones: Vec<(u64, bool)>,
    memory: Memory,
}

impl Kept {
    pub fn new(rows: Range<u64>, filters: &[Filter<'_>]) -> Self {
        let Range { start, end } = rows;
        Kept { found: start..start, end, zones: vec![(start, true); filters.len()], memory: Memory::default() }
    }

    /// Returns the next rows; `None` after the last one.
    pub fn rows<P: Part>(&mut self, part: &P, filters: &[Filter<'_>]) -> Result<Option<Range<u64>>, Error> {
        if self.found.start >= self.found.end {
            self.find(part, filters)?;
        }
        Ok((self.found.start < self.found.end).then(|| self.found.clone()))
    }

    /// Takes the first rows of the range.
    pub const fn take(&mut self, count: u64) {
        self.found.start = self.found.start.saturating_add(count);
    }

    /// Finds the next range of rows: zones that follow each other.
    fn find<P: Part>(&mut self, part: &P, filters: &[Filter<'_>]) -> Result<(), Error> {
        let named =
            |filter: &Filter<'_>| part.named(&filter.column).map_err(|e| Error::from(e).in_column(&filter.column));
        let columns = filters.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let (mut row, mut asked) = (self.found.end, 0u32);
        self.found = row..row;
        while row < self.end && asked < MOST {
            let (mut end, mut may) = (self.end, true);
            for (k, (filter, column)) in filters.iter().zip(&columns).enumerate() {
                let known = self.zones.get(k).copied().filter(|(end, _)| *end > row);
                let zone = match known {
                    Some(zone) => zone,
                    None => {
                        asked = asked.saturating_add(1);
                        self.ask(column, row, filter).map_err(|e| e.in_column(&filter.column))?
                    }
                };
                if let Some(last) = self.zones.get_mut(k) {
                    *last = zone;
                }
                (end, may) = match zone {
                    (zone, false) => (zone, false),
                    (zone, true) => (end.min(zone), may),
                };
                if !may {
                    break;
                }
            }
            match (may, self.found.is_empty()) {
                (true, true) => self.found = row..end,
                (true, false) => self.found.end = end,
                (false, true) => self.found = end..end,
                (false, false) => return Ok(()),
            }
            row = end;
        }
        if self.found.is_empty() && row < self.end {
            // The reader of the rows can stop then.
            self.found = row..row.saturating_add(1);
        }
        Ok(())
    }

    /// Returns the end of the zone of a row, and whether rows of it may be wanted.
    fn ask<C: Column>(&mut self, column: &C, row: u64, filter: &Filter<'_>) -> Result<(u64, bool), Error> {
        loop {
            let mut scratch = self.memory.scratch();
            let zone = match column.zone_around(row, &mut scratch) {
                Ok(zone) => zone,
                Err(e) => {
                    self.memory.grow(e)?;
                    continue;
                }
            };
            // A zone that does not reach further would be asked for again without end.
            let known = zone.filter(|zone| zone.rows.start <= row && row < zone.rows.end);
            let (end, may) = known.map_or((self.end, true), |zone| (zone.rows.end, (filter.may_match)(&zone)));
            return Ok((end.min(self.end), may));
        }
    }
}

/// Returns whether all rows of a column can be held at once: they lie in the file, and are not decoded.
pub(crate) fn raw<C: Column>(column: &C, rows: &Range<u64>, home: &held::Home) -> bool {
    let most = home.file.as_ref().map_or(0, |file| (file.len() as u64).saturating_mul(8));
    rows.end.saturating_sub(rows.start) <= most && column.need(rows.clone()) == Ok(0)
}

#[cfg(test)]
mod tests {
    use pilaster::bytes::Scratch;
    use pilaster::column::{Batch, Fact, Type, Zone};
    use pilaster::error::{Error as FileError, Kind, Result as FileResult, What};

    use super::*;

    /// A part of two columns without values, "a" and "b", with zones of one and of three rows.
    #[derive(Clone, Copy, Debug)]
    struct Zoned {
        rows: u64,
        zone: u64,
    }

    impl Column for Zoned {
        fn ty(&self) -> Type {
            Type::Null
        }

        fn nullable(&self) -> bool {
            true
        }

        fn rows(&self) -> u64 {
            self.rows
        }

        fn need(&self, _: Range<u64>) -> FileResult<u64> {
            Ok(0)
        }

        fn read<'s>(&self, _: Range<u64>, _: &mut Scratch<'s>) -> FileResult<Batch<'s, Self>>
        where
            Self: 's,
        {
            Err(FileError::new(Kind::WrongType, What::COLUMN, 0))
        }

        fn zone_around<'s>(&self, row: u64, _: &mut Scratch<'s>) -> FileResult<Option<Zone<'s>>>
        where
            Self: 's,
        {
            let first = row.saturating_sub(row.checked_rem(self.zone).unwrap_or(0));
            let rows = first..first.saturating_add(self.zone).min(self.rows);
            Ok(Some(Zone { rows, min: Fact::Unknown, max: Fact::Unknown, nulls: Fact::Unknown }))
        }
    }

    impl Part for Zoned {
        type Col = Zoned;

        fn rows(&self) -> u64 {
            self.rows
        }

        fn width(&self) -> usize {
            2
        }

        fn name(&self, k: usize) -> FileResult<&str> {
            Ok(if k == 0 { "a" } else { "b" })
        }

        fn column(&self, k: usize) -> FileResult<Zoned> {
            Ok(Zoned { zone: if k == 0 { 1 } else { 3 }, ..*self })
        }
    }

    fn filter<'o>(column: &str, may_match: impl Fn(u64) -> bool + Send + 'o) -> Filter<'o> {
        let may_match = Box::new(move |zone: &Zone<'_>| may_match(zone.rows.start));
        Filter { column: column.to_owned(), may_match }
    }

    /// The first ranges of rows that are kept.
    fn kept(rows: u64, filters: &[Filter<'_>], count: usize) -> Result<Vec<Range<u64>>, Error> {
        let part = Zoned { rows, zone: 1 };
        let (mut kept, mut ranges) = (Kept::new(1..rows, filters), Vec::new());
        while let Some(range) = kept.rows(&part, filters)? {
            // In two steps.
            kept.take(1);
            let len = range.end.saturating_sub(range.start);
            if len > 1 {
                assert_eq!(kept.rows(&part, filters)?, Some(range.start.saturating_add(1)..range.end));
            }
            kept.take(len.saturating_sub(1));
            ranges.push(range);
            if ranges.len() >= count {
                break;
            }
        }
        Ok(ranges)
    }

    #[test]
    fn ranges_are_the_zones_that_no_filter_excludes() -> Result<(), Error> {
        assert_eq!(kept(20, &[], 9)?.first(), Some(&(1..20)));
        assert_eq!(kept(20, &[filter("a", |row| row % 10 < 4)], 9)?, [1..4, 10..14]);
        assert_eq!(kept(20, &[filter("b", |row| row % 2 == 0)], 9)?, [1..3, 6..9, 12..15, 18..20]);
        let both = [filter("b", |row| row % 2 == 0), filter("a", |row| row % 7 > 0)];
        assert_eq!(kept(20, &both, 9)?, [1..3, 6..7, 8..9, 12..14, 18..20]);
        assert_eq!(kept(20, &[filter("b", |_| false)], 9)?, []);
        assert_eq!(kept(1, &[filter("b", |_| true)], 9)?, []);
        assert!(kept(20, &[filter("c", |_| true)], 9).is_err_and(|e| e.to_string().contains("\"c\"")));
        Ok(())
    }

    #[test]
    fn zones_are_asked_as_they_are_read() -> Result<(), Error> {
        let asked = std::sync::atomic::AtomicU64::new(0);
        let counted = |keep: bool| {
            let asked = &asked;
            filter("a", move |_| {
                asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                keep
            })
        };
        for keep in [true, false] {
            let ranges = kept(1 << 40, &[counted(keep)], 1)?;
            let first = u64::from(MOST).saturating_add(1);
            // Rows are returned without an end of the search, and the consumer may stop.
            assert_eq!(ranges, [if keep { 1..first } else { first..first.saturating_add(1) }]);
            assert_eq!(asked.swap(0, std::sync::atomic::Ordering::Relaxed), u64::from(MOST));
        }
        Ok(())
    }
}
