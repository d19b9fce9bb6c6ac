//! Parquet, Arrow, CSV and JSON lines: as sources of every command that reads rows, and Parquet and Arrow as targets.
//!
//! | module | contents |
//! |---|---|
//! | `source` | the file: its kind and its options |
//! | `rows` | its record batches, without rows that a condition leaves out |
//! | `convert`, `commands` | the commands over it: `convert`; `info`, `verify`, `cat` |
//! | `spooled` | rows of text in a temporary file, for writers of whole columns |
//! | `write` | record batches to a file |
//! | `print` | rows that another program has computed, as text |
//! | `facts` | the metadata of its schema |

mod commands;
mod convert;
mod facts;
mod print;
mod rows;
mod source;
mod spooled;
mod write;

pub use commands::{cat, info, verify};
pub use convert::{convert, own_goal};
pub use print::print_rows;
pub use source::{Foreign, KINDS, TextHints, is_damaged, is_known, opened};
pub use write::write;
