//! Writing: rows into lent memory, extents through a sink, index and trailer at the end.
//!
//! | item | what it is for |
//! |---|---|
//! | [`record!`](crate::dataseries::record) | a row type whose layout is computed by the compiler |
//! | [`Descriptions`] | the types of the file |
//! | [`Extent`] | rows that are not yet written, in memory of the caller |
//! | [`Writer`] | the file: header, types, extents, index, trailer |
//! | [`Compress`] | how parts are compressed; [`Stored`] leaves them as they are |

mod build;
mod column;
mod compress;
mod copy;
mod description;
mod extent;
mod list;
mod output;
mod pack;
mod pool;
mod record;
mod resume;
#[cfg(feature = "alloc")]
mod rewrite;
mod room;
mod schema;
mod spec;
mod writer;
mod xml;

pub use build::{Builder, describe};
#[cfg(feature = "alloc")]
pub use compress::Smallest;
pub use compress::{Compress, Compressed, Lz4, Lzf, Snappy, Stored};
pub use description::{Description, Descriptions, Records};
pub use extent::{Cell, Extent, Memory, Row};
pub use list::IndexSlot;
pub use pool::Pool;
pub use resume::{Rest, Resume};
#[cfg(feature = "alloc")]
pub use rewrite::{Repack, rewrite};
pub use schema::{Of, Record, Schema};
pub use writer::Writer;
pub use xml::{Attributes, TypeXml};

/// What the expansion of [`record!`](crate::dataseries::record) names.
#[doc(hidden)]
pub mod __record {
    pub use super::pack::{compact_grouped, grouped};
    pub use super::record::Store;
    pub use super::spec::{Spec, base, cells, check_texts, field, fields, is_own, layout, options, strings};
    pub use super::{Pool, Record};
    pub use crate::bytes::Endian;
    pub use crate::dataseries::layout::{FieldType, Layout, Options};
    pub use crate::dataseries::types::FieldRecord;
    pub use crate::error::Result;
}

use core::fmt;

use crate::error::Error;

/// What can go wrong while a file is written: the sink's own error is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WriteError<S> {
    /// What was to be written cannot be.
    Format(Error),
    /// The sink failed.
    Sink(S),
}

impl<S> From<Error> for WriteError<S> {
    fn from(e: Error) -> Self {
        WriteError::Format(e)
    }
}

impl<S: fmt::Display> fmt::Display for WriteError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Format(e) => e.fmt(f),
            WriteError::Sink(e) => e.fmt(f),
        }
    }
}

impl<S: fmt::Debug + fmt::Display> core::error::Error for WriteError<S> {}
