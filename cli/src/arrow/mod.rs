//! Parquet, Arrow, CSV and JSON lines: as sources of every command that reads rows, and Parquet and Arrow as targets.
//!
//! | module | contents |
//! |---|---|
//! | `source` | the file: its kind and its options |
//! | `rows` | its record batches, without rows that a condition leaves out |
//! | `convert`, `commands` | the commands over it: `convert`; `info`, `verify`, `cat` |
//! | `write` | record batches to a file |
//! | `facts` | the metadata of its schema |

mod commands;
mod convert;
mod facts;
mod rows;
mod source;
mod write;

pub use commands::{cat, info, verify};
pub use convert::convert;
pub use source::{Foreign, KINDS, TextHints, is_known, opened};
pub use write::write;
