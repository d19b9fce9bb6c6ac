//! Writing: rows into caller-provided memory, extents through a sink, index and trailer at the end.
//!
//! | item | purpose |
//! |---|---|
//! | [`record!`](crate::dataseries::record) | a row type whose layout is computed by the compiler |
//! | [`Descriptions`] | the types of the file |
//! | [`ExtentBuffer`] | rows that are not yet written, in caller-provided or heap memory |
//! | [`Foreign`] | a type whose records a C program lays out |
//! | [`Writer`] | the file: header, types, extents, index, trailer |
//! | `AsyncWriter` | a [`Writer`] for an `embedded_io_async::Write` (feature `embedded-io-async-07`) |
//! | [`Resume`] | where a log continues after a crash |
//! | [`Compress`] | compression of the parts of extents; [`Stored`] leaves them uncompressed |

#[cfg(feature = "embedded-io-async-07")]
mod asynchronous;
mod build;
mod column;
mod compress;
mod copy;
mod description;
mod extent;
mod foreign;
mod list;
mod output;
mod pack;
mod pool;
mod record;
mod resume;
#[cfg(feature = "alloc")]
pub(crate) mod rewrite;
mod room;
mod schema;
mod spec;
mod writer;
pub(crate) mod xml;

#[cfg(feature = "embedded-io-async-07")]
pub use asynchronous::AsyncWriter;
pub use build::{Builder, describe};
#[cfg(feature = "alloc")]
pub use compress::Smallest;
pub use compress::{AnyMode, Compress, Compressed, Lz4, Lzf, Snappy, Stored};
pub use description::{Description, Descriptions, Records};
pub use extent::{Cell, ExtentBuffer, Memory, Row};
pub use foreign::{Foreign, ForeignField};
pub use list::IndexSlot;
pub(super) use list::List;
pub use resume::{Rest, Resume};
#[cfg(feature = "alloc")]
pub use rewrite::{Repack, rewrite};
pub use schema::{Of, Record, Schema};
pub use writer::Writer;

/// The items that the expansion of [`record!`](crate::dataseries::record) uses.
#[doc(hidden)]
pub mod __record {
    pub use super::pack::{Before, Cells, compact_grouped, each, grouped};
    pub use super::pool::Pool;
    pub use super::record::{Store, put};
    pub use super::schema::{Record, Uses};
    pub use super::spec::{
        Spec, base, cells, check_about, check_compact, check_field, check_names, check_text, check_texts, field,
        fields, is_own, layout, options, version,
    };
    pub use crate::bytes::Endian;
    pub use crate::dataseries::layout::{Bit, FieldType, Layout, Options, Places, Slot};
    pub use crate::dataseries::types::{FieldRecord, NameAt};
    pub use crate::error::Result;
}
