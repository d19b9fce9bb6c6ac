//! DataSeries v1: typed records in self-checking extents, one byte order per file.
//!
//! ```text
//!   +0   file header   40 bytes: "DSv1", check values that show the byte order
//!   40   type extent   the XML descriptions of all types, as records of "DataSeries: XmlType"
//!        extents       any number, any mix of types; each begins at a multiple of 4:
//!                        header 28 | type name | fixed part | variable part
//!                        records of one size | pool of strings that the cells point into
//!        index extent  offset and type of every extent, "DataSeries: ExtentIndex"
//!        trailer       28 bytes: where the index extent is
//! ```
//!
//! Each part of an extent is packed (differences, scaled doubles, nulls left out), then compressed on
//! its own. An extent carries two checks, of the stored and of the partly unpacked bytes. A file
//! whose writer died has no index and no trailer; what was written whole is good.

mod check;
pub mod chunks;
pub mod layout;
pub mod raw;
mod read;
pub mod recover;
pub mod types;
pub mod write;

#[doc(inline)]
pub use crate::__dataseries_record as record;
pub use layout::{FieldType, Options};
pub use raw::Mode;
pub use read::{
    AnyFile, AnyTable, Column, End, Extent, Extents, File, Header, Index, IndexRow, Next, Order, Part, ReadOptions,
    Table, Trailer, Types,
};
pub use types::{ExtentType, Field};
