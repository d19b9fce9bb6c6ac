//! The types and traits that all formats share: tables, their parts, columns, and batches of rows.
//!
//! A [`Table`] yields [`Part`]s (rows that are unpacked together); a part has [`Column`]s; a column reads [`Batch`]es:
//! flat, in native byte order, missing rows as [`Validity`]. A nested batch contains row ranges and a handle; children
//! are columns, which are decoded only when they are read.
//!
//! ```text
//! Table ── next_part ──► Part ── column(k) ──► Column ── read(rows) ──► Batch
//!                                                │                       ├ values    I32(&[i32]), Utf8(..), Nested(..)
//!                                                └ child(k) ◄────────────┤
//!                                                                        └ validity  All, None, Bits(..)
//! ```
//!
//! [`Batch::value`] returns one row as a [`Value`], so that the caller needs no `match` over all types of [`Values`];
//! [`Part::named`] finds a column by its name; [`Column::zone_around`] returns bounds of rows without reading them.
#![cfg_attr(feature = "alloc", doc = "[`Column::to_vec`] and [`Table::to_vec`] collect a column in a new `Vec`.")]
//!
//! Whole columns, and nested ones:
//!
//! ```
//! # #[cfg(all(feature = "vortex", feature = "alloc"))] {
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Part, Table, Value};
//! use pilaster::vortex::File;
//!
//! # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/def_one_row_a.vortex"));
//! let file = File::open(bytes)?;
//! let mut table = file.table()?;
//! assert_eq!(table.to_vec::<f64>("f")?, [1.5]);
//! assert_eq!(table.to_strings("s")?, ["x"]);
//! // Field `q` of the struct column `st`. Rows may be missing.
//! assert_eq!(table.to_vec::<Option<i8>>("st.q")?, [Some(1)]);
//!
//! // A list: `batch.of.child(0)` has the elements of all lists, `rows` are the elements of one.
//! let column = file.part()?.named("l")?;
//! let mut memory = [0; 256];
//! let batch = column.read(0..1, &mut Scratch::new(&mut memory))?;
//! if let Value::Nested(rows) = batch.value(0)? {
//!     assert_eq!(batch.of.child(0)?.to_vec::<i64>(rows)?, [1]);
//! }
//! # }
//! # Ok::<(), pilaster::Error>(())
//! ```
//!
//! A loop over batches in caller-provided memory, here for a Filo vector:
//!
//! ```
//! # #[cfg(feature = "filo")] {
//! use pilaster::bytes::Scratch;
//! use pilaster::column::{Column, Values, fit};
//! use pilaster::filo::{Element, Vector};
//!
//! // Three rows of the Int 7: header word 0x606, row count, value.
//! let chunk = [6, 6, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0];
//! let column = Vector::open(&chunk, Element::Int)?.column(0)?;
//!
//! let mut memory = [0u8; 64];
//! let mut scratch = Scratch::new(&mut memory);
//! let (mut row, mut sum) = (0, 0);
//! while row < column.rows() {
//!     let mut inner = scratch.scope();
//!     let rows = fit(&column, row..column.rows(), inner.room())?;
//!     let batch = column.read(rows, &mut inner)?;
//!     if let Values::I32(values) = batch.values {
//!         sum += values.iter().sum::<i32>();
//!     }
//!     row += batch.len as u64;
//! }
//! assert_eq!(sum, 21);
//! # }
//! # Ok::<(), pilaster::Error>(())
//! ```

mod bookmark;
mod borrowed;
#[cfg(feature = "alloc")]
mod collect;
mod convert;
mod fit;
#[cfg(feature = "alloc")]
mod memory;
mod place;
mod table;
mod types;
mod validity;
mod value;
mod values;
mod what;
mod zone;

pub use bookmark::{Bookmark, Once};
pub use borrowed::Borrowed;
#[cfg(feature = "alloc")]
pub use collect::FromColumn;
pub use convert::{Build, Feed, convert};
pub use fit::fit;
#[cfg(feature = "alloc")]
pub use memory::Memory;
pub use place::Place;
#[allow(unused_imports, reason = "formats use it")]
pub(crate) use table::no_column;
pub use table::{Column, Dictionary, Part, Table};
pub use types::{Prim, Type, Unit};
pub use validity::Validity;
pub use value::Value;
#[cfg(any(feature = "jay", feature = "bcolz", feature = "vortex"))]
pub(crate) use values::aligned;
#[cfg(any(feature = "jay", feature = "bcolz"))]
pub(crate) use values::cost;
pub use values::{Batch, Ranges, Span, Spans, Values, VarBytes};
pub(crate) use what::FIELDS;
pub use zone::{Fact, Zone};
