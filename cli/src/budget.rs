//! The options for how much a file may cost.

use clap::Args;
use pilaster::error::{Error, What};
use pilaster::limits::Limits;

use crate::failure::Failure;

const HEADING: &str = "How much a file may cost (10k is 10 * 1024; also M, G, T)";

/// Upper bounds for a whole file.
#[derive(Args, Clone, Debug, Default)]
pub struct Budget {
    /// The maximum number of rows of FILE, in all its tables [default: 2^40]
    #[arg(long, value_name = "N", help_heading = HEADING, value_parser = number)]
    max_rows: Option<u64>,
    /// The maximum number of bytes that FILE may unpack to. Of DataSeries, for every command that reads the whole file;
    /// of Vortex and bcolz, for verify, dump and recover; Jay unpacks nothing [default: 2^40; DataSeries, recover from
    /// Vortex: 256 times its size, at least 2^31]
    #[arg(long, value_name = "BYTES", help_heading = HEADING, value_parser = number)]
    max_decoded: Option<u64>,
    /// Recover, bcolz: the maximum number of lost ranges [default: 1000000]
    #[arg(long, value_name = "N", help_heading = HEADING, value_parser = small_number)]
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

/// Parses a number of bytes, rows or the like, which may end in k, M, G or T, which multiply it by powers of 1024.
pub fn number(text: &str) -> Result<u64, String> {
    const UNITS: [(char, u32); 4] = [('k', 10), ('m', 20), ('g', 30), ('t', 40)];
    let unit = UNITS.iter().find_map(|(unit, bits)| {
        let digits = text.strip_suffix([*unit, unit.to_ascii_uppercase()])?;
        Some((digits, *bits))
    });
    let (digits, bits) = unit.unwrap_or((text, 0));
    let why = |e: &dyn std::fmt::Display| format!("{e} (a whole number; 10k is 10 * 1024, also M, G and T)");
    let number: u64 = digits.parse().map_err(|e| why(&e))?;
    number.checked_mul(1 << bits).ok_or_else(|| why(&"number too large"))
}

/// Parses a [`number`] below 2^32.
fn small_number(text: &str) -> Result<u32, String> {
    u32::try_from(number(text)?).map_err(|_| "number too large: the maximum is 4294967295".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        for (text, value) in [("0", 0), ("10", 10), ("10k", 10240), ("1K", 1024), ("3M", 3 << 20), ("2g", 2 << 30)] {
            assert_eq!(number(text), Ok(value));
        }
        assert_eq!((number("1T"), number("16777215T")), (Ok(1 << 40), Ok(16_777_215 << 40)));
        for text in ["", "k", "1.5k", "10 k", "10KB", "10kk", "-1", "16777216T", "18446744073709551616"] {
            assert!(
                number(text).unwrap_err().ends_with("(a whole number; 10k is 10 * 1024, also M, G and T)"),
                "{text}"
            );
        }
        assert_eq!((small_number("1k"), small_number("4G").is_err()), (Ok(1024), true));
    }
}
