//! The options for how much a file may cost.

use clap::Args;
use pilaster::error::{Error, Kind, What};
use pilaster::limits::Limits;

use crate::failure::Failure;

const HEADING: &str = "How much a file may cost";

/// Upper bounds for a whole file.
#[derive(Args, Clone, Debug, Default)]
pub struct Budget {
    /// DataSeries, recover from Vortex: the maximum number of rows of FILE [default: 2^40]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    max_rows: Option<u64>,
    /// DataSeries, recover from Vortex: the maximum number of bytes that FILE may unpack to [default: 256 times its
    /// size, at least 2^31]
    #[arg(long, value_name = "BYTES", help_heading = HEADING)]
    max_decoded: Option<u64>,
    /// Recover from DataSeries and Vortex: the maximum number of lost ranges [default: 1000000]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    max_problems: Option<u32>,
}

impl Budget {
    /// Returns the limits for a file of `len` bytes.
    pub fn limits(&self, len: u64) -> Limits {
        let limits = Limits::DEFAULT.of_file(len);
        Limits {
            max_file_rows: self.max_rows.unwrap_or(limits.max_file_rows),
            max_file_decoded: self.max_decoded.unwrap_or(limits.max_file_decoded),
            max_problems: self.max_problems.unwrap_or(limits.max_problems),
            ..limits
        }
    }

    /// Returns whether an option is given.
    pub fn is_given(&self) -> bool {
        self.max_rows.is_some() || self.max_decoded.is_some() || self.max_problems.is_some()
    }
}

/// Returns the failure of `e`. If a limit was reached, it names the option that raises it.
pub fn explain(e: Error) -> Failure {
    let option = match e.what() {
        What::MAX_FILE_ROWS => "--max-rows",
        What::MAX_FILE_DECODED => "--max-decoded",
        What::MAX_PROBLEMS => "--max-problems",
        _ => return Failure::Format(e),
    };
    debug_assert_eq!(e.kind(), Kind::Limit);
    Failure::Input(format!("{e} ({option} raises it)"))
}
