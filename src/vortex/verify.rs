//! Reads everything, and compares the values with the statistics of the file.

use super::check::{BATCH, Checks};
use super::file::File;
use super::node::Node;
use super::statistics::Checker;
use super::strict;
use crate::bytes::Scratch;
use crate::column::{Column as _, Part as _};
use crate::error::{Kind, Result, What};
use crate::limits::{Limits, Share};

/// Maximum number of rows that are read of a small file: an array of a few bytes may claim any number.
const ROWS: u64 = 1 << 32;

/// Maximum number of rows that are read per byte of a large file.
const ROWS_PER_BYTE: u64 = 1 << 12;

/// Number of nodes of variants that are visited of a small file, as a multiple of the budget of a call.
const CALLS: u64 = 256;

/// Number of nodes of variants that are visited per byte of a large file.
const NODES_PER_BYTE: u64 = 1 << 11;

/// Nodes and batches from which [`File::need`] is estimated.
const MEASURED: u32 = 1 << 12;

impl<'a> File<'a> {
    /// Returns the size of a scratch buffer with which [`verify`](Self::verify) reads all arrays, estimated from the
    /// first 4096 arrays and batches; of values that are put together, from as many as one call may read. A smaller buffer works with `verify`, too, unless one row does not fit; a later
    /// chunk may require more.
    ///
    /// # Errors
    /// Errors of the first rows of a column. A column that cannot be decoded, or that takes too much memory to measure,
    /// counts as 0.
    pub fn need(&self) -> Result<u64> {
        let mut most = 0;
        for k in 0..self.part()?.width() {
            let window = self.input().window();
            let file = self.with_input(window.input());
            let column = file.part()?.column(k)?;
            match column.need(0..column.rows().min(BATCH)) {
                Ok(need) => most = need.max(most),
                Err(e) if e.kind() == Kind::Unsupported || e.what() == What::VORTEX_MEASURING => {}
                Err(e) => return Err(e),
            }
        }
        let mut checks = Checks::measuring(self, most, MEASURED);
        // What is wrong further on, verifying returns.
        let part = self.part()?;
        let _ = checks.node(&Node::root(self)?, part.is_table());
        for k in 0..part.width() {
            let window = self.input().window();
            let file = self.with_input(window.input());
            let _ = file.part()?.column(k).and_then(|column| checks.rows(&column, None));
        }
        Ok(checks.measured())
    }

    /// Walks all layouts and arrays, reads every row of every column, and compares the values with the
    /// statistics of the file. Every row of a verified file reads to one value, alone and in every batch: what rows
    /// name is read in full, and what is searched is in order. Rows that are known to be alike are read once.
    ///
    /// What layouts say of their zones is checked; the bounds and counts of zones are not compared with the rows.
    ///
    /// A file is also refused if it is read, but the original implementation refuses it: numbers in the metadata that are
    /// not aligned in their FlatBuffer, buffers whose alignment is less than the size of their numbers, decimal types whose
    /// scale is greater than their number of digits, time zones that no reader finds, and aggregates of zones
    /// that no release knows. So is an array that says which rows are missing, although its type
    /// says that none is: values of missing rows are read then.
    ///
    /// ```
    /// use pilaster::bytes::Scratch;
    /// use pilaster::vortex::File;
    ///
    /// # let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
    /// let mut memory = [0; 1024];
    /// let file = File::open(&bytes)?;
    /// assert!(file.need()? <= 1024);
    /// file.verify(&mut Scratch::new(&mut memory))?;
    ///
    /// // The value of column `f` is changed from 1.5 to a number above the maximum in the statistics.
    /// # let at = bytes.windows(8).position(|eight| eight == 1.5f64.to_le_bytes()).expect("the value");
    /// bytes[at..at + 8].copy_from_slice(&2.5f64.to_le_bytes());
    /// let e = File::open(&bytes)?.verify(&mut Scratch::new(&mut memory)).unwrap_err();
    /// assert_eq!(e.what(), pilaster::error::What::VORTEX_STATISTICS);
    /// # Ok::<(), pilaster::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error that is found: [`Kind::Invalid`] in `What::VORTEX_STATISTICS` if values contradict the
    /// statistics, in `What::FLAT_ALIGNMENT` or `What::VORTEX_ALIGNMENT` if something is not aligned, in `What::VORTEX_DTYPE` for types,
    /// [`Kind::Unsupported`] if a column cannot be decoded, [`Kind::Limit`] if a file claims far more rows,
    /// or variants with far more parts, than it has bytes or unpacks to more than
    /// [`max_file_decoded`](Limits::max_file_decoded), [`Kind::NoRoom`] if `scratch` is too small, and errors of invalid bytes.
    pub fn verify(&self, scratch: &mut Scratch<'_>) -> Result<()> {
        self.verify_share(Share::ALL, scratch)
    }

    /// Reads a share of the columns. What concerns no single column is in share 0. If all shares are valid, the file is;
    /// a share may be refused for its number of rows although the file is valid.
    pub(crate) fn verify_share(&self, share: Share, scratch: &mut Scratch<'_>) -> Result<()> {
        if share.number == 0 {
            strict::container(self)?;
            self.visit(false, &mut |visit| strict::node(&visit.node))?;
        }
        let budget = ROWS.max(self.input().len().saturating_mul(ROWS_PER_BYTE));
        let each = |budget: u64| budget.checked_div(share.of).unwrap_or(budget);
        let limits = Limits { max_file_decoded: each(self.limits().max_file_decoded), ..*self.limits() };
        let part = self.part()?;
        let nodes = u64::from(limits.max_nodes).saturating_mul(CALLS);
        let nodes = nodes.max(self.input().len().saturating_mul(NODES_PER_BYTE));
        let mut checks = Checks::reading(self, scratch, [budget, nodes].map(each), limits);
        for k in (0..part.width()).filter(|k| share.has((*k as u64).saturating_add(1))) {
            let rows = part.column(k)?.rows();
            // The statistics of a file without rows may describe rows that were lost; nothing contradicts them.
            let statistics = if rows > 0 { self.column_statistics(k)? } else { None };
            let mut checker = statistics.map(Checker::of).transpose()?;
            let mut row = 0;
            while row < rows {
                let window = self.input().window();
                let file = self.with_input(window.input());
                row = checks.rows_from(&file.part()?.column(k)?, row, Some(&window), checker.as_mut())?;
            }
            if let Some(checker) = checker {
                checker.end()?;
            }
        }
        if share.number == 0 { checks.node(&Node::root(self)?, part.is_table()) } else { Ok(()) }
    }
}
