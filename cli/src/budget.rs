//! The options for how much a file may cost.

use clap::Args;
use pilaster::error::{Error, What};
use pilaster::limits::Limits;

use crate::failure::Failure;

const HEADING: &str = "How much a file may cost";

/// Upper bounds for a whole file.
#[derive(Args, Clone, Debug, Default)]
pub struct Budget {
    /// The maximum number of rows of FILE, in all its tables [default: 2^40]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    max_rows: Option<u64>,
    /// The maximum number of bytes that FILE may unpack to. Of DataSeries, for every command that reads the whole file;
    /// of Vortex and bcolz, for verify, dump and recover; Jay unpacks nothing [default: 2^40; DataSeries, recover from
    /// Vortex: 256 times its size, at least 2^31]
    #[arg(long, value_name = "BYTES", help_heading = HEADING)]
    max_decoded: Option<u64>,
    /// Recover, bcolz: the maximum number of lost ranges [default: 1000000]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    max_problems: Option<u32>,
}

impl Budget {
    /// Returns the limits for a file of `len` bytes.
    pub fn limits(&self, len: u64) -> Limits {
        self.of(Limits::DEFAULT.of_file(len))
    }

    /// Returns `limits` with those that are given.
    pub fn of(&self, limits: Limits) -> Limits {
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

/// Returns the option that raises the limit of `e`, if one was reached.
pub fn option(e: Error) -> Option<&'static str> {
    match e.what() {
        What::MAX_FILE_ROWS => Some("--max-rows"),
        What::MAX_FILE_DECODED => Some("--max-decoded"),
        What::MAX_PROBLEMS => Some("--max-problems"),
        _ => None,
    }
}

/// Returns the failure of `e`. If a limit was reached, it names the option that raises it.
pub fn explain(e: Error) -> Failure {
    match option(e) {
        Some(option) => Failure::Input(format!("{e} ({option} raises it)")),
        None => Failure::Format(e),
    }
}
