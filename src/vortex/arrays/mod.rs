//! The array encodings (section 10): each reads its metadata, asks its children and calls its kernel.

#[cfg(any(feature = "pco", feature = "zstd"))]
mod dense;
mod indirect;
mod lanes;
mod nested;
mod numbers;
mod patches;
#[cfg(feature = "pco")]
mod pco;
mod plain;
mod strings;
#[cfg(feature = "zstd")]
mod zstd;

pub(super) use indirect::{ROWS, SMALL};
pub(super) use strings::Data;
