//! The size of a part of a dataset, and the checks of all of its rows.

use core::ops::Range;
use std::vec::Vec;

use super::array::Array;
use super::dataset::Dataset;
use super::files::{Files, too_large};
use super::part::Slot;
use crate::bytes::Scratch;
use crate::error::{Error, Failure, Kind, What};
use crate::limits::{Share, Spent};

/// Maximum size in bytes of a part, unless a single row is larger.
const PART: u64 = 32 << 20;
/// Number of rows of a part if all columns contain objects.
const OBJECTS: u64 = 1024;
/// Maximum number of files that a part opens, unless the columns are many or a chunk is large.
const FILES: u64 = 4096;
/// Number of bytes whose decoding takes about as long as opening a file.
const LIKE_A_FILE: u64 = 1 << 14;

impl Dataset {
    /// Returns the number of rows of a part: the length of the longest chunk, so that each chunk is decoded once, or
    /// twice if the chunks of columns end at different rows. Fewer rows if they are large, or if other columns have so
    /// short chunks that the part would open very many files.
    pub(super) fn part_rows(&self) -> u64 {
        let longest = self.arrays().iter().filter(|array| array.row > 0).map(|array| array.chunklen).max();
        // A row of objects takes a span.
        let sizes =
            self.arrays().iter().map(|array| if array.row > 0 { array.row } else { size_of::<[u32; 2]>() as u64 });
        let row = sizes.fold(1u64, u64::saturating_add);
        let fit = (PART.checked_div(row).unwrap_or(0)).max(1);
        longest.unwrap_or(OBJECTS).min(fit).min(self.opening_few()).min(self.rows()).max(1)
    }

    /// Returns the number of rows whose chunks are at most [`FILES`] files.
    fn opening_few(&self) -> u64 {
        let chunk = |array: &Array| array.row.saturating_mul(array.chunklen);
        // A longer chunk is read again for each part that it extends over. So many files that this costs little.
        let longest =
            self.arrays().iter().map(chunk).fold(0, u64::saturating_add).checked_div(LIKE_A_FILE).unwrap_or(0);
        let four = (self.arrays().len() as u64).saturating_mul(4);
        // Files per row, in units of 1/2^32.
        let density = |array: &Array| (1u64 << 32).checked_div(array.chunklen).unwrap_or(0);
        let density = self.arrays().iter().map(density).fold(0, u64::saturating_add);
        let files = u128::from(FILES.max(four).max(longest)) << 32;
        files.checked_div(density.into()).map_or(u64::MAX, |rows| u64::try_from(rows).unwrap_or(u64::MAX))
    }

    /// Returns an upper bound of the memory in bytes that a part takes.
    ///
    /// # Errors
    /// The first invalid file of a column of objects: their sizes are read from their files.
    pub fn need(&self) -> Result<u64, Failure> {
        let rows = self.part_rows().min(self.rows());
        let mut need = Scratch::cost::<Slot>(self.arrays().len() as u64);
        if self.is_tolerant() {
            need = need.saturating_add(rows.div_ceil(8).saturating_mul(self.arrays().len() as u64));
        }
        let mut files = Files::default();
        for array in self.arrays() {
            if array.row > 0 {
                need = need.saturating_add(Scratch::cost::<u64>(rows.saturating_mul(array.row).div_ceil(8)));
                continue;
            }
            let (mut most, mut sums) = (0u64, Sums::new(rows));
            for row in array.present(0..self.rows()) {
                match files.open(array, row) {
                    Err(_) if self.is_tolerant() => {}
                    chunk => {
                        sums.add(row, chunk?.nbytes() as u64);
                        most = most.max(sums.sum);
                    }
                }
            }
            need = need.saturating_add(Scratch::cost::<[u32; 2]>(rows));
            need = need.saturating_add(Scratch::cost::<u64>(most.div_ceil(8)));
        }
        Ok(need)
    }

    /// Decodes every chunk, and checks that every text is valid. If it succeeds, every row can be read.
    ///
    /// # Errors
    /// The first missing or invalid file.
    pub fn verify(&self) -> Result<(), Failure> {
        self.verify_share(Share::ALL)
    }

    /// Decodes a share of the chunks.
    pub(crate) fn verify_share(&self, share: Share) -> Result<(), Failure> {
        let mut first = None;
        self.walk(share, &mut |_, _, failure| {
            first = Some(failure);
            false
        });
        first.map_or(Ok(()), Err)
    }

    /// Decodes every chunk. Calls `each` with the column, a range of rows and the failure: for each invalid chunk, for
    /// each run of consecutive chunks that are missing, and for rows that a column lacks. The work is bounded by the
    /// files of the dataset, not by the rows that it states.
    ///
    /// If [`max_problems`](crate::limits::Limits::max_problems), [`max_file_rows`](crate::limits::Limits::max_file_rows)
    /// or [`max_file_decoded`](crate::limits::Limits::max_file_decoded) is reached, a last call has the rows of the column
    /// that were not checked, and [`Kind::Limit`].
    pub fn problems(&self, mut each: impl FnMut(&Array, Range<u64>, Failure)) {
        let most = self.limits().max_problems;
        let mut left = most;
        self.walk(Share::ALL, &mut |array, rows, failure| {
            if left == 0 {
                let e = Error::needing(Kind::Limit, What::MAX_PROBLEMS, 0, most.into());
                each(array, rows.start..self.rows(), Failure::format(&array.dir, e));
                return false;
            }
            left = left.saturating_sub(1);
            each(array, rows, failure);
            true
        });
    }

    /// Decodes a share of the chunks. Continues after an invalid one if `each` returns true.
    fn walk(&self, share: Share, each: &mut dyn FnMut(&Array, Range<u64>, Failure) -> bool) {
        let mut files = Files::default();
        let mut memory = Vec::new();
        let (mut spent, mut limits) = (Spent::NOTHING, *self.limits());
        limits.max_file_decoded = limits.max_file_decoded.checked_div(share.of).unwrap_or(limits.max_file_decoded);
        for array in self.arrays() {
            let rows = array.own.min(self.rows());
            let chunks = rows.div_ceil(array.chunklen.max(1));
            // Rows are counted for each column, bytes for all.
            let mut read = Spent::NOTHING;
            let (mut next, mut sums) = (0u64, Sums::new(self.part_rows()));
            for number in array.present(0..chunks).chain([chunks]) {
                let first = number.saturating_mul(array.chunklen).min(rows);
                let gap = next.saturating_mul(array.chunklen)..first;
                if next < number && !each(array, gap, files.absent(array, next)) {
                    return;
                }
                if number == chunks {
                    break;
                }
                next = number.saturating_add(1);
                // The sizes of objects are summed, so that a single share has all objects of a column.
                if !share.has(if array.row > 0 { number } else { 0 }) {
                    continue;
                }
                let rows = first..first.saturating_add(array.chunk_rows(number));
                let (count, mut within) = (array.chunk_rows(number), true);
                let spend = |nbytes| {
                    let done = read.part(count, 0, 0, &limits).and_then(|()| spent.part(0, nbytes, 0, &limits));
                    within = done.is_ok();
                    done
                };
                let done = files.verify(array, number, &mut memory, spend).and_then(|nbytes| {
                    // The objects of a part are read together.
                    let fits = array.row > 0 || sums.add(number, nbytes);
                    let e = || Failure::format(&array.chunk_path(number), too_large(nbytes));
                    if fits { Ok(()) } else { Err(e()) }
                });
                if let Err(failure) = done {
                    let rows = if within { rows } else { rows.start..self.rows() };
                    if !each(array, rows, failure) || !within {
                        return;
                    }
                }
            }
            if rows < self.rows() {
                let e = Error::needing(Kind::Invalid, What::BCOLZ_ROWS, self.rows(), rows);
                if !each(array, rows..self.rows(), Failure::format(&array.dir.join("meta/sizes"), e)) {
                    return;
                }
            }
        }
    }
}

/// The sum of the sizes in bytes of the objects of a part.
#[derive(Debug)]
pub(super) struct Sums {
    /// Number of rows of a part.
    rows: u64,
    /// The number of the part.
    part: u64,
    sum: u64,
}

impl Sums {
    pub(super) const fn new(rows: u64) -> Self {
        Sums { rows, part: 0, sum: 0 }
    }

    /// Adds an object of `nbytes` bytes in `row`. Returns false, and does not add it, if the spans of the part could
    /// not represent it: they have 32 bits.
    pub(super) fn add(&mut self, row: u64, nbytes: u64) -> bool {
        let part = row.checked_div(self.rows).unwrap_or(0);
        if part != self.part {
            (self.part, self.sum) = (part, 0);
        }
        let sum = self.sum.saturating_add(nbytes);
        let fits = sum <= u32::MAX.into();
        if fits {
            self.sum = sum;
        }
        fits
    }
}
