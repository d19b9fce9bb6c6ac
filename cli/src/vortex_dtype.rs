//! The type of a Vortex file or array that does not store it, from the command line.

use pilaster::any::File;
use pilaster::bytes::{FileRange, Input};
use pilaster::error::{Kind, What};
use pilaster::vortex::{Array, DTypeBuf};

use crate::failure::Failure;

/// Checks a type in the notation of Vortex. The error tells what is expected, and where.
pub fn check(text: &str) -> Result<(), Failure> {
    let Err(e) = text.parse::<DTypeBuf>() else { return Ok(()) };
    let at = usize::try_from(e.at()).unwrap_or(text.len());
    let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let place = before.chars().count().saturating_add(1);
    let why = match (e.kind(), rest.chars().next()) {
        (Kind::Invalid, Some(found)) => format!("{} expected at character {place}, not {found:?}", e.what()),
        (Kind::Truncated, _) => format!("{} expected at the end", e.what()),
        _ => e.to_string(),
    };
    Err(Failure::Usage(format!("--dtype {text}: {why}")))
}

/// Returns a usage error if a type is given for a file that stores another.
pub fn stored(path: &str, file: &File<'_>, given: Option<&str>) -> Result<(), Failure> {
    match (file, given.and_then(|given| given.parse::<DTypeBuf>().ok())) {
        (File::Vortex(file), Some(given)) if file.dtype().to_string() != given.to_string() => {
            let why = format!("{path} stores {}", file.dtype());
            Err(Failure::Usage(format!("--dtype is for files that store no type, and {why}")))
        }
        _ => Ok(()),
    }
}

/// Returns whether the file ends like a single Vortex array.
pub fn is_array(input: &Input<'_>) -> bool {
    /// Number of bytes at the end that most arrays have after their values.
    const TREE: u64 = 1 << 16;
    let at = input.len().saturating_sub(TREE);
    let Ok(end) = input.get(FileRange { at, len: input.len().saturating_sub(at) }, What::MAGIC) else {
        return false;
    };
    // Any type: the root of the array is looked at, and no rows.
    let dtype = "null".parse::<DTypeBuf>();
    dtype.is_ok_and(|dtype| Array::parse(end, dtype.as_dtype(), 0).is_ok())
}
