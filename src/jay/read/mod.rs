//! Reads Jay: frame, metadata, columns.

mod bools;
mod column;
mod field;
mod file;
mod get;
mod meta;
mod numbers;
mod offsets;
mod order;
mod stats;
mod tail;
mod verify;

pub use column::Column;
pub use field::{Field, Layout};
pub use file::File;
pub use meta::Meta;
pub use stats::Stats;
pub(super) use tail::HEAD_SPAN;
pub use tail::Tail;
#[cfg(feature = "unstable")]
pub(crate) use tail::check_head;

use crate::limits::Limits;

/// Options for reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadOptions {
    /// Whether to read the readable part of a damaged or unusual file. Then only one of the signatures and the frame of the
    /// metadata must be valid. Each column is checked separately when it is read. Names may be invalid or duplicate, buffers may be
    /// anywhere in the file, booleans may be any number, and null counts may be wrong. A string that is not valid UTF-8
    /// counts as missing, and so does a row with invalid offsets. Rows that share characters or child rows are missing
    /// if 256 of them would have more than twice what exists. [`File::problems`] lists the problems.
    pub tolerant: bool,
    /// Whether a null count of 0 is checked while numbers are read. If true, a stored value that marks a missing row is
    /// an error ([`What::JAY_NULLS`](crate::error::What::JAY_NULLS)), as it always is for other types. If false, the
    /// count is trusted, as in the original: a batch of such a column borrows the file's bytes without a check, and the
    /// row has the stored value. [`File::verify`] checks it in any case.
    pub check_null_counts: bool,
    /// Upper bounds on rows, columns, nesting and metadata nodes.
    pub limits: Limits,
}

impl ReadOptions {
    /// All checks except of null counts, and the default limits.
    pub const DEFAULT: ReadOptions = ReadOptions { tolerant: false, check_null_counts: false, limits: Limits::DEFAULT };
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions::DEFAULT
    }
}
