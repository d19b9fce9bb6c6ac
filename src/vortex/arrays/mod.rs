//! The array encodings (section 10): each reads its metadata, asks its children and calls its kernel.

mod indirect;
mod lanes;
mod nested;
mod numbers;
mod patches;
mod plain;
mod strings;

pub(super) use indirect::{ROWS, SMALL};
pub(super) use strings::Data;
