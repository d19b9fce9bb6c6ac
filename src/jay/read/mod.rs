//! Jay in: frame, metadata, columns.

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
pub use file::{File, Window};
pub use meta::Meta;
pub use stats::Stats;
pub use tail::{HEAD_SPAN, Tail, check_head};

use crate::limits::Limits;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadOptions {
    /// Reads the readable part of a damaged or unusual file. Then only the frame of the metadata must be valid. Each
    /// column is checked by itself when it is read. Names may be invalid or duplicate, buffers anywhere in the file,
    /// booleans any number, null counts wrong; a string that is not valid UTF-8 counts as missing. [`File::problems`]
    /// lists the problems.
    pub tolerant: bool,
    /// Whether a null count of 0 is checked while numbers are read: a row whose stored value stands for a
    /// missing one is an error then ([`What::JAY_NULLS`](crate::error::What::JAY_NULLS)), as it always is of
    /// other types. Else it is believed, as the original does: batches of such a column are the file's own
    /// bytes, not looked at, and such a row has that value. [`File::verify`] checks it in any case.
    pub check_null_counts: bool,
    /// How much a file may ask for.
    pub limits: Limits,
}

impl ReadOptions {
    /// All checks except of null counts, and the limits of a host.
    pub const DEFAULT: ReadOptions = ReadOptions { tolerant: false, check_null_counts: false, limits: Limits::DEFAULT };
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions::DEFAULT
    }
}
