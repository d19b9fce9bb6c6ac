//! Standard output.

use std::io::{self, Write};

/// Returns standard output, locked.
pub fn open() -> Box<dyn Write> {
    Box::new(io::stdout().lock())
}
